"""Confidence intervals for a share, without SciPy."""

from __future__ import annotations

from ramgape.common.special import incomplete_beta, inverse_incomplete_beta


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
