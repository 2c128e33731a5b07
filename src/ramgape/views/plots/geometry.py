"""The paper's gaps as lengths in the mean-risk plane: three arms, the distances between them, and what follows.

M(i, j) is the larger of two leads of i over j, in the mean and in the risk; so it is always the length of one
horizontal or vertical line. A gap is one of these lengths, or the sum of two, and is drawn from its parts.
Nothing here is placed by hand: ends come from the arms, and lines stand beside them in lanes of equal distance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from matplotlib import patheffects
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Polygon

from ramgape.errors import InvalidSpec, require
from ramgape.views.plots import style
from ramgape.views.plots.crosses import pareto_stairs

Point = tuple[float, float]
Limits = tuple[Point, Point]
Side = Literal["left", "center", "right"]

LANE = 0.17  # distance of two lanes, as a part of the arms' range
SHADE = "#EDEDED"  # of what some arm dominates

COLOURS = {
    "M(i,j)": style.PALETTE["bluish green"],
    "M(j,i)": style.PALETTE["black"],
    "M(i,k)": style.PALETTE["black"],
    "M(k,i)": style.PALETTE["vermillion"],
    "gap k": style.PALETTE["blue"],
}


@dataclass(frozen=True, slots=True)
class GapCase:
    """Arms i and j on the front, arm k dominated by j: their (mean, risk), and the lengths that belong to them.

    Attributes:
        distances: "M(i,k)", "M(k,i)", "M(i,j)", "M(j,i)", "gap i", "gap j", "gap k".
    """

    arms: Mapping[str, Point]
    distances: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Dimension:
    """A length in the plane, between two points.

    Attributes:
        reach: The points that thin lines lead to from its ends.
        side: Of an upright line: where its name stands; of a level one: which ends of line and name are flush.
    """

    text: str
    start: Point
    end: Point
    colour: str
    reach: tuple[Point, ...] = ()
    side: Side = "left"

    @property
    def length(self) -> float:
        return math.dist(self.start, self.end)

    @property
    def upright(self) -> bool:
        return abs(self.end[1] - self.start[1]) > abs(self.end[0] - self.start[0])


def dimensions(case: GapCase) -> list[Dimension]:
    """Every distance of the case as a line of that length, each in a lane of its own beside the arms."""
    means, risks = zip(*case.arms.values(), strict=True)
    lane = LANE * max(max(means) - min(means), max(risks) - min(risks))
    upright = [pair for pair in ("M(i,j)", "M(i,k)", "M(k,i)", "M(j,i)") if _is_upright(case, pair)]
    level = [pair for pair in ("M(k,i)", "M(j,i)", "M(i,j)", "M(i,k)") if not _is_upright(case, pair)]
    drawn = []
    for rank, pair in enumerate(upright, start=1):
        drawn.append(_between(case, pair, min(means) - rank * lane, upright=True))
    for rank, pair in enumerate(level, start=1):
        drawn.append(_between(case, pair, max(risks) + rank * lane, upright=False))
    drawn.append(_shortfall(case, lane))
    mean_i, mean_j = case.arms["i"][0], case.arms["j"][0]
    bottom = min(risks) - lane
    drawn += _gap(case, "gap i", (mean_i, bottom), 1.0)
    drawn += _gap(case, "gap j", (mean_j, bottom - lane), -1.0)
    return drawn


def extent(case: GapCase) -> Limits:
    """Limits with room for the arms, all the lines and their names."""
    means, risks = zip(*case.arms.values(), strict=True)
    lane = LANE * max(max(means) - min(means), max(risks) - min(risks))
    ends = [point for line in dimensions(case) for point in (line.start, line.end)]
    across, up = [x for x, _ in ends], [y for _, y in ends]
    return (
        (min([*means, *across]) - lane, max([*means, *across]) + lane),
        (min([*risks, *up]) - 0.6 * lane, max([*risks, *up]) + lane),
    )


def draw_gaps(axes: Axes, case: GapCase, limits: Limits) -> None:
    """Draw the arms, the region that i and j dominate, and all lengths, with one scale for both axes."""
    axes.set_xlim(*limits[0])
    axes.set_ylim(*limits[1])
    axes.set_aspect("equal")
    axes.grid(visible=False)
    stairs = pareto_stairs([case.arms["i"], case.arms["j"]], "maximize")
    left, top = limits[0][0], limits[1][1]
    corners = [(left, top), (left, stairs[0][1]), *stairs, (stairs[-1][0], top)]
    axes.add_patch(Polygon(corners, facecolor=SHADE, linewidth=0.0, zorder=0.5, label="dominated by i or j"))
    for line in dimensions(case):
        _draw_dimension(axes, line)
    for name, (mean, risk) in case.arms.items():
        point = _arm_handle(name)
        point.set_data([mean], [risk])
        axes.add_line(point)
        axes.annotate(
            f"${name}$",
            (mean, risk),
            xytext=(6.0, 2.0),
            textcoords="offset points",
            verticalalignment="bottom",
            fontsize=style.PRINTED_TEXT + 2.0,
            zorder=7,
        )


def gap_handles() -> list[Line2D | Patch]:
    """The legend of these panels."""
    front, dominated = _arm_handle("i"), _arm_handle("k")
    front.set_label("Pareto arms $i$, $j$")
    dominated.set_label("suboptimal arm $k$")
    return [front, dominated, Patch(color=SHADE, label="dominated by $i$ or $j$")]


def _arm_handle(name: str) -> Line2D:
    mark = style.MARKS["out" if name == "k" else "in"]
    return Line2D(
        [],
        [],
        marker=mark.marker,
        markersize=8.0,
        markerfacecolor=mark.colour if mark.filled else "white",
        markeredgecolor=mark.colour,
        markeredgewidth=1.5,
        linestyle="none",
        label=f"arm {name}",
        zorder=6,
    )


def _is_upright(case: GapCase, pair: str) -> bool:
    """Whether the lead that a pair's distance stands for is one in risk; it must be one or the other."""
    first, second = (case.arms[name] for name in pair[2:-1].split(","))
    in_mean, in_risk = first[0] - second[0], second[1] - first[1]
    length = case.distances[pair]
    known = _equal(length, in_risk) or _equal(length, in_mean)
    require(known, pair, f"{in_mean:.6g}, the lead in the mean, or {in_risk:.6g}, that in the risk", length)
    return _equal(length, in_risk)


