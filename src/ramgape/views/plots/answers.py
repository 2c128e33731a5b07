"""The picture of a result: arms as rows, with what they are compared with; or two objectives against each other."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

from matplotlib.axes import Axes

from ramgape.bounds import ONE_LOOK
from ramgape.common.formatting import cut, round_up, short_names
from ramgape.common.plane import PlaneLine
from ramgape.errors import printable
from ramgape.views.content import is_turned, risk_axis, shows_plane
from ramgape.views.plots import style
from ramgape.views.plots.crosses import PlaneOptions, draw_crosses, show_as
from ramgape.views.plots.rows import Band, Line, Number, Panel, Row, draw_rows
from ramgape.views.plots.window import ANYTHING, PossibleValues
from ramgape.views.sentence import answer_sentence, choose_arms, decisive_place, is_claimed, stated_tolerance
from ramgape.views.table import ONE_DIRECTION, difference_of, heading_of, rest_words

if TYPE_CHECKING:
    from ramgape.search.result import ArmReport, ObjectiveReport, Result

NAME_WIDTH, ROW_WIDTH, ROWS = 28, 32, 40  # of a name among others, before a row, in letters; and how many rows
TITLE_LINES, LETTERS = 3, 11.0  # of a title, and letters in an inch of it
NEVER_NEGATIVE = ("std", "variance", "semivariance", "shortfall")
UNSETTLED = ("open", "close", "likely behind", "likely beaten", "not worse")
EACH, TOGETHER = "lines: 95% intervals, each by itself", "lines: 95% intervals, which hold together"
OVERLAP = "confidence regions; overlap is fine: arms are compared directly"


def draw_result(
    result: Result, axes: Axes | None = None, plane: bool = False, regions: bool = False, width: float | None = None
) -> Axes:
    """Rows of arms, or for trade-offs between two objectives the plane.

    Args:
        result: What was found.
        axes: Where to draw. Default: a figure of its own.
        plane: Whether to draw the plane in any case, if there are two numbers for each arm.
        regions: Whether to show the confidence regions in the plane.
        width: Of the figure, in inches.
    """
    possible = not result.details.said or len(result.objectives) > 1
    if possible and (plane or regions or shows_plane(result)):
        return _draw_plane(result, axes, regions, width)
    return _draw_rows(result, axes, width)


def title_of(result: Result, width: float) -> str:
    """The answer in a sentence, in as many lines as a figure has room for."""
    lines = textwrap.wrap(printable(answer_sentence(result)), int(LETTERS * width))
    return "\n".join([*lines[: TITLE_LINES - 1], cut(" ".join(lines[TITLE_LINES - 1 :]), int(LETTERS * width))]).strip()


def interval_words(result: Result) -> str:
    """What the intervals of differences are: classical ones, for one look, hold together."""
    return TOGETHER if result.bound in ONE_LOOK else EACH


def axis_words(result: Result, place: int) -> tuple[str, str]:
    """What an objective is called at an axis, and which way is better."""
    details, objective = result.details, result.objectives[place] if place < len(result.objectives) else None
    hint = style.HIGHER if objective is None or objective.direction == "maximize" else style.LOWER
    unit = details.unit if not details.said else "" if objective is None else objective.unit
    if details.said:
        words = heading_of(result, place)
    elif place:
        words = details.risk_label if risk_axis(result) else "risk ξ"
    else:
        words = f"mean {details.reward_name or ('cost' if details.direction == 'minimize' else 'reward')}"
    return f"{cut(printable(words), NAME_WIDTH + 12)}{f' ({unit})' if unit else ''}", hint


# ------------------------------------------------------------------------------------------- the plane


def _draw_plane(result: Result, axes: Axes | None, regions: bool, width: float | None) -> Axes:
    """The arms as points in the plane of two objectives, with what the answer goes by."""
    if axes is None:
        size = width or style.SIZE[0]
        height = style.SIZE[1] if size >= style.SIZE[0] else 1.15 * size
        axes = style.new_figure(size, height, title="" if width else title_of(result, size)).add_subplot()
    pareto, details = result.question == "pareto", result.details
    several = bool(details.said)
    arms = [_in_plane(result, arm) if several else _without_endless_risk(result, arm) for arm in result.arms]
    turned = result.objectives[1].direction == "maximize" if several else is_turned(arms)
    across, up = (words[:1].upper() + words[1:] for words in (axis_words(result, place)[0] for place in range(2)))
    asked = PlaneOptions(
        direction=result.objectives[0].direction if several else details.direction,
        mean=across if several or result.reward_name or details.unit else "",
        risk=up if several else risk_axis(result),
        means=ANYTHING if result.reward_range is None else PossibleValues(*result.reward_range),
        risks=PossibleValues(low=0.0) if result.risk.startswith(NEVER_NEGATIVE) and not several else ANYTHING,
        turned=turned,
        answer="keep" if pareto else "better" if result.control else cut(result.answer_name, NAME_WIDTH),
        stairs=pareto,
        regions=regions,
        beaten=pareto,
        control=result.control,
        lines=result.lines,
        caption=OVERLAP if regions else "",
    )
    labels = short_names((arm.name for arm in arms), limit=NAME_WIDTH)
    draw_crosses(axes, arms, front=result.answer, labels=labels, asked=asked)
    show_as(axes, arms)
    return axes


def _without_endless_risk(result: Result, arm: ArmReport) -> ArmReport:
    """An arm without a bar for a risk that is unknown and was not asked for: it would reach from edge to edge."""
    known = result.about_risk or all(map(math.isfinite, arm.risk_interval))
    return arm if known else replace(arm, risk_interval=(arm.risk, arm.risk))


def _in_plane(result: Result, arm: ArmReport) -> ArmReport:
    """An arm of several outcomes, its first two objectives in the places of mean and risk, of which less is better."""
    first, second = (arm.objectives[each.text] for each in result.objectives[:2])
    regions = [result.intervals("all")[arm.name][each.text] for each in result.objectives[:2]]
    side = -1.0 if result.objectives[1].direction == "maximize" else 1.0
    low, high = sorted(side * end for end in regions[1])
    return replace(
        arm,
        mean=first.estimate,
        mean_interval=regions[0],
        risk=side * second.estimate,
        risk_interval=(low, high),
        risk_shown=second.estimate,
        risk_shown_interval=regions[1],
    )


# ---------------------------------------------------------------------------------------------- rows


def kind_of(result: Result, arm: ArmReport) -> Literal["in", "open", "out", "control"]:
    """What became of an arm, for its mark."""
    if arm.name == result.control:
        return "control"
    if arm.name in result.answer and not (result.control is not None and arm.word == "open"):
        return "in"
    return "open" if arm.word in UNSETTLED or arm.word.startswith("may ") else "out"


def _word(result: Result, arm: ArmReport) -> str:
    """Its place in a word, which results of earlier versions do not have for arms beside a control."""
    words = {"in": "better", "out": "not better"} if result.control is not None else {}
    return words.get(arm.word, arm.word) or arm.verdict


def _draw_rows(result: Result, axes: Axes | None, width: float | None) -> Axes:
    """A row for each arm, the answer on top."""
    chosen, rest = choose_arms(result, ROWS)
    shown = [arm for arm in chosen if arm.name != result.control] or chosen
    panels = _panels(result, shown)
    names = short_names((arm.name for arm in shown), limit=ROW_WIDTH)
    rows = [
        Row(
            names[arm.name],
            kind_of(result, arm),
            _word(result, arm),
            arm.trials,
            [numbers[place] for _, numbers in panels],
        )
        for place, arm in enumerate(shown)
    ]
    size = style.SIZE[0] * max(1.0, 0.62 * len(panels)) if width is None else width
    title = title_of(result, size) if width is None else ""
    below = rest_words(result, rest)
    return draw_rows(rows, [panel for panel, _ in panels], title=title, axes=axes, width=width, below=below)


def _panels(result: Result, arms: Sequence[ArmReport]) -> list[tuple[Panel, list[Number]]]:
    """What to compare: differences to the leader or the control; else each objective; and each limit."""
    found: list[tuple[Panel, list[Number]]] = []
    leads = result.question.partition(":")[0] in ONE_DIRECTION
    places = range(len(result.objectives))
    if result.control is not None:
        found = [_differences(result, arms, place, result.control) for place in places]
    elif leads and result.answer:
        best = [arm.name for arm in arms if arm.name in result.answer]
        found = [_differences(result, arms, place, best[0]) for place in places if place == decisive_place(result)]
        found += [_values(result, arms, place) for place in places if place != decisive_place(result)]
    else:
        found = [_values(result, arms, place) for place in places]
    return found + [_limits(arms, each.text) for each in result.constraints]


def _differences(result: Result, arms: Sequence[ArmReport], place: int, other: str) -> tuple[Panel, list[Number]]:
    """Differences to one arm in an objective, in the user's units."""
    objective = result.objectives[place]
    words, hint = axis_words(result, place)
    name = cut(printable(other), NAME_WIDTH)
    side = 1.0 if objective.direction == "minimize" else -1.0
    numbers = []
    for arm in arms:
        found = difference_of(result, arm, place)
        if found is not None:
            numbers.append(Number(*found))
        elif arm.name == other:
            numbers.append(Number(0.0, (0.0, 0.0)))
        else:
            numbers.append(_stored_difference(result, arm, place, other))
    lines = [Line(0.0, f"control: {name}" if result.control else "")]
    band, told = _tolerance(result, place, -side), interval_words(result)
    if result.control is not None:
        at = _decisive(result, place)
        lines += [Line(at[0], at[1], dashed=True)] if at is not None and at[0] != 0.0 else []
        shift = 0.0 if at is None else at[0]
    else:  # of several best arms the last one
        last = [number.value for arm, number in zip(arms, numbers, strict=True) if arm.name in result.answer]
        shift = max(last) if side > 0.0 else min(last)
    band = None if band is None else band._replace(low=band.low + shift, high=band.high + shift)
    headings = [f"Difference in {words} to {name}  {hint}\n{told}", f"Difference in {words}\n{hint}\n{told}"]
    return Panel([*headings, f"Difference to {name}  {hint}\n{told}", f"Difference\n{hint}"], lines, band), numbers


