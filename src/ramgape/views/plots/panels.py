"""A result with several outcomes: a panel for each objective and constraint, or two objectives against each other."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from matplotlib.axes import Axes

from ramgape.common.formatting import cut
from ramgape.errors import printable
from ramgape.views.plots import style
from ramgape.views.sentence import answer_sentence, choose_arms

if TYPE_CHECKING:
    from ramgape.search.result import ArmReport, Result

ROWS, NAME_WIDTH = 30, 24


def draw_panels(result: Result, axes: Axes | None, plane: bool) -> Axes:
    """Rows of arms, with an estimate and its interval in each objective and constraint.

    Args:
        result: The result.
        axes: Axes for the first panel alone; None for a figure of its own.
        plane: Draw the first two objectives against each other instead.
    """
    arms = choose_arms(result, ROWS)[0]
    if plane and len(arms[0].objectives) >= 2:
        return _draw_plane(result, arms, axes)
    panels: list[tuple[str, list[Any], str]] = [
        (text, [arm.objectives[text] for arm in arms], "") for text in arms[0].objectives
    ]
    panels += [(each.text, [arm.constraints[each.text] for arm in arms], each.text) for each in result.constraints]
    if axes is None:
        title = "\n".join(textwrap.wrap(printable(answer_sentence(result)), 40 * len(panels) + 20))
        figure = style.new_figure(3.0 * len(panels) + 1.4, 0.34 * len(arms) + 1.7, title=title)
        drawn = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0].tolist()
    else:
        drawn, panels = [axes], panels[:1]
    for place, (each, (text, numbers, limit)) in enumerate(zip(drawn, panels, strict=True)):
        for row, (arm, number) in enumerate(zip(arms, numbers, strict=True)):
            _draw_row(result, each, arm, number, row)
        _clip(each, numbers)
        if limit:
            _shade_beyond(each, limit)
        each.set_xlabel(printable(text), parse_math=False)
        if place == 0:
            names = [style.drawable(cut(printable(arm.name), NAME_WIDTH)) for arm in arms]
            each.set_yticks(range(len(arms)), names, parse_math=False)
            each.set_ylim(len(arms) - 0.5, -0.5)
        each.grid(visible=False, axis="y")
    first: Axes = drawn[0]
    return first


def _mark(result: Result, arm: ArmReport) -> style.Mark:
    return style.MARKS["in" if arm.name in result.answer else "open" if arm.word == "open" else "out"]


def _draw_row(result: Result, axes: Axes, arm: ArmReport, number: Any, row: int) -> None:
    mark = _mark(result, arm)
    if math.isfinite(number.high - number.low):
        axes.plot([number.low, number.high], [row, row], color=mark.colour, linewidth=1.8, solid_capstyle="butt")
    axes.plot([number.estimate], [row], zorder=mark.layer, **mark.points(style.MARKER_SIZE))


def _clip(axes: Axes, numbers: Sequence[Any]) -> None:
    """Intervals that are much wider than the estimates lie apart do not stretch the axis."""
    values = [each.estimate for each in numbers if math.isfinite(each.estimate)]
    ends = [end for each in numbers for end in (each.low, each.high) if math.isfinite(end)]
    if not values:
        return
    spread = (max(values) - min(values)) or abs(values[0]) or 1.0
    low, high = min([*values, *ends]), max([*values, *ends])
    axes.set_xlim(max(low, min(values) - spread) - 0.05 * spread, min(high, max(values) + spread) + 0.05 * spread)


def _shade_beyond(axes: Axes, limit: str) -> None:
    """What breaks a limit is gray."""
    try:
        at = float(limit.replace(">=", "<=").rpartition("<=")[2])
    except ValueError:  # a multiple of the control
        return
    start, end = axes.get_xlim()
    axes.axvline(at, color=style.PALETTE["black"], linewidth=1.0)
    axes.axvspan(*((at, end) if "<=" in limit else (start, at)), color=style.SHADE, linewidth=0, zorder=0.3)
    axes.set_xlim(start, end)


def _draw_plane(result: Result, arms: Sequence[ArmReport], axes: Axes | None) -> Axes:
    axes = style.new_figure().add_subplot() if axes is None else axes
    first, second = list(arms[0].objectives)[:2]
    for arm in arms:
        one, two, mark = arm.objectives[first], arm.objectives[second], _mark(result, arm)
        if math.isfinite(one.high - one.low):
            axes.plot([one.low, one.high], [two.estimate] * 2, color=mark.colour, linewidth=1.2)
        if math.isfinite(two.high - two.low):
            axes.plot([one.estimate] * 2, [two.low, two.high], color=mark.colour, linewidth=1.2)
        axes.plot([one.estimate], [two.estimate], zorder=mark.layer, **mark.points(style.MARKER_SIZE))
        name = style.drawable(cut(printable(arm.name), NAME_WIDTH))
        place = (one.estimate, two.estimate)
        axes.annotate(name, place, (4, 4), textcoords="offset points", parse_math=False)
    axes.set_xlabel(printable(first), parse_math=False)
    axes.set_ylabel(printable(second), parse_math=False)
    return axes
