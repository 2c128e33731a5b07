"""Times of commands: every run with the mean and its interval, ratios with theirs, and a line for a scan."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, MaxNLocator

from ramgape.common.formatting import Unit, short_names
from ramgape.views.plots import style

if TYPE_CHECKING:
    from ramgape.commands.times import Times, Timing

MOST_ROWS, NAME_WIDTH = 40, 28
ROW, AROUND = 0.32, 1.5  # inches: the height of a row, and of what stands around them
MOST_POINTS = 400  # of a command: further runs would only blacken the row
SPREAD = 0.26  # of a row: runs are moved apart by that
LARGE_RATIO = 8.0  # from here on ratios have a logarithmic axis

Points = Sequence[tuple[float, "Times"]]


def draw_times(timing: Timing, unit: Unit, scan: tuple[str, Points] | None) -> Axes:
    """Draw all runs, sorted by their means; beside them the ratios, and below the line of a scan.

    Args:
        timing: What was measured.
        unit: Of the times.
        scan: A parameter, and the commands by its values.
    """
    rows = [each for each in timing.times if each.times][:MOST_ROWS]
    ratios = len(rows) > 1
    height = max(AROUND + ROW * len(rows), 2.2)
    figure = style.new_figure(style.SIZE[0], height + (2.8 if scan else 0.0))
    grid = figure.add_gridspec(
        2 if scan else 1,
        2 if ratios else 1,
        width_ratios=[1.7, 1.0] if ratios else None,
        height_ratios=[height, 2.8] if scan else None,
    )
    first = figure.add_subplot(grid[0, 0])
    draw_strips(first, rows, unit)
    if ratios:
        draw_ratios(figure.add_subplot(grid[0, 1], sharey=first), timing, rows)
    if scan:
        draw_scan(figure.add_subplot(grid[1, :]), scan[0], scan[1], unit)
    return first


def draw_strips(axes: Axes, rows: Sequence[Times], unit: Unit) -> None:
    """Draw a point for each run, and the mean with its interval."""
    generator = np.random.default_rng(0)
    shown = short_names([each.name for each in rows], NAME_WIDTH)
    for place, each in enumerate(rows):
        times = np.asarray(each.times) / unit.seconds
        times = times[:: math.ceil(len(times) / MOST_POINTS)]
        heights = place + generator.uniform(-SPREAD, SPREAD, len(times))
        colour = style.PALETTE["blue"] if place == 0 else style.GREY
        axes.plot(times, heights, linestyle="none", marker="o", markersize=3.0, color=colour, alpha=0.35)
        low, high = (end / unit.seconds for end in each.mean_interval)
        mean = each.mean / unit.seconds
        if math.isfinite(high):
            axes.plot([low, high], [place, place], color="black", linewidth=2.0)
        elif each.failed:  # the mean is at least that
            _without_end(axes, low, place, "black")
        axes.plot([mean], [place], marker="D", markersize=5.0, color="black", markeredgecolor="white")
    _rows(axes, [style.drawable(shown[each.name]) for each in rows])
    low = min(min(each.times) for each in rows) / unit.seconds
    high = max(max(each.times) for each in rows) / unit.seconds
    if low > 0.0 and high > LARGE_RATIO * low:
        _logarithmic(axes)
    else:
        axes.set_xlim(left=0.0 if low < 0.5 * high else None)
    axes.set_xlabel(f"Time ({unit.name}): runs,\nmean and its 95% interval")


def draw_ratios(axes: Axes, timing: Timing, rows: Sequence[Times]) -> None:
    """Draw how many times as long each command takes as the one they are compared with."""
    axes.axvline(1.0, color=style.GREY, linewidth=1.0)
    reach = 1.0
    for place, each in enumerate(rows):
        if each is timing.compared:
            axes.plot([1.0], [place], marker="D", markersize=5.0, color="black", markeredgecolor="white")
            continue
        ratio, (low, high) = timing.ratio(each), timing.ratio_interval(each)
        reach = max(reach, *(value for value in (ratio, high) if math.isfinite(value)))
        apart = low > 1.0 or high < 1.0
        colour = style.PALETTE["vermillion"] if low > 1.0 else style.PALETTE["blue"] if apart else style.GREY
        if low > 0.0 and math.isfinite(high):
            axes.plot([low, high], [place, place], color=colour, linewidth=2.0)
        elif low > 0.0:
            _without_end(axes, low, place, colour)
        if math.isfinite(ratio):
            axes.plot([ratio], [place], marker="o", markersize=5.0, color=colour, markeredgecolor="white")
    axes.tick_params(labelleft=False)
    if reach > LARGE_RATIO:
        _logarithmic(axes)
    else:
        axes.xaxis.set_major_locator(MaxNLocator(5))
    name = short_names([timing.compared.name], 24)[timing.compared.name]
    axes.set_xlabel(style.drawable(f"Times as long as\n{name}"), parse_math=False)


def draw_scan(axes: Axes, name: str, points: Points, unit: Unit) -> None:
    """Draw the mean over the values of a parameter, with the interval of each."""
    values, means = [value for value, _ in points], [each.mean / unit.seconds for _, each in points]
    ends = [[end / unit.seconds for end in each.mean_interval] for _, each in points]
    known = [place for place, (_, high) in enumerate(ends) if math.isfinite(high)]
    axes.plot(values, means, color=style.PALETTE["blue"], marker="o", markersize=4.0)
    if known:
        lows, highs = ([ends[place][side] for place in known] for side in (0, 1))
        at = [values[place] for place in known]
        axes.fill_between(at, lows, highs, color=style.PALETTE["blue"], alpha=0.2, linewidth=0.0)
    if min(values) > 0.0 and max(values) > 30.0 * min(values):
        axes.set_xscale("log")
    axes.set_ylim(bottom=0.0)
    axes.set_xlabel(style.drawable(name), parse_math=False)
    axes.set_ylabel(f"Mean time ({unit.name}) and its 95% interval")


def _without_end(axes: Axes, low: float, place: int, colour: str) -> None:
    """Draw an interval that begins at a number and goes on beyond the picture."""
    line = {"arrowstyle": "->", "color": colour, "linewidth": 2.0, "shrinkA": 0.0, "shrinkB": 0.0}
    end = axes.get_yaxis_transform()
    axes.annotate("", (1.0, place), xytext=(low, place), xycoords=end, textcoords="data", arrowprops=line)


def _rows(axes: Axes, names: Sequence[str]) -> None:
    """A row for each name, the first one at the top."""
    for place in range(0, len(names), 2):
        axes.axhspan(place - 0.5, place + 0.5, color=style.STRIPE, zorder=0, linewidth=0.0)
    axes.set_yticks(range(len(names)), names, parse_math=False)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(visible=False, axis="y")
    axes.tick_params(axis="y", length=0.0)


def _logarithmic(axes: Axes) -> None:
    axes.set_xscale("log")
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))
    axes.xaxis.set_minor_formatter(FuncFormatter(lambda value, _: ""))
