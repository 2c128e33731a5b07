"""When a risk with kernels of its own makes a box."""

from __future__ import annotations

import math

from ramgape.core.box import is_due, set_box
from ramgape.core.kernel import inlined
from ramgape.core.statistics import FEWEST_PULLS
from ramgape.core.table import BUDGET_BOX, CONFIDENCE_BOX


@inlined
def wants_box(row, problem):
    """Whether a confidence box is to be made now. That of a budget, the same for all risks, is made here."""
    if row.pulls < FEWEST_PULLS:
        return False
    if problem.box == BUDGET_BOX:
        radius = math.sqrt(problem.exploration / row.pulls)
        set_box(row, radius, problem.risk_factor * radius)
    return problem.box == CONFIDENCE_BOX and is_due(row)
