"""Scores on the items of a test set, the same for all arms in one random order: evidence without replacement.

What is estimated is the mean over the N items, and their standard deviation (divided by N), not those of a distribution
behind them: an arm that has seen all items is known, but for rounding. without_replacement.py has evidence and proof.

Mean: by its own scores, from above and from below. Two arms: by the differences on the items that both have seen, so
that what makes items hard for everybody drops out. A claim about two arms that is false has a supermartingale of its
own, so the levels of core/comparisons.py, core/highest_pairs.py and core/control_pairs.py hold with a union over the
false claims that their proofs name, in place of the average over them: each has that share of delta.

Variance: on a cell of means [c - h, c + h] the average of (x - c)^2 is the variance plus at most h^2. So a variance is
rejected if it is on every cell that the interval of the mean touches; only the cell with the true mean matters, and
nothing is paid for there being others. A risk that is the mean of a transformed score: by the transformed scores.

L = ln(4 K / (s delta)) for the boxes, s being all of delta, or a part of it where comparisons have the rest.
"""

from __future__ import annotations

import math
from typing import Any

from ramgape.core.box import has_grown, narrow_box, narrow_risk
from ramgape.core.kernel import Kernel, fixed, inlined, kernel, open_kernel
from ramgape.core.statistics import FEWEST_PULLS
from ramgape.statistics.without_replacement import (
    LACK,
    LEAD,
    SCORE,
    SQUARE,
    SQUARE_LACK,
    average_of,
    evidence_of,
    highest,
    is_below,
    item_value,
    reaches,
    upper_end,
)

BOXES = 0.2  # of delta, where two arms are compared; the rest is for that
CELLS = 128  # of means; h is half of one
WIDE = 0.5  # while so little is known of the mean, nothing worth its time would be found of the variance
GROWTH = 20  # boxes are renewed when there are so many parts more scores, and when all are in


def constants(record: Any, arm_count: int, delta: float) -> None:
    """The levels of comparisons in mean; of risks nothing is known but what boxes say."""
    level = math.log(arm_count / ((1.0 - BOXES) * delta))
    record["pair_levels"], record["cover_level"] = (level, math.inf), level
    record["any_epsilon"] = 1  # wrong covers are counted whatever the data say of them


@inlined
def due(row):
    """Whether a box is to be renewed."""
    return has_grown(row, GROWTH)


@inlined
def is_complete(row, problem):
    """Whether an arm has been asked all items."""
    return row.pulls - row.under_way >= problem.item_count


@inlined
def renew_when_complete(row, problem):
    """The last item is never waited with."""
    if problem.item_count < math.inf:
        row.renewal = min(row.renewal, int(problem.item_count))


@inlined
def set_known_mean(row, problem):
    """The interval of the mean of an arm that has been asked all items: nothing is open but what rounding did."""
    row.mean_low, row.mean_high = row.average - problem.dust, row.average + problem.dust


@inlined
def set_known_moments(row, problem):
    """The box of such an arm. What rounding did to a deviation is as little as to a mean, hence less to a variance."""
    set_known_mean(row, problem)
    alpha, dust = problem.alpha, problem.dust
    if problem.risk_root:
        deviation = math.sqrt(row.risk / alpha)
        least, most = max(deviation - dust, 0.0), deviation + dust
        row.risk_low, row.risk_high = alpha * least * least, alpha * most * most
    else:
        dust *= alpha * (1.0 + problem.rho)
        row.risk_low, row.risk_high = row.risk - dust, row.risk + dust


@kernel
def narrow_item_mean(row, past, search, problem):
    """The interval of the mean over all items."""
    high = highest(past, problem, row.pulls, SCORE, 0.0, row.level, row.average, row.mean_high)
    low = 1.0 - highest(past, problem, row.pulls, LACK, 0.0, row.level, 1.0 - row.average, 1.0 - row.mean_low)
    narrow_box(row, search, low, high, row.risk_low, row.risk_high)


@inlined
def touched_cells(low, high):
    """The first of the cells that an interval of means touches, and how many they are."""
    first = int(low * CELLS)
    return first, min(int(high * CELLS), CELLS - 1) - first + 1


