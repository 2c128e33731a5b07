"""What can go wrong, and the one way to complain.

    RamgapeError
     ├── InvalidSpec       a search that cannot be meant: wrong epsilon, duplicate names, ...
     ├── InvalidInstance   an instance file or description that cannot be read; names the place
     ├── InvalidData       logged data that cannot be read; names the place
     ├── InvalidReward     a reward that is not a finite number inside the stated range
     ├── UnknownName       a policy, bound, instance, ... that does not exist; suggests the nearest
     ├── NoAnswer          a question that the result cannot answer
     ├── StorageError      the store of a study: read-only, not a store, of another version, ...
     │    ├── StorageUnavailable    it may serve again soon: locked, full, out of reach, restarting
     │    └── DamagedStore          what stands in it is not what was written
     ├── UnknownStudy      a study that is not in the store
     ├── StudyExists       a name that another study in the store has already
     ├── UnknownPull       a pull that this study never handed out
     ├── ChangedAnswer     a second, different answer to the same attempt of a pull
     ├── FailingArm        an arm whose trials fail again and again
     ├── FailedTrial       a command that failed, or printed no reward
     ├── BudgetSpent       an observation for which the budget has no room
     └── MissingExtra      an optional dependency is not installed; says how to get it

    RamgapeWarning        what was asked for can be done, but is probably not what was meant

Every message has the same form: what, what is allowed, what was given. Errors raised while a search is
under way carry `partial_result`, so that nothing already observed is lost; and those that end `Study.run` carry
`untold`, what was measured and could not be told: pairs of a pull and its reward, to be told when that is possible.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Any


class RamgapeError(Exception):
    """Anything that ramgape itself complains about; on one line, whatever names and files it quotes."""

    partial_result: Any = None
    untold: Sequence[tuple[Any, float]] = ()

    def __str__(self) -> str:
        """The message, with nothing in it that a terminal would obey."""
        return printable(super().__str__())


class InvalidSpec(RamgapeError, ValueError):
    """The search asked for cannot be meant."""


class InvalidInstance(RamgapeError, ValueError):
    """An instance file or description is malformed."""


class InvalidData(RamgapeError, ValueError):
    """Logged data cannot be read, or hold too little."""


class InvalidReward(RamgapeError, ValueError):
    """A reward is not a finite number inside the stated range."""


class UnknownName(RamgapeError, ValueError):
    """A name stands in no table."""


class NoAnswer(RamgapeError, LookupError):
    """No arm satisfies what was asked of the result."""


class StorageError(RamgapeError):
    """A store of studies cannot be used: what happened, where, and what to do."""


class StorageUnavailable(StorageError):
    """A store cannot be used at this moment, and perhaps a little later: what was asked of it may be tried again.

    Whether it has been done is not always known. To ask, as a worker with a name, and to tell again does no harm.
    `Study.run` tries again by itself.
    """


class DamagedStore(StorageError):
    """What stands in a store is not what was written there."""


class UnknownStudy(RamgapeError):
    """The store has no such study, or no longer."""


class StudyExists(RamgapeError):
    """The store has another study of that name."""


class UnknownPull(RamgapeError, LookupError):
    """The study never handed out such a pull."""


class ChangedAnswer(RamgapeError):
    """The same attempt of a pull was answered before, with another reward, which stays."""


class FailingArm(RamgapeError):
    """The next pull would be of an arm whose trials failed too often, or cannot even be begun."""


class FailedTrial(RamgapeError):
    """A command has failed, taken too long, or printed no reward."""


class BudgetSpent(RamgapeError):
    """All pulls of the budget are made or under way."""


class MissingExtra(RamgapeError, ImportError):
    """An optional dependency is not installed."""


class RamgapeWarning(UserWarning):
    """What was asked for can be done, but is probably not what was meant."""


def require(condition: bool, what: str, allowed: str, given: object, error: type[RamgapeError] = InvalidSpec) -> None:
    """Complain unless `condition` holds.

    >>> require(0 < 1.5 < 1, "delta", "between 0 and 1, both excluded", 1.5)
    Traceback (most recent call last):
    ramgape.errors.InvalidSpec: delta must be between 0 and 1, both excluded, got 1.5
    """
    if not condition:
        raise error(f"{what} must be {allowed}, got {shorten(given)}")


def known_name(name: object, table: Iterable[str], what: str) -> str:
    """The name itself if the table has it; otherwise an error that suggests the nearest.

    >>> known_name("ramgap", ["ramgape", "egp"], "policy")
    Traceback (most recent call last):
    ramgape.errors.UnknownName: policy must be one of ramgape, egp, got 'ramgap'; did you mean 'ramgape'?
    """
    names = list(table)
    if isinstance(name, str) and name in names:
        return name
    near = difflib.get_close_matches(str(name), names, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    shown = ", ".join(names) if len(names) <= 20 else f"{', '.join(names[:8])}, ... ({len(names)} names)"
    raise UnknownName(f"{what} must be one of {shown}, got {shorten(name)}{hint}")


def shorten(value: object, limit: int = 80) -> str:
    """A value as it is shown in a message: long ones are cut, so that a message stays readable."""
    text = repr(value)
    return text if len(text) <= limit else f"{text[: limit - 3]}..."


def printable(text: str) -> str:
    """The text with everything that could move the cursor or hide letters written out.

    >>> print(printable("two" + chr(10) + "lines"))
    two\\nlines
    """
    joiner = "\N{ZERO WIDTH JOINER}"  # part of many emoji
    return "".join(c if c.isprintable() or c == joiner else repr(c)[1:-1] for c in text)
