"""Scores on the items of a test set, the same for all arms in one random order: evidence without replacement.

What is estimated is the mean over the N items, and their standard deviation (divided by N), not those of a distribution
behind them: an arm that has seen all items is known exactly. core/items.py has the evidence, with its proof.

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

from ramgape.core.box import narrow_box, narrow_risk
from ramgape.core.items import (
    all_stakes,
    highest,
    is_impossible,
    lack_of_part,
    lack_of_square,
    lead,
    log_evidence,
    log_product,
    modest_stakes,
    own_lack,
    own_part,
    own_square,
    own_value,
)
from ramgape.core.kernel import Kernel, fixed, inlined, kernel, open_kernel
from ramgape.core.statistics import FEWEST_PULLS

BOXES = 0.2  # of delta, where two arms are compared; the rest is for that
CELLS = 128  # of means; h is half of one
GROWTH = 20  # boxes are renewed when there are so many parts more scores, and when all are in


def constants(record: Any, arm_count: int, delta: float) -> None:
    """The levels of comparisons in mean; of risks nothing is known but what boxes say."""
    level = math.log(arm_count / ((1.0 - BOXES) * delta))
    record["pair_levels"] = level, math.inf, level
    record["any_epsilon"] = 1  # wrong covers are counted whatever the data say of them


def _evidence(value_at: Kernel, stakes: Kernel = all_stakes) -> Kernel:
    """The evidence about one kind of values."""
    return fixed(log_evidence, fixed(is_impossible, value_at), fixed(log_product, value_at), stakes)


@inlined
def due(row):
    """Whether a box is to be renewed."""
    if row.pulls < row.renewal:
        return False
    row.renewal = row.pulls + 1 + row.pulls // GROWTH
    return True


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
def set_exact(row):
    """The box of an arm that has been asked all items."""
    row.mean_low = row.mean_high = row.average
    row.risk_low = row.risk_high = row.risk


@open_kernel
def mean_ends(highest_value, highest_lack, row, past, problem):
    """Of the average over all items."""
    high = highest_value(past, problem, row.pulls, 0.0, row.level, row.average, row.mean_high)
    low = 1.0 - highest_lack(past, problem, row.pulls, 0.0, row.level, 1.0 - row.average, 1.0 - row.mean_low)
    return low, high


@kernel
def variance_low(row, past, problem, low, high, known):
    """The lower end of the variance, if the mean is between two values."""
    half, end = 0.5 / CELLS, row.variance
    for cell in range(int(low * CELLS), min(int(high * CELLS), CELLS - 1) + 1):
        centre = (2 * cell + 1) * half
        further = half * half
        if square_lacks(past, past, problem, row.pulls, centre, 1.0 - end - further) < row.level:
            lack = highest_lack_of_square(
                past, problem, row.pulls, centre, row.level, 1.0 - end - further, 1.0 - known - further
            )
            end = 1.0 - lack - further
        if end <= known:
            return known
    return end


@kernel
def variance_high(row, past, problem, low, high, known):
    """The upper end of the variance, likewise."""
    half, end = 0.5 / CELLS, row.variance
    for cell in range(int(low * CELLS), min(int(high * CELLS), CELLS - 1) + 1):
        centre = (2 * cell + 1) * half
        if squares(past, past, problem, row.pulls, centre, end) < row.level:
            end = highest_square(past, problem, row.pulls, centre, row.level, end, known)
        if end >= known:
            return known
    return end


@kernel
def moments_box(row, past, search, problem):
    """Mean first: the variance is that of the means that are left."""
    if is_complete(row, problem):
        set_exact(row)
        return
    renew_when_complete(row, problem)
    alpha, rho = problem.alpha, problem.rho
    low, high = ends_of_mean(row, past, problem)
    narrow_box(row, search, low, high, row.risk_low, row.risk_high)
    low, high = row.mean_low, row.mean_high
    top = min(max(0.5, low), high)  # no variance exceeds m (1 - m)
    least = max(row.risk_low / alpha + rho * low, 0.0)
    most = min(row.risk_high / alpha + rho * high, top * (1.0 - top))
    least = variance_low(row, past, problem, low, high, least)
    most = variance_high(row, past, problem, low, high, most)
    narrow_risk(row, search, alpha * (least - rho * high), alpha * (most - rho * low))


@open_kernel
def box_of_parts(highest_part, highest_lack_of_part, transform, untransform, row, past, search, problem):
    """The box where the risk is a function of the mean of a transformed score."""
    if is_complete(row, problem):
        set_exact(row)
        return
    renew_when_complete(row, problem)
    low, high = ends_of_mean(row, past, problem)
    narrow_box(row, search, low, high, row.risk_low, row.risk_high)
    average = 0.0
    for place in range(row.pulls):
        average += min(max(transform(problem, past[problem.first_item + place]), 0.0), 1.0) / row.pulls
    most = highest_part(past, problem, row.pulls, 0.0, row.level, average, 1.0)
    least = 1.0 - highest_lack_of_part(past, problem, row.pulls, 0.0, row.level, 1.0 - average, 1.0)
    first, second = untransform(problem, least), untransform(problem, most)
    narrow_risk(row, search, min(first, second), max(first, second))


def means_box(transform: Kernel, untransform: Kernel) -> Kernel:
    """The kernel that makes the box of such a risk."""
    upper = fixed(highest, _evidence(fixed(own_part, transform)))
    lower = fixed(highest, _evidence(fixed(lack_of_part, transform)))
    return fixed(box_of_parts, upper, lower, transform, untransform)


@kernel
def mean_ahead(row, past, rival, rival_past, epsilon, problem, since, level):
    """Whether it is proved that the row's mean is more than the rival's less epsilon."""
    if rival.mean_high - row.mean_low < epsilon:
        return True
    count = min(row.pulls - row.under_way, rival.pulls - rival.under_way)
    return count >= FEWEST_PULLS and leads(past, rival_past, problem, count, 0.0, epsilon) >= level


@inlined
def risk_ahead(row, past, rival, rival_past, epsilon, problem, since, level):
    """Whether boxes prove that the row's risk is less than the rival's plus epsilon."""
    return row.risk_high - rival.risk_low < epsilon


leads = _evidence(lead, modest_stakes)
squares, square_lacks = _evidence(own_square), _evidence(lack_of_square)
highest_square, highest_lack_of_square = fixed(highest, squares), fixed(highest, square_lacks)
ends_of_mean = fixed(mean_ends, fixed(highest, _evidence(own_value)), fixed(highest, _evidence(own_lack)))
