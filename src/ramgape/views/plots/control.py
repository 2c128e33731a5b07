"""How arms compare with a control: a row for each, the difference with its interval, the best on top.

Colour, shape and filling say what became of an arm. The line at 0 is the control; the line that decides is a margin
away from it, and where the tolerance reaches is grey.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from ramgape.common.formatting import round_up
from ramgape.views.plots import style
from ramgape.views.plots.ticks import few
from ramgape.views.plots.window import visible_interval, window

HEIGHT = 0.24  # of a row, in inches
AROUND = 1.5  # of what stands above and below the rows
WORDS = {"in": "better", "open": "open", "out": "not better"}


class Compared(NamedTuple):
    """A row: what stands before it, what became of the arm, and its difference to the control."""

    label: str
    verdict: str
    value: float
    interval: tuple[float, float]


class Decisive(NamedTuple):
    """The line that decides, what it is, and how far the tolerance reaches from it to what is better, with its sign."""

    place: float
    words: str
    tolerance: float


def height_of(rows: int) -> float:
    """Of a figure, in inches."""
    return max(2.6, AROUND + HEIGHT * rows)


def draw_differences(axes: Axes, rows: Sequence[Compared], decisive: Decisive | None) -> list[Line2D | Patch]:
    """Draw the rows from top to bottom; what the lines mean, for a legend.

    Args:
        decisive: None where it is not known yet.
    """
    seen = [row for row in rows if math.isfinite(row.value)]
    places = [0.0] if decisive is None else [0.0, decisive.place]
    estimates = [*(row.value for row in seen), *places]
    limits = window(estimates, [row.interval for row in seen])
    axes.set_xlim(*limits)
    style.readable_ticks(axes.xaxis, limits)
    few(axes.xaxis, most=6)
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks(range(len(rows)), [style.drawable(row.label) for row in rows], parse_math=False)
    axes.tick_params(axis="y", length=0.0)
    axes.grid(visible=False, axis="y")
    for height in range(0, len(rows), 2):
        axes.axhspan(height - 0.5, height + 0.5, color=style.STRIPE, linewidth=0.0, zorder=0.1)
    handles = _draw_reference(axes, decisive)
    size = style.MARKER_SIZE if len(rows) <= 60 else style.SMALL_MARKER
    for height, row in enumerate(rows):
        mark = style.MARKS[row.verdict]
        if not math.isfinite(row.value):
            axes.text(0.5, height, "not pulled yet", transform=axes.get_yaxis_transform(), va="center", ha="center")
            continue
        ends = visible_interval(row.value, row.interval, limits)
        axes.plot(ends, [height, height], color=mark.colour, linewidth=1.8, solid_capstyle="butt", zorder=3)
        axes.plot([row.value], [height], zorder=mark.layer, **mark.points(size))
    return handles


def _draw_reference(axes: Axes, decisive: Decisive | None) -> list[Line2D | Patch]:
    """The control, the line that decides, and the tolerance beyond it, within which either verdict is right."""
    black = style.PALETTE["black"]
    control = axes.axvline(0.0, color=black, linewidth=1.3, zorder=2, label="control")
    if decisive is None:
        return [control]
    handles: list[Line2D | Patch] = [control]
    if decisive.place != 0.0:
        margin = axes.axvline(decisive.place, color=black, linewidth=1.3, linestyle=(0, (6, 2)), zorder=2)
        margin.set_label(decisive.words)
        handles.append(margin)
    if decisive.tolerance:
        low, high = sorted((decisive.place, decisive.place + decisive.tolerance))
        axes.axvspan(low, high, color=style.SHADE, linewidth=0.0, zorder=0.3)
        handles.append(Patch(facecolor=style.SHADE, label=f"tolerance: {round_up(abs(decisive.tolerance))}"))
    return handles


def write_heading(axes: Axes, headings: Sequence[str]) -> None:
    """Write what stands at the axis: the first that fits, in a layout that is settled; else the last."""
    room = axes.get_window_extent().width
    for heading in headings:
        label = axes.set_xlabel(style.drawable(heading), parse_math=False)
        if label.get_window_extent().width <= room:
            break


def write_legend_below(figure: Figure, handles: Sequence[Artist]) -> None:
    """A legend below all axes of a figure, in as many rows as its width asks for."""
    for columns in range(len(handles), 0, -1):
        legend = figure.legend(handles=list(handles), loc="outside lower left", ncols=columns)
        if columns == 1 or legend.get_window_extent().width <= figure.bbox.width:
            break
        legend.remove()


def verdict_handles(rows: Sequence[Compared]) -> list[Line2D]:
    """What the marks mean, as far as there are such arms."""
    counts = {verdict: sum(row.verdict == verdict for row in rows) for verdict in style.MARKS}
    return [
        Line2D([], [], label=f"{WORDS[verdict]} ({count:,})", **style.MARKS[verdict].points(style.MARKER_SIZE))
        for verdict, count in counts.items()
        if count
    ]
