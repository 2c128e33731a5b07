"""The paper's V_i(t), V(t), m_t and p_t, kept up to date pull by pull.

An arm i of the empirical front is threatened by every other arm j: by how much could j, at its best, beat i at its
worst in all objectives? Its doubt V_i is the greatest threat. An arm outside the front is covered by those arms of
the front that dominate it: by how much could the cover j, at its worst, fall short of i, at its best, in one objective?
Its doubt is the smallest shortfall. In both cases the arm j behind the doubt is the rival.

One pull changes one arm, hence one term of every V_i, and all terms of its own. Two facts make that cheap. A row whose
rival still stands out needs only that one term; `second` bounds all the others. And a row that has lost its certainty
keeps an upper bound, and is computed anew only if it comes up as the largest.
"""

from __future__ import annotations

import numpy as np

from ramgape.core.kernel import inlined, kernel
from ramgape.core.order import update_dominance


@inlined
def dominates(better, worse):
    """One arm is strictly ahead of another in all estimates."""
    for objective in range(len(better.estimate)):
        if not better.estimate[objective] > worse.estimate[objective]:
            return False
    return True


@inlined
def threat(rival, arm):
    """By how much the rival, at its best, beats the arm, at its worst, in all objectives."""
    least = rival.high[0] - arm.low[0]
    for objective in range(1, len(arm.low)):
        lead = rival.high[objective] - arm.low[objective]
        least = least if least < lead else lead
    return least


@inlined
def shortfall(cover, arm):
    """By how much the cover, at its worst, falls short of the arm, at its best, in one objective."""
    most = arm.high[0] - cover.low[0]
    for objective in range(1, len(arm.high)):
        lack = arm.high[objective] - cover.low[objective]
        most = most if most > lack else lack
    return most


@kernel
def compare(arms, memory, search, problem, changed):
    """Bring front, doubts and leader up to date after one arm alone has changed."""
    crossings = update_front(arms, search, problem, changed)
    if not search.ready:
        return
    if crossings:
        compute_rows(arms, search)
    else:
        update_rows(arms, search, changed)
    find_leader(arms, search, problem)


@inlined
def update_front(arms, search, problem, changed):
    """Dominance after one arm has changed; tells whether the front may be another one, as it is the first time.

    Nothing is compared before every arm has its initial pulls.
    """
    if search.ready:
        return update_dominance(arms, changed)
    if not has_begun(arms, search, problem):
        return 0
    for arm in range(len(arms)):
        update_dominance(arms, arm)
    return 1


@inlined
def has_begun(arms, search, problem):
    """Whether every arm has its initial pulls; the first time, a tolerance that is a share becomes a number."""
    if search.ready:
        return True
    for arm in range(len(arms)):
        if arms[arm].pulls < problem.initial_pulls:
            return False
    if problem.epsilon_share > 0.0:
        smallest = abs(arms[0].average)
        for arm in range(1, len(arms)):
            smallest = min(smallest, abs(arms[arm].average))
        search.epsilon = problem.epsilon_share * smallest
    search.ready = 1
    return True


@kernel
def list_front(arms, search):
    """Mark and list the arms that nothing dominates."""
    search.front_size = 0
    for arm in range(len(arms)):
        arms[arm].in_front = arms[arm].dominators == 0
        if arms[arm].in_front:
            arms[search.front_size].front = arm
            search.front_size += 1


@kernel
def compute_rows(arms, search):
    """List the front and compute every row."""
    list_front(arms, search)
    for arm in range(len(arms)):
        compute_row(arms, search, arm)
        take_down_ends(arms[arm])


@kernel
def compute_row(arms, search, arm):
    """Doubt and rival of one arm, from all the others; the first of equal rivals."""
    row = arms[arm]
    rival = -1
    if row.in_front:
        # The two greatest threats: the second bounds all but the rival's until boxes move by more than is known.
        doubt = second = -np.inf
        for other in range(len(arms)):
            term = threat(arms[other], row)
            if other != arm and (term > second or rival < 0):
                if term > doubt or rival < 0:
                    second = doubt
                    doubt = term
                    rival = other
                else:
                    second = term
        row.second = second
    else:
        doubt = np.inf
        for place in range(search.front_size):
            other = arms[place].front
            if dominates(arms[other], row):
                term = shortfall(arms[other], row)
                if term < doubt or rival < 0:
                    doubt = term
                    rival = other
    row.doubt = doubt
    row.rival = rival
    row.exact = 1


