"""EGE-SR, empirical gap elimination with successive rejects (Kone, Jourdan, Kaufmann 2024), for a fixed budget n.

In phase r = 1 .. K - 1 every open arm is pulled until it has ceil((n - K) / (L (K + 1 - r))) pulls, where
L = 1/2 + 1/2 + 1/3 + ... + 1/K; then the arm with the largest gap is accepted, if it is in the front of the open arms,
or dismissed. The last arm is accepted. Initial pulls count; where a small budget has no room for the schedule, the
phases that are left follow at once when it is spent. What rounding leaves over goes to the arms with the fewest pulls.
"""

from __future__ import annotations

import math

from ramgape.core.doubt import list_front
from ramgape.core.elimination import accept_open, compute_gaps, keep_front, next_open, phase_is_over, settle_clearest
from ramgape.core.kernel import kernel

EXACTLY = 1.0 - 1e-14  # a whole number of pulls, rounded up, is not to become one more


@kernel
def begin_phase(search, problem, arm_count):
    """On to the next phase."""
    search.phase += 1
    logarithm = 0.5
    for rank in range(2, arm_count + 1):
        logarithm += 1.0 / rank
    share = (problem.budget - arm_count) / (logarithm * (arm_count + 1 - search.phase))
    search.target = math.ceil(share * EXACTLY)


@kernel
def compare(arms, memory, search, problem, changed):
    """The front, and at the end of a phase what becomes of the clearest arm."""
    keep_front(arms, search, problem, changed)
    if not search.ready:
        return
    count = len(arms)
    if search.phase == 0:
        begin_phase(search, problem, count)
    while search.phase < count and phase_is_over(arms, search, problem):
        compute_gaps(arms)
        settle_clearest(arms)
        begin_phase(search, problem, count)
        if search.phase == count:
            accept_open(arms)
        list_front(arms, search)


@kernel
def decide(arms, memory, search, problem):
    """The next open arm that has not the pulls of its phase."""
    return next_open(arms, search)
