"""EGE-SR, empirical gap elimination with successive rejects (Kone, Jourdan, Kaufmann 2024), for a fixed budget n.

In phase r = 1 .. K - 1 every open arm is pulled until it has ceil((n - K) / (L (K + 1 - r))) pulls, where
L = 1/2 + 1/2 + 1/3 + ... + 1/K; then the arm with the largest gap is accepted, if it is in the front of the open arms,
or dismissed. The last arm is accepted. Initial pulls count; where a small budget has no room for the schedule, the
phases that are left follow at once when it is spent. What rounding leaves over goes to the arms with the fewest pulls.
"""

from __future__ import annotations

from ramgape.core.elimination import keep_front, list_open_front, measure_front, next_open, reject_successively
from ramgape.core.kernel import fixed, kernel

compare = fixed(reject_successively, keep_front, measure_front, list_open_front)


@kernel
def decide(arms, memory, search, problem):
    """The next open arm that has not the pulls of its phase."""
    return next_open(arms, search)
