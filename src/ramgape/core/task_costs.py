"""Doubts of tasks under a budget: what a mistake about an arm is expected to cost, in place of what boxes leave open.

The answers are those of core/highest.py, core/limited.py and core/control.py by the estimates, and so are the pairs of
arms that are compared, and the parameters. Scores of arms with few pulls are drawn towards the average of all, by their
errors (core/answer.py), where the best of them are chosen: of two that look alike, the one pulled less is more likely
to owe it to luck. A mistake that takes two differences to be wrong is as unlikely as both together, and costs the
smaller of the two; where either will do, it is the costlier one.
"""

from __future__ import annotations

import math

import numpy as np

from ramgape.core.answer import shrunken, variance_between
from ramgape.core.doubt import follow, has_begun
from ramgape.core.expected_costs import expected, pull_for_leader, set_errors, set_priors, size_of, trust
from ramgape.core.kernel import fixed, inlined, kernel
from ramgape.core.scores import seen_score

PATIENCE = 8  # the average variances are taken again when there are so many parts more pulls


@inlined
def score_error(row, mean_weight, risk_weight):
    """The squared error of a score."""
    return mean_weight * mean_weight * row.error[0] + risk_weight * risk_weight * row.error[1]


@kernel
def renew_errors(arms, search, changed):
    """The errors of the arm that has changed; now and then those of all, with average variances of this moment."""
    if search.samples < search.next_look:
        set_errors(arms[changed], search)
        return
    set_priors(arms, search)
    search.next_look = search.samples + 1 + search.samples // PATIENCE
    for arm in range(len(arms)):
        set_errors(arms[arm], search)


@kernel
def shrink_scores(arms, mean_weight, risk_weight):
    """Write the scores into `seen`, drawn towards the average of all arms."""
    count, centre, error, scatter = len(arms), 0.0, 0.0, 0.0
    for arm in range(count):
        centre += seen_score(arms[arm], mean_weight, risk_weight) / count
        error += score_error(arms[arm], mean_weight, risk_weight) / count
    for arm in range(count):
        off = seen_score(arms[arm], mean_weight, risk_weight) - centre
        scatter += off * off / (count - 1.0)
    spread = variance_between(scatter, error)
    for arm in range(count):
        row = arms[arm]
        row.exact = 1
        own = score_error(row, mean_weight, risk_weight)
        row.seen[0] = shrunken(seen_score(row, mean_weight, risk_weight), own, centre, spread)


@kernel
def choose_highest(arms, wanted):
    """Mark so many arms of highest `seen`; of equals the first."""
    for arm in range(len(arms)):
        arms[arm].in_front = 0
    for _ in range(wanted):
        best = -1
        for arm in range(len(arms)):
            if not arms[arm].in_front and (best < 0 or arms[arm].seen[0] > arms[best].seen[0]):
                best = arm
        arms[best].in_front = 1


@kernel
def weigh_highest(arms, memory, search, problem, changed):
    """The arms of highest score, one or several: a mistake is that one outside is better than one inside."""
    if not has_begun(arms, search, problem):
        return
    mean_weight, risk_weight = problem.task_parameters[0], problem.task_parameters[1]
    renew_errors(arms, search, changed)
    shrink_scores(arms, mean_weight, risk_weight)
    choose_highest(arms, int(problem.task_parameters[2]))
    for arm in range(len(arms)):
        arms[arm].doubt, arms[arm].rival = -np.inf, -1
    leader = 0
    for arm in range(len(arms)):
        row = arms[arm]
        if not row.in_front:
            continue
        for other in range(len(arms)):
            rival = arms[other]
            if rival.in_front:
                continue
            ahead = seen_score(row, mean_weight, risk_weight) - seen_score(rival, mean_weight, risk_weight)
            error = score_error(row, mean_weight, risk_weight) + score_error(rival, mean_weight, risk_weight)
            cost = expected(size_of(ahead, error), trust(ahead, error))
            if cost > row.doubt or row.rival < 0:
                row.doubt, row.rival = cost, other
            if cost > rival.doubt or rival.rival < 0:
                rival.doubt, rival.rival = cost, arm
        if arms[leader].rival < 0 or row.doubt > arms[leader].doubt:
            leader = arm
    follow(arms, search, problem, leader, math.exp(0.5 * arms[leader].doubt))


@inlined
def gain_of_score(arm, other, problem):
    """By which part the next reward of an arm of a pair lowers the error of the difference of their scores."""
    mean_weight, risk_weight = problem.task_parameters[0], problem.task_parameters[1]
    own, others = score_error(arm, mean_weight, risk_weight), score_error(other, mean_weight, risk_weight)
    return own / ((own + others) * (arm.pulls + 1.0))


