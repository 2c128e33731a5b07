"""Dominated-Elimination Round-Robin: every arm in turn, but for dominated arms that are settled."""

from __future__ import annotations

from ramgape.core.doubt import exact_doubt
from ramgape.core.kernel import kernel
from ramgape.core.turns import step


@kernel
def decide(arms, memory, search, problem):
    """The next arm of the circle that is in the front or whose doubt exceeds epsilon."""
    arm = step(arms, search)
    while not arms[arm].in_front and exact_doubt(arms, search, arm) <= search.epsilon:
        arm = step(arms, search)
    return arm
