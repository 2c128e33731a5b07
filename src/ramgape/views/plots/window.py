"""How much of an axis is shown: what decides, at a size at which it can be read.

An arm far from all others would squeeze these into a corner, and so would the interval of an arm of which little is
known. The axis leaves them out; the arm stands at the border, and its interval goes on beyond that.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from statistics import median_low
from typing import NamedTuple

REACH = 0.75  # intervals may widen the picture by this part of the estimates' range, on either side
MARGIN = 0.06
SQUEEZED = 3.0  # an axis that becomes so many times shorter without a few estimates does without them
WON = 2.0  # and that is worth it if the picture becomes so many times larger
FEW = 4  # of so many estimates one may be left out
WIDE = 5.0  # an interval so many times as wide as a typical one says how little is known, not where to look
# Where typical intervals are so many times as wide as all estimates lie apart, they are the picture; beyond, vacuous.
OVERLAPPING, VACUOUS = 1.0, 40.0
INSIDE = 0.015  # of an axis between its border and what stands there

Interval = tuple[float, float]


class PossibleValues(NamedTuple):
    """The least and the greatest value that there can be."""

    low: float = -math.inf
    high: float = math.inf


ANYTHING = PossibleValues()


def window(
    estimates: Sequence[float], intervals: Sequence[Interval], possible: PossibleValues = ANYTHING
) -> tuple[float, float]:
    """Limits of an axis: all estimates, and of the intervals as much as leaves the estimates readable.

    >>> window([0.0, 1.0], [(-0.5, 0.5), (0.5, 1.5)])  # all of it, and a margin
    (-0.62, 1.62)
    >>> window([0.2, 1.0], [(0.0, 0.5), (0.5, 1.5)], PossibleValues(low=0.0))  # nothing that cannot be
    (0.0, 1.59)
    >>> window([0.0, 1.0], [(-90.0, 90.0), (float("-inf"), float("inf"))])  # clipped
    (-0.9, 1.9)
    """
    if not estimates:
        return 0.0, 1.0
    low, high = min(estimates), max(estimates)
    widths = [end - start for start, end in intervals if end - start > 0.0]
    typical = median_low(widths) if widths else 0.0
    telling = [interval for interval in intervals if interval[1] - interval[0] <= WIDE * typical]
    # One arm, or equal arms: the narrowest interval gives the scale, else the number itself.
    scale = (high - low) or min((width for width in widths if width < math.inf), default=0.0) or abs(low) or 1.0
    overlapping = OVERLAPPING * (high - low) < typical < VACUOUS * (high - low)
    reach = 0.5 * WIDE * typical if overlapping else REACH * scale
    lows = [end if math.isfinite(end) else low - reach for end, _ in telling]
    highs = [end if math.isfinite(end) else high + reach for _, end in telling]
    left, right = max(min([low, *lows]), low - reach), min(max([high, *highs]), high + reach)
    left, right = max(left, min(possible.low, low)), min(right, max(possible.high, high))
    if right - left <= max(1e-9 * max(abs(left), abs(right)), 1e-300):  # nothing to tell apart
        left, right = left - (abs(left) or 1.0), right + (abs(right) or 1.0)
    margin = MARGIN * (right - left)
    # What is not possible is not shown, but for a mark that would else be cut in half.
    left = left - margin if left - margin >= possible.low or low <= possible.low else possible.low
    right = right + margin if right + margin <= possible.high or high >= possible.high else possible.high
    return left, right


def window_without_few(
    estimates: Sequence[float],
    intervals: Sequence[Interval],
    important: Collection[int],
    possible: PossibleValues = ANYTHING,
) -> tuple[float, float]:
    """The same without a few estimates far out, if much is won by that.

    Args:
        important: Places of estimates that are shown in any case.
    """
    whole, far = window(estimates, intervals, possible), far_out(estimates, important)
    near = [place for place in range(len(estimates)) if place not in far]
    part = window([estimates[place] for place in near], [intervals[place] for place in near], possible)
    return part if whole[1] - whole[0] > WON * (part[1] - part[0]) else whole


def far_out(values: Sequence[float], important: Collection[int] = ()) -> set[int]:
    """The places of a few values without which all others could be seen much better.

    Args:
        important: Places of values that are shown in any case.

    >>> far_out([1.0, 1.1, 1.2, 50.0, 51.0, 1.3, 1.2, 0.9]), far_out([1.0, 2.0, 3.0, 7.0])
    ({3, 4}, set())
    """
    order = sorted(range(len(values)), key=lambda place: values[place])
    most, left = max(len(values) // FEW, 1 if len(values) > 2 else 0), set(order)
    while True:
        kept = [place for place in order if place in left]
        span = values[kept[-1]] - values[kept[0]] if kept else 0.0
        room = most - (len(values) - len(kept))
        found: list[int] | None = None
        for count in range(1, room + 1):
            for ends in (kept[:count], kept[-count:]):
                rest = [place for place in kept if place not in ends]
                shorter = SQUEEZED * (values[rest[-1]] - values[rest[0]]) < span
                if found is None and shorter and not set(ends) & set(important):
                    found = ends
        if found is None:
            return set(range(len(values))) - left
        left -= set(found)


def visible_interval(estimate: float, interval: Interval, limits: tuple[float, float]) -> tuple[float, float]:
    """The interval, ending a little outside the picture where it goes on far beyond, or for ever."""
    beyond = limits[1] - limits[0]
    low, high = (estimate if math.isnan(end) else end for end in interval)
    return max(low, limits[0] - beyond), min(high, limits[1] + beyond)


def brought_inside(value: float, limits: tuple[float, float]) -> tuple[float, int]:
    """Where a value is drawn, at the border if it is beyond; and on which side that is: -1, 0 or 1.

    >>> brought_inside(0.5, (0.0, 1.0)), brought_inside(7.0, (0.0, 1.0))
    ((0.5, 0), (0.985, 1))
    """
    low, high = limits
    side = -1 if value < low else 1 if value > high else 0
    inside = INSIDE * (high - low)
    return (value, 0) if side == 0 else (low + inside if side < 0 else high - inside, side)
