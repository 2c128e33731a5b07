"""Rules that walk round the arms: where they stand."""

from __future__ import annotations

from ramgape.core.kernel import inlined


@inlined
def step(arms, search):
    """The arm at which the circle stands; the circle moves on."""
    arm = search.turn
    search.turn = arm + 1 if arm + 1 < len(arms) else 0
    return arm
