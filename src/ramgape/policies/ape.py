"""APE, adaptive Pareto exploration (Kone, Kaufmann, Richert 2023), with epsilon_1 = epsilon and epsilon_2 = 0.

An arm is optimal for sure if no other, even at its best, would beat it at its worst by epsilon in both objectives, and
dominated for sure if another, even at its worst, beats it at its best. The leader is the arm, not optimal for sure,
that at its best is the farthest from being dominated; its rival is the arm that may beat it by most. The one of
the two that has fewer pulls is pulled.

It stops when every arm of the empirical front is optimal for sure, and every other arm is that or dominated for sure;
the answer is all arms but those dominated for sure. While the boxes hold, no returned arm is then beaten by epsilon or
more, and no arm of the Pareto set is left out, hence every excluded arm is dominated by a returned one. With epsilon 0
no returned arm is dominated: the answer is the Pareto set. (In print the inequalities of the stopping rule are not
strict, which leaves a case undecided: an arm that at its best is level with another.)
"""

from __future__ import annotations

import numpy as np

from ramgape.core.doubt import list_front, shortfall, threat, update_front
from ramgape.core.kernel import kernel
from ramgape.core.statistics import least_pulled


@kernel
def compute_row(arms, arm):
    """The greatest threat to an arm, who is behind it, and by how much another beats the arm for sure."""
    row = arms[arm]
    row.gap = row.beaten = -np.inf
    row.rival = -1
    for other in range(len(arms)):
        if other != arm:
            danger = threat(arms[other], row)
            if danger > row.gap or row.rival < 0:
                row.gap, row.rival = danger, other
            row.beaten = max(row.beaten, -shortfall(arms[other], row))


@kernel
def compare(arms, memory, search, problem, changed):
    """The front, the leader, and the largest doubt: the greatest threat to an arm that may be in the answer."""
    if update_front(arms, search, problem, changed):
        list_front(arms, search)
    if not search.ready:
        return
    search.leader, search.doubt = -1, -np.inf
    for arm in range(len(arms)):
        compute_row(arms, arm)
        row = arms[arm]
        if row.in_front or row.beaten <= 0.0:
            search.doubt = max(search.doubt, row.gap)
        if row.gap >= search.epsilon and (search.leader < 0 or row.beaten < arms[search.leader].beaten):
            search.leader = arm


@kernel
def decide(arms, memory, search, problem):
    """The less pulled of leader and rival; the leader if they are equal."""
    leader = search.leader
    if leader < 0:  # all is settled
        return least_pulled(arms)
    rival = arms[leader].rival
    return rival if arms[rival].pulls < arms[leader].pulls else leader


@kernel
def stop(arms, memory, search, problem):
    """No arm that may be in the answer is in doubt; then the answer is written down."""
    if search.doubt >= search.epsilon:
        return False
    for arm in range(len(arms)):
        arms[arm].accepted = 1 if arms[arm].in_front or arms[arm].beaten <= 0.0 else -1
    return True
