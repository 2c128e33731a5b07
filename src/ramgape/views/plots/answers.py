"""The picture of a result: the mean-risk plane, or how arms compare with a control."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from matplotlib.artist import Artist
from matplotlib.axes import Axes

from ramgape.common.formatting import cut, short_names
from ramgape.errors import printable
from ramgape.views.content import is_turned, risk_axis, title
from ramgape.views.plots import style
from ramgape.views.plots.control import (
    WORDS,
    Compared,
    Decisive,
    draw_differences,
    height_of,
    verdict_handles,
    write_heading,
    write_legend_below,
)
from ramgape.views.plots.crosses import HIGHER, LOWER, Asked, draw_crosses, settle_layout, show_as, write_legend
from ramgape.views.plots.panels import draw_panels
from ramgape.views.plots.window import ANYTHING, PossibleValues
from ramgape.views.sentence import choose_arms
from ramgape.views.table import rest_words, shown_risks

if TYPE_CHECKING:
    from ramgape.search.result import ArmReport, ControlDifference, Result, Verdict

NAME_WIDTH, ROW_WIDTH = 28, 40  # of a name among others, and before a row, in letters
MARK_OF: dict[str, Verdict] = {"better": "in", "not better": "out", "not worse": "open", "open": "open"}
LETTER = 0.07  # of a name before a row, in inches
NEVER_NEGATIVE = ("std", "variance", "semivariance", "shortfall")


def draw_result(result: Result, axes: Axes | None = None, plane: bool = False) -> Axes:
    """The plane, or arms against a control; of several outcomes a panel for each."""
    if result.details.said:
        return draw_panels(result, axes, plane)
    return draw_plane(result, axes) if plane or result.control is None else draw_comparison(result, axes)


def draw_plane(result: Result, axes: Axes | None) -> Axes:
    """The arms as crosses, with what the answer goes by."""
    if axes is None:
        axes = style.new_figure(title=title(result)).add_subplot()
    pareto = result.task == "pareto"
    asked = Asked(
        direction=result.direction,
        reward=cut(printable(result.reward_name), NAME_WIDTH),
        risk=risk_axis(result),
        means=ANYTHING if result.reward_range is None else PossibleValues(*result.reward_range),
        risks=PossibleValues(low=0.0) if result.risk.startswith(NEVER_NEGATIVE) else ANYTHING,
        turned=is_turned(result.arms),
        answer=Asked().answer if pareto else WORDS["in"] if result.control else cut(result.answer_name, NAME_WIDTH),
        stairs=pareto,
        control=result.control,
        lines=result.lines,
    )
    arms = result.arms if result.about_risk else [_without_endless_risk(arm) for arm in result.arms]
    labels = short_names((arm.name for arm in arms), limit=NAME_WIDTH)
    draw_crosses(axes, arms, front=result.answer, labels=labels, asked=asked)
    show_as(axes, arms)
    return axes


def _without_endless_risk(arm: ArmReport) -> ArmReport:
    """Where nothing is known of a risk that nobody asked for: a bar from edge to edge would say that too loudly."""
    return arm if all(map(math.isfinite, arm.risk_interval)) else replace(arm, risk_interval=(arm.risk, arm.risk))


# ---------------------------------------------------------------------------------------- a control


def draw_comparison(result: Result, axes: Axes | None) -> Axes:
    """A row for each arm, the best on top; in a figure of its own with the risks beside, if they count."""
    shown, rest = _rows(result)
    names = short_names((row.name for row in shown), limit=ROW_WIDTH)
    both = axes is None and result.about_risk
    if axes is None:
        panel = 0.65 * style.SIZE[0] if both else 0.75 * style.SIZE[0]
        width = panel * (1 + both) + LETTER * max((len(name) for name in names.values()), default=0)
        figure = style.new_figure(max(width, style.SIZE[0]), height_of(len(shown)), title=title(result))
        axes = figure.add_subplot(1, 1 + both, 1)
    means = [Compared(names[row.name], MARK_OF[row.verdict], row.mean, row.mean_interval) for row in shown]
    handles: list[Artist] = [*verdict_handles(means), *draw_differences(axes, means, _decisive(result, in_mean=True))]
    word, hint = ("cost", LOWER) if result.direction == "minimize" else ("reward", HIGHER)
    word = cut(printable(result.reward_name), NAME_WIDTH) or word
    headings = {axes: _headings(result, f"mean {word}", hint)}
    if both:
        beside, told = _draw_risks(axes, result, shown, means)
        # The marks and the control are those of the means; a tolerance in risk may be another.
        handles += [handle for handle in told if handle.get_label() not in {each.get_label() for each in handles}]
        what, hint = result.risk_label if risk_axis(result) else "risk ξ", HIGHER if is_turned(result.arms) else LOWER
        headings[beside] = _headings(result, what, hint)
        write_legend_below(axes.figure.figure, handles)
    settle_layout(axes)
    if not both:
        write_legend(axes, handles)
    for each, texts in headings.items():
        write_heading(each, [f"{text}\n{rest}".strip() for text in texts])
    return axes


def _headings(result: Result, what: str, hint: str) -> list[str]:
    """What stands at the axis of differences, in full and shorter; the title names the control as well."""
    control = cut(printable(result.control or ""), NAME_WIDTH)
    return [f"Difference in {what} to {control}  {hint}", f"Difference in {what}  {hint}", f"Difference in {what}"]


def _rows(result: Result) -> tuple[list[ControlDifference], str]:
    """The differences worth a row, the best first, and a sentence on the rest."""
    chosen, rest = choose_arms(result)
    names = {arm.name for arm in chosen}
    better = 1.0 if result.direction == "minimize" else -1.0
    shown = [row for row in result.differences if row.name in names]
    return sorted(shown, key=lambda row: (not math.isfinite(row.mean), better * row.mean)), rest_words(result, rest)


def _draw_risks(
    axes: Axes, result: Result, shown: Sequence[ControlDifference], means: Sequence[Compared]
) -> tuple[Axes, Sequence[Artist]]:
    """The same rows in risk, beside those in mean; and what their lines mean."""
    beside = axes.figure.figure.add_subplot(1, 2, 2, sharey=axes)
    rows = [
        row._replace(value=value, interval=interval)
        for row, (value, interval) in zip(means, shown_risks(result, shown), strict=True)
    ]
    told = draw_differences(beside, rows, _decisive(result, in_mean=False))
    beside.tick_params(axis="y", labelleft=False)
    return beside, told


def _decisive(result: Result, *, in_mean: bool) -> Decisive | None:
    """The line that an arm must pass to be better, as a difference to the control."""
    found = [line for line in result.lines if (line.mean_weight != 0.0) == in_mean]
    if not found or result.control is None:
        return None
    control, line = result.arm(result.control), found[0]
    weight, base = (line.mean_weight, control.mean) if in_mean else (line.risk_weight, control.risk)
    place = line.value / weight - base
    # What is left of the sum of two numbers that are equal is no margin.
    place = 0.0 if abs(place) <= 1e-9 * abs(base) else place
    more = weight > 0.0 if in_mean else is_turned(result.arms)  # whether more is better, as it is drawn
    tolerance = _tolerance(result, in_mean)
    return Decisive(place, style.in_legend(line.words), tolerance if more else -tolerance)


def _tolerance(result: Result, in_mean: bool) -> float:
    """That of the goal, in mean or in risk."""
    details = result.details
    epsilon, proved, in_risk = details.goal.epsilon or 0.0, details.certified_epsilon, details.certified_risk_epsilon
    if in_mean or not epsilon:
        return epsilon
    if details.goal.risk_epsilon is not None:
        return details.goal.risk_epsilon
    return epsilon if in_risk is None or not proved else epsilon * in_risk / proved
