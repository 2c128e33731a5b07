"""Commands that are timed: what is shown of them at the end, and while they run."""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ramgape.assumptions import ASSUMPTIONS, UNKNOWN
from ramgape.commands.counted_runs import cut_off_words, exits_words
from ramgape.commands.times import times_interval
from ramgape.common.formatting import (
    Unit,
    named_unit,
    plural,
    plus_minus,
    round_up,
    short_names,
    time_unit,
)
from ramgape.errors import printable
from ramgape.views.explanation import Column, Explanation, Table, total_width
from ramgape.views.sentence import answer_sentence, doubts, is_claimed, one_name, stated_tolerance

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from rich.console import RenderableType

    from ramgape.commands.times import Times, Timing
    from ramgape.search.result import ArmReport, Result

SENTENCES = 12
SHORTEST_NAME, LONGEST_NAME = 12, 60  # columns
BARS, ASCII_BARS = "▁▂▃▄▅▆▇█", "_.:-=+*#@"  # heights of a distribution; the first one stands for no run
BAR_WIDTH = 16
STATES = {"in": "fastest", "out": "slower", "open": "undecided"}  # where the best mean is asked for
ENDS = {
    "enough": "the mean is known well enough",
    "time": "the time was up",
    "runs": "enough runs were made",
    "interrupted": "interrupted",
}
STOPS = {
    "confidence": "goal reached",
    "complete": "goal reached",
    "budget": "all runs were made",
    "spend": "the money was spent",
    "cap": "the largest number of runs was reached",
    "interrupted": "interrupted",
    "censored": "runs that were cut off keep it open",
    "constant": "times that are all equal keep it open",
    "error": "an error",
}
WORDS = {
    "arm": "command",
    "arms": "commands",
    "pull": "run",
    "pulls": "runs",
    "pulled": "run",
    "option": "command",
    "options": "commands",
    "trial": "run",
    "trials": "runs",
    "reward": "time",
    "rewards": "times",
    "lowest mean": "shortest mean",
}


def in_words_of_commands(text: str, names: Sequence[str] = ()) -> str:
    """What is said of a search, in the words of commands; names stay as they are.

    >>> in_words_of_commands("2 arms had no reward; alarm", ["arms"])
    '2 arms had no time; alarm'
    >>> in_words_of_commands("2 arms had no reward; alarm")
    '2 commands had no time; alarm'
    """
    kept = sorted((re.escape(name) for name in names), key=len, reverse=True)
    words = "|".join(rf"\b{word}\b" for word in sorted(WORDS, key=len, reverse=True))
    return re.sub("|".join([*kept, f"({words})"]), lambda found: WORDS[found[1]] if found[1] else found[0], text)


def explain_timing(timing: Timing, ascii_only: bool = False) -> Explanation:
    """All that is shown of commands that were timed."""
    result = None if timing.report is None else timing.report.result
    names = [each.name for each in timing.times]
    if result is not None and result.said:
        return explain_outcomes(timing, result, ascii_only)
    headline = alone_sentence(timing) if result is None else timing_headline(timing, result)
    verbose = timing.told == "verbose"
    facts: list[tuple[str, str]] = []
    if result is not None and result.answer:
        facts += _titled("Ratios", ratio_lines(timing, result, verbose))
    facts += baseline_facts(timing)
    if result is not None:
        facts += [("Guarantee", printable(guarantee_words(timing, result)))] if verbose else []
        if result.goal.epsilon is not None and (verbose or not is_claimed(result)):
            facts.append(("Tolerance", tolerance_words(result)))
    facts += surroundings(timing)
    if verbose:
        facts += _titled("Median", [median_words(timing, each) for each in timing.sorted("mean-time")])
    parts: list[Table | str] = [Table(partial(fit_times, timing, ascii_only=ascii_only))]
    if (scan := scan_note(timing)) is not None:
        parts.append(scan)
    if result is not None and result.about_risk:
        from ramgape.views.result import explain_result

        parts += ["In seconds:", *explain_result(result, ascii_only).parts]
    elif result is not None and result.answer and is_asymptotic(result) and not verbose:
        parts.append(printable(f"Approximate: {unseen(rarest(timing))}."))
    warnings = [] if result is None else [in_words_of_commands(each, names) for each in result.warnings]
    if timing.told == "quiet":
        return Explanation([headline], [], [], warnings)
    return Explanation([headline], facts, parts, warnings, more="" if verbose or result is None else "Exact statement")


