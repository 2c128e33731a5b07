"""The compiled loop over rounds: choose an arm, draw a reward, learn from it, ask whether that is enough.

Ask and tell take the same steps with the same functions, one call at a time, in `ramgape.search.engine`.
"""

from __future__ import annotations

import math

from ramgape.core.answer import is_returned, shrinkage
from ramgape.core.kernel import fixed, inlined, kernel, open_kernel
from ramgape.core.prices import affordable
from ramgape.core.rounds import next_of_round
from ramgape.core.statistics import least_pulled
from ramgape.core.table import PROVED


@inlined
def next_at_once(decide, compare, arms, memory, searches, problems, ahead, foreseen):
    """The next pull where each is decided by itself."""
    search = searches[0]
    return decide(arms, memory, search, problems[0]) if search.ready else least_pulled(arms)


@open_kernel
def advance(
    choose,
    draw,
    learn,
    compare,
    decide,
    stop,
    arms,
    memory,
    searches,
    problems,
    parameters,
    values,
    generator,
    count,
    truth,
    trace,
    ahead,
    foreseen,
):
    """Simulate up to `count` pulls, fewer if the stopping rule speaks or the money is spent; tells how many were made.

    What each pull did is written into `trace`, beside the truth, as long as that has rows left; it may have none. So
    may `ahead` and `foreseen`, in which rounds look ahead, where nothing is decided in rounds.
    """
    search, problem = searches[0], problems[0]
    for pull in range(count):
        arm = choose(decide, compare, arms, memory, searches, problems, ahead, foreseen)
        arm = affordable(arms, problems, arm, 0.0)
        if arm < 0:
            return pull
        reward = draw(parameters, values, arm, generator)
        learn(arms, memory, search, problem, arm, reward)
        compare(arms, memory, search, problem, arm)
        if search.ready and stop(arms, memory, search, problem):
            search.stopped = PROVED
        if pull < len(trace):
            write_down(trace[pull], arms, search, problem, truth, arm)
        if search.stopped:
            return pull + 1
    return count


@kernel
def replay(learn, compare, stop, arms, memory, searches, problems, chosen, rewards, may_stop):
    """Learn rewards that are already there, in their order; returns how many.

    If `may_stop` is true it ends where the stopping rule speaks. Otherwise all of them are known to have come before.
    """
    search, problem = searches[0], problems[0]
    for number in range(len(chosen)):
        learn(arms, memory, search, problem, chosen[number], rewards[number])
        compare(arms, memory, search, problem, chosen[number])
        if search.ready and stop(arms, memory, search, problem) and may_stop:
            search.stopped = PROVED
            return number + 1
    return len(chosen)


@inlined
def write_down(step, arms, search, problem, truth, arm):
    """What a pull has led to. Only the pulled arm's box has changed, so only that one can have lost the truth."""
    step.arm = arm
    step.regret = regret(arms, search, problem, truth) if search.ready else math.nan
    row, true = arms[arm], truth[arm]
    mean_inside = row.mean_low <= true.mean <= row.mean_high
    risk_inside = row.risk_low <= true.risk <= row.risk_high
    step.missed = 0 if mean_inside and risk_inside else 1


@kernel
def note_pull(trace, pull, arms, searches, problems, truth, arm):
    """What one pull has led to, for a loop in Python."""
    write_down(trace[pull], arms, searches[0], problems[0], truth, arm)


@kernel
def regret(arms, search, problem, truth):
    """The simple regret of the present answer: the largest gap of an arm that is wrongly in or wrongly out."""
    largest = 0.0
    centre = shrinkage(arms, search, problem)
    for arm in range(len(arms)):
        if is_returned(arms, arm, search, problem, centre) != (truth[arm].in_front == 1):
            largest = max(largest, truth[arm].gap)
    return largest


advance_at_once, advance_in_rounds = fixed(advance, next_at_once), fixed(advance, next_of_round)
