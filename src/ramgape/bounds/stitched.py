"""Empirical Bernstein in closed form, by stitching (Howard, Ramdas, McAuliffe and Sekhon 2021): no special functions.

For values in a range of length c, the sum of squared distances from the running mean before each value, v, bounds the
distance of the mean: n |average - mean| < u(v) at all times with probability 1 - 2 e^-L, where
u(v) = sqrt(k1^2 v l + k2^2 c^2 l^2) + k2 c l and l = 1.4 ln ln(2 v / m) + ln(zeta(1.4) / ln^1.4 2) + L, v taken as m at
least. Applied to X and, for the variance, to Y = (X - 1/2)^2: the mean-variance is E Y - (mean - 1/2)^2 - rho mean.
Wider than the mixture by a quarter or so, but a closed formula.
"""

from __future__ import annotations

import math

from ramgape.core.box import mean_variance_ends, narrow_box
from ramgape.core.kernel import inlined

FIRST = (2.0**0.25 + 2.0**-0.25) / math.sqrt(2.0)  # k1 and k2, for epochs that double
SECOND = (math.sqrt(2.0) + 1.0) / 2.0
POWER = 1.4
CONSTANT = math.log(3.1055473 / math.log(2.0) ** POWER)  # zeta(1.4), rounded up
START = 1.0  # m, in units of the squared range
MEAN_SPREAD, SQUARE_SPREAD = -2, -1  # the last columns of the memory: v of X and of Y


@inlined
def boundary(squares, reach, level):
    """u(v): a sum is farther from its mean than this, ever, with probability e^-level at most."""
    start = START * reach * reach
    squares = max(squares, start)
    height = POWER * math.log(math.log(2.0 * squares / start)) + CONSTANT + level
    linear = SECOND * reach * height
    return math.sqrt(FIRST * FIRST * squares * height + linear * linear) + linear


@inlined
def remember(row, past, problem, value):
    """Add the squared distances of a reward, and of its square, from what was expected."""
    mean, square = 0.5, 0.125  # the middles, before anything is known
    if row.pulls > 0:
        mean = row.average
        square = row.variance + (mean - 0.5) * (mean - 0.5)
    miss = value - mean
    square_miss = (value - 0.5) * (value - 0.5) - square
    past[MEAN_SPREAD] += miss * miss
    past[SQUARE_SPREAD] += square_miss * square_miss


@inlined
def moments_box(row, past, search, problem):
    """The box of one arm; boxes are intersected over time."""
    count = row.pulls
    radius = boundary(past[MEAN_SPREAD], 1.0, row.level) / count
    low, high = max(row.average - radius, row.mean_low), min(row.average + radius, row.mean_high)
    square_radius = boundary(past[SQUARE_SPREAD], 0.25, row.level) / count
    square = row.variance + (row.average - 0.5) * (row.average - 0.5)
    risk_low, risk_high = mean_variance_ends(problem, low, high, square - square_radius, square + square_radius)
    narrow_box(row, search, row.average - radius, row.average + radius, risk_low, risk_high)
