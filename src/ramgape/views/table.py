"""The table of arms, in the richest form that the space allows."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ramgape.common.formatting import Digits, cell_width, cut, pad, share, short_names
from ramgape.errors import printable
from ramgape.views.content import ROWS, choose_arms, is_turned, risk_heading
from ramgape.views.explanation import Column, total_width
from ramgape.views.verdicts import names_and_reasons, sure_words, verdict_words

if TYPE_CHECKING:
    from ramgape.search.result import ArmReport, ArmTruth, ControlDifference, Result
    from ramgape.simulation.forecast import ArmForecast

CONTROL_WIDTH = 24

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


UNKNOWN = "[not known]"  # an interval of all that is possible
MORE_DIGITS = 8  # than a typical interval is worth, where verdicts differ


def _estimates(
    heading: str, values: Sequence[float], intervals: Sequence[tuple[float, float]], form: str, digits: Digits
) -> Column:
    """Estimates and intervals as one column, written in a line, stacked, or without the intervals."""
    ends = [digits.interval(low, high) for low, high in intervals]
    middle = _aligned([digits.text(value) for value in values])
    if form == "narrow":
        return Column(_heading(heading, middle), middle, right=True)
    lows, highs = _aligned([low for low, _ in ends]), _aligned([high for _, high in ends])
    gap = "\n" if form == "stacked" else " "
    said = [
        UNKNOWN if math.isinf(high) and (math.isinf(low) or low == 0.0) else f"[{low_text}, {high_text}]"
        for (low, high), low_text, high_text in zip(intervals, lows, highs, strict=True)
    ]
    cells = [f"{m}{gap}{interval}" for m, interval in zip(middle, _aligned(said), strict=True)]
    return Column(_heading(heading, cells), cells, right=True)


def _heading(text: str, cells: Sequence[str]) -> str:
    """A heading in two lines, where it would be wider than what stands below it."""
    widest = max((len(line) for cell in cells for line in cell.split("\n")), default=0)
    if len(text) <= widest:
        return text
    lines = textwrap.wrap(text, max(widest, (len(text) + 1) // 2 + 3))
    return "\n".join(lines) if len(lines) <= 2 else text


def _as_fine(values: Sequence[float], other: Digits) -> Digits:
    """Two digits of the largest of these values, or as many as another column in the same unit has."""
    largest = max((value for value in values if math.isfinite(value)), default=0.0)
    digits = Digits.of(values, [(0.0, largest)])
    if digits.scientific or other.scientific:
        return digits
    return replace(digits, places=max(digits.places, other.places))


def _distinct(arms: Sequence[ArmReport], digits: tuple[Digits, Digits]) -> tuple[Digits, Digits]:
    """Enough digits of means and risks that arms with different verdicts never show the same numbers.

    Where they are the same, more digits would not help, and none are added.
    """
    usual = digits
    for _ in range(MORE_DIGITS):
        verdicts: dict[tuple[str, str], str] = {}
        written = [(digits[0].text(arm.mean), digits[1].text(arm.risk_shown)) for arm in arms]
        clear = all(
            verdicts.setdefault(pair, arm.verdict) == arm.verdict for pair, arm in zip(written, arms, strict=True)
        )
        if clear:
            return digits
        digits = digits[0].finer(), digits[1].finer()
    return usual


def estimate_digits(arms: Sequence[ArmReport]) -> tuple[Digits, Digits]:
    """How the means and the risks of arms are written beside each other."""
    means = Digits.of([arm.mean for arm in arms], [arm.mean_interval for arm in arms])
    risks = Digits.of([arm.risk_shown for arm in arms], [arm.risk_shown_interval for arm in arms])
    return _distinct(arms, (means, risks))


def _aligned(texts: Sequence[str]) -> list[str]:
    width = max(map(len, texts), default=0)
    return [text.rjust(width) for text in texts]


def build_columns(
    result: Result, arms: Sequence[ArmReport], form: str, limit: int, symbols: bool = False
) -> list[Column]:
    """The table in one of five forms; names are cut to `limit` columns, and `symbols` stand before the verdicts.

    wide      everything in one line per arm
    stacked   two lines per arm: intervals, shares and reasons stand in the second
    tall      several lines per arm, each with one estimate and its interval
    list      the same in a single column
    narrow    one short line per arm, without intervals: for windows in which nothing else fits
    """
    names, whys = names_and_reasons(result, arms, limit, together=form != "wide")
    marks = [arm.verdict for arm in arms]
    verdicts = [verdict_words(result, arm, symbols) for arm in arms]
    sure = [sure_words(result, arm) for arm in arms]
    pulls = _aligned([f"{arm.trials:,}" for arm in arms])
    shares = _aligned([share(arm.trials, result.trials) for arm in arms])
    estimates = estimate_columns(result, arms, "wide" if form in ("tall", "list") else form)
    if result.spent is not None:
        estimates.insert(0, Column("spent", [f"{arm.spent or 0.0:,.4g}" for arm in arms], right=True))
    first = Column("arm", names, marks=marks, names=True)
    verdict = Column("verdict", verdicts, marks=marks)
    if form == "wide":
        counts = [f"{n} ({s})" for n, s in zip(pulls, shares, strict=True)]
        because = [Column("why", whys, names=True)] if any(whys) else []
        return [
            first,
            verdict,
            Column("how sure", sure),
            Column("pulls (share)", counts, right=True),
            *estimates,
            *because,
        ]
    if form == "stacked":
        indent = "  " if symbols else ""
        return [
            replace(first, cells=_stacked(first.cells, whys)),
            replace(verdict, cells=_stacked(verdicts, [indent + words for words in sure])),
            Column("pulls", _stacked(pulls, shares), right=True),
            *estimates,
        ]
    if form in ("tall", "list"):
        said = [_joined(verdict, words) for verdict, words in zip(verdicts, sure, strict=True)]
        counts = [f"{n.strip()} ({s.strip()})" for n, s in zip(pulls, shares, strict=True)]
        lines = _labelled([Column("pulls", counts), *estimates])
        if form == "list":
            return [replace(first, cells=_stacked(names, said, whys, lines))]
        return [replace(first, cells=_stacked(names, said, whys)), Column("what is known", lines, level=True)]
    return [first, verdict, Column("pulls", pulls, right=True), *estimates]


def estimate_columns(result: Result, arms: Sequence[ArmReport], form: str) -> list[Column]:
    """Means, standard deviations and risks."""
    means, mean_intervals = [arm.mean for arm in arms], [arm.mean_interval for arm in arms]
    risks, risk_intervals = [arm.risk_shown for arm in arms], [arm.risk_shown_interval for arm in arms]
    digits = estimate_digits(arms)
    estimates = [_estimates("mean", means, mean_intervals, form, digits[0])]
    if result.risk != "std":
        deviations = [arm.std for arm in arms]
        estimates.append(_estimates("std", deviations, [], "narrow", _as_fine(deviations, digits[0])))
    label = risk_heading(result.risk, result.alpha, result.risk_label)
    estimates.append(_estimates(label, risks, risk_intervals, form, digits[1]))
    if any(arm.empirical_risk is not None for arm in arms):
        turned = -1.0 if is_turned(arms) else 1.0
        empirical = [math.nan if arm.empirical_risk is None else turned * arm.empirical_risk for arm in arms]
        estimates.append(_estimates("in the data", empirical, [], "narrow", digits[1]))
    return estimates


def _stacked(*lines: Sequence[str]) -> list[str]:
    """Cells of several lines each, without those that are empty."""
    return ["\n".join(line for line in cell if line.strip()) for cell in zip(*lines, strict=True)]


def _joined(*words: str) -> str:
    return ", ".join(filter(None, words))


def _labelled(columns: Sequence[Column]) -> list[str]:
    """Columns below each other, with their headings before them."""
    headings = [column.heading.replace("\n", " ") for column in columns]
    widest = max(map(cell_width, headings))
    return [
        "\n".join(f"{pad(heading, widest)}  {cell.strip()}" for heading, cell in zip(headings, cells, strict=True))
        for cells in zip(*(column.cells for column in columns), strict=True)
    ]


FORMS = [
    *(("wide", limit) for limit in (40, 28, 20)),
    *(("stacked", limit) for limit in (40, 32, 24, 18, 14)),
    *(("tall", limit) for limit in (40, 28, 20, 14)),
    *(("list", limit) for limit in (40, 28, 20)),
    *(("narrow", limit) for limit in (20, 14, 8)),
]
NO_INTERVALS = "No room for the intervals: a wider window shows them."


def fit_columns(result: Result, arms: Sequence[ArmReport], width: int | None, symbols: bool = False) -> list[Column]:
    """The richest form of the table that `width` columns of a terminal can hold; None: names as long as they are."""
    if width is None:
        return build_columns(result, arms, "wide", 10_000, symbols)
    columns: list[Column] = []
    for form, limit in FORMS:
        columns = build_columns(result, arms, form, limit, symbols)
        if total_width(columns) <= width:
            break
    return columns


def missing_intervals(columns: Sequence[Column]) -> str:
    """A sentence, if the table has come out without intervals."""
    shown = len(columns) == 1 or any("[" in cell for column in columns if not column.names for cell in column.cells)
    return "" if shown else NO_INTERVALS


# --------------------------------------------------------------------- differences to a control


def difference_caption(result: Result, columns: Sequence[Column]) -> str:
    """What the numbers are."""
    return f"Difference to {cut(printable(result.control or ''), 40)}"


def difference_columns(result: Result, width: int | None) -> list[Column]:
    """A row for each arm but the control, in the order of the table of arms; intervals in a second line if need be."""
    wide = _difference_columns(result, " ")
    return wide if width is None or total_width(wide) <= width else _difference_columns(result, "\n")


def _difference_columns(result: Result, gap: str) -> list[Column]:
    order = {arm.name: place for place, arm in enumerate(choose_arms(result, limit=None)[0])}
    rows = sorted(result.differences, key=lambda row: order[row.name])[:ROWS]
    verdicts = {arm.name: arm.verdict for arm in result.arms}
    names, marks = short_names((row.name for row in rows), CONTROL_WIDTH), [verdicts[row.name] for row in rows]
    columns = [
        Column("arm", [names[row.name] for row in rows], marks=marks, names=True),
        _estimated("mean", [(row.mean, row.mean_interval) for row in rows], gap),
        _estimated("%", [(row.percent, row.percent_interval) for row in rows], gap),
    ]
    if result.about_risk:
        heading = risk_heading(result.risk, result.alpha, result.risk_label)
        columns.append(_estimated(heading, shown_risks(result, rows), gap))
    return columns


def shown_risks(result: Result, rows: Sequence[ControlDifference]) -> list[Estimated]:
    """Differences in risk, as people are shown it."""
    if is_turned(result.arms):
        return [(-row.risk, (-row.risk_interval[1], -row.risk_interval[0])) for row in rows]
    return [(row.risk, row.risk_interval) for row in rows]


def _estimated(heading: str, values: Sequence[Estimated], gap: str) -> Column:
    """An estimate, and where it is."""
    digits = Digits.of([value for value, _ in values], [interval for _, interval in values])
    cells = []
    for value, interval in values:
        low, high = digits.interval(*interval)
        known = all(map(math.isfinite, interval))
        cells.append(f"{'+' if value > 0.0 else ''}{digits.text(value)}{gap}{f'[{low}, {high}]' if known else '-'}")
    return Column(heading, cells, right=True)
