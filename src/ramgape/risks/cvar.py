"""Conditional value at risk: minus the mean of the worst share of rewards, the tail mean.

With h(z) = z - E (z - X)+ / level the tail mean is the maximum of h over z, at the quantile. For rewards in [0, 1] its
interval comes from their sums by size (cells.py), without a union over thresholds:

From below. If the tail mean is at most c, then E (z - X)+ >= level (z - c) for EVERY z. So y = level (z - c) - (z - X)+
has no positive mean and is at least -(z - level (z - c)), and the mixture of statistics/mixture.py over y is a test
supermartingale; so is a weighted mean of them over z, which rejects c when it reaches e^L. Each node z = k / 1024 has
weight 1 / (7 2^d) for each level d = 4 ... 10 of halved ranges that it ends a part of: 1 in all. Any of the nodes are a
lower bound for all: 17 about the empirical quantile are taken, the closer together the more is known.

From above. If the tail mean is at least c, then E (z - X)+ <= level (z - c) for ONE z, the quantile, which is at least
c. So y = (z - X)+ - level (z - c) has no positive mean there and is at least -level (z - c). Which z it is nobody
knows, but it is a fixed one: c is rejected when the mixtures over y for all z from c to 1 reach e^L. On a cell the sum
of y, which is convex in z, is at least the higher of its tangents at the two ends; the squares are convex in z for
rewards below the cell, at most (level (z - c))^2 above it, and in the cell at most the larger of that and the square of
the width; and the reach is largest at the upper end. Cells that are rejected together, as a block, need not be
looked at one by one. The scale of a mixture must be one and the same wherever z is looked at, so it goes by the block.

Why a search over c is allowed: moving c away from the truth adds some -d <= 0 to every y and d to the reach. Since
1 + l y >= exp(l (y - d) - psi(l) (y - d)^2) for y >= -reach and 0 <= l < 1 / reach, and since the mixture falls with
the reach where the sum is positive, whatever rejects such a c is no more than the mixture of the products of 1 + l y at
the truth, which is a supermartingale: but for a chance of e^-L, no c beyond the truth is ever rejected.

The bound that serves gives L and the interval of the mean, which no tail mean exceeds. What the width of a cell leaves
open is about f / (8.4 million level) for rewards of density f near the quantile.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from ramgape.assumptions import ASSUMPTIONS
from ramgape.bounds.empirical_bernstein import COARSE, COARSE_MEAN_SCALE, MEAN_SCALES
from ramgape.core.box import narrow_risk
from ramgape.core.kernel import Kernel, fixed, inlined, kernel
from ramgape.risks.cells import (
    BLOCK,
    BLOCK_SUMS,
    BLOCKS,
    CELL,
    CELLS,
    COLUMNS,
    SUMS,
    UNRANGED_COLUMNS,
    WIDTH,
    remember,
    remember_unranged,
    sums_below,
    value_at,
    with_those,
    within,
)
from ramgape.risks.measure import Learning, Measure
from ramgape.statistics.inversion import SAFETY, innermost
from ramgape.statistics.mixture import is_rejected, log_evidence

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ramgape.problems.distributions import Distribution

NODES, NODE = COLUMNS, 5  # behind the cells stand the nodes in use: place, sums below it, logarithm of the weight
MOST_NODES = 17
LEVEL = NODES + NODE * MOST_NODES  # and behind these, of the tail mean that is looked at: its level,
ENOUGH, ERROR = LEVEL + 1, LEVEL + 2  # the evidence that rejects, and the standard error of the estimate
FOUND = ERROR + 1 - NODES  # so many columns does `narrow` write
AROUND = MOST_NODES // 2
FLAT = 4  # nodes are so far apart that within as many of them h falls by a standard error

LEVELS = 7  # of halved ranges, from 16 parts to 1,024


@inlined
def lowest_share(past, level, count):
    """The mean of the lowest rewards, their quantile z, and the sums of (z - x)+ and of its squares; as positions."""
    wanted = level * count
    place, (below, total, squares) = sums_below(past, CELLS - 1, wanted)
    # Whole cells hold fewer rewards than the share has; the rest comes from the next cell, over which rewards are taken
    # to be spread evenly from `lowest` up. So the mean of these is half-way, and their mean square a third of the way.
    missing = wanted - below
    lowest, quantile = within(past, place, missing)
    short = below * quantile - total + missing * (quantile - lowest)
    short_squares = below * quantile * quantile - 2.0 * quantile * total + squares
    short_squares += missing * (quantile - lowest) * (quantile - lowest) * (4.0 / 3.0)
    return lowest + (total - below * lowest) / wanted, quantile, short, short_squares


@inlined
def estimate(row, past, problem):
    """Minus the average of the lowest rewards, and the spread of w = (z - X)+ / level about their quantile z.

    Third moments are not kept: how the spread grows is taken to be as for a tail that falls exponentially, for which w
    has mean m, mean square 2 m^2 / level and mean cube 6 m^3 / level^2. Two of the worst rewards are the least that
    tells of it.
    """
    level = problem.risk_parameters[0]
    wanted = level * row.pulls
    tail, _, short, short_squares = lowest_share(past, level, row.pulls)
    row.risk = -problem.alpha * value_at(past, tail)
    spread = max(short_squares / row.pulls - (short / row.pulls) ** 2, 0.0) / (level * level)
    row.risk_spread = (problem.alpha * past[WIDTH]) ** 2 * spread
    row.risk_skew = 3.0 * problem.alpha * past[WIDTH] * short / (wanted * level) if wanted >= 2.0 else math.inf


@inlined
def scales_of(problem, size):
    """Of mixtures of values up to `size`; like those of the default bound for means, fixed in advance."""
    square = size * size
    if problem.epsilon >= COARSE:
        return COARSE_MEAN_SCALE * square, COARSE_MEAN_SCALE * square
    return MEAN_SCALES[0] * square, MEAN_SCALES[1] * square


@inlined
def log_weight(node):
    """Of a node, 1 ... CELLS: the sum over the levels of halved ranges that it ends a part of."""
    weight, size = 0.0, CELLS // 16
    for _ in range(LEVELS):
        if node % size == 0:
            weight += size
        size //= 2
    return math.log(weight / (LEVELS * CELLS))


@inlined
def height_at(past, count, node):
    """The empirical h at a node."""
    _, sums = sums_below(past, node, math.inf)
    return node - (sums[0] * node - sums[1]) / (count * past[LEVEL])


@kernel
def choose_nodes(row, past, problem):
    """Write down the nodes about the empirical quantile at which evidence is looked for."""
    count = float(row.pulls)
    place, _ = sums_below(past, CELLS - 1, past[LEVEL] * count)
    top = place + 1
    best, step = height_at(past, count, top), 1
    for _ in range(LEVELS - 1):
        aside = min(
            height_at(past, count, max(top - FLAT * step, 0)),
            height_at(past, count, min(top + FLAT * step, CELLS)),
        )
        if best - aside > past[ERROR]:
            break
        step *= 2
    node, at = (top // step - AROUND) * step, NODES
    for _ in range(MOST_NODES):
        usable = 0 < node <= CELLS
        past[at] = node if usable else 0.0
        if usable:
            _, (past[at + 1], past[at + 2], past[at + 3]) = sums_below(past, node, math.inf)
            past[at + 4] = log_weight(node)
        node += step
        at += NODE


@kernel
def is_too_low(row, past, problem, tail):
    """Whether the tail mean is above this, by the evidence at the nodes together."""
    level, count = past[LEVEL], float(row.pulls)
    most, parts = -math.inf, 0.0
    for place in range(MOST_NODES):
        at = NODES + NODE * place
        node, below, below_total = past[at], past[at + 1], past[at + 2]
        mean, short = level * (node - tail), below * node - below_total
        total = count * mean - short
        if node > 0.0 and mean > 0.0 and total > 0.0:
            squares = count * mean * mean - 2.0 * mean * short
            squares += below * node * node - 2.0 * node * below_total + past[at + 3]
            squares = max(squares, total * total / count) * SAFETY
            reach = max(node - mean, 0.0)
            term = log_evidence(total, squares, squares, reach, scales_of(problem, node)) + past[at + 4]
            if term > most:
                parts = 1.0 + parts * math.exp(most - term)
                most = term
            else:
                parts += math.exp(term - most)
    return parts > 0.0 and most + math.log(parts) >= past[ENOUGH]


@inlined
def is_excluded(row, past, problem, tail, enough, end, left, right, sums, further):
    """Whether a tail mean of this or more is rejected for every quantile between two borders of cells.

    `sums` are those of the rewards below the first border, `further` below the second; `end` is that of the block.
    """
    level, count = past[LEVEL], float(row.pulls)
    start = max(left, tail)
    low_mean, mean = level * (start - tail), level * (right - tail)
    at_left = sums[0] * left - sums[1] - count * level * (left - tail)
    at_right = further[0] * right - further[1] - count * mean
    rise, fall = sums[0] - count * level, further[0] - count * level
    if rise >= 0.0:
        total = at_left
    elif fall <= 0.0:
        total = at_right
    else:
        total = at_left + rise * (at_right - at_left - fall * (right - left)) / (rise - fall)
    if total <= 0.0:
        return False
    one, two = start - low_mean, right - mean
    squares = max(one * (sums[0] * one - 2.0 * sums[1]), two * (sums[0] * two - 2.0 * sums[1])) + sums[2]
    squares += (count - further[0]) * mean * mean + (further[0] - sums[0]) * max(right - left, mean) ** 2
    squares = max(squares, total * total / count) * SAFETY
    scales = scales_of(problem, end)
    # e - ln(1 + e) >= e^2 / (2 + 4/3 e), and all else takes less than 2 off it and half the logarithm: mostly that is
    # far more than enough, and nothing need be computed.
    spread = squares + scales[0]
    if total * total > (2.0 * spread + 4.0 / 3.0 * mean * total) * enough:
        return True
    return is_rejected(total, squares, mean, scales, past[ENOUGH])


@kernel
def is_too_high(row, past, problem, tail):
    """Whether the tail mean is below this: no quantile is left that would allow it."""
    sums = (0.0, 0.0, 0.0)
    enough = past[ENOUGH] + 2.0 + 0.5 * math.log1p(row.pulls / scales_of(problem, 1.0)[0])
    for block in range(BLOCKS):
        start = block * BLOCK
        end = start + BLOCK
        further = with_those(past, BLOCK_SUMS + SUMS * block, float(start), sums)
        if end >= tail and not is_excluded(row, past, problem, tail, enough, end, start, end, sums, further):
            for place in range(start, end):
                own = with_those(past, CELL + SUMS * place, float(place), sums)
                if place + 1 >= tail and not is_excluded(
                    row, past, problem, tail, enough, end, place, place + 1, sums, own
                ):
                    return False
                sums = own
        sums = further
    return True


lowest_tail, highest_tail = fixed(innermost, is_too_low), fixed(innermost, is_too_high)


@kernel
def tail_ends(row, past, problem, estimated, low, high):
    """The interval of a tail mean, from an estimate and what is known of it; in units of a cell's width."""
    if estimated > low:
        choose_nodes(row, past, problem)
        low = lowest_tail(row, past, problem, estimated, low)
    if estimated < high:
        high = highest_tail(row, past, problem, estimated, high)
    return low, min(high, row.mean_high * CELLS)  # a part of the rewards is no better than all


