"""The application: its routes, what it says of errors, and its description."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

import ramgape
from ramgape.errors import RamgapeError, StorageUnavailable, shorten
from ramgape.web.answers import Json, error_response, show_error
from ramgape.web.errors import MethodNotAllowed, NotFound, Unprocessable, WebError, answer_of
from ramgape.web.open_studies import OpenStudies
from ramgape.web.pages import is_for_a_person, missing_page, page_routes
from ramgape.web.routes import follow, look, manage, work

BASE = "/api/v1"
WORDS = {  # for what is wrong with the form of a request, where a sentence would not fit behind "must be"
    "extra_forbidden": "absent: there is no such field",
    "missing": "given",
    "json_invalid": "JSON",
    "string_pattern_mismatch": "of the form that the description of the API has",
    "string_too_short": "text of at least one character",
    "string_too_long": "shorter text",
    "too_long": "a shorter list",
    "too_short": "a list that is not empty",
}
METHODS = ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")
ABOUT = "Studies of ramgape: ask what to try, tell what came out, see what is proved."


def make_app(studies: OpenStudies) -> FastAPI:
    """The API over the studies of one store. Middleware around it puts the sender's access into the scope's state."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await run_in_threadpool(studies.close)

    app = FastAPI(
        title="ramgape",
        summary=ABOUT,
        version=ramgape.__version__,
        openapi_url=f"{BASE}/openapi.json",
        docs_url=None,  # their pages load scripts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
    )
    app.state.studies = studies
    for part in (work, look, follow, manage):  # those first that are asked for most
        app.include_router(part.router, prefix=BASE)
    app.add_exception_handler(RamgapeError, show_error)
    app.add_exception_handler(RequestValidationError, show_misfit)
    app.add_exception_handler(HTTPException, show_unrouted)
    app.add_exception_handler(OSError, show_no_room)
    app.add_exception_handler(Exception, show_mistake)
    require_token(app)
    app.router.routes.extend(page_routes())
    return app


async def show_misfit(request: Request, error: Exception) -> Json:
    """A request that is not of the form that is asked for: what is wrong first."""
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"] if "[" not in str(part))  # without types that were tried
    allowed = WORDS.get(first["type"]) or str(first["msg"]).removeprefix("Input should be ")
    given = first.get("input")
    return error_response(Unprocessable(what=place, allowed=allowed, given=shorten(given)))


async def show_unrouted(request: Request, error: Exception) -> Response:
    """What no route serves: for a person a page, for a program JSON."""
    assert isinstance(error, HTTPException)
    if error.status_code == 404 and not request.url.path.startswith(BASE) and is_for_a_person(request):
        return missing_page()
    kinds: dict[int, type[WebError]] = {404: NotFound, 405: MethodNotAllowed}
    kind = kinds.get(error.status_code)
    if kind is None:  # what cannot be taken apart: nested too deeply, say
        return error_response(Unprocessable(what="the body", allowed="JSON that can be read"))
    if kind is not MethodNotAllowed:
        return error_response(kind(f"there is nothing at {request.method} {request.url.path}"), error.headers)
    served = ", ".join(methods_at(request))
    refused = kind(what="the method", allowed=f"one of {served}", given=request.method)
    return error_response(refused, {"Allow": served})


async def show_no_room(request: Request, error: Exception) -> Json:
    """What the system would not do, such as write to a full disk: files that come and go are kept there meanwhile."""
    assert isinstance(error, OSError)
    return error_response(
        StorageUnavailable(f"the server cannot do that now: {error.strerror or 'the system refuses'}")
    )


async def show_mistake(request: Request, error: Exception) -> Json:
    """A mistake of ours, which the log tells in full."""
    answer = answer_of(RamgapeError("a mistake of the server, which its log describes"))
    return Json(answer | {"error": "InternalError"}, 500)


def methods_at(request: Request) -> list[str]:
    """What the address of a request serves, by all routes together."""
    asked = [(method, {**request.scope, "method": method}) for method in METHODS]
    routes = request.app.routes
    return [method for method, scope in asked if any(route.matches(scope)[0] is Match.FULL for route in routes)]


def require_token(app: FastAPI) -> None:
    """Say in the description how one proves who one is, at every address."""
    made = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            described = made()
            described["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
            described["security"] = [{"token": []}]
        assert app.openapi_schema is not None
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
