"""Confidence intervals for a share, without SciPy."""

from __future__ import annotations

import math
from collections.abc import Callable


def clopper_pearson(successes: int, trials: int, level: float = 0.95) -> tuple[float, float]:
    """The exact interval for a probability that came true `successes` times in `trials`.

    >>> low, high = clopper_pearson(0, 100)
    >>> low, round(high, 4)
    (0.0, 0.0362)
    """
    tail = (1.0 - level) / 2.0
    low = 0.0 if successes == 0 else _solve(lambda p: 1.0 - binomial_cdf(successes - 1, trials, p) - tail)
    high = 1.0 if successes == trials else _solve(lambda p: tail - binomial_cdf(successes, trials, p))
    return low, high


def binomial_cdf(successes: int, trials: int, probability: float) -> float:
    """The chance of at most so many successes."""
    if probability <= 0.0 or successes >= trials:
        return 1.0
    if probability >= 1.0:
        return 0.0
    log_odds = math.log(probability) - math.log1p(-probability)
    term = trials * math.log1p(-probability)
    terms = [term]
    for success in range(1, successes + 1):
        term += math.log((trials - success + 1) / success) + log_odds
        terms.append(term)
    return min(1.0, math.fsum(math.exp(each) for each in terms))


def _solve(increasing: Callable[[float], float]) -> float:
    """The root in [0, 1] of an increasing function, by bisection."""
    low, high = 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2.0
        low, high = (low, middle) if increasing(middle) > 0.0 else (middle, high)
    return (low + high) / 2.0
