"""How many samples methods need: along instances, or along tolerances; and a lower bound or a reference beside them.

A method is a list of points, one for each place: the samples, or None, and whether it is known to need more than that.
So is what it is compared with: the samples, or None, and whether that is a bound (see `LEAST`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ramgape.views.plots import style
from ramgape.views.plots.methods import LEAST, method_look, method_marker_size

Samples = tuple[float | None, bool]
Least = tuple[float | None, bool]

ROW = 0.62  # the part of a row's height over which its marks are spread
ARROW = 9.0  # points


def limits(methods: Iterable[Sequence[Samples]], least: Iterable[float | None]) -> tuple[float, float]:
    """From the smallest number to the largest, with some room."""
    values = [value for points in methods for value, _ in points if value is not None]
    values += [value for value in least if value is not None]
    return min(values, default=1.0) / 1.8, max(values, default=10.0) * 4.0


def draw_rows_of_samples(axes: Axes, methods: Mapping[str, Sequence[Samples]], least: Sequence[Least]) -> None:
    """A row for each instance, from top to bottom; in it a mark for each method, and a bar at the least."""
    for height, (value, exact) in enumerate(least):
        if value is not None:
            colour = LEAST[exact].colour
            axes.vlines(value, height - 0.42, height + 0.42, color=colour, linewidth=1.4, zorder=3)
    for rank, (method, points) in enumerate(methods.items()):
        shift = ROW * (rank / (len(methods) - 1) - 0.5) if len(methods) > 1 else 0.0
        for height, (value, more) in enumerate(points):
            if value is not None:
                draw_mark(axes, value, height + shift, method, (ARROW, 0.0) if more else None)
    axes.set_ylim(len(least) - 0.4, -0.6)
    axes.grid(visible=False, axis="y")
    for height in range(1, len(least), 2):
        axes.axhspan(height - 0.5, height + 0.5, color=style.STRIPE, linewidth=0.0, zorder=0)


def draw_samples_over(axes: Axes, methods: Mapping[str, Sequence[Samples]], least: Sequence[Least]) -> None:
    """A line for each method over equally spaced places, and one for the least, bounds and references apart."""
    for exact, appearance in LEAST.items():
        own = [
            (place, value) for place, (value, is_bound) in enumerate(least) if value is not None and is_bound is exact
        ]
        axes.plot(
            [place for place, _ in own],
            [value for _, value in own],
            color=appearance.colour,
            linestyle=appearance.dashes,
            linewidth=appearance.width,
            zorder=3,
        )
    for method, points in methods.items():
        appearance = method_look(method)
        known = [(place, value) for place, (value, _) in enumerate(points) if value is not None]
        axes.plot(
            [place for place, _ in known],
            [value for _, value in known],
            color=appearance.colour,
            linestyle=appearance.dashes,
            linewidth=appearance.width,
            label=appearance.name,
            zorder=3.5,
        )
        for place, (value, more) in enumerate(points):
            if value is not None:
                draw_mark(axes, place, value, method, (0.0, ARROW) if more else None)
    axes.set_xlim(-0.3, len(least) - 0.7)


def draw_mark(axes: Axes, x: float, y: float, method: str, arrow: tuple[float, float] | None) -> None:
    """One mark; with an arrow of so many points it is hollow."""
    appearance = method_look(method)
    axes.plot(
        [x],
        [y],
        linestyle="none",
        marker=appearance.marker,
        markersize=method_marker_size(appearance),
        markerfacecolor="white" if arrow else appearance.colour,
        markeredgecolor=appearance.colour if arrow else "white",
        markeredgewidth=1.0 if arrow else 0.5,
        zorder=5,
    )
    if arrow:
        axes.annotate(
            "",
            (x, y),
            xytext=arrow,
            textcoords="offset points",
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "<-",
                "color": appearance.colour,
                "linewidth": 1.0,
                "shrinkA": 0.0,
                "shrinkB": 2.0,
            },
        )


def least_handles(panels: Iterable[Sequence[Least]], line: bool) -> list[Line2D]:
    """The legend of the bounds and references that there are, which are lines or bars."""
    present = {exact for least in panels for value, exact in least if value is not None}
    return [
        Line2D(
            [],
            [],
            color=appearance.colour,
            linestyle=appearance.dashes if line else "none",
            linewidth=appearance.width,
            marker="none" if line else "|",
            markersize=11.0,
            markeredgewidth=1.4,
            label=appearance.name,
        )
        for exact, appearance in LEAST.items()
        if exact in present
    ]


def any_undecided(panels: Iterable[Mapping[str, Sequence[Samples]]]) -> bool:
    """Whether the legend must tell of hollow marks."""
    return any(
        more and value is not None for methods in panels for points in methods.values() for value, more in points
    )
