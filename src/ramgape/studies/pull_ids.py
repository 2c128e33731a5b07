"""How pulls are named, and their seeds.

A pull is written `9f86d081884c7d659a2f-17`: a token of its own, random, and its number in the study. A further attempt
at the same pull is `9f86d081884c7d659a2f-17.2`. The token stands in the store with the pull. So a name that another
study, or the same one before it was restored from a copy, has handed out is never taken for one of ours.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Sequence
from contextlib import suppress
from functools import lru_cache
from typing import NamedTuple

from ramgape.errors import UnknownPull, shorten

TOKEN_BYTES = 10  # 80 bits
KEY_BYTES = 8
# Names from before every pull had a token of its own have the key of their study in its place, of six digits.
PATTERN = re.compile(r"([0-9a-f]{20}|[0-9a-f]{6})-(0|[1-9][0-9]{0,15})(?:\.([1-9][0-9]{0,8}))?", re.ASCII)

# Seeds fit into 31 bits, since many programs take no larger ones. Up to so many pulls all attempts have different ones.
DISTINCT_PULLS = 2**25
SEEDS = 0x7FFFFFFF  # the largest


class PullId(NamedTuple):
    """An attempt at a pull, by its name."""

    token: str
    number: int
    attempt: int


def new_key() -> str:
    """For a new study."""
    return secrets.token_hex(KEY_BYTES)


def new_token() -> str:
    """For a new pull."""
    return os.urandom(TOKEN_BYTES).hex()  # as `secrets` does, in half the time


def write_pull_id(token: str, number: int, attempt: int) -> str:
    """The name of an attempt at a pull.

    >>> write_pull_id("9f86d081884c7d659a2f", 17, 1), write_pull_id("9f86d081884c7d659a2f", 17, 2)
    ('9f86d081884c7d659a2f-17', '9f86d081884c7d659a2f-17.2')
    """
    return f"{token}-{number}" if attempt == 1 else f"{token}-{number}.{attempt}"


def read_pull_id(text: object) -> PullId:
    """What a name says; an error for what is no name of a pull."""
    found = _known_id(text) if isinstance(text, str) else None
    if found is None:
        allowed = f"one that `ask` has given, such as {new_token()}-17"
        raise UnknownPull(what="pull", allowed=allowed, given=shorten(text))
    return found


def read_pull_ids(texts: Sequence[object]) -> tuple[PullId, ...]:
    """What several names say; quicker than one by one, for a worker that has hundreds under way."""
    with suppress(TypeError):  # what is no text
        found = [known for known in map(_known_id, texts) if known is not None]
        if len(found) == len(texts):
            return tuple(found)
    return tuple(map(read_pull_id, texts))


@lru_cache(maxsize=4096)
def _known_id(text: str) -> PullId | None:
    """Of hundreds of pulls under way a worker says at every exchange that it knows them."""
    found = PATTERN.fullmatch(text)
    if found is None:
        return None
    token, number, attempt = found.groups()
    return PullId(token, int(number), 1 if attempt is None else int(attempt))


def base_seed(seed: int | None, key: str) -> int:
    """What all that is random in a study comes from: its seed, or else its key, which is random."""
    return int(key, 16) if seed is None else seed


def seed_of(base: int, number: int, attempt: int) -> int:
    """The seed of an attempt: looks random, is always the same, and differs between attempts and between pulls.

    Each step maps the numbers of 31 bits one to one. Of the base its lowest 31 bits count.
    """
    mixed = (number + (attempt - 1) * DISTINCT_PULLS + base * 0x9E3779B1) & SEEDS
    mixed = ((mixed ^ (mixed >> 15)) * 0x2C1B3C6D) & SEEDS
    mixed = ((mixed ^ (mixed >> 15)) * 0x297A2D39) & SEEDS
    return mixed ^ (mixed >> 15)
