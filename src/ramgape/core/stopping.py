"""When a search has seen enough. Caps and budgets are counted by the loop, not here."""

from __future__ import annotations

from ramgape.core.kernel import kernel


@kernel
def confident(arms, memory, search, problem):
    """V(t) < epsilon; a pair of arms is pulled to its end first."""
    return search.queued < 0 and search.doubt < search.epsilon


@kernel
def never(arms, memory, search, problem):
    """A budget is spent to the last pull."""
    return False
