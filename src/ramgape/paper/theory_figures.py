"""The figures on theory: caps on pulls, the bound of Theorem 1, and the gaps of appendix A.

The gaps are drawn as lengths in the mean-risk plane: three arms, the distances between them, and what follows. M(i, j)
is the larger of two leads of i over j, in the mean and in the risk; so it is the length of one horizontal or vertical
line. A gap is one of these lengths, or the sum of two, and is drawn from its parts. Nothing is placed by hand: ends
come from the arms, and lines stand next to them in lanes of equal distance.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from matplotlib import patheffects
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Polygon

from ramgape.paper.drawing import (
    BLACK,
    BLUE,
    DASHES,
    SHADE,
    VERMILLION,
    WIDTH,
    drawing,
    mark_handle,
    name_rows,
    options,
    row_of_axes,
    write_legend,
)
from ramgape.views.plots import style, ticks
from ramgape.views.plots.crosses import pareto_stairs

Point = tuple[float, float]
Limits = tuple[Point, Point]

LANE = 0.17  # distance of two lanes, as a part of the arms' range
COLOURS = {
    "M(i,j)": style.PALETTE["bluish green"],
    "M(j,i)": BLACK,
    "M(i,k)": BLACK,
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

    @property
    def lane(self) -> float:
        """The distance of two lanes."""
        means, risks = zip(*self.arms.values(), strict=True)
        return LANE * float(max(max(means) - min(means), max(risks) - min(risks)))

    def number(self, name: str) -> str:
        """A distance with as many decimals as all of them need, two or three."""
        short = all(equal(distance, round(distance, 2)) for distance in self.distances.values())
        return f"{self.distances[name]:.{2 if short else 3}f}"


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
    side: str = "left"

    @property
    def length(self) -> float:
        return math.dist(self.start, self.end)

    @property
    def upright(self) -> bool:
        return abs(self.end[1] - self.start[1]) > abs(self.end[0] - self.start[0])


def equal(one: float, other: float) -> bool:
    """Whether two lengths are the same."""
    return math.isclose(one, other, rel_tol=1e-6, abs_tol=1e-12)


def symbol(name: str) -> str:
    """The formula of a distance."""
    return rf"$\Delta_{name[-1]}$" if name.startswith("gap") else f"${name}$"


def dimensions(case: GapCase) -> list[Dimension]:
    """Every distance of the case as a line of that length, each in a lane of its own next to the arms."""
    means, risks = zip(*case.arms.values(), strict=True)
    bottom = min(risks) - case.lane
    return [
        *leads(case, min(means), max(risks)),
        shortfall(case, max(means) + case.lane, bottom - 2.0 * case.lane),
        *front_gap(case, "gap i", (case.arms["i"][0], bottom), 1.0),
        *front_gap(case, "gap j", (case.arms["j"][0], bottom - case.lane), -1.0),
    ]


def leads(case: GapCase, left: float, top: float) -> Iterator[Dimension]:
    """The distances between two arms: leads in risk to the left of the arms, leads in the mean above them."""
    order = ("M(i,j)", "M(i,k)", "M(k,i)", "M(j,i)"), ("M(k,i)", "M(j,i)", "M(i,j)", "M(i,k)")
    for upright, pairs in zip((True, False), order, strict=True):
        rank = 0
        for pair in pairs:
            one, other = case.arms[pair[2]], case.arms[pair[4]]
            if equal(case.distances[pair], other[1] - one[1]) == upright:
                rank += 1
                start, end = ((left - rank * case.lane, arm[1]) for arm in (one, other))
                if not upright:
                    start, end = ((arm[0], top + rank * case.lane) for arm in (one, other))
                text = f"{symbol(pair)} = {case.number(pair)}"
                yield Dimension(text, start, end, COLOURS[pair], (one, other), "left" if upright else "center")


def shortfall(case: GapCase, right: float, bottom: float) -> Dimension:
    """The gap of k: how far it is behind in the objective in which it is less behind."""
    arm, length, name = case.arms["k"], case.distances["gap k"], "gap k"
    text = f"{symbol(name)} = {case.number(name)}"
    other = next(each for each in (case.arms["j"], case.arms["i"]) if lags(arm, each, length))
    if equal(length, arm[1] - other[1]):
        return Dimension(text, (right, other[1]), (right, arm[1]), COLOURS[name], (other, arm), "right")
    return Dimension(text, (arm[0], bottom), (other[0], bottom), COLOURS[name], (arm, other), "center")


def lags(arm: Point, other: Point, length: float) -> bool:
    """Whether an arm is so far behind another in the mean or in the risk."""
    return equal(length, arm[1] - other[1]) or equal(length, other[0] - arm[0])


def front_gap(case: GapCase, name: str, start: Point, direction: float) -> Iterator[Dimension]:
    """The gap of an arm of the front, end to end from the lengths that it is made of: a distance, or the way over k."""
    arm, (mean, risk) = case.arms[name[-1]], case.arms["k"]
    parts = [pair for pair in ("M(i,j)", "M(j,i)") if equal(case.distances[name], case.distances[pair])][:1]
    if not parts:
        parts = [f"M(k,{name[-1]})", "gap k"] if max(mean - arm[0], arm[1] - risk) > 0.0 else ["gap k"]
    text = f"{symbol(name)} = {' + '.join(map(symbol, parts))} = {case.number(name)}"
    x, y = start
    for part in parts:
        end = x + direction * case.distances[part]
        yield Dimension(text, (x, y), (end, y), COLOURS[part], side="right" if direction < 0.0 else "left")
        x, text = end, ""  # the name stands over all of it


def extent(case: GapCase) -> Limits:
    """Limits with room for the arms, all the lines and their names."""
    points = [*case.arms.values(), *(point for line in dimensions(case) for point in (line.start, line.end))]
    across, up = zip(*points, strict=True)
    lane = case.lane
    return (min(across) - lane, max(across) + lane), (min(up) - 0.6 * lane, max(up) + lane)


def draw_gaps(axes: Axes, case: GapCase, limits: Limits) -> None:
    """Draw the arms, the region that i and j dominate, and all lengths, with one scale for both axes."""
    axes.set(xlim=limits[0], ylim=limits[1], aspect="equal")
    axes.grid(visible=False)
    stairs = pareto_stairs([case.arms["i"], case.arms["j"]], "maximize")
    left, top = limits[0][0], limits[1][1]
    corners = [(left, top), (left, stairs[0][1]), *stairs, (stairs[-1][0], top)]
    axes.add_patch(Polygon(corners, facecolor=SHADE, linewidth=0.0, zorder=0.5, label="dominated by i or j"))
    for line in dimensions(case):
        draw_dimension(axes, line)
    for name, place in case.arms.items():
        axes.plot(*place, label=f"arm {name}", **arm_look(name), zorder=6)
        axes.annotate(
            f"${name}$",
            place,
            xytext=(6.0, 2.0),
            textcoords="offset points",
            verticalalignment="bottom",
            fontsize=style.PRINTED_TEXT + 2.0,
            zorder=7,
        )


def draw_dimension(axes: Axes, line: Dimension) -> None:
    """Draw a length with its name, and thin lines to the arms."""
    for (x, y), target in zip((line.start, line.end), line.reach, strict=False):
        axes.plot([x, target[0]], [y, target[1]], color=style.GREY, linewidth=0.8, linestyle=(0, (1, 2)), zorder=1.0)
    arrow = {"arrowstyle": "|-|,widthA=0.2,widthB=0.2", "color": line.colour, "linewidth": 1.8}
    axes.annotate("", line.end, xytext=line.start, zorder=4, arrowprops={**arrow, "shrinkA": 0.0, "shrinkB": 0.0})
    if not line.text:
        return
    first, last = sorted((line.start, line.end))
    middle = ((first[0] + last[0]) / 2.0, (first[1] + last[1]) / 2.0)
    if line.upright:
        right = line.side == "right"
        anchor, offset, flush = middle, (4.0 if right else -4.0, 0.0), "left" if right else "right"
    else:
        anchor, offset, flush = {"left": first, "center": middle, "right": last}[line.side], (0.0, 4.0), line.side
    # Thin lines end at the letters; the ground under the letters is mostly shaded but for the gaps.
    ground = "white" if line.side == "right" or not line.reach else SHADE
    axes.annotate(
        line.text,
        anchor,
        xytext=offset,
        textcoords="offset points",
        rotation=90.0 if line.upright else 0.0,
        horizontalalignment=flush,
        verticalalignment="center" if line.upright else "bottom",
        color=line.colour if line.reach else BLACK,  # gaps of the front have lines of several colors
        zorder=5,
        path_effects=[patheffects.withStroke(linewidth=2.0, foreground=ground)],
    )


def arm_look(name: str) -> dict[str, Any]:
    """How an arm is drawn."""
    return {**style.MARKS["out" if name == "k" else "in"].points(8.0), "markeredgewidth": 1.5}


def gap_handles() -> list[Line2D | Patch]:
    """The legend of these panels."""
    marks = [("i", "Pareto arms $i$, $j$"), ("k", "suboptimal arm $k$")]
    arms = [Line2D([], [], label=label, **arm_look(name)) for name, label in marks]
    return [*arms, Patch(color=SHADE, label="dominated by $i$ or $j$")]


def gap_geometry(cases: Sequence[GapCase]) -> Figure:
    """The gaps of three arms as lengths, all on one scale, one panel per case."""
    extents = np.array([extent(case) for case in cases])  # case, axis, end
    lows, highs = extents[:, :, 0].min(axis=0).tolist(), extents[:, :, 1].max(axis=0).tolist()
    limits = ((lows[0], highs[0]), (lows[1], highs[1]))
    panel = (WIDTH - 0.8) / len(cases) - 0.15  # the width of one, in inches
    with drawing(1.2 + panel * (highs[1] - lows[1]) / (highs[0] - lows[0])) as figure:
        grid = row_of_axes(figure, len(cases))
        for letter, axes, case in zip("abcdefgh", grid, cases, strict=False):
            draw_gaps(axes, case, limits)
            relation = "<" if case.distances["M(k,i)"] < case.distances["M(i,j)"] else "≥"
            axes.set_title(f"({letter})  $M(k,i)$ {relation} $M(i,j)$")
            axes.set_xlabel("Mean reward μ  (higher is better →)")
        grid[0].set_ylabel("Scaled risk ξ  (← lower is better)")
        write_legend(figure, gap_handles())
    return figure


def pulls_against_cap(rows: Sequence[tuple[float, Sequence[int], int, int]]) -> Figure:
    """The most pulled arm of every run, as a part of the correct cap on its pulls.

    Args:
        rows: Epsilon, the largest number of pulls of one arm in each run, the paper's cap, the correct cap.
    """
    kinds = {"one run": (BLUE, "o"), "above the paper's cap": (VERMILLION, "^")}
    dashed, solid = options(linewidth=1.4, linestyle=DASHES, color=BLACK), options(linewidth=1.6, color=BLACK)
    shares = [part / cap for _, counts, paper, cap in rows for part in (*counts, paper, cap)]
    margin = 0.06 * (max(shares) - min(shares) or 1.0)
    with drawing(1.6 + 1.0 * len(rows)) as figure:
        axes = figure.subplots()
        name_rows(axes, [f"ε = {epsilon:g}" for epsilon, *_ in rows])
        axes.set(ylim=(len(rows) - 0.45, -0.55), xlim=(min(shares) - margin, max(shares) + margin))
        axes.axvline(1.0, **solid, zorder=2)
        for row, (_, counts, paper, cap) in enumerate(rows):
            axes.plot([paper / cap] * 2, [row - 0.42, row + 0.42], **dashed, zorder=2)
            for place, count in enumerate(sorted(counts)):
                # Runs next to each other in order have different heights, so that no dot hides another one.
                colour, marker = kinds["above the paper's cap" if count > paper else "one run"]
                height = row + 0.08 * ((place % 7 + 1) // 2) * (-1) ** place
                axes.plot(
                    [count / cap], [height], color=colour, marker=marker, markersize=5.0, linestyle="none", zorder=3
                )
            above = sum(count > paper for count in counts)
            words = f"correct: {cap:,}\npaper's: {paper:,}\nabove it: {above:,} of {len(counts):,}"
            beside = options(xycoords=axes.get_yaxis_transform(), xytext=(8.0, 0.0), textcoords="offset points")
            axes.annotate(words, (1.0, row), **beside, verticalalignment="center", annotation_clip=False)
        axes.set_xlabel("Pulls of the most pulled arm, as a part of the correct cap")
        marks = [mark_handle(label, color=colour, marker=marker) for label, (colour, marker) in kinds.items()]
        lines = [
            mark_handle("the paper's cap", **dashed),
            mark_handle("the correct cap", **{"linestyle": "-", **solid}),
        ]
        write_legend(figure, [*marks, *lines])
    return figure


def informative_from(budgets: Sequence[float], bounds: Sequence[float], limits: Point) -> float:
    """The budget from which on a bound stays below 1; the edge of the picture where that is never so, or always.

    >>> informative_from([1.0, 100.0], [10.0, 0.1], (0.5, 200.0))
    10.0
    >>> informative_from([1.0, 100.0], [10.0, 2.0], (0.5, 200.0))
    200.0
    """
    above = [place for place, bound in enumerate(bounds) if bound >= 1.0]
    if not above or above[-1] == len(bounds) - 1:
        return limits[1] if above else limits[0]
    # Where the straight line between two points, on logarithmic axes, comes down to 1.
    start, end = (math.log(min(max(bound, 1e-300), 1e300)) for bound in bounds[above[-1] : above[-1] + 2])
    first, second = budgets[above[-1] : above[-1] + 2]
    return float(first * (second / first) ** (start / (start - end)))


def theorem_one(
    budgets: Sequence[float],
    frequencies: Sequence[float],
    intervals: Sequence[tuple[float, float]],
    bounds: Sequence[float],
) -> Figure:
    """How often the simple regret reached epsilon, against the chance of that which Theorem 1 allows.

    A share of zero has no place on a logarithmic axis: an arrow leads down from the upper end of its interval.
    """
    factor = (max(budgets) / min(budgets)) ** 0.06 if max(budgets) > min(budgets) else 1.5
    limits = (min(budgets) / factor, max(budgets) * factor)
    seen = list(zip(budgets, frequencies, intervals, strict=True))
    bottom = float(10.0 ** math.floor(math.log10(min([0.03, *(share or high for _, share, (_, high) in seen)])) - 0.5))
    edge = informative_from(budgets, bounds, limits)
    corner = [(edge, 1.0)] if budgets[0] < edge < budgets[-1] else []
    bound = sorted([*zip(budgets, np.clip(bounds, 1e-300, 1.0).tolist(), strict=True), *corner])
    blue, dashed = options(color=BLUE, linewidth=1.6), options(color=VERMILLION, linewidth=2.0, linestyle=(0, (5, 1.6)))
    with drawing(4.6) as figure:
        axes = figure.subplots()
        axes.set(xscale="log", yscale="log", xlim=limits, ylim=(bottom, 1.6))
        ticks.log_counts(axes.xaxis, limits)
        ticks.log_percents(axes.yaxis)
        axes.axvspan(limits[0], edge, color=SHADE, linewidth=0.0, zorder=0.5)
        axes.plot(*zip(*bound, strict=True), **dashed, label="bound", zorder=3)
        for budget, share, (low, high) in seen:
            if share > 0.0:
                axes.plot([budget, budget], [max(low, bottom), high], **blue, zorder=4)
            else:
                arrow = options(arrowstyle="-|>", **blue, shrinkA=0.0, shrinkB=0.0)
                axes.annotate("", (budget, bottom), xytext=(budget, high), arrowprops=arrow, zorder=4)
                axes.plot([budget], [high], linestyle="none", marker="_", markersize=10.0, color=BLUE, zorder=4)
        points = np.array([(budget, share) for budget, share, _ in seen if share > 0.0]).reshape(-1, 2).T
        axes.plot(*points, linestyle="none", marker="o", markersize=7.0, color=BLUE, label="observed", zorder=5)
        axes.set(xlabel="Budget n (pulls)", ylabel="Runs with simple regret ≥ ε")
        handles: list[Artist] = [
            mark_handle("observed share, 95% interval", marker="o", linestyle="-", **blue),
            mark_handle("no such run: 95% upper end", marker="v", linestyle="-", **blue),
            mark_handle("bound of Theorem 1, at most 1", **dashed),
            Patch(color=SHADE, label="bound above 1: says nothing"),
        ]
        write_legend(figure, handles)
    return figure
