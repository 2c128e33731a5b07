"""EGE-SH, empirical gap elimination with sequential halving (Kone, Jourdan, Kaufmann 2024), for a fixed budget n.

There are P = ceil(log2 K) phases. In each every one of the A open arms is pulled floor(n / (A P)) times more; then the
floor(A / 2) arms with the largest gaps are accepted, if they are in the front of the open arms, or dismissed. The last
arm is accepted. Initial pulls count; where a small budget has no room for the schedule, the phases that are left
follow at once when it is spent. What rounding leaves over goes to the arms with the fewest pulls.
"""

from __future__ import annotations

from ramgape.core.doubt import list_front
from ramgape.core.elimination import (
    accept_open,
    compute_gaps,
    count_open,
    keep_front,
    next_open,
    phase_is_over,
    settle_clearest,
)
from ramgape.core.kernel import kernel


@kernel
def begin_phase(arms, search, problem):
    """On to the next phase."""
    search.phase += 1
    phases, reached = 0, 1
    while reached < len(arms):
        reached *= 2
        phases += 1
    search.target += int(problem.budget) // (count_open(arms) * phases)


@kernel
def compare(arms, memory, search, problem, changed):
    """The front, and at the end of a phase what becomes of the clearer half of the arms."""
    keep_front(arms, search, problem, changed)
    if not search.ready:
        return
    if search.phase == 0:
        begin_phase(arms, search, problem)
    while count_open(arms) > 1 and phase_is_over(arms, search, problem):
        compute_gaps(arms)
        for _ in range(count_open(arms) // 2):
            settle_clearest(arms)
        begin_phase(arms, search, problem)
        if count_open(arms) == 1:
            accept_open(arms)
        list_front(arms, search)


@kernel
def decide(arms, memory, search, problem):
    """The next open arm that has not the pulls of its phase."""
    return next_open(arms, search)
