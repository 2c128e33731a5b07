"""The table of arms, in the richest form that the space allows."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ramgape.common.formatting import Digits, share, short_names
from ramgape.views.content import SYMBOLS, is_turned
from ramgape.views.explanation import Column, total_width

if TYPE_CHECKING:
    from ramgape.planning.forecast import ArmForecast
    from ramgape.search.result import ArmReport, ArmTruth, Result


def verdict_words(arm: ArmReport, returned: bool, symbols: bool) -> str:
    """The verdict; for an undecided arm also on which side of the returned set it stands."""
    side = "" if arm.verdict != "undecided" else " (in)" if returned else " (out)"
    return f"{SYMBOLS[arm.verdict]} {arm.verdict}{side}" if symbols else f"{arm.verdict}{side}"


def risk_heading(risk: str, alpha: float | None, label: str) -> str:
    """What stands above a column of risks."""
    return "std" if risk == "std" else "scaled risk" if alpha not in (None, 1.0) else label


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


MORE_DIGITS = 8  # than a typical interval is worth, where verdicts differ
CERTIFICATES = {
    "proved": {"in": "proved", "out": "proved", "within-epsilon": "within epsilon", "none": "no"},
    "approximate": {"in": "approximate", "out": "approximate", "within-epsilon": "approx. within eps.", "none": "no"},
}


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
    cells = [f"{m}{gap}[{low}, {high}]" for m, low, high in zip(middle, lows, highs, strict=True)]
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


def _aligned(texts: Sequence[str]) -> list[str]:
    width = max(map(len, texts), default=0)
    return [text.rjust(width) for text in texts]


def build_columns(
    result: Result, arms: Sequence[ArmReport], form: str, limit: int, symbols: bool = False
) -> list[Column]:
    """The table in one of three forms; names are cut to `limit` columns, and `symbols` stand before the verdicts.

    wide      everything in one line per arm
    stacked   two lines per arm: intervals, shares and dominating arms stand in the second
    narrow    one short line per arm, without intervals
    """
    names = short_names((arm.name for arm in arms), limit)
    against, rivals = rival_words(result, arms, form, limit)
    returned, control = set(result.front), result.control
    marks = [arm.verdict for arm in arms]
    verdicts = ["control" if arm.name == control else verdict_words(arm, arm.name in returned, symbols) for arm in arms]
    certificates = ["" if arm.name == control else CERTIFICATES[result.rigour][arm.certificate] for arm in arms]
    pulls = _aligned([f"{arm.pulls:,}" for arm in arms])
    shares = _aligned([share(arm.pulls, result.samples) for arm in arms])
    modelled = any(arm.empirical_risk is not None for arm in arms)
    means, mean_intervals = [arm.mean for arm in arms], [arm.mean_interval for arm in arms]
    risks, risk_intervals = [arm.risk_shown for arm in arms], [arm.risk_shown_interval for arm in arms]
    digits = _distinct(arms, (Digits.of(means, mean_intervals), Digits.of(risks, risk_intervals)))
    estimates = [_estimates("mean", means, mean_intervals, form, digits[0])]
    if result.risk != "std":
        deviations = [arm.std for arm in arms]
        estimates.append(_estimates("std", deviations, [], "narrow", _as_fine(deviations, digits[0])))
    label = risk_heading(result.risk, result.alpha, result.risk_label)
    estimates.append(_estimates(label, risks, risk_intervals, form, digits[1]))
    if modelled:
        turned = -1.0 if is_turned(arms) else 1.0
        empirical = [math.nan if arm.empirical_risk is None else turned * arm.empirical_risk for arm in arms]
        estimates.append(_estimates("in the data", empirical, [], "narrow", digits[1]))
    spent = []
    if result.spent is not None:
        spent = [Column("spent", [f"{arm.spent or 0.0:,.4g}" for arm in arms], right=True)]
    first = Column("arm", [names[arm.name] for arm in arms], marks=marks, names=True)
    if form == "wide":
        return [
            first,
            Column("verdict", verdicts, marks=marks),
            Column("certified", certificates),
            Column("pulls (share)", [f"{n} ({s})" for n, s in zip(pulls, shares, strict=True)], right=True),
            *spent,
            *estimates,
            Column(against, rivals, names=True),
        ]
    if form == "stacked":
        indent = "  " if symbols else ""
        under = [indent + ("not certified" if text == "no" else text) for text in certificates]
        return [
            replace(first, cells=[f"{name}\n{by}" for name, by in zip(first.cells, rivals, strict=True)]),
            Column("verdict", [f"{v}\n{c}" for v, c in zip(verdicts, under, strict=True)], marks=marks),
            Column("pulls", [f"{n}\n{s}" for n, s in zip(pulls, shares, strict=True)], right=True),
            *spent,
            *estimates,
        ]
    return [first, Column("verdict", verdicts, marks=marks), Column("pulls", pulls, right=True), *spent, *estimates]


def rival_words(result: Result, arms: Sequence[ArmReport], form: str, limit: int) -> tuple[str, list[str]]:
    """Who stands in the way of each arm, or stood, and what to call that; of the Pareto set who dominates it."""
    if result.task == "pareto":
        heading, first = "dominated by", "beaten by "
        found = [arm.dominated_by for arm in arms]
    else:
        heading, first = "against", "against "
        found = [None if arm.name == result.control else arm.rival or arm.dominated_by for arm in arms]
    first = first if form == "stacked" else ""
    shown = short_names((name for name in found if name is not None), limit - len(first))
    # What an arm stands against that is no other arm.
    nobody = f"{first}the limit" if ":max-risk=" in result.task or ":min-mean=" in result.task else ""
    return heading, [nobody if name is None else first + shown[name] for name in found]


FORMS = [
    *(("wide", limit) for limit in (40, 28, 20)),
    *(("stacked", limit) for limit in (40, 32, 24, 18)),
    *(("narrow", limit) for limit in (20, 14, 8)),
]


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
