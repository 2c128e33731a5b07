"""VA-LUCB (Hou, Tan and Zhong 2023, "Almost optimal variance-constrained best arm identification"): the best mean among
the arms whose variance is at most a ceiling; for a confidence, with bounds of its own (bounds/va_lucb.py).

In round t, which is N after two pulls of each of the N arms, every arm that may keep the ceiling has bounds of mean and
variance. An arm is feasible if its variance keeps the ceiling at its most, and infeasible, from then on, if it does not
at its least; others may be feasible. With i* the feasible arm of highest average the search ends if no other arm that
may be feasible reaches, at its most, the least that the mean of i* may be: i* is returned. It ends as well if all are
infeasible: nobody is returned. Until then the arm of highest average among those that may be feasible is pulled, and
with it, unless it is certainly behind, that of the others which might be best by its upper bound.

Written after the authors' program (https://github.com/Y-Hou/VA-BAI, VA_LUCB.m), in which an infeasible arm keeps the
bounds by which it became so; the paper's own text was not at hand. There is no tolerance in it: an arm that is at the
ceiling, or as good as the best, may keep it going for ever. The answer is exact, whatever epsilon is.
"""

from __future__ import annotations

from ramgape.bounds.va_lucb import box
from ramgape.core.doubt import follow, has_begun
from ramgape.core.kernel import kernel
from ramgape.core.limited import doubt_of, find_best
from ramgape.core.statistics import least_pulled
from ramgape.core.turns import queue_second, take_second


@kernel
def sort_out(arms, memory, search, problem, ceiling):
    """Bounds of this round, and whom they make infeasible; the best by average of the others, and of the feasible."""
    guess, best = -1, -1
    for arm in range(len(arms)):
        row = arms[arm]
        if row.accepted != 0:
            continue
        box(row, memory[arm], search, problem)
        if row.risk_low > ceiling:
            row.accepted = -1
            continue
        if guess < 0 or row.average > arms[guess].average:
            guess = arm
        if row.risk_high <= ceiling and (best < 0 or row.average > arms[best].average):
            best = arm
    return guess, best


@kernel
def is_decided(arms, best):
    """Whether no other arm that may be feasible may be as good as the best feasible one, or none may be at all."""
    for arm in range(len(arms)):
        row = arms[arm]
        if row.accepted == 0 and arm != best and (best < 0 or row.mean_high >= arms[best].mean_low):
            return False
    return True


@kernel
def find_challenger(arms, guess):
    """Of the others that may be feasible, that of the highest upper bound; the guess itself if that is behind."""
    challenger = -1
    for arm in range(len(arms)):
        row = arms[arm]
        if row.accepted == 0 and arm != guess and (challenger < 0 or row.mean_high > arms[challenger].mean_high):
            challenger = arm
    return challenger if challenger >= 0 and arms[challenger].mean_high >= arms[guess].mean_low else guess


@kernel
def take_down(arms, search, problem, guess):
    """The answer by the estimates, and how far each arm is from being proved, as the task has it."""
    floor, largest = problem.task_parameters[2], -1e300
    answer = find_best(arms, 1.0, 0.0, floor)
    for arm in range(len(arms)):
        row = arms[arm]
        row.in_front, row.exact = arm == answer, 1
        row.doubt = row.risk_high + floor if arm == answer else doubt_of(arms, arm, answer, 1.0, 0.0, floor)
        largest = max(largest, row.doubt)
    follow(arms, search, problem, guess, largest)


@kernel
def compare(arms, memory, search, problem, changed):
    """At the end of a round: bounds, who is out, whether it is decided, and whom to pull next."""
    if not has_begun(arms, search, problem) or search.samples < search.target:
        return
    for arm in range(len(arms)):
        if arms[arm].accepted == 1:
            return
    search.phase = max(search.phase + 1, len(arms))
    guess, best = sort_out(arms, memory, search, problem, -problem.task_parameters[2])
    take_down(arms, search, problem, guess)
    if is_decided(arms, best):
        for arm in range(len(arms)):
            arms[arm].accepted, arms[arm].gap = 1 if arm == best else -1, 0.0
    else:
        arms[guess].rival = find_challenger(arms, guess)
        search.target = search.samples + (1 if arms[guess].rival == guess else 2)


@kernel
def decide(arms, memory, search, problem):
    """The guess, and the challenger next."""
    if search.queued >= 0:
        return take_second(search)
    leader = search.leader
    if leader < 0:  # all is decided
        return least_pulled(arms)
    rival = arms[leader].rival
    return leader if rival == leader else queue_second(search, leader, rival)


@kernel
def stop(arms, memory, search, problem):
    """Everybody is in or out."""
    for arm in range(len(arms)):
        if arms[arm].accepted == 0:
            return False
    return True
