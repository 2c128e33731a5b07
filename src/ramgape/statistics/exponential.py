"""The exponential function as compiled code has it: infinite where plain Python would raise an OverflowError."""

from __future__ import annotations

import math

from ramgape.core.kernel import inlined

LARGEST = 709.78  # of which the exponential function is a float


@inlined
def exp(number):
    """e to this power."""
    return math.inf if number > LARGEST else math.exp(number)


@inlined
def expm1(number):
    """e to this power, less 1."""
    return math.inf if number > LARGEST else math.expm1(number)