def _between(case: GapCase, pair: str, lane: float, upright: bool) -> Dimension:
    first, second = (case.arms[name] for name in pair[2:-1].split(","))
    if upright:
        start, end = (lane, first[1]), (lane, second[1])
    else:
        start, end = (first[0], lane), (second[0], lane)
    side: Side = "left" if upright else "center"
    return Dimension(_equation(case, pair), start, end, COLOURS[pair], (first, second), side)


def _shortfall(case: GapCase, lane: float) -> Dimension:
    """The gap of k: how far it is behind in the objective in which it is less behind."""
    (mean, risk), length = case.arms["k"], case.distances["gap k"]
    right = max(mean for mean, _ in case.arms.values()) + lane
    bottom = min(risk for _, risk in case.arms.values()) - 3.0 * lane
    text, colour = _equation(case, "gap k"), COLOURS["gap k"]
    for other in (case.arms["j"], case.arms["i"]):
        if _equal(length, risk - other[1]):
            return Dimension(text, (right, other[1]), (right, risk), colour, (other, case.arms["k"]), "right")
        if _equal(length, other[0] - mean):
            return Dimension(text, (mean, bottom), (other[0], bottom), colour, (case.arms["k"], other), "center")
    raise InvalidSpec(what="gap k", allowed="how far k is behind i or j in mean or in risk", given=repr(length))


