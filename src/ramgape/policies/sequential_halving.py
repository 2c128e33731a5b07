"""Sequential halving, for the best mean (Karnin, Koren, Somekh 2013) or the m best.

The schedule is that of EGE-SH; but what was seen in earlier phases counts on. After each phase that half of the open
arms is settled whose means are farthest from the other side. With m = 1 that is the worse half, which is dismissed.
"""

from __future__ import annotations

from ramgape.core.elimination import halve, keep_highest, list_highest, measure_highest, next_open
from ramgape.core.kernel import fixed, kernel

compare = fixed(halve, keep_highest, measure_highest, list_highest)


@kernel
def decide(arms, memory, search, problem):
    """The next open arm that has not the pulls of its phase."""
    return next_open(arms, search)
