"""Rules that pull two arms a round: the pair is decided once and its second arm queued.

So a pull is always one arm, and a search that is resumed between the two goes on with the second.
"""

from __future__ import annotations

from ramgape.core.kernel import inlined


@inlined
def queue_second(search, first, second):
    """Decide on a pair: returns its first arm."""
    search.queued = second
    return first


@inlined
def take_second(search):
    """The second arm of the pair under way."""
    second = search.queued
    search.queued = -1
    return second
