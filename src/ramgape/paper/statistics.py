"""The little statistics that the findings need, with NumPy alone."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ramgape.statistics.proportions import binomial_cdf

RESAMPLES = 10_000


def middle_half_mean(values: ArrayLike) -> NDArray[np.float64]:
    """Along the first axis: leave out the smallest and the largest quarter (rounded down), average the rest.

    >>> middle_half_mean([0.0, 1.0, 3.0, 100.0]).item()
    2.0
    """
    ordered = np.sort(np.asarray(values, dtype=np.float64), axis=0)
    quarter = len(ordered) // 4
    return np.asarray(ordered[quarter : len(ordered) - quarter].mean(axis=0))


def mean_interval(values: Sequence[float] | NDArray[np.float64], level: float = 0.95) -> tuple[float, float]:
    """A bootstrap interval for a mean (percentiles of 10,000 resamples, always the same ones).

    It is approximate, and says nothing where all values are equal.
    """
    return _resampled_mean(tuple(float(value) for value in values), level)


@functools.lru_cache(maxsize=1024)
def _resampled_mean(values: tuple[float, ...], level: float) -> tuple[float, float]:
    generator = np.random.default_rng(0)
    means = generator.choice(np.array(values), (RESAMPLES, len(values))).mean(axis=1)
    low, high = np.quantile(means, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return float(low), float(high)


def sign_test(differences: Sequence[float]) -> float:
    """Chance of so uneven a split of signs, or a more uneven one, if both were equally likely; zeros are left out.

    >>> round(sign_test([1, 1, 1, 1, 1, 1, -1, 0]), 3)
    0.125
    """
    above, below = sum(value > 0.0 for value in differences), sum(value < 0.0 for value in differences)
    return min(1.0, 2.0 * binomial_cdf(min(above, below), above + below, 0.5))


def sign_flip_test(differences: Sequence[float]) -> float:
    """Chance of so large a mean, or a larger one, if every difference could as well have the other sign.

    Over 10,000 random flips, always the same ones; so the smallest value it can give is about 0.0001.
    """
    values = np.asarray(differences, dtype=np.float64)
    generator = np.random.default_rng(0)
    flipped = np.abs((generator.choice([-1.0, 1.0], (RESAMPLES, len(values))) * values).mean(axis=1))
    observed = abs(float(values.mean()))
    # A hair less than observed: the unflipped mean itself may come out rounded the other way.
    return float(1 + (flipped >= observed * (1.0 - 1e-12)).sum()) / (RESAMPLES + 1)


def standard_error(values: Sequence[float]) -> float | None:
    """Of a mean; None for a single value."""
    return float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else None


def geometric_mean(ratios: Sequence[float]) -> float:
    """The average of ratios that treats 2 and 1/2 alike."""
    return math.exp(math.fsum(math.log(ratio) for ratio in ratios) / len(ratios))
