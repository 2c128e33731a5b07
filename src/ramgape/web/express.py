"""A shorter way for what is asked for most: the rounds of workers.

More than half of the time of such a request would go to finding its route and taking it apart in general ways. A
request that has the right form at first sight goes straight to the function of its route; any other, as it came, takes
the usual way, which says what is wrong with it. So nothing is decided here.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError
from starlette.requests import Request

from ramgape.errors import RamgapeError
from ramgape.web import schema
from ramgape.web.answers import Json, show_error
from ramgape.web.forms import read_form
from ramgape.web.routes import work

if TYPE_CHECKING:
    from fastapi import FastAPI
    from starlette.types import Message, Receive, Scope, Send

PATH = re.compile(r"/api/v1/studies/([0-9]{1,18})/(exchange|ask|tell)")
ROUTES: dict[str, tuple[Callable[..., Awaitable[Json]], TypeAdapter[Any]]] = {
    "exchange": (work.exchange, TypeAdapter(schema.ExchangeBody)),
    "ask": (work.ask, TypeAdapter(schema.AskBody)),
    "tell": (work.tell, TypeAdapter(schema.TellBody)),
}


class Express:
    """An application (ASGI) with a shorter way for some of its routes."""

    def __init__(self, app: FastAPI) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        found = None
        if scope["type"] == "http" and scope["method"] == "POST" and not scope["query_string"]:
            found = PATH.fullmatch(scope["path"])
        if found is None or not is_plain_json(scope):
            await self.app(scope, receive, send)
            return
        message = await receive()  # the guard has read the whole body
        route, form = ROUTES[found[2]]
        try:
            body = await read_form(form, message.get("body", b""))
        except ValidationError:
            body = None
        if body is None or message.get("more_body", False):
            await self.app(scope, again(message, receive), send)
            return
        scope.update({"app": self.app, "endpoint": route, "path_params": {"id": found[1]}})
        request = Request(scope)
        try:
            answer = await route(int(found[1]), body, request)
        except RamgapeError as error:
            answer = await show_error(request, error)
        await answer(scope, receive, send)


def is_plain_json(scope: Scope) -> bool:
    """Whether the body is JSON by its own words, and no key says that the request may be a repetition."""
    headers = dict(scope["headers"])
    return headers.get(b"content-type") == b"application/json" and b"idempotency-key" not in headers


def again(first: Message, receive: Receive) -> Receive:
    """What gives a message that was taken already, and then the others."""
    waiting = [first]

    async def next_one() -> Message:
        return waiting.pop() if waiting else await receive()

    return next_one
