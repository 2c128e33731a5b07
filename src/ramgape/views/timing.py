"""Commands that are timed: what is shown of them at the end, and while they run."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from ramgape.assumptions import ANY, ASSUMPTIONS
from ramgape.commands.counted_runs import cut_off_words, exits_words
from ramgape.common.formatting import (
    confidence,
    plural,
    plus_minus,
    round_up,
    short_names,
    time_unit,
)
from ramgape.errors import printable
from ramgape.views.content import ENDINGS
from ramgape.views.explanation import Column, Explanation, Table, total_width
from ramgape.views.result import explain_result
from ramgape.views.sentence import answer_sentence, doubts, is_claimed, one_name, stated_tolerance

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ramgape.commands.times import Times, Timing
    from ramgape.search.result import ArmReport, Result

ALARM, GUARANTEE = "Alarm", "Guarantee"  # of the facts of a result; the others are in its JSON
SENTENCES = 12
SHORTEST_NAME, LONGEST_NAME = 12, 60  # columns
NOTABLE = 0.02  # of the fastest time: a shell that takes longer to start is told of
STATES = {"in": "fastest", "out": "slower", "undecided": "undecided"}  # where the best mean is asked for


def explain_timing(timing: Timing, ascii_only: bool = False) -> Explanation:
    """All that is said of commands that were timed."""
    said = explain_result(timing.report.result, ascii_only)
    known = dict(said.facts)
    facts = [(ALARM, known[ALARM])] if ALARM in known else []
    # Before that every command has had its first runs there is no answer, and nothing is compared.
    speed = compared(timing, ascii_only) if timing.report.result.front else []
    facts += [("" if place else "Speed", text) for place, text in enumerate(speed)]
    facts.append((GUARANTEE, known[GUARANTEE]))
    more = _epsilon(timing), _ended(timing), _shell(timing)
    facts += [each for each in more if each is not None]
    parts: list[Table | str] = [Table(partial(fit_times, timing, ascii_only=ascii_only))]
    if timing.report.result.about_risk:
        parts += ["In seconds:", *said.parts]
    return Explanation([timing_headline(timing)], facts, parts, said.warnings)


def timing_headline(timing: Timing) -> str:
    """Which command is the fastest, and what must be known beside it: runs of it that failed, or were cut off."""
    result, fastest = timing.report.result, timing.fastest
    told = [timing_sentence(result)]
    if result.task == "best-mean" and not result.front and not math.isnan(timing.times[-1].mean):
        least = f"Nothing is proved before {ASSUMPTIONS[ANY].first_looks[0]} runs of each command."
        told = [f"So far {one_name(fastest.name)} has the shortest mean. {least}"]
    if result.stopped == "censored":
        told = [_kept_open(timing)]
    elif any(each.failed for each in timing.times):
        told.append(f"{'But ' if fastest.failed else ''}{cut_off_words(timing.times)}")
        told += ["What is said of the fastest command counts longer runs as the timeout."] if fastest.failed else []
    if any(each.nonzero_exits for each in timing.times):
        told.append(f"{'But ' if fastest.nonzero_exits else ''}{exits_words(timing.times)}")
    return printable(" ".join(told))


def _kept_open(timing: Timing) -> str:
    """That runs which were cut off keep the answer open, and what helps."""
    told = f"Undecided: {cut_off_words([each for each in timing.times if each.failed])}"
    rest = [each for each in timing.times if not each.failed]
    if rest:
        told += f" {one_name(rest[0].name)} has the shortest mean of the commands that always ended in time."
    return f"{told} A longer timeout than {timing.timeout:g} s may decide it."


def timing_sentence(result: Result) -> str:
    """Which command is the fastest, up to what, and how sure that is; of other tasks what is said of every result."""
    if result.task != "best-mean" or not result.front:
        return answer_sentence(result)
    name, found = one_name(result.front[0]), stated_tolerance(result)
    asked = result.goal.epsilon
    if found is None:
        if result.goal.kind == "budget":
            return f"{name} was the fastest; nothing is proved of this."
        number = sum(arm.verdict == "undecided" for arm in result.arms)
        return (
            f"So far {name} is the fastest; not proved: {number:,} of {plural(len(result.arms), 'command')} undecided."
        )
    delta = result.goal.delta if result.stopped == "confidence" else result.certified_delta
    within = f", within {tolerance_text(found[0])}" if found[0] else ""
    how = ", approximately" if result.rigour == "approximate" else ""
    told = f"{name} is the fastest{within}{how}, with probability {confidence(delta or 0.0)}"
    if not is_claimed(result):
        told = f"So far {told}" + (
            f", not within {tolerance_text(asked)} as asked" if asked and found[0] >= asked else ""
        )
    elif found[0] > result.spread[0]:
        told += "; but all are as close as that"
    return f"{told}.{doubts(result)}"


def tolerance_text(seconds: float) -> str:
    """A tolerance as a time, never smaller than it is.

    >>> tolerance_text(0.0040501), tolerance_text(2.5)
    ('4.06 ms', '2.5 s')
    """
    unit = time_unit(seconds)
    return f"{round_up(seconds / unit.seconds)} {unit.name}"


def _epsilon(timing: Timing) -> tuple[str, str] | None:
    """The tolerance, where it is one in the mean, and where it comes from."""
    goal = timing.report.result.goal
    if goal.epsilon is None:
        return None
    return "Epsilon", epsilon_words(timing.report.result)


def epsilon_words(result: Result) -> str:
    """A tolerance as a time, and of what it is a share."""
    goal = result.goal
    assert goal.epsilon is not None
    text = tolerance_text(goal.epsilon)
    if goal.epsilon_share is None:
        return text
    whole = "the smallest mean after the first rounds" if result.reward_range is None else "the timeout"
    return f"{text}: {100.0 * goal.epsilon_share:g} % of {whole}"


def _ended(timing: Timing) -> tuple[str, str]:
    result = timing.report.result
    reached = "goal reached" if result.goal_reached else "goal not reached"
    return "Ended", f"{ENDINGS[result.stopped]}; {reached}"


def _shell(timing: Timing) -> tuple[str, str] | None:
    if timing.shell is None or not timing.shell > NOTABLE * timing.fastest.mean:
        return None
    unit = time_unit(timing.shell)
    text = f"its start, about {unit.text(timing.shell)} {unit.name}, is a part of every time; --shell none has none"
    return "Shell", text


def compared(timing: Timing, ascii_only: bool) -> list[str]:
    """How much faster the fastest command is than each of the others, a sentence each."""
    lines = [
        comparison_words(timing, each)
        for each in timing.times[1 : 1 + SENTENCES]
        if math.isfinite(timing.ratio(each)) and not (timing.fastest.failed and each.failed)
    ]
    rest = len(timing.times) - 1 - SENTENCES
    lines += [f"and {rest} more, in the table"] if rest > 0 else []
    if any("(" in line or "at least" in line for line in lines):
        lines.append("Intervals: 95 %, anytime-valid, each by itself, approximate.")
    return lines


def comparison_words(timing: Timing, each: Times) -> str:
    """A command compared with the fastest."""
    fastest, name, ratio = printable(timing.fastest.name), printable(each.name), timing.ratio(each)
    low, high = ends = timing.ratio_interval(each)
    shown = f" ({bounds_words(ends, ' to ')})" if low > 0.0 and high < math.inf else ""
    if any(arm.name == each.name and arm.verdict == "undecided" for arm in timing.report.result.arms):
        takes = f"at least {_floored(low)}" if each.failed and low > 0.0 else f"{ratio:.2f}"
        return f"undecided: {name} takes {takes} times as long as {fastest}{shown}"
    if is_as_fast(timing, each):
        within = tolerance_text(timing.report.result.goal.epsilon or 0.0)
        return f"{name} is as fast as {fastest}, within {within}: it takes {ratio:.2f} times as long{shown}"
    if each.failed or timing.fastest.failed:
        known = f"{fastest} is at least {_floored(low)} times as fast as {name}"
        return known if low > 1.0 else f"how much longer {name} takes than {fastest} is not known"
    return f"{fastest} is {ratio:.2f} times as fast as {name}{shown}"


def is_as_fast(timing: Timing, each: Times) -> bool:
    """Whether a command other than the fastest is within the tolerance of it by the means, and neither was cut off."""
    epsilon = timing.report.result.goal.epsilon
    if epsilon is None or each is timing.fastest or each.failed or timing.fastest.failed:
        return False
    return each.mean - timing.fastest.mean < epsilon


def bounds_words(ends: tuple[float, float], to: str) -> str:
    """An interval of ratios, never narrower than it is.

    >>> bounds_words((0.9871, 1.0312), " to "), bounds_words((3.14159, math.inf), " to ")
    ('0.98 to 1.04', 'at least 3.14')
    """
    low, high = ends
    if high == math.inf:
        return f"at least {_floored(low)}" if low > 0.0 else "-"
    return f"{_floored(low)}{to}{_raised(high)}" if low > 0.0 else f"at most {_raised(high)}"


def _floored(value: float) -> str:
    return f"{math.floor(100.0 * value) / 100.0:.2f}"


def _raised(value: float) -> str:
    return f"{math.ceil(100.0 * value) / 100.0:.2f}"


def fit_times(timing: Timing, width: int | None, ascii_only: bool) -> list[Column]:
    """The table of times in the widest form that there is room for: a line for each command, or two."""
    unit, arms = time_unit(timing.fastest.mean), {arm.name: arm for arm in timing.report.result.arms}
    times, pm, to = timing.times, plus_minus(ascii_only), "-" if ascii_only else "…"
    marks = [arms[each.name].verdict for each in times]
    states = [state_in(timing, each, arms[each.name]) for each in times]
    least = ">= " if ascii_only else "≥ "
    mean = [
        f"{least}{unit.text(each.mean)}" if each.failed else f"{unit.text(each.mean)} {pm} {unit.text(each.std)}"
        for each in times
    ]
    ends = [f"{unit.text(_end(min, each))} {to} {unit.text(_end(max, each))}" for each in times]
    used = [(unit.text(each.user), unit.text(each.system)) for each in times]
    relative = ["1.00", *(_ratio_cell(timing, each, least) for each in times[1:])]
    ends_of = [bounds_words(timing.ratio_interval(each), f" {to} ") for each in times[1:]]
    intervals = ["-", *(words.replace("at least ", least) for words in ends_of)]
    counts = [_runs_cell(each) for each in times]
    runs = Column("runs", counts, right=True)

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
        Column("times as long", relative, right=True),
        Column("95% interval", intervals, right=True),
    ]
    longest = min(max(Column("", [printable(each.name)]).width for each in times), LONGEST_NAME)
    if width is None or total_width(wide) + 2 + longest <= width:
        return with_names(wide, ["" for _ in times])
    both = [f"{first}\n{second}" for first, second in zip(mean, ends, strict=True)]
    narrow = [
        runs,
        Column(f"mean {pm} std ({unit.name})\nmin {to} max", both, right=True),
        Column("user\nsystem", [f"{user}\n{system}" for user, system in used], right=True),
        Column(
            "times as long\n95% interval", [f"{x}\n{y}" for x, y in zip(relative, intervals, strict=True)], right=True
        ),
    ]
    return with_names(narrow, [f"  {state}" for state in states])


def _ratio_cell(timing: Timing, each: Times, least: str) -> str:
    ratio = f"{timing.ratio(each):.2f}"
    if timing.fastest.failed:
        return "-"  # of two lower limits, or over one
    return f"{least}{ratio}" if each.failed else ratio


def _runs_cell(each: Times) -> str:
    """How many runs there were, and how many of them were cut off or failed, on lines of their own."""
    told = [f"{len(each.times):,}"]
    told += [f"{each.failed:,} cut off"] if each.failed else []
    told += [f"{each.nonzero_exits:,} failed"] if each.nonzero_exits else []
    return "\n".join(told)


def _end(which: Callable[[Sequence[float]], float], each: Times) -> float:
    return which(each.times) if each.times else math.nan


def state_in(timing: Timing, each: Times, arm: ArmReport) -> str:
    """What is known of a command's place; one within the tolerance is as fast, never slower."""
    result = timing.report.result
    if result.task != "best-mean" or arm.verdict != "out":
        return state_of(arm, result)
    if is_as_fast(timing, each):
        return "as fast"
    proved = arm.certificate == "out" or (arm.certified and timing.ratio_interval(each)[0] > 1.0)
    return "slower" if proved else "slower?"


