"""Arms as rows, the best on top: in each panel a number with its interval, and beside them where the trials went.

Colour, shape and filling say what became of an arm. A line says what numbers are compared with: the leader, the control
or a limit. Arms far behind stand at the border with their number, so that they do not stretch the axis.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.patheffects import withStroke

from ramgape.views.plots import style
from ramgape.views.plots.ticks import few
from ramgape.views.plots.window import ANYTHING, PossibleValues, brought_inside, visible_interval, window_without_few

ROW, AROUND, LEAST = 0.26, 1.6, 2.6  # inches: a row, what stands around the rows, the least height of a figure
PANEL, TRIALS, LETTER = 3.2, 1.3, 0.07  # inches: the widths of a panel, of the trials, and of a letter of a name
MANY = 60  # rows, from which on marks are small


class Number(NamedTuple):
    """An estimate and the interval around it; NaN where there is none."""

    value: float
    interval: tuple[float, float] = (-math.inf, math.inf)


class Row(NamedTuple):
    """An arm.

    Attributes:
        label: What stands before the row.
        kind: "in", "open" or "out", as in `style.MARKS`, or "control".
        word: Its place in a word, for the legend.
        trials: How many there were.
        numbers: One for each panel.
    """

    label: str
    kind: str
    word: str
    trials: int
    numbers: Sequence[Number]


class Line(NamedTuple):
    """A vertical line, and what it is."""

    place: float
    words: str = ""
    dashed: bool = False


class Band(NamedTuple):
    """What is gray: between two places, of which one may be infinite; and what that says."""

    low: float
    high: float
    words: str = ""


class Panel(NamedTuple):
    """What is drawn of all arms in one pair of axes.

    Attributes:
        headings: What stands at the axis: the first that there is room for.
        lines: What numbers are compared with.
        band: What is gray.
        possible: Values that there can be.
    """

    headings: Sequence[str]
    lines: Sequence[Line] = ()
    band: Band | None = None
    possible: PossibleValues = ANYTHING


def draw_rows(
    rows: Sequence[Row],
    panels: Sequence[Panel],
    *,
    title: str = "",
    axes: Axes | None = None,
    width: float | None = None,
    below: str = "",
) -> Axes:
    """Draw the panels side by side, and the trials; in a narrow figure one above the other.

    Args:
        rows: The arms, from top to bottom.
        panels: At least one.
        title: Of the figure.
        axes: Where to draw the first panel alone. Default: a figure of its own for everything.
        width: Of that figure, in inches; panels that it has no room for stand below each other.
        below: A remark on the rows, under the first panel.
    """
    every = _new_axes(rows, len(panels), title, width) if axes is None else [axes]
    handles: list[Artist] = list(_mark_handles(rows))
    drawn = list(zip(every, panels, strict=False))
    for place, (each, panel) in enumerate(drawn):
        handles += _draw_panel(each, rows, place, panel)
    if axes is None:
        handles.append(_draw_trials(every[-1], rows))
        handles = list({each.get_label(): each for each in handles}.values())
        style.write_legend_below(every[0].figure.figure, handles)
    style.settle_layout(every[0])
    if axes is not None:
        style.write_legend(axes, handles)
    for place, (each, panel) in enumerate(drawn):
        remark = f"\n{below}" if below and not place else ""
        _write_heading(each, [f"{heading}{remark}" for heading in panel.headings])
    return every[0]


def _new_axes(rows: Sequence[Row], panels: int, title: str, width: float | None) -> list[Axes]:
    """A figure with axes for the panels and, last, for the trials."""
    letters = max((len(line) for row in rows for line in row.label.split("\n")), default=0)
    wide = PANEL * panels + TRIALS + LETTER * letters
    if width is None or wide <= 1.25 * width:
        height = max(LEAST, AROUND + ROW * len(rows))
        figure = style.new_figure(width or max(wide, 0.85 * style.SIZE[0]), height, title=title)
        found = figure.subplots(1, panels + 1, sharey=True, squeeze=False, width_ratios=[PANEL] * panels + [TRIALS])[0]
        for each in found[1:]:
            each.tick_params(axis="y", labelleft=False)
        return list(found)
    height = (panels + 1) * max(0.6 * LEAST, 0.7 + ROW * len(rows)) + 0.5
    return list(style.new_figure(width, height, title=title).subplots(panels + 1, 1, squeeze=False)[:, 0])


def _draw_panel(axes: Axes, rows: Sequence[Row], place: int, panel: Panel) -> Iterator[Artist]:
    """The numbers of all rows in one panel; what its lines mean, for a legend."""
    numbers = [row.numbers[place] for row in rows]
    seen = [at for at, number in enumerate(numbers) if math.isfinite(number.value)]
    estimates = [numbers[at].value for at in seen] + [line.place for line in panel.lines]
    intervals = [numbers[at].interval if _is_known(numbers[at]) else (numbers[at].value,) * 2 for at in seen]
    intervals += [(line.place, line.place) for line in panel.lines]
    important = {k for k, at in enumerate(seen) if rows[at].kind != "out"} | {*range(len(seen), len(estimates))}
    limits = window_without_few(estimates, intervals, important, panel.possible)
    axes.set_xlim(*limits)
    style.readable_ticks(axes.xaxis, limits)
    few(axes.xaxis, most=5)
    _prepare_rows(axes, rows)
    handles = [*_draw_lines(axes, panel, limits)]
    size = style.MARKER_SIZE if len(rows) <= MANY else style.SMALL_MARKER
    for height, (row, number) in enumerate(zip(rows, numbers, strict=True)):
        mark = mark_of(row.kind)
        if not math.isfinite(number.value):
            if not row.trials:
                axes.text(0.5, height, "no trials yet", transform=axes.get_yaxis_transform(), va="center", ha="center")
            continue
        x, side = brought_inside(number.value, limits)
        if side:
            _draw_beyond(axes, (x, height), side, number.value, mark.colour)
            continue
        if _is_known(number):
            ends = visible_interval(number.value, number.interval, limits)
            axes.plot(ends, [height, height], color=mark.colour, linewidth=1.8, solid_capstyle="butt", zorder=3)
        axes.plot([x], [height], zorder=mark.layer, **mark.points(size))
    yield from handles


def _is_known(number: Number) -> bool:
    """Whether an interval says anything."""
    return math.isfinite(number.interval[0]) or math.isfinite(number.interval[1])


def _draw_beyond(axes: Axes, place: tuple[float, float], side: int, value: float, colour: str) -> None:
    """A number beyond the border: a triangle that points there, and the number beside it."""
    pointing, aligned = ("<", "left") if side < 0 else (">", "right")
    axes.plot(
        *([each] for each in place), linestyle="none", marker=pointing, color=colour, markersize=style.MARKER_SIZE
    )
    offset = (-1.3 * side * style.MARKER_SIZE, 0.0)
    looks: dict[str, Any] = {"fontsize": style.LABEL_SIZE, "color": colour}
    axes.annotate(f"{value:.3g}", place, offset, textcoords="offset points", va="center", ha=aligned, **looks)


def _prepare_rows(axes: Axes, rows: Sequence[Row]) -> None:
    """Names before the rows, and a stripe behind every other row."""
    axes.set_ylim(len(rows) - 0.5, -0.5)
    axes.set_yticks(range(len(rows)), [style.drawable(row.label) for row in rows], parse_math=False)
    axes.tick_params(axis="y", length=0.0)
    axes.grid(visible=False, axis="y")
    for height in range(0, len(rows), 2):
        axes.axhspan(height - 0.5, height + 0.5, color=style.STRIPE, linewidth=0.0, zorder=0.1)


def _draw_lines(axes: Axes, panel: Panel, limits: tuple[float, float]) -> Iterator[Artist]:
    """What numbers are compared with, and what is gray."""
    for line in panel.lines:
        dashes = (0, (6, 2)) if line.dashed else "solid"
        drawn = axes.axvline(line.place, color=style.PALETTE["black"], linewidth=1.2, linestyle=dashes, zorder=2)
        if line.words:
            drawn.set_label(style.in_legend(line.words))
            yield drawn
    if panel.band is not None:
        low, high = max(panel.band.low, limits[0]), min(panel.band.high, limits[1])
        axes.axvspan(low, high, color=style.SHADE, linewidth=0.0, zorder=0.3)
        if panel.band.words:
            yield Patch(facecolor=style.SHADE, label=style.in_legend(panel.band.words))


def _draw_trials(axes: Axes, rows: Sequence[Row]) -> Line2D:
    """How many trials each arm had, against equal shares."""
    _prepare_rows(axes, rows)
    counts = [row.trials for row in rows]
    axes.barh(range(len(rows)), counts, height=0.62, color=[mark_of(row.kind).colour for row in rows], alpha=0.55)
    equal = axes.axvline(sum(counts) / max(len(rows), 1), color=style.GREY, linewidth=1.0, linestyle=(0, (2, 2)))
    equal.set_label("equal shares of the trials")
    axes.set_xlim(0.0, 1.3 * max([1, *counts]))
    few(axes.xaxis, most=3)
    for height, count in enumerate(counts):
        axes.annotate(
            f"{count:,}", (count, height), (3.0, 0.0), textcoords="offset points", va="center",
            fontsize=style.LABEL_SIZE, path_effects=[withStroke(linewidth=2.0, foreground="white")],
        )  # fmt: skip
    axes.set_xlabel("Trials")
    return equal


def mark_of(kind: str) -> style.Mark:
    """What the arms of a kind look like."""
    return style.CONTROL if kind == "control" else style.MARKS[kind]


def _mark_handles(rows: Sequence[Row]) -> Iterator[Line2D]:
    """What the marks mean, as far as there are such arms."""
    for kind in (*style.MARKS, "control"):
        words = [row.word for row in rows if row.kind == kind]
        if words:
            label = f"{', '.join(dict.fromkeys(words))} ({len(words):,})"
            yield Line2D([], [], label=style.in_legend(label), **mark_of(kind).points(style.MARKER_SIZE))


def _write_heading(axes: Axes, headings: Sequence[str]) -> None:
    """Write what stands at the axis: the first that fits, in a layout that is settled; else the last."""
    room = axes.get_window_extent().width
    for heading in headings:
        label = axes.set_xlabel(style.drawable(heading), parse_math=False)
        if label.get_window_extent().width <= room:
            break
