"""Entropic risk: ln E exp(-gamma X) / gamma. Its interval is that of the mean of exp(-gamma X).

Everything is computed from exp(-gamma X) itself, however small it is: of 1 - exp(-gamma X) nothing would be left for
gamma above 37, where a float does not tell it from 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from ramgape.assumptions import ASSUMPTIONS
from ramgape.common.exact import Exact
from ramgape.core.kernel import inlined
from ramgape.errors import require
from ramgape.risks.measure import Learning, Measure
from ramgape.risks.table import RISKS
from ramgape.statistics.small import exp, expm1

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from ramgape.problems.distributions import Distribution

EXACT_DIGITS = 200  # exp(-MOST_GAMMA) takes 131 of them
MOST_GAMMA = 300.0  # in units of the reward range: beyond, squares of exp(-gamma) are no floats, and nothing is learnt

WORST, TOTAL, SQUARES, CUBES = range(4)  # of the memory, for rewards without a range


@inlined
def transform(problem, value):
    """(exp(-gamma x) - exp(-gamma)) / (1 - exp(-gamma)): from 1 to 0 for rewards from 0 to 1."""
    gamma, length, least = problem.risk_parameters[0], problem.risk_parameters[1], problem.risk_parameters[2]
    return min(max(least * expm1(gamma * (1.0 - value)) / length, 0.0), 1.0)


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
def remember_unranged(row, past, problem, value):
    """Add a reward without a range: sums of (exp(-gamma (x - worst)) - 1) / gamma, about the worst reward so far.

    So nothing overflows for a large gamma, and no digits are lost for a small one. A new worst reward multiplies all
    exponentials by one and the same factor.
    """
    gamma = problem.risk_parameters[0]
    if row.pulls == 0:
        past[WORST] = value
    elif value < past[WORST]:
        factor, excess = exp(gamma * (value - past[WORST])), expm1(gamma * (value - past[WORST])) / gamma
        count, total, squares = float(row.pulls), past[TOTAL], past[SQUARES]
        past[CUBES] = factor**3 * past[CUBES] + excess * (
            3.0 * factor * (factor * squares + excess * total) + count * excess * excess
        )
        past[TOTAL] = factor * total + count * excess
        past[SQUARES] = factor * factor * past[SQUARES] + excess * (2.0 * factor * total + count * excess)
        past[WORST] = value
    excess = expm1(gamma * (past[WORST] - value)) / gamma
    past[TOTAL] += excess
    past[SQUARES] += excess * excess
    past[CUBES] += excess * excess * excess


@inlined
def estimate_unranged(row, past, problem):
    """From these sums, the spread by the delta method, and how it grows.

    Where gamma times the spread of rewards is large, the worst of them decides alone: then the estimate is little
    below minus that reward, whatever the distribution, and the spread is one that no average has settled.
    """
    gamma, average = problem.risk_parameters[0], past[TOTAL] / row.pulls
    mean = max(1.0 + gamma * average, 0.5 / row.pulls)  # of the exponentials, the worst of which is 1
    row.risk = problem.alpha * ((math.log1p(gamma * average) if mean > 0.5 else math.log(mean)) / gamma - past[WORST])
    variance = max(past[SQUARES] / row.pulls - average * average, 0.0)
    row.risk_spread = problem.alpha * problem.alpha * variance / (mean * mean)
    row.risk_skew = 0.0
    if variance > 0.0:
        third = past[CUBES] / row.pulls - average * (3.0 * variance + average * average)
        row.risk_skew = problem.alpha * (third / variance - 2.0 * gamma * variance / mean) / mean


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

    def exact_in(self, pairs: Sequence[tuple[Decimal, int]]) -> Exact:
        """In so many digits that two risks which are not equal differ.

        Exponentials of different fractions are independent of each other over fractions (Lindemann and Weierstrass). So
        two arms of equally many rewards have the same risk only if they have the same rewards, and then they have the
        same digits; and a risk is a fraction only if all rewards are the same, where it is minus that reward.
        """
        worst = pairs[0][0]
        with localcontext(Context(prec=EXACT_DIGITS)):
            gamma = Decimal(repr(self.gamma))
            parts = [(count * (gamma * (worst - value)).exp()) for value, count in pairs]
            found = (sum(parts, Decimal(0)) / sum(count for _, count in pairs)).ln() / gamma
        return Exact(Fraction(found - worst))

    @property
    def made_of(self) -> tuple[str, ...]:
        return RISKS[self.name].made_of

    def kernels(self, assumption: str) -> Learning:
        if ASSUMPTIONS[assumption].normal or ASSUMPTIONS[assumption].ranged:
            return super().kernels(assumption)
        return Learning(4, remember_unranged, estimate_unranged)

    def write(self, problem: Any) -> None:
        problem["risk_parameters"] = self.gamma, -math.expm1(-self.gamma), math.exp(-self.gamma)
