"""Scores: mean_weight mean - risk_weight risk, of which more is better, and where the box of an arm leaves them.

The mean itself has the weights (1, 0), less risk (0, 1). A weight of 0 leaves an end that is infinite out of it. An arm
that was set aside, because nothing can be said of it, is taken for what it has shown, a trifle inside out: others are
compared with that, and nothing waits for the arm itself.
"""

from __future__ import annotations

from ramgape.core.box import is_set_aside
from ramgape.core.kernel import inlined

TRIFLE = 1e-12  # of a score
LEAST_TRIFLE = 1e-300  # where that is 0


@inlined
def weighted(mean, risk, mean_weight, risk_weight):
    """The score of a mean and a risk."""
    if risk_weight == 0.0:
        return mean_weight * mean
    return -risk_weight * risk if mean_weight == 0.0 else mean_weight * mean - risk_weight * risk


@inlined
def seen_score(row, mean_weight, risk_weight):
    """By the estimates."""
    return weighted(row.average, row.risk, mean_weight, risk_weight)


@inlined
def lowest_score(row, mean_weight, risk_weight):
    """The least that it may be."""
    if is_set_aside(row):
        seen = seen_score(row, mean_weight, risk_weight)
        return seen + (TRIFLE * abs(seen) + LEAST_TRIFLE)
    return weighted(row.mean_low, row.risk_high, mean_weight, risk_weight)


@inlined
def highest_score(row, mean_weight, risk_weight):
    """The most that it may be."""
    if is_set_aside(row):
        seen = seen_score(row, mean_weight, risk_weight)
        return seen - (TRIFLE * abs(seen) + LEAST_TRIFLE)
    return weighted(row.mean_high, row.risk_low, mean_weight, risk_weight)
