"""The pages: plain files, which ask the API for all that they show. They hold no secrets, so they need no token."""

from __future__ import annotations

from functools import partial
from importlib import resources
from pathlib import Path

from starlette.middleware.gzip import GZipMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

STATIC = Path(str(resources.files("ramgape.web") / "static"))
LOOKS = Path(str(resources.files("ramgape.views") / "looks"))  # style sheets that reports have, too
PAGES = {"/": "index.html", "/login": "login.html", "/studies/{study}": "study.html"}
FRESH = {"Cache-Control": "no-cache"}  # kept, but asked about each time: after an upgrade nothing old is shown


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