@kernel
def variance_low(row, past, problem, low, high, known):
    """The lower end of the variance, if the mean is between two values.

    Nearest to the average the evidence is least, so that cell comes first: elsewhere a look confirms it, mostly.
    """
    half, end = 0.5 / CELLS, row.variance
    first, count = touched_cells(low, high)
    begin = min(max(int(row.average * CELLS) - first, 0), count - 1)
    for step in range(count):
        centre, further = (2 * (first + (begin + step) % count) + 1) * half, half * half
        inner = 1.0 - end - further
        if not is_below(past, past, problem, row.pulls, SQUARE_LACK, centre, inner, row.level):
            outer = 1.0 - known - further
            lack = highest(past, problem, row.pulls, SQUARE_LACK, centre, row.level, inner, outer)
            end = 1.0 - lack - further
        if end <= known:
            return known
    return end


@kernel
def variance_high(row, past, problem, low, high, known):
    """The upper end of the variance, likewise; here the evidence is least far from the average."""
    half, end = 0.5 / CELLS, row.variance
    first, count = touched_cells(low, high)
    for step in range(count):
        centre = (2 * (first + (step + count - 1) % count) + 1) * half
        if not is_below(past, past, problem, row.pulls, SQUARE, centre, end, row.level):
            end = highest(past, problem, row.pulls, SQUARE, centre, row.level, end, known)
        if end >= known:
            return known
    return end


@kernel
def moments_box(row, past, search, problem):
    """Mean first: the variance is that of the means that are left."""
    if is_complete(row, problem):
        set_known_moments(row, problem)
        return
    renew_when_complete(row, problem)
    alpha, rho = problem.alpha, problem.rho
    narrow_item_mean(row, past, search, problem)
    low, high = row.mean_low, row.mean_high
    top = min(max(0.5, low), high)  # no variance exceeds m (1 - m)
    least = max(row.risk_low / alpha + rho * low, 0.0)
    most = min(row.risk_high / alpha + rho * high, top * (1.0 - top))
    if high - low < WIDE:
        least = variance_low(row, past, problem, low, high, least)
        most = variance_high(row, past, problem, low, high, most)
    narrow_risk(row, search, alpha * (least - rho * high), alpha * (most - rho * low))


@open_kernel
def box_of_parts(highest_part, average_part, untransform, row, past, search, problem):
    """The box where the risk is a function of the mean of a transformed score."""
    if is_complete(row, problem):
        set_known_mean(row, problem)
        part = average_part(past, problem, int(problem.item_count))
        first = untransform(problem, max(part - problem.dust, 0.0))
        second = untransform(problem, min(part + problem.dust, 1.0))
        row.risk_low, row.risk_high = min(first, second), max(first, second)
        return
    renew_when_complete(row, problem)
    narrow_item_mean(row, past, search, problem)
    most = highest_part(past, problem, row.pulls, SCORE, 0.0, row.level, 0.0, 1.0)
    least = 1.0 - highest_part(past, problem, row.pulls, LACK, 0.0, row.level, 0.0, 1.0)
    first, second = untransform(problem, least), untransform(problem, most)
    narrow_risk(row, search, min(first, second), max(first, second))


def means_box(transform: Kernel, untransform: Kernel) -> Kernel:
    """The kernel that makes the box of such a risk."""
    average_part = fixed(average_of, fixed(item_value, transform))
    return fixed(box_of_parts, fixed(upper_end, fixed(reaches, evidence_of(transform))), average_part, untransform)


@kernel
def mean_ahead(row, past, rival, rival_past, epsilon, problem, since, level):
    """Whether it is proved that the row's mean is more than the rival's less epsilon."""
    if rival.mean_high - row.mean_low < epsilon:
        return True
    count = min(row.pulls - row.under_way, rival.pulls - rival.under_way)
    return count >= FEWEST_PULLS and is_below(past, rival_past, problem, count, LEAD, 0.0, epsilon, level)


@inlined
def risk_ahead(row, past, rival, rival_past, epsilon, problem, since, level):
    """Whether boxes prove that the row's risk is less than the rival's plus epsilon."""
    return row.risk_high - rival.risk_low < epsilon
