"""Two arms compared at once, instead of by the gap between their boxes.

Boxes of radius b prove a difference when it exceeds b + b', although the error of a difference is only the root of
b^2 + b'^2. Here a hypothesis about two arms, "arm j's mean is at least arm i's plus epsilon", is rejected when for
every value m of i's mean the evidence that i's mean is above m and the evidence that j's is below m + epsilon, both
mixtures of core/mixture.py, multiply to e^L: at the true m the product is a test supermartingale. Likewise for risks,
each factor at its least over the means that the arm's interval leaves. All that an answer needs is of this form.

The factors are evaluated at one moment, both from the same data. Between values of m the infimum is bounded on cells:
on a cell one factor is at least what it is at its upper end, and the other at least what it is at its lower end.

Per objective and pair of arms at most one of the two hypotheses is true (at epsilon 0, equal arms make both true, and
then what is concluded is "at most"), so K (K - 1) / 2 of each kind: 0.8 delta is for the means, 0.15 delta for the
risks, and 0.05 delta for the boxes, which restrict m and stand in the report.
"""

from __future__ import annotations

import math
from typing import Any

from ramgape.bounds import empirical_bernstein
from ramgape.bounds.empirical_bernstein import CELLS, cell_terms
from ramgape.core.doubt import dominates, shortfall, threat
from ramgape.core.inversion import SAFETY
from ramgape.core.kernel import inlined, kernel
from ramgape.core.mixture import log_evidence

SHARES = 0.8, 0.15  # of delta: means, risks; what is left is for the boxes
STEPS = 4096  # no cell is smaller than this part of the range of m
MOST_LOOKS = 4 * STEPS  # more than there can be: each passes a cell, or halves a step that was doubled or the first
PATIENCE = 200  # after a look in vain, the next one when there are so many parts more pulls
due, moments_box = empirical_bernstein.due, empirical_bernstein.moments_box


def constants(record: Any, arm_count: int, delta: float) -> None:
    """The levels of comparisons, and the scales of the mixtures."""
    means, risks = SHARES
    empirical_bernstein.constants(record, arm_count, delta)
    pairs = arm_count * (arm_count - 1) / 2
    record["pair_levels"] = math.log(pairs / (means * delta)), math.log(pairs / (risks * delta))


@inlined
def evidence_above(row, mean, scales):
    """ln of the evidence that an arm's mean is above a value."""
    distance = row.average - mean
    squares = row.pulls * (row.variance + distance * distance)
    return log_evidence(row.pulls * distance, squares * SAFETY, squares, mean, scales)


@inlined
def evidence_below(row, mean, scales):
    """ln of the evidence that an arm's mean is below a value."""
    distance = mean - row.average
    squares = row.pulls * (row.variance + distance * distance)
    return log_evidence(row.pulls * distance, squares * SAFETY, squares, 1.0 - mean, scales)


@kernel
def evidence_on_risk(row, problem, side, risk):
    """ln of the evidence that a mean-variance is above (side 1) or below (side -1) a value, whatever the mean."""
    least = math.inf
    for cell in range(CELLS):
        total, squares, reach = cell_terms(row, problem.rho, side, risk, cell)
        term = log_evidence(total, squares, total * total / row.pulls, reach, problem.risk_scales)
        least = min(least, term)
    return least


@kernel
def mean_settled(arms, problem, arm, other):
    """Whether it is proved that the other arm's mean is less than this arm's plus epsilon."""
    row, rival, epsilon = arms[arm], arms[other], problem.epsilon
    low, high = row.mean_low, min(row.mean_high, rival.mean_high - epsilon)
    if low > high:
        return True
    scales, level = problem.mean_scales, problem.pair_levels[0]
    # Where the product is least, roughly: tried first, since mostly it decides.
    weight = row.pulls / (row.variance + 1e-12)
    rival_weight = rival.pulls / (rival.variance + 1e-12)
    middle = (weight * row.average + rival_weight * (rival.average - epsilon)) / (weight + rival_weight)
    middle = min(max(middle, low), high)
    if evidence_above(row, middle, scales) + evidence_below(rival, middle + epsilon, scales) < level:
        return False
    smallest = (high - low) / STEPS
    step = 64.0 * smallest
    below = evidence_below(rival, low + epsilon, scales)
    for _ in range(MOST_LOOKS):
        if low >= high:
            return True
        end = min(low + step, high)
        if evidence_above(row, end, scales) + below >= level:
            low = end
            below = evidence_below(rival, low + epsilon, scales)
            step *= 2.0
        elif step <= smallest:
            return False
        else:
            step *= 0.5
    return False


