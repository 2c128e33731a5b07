"""Least-Important-Elimination Round-Robin: every arm in turn, but for the one that is surest at the moment."""

from __future__ import annotations

from ramgape.core.doubt import exact_doubt
from ramgape.core.kernel import kernel
from ramgape.core.turns import step


@kernel
def decide(arms, memory, search, problem):
    """The next arm of the circle that is not the one with the smallest doubt."""
    surest = 0
    smallest = exact_doubt(arms, search, 0)
    for arm in range(1, len(arms)):
        doubt = exact_doubt(arms, search, arm)
        if doubt < smallest:
            smallest = doubt
            surest = arm
    arm = step(arms, search)
    return step(arms, search) if arm == surest else arm
