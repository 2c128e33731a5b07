"""Conditional value at risk: minus the mean of the worst share of rewards.

With h(z) = z - E (z - X)+ / level the mean of the worst share is the maximum of h. At the nodes z = 1/64, 2/64, ... 1
an interval for E (z - X)+ comes from the sums of rewards by size (cells of the memory), each at a 64th of the chance of
a side. The lower side of the maximum is the best of the nodes. For the upper side h is concave: beyond a node it does
not rise more steeply than it did, at most, on the way there from the node before, nor more steeply than 1; and so from
the other side, where its slope is at least 1 - 1/level. Between two nodes the lower of the two lines counts.

So the interval does not shrink below what the nodes leave open: about f / (32,768 level) for rewards of density f near
the quantile, and nothing where they have no density there, as for coins.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from ramgape.core.box import narrow_risk
from ramgape.core.kernel import Kernel, fixed, inlined, kernel, open_kernel
from ramgape.noises import NOISES
from ramgape.risks.measure import Learning, Measure
from ramgape.risks.table import RISKS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ramgape.problems.distributions import Distribution

CELLS = 64  # parts of [0, 1] by which rewards are remembered
WIDTH = 1.0 / CELLS
# Where the memory has, cell by cell, number, sum and squares of rewards, about the lower end; ends for E (z - X)+ above
COUNT, SUM, SQUARES, LOW, HIGH = range(0, 5 * CELLS, CELLS)
ROOT_THREE = math.sqrt(3.0)
ROUNDING = 1e-16  # what each reward may take from a variance by rounding; too large a one only widens an interval
FEWEST_ROUNDINGS = 1000.0
NODE_LEVEL = math.log(CELLS)  # what a node's share of a side costs


@inlined
def remember(row, past, problem, value):
    """Add a reward to its cell."""
    place = min(int(value * CELLS), CELLS - 1)
    offset = value - place * WIDTH
    past[COUNT + place] += 1.0
    past[SUM + place] += offset
    past[SQUARES + place] += offset * offset


@inlined
def estimate(row, past, problem):
    """Minus the average of the lowest rewards, and the spread of (z - X)+ / level about their quantile z.

    Only of the cell in which the quantile lies it is not known which rewards are the lowest: as if they were spread
    evenly, with the mean and the variance that they have, as far as that stays within the cell.
    """
    level = problem.risk_parameters[0]
    wanted = level * row.pulls
    below = total = squares = 0.0  # rewards in lower cells, their sum and that of their squares
    place = 0
    while place < CELLS - 1 and below + past[COUNT + place] < wanted:
        node, count, sums = place * WIDTH, past[COUNT + place], past[SUM + place]
        below += count
        total += count * node + sums
        squares += count * node * node + 2.0 * node * sums + past[SQUARES + place]
        place += 1
    count = max(past[COUNT + place], 1.0)
    average = past[SUM + place] / count
    reach = ROOT_THREE * math.sqrt(max(past[SQUARES + place] / count - average * average, 0.0))
    reach = min(reach, average, WIDTH - average)
    missing = wanted - below
    part = min(missing / count, 1.0)
    lowest = place * WIDTH + average - reach * (1.0 - part)  # the mean of the lowest part of the cell
    quantile = place * WIDTH + average - reach * (1.0 - 2.0 * part)
    row.risk = -problem.alpha * (total + missing * lowest) / wanted
    short = below * quantile - total + missing * (quantile - lowest)
    short_squares = below * quantile * quantile - 2.0 * quantile * total + squares
    short_squares += missing * (quantile - lowest) * (quantile - lowest) * (4.0 / 3.0)
    spread = max(short_squares / row.pulls - (short / row.pulls) ** 2, 0.0) / (level * level)
    row.risk_spread = problem.alpha * problem.alpha * spread


@open_kernel
def renew_nodes(interval, row, past, search, problem):
    """Narrow the interval of E (z - X)+ at every node that may still be of use; returns the greatest lower end of h."""
    level, count = problem.risk_parameters[0], row.pulls
    below = total = squares = best = 0.0
    for place in range(CELLS):
        if past[HIGH + place] == 0.0:  # never looked at: (z - X)+ is from 0 to z
            past[HIGH + place] = (place + 1) * WIDTH
        best = max(best, (place + 1) * WIDTH - past[HIGH + place] / level)
    for place in range(CELLS):
        node, own, sums = place * WIDTH, past[COUNT + place], past[SUM + place]
        below += own
        total += own * node + sums
        squares += own * node * node + 2.0 * node * sums + past[SQUARES + place]
        end = (place + 1) * WIDTH
        if end - past[LOW + place] / level + WIDTH > best:
            average = (below * end - total) / (count * end)
            square = (below * end * end - 2.0 * end * total + squares) / (count * end * end)
            average = min(max(average, 0.0), 1.0)
            variance = min(max(square - average * average, 0.0), 0.25) + ROUNDING * (count + FEWEST_ROUNDINGS)
            known_low, known_high = past[LOW + place] / end, past[HIGH + place] / end
            ends = interval(problem, count, average, variance, row.level + NODE_LEVEL, known_low, known_high)
            low, high = max(end * ends[0], past[LOW + place]), min(end * ends[1], past[HIGH + place])
            if low > high:  # the truth was missed once: keep what there is
                search.misses += 1
            else:
                past[LOW + place], past[HIGH + place] = low, high
        best = max(best, end - past[HIGH + place] / level)
    return best


@kernel
def greatest_height(past, problem):
    """An upper bound on the maximum of h, from the intervals at the nodes and concavity."""
    level = problem.risk_parameters[0]
    least_slope = 1.0 - 1.0 / level
    greatest = 0.0
    before_low = left_high = left_low = 0.0  # h at the node before the left one and at the left one; 0 at 0
    for place in range(CELLS):
        right_high = (place + 1) * WIDTH - past[LOW + place] / level
        right_low = (place + 1) * WIDTH - past[HIGH + place] / level
        rise, fall = 1.0, least_slope
        if place > 0:
            rise = min(1.0, (left_high - before_low) / WIDTH)
        if place < CELLS - 1:
            next_low = (place + 2) * WIDTH - past[HIGH + place + 1] / level
            fall = max(least_slope, (next_low - right_high) / WIDTH)
        # The greatest of the lower of two lines on the cell: at one of its ends, or where they cross.
        at_left = min(left_high, right_high - fall * WIDTH)
        at_right = min(left_high + rise * WIDTH, right_high)
        greatest = max(greatest, at_left, at_right)
        if rise > fall:
            crossing = (right_high - fall * WIDTH - left_high) / (rise - fall)
            if 0.0 < crossing < WIDTH:
                greatest = max(greatest, left_high + rise * crossing)
        before_low, left_low, left_high = left_low, right_low, right_high
    return greatest


@open_kernel
def narrow(interval, row, past, search, problem):
    """The interval of the risk."""
    least = renew_nodes(interval, row, past, search, problem)
    most = min(greatest_height(past, problem), row.mean_high)  # a part of the rewards is no better than all
    narrow_risk(row, search, -problem.alpha * most, -problem.alpha * least)


@inlined
def normal_risk(problem, mean, variance):
    """Of a normal distribution; less for a larger mean and more for a larger variance, which a level of 1 leaves out.

    There an infinite variance, of which nothing is known yet, is no matter.
    """
    tail = problem.risk_parameters[1]
    return problem.alpha * ((tail * math.sqrt(variance) if tail > 0.0 else 0.0) - mean)


@inlined
def normal_spread(problem, mean, variance):
    """The spread of the above by the delta method."""
    tail = problem.risk_parameters[1]
    return problem.alpha * problem.alpha * variance * (1.0 + 0.5 * tail * tail)


@dataclass(frozen=True)
class CVaR(Measure):
    """Minus the mean of the worst rewards, in reward units; for costs, the mean of the highest.

    Args:
        level: The share of all rewards that they are.
    """

    name = "cvar"
    normal_risk, normal_spread = staticmethod(normal_risk), staticmethod(normal_spread)
    level: float = 0.1

    def __post_init__(self) -> None:
        self._check("level", "a number from 1e-6 to 1", 1e-6, 1.0)

    def formula(self, costs: bool) -> str:
        return f"mean of the {'highest' if costs else 'lowest'} {100 * self.level:g}%{'' if costs else ', negated'}"

    def label(self, costs: bool) -> str:
        return f"average of the worst {100 * self.level:g} %"

    def shown(self, value: float, costs: bool = False) -> float:
        return value if costs else 0.0 - value

    def value_of(self, distribution: Distribution) -> float:
        return -distribution.tail_mean(self.level)

    def value_in(self, rewards: NDArray[np.float64]) -> float:
        size = self.level * len(rewards)
        whole = min(int(size), len(rewards) - 1)
        lowest = np.partition(rewards, whole)[: whole + 1]
        return -float(lowest[:whole].sum() + (size - whole) * lowest[whole]) / size

    def write(self, problem: Any) -> None:
        normal = NormalDist()
        tail = normal.pdf(normal.inv_cdf(self.level)) / self.level if self.level < 1.0 else 0.0
        problem["risk_parameters"] = self.level, tail, 0.0

    @property
    def made_of(self) -> tuple[str, ...]:
        return RISKS[self.name].made_of

    def kernels(self, noise: str) -> Learning:
        if NOISES[noise].normal:
            return super().kernels(noise)
        return Learning(5 * CELLS, remember, estimate, narrowed=2 * CELLS)

    def narrow(self, interval: Kernel) -> Kernel:
        return fixed(narrow, interval)
