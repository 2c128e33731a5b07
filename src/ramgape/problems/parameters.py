"""The parameters of distributions, checked: what is usable becomes a float, what is not a clear error."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramgape.common.checks import LARGEST, as_float
from ramgape.errors import InvalidInstance, InvalidSpec, RamgapeError, require

Floats = NDArray[np.float64]


def parameter(
    what: str,
    value: Any,
    lowest: float = -LARGEST,
    highest: float = LARGEST,
    error: type[RamgapeError] = InvalidInstance,
) -> float:
    """The value as a float, provided that it is a number (a bool is none) from lowest to highest."""
    converted = as_float(value)
    sound = lowest <= converted <= highest  # false for NaN
    require(sound, what, f"a number from {lowest:g} to {highest:g}", value, error=error)
    return converted


def ordered_ends(low: Any, high: Any) -> tuple[float, float]:
    """Both ends as floats, provided that they are in order."""
    low, high = parameter("low", low), parameter("high", high)
    require(low < high, "low", f"less than high, which is {high:g}", low, error=InvalidInstance)
    return low, high


def mirrored_interval(low: float, high: float) -> tuple[float, float]:
    """From -high to -low, with 0 rather than -0."""
    return 0.0 - high, 0.0 - low


def at_share(share: float, low: float, high: float) -> float:
    """The point that lies `share` of the way from low to high; rounding does not carry it past high."""
    return min(low + (high - low) * share, high)


def checked_target(target: Any) -> float:
    return parameter("target", target, error=InvalidSpec)


def checked_value(value: Any) -> float:
    return parameter("value", value, error=InvalidSpec)


def checked_gamma(gamma: Any) -> float:
    converted = as_float(gamma)
    require(0.0 < converted <= LARGEST, "gamma", f"a number above 0, at most {LARGEST:g}", gamma)
    return converted


def checked_level(level: Any) -> float:
    converted = as_float(level)
    require(0.0 < converted <= 1.0, "level", "a number above 0, at most 1", level)
    return converted


def checked_shares(shares: Any) -> Floats:
    """Shares as an array; a list, or a single number in one, is as good."""
    try:
        given = np.asarray(shares, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        given = np.array([math.nan])
    sound = given.ndim == 1 and bool(((given >= 0.0) & (given <= 1.0)).all())
    require(sound, "shares", "an array of numbers from 0 to 1", shares)
    return given
