"""RA-LUCB: pull both arms behind the largest doubt."""

from __future__ import annotations

from ramgape.core.kernel import kernel
from ramgape.core.turns import queue_second, take_second


@kernel
def decide(arms, memory, search, problem):
    """m_t, and p_t next."""
    if search.queued >= 0:
        return take_second(search)
    leader = search.leader
    return queue_second(search, leader, arms[leader].rival)
