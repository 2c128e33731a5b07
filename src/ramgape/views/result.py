"""What is said of the result of a search, of an analysis of logged data, and of a study."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from ramgape.common.formatting import Digits, plural, short_names
from ramgape.errors import printable
from ramgape.views.content import ROWS, facts, headline, quality_words
from ramgape.views.explanation import Column, Explanation, Facts, Table
from ramgape.views.sentence import (
    answer_sentence,
    choose_arms,
    choose_order,
    counts_sentence,
    decisive,
    unseen_sentence,
)
from ramgape.views.table import fit_columns, heading_of, rest_words

if TYPE_CHECKING:
    from ramgape.search.result import ArmReport, Result

FEW_ROWS = 12  # of the printed table; pages and `explain()` have more
NOTES, WARNINGS = 2, 3  # that are printed


def explain_result(
    result: Result,
    ascii_only: bool = False,
    *,
    full: bool = False,
    notes: Facts = (),
    first: Facts = (),
    title: str = "",
    more: str = "",
) -> Explanation:
    """What is said of a result: the decision, how sure it is, a table, at most two notes; or all that is known.

    Args:
        result: The result.
        ascii_only: Whether to do without symbols.
        full: Say everything: the guarantee, its assumptions, what holds jointly, how the search was made.
        notes: Further facts.
        first: Facts that come before all others.
        title: A line above everything.
        more: What the sentence of the answer goes on with.
    """
    sentence = printable(" ".join(filter(None, (answer_sentence(result), more))))
    lines = [*filter(None, [printable(title)]), sentence]
    tables: list[Table | str] = []
    after = printable(counts_sentence(result)) if result.arms else ""
    if result.arms:
        arms, rest = choose_arms(result, ROWS if full else FEW_ROWS)
        columns = partial(fit_columns, result, arms, ascii_only=ascii_only)
        tables.append(Table(columns, rest=rest_words(result, rest)))
    told = notes_of(result)
    warnings = result.warnings
    if not full:
        said_above = result.quality.warnings({arm.name: arm.trials for arm in result.arms})
        warnings = tuple(each for each in warnings if each not in said_above)
        if len(warnings) > WARNINGS:
            more = plural(len(warnings) - WARNINGS, "more warning")
            warnings = (*warnings[:WARNINGS], f"{more}: see the exact statement")
        tables += told[:NOTES]
        brief = printable(title) or headline(result)
        return Explanation(lines, [*first, *notes], tables, warnings, brief=brief, more="Exact statement", after=after)
    known = (each for ends in result.intervals("all").values() for each in ends.values())
    if any(math.isfinite(low) or math.isfinite(high) for low, high in known):
        arms, _ = choose_arms(result)
        caption = "Confidence regions: they hold for all options at once, with the answer"
        tables.append(Table(partial(region_columns, result, arms), lambda columns: caption))
    said = facts(result, notes, first)
    unseen = unseen_sentence(result)
    said += [("Unseen", unseen)] if unseen else []
    return Explanation(lines, said, tables, warnings, brief=printable(title) or headline(result), after=after)


def notes_of(result: Result) -> list[str]:
    """What to know beside the table, the most important first."""
    quality = quality_words(result)
    found = [f"Data quality: {quality}."] if quality else []
    unseen = unseen_sentence(result)
    found += [unseen] if unseen else []
    if flatters(result):
        found.append("The leader's mean is probably a little flattering: it was chosen by these data.")
    return [printable(note) for note in [*found, *(f"Note: {note}." for note in result.notes)]]


def flatters(result: Result) -> bool:
    """Whether an arm was chosen for a mean that is less than two standard errors ahead of the next."""
    arms = choose_order(result)
    if len(result.answer) != 1 or len(arms) < 2 or result.control is not None or result.said:
        return False
    first, second = (decisive(result, arm) for arm in arms[:2])
    if first is None or second is None or second.behind is None:
        return False
    return 0.0 <= second.behind.estimate < 2.0 * math.hypot(first.se, second.se)


def region_columns(result: Result, arms: Sequence[ArmReport], width: int | None) -> list[Column]:
    """The simultaneous intervals of arms."""
    regions, names = result.intervals("all"), short_names((arm.name for arm in result.arms), (width and 24) or 10_000)
    columns = [Column("option", [names[arm.name] for arm in arms], names=True)]
    for place, objective in enumerate(result.objectives):
        ends = [regions[arm.name][objective.text] for arm in arms]
        digits = Digits.of([arm.objectives[objective.text].estimate for arm in arms], ends)
        cells = [" to ".join(digits.interval(*each)) if each[0] > -1e300 or each[1] < 1e300 else "-" for each in ends]
        columns.append(Column(heading_of(result, place), cells, right=True))
    if any(arm.empirical_risk is not None for arm in arms):
        columns.append(Column("in the data", [in_the_data(arm) for arm in arms], right=True))
    return columns


def in_the_data(arm: ArmReport) -> str:
    """Of a risk that a model computes, the value that the rewards themselves have, shown as the risk is."""
    if arm.empirical_risk is None:
        return "-"
    sign = -1.0 if arm.risk_shown == -arm.risk else 1.0
    return Digits.of([arm.risk_shown], [arm.risk_shown_interval]).text(sign * arm.empirical_risk)
