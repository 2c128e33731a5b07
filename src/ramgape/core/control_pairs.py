"""The arms that are better than a control, by comparisons of each with that one.

An arm i is proved to be better when its mean is proved to be more than the control's plus the margin, and its risk,
where that counts, less than the control's, with evidence of ln((K - 1) / d') each. It is proved to be not better when
its mean is proved to be less than the control's plus margin and epsilon, with that evidence; where the risk counts,
with ln((K - 1) / (b d')), or its risk to be more than the control's less epsilon, with ln((K - 1) / ((1 - b) d')).
Proof: let d be the true difference in mean less the margin, r the control's risk less the arm's, and

    E = 1 / (K - 1) sum over i of   M[i is ahead in mean], or in risk if r counts and is less than d,  where i is no
                                    better (d <= 0, or r <= 0 where it counts)
                                    b M_mean + (1 - b) M_risk of the claims that the control is ahead, where i is better

E is a supermartingale that begins with at most 1, which a false proof makes at least 1 / d'. "Better" is false only in
the first case, "not better" only in the second. E does not depend on epsilon: so what is proved with other tolerances,
and that i is not worse (ahead of the control plus margin less epsilon), holds at the same time.

Where the difference of two means is, at that very time, costs a part of E: with 1 - s of it for what is above and the
part s for the other direction of the difference, a lower end x is proved by evidence of ln((K - 1) / ((1 - s) d')) that
the difference is more than x, as long as x is no more than the margin, since then E has that claim if it is false; and
by ln((K - 1) / (s d')) beyond it. Upper ends likewise. Where the risk counts, E may have a claim about that in place of
the mean's: then both ends need ln(2 (K - 1) / (s d')).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ramgape.core.comparisons import (
    BY_ALL,
    IN_MEAN,
    INSIDE_PROVED,
    NOT_PROVED,
    ByPairs,
    accept_front,
    certainty,
    divide,
    is_early,
    set_all_errors,
)
from ramgape.core.kernel import Kernel, fixed, inlined, kernel, open_kernel
from ramgape.core.rare import note_extremes
from ramgape.core.rows import Rows

FOR_ENDS = 0.1  # s: of an arm's weight, for where its difference to the control is
HALVINGS = 40


@inlined
def never_ahead(row, past, rival, rival_past, epsilon, problem, since, level):
    """Of a risk that does not count."""
    return False


@inlined
def level_of_arm(count, problem):
    """How much evidence a claim needs that has all the weight of its arm."""
    return problem.cover_level + math.log(1.0 - 1.0 / count)


@open_kernel
def has_place(mean_ahead, risk_ahead, arms, memory, search, problem, arm, inside):
    """Whether it is proved that an arm is better, without a tolerance; or that it is not better by epsilon."""
    place, margin = int(problem.task_parameters[0]), problem.task_parameters[1]
    both = problem.task_parameters[2] > 0.0
    row, past, control, control_past = arms[arm], memory[arm], arms[place], memory[place]
    level, epsilon = level_of_arm(len(arms), problem) - math.log(1.0 - FOR_ENDS), search.epsilon
    if inside:
        return mean_ahead(row, past, control, control_past, -margin, problem, BY_ALL, level) and (
            not both or risk_ahead(row, past, control, control_past, 0.0, problem, BY_ALL, level)
        )
    in_mean, in_risk = (level - math.log(IN_MEAN), level - math.log(1.0 - IN_MEAN)) if both else (level, math.inf)
    return mean_ahead(control, control_past, row, past, epsilon + margin, problem, BY_ALL, in_mean) or (
        both and risk_ahead(control, control_past, row, past, epsilon, problem, BY_ALL, in_risk)
    )


@open_kernel
def stop_control(has_place, arms, memory, search, problem):
    """Whether every arm is proved to be better, or to be not better."""
    if is_early(arms, search):
        return False
    place, missing = int(problem.task_parameters[0]), 0
    for arm in range(len(arms)):
        row = arms[arm]
        proved = arm == place or has_place(arms, memory, search, problem, arm, row.in_front == 1)
        row.blocker = INSIDE_PROVED if proved else place
        missing += row.blocker != INSIDE_PROVED
    return accept_front(arms, missing)


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
    """The control, or the arm whose nearer verdict the estimates support least."""
    place, margin = int(problem.task_parameters[0]), problem.task_parameters[1]
    both, epsilon = problem.task_parameters[2] > 0.0, search.epsilon
    set_all_errors(arms, memory, problem, False)
    control = arms[place]
    least, chosen, decisive = math.inf, search.leader, 0
    for arm in range(len(arms)):
        row = arms[arm]
        if arm == place or row.blocker == INSIDE_PROVED:
            continue
        side, allowed = (1.0, 0.0) if row.in_front else (-1.0, epsilon)
        error = row.error[0] + control.error[0]
        in_mean = certainty(side * (row.average - control.average - margin) + allowed, error)
        found, objective = in_mean, 0
        if both:
            in_risk = certainty(side * (control.risk - row.risk) + allowed, row.error[1] + control.error[1])
            found = min(in_mean, in_risk) if row.in_front else max(in_mean, in_risk)
            objective = 0 if found == in_mean else 1
        if found < least:
            least, chosen, decisive = found, arm, objective
    return divide(arms, search, problem, chosen, place, decisive, arms[chosen].in_front)


def control_by_pairs(mean_ahead: Kernel, risk_ahead: Kernel | None) -> ByPairs:
    """From the evidence that a bound brings; without that of the risk where it does not count."""
    placed = fixed(has_place, mean_ahead, risk_ahead or never_ahead)
    return ByPairs(fixed(stop_control, placed), fixed(prove_control, placed), next_for_control)


def difference_ends(state: Rows, mean_ahead: Kernel) -> NDArray[np.float64]:
    """Where the difference of every arm's mean to the control's is, on the engine's scale; infinite ends where nothing
    is known."""
    arms, memory, _, (problem,) = state
    note_extremes(arms)
    number, margin, both = problem.task_parameters[:3]
    place = int(number)
    level, control = level_of_arm(len(arms), problem), arms[place]
    near, far = level - math.log(1.0 - FOR_ENDS), level - math.log(FOR_ENDS)
    near, far = (far + math.log(2.0),) * 2 if both else (near, far)
    ends = np.zeros((len(arms), 2))
    for arm, row in enumerate(arms):
        for side, sign in enumerate((1.0, -1.0)):
            own, others = (row, memory[arm]), (control, memory[place])
            (first, _), (second, _) = pair = (own, others) if side == 0 else (others, own)
            # The first is ahead of the second by more than its lower end; of that no less than boxes say is known.
            known, unknown = first.mean_low - second.mean_high, first.average - second.average
            for _ in range(HALVINGS if math.isfinite(known) and known < unknown and arm != place else 0):
                middle = 0.5 * (known + unknown)
                needed = near if middle <= sign * margin else far
                if mean_ahead(*pair[0], *pair[1], -middle, problem, BY_ALL, needed):
                    known = middle
                else:
                    unknown = middle
            ends[arm, side] = sign * known
    return ends
