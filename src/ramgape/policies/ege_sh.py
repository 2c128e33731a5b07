"""EGE-SH, empirical gap elimination with sequential halving (Kone, Jourdan, Kaufmann 2024), for a fixed budget n.

There are P = ceil(log2 K) phases. In each every one of the A open arms is pulled floor(n / (A P)) times more; then the
floor(A / 2) arms with the largest gaps are accepted, if they are in the front of the open arms, or dismissed. The last
arm is accepted. Initial pulls count; where a small budget has no room for the schedule, the phases that are left
follow at once when it is spent. What rounding leaves over goes to the arms with the fewest pulls.
"""

from __future__ import annotations

from ramgape.core.elimination import halve, keep_front, list_open_front, measure_front, next_open
from ramgape.core.kernel import fixed, kernel

compare = fixed(halve, keep_front, measure_front, list_open_front)


@kernel
def decide(arms, memory, search, problem):
    """The next open arm that has not the pulls of its phase."""
    return next_open(arms, search)
