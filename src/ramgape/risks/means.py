"""Risks that are a function of the mean of a transformed reward w in [0, 1]; for Gaussian rewards, of two moments.

Of w an arm remembers running sums, about the first value, so that equal values have no variance.
"""

from __future__ import annotations

import math
from typing import Any

from ramgape.core import comparisons
from ramgape.core.box import narrow_risk
from ramgape.core.kernel import Kernel, fixed, inlined, open_kernel
from ramgape.core.learning import nothing
from ramgape.core.statistics import add
from ramgape.statistics.bets import log_average
from ramgape.statistics.scan import LIKELIEST, proved_on, unlimited

SHIFT, TOTAL, TOTAL_CARRY, SQUARES, SQUARES_CARRY = range(5)
COLUMNS = 5
BISECTIONS = 52  # of an interval of length 1: then nothing is left of it
STEP = 1e-5  # of numerical derivatives, in units of what they are taken over


@open_kernel
def remember(transform, row, past, problem, value):
    """Add a transformed reward."""
    part = transform(problem, value)
    if row.pulls == 0:
        past[SHIFT] = part
    part -= past[SHIFT]
    past[TOTAL], past[TOTAL_CARRY] = add(past[TOTAL], past[TOTAL_CARRY], part)
    past[SQUARES], past[SQUARES_CARRY] = add(past[SQUARES], past[SQUARES_CARRY], part * part)


@inlined
def mean_of(row, past):
    """The average of the transformed rewards; rounding does not carry it past what is possible."""
    return min(max(past[SHIFT] + (past[TOTAL] + past[TOTAL_CARRY]) / row.pulls, 0.0), 1.0)


@inlined
def variance_of(row, past):
    """Their variance."""
    average = (past[TOTAL] + past[TOTAL_CARRY]) / row.pulls
    return max((past[SQUARES] + past[SQUARES_CARRY]) / row.pulls - average * average, 0.0)


@open_kernel
def estimate(untransform, slope, row, past, problem):
    """From the sums; the spread by the delta method."""
    part = mean_of(row, past)
    row.risk = untransform(problem, part)
    steepness = slope(problem, part)
    row.risk_spread = steepness * steepness * variance_of(row, past)


@inlined
def estimate_unclipped(row, past, problem):
    """The average itself, of whatever size."""
    row.risk = problem.alpha * (past[SHIFT] + (past[TOTAL] + past[TOTAL_CARRY]) / row.pulls)
    row.risk_spread = problem.alpha * problem.alpha * variance_of(row, past)


@open_kernel
def narrow(interval, untransform, row, past, search, problem):
    """The interval of the risk, from that of the mean of w; the risk may rise or fall with it."""
    low, high = interval(problem, row.pulls, mean_of(row, past), variance_of(row, past), row.level, 0.0, 1.0)
    first, second = untransform(problem, low), untransform(problem, high)
    narrow_risk(row, search, min(first, second), max(first, second))


@open_kernel
def numerical_slope(untransform, problem, part):
    """The derivative of the risk by the mean of w."""
    low, high = max(part - STEP, 0.0), min(part + STEP, 1.0)
    return (untransform(problem, high) - untransform(problem, low)) / (high - low)


@open_kernel
def estimate_normal(risk, spread, row, past, problem):
    """Plugged in."""
    row.risk = risk(problem, row.average, row.variance)
    row.risk_spread = spread(problem, row.average, row.variance)


@open_kernel
def numerical_spread(risk, problem, mean, variance):
    """By the delta method: of one reward the mean varies by the variance, and the variance by twice its square."""
    step = STEP * math.sqrt(variance) + 1e-300
    by_mean = (risk(problem, mean + step, variance) - risk(problem, mean - step, variance)) / (2.0 * step)
    step = STEP * variance + 1e-300
    by_variance = (risk(problem, mean, variance + step) - risk(problem, mean, variance)) / step
    return by_mean * by_mean * variance + 2.0 * (by_variance * variance) ** 2


def learn_mean(transform: Kernel, untransform: Kernel, slope: Kernel | None) -> tuple[Kernel, Kernel]:
    """What such a risk remembers and estimates."""
    known = slope or fixed(numerical_slope, untransform)
    return fixed(remember, transform), fixed(estimate, untransform, known)


def learn_unclipped(unclipped: Kernel) -> tuple[Kernel, Kernel]:
    """The same of rewards without a range."""
    return fixed(remember, unclipped), estimate_unclipped


def learn_normal(risk: Kernel, spread: Kernel | None) -> tuple[Kernel, Kernel]:
    """The same of a risk of Gaussian rewards."""
    return nothing, fixed(estimate_normal, risk, spread or fixed(numerical_spread, risk))


@open_kernel
def mixtures_at(mixtures_of, untransform, row, past, problem, since, risk, side):
    """ln of the evidence, for three scales, that a risk is above (side 1) or below (-1) a value.

    The mean of w behind the value is found by halving what it can be, and taken where the evidence is less.
    """
    low, high = 0.0, 1.0
    rises = untransform(problem, high) > untransform(problem, low)
    for _ in range(BISECTIONS):
        middle = 0.5 * (low + high)
        if (untransform(problem, middle) < risk) == rises:
            low = middle
        else:
            high = middle
    side = side if rises else -side
    return mixtures_of(sums_of(row, past, problem, since), low if side < 0.0 else high, side)


@open_kernel
def least_on(mixtures_at, cell, row, past, rival, rival_past, problem, epsilon, since, level):
    """ln of the evidence, on a cell of risks, that the row's is below it and the rival's above it less epsilon."""
    start, end = cell
    own = mixtures_at(row, past, problem, since, start, -1.0)
    others = mixtures_at(rival, rival_past, problem, since, end - epsilon, 1.0)
    return log_average(own[0] + others[0], own[1] + others[1], own[2] + others[2])


@inlined
def sums_of(row, past, problem, since):
    """Count, average and variance of the transformed rewards, of all or of those after the designation of an answer."""
    count = float(row.pulls)
    # Of pulls under way, which have shown nothing new, the sums know nothing.
    growth = count / (count - row.under_way)
    total = growth * (past[TOTAL] + past[TOTAL_CARRY])
    squares = growth * (past[SQUARES] + past[SQUARES_CARRY])
    if since:
        base = problem.snapshot
        earlier = base + comparisons.COLUMNS
        count -= past[base + comparisons.PULLS]
        total -= past[earlier + TOTAL] + past[earlier + TOTAL_CARRY]
        squares -= past[earlier + SQUARES] + past[earlier + SQUARES_CARRY]
    average = total / count
    return count, past[SHIFT] + average, max(squares / count - average * average, 0.0)


def ahead_by(kernels: Any, untransform: Kernel) -> Kernel:
    """How a bound compares the risks of two arms."""
    evidence = fixed(least_on, fixed(mixtures_at, kernels.mixtures_of_mean, untransform))
    return fixed(kernels.risk_compared, fixed(proved_on, LIKELIEST, unlimited, evidence, None))


def narrow_by(interval: Kernel, untransform: Kernel) -> Kernel:
    """How a bound narrows the interval of such a risk."""
    return fixed(narrow, interval, untransform)
