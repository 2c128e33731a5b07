"""Rules that eliminate: arms are accepted into the answer or dismissed from it for good, in phases.

While a phase lasts, every open arm is pulled until it has the phase's number of pulls, `target`. An arm that has been
dismissed leaves the order of the estimates, too: the front is then that of the arms which are still possible, so that
the accepted arms and the open ones in the front are an answer at any moment, and never an empty one.
"""

from __future__ import annotations

import numpy as np

from ramgape.core.doubt import list_front, update_front
from ramgape.core.kernel import inlined, kernel
from ramgape.core.order import move
from ramgape.core.round_robin import step
from ramgape.core.statistics import least_pulled


@inlined
def keep_front(arms, search, problem, changed):
    """The front of the arms that are not dismissed, after one arm has changed."""
    if arms[changed].accepted >= 0 and update_front(arms, search, problem, changed):
        list_front(arms, search)


@kernel
def phase_is_over(arms, search, problem):
    """Whether every open arm has the pulls of this phase, or there are no pulls left."""
    if search.samples >= problem.budget:
        return True
    for arm in range(len(arms)):
        if arms[arm].accepted == 0 and arms[arm].pulls < search.target:
            return False
    return True


@kernel
def next_open(arms, search):
    """The next arm of the circle that this phase has not pulled enough; when none is open, the least pulled of all."""
    for _ in range(len(arms)):
        arm = step(arms, search)
        if arms[arm].accepted == 0 and arms[arm].pulls < search.target:
            return arm
    return least_pulled(arms)


@kernel
def dismiss(arms, arm):
    """Exclude an arm from the answer; in the order of the estimates it moves behind all others."""
    arms[arm].accepted = -1
    for objective in range(2):
        move(arms, arm, objective, -np.inf)


@inlined
def lead(one, other):
    """By how much one arm beats another in both objectives: m(other, one) of the papers, and -M(other, one)."""
    return min(one.average - other.average, other.risk - one.risk)


@kernel
def compute_gaps(arms):
    """How clear it is, among the open arms, that an arm is dominated by another, or that it is not.

    An arm outside the front of the open arms must improve by `beaten` to enter it. One of the front must lose that
    much to leave it, or it must stop being ahead of another arm that it keeps, or comes close to keeping, out of it.
    """
    for arm in range(len(arms)):
        row = arms[arm]
        if row.accepted != 0:
            continue
        row.beaten = -np.inf
        for other in range(len(arms)):
            if other != arm and arms[other].accepted == 0:
                row.beaten = max(row.beaten, lead(arms[other], row))
    for arm in range(len(arms)):
        row = arms[arm]
        row.gap = row.beaten
        if row.accepted != 0 or row.beaten > 0.0:
            continue
        row.gap = np.inf
        for place in range(len(arms)):
            other = arms[place]
            if place != arm and other.accepted == 0:
                own = -lead(other, row)
                others = max(-lead(row, other), 0.0) + max(other.beaten, 0.0)
                row.gap = min(row.gap, own, others)


@kernel
def settle_clearest(arms):
    """Accept or dismiss the open arm of the largest gap; of equals first those outside the front, then the first."""
    clearest = -1
    for arm in range(len(arms)):
        row = arms[arm]
        if row.accepted == 0:
            ahead = clearest < 0 or row.gap > arms[clearest].gap
            if ahead or (row.gap == arms[clearest].gap and row.beaten > 0.0 and arms[clearest].beaten <= 0.0):
                clearest = arm
    if arms[clearest].beaten > 0.0:
        dismiss(arms, clearest)
    else:
        arms[clearest].accepted = 1


@kernel
def count_open(arms):
    """How many arms are neither accepted nor dismissed."""
    count = 0
    for arm in range(len(arms)):
        count += arms[arm].accepted == 0
    return count


@kernel
def accept_open(arms):
    """Accept what is left."""
    for arm in range(len(arms)):
        if arms[arm].accepted == 0:
            arms[arm].accepted = 1