def surroundings(timing: Timing) -> list[tuple[str, str]]:
    """How many runs there were, and what was taken from their times or disturbed them."""
    facts = [("Runs", runs_words(timing))]
    if timing.shell is not None:
        took = time_text(timing.shell)
        facts.append(("Shell", f"its start, {took}, was subtracted from every time (-N: no shell)"))
    return facts + ([("Noise", timing.noise)] if timing.noise else [])


def explain_outcomes(timing: Timing, result: Result, ascii_only: bool) -> Explanation:
    """All that is shown of commands with several outcomes: the result, in words of commands."""
    from ramgape.views.result import explain_result

    verbose, names = timing.told == "verbose", [arm.name for arm in result.arms]
    said = explain_result(result, ascii_only, full=verbose)

    def told(text: str) -> str:
        return in_words_of_commands(text, names)

    def table(each: Table) -> Table:
        def fit(width: int | None) -> list[Column]:
            return [replace(column, heading=told(column.heading)) for column in each.fit(width)]

        return replace(each, fit=fit, rest=told(each.rest))

    headlines, warnings = list(map(told, said.headlines)), list(map(told, said.warnings))
    if timing.told == "quiet":
        return Explanation(headlines, [], [], warnings)
    parts = [told(part) if isinstance(part, str) else table(part) for part in said.parts]
    facts = [*baseline_facts(timing), *((word, told(text)) for word, text in said.facts), *surroundings(timing)]
    return replace(said, headlines=headlines, facts=facts, parts=parts, warnings=warnings, after=told(said.after))


def baseline_facts(timing: Timing) -> list[tuple[str, str]]:
    """Each command beside its earlier runs."""
    return _titled("Baseline", baseline_lines(timing))


def _titled(word: str, lines: Sequence[str]) -> list[tuple[str, str]]:
    return [("" if place else word, line) for place, line in enumerate(lines)]


def unit_of(timing: Timing) -> Unit:
    """The unit of all times that are shown."""
    return named_unit(timing.unit) or time_unit(timing.fastest.mean)


def time_text(seconds: float, unit: Unit | None = None) -> str:
    """A time with its unit.

    >>> time_text(0.0238), time_text(2.5)
    ('23.8 ms', '2.500 s')
    """
    unit = unit or time_unit(seconds)
    return f"{unit.text(seconds)} {unit.name}"


def alone_sentence(timing: Timing) -> str:
    """How long a single command takes."""
    each, unit = timing.fastest, unit_of(timing)
    name = one_name(each.name)
    if not each.times:
        return printable(f"{name} was not run to its end.")
    low, high = each.mean_interval
    told = f"{name} takes {time_text(each.mean, unit)} on average"
    if each.failed:
        told = cut_off_words(timing.times).removesuffix(".")
        told += f"; its mean is at least {time_text(low, unit)} (95% confidence)" if low > 0.0 else ""
    elif math.isfinite(high):
        told += f" ({unit.text(low)} to {time_text(high, unit)}, 95% confidence)"
    elif len(each.times) < ASSUMPTIONS[UNKNOWN].first_looks[0]:
        told += f" of {plural(len(each.times), 'run')}, too few for an interval"
    exits = exits_words(timing.times)
    return printable(f"{told}. But {exits}" if exits else f"{told}.")


def timing_headline(timing: Timing, result: Result) -> str:
    """Which command is the fastest, and what must be known besides: runs of it that failed, or were cut off."""
    fastest = timing.fastest
    told = [timing_sentence(result)]
    if result.task == "best" and not result.answer and not math.isnan(timing.times[-1].mean):
        least = f"Nothing is proved before {ASSUMPTIONS[UNKNOWN].first_looks[0]} runs of each command."
        told = [f"So far {one_name(fastest.name)} has the shortest mean. {least}"]
    if result.stopped == "censored":
        told = [_kept_open(timing)]
    elif any(each.failed for each in timing.times):
        told.append(f"{'But ' if fastest.failed else ''}{cut_off_words(timing.times)}")
        told += ["What is said of the fastest command counts longer runs as the timeout."] if fastest.failed else []
    if any(each.nonzero_exits for each in timing.times):
        told.append(f"{'But ' if fastest.nonzero_exits else ''}{exits_words(timing.times)}")
    if timing.ended == "runs" and result.answer and not is_claimed(result):
        told.append("More runs may decide it: -M 100, or --budget-time 5m.")
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
    if result.task != "best" or not result.answer:
        return in_words_of_commands(answer_sentence(result), [arm.name for arm in result.arms])
    name, found = one_name(result.answer[0]), stated_tolerance(result)
    asked = result.goal.epsilon
    if found is None:
        if result.goal.kind == "budget":
            return f"{name} was the fastest; nothing is proved of this."
        number = sum(arm.verdict == "open" for arm in result.arms)
        return (
            f"So far {name} is the fastest; not proved: {number:,} of {plural(len(result.arms), 'command')} undecided."
        )
    within = f", or within {tolerance_text(found[0])} of it" if found[0] else ""
    told = f"{name} is the fastest{within} ({sure_words(result)})"
    if not is_claimed(result):
        told = f"So far {told}" + (
            f", not within {tolerance_text(asked)} as asked" if asked and found[0] >= asked else ""
        )
    elif found[0] > result.spread[0]:
        told += "; but all are as close as that"
    return f"{told}.{doubts(result)}"


