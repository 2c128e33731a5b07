"""Numbers and names as users give them: what is usable becomes a float, an int or a text, what is not a clear error."""

from __future__ import annotations

import math
import operator
import unicodedata
from numbers import Real
from typing import Any

from ramgape.errors import require

# No number of a search or a distribution may be larger: squares, cubes and quotients of such numbers are numbers still.
LARGEST = 1e100
SMALLEST = 1e-100  # nor any smaller that others are divided by

MOST = 2**53  # no count is larger: up to here every whole number is a float, too
LONGEST_NAME = 200


def as_float(value: Any) -> float:
    """A real number as a float; NaN for anything else, a bool and a number beyond all floats among them."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.nan


def check_number(value: Any, what: str, allowed: str, test: Any) -> float:
    """A finite float that passes a test, and is not too large."""
    converted = as_float(value)
    require(math.isfinite(converted) and test(converted), what, allowed, value)
    require(abs(converted) <= LARGEST, what, f"at most {LARGEST:g} in size", value)
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


def is_awaitable(value: object) -> bool:
    """Whether a value is only to come: a coroutine, a task, a future of an event loop."""
    return hasattr(type(value), "__await__")


def check_many(values: object, what: str, allowed: str) -> None:
    """Something to go through, from beginning to end; a text is not meant as its letters."""
    usable = not isinstance(values, str | bytes)
    try:
        iter(values)  # type: ignore[call-overload]
    except TypeError:
        usable = False
    require(usable, what, allowed, values)


def check_text(value: object, what: str) -> str:
    """A name of a study, a worker or a pull: what every store keeps as it is, and every terminal shows on one line.

    As plain text: what is a kind of it, such as NumPy's, would not come back from a store as it was.
    """
    usable = isinstance(value, str) and bool(value.strip()) and len(value) <= LONGEST_NAME
    if not usable or not str(value).isprintable():  # which nearly all are, and it takes a moment to look closer
        allowed = f"text of 1 to {LONGEST_NAME} characters without control characters"
        usable = usable and is_text(str(value)) and not any(unicodedata.category(each) == "Cc" for each in str(value))
        require(usable, what, allowed, value)
    return str.__str__(value)


def is_text(value: str) -> bool:
    """Whether a text can be written into a file: it has no halves of characters."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
