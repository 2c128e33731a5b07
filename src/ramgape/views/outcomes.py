"""What is said of a result about several outcomes: the answer, a column for each statistic, a picture."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from ramgape.common.formatting import Digits, cut, list_names, plural, short_names
from ramgape.errors import printable
from ramgape.views.content import ENDINGS, ROWS, SYMBOLS, spending_words
from ramgape.views.explanation import Column, Explanation, Table, total_width

if TYPE_CHECKING:
    from ramgape.search.outcome_inference import OutcomeResult
    from ramgape.search.result import ArmReport

LIMITS = {"kept": "ok", "missed": "broken", "open": "?"}
HEADING_WIDTH = 16
FORMS = (("wide", 28), ("stacked", 24), ("stacked", 16), ("stacked", 10), ("narrow", 14), ("narrow", 8))


def explain_outcomes(result: OutcomeResult, ascii_only: bool = False) -> Explanation:
    """All that is said of a result about several outcomes.

    Args:
        result: The result.
        ascii_only: Whether to do without symbols.
    """
    arms = ordered(result)
    rest = "" if len(arms) <= ROWS else f"... and {len(arms) - ROWS:,} more"
    fit = partial(fit_columns, result, arms[:ROWS], symbols=not ascii_only)
    counts = f"{len(result.answer):,} of {plural(len(result.arms), 'arm')}"
    found = f"{list_names(result.answer) or result.empty_answer} ({counts})"
    word = result.answer_name[0].upper() + result.answer_name[1:]
    brief = f"{word}: {found}, after {plural(result.trials, 'trial')}"
    facts = [("Guarantee", result.guarantee)]
    if result.spent is not None:
        facts.append(("Spent", spending_words(result)))
    reached = "goal reached" if result.goal_reached else "goal not reached"
    facts += [
        ("Stopped", f"{ENDINGS[result.stopped]}; {reached}, after {plural(result.trials, 'trial')}"),
        ("Question", result.question),
        (
            "Method",
            f"policy {result.policy}, bound {result.bound}" + ("" if result.seed is None else f", seed {result.seed}"),
        ),
    ]
    facts += [("Note", note) for note in result.notes]
    said = [(word, printable(text)) for word, text in facts]
    table = Table(fit, rest=rest, missing=_without_intervals)
    return Explanation([printable(result.sentence)], said, [table], result.warnings, brief=printable(brief))


def ordered(result: OutcomeResult) -> list[ArmReport]:
    """The arms, those of the answer first; then a control; then by the first objective."""
    side = -1.0 if result.direction == "minimize" else 1.0

    def place(arm: ArmReport) -> tuple[float, float]:
        group = 0.0 if arm.name in result.answer else 1.0 if arm.name == result.control else 2.0
        return group, math.inf if math.isnan(arm.mean) else -side * arm.mean

    return sorted(result.arms, key=place)


def fit_columns(result: OutcomeResult, arms: Sequence[ArmReport], width: int | None, symbols: bool) -> list[Column]:
    """The richest form of the table that a width can hold."""
    if width is None:
        return build_columns(result, arms, "wide", 10_000, symbols)
    columns: list[Column] = []
    for form, limit in FORMS:
        columns = build_columns(result, arms, form, limit, symbols)
        if total_width(columns) <= width:
            break
    return columns


def build_columns(
    result: OutcomeResult, arms: Sequence[ArmReport], form: str, limit: int, symbols: bool
) -> list[Column]:
    """A row for each arm: its verdict, trials, objectives and constraints with intervals, and why.

    wide      everything in one line
    stacked   intervals and reasons in a second line
    narrow    without intervals
    """
    names = short_names((arm.name for arm in result.arms), limit)
    whys = {arm.name: printable(why) for arm, why in zip(result.arms, result.reasons, strict=True)}
    marks = [arm.verdict for arm in arms]
    verdicts = [_verdict(result, arm, symbols) for arm in arms]
    shown = [cut(whys[arm.name], 60 if form == "wide" else max(2 * limit, 20)) for arm in arms]
    columns = [
        Column("arm", [names[arm.name] for arm in arms], marks=marks, names=True),
        Column("verdict", verdicts, marks=marks),
        Column("trials", [f"{arm.trials:,}" for arm in arms], right=True),
    ]
    for text in arms[0].objectives:
        columns.append(_numbers(text, [arm.objectives[text] for arm in arms], form))
    for text in arms[0].constraints:
        limits = [arm.constraints[text] for arm in arms]
        columns.append(_numbers(text, limits, form, [LIMITS[each.verdict] for each in limits]))
    if any(shown) and form == "wide":
        columns.append(Column("why", shown, names=True))
    return columns


def _verdict(result: OutcomeResult, arm: ArmReport, symbols: bool) -> str:
    if arm.name == result.control:
        return "control"
    word: str = arm.verdict
    if arm.verdict == "undecided":
        word = "in so far" if arm.name in result.answer else "open"
    return f"{SYMBOLS[arm.verdict]} {word}" if symbols else word


def _numbers(text: str, numbers: Sequence[Any], form: str, marks: Sequence[str] = ()) -> Column:
    """Estimates with their intervals, and of a constraint whether it is kept."""
    digits = Digits.of([each.estimate for each in numbers], [(each.low, each.high) for each in numbers])
    cells = []
    for place, each in enumerate(numbers):
        low, high = digits.interval(each.low, each.high)
        value = digits.text(each.estimate) + (f" {marks[place]}" if marks else "")
        interval = (
            "known"
            if each.low == each.high
            else f"[{low}, {high}]"
            if math.isfinite(each.high - each.low)
            else "[not known]"
        )
        cells.append(value if form == "narrow" else f"{value}{' ' if form == 'wide' else chr(10)}{interval}")
    widest = max((len(line) for cell in cells for line in cell.split("\n")), default=0)
    heading = "\n".join(textwrap.wrap(printable(text), max(widest, HEADING_WIDTH)))
    return Column(heading, cells, right=True)


def _without_intervals(columns: Sequence[Column]) -> str:
    shown = any("[" in cell or "known" in cell for column in columns if not column.names for cell in column.cells)
    return "" if shown else "No room for the intervals: a wider window shows them."


def draw_outcomes(result: OutcomeResult, axes: Any = None, *, plane: bool = False) -> Any:
    """A panel for each objective and constraint, side by side, with the arms as rows: an estimate and its interval.

    Args:
        result: The result.
        axes: Axes of matplotlib for a result with one column; None for a figure of its own.
        plane: Draw the first two objectives against each other instead.
    """
    from matplotlib.figure import Figure

    arms = ordered(result)[:ROWS]
    if plane and len(arms[0].objectives) >= 2:
        return _draw_plane(result, arms, axes)
    panels: list[tuple[str, list[Any], str | None]] = [
        (text, [arm.objectives[text] for arm in arms], None) for text in arms[0].objectives
    ]
    for report in result.constraints:
        panels.append((report.text, [arm.constraints[report.text] for arm in arms], report.text))
    if axes is None:
        figure: Any = Figure(figsize=(3.2 * len(panels) + 1.4, 0.34 * len(arms) + 1.5), layout="constrained")
        drawn = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    else:
        figure, drawn, panels = axes.get_figure(), [axes], panels[:1]
    colors = {"in": "C2", "out": "0.6", "undecided": "C1"}
    for place, (each, (text, numbers, limit)) in enumerate(zip(drawn, panels, strict=True)):
        for row, (arm, number) in enumerate(zip(arms, numbers, strict=True)):
            color = colors["in" if arm.name in result.answer else arm.verdict]
            if math.isfinite(number.high - number.low):
                each.plot([number.low, number.high], [row, row], color=color, linewidth=2, solid_capstyle="round")
            each.plot([number.estimate], [row], "o", color=color, markersize=5)
        if limit is not None:
            bound = limit.replace(">=", "<=").rpartition("<=")[2]
            try:
                at = float(bound)
            except ValueError:
                pass
            else:
                each.axvline(at, color="0.3", linewidth=1)
                start, end = each.get_xlim()
                beyond = (at, end) if "<=" in limit else (start, at)
                each.axvspan(*beyond, color="0.5", alpha=0.15, linewidth=0)
                each.set_xlim(start, end)
        each.set_title(printable(text), fontsize=9)
        if place == 0:
            each.set_yticks(range(len(arms)), [cut(printable(arm.name), 24) for arm in arms])
            each.set_ylim(len(arms) - 0.5, -0.5)
        each.grid(axis="x", alpha=0.25)
    if axes is None:
        figure.suptitle("\n".join(textwrap.wrap(printable(result.sentence), 40 * len(panels) + 10)), fontsize=9)
    return figure


def _draw_plane(result: OutcomeResult, arms: Sequence[ArmReport], axes: Any) -> Any:
    from matplotlib.figure import Figure

    figure: Any = Figure(figsize=(6, 4.5), layout="constrained") if axes is None else axes.get_figure()
    axes = figure.subplots() if axes is None else axes
    first, second = list(arms[0].objectives)[:2]
    for arm in arms:
        one, two = arm.objectives[first], arm.objectives[second]
        color = "C2" if arm.name in result.answer else "0.6"
        if math.isfinite(one.high - one.low):
            axes.plot([one.low, one.high], [two.estimate] * 2, color=color, linewidth=1.5)
        if math.isfinite(two.high - two.low):
            axes.plot([one.estimate] * 2, [two.low, two.high], color=color, linewidth=1.5)
        axes.plot([one.estimate], [two.estimate], "o", color=color)
        axes.annotate(cut(printable(arm.name), 24), (one.estimate, two.estimate), (4, 4), textcoords="offset points")
    axes.set_xlabel(printable(first))
    axes.set_ylabel(printable(second))
    return figure