def sure_words(result: Result) -> str:
    """How sure an answer is."""
    delta = result.goal.delta if result.stopped == "confidence" else result.certified_delta
    return f"{100.0 * (1.0 - (delta or 0.0)):.6g}% confidence{', approximately' if is_asymptotic(result) else ''}"


def is_asymptotic(result: Result) -> bool:
    """Whether the guarantee holds nearly, by the central limit theorem."""
    return result.details.rigour == "approximate"


def guarantee_words(timing: Timing, result: Result) -> str:
    """What is proved, and on what it rests."""
    found = stated_tolerance(result) if result.answer else None
    if result.task != "best":
        return in_words_of_commands(result.guarantee, [each.name for each in timing.times])
    if found is None:
        return f"Nothing is proved yet; the answer is the best guess after {plural(result.trials, 'run')}."
    name = one_name(result.answer[0])
    within = f"at most {tolerance_text(found[0])} longer than the shortest" if found[0] else "the shortest"
    sure = sure_words(result).replace(", approximately", " (approximately)")
    told = f"With {sure} the mean time of {name} is {within}, whenever the runs end"
    kind = f"for times of any kind, as the central limit theorem has it; {unseen(rarest(timing))}"
    if not is_asymptotic(result):
        kind = f"for times that are {result.noise}"
    return f"{told}, {kind}. The intervals of ratios hold each by itself.{doubts(result)}"


def rarest(timing: Timing) -> Times:
    """The command with the fewest runs."""
    return min(timing.times, key=lambda each: len(each.times))


def unseen(each: Times) -> str:
    """How rare an event may be that no run has shown."""
    most = round_up(-100.0 * math.expm1(math.log(0.05) / max(len(each.times), 1)), 2)
    runs = f"{len(each.times):,} runs of {one_name(each.name)}"
    return f"an event with a chance of up to {most}% may have gone unseen in the {runs}"


def tolerance_text(seconds: float) -> str:
    """A tolerance as a time, never smaller than it is.

    >>> tolerance_text(0.0040501), tolerance_text(2.5)
    ('4.06 ms', '2.5 s')
    """
    unit = time_unit(seconds)
    return f"{round_up(seconds / unit.seconds)} {unit.name}"


def tolerance_words(result: Result) -> str:
    """A tolerance as a time, and of what it is a share."""
    goal = result.goal
    assert goal.epsilon is not None
    text = tolerance_text(goal.epsilon)
    if goal.epsilon_share is None:
        return text
    whole = "the shortest mean after the first rounds" if result.reward_range is None else "the timeout"
    return f"{text}: {100.0 * goal.epsilon_share:g}% of {whole}"


def runs_words(timing: Timing) -> str:
    """How many runs there were, how long all took, and what ended it."""
    count = sum(len(each.times) for each in timing.times)
    took = "" if math.isnan(timing.seconds) else f" in {timing.seconds:.1f} s"
    why = ENDS.get(timing.ended, "")
    if timing.report is not None:
        result = timing.report.result
        why = why or STOPS.get(result.stopped, str(result.stopped))
        if not is_claimed(result) and why != STOPS["confidence"]:
            why += "; goal not reached"
    of = f" of {plural(len(timing.times), 'command')}" if len(timing.times) > 1 else ""
    return f"{plural(count, 'run')}{of}{took}; {why}"


