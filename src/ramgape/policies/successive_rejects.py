"""Successive rejects, for the best mean (Audibert, Bubeck, Munos 2010) or the m best (Bubeck, Wang, Viswanathan 2013).

The schedule is that of EGE-SR. After each phase the arm is settled whose mean is farthest from the other side: from the
m-th best, m being how many are still missing, if it is outside, or from the next one, if it is inside. With m = 1 that
is always the worst arm, which is dismissed.
"""

from __future__ import annotations

from ramgape.core.elimination import keep_highest, list_highest, measure_highest, next_open, reject_successively
from ramgape.core.kernel import fixed, kernel

compare = fixed(reject_successively, keep_highest, measure_highest, list_highest)


@kernel
def decide(arms, memory, search, problem):
    """The next open arm that has not the pulls of its phase."""
    return next_open(arms, search)
