"""The arms of highest score, one or several: UGapE's answer, doubts and rivals (Gabillon, Ghavamzadeh, Lazaric 2012).

With [L_i, U_i] where the score of an arm may be, the answer is the m arms of least B_i = (m-th highest U_j of the
others) - L_i. An arm of the answer is in doubt by the highest U_j outside it less L_i, an arm outside by U_j less the
lowest L_i inside; that pair is behind the largest doubt. Of equals the one with the better estimate comes first.

    task_parameters    weights of mean and risk in the score; m
"""

from __future__ import annotations

from ramgape.core.doubt import follow, has_begun
from ramgape.core.kernel import inlined, kernel
from ramgape.core.scores import highest_score, lowest_score, seen_score


@inlined
def is_before(arms, one, other, by, mean_weight, risk_weight):
    """Whether an arm comes before another in decreasing order of `seen`; for the answer, cut-off arms come last."""
    if by == 1 and (arms[one].cut == 0) != (arms[other].cut == 0):
        return arms[one].cut == 0  # nothing can prove that an arm with cut-off rewards is the best
    if arms[one].seen[by] != arms[other].seen[by]:
        return arms[one].seen[by] > arms[other].seen[by]
    first = seen_score(arms[one], mean_weight, risk_weight)
    second = seen_score(arms[other], mean_weight, risk_weight)
    return first > second if first != second else one < other


@kernel
def sort_arms(arms, by, mean_weight, risk_weight):
    """Bring the arms into decreasing order of `seen`; they nearly are, since a pull changes one of them."""
    for place in range(1, len(arms)):
        arm, hole = arms[place].order[by], place
        for _ in range(place):
            before = arms[hole - 1].order[by]
            if not is_before(arms, arm, before, by, mean_weight, risk_weight):
                break
            arms[hole].order[by] = before
            hole -= 1
        arms[hole].order[by] = arm


@kernel
def compare_highest(arms, memory, search, problem, changed):
    """Bring answer, doubts and leader up to date."""
    if not has_begun(arms, search, problem):
        return
    mean_weight, risk_weight = problem.task_parameters[0], problem.task_parameters[1]
    wanted = int(problem.task_parameters[2])
    for arm in range(len(arms)):
        arms[arm].seen[0] = highest_score(arms[arm], mean_weight, risk_weight)
        arms[arm].exact = 1
    sort_arms(arms, 0, mean_weight, risk_weight)
    last, following = arms[arms[wanted - 1].order[0]].seen[0], arms[arms[wanted].order[0]].seen[0]
    for place in range(len(arms)):
        row = arms[arms[place].order[0]]
        row.seen[1] = lowest_score(row, mean_weight, risk_weight) - (following if place < wanted else last)
        if problem.rare_level > 0.0:  # comparisons of pairs speak long before boxes do, which are huge at first
            row.seen[1] = seen_score(row, mean_weight, risk_weight)
    sort_arms(arms, 1, mean_weight, risk_weight)
    weakest = -1
    for place in range(len(arms)):
        arm = arms[place].order[1]
        arms[arm].in_front = place < wanted
        if place < wanted:
            low = lowest_score(arms[arm], mean_weight, risk_weight)
            # B_i ranks by L_i but for arms on either side of the m-th, so that the last one need not be the weakest.
            if weakest < 0 or low <= lowest_score(arms[weakest], mean_weight, risk_weight):
                weakest = arm
    strongest = 0
    for place in range(len(arms) - 1, -1, -1):
        if not arms[arms[place].order[0]].in_front:
            strongest = arms[place].order[0]
    floor, ceiling = lowest_score(arms[weakest], mean_weight, risk_weight), arms[strongest].seen[0]
    for arm in range(len(arms)):
        row = arms[arm]
        if row.in_front:
            row.doubt, row.rival = ceiling - lowest_score(row, mean_weight, risk_weight), strongest
        else:
            row.doubt, row.rival = row.seen[0] - floor, weakest
    follow(arms, search, problem, weakest, arms[weakest].doubt)
