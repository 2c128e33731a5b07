"""Kernels of statistics/bets.py and statistics/mixture.py for arrays, by NumPy: for searches in plain Python.

Kernels without branches are taken as they are (`on_arrays`); the others are written here with `np.where` in the place
of branches, and the same names stand for the same numbers. What comes of them may differ from a
kernel's in the last digits, and is only ever compared with a level: see scan.py. All of them are called where
NumPy's warnings are off, since values that `np.where` drops may be infinite or no numbers.
"""

from __future__ import annotations

import math
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramgape.core.kernel import Kernel
from ramgape.statistics import bets, mixture
from ramgape.statistics.bets import BETS, LARGEST, LEAST, WEIGHTS

Floats = NDArray[np.float64]

SHIFT = 8.0  # by which arguments of the gamma function are raised to where Stirling's series has all digits


class ArrayMath:
    """What kernels use of `math`, for arrays."""

    sqrt, log, exp, log1p = np.sqrt, np.log, np.exp, np.log1p


def on_arrays(function: Kernel, **substitutes: Any) -> Kernel:
    """A kernel without branches that depend on an array, for arrays; with other functions for some that it calls."""
    names = {"max": np.maximum, "min": np.minimum, "math": ArrayMath, **substitutes}
    return FunctionType(function.__code__, {**function.__globals__, **names})


power_sums = on_arrays(bets.power_sums)


def log_average(parts: Floats) -> Floats:
    """ln of the average of three numbers, float[3, ...], of which the logarithms are given."""
    largest = parts.max(axis=0)
    found = largest + np.log(np.exp(parts - largest).sum(axis=0) / 3.0)
    return np.where(largest <= LEAST, LEAST, found)


def remainder(reach: Floats) -> Floats:
    """h(u) of statistics/bets.py, for u from 0 to 1, with what the kernel adds to it."""
    tail = 1.0 / 9.0 + reach * (0.1 + reach * (1.0 / 11.0 + reach * (1.0 / 12.0 + reach / (13.0 * (1.0 - reach)))))
    series = 0.25 + reach * (0.2 + reach * (1.0 / 6.0 + reach * (1.0 / 7.0 + reach * (0.125 + reach * tail)))) + 1e-15
    square = reach * reach
    found = (-np.log1p(-reach) - reach - 0.5 * square - square * reach / 3.0) / (square * square) * (1.0 + 1e-12)
    return np.where(reach < 0.5, series, found)


def log_mixtures(sums: Any, rival_sums: Any, shift: float, rival_shift: float, ends: Floats, starts: Floats) -> Floats:
    """ln of the mixtures over the grid, float[3, N]: that one mean is above `ends`, and another below `starts`."""
    one, two = power_sums(sums, shift, ends, 1.0), power_sums(rival_sums, rival_shift, starts, -1.0)
    # float[2 N, 1], so that one arm's N hypotheses stand above the other's; the bets go across, float[B].
    total, squares, cubes, fourths = (np.concatenate(pair)[:, None] for pair in zip(one, two, strict=True))
    reach = np.maximum(np.concatenate((ends, 1.0 - starts)), 0.0)[:, None]
    # Bets that are too large for the least of all reaches are left out for all of them.
    bet = BETS[int(np.searchsorted(-BETS, -LARGEST / max(float(reach.min()), 1e-300))) :]
    step = bet * reach
    growth = bet * (total - bet * (0.5 * squares - bet * (cubes / 3.0 - remainder(step) * bet * fourths))) - bets.SLACK
    growth = np.where(step < LARGEST, growth, LEAST)
    largest = growth.max(axis=1, keepdims=True)
    growth -= largest
    parts = WEIGHTS[:, -len(bet) :] @ np.where(growth > -60.0, np.exp(growth), 0.0).T
    logs = largest[:, 0] + np.where(parts > 0.0, np.log(parts), LEAST)
    return np.asarray(logs[:, : len(ends)] + logs[:, len(ends) :])


def stirling(size: Floats) -> Floats:
    """ln Gamma(size) minus Stirling's formula for it."""
    small = size <= 8.0
    inverse = 1.0 / np.where(small, size + SHIFT, size)
    square = inverse * inverse
    found = inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square * (1.0 / 1260.0 - square / 1680.0)))
    if small.any():
        x = size[small]
        rising = x * (x + 1.0) * (x + 2.0) * (x + 3.0) * (x + 4.0) * (x + 5.0) * (x + 6.0) * (x + 7.0)
        more = x + SHIFT
        found[small] += (more - 0.5) * np.log(more) - SHIFT - (x - 0.5) * np.log(x) - np.log(rising)
    return found


def log_prior_mass(prior: Floats) -> Floats:
    """The logarithm of the prior's mass, or a little more."""
    return np.log(np.minimum(1.0, 0.5 + mixture.THIRD_OF_ROOT / np.sqrt(prior) + 1e-4))


def log_tail(value: Floats) -> Floats:
    """value^2 / 2 + ln Phi(value) for value <= 0, or a little less."""
    near = [math.erfc(-each * mixture.ROOT_HALF) if each > -5.0 else 1.0 for each in value.tolist()]
    far = np.log(-value / (1.0 + value * value)) - mixture.HALF_LOG_TWO_PI
    return np.where(value > -5.0, 0.5 * value * value + np.log(0.5 * np.array(near)), far)


def mixture_for(total: Floats, squares: Floats, count: Floats, reach: Floats, scales: Floats) -> Floats:
    """ln of the evidence of mixtures, float[3, ...] for three scales, for any sums; v is at least s^2 / n."""
    square_reach = np.maximum(reach * reach, 1e-300)
    scale = scales.reshape(-1, *[1] * total.ndim)
    spread, prior = squares + scale, scale / square_reach
    lean = reach * total / spread
    series = total * total / spread * (0.5 - lean * (1.0 / 3.0 - lean * (0.25 - lean * (0.2 - lean / 6.0))))
    drift = np.where(lean < 0.01, series, spread / square_reach * (lean - np.log1p(lean)))
    mass = np.maximum(0.5, 1.0 - np.exp(-drift))
    found = 0.5 * np.log(scale / spread) + stirling(spread / square_reach) + drift + np.log(mass)
    below = ~(total > 0.0)
    if below.any():
        sums, least = total[below], (total * total / count)[below]
        for number in range(len(scales)):
            tail = log_tail(sums / np.sqrt(least + scales[number]))
            found[number][below] = 0.5 * np.log(scales[number] / spread[number][below]) + tail
    return found - stirling(prior) - log_prior_mass(prior) - mixture.SLACK