@kernel
def choose_limited(arms, mean_weight, risk_weight, floor):
    """The arm of highest `seen` among those whose other score reaches the floor by the estimates; -1 for none."""
    best = -1
    for arm in range(len(arms)):
        reaches = seen_score(arms[arm], risk_weight, mean_weight) >= floor
        if reaches and (best < 0 or arms[arm].seen[0] > arms[best].seen[0]):
            best = arm
    return best


@kernel
def weigh_limited(arms, memory, search, problem, changed):
    """The best score among arms that reach a floor: the answer may miss it, another may be better and reach it."""
    if not has_begun(arms, search, problem):
        return
    mean_weight, risk_weight = problem.task_parameters[0], problem.task_parameters[1]
    floor = problem.task_parameters[2]
    renew_errors(arms, search, changed)
    shrink_scores(arms, mean_weight, risk_weight)
    best, leader = choose_limited(arms, mean_weight, risk_weight, floor), 0
    for arm in range(len(arms)):
        row = arms[arm]
        row.in_front, row.rival = arm == best, arm
        other_error = score_error(row, risk_weight, mean_weight)
        above = seen_score(row, risk_weight, mean_weight) - floor
        if arm == best:
            row.doubt = expected(size_of(above, other_error), trust(above, other_error))
        else:
            size, certainty = size_of(-above, other_error), trust(-above, other_error)
            if best >= 0:
                row.rival = best
                ahead = seen_score(arms[best], mean_weight, risk_weight) - seen_score(row, mean_weight, risk_weight)
                error = score_error(row, mean_weight, risk_weight) + score_error(arms[best], mean_weight, risk_weight)
                size, certainty = min(size, size_of(ahead, error)), certainty + trust(ahead, error)
            row.doubt = expected(size, certainty)
        if row.doubt > arms[leader].doubt:
            leader = arm
    follow(arms, search, problem, leader, math.exp(0.5 * arms[leader].doubt))


@inlined
def gain_of_limited(arm, other, problem):
    """By how much the next reward of an arm makes a mistake less likely that takes two differences to be wrong.

    The other arm, if it is not the same, has to do with the scores alone: what is known of the arm outside about the
    floor counts for that arm. So what cannot be known better, because it is so, is not pulled for.
    """
    mean_weight, risk_weight = problem.task_parameters[0], problem.task_parameters[1]
    floor = problem.task_parameters[2]
    own, others = score_error(arm, mean_weight, risk_weight), score_error(other, mean_weight, risk_weight)
    ahead = seen_score(arm, mean_weight, risk_weight) - seen_score(other, mean_weight, risk_weight)
    behind = ahead if arm.in_front else -ahead
    gained = trust(behind, own + others) * own / (own + others)
    if not arm.in_front:
        short = floor - seen_score(arm, risk_weight, mean_weight)
        gained += trust(short, score_error(arm, risk_weight, mean_weight))
    return gained / (arm.pulls + 1.0)


@kernel
def weigh_control(arms, memory, search, problem, changed):
    """Every arm against the control: in mean, and in risk where that counts as well."""
    if not has_begun(arms, search, problem):
        return
    place, margin = int(problem.task_parameters[0]), problem.task_parameters[1]
    both = problem.task_parameters[2] > 0.0
    renew_errors(arms, search, changed)
    control, leader = arms[place], -1
    for arm in range(len(arms)):
        row = arms[arm]
        row.rival, row.exact = place, 1
        if arm == place:
            row.in_front, row.doubt = 0, -np.inf
            continue
        in_mean, mean_error = row.average - control.average - margin, row.error[0] + control.error[0]
        in_risk, risk_error = control.risk - row.risk, row.error[1] + control.error[1]
        row.in_front = in_mean > 0.0 and (in_risk > 0.0 or not both)
        if row.in_front:
            row.doubt = expected(mean_error, trust(in_mean, mean_error))
            if both:
                row.doubt = max(row.doubt, expected(risk_error, trust(in_risk, risk_error)))
        else:
            size, certainty = size_of(-in_mean, mean_error), trust(-in_mean, mean_error)
            if both:
                size, certainty = min(size, size_of(-in_risk, risk_error)), certainty + trust(-in_risk, risk_error)
            row.doubt = expected(size, certainty)
        if leader < 0 or row.doubt > arms[leader].doubt:
            leader = arm
    follow(arms, search, problem, leader, math.exp(0.5 * arms[leader].doubt))


@inlined
def gain_of_control(arm, other, problem):
    """By which part the next reward lowers the error of a difference that counts, of that which gains more."""
    gained = arm.error[0] / (arm.error[0] + other.error[0])
    if problem.task_parameters[2] > 0.0:
        gained = max(gained, arm.error[1] / (arm.error[1] + other.error[1]))
    return gained / (arm.pulls + 1.0)


pull_for_highest, pull_for_limited = fixed(pull_for_leader, gain_of_score), fixed(pull_for_leader, gain_of_limited)
pull_for_control = fixed(pull_for_leader, gain_of_control)
