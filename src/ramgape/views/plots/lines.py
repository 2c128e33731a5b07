"""What an answer goes by, as lines in the mean-risk plane: a ceiling, a floor, a control, where scores are the same.

Where no arm of the answer can be is grey. Lines differ by their dashes, and the legend says what they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ramgape.common.plane import PlaneLine
from ramgape.views.plots import style

Point = tuple[float, float]
Limits = tuple[Point, Point]  # of the horizontal axis, and of the vertical one

DASHES: Sequence[str | tuple[int, tuple[float, ...]]] = ("solid", (0, (6.0, 2.0)), (0, (1.0, 1.5)))
FAR = 12.0  # a line is brought into the picture if that grows by no more than so many times its size
ROOM = 0.06  # beyond such a line
PIECES = 40  # of a slanting line, so that names keep away from the line and not from a large box around it


def reaching(limits: Limits, lines: Sequence[PlaneLine]) -> Limits:
    """Limits that show the lines, too, as far as that leaves the arms readable; a slanting one goes through an arm."""
    means, risks = limits
    for line in lines:
        if line.risk_weight == 0.0:
            means = _with_place(means, line.value / line.mean_weight)
        elif line.mean_weight == 0.0:
            risks = _with_place(risks, line.value / line.risk_weight)
    return means, risks


def _with_place(limits: Point, place: float) -> Point:
    (low, high), span = limits, limits[1] - limits[0]
    if not low - FAR * span <= place <= high + FAR * span:
        return limits
    room = ROOM * (max(high, place) - min(low, place))
    return min(low, place - room), max(high, place + room)


def draw_lines(
    axes: Axes, lines: Sequence[PlaneLine], limits: Limits
) -> tuple[list[Line2D], list[tuple[Point, Point]]]:
    """Draw them, and grey where the answer cannot be; what the legend says, and the lines in short pieces."""
    handles, pieces = [], []
    for number, line in enumerate(lines):
        ends, outside = cut_by(line, limits)
        if line.limit and len(outside) > 2:
            axes.fill(*zip(*outside, strict=True), color=style.SHADE, linewidth=0.0, zorder=0.3)
        words = line.words if ends else f"{line.words} (outside the picture)"
        (drawn,) = axes.plot(
            [x for x, _ in ends],
            [y for _, y in ends],
            color=style.PALETTE["black"],
            linewidth=1.3,
            linestyle=DASHES[min(number, len(DASHES) - 1)],
            label=style.in_legend(words),
            zorder=2.6,
        )
        handles.append(drawn)
        pieces += in_pieces(ends)
    return handles, pieces


def cut_by(line: PlaneLine, limits: Limits) -> tuple[list[Point], list[Point]]:
    """The ends of the line in the picture, none where it is outside; and the corners of what it excludes.

    >>> cut_by(PlaneLine(1.0, 0.0, 0.25, "mean at least 0.25"), ((0.0, 1.0), (0.0, 2.0)))
    ([(0.25, 0.0), (0.25, 2.0)], [(0.0, 0.0), (0.25, 0.0), (0.25, 2.0), (0.0, 2.0)])
    """
    (left, right), (bottom, top) = limits
    around = [(left, bottom), (right, bottom), (right, top), (left, top)]
    sides = [line.mean_weight * x + line.risk_weight * y - line.value for x, y in around]
    ends: list[Point] = []
    outside: list[Point] = []
    for (x, y), (next_x, next_y), side, next_side in zip(
        around, around[1:] + around[:1], sides, sides[1:] + sides[:1], strict=True
    ):
        if side < 0.0:
            outside.append((x, y))
        if side * next_side < 0.0:
            part = side / (side - next_side)
            ends.append((x + part * (next_x - x), y + part * (next_y - y)))
            outside.append(ends[-1])
    return ends, outside


def in_pieces(ends: Sequence[Point]) -> list[tuple[Point, Point]]:
    """A line as short ones."""
    if len(ends) < 2:
        return []
    (x0, y0), (x1, y1) = ends
    points = [(x0 + (x1 - x0) * k / PIECES, y0 + (y1 - y0) * k / PIECES) for k in range(PIECES + 1)]
    return list(pairwise(points))
