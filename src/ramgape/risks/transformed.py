"""Risks that are a function of the mean of a transformed reward w in [0, 1]: its running sums, and its interval."""

from __future__ import annotations

from ramgape.core.inversion import highest_mean, lowest_mean
from ramgape.core.kernel import inlined, kernel
from ramgape.core.statistics import add


@inlined
def remember(row, value):
    """Add a transformed reward; sums are about the first one, so that equal values have no variance."""
    if row.pulls == 1:
        row.risk_shift = value
    value -= row.risk_shift
    row.risk_total, row.risk_total_carry = add(row.risk_total, row.risk_total_carry, value)
    row.risk_squares, row.risk_squares_carry = add(row.risk_squares, row.risk_squares_carry, value * value)


@inlined
def transformed_mean(row):
    """The average of the transformed rewards; rounding does not carry it past what is possible."""
    return min(max(row.risk_shift + (row.risk_total + row.risk_total_carry) / row.pulls, 0.0), 1.0)


@inlined
def transformed_variance(row):
    """Their variance."""
    average = (row.risk_total + row.risk_total_carry) / row.pulls
    return max((row.risk_squares + row.risk_squares_carry) / row.pulls - average * average, 0.0)


@kernel
def transformed_interval(row, problem):
    """Ends for the expectation of a transformed reward, at the level of one side each."""
    count, average, variance = row.pulls, transformed_mean(row), transformed_variance(row)
    low = lowest_mean(count, average, variance, problem.mean_scales, problem.level, 0.0)
    return low, highest_mean(count, average, variance, problem.mean_scales, problem.level, 1.0)
