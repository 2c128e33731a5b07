"""Columns of tables and files: found by name, or by what stands in them; and rewards as texts."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import Any

from ramgape.common.files import read_number
from ramgape.common.formatting import list_names
from ramgape.errors import InvalidData, InvalidSpec, RamgapeWarning, known_name, require

PEEK = 512  # rows that show what kind of column it is
MOST_COLUMNS = 30  # in an error
TEXT, NUMERIC = "text", "numeric"
ROLES = (("arms", "arm", TEXT), ("rewards", "reward", NUMERIC))  # the usual names of columns, and their kinds
MISSING = frozenset(("", "na", "n/a", "nan", "null", "none", "-", ".", "?"))  # usual texts for what is missing

FLAGS = dict.fromkeys(("true", "t", "yes", "pass", "passed", "correct", "c", "success"), 1.0)
FLAGS |= dict.fromkeys(("false", "f", "no", "fail", "failed", "incorrect", "i", "failure"), 0.0)
FLAG_WORDS = "true or false (or t, f, yes, no, pass, fail, C, I)"
LIKE_OTHERS = ", like the rewards before it"


class RewardTexts:
    """The rewards of one column as texts: numbers, or words such as true and false. The first value decides which.

    >>> column = RewardTexts()
    >>> column.read("True"), column.read(" no"), column.read("1")
    (1.0, 0.0, None)
    """

    def __init__(self) -> None:
        self.flags: bool | None = None  # whether they are words; None before the first

    def read(self, text: str) -> float | None:
        """The reward; None for what is none, or none of this column's kind."""
        reward = FLAGS.get(text.strip().lower())
        flag = reward is not None
        if not flag:
            with suppress(ValueError):
                reward = read_number(text)
        if reward is None or self.flags not in (None, flag):
            return None
        self.flags = flag
        return reward


def find_column(column: str, header: Sequence[str], what: str, file: str) -> int:
    """The place of a column, which must be there once: a name may occur only once."""
    known_name(column, header, f"{what} of {file}")
    allowed = f"the name of one column of {file}, not of {header.count(column)}"
    require(header.count(column) == 1, what, allowed, column, InvalidData)
    return header.index(column)


def kind_of_texts(values: Iterable[Any], missing: Iterable[str] = ()) -> str | None:
    """Whether the cells of a file are text, or numbers apart from missing ones; None where all are missing.

    >>> kind_of_texts(["0.5", "", "NA"]), kind_of_texts(["A", "1"]), kind_of_texts([""])
    ('numeric', 'text', None)
    """
    marks = MISSING.union(text.strip().lower() for text in missing)
    found = {str(value).strip().lower() for value in values if value is not None} - marks
    return None if not found else NUMERIC if all(is_flag(text) or is_number(text) for text in found) else TEXT


def choose_columns(
    arm: Any, reward: Any, kinds: Sequence[tuple[Any, str | None]], file: str, remark: str = ""
) -> tuple[Any, Any]:
    """The columns with the arms and the rewards, where perhaps neither is given.

    The usual names come first, then the only column of the right kind, which a warning names.

    Args:
        arm, reward: The columns that are given.
        kinds: All columns that may be meant, each with its kind.
        file: What an error calls the table.
        remark: What else an error says.
    """
    chosen, labels, guessed = [arm, reward], [label for label, _ in kinds], []
    for place, (_, usual, _) in enumerate(ROLES):
        if chosen[place] is None and usual in labels and usual not in chosen:
            chosen[place] = usual
    for place, (role, usual, wanted) in enumerate(ROLES):
        if chosen[place] is not None:
            continue
        found = [label for label, kind in kinds if kind == wanted and label not in chosen]
        if len(found) != 1:
            names = list_names(list(map(str, found or labels)), MOST_COLUMNS)
            there = f"{len(found)} {wanted} columns ({names})" if found else f"no {wanted} column among {names}"
            allowed = f"the column with the {role}: {file} has no column {usual!r} for them, and {there}"
            raise InvalidSpec(what=f"{usual}_column", verb="name", allowed=allowed, hint=remark)
        chosen[place] = found[0]
        guessed.append(f"{role} are read from column {found[0]!r}, the only {wanted} column")
    if guessed:
        warnings.warn("; ".join(guessed), RamgapeWarning, stacklevel=4)
    return chosen[0], chosen[1]


def is_flag(text: str) -> bool:
    """Whether a text is one of the words for true and false."""
    return text.strip().lower() in FLAGS


def is_number(text: str) -> bool:
    """Whether a text is a number."""
    with suppress(ValueError):
        read_number(text)
        return True
    return False
