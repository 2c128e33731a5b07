"""Semivariance: what falls short of a target, squared. Its interval is that of the mean of ((target - X)+)^2."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ramgape.bounds.empirical_bernstein import renew_mean
from ramgape.bounds.gaussian import moment_intervals
from ramgape.core.box import narrow_box, narrow_risk
from ramgape.core.kernel import inlined, kernel
from ramgape.core.statistics import observe
from ramgape.errors import require
from ramgape.risks.boxes import wants_box
from ramgape.risks.measure import Measure
from ramgape.risks.transformed import remember, transformed_interval, transformed_mean, transformed_variance

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ramgape.problems.distributions import Distribution

ROOT_HALF = math.sqrt(0.5)
ROOT_TWO_PI = math.sqrt(2.0 * math.pi)


@dataclass(frozen=True)
class Semivariance(Measure):
    """E ((target - X)+)^2: only what falls short of the target counts. For costs: what exceeds it."""

    name = "semivariance"
    power = 2
    target: float = 0.0

    def __post_init__(self) -> None:
        self._check("target", "a finite number", -math.inf)

    def formula(self, costs: bool) -> str:
        return f"mean of ((X - {self.target:g})+)^2" if costs else f"mean of (({self.target:g} - X)+)^2"

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

    def write(self, problem: Any) -> None:
        least, most = self.unit_range()
        problem["risk_parameters"] = self.target, least, max(most - least, 1e-300)


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
def estimate_risk(row, problem):
    """From the sums."""
    row.risk = untransform(problem, transformed_mean(row))
    slope = problem.alpha * problem.risk_parameters[2]
    row.risk_spread = slope * slope * transformed_variance(row)


@kernel
def gaussian_risk(problem, mean, variance):
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
def estimate_gaussian_risk(row, problem):
    """Plugged in, and its spread by the delta method."""
    row.risk = gaussian_risk(problem, row.average, row.variance)
    distance, deviation = problem.risk_parameters[0] - row.average, math.sqrt(max(row.variance, 1e-300))
    ratio = distance / deviation
    below = 0.5 * math.erfc(-ratio * ROOT_HALF)
    by_mean = 2.0 * (distance * below + deviation * math.exp(-0.5 * ratio * ratio) / ROOT_TWO_PI)
    spread = by_mean * by_mean * row.variance + 2.0 * (below * row.variance) ** 2
    row.risk_spread = problem.alpha * problem.alpha * spread


@kernel
def estimate(row, search, problem):
    """The box of one arm from its statistics."""
    if problem.gaussian:
        mean_low, mean_high, variance_low, variance_high = moment_intervals(row, problem)
        risk_low = gaussian_risk(problem, mean_high, variance_low)
        risk_high = gaussian_risk(problem, mean_low, variance_high)
        narrow_box(row, search, mean_low, mean_high, risk_low, risk_high)
    else:
        renew_mean(row, search, problem)
        low, high = transformed_interval(row, problem)
        narrow_risk(row, search, untransform(problem, low), untransform(problem, high))


@kernel
def learn(arms, search, problem, arm, reward):
    """Add a reward to an arm; renew its risk, and its box if there is one and enough has changed."""
    row = observe(arms, search, problem, arm, reward)
    if problem.gaussian:
        estimate_gaussian_risk(row, problem)
    else:
        remember(row, transform(problem, (reward - problem.origin) / problem.span))
        estimate_risk(row, problem)
    if wants_box(row, problem):
        estimate(row, search, problem)
