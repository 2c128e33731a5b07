"""Semivariance: what falls short of a target, squared. Its interval is that of the mean of ((target - X)+)^2."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

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
ROOT_TWO_PI = math.sqrt(2.0 * math.pi)


@inlined
def transform(problem, value):
    """The squared shortfall, as a part of the way from its least to its most."""
    short = max(problem.risk_parameters[0] - value, 0.0)
    return min(max((short * short - problem.risk_parameters[1]) / problem.risk_parameters[2], 0.0), 1.0)


@inlined
def untransform(problem, part):
    """The risk that belongs to an expectation of the above."""
    return problem.alpha * (problem.risk_parameters[1] + problem.risk_parameters[2] * part)


@inlined
def slope(problem, part):
    """The derivative of the above."""
    return problem.alpha * problem.risk_parameters[2]


@inlined
def unclipped(problem, value):
    """The squared shortfall as it is."""
    short = max(problem.risk_parameters[0] - value, 0.0)
    return short * short


@kernel
def normal_risk(problem, mean, variance):
    """Of a normal distribution; less for a larger mean and more for a larger variance."""
    distance, deviation = problem.risk_parameters[0] - mean, math.sqrt(variance)
    if deviation == 0.0:
        return problem.alpha * max(distance, 0.0) ** 2
    if math.isinf(deviation) or math.isinf(distance):
        return math.inf if distance > -math.inf else 0.0
    ratio = distance / deviation
    below = 0.5 * math.erfc(-ratio * ROOT_HALF)
    density = math.exp(-0.5 * ratio * ratio) / ROOT_TWO_PI
    return problem.alpha * max((variance + distance * distance) * below + distance * deviation * density, 0.0)


@inlined
def normal_spread(problem, mean, variance):
    """The spread of the above by the delta method."""
    distance, deviation = problem.risk_parameters[0] - mean, math.sqrt(max(variance, 1e-300))
    ratio = distance / deviation
    below = 0.5 * math.erfc(-ratio * ROOT_HALF)
    by_mean = 2.0 * (distance * below + deviation * math.exp(-0.5 * ratio * ratio) / ROOT_TWO_PI)
    return problem.alpha * problem.alpha * (by_mean * by_mean * variance + 2.0 * (below * variance) ** 2)


@dataclass(frozen=True)
class Semivariance(Measure):
    """E ((target - X)+)^2: only what falls short of the target counts. For costs: what exceeds it.

    Args:
        target: In reward units.
    """

    name = "semivariance"
    power = 2
    possible = (0.0, math.inf)
    transform, untransform, slope = staticmethod(transform), staticmethod(untransform), staticmethod(slope)
    normal_risk, normal_spread = staticmethod(normal_risk), staticmethod(normal_spread)
    unclipped = staticmethod(unclipped)
    target: float = 0.0

    def __post_init__(self) -> None:
        self._check("target", "a finite number", -math.inf)

    def formula(self, costs: bool) -> str:
        return f"mean of ((X - {self.target:g})+)^2" if costs else f"mean of (({self.target:g} - X)+)^2"

    def label(self, costs: bool) -> str:
        return f"mean squared {'excess above' if costs else 'shortfall below'} {self.target:g}"

    def mirrored(self) -> Semivariance:
        return Semivariance(-self.target)

    def check_range(self, low: float, high: float, costs: bool) -> None:
        """If nothing can fall short, there is no risk."""
        better = f"below {high:g}, the worst cost" if costs else f"above {low:g}, the worst reward"
        sound = self.target < high if costs else self.target > low
        require(sound, "the target of risk semivariance", better, self.target)

    def on_unit(self, origin: float, span: float) -> Semivariance:
        return Semivariance((self.target - origin) / span)

    def offset(self, origin: float) -> float:
        return 0.0

    def usual_scale(self, span: float) -> float:
        """A squared distance within the range changes at most by 2 span times what the reward does."""
        return 1.0 / (2.0 * span)

    def unit_range(self) -> tuple[float, float]:
        return max(self.target - 1.0, 0.0) ** 2, max(self.target, 0.0) ** 2

    def value_of(self, distribution: Distribution) -> float:
        return distribution.semivariance(self.target)

    def value_in(self, rewards: NDArray[np.float64]) -> float:
        return float(np.square(np.maximum(self.target - rewards, 0.0)).mean())

    def exact_in(self, pairs: Sequence[tuple[Decimal, int]]) -> Exact:
        target = Decimal(repr(self.target))
        return Exact(average([(max(target - value, Decimal(0)) ** 2, count) for value, count in pairs]))

    def write(self, problem: Any) -> None:
        least, most = self.unit_range()
        problem["risk_parameters"] = self.target, least, max(most - least, 1e-300)
