"""Arms as confidence crosses in the mean-risk plane: what is known, and how well.

A cross stands at an arm's estimates; its horizontal bar is the interval of the mean, its vertical bar that of
the risk. Good arms lie low, and to the right (to the left where the mean is a cost). The thin stairs are the
Pareto front of the estimates: what lies above them is dominated by some arm, as far as the data show. Other tasks
have other lines: plots/lines.py.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.lines import Line2D

from ramgape.common.plane import PlaneLine
from ramgape.views.content import is_turned
from ramgape.views.plots import style
from ramgape.views.plots.labels import Label, boxes_around, place_labels
from ramgape.views.plots.lines import Limits, Point, draw_lines, reaching

if TYPE_CHECKING:
    from ramgape.search.result import ArmReport

Direction = Literal["maximize", "minimize"]

NAMED = 30  # of more arms only the returned ones are named,
MOST_NAMES = 60  # and not more than this
REACH = 0.75  # intervals may widen the picture by this part of the estimates' range, on either side
MARGIN = 0.06


class Asked(NamedTuple):
    """What was asked of the arms.

    Attributes:
        risk: What stands at the axis of the risk, by default the paper's formula of the mean-variance.
        answer: What to call the returned arms.
        stairs: Whether it was the Pareto front.
        control: The arm that others are compared with.
        lines: What else the answer goes by.
    """

    direction: Direction = "maximize"
    risk: str | None = None
    answer: str = style.MARKS["in"].label
    stairs: bool = True
    control: str | None = None
    lines: Sequence[PlaneLine] = ()


def draw_crosses(
    axes: Axes,
    arms: Sequence[ArmReport],
    *,
    front: Collection[str] | None = None,
    labels: Mapping[str, str] | None = None,
    asked: Asked = Asked(),  # noqa: B008 (it cannot change)
    limits: Limits | None = None,
    panel: bool = False,
    marker_size: float | None = None,
    label_size: float = style.LABEL_SIZE,
) -> None:
    """Draw the arms on `axes`, which should be empty: limits, axis labels and legend are set as well.

    Args:
        front: Names of the returned arms, named even in a crowd; by default those whose verdict is "in".
        labels: What to write for a name, where that is not the name itself.
        limits: The window, by default `windows(arms)`, and as much more as shows the lines.
        panel: One of several in a figure that labels the axes and has a legend for all of them together.
        marker_size: In points; by default it depends on how many arms there are.
    """
    drawn = _observed(arms)
    window_x, window_y = reaching(windows(arms), asked.lines) if limits is None else limits
    _prepare_axes(axes, window_x, window_y)
    if not panel:
        _label_axes(axes, asked.direction, asked.risk)

    handles = []
    for mark, label, group in _groups(drawn, asked):
        size = marker_size or style.marker_size(len(drawn), mark.important)
        handles.append(_draw_group(axes, group, mark, size, window_x, window_y))
        handles[-1].set_label(label)
    stairs = pareto_stairs([(arm.mean, arm.risk) for arm in drawn], asked.direction) if asked.stairs else []
    if stairs:
        # Continued to the edges of the picture: the dominated region has no end.
        worst_mean = window_x[0] if asked.direction == "maximize" else window_x[1]
        stairs = [(worst_mean, stairs[0][1]), *stairs, (stairs[-1][0], window_y[1])]
        handles.append(_draw_stairs(axes, stairs))
    returned = {arm.name for arm in drawn if arm.verdict == "in"} if front is None else set(front)
    open_answer = [arm for arm in drawn if arm.name in returned and arm.verdict == "undecided" and not asked.stairs]
    if open_answer:
        size = marker_size or style.marker_size(len(drawn), important=True)
        handles.append(_draw_rings(axes, open_answer, f"{asked.answer} so far ({len(open_answer):,})", size))
    explained, pieces = draw_lines(axes, asked.lines, (window_x, window_y))
    handles += explained
    if len(drawn) < len(arms):
        missing = f"without pulls, not drawn ({len(arms) - len(drawn):,})"
        handles.append(Line2D([], [], linestyle="none", label=missing))
    if not drawn:
        axes.text(0.5, 0.5, "no arm has been pulled yet", transform=axes.transAxes, horizontalalignment="center")
    if not panel:
        write_legend(axes, handles)

    named = [arm for arm in drawn if len(arms) <= NAMED or arm.name in {*returned, asked.control}]
    # The first have the best choice of places.
    named.sort(key=lambda arm: (arm.name not in returned, (arm.mean, arm.risk) not in stairs))
    written = [_label(arm, labels or {}, asked.control) for arm in named[:MOST_NAMES]]
    points = [((arm.mean, arm.risk), (arm.mean, arm.risk)) for arm in drawn]
    lines = [*(bar for arm in drawn for bar in _bars(arm, window_x, window_y)), *pairwise(stairs), *pieces]
    settle_layout(axes)
    place_labels(
        axes,
        written,
        crowded=len(arms) > NAMED,
        markers=boxes_around(axes, points, (marker_size or style.marker_size(len(drawn), important=True)) / 2.0),
        lines=boxes_around(axes, lines, style.LINE_WIDTH / 2.0),
        size=label_size,
    )


def windows(arms: Sequence[ArmReport]) -> Limits:
    """Limits of both axes in which all these arms can be seen, perhaps those of several panels."""
    drawn = _observed(arms)
    return (
        window([arm.mean for arm in drawn], [arm.mean_interval for arm in drawn]),
        window([arm.risk for arm in drawn], [arm.risk_interval for arm in drawn]),
    )


def window(estimates: Sequence[float], intervals: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Limits of an axis: all estimates, and of the intervals as much as leaves the estimates readable.

    >>> window([0.0, 1.0], [(-0.5, 0.5), (0.5, 1.5)])  # all of it, and a margin
    (-0.62, 1.62)
    >>> window([0.0, 1.0], [(-9.0, 9.0), (float("-inf"), float("inf"))])  # clipped
    (-0.9, 1.9)
    """
    if not estimates:
        return 0.0, 1.0
    low, high = min(estimates), max(estimates)
    lows = [end for end, _ in intervals if math.isfinite(end)]
    highs = [end for _, end in intervals if math.isfinite(end)]
    # One arm, or equal arms: the narrowest interval gives the scale, else the number itself.
    widths = [end - start for start, end in intervals if 0.0 < end - start < math.inf]
    scale = (high - low) or min(widths, default=0.0) or abs(low) or 1.0
    unbounded = any(not math.isfinite(end) for interval in intervals for end in interval)
    reach = REACH * scale
    left = max(min([low, *lows]), low - reach) if not unbounded else low - reach
    right = min(max([high, *highs]), high + reach) if not unbounded else high + reach
    if right - left <= max(1e-9 * max(abs(left), abs(right)), 1e-300):  # nothing to tell apart
        left, right = left - (abs(left) or 1.0), right + (abs(right) or 1.0)
    margin = MARGIN * (right - left)
    return left - margin, right + margin


