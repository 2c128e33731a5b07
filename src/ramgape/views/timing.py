"""Commands that are timed: what is shown of them at the end, and while they run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ramgape.common.formatting import list_counts, plural, plus_minus, short_names, time_unit
from ramgape.errors import printable
from ramgape.views.content import ENDINGS
from ramgape.views.explanation import Column, Explanation, Table, total_width
from ramgape.views.result import explain_result

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ramgape.commands.times import Times, Timing
    from ramgape.search.result import ArmReport, Result

ALARM, GUARANTEE = "Alarm", "Guarantee"  # of the facts of a result; the others are in its JSON
SENTENCES = 12
SHORTEST_NAME, LONGEST_NAME = 12, 60  # columns
NOTABLE = 0.02  # of the fastest time: a shell that takes longer to start is told of
BEST_MEAN = {"in": "fastest", "out": "slower", "undecided": "undecided"}


def explain_timing(timing: Timing, ascii_only: bool = False) -> Explanation:
    """All that is said of commands that were timed."""
    said = explain_result(timing.report.result, ascii_only)
    known = dict(said.facts)
    facts = [(ALARM, known[ALARM])] if ALARM in known else []
    facts += [("" if place else "Speed", text) for place, text in enumerate(compared(timing, ascii_only))]
    facts.append((GUARANTEE, known[GUARANTEE]))
    more = _epsilon(timing), _ended(timing), _timeouts(timing), _shell(timing)
    facts += [each for each in more if each is not None]
    parts: list[Table | str] = [Table(partial(fit_times, timing, ascii_only=ascii_only))]
    if timing.report.result.about_risk:
        parts += said.parts
    return Explanation(said.headlines, facts, parts, said.warnings)


def _epsilon(timing: Timing) -> tuple[str, str] | None:
    """The tolerance, where it is one in the mean, and where it comes from."""
    goal = timing.report.result.goal
    if goal.epsilon is None:
        return None
    return "Epsilon", epsilon_words(timing.report.result)


def epsilon_words(result: Result) -> str:
    """A tolerance as a time, and of what it is a share."""
    goal = result.goal
    if goal.epsilon is None:
        return f"{100.0 * (goal.epsilon_share or 0.0):g} % of the smallest mean after the first rounds"
    unit = time_unit(goal.epsilon)
    text = f"{goal.epsilon / unit.seconds:.3g} {unit.name}"
    if goal.epsilon_share is None:
        return text
    whole = "the smallest mean after the first rounds" if result.reward_range is None else "the timeout"
    return f"{text}: {100.0 * goal.epsilon_share:g} % of {whole}"


def _ended(timing: Timing) -> tuple[str, str]:
    result = timing.report.result
    reached = "goal reached" if result.goal_reached else "goal not reached"
    return "Ended", f"{ENDINGS[result.stopped]}; {reached}"


def _timeouts(timing: Timing) -> tuple[str, str] | None:
    counts = {each.name: each.failed for each in timing.times}
    if not any(counts.values()) or timing.timeout is None:
        return None
    return "Timeout", f"{list_counts(counts)} were ended after {timing.timeout:g} s, and count as that"


def _shell(timing: Timing) -> tuple[str, str] | None:
    if timing.shell is None or not timing.shell > NOTABLE * timing.fastest.mean:
        return None
    unit = time_unit(timing.shell)
    text = f"its start, about {unit.text(timing.shell)} {unit.name}, is a part of every time; --shell none has none"
    return "Shell", text


def compared(timing: Timing, ascii_only: bool) -> list[str]:
    """How much faster the fastest command is than each of the others, a sentence each."""
    fastest, lines = timing.fastest, []
    verdicts = {arm.name: arm.verdict for arm in timing.report.result.arms}
    for each in timing.times[1 : 1 + SENTENCES]:
        value, half = timing.ratio(each)
        if math.isfinite(value):
            least = "at least " if each.failed and not fastest.failed else ""
            told = "" if verdicts[each.name] != "undecided" else "; undecided"
            lines.append(
                f"{printable(fastest.name)} is {least}{_ratio(value, half, ascii_only)} times as fast as "
                f"{printable(each.name)}{told}"
            )
    rest = len(timing.times) - 1 - SENTENCES
    lines += [f"and {rest} more, in the table"] if rest > 0 else []
    return [*lines, f"({plus_minus(ascii_only)}: half an approximate interval of 95 %)"] if lines else []


def _ratio(value: float, half: float, ascii_only: bool) -> str:
    return f"{value:.2f}" if math.isnan(half) else f"{value:.2f} {plus_minus(ascii_only)} {half:.2f}"


def fit_times(timing: Timing, width: int | None, ascii_only: bool) -> list[Column]:
    """The table of times in the widest form that there is room for: a line for each command, or two."""
    unit, arms = time_unit(timing.fastest.mean), {arm.name: arm for arm in timing.report.result.arms}
    times, pm, to = timing.times, plus_minus(ascii_only), "-" if ascii_only else "…"
    marks = [arms[each.name].verdict for each in times]
    states = [state_of(arms[each.name], timing.report.result) for each in times]
    mean = [f"{unit.text(each.mean)} {pm} {unit.text(each.std)}" for each in times]
    ends = [f"{unit.text(_end(min, each))} {to} {unit.text(_end(max, each))}" for each in times]
    used = [(unit.text(each.user), unit.text(each.system)) for each in times]
    relative = ["1.00", *(_ratio(*timing.ratio(each), ascii_only) for each in times[1:])]
    runs = Column("runs", [f"{len(each.times):,}" for each in times], right=True)
    last = Column("times as long", relative, right=True)

    def with_names(columns: Sequence[Column], below: Sequence[str]) -> list[Column]:
        room = LONGEST_NAME if width is None else max(width - total_width(columns) - 2, SHORTEST_NAME)
        shown = short_names([each.name for each in times], room)
        cells = [
            f"{shown[each.name]}\n{line}" if line else shown[each.name] for each, line in zip(times, below, strict=True)
        ]
        return [Column("command", cells, marks=marks, names=True), *columns]

    wide = [
        Column("", states, marks=marks),
        runs,
        Column(f"mean {pm} std ({unit.name})", mean, right=True),
        Column(f"min {to} max", ends, right=True),
        Column("user", [user for user, _ in used], right=True),
        Column("system", [system for _, system in used], right=True),
        last,
    ]
    longest = min(max(Column("", [printable(each.name)]).width for each in times), LONGEST_NAME)
    if width is None or total_width(wide) + 2 + longest <= width:
        return with_names(wide, ["" for _ in times])
    both = [f"{first}\n{second}" for first, second in zip(mean, ends, strict=True)]
    narrow = [
        runs,
        Column(f"mean {pm} std ({unit.name})\nmin {to} max", both, right=True),
        Column("user\nsystem", [f"{user}\n{system}" for user, system in used], right=True),
        last,
    ]
    return with_names(narrow, [f"  {state}" for state in states])


def _end(which: Callable[[Sequence[float]], float], each: Times) -> float:
    return which(each.times) if each.times else math.nan


def state_of(arm: ArmReport, result: Result) -> str:
    """What is known of a command's place, in a word or two."""
    word = BEST_MEAN[arm.verdict] if result.task == "best-mean" else arm.verdict
    return word if arm.certified or arm.verdict == "undecided" else f"{word}?"


