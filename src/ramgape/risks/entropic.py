"""Entropic risk: ln E exp(-gamma X) / gamma. Its interval is that of the mean of exp(-gamma X).

Everything is computed from exp(-gamma X) itself, however small it is: of 1 - exp(-gamma X) nothing would be left for
gamma above 37, where a float does not tell it from 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ramgape.core.kernel import inlined
from ramgape.errors import require
from ramgape.risks.measure import Measure

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ramgape.problems.distributions import Distribution

MOST_GAMMA = 300.0  # in units of the reward range: beyond, squares of exp(-gamma) are no floats, and nothing is learnt


@inlined
def transform(problem, value):
    """(exp(-gamma x) - exp(-gamma)) / (1 - exp(-gamma)): from 1 to 0 for rewards from 0 to 1."""
    gamma, length, least = problem.risk_parameters[0], problem.risk_parameters[1], problem.risk_parameters[2]
    return min(max(least * math.expm1(gamma * (1.0 - value)) / length, 0.0), 1.0)


@inlined
def untransform(problem, part):
    """The risk that belongs to an expectation of the above."""
    gamma, length, least = problem.risk_parameters[0], problem.risk_parameters[1], problem.risk_parameters[2]
    # The same twice: for small gamma all digits are in the distance from 1, for large gamma in the sum itself.
    logarithm = math.log1p(-length * (1.0 - part)) if gamma < 1.0 else math.log(least + length * part)
    return problem.alpha * logarithm / gamma


@inlined
def slope(problem, part):
    """The derivative of the above."""
    gamma, length, least = problem.risk_parameters[0], problem.risk_parameters[1], problem.risk_parameters[2]
    return problem.alpha * length / (gamma * (least + length * part))


@inlined
def normal_risk(problem, mean, variance):
    """Of a normal distribution; less for a larger mean and more for a larger variance."""
    return problem.alpha * (0.5 * problem.risk_parameters[0] * variance - mean)


@inlined
def normal_spread(problem, mean, variance):
    """The spread of the above by the delta method."""
    by_variance = 0.5 * problem.risk_parameters[0]
    return problem.alpha * problem.alpha * (variance + 2.0 * (by_variance * variance) ** 2)


@dataclass(frozen=True)
class Entropic(Measure):
    """ln E exp(-gamma X) / gamma, in reward units.

    Args:
        gamma: For a small one it is minus the mean, for a large one it goes towards the worst case.
    """

    name = "entropic"
    transform, untransform, slope = staticmethod(transform), staticmethod(untransform), staticmethod(slope)
    normal_risk, normal_spread = staticmethod(normal_risk), staticmethod(normal_spread)
    gamma: float = 1.0

    def __post_init__(self) -> None:
        self._check("gamma", "a number from 1e-100 to 1e100", 1e-100, 1e100)

    def formula(self, costs: bool) -> str:
        return f"ln E exp({'' if costs else '-'}{self.gamma:g} X) / {self.gamma:g}"

    def label(self, costs: bool) -> str:
        return f"entropic risk (gamma {self.gamma:g})"

    def check_range(self, low: float, high: float, costs: bool) -> None:
        """Only the worst rewards count where gamma is large, and no number of pulls shows what they are."""
        span = high - low
        most = f"at most {MOST_GAMMA / span:g}, that is {MOST_GAMMA:g} over the length of the reward range"
        require(self.gamma * span <= MOST_GAMMA, "the gamma of risk entropic", most, self.gamma)
        least = f"at least {1e-100 / span:g} for this reward range"
        require(self.gamma * span >= 1e-100, "the gamma of risk entropic", least, self.gamma)

    def on_unit(self, origin: float, span: float) -> Entropic:
        return Entropic(self.gamma * span)

    def value_of(self, distribution: Distribution) -> float:
        return distribution.log_laplace(self.gamma) / self.gamma

    def value_in(self, rewards: NDArray[np.float64]) -> float:
        low = float(rewards.min())
        return float(np.log1p(np.expm1(-self.gamma * (rewards - low)).mean())) / self.gamma - low

    def write(self, problem: Any) -> None:
        problem["risk_parameters"] = self.gamma, -math.expm1(-self.gamma), math.exp(-self.gamma)
