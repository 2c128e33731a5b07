"""Mean-variance, the paper's risk, and the variance alone. Every bound has kernels for them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ramgape.risks.measure import Measure

if TYPE_CHECKING:
    from ramgape.problems.distributions import Distribution


@dataclass(frozen=True)
class MeanVariance(Measure):
    """variance - rho mean: rho is what a unit of mean is worth, in variance.

    >>> MeanVariance(rho=0.01).formula(costs=False)
    'variance - 0.01 mean'
    """

    name = "mean-variance"
    power = 2
    rho: float = 0.01

    def __post_init__(self) -> None:
        self._check("rho", "a finite number of at least 0", 0.0)

    def formula(self, costs: bool) -> str:
        return f"variance {'+' if costs else '-'} {self.rho:g} mean"

    def on_unit(self, origin: float, span: float) -> MeanVariance:
        return MeanVariance(self.rho / span)

    def offset(self, origin: float) -> float:
        return -self.rho * origin

    def usual_scale(self, span: float) -> float:
        """The paper's."""
        return 1.0 / (3.0 * span + self.rho)

    def unit_range(self) -> tuple[float, float]:
        return -self.rho, (1.0 - self.rho) ** 2 / 4.0 if self.rho < 1.0 else 0.0

    def worst(self) -> float:
        """The paper's: the greatest variance."""
        return 0.25

    def value_of(self, distribution: Distribution) -> float:
        return distribution.variance - self.rho * distribution.mean

    def write(self, problem: Any) -> None:
        problem["rho"] = self.rho


@dataclass(frozen=True)
class Variance(Measure):
    """The variance: mean-variance with rho = 0."""

    name = "variance"
    power = 2

    def formula(self, costs: bool) -> str:
        return "variance"

    def offset(self, origin: float) -> float:
        return 0.0

    def usual_scale(self, span: float) -> float:
        return 1.0 / (3.0 * span)

    def unit_range(self) -> tuple[float, float]:
        return 0.0, 0.25

    def value_of(self, distribution: Distribution) -> float:
        return distribution.variance
