"""The kernels of the mean-variance. A bound that has no box of its own for it gives intervals of means."""

from __future__ import annotations

from ramgape.core.box import mean_variance_ends, narrow_risk
from ramgape.core.kernel import fixed as fixed
from ramgape.core.kernel import inlined, open_kernel
from ramgape.core.learning import nothing as nothing
from ramgape.core.statistics import FEWEST_PULLS, all_sums, squared_distance


@inlined
def estimate(row, past, problem):
    """xi = alpha (variance - rho mean), and the variance of alpha ((X - mean)^2 - rho X), from power sums."""
    alpha, rho, count = problem.alpha, problem.rho, row.pulls
    if count < FEWEST_PULLS:
        return
    row.risk = alpha * (row.variance - rho * row.average)
    first, second = row.average - row.shift, (row.squares + row.squares_carry) / count
    slope = 2.0 * first + rho
    value = second - slope * first
    cubes, fourths = row.cubes + row.cubes_carry, row.fourths + row.fourths_carry
    square = (fourths - 2.0 * slope * cubes) / count + slope * slope * second
    row.risk_spread = alpha * alpha * max(square - value * value, 0.0)


@open_kernel
def narrow(interval, row, past, search, problem):
    """From the interval of the mean and that of E (2 X - 1)^2."""
    square = min(max(4.0 * (row.variance + (row.average - 0.5) * (row.average - 0.5)), 0.0), 1.0)
    around = squared_distance(all_sums(row), row.shift, 0.5, 0.0, 0.25 * square)
    spread = min(max(16.0 * around / row.pulls, 0.0), 0.25) + 1e-15
    low, high = interval(problem, row.pulls, square, spread, row.level, 0.0, 1.0)
    ends = mean_variance_ends(problem, row.mean_low, row.mean_high, 0.25 * low, 0.25 * high)
    narrow_risk(row, search, ends[0], ends[1])


@inlined
def normal_risk(problem, mean, variance):
    """Of a normal distribution. A mean of which nothing is known yet is no matter where it does not count."""
    return problem.alpha * (variance - (problem.rho * mean if problem.rho > 0.0 else 0.0))


@inlined
def variance_at(problem, risk):
    """The mean-variance behind a scaled one."""
    return risk / problem.alpha
