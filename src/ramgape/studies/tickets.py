"""How pulls are named, and their seeds.

A pull is written `a1b2c3-17`: the key of its study, so that a pull of another study is never taken for it, and its
number. A further attempt at the same pull is `a1b2c3-17.2`.
"""

from __future__ import annotations

import re
import secrets

from ramgape.errors import UnknownPull, shorten

KEY_LENGTH = 6
PATTERN = re.compile(r"([0-9a-f]{6})-(0|[1-9][0-9]{0,15})(?:\.([1-9][0-9]{0,8}))?", re.ASCII)

# Seeds fit into 31 bits, since many programs take no larger ones. Up to so many pulls all attempts have different ones.
DISTINCT_PULLS = 2**25


def new_key() -> str:
    """For a new study."""
    return secrets.token_hex(KEY_LENGTH // 2)


def write_ticket(key: str, number: int, attempt: int) -> str:
    """The name of an attempt at a pull.

    >>> write_ticket("a1b2c3", 17, 1), write_ticket("a1b2c3", 17, 2)
    ('a1b2c3-17', 'a1b2c3-17.2')
    """
    return f"{key}-{number}" if attempt == 1 else f"{key}-{number}.{attempt}"


def read_ticket(key: str, text: object) -> tuple[int, int]:
    """Number and attempt; an error for what is no pull of this study."""
    if isinstance(text, str):
        begin, _, rest = text.partition("-")
        if begin == key and rest.isascii() and rest.isdecimal() and rest[0] != "0" and len(rest) <= 16:
            return int(rest), 1  # as most are
        found = PATTERN.fullmatch(text)
        if found and found[1] == key:
            return int(found[2]), int(found[3] or 1)
        if found:
            raise UnknownPull(f"pull must be one of this study, whose pulls begin with {key}-, got {text!r}")
    raise UnknownPull(f"pull must be one that `ask` has given, such as {key}-17, got {shorten(text)}")


def seed_of(base: int, number: int, attempt: int) -> int:
    """The seed of an attempt: looks random, is always the same, and differs between attempts and between pulls.

    Each step maps the numbers of 31 bits one to one.
    """
    mask = 0x7FFFFFFF
    mixed = (number + (attempt - 1) * DISTINCT_PULLS + base * 0x9E3779B1) & mask
    mixed = ((mixed ^ (mixed >> 15)) * 0x2C1B3C6D) & mask
    mixed = ((mixed ^ (mixed >> 15)) * 0x297A2D39) & mask
    return mixed ^ (mixed >> 15)
