"""Evidence under a budget: pull where a mistake is to be expected that costs most.

An arm i of the front is there by mistake if some j beats it in all objectives, an arm outside if none of its covers
is ahead in all. What such a mistake would cost, times how likely it is, is for a difference d with squared error e
about sqrt(e) exp(-z / 2) / (1 + z) with z = d^2 / e; this is `threat_of` and `shortfall_of` below, squared and in
logarithms (core/expected_costs.py). As in core/doubt.py, the doubt about an arm is its greatest threat, or the least
among its covers. Of the pair behind the largest doubt the arm is pulled whose next reward lowers the error of a
difference by the larger part. The answer is the front of estimates that are drawn towards each other, by these errors
(core/answer.py). Other tasks than the Pareto set have their own doubts of this kind (core/task_costs.py).

It knows neither a horizon nor a constant of exploration, so it may be stopped, or go on, at any moment. But an arm that
looked bad by bad luck would never be looked at again: a tenth of the pulls goes to the arm with the fewest.
"""

from __future__ import annotations

import math

import numpy as np

from ramgape.core.doubt import dominates, follow, list_front, renew_cover, renew_threat, update_front
from ramgape.core.expected_costs import expected, pull_for_leader, set_errors, set_priors, size_of, trust
from ramgape.core.kernel import fixed, inlined, kernel

PATIENCE = 8  # the average variances are taken again when there are so many parts more pulls


@inlined
def threat_of(rival, arm):
    """The expected cost of the rival beating an arm of the front: it must do so in all objectives."""
    size, certainty = math.inf, 0.0
    for objective in range(len(arm.estimate)):
        ahead = arm.estimate[objective] - rival.estimate[objective]
        error = arm.error[objective] + rival.error[objective]
        size, certainty = min(size, size_of(ahead, error)), certainty + trust(ahead, error)
    return expected(size, certainty)


@inlined
def shortfall_of(cover, arm):
    """The expected cost of the cover not being ahead of an arm that it dominates: one objective is enough for that.

    It costs no more than the cover's lead in any other objective: were that gone, too, the arm would be in the front.
    """
    most = -math.inf
    for objective in range(len(arm.estimate)):
        ahead = cover.estimate[objective] - arm.estimate[objective]
        size = error = arm.error[objective] + cover.error[objective]
        for other in range(len(arm.estimate)):
            if other != objective:
                lead = cover.estimate[other] - arm.estimate[other]
                size = min(size, size_of(-lead, arm.error[other] + cover.error[other]))
        most = max(most, expected(size, ahead * ahead / error))
    return most


@kernel
def compute_row(arms, search, arm):
    """Doubt and rival of one arm, from all the others."""
    row = arms[arm]
    rival = -1
    if row.in_front:
        doubt = second = -np.inf
        for other in range(len(arms)):
            if other != arm:
                term = threat_of(arms[other], row)
                if term > doubt or rival < 0:
                    second, doubt, rival = doubt, term, other
                elif term > second:
                    second = term
        row.second = second
    else:
        doubt = np.inf
        for place in range(search.front_size):
            other = arms[place].front
            if dominates(arms[other], row):
                term = shortfall_of(arms[other], row)
                if term < doubt or rival < 0:
                    doubt, rival = term, other
    row.doubt, row.rival, row.exact = doubt, rival, 1


@kernel
def compute_rows(arms, search):
    """Everything anew, with average variances of this moment."""
    count = len(arms)
    set_priors(arms, search)
    search.next_look = search.samples + 1 + search.samples // PATIENCE
    list_front(arms, search)
    for arm in range(count):
        set_errors(arms[arm], search)
    for arm in range(count):
        compute_row(arms, search, arm)


@kernel
def update_rows(arms, search, changed):
    """What one changed arm means for the doubts, while the front stays as it is."""
    row = arms[changed]
    set_errors(row, search)
    compute_row(arms, search, changed)
    if row.in_front:
        for arm in range(len(arms)):
            if dominates(row, arms[arm]):
                renew_cover(arms[arm], changed, shortfall_of(row, arms[arm]))
    for place in range(search.front_size):
        arm = arms[place].front
        if arm != changed:
            renew_threat(arms[arm], changed, threat_of(row, arms[arm]))


@kernel
def compare(arms, memory, search, problem, changed):
    """Bring front, doubts and leader up to date after one arm alone has changed."""
    crossings = update_front(arms, search, problem, changed)
    if not search.ready:
        return
    if crossings or search.samples >= search.next_look:
        compute_rows(arms, search)
    else:
        update_rows(arms, search, changed)
    while True:
        leader = 0
        for arm in range(1, len(arms)):
            if arms[arm].doubt > arms[leader].doubt:
                leader = arm
        if arms[leader].exact:
            break
        compute_row(arms, search, leader)
    follow(arms, search, problem, leader, math.exp(0.5 * arms[leader].doubt))


@inlined
def gain(arm, other, problem):
    """By which part the next reward of an arm of a pair lowers the error of a difference, of that which gains more."""
    gained = 0.0
    for objective in range(len(arm.error)):
        gained = max(gained, arm.error[objective] / (arm.error[objective] + other.error[objective]))
    return gained / (arm.pulls + 1.0)


decide = fixed(pull_for_leader, gain)
