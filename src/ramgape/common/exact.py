"""Numbers without rounding, for what a complete test set says: scores and limits are taken as they were written."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

# Sums of floats and of their squares lose nothing with so many digits: their exponents span no more than 1,300.
LOSSLESS = Context(prec=2_000)


def exactly(value: float) -> Fraction:
    """The number as written that gives this float.

    >>> exactly(0.1), exactly(4.4)
    (Fraction(1, 10), Fraction(22, 5))
    """
    return Fraction(repr(float(value)))


def average(pairs: Sequence[tuple[Decimal, int]]) -> Fraction:
    """Of decimal numbers, each with how often it is there. Sums are taken in the present context."""
    return Fraction(sum((value * count for value, count in pairs), Decimal(0))) / sum(count for _, count in pairs)


def moments(pairs: Sequence[tuple[Decimal, int]]) -> tuple[Fraction, Fraction]:
    """Their mean, and their variance, divided by their number."""
    mean = average(pairs)
    return mean, average([(value * value, count) for value, count in pairs]) - mean * mean


@dataclass(frozen=True, slots=True)
class Exact:
    """A fraction plus a square root: means, variances, standard deviations, and what is weighed from them.

    Attributes:
        part: The fraction.
        square: What is under the root; one below 0 stands for minus the root of its absolute value.

    Examples:
        >>> root = Exact(Fraction(0), Fraction(2))
        >>> root < Exact(Fraction(15, 10)), root < Exact(Fraction(14, 10))
        (True, False)
    """

    part: Fraction
    square: Fraction = Fraction(0)

    def __lt__(self, other: Exact) -> bool:
        """Whether it is less; nothing is rounded.

        Args:
            other: Another number.
        """
        return _sign(other.part - self.part, other.square, -self.square) > 0

    def __float__(self) -> float:
        """The nearest float, or nearly so."""
        return float(self.part) + math.copysign(math.sqrt(abs(self.square)), self.square)

    def times(self, factor: Fraction) -> Exact:
        """The number, multiplied.

        Args:
            factor: By what.
        """
        return Exact(self.part * factor, self.square * factor * abs(factor))


def _sign(part: Fraction, square: Fraction, other: Fraction) -> int:
    """The sign of a fraction plus two roots, whose signs are those of what is under them."""
    roots = _side(square + other) if square * other <= 0 else _side(square)
    if _side(part) * roots >= 0:
        return _side(part) or roots
    # Of opposite signs: the one whose square is greater decides. That of the roots has twice their product, which is a
    # root again.
    rest = part * part - abs(square) - abs(other)
    larger = _side(rest * abs(rest) - 4 * square * other)
    return larger * _side(part)


def _side(number: Fraction) -> int:
    return (number > 0) - (number < 0)


def exact_ranks(numbers: Sequence[Any]) -> NDArray[np.float64]:
    """Whole numbers in the same order, the same ones for equal numbers.

    >>> exact_ranks([Fraction(1, 3), Fraction(1, 10), Fraction(1, 3)]).tolist()
    [1.0, 0.0, 1.0]
    """
    order = sorted(range(len(numbers)), key=numbers.__getitem__)
    found, rank = np.zeros(len(numbers)), 0
    for before, place in pairwise(order):
        rank += bool(numbers[before] < numbers[place])
        found[place] = rank
    return found