@kernel
def exact_doubt(arms, search, arm):
    """V_i of one arm, computed now if need be."""
    if not arms[arm].exact:
        compute_row(arms, search, arm)
    return arms[arm].doubt


@inlined
def update_rows(arms, search, changed):
    """What one changed arm means for its own row and for the others, while the front stays as it is."""
    row = arms[changed]
    if row.in_front:
        # All K - 1 terms of its own row have moved; one term of each arm that it dominates, and of each of the front.
        worsen(arms, row)
        for arm in range(len(arms)):
            if dominates(row, arms[arm]):
                renew_cover(arms[arm], changed, shortfall(row, arms[arm]))
    else:
        compute_row(arms, search, changed)  # covers are few
    for place in range(search.front_size):
        arm = arms[place].front
        if arm != changed:
            renew_threat(arms[arm], changed, threat(row, arms[arm]))


@inlined
def worsen(arms, row):
    """The row of a changed arm of the front: every threat to it grew by at most what the arm lost itself."""
    if row.second > -np.inf:  # with two arms there is no second threat
        known, lost = abs(row.low[0]) < np.inf and abs(row.seen_low[0]) < np.inf, row.seen_low[0] - row.low[0]
        for objective in range(1, len(row.low)):
            known = known and abs(row.low[objective]) < np.inf and abs(row.seen_low[objective]) < np.inf
            drop = row.seen_low[objective] - row.low[objective]
            lost = lost if lost > drop else drop
        if known:  # the last summand is more than rounding can hide
            row.second += lost + 1e-15 * (abs(row.second) + abs(lost))
        else:  # the box is, or was, unbounded or set aside
            row.second = np.inf
    take_down_ends(row)
    stand_out(row, threat(arms[row.rival], row))


@inlined
def take_down_ends(row):
    """For these ends the threats to an arm are up to date."""
    for objective in range(len(row.low)):
        row.seen_low[objective] = row.low[objective]


@inlined
def stand_out(row, term):
    """The rival of an arm of the front threatens it by `term`: more than any other for sure, or not."""
    row.exact = term > row.second
    row.doubt = term if row.exact else row.second


@inlined
def renew_threat(row, changed, term):
    """The changed arm threatens an arm of the front by `term` now."""
    if row.rival == changed:
        stand_out(row, term)
    elif term >= row.second:
        if row.exact and term >= row.doubt:  # overtakes the rival, or draws level: then the first is the rival
            row.rival = changed if term > row.doubt else min(changed, row.rival)
            row.second = row.doubt
            row.doubt = term
        else:
            row.second = term
            row.doubt = max(row.doubt, term)


@inlined
def renew_cover(row, changed, term):
    """The changed arm, a cover of an arm outside the front, falls short of it by `term` now.

    The doubt is always the present shortfall of the rival, hence an upper bound.
    """
    if row.rival == changed:
        if term > row.doubt:
            row.exact = 0
        row.doubt = term
    elif term < row.doubt:
        row.doubt = term
        row.rival = changed
    elif term == row.doubt and changed < row.rival:
        row.rival = changed


@inlined
def find_leader(arms, search, problem):
    """The arm with the largest doubt; the first of them."""
    # Bounds are never below the doubts. So if the largest of all is exact, it is the largest doubt; if not, it is
    # computed and the search begins again. Each time one more row is exact, which ends it after at most K times.
    while True:
        leader = len(arms) - 1
        for arm in range(len(arms) - 2, -1, -1):  # backwards, so that the first of equals is found last
            if arms[arm].doubt >= arms[leader].doubt:
                leader = arm
        if arms[leader].exact:
            break
        compute_row(arms, search, leader)
    follow(arms, search, problem, leader, arms[leader].doubt)


@inlined
def follow(arms, search, problem, leader, doubt):
    """Take down who leads and how large the doubt is; and the front, if the doubt was never so small."""
    search.leader = leader
    search.doubt = doubt
    if problem.keep_smallest and search.doubt < search.smallest_doubt:
        search.smallest_doubt = search.doubt
        for arm in range(len(arms)):
            arms[arm].kept = arms[arm].in_front
