"""The paper's width for a fixed budget: sqrt(a / T), where a sets how much is explored.

Theorem 1 takes a = (n - 2K) epsilon^2 / (16 K); its proof needs no more than 4 K in the denominator. How much wider the
box is for the risk than for the mean is a matter of the risk.
"""

from __future__ import annotations

import math

from ramgape.core.box import set_box
from ramgape.core.kernel import inlined

DENOMINATORS = {"theorem": 16.0, "sharp": 4.0}


def exploration(choice: str, arm_count: int, budget: int, epsilon: float) -> float:
    """The constant a by name; epsilon on the engine's scale."""
    return (budget - 2 * arm_count) * epsilon * epsilon / (DENOMINATORS[choice] * arm_count)


@inlined
def box(row, past, search, problem):
    """The box of one arm, whatever the risk."""
    radius = math.sqrt(problem.exploration / row.pulls)
    set_box(row, radius, problem.risk_factor * radius)
