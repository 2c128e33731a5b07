"""Known problems: distributions, arms, instances, and where they come from."""

from ramgape.common.lazy import importing, modules_of

_MODULES = modules_of(
    {
        "distribution": "Distribution",
        "environments": "Arm Bernoulli Beta Data Gaussian Instance Uniform",
        "instances": "instance_names load_instance",
        "mixtures": "Mixture",
        "unbounded": "Exponential Gamma LogNormal Lomax StudentT",
    }
)
__all__ = sorted(_MODULES)
__getattr__ = importing(__name__, _MODULES)
