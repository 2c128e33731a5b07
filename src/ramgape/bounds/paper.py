"""The paper's confidence bound for rewards in [0, 1]: Hoeffding-Azuma with peeling over powers of two.

Radius sqrt(4/T ln(8 K (log2 T)^2 / delta)) for the mean, and (3 + rho) alpha times that for the risk. It is neither
clipped to what is possible nor intersected over time, because the paper's is not.
"""

from __future__ import annotations

import math
from typing import Any

from ramgape.core.box import estimate_mean_variance, set_box
from ramgape.core.kernel import inlined, kernel
from ramgape.core.statistics import FEWEST_PULLS, observe


def constants(record: Any, arm_count: int, delta: float) -> None:
    """What does not change: a part of the logarithm, and the width of the risk in units of the radius."""
    record["level"] = math.log(8.0 * arm_count / delta)
    record["risk_factor"] = record["alpha"] * (3.0 + record["rho"])


@inlined
def estimate(row, search, problem):
    """Risk and box of one arm from its statistics."""
    estimate_mean_variance(row, problem)
    radius = math.sqrt(4.0 / row.pulls * (problem.level + 2.0 * math.log(math.log2(row.pulls))))
    set_box(row, radius, problem.risk_factor * radius)


@kernel
def learn(arms, search, problem, arm, reward):
    """Add a reward to an arm, then renew its risk and box."""
    row = observe(arms, search, problem, arm, reward)
    if row.pulls >= FEWEST_PULLS:
        estimate(row, search, problem)
