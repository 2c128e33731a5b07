"""Rewards of any kind, approximately, two arms compared at once: nothing is lost to the gap between their boxes.

An estimate has, nearly, a normal error of variance V / n (bounds/central_limit.py). With x the sum of the errors of n
pulls about a hypothesis, exp(l x - l^2 n V / 2) is a martingale for every l. Mixed over a half-normal l of variance
1 / (c V), and multiplied by the same of a second arm, it is one still, however pulls are chosen. Of a difference D
between two arms a hypothesis leaves open how much of it is whose error; where the product is least it is

    exp(D^2 / (2 W)) 4 Phi(a) Phi(b) c / sqrt((n + c) (n' + c)),    W = V (n + c) / n^2 + V' (n' + c) / n'^2

with a^2 + b^2 = D^2 / W, shared as the arms share W (the last is where D^2 / W is least; with the Phi a little beside
it). Its average over three c is the evidence that a claim needs e^level of (core/comparisons.py).

What makes it miss is, as with intervals, that V is estimated from the same pulls. Of the two errors that make a claim
false one is above its estimate and one below, and of each arm only that skew matters which makes V too small there: V
is taken at the part d of the difference that is the arm's own, V + S d with S >= 0. For means d^2 / 2 comes to it; that
is to second order what a t-test has. So two arms of one skewed law with as many pulls are nearly as symmetric as their
difference is; the one that has fewer pulls, or is skewed the other way, pays for it.

The spread of a risk is drawn towards that of a kurtosis of 5, as for intervals, and S towards `USUAL_GROWTH`; that is
half of what they take, since a difference has two errors, of which mostly one is skewed the wrong way. The constants
were chosen by simulation, on the ten families of tests/misses.py and on jobs like those in
docs/theory/rewards-of-any-kind.md:
what is just false is claimed about as often as stated, and mostly far less often.
"""

from __future__ import annotations

import math
from typing import Any

from ramgape.bounds import central_limit
from ramgape.bounds.central_limit import SKEW_PULLS, SPREAD_PULLS, USUAL_SKEW, least_of_cut
from ramgape.core import comparisons
from ramgape.core.box import is_set_aside
from ramgape.core.comparisons import PULLS, RISK, sums
from ramgape.core.kernel import inlined, kernel, open_kernel
from ramgape.core.rare import survives_unseen
from ramgape.core.statistics import third_moment
from ramgape.statistics.small import exp

BOXES = 0.05  # of delta
SCALES = 6.0, 48.0, 384.0  # c: a comparison is at its best after some eight times as many pulls of each arm
WEIGHTS = 0.5, 0.3, 0.2
USUAL_GROWTH = 3.0  # of a risk's spread, in units, where intervals take 1.5 times a usual skew of 4
STEPS = 5  # after so many the parts of a difference change no more
LEAST_SPREAD = 0.1  # of V, where it falls with the estimate
due, box = central_limit.due, central_limit.box


def constants(record: Any, arm_count: int, delta: float) -> None:
    """The levels of comparisons, and what the boxes need."""
    central_limit.constants(record, arm_count, delta)
    comparisons.set_levels(record, arm_count, delta, BOXES)


@inlined
def is_unvaried(row, problem):
    """Whether all rewards of an arm are equal, so that nothing is said of it; it is not set aside yet.

    Searches that began before rare events counted wait for the boxes, too, which say nothing for ten trials more.
    """
    if problem.rare_level == 0.0:
        return central_limit.is_unknown(row)
    return not row.variance > 0.0 and row.cut == 0 and not is_set_aside(row)


@open_kernel
def unknown_first(decide, arms, memory, search, problem):
    """Of the two arms behind the largest doubt, one of which nothing can be said yet; otherwise what a policy says."""
    leader = search.leader
    rival = arms[leader].rival
    if is_unvaried(arms[leader], problem):
        return leader
    if rival >= 0 and is_unvaried(arms[rival], problem):
        return rival
    return decide(arms, memory, search, problem)


@inlined
def spread_at(spread, growth, bend, distance):
    """V at the distance of a hypothesis."""
    return max(spread + distance * (growth + bend * distance), LEAST_SPREAD * spread)


@kernel
def difference_evidence(difference, count, spread, growth, rival_count, rival_spread, rival_growth, bend):
    """ln of the evidence that a difference is positive, of which each arm has a spread and how it grows."""
    if not difference > 0.0:
        return -math.inf
    part = 0.5 * difference
    own = others = 0.0
    for _ in range(STEPS):
        own = spread_at(spread, growth, bend, part) / count
        others = spread_at(rival_spread, rival_growth, bend, difference - part) / rival_count
        if not own + others > 0.0:
            return -math.inf
        part = difference * own / (own + others)
    total = 0.0
    for scale, weight in zip(SCALES, WEIGHTS):
        first, second = own * (1.0 + scale / count), others * (1.0 + scale / rival_count)
        half = 0.5 * difference * difference / (first + second)
        share = first / (first + second)
        sides = math.erfc(-math.sqrt(half * share)) * math.erfc(-math.sqrt(half * (1.0 - share)))
        total += weight * exp(half) * sides * scale / math.sqrt((count + scale) * (rival_count + scale))
    return math.log(total)


