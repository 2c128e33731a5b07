"""Arms in the plane of two objectives, usually mean and risk: what beats what, and on demand how well each is known.

A point stands at an arm's estimates. Good arms lie low, and to the right (to the left where the mean is a cost). The
stairs are the front of the estimates: what lies beyond them measured worse than another arm in both. An arrow goes from
an arm that was dropped to the one that beats it. Confidence regions are bars behind the points. Other questions have
other lines: plots/lines.py. An arm far from all others stands at the border, as an arrow with its numbers.
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
from matplotlib.patches import Patch

from ramgape.common.plane import PlaneLine
from ramgape.views.content import is_turned
from ramgape.views.plots import style
from ramgape.views.plots.labels import Label, boxes_around, place_labels
from ramgape.views.plots.lines import Limits, Point, draw_lines, reaching
from ramgape.views.plots.window import ANYTHING, PossibleValues, brought_inside, window_without_few

if TYPE_CHECKING:
    from ramgape.search.result import ArmReport

Direction = Literal["maximize", "minimize"]
FAR = 1e30  # an end of a bar without end
FAINT = 0.5  # times as opaque, where regions are not what the picture is about

CROWD = 30  # of more arms names are left out that would hide a mark,
NAMED = 60  # of still more only the returned ones are named,
MOST_NAMES = 60  # and not more than this
ARROWS = 80  # of more arms no arrows are drawn


class PlaneOptions(NamedTuple):
    """What was asked of the arms.

    Attributes:
        mean: What stands at the axis of the mean. Default: mean reward or cost.
        risk: What stands at the axis of the risk. Default: the paper's formula of the mean-variance.
        means, risks: What is possible.
        turned: Whether people are shown risks with the other sign, more being better.
        answer: What to call the returned arms.
        stairs: Whether it was the Pareto front.
        regions: Whether to draw what is known of each arm.
        caption: What the legend says of that.
        beaten: Whether to show what is worse: arrows to the arms that beat others, and all that measured worse in gray.
        control: The arm that others are compared with.
        lines: What else the answer goes by.
    """

    direction: Direction = "maximize"
    mean: str = ""
    risk: str | None = None
    means: PossibleValues = ANYTHING
    risks: PossibleValues = ANYTHING
    turned: bool = False
    answer: str = style.MARKS["in"].label
    stairs: bool = True
    regions: bool = True
    caption: str = ""
    beaten: bool = False
    control: str | None = None
    lines: Sequence[PlaneLine] = ()


class Placed(NamedTuple):
    """An arm, where it is drawn, and beyond which borders it is: -1, 0 or 1 on either axis."""

    arm: ArmReport
    place: Point
    beyond: tuple[int, int]


def draw_crosses(
    axes: Axes,
    arms: Sequence[ArmReport],
    *,
    front: Collection[str] | None = None,
    labels: Mapping[str, str] | None = None,
    asked: PlaneOptions = PlaneOptions(),  # noqa: B008 (it cannot change)
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
    returned = {arm.name for arm in drawn if arm.verdict == "in"} if front is None else set(front)
    if limits is None:
        limits = reaching(windows(arms, asked), asked.lines)
    _prepare_axes(axes, limits, asked.turned)
    if not panel:
        _label_axes(axes, asked)

    placed = {arm.name: _place(arm, limits) for arm in drawn}
    handles: list[Artist] = []
    for mark, label, group in _groups(drawn, asked):
        size = marker_size or style.marker_size(len(drawn), mark.important)
        handles.append(_draw_group(axes, [placed[arm.name] for arm in group], mark, size, asked))
        handles[-1].set_label(label)
    stairs = _stairs(drawn, asked, limits)
    if stairs:
        handles.append(_draw_stairs(axes, stairs))
    if asked.caption:
        handles.append(Line2D([], [], color=style.GREY, linewidth=style.LINE_WIDTH, label=asked.caption))
    if asked.beaten and drawn:
        handles += _draw_beaten(axes, placed, stairs, asked, limits)
    size = marker_size or style.marker_size(len(drawn), important=True)
    open_answer = [arm for arm in drawn if arm.name in returned and arm.verdict == "open" and not asked.stairs]
    if open_answer:
        places = [placed[arm.name].place for arm in open_answer]
        handles.append(_draw_rings(axes, places, f"{asked.answer} so far ({len(open_answer):,})", size))
    explained, pieces = draw_lines(axes, asked.lines, limits)
    handles += explained
    if len(drawn) < len(arms):
        missing = f"without pulls, not drawn ({len(arms) - len(drawn):,})"
        handles.append(Line2D([], [], linestyle="none", label=missing))
    if not drawn:
        axes.text(0.5, 0.5, "no arm has been pulled yet", transform=axes.transAxes, horizontalalignment="center")
    if not panel:
        style.write_legend(axes, handles)

    named = [each for each in placed.values() if _is_named(each, len(arms), returned, asked)]
    # The first have the best choice of places.
    named.sort(key=lambda each: (not any(each.beyond), each.arm.name not in returned, each.place not in stairs))
    points = [(each.place, each.place) for each in placed.values()]
    lines = [*pairwise(stairs), *pieces]
    lines += [bar for each in placed.values() for bar in _bars(each)] if asked.regions else _arrows(placed)
    style.settle_layout(axes)
    place_labels(
        axes,
        [_label(each, labels or {}, asked, each.arm.name not in returned) for each in named[:MOST_NAMES]],
        crowded=len(arms) > CROWD,
        markers=boxes_around(axes, points, size / 2.0),
        lines=boxes_around(axes, lines, style.LINE_WIDTH / 2.0),
        size=label_size,
    )


def _is_named(placed: Placed, number: int, returned: Collection[str], asked: PlaneOptions) -> bool:
    """Whether to write its name, among so many arms."""
    return number <= NAMED or any(placed.beyond) or placed.arm.name in {*returned, asked.control}


def _stairs(arms: Sequence[ArmReport], asked: PlaneOptions, limits: Limits) -> list[Point]:
    """The front of the estimates, continued to the edges of the picture: the dominated region has no end."""
    stairs = pareto_stairs([(arm.mean, arm.risk) for arm in arms], asked.direction) if asked.stairs else []
    if not stairs:
        return []
    worst_mean = limits[0][0] if asked.direction == "maximize" else limits[0][1]
    return [(worst_mean, stairs[0][1]), *stairs, (stairs[-1][0], limits[1][1])]


def windows(arms: Sequence[ArmReport], asked: PlaneOptions = PlaneOptions()) -> Limits:  # noqa: B008 (it cannot change)
    """Limits of both axes in which these arms can be seen, but for a few far out; perhaps those of several panels."""
    drawn = _observed(arms)
    # What is in the answer is what the picture is about, wherever it is.
    sure = {place for place, arm in enumerate(drawn) if arm.verdict == "in" or arm.name == asked.control}
    means, risks = [arm.mean for arm in drawn], [arm.risk for arm in drawn]
    regions = drawn if asked.regions else []
    across, up = ([getattr(arm, name) for arm in regions] for name in ("mean_interval", "risk_interval"))
    return (
        window_without_few(means, across or [(mean, mean) for mean in means], sure, asked.means),
        window_without_few(risks, up or [(risk, risk) for risk in risks], sure, asked.risks),
    )


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


def _place(arm: ArmReport, limits: Limits) -> Placed:
    (x, right), (y, up) = brought_inside(arm.mean, limits[0]), brought_inside(arm.risk, limits[1])
    return Placed(arm, (x, y), (right, up))


def _prepare_axes(axes: Axes, limits: Limits, turned: bool) -> None:
    axes.set_xlim(*limits[0])
    axes.set_ylim(*(limits[1][::-1] if turned else limits[1]))
    style.readable_ticks(axes.xaxis, limits[0])
    style.readable_ticks(axes.yaxis, limits[1])


def _label_axes(axes: Axes, asked: PlaneOptions) -> None:
    # The vertical label is turned: its left arrow points down.
    paper, costs = asked.risk is None, asked.direction == "minimize"
    letter = " μ" if paper else ""
    usual = "Risk ξ = α(σ² + ρμ)" if costs else "Risk ξ = α(σ² − ρμ)"
    mean = style.drawable(asked.mean) or f"Mean {'cost' if costs else 'reward'}{letter}"
    risk = asked.risk or usual
    axes.set_xlabel(f"{mean}  {style.LOWER if costs else style.HIGHER}", parse_math=False)
    axes.set_ylabel(f"{risk}  {style.HIGHER if asked.turned else style.LOWER}")
    style.settle_layout(axes)
    room = axes.get_window_extent()
    if axes.xaxis.label.get_window_extent().width > room.width:
        axes.set_xlabel(mean, parse_math=False)
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


def _groups(arms: Sequence[ArmReport], asked: PlaneOptions) -> Iterator[tuple[style.Mark, str, list[ArmReport]]]:
    """The arms that look alike, how, and what the legend says of them."""
    for verdict, mark in style.MARKS.items():
        group = [arm for arm in arms if arm.verdict == verdict and arm.name != asked.control]
        if group:
            yield mark, style.in_legend(f"{asked.answer if verdict == 'in' else mark.label} ({len(group):,})"), group
    if control := [arm for arm in arms if arm.name == asked.control]:
        yield style.CONTROL, style.CONTROL.label, control


def _draw_group(axes: Axes, arms: Sequence[Placed], mark: style.Mark, size: float, asked: PlaneOptions) -> Line2D:
    """All arms of one verdict: their bars in one collection, their markers in one line."""
    bars = [bar for each in arms for bar in _bars(each)] if asked.regions else []
    if bars:
        opacity = (FAINT if asked.caption else 1.0) * _bar_opacity(len(arms), mark.important)
        collection = LineCollection(
            bars, colors=mark.colour, linewidths=style.LINE_WIDTH, alpha=opacity, zorder=mark.layer - 2.0
        )
        axes.add_collection(collection, autolim=False)
    for each in arms:
        if any(each.beyond):
            _draw_arrow(axes, each.place, each.beyond, 1.6 * size, mark)
    inside = [each.place for each in arms if not any(each.beyond)]
    (points,) = axes.plot([x for x, _ in inside], [y for _, y in inside], zorder=mark.layer, **mark.points(size))
    return points


def _draw_arrow(axes: Axes, place: Point, side: tuple[int, int], size: float, mark: style.Mark) -> None:
    """A triangle that points out of the picture; `side` as in `Placed.beyond`."""
    right, up = side[0], -side[1] if axes.yaxis_inverted() else side[1]
    turned = math.degrees(math.atan2(-right, up))  # of one that points up
    axes.plot(
        [place[0]],
        [place[1]],
        linestyle="none",
        marker=(3, 0, turned),
        markersize=size,
        markerfacecolor=mark.colour,
        markeredgecolor="none",
        clip_on=False,
        zorder=mark.layer,
    )


def _draw_rings(axes: Axes, places: Sequence[Point], label: str, size: float) -> Line2D:
    """Around the arms that would be returned now, while nothing is proved of them."""
    (rings,) = axes.plot(
        [x for x, _ in places],
        [y for _, y in places],
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


def _bars(placed: Placed) -> list[tuple[Point, Point]]:
    """Both intervals of an arm, finite; one beyond the border has no bar across it."""
    (x, y), (right, up), arm = placed.place, placed.beyond, placed.arm
    (low, high), (bottom, top) = (
        (max(start, middle - FAR), min(end, middle + FAR))
        for (start, end), middle in ((arm.mean_interval, arm.mean), (arm.risk_interval, arm.risk))
    )
    across = [] if right else [((low, y), (high, y))]
    return [*across, *([] if up else [((x, bottom), (x, top))])]


def _arrows(placed: Mapping[str, Placed]) -> list[tuple[Point, Point]]:
    """From each arm that was dropped to the one that beats it."""
    found = []
    for each in placed.values():
        better = placed.get(getattr(each.arm, "beaten_by", None) or "")
        if better is not None and each.arm.verdict != "in":
            found.append((each.place, better.place))
    return found


def _draw_beaten(
    axes: Axes, placed: Mapping[str, Placed], stairs: Sequence[Point], asked: PlaneOptions, limits: Limits
) -> Iterator[Artist]:
    """Gray for what measured worse than some arm in both; arrows to the arms that beat others; the good corner."""
    costs = asked.direction == "minimize"
    if stairs:
        corner = limits[0][1] if costs else limits[0][0], limits[1][1]
        axes.fill(*zip(*stairs, corner, strict=True), color=style.SHADE, linewidth=0.0, zorder=0.3)
        yield Patch(facecolor=style.SHADE, label="measured worse in both")
    arrows = _arrows(placed)
    for start, end in arrows if len(arrows) <= ARROWS else ():
        looks = {"arrowstyle": "->", "color": style.GREY, "linewidth": 0.8, "shrinkA": 4.0, "shrinkB": 5.0}
        axes.annotate("", end, start, arrowprops=looks, zorder=2.2)
    if 0 < len(arrows) <= ARROWS:
        yield Line2D([], [], color=style.GREY, linewidth=0.8, marker=">", markersize=3.0, label="dropped in favor of")
    across, up = 0.015 if costs else 0.985, 0.97 if asked.turned else 0.03
    arrow = {(True, True): "↖", (True, False): "↙", (False, True): "↗", (False, False): "↘"}[costs, asked.turned]
    words = f"{arrow} best corner" if costs else f"best corner {arrow}"
    axes.text(
        across, up, words, transform=axes.transAxes, fontsize=style.LABEL_SIZE, color=style.GREY,
        horizontalalignment="left" if costs else "right", verticalalignment="top" if asked.turned else "bottom",
    )  # fmt: skip


def _bar_opacity(number: int, important: bool) -> float:
    """Many crosses are drawn lightly, so that one sees where they lie dense; others than those that matter sooner."""
    return max(0.12, min(0.8, (40.0 if important else 12.0) / number))


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


def _label(placed: Placed, labels: Mapping[str, str], asked: PlaneOptions, dispensable: bool) -> Label:
    """The name of an arm; beyond the border also the numbers that cannot be read from the axes."""
    arm, (right, up) = placed.arm, placed.beyond
    mark = style.CONTROL if arm.name == asked.control else style.MARKS[arm.verdict]
    told = [f"mean {arm.mean:.3g}"] if right else []
    word = asked.risk or "risk"
    told += [f"{word[0].lower()}{word[1:]} {arm.risk_shown:.3g}"] if up else []
    text = "\n".join([labels.get(arm.name, arm.name), *told])
    return Label(text, *placed.place, mark.colour, dispensable and not any(placed.beyond))
