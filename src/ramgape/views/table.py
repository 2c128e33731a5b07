"""The table of arms, in the richest form that the space allows."""

from __future__ import annotations

import math
import textwrap
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ramgape.common.formatting import Digits, cut, plus_minus, short_names
from ramgape.errors import printable
from ramgape.views.content import is_turned
from ramgape.views.explanation import Column, total_width
from ramgape.views.sentence import change_of, decisive_place, p_words, short_risk

if TYPE_CHECKING:
    from ramgape.search.result import ArmConstraint, ArmObjective, ArmReport, ArmTruth, ControlDifference, Result
    from ramgape.simulation.forecast import ArmForecast

Estimated = tuple[float, tuple[float, float]]


def true_columns(arms: Sequence[ArmTruth | ArmForecast], heading: str) -> list[Column]:
    """Mean, standard deviation and risk of arms of which the truth is known, or guessed."""
    named = {
        "mean": [arm.mean for arm in arms],
        "std": [arm.std for arm in arms],
        heading: [arm.risk_shown for arm in arms],
    }
    columns = []
    for name, values in named.items():
        largest = max((abs(value) for value in values if math.isfinite(value)), default=0.0)
        digits = Digits.of(values, [(0.0, 0.1 * largest)])
        texts = [digits.text(value) for value in values]
        columns.append(Column(_heading(name, texts), texts, right=True))
    return columns


def fitted(columns: Sequence[Column], dispensable: Sequence[str], width: int | None) -> list[Column]:
    """The columns that have room; of those that one can do without, what stands first goes first."""
    shown = list(columns)
    for heading in dispensable:
        if width is None or total_width(shown) <= width:
            break
        shown = [column for column in shown if column.heading != heading]
    return shown


def left_out(columns: Sequence[Column], shown: Sequence[Column]) -> str:
    """A sentence on the columns for which there was no room."""
    headings = {column.heading for column in shown}
    names = [column.heading.replace("\n", " ") for column in columns if column.heading not in headings]
    return (
        f"No room for: {', '.join(names)}. A wider window shows {'it' if len(names) == 1 else 'them'}." if names else ""
    )


def estimate_digits(arms: Sequence[ArmReport]) -> tuple[Digits, Digits]:
    """How the means and the risks of arms are written beside each other."""
    means = Digits.of([arm.mean for arm in arms], [arm.mean_interval for arm in arms])
    risks = Digits.of([arm.risk_shown for arm in arms], [arm.risk_shown_interval for arm in arms])
    return means, risks


