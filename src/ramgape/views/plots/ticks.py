"""Numbers on axes: counts of pulls that stay short, and shares in percent."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axis import Axis
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
    PercentFormatter,
)

UNITS = ((1e9, "G"), (1e6, "M"), (1e3, "k"))


def short_count(value: float, unit: float | None = None) -> str:
    """A count with k for thousands, M for millions; `unit` writes all numbers of an axis in the same one.

    >>> short_count(250), short_count(20_000), short_count(1_500_000), short_count(500_000, unit=1e6)
    ('250', '20k', '1.5M', '0.5M')
    """
    size = abs(value) if unit is None else unit
    for step, letter in UNITS:
        if value != 0.0 and size >= step:
            return f"{value / step:.6g}{letter}"
    return f"{value:.6g}"


def linear_counts(axis: Axis, limits: tuple[float, float], most: int = 4) -> None:
    """A few round counts on a linear axis; up to 10,000 in full, which is easier to read, else in one unit."""
    few(axis, most)
    if limits[1] <= 10_000.0:
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    else:
        axis.set_major_formatter(FuncFormatter(lambda value, _: short_count(value, limits[1])))


def log_counts(axis: Axis, limits: tuple[float, float]) -> None:
    """Counts on a logarithmic axis: powers of ten, and between them too where there are few."""
    decades = math.log10(limits[1] / limits[0])
    steps = (1.0,) if decades >= 3.0 else (1.0, 3.0) if decades >= 1.5 else (1.0, 2.0, 5.0)
    axis.set_major_locator(LogLocator(10.0, subs=steps))
    axis.set_major_formatter(FuncFormatter(lambda value, _: short_count(value)))
    axis.set_minor_formatter(NullFormatter())


def these_counts(axis: Axis, counts: Sequence[float]) -> None:
    """The very counts at which something was measured."""
    axis.set_major_locator(FixedLocator(list(counts)))
    axis.set_minor_locator(NullLocator())
    axis.set_major_formatter(FuncFormatter(lambda value, _: short_count(value)))


def log_thousands(axis: Axis) -> None:
    """Counts on a logarithmic axis that is short: every third power of ten."""
    axis.set_major_locator(LogLocator(1000.0, numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda value, _: short_count(value)))
    axis.set_minor_formatter(NullFormatter())


def log_ratios(axis: Axis, limits: tuple[float, float]) -> None:
    """Ratios around 1 on a logarithmic axis: halves and doubles, between them where it is short, fewer where long."""
    doublings = math.log2(limits[1] / limits[0])
    step = math.ceil(doublings / 4.5)
    powers = range(-2 if step == 1 else -9, 10)  # 0.125 would touch 0.25
    ratios = [0.5, 0.7, 1.0, 1.4, 2.0] if doublings < 1.8 else [2.0 ** (step * power) for power in powers]
    axis.set_major_locator(FixedLocator(ratios))
    axis.set_minor_locator(NullLocator())
    plain_numbers(axis)


def log_numbers(axis: Axis) -> None:
    """Powers of ten as plain numbers, in which 0.1 and 100 need no exponent."""
    axis.set_major_locator(LogLocator(10.0, numticks=12))
    plain_numbers(axis)


def plain_numbers(axis: Axis) -> None:
    """Every major tick as a plain number, no other with any."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_formatter(NullFormatter())


def log_percents(axis: Axis) -> None:
    """Powers of ten in percent."""
    axis.set_major_locator(LogLocator(10.0, numticks=12))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{100.0 * value:g}%"))
    axis.set_minor_formatter(NullFormatter())


def few(axis: Axis, most: int = 5) -> None:
    """At most so many intervals between ticks, at round numbers."""
    axis.set_major_locator(MaxNLocator(nbins=most, steps=[1, 2, 2.5, 5, 10]))


def percents(axis: Axis, top: float = 1.0) -> None:
    """Shares written in percent, with a decimal where `top`, the largest share shown, is small."""
    few(axis)
    axis.set_major_formatter(PercentFormatter(1.0, decimals=0 if top >= 0.1 else 1))