def pareto_stairs(points: Sequence[Point], direction: Direction) -> list[Point]:
    """The corners of the front of (mean, risk) points, from the least risk to the best mean.

    >>> pareto_stairs([(0.2, 0.1), (0.5, 0.3), (0.4, 0.4)], "maximize")
    [(0.2, 0.1), (0.2, 0.3), (0.5, 0.3)]
    """
    better = 1.0 if direction == "maximize" else -1.0
    corners: list[Point] = []
    for mean, risk in sorted(points, key=lambda point: (point[1], -better * point[0])):
        if not corners:
            corners.append((mean, risk))
        elif better * mean > better * corners[-1][0]:
            corners += [(corners[-1][0], risk), (mean, risk)]
    return corners


def _observed(arms: Sequence[ArmReport]) -> list[ArmReport]:
    return [arm for arm in arms if math.isfinite(arm.mean) and math.isfinite(arm.risk)]


def _prepare_axes(axes: Axes, window_x: tuple[float, float], window_y: tuple[float, float]) -> None:
    axes.set_xlim(*window_x)
    axes.set_ylim(*window_y)
    style.readable_ticks(axes.xaxis, window_x)
    style.readable_ticks(axes.yaxis, window_y)


def _label_axes(axes: Axes, direction: Direction, risk: str | None) -> None:
    # The vertical label is turned: its left arrow points down.
    if direction == "maximize":
        mean, mean_hint, usual = "Mean reward μ", "(higher is better →)", "Risk ξ = α(σ² − ρμ)"
    else:
        mean, mean_hint, usual = "Mean cost μ", "(← lower is better)", "Risk ξ = α(σ² + ρμ)"
    risk = risk or usual
    axes.set_xlabel(f"{mean}  {mean_hint}")
    axes.set_ylabel(f"{risk}  (← lower is better)")
    settle_layout(axes)
    room = axes.get_window_extent()
    if axes.xaxis.label.get_window_extent().width > room.width:
        axes.set_xlabel(mean)
    if axes.yaxis.label.get_window_extent().height > room.height:
        axes.set_ylabel(risk)


def show_as(axes: Axes, arms: Sequence[ArmReport]) -> None:
    """Write what people are shown at the axis of the risk, where that has the other sign: then more is better."""
    if not is_turned(arms):
        return
    plain = axes.yaxis.get_major_formatter()

    def turned(value: float, place: float) -> str:
        plain.set_locs(list(axes.get_yticks()))  # else it knows no digits
        return str(plain(0.0 - value, int(place)))

    axes.yaxis.set_major_formatter(turned)
    axes.set_ylabel(axes.get_ylabel().replace("lower is better", "higher is better"))


