"""Hoeffding's inequality for rewards in [0, 1], with the paper's peeling but the constants that the proof allows.

T radius(T) increases, so on pulls 2^g to 2^(g+1) the maximal inequality needs only exp(-2 (2^g radius)^2 / 2^(g+1)),
which gives 1/T where the paper has 4/T. Centred at 1/2, a squared reward spans 1/4 and the mean is at most 1/2 in
size, so the variance is within 5/4 of the radius and the mean-variance within 5/4 + rho.
"""

from __future__ import annotations

import math
from typing import Any

from ramgape.core.box import estimate_mean_variance, narrow_box
from ramgape.core.kernel import inlined, kernel
from ramgape.core.statistics import FEWEST_PULLS, observe


def constants(record: Any, arm_count: int, delta: float) -> None:
    """What does not change: a part of the logarithm, and the width of the risk in units of the radius."""
    record["level"] = math.log(8.0 * arm_count / delta)
    record["risk_factor"] = record["alpha"] * (1.25 + record["rho"])


@inlined
def estimate(row, search, problem):
    """Risk and box of one arm from its statistics; boxes are intersected over time."""
    estimate_mean_variance(row, problem)
    radius = math.sqrt(1.0 / row.pulls * (problem.level + 2.0 * math.log(math.log2(row.pulls))))
    width = problem.risk_factor * radius
    narrow_box(row, search, row.average - radius, row.average + radius, row.risk - width, row.risk + width)


@kernel
def learn(arms, search, problem, arm, reward):
    """Add a reward to an arm, then renew its risk and box."""
    row = observe(arms, search, problem, arm, reward)
    if row.pulls >= FEWEST_PULLS:
        estimate(row, search, problem)
