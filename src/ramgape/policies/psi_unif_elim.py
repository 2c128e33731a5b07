"""PSI-Unif-Elim (Auer, Chiang, Ortner, Drugan 2016): every open arm in turn, until it is settled; for a confidence.

After each round, among the open arms:

1. an arm is dismissed if another, even at its worst, beats it at its best in both objectives;
2. of those left, an arm is sure if none of them, even at its best, would beat it at its worst by epsilon in both;
3. a sure arm is accepted if in this sense it would not beat any unsure arm by epsilon either. Otherwise it stays open,
   since it may be needed to dismiss that one.

Why the answer is right while the boxes hold. A dismissed arm is truly dominated by one that was open; following these
upwards ends at an accepted arm: so every excluded arm is dominated by a returned one. When i is accepted, no open arm
beats it by epsilon (2); one accepted earlier does not either, by 2 if i was sure then and by 3 if it was not; and a
dismissed arm is dominated by one of these. With epsilon 0 "not beaten by epsilon or more" is "not dominated", strictly
proved: the answer is the Pareto set.

An arm that a bound has set aside (core/box.py) takes no part in that: its box, inside out, would dismiss all others. It
is accepted, with an infinite gap, by which a result knows that nothing was proved.
"""

from __future__ import annotations

import numpy as np

from ramgape.core.box import is_set_aside
from ramgape.core.doubt import list_front, shortfall, threat
from ramgape.core.elimination import count_open, dismiss, keep_front, next_open, phase_is_over
from ramgape.core.kernel import kernel


@kernel
def accept_set_aside(arms):
    """Accept the arms of which nothing can be said."""
    for arm in range(len(arms)):
        if arms[arm].accepted == 0 and is_set_aside(arms[arm]):
            arms[arm].accepted, arms[arm].gap = 1, np.inf


@kernel
def dismiss_dominated(arms):
    """Dismiss the arms that another open arm certainly dominates."""
    for arm in range(len(arms)):
        row = arms[arm]
        row.beaten = -np.inf
        if row.accepted == 0:
            for other in range(len(arms)):
                if other != arm and arms[other].accepted == 0:
                    row.beaten = max(row.beaten, -shortfall(arms[other], row))
    for arm in range(len(arms)):
        if arms[arm].beaten > 0.0:
            dismiss(arms, arm)


@kernel
def accept_sure(arms, search, problem):
    """Accept the sure arms that are not needed any more; the largest doubt is the greatest threat to an open arm."""
    search.doubt = -np.inf
    for arm in range(len(arms)):
        row = arms[arm]
        if row.accepted == 0:
            row.gap = -np.inf
            for other in range(len(arms)):
                if other != arm and arms[other].accepted == 0:
                    row.gap = max(row.gap, threat(arms[other], row))
            search.doubt = max(search.doubt, row.gap)
    for arm in range(len(arms)):
        if arms[arm].accepted == 0 and arms[arm].gap < search.epsilon:
            needed = False
            for other in range(len(arms)):
                row = arms[other]
                if row.accepted == 0 and row.gap >= search.epsilon and threat(arms[arm], row) >= search.epsilon:
                    needed = True
                    break
            if not needed:
                arms[arm].accepted = 1


@kernel
def compare(arms, memory, search, problem, changed):
    """The front, and at the end of a round what becomes of the open arms."""
    keep_front(arms, search, problem, changed)
    if not search.ready or count_open(arms) == 0 or not phase_is_over(arms, search, problem):
        return
    accept_set_aside(arms)
    dismiss_dominated(arms)
    accept_sure(arms, search, problem)
    list_front(arms, search)
    search.phase += 1
    fewest = -1
    for arm in range(len(arms)):
        if arms[arm].accepted == 0 and (fewest < 0 or arms[arm].pulls < arms[fewest].pulls):
            fewest = arm
    if fewest >= 0:
        search.target = arms[fewest].pulls + 1


@kernel
def decide(arms, memory, search, problem):
    """The next open arm of the round."""
    return next_open(arms, search)


@kernel
def stop(arms, memory, search, problem):
    """No arm is open."""
    return count_open(arms) == 0
