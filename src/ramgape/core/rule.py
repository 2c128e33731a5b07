"""A rule: the four functions that make an algorithm.

learn  (arms, memory, search, problem, arm, reward)   add a reward to one arm; its estimates and its box
compare(arms, memory, search, problem, arm)           what depends on several arms: front, doubts, leader
decide (arms, memory, search, problem)                which arm to pull next
stop   (arms, memory, search, problem)                enough?
"""

from __future__ import annotations

from typing import NamedTuple

from ramgape.core.kernel import Kernel, kernel


class Rule(NamedTuple):
    """The functions of one algorithm."""

    learn: Kernel
    compare: Kernel
    decide: Kernel
    stop: Kernel


@kernel
def confident(arms, memory, search, problem):
    """V(t) < epsilon; a pair of arms is pulled to its end first."""
    return search.queued < 0 and search.doubt < search.epsilon


@kernel
def never(arms, memory, search, problem):
    """A budget is spent to the last pull."""
    return False