def _groups(arms: Sequence[ArmReport], asked: Asked) -> Iterator[tuple[style.Mark, str, list[ArmReport]]]:
    """The arms that look alike, how, and what the legend says of them."""
    for verdict, mark in style.MARKS.items():
        group = [arm for arm in arms if arm.verdict == verdict and arm.name != asked.control]
        if group:
            yield mark, style.in_legend(f"{asked.answer if verdict == 'in' else mark.label} ({len(group):,})"), group
    if control := [arm for arm in arms if arm.name == asked.control]:
        yield style.CONTROL, style.CONTROL.label, control


def _draw_group(
    axes: Axes,
    arms: Sequence[ArmReport],
    mark: style.Mark,
    size: float,
    window_x: tuple[float, float],
    window_y: tuple[float, float],
) -> Line2D:
    """All arms of one verdict: their bars in one collection, their markers in one line."""
    bars = LineCollection(
        [bar for arm in arms for bar in _bars(arm, window_x, window_y)],
        colors=mark.colour,
        linewidths=style.LINE_WIDTH,
        alpha=_bar_opacity(len(arms)),
        zorder=mark.layer - 2.0,
    )
    axes.add_collection(bars, autolim=False)
    (points,) = axes.plot(
        [arm.mean for arm in arms],
        [arm.risk for arm in arms],
        zorder=mark.layer,
        **mark.points(size),
    )
    return points


def _draw_rings(axes: Axes, arms: Sequence[ArmReport], label: str, size: float) -> Line2D:
    """Around the arms that would be returned now, while nothing is proved of them."""
    (rings,) = axes.plot(
        [arm.mean for arm in arms],
        [arm.risk for arm in arms],
        linestyle="none",
        marker="o",
        markersize=1.8 * size,
        markerfacecolor="none",
        markeredgecolor=style.MARKS["in"].colour,
        markeredgewidth=0.25 * size,
        label=style.in_legend(label),
        zorder=7,
    )
    return rings


def _bars(arm: ArmReport, window_x: tuple[float, float], window_y: tuple[float, float]) -> list[tuple[Point, Point]]:
    left, right = visible_interval(arm.mean, arm.mean_interval, window_x)
    bottom, top = visible_interval(arm.risk, arm.risk_interval, window_y)
    return [((left, arm.risk), (right, arm.risk)), ((arm.mean, bottom), (arm.mean, top))]


def visible_interval(
    estimate: float, interval: tuple[float, float], limits: tuple[float, float]
) -> tuple[float, float]:
    """The interval, ending a little outside the picture where it goes on far beyond, or for ever."""
    beyond = limits[1] - limits[0]
    low, high = (estimate if math.isnan(end) else end for end in interval)
    return max(low, limits[0] - beyond), min(high, limits[1] + beyond)


def _bar_opacity(number: int) -> float:
    """Many crosses are drawn lightly, so that where they lie dense can still be seen."""
    return max(0.12, min(0.8, 40.0 / number))


def _draw_stairs(axes: Axes, corners: Sequence[Point]) -> Line2D:
    line = front_handle()
    line.set_data([mean for mean, _ in corners], [risk for _, risk in corners])
    axes.add_line(line)
    return line


def front_handle() -> Line2D:
    """The line of the stairs, for a legend."""
    return Line2D(
        [],
        [],
        color=style.PALETTE["black"],
        alpha=0.5,
        linewidth=0.8,
        linestyle=(0, (4, 2)),
        label="estimated front",
        zorder=2.5,
    )


def _label(arm: ArmReport, labels: Mapping[str, str], control: str | None) -> Label:
    mark = style.CONTROL if arm.name == control else style.MARKS[arm.verdict]
    return Label(labels.get(arm.name, arm.name), arm.mean, arm.risk, mark.colour)


def write_legend(axes: Axes, handles: Sequence[Artist]) -> None:
    """A legend above the axes, where no data are, in as many rows as its width asks for."""
    for columns in range(len(handles), 0, -1):
        legend = axes.legend(
            handles=list(handles),
            loc="lower left",
            bbox_to_anchor=(0.0, 1.0),
            borderaxespad=0.2,
            borderpad=0.0,
            columnspacing=1.4,
            handletextpad=0.4,
            handlelength=1.6,
            ncols=columns,
        )
        if legend.get_window_extent().width <= axes.get_window_extent().width:
            break


def settle_layout(axes: Axes) -> None:
    """Where text fits depends on where the axes stand, which the layout of the whole figure decides."""
    axes.figure.figure.draw_without_rendering()
