"""Names of arms in a limited space; whatever the user wrote, it stays on its line."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from ramgape.errors import printable

__all__ = ["cell_width", "cut", "list_counts", "list_names", "pad", "printable", "short_names"]

NAMES_IN_HEADLINE = 12


def cell_width(text: str) -> int:
    """How many columns of a terminal the text takes: wide letters take two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(_character_width(character) for character in text)


def _character_width(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


def pad(text: str, width: int, right: bool = False) -> str:
    """The text filled up with blanks to `width` columns; `right` puts the blanks before it."""
    blanks = " " * (width - cell_width(text))
    return blanks + text if right else text + blanks


def cut(text: str, limit: int) -> str:
    """At most `limit` columns of the text; the middle goes, because long names often differ at the end.

    >>> cut("learning_rate=0.1, momentum=0.9", 20)
    'learning_...ntum=0.9'
    """
    if cell_width(text) <= limit:
        return text
    room = max(limit - 3, 2)
    return f"{_beginning(text, room - room // 2)}...{_beginning(text[::-1], room // 2)[::-1]}"


def _beginning(text: str, limit: int) -> str:
    used = 0
    for position, character in enumerate(text):
        used += _character_width(character)
        if used > limit:
            return text[:position]
    return text


def short_names(names: Iterable[str], limit: int) -> dict[str, str]:
    """What is shown for each name: cut to `limit` columns, and still different for different names.

    >>> short_names(["model-with-a-long-name", "model-with-x-long-name"], 14)
    {'model-with-a-long-name': 'model...ame#1', 'model-with-x-long-name': 'model...ame#2'}
    """
    full = {name: printable(name) for name in names}
    shown = {name: cut(text, limit) for name, text in full.items()}
    times = Counter(shown.values())
    for number, (name, text) in enumerate(full.items(), start=1):
        if times[shown[name]] > 1 and shown[name] != name:
            tail = f"#{number}"
            shown[name] = cut(text, limit - len(tail)) + tail
    return shown


def list_counts(counts: Mapping[str, int], width: int = 40) -> str:
    """How many of each name, in a sentence; those of which there are none are left out.

    >>> list_counts({"A": 4, "B": 0, "C": 1})
    '4 of A, 1 of C'
    """
    some = {name: count for name, count in counts.items() if count}
    names = short_names(some, width)
    parts = [f"{count:,} of {names[name]}" for name, count in some.items()]
    shown, rest = ", ".join(parts[:NAMES_IN_HEADLINE]), len(parts) - NAMES_IN_HEADLINE
    return f"{shown} and {rest:,} more {'arm' if rest == 1 else 'arms'}" if rest > 0 else shown


def list_names(names: Sequence[str], limit: int = NAMES_IN_HEADLINE) -> str:
    """Names in a sentence; of very many only the first, of very long ones a part.

    >>> list_names(["A", "B", "C", "D"], limit=3)
    'A, B, C and 1 more'
    """
    shown = ", ".join(cut(printable(name), 80) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit:,} more"
