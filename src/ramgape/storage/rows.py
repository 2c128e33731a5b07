"""Rows as they come from a database. It may be damaged: what is no row of its kind is a clear error here, not later."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import product
from types import NoneType
from typing import Any, NamedTuple, NoReturn, TypeVar, get_args, get_type_hints

from ramgape.errors import DamagedStore, shorten

Row = TypeVar("Row", bound=NamedTuple)


def make_rows(kind: type[Row], rows: Iterable[Sequence[Any]], where: str) -> list[Row]:
    """Records of one kind, from the values of their columns; `where` is the store."""
    made: list[Row] = []
    legal, switches = _types_of(kind)
    for values in rows:
        if tuple(map(type, values)) not in legal:
            damaged(where, f"a {kind.__name__} has other types than it must have, {shorten(tuple(values))}")
        if switches:  # SQLite has numbers in place of them
            values = [bool(value) if place in switches else value for place, value in enumerate(values)]
        made.append(kind._make(values))
    return made


def damaged(where: str, what: str) -> NoReturn:
    """Say that a store is damaged, and what to do."""
    raise DamagedStore(f"{where} is damaged: {what}; ramgape storage check looks at all of it; restore a copy")


@cache
def _types_of(kind: type[NamedTuple]) -> tuple[frozenset[tuple[type, ...]], frozenset[int]]:
    """The types that the values of a row may have, all in a row, and the places of truth values."""
    hints = list(get_type_hints(kind).values())
    options = [get_args(hint) or (hint,) for hint in hints]
    switches = frozenset(place for place, hint in enumerate(hints) if hint is bool)
    stored = [(bool, int) if place in switches else each for place, each in enumerate(options)]
    assert all(each in (int, float, str, bool, NoneType) for column in stored for each in column)
    return frozenset(product(*stored)), switches
