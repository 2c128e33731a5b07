"""The arms that are better than a control, by comparisons of each with that one.

An arm i is proved to be in when its mean is proved to be more than the control's plus the margin less epsilon, and its
risk, where that counts, less than the control's plus epsilon, with evidence of ln((K - 1) / d') each. It is proved to
be out when its mean is proved to be less than the control's plus margin and epsilon, with that evidence; where the risk
counts, with ln((K - 1) / (b d')), or its risk to be more than the control's less epsilon, with
ln((K - 1) / ((1 - b) d')). Proof: for every arm but the control at most one of the two is false, and

    E = 1 / (K - 1) sum over i of M[a false claim that i is in], or b M_mean + (1 - b) M_risk of the two that it is out

is a supermartingale that begins with at most 1, which a false proof makes at least 1 / d'. The claims that are false
without a tolerance contain those that are false with one, and E has the former; so both hold at the same time.
"""

from __future__ import annotations

import math

from ramgape.core.comparisons import (
    BY_ALL,
    IN_MEAN,
    INSIDE_PROVED,
    NOT_PROVED,
    ByPairs,
    certainty,
    divide,
    is_early,
    set_all_errors,
)
from ramgape.core.kernel import Kernel, fixed, inlined, kernel, open_kernel


@inlined
def never_ahead(row, past, rival, rival_past, epsilon, problem, since, level):
    """Of a risk that does not count."""
    return False


@open_kernel
def has_place(mean_ahead, risk_ahead, arms, memory, search, problem, arm, inside):
    """Whether it is proved that an arm is in, or out of, the answer."""
    place, margin = int(problem.task_parameters[0]), problem.task_parameters[1]
    both = problem.task_parameters[2] > 0.0
    row, past, control, control_past = arms[arm], memory[arm], arms[place], memory[place]
    level, epsilon = problem.pair_levels[2] + math.log(1.0 - 1.0 / len(arms)), search.epsilon
    if inside:
        return mean_ahead(row, past, control, control_past, epsilon - margin, problem, BY_ALL, level) and (
            not both or risk_ahead(row, past, control, control_past, epsilon, problem, BY_ALL, level)
        )
    in_mean, in_risk = (level - math.log(IN_MEAN), level - math.log(1.0 - IN_MEAN)) if both else (level, math.inf)
    return mean_ahead(control, control_past, row, past, epsilon + margin, problem, BY_ALL, in_mean) or (
        both and risk_ahead(control, control_past, row, past, epsilon, problem, BY_ALL, in_risk)
    )


@open_kernel
def stop_control(has_place, arms, memory, search, problem):
    """Whether the place of every arm is proved."""
    if is_early(search):
        return False
    place, missing = int(problem.task_parameters[0]), 0
    for arm in range(len(arms)):
        row = arms[arm]
        proved = arm == place or has_place(arms, memory, search, problem, arm, row.in_front == 1)
        row.blocker, row.accepted = INSIDE_PROVED if proved else place, 0
        missing += row.blocker != INSIDE_PROVED
    for arm in range(len(arms)):
        if missing == 0:
            arms[arm].accepted = 1 if arms[arm].in_front else -1
    return missing == 0


@open_kernel
def prove_control(has_place, arms, memory, searches, problems, inside, proofs):
    """What is proved of each arm of an answer, as in core/comparisons.py; of one outside it names the control."""
    search, problem = searches[0], problems[0]
    place = int(problem.task_parameters[0])
    for arm in range(len(arms)):
        proofs[arm] = place
        if arm != place or inside[arm]:
            proved = arm != place and has_place(arms, memory, search, problem, arm, inside[arm])
            proofs[arm] = NOT_PROVED if not proved else INSIDE_PROVED if inside[arm] else place


@kernel
def next_for_control(arms, memory, search, problem):
    """The control, or the arm of which estimates say least on which side of it it is."""
    place, margin = int(problem.task_parameters[0]), problem.task_parameters[1]
    both, epsilon = problem.task_parameters[2] > 0.0, search.epsilon
    set_all_errors(arms, memory, problem, False)
    control = arms[place]
    least, chosen, by_mean = math.inf, search.leader, True
    for arm in range(len(arms)):
        row = arms[arm]
        if arm == place or row.blocker == INSIDE_PROVED:
            continue
        side = 1.0 if row.in_front else -1.0
        error = row.mean_error + control.mean_error
        in_mean = certainty(side * (row.average - control.average - margin) + epsilon, error)
        found, this_mean = in_mean, True
        if both:
            in_risk = certainty(side * (control.risk - row.risk) + epsilon, row.risk_error + control.risk_error)
            found = min(in_mean, in_risk) if row.in_front else max(in_mean, in_risk)
            this_mean = found == in_mean
        if found < least:
            least, chosen, by_mean = found, arm, this_mean
    return divide(arms, search, chosen, place, by_mean)


def control_by_pairs(mean_ahead: Kernel, risk_ahead: Kernel | None) -> ByPairs:
    """From the evidence that a bound brings; without that of the risk where it does not count."""
    placed = fixed(has_place, mean_ahead, risk_ahead or never_ahead)
    return ByPairs(fixed(stop_control, placed), fixed(prove_control, placed), next_for_control)
