"""What a server may answer: every field that is used, its type and its size, checked before it is used.

Another program may listen at the address, and a server may be in the wrong hands. Workers pass on what it says, to
functions, commands and files. So nothing of an answer is used that has not the form below; unknown keys
are ignored, as a newer server may have more of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from ramgape import errors
from ramgape.errors import InvalidSpec, RamgapeError, StorageError, shorten

MOST_AT_ONCE = 100_000  # pulls, answers or arms in one answer
LONGEST_NAME = 200  # characters of a study, or a worker
LONGEST_ARM = 200_000
LONGEST_TEXT = 20_000  # a reason, a time, a sentence
LARGEST = 2**63 - 1
# The id of a pull goes into shells and files: it has nothing in it that means something there, and no dash in front.
PULL_ID = re.compile(r"[0-9A-Za-z][0-9A-Za-z.-]{0,63}", re.ASCII)
ERROR = re.compile(r"[A-Za-z]{1,64}", re.ASCII)

Check = Callable[[Any, str], None]


class Unexpected(Exception):
    """An answer that no server of ramgape gives."""

    def __init__(self, where: str, allowed: str, given: object) -> None:
        super().__init__(f"{where} must be {allowed}, got {shorten(given)}")


def _require(usable: bool, where: str, allowed: str, given: object) -> None:
    if not usable:
        raise Unexpected(where, allowed, given)


def anything(given: Any, where: str) -> None:
    """Whatever JSON has."""


def flag(given: Any, where: str) -> None:
    """Check that it is true or false."""
    _require(isinstance(given, bool), where, "true or false", given)


def whole_number(given: Any, where: str) -> None:
    """Check that it is a number of things, a place, or a seed."""
    usable = isinstance(given, int) and not isinstance(given, bool) and 0 <= given <= LARGEST
    _require(usable, where, f"a whole number from 0 to {LARGEST}", given)


def number(given: Any, where: str) -> None:
    """Check that it is a finite number."""
    usable = isinstance(given, int | float) and not isinstance(given, bool) and abs(given) < 1e300
    _require(usable, where, "a finite number", given)


def mapping(given: Any, where: str) -> None:
    """Check that it is an object, of whatever."""
    _require(isinstance(given, dict), where, "an object", given)


def numbers(given: Any, where: str) -> None:
    """Check that it is an object of numbers."""
    mapping(given, where)
    for name, value in given.items():
        number(value, f"{where}.{name}")


def text(longest: int = LONGEST_TEXT, *, empty: bool = True) -> Check:
    """A check for text that can be written, so many characters of it."""

    def check(given: Any, where: str) -> None:
        usable = isinstance(given, str) and len(given) <= longest and (empty or bool(given))
        _require(usable, where, f"text of at most {longest:,} characters", given)
        try:
            given.encode()
        except UnicodeEncodeError:
            raise Unexpected(where, "text without halves of characters", given) from None

    return check


def like(pattern: re.Pattern[str], allowed: str) -> Check:
    """A check for text of a form."""

    def check(given: Any, where: str) -> None:
        _require(isinstance(given, str) and pattern.fullmatch(given) is not None, where, allowed, given)

    return check


def maybe(inner: Check) -> Check:
    """The same, or null."""

    def check(given: Any, where: str) -> None:
        if given is not None:
            inner(given, where)

    return check


def each(inner: Check, most: int = MOST_AT_ONCE) -> Check:
    """A check for a list."""

    def check(given: Any, where: str) -> None:
        _require(isinstance(given, list), where, "a list", given)
        _require(len(given) <= most, where, f"a list of at most {most:,}", f"{len(given):,}")
        for place, value in enumerate(given):
            inner(value, f"{where}[{place}]")

    return check


def record(optional: dict[str, Check] | None = None, **needed: Check) -> Check:
    """A check for an object that has some keys, and perhaps others."""

    def check(given: Any, where: str) -> None:
        mapping(given, where)
        for key, inner in needed.items():
            _require(key in given, where, f"an object with {key!r}", list(given)[:10])
            inner(given[key], f"{where}.{key}")
        for key, inner in (optional or {}).items():
            if key in given:
                inner(given[key], f"{where}.{key}")

    return check


ID = like(PULL_ID, "the id of a pull")
ARM = text(LONGEST_ARM, empty=False)
NAME = text(LONGEST_NAME, empty=False)
PULL = record({"item": anything}, id=ID, arm=ARM, seed=whole_number)

DONE = record(done=flag)
EXCHANGED = record(accepted=each(flag, 4 * MOST_AT_ONCE), pulls=each(PULL), done=flag)
RENEWED = record(renewed=each(flag), done=flag)
LEFT = record(given_back=whole_number)
RETRIED = record(retried=whole_number)
MORE = record(more=flag)
STUDIES = record(studies=each(record({"done": flag}, id=whole_number, name=NAME)), next=maybe(NAME))
SPECIFIED = record(specification=mapping)
MADE = record(id=whole_number, told=whole_number, specification=mapping)
REPORT = record({"history": each(each(anything))}, specification=mapping, arms=each(record(name=ARM)))
PROGRESS = record(
    samples=whole_number,
    limit=whole_number,
    arms=whole_number,
    doubt=maybe(number),
    epsilon=maybe(number),
    spend=maybe(number),
    done=flag,
)
ROWS = record(columns=each(text(LONGEST_NAME), 100), rows=each(each(anything, 100)), next=maybe(whole_number))
OBSERVATION = record(
    {"outcomes": maybe(numbers)},
    arm=ARM,
    reward=number,
    failed=flag,
    worker=maybe(text()),
    told_at=maybe(text()),
    pull=maybe(ID),
    item=maybe(whole_number),
    price=maybe(number),
    info=maybe(mapping),
    seed=maybe(whole_number),
)
FAILURE = record(pull=ID, arm=ARM, worker=maybe(text()), reason=text(), failed_at=text(), seed=whole_number)
PART = maybe(text(LONGEST_ARM))
REFUSAL = record(
    dict.fromkeys(("place", "what", "allowed", "given"), PART),
    error=like(ERROR, "the name of an error"),
    message=text(LONGEST_ARM, empty=False),
)


def is_refusal(found: object) -> bool:
    """Whether an answer says, as our servers do, why something was refused."""
    try:
        REFUSAL(found, "the answer")
    except Unexpected:
        return False
    return True


# --- refusals ---------------------------------------------------------------------------------------------------------

# Classes of the server's own, which are about a request rather than a study.
OURS: dict[str, type[RamgapeError]] = {"Unprocessable": InvalidSpec}


def error_in(answer: Mapping[str, Any]) -> RamgapeError:
    """The error that an answer describes.

    >>> error_in({"error": "InvalidReward", "message": "reward must be a number, got 'x'; think", "place": None,
    ...           "what": "reward", "allowed": "a number", "given": "'x'"}).hint
    '; think'
    """
    text = str(answer.get("message", ""))
    parts = {name: str(answer.get(name) or "") for name in ("place", "what", "allowed", "given")}
    error = _class_of(answer.get("error"))("", **parts)
    _complete(error, text)
    if str(error) != text:  # cut, or of a form that only a newer server knows: at least its words are the same
        error = type(error)(text)
    return error


def _class_of(name: object) -> type[RamgapeError]:
    found = OURS.get(str(name)) or getattr(errors, str(name), None)
    return found if isinstance(found, type) and issubclass(found, RamgapeError) else StorageError


def _complete(error: RamgapeError, text: str) -> None:
    """Find what is not sent by itself: the sentence of an error, its verb, and what stands at its end."""
    start = ": ".join(filter(None, (error.place, error.what)))
    rest = text.removeprefix(start)
    if error.allowed:
        before, _, rest = rest.partition(f" {error.allowed}")
        message, _, error.verb = before.rpartition(" must ")
        error.message = message.removeprefix(": ")
        error.hint = rest.removeprefix(f", got {error.given}") if error.given else rest
    elif error.given:
        message, _, error.hint = rest.partition(f", got {error.given}")
        error.message = message.removeprefix(": ")
    else:
        error.message = rest.removeprefix(": ")
