"""The application: its routes, its pages, what it says of errors, and its description.

Pages are plain files that ask the API for all that they show. They hold no secrets, so they need no token.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from importlib import resources
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Match, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

import ramgape
from ramgape.errors import RamgapeError, StorageUnavailable, shorten
from ramgape.web.answers import Json, error_response, show_error
from ramgape.web.errors import MethodNotAllowed, NotFound, Unprocessable, WebError, answer_of
from ramgape.web.open_studies import OpenStudies
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
STATIC = Path(str(resources.files("ramgape.web") / "static"))
LOOKS = Path(str(resources.files("ramgape.views") / "looks"))  # style sheets that reports have, too
PAGES = {"/": "index.html", "/login": "login.html", "/studies/{study}": "study.html"}
FRESH = {"Cache-Control": "no-cache"}  # kept, but asked about each time: after an upgrade nothing old is shown
METHODS = ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")
ABOUT = "Studies of ramgape: ask what to try, tell what came out, see what is proved."


class Files(StaticFiles):
    """Files that a browser keeps, and asks about each time."""

    async def get_response(self, path: str, scope: Scope) -> Response:
        """A file, with what says how long it may be kept."""
        response = await super().get_response(path, scope)
        response.headers.update(FRESH)
        return response


async def show_page(name: str, request: Request) -> Response:
    """One of the pages; which study it is about is for its script to read from the address."""
    return static_page(name)


def static_page(name: str, status: int = 200) -> FileResponse:
    """One of the pages."""
    return FileResponse(STATIC / name, status, FRESH)


def is_for_a_person(request: Request) -> bool:
    """Whether a browser asks, for a person to read."""
    return "text/html" in request.headers.get("accept", "")


def missing_page() -> Response:
    """What a person is shown where there is nothing."""
    return static_page("missing.html", 404)


def page_routes() -> list[BaseRoute]:
    """Where the pages are; `/studies/17-suppliers` has the name for people, and goes by the number."""
    return [
        *(Route(path, partial(show_page, name)) for path, name in PAGES.items()),
        Mount("/static/looks", GZipMiddleware(Files(directory=LOOKS))),
        Mount("/static", GZipMiddleware(Files(directory=STATIC))),
    ]


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
