"""What is said of policies beside each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import TYPE_CHECKING

from ramgape.common.formatting import plural, plus_minus, short_names
from ramgape.errors import printable
from ramgape.views.content import asked_for
from ramgape.views.explanation import Column, Explanation, Table
from ramgape.views.table import fitted

if TYPE_CHECKING:
    from ramgape.simulation.comparison import Competitor, PolicyComparison

NAME_WIDTH = 24


def explain_comparison(comparison: PolicyComparison, ascii_only: bool) -> Explanation:
    """All that is said of it."""
    sign = plus_minus(ascii_only)
    names = dict.fromkeys(row.instance for row in comparison.rows)
    tables = [Table(partial(policy_columns, comparison, name, sign), caption_of(name)) for name in names]
    return Explanation([headline(comparison)], list(facts(comparison)), tables)


def caption_of(instance: str) -> Callable[[object], str]:
    """What stands above the table of an instance."""
    return lambda columns: f"{printable(instance)}:"


def headline(comparison: PolicyComparison) -> str:
    """What was done, in a line."""
    policies, instances = ({getattr(row, name) for row in comparison.rows} for name in ("policy", "instance"))
    words = plural(len(policies), "policy", "policies"), plural(len(instances), "instance")
    return f"{words[0]} on {words[1]}, {plural(comparison.rows[0].runs, 'run')} each"


def facts(comparison: PolicyComparison) -> Iterator[tuple[str, str]]:
    """What was asked, and what the columns mean."""
    budget = comparison.goal.kind == "budget"
    what = "mean regret divided by that" if budget else "pulls divided by those"
    yield "Goal", f"fixed {comparison.goal.kind} ({asked_for(comparison.goal)})"
    yield "Ratio", f"{what} of {printable(comparison.reference)}; approximate 95 % interval"
    if not budget and any(row.ended < row.runs for row in comparison.rows):
        yield "Undecided", "where runs did not end, pulls are those until they were cut short: more are needed"
    yield "Time", f"{comparison.seconds:,.1f} s"


def policy_columns(comparison: PolicyComparison, instance: str, sign: str, width: int | None) -> list[Column]:
    """One row per policy."""
    rows, budget = [row for row in comparison.rows if row.instance == instance], comparison.goal.kind == "budget"
    shown = short_names([row.policy for row in rows], NAME_WIDTH)
    averages = [average_words(row, sign, budget) for row in rows]
    undecided = [f"{row.runs - row.ended:,}" for row in rows]
    columns = [
        Column("policy", [shown[row.policy] for row in rows], names=True),
        Column("bound", [row.bound for row in rows]),
        Column("mean regret" if budget else "pulls", averages, right=True),
        Column("ratio", [ratio_words(row) for row in rows], right=True),
        Column("wrong", [f"{row.wrong:,} of {row.ended:,}" for row in rows], right=True),
        Column("95% interval", [interval_words(row) for row in rows], right=True),
        *([] if undecided == ["0"] * len(rows) else [Column("undecided", undecided, right=True)]),
    ]
    return fitted(columns, ("bound", "95% interval"), width)


def average_words(row: Competitor, sign: str, budget: bool) -> str:
    """The average that counts, and its standard error."""
    value, error = (row.regret, row.regret_stderr) if budget else (row.samples, row.samples_stderr)
    form = ".3g" if budget else ",.0f"
    return f"{value:{form}}" if error is None else f"{value:{form}} {sign} {error:{'.2g' if budget else form}}"


def ratio_words(row: Competitor) -> str:
    """By how much it differs from the reference."""
    if row.ratio is None or row.ratio_interval is None:
        return "1" if row.ratio is None else f"{row.ratio:.2f}"
    return f"{row.ratio:.2f} ({row.ratio_interval[0]:.2f} to {row.ratio_interval[1]:.2f})"


def interval_words(row: Competitor) -> str:
    """Where the probability of a wrong answer is."""
    if row.error_interval is None:
        return "-"
    return f"{row.error_interval[0]:.1%} to {row.error_interval[1]:.1%}"
