"""What a server refuses, as the error that it was there: of the same class, with the same parts and words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ramgape import errors
from ramgape.errors import InvalidSpec, RamgapeError, StorageError

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
