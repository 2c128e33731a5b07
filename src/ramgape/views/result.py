"""What is said of the result of a search, of an analysis of logged data, and of a study."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ramgape.errors import printable
from ramgape.views.content import choose_arms, facts, headline
from ramgape.views.differences import difference_caption, difference_columns
from ramgape.views.explanation import Explanation, Facts, Table
from ramgape.views.table import fit_columns

if TYPE_CHECKING:
    from ramgape.search.result import Result


def explain_result(
    result: Result, ascii_only: bool = False, *, notes: Facts = (), first: Facts = (), title: str = ""
) -> Explanation:
    """All that is said of a result.

    Args:
        result: The result.
        ascii_only: Whether to do without symbols.
        notes: Further facts.
        first: Facts that come before all others.
        title: A line above everything.
    """
    arms, rest = choose_arms(result)
    lines = [printable(title), headline(result)] if title else [headline(result)]
    table = Table(partial(fit_columns, result, arms, symbols=not ascii_only), rest=rest)
    tables = [table]
    if result.differences:
        tables.append(Table(partial(difference_columns, result), partial(difference_caption, result)))
    return Explanation(lines, facts(result, notes, first), tables, result.warnings)
