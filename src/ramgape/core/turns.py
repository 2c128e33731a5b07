"""Where a rule stands between two trials: in a circle of all arms, or in the middle of a pair.

A rule that pulls two arms a round decides on the pair once and queues its second arm. So a trial is always of one arm,
and a search that is resumed between the two goes on with the second.
"""

from __future__ import annotations

from ramgape.core.kernel import inlined


@inlined
def step(arms, search):
    """The arm at which the circle stands; the circle moves on."""
    arm = search.turn
    search.turn = arm + 1 if arm + 1 < len(arms) else 0
    return arm


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