def aim_words(result: Result) -> str:
    """When it ends."""
    if result.goal.budget is not None:
        return f"ends after {result.goal.budget:,}"
    return f"epsilon is {epsilon_words(result)}"


def live_table(result: Result, width: int, ascii_only: bool) -> RenderableType:
    """Commands while they run, in the order in which they were given."""
    from rich import box
    from rich.table import Table as Grid
    from rich.text import Text

    from ramgape.views.console import CONSOLE_STYLES

    means = [arm.mean for arm in result.arms if math.isfinite(arm.mean)]
    unit, pm = time_unit(min(means, default=1.0)), plus_minus(ascii_only)
    names = short_names([arm.name for arm in result.arms], max(width - 44, SHORTEST_NAME))
    table = Grid(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, title_justify="left")
    table.caption, table.caption_justify = f"{plural(result.samples, 'run')}; {aim_words(result)}", "left"
    table.add_column("command", no_wrap=True)
    for heading in ("runs", f"mean {pm} std ({unit.name})"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for arm in result.arms:
        std = arm.std * math.sqrt(arm.pulls / (arm.pulls - 1)) if arm.pulls > 1 else math.nan
        time = f"{unit.text(arm.mean)} {pm} {unit.text(std)}"
        state = Text(state_of(arm, result) if arm.pulls else "", style=CONSOLE_STYLES.get(arm.verdict, ""))
        table.add_row(Text(names[arm.name]), f"{arm.pulls:,}", time if arm.pulls else "", state)
    return table
