"""What can go wrong, and the one way to complain.

    RamgapeError
     ├── SpecificationError       what is asked for
     │    ├── InvalidSpec              a search that cannot be meant: wrong epsilon, duplicate names, ...
     │    ├── InvalidInstance          an instance file or description that cannot be read
     │    └── UnknownName              a policy, bound, instance, ... that does not exist; suggests the nearest
     ├── DataError                what was observed
     │    ├── InvalidData              logged data that cannot be read
     │    └── InvalidReward            a reward that is not a finite number inside the stated range
     ├── StorageError             the store of a study: read-only, not a store, of another version, ...
     │    ├── StorageUnavailable       it may serve again soon: locked, full, out of reach, restarting
     │    └── DamagedStore             what stands in it is not what was written
     ├── StudyError               what is asked of a study that is as it should be
     │    ├── UnknownStudy             a study that is not in the store
     │    ├── StudyExists              a name that another study in the store has already
     │    ├── UnknownPull              a pull that this study never handed out
     │    ├── ChangedAnswer            a second, different answer to the same attempt of a pull
     │    ├── BudgetSpent              an observation for which the budget has no room
     │    └── KeyReused                the key of a request that was another one
     ├── TrialError               trials that fail
     │    ├── FailingArm               an arm whose trials fail again and again
     │    ├── FailedTrial              a command that failed, or printed no reward
     │    ├── Retry                    raised by a trial itself: it is to be tried again, after a while
     │    └── WorkerLost               the machine that made a trial has died, and not the trial
     ├── RequirementError         what `ramgape.check` requires is not proved; also an AssertionError
     │    ├── RequirementRefuted       it is proved not to hold
     │    └── RequirementUndecided     the trials decide nothing
     ├── NoAnswer                 a question that the result cannot answer
     └── MissingExtra             an optional dependency is not installed; says how to get it

    RamgapeWarning           what was asked for can be done, but is probably not what was meant

Every message has the same form, "PLACE: WHAT must be ALLOWED, got GIVEN", and its parts are attributes of the error.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

LONGEST_MESSAGE = 2000  # letters


class RamgapeError(Exception):
    """Anything that ramgape itself complains about; on one line, whatever names and files it quotes.

    Args:
        message: The sentence, of an error that has no `allowed`.
        place: Where it is: a file and a line, a row of data, a table of a study file. Empty where that is plain.
        what: What is wrong: an argument, a column, a file.
        allowed: What it must be; with another `verb`, what it must do.
        given: What it is, in the words of the message.
        hint: What else the message says, as it stands at its end.
        verb: What follows "must".

    Attributes:
        partial_result: What was found by then, of an error that ended a search: nothing observed is lost.
        untold: Of one that ended `Study.run`, what was measured and could not be told: pairs of a pull and its
            reward, to be told when that is possible.
    """

    partial_result: Any = None
    untold: Sequence[tuple[Any, float]] = ()

    def __init__(
        self,
        message: str = "",
        *,
        place: str = "",
        what: str = "",
        allowed: str = "",
        given: str = "",
        hint: str = "",
        verb: str = "be",
    ) -> None:
        super().__init__(message)
        self.message, self.place, self.what, self.allowed = message, place, what, allowed
        self.given, self.hint, self.verb = given, hint, verb

    def __str__(self) -> str:
        """The message, with nothing in it that a terminal would obey, cut if a name is very long."""
        text = ": ".join(filter(None, (self.place, self.what, self.message)))
        text += f" must {self.verb} {self.allowed}" * bool(self.allowed) + f", got {self.given}" * bool(self.given)
        text = printable(text + self.hint)
        return text if len(text) <= LONGEST_MESSAGE else f"{text[: LONGEST_MESSAGE - 3]}..."

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class SpecificationError(RamgapeError, ValueError):
    """What is asked for cannot be meant."""


class InvalidSpec(SpecificationError):
    """The search asked for cannot be meant."""


class InvalidInstance(SpecificationError):
    """An instance file or description is malformed."""


class UnknownName(SpecificationError):
    """A name stands in no table."""


class DataError(RamgapeError, ValueError):
    """What was observed cannot be taken in."""


class InvalidData(DataError):
    """Logged data cannot be read, or hold too little."""


class InvalidReward(DataError):
    """A reward is not a finite number inside the stated range."""


class StorageError(RamgapeError):
    """A store of studies cannot be used: what happened, where, and what to do."""


class StorageUnavailable(StorageError):
    """A store cannot be used at this moment, and perhaps a little later: what was asked of it may be tried again.

    Whether it has been done is not always known. To ask, as a worker with a name, and to tell again does no harm.
    `Study.run` tries again by itself.
    """


class DamagedStore(StorageError):
    """What stands in a store is not what was written there."""


class StudyError(RamgapeError):
    """A study cannot do what is asked of it, or there is none."""


class UnknownStudy(StudyError):
    """The store has no such study, or no longer."""


class StudyExists(StudyError):
    """The store has another study of that name."""


class UnknownPull(StudyError, LookupError):
    """The study never handed out such a pull."""


class ChangedAnswer(StudyError):
    """The same attempt of a pull was answered before, with another reward, which stays."""


class BudgetSpent(StudyError):
    """All trials of the budget are made or in progress."""


class KeyReused(StudyError):
    """The key of a request is that of another one, which the study has done; this one changes nothing."""


class TrialError(RamgapeError):
    """Trials fail."""


class FailingArm(TrialError):
    """The next pull would be of an arm whose trials failed too often, or cannot even be begun."""


class FailedTrial(TrialError):
    """A command has failed, taken too long, or printed no reward."""


class Retry(TrialError):
    """For a trial to raise that is to be tried again: a service is busy, say, and has said for how long.

    It counts as one of the `retries`. When these are used up it is an error, or a failed trial, like any other.

    Args:
        message: Why.
        after: Seconds until the trial is tried again; unless given, pauses grow from one to the next.
        **parts: As of every error.

    Examples:
        >>> Retry("the service is busy", after=2.5).after
        2.5
    """

    def __init__(self, message: str = "", *, after: float | None = None, **parts: str) -> None:
        super().__init__(message or "the trial is to be tried again" * (not parts), **parts)
        usable = isinstance(after, int | float) and 0.0 <= after < float("inf")
        require(after is None or usable, "after", "a number of seconds of at least 0, or None", after)
        self.after = after


class WorkerLost(TrialError):
    """What made a trial has died or been taken away, perhaps not because of the trial.

    Such a trial has not failed: it is given back, counted apart, and tried again with another seed;
    docs/guides/cluster.md. A trial may raise it, too, whose machine is about to go.
    """


class NoAnswer(RamgapeError, LookupError):
    """No arm satisfies what was asked of the result."""


class RequirementError(RamgapeError, AssertionError):
    """What `ramgape.check` requires is not proved; `partial_result` has the evidence."""


class RequirementRefuted(RequirementError):
    """It is proved that the requirement does not hold."""


class RequirementUndecided(RequirementError):
    """The trials neither prove nor refute the requirement."""


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
        raise error(what=what, allowed=allowed, given=shorten(given))


@contextmanager
def located(
    place: str, kinds: type[RamgapeError] | tuple[type[RamgapeError], ...] = (SpecificationError, DataError)
) -> Iterator[None]:
    """Say where an error is that is raised inside: the same error goes on, with its place.

    Args:
        place: Where; it stands before a place that the error has already.
        kinds: The errors that are meant.

    >>> with located("mine.toml, [study]"):
    ...     require(False, "delta", "between 0 and 1, both excluded", 1.5)
    Traceback (most recent call last):
    ramgape.errors.InvalidSpec: mine.toml, [study]: delta must be between 0 and 1, both excluded, got 1.5
    """
    try:
        yield
    except kinds as error:
        error.place = f"{place}: {error.place}" if error.place else place
        raise


def known_name(name: object, table: Iterable[str], what: str) -> str:
    """The name itself if the table has it; otherwise an error that suggests the nearest.

    >>> known_name("ramgap", ["ramgape", "egp"], "policy")
    Traceback (most recent call last):
    ramgape.errors.UnknownName: policy must be one of ramgape, egp, got 'ramgap'; did you mean 'ramgape'?
    """
    names = list(table)
    if isinstance(name, str) and name in names:
        return name
    hint = suggestion(str(name), names)
    shown = ", ".join(names) if len(names) <= 24 else f"{', '.join(names[:8])}, ... ({len(names)} names)"
    raise UnknownName(what=what, allowed=f"one of {shown}", given=shorten(name), hint=hint)


def suggestion(name: str, names: Sequence[str]) -> str:
    """The nearest of some names, as a hint; nothing if none is near."""
    import difflib  # which only those wait for who have made a mistake

    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else ""


def unknown_study(name: str, names: Sequence[str], url: str) -> UnknownStudy:
    """The error for a study that is not in a store, which says what is, and suggests the nearest.

    >>> unknown_study("model", ["models", "coins"], "sqlite:///file.db").message
    "study must be one of those in sqlite:///file.db ('models', 'coins'), got 'model'; did you mean 'models'?"
    """
    hint = suggestion(name, names)
    there = ", ".join(map(shorten, names[:8])) + (", ..." if len(names) > 8 else "") if names else "there is none"
    return UnknownStudy(f"study must be one of those in {url} ({there}), got {shorten(name)}{hint}")


def deleted_meanwhile(where: str) -> UnknownStudy:
    """The error for a study that is gone."""
    given = "one that was deleted meanwhile"
    return UnknownStudy(what="the study", verb="still be", allowed=f"in {where}", given=given)


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
