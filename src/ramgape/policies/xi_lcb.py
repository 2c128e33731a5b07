"""xi-LCB: pull the arm whose risk might be the lowest."""

from __future__ import annotations

from ramgape.core.kernel import kernel


@kernel
def decide(arms, memory, search, problem):
    """The arm with the smallest lower bound on the risk."""
    lowest = 0
    for arm in range(1, len(arms)):
        if arms[arm].risk_low < arms[lowest].risk_low:
            lowest = arm
    return lowest