@kernel
def narrow(row, past, search, problem):
    """The interval of the risk."""
    unit = problem.alpha * past[WIDTH]
    past[LEVEL], past[ENOUGH] = problem.risk_parameters[0], row.level
    past[ERROR] = math.sqrt(row.risk_spread / row.pulls) / unit
    low, high = tail_ends(row, past, problem, -row.risk / unit, -row.risk_high / unit, -row.risk_low / unit)
    narrow_risk(row, search, -unit * high, -unit * low)


@inlined
def normal_risk(problem, mean, variance):
    """Of a normal distribution; less for a larger mean and more for a larger variance, which a level of 1 leaves out.

    There an infinite variance, of which nothing is known yet, is no matter.
    """
    tail = problem.risk_parameters[1]
    return problem.alpha * ((tail * math.sqrt(variance) if tail > 0.0 else 0.0) - mean)


@inlined
def normal_spread(problem, mean, variance):
    """The spread of the above, or of a quantile, by the delta method: both are so many deviations from the mean."""
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

    def kernels(self, assumption: str) -> Learning:
        if ASSUMPTIONS[assumption].normal:
            return super().kernels(assumption)
        if ASSUMPTIONS[assumption].ranged:
            return Learning(COLUMNS + FOUND, remember, estimate, narrowed=FOUND)
        return Learning(UNRANGED_COLUMNS, remember_unranged, estimate)

    def narrow(self, interval: Kernel) -> Kernel:
        return narrow
