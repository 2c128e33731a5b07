"""How the spread of a variance grows with it: from fifth and sixth powers, which are remembered for that.

An estimate that is an average of some w has the spread of w; if w is skewed, the spread is larger where the average is,
by third central moment over variance for each unit. For the mean-variance w is (X - mean)^2 - rho X.
"""

from __future__ import annotations

import math

from ramgape.core.kernel import inlined
from ramgape.core.statistics import FEWEST_PULLS, third_moment
from ramgape.core.statistics import fourth_moment as fourth_moment
from ramgape.risks import moments, root
from ramgape.risks.root import ROUNDING

FIFTHS, SIXTHS = 0, 1  # columns of the memory: sums of (X - first reward)^5 and ^6
COLUMNS = 2


@inlined
def remember(row, past, problem, value):
    """Add a reward; the first is what the others are measured from."""
    if row.pulls > 0:
        step = value - row.shift
        square = step * step
        past[FIFTHS] += square * square * step
        past[SIXTHS] += square * square * square


@inlined
def skew(row, past, rho):
    """Third central moment of w over its variance; 0 where that is 0."""
    count, mean, variance = row.pulls, row.average - row.shift, row.variance
    cubes, fourths = (row.cubes + row.cubes_carry) / count, (row.fourths + row.fourths_carry) / count
    squares, fifths, sixths = (row.squares + row.squares_carry) / count, past[FIFTHS] / count, past[SIXTHS] / count
    square = mean * mean
    third, fourth = third_moment(row), fourth_moment(row)
    fifth = fifths - mean * (5.0 * fourths - mean * (10.0 * cubes - mean * (10.0 * squares - 4.0 * square)))
    sixth = sixths - mean * (
        6.0 * fifths - mean * (15.0 * fourths - mean * (20.0 * cubes - mean * (15.0 * squares - 5.0 * square)))
    )
    second_power = fourth - rho * (2.0 * third - rho * variance)
    third_power = sixth - rho * (3.0 * fifth - rho * (3.0 * fourth - rho * third))
    spread = second_power - variance * variance
    if not spread > ROUNDING * variance * variance:
        return 0.0
    return (third_power - variance * (3.0 * second_power - 2.0 * variance * variance)) / spread


@inlined
def estimate_moments(row, past, problem):
    """The mean-variance, its spread, and how that grows."""
    moments.estimate(row, past, problem)
    if row.pulls >= FEWEST_PULLS:
        row.risk_skew = problem.alpha * skew(row, past, problem.rho)


@inlined
def estimate_root(row, past, problem):
    """The same of the standard deviation: with V the spread of a variance v, its own is V / (4 v)."""
    root.estimate(row, past, problem)
    if row.pulls >= FEWEST_PULLS:
        row.risk_skew = 0.0
        if row.variance > 0.0:
            rest = 4.0 * row.risk_spread / (problem.alpha * problem.alpha)
            row.risk_skew = 0.5 * problem.alpha * (skew(row, past, 0.0) - rest) / math.sqrt(row.variance)
