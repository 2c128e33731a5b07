"""Confidence intervals for a share and for a ratio, without SciPy."""

from __future__ import annotations

import math

from ramgape.statistics.special import incomplete_beta, inverse_incomplete_beta

NORMAL = 1.959964  # of a standard normal variable, 95 % lie within so much of 0


def clopper_pearson(successes: int, trials: int, level: float = 0.95) -> tuple[float, float]:
    """The exact interval for a probability that came true `successes` times in `trials`.

    Both ends are quantiles of Beta distributions, because the chance of at least so many successes is an
    incomplete beta function (DLMF 8.17.5).

    >>> low, high = clopper_pearson(0, 100)
    >>> low, round(high, 4)
    (0.0, 0.0362)
    """
    tail = (1.0 - level) / 2.0
    failures = trials - successes
    low = 0.0 if successes == 0 else inverse_incomplete_beta(successes, failures + 1, tail)[0]
    high = 1.0 if failures == 0 else inverse_incomplete_beta(failures, successes + 1, tail)[1]
    return low, high


def binomial_cdf(successes: int, trials: int, probability: float) -> float:
    """The chance of at most so many successes: DLMF 8.17.5."""
    if probability <= 0.0 or successes >= trials:
        return 1.0
    return incomplete_beta(trials - successes, successes + 1, 1.0 - probability, probability)[0]


def ratio_interval(ratio: float, *relative_errors: float) -> tuple[float, float]:
    """An approximate 95 % interval of a ratio of independent means: its logarithm is taken as normal."""
    factor = math.exp(NORMAL * math.hypot(*relative_errors))
    return ratio / factor, ratio * factor
