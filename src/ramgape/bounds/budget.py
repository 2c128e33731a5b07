"""The paper's width for a fixed budget: sqrt(a / T), where a sets how much is explored.

Theorem 1 takes a = (n - 2K) epsilon^2 / (16 K); its proof needs no more than 4 K in the denominator.
"""

from __future__ import annotations

import math
from typing import Any

from ramgape.core.box import estimate_mean_variance, set_box
from ramgape.core.kernel import inlined, kernel
from ramgape.core.statistics import FEWEST_PULLS, observe

DENOMINATORS = {"theorem": 16.0, "sharp": 4.0}


def exploration(choice: str, arm_count: int, budget: int, epsilon: float) -> float:
    """The constant a by name; epsilon on the engine's scale."""
    return (budget - 2 * arm_count) * epsilon * epsilon / (DENOMINATORS[choice] * arm_count)


def constants(record: Any, arm_count: int, delta: float | None) -> None:
    """The width of the risk in units of the radius, as in the paper's other bound; no confidence is asked for."""
    record["risk_factor"] = record["alpha"] * (3.0 + record["rho"])


@inlined
def estimate(row, search, problem):
    """Risk and box of one arm from its statistics."""
    estimate_mean_variance(row, problem)
    radius = math.sqrt(problem.exploration / row.pulls)
    set_box(row, radius, problem.risk_factor * radius)


@kernel
def learn(arms, search, problem, arm, reward):
    """Add a reward to an arm, then renew its risk and box."""
    row = observe(arms, search, problem, arm, reward)
    if row.pulls >= FEWEST_PULLS:
        estimate(row, search, problem)
