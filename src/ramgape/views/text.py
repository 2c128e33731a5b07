"""A result as plain text. It is ASCII apart from what the user wrote: `print` must not fail on a simple terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ramgape.common.formatting import pad
from ramgape.errors import printable
from ramgape.views.content import ROWS, choose_arms, facts, headline
from ramgape.views.table import GAP, Column, fit_columns

if TYPE_CHECKING:
    from ramgape.search.result import Result

PLAIN_WIDTH = 110


def plain(
    result: Result,
    width: int = PLAIN_WIDTH,
    limit: int | None = ROWS,
    notes: Sequence[tuple[str, str]] = (),
    first: Sequence[tuple[str, str]] = (),
    title: str = "",
) -> str:
    """The result as plain text of about `width` columns, with at most `limit` arms (None: all) and further facts.

    `first` are facts that come before all others, `title` is a line above everything.
    """
    arms, rest = choose_arms(result, limit)
    lines = _wrapped(printable(title), width, indent=2) + _wrapped(headline(result), width, indent=2)
    for word, text in facts(result, notes, first):
        lines += _wrapped(f"{word + ':':<11}{text}", width, indent=11)
    lines += ["", *_table_lines(fit_columns(result, arms, width))]
    if rest:
        lines.append(rest)
    for warning in result.warnings:
        lines += ["", *_wrapped(f"Warning: {printable(warning)}", width, indent=9)]
    return "\n".join(line.rstrip() for line in lines)


def _wrapped(text: str, width: int, indent: int) -> list[str]:
    return textwrap.wrap(text, width, subsequent_indent=" " * indent, break_long_words=False)


def _table_lines(columns: Sequence[Column]) -> list[str]:
    widths = [column.width for column in columns]
    rows = [[column.heading for column in columns], ["-" * width for width in widths]]
    for cells in zip(*(column.cells for column in columns), strict=True):
        split = [cell.split("\n") for cell in cells]
        for line in range(max(map(len, split))):
            rows.append([parts[line] if line < len(parts) else "" for parts in split])
    sides = [column.right for column in columns]
    return [(" " * GAP).join(map(pad, row, widths, sides)) for row in rows]
