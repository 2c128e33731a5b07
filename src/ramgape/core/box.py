"""Writing what a bound has found: the box of one arm."""

from __future__ import annotations

import math

from ramgape.core.kernel import inlined, kernel

NOWHERE = 1e300
GROWTH = 100  # a costly box is renewed when its arm has a hundredth more pulls; the old one stays valid meanwhile


@inlined
def has_grown(row, parts):
    """Whether an arm has so many parts more pulls than when its box was last made; if so, note when the next is due."""
    if row.pulls < row.renewal:
        return False
    row.renewal = row.pulls + 1 + row.pulls // parts
    return True


@inlined
def is_due(row):
    """Whether a box that is costly to make is to be renewed: its arm has a hundredth more pulls than last time."""
    return has_grown(row, GROWTH)


@inlined
def set_box(row, mean_width, risk_width):
    """A box around the estimates, whatever came before."""
    row.mean_low = row.average - mean_width
    row.mean_high = row.average + mean_width
    row.risk_low = row.risk - risk_width
    row.risk_high = row.risk + risk_width


@inlined
def set_aside(row):
    """Turn the box inside out: no arm of which something is known beats such a one, or is beaten by it.

    Its ends are finite, since the difference of two infinite ones is no number; all that is possible lies between them.
    """
    row.mean_low, row.mean_high, row.risk_low, row.risk_high = NOWHERE, -NOWHERE, NOWHERE, -NOWHERE


@inlined
def is_set_aside(row):
    """Whether an arm's box is inside out."""
    return row.mean_low > row.mean_high


@inlined
def forget_ends_of_cut(row):
    """Keep only what holds for an arm with rewards that were cut off: its mean is no higher, its risk no lower.

    The other two ends are about the rewards as they were counted. The true ones may be far worse.
    """
    if row.cut > 0:
        row.mean_low, row.risk_high = -math.inf, math.inf


@inlined
def mean_variance_ends(problem, low, high, square_low, square_high):
    """Ends for alpha (variance - rho mean), where the mean and E (X - 1/2)^2 are each between two.

    -(m - 1/2)^2 - rho m over the interval of the mean is least at one of its ends, and greatest nearest to its top.
    """
    rho, alpha = problem.rho, problem.alpha
    top = min(max(0.5 * (1.0 - rho), low), high)
    greatest = -(top - 0.5) * (top - 0.5) - rho * top
    least = min(-(low - 0.5) * (low - 0.5) - rho * low, -(high - 0.5) * (high - 0.5) - rho * high)
    return alpha * (square_low + least), alpha * (square_high + greatest)


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


@kernel
def narrow_mean_alone(row, search, low, high):
    """The same for the mean alone, by bounds whose estimate is not the average, which may lie beside what is left."""
    low, high = max(low, row.mean_low), min(high, row.mean_high)
    if low > high:
        search.misses += 1
    else:
        row.mean_low, row.mean_high = low, high