def _heading(text: str, cells: Sequence[str]) -> str:
    """A heading in two lines, where it would be wider than what stands below it."""
    widest = max((len(line) for cell in cells for line in cell.split("\n")), default=0)
    if len(text) <= widest:
        return text
    if len(text) <= LONGEST_HEADING:
        return text
    lines = textwrap.wrap(text, max(widest, (len(text) + 1) // 2 + 3), break_long_words=False)
    return "\n".join(lines) if len(lines) <= 2 else text


# What a table has, from the richest form to one for the narrowest window, and how many columns names may take.
PARTS = [
    ("se", "interval", "behind", "trials", "words"),
    ("se", "interval", "behind", "trials"),
    ("se", "behind", "trials", "words"),
    ("se", "trials", "words"),
    ("se", "behind", "trials"),
    ("se", "trials"),
    ("trials",),
    (),
]
FORMS = [*((parts, limit) for parts in PARTS[:-1] for limit in (32, 20, 16)), (PARTS[-1], 14), (PARTS[-1], 8)]


def fit_columns(result: Result, arms: Sequence[ArmReport], width: int | None, ascii_only: bool = False) -> list[Column]:
    """The richest form of the table that `width` columns of a terminal can hold; None: names as long as they are."""
    if width is None:
        return build_columns(result, arms, FORMS[0][0], 10_000, ascii_only)
    columns: list[Column] = []
    for shown, limit in FORMS:
        columns = build_columns(result, arms, shown, limit, ascii_only)
        if total_width(columns) <= width:
            break
    return columns


def build_columns(
    result: Result, arms: Sequence[ArmReport], shown: Collection[str], limit: int, ascii_only: bool = False
) -> list[Column]:
    """A row for each arm: its numbers, how far it is behind, its trials, and its place in a word.

    Args:
        result: The result.
        arms: The arms to show, in this order.
        shown: What there is room for: "se", "behind", "interval", "trials", and "words" for more than one.
        limit: The columns that a name may take.
        ascii_only: Whether to do without other letters.
    """
    details = result.details
    names = short_names((arm.name for arm in result.arms), limit)
    marks = ["in" if arm.name in result.answer else "open" if arm.word == "open" else "" for arm in arms]
    columns = [Column("option", [names[arm.name] for arm in arms], marks=marks, names=True)]
    texts = list(arms[0].objectives) if arms else []
    for place, text in enumerate(texts):
        numbers = [arm.objectives[text] for arm in arms]
        columns.append(_own_numbers(heading_of(result, place), numbers, "se" in shown, plus_minus(ascii_only)))
    for text in arms[0].constraints if arms else ():
        limits = [arm.constraints[text] for arm in arms]
        if texts:
            columns.append(_limit_column(text, limits))
        else:  # the question is about this limit alone, and the words say what became of it
            statistic = text.replace(">=", "<=").partition(" <=")[0]
            heading = "mean" if statistic == "mean(reward)" else printable(statistic)
            rows = [(each.estimate, (each.low, each.high)) for each in limits]
            columns += _estimated(heading, "95% interval" if "interval" in shown else "", rows)
    if any(arm.support is not None for arm in arms) and result.status != "certified":
        supports = ["-" if arm.support is None else f"{100.0 * arm.support:.0f}%" for arm in arms]
        columns.append(Column("support", supports, right=True))
    elif details.control is not None and result.differences and "behind" in shown:
        columns += _changes(result, arms, "interval" in shown)
    elif texts and (len(texts) == 1 or result.question.partition(":")[0] in ONE_DIRECTION) and "behind" in shown:
        text = texts[decisive_place(result)]
        columns += _distances([arm.objectives[text] for arm in arms], "interval" in shown)
    if details.spent is not None:
        columns.append(Column("spent", [f"{arm.spent or 0.0:,.4g}" for arm in arms], right=True))
    if "trials" in shown:
        columns.append(Column("trials", [f"{arm.trials:,}" for arm in arms], right=True))
    words = [place_words(result, arm, min(limit, 24) if "words" in shown else 0) for arm in arms]
    if any(words):
        columns.append(Column("", words, marks=marks))
    return columns


ONE_DIRECTION = ("best", "top", "least-risk", "cheapest")  # questions with a leader


def heading_of(result: Result, place: int) -> str:
    """What an objective is called above a column, and at an axis."""
    text = result.objectives[place].text if place < len(result.objectives) else "mean(reward)"
    if text == "mean(reward)":
        return result.details.reward_name if len(result.objectives) > 2 and result.details.reward_name else "mean"
    if text.endswith("(reward)") or "(reward," in text:
        return short_risk(result) if result.alpha in (None, 1.0) else "scaled risk"
    return text[5:-1] if text.startswith("mean(") and text.endswith(")") else text


def _own_numbers(heading: str, numbers: Sequence[ArmObjective], with_errors: bool, sign: str) -> Column:
    """Estimates with their standard errors, to the first digit of a typical one."""
    errors = sorted(each.se for each in numbers if each.se > 0.0)
    smallest = max(errors[0], 0.1 * errors[len(errors) // 2]) if errors else 0.0
    digits = Digits.of([each.estimate for each in numbers], [(0.0, 10.0 * smallest)] if errors else [])
    texts = aligned([digits.text(each.estimate) for each in numbers])
    if not with_errors or not errors:
        return Column(_heading(printable(heading), texts), texts, right=True)
    halves = aligned([f" {sign} {digits.text(each.se)}" if math.isfinite(each.se) else "" for each in numbers])
    cells = [f"{text}{half}" for text, half in zip(texts, halves, strict=True)]
    return Column(_heading(f"{printable(heading)} {sign} s.e.", cells), cells, right=True)


KEPT = {"kept": "ok", "missed": "broken", "open": "?"}


def _limit_column(text: str, limits: Sequence[ArmConstraint]) -> Column:
    digits = Digits.of([each.estimate for each in limits], [])
    cells = [f"{digits.text(each.estimate)} {KEPT[each.verdict]}" for each in limits]
    widest = max(map(len, cells), default=0)
    words = textwrap.wrap(printable(text), max(widest, LIMIT_WIDTH), break_long_words=False)
    return Column("\n".join(words), cells, right=True)


LIMIT_WIDTH, LONGEST_HEADING = 14, 16


def _distances(numbers: Sequence[ArmObjective], with_interval: bool) -> list[Column]:
    """How far arms are behind the leader, and where that is, each by itself."""
    found = [each.behind for each in numbers]
    rows = [None if each is None else (each.estimate, (each.low, each.high)) for each in found]
    if not any(row is not None for row in rows):
        return []
    return _estimated("behind", "95% interval" if with_interval else "", rows)


def _changes(result: Result, arms: Sequence[ArmReport], with_interval: bool) -> list[Column]:
    """Differences to the control."""
    in_percent = all(change_of(result, row)[2] for row in result.differences)
    found: dict[str, Estimated] = {}
    for row in result.differences:
        plain = row if in_percent else replace(row, percent=math.nan)
        found[row.name] = change_of(result, plain)[:2]
    rows = [found.get(arm.name) for arm in arms]
    return _estimated("change", "95% interval" if with_interval else "", rows, "+", "%" if in_percent else "")


def _estimated(
    heading: str, ends: str, rows: Sequence[Estimated | None], plus: str = "", unit: str = ""
) -> list[Column]:
    """Estimates, and in a column of their own where they are."""
    known = [row for row in rows if row is not None]
    digits = Digits.of([value for value, _ in known], [interval for _, interval in known])
    sign = [plus if row is not None and row[0] > 0.0 else "" for row in rows]
    values = [
        "-" if row is None else f"{more}{digits.text(row[0])}{unit}" for row, more in zip(rows, sign, strict=True)
    ]
    columns = [Column(heading, values, right=True)]
    if not ends or not any(math.isfinite(low) or math.isfinite(high) for _, (low, high) in known):
        return columns
    texts = [("", "") if row is None else digits.interval(*row[1]) for row in rows]
    lows, highs = aligned([low for low, _ in texts]), aligned([high for _, high in texts])
    cells = []
    for row, low, high in zip(rows, lows, highs, strict=True):
        unknown = row is None or (math.isinf(row[1][0]) and math.isinf(row[1][1]))
        cells.append("-" if unknown else f"{low} to {high}{unit}")
    return [*columns, Column(ends, cells, right=True)]


def aligned(texts: Sequence[str]) -> list[str]:
    """Texts filled up to the same width."""
    width = max(map(len, texts), default=0)
    return [text.rjust(width) for text in texts]


WITH_P = ("behind", "beaten", "better")
DELTA = 0.05  # of p-values after a budget


def place_words(result: Result, arm: ArmReport, limit: int) -> str:
    """An arm's place in words: what is proved or likely, by whom it is beaten, and its p-value."""
    word = arm.word
    if not word and not arm.trials:
        return "no trials"
    if word == "keep" and limit:
        return _best_in(result, arm)
    if limit and word.endswith("beaten") and arm.beaten_by is not None:
        word = f"{word} by {cut(printable(arm.beaten_by), max(limit - 4, 8))}"
    if word == "close" and limit:
        word = _close_in(result, arm)
    p = _telling_p(result, arm)
    return word if p is None else f"{word}, {p_words(result, p)}"


def _close_in(result: Result, arm: ArmReport) -> str:
    """With several objectives: in which of them an arm may be as good as the one that is kept in its favor."""
    found = [number.behind for number in arm.objectives.values()]
    open_ = [heading_of(result, place) for place, each in enumerate(found) if each is not None and each.low <= 0.0]
    return f"close in {' and '.join(open_)}" if 0 < len(open_) < len(found) else "close"


def _telling_p(result: Result, arm: ArmReport) -> float | None:
    """An arm's p-value, if it says the same as its word."""
    tells = arm.word in WITH_P and arm.p is not None and arm.p <= (result.goal.delta or DELTA)
    return arm.p if tells else None


def _best_in(result: Result, arm: ArmReport) -> str:
    """In which objectives an arm of a Pareto set is the best one of the answer."""
    found: dict[str, list[str]] = {}
    for place, objective in enumerate(result.objectives):
        of_all = [result.arm(name).objectives[objective.text].estimate for name in result.answer]
        least = objective.direction == "minimize"
        if arm.objectives[objective.text].estimate == (min(of_all) if least else max(of_all)):
            found.setdefault("lowest" if least else "highest", []).append(heading_of(result, place))
    parts = [f"{word} {' and '.join(names)}" for word, names in found.items()]
    return f"keep: {', '.join(parts)}" if parts else "keep"


def rest_words(result: Result, arms: Sequence[ArmReport]) -> str:
    """A sentence on the arms that are left out of a table."""
    if not arms:
        return ""
    counts: Counter[str] = Counter(arm.word or arm.verdict for arm in arms)
    number = f"... and {len(arms):,} more"
    if len(counts) > 1:
        return f"{number} ({', '.join(f'{count:,} {word}' for word, count in counts.items())})"
    word = next(iter(counts))
    known = [p for arm in arms if (p := _telling_p(result, arm)) is not None]
    told = f" ({p_words(result, max(known)).replace('=', '<=')})" if 1 < len(arms) == len(known) else ""
    return f"{number}, {'all ' if len(arms) > 1 else ''}{word}{told}"


# --------------------------------------------------------------------- differences to another arm


def difference_of(result: Result, arm: ArmReport, place: int) -> Estimated | None:
    """An arm's number in an objective less that of the arm that it is compared with, in the user's units."""
    if place >= len(result.objectives):
        return None
    objective = result.objectives[place]
    behind = arm.objectives[objective.text].behind
    if behind is None:
        return None
    side = 1.0 if objective.direction == "minimize" else -1.0
    low, high = sorted((side * behind.low, side * behind.high))
    return side * behind.estimate, (low, high)


def shown_risks(result: Result, rows: Sequence[ControlDifference]) -> list[Estimated]:
    """Differences in risk, as people are shown it."""
    if is_turned(result.arms):
        return [(-row.risk, (-row.risk_interval[1], -row.risk_interval[0])) for row in rows]
    return [(row.risk, row.risk_interval) for row in rows]
