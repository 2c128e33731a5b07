"""Check values: what was written is what is read, or somebody notices.

A byte that changes on a disk, or a row that somebody edits, would give another result without a word. So every
row carries a seal, a check value of the record in it; and every observation carries a link as well, that of all
observations up to it. A link is a CRC of 32 bits of the arms and rewards one after the other. Since a CRC may be
taken in parts, the next link follows from the last one and a single observation, and a million of them are checked at
once.
This is about accidents: who wants to forge a row can compute its check value as well.
"""

from __future__ import annotations

import struct
import zlib
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramgape.storage.records import StudyRow

FIXED = 5  # columns of a study that never change, or once in a long while
OBSERVED = np.dtype([("arm", "<i8"), ("reward", "<f8")])
_pack = struct.Struct("<qd").pack


def next_link(link: int, arm: int, reward: float) -> int:
    """The link of an observation, from that of the one before.

    >>> next_link(next_link(0, 3, 0.25), 1, 0.5) == link_over(0, np.array([3, 1]), np.array([0.25, 0.5]))
    True
    """
    return zlib.crc32(_pack(arm, reward), link)


def link_over(link: int, arms: NDArray[np.int64], rewards: NDArray[np.float64]) -> int:
    """The link of the last of these observations; `link` is that of the one before them."""
    observed = np.empty(len(arms), OBSERVED)
    observed["arm"], observed["reward"] = arms, rewards
    return zlib.crc32(observed.data, link) if len(observed) else link


def seal(row: tuple[Any, ...]) -> int:
    """The check value of a record."""
    return seal_values(type(row), row)


def seal_values(kind: type[Any], values: tuple[Any, ...]) -> int:
    """The check value of a record of a kind, as long as it was in some version."""
    if kind is StudyRow:  # of which a part never changes and may be long
        return _crc((_crc_of_fixed(values[:FIXED]), *values[FIXED:]))
    return _crc(values)


def sealed(row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A record with its check value behind it."""
    return *row, seal(row)


def _crc(values: tuple[Any, ...]) -> int:
    return zlib.crc32(tuple.__repr__(values).encode("utf-8", "surrogatepass"))  # without the name of its kind


_crc_of_fixed = lru_cache(maxsize=64)(_crc)
