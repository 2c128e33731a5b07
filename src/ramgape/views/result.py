"""What is said of the result of a search, of an analysis of logged data, and of a study."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from ramgape.common.formatting import cell_width
from ramgape.errors import printable
from ramgape.views.content import choose_arms, facts, headline
from ramgape.views.explanation import Explanation, Facts, Table
from ramgape.views.sentence import answer_sentence
from ramgape.views.table import difference_caption, difference_columns, fit_columns, missing_intervals

if TYPE_CHECKING:
    from ramgape.search.result import Result


ANSWER_WIDTH = 150  # above that it has no names, which stand in the table


def explain_result(
    result: Result, ascii_only: bool = False, *, notes: Facts = (), first: Facts = (), title: str = "", more: str = ""
) -> Explanation:
    """All that is said of a result.

    Args:
        result: The result.
        ascii_only: Whether to do without symbols.
        notes: Further facts.
        first: Facts that come before all others.
        title: A line above everything.
        more: What the sentence of the answer goes on with.
    """
    arms, rest = choose_arms(result)
    brief, sentence = headline(result), answer_sentence(result)
    columns = partial(fit_columns, result, arms, symbols=not ascii_only)
    tables = [Table(columns, rest=rest, missing=missing_intervals)]
    if result.differences:
        tables.append(Table(partial(difference_columns, result), partial(difference_caption, result)))
    answer = brief if cell_width(brief) <= ANSWER_WIDTH else headline(result, names=False)
    said = [("Answer", answer), *facts(result, notes, first)]
    sentence = " ".join(filter(None, (sentence, more)))
    lines = [printable(title), sentence] if title else [sentence]
    return Explanation(lines, said, tables, result.warnings, brief=printable(title) or brief)
