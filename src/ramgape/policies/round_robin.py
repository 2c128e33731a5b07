"""Round-Robin: every arm in turn."""

from __future__ import annotations

from ramgape.core.kernel import kernel
from ramgape.core.turns import step


@kernel
def decide(arms, memory, search, problem):
    """The next arm of the circle."""
    return step(arms, search)
