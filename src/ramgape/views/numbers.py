"""Numbers that never claim more than was proved: intervals are rounded outwards, tolerances upwards."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal


def exponent(value: float) -> int:
    """The power of ten of a number's first digit."""
    return math.floor(math.log10(abs(value)))


@dataclass(frozen=True, slots=True)
class Digits:
    """How the numbers of one column are written: all to the same place, so that they can be compared."""

    places: int
    scientific: bool

    @staticmethod
    def of(estimates: Iterable[float], intervals: Iterable[tuple[float, float]]) -> Digits:
        """Two digits of a typical interval's width are worth showing, but at most seven of a number."""
        size = max((abs(value) for value in estimates if math.isfinite(value)), default=1.0) or 1.0
        widths = sorted(high - low for low, high in intervals if 0.0 < high - low < math.inf)
        significant = 3
        if widths:
            typical = widths[(len(widths) - 1) // 2]
            significant = min(max(exponent(size) - exponent(typical) + 1, 1), 6)
        if not 1e-4 <= size < 1e7:
            return Digits(significant, scientific=True)
        return Digits(max(significant - exponent(size), 0), scientific=False)

    def text(self, value: float, rounding: str = ROUND_HALF_EVEN) -> str:
        """One number; a dash where there is none.

        >>> Digits(3, scientific=False).text(-0.00001), Digits(2, scientific=True).text(1234567.8)
        ('0.000', '1.23e+6')
        """
        if math.isnan(value):
            return "-"
        if math.isinf(value):
            return "inf" if value > 0 else "-inf"
        if value == 0.0:
            return f"{0:.{0 if self.scientific else self.places}f}"
        scientific = self.scientific or abs(value) >= 1e7
        last = exponent(value) - self.places if scientific else -self.places
        # Twelve digits first: 0.1 + 0.2 must not be rounded up to 0.301.
        rounded = Decimal(f"{value:.12g}").quantize(Decimal(1).scaleb(last), rounding)
        written = f"{rounded:.{self.places}{'e' if scientific else 'f'}}"
        return written.lstrip("-") if rounded == 0 else written

    def interval(self, low: float, high: float) -> tuple[str, str]:
        """Both ends, rounded outwards."""
        return self.text(low, ROUND_FLOOR), self.text(high, ROUND_CEILING)


def plus_minus(ascii_only: bool) -> str:
    """What stands before a standard error."""
    return "+/-" if ascii_only else "±"


def round_up(value: float, significant: int = 3) -> str:
    """A tolerance in few digits that is never smaller than the one proved.

    >>> round_up(0.0123401), round_up(0.05), round_up(0.0), round_up(float("inf"))
    ('0.0124', '0.05', '0', 'inf')
    """
    if value == 0.0 or not math.isfinite(value):
        return f"{value:g}"
    last = Decimal(1).scaleb(exponent(value) - significant + 1)
    return f"{float(Decimal(f'{value:.12g}').quantize(last, ROUND_CEILING)):.{significant + 1}g}"


def share(pulls: int, samples: int) -> str:
    """A part of all pulls in per cent.

    >>> share(1, 8), share(1, 1_000_000), share(0, 10), share(0, 0)
    ('12.5%', '<0.1%', '0.0%', '-')
    """
    if samples == 0:
        return "-"
    return "<0.1%" if 0 < pulls < 0.0005 * samples else f"{100.0 * pulls / samples:.1f}%"
