"""The arms of highest mean, by comparisons of two arms.

An answer of m arms is proved when each of them is proved to be ahead of every arm outside, by more than -epsilon, with
evidence of ln((K - m) m / d'). Proof: let T be m arms of the truly highest, and

    E = 1 / (K - m) sum over i not in T of 1 / m sum over j in T of M[i ahead of j],

a supermartingale that begins with at most 1; M are those of false claims
(docs/theory/comparisons.md). If an arm i of the
answer is epsilon or more behind the m-th best, it is not in T, so that some j of T is outside; that i is ahead of j was
verified, although it is false: E is at least 1 / d'. E does not depend on epsilon, so what the same evidence proves
with an epsilon of 0 holds as well, at the same time.

Rewards that were cut off are upper limits of the true ones, and so is their average. An arm that has some may be proved
to be behind, never to be ahead. If another arm is proved to be behind the average of such an arm, no number of trials
can settle the two. A search ends when all other claims are proved; `infer` then finds the answer not proved.
"""

from __future__ import annotations

import math

from ramgape.core.comparisons import (
    BY_ALL,
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


@inlined
def level_of(problem, count, wanted):
    """How much evidence a claim needs."""
    return problem.cover_level + math.log((count - wanted) * wanted / count)


@open_kernel
def is_far_behind(ahead, row, past, rival, rival_past, problem, level):
    """Whether no number of trials can prove that the row is ahead of the rival, since rewards were cut off.

    The tolerance is left out: then either this or the claim within epsilon is proved after finitely many trials.
    """
    return row.cut > 0 or (rival.cut > 0 and ahead(rival, rival_past, row, past, 0.0, problem, BY_ALL, level))


@open_kernel
def stop_highest(ahead, is_far_behind, arms, memory, search, problem):
    """Whether the present answer is proved, but for claims that no trial can prove."""
    if is_early(arms, search):
        return False
    count, wanted, missing = len(arms), 0, 0
    for arm in range(count):
        row = arms[arm]
        wanted += row.in_front
        row.blocker = INSIDE_PROVED
    level = level_of(problem, count, wanted)
    for arm in range(count):
        for other in range(count):
            row, rival = arms[arm], arms[other]
            if not row.in_front or rival.in_front:
                continue
            if row.cut == 0 and ahead(row, memory[arm], rival, memory[other], search.epsilon, problem, BY_ALL, level):
                continue
            if not is_far_behind(row, memory[arm], rival, memory[other], problem, level):
                row.blocker, rival.blocker = other, arm
                missing += 1
    return accept_front(arms, missing)


@open_kernel
def prove_highest(ahead, arms, memory, searches, problems, inside, proofs):
    """What is proved of each arm of an answer; of one outside, that all inside are ahead of it, whose last is named."""
    search, problem = searches[0], problems[0]
    count, wanted = len(arms), inside.sum()
    proofs[:] = INSIDE_PROVED
    if wanted == 0 or wanted == count:
        proofs[:] = NOT_PROVED
        return
    level, last = level_of(problem, count, wanted), -1
    for arm in range(count):
        if inside[arm]:
            last = arm
            for other in range(count):
                row, rival = arms[arm], arms[other]
                if inside[other]:
                    continue
                if row.cut > 0 or not ahead(
                    row, memory[arm], rival, memory[other], search.epsilon, problem, BY_ALL, level
                ):
                    proofs[arm] = proofs[other] = NOT_PROVED
    for arm in range(count):
        if not inside[arm] and proofs[arm] == INSIDE_PROVED:
            proofs[arm] = last


@kernel
def next_for_highest(arms, memory, search, problem):
    """One of the two arms, inside and outside the answer, of which estimates say least which is ahead."""
    set_all_errors(arms, memory, problem, False)
    least, one, two = math.inf, search.leader, arms[search.leader].rival
    for arm in range(len(arms)):
        row = arms[arm]
        if row.in_front and row.blocker != INSIDE_PROVED:
            for other in range(len(arms)):
                rival = arms[other]
                if not rival.in_front and rival.blocker != INSIDE_PROVED:
                    error = row.error[0] + rival.error[0]
                    found = certainty(row.average - rival.average + search.epsilon, error)
                    if found < least:
                        least, one, two = found, arm, other
    return divide(arms, search, problem, one, two, 0, True)


def highest_by_pairs(ahead: Kernel) -> ByPairs:
    """From the evidence that a bound brings for means."""
    return ByPairs(
        fixed(stop_highest, ahead, fixed(is_far_behind, ahead)), fixed(prove_highest, ahead), next_for_highest
    )
