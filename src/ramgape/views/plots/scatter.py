"""Two rules on the same instances: one point per instance, and the line on which both are equal.

A point below the line is an instance on which the rule of the vertical axis needed less.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ramgape.views.plots import style, ticks

Point = tuple[float, float]

WIDE = 20.0  # values further apart than this factor are drawn on logarithmic axes
MARGIN = 0.06
SERIES = (("blue", "o"), ("vermillion", "^"), ("bluish green", "s"), ("reddish purple", "D"), ("orange", "v"))


def common_range(points: Sequence[Point]) -> tuple[tuple[float, float], bool]:
    """Limits that serve both axes alike, and whether these should be logarithmic.

    >>> common_range([(100.0, 200.0)])
    ((94.0, 206.0), False)
    >>> common_range([(10.0, 1000.0)])[1]
    True
    """
    values = [value for point in points for value in point]
    if not values:
        return (0.0, 1.0), False
    low, high = min(values), max(values)
    if low > 0.0 and high > WIDE * low:
        factor = (high / low) ** MARGIN
        return (low / factor, high * factor), True
    # Equal values: some room on both sides, so that the line can be seen.
    margin = MARGIN * (high - low) or 0.1 * abs(high) or 1.0
    return (low - margin, high + margin), False


def draw_scatter(
    axes: Axes,
    series: Mapping[str, Sequence[Point]],
    limits: tuple[float, float],
    logarithmic: bool,
) -> list[Line2D]:
    """Draw every series in its own colour and marker, with the identity line; returns one handle per series."""
    for scale, limit in ((axes.set_xscale, axes.set_xlim), (axes.set_yscale, axes.set_ylim)):
        scale("log" if logarithmic else "linear")
        limit(*limits)
    for axis in (axes.xaxis, axes.yaxis):
        if logarithmic:
            ticks.log_counts(axis, limits)
        else:
            ticks.linear_counts(axis, limits)
    axes.set_aspect("equal")
    axes.plot(limits, limits, color=style.PALETTE["black"], linewidth=1.0, linestyle=(0, (4, 2)), label="identity")
    handles = []
    for index, (label, points) in enumerate(series.items()):
        colour, marker = SERIES[index % len(SERIES)]
        (handle,) = axes.plot(
            [x for x, _ in points],
            [y for _, y in points],
            linestyle="none",
            marker=marker,
            markersize=5.0,
            # A thin white edge and some transparency: points on top of each other can still be counted.
            markerfacecolor=style.PALETTE[colour],
            markeredgecolor="white",
            markeredgewidth=0.5,
            alpha=0.85,
            label=label,
            zorder=3,
        )
        handles.append(handle)
    return handles


def where_they_lie(points: Sequence[Point]) -> str:
    """How many points lie below the line, and how many on it, if any do.

    >>> where_they_lie([(2.0, 1.0), (1.0, 2.0)])
    'below the line: 1 of 2'
    """
    below, equal = sum(y < x for x, y in points), sum(y == x for x, y in points)
    lines = [f"below the line: {below} of {len(points)}", f"on the line: {equal} of {len(points)}"]
    return "\n".join(lines if equal else lines[:1])
