"""RAMGapE: of the two arms behind the largest doubt, pull the one seen less."""

from __future__ import annotations

from ramgape.core.kernel import kernel


@kernel
def decide(arms, memory, search, problem):
    """The less pulled of m_t and p_t; m_t if they are equal."""
    leader = search.leader
    rival = arms[leader].rival
    return rival if arms[rival].pulls < arms[leader].pulls else leader
