"""The kernels of the standard deviation: everything is the root of what is known of the variance."""

from __future__ import annotations

import math

from ramgape.core.kernel import fixed as fixed
from ramgape.core.kernel import inlined, open_kernel
from ramgape.core.learning import nothing as nothing
from ramgape.core.statistics import FEWEST_PULLS, fourth_moment

ROUNDING = 1e-12  # a spread below this part of the squared variance is what rounding leaves of none


@inlined
def estimate(row, past, problem):
    """The plug-in deviation, and its spread by the delta method: that of (X - mean)^2 over four times the variance.

    Two different rewards, or as many of each, have no such spread; what rounding leaves of it depends on their unit.
    """
    if row.pulls < FEWEST_PULLS:
        return
    row.risk = problem.alpha * math.sqrt(row.variance)
    row.risk_spread = 0.0
    if row.variance > 0.0:
        excess = fourth_moment(row) / row.variance - row.variance
        if excess > ROUNDING * row.variance:
            row.risk_spread = 0.25 * problem.alpha * problem.alpha * excess


@open_kernel
def narrow(narrow_variance, row, past, search, problem):
    """Let the variance's interval be narrowed, with its values in the place of the deviation's."""
    alpha, deviation = problem.alpha, row.risk
    row.risk = alpha * row.variance
    row.risk_low, row.risk_high = row.risk_low * row.risk_low / alpha, row.risk_high * row.risk_high / alpha
    narrow_variance(row, past, search, problem)
    row.risk = deviation
    row.risk_low = alpha * math.sqrt(max(row.risk_low, 0.0) / alpha)
    row.risk_high = alpha * math.sqrt(max(row.risk_high, 0.0) / alpha)


@inlined
def normal_risk(problem, mean, variance):
    """Of a normal distribution, as of any."""
    return problem.alpha * math.sqrt(variance)


@inlined
def normal_spread(problem, mean, variance):
    """The spread of the above by the delta method."""
    return 0.5 * problem.alpha * problem.alpha * variance


@inlined
def variance_at(problem, risk):
    """The variance behind a deviation."""
    deviation = max(risk, 0.0) / problem.alpha
    return deviation * deviation
