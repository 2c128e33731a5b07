"""Numbers as users give them: what is usable becomes a float or an int, what is not a clear error."""

from __future__ import annotations

import math
import operator
from numbers import Real
from typing import Any

from ramgape.errors import require

# No number of a search or a distribution may be larger: squares, cubes and quotients of such numbers are numbers still.
LARGEST = 1e100

MOST = 2**53  # no count is larger: up to here every whole number is a float, too


def as_float(value: Any) -> float:
    """A real number as a float; NaN for anything else, a bool and a number beyond all floats among them."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan


def number(value: Any, what: str, allowed: str, test: Any) -> float:
    """A finite float that passes a test."""
    converted = as_float(value)
    require(math.isfinite(converted) and test(converted), what, allowed, value)
    return converted


def check_seed(seed: Any) -> int:
    """A seed that a generator accepts."""
    return whole(seed, "seed", "a whole number of at least 0", 0)


def whole(value: Any, what: str, allowed: str, least: int) -> int:
    """An int that is not too small; 1e6 written as a float is meant as one."""
    try:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        usable = not isinstance(value, bool) and operator.index(value) >= least
    except TypeError:
        usable = False
    require(usable, what, allowed, value)
    require(operator.index(value) <= MOST, what, f"at most {MOST}", value)
    return operator.index(value)