@inlined
def mean_growth(row, side):
    """By how much an arm's variance grows with the distance of a mean above (side 1) or below (side -1) the average."""
    return max(side * third_moment(row) / row.variance, 0.0)


@inlined
def risk_spreads(row, problem, side):
    """V of an arm's risk, and by how much it grows above (side 1) or below (side -1); V < 0 where nothing is known."""
    count, spread, skew = float(row.pulls), row.risk_spread, row.risk_skew
    if problem.risk_power == 0.0:  # a chance: its spread says all
        return spread, side * (problem.alpha - 2.0 * row.risk)
    power = problem.risk_power
    unit, usual = problem.alpha * row.variance ** (0.5 * power), power * power
    spread = (count * spread + SPREAD_PULLS * usual * unit * unit) / (count + SPREAD_PULLS)
    if skew == 0.0:  # the risk does not tell
        return spread, USUAL_SKEW * math.sqrt(spread) if side > 0.0 else 0.0
    if skew * skew > count * spread:
        return -1.0, 0.0
    if side < 0.0:
        return spread, max(-skew, 0.0)
    return spread, (count * max(skew, 0.0) + SKEW_PULLS * USUAL_GROWTH * usual * unit) / (count + SKEW_PULLS)


@kernel
def mean_evidence(row, rival, problem, epsilon, count, average, rival_count, rival_average):
    """ln of the evidence that an arm's mean is more than the rival's less epsilon, from so many pulls of each."""
    if min(row.pulls, rival.pulls) < problem.first_looks[0] or not (row.variance > 0.0 and rival.variance > 0.0):
        return -math.inf
    growth, rival_growth = mean_growth(row, -1.0), mean_growth(rival, 1.0)
    difference = average - rival_average + epsilon
    return difference_evidence(difference, count, row.variance, growth, rival_count, rival.variance, rival_growth, 0.5)


@kernel
def ahead_of_cut(row, rival, problem, epsilon, count, average, rival_count, level):
    """Whether an arm's mean is more than that of a rival, all of whose rewards were cut off, less epsilon.

    The rival is taken at the highest mean that its rewards leave. That, and the row's being below it, are two errors:
    `level` is more than that of one claim by ln 2.
    """
    if min(row.pulls, rival.pulls) < problem.first_looks[0] or not row.variance > 0.0:
        return False
    difference = average - least_of_cut(rival, rival_count, level) + epsilon
    growth = mean_growth(row, -1.0)
    return difference_evidence(difference, count, row.variance, growth, rival_count, 0.0, 0.0, 0.5) >= level


@kernel
def risk_evidence(row, rival, problem, epsilon, count, risk, rival_count, rival_risk):
    """ln of the evidence that an arm's risk is less than the rival's plus epsilon, likewise."""
    if min(row.pulls, rival.pulls) < problem.first_looks[1] or not (row.variance > 0.0 and rival.variance > 0.0):
        return -math.inf
    spread, growth = risk_spreads(row, problem, 1.0)
    rival_spread, rival_growth = risk_spreads(rival, problem, -1.0)
    if min(spread, rival_spread) < 0.0:
        return -math.inf
    difference = rival_risk - risk + epsilon
    return difference_evidence(difference, count, spread, growth, rival_count, rival_spread, rival_growth, 0.0)


@inlined
def risk_since(row, past, problem, since):
    """Count and risk of all rewards, or of those after the designation.

    A pull changes the risk's estimate by the n-th part of something that does not depend on the others, nearly; so the
    later ones have on average led to the difference of n times the estimate, over their number.
    """
    count, risk = float(row.pulls), row.risk
    if since:
        before = past[problem.snapshot + PULLS]
        later = count - before
        return later, (count * risk - before * past[problem.snapshot + RISK]) / later if later > 0.0 else risk
    return count, risk


@kernel
def mean_ahead(row, past, rival, rival_past, epsilon, problem, since, level):
    """Whether an arm's mean is more than the rival's less epsilon; see core/comparisons.py."""
    if not survives_unseen(row, rival, problem, epsilon):
        return False
    if row.mean_low > rival.mean_high - epsilon:
        return True  # by the boxes; and nothing waits for an arm that was set aside, whose box is inside out
    own, others = sums(row, past, problem, since), sums(rival, rival_past, problem, since)
    if min(own[0], others[0]) < 1.0:
        return False
    average, rival_average = row.shift + own[1] / own[0], rival.shift + others[1] / others[0]
    if rival.cut > 0 and not rival.variance > 0.0:
        return ahead_of_cut(row, rival, problem, epsilon, own[0], average, others[0], level + math.log(2.0))
    return mean_evidence(row, rival, problem, epsilon, own[0], average, others[0], rival_average) >= level


@kernel
def risk_ahead(row, past, rival, rival_past, epsilon, problem, since, level):
    """Whether an arm's risk is less than the rival's plus epsilon, likewise."""
    if rival.risk_low > row.risk_high - epsilon:
        return True
    count, risk = risk_since(row, past, problem, since)
    rival_count, rival_risk = risk_since(rival, rival_past, problem, since)
    if min(count, rival_count) < 1.0:
        return False
    return risk_evidence(row, rival, problem, epsilon, count, risk, rival_count, rival_risk) >= level
