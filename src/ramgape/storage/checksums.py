"""Checksums of stored rows: what is read is what was written, or an error says that the storage is damaged.

A byte that changes on a disk, or an edited row, would give another result without a word. So every row is stored with
a checksum of its record (the column `seal`), and every observation also with one of all observations up to it (the
column `chain`): a CRC of 32 bits of the arms and rewards one after the other. A CRC may be taken in parts, so the next
one follows from the last one and a single observation, and a million of them are checked at once. Checksums find
accidents; they are no protection against forgery.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from typing import Any, NamedTuple, NoReturn, TypeVar, get_type_hints

import numpy as np
from numpy.typing import NDArray

from ramgape.errors import DamagedStore, shorten
from ramgape.storage.records import StudyRow

Row = TypeVar("Row", bound=NamedTuple)

FIXED = 5  # columns of a study that never change, or once in a long while
OBSERVED = np.dtype([("arm", "<i8"), ("reward", "<f8")])
_pack = struct.Struct("<qd").pack


def next_chain(chain: int, arm: int, reward: float) -> int:
    """Return the chain checksum of an observation, from that of the one before.

    >>> next_chain(next_chain(0, 3, 0.25), 1, 0.5) == chain_over(0, np.array([3, 1]), np.array([0.25, 0.5]))
    True
    """
    return zlib.crc32(_pack(arm, reward), chain)


def chain_over(chain: int, arms: NDArray[np.int64], rewards: NDArray[np.float64]) -> int:
    """Return the chain checksum of the last of these observations; `chain` is that of the one before them."""
    observed = np.empty(len(arms), OBSERVED)
    observed["arm"], observed["reward"] = arms, rewards
    return zlib.crc32(observed.data, chain) if len(observed) else chain


def checksum_values(kind: type[Any], values: tuple[Any, ...]) -> int:
    """Return the checksum of a record of a kind, as long as it was in some version."""
    if kind is StudyRow:  # of which a part never changes and may be long
        values = (_crc_of_fixed(values[:FIXED]), *values[FIXED:])
    return zlib.crc32(tuple.__repr__(values).encode("utf-8", "surrogatepass"))  # without the name of its kind


def with_checksum(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a record with its checksum behind it."""
    return *row, checksum_values(type(row), row)


@lru_cache(maxsize=64)
def _crc_of_fixed(values: tuple[Any, ...]) -> int:
    return checksum_values(tuple, values)


def open_rows(kind: type[Row], rows: Iterable[Sequence[Any]], where: str) -> list[Row]:
    """Records of one kind whose checksums are right, from the values of their columns; `where` is the store."""
    made: list[Row] = []
    bools = places_of_bools(kind)
    for *values, check in rows:
        for place in bools:  # SQLite has numbers in place of them
            values[place] = bool(values[place])
        row = kind._make(values)
        if checksum_values(kind, row) != check:
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