def median_words(timing: Timing, each: Times) -> str:
    """The middle run of a command, what it used, and how many outliers there were."""
    unit, used = unit_of(timing), []
    if each.memories:
        used.append(f"peak memory {'at most ' if each.small else ''}{each.memory / 1e6:,.1f} MB")
    used += [f"{name} {statistics.fmean(values):.4g}" for name, values in each.outcomes.items() if values]
    used.append(plural(len(each.outliers), "outlier"))
    middle = statistics.median(each.times) if each.times else math.nan
    return printable(f"{time_text(middle, unit)}, {', '.join(used)}: {one_name(each.name)}")


def baseline_lines(timing: Timing) -> list[str]:
    """Each command compared with an earlier export, and whether the machine is another one."""
    if timing.baseline is None:
        return []
    tolerance = timing.tolerance or 0.0
    words = {
        "proved": f"no slower, within {100.0 * tolerance:g}%",
        "refuted": f"slower by more than {100.0 * tolerance:g}%",
        "undecided": "undecided",
    }
    lines = []
    for each, earlier, ends, verdict in timing.baseline.verdicts(timing, tolerance):
        shown = bounds_words(ends, " to ")
        ratio = each.mean / earlier.mean if earlier.mean > 0.0 else math.nan
        lines.append(f"{one_name(each.name)} takes {ratio:.2f} times as long as before ({shown}): {words[verdict]}")
    if not lines:
        lines.append(f"{timing.baseline.path} has none of these commands")
    if not timing.baseline.machine:
        lines.append(f"{timing.baseline.path} does not say on which machine it was made")
    elif differs := timing.baseline.differences():
        lines.append(f"another machine: {'; '.join(differs)}. Ratios between machines say little.")
    return [printable(line) for line in lines]


def ratio_lines(timing: Timing, result: Result, verbose: bool) -> list[str]:
    """Each command compared with the fastest, or with the reference; the shortest first."""
    others = [each for each in timing.times if each is not timing.compared and each.times]
    lines = [comparison_words(timing, result, each) for each in others[:SENTENCES]]
    rest = len(others) - SENTENCES
    lines += [f"{plural(rest, 'more command')} in the table"] if rest > 0 else []
    if verbose and any("(" in line or "at least" in line for line in lines):
        lines.append("Intervals: 95% confidence, anytime-valid, each by itself, approximate.")
    return lines


def comparison_words(timing: Timing, result: Result, each: Times) -> str:
    """A command compared with the fastest, or with the reference."""
    other, ratio = timing.compared, timing.ratio(each)
    first, name = printable(other.name), printable(each.name)
    ends = timing.ratio_interval(each)
    if ratio < 1.0:  # than the reference
        first, name, other, each = name, first, each, other
        ratio, ends = 1.0 / ratio if ratio > 0.0 else math.nan, (_inverse(ends[1]), _inverse(ends[0]))
    low, high = ends
    shown = f" ({bounds_words(ends, ' to ')})" if low > 0.0 and high < math.inf else ""
    slower = next((arm for arm in result.arms if arm.name == each.name), None)
    if slower is not None and slower.verdict == "open" and timing.reference is None:
        takes = f"at least {_floored(low)}" if each.failed and low > 0.0 else f"{ratio:.2f}"
        return f"undecided: {name} takes {takes} times as long as {first}{shown}"
    if is_as_fast(result, other, each):
        within = tolerance_text(result.goal.epsilon or 0.0)
        return f"{name} is as fast as {first}, within {within}: it takes {ratio:.2f} times as long{shown}"
    if each.failed or other.failed:
        known = f"{first} is at least {_floored(low)} times as fast as {name}"
        return known if low > 1.0 else f"how much longer {name} takes than {first} is not known"
    return f"{first} is {ratio:.2f} times as fast as {name}{shown}"


def _inverse(value: float) -> float:
    return 1.0 / value if value > 0.0 else math.inf


def is_as_fast(result: Result, first: Times, each: Times) -> bool:
    """Whether two commands are within the tolerance of each other by the means, and neither was cut off."""
    epsilon = result.goal.epsilon
    if epsilon is None or each is first or each.failed or first.failed:
        return False
    return bool(abs(each.mean - first.mean) < epsilon)


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


def distribution(times: Sequence[float], width: int = BAR_WIDTH, ascii_only: bool = False) -> str:
    """A bar whose letters say how many runs took how long, from the shortest to the longest.

    >>> distribution([1.0, 1.0, 1.0, 1.4, 2.0], 4), distribution([1.0, 1.0, 1.0, 1.4, 2.0], 4, ascii_only=True)
    ('█▄▁▄', '@-_-')
    """
    letters = ASCII_BARS if ascii_only else BARS
    if not times:
        return " " * width
    low, high = min(times), max(times)
    counts = [0] * width
    for each in times:
        place = int((each - low) / (high - low) * width) if high > low else width // 2
        counts[min(place, width - 1)] += 1
    most = len(letters) - 1
    return "".join(letters[math.ceil(most * count / max(counts))] for count in counts)


