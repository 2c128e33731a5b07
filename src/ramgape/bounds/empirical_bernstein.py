"""Empirical Bernstein, by mixtures: intervals that shrink with an arm's own variance, valid at all times at once.

Mean: a hypothesis m below the average is rejected when the mixture of mixture.py over X - m, which is never below
-m, exceeds e^L; above the average the same with 1 - X. Mean-variance, directly rather than from mean and variance
apart: Z(m) = (X - m)^2 - rho X has the mean-variance as its expectation at m = mu, so a hypothesis t is rejected if
it is for every m in the interval of the mean. That interval is cut into cells; on a cell the sum is taken at its
least, the squares and the reach at their greatest. L = ln(4 K / delta): mean and risk, above and below, for K arms.

The scales are fixed in advance, from epsilon and rho alone: 3 for the mean and 0.1 for the mean-variance, in units of
their summed squares, suit the number of pulls that a tolerance of 0.01 or more asks for; below, where that is unknown,
half of the mixture goes to a smaller and half to a larger scale. Where rho is large, Z is little else than -rho X: its
scale is that of (X - m)^2 or rho^2 times that of the mean, whichever is more. A box is renewed when its arm's pulls
have grown by a hundredth; an old box stays valid.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ramgape.core.box import is_due, narrow_risk
from ramgape.core.kernel import inlined, kernel
from ramgape.core.learning import narrow_mean
from ramgape.core.statistics import all_sums, squared_distance
from ramgape.statistics.inversion import FINENESS, MOST_STEPS, SAFETY, highest_mean, lowest_mean
from ramgape.statistics.mixture import is_rejected

CELLS = 8
COARSE = 0.01  # tolerances from here on need so few pulls that one scale serves
MEAN_SCALES, RISK_SCALES = (1.0, 30.0), (0.03, 1.0)
COARSE_MEAN_SCALE, COARSE_RISK_SCALE = 3.0, 0.1
due = is_due


def constants(record: Any, arm_count: int, delta: float) -> None:
    """The scales of the mixtures."""
    coarse = record["epsilon"] >= COARSE
    record["mean_scales"] = COARSE_MEAN_SCALE if coarse else MEAN_SCALES
    record["risk_scales"] = COARSE_RISK_SCALE if coarse else RISK_SCALES
    record["risk_scales"] = np.maximum(record["risk_scales"], record["rho"] ** 2 * record["mean_scales"])


@inlined
def least_value(mean, rho):
    """The least that Z can be for rewards in [0, 1]."""
    if mean + 0.5 * rho > 1.0:
        return (1.0 - mean) * (1.0 - mean) - rho
    return -rho * mean - 0.25 * rho * rho


@inlined
def cell_terms(sums, row, rho, side, risk, cell, cells):
    """Of the hypothesis `risk` for the means in one cell: the least sum, the most squares, the greatest reach.

    `sums` are those of the arm's rewards, or of some of them; its interval of the mean is cut into so many `cells`.
    """
    count, mean = sums[0], sums[1] / sums[0]
    variance = max(sums[2] / count - mean * mean, 0.0)
    average = row.shift + mean
    half = 0.5 * (row.mean_high - row.mean_low) / cells
    centre = row.mean_low + (2 * cell + 1) * half
    away = abs(average - centre)
    if side > 0:
        near = max(0.0, away - half)
        total = count * (variance + near * near - rho * average - risk)
        reach = risk - least_value(centre + half, rho)
    else:
        far = away + half
        total = count * (risk - variance - far * far + rho * average)
        low, high = max(0.0, centre - half), centre + half
        reach = max(high * high, (1.0 - low) * (1.0 - low) - rho) - risk
    squares = max(squared_distance(sums, row.shift, centre, rho, risk), 0.0)
    wider = 2.0 * away + half
    root = math.sqrt(squares) + half * math.sqrt(count * (4.0 * variance + wider * wider))
    return total, max(root * root, total * total / count) * SAFETY, max(reach, 0.0)


@kernel
def rejects_risk(row, problem, side, risk):
    """Whether a mean-variance is too low (side 1) or too high (side -1), for every mean in the arm's interval."""
    sums = all_sums(row)
    for cell in range(CELLS):
        total, squares, reach = cell_terms(sums, row, problem.rho, side, risk, cell, CELLS)
        if not is_rejected(total, squares, reach, problem.risk_scales, row.level):
            return False
    return True


@kernel
def end_of_risk(row, problem, side, known):
    """The end of the interval of the mean-variance on one side: the innermost value found that is rejected.

    Where the average has left the interval of the mean, every value up to the estimate may be: then that is the end.
    """
    estimate = row.variance - problem.rho * row.average
    if side * (estimate - known) <= 0.0 or not rejects_risk(row, problem, side, known):
        return known
    end, step = known, (estimate - known) / 64.0
    for _ in range(MOST_STEPS):
        if side * (estimate - end - step) <= 0.0 or not rejects_risk(row, problem, side, end + step):
            break
        end += step
        step *= 2.0
    inner = end + step if side * (estimate - end - step) > 0.0 else estimate
    for _ in range(MOST_STEPS):
        if abs(inner - end) <= abs(estimate - end) / FINENESS:
            break
        middle = 0.5 * (end + inner)
        if rejects_risk(row, problem, side, middle):
            end = middle
        else:
            inner = middle
    return end


@inlined
def interval(problem, count, average, variance, level, low, high):
    """Ends for the mean of values in [0, 1]."""
    lowest = lowest_mean(count, average, variance, problem.mean_scales, level, low)
    return lowest, highest_mean(count, average, variance, problem.mean_scales, level, high)


@kernel
def moments_box(row, past, search, problem):
    """Mean first: the interval of the risk is for the means that are left. Boxes are intersected over time."""
    alpha, rho = problem.alpha, problem.rho
    narrow_mean(interval, row, search, problem)
    risk_low = end_of_risk(row, problem, 1.0, row.risk_low / alpha)
    risk_high = end_of_risk(row, problem, -1.0, row.risk_high / alpha)
    # No variance exceeds m (1 - m), the greater the nearer m is to the top of that parabola.
    top = min(max(0.5 * (1.0 - rho), row.mean_low), row.mean_high)
    risk_high = min(risk_high, top * (1.0 - top) - rho * top)
    narrow_risk(row, search, alpha * risk_low, alpha * risk_high)
