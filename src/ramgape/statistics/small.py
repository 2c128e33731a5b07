"""Two small parts of several statistics: the exponential function, and values that are kept in order of size."""

from __future__ import annotations

import math

from ramgape.core.kernel import inlined

LARGEST = 709.78  # of which the exponential function is a float


@inlined
def exp(number):
    """e to this power; infinite, as compiled code has it, where plain Python would raise an OverflowError."""
    return math.inf if number > LARGEST else math.exp(number)


@inlined
def expm1(number):
    """e to this power, less 1."""
    return math.inf if number > LARGEST else math.expm1(number)


@inlined
def insert(values, first, count, value):
    """Put a value among so many, which stand in order from `first` on; behind them there is room for one."""
    place = first + count
    for _ in range(count):
        if values[place - 1] <= value:
            break
        values[place] = values[place - 1]
        place -= 1
    values[place] = value
