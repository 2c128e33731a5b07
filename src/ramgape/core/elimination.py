"""Rules that eliminate: arms are accepted into the answer or dismissed from it for good, in phases.

While a phase lasts, every open arm is pulled until it has the phase's number of pulls, `target`. An arm that has been
dismissed leaves the order of the estimates, too: the front is then that of the arms which are still possible, so that
the accepted arms and the open ones in the front are an answer at any moment, and never an empty one.

Two schedules serve both the Pareto set and arms of highest score: `reject_successively` and `halve` are open to how the
present answer is kept, how the gaps are measured, and how the answer is listed again when arms have been settled.
"""

from __future__ import annotations

import math

import numpy as np

from ramgape.core.doubt import has_begun, list_front, update_front
from ramgape.core.kernel import inlined, kernel, open_kernel
from ramgape.core.order import move
from ramgape.core.scores import seen_score
from ramgape.core.statistics import least_pulled
from ramgape.core.turns import step

EXACTLY = 1.0 - 1e-14  # a whole number of pulls, rounded up, is not to become one more


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
    for objective in range(len(arms[arm].estimate)):
        move(arms, arm, objective, -np.inf)


@inlined
def lead(one, other):
    """By how much one arm beats another in all objectives: m(other, one) of the papers, and -M(other, one)."""
    least = one.estimate[0] - other.estimate[0]
    for objective in range(1, len(one.estimate)):
        least = min(least, one.estimate[objective] - other.estimate[objective])
    return least


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


# --- what the Pareto set needs ----------------------------------------------------------------------------------------


@inlined
def list_open_front(arms, search, problem):
    """The front, after arms have been settled."""
    list_front(arms, search)


@inlined
def measure_front(arms, problem):
    """The gaps of the Pareto set."""
    compute_gaps(arms)


# --- and the arms of highest score ------------------------------------------------------------------------------------


@kernel
def count_missing(arms, problem):
    """How many arms are still to be accepted."""
    missing = int(problem.task_parameters[2])
    for arm in range(len(arms)):
        missing -= arms[arm].accepted == 1
    return missing


@kernel
def list_highest(arms, search, problem):
    """Mark as many open arms, of the highest scores, as are still to be accepted; of equals the first."""
    mean_weight, risk_weight = problem.task_parameters[0], problem.task_parameters[1]
    for arm in range(len(arms)):
        arms[arm].in_front = arms[arm].accepted == 1
    for _ in range(count_missing(arms, problem)):
        best = -1
        for arm in range(len(arms)):
            row = arms[arm]
            if row.accepted == 0 and not row.in_front:
                score = seen_score(row, mean_weight, risk_weight)
                if best < 0 or score > seen_score(arms[best], mean_weight, risk_weight):
                    best = arm
        if best >= 0:
            arms[best].in_front = 1


@inlined
def keep_highest(arms, search, problem, changed):
    """The best of the open arms, after one arm has changed."""
    if has_begun(arms, search, problem):
        list_highest(arms, search, problem)


@kernel
def measure_highest(arms, problem):
    """How far the score of an open arm is from that of the nearest one on the other side: of the best outside the
    answer, for an arm inside; of the weakest inside, for one outside. Infinite where there is none."""
    mean_weight, risk_weight = problem.task_parameters[0], problem.task_parameters[1]
    weakest, strongest = np.inf, -np.inf
    for arm in range(len(arms)):
        row = arms[arm]
        if row.accepted == 0:
            score = seen_score(row, mean_weight, risk_weight)
            if row.in_front:
                weakest = min(weakest, score)
            else:
                strongest = max(strongest, score)
    for arm in range(len(arms)):
        row = arms[arm]
        score = seen_score(row, mean_weight, risk_weight)
        row.gap = score - strongest if row.in_front else weakest - score
        # Only the sign counts: below 0 it is accepted, otherwise dismissed.
        row.beaten = -1.0 if row.in_front else 1.0


# --- schedules --------------------------------------------------------------------------------------------------------


@kernel
def begin_rejection(search, problem, arm_count):
    """On to the next phase of successive rejects."""
    search.phase += 1
    logarithm = 0.5
    for rank in range(2, arm_count + 1):
        logarithm += 1.0 / rank
    share = (problem.budget - arm_count) / (logarithm * (arm_count + 1 - search.phase))
    search.target = math.ceil(share * EXACTLY)


@open_kernel
def reject_successively(keep, measure, list_answer, arms, memory, search, problem, changed):
    """The answer, and at the end of a phase what becomes of the clearest arm; after the last phase, of the last arm."""
    keep(arms, search, problem, changed)
    if not search.ready:
        return
    count = len(arms)
    if search.phase == 0:
        begin_rejection(search, problem, count)
    while search.phase < count and phase_is_over(arms, search, problem):
        measure(arms, problem)
        settle_clearest(arms)
        begin_rejection(search, problem, count)
        list_answer(arms, search, problem)
        if search.phase == count:
            measure(arms, problem)
            settle_clearest(arms)
            list_answer(arms, search, problem)


@kernel
def begin_halving(arms, search, problem):
    """On to the next phase of halving."""
    search.phase += 1
    phases, reached = 0, 1
    while reached < len(arms):
        reached *= 2
        phases += 1
    search.target += int(problem.budget) // (count_open(arms) * phases)


@open_kernel
def halve(keep, measure, list_answer, arms, memory, search, problem, changed):
    """The answer, and at the end of a phase what becomes of the clearer half of the arms."""
    keep(arms, search, problem, changed)
    if not search.ready:
        return
    if search.phase == 0:
        begin_halving(arms, search, problem)
    while count_open(arms) > 1 and phase_is_over(arms, search, problem):
        measure(arms, problem)
        for _ in range(count_open(arms) // 2):
            settle_clearest(arms)
        begin_halving(arms, search, problem)
        list_answer(arms, search, problem)
        if count_open(arms) == 1:
            measure(arms, problem)
            settle_clearest(arms)
            list_answer(arms, search, problem)
