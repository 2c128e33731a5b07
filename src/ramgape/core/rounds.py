"""Rounds: several pulls decided at once and made in random order, so that no arm's pulls are bunched in time.

A round has as many pulls as there are open arms, of which nobody knows yet where they belong. Its decisions are the
rule's own, each made as if those before were under way (core/pending.py), but for an arm that would come more than
three times in a row whatever the order: then one that it is compared with comes in its place. What a rule decides by,
and what it may decide, is not changed by that: every choice depends on the past alone, as proofs ask.

The pulls of a round that are still to be made stand in the column `queue`, the next one last.
"""

from __future__ import annotations

import math

from ramgape.core.box import is_set_aside
from ramgape.core.kernel import inlined, kernel
from ramgape.core.pending import anticipate
from ramgape.core.statistics import least_pulled

MOST_IN_A_ROW = 3
WHOLE_ROUNDS = 2  # of `interleave`: a round has every arm once
FEWEST_IN_A_ROUND = 4  # two arms have six orders then
# A generator of Lehmer's, whose numbers and products fit into integers: its state is all that a restart must know.
MULTIPLIER, MODULUS = 48_271, 2_147_483_647


@inlined
def queue_place(arms, place):
    """The arm at a place of the queue, which has two for every arm."""
    return arms[place // 2].queue[place % 2]


@inlined
def is_possible(row):
    """Whether a pull of an arm may still tell something: no rule has settled it, and no bound has set it aside."""
    return row.accepted == 0 and not is_set_aside(row)


@inlined
def is_open(row, search, problem):
    """Whether an arm's place is still to be proved; under a budget it is to the end."""
    if search.ready and problem.budget == math.inf and (row.blocker == -1 or row.doubt < search.epsilon):
        return False
    return is_possible(row)


@kernel
def round_length(arms, search, problem):
    """How many pulls a round has; of the initial pulls one of each arm; always so where rounds are averaged over."""
    if not search.ready or problem.interleave == WHOLE_ROUNDS:
        return len(arms)
    count = 0
    for arm in range(len(arms)):
        count += is_open(arms[arm], search, problem)
    return min(max(count, FEWEST_IN_A_ROUND), 2 * len(arms))


@inlined
def fits(arms, search, placed, arm):
    """Whether an arm may come once more in a round without coming too often in a row in every order of it.

    Before, between and after the pulls of other arms there is room for so many in a row each; at first for fewer, if
    the round before ended with this arm.
    """
    count = 0
    for place in range(placed):
        count += queue_place(arms, place) == arm
    room = MOST_IN_A_ROW * (placed - count + 1) - (search.run if search.last == arm else 0)
    return count < room


@kernel
def replacement(arms, search, problem, arm):
    """In place of an arm that has come often enough: the one that it is compared with, or the least pulled open one.

    If no other arm may tell something, it is the arm itself.
    """
    row = arms[arm]
    other = row.blocker if row.blocker >= 0 else row.rival
    if is_open(row, search, problem) and other >= 0 and other != arm and is_possible(arms[other]):
        return other
    chosen, chosen_open = arm, False
    for other in range(len(arms)):
        if other != arm and is_possible(arms[other]):
            opened = is_open(arms[other], search, problem)
            fewer = opened == chosen_open and arms[other].pulls < arms[chosen].pulls
            if chosen == arm or (opened and not chosen_open) or fewer:
                chosen, chosen_open = other, opened
    return chosen


@kernel
def place_arm(arms, searches, problems, ahead, foreseen, placed, arm):
    """Put a decision into the round, or what comes in its place; tells which arm that is.

    The pull is counted in the state that the next decision sees, `ahead` and `foreseen`; it remains to be compared.
    """
    if not fits(arms, searches[0], placed, arm):
        arm = replacement(ahead, foreseen[0], problems[0], arm)
    arms[placed // 2].queue[placed % 2] = arm
    anticipate(ahead, foreseen, arm, 1)
    return arm


@kernel
def is_round_over(arms, searches, problems, ahead, foreseen, placed):
    """Whether a round ends after so many decisions: it has its length, or a phase ends, and no pair is torn apart."""
    search, later = searches[0], foreseen[0]
    if placed == 0:
        return False
    if placed == 2 * len(arms):
        return True
    if later.queued >= 0:
        return False
    if not search.ready and ahead[least_pulled(ahead)].pulls >= problems[0].initial_pulls:
        return True  # the rule decides as soon as these are back
    return placed >= round_length(arms, search, problems[0]) or later.phase != search.phase


@kernel
def begin_round(arms, searches, foreseen, placed):
    """Shuffle the decisions of a round; where the rule stands after them is where it stands now."""
    search, later = searches[0], foreseen[0]
    search.turn, search.queued = later.turn, later.queued
    search.waiting = placed
    last, run = search.last, search.run
    for place in range(placed - 1, -1, -1):
        chosen = draw_place(arms, search, place + 1, last, run)
        arm = queue_place(arms, chosen)
        arms[chosen // 2].queue[chosen % 2] = queue_place(arms, place)
        arms[place // 2].queue[place % 2] = arm
        run = run + 1 if arm == last else 1
        last = arm


@inlined
def draw_place(arms, search, count, last, run):
    """One of the first places of the queue, at random among those that leave an order to the others."""
    needed, spare = -1, 0  # the arm with most of the places, if one has
    for place in range(count):
        arm = queue_place(arms, place)
        if spare == 0:
            needed = arm
        spare += 1 if arm == needed else -1
    most = repeated = 0
    for place in range(count):
        most += queue_place(arms, place) == needed
        repeated += queue_place(arms, place) == last
    if most <= MOST_IN_A_ROW * (count - most):
        needed = -1  # it can wait
    elif needed == last and run >= MOST_IN_A_ROW and most < count:
        needed = -1
    avoided = last if run >= MOST_IN_A_ROW and repeated < count else -1
    choices = most if needed >= 0 else count - repeated if avoided >= 0 else count
    search.dice = search.dice * MULTIPLIER % MODULUS
    skipped = search.dice * choices // MODULUS
    for place in range(count):
        arm = queue_place(arms, place)
        if arm != avoided and (needed < 0 or arm == needed):
            if skipped == 0:
                return place
            skipped -= 1
    return count - 1


@kernel
def take_next(arms, searches):
    """The next pull of the round."""
    search = searches[0]
    search.waiting -= 1
    arm = queue_place(arms, search.waiting)
    search.run = search.run + 1 if arm == search.last else 1
    search.last = arm
    return arm


@kernel
def next_of_round(decide, compare, arms, memory, searches, problems, ahead, foreseen):
    """The next pull; if the round is over, the next round is decided first.

    `ahead` and `foreseen` are tables like those of arms and of the search, to look ahead in.
    """
    if searches[0].waiting == 0:
        for arm in range(len(arms)):
            ahead[arm] = arms[arm]
        foreseen[0] = searches[0]
        later, problem = foreseen[0], problems[0]
        for placed in range(2 * len(arms) + 1):
            if is_round_over(arms, searches, problems, ahead, foreseen, placed):
                begin_round(arms, searches, foreseen, placed)
                break
            arm = decide(ahead, memory, later, problem) if later.ready else least_pulled(ahead)
            arm = place_arm(arms, searches, problems, ahead, foreseen, placed, arm)
            if later.ready:
                compare(ahead, memory, later, problem, arm)
    return take_next(arms, searches)
