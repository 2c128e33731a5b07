"""RAMGapE: of the two arms behind the largest doubt, pull the one seen less, for its price."""

from __future__ import annotations

from ramgape.core.kernel import kernel
from ramgape.core.prices import seen_less


@kernel
def decide(arms, memory, search, problem):
    """The less pulled of m_t and p_t; m_t if they are equal."""
    leader = search.leader
    rival = arms[leader].rival
    return rival if seen_less(arms[rival], arms[leader]) else leader
