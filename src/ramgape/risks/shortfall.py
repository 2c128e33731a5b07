"""The probability of a shortfall, of a reward below a threshold: the mean of what is 1 if X < t, and 0 otherwise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

from ramgape.common.exact import Exact, average
from ramgape.core.kernel import inlined, kernel
from ramgape.errors import require
from ramgape.risks.measure import Measure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ramgape.problems.distributions import Distribution

ROOT_HALF = math.sqrt(0.5)


@inlined
def transform(problem, value):
    """Whether a reward falls short."""
    return 1.0 if value < problem.risk_parameters[0] else 0.0


@inlined
def untransform(problem, part):
    """The risk that belongs to an expectation of the above."""
    return problem.alpha * part


@inlined
def slope(problem, part):
    """The derivative of the above."""
    return problem.alpha


@kernel
def normal_risk(problem, mean, variance):
    """Of a normal distribution; it rises with the variance for a mean above the threshold, and falls below it."""
    distance = problem.risk_parameters[0] - mean
    if variance == 0.0 or math.isinf(distance):
        return problem.alpha if distance > 0.0 else 0.0
    return problem.alpha * 0.5 * math.erfc(-distance / math.sqrt(variance) * ROOT_HALF)


@dataclass(frozen=True)
class Shortfall(Measure):
    """P(X < threshold), the probability of falling short; for costs, that of exceeding the threshold.

    Args:
        threshold: In reward units.
    """

    name = "shortfall"
    possible = (0.0, 1.0)
    power = 0
    transform, untransform, slope = staticmethod(transform), staticmethod(untransform), staticmethod(slope)
    unclipped = transform
    normal_risk = staticmethod(normal_risk)
    threshold: float = 0.0

    def __post_init__(self) -> None:
        self._check("threshold", "a finite number", -math.inf)

    def formula(self, costs: bool) -> str:
        return f"P(X {'>' if costs else '<'} {self.threshold:g})"

    def label(self, costs: bool) -> str:
        return f"P(cost > {self.threshold:g})" if costs else f"P(reward < {self.threshold:g})"

    def mirrored(self) -> Shortfall:
        return Shortfall(0.0 - self.threshold)

    def check_range(self, low: float, high: float, costs: bool) -> None:
        """Where everything or nothing falls short, there is nothing to choose."""
        allowed = f"from {low:g} to below {high:g}" if costs else f"above {low:g} and at most {high:g}"
        sound = low <= self.threshold < high if costs else low < self.threshold <= high
        require(sound, "the threshold of risk shortfall", f"{allowed}, the reward range", self.threshold)

    def on_unit(self, origin: float, span: float) -> Shortfall:
        return Shortfall((self.threshold - origin) / span)

    def offset(self, origin: float) -> float:
        return 0.0

    def usual_scale(self, span: float) -> float:
        """All of the probability counts as much as all of the range."""
        return span

    def unit_range(self) -> tuple[float, float]:
        return 0.0, 1.0

    def value_of(self, distribution: Distribution) -> float:
        """Up to the float before the threshold: an outcome that is equal to it does not fall short."""
        return distribution.cumulative(math.nextafter(self.threshold, -math.inf))

    def value_in(self, rewards: NDArray[np.float64]) -> float:
        return float((rewards < self.threshold).mean())

    def exact_in(self, pairs: Sequence[tuple[Decimal, int]]) -> Exact:
        threshold = Decimal(repr(self.threshold))
        return Exact(average([(Decimal(value < threshold), count) for value, count in pairs]))
