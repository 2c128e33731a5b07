"""The arm of highest score among those whose other score reaches a floor: a ceiling of the risk, a floor of the mean.

The answer is the arm a with the best estimate among those whose estimates reach the floor f, or nobody; or that for the
floor f - epsilon, if it is nearer to being proved: an arm that is just at the floor need not be told from it. It is in
doubt by f less the least that its other score may be. Another arm j is in doubt only as far as it may be better and
reach the floor as well: min(U_j - L_a, V_j - f), with U_j and V_j the most that its two scores may be. If nobody is the
answer, any arm is in doubt by V_j - f.

A minimum of two terms needs care. Only one of them must fall, but to pull for the smaller one may last for ever: that
an arm which does reach the floor does not. So the rival tells for which term to pull, that which promises to fall below
epsilon first by distance and width: a where the arms are to be told apart, j itself ("pull me") where the floor is
the question. This steers only.

    task_parameters    weights of mean and risk in the score; the floor of the other one, whose weights are exchanged
"""

from __future__ import annotations

import math

from ramgape.core.doubt import follow, has_begun
from ramgape.core.kernel import inlined, kernel
from ramgape.core.scores import highest_score, lowest_score, seen_score


@kernel
def find_best(arms, mean_weight, risk_weight, floor):
    """The arm with the best estimate among those whose estimates reach the floor; the first of equals, -1 for none."""
    best = -1
    for arm in range(len(arms)):
        if seen_score(arms[arm], risk_weight, mean_weight) >= floor and (
            best < 0
            or seen_score(arms[arm], mean_weight, risk_weight) > seen_score(arms[best], mean_weight, risk_weight)
        ):
            best = arm
    return best


@inlined
def is_sooner_behind(best, row, mean_weight, risk_weight, floor, epsilon):
    """Whether it promises to show sooner that an arm is behind the best one than that it misses the floor."""
    to_floor = floor - seen_score(row, risk_weight, mean_weight) + epsilon
    if to_floor <= 0.0:
        return True
    seen, seen_best = seen_score(row, mean_weight, risk_weight), seen_score(best, mean_weight, risk_weight)
    if seen_best - seen + epsilon <= 0.0:
        return False
    width = highest_score(row, mean_weight, risk_weight) - seen
    width += seen_best - lowest_score(best, mean_weight, risk_weight)
    width_of_other = highest_score(row, risk_weight, mean_weight) - seen_score(row, risk_weight, mean_weight)
    return (seen_best - seen + epsilon) * width_of_other > to_floor * width


@kernel
def largest_doubt(arms, best, mean_weight, risk_weight, floor):
    """How far it is from being proved that an arm, or nobody (-1), is the answer."""
    largest = -math.inf
    if best >= 0:
        largest = floor - lowest_score(arms[best], risk_weight, mean_weight)
    for arm in range(len(arms)):
        if arm != best:
            largest = max(largest, doubt_of(arms, arm, best, mean_weight, risk_weight, floor))
    return largest


@inlined
def doubt_of(arms, arm, best, mean_weight, risk_weight, floor):
    """By how much another arm may be better than the answer and reach the floor."""
    doubt = highest_score(arms[arm], risk_weight, mean_weight) - floor
    if best >= 0:
        ahead = highest_score(arms[arm], mean_weight, risk_weight)
        doubt = min(doubt, ahead - lowest_score(arms[best], mean_weight, risk_weight))
    return doubt


@kernel
def choose_answer(arms, mean_weight, risk_weight, floor, epsilon):
    """The best that reaches the floor by the estimates; or but for epsilon, if that is nearer to being proved."""
    best = find_best(arms, mean_weight, risk_weight, floor)
    other = find_best(arms, mean_weight, risk_weight, floor - epsilon)
    if other != best:
        doubt = largest_doubt(arms, best, mean_weight, risk_weight, floor)
        if largest_doubt(arms, other, mean_weight, risk_weight, floor) < doubt:
            return other
    return best


@kernel
def compare_limited(arms, memory, search, problem, changed):
    """Bring answer, doubts and leader up to date."""
    if not has_begun(arms, search, problem):
        return
    mean_weight, risk_weight = problem.task_parameters[0], problem.task_parameters[1]
    floor = problem.task_parameters[2]
    # A budget has no tolerance to be right up to: the answer is the best by the estimates.
    allowed = search.epsilon if problem.budget == math.inf else 0.0
    best = choose_answer(arms, mean_weight, risk_weight, floor, allowed)
    leader = 0
    for arm in range(len(arms)):
        row = arms[arm]
        row.in_front, row.rival, row.exact = arm == best, arm, 1
        if arm == best:
            row.doubt = floor - lowest_score(row, risk_weight, mean_weight)
        else:
            row.doubt = doubt_of(arms, arm, best, mean_weight, risk_weight, floor)
            if best >= 0 and is_sooner_behind(arms[best], row, mean_weight, risk_weight, floor, search.epsilon):
                row.rival = best
        if row.doubt > arms[leader].doubt or (
            row.doubt == arms[leader].doubt
            and seen_score(row, mean_weight, risk_weight) > seen_score(arms[leader], mean_weight, risk_weight)
        ):
            leader = arm
    follow(arms, search, problem, leader, arms[leader].doubt)
