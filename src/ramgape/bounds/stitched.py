"""Empirical Bernstein in closed form, by stitching (Howard, Ramdas, McAuliffe and Sekhon 2021): no special functions.

For values in a range of length c, the sum of squared distances from the running mean before each value, v, bounds the
distance of the mean: n |average - mean| < u(v) at all times with probability 1 - 2 e^-L, where
u(v) = sqrt(k1^2 v l + k2^2 c^2 l^2) + k2 c l and l = 1.4 ln ln(2 v / m) + ln(zeta(1.4) / ln^1.4 2) + L, v taken as m at
least. Applied to X and, for the variance, to Y = (X - 1/2)^2: the mean-variance is E Y - (mean - 1/2)^2 - rho mean.
Wider than the mixture by a quarter or so; for whoever wants a formula. L = ln(4 K / delta).
"""

from __future__ import annotations

import math
from typing import Any

from ramgape.core.box import estimate_mean_variance, narrow_box
from ramgape.core.kernel import inlined, kernel
from ramgape.core.statistics import FEWEST_PULLS, observe

FIRST = (2.0**0.25 + 2.0**-0.25) / math.sqrt(2.0)  # k1 and k2, for epochs that double
SECOND = (math.sqrt(2.0) + 1.0) / 2.0
POWER = 1.4
CONSTANT = math.log(3.1055473 / math.log(2.0) ** POWER)  # zeta(1.4), rounded up
START = 1.0  # m, in units of the squared range


def constants(record: Any, arm_count: int, delta: float) -> None:
    """The level of one side."""
    record["level"] = math.log(4.0 * arm_count / delta)


@inlined
def boundary(squares, reach, level):
    """u(v): a sum is farther from its mean than this, ever, with probability e^-level at most."""
    start = START * reach * reach
    squares = max(squares, start)
    height = POWER * math.log(math.log(2.0 * squares / start)) + CONSTANT + level
    linear = SECOND * reach * height
    return math.sqrt(FIRST * FIRST * squares * height + linear * linear) + linear


@inlined
def estimate(row, search, problem):
    """Risk and box of one arm from its statistics; boxes are intersected over time."""
    estimate_mean_variance(row, problem)
    rho, alpha, count = problem.rho, problem.alpha, row.pulls
    radius = boundary(row.mean_spread, 1.0, problem.level) / count
    low, high = max(row.average - radius, row.mean_low), min(row.average + radius, row.mean_high)
    square_radius = boundary(row.square_spread, 0.25, problem.level) / count
    average_square = row.variance + (row.average - 0.5) * (row.average - 0.5)
    # -(m - 1/2)^2 - rho m over the interval of the mean: least at one of its ends, greatest nearest to its top.
    top = min(max(0.5 * (1.0 - rho), low), high)
    greatest = -(top - 0.5) * (top - 0.5) - rho * top
    least = min(-(low - 0.5) * (low - 0.5) - rho * low, -(high - 0.5) * (high - 0.5) - rho * high)
    risk_low = alpha * (average_square - square_radius + least)
    risk_high = alpha * (average_square + square_radius + greatest)
    narrow_box(row, search, row.average - radius, row.average + radius, risk_low, risk_high)


@kernel
def learn(arms, search, problem, arm, reward):
    """Add a reward to an arm, with its distance from what was expected, then renew its risk and box."""
    before = arms[arm]
    value = (reward - problem.origin) / problem.span
    mean, square = 0.5, 0.125  # the middles, before anything is known
    if before.pulls > 0:
        mean = before.average
        square = before.variance + (mean - 0.5) * (mean - 0.5)
    miss = value - mean
    square_miss = (value - 0.5) * (value - 0.5) - square
    before.mean_spread += miss * miss
    before.square_spread += square_miss * square_miss
    row = observe(arms, search, problem, arm, reward)
    if row.pulls >= FEWEST_PULLS:
        estimate(row, search, problem)
