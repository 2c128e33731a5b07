"""Bodies of JSON, read into the form that a route asks for: a large one in another thread, one at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from pydantic import TypeAdapter, ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

LARGE = 65_536  # bytes: more would keep all other requests waiting for milliseconds
READER = ThreadPoolExecutor(1, "ramgape-reader")

Handler = Callable[[Request], Coroutine[Any, Any, Response]]


async def read_form(form: TypeAdapter[Any], content: bytes) -> Any:
    """What a body says; a `ValidationError` if it is not of the form."""
    if len(content) <= LARGE:
        return form.validate_json(content)
    return await asyncio.get_running_loop().run_in_executor(READER, form.validate_json, content)


class FormRoute(APIRoute):
    """A route that reads a large body before FastAPI would, which does it on the event loop."""

    def get_route_handler(self) -> Handler:
        """What serves a request."""
        handle = super().get_route_handler()
        if self.body_field is None:
            return handle
        form: TypeAdapter[Any] = TypeAdapter(self.body_field.field_info.annotation or Any)

        async def read_and_handle(request: Request) -> Response:
            try:
                content = await request.body()
            except ClientDisconnect:
                raise HTTPException(400) from None
            if len(content) > LARGE and "json" in request.headers.get("content-type", ""):
                request = ReadRequest(request.scope, request.receive)
                try:
                    request.form_of_body = await read_form(form, content)
                except ValidationError as error:
                    found = error.errors(include_url=False)
                    raise RequestValidationError([each | {"loc": ("body", *each["loc"])} for each in found]) from None
                request._body = content
            return await handle(request)

        return read_and_handle


class ReadRequest(Request):
    """A request whose body was read already; what it says is found where JSON is asked for."""

    form_of_body: Any = None

    async def json(self) -> Any:
        """The body, in its form."""
        return self.form_of_body
