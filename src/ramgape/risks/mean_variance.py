"""Mean-variance, the paper's risk, and the variance alone: what bounds have boxes of their own for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ramgape.assumptions import ASSUMPTIONS
from ramgape.common.exact import Exact, exactly, moments
from ramgape.risks.measure import Learning, Measure

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    import numpy as np
    from numpy.typing import NDArray

    from ramgape.core.kernel import Kernel
    from ramgape.problems.distributions import Distribution


class Moments(Measure):
    """What both have in common: they are variance - rho mean."""

    power = 2
    rho: float

    def kernels(self, assumption: str) -> Learning:
        from ramgape.risks import moments, powers

        if ASSUMPTIONS[assumption].skewed:
            return Learning(powers.COLUMNS, powers.remember, powers.estimate_moments)
        return Learning(0, moments.nothing, moments.estimate)

    def narrow(self, interval: Kernel) -> Kernel:
        from ramgape.risks import moments

        return moments.fixed(moments.narrow, interval)

    def ahead_by(self, kernels: Any) -> Kernel:
        from ramgape.risks import moments

        return kernels.moments_ahead(moments.variance_at)  # type: ignore[no-any-return]

    @property
    def normal_risk(self) -> Kernel:
        from ramgape.risks import moments

        return moments.normal_risk

    def offset(self, origin: float) -> float:
        return -self.rho * origin

    def usual_scale(self, span: float) -> float:
        """The paper's."""
        return 1.0 / (3.0 * span + self.rho)

    def unit_range(self) -> tuple[float, float]:
        return 0.0 - self.rho, (1.0 - self.rho) ** 2 / 4.0 if self.rho < 1.0 else 0.0

    def worst(self) -> float:
        """The paper's: the greatest variance."""
        return 0.25

    def value_of(self, distribution: Distribution) -> float:
        return distribution.variance - self.rho * distribution.mean

    def value_in(self, rewards: NDArray[np.float64]) -> float:
        return float(rewards.var() - self.rho * rewards.mean())

    def exact_in(self, pairs: Sequence[tuple[Decimal, int]]) -> Exact:
        mean, variance = moments(pairs)
        return Exact(variance - exactly(self.rho) * mean)

    def write(self, problem: Any) -> None:
        """With the width of the paper's boxes in units of that of the mean."""
        problem["rho"] = self.rho
        problem["risk_factor"] = problem["alpha"] * (3.0 + self.rho)


@dataclass(frozen=True)
class MeanVariance(Moments):
    """variance - rho mean.

    Args:
        rho: What a unit of mean is worth, in variance.

    Examples:
        >>> MeanVariance(rho=0.01).formula(costs=False)
        'variance - 0.01 mean'
    """

    name = "mean-variance"
    scaled = True
    rho: float = 0.01

    def __post_init__(self) -> None:
        self._check("rho", "a finite number of at least 0", 0.0)

    def formula(self, costs: bool) -> str:
        return f"variance {'+' if costs else '-'} {self.rho:g} mean"

    def on_unit(self, origin: float, span: float) -> MeanVariance:
        return MeanVariance(self.rho / span)


@dataclass(frozen=True)
class Variance(Moments):
    """The variance: mean-variance with rho = 0."""

    name = "variance"
    possible = (0.0, math.inf)
    rho: ClassVar[float] = 0.0  # type: ignore[misc]

    def formula(self, costs: bool) -> str:
        return "variance"
