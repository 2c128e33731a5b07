"""Requests with a body: read in the form that a route asks for, and made once for each key that a client gives."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import json
import re
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Annotated, Any

from fastapi import Header
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from ramgape.web.open_studies import OpenStudy

LARGE = 65_536  # bytes: more would keep all other requests waiting for milliseconds
READER = ThreadPoolExecutor(1, "ramgape-reader")
NUMBER, KEY = re.compile(r"[0-9]{1,18}"), re.compile(r"[!-~]{1,200}")
JSON = re.compile(r"application/(?:[^;]+\+)?json\s*(?:;.*)?", re.IGNORECASE)
IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        pattern=f"^{KEY.pattern}$",
        description="A repetition with the same key, within a day, changes nothing and gets the first answer.",
    ),
]
Handler = Callable[[Request], Coroutine[Any, Any, Response]]


class FormRoute(APIRoute):
    """A route that reads its JSON itself, a large one in another thread.

    FastAPI takes 0.25 ms more for a worker's request, and reads bodies on the event loop. It gets only requests that
    are not of the right form, because it says well what is wrong with them.
    """

    def get_route_handler(self) -> Handler:
        """Return what serves a request."""
        handle = super().get_route_handler()
        parameters = inspect.signature(self.endpoint).parameters
        if self.body_field is None or not inspect.iscoroutinefunction(self.endpoint):
            return handle
        form: TypeAdapter[Any] = TypeAdapter(self.body_field.field_info.annotation or Any)

        async def read_and_handle(request: Request) -> Response:
            try:
                content = await request.body()
            except ClientDisconnect:
                raise HTTPException(400) from None
            number, key = request.path_params.get("id", "0"), request.headers.get("idempotency-key")
            if not NUMBER.fullmatch(number) or not (key is None or KEY.fullmatch(key)):
                request._body = content if len(content) <= LARGE else b""  # what is wrong is said before the body
                return await handle(request)
            if not JSON.fullmatch(request.headers.get("content-type", "")):
                return await handle(request)
            try:
                if len(content) <= LARGE:
                    body = form.validate_json(content)
                else:
                    body = await asyncio.get_running_loop().run_in_executor(READER, form.validate_json, content)
            except ValidationError as error:
                if len(content) <= LARGE:
                    return await handle(request)
                found = error.errors(include_url=False)
                raise RequestValidationError([each | {"loc": ("body", *each["loc"])} for each in found]) from None
            given = {"study_id": int(number), "request": request, "key": key}
            answer: Response = await self.endpoint(
                body=body, **{name: value for name, value in given.items() if name in parameters}
            )
            return answer

        return read_and_handle


async def digest_of(request: Request) -> str:
    """Return what a request asks for, in short."""
    asked = f"{request.method} {request.url.path}?{request.url.query}\n".encode()
    return hashlib.sha256(asked + await request.body()).hexdigest()


def keyed(opened: OpenStudy, key: str | None, digest: str, operate: Callable[[], dict[str, Any]]) -> Callable[[], Any]:
    """Return an operation that is made once for each key; its answer is written with what it changes."""
    if key is None:
        return operate
    return lambda: opened.backend.once(key, digest, lambda: json.dumps(operate(), allow_nan=False))