def _gap(case: GapCase, name: str, start: Point, direction: float) -> list[Dimension]:
    """The gap of an arm of the front, put together end to end from the lengths that it is made of."""
    length, parts = case.distances[name], _parts(case, name)
    whole = sum(part for _, part in parts)
    require(_equal(whole, length), name, f"{whole:.6g}, the sum of its parts", length)
    drawn = []
    x, y = start
    for symbol, part in parts:
        drawn.append(Dimension("", (x, y), (x + direction * part, y), COLOURS[symbol]))
        x += direction * part
    # Its name stands over all of it, and says what it is made of.
    made_of = " + ".join(_symbol(symbol) for symbol, _ in parts)
    text = f"{_symbol(name)} = {made_of} = {_number(case, name)}"
    drawn[0] = replace(drawn[0], text=text, side="right" if direction < 0.0 else "left")
    return drawn


def _parts(case: GapCase, name: str) -> list[tuple[str, float]]:
    """What a gap of the front consists of: a distance to the other arm of it, or the way over k."""
    length, arm = case.distances[name], case.arms[name[-1]]
    for pair in ("M(i,j)", "M(j,i)"):
        if _equal(length, case.distances[pair]):
            return [(pair, length)]
    mean, risk = case.arms["k"]
    over = max(mean - arm[0], arm[1] - risk, 0.0)
    parts = [(f"M(k,{name[-1]})", over)] if over > 0.0 else []
    return [*parts, ("gap k", case.distances["gap k"])]


def _equal(one: float, other: float) -> bool:
    return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-12)


def _symbol(name: str) -> str:
    return rf"$\Delta_{name[-1]}$" if name.startswith("gap") else f"${name}$"


def _equation(case: GapCase, name: str) -> str:
    return f"{_symbol(name)} = {_number(case, name)}"


def _number(case: GapCase, name: str) -> str:
    """A distance with as many decimals as all of them need, two or three."""
    short = all(_equal(distance, round(distance, 2)) for distance in case.distances.values())
    return f"{case.distances[name]:.{2 if short else 3}f}"


def _draw_dimension(axes: Axes, line: Dimension) -> None:
    for (x, y), target in zip((line.start, line.end), line.reach, strict=False):
        axes.plot([x, target[0]], [y, target[1]], color=style.GREY, linewidth=0.8, linestyle=(0, (1, 2)), zorder=1.0)
    axes.annotate(
        "",
        line.end,
        xytext=line.start,
        zorder=4,
        arrowprops={
            "arrowstyle": "|-|,widthA=0.2,widthB=0.2",
            "color": line.colour,
            "linewidth": 1.8,
            "shrinkA": 0.0,
            "shrinkB": 0.0,
        },
    )
    if not line.text:
        return
    (left, low), (right, high) = sorted((line.start, line.end))
    middle = ((left + right) / 2.0, (low + high) / 2.0)
    if line.upright:
        anchor, offset = middle, (4.0 if line.side == "right" else -4.0, 0.0)
        flush = "left" if line.side == "right" else "right"
    else:
        anchor, offset = {"left": (left, low), "center": middle, "right": (right, high)}[line.side], (0.0, 4.0)
        flush = line.side
    # Thin lines end at the letters; what they stand on is mostly shaded but for the gaps.
    ground = "white" if line.side == "right" or not line.reach else SHADE
    axes.annotate(
        line.text,
        anchor,
        xytext=offset,
        textcoords="offset points",
        rotation=90.0 if line.upright else 0.0,
        horizontalalignment=flush,
        verticalalignment="center" if line.upright else "bottom",
        # A gap of the front is put together from lines of several colours.
        color=line.colour if line.reach else style.PALETTE["black"],
        zorder=5,
        path_effects=[patheffects.withStroke(linewidth=2.0, foreground=ground)],
    )


def union(limits: Sequence[Limits]) -> Limits:
    """Limits that contain all of these."""
    return (
        (min(x[0] for x, _ in limits), max(x[1] for x, _ in limits)),
        (min(y[0] for _, y in limits), max(y[1] for _, y in limits)),
    )
