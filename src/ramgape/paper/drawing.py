"""What all figures of the reports share: one width and style, panels, rows with names, and one legend above them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D

from ramgape.views.plots import style
from ramgape.views.plots.style import GREY, PALETTE

WIDTH = 7.0  # inches, of every figure
BLACK, BLUE, ORANGE, VERMILLION = (PALETTE[name] for name in ("black", "blue", "orange", "vermillion"))
DASHES, DOTS = (0, (4.0, 2.0)), (0, (1.2, 1.6))
SHADE = "#EDEDED"


def write(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Save a figure as name.png and name.svg; the folder is made if it is missing."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{name}.{ending}" for ending in ("png", "svg")]
    for path in paths:
        with style.applied(printed=True):
            style.save(figure, path)
    return paths


@contextmanager
def drawing(height: float) -> Iterator[Figure]:
    """A figure to draw on inside the block; after it everything stays where it is."""
    with style.applied(printed=True):
        figure = style.new_figure(WIDTH, height)
        engine = figure.get_layout_engine()
        assert isinstance(engine, ConstrainedLayoutEngine)
        engine.set(wspace=0.05)  # the last number of one panel may not touch the first of the next
        yield figure
        figure.draw_without_rendering()
        figure.set_layout_engine("none")


def options(**values: Any) -> dict[str, Any]:
    """Keyword arguments that several calls share."""
    return values


def row_of_axes(figure: Figure, count: int, shared: bool = True) -> list[Axes]:
    """Panels side by side."""
    return list(figure.subplots(1, count, sharex=shared, sharey=shared, squeeze=False)[0])


def grid_of_axes(figure: Figure, count: int, columns: int) -> list[Axes]:
    """Panels in rows, all with the same axes."""
    rows = math.ceil(count / columns)
    grid = figure.subplots(rows, min(columns, count), sharex=True, sharey=True, squeeze=False).ravel().tolist()
    for axes in grid[count:]:
        axes.remove()
    return list(grid[:count])


def write_legend(figure: Figure, handles: Sequence[Artist]) -> None:
    """One legend for all panels, above them, in as few rows as the width allows."""
    for rows in range(1, len(handles) + 1):
        columns = math.ceil(len(handles) / rows)
        room = options(handlelength=2.6, columnspacing=1.4, handletextpad=0.5)
        legend = figure.legend(handles=list(handles), loc="outside upper center", ncols=columns, **room)
        if rows == len(handles) or legend.get_window_extent().width <= figure.bbox.width:
            break
        legend.remove()


def mark_handle(label: str, **look: Any) -> Line2D:
    """The legend of a mark or a line."""
    return Line2D([], [], label=label, **{"linestyle": "none", "markersize": 6.0, **look})


def hollow_handle(label: str) -> Line2D:
    """The legend of hollow marks."""
    return mark_handle(label, marker="o", markerfacecolor="white", markeredgecolor=GREY)


def name_rows(axes: Axes, names: Sequence[str], striped: bool = False) -> None:
    """Rows from top to bottom, with their names to the left and perhaps a stripe behind every other one."""
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.set_yticks(range(len(names)), [style.drawable(name) for name in names])
    axes.tick_params(axis="y", length=0.0)
    axes.grid(visible=False, axis="y")
    for row in range(1, len(names), 2) if striped else ():
        axes.axhspan(row - 0.5, row + 0.5, color=style.STRIPE, linewidth=0.0, zorder=0)


def from_zero(set_limits: Callable[[float, float], Any], highest: float) -> None:
    """An axis from a little below zero, which is perfect, to the highest value."""
    set_limits(-0.05 * (highest or 1.0), 1.06 * (highest or 1.0))
