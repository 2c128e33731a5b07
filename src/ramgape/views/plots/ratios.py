"""One method against another, instance by instance: the ratio of what they need or lose, on either side of 1."""

from __future__ import annotations

import math
from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ramgape.views.plots import style

Ratio = tuple[float, float, float] | None  # the ratio and its interval; None where it is not known

# By whether the interval lies below 1, above it, or contains it: colour, shape and filling say the same.
FEWER, MORE, OPEN = (
    (style.PALETTE["blue"], "o", True),
    (style.PALETTE["vermillion"], "^", True),
    (style.GREY, "s", False),
)


def kind_of(ratio: tuple[float, float, float]) -> tuple[str, str, bool]:
    """How a ratio is drawn."""
    _, low, high = ratio
    return FEWER if high < 1.0 else MORE if low > 1.0 else OPEN


def draw_ratios(axes: Axes, ratios: Sequence[Ratio], aims: Sequence[float] = ()) -> None:
    """A row for each instance, from top to bottom, with the interval as a bar; and the line on which both are equal.

    Args:
        aims: Further ratios at which there is a line.
    """
    for aim in aims:
        axes.axvline(aim, color=style.GREY, linewidth=1.0, linestyle=(0, (1.2, 1.6)), zorder=2)
    axes.axvline(1.0, color=style.PALETTE["black"], linewidth=1.0, linestyle=(0, (4, 2)), zorder=2)
    for height, ratio in enumerate(ratios):
        if ratio is None:
            continue
        colour, marker, filled = kind_of(ratio)
        axes.plot(ratio[1:], [height, height], color=colour, linewidth=1.6, solid_capstyle="butt", zorder=3)
        axes.plot(
            [ratio[0]],
            [height],
            linestyle="none",
            marker=marker,
            markersize=5.4,
            markerfacecolor=colour if filled else "white",
            markeredgecolor=colour,
            zorder=4,
        )
    axes.set_ylim(len(ratios) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    for height in range(1, len(ratios), 2):
        axes.axhspan(height - 0.5, height + 0.5, color=style.STRIPE, linewidth=0.0, zorder=0)


def ratio_limits(ratios: Sequence[Ratio], farthest: float = math.inf) -> tuple[float, float]:
    """Limits in which every interval and the 1 can be seen, but no farther from 1 than so many times."""
    ends = [end for ratio in ratios if ratio is not None for end in ratio[1:]]
    low, high = min([0.8, *ends]) / 1.06, max([1.25, *ends]) * 1.06
    return max(low, 1.0 / farthest), min(high, farthest)


def clipped(ratio: tuple[float, float, float], limits: tuple[float, float]) -> tuple[float, float, float]:
    """A ratio that is beyond the axis, moved to its edge.

    >>> clipped((0.5, 0.01, 0.7), (0.1, 10.0))
    (0.5, 0.1, 0.7)
    """
    value, low, high = (min(max(end, limits[0]), limits[1]) for end in ratio)
    return value, low, high


def ratio_handles(fewer: str = "fewer samples", more: str = "more samples") -> list[Line2D]:
    """The legend of the three kinds; what is left of the line and right of it, in words."""
    return [
        Line2D(
            [],
            [],
            color=colour,
            marker=marker,
            markersize=5.4,
            linewidth=1.6,
            markerfacecolor=colour if filled else "white",
            markeredgecolor=colour,
            label=label,
        )
        for (colour, marker, filled), label in ((FEWER, fewer), (MORE, more), (OPEN, "not clear"))
    ]
