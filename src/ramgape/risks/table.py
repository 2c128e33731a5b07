"""The risk measures by name: the only list, light enough for the command's help."""

from __future__ import annotations

from typing import NamedTuple

from ramgape.common.parsing import notation


class Risk(NamedTuple):
    """Where a measure stands, and what it means."""

    module: str
    measure: str
    parameter: str | None
    own_kernels: bool
    meaning: str


RISKS: dict[str, Risk] = {
    "mean-variance": Risk("mean_variance", "MeanVariance", "rho", False, "variance - rho mean, the paper's"),
    "variance": Risk("mean_variance", "Variance", None, False, "variance"),
    "semivariance": Risk("semivariance", "Semivariance", "target", True, "mean of the squared shortfall of a target"),
    "entropic": Risk("entropic", "Entropic", "gamma", True, "ln E exp(-gamma X) / gamma, in reward units"),
    "cvar": Risk("cvar", "CVaR", "level", True, "minus the mean of the worst rewards, a share `level` of all"),
}


def risk_notation(name: str) -> str:
    """How a risk is written in a command."""
    parameter = RISKS[name].parameter
    return notation(name, [parameter] if parameter else [])