def fit_times(timing: Timing, width: int | None, ascii_only: bool) -> list[Column]:
    """The table of times in the widest form that there is room for: a line for each command, or two."""
    unit, times = unit_of(timing), timing.sorted("mean-time")
    result = None if timing.report is None else timing.report.result
    arms: dict[str, ArmReport] = {} if result is None else {arm.name: arm for arm in result.arms}
    pm, to = plus_minus(ascii_only), "-" if ascii_only else "…"
    marks = [arms[each.name].verdict if arms else "" for each in times]
    states = ["" if result is None else state_in(result, arms[each.name], each, timing.fastest) for each in times]
    least = ">= " if ascii_only else "≥ "
    mean = [
        f"{least}{unit.text(each.mean)}" if each.failed else f"{unit.text(each.mean)} {pm} {unit.text(each.std)}"
        for each in times
    ]
    ends = [f"{unit.text(_end(min, each))} {to} {unit.text(_end(max, each))}" for each in times]
    used = [(unit.text(each.user), unit.text(each.system)) for each in times]
    bars = [distribution(each.times, BAR_WIDTH, ascii_only) for each in times]
    ratios = [("1.00", "-") if each is timing.compared else _ratio_cells(timing, each, least, to) for each in times]
    runs = Column("runs", [_runs_cell(each) for each in times], right=True)
    parameters = list(dict.fromkeys(name for each in times for name in each.parameters))

    def with_names(columns: Sequence[Column], below: Sequence[str]) -> list[Column]:
        room = LONGEST_NAME if width is None else max(width - total_width(columns) - 2, SHORTEST_NAME)
        shown = short_names([each.name for each in times], room)
        cells = [
            f"{shown[each.name]}\n{line}" if line else shown[each.name] for each, line in zip(times, below, strict=True)
        ]
        return [Column("command", cells, marks=marks, names=True), *columns]

    wide = [
        *([Column("", states, marks=marks)] if arms else []),
        *(Column(name, [each.parameters.get(name, "") for each in times], right=True) for name in parameters),
        runs,
        Column(f"mean {pm} std ({unit.name})", mean, right=True),
        Column(f"min {to} max", ends, right=True),
        Column("distribution", bars),
        Column("user", [user for user, _ in used], right=True),
        Column("system", [system for _, system in used], right=True),
        Column("memory (MB)", [_megabytes(each, "<= " if ascii_only else "≤ ") for each in times], right=True),
    ]
    narrow = [
        runs,
        Column(
            f"mean {pm} std ({unit.name})\nuser + system",
            [f"{first}\n{user} + {system}" for first, (user, system) in zip(mean, used, strict=True)],
            right=True,
        ),
        Column(f"distribution\nmin {to} max", [f"{first}\n{second}" for first, second in zip(bars, ends, strict=True)]),
    ]
    if len(times) > 1:
        first, second = ([pair[place] for pair in ratios] for place in (0, 1))
        wide += [Column("times as long", first, right=True), Column("95% interval", second, right=True)]
        both = [f"{x}\n{y}" for x, y in zip(first, second, strict=True)]
        narrow.append(Column("times as long\n95% interval", both, right=True))
    longest = min(max(Column("", [printable(each.name)]).width for each in times), LONGEST_NAME)
    if width is None or total_width(wide) + 2 + longest <= width:
        return with_names(wide, ["" for _ in times])
    return with_names(narrow, [f"  {state}" if state else "" for state in states])


def _ratio_cells(timing: Timing, each: Times, least: str, to: str) -> tuple[str, str]:
    ratio = f"{timing.ratio(each):.2f}"
    if timing.compared.failed:
        ratio = "-"  # of two lower limits, or over one
    elif each.failed:
        ratio = f"{least}{ratio}"
    return ratio, bounds_words(timing.ratio_interval(each), f" {to} ").replace("at least ", least)


def _megabytes(each: Times, most: str) -> str:
    return f"{most if each.small else ''}{each.memory / 1e6:,.1f}" if each.memories else "-"


