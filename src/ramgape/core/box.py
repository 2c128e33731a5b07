"""Writing what a bound has found: the risk estimate and the box of one arm."""

from __future__ import annotations

from ramgape.core.kernel import inlined, kernel

GROWTH = 100  # a costly box is renewed when its arm has a hundredth more pulls; the old one stays valid meanwhile


@inlined
def estimate_mean_variance(row, problem):
    """xi = alpha (variance - rho mean), and the variance of alpha ((X - mean)^2 - rho X), from power sums."""
    alpha, rho, count = problem.alpha, problem.rho, row.pulls
    row.risk = alpha * (row.variance - rho * row.average)
    first, second = row.average - row.shift, (row.squares + row.squares_carry) / count
    slope = 2.0 * first + rho
    value = second - slope * first
    cubes, fourths = row.cubes + row.cubes_carry, row.fourths + row.fourths_carry
    square = (fourths - 2.0 * slope * cubes) / count + slope * slope * second
    row.risk_spread = alpha * alpha * max(square - value * value, 0.0)


@inlined
def is_due(row):
    """Whether a box that is costly to make is to be renewed: its arm has a hundredth more pulls than last time."""
    if row.pulls < row.renewal:
        return False
    row.renewal = row.pulls + 1 + row.pulls // GROWTH
    return True


@inlined
def set_box(row, mean_width, risk_width):
    """A box around the estimates, whatever came before."""
    row.mean_low = row.average - mean_width
    row.mean_high = row.average + mean_width
    row.risk_low = row.risk - risk_width
    row.risk_high = row.risk + risk_width


@kernel
def narrow_box(row, search, mean_low, mean_high, risk_low, risk_high):
    """The part of an arm's box that a new one leaves.

    If nothing is left, the truth was missed once: keep the old box and count the miss. It is counted, too, if what is
    left lies beside the average: that is hardly likelier, and the sign of rewards whose distribution has changed.
    """
    mean_low, mean_high = max(mean_low, row.mean_low), min(mean_high, row.mean_high)
    risk_low, risk_high = max(risk_low, row.risk_low), min(risk_high, row.risk_high)
    if mean_low > mean_high or risk_low > risk_high:
        search.misses += 1
    else:
        row.mean_low, row.mean_high = mean_low, mean_high
        row.risk_low, row.risk_high = risk_low, risk_high
        search.misses += not mean_low <= row.average <= mean_high


@kernel
def narrow_risk(row, search, low, high):
    """The same for the risk alone, where the mean's interval has been narrowed before."""
    low, high = max(low, row.risk_low), min(high, row.risk_high)
    if low > high:
        search.misses += 1
    else:
        row.risk_low, row.risk_high = low, high
