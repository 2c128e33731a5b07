"""Hoeffding's inequality for rewards in [0, 1], with the paper's peeling but the constants that the proof allows.

T radius(T) increases, so on pulls 2^g to 2^(g+1) the maximal inequality needs only exp(-2 (2^g radius)^2 / 2^(g+1)),
which gives 1/T where the paper has 4/T. Centred at 1/2, a squared reward spans 1/4 and the mean is at most 1/2 in
size, so the variance is within 5/4 of the radius and the mean-variance within 5/4 + rho.

The level of an arm leaves room for the peeling: the chances of all epochs together are at most twice that of the first.
"""

from __future__ import annotations

import math
from typing import Any

from ramgape.core.box import narrow_box
from ramgape.core.kernel import inlined


def constants(record: Any, arm_count: int, delta: float) -> None:
    """The width of the mean-variance in units of the radius."""
    record["risk_factor"] = record["alpha"] * (1.25 + record["rho"])


@inlined
def radius_of(count, level):
    """How far an average of so many values in [0, 1] may be from their mean."""
    return math.sqrt(1.0 / count * (level + 2.0 * math.log(math.log2(count))))


@inlined
def interval(problem, count, average, variance, level, low, high):
    """Ends for the mean of values in [0, 1]."""
    radius = radius_of(count, level)
    return max(average - radius, low), min(average + radius, high)


@inlined
def moments_box(row, past, search, problem):
    """The box of one arm; boxes are intersected over time."""
    radius = radius_of(row.pulls, row.level)
    width = problem.risk_factor * radius
    narrow_box(row, search, row.average - radius, row.average + radius, row.risk - width, row.risk + width)