def state_of(arm: ArmReport, result: Result) -> str:
    """What is known of a command's place, in a word or two."""
    word = STATES[arm.verdict] if result.task == "best-mean" else arm.verdict
    if word == STATES["out"] and _is_close(arm, result):
        return "as fast"
    return word if arm.certified or arm.verdict == "undecided" else f"{word}?"


def _is_close(arm: ArmReport, result: Result) -> bool:
    """Whether a command is within the tolerance of the fastest by the means, and neither was cut off."""
    epsilon = result.goal.epsilon
    if epsilon is None or not result.front:
        return False
    fastest = result.arm(result.front[0])
    return not (arm.cut_off or fastest.cut_off) and arm.mean - fastest.mean < epsilon


def aim_words(result: Result) -> str:
    """When it ends."""
    if result.goal.budget is not None:
        return f"ends after {result.goal.budget:,}"
    if result.goal.spend is not None:
        return f"ends when {result.goal.spend:g} are spent"
    if result.goal.epsilon is None:
        return f"then epsilon is {100.0 * (result.goal.epsilon_share or 0.0):g} % of the smallest mean"
    return f"epsilon is {epsilon_words(result)}"


def live_table(result: Result, width: int, ascii_only: bool, least: int = 0) -> RenderableType:
    """Commands while they run, in the order in which they were given; `least` runs are made in any case."""
    from rich import box
    from rich.console import Group
    from rich.table import Table as Grid
    from rich.text import Text

    from ramgape.views.console import CONSOLE_STYLES

    means = [arm.mean for arm in result.arms if math.isfinite(arm.mean)]
    unit, pm = time_unit(min(means, default=1.0)), plus_minus(ascii_only)
    names = short_names([arm.name for arm in result.arms], max(width - 44, SHORTEST_NAME))
    table = Grid(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, title_justify="left")
    table.add_column("command", no_wrap=True)
    for heading in ("runs", f"mean {pm} std ({unit.name})"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    for arm in result.arms:
        std = arm.std * math.sqrt(arm.pulls / (arm.pulls - 1)) if arm.pulls > 1 else math.nan
        time = f"{unit.text(arm.mean)} {pm} {unit.text(std)}"
        state = Text(state_of(arm, result) if arm.pulls else "", style=CONSOLE_STYLES.get(arm.verdict, ""))
        table.add_row(Text(names[arm.name]), f"{arm.pulls:,}", time if arm.pulls else "", state)
    made = f"{result.samples:,} of at least {least:,} runs" if result.samples < least else plural(result.samples, "run")
    # Not as a caption, which would be as narrow as the table.
    return Group(table, Text(f"{made}; {aim_words(result)}", style="dim"))