def _stored_difference(result: Result, arm: ArmReport, place: int, other: str) -> Number:
    """Of a result that an earlier version stored: by what it has of the control, or else by the estimates."""
    row = next((row for row in result.differences if row.name == arm.name), None)
    if row is not None:
        return Number(row.risk, row.risk_interval) if place else Number(row.mean, row.mean_interval)
    text = result.objectives[place].text
    difference = arm.objectives[text].estimate - result.arm(other).objectives[text].estimate
    return Number(difference, (difference, difference))


def _tolerance(result: Result, place: int, better: float) -> Band | None:
    """How much better an arm may be than the leader at most, or than a control that is kept: proved, or asked for."""
    found, goal = stated_tolerance(result), result.goal
    asked = goal.epsilon if not place or goal.risk_epsilon is None else goal.risk_epsilon
    by = None if found is None else found[0] if not place or found[1] is None else found[1]
    if result.details.said:
        by = None if result.certified is None else result.certified.tolerance.get(result.objectives[place].text)
    if by and is_claimed(result) and result.control is None:
        low, high = sorted((0.0, better * by))
        return Band(low, high, f"no other is better by more than {round_up(by, 2)}")
    if not asked:
        return None
    low, high = sorted((0.0, better * asked))
    return Band(low, high, f"tolerance {asked:g}")


