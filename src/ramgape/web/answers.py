"""How routes answer: JSON without what JSON has not, and every error that an address may give, for OpenAPI."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fastapi import Request
from starlette.responses import Response

from ramgape.errors import RamgapeError, StorageUnavailable
from ramgape.storage.urls import shown
from ramgape.web.errors import TooMany, answer_of, status_of
from ramgape.web.schema import ErrorAnswer

RETRY_AFTER = 1.0  # seconds, where a store may serve again soon
# What any request may be told, whatever it asks for.
ANY = (401, 403, 405, 408, 413, 421, 422, 429, 503)
MEANINGS = {
    401: "No token, or one that is unknown, expired or revoked.",
    403: "The token's role does not allow this, or the request came from another site.",
    404: "There is no such study, pull or answer, or none that the token may see.",
    405: "The address serves other methods.",
    408: "The request did not arrive in time.",
    409: "The study is not in a state for this: an answer was changed, a budget is spent, a name is taken.",
    413: "The request is too large.",
    421: "The request is for another host.",
    422: "The request is not of the form asked for, or cannot be meant.",
    429: "Too many requests; Retry-After says when to come again.",
    501: "What this takes is not installed on the server.",
    503: "The store cannot be used now; with Retry-After, to repeat the request makes sense.",
}


def refusals(*further: int) -> dict[int | str, dict[str, Any]]:
    """The errors that an address may answer with, for its description."""
    return {status: {"model": ErrorAnswer, "description": MEANINGS[status]} for status in sorted({*ANY, *further})}


class Json(Response):
    """JSON that is ready: no number in it that JSON has not."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """Text stands for itself."""
        text = content if isinstance(content, str) else json.dumps(content, allow_nan=False, separators=(",", ":"))
        return text.encode()


def error_response(error: RamgapeError, headers: Mapping[str, str] | None = None) -> Json:
    """The answer to a request that has failed."""
    found = dict(headers or {})
    if isinstance(error, TooMany):
        found["Retry-After"] = f"{max(error.retry_after, 0.001):.3f}".rstrip("0").rstrip(".")
    elif isinstance(error, StorageUnavailable):
        found["Retry-After"] = f"{RETRY_AFTER:g}"
    if status_of(error) == 401:
        found["WWW-Authenticate"] = "Bearer"
    return Json(answer_of(error), status_of(error), found)


async def show_error(request: Request, error: Exception) -> Json:
    """What to say of an error; where the store is, only an admin for all studies need know."""
    assert isinstance(error, RamgapeError)
    access = request.scope["state"].get("access")
    if access is None or access.role != "admin" or not access.unlimited:
        where = shown(request.app.state.studies.storage)
        for part in ("message", "place", "what", "allowed", "given", "hint"):
            setattr(error, part, getattr(error, part).replace(where, "the store"))
    return error_response(error)