@kernel
def risk_settled(arms, problem, arm, other):
    """Whether it is proved that the other arm's risk is more than this arm's minus epsilon."""
    row, rival = arms[arm], arms[other]
    epsilon = problem.epsilon / problem.alpha
    low = max(row.risk_low, rival.risk_low + problem.epsilon) / problem.alpha
    high = row.risk_high / problem.alpha
    if low > high:
        return True
    level = problem.pair_levels[1]
    # Nearer to the estimate of the arm that is known better.
    own, others = row.risk - row.risk_low, rival.risk_high - rival.risk
    weight = others * others / max(own * own + others * others, 1e-300)
    middle = (weight * row.risk + (1.0 - weight) * (rival.risk + problem.epsilon)) / problem.alpha
    middle = min(max(middle, low), high)
    if evidence_on_risk(row, problem, -1.0, middle) + evidence_on_risk(rival, problem, 1.0, middle - epsilon) < level:
        return False
    smallest = (high - low) / STEPS
    step = 64.0 * smallest
    below = evidence_on_risk(row, problem, -1.0, low)
    for _ in range(MOST_LOOKS):
        if low >= high:
            return True
        end = min(low + step, high)
        if below + evidence_on_risk(rival, problem, 1.0, end - epsilon) >= level:
            low = end
            below = evidence_on_risk(row, problem, -1.0, low)
            step *= 2.0
        elif step <= smallest:
            return False
        else:
            step *= 0.5
    return False


@kernel
def withstands(arms, problem, arm, other):
    """Whether it is proved that the other arm does not beat this one by epsilon in both objectives."""
    return mean_settled(arms, problem, arm, other) or risk_settled(arms, problem, arm, other)


@kernel
def covers(arms, problem, cover, arm):
    """Whether it is proved that the cover is less than epsilon behind the arm in each objective."""
    return mean_settled(arms, problem, cover, arm) and risk_settled(arms, problem, cover, arm)


@kernel
def find_blocker(arms, search, problem, arm):
    """Of the arms that keep the place of this one from being proved the most threatening, or -1 if it is proved."""
    row = arms[arm]
    blocker, largest = -1, -math.inf
    if row.in_front:
        for other in range(len(arms)):
            danger = threat(arms[other], row)
            if other != arm and danger > largest and not withstands(arms, problem, arm, other):
                blocker, largest = other, danger
        return blocker
    for place in range(search.front_size):
        other = arms[place].front
        if dominates(arms[other], row):
            if covers(arms, problem, other, arm):
                return -1
            danger = -shortfall(arms[other], row)
            if danger > largest:
                blocker, largest = other, danger
    return blocker


@kernel
def is_there(arms, problem, arm):
    """Whether the blocker that was found last time still is one; outside the front another cover may do instead."""
    row, other = arms[arm], arms[arm].blocker
    return other >= 0 and row.in_front and not withstands(arms, problem, arm, other)


@kernel
def stop(arms, memory, search, problem):
    """Whether the place of every arm is proved, at this moment. After a look in vain the next one waits a while."""
    if search.queued >= 0 or search.samples < search.next_look:
        return False
    search.next_look = search.samples + 1 + search.samples // PATIENCE
    blockers = 0
    for arm in range(len(arms)):
        row = arms[arm]
        if row.blocker != -1 and not is_there(arms, problem, arm):
            row.blocker = find_blocker(arms, search, problem, arm)
        blockers += row.blocker >= 0
    if blockers:
        return False
    # What was proved at other times was perhaps of another front: all of it must hold now.
    for arm in range(len(arms)):
        arms[arm].blocker = find_blocker(arms, search, problem, arm)
        blockers += arms[arm].blocker >= 0
    return blockers == 0
