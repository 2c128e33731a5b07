"""Two arms compared at once, instead of by the gap between their boxes: evidence for rewards in a range.

Boxes of radius b prove a difference when it exceeds b + b', although the error of a difference is only the root of
b^2 + b'^2. Here a hypothesis about two arms, "arm j's mean is at least arm i's plus epsilon", is rejected when for
every value m of i's mean the evidence that i's mean is above m and the evidence that j's is below m + epsilon multiply
to e^L: at the true m the product is a test supermartingale. For means the evidence is that of bets.py; for the
mean-variance and the standard deviation that of mixture.py on cells of the means that the arm's box leaves; for
risks that are means of a transformed reward that of mixture.py. What is mixed are products at a common scale.

Between values of m the infimum is bounded on cells: on a cell one factor is at least what it is at its upper end, and
the other at least what it is at its lower end. Both factors are evaluated at one moment, from the same data.

0.05 delta is for the boxes, which restrict m and stand in the report. Proofs are in docs/theory/comparisons.md.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ramgape.bounds import empirical_bernstein
from ramgape.bounds.empirical_bernstein import CELLS, cell_terms
from ramgape.core import comparisons
from ramgape.core.box import has_grown
from ramgape.core.comparisons import sums
from ramgape.core.kernel import Kernel, fixed, inlined, kernel, open_kernel
from ramgape.core.statistics import FEWEST_PULLS, LEAST_ERROR, squared_distance
from ramgape.statistics import vectors
from ramgape.statistics.bets import SCALES, log_average, log_mixtures, most_growth
from ramgape.statistics.inversion import SAFETY
from ramgape.statistics.mixture import log_mixture, log_mixture_below
from ramgape.statistics.scan import NEAR, proved_on, unlimited

BOXES = 0.05  # of delta
RISK_SCALES = (0.03, 0.3, 3.0)
# Single points that a scan begins with: see scan.py. The evidence about means is least near the likeliest of them;
# that about risks, whose reach depends on the hypothesis, may be least anywhere.
MEAN_SCOUTS = (1.0, 0.0), (1.0, -3.0 / 64.0), (1.0, 3.0 / 64.0), (1.0, -1.5 / 64.0), (1.0, 1.5 / 64.0)
RISK_SCOUTS = (1.0, 0.0), (0.0, 0.5), (0.0, 0.25), (0.0, 0.75), (0.0, 0.375), (0.0, 0.625), (0.0, 0.125)
HOPELESS = 0.4  # a comparison with less than so much of the level, by normal estimates, is not looked at
# A standard deviation is compared with finer cells of the mean where the usual ones bring so much of the level.
FINE_CELLS, NEARLY = 64, 0.6
GROWTH = 20  # boxes only restrict: they are renewed when there are so many parts more pulls
moments_box, interval = empirical_bernstein.moments_box, empirical_bernstein.interval


def constants(record: Any, arm_count: int, delta: float) -> None:
    """The levels of comparisons, and the scales of the mixtures."""
    empirical_bernstein.constants(record, arm_count, delta)
    record["pair_scales"] = np.maximum(RISK_SCALES, record["rho"] ** 2 * np.array(SCALES))
    comparisons.set_levels(record, arm_count, delta, BOXES)


@inlined
def due(row):
    """Whether a box is to be renewed."""
    return has_grown(row, GROWTH)


@inlined
def is_hopeless(difference, error, level):
    """Whether a difference with this squared error is too uncertain to be worth a look; nothing is proved by that."""
    return difference <= 0.0 or 0.5 * difference * difference < HOPELESS * level * error


@kernel
def least_on_mean(cell, row, past, rival, rival_past, problem, epsilon, since, level):
    """ln of the evidence, on a cell of means, that the row's is above it and the rival's below it plus epsilon."""
    start, end = cell
    own = log_mixtures(sums(row, past, problem, since), row.shift, end, 1.0)
    others = log_mixtures(sums(rival, rival_past, problem, since), rival.shift, start + epsilon, -1.0)
    return log_average(own[0] + others[0], own[1] + others[1], own[2] + others[2])


@kernel
def most_on_mean(cell, row, past, rival, rival_past, problem, epsilon, since, level):
    """No less than this evidence at a point."""
    mean, _ = cell
    own = most_growth(sums(row, past, problem, since), row.shift, mean, 1.0)
    return own + most_growth(sums(rival, rival_past, problem, since), rival.shift, mean + epsilon, -1.0)


def least_on_means(starts, stops, row, past, rival, rival_past, problem, epsilon, since, level):
    """The same on many cells, float[N], for plain Python."""
    known = sums(row, past, problem, since), sums(rival, rival_past, problem, since)
    return vectors.log_average(vectors.log_mixtures(*known, row.shift, rival.shift, stops, starts + epsilon))


@open_kernel
def mean_compared(proved_on_mean, row, past, rival, rival_past, epsilon, problem, since, level):
    """Whether it is proved that the row's mean is more than the rival's less epsilon."""
    # If the claim is false, some mean is both the row's at most and the rival's less epsilon at least: it must be
    # refuted on all of [low, high], outside which boxes already do. Where nothing is left, boxes alone prove the claim.
    low, high = row.mean_low, min(row.mean_high, rival.mean_high - epsilon)
    if low > high:
        return True
    count, rival_count = sums(row, past, problem, since)[0], sums(rival, rival_past, problem, since)[0]
    if count < FEWEST_PULLS or rival_count < FEWEST_PULLS:
        return False
    error, rival_error = row.variance / count + LEAST_ERROR, rival.variance / rival_count + LEAST_ERROR
    difference = row.average - rival.average + epsilon
    if is_hopeless(difference, error + rival_error, level):
        return False
    # Evidence is least about where both estimates are off in proportion to their errors: the scan begins there.
    middle = row.average - difference * error / (error + rival_error)
    return proved_on_mean((low, high, middle), level, row, past, rival, rival_past, problem, epsilon, since)


mean_ahead = fixed(mean_compared, fixed(proved_on, MEAN_SCOUTS, most_on_mean, least_on_mean, least_on_means))


@inlined
def greatest_in_cell(row, rho, cell, cells):
    """The greatest mean-variance that is possible for the means of a cell: no variance exceeds m (1 - m)."""
    width = (row.mean_high - row.mean_low) / cells
    low = row.mean_low + cell * width
    top = min(max(0.5 * (1.0 - rho), low), low + width)
    return top * (1.0 - top) - rho * top + 1e-12


@inlined
def mixture_for(total, squares, count, reach, scale):
    """ln of the evidence of one mixture, for any sum; v is at least s^2 / n."""
    if total > 0.0:
        return log_mixture(total, squares, reach, scale)
    return log_mixture_below(total, squares, total * total / count, reach, scale)


@kernel
def mixtures_on_risk(known, row, problem, side, value, possible, cells):
    """ln of the evidence, for three scales, that a mean-variance is above (side 1) or below (-1) a value, whatever the
    mean; cells of means are left out in which not even the mean-variance `possible` is."""
    first = second = third = math.inf
    for cell in range(cells):
        if possible > greatest_in_cell(row, problem.rho, cell, cells):
            continue
        total, squares, reach = cell_terms(known, row, problem.rho, side, value, cell, cells)
        first = min(first, mixture_for(total, squares, known[0], reach, problem.pair_scales[0]))
        second = min(second, mixture_for(total, squares, known[0], reach, problem.pair_scales[1]))
        third = min(third, mixture_for(total, squares, known[0], reach, problem.pair_scales[2]))
    return first, second, third


@open_kernel
def least_on_risk(variance_at, cell, row, past, rival, rival_past, problem, epsilon, since, level):
    """ln of the evidence, on a cell of risks, that the row's is below it and the rival's above it less epsilon.

    The hypothesis is that the rival's risk is just that; so means for which it is impossible are left out, for both
    arms, if they are for all of the cell. Tolerances of a standard deviation are met by so few pulls that intervals of
    the means are wide, and coarse cells cost a twentieth of the pulls.
    """
    start, end = cell
    low, rival_low = variance_at(problem, start), variance_at(problem, start - epsilon)
    rival_high = variance_at(problem, end - epsilon)
    own, others = sums(row, past, problem, since), sums(rival, rival_past, problem, since)
    evidence = -math.inf
    for cells in (CELLS, FINE_CELLS):
        below = mixtures_on_risk(own, row, problem, -1.0, low, low, cells)
        above = mixtures_on_risk(others, rival, problem, 1.0, rival_high, rival_low, cells)
        evidence = log_average(below[0] + above[0], below[1] + above[1], below[2] + above[2])
        if not problem.risk_root or evidence >= level or evidence < NEARLY * level:
            break
    return evidence


def least_values(mean, rho):
    """`least_value` of an array."""
    return np.where(mean + 0.5 * rho > 1.0, (1.0 - mean) * (1.0 - mean) - rho, -rho * mean - 0.25 * rho * rho)


greatest_in_cells = vectors.on_arrays(greatest_in_cell)
terms_of_cells = vectors.on_arrays(
    cell_terms, least_value=least_values, squared_distance=vectors.on_arrays(squared_distance)
)


def mixtures_on_risks(known, row, problem, side, values, possible, cells):
    """`mixtures_on_risk` of many values, float[3, N], for plain Python."""
    cell = np.arange(cells)
    total, squares, reach = terms_of_cells(known, row, problem.rho, side, values[:, None], cell, cells)
    found = vectors.mixture_for(total, squares, known[0], reach, np.asarray(problem.pair_scales))
    left_out = possible[:, None] > greatest_in_cells(row, problem.rho, cell, cells)
    return np.where(left_out, np.inf, found).min(axis=2)


def least_on_risks(variance_at, starts, stops, row, past, rival, rival_past, problem, epsilon, since, level):
    """`least_on_risk` on many cells, float[N], for plain Python."""
    low, rival_low, rival_high = (
        np.array([variance_at(problem, risk) for risk in risks.tolist()])
        for risks in (starts, starts - epsilon, stops - epsilon)
    )
    own, others = sums(row, past, problem, since), sums(rival, rival_past, problem, since)

    def evidence_of(some, cells):
        below = mixtures_on_risks(own, row, problem, -1.0, low[some], low[some], cells)
        above = mixtures_on_risks(others, rival, problem, 1.0, rival_high[some], rival_low[some], cells)
        return vectors.log_average(below + above)

    coarse = evidence_of(slice(None), CELLS)
    if not problem.risk_root:
        return coarse
    finer = (coarse < level - NEAR) & (coarse >= NEARLY * level)
    evidence = coarse.copy()
    if finer.any():
        evidence[finer] = evidence_of(finer, FINE_CELLS)
    # Where rounding may decide whether finer cells are looked at, the scan is to ask the kernel.
    evidence[np.abs(coarse - NEARLY * level) <= NEAR] = level
    return evidence


@open_kernel
def risk_compared(proved_on_risk, row, past, rival, rival_past, epsilon, problem, since, level):
    """Whether it is proved that the row's risk is less than the rival's plus epsilon."""
    low, high = rival.risk_low + epsilon, min(row.risk_high, rival.risk_high + epsilon)
    if low > high:
        return True
    count, rival_count = sums(row, past, problem, since)[0], sums(rival, rival_past, problem, since)[0]
    if count < FEWEST_PULLS or rival_count < FEWEST_PULLS:
        return False
    error, rival_error = row.risk_spread / count + LEAST_ERROR, rival.risk_spread / rival_count + LEAST_ERROR
    difference = rival.risk - row.risk + epsilon
    if is_hopeless(difference, error + rival_error, level):
        return False
    middle = row.risk + difference * error / (error + rival_error)
    return proved_on_risk((low, high, middle), level, row, past, rival, rival_past, problem, epsilon, since)


def moments_ahead(variance_at: Kernel) -> Kernel:
    """The comparison of risks that are a function of a mean-variance, by its inverse."""
    evidence = fixed(least_on_risk, variance_at), fixed(least_on_risks, variance_at)
    return fixed(risk_compared, fixed(proved_on, RISK_SCOUTS, unlimited, *evidence))


@kernel
def mixtures_of_mean(known, mean, side):
    """ln of the evidence, for three scales, that the mean of values in [0, 1] is above (side 1) or below (-1) a value.

    Of the values count, average and variance are known.
    """
    count, average, variance = known
    distance = side * (average - mean)
    squares = count * (variance + distance * distance) * SAFETY
    reach = mean if side > 0.0 else 1.0 - mean
    return (
        mixture_for(count * distance, squares, count, reach, SCALES[0]),
        mixture_for(count * distance, squares, count, reach, SCALES[1]),
        mixture_for(count * distance, squares, count, reach, SCALES[2]),
    )
