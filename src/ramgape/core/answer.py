"""Who is returned: the one place that says so, for results, for studies and for the regret in a trace."""

from __future__ import annotations

import math

from ramgape.core.kernel import inlined, kernel
from ramgape.core.table import PROVED


@inlined
def is_returned(row, search, problem):
    """Whether an arm is in the answer: the present one (`in_front`), or that of the round of smallest doubt.

    A stop by proof is about the answer that it found: then no other one is returned; nor while every doubt was
    infinite, and no round was better than the others. A rule that eliminates arms has its own mind about those that
    it has accepted or dismissed. Before every arm has its initial pulls nothing is returned.
    """
    if row.accepted != 0:
        return row.accepted == 1
    if problem.keep_smallest and search.stopped != PROVED and math.isfinite(search.smallest_doubt):
        return row.kept == 1
    return row.in_front == 1


@kernel
def mark_answer(arms, searches, problems, mask):
    """Write down of every arm whether it is returned."""
    search, problem = searches[0], problems[0]
    for arm in range(len(arms)):
        mask[arm] = is_returned(arms[arm], search, problem)