def _decisive(result: Result, place: int) -> tuple[float, str] | None:
    """Where an arm must be to be better than the control, as a difference to that."""
    lines: list[PlaneLine] = [line for line in result.lines if (line.mean_weight != 0.0) == (place == 0)]
    if not lines or result.control is None:
        return None
    control, line = result.arm(result.control), lines[0]
    weight, base = (line.risk_weight, control.risk) if place else (line.mean_weight, control.mean)
    at = line.value / weight - base
    # What is left of the sum of two numbers that are equal is no margin.
    at = 0.0 if abs(at) <= 1e-9 * abs(base) else at
    return (-at if place and is_turned(result.arms) else at), line.words


def _values(result: Result, arms: Sequence[ArmReport], place: int) -> tuple[Panel, list[Number]]:
    """Each arm's own number in an objective."""
    objective: ObjectiveReport = result.objectives[place]
    words, hint = axis_words(result, place)
    found = [arm.objectives[objective.text] for arm in arms]
    low = 0.0 if all(each.estimate >= 0.0 for each in found) and not place and not result.details.said else -math.inf
    numbers = [Number(each.estimate, (each.low, each.high)) for each in found]
    words = words[:1].upper() + words[1:]
    return Panel([f"{words}  {hint}\n{EACH}", f"{words}\n{hint}"], possible=PossibleValues(low=low)), numbers


def _limits(arms: Sequence[ArmReport], text: str) -> tuple[Panel, list[Number]]:
    """Each arm's statistic with a limit; what breaks it is gray."""
    numbers = [Number(each.estimate, (each.low, each.high)) for each in (arm.constraints[text] for arm in arms)]
    words, sign, value = text.rpartition("<=") if "<=" in text else text.rpartition(">=")
    words = cut(printable(words.strip() or text), NAME_WIDTH)
    try:
        at = float(value)
    except ValueError:  # a multiple of the control
        return Panel([cut(printable(text), NAME_WIDTH + 12)]), numbers
    band = Band(at, math.inf, "breaks the limit") if sign == "<=" else Band(-math.inf, at, "breaks the limit")
    headings = [f"{words}  (limit {sign} {at:g})\n{EACH}", f"{words}\nlimit {sign} {at:g}"]
    return Panel(headings, [Line(at)], band), numbers
