"""Columns of a CSV file, by the names in its header."""

from __future__ import annotations

from collections.abc import Sequence

from ramgape.errors import InvalidData, known_name, require


def find_column(column: str, header: Sequence[str], what: str, file: str) -> int:
    """The place of a column, which must be there once: of two with one name nobody knows which is meant."""
    known_name(column, header, f"{what} of {file}")
    allowed = f"the name of one column of {file}, not of {header.count(column)}"
    require(header.count(column) == 1, what, allowed, column, InvalidData)
    return header.index(column)
