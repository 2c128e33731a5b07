"""A guard for tests: before a small application, with clocks that stand still, asked without a network."""

from __future__ import annotations

import asyncio
import io
import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, PlainTextResponse, StreamingResponse

from ramgape.errors import RamgapeError
from ramgape.web.access.hosts import Hosts
from ramgape.web.access.limits import Settings
from ramgape.web.access.middleware import AccessContext, AccessMiddleware
from ramgape.web.access.roles import access_of
from ramgape.web.access.routes import access_routes, operation_routes
from ramgape.web.access.sessions import Logins
from ramgape.web.access.token_file import TokenFile, new_secret
from ramgape.web.access.tokens import Clocks, Tokens
from ramgape.web.errors import answer_of, status_of
from ramgape.web.logs import Log

PORT = 8460
HOST = f"127.0.0.1:{PORT}"


@dataclass
class Answer:
    """What came back."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    def header(self, name: str) -> str | None:
        """The value of a header."""
        return next((value for key, value in self.headers if key == name), None)

    @property
    def json(self) -> Any:
        """The body."""
        return json.loads(self.body)


@dataclass
class World:
    """A server with everything that it goes by.

    Attributes:
        now: What both clocks say.
    """

    folder: Path
    settings: Settings = field(default_factory=Settings)
    hosts: Hosts = field(default_factory=lambda: Hosts(port=PORT, bound="127.0.0.1"))
    now: float = field(default_factory=time.time)
    log: io.StringIO = field(default_factory=io.StringIO)
    read_only: bool = False
    open_metrics: bool = False

    def __post_init__(self) -> None:
        clocks = Clocks(lambda: self.now, lambda: self.now)
        self.file, self.own = TokenFile(self.folder / "tokens.json"), new_secret()
        tokens = Tokens(self.file, self.own, clocks)
        self.context = AccessContext(
            hosts=self.hosts,
            tokens=tokens,
            logins=Logins(tokens, self.settings, clocks),
            settings=self.settings,
            log=Log("json", stream=self.log),
            clocks=clocks,
            read_only=self.read_only,
            open_metrics=self.open_metrics,
        )
        self.app = small_app(self.context)
        self.middleware = AccessMiddleware(self.app, self.context)

    def token(self, role: str = "read", *studies: str, days: float | None = None) -> str:
        """A new token."""
        made = self.file.add(role, studies or ("*",), days)[1]
        self.context.tokens.look()
        return made

    def session(self, token: str | None = None) -> str:
        """The cookie of a browser that is logged in."""
        made, _ = self.context.logins.log_in("here", token=token or self.own)
        return f"{self.hosts.cookie.decode()}={made}"

    def ask(self, method: str, path: str, *parts: bytes | None, **headers: str | None) -> Answer:
        """A request by itself."""
        return asyncio.run(self.asking(method, path, *parts, **headers))

    async def asking(self, method: str, path: str, *parts: bytes | None, **headers: str | None) -> Answer:
        """A request: a body in parts, where None stands for one that never comes; a header that is None is missing."""
        named = {"host": HOST, **{name.replace("_", "-"): value for name, value in headers.items()}}
        pairs = [(name.encode(), value.encode("latin-1")) for name, value in named.items() if value is not None]
        return await request(self.middleware, method, path, parts, pairs)


async def request(
    middleware: Any, method: str, path: str, parts: Sequence[bytes | None], headers: list[tuple[bytes, bytes]]
) -> Answer:
    """What an application answers."""
    place, _, query = path.partition("?")
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": place,
        "raw_path": place.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": headers,
        "client": ("10.0.0.7", 4711),
        "server": ("127.0.0.1", PORT),
        "state": {},
    }
    waiting = list(parts) or [b""]
    sent: list[Any] = []

    async def receive() -> Any:
        if not waiting:
            await asyncio.sleep(3600)
        part = waiting.pop(0)
        if part is None:
            await asyncio.sleep(3600)
        return {"type": "http.request", "body": part, "more_body": bool(waiting)}

    async def send(message: Any) -> None:
        sent.append(message)

    await middleware(scope, receive, send)
    pairs = [(name.decode(), value.decode("latin-1")) for name, value in sent[0]["headers"]]
    return Answer(sent[0]["status"], pairs, b"".join(each.get("body", b"") for each in sent[1:]))


def small_app(context: AccessContext) -> FastAPI:
    """Routes that say who asked, and what was sent."""
    app = FastAPI(openapi_url=None)
    studies = {1: "suppliers", 2: "secret"}

    @app.exception_handler(RamgapeError)
    async def complain(request: Request, error: RamgapeError) -> JSONResponse:
        return JSONResponse(answer_of(error), status_of(error))

    @app.get("/")
    @app.get("/static/page.js")
    async def page() -> PlainTextResponse:
        return PlainTextResponse("a page")

    @app.get("/api/v1")
    async def who(request: Request) -> dict[str, Any]:
        access = access_of(request)
        return {"name": access.name, "role": access.role}

    @app.get("/api/v1/studies/{id}")
    async def show(id: int, request: Request) -> str:  # noqa: A002
        access_of(request).require("read", studies[id])
        return studies[id]

    @app.post("/api/v1/studies/{id}/ask")
    async def ask(id: int, request: Request, body: dict[str, Any]) -> int:  # noqa: A002
        access_of(request).require("work", studies[id])
        return len(await request.body())

    @app.delete("/api/v1/studies/{id}")
    async def delete(id: int, request: Request) -> None:  # noqa: A002
        access_of(request).require("admin", studies[id])

    @app.post("/api/v1/studies/{id}/import")
    async def import_file(id: int, request: Request) -> int:  # noqa: A002
        access_of(request).require("admin", studies[id])
        return sum([len(part) async for part in request.stream()])

    @app.get("/api/v1/studies/{id}/events")
    async def events(id: int, request: Request) -> StreamingResponse:  # noqa: A002
        access_of(request).require("read", studies[id])

        async def stream() -> Any:
            while True:
                yield b": still here\n\n"
                await asyncio.sleep(0.01)

        return StreamingResponse(stream(), media_type="text/event-stream")

    app.include_router(access_routes(context), prefix="/api/v1")
    app.include_router(operation_routes(context))
    return app
