"""The paper's confidence bound for rewards in [0, 1]: Hoeffding-Azuma with peeling over powers of two.

Radius sqrt(4/T ln(8 K (log2 T)^2 / delta)) for the mean, and (3 + rho) alpha times that for the risk. It is neither
clipped to what is possible nor intersected over time, because the paper's is not.
"""

from __future__ import annotations

import math
from typing import Any

from ramgape.core.box import set_box
from ramgape.core.kernel import inlined


def constants(record: Any, arm_count: int, delta: float) -> None:
    """The width of the mean-variance in units of the radius."""
    record["risk_factor"] = record["alpha"] * (3.0 + record["rho"])


@inlined
def moments_box(row, past, search, problem):
    """The box of one arm."""
    radius = math.sqrt(4.0 / row.pulls * (row.level + 2.0 * math.log(math.log2(row.pulls))))
    set_box(row, radius, problem.risk_factor * radius)
