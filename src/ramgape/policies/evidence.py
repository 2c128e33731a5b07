"""Evidence: pull for the comparison that the data support least.

What the answer needs is that every arm of the front withstands every other arm, in one objective, and that every arm
outside is covered by one of the front, in all objectives. Each such comparison has an evidence: the squared
difference, with epsilon in its favour, over the variance of its estimate. The arms of the one with the least are
pulled in proportion to what each contributes to that variance. Where an answer has been designated beforehand
(core/comparisons.py) it is served in place of the front, and only the pulls since then count; or both in turn, while
they differ.
"""

from __future__ import annotations

from ramgape.core.comparisons import BLOCKER, INSIDE, MANY, certainty, divide, set_all_errors
from ramgape.core.doubt import dominates, shortfall, threat
from ramgape.core.kernel import inlined, kernel


@inlined
def evidence_for(row, rival, epsilon, in_all):
    """For the row being ahead of the rival: in the objective where there is most, or least; and which one that is."""
    found, decisive = 0.0, 0
    for objective in range(len(row.estimate)):
        error = row.error[objective] + rival.error[objective]
        one = certainty(row.estimate[objective] - rival.estimate[objective] + epsilon, error)
        if objective == 0 or (one < found if in_all else one > found):
            found, decisive = one, objective
    return found, decisive


@inlined
def weakest_inside(arms, problem, arm, blocker, epsilon):
    """Of the arms that a member of the answer must withstand, the one against which there is least; -1 for none."""
    row, least, found, decisive = arms[arm], 0.0, -1, 0
    for other in range(blocker, blocker + 1) if blocker >= 0 else range(len(arms)):
        rival = arms[other]
        # What boxes prove may yet have to survive an unseen event.
        if other == arm or (problem.rare_level == 0.0 and threat(rival, row) < epsilon):
            continue
        evidence, objective = evidence_for(row, rival, epsilon, False)
        if found < 0 or evidence < least:
            least, found, decisive = evidence, other, objective
    return least, found, decisive


@inlined
def strongest_cover(arms, memory, search, problem, since, arm, blocker):
    """Of the arms that may cover one outside the answer, the one for which there is most; -1 if it needs none.

    Where there are many arms it is the one for which there was most at the last look, as long as that is ahead.
    """
    row, epsilon, most, found, decisive = arms[arm], search.epsilon, -1.0, -1, 0
    known = len(arms) > MANY and blocker >= 0 and dominates(arms[blocker], row)
    for place in range(1 if known else len(arms) if since else search.front_size):
        other = blocker if known else place if since else arms[place].front
        rival = arms[other]
        if dominates(rival, row) and (not since or memory[other][problem.snapshot + INSIDE] > 0.0):
            if problem.rare_level == 0.0 and shortfall(rival, row) < epsilon:
                return 0.0, -1, 0
            evidence, objective = evidence_for(rival, row, epsilon, True)
            if evidence > most:
                most, found, decisive = evidence, other, objective
    return most, found, decisive


@inlined
def is_member(arms, memory, problem, since, arm):
    """Whether an arm is in the answer that is served."""
    if since:
        return memory[arm][problem.snapshot + INSIDE] > 0.0
    return arms[arm].member == 1 if arms[arm].blocker != -2 else arms[arm].in_front == 1


@kernel
def decide(arms, memory, search, problem):
    """One of the two arms of the comparison with the least evidence."""
    since = search.served == 1 or (search.served == 2 and search.samples % 2 == 1)
    epsilon = search.epsilon
    set_all_errors(arms, memory, problem, since)
    least, one, two, decisive, ahead = -1.0, search.leader, arms[search.leader].rival, 0, True
    for arm in range(len(arms)):
        blocker = int(memory[arm][problem.snapshot + BLOCKER]) if since else arms[arm].blocker
        if blocker == -1:
            continue
        inside = is_member(arms, memory, problem, since, arm)
        if inside:
            evidence, other, objective = weakest_inside(arms, problem, arm, blocker, epsilon)
        else:
            evidence, other, objective = strongest_cover(arms, memory, search, problem, since, arm, blocker)
        if other >= 0 and (least < 0.0 or evidence < least):
            least, one, two, decisive = evidence, arm, other, objective
            ahead = inside
    return divide(arms, search, problem, one, two, decisive, ahead)
