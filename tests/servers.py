"""A server for tests: the API in a thread of this process, on a loopback port, over a store."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from ramgape.web.access.limits import Settings
from ramgape.web.access.roles import Access
from ramgape.web.app import BASE, make_app
from ramgape.web.listening import Place
from ramgape.web.open_studies import OpenStudies
from ramgape.web.serving import ServerOptions, Serving, application


def open_door(app: ASGIApp, access: Access) -> ASGIApp:
    """An application without a guard: everybody is the same."""

    async def enter(scope: Scope, receive: Receive, send: Send) -> None:
        scope.setdefault("state", {})["access"] = access
        await app(scope, receive, send)

    return enter


@contextmanager
def served(app: ASGIApp) -> Iterator[str]:
    """The address of an application, for as long as this lasts."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="on"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()
        listener.close()


@contextmanager
def open_server(storage: str, role: str = "admin") -> Iterator[str]:
    """The address of a server over a store, for whom everybody has the same role."""
    with served(open_door(make_app(OpenStudies(storage)), Access("tests", role))) as address:
        yield address


class Places:
    """Many stores behind one server, each below a path of its own: to start a server for every test would take long."""

    def __init__(self) -> None:
        self.address = ""
        self._apps: dict[str, ASGIApp] = {}

    @contextmanager
    def place(self, storage: str) -> Iterator[str]:
        """The address of a store, for as long as this lasts."""
        name, studies = f"place-{len(self._apps)}", OpenStudies(storage)
        self._apps[name] = open_door(make_app(studies), Access("tests", "admin"))
        try:
            yield f"{self.address}/{name}"
        finally:
            studies.close()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The application of a place; its own lifespan is that of the `with`."""
        if scope["type"] == "lifespan":
            for moment in ("startup", "shutdown"):
                await receive()
                await send({"type": f"lifespan.{moment}.complete"})
            return
        _, name, path = scope["path"].split("/", 2)
        await self._apps[name]({**scope, "path": f"/{path}", "raw_path": f"/{path}".encode()}, receive, send)


@contextmanager
def many_places() -> Iterator[Places]:
    """A server for many stores."""
    places = Places()
    with served(places) as places.address:
        yield places


def call(address: str, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
    """The status and the answer of one request to the API."""
    connection = HTTPConnection(address.removeprefix("http://"), timeout=60)
    content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
    sent = {"Content-Type": "application/json"} if content is not None else {}
    connection.request(
        method, BASE + path, content, sent | {key.replace("_", "-"): value for key, value in headers.items()}
    )
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    is_json = "json" in (answer.getheader("Content-Type") or "") and "jsonl" not in (
        answer.getheader("Content-Type") or ""
    )
    return answer.status, json.loads(text) if text and is_json else text


@contextmanager
def serving_of(storage: str, folder: Path, settings: Settings | None = None) -> Iterator[Serving]:
    """A server as `ramgape serve` starts it; its files are in a folder."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(folder / "state"))
        serving = Serving(Place(port=0), ServerOptions(settings=settings or Settings()), application(storage))
        server = serving.make_server()
        thread = threading.Thread(target=server.run, kwargs={"sockets": [serving.socket]}, daemon=True)
        thread.start()
        try:
            while not server.started:
                assert thread.is_alive()
                time.sleep(0.01)
            yield serving
        finally:
            server.should_exit = True
            thread.join()
            serving.close()


def token_of(serving: Serving) -> str:
    """The server's own token."""
    return str(json.loads(serving.token_file.read_text())["token"])


@contextmanager
def whole_server(storage: str, folder: Path, settings: Settings | None = None) -> Iterator[tuple[str, str]]:
    """The address of such a server, and its own token."""
    with serving_of(storage, folder, settings) as serving:
        yield serving.address, token_of(serving)
