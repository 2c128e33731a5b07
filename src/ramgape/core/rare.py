"""Events so rare that an arm has not shown them yet: what a claim about means must survive, in how many trials.

Evidence by the central limit theorem knows nothing of a timeout that comes once in fifty trials until one has come.
Where one arm has shown such an event, another may have it, too. So with

    D, U    the largest distance of any arm's reward below its own average, and above
    q(n)    1 - delta^(1 / n): how often an event may happen that n trials have not shown, but for a chance of delta

the claim that arm a is ahead of arm j by more than -epsilon is made only if it stays true when a has an unseen loss of
D and, by itself, j an unseen gain of U:

    lead + epsilon >= q(n_a) D   and   lead + epsilon >= q(n_j) U

That takes hardly a trial more where tails are ordinary. It is about means; claims about risks are made as without.
Where no arm has shown an event, only trials help: `rare_trials` of each arm of the answer, if that is asked for.
"""

from __future__ import annotations

import math

from ramgape.core.box import is_set_aside
from ramgape.core.kernel import inlined, kernel, open_kernel


@inlined
def unseen_chance(problem, pulls):
    """q(n): how often an event may happen that so many trials have not shown."""
    return 1.0 - math.exp(-problem.rare_level / pulls)


@kernel
def note_extremes(arms):
    """Write down in every row how far rewards have been from the averages of their arms."""
    fall = rise = 0.0
    for arm in range(len(arms)):
        row = arms[arm]
        if row.pulls > 0:
            fall, rise = max(fall, row.average - row.lowest), max(rise, row.highest - row.average)
    for arm in range(len(arms)):
        arms[arm].fall, arms[arm].rise = fall, rise


@inlined
def survives_unseen(row, rival, problem, epsilon):
    """Whether an arm's mean stays ahead of the rival's less epsilon if one of them has an event unseen there."""
    if problem.rare_level == 0.0 or is_set_aside(row) or is_set_aside(rival):
        return True
    lead = row.average - rival.average + epsilon
    loss, gain = unseen_chance(problem, row.pulls) * row.fall, unseen_chance(problem, rival.pulls) * rival.rise
    return lead >= loss and lead >= gain


@inlined
def errors_with_unseen(own, others, row, rival, problem, epsilon):
    """Squared errors that divide trials: where the evidence is enough, the arm counts that may hide an event."""
    if problem.rare_level == 0.0:
        return own, others
    leads = row.average >= rival.average
    ahead, behind = (row, rival) if leads else (rival, row)
    lead = ahead.average - behind.average + epsilon
    loss, gain = unseen_chance(problem, ahead.pulls) * ahead.fall, unseen_chance(problem, behind.pulls) * behind.rise
    if lead >= max(loss, gain) or lead * lead < 2.0 * problem.cover_level * (own + others):
        return own, others
    first, second = (own, others) if leads else (others, own)
    first = max(first, 0.25 * loss * loss) if lead < loss else first
    second = max(second, 0.25 * gain * gain) if lead < gain else second
    return (first, second) if leads else (second, first)


@inlined
def lacks_trials(row, problem):
    """Whether an arm of a proved answer has too few trials to have shown events that are to be seen."""
    return row.accepted == 1 and row.pulls < problem.rare_trials


@open_kernel
def stop_unless_rare(stop, arms, memory, search, problem):
    """Whether an answer is proved, and its arms have enough trials."""
    if problem.rare_level > 0.0 and search.samples >= search.next_look:
        note_extremes(arms)
    if not stop(arms, memory, search, problem):
        return False
    missing = 0
    for arm in range(len(arms)):
        missing += lacks_trials(arms[arm], problem)
    return missing == 0


@open_kernel
def prove_unless_rare(prove, arms, memory, searches, problems, inside, proofs):
    """What is proved of each arm of an answer."""
    if problems[0].rare_level > 0.0:
        note_extremes(arms)
    prove(arms, memory, searches, problems, inside, proofs)


@open_kernel
def lacking_first(decide, arms, memory, search, problem):
    """An arm of a proved answer that needs more trials; otherwise what a policy says."""
    if problem.rare_trials > 0.0:
        for arm in range(len(arms)):
            if lacks_trials(arms[arm], problem):
                return arm
    return decide(arms, memory, search, problem)
