"""Errors as answers: each has a status and the same six fields."""

from __future__ import annotations

from typing import Any

from ramgape.errors import (
    BudgetSpent,
    DataError,
    FailingArm,
    MissingExtra,
    NoAnswer,
    RamgapeError,
    SpecificationError,
    StorageError,
    StudyError,
    TrialError,
    UnknownPull,
    UnknownStudy,
)


class WebError(RamgapeError):
    """A request that is refused for what it is, not for what it asks of a study."""

    status = 400


class Unauthorized(WebError):
    """The request has no valid token."""

    status = 401


class Forbidden(WebError):
    """The token does not allow this."""

    status = 403


class NotFound(WebError):
    """There is nothing at this address."""

    status = 404


class MethodNotAllowed(WebError):
    """The address serves other methods."""

    status = 405


class TooSlow(WebError):
    """The request did not arrive in time."""

    status = 408


class TooLarge(WebError):
    """The request is larger than is taken."""

    status = 413


class Misdirected(WebError):
    """The request is for another host."""

    status = 421


class Unprocessable(WebError):
    """The request is not of the form that is asked for."""

    status = 422


class TooMany(WebError):
    """The client asks for so much that others would suffer.

    Args:
        message: What is too much.
        retry_after: Seconds after which it may be asked for again.
        **parts: As of every error.
    """

    status = 429

    def __init__(self, message: str = "", *, retry_after: float = 1.0, **parts: str) -> None:
        super().__init__(message, **parts)
        self.retry_after = retry_after


# The nearest class in an error's family counts. A store that fails is no fault of the request, nor of this program.
STATUS: dict[type[RamgapeError], int] = {
    UnknownStudy: 404,
    UnknownPull: 404,
    NoAnswer: 404,
    SpecificationError: 422,
    DataError: 422,
    StudyError: 409,
    BudgetSpent: 409,
    FailingArm: 409,
    TrialError: 409,
    MissingExtra: 501,
    StorageError: 503,
}
FIELDS = ("place", "what", "allowed", "given")


def status_of(error: RamgapeError) -> int:
    """The status of the answer to a request that has failed so."""
    if isinstance(error, WebError):
        return error.status
    return next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 400)


def answer_of(error: RamgapeError) -> dict[str, Any]:
    """An error as JSON has it."""
    parts = {name: getattr(error, name) or None for name in FIELDS}
    return {"error": type(error).__name__, "message": str(error), **parts}
