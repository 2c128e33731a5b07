"""Value at risk: minus a quantile of the rewards, the least value that a share `level` of them do not exceed.

For rewards in [0, 1] its interval comes from their numbers by size (cells.py). Of the quantile q it is known that
P(X < q) <= level <= P(X <= q). Let N count the rewards below a border z of cells. If q > z, then N is no more than the
number of rewards below q; the likelihood ratio exp(d N - n ln(1 + level (e^d - 1))) of d > 0 grows with N, and with the
rewards below q in place of N it is a test supermartingale. So whatever border is rejected, that same one has grown as
large: there is no union over borders, and a mean over several d is as good. If q < z the same holds for d < 0, since N
is no less than the number of rewards up to q. The ends are borders of cells, so a quantile is known to a 1,024th of the
range at best, and a search for the exact answer may not end where two of them are in one cell.

The spread of the estimate is level (1 - level) / f^2. The density f at the quantile is taken from the rewards between
the quantiles of level - h and level + h, with h the larger of 3 standard errors of a count, which is about how far
intervals reach, and of 1.5 level (1 - level) n^(-1/5), which is close to what is best for a normal density
(Bofinger 1975). Where rewards are equal to the quantile that far, the spread is 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from ramgape.assumptions import ASSUMPTIONS
from ramgape.core.box import narrow_risk
from ramgape.core.kernel import Kernel, inlined, kernel
from ramgape.risks.cells import (
    CELLS,
    COLUMNS,
    UNRANGED_COLUMNS,
    WIDTH,
    remember,
    remember_unranged,
    sums_below,
    value_at,
    within,
)
from ramgape.risks.cvar import normal_spread
from ramgape.risks.measure import Learning, Measure
from ramgape.statistics.inversion import MOST_STEPS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ramgape.problems.distributions import Distribution

RATIOS = 16  # likelihood ratios in a mean, each for half the distance of the one before, the first for odds of e^4
FARTHEST = 4.0
ROUNDING = 1e-12  # of a level times a number, which is meant to be whole
STANDARD_ERRORS, BANDWIDTH = 3.0, 1.5


@inlined
def position_of(past, rank):
    """Where the reward of a rank is: 1 for the lowest."""
    place, sums = sums_below(past, CELLS - 1, rank)
    return within(past, place, rank - sums[0] - 0.5)[1]


@kernel
def estimate(row, past, problem):
    """Minus the empirical quantile, and level (1 - level) / density^2."""
    level, count = problem.risk_parameters[0], float(row.pulls)
    rank = max(math.ceil(level * count * (1.0 - ROUNDING)), 1.0)
    row.risk = -problem.alpha * value_at(past, position_of(past, rank))
    variance = level * (1.0 - level)
    apart = max(STANDARD_ERRORS * math.sqrt(variance / count), BANDWIDTH * variance * count**-0.2)
    low = max(math.floor((level - apart) * count), 1.0)
    high = min(math.ceil((level + apart) * count), count)
    slope = (position_of(past, high) - position_of(past, low)) * count / max(high - low, 1.0)
    row.risk_spread = (problem.alpha * past[WIDTH] * slope) ** 2 * variance


@kernel
def log_ratio(count, hits, level, side):
    """The logarithm of a mean of likelihood ratios: of more hits than a share `level` (side 1), or of fewer (-1)."""
    most, parts, distance = -math.inf, 0.0, side * FARTHEST
    for _ in range(RATIOS):
        term = hits * distance - count * math.log1p(level * math.expm1(distance))
        if term > most:
            parts = 1.0 + parts * math.exp(most - term)
            most = term
        else:
            parts += math.exp(term - most)
        distance *= 0.5
    return most + math.log(parts / RATIOS)


@kernel
def border(row, past, problem, side, inner, outer):
    """The border nearest to `inner` that is rejected, or `outer`, which is known."""
    for _ in range(MOST_STEPS):
        if abs(outer - inner) <= 1:
            break
        middle = (inner + outer) // 2
        _, sums = sums_below(past, middle, math.inf)
        if log_ratio(float(row.pulls), sums[0], problem.risk_parameters[0], side) >= row.level:
            outer = middle
        else:
            inner = middle
    return outer


@kernel
def narrow(row, past, search, problem):
    """The interval of the risk."""
    unit = problem.alpha * past[WIDTH]
    place, _ = sums_below(past, CELLS - 1, problem.risk_parameters[0] * row.pulls)
    low = border(row, past, problem, -1.0, place + 1, min(round(-row.risk_high / unit), place))
    high = border(row, past, problem, 1.0, place, max(round(-row.risk_low / unit), place + 1))
    narrow_risk(row, search, -unit * high, -unit * low)


@kernel
def normal_risk(problem, mean, variance):
    """Of a normal distribution; whether it rises or falls with the variance depends on the level alone."""
    deviations = problem.risk_parameters[1]
    if math.isinf(mean) or deviations == 0.0:
        return -problem.alpha * mean
    return -problem.alpha * (mean + deviations * math.sqrt(variance))


@dataclass(frozen=True)
class Quantile(Measure):
    """Minus a quantile of the rewards, in reward units: value at risk. For costs, a quantile from above.

    Args:
        level: The share of rewards that the quantile separates, the worst ones.
    """

    name = "quantile"
    normal_risk, normal_spread = staticmethod(normal_risk), staticmethod(normal_spread)
    level: float = 0.1

    def __post_init__(self) -> None:
        self._check("level", "a number from 1e-6 to 0.999999", 1e-6, 1.0 - 1e-6)

    def formula(self, costs: bool) -> str:
        share = f"{100 * (1.0 - self.level if costs else self.level):.10g}%"
        return f"the {share} quantile{'' if costs else ', negated'}"

    def label(self, costs: bool) -> str:
        return f"{100 * (1.0 - self.level if costs else self.level):.10g} % quantile"

    def shown(self, value: float, costs: bool = False) -> float:
        return value if costs else 0.0 - value

    def value_of(self, distribution: Distribution) -> float:
        return -float(distribution.quantile(np.array([self.level]))[0])

    def value_in(self, rewards: NDArray[np.float64]) -> float:
        rank = max(math.ceil(self.level * len(rewards) * (1.0 - ROUNDING)), 1)
        return -float(np.partition(rewards, rank - 1)[rank - 1])

    def write(self, problem: Any) -> None:
        problem["risk_parameters"] = self.level, NormalDist().inv_cdf(self.level), 0.0

    def kernels(self, assumption: str) -> Learning:
        if ASSUMPTIONS[assumption].normal:
            return super().kernels(assumption)
        if ASSUMPTIONS[assumption].ranged:
            return Learning(COLUMNS, remember, estimate)
        return Learning(UNRANGED_COLUMNS, remember_unranged, estimate)

    def narrow(self, interval: Kernel) -> Kernel:
        return narrow
