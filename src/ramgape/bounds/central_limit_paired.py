"""Rewards of any kind, approximately, two arms compared by their differences on the same seeds.

Where arms meet the same seeds (data splits, games, weather) in one order, what makes a seed hard for all of them drops
out of the difference of two rewards. Evidence about two arms is that of one sample, of the differences on the n seeds
that both have seen: with D their average, V their variance and S how V grows towards the hypothesis,

    exp(half) 2 Phi(sqrt(2 half)) sqrt(c / (n + c)),   half = D^2 / (2 v (1 + c / n)),   v = (V + D (S + D / 2)) / n

averaged over three c: the mixture of bounds/central_limit_pairwise.py with one error in place of two. D / 2 is to
second order what a t-test has; with it a comparison saturates at about n / (1 + 6 / n), a brake where seeds are few.

No product of two arms is made, so the levels are those of a union over the false claims, as for items. Nothing pairs
two risks: of those only intervals tell.
"""

from __future__ import annotations

import math
from typing import Any

from ramgape.bounds import central_limit, central_limit_pairwise
from ramgape.bounds.central_limit_pairwise import SCALES, WEIGHTS, spread_at
from ramgape.core.box import is_set_aside
from ramgape.core.kernel import inlined, kernel
from ramgape.core.rare import survives_unseen
from ramgape.statistics.small import exp

BOXES = 0.05  # of delta
LEAST_PART = 1e-20  # of both arms' variances: differences that vary less are equal but for rounding
due, box, unknown_first = central_limit.due, central_limit.box, central_limit_pairwise.unknown_first


def constants(record: Any, arm_count: int, delta: float) -> None:
    """The levels of comparisons in mean; of risks nothing is known but what boxes say."""
    central_limit.constants(record, arm_count, delta)
    level = math.log(arm_count / ((1.0 - BOXES) * delta))
    record["pair_levels"], record["cover_level"] = (level, math.inf), level
    record["any_epsilon"] = 1  # wrong covers are counted whatever the data say of them


@kernel
def differences(past, rival_past, first, count, span):
    """The average of the differences on the first seeds, their variance and their third central moment."""
    average = variance = third = 0.0
    for place in range(first, first + count):
        average += (past[place] - rival_past[place]) / span
    average /= count
    for place in range(first, first + count):
        distance = (past[place] - rival_past[place]) / span - average
        square = distance * distance
        variance += square
        third += square * distance
    return average, variance / count, third / count


@kernel
def paired_evidence(lead, count, spread, growth):
    """ln of the evidence that an average difference is positive, of which the spread and its growth are known."""
    if not lead > 0.0:
        return -math.inf
    error = spread_at(spread, growth, 0.5, lead) / count
    total = 0.0
    for scale, weight in zip(SCALES, WEIGHTS):
        half = 0.5 * lead * lead / (error * (1.0 + scale / count))
        total += weight * exp(half) * math.erfc(-math.sqrt(half)) * math.sqrt(scale / (count + scale))
    return math.log(total)


@kernel
def mean_ahead(row, past, rival, rival_past, epsilon, problem, since, level):
    """Whether an arm's mean is more than the rival's less epsilon; see core/comparisons.py."""
    if not survives_unseen(row, rival, problem, epsilon):
        return False
    if row.mean_low > rival.mean_high - epsilon:
        return True
    count = min(row.pulls - row.under_way, rival.pulls - rival.under_way)
    if count < problem.first_looks[0] or is_set_aside(row) or is_set_aside(rival):
        return False
    average, variance, third = differences(past, rival_past, int(problem.first_item), count, problem.span)
    if not variance > LEAST_PART * (row.variance + rival.variance):
        return False
    return paired_evidence(average + epsilon, count, variance, max(-third / variance, 0.0)) >= level


@inlined
def risk_ahead(row, past, rival, rival_past, epsilon, problem, since, level):
    """Whether boxes prove that the row's risk is less than the rival's plus epsilon."""
    return row.risk_high < rival.risk_low + epsilon
