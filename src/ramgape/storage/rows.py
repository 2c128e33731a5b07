"""Rows as they come from a database. It may be damaged: what is not what was written is a clear error, not a result."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple, NoReturn, TypeVar, get_type_hints

from ramgape.errors import DamagedStore, shorten
from ramgape.storage.seals import seal

Row = TypeVar("Row", bound=NamedTuple)


def open_rows(kind: type[Row], rows: Iterable[Sequence[Any]], where: str) -> list[Row]:
    """Records of one kind whose seals are unbroken, from the values of their columns; `where` is the store."""
    made: list[Row] = []
    bools = places_of_bools(kind)
    for *values, check in rows:
        for place in bools:  # SQLite has numbers in place of them
            values[place] = bool(values[place])
        row = kind._make(values)
        if seal(row) != check:
            article = "an" if kind.__name__[0] in "AEIO" else "a"
            damaged(where, f"{article} {kind.__name__} is not what was written, {shorten(tuple(row))}")
        made.append(row)
    return made


def damaged(where: str, what: str) -> NoReturn:
    """Say that a store is damaged, and what to do."""
    raise DamagedStore(f"{where} is damaged: {what}; ramgape storage check looks at all of it; restore a copy")


@cache
def places_of_bools(kind: type[NamedTuple]) -> tuple[int, ...]:
    """The places of truth values."""
    return tuple(place for place, hint in enumerate(get_type_hints(kind).values()) if hint is bool)