def _runs_cell(each: Times) -> str:
    """How many runs there were, and how many of them were cut off or failed, on lines of their own."""
    told = [f"{len(each.times):,}"]
    told += [f"{each.failed:,} cut off"] if each.failed else []
    told += [f"{each.nonzero_exits:,} failed"] if each.nonzero_exits else []
    return "\n".join(told)


def _end(which: Callable[[Sequence[float]], float], each: Times) -> float:
    return which(each.times) if each.times else math.nan


def state_in(result: Result, arm: ArmReport, each: Times, fastest: Times) -> str:
    """What is known of a command's place, in a word or two; one within the tolerance is as fast, never slower."""
    if result.task != "best" or arm.verdict != "out":
        word = STATES[arm.verdict] if result.task == "best" else arm.verdict
        return word if arm.certified or arm.verdict == "open" else f"{word}?"
    if is_as_fast(result, fastest, each):
        return "as fast"
    ahead = times_interval(each, fastest)[0] > 1.0
    proved = arm.certificate == "out" or (arm.certified and ahead)
    return "slower" if proved else "slower?"


def scan_note(timing: Timing) -> str | None:
    """How times go with a parameter that is a number, where there is one and nothing else; else None."""
    found = scanned(timing)
    if found is None:
        return None
    name, points = found
    (first, fast), (last, slow) = points[0], points[-1]
    ratio = slow.mean / fast.mean if fast.mean > 0.0 else math.nan
    return f"From {name} = {first:g} to {last:g} times change by a factor of {ratio:.2f}; --plot FILE draws the line."


def scanned(timing: Timing) -> tuple[str, list[tuple[float, Times]]] | None:
    """The only parameter, and the commands by its values, in their order; None if it is no number or not alone."""
    names = {name for each in timing.times for name in each.parameters}
    if len(names) != 1 or len(timing.times) < 3:
        return None
    name = names.pop()
    try:
        points = [(float(each.parameters[name]), each) for each in timing.times if name in each.parameters]
    except ValueError:
        return None
    if len({value for value, _ in points}) < len(points):
        return None
    return name, sorted(points, key=lambda point: point[0])


def draw_timing(timing: Timing) -> Axes:
    """The runs of each command, ratios to the fastest, and a line for a scan."""
    from ramgape.views.plots.times import draw_times

    return draw_times(timing, unit_of(timing), scanned(timing))


def aim_words(result: Result) -> str:
    """When it ends."""
    if result.said and result.goal.budget is None:
        return "ends when the answer is certified"
    if result.goal.budget is not None:
        return f"ends after {result.goal.budget:,}"
    if result.goal.spend is not None:
        return f"ends when {result.goal.spend:g} are spent"
    if result.goal.epsilon is None:
        return f"then the tolerance is {100.0 * (result.goal.epsilon_share or 0.0):g}% of the shortest mean"
    return f"tolerance {tolerance_words(result)}"


def live_table(
    times: Sequence[Times],
    states: Sequence[tuple[str, str]],
    below: str,
    width: int,
    ascii_only: bool,
    unit: str | None,
) -> RenderableType:
    """Commands while they run, in the order in which they were given.

    Args:
        times: Their runs so far.
        states: What is known of each, in a word, and its style.
        below: What stands below the table.
        width: Of the window.
        ascii_only: Whether it can show ASCII only.
        unit: Of the times; None: what fits.
    """
    from rich import box
    from rich.console import Group
    from rich.table import Table as Grid
    from rich.text import Text

    means = [each.mean for each in times if math.isfinite(each.mean)]
    shown, pm = named_unit(unit) or time_unit(min(means, default=1.0)), plus_minus(ascii_only)
    names = short_names([each.name for each in times], max(width - 44 - BAR_WIDTH, SHORTEST_NAME))
    table = Grid(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, title_justify="left")
    table.add_column("command", no_wrap=True)
    for heading in ("runs", f"mean {pm} std ({shown.name})"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("distribution", no_wrap=True)
    table.add_column("", no_wrap=True)
    for each, (word, style) in zip(times, states, strict=True):
        time = f"{shown.text(each.mean)} {pm} {shown.text(each.std)}"
        bar = distribution(each.times, BAR_WIDTH, ascii_only)
        cells = (f"{len(each.times):,}", time, bar) if each.times else ("0", "", "")
        table.add_row(Text(names[each.name]), *cells, Text(word, style=style))
    # Not as a caption, which would be as narrow as the table.
    return Group(table, Text(below, style="dim"))
