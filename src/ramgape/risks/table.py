"""The risk measures by name: the only list, light enough for the command's help.

What a bound must know about a risk is what the risk is made of:

    moments   it is a mean-variance: a bound may have a box of its own for that
    root      it is the standard deviation: its box is the root of the variance's
    means     for rewards in [0, 1] an interval of the risk follows from intervals of means of transformed rewards
    mean      it is a function of one such mean, so that two arms can be compared by it
    normal    for Gaussian rewards the risk is a function of mean and variance
    unranged  it is estimated, and the spread of the estimate too, from rewards without a range
"""

from __future__ import annotations

from typing import NamedTuple

from ramgape.common.parsing import notation

MOMENTS, ROOT, MEANS, MEAN, NORMAL, UNRANGED = "moments", "root", "means", "mean", "normal", "unranged"
PAPER_RISK = "mean-variance:0.01"


class Risk(NamedTuple):
    """Where a measure stands, and what it means."""

    module: str
    measure: str
    parameter: str | None
    meaning: str
    made_of: tuple[str, ...] = (MEANS, MEAN, NORMAL, UNRANGED)
    parameter_needed: bool = False  # in a command there is no usual value


MEAN_VARIANCE = (MOMENTS, MEANS, NORMAL, UNRANGED)
TAIL = (MEANS, NORMAL, UNRANGED)
RISKS: dict[str, Risk] = {
    "std": Risk(
        "standard_deviation", "StandardDeviation", None, "standard deviation", made_of=(ROOT, MEANS, NORMAL, UNRANGED)
    ),
    "mean-variance": Risk(
        "mean_variance", "MeanVariance", "rho", "variance - rho mean, the paper's", made_of=MEAN_VARIANCE
    ),
    "variance": Risk("mean_variance", "Variance", None, "variance", made_of=MEAN_VARIANCE),
    "semivariance": Risk(
        "semivariance", "Semivariance", "target", "mean of the squared shortfall of a target", parameter_needed=True
    ),
    "entropic": Risk("entropic", "Entropic", "gamma", "ln E exp(-gamma X) / gamma, in reward units"),
    "cvar": Risk("cvar", "CVaR", "level", "minus the mean of the worst rewards, a share `level` of all", made_of=TAIL),
    "spectral": Risk(
        "spectral",
        "Spectral",
        "level=weight,...",
        "a sum of cvar of several levels, with weights that add up to 1",
        made_of=TAIL,
        parameter_needed=True,
    ),
    "evar": Risk(
        "evar",
        "EVaR",
        "level",
        "entropic value at risk, a bound of cvar; far dearer than that",
        made_of=(MEANS, NORMAL),
    ),
    "quantile": Risk(
        "quantile", "Quantile", "level", "minus the quantile below which a share `level` of rewards lies", made_of=TAIL
    ),
    "shortfall": Risk(
        "shortfall", "Shortfall", "threshold", "the probability of a reward below a threshold", parameter_needed=True
    ),
}


def risk_notation(name: str) -> str:
    """How a risk is written in a command."""
    parameter = RISKS[name].parameter
    return notation(name, [parameter] if parameter else [])
