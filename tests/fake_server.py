"""A server that answers as a test says, on a port of this machine or on a socket; it remembers what it was asked."""

from __future__ import annotations

import json
import socket
import socketserver
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, NamedTuple


class Asked(NamedTuple):
    """A request."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    peer: object  # by which two requests of one connection are known

    def json(self) -> Any:
        """What was sent."""
        return json.loads(self.body)


class Says(NamedTuple):
    """An answer: JSON, or bytes as they are; `cut` breaks the connection before it."""

    body: Any = None
    status: int = 200
    headers: dict[str, str] = {}  # noqa: RUF012
    cut: bool = False


Script = Callable[[Asked], Says]


class FakeServer:
    """What a script answers."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.asked: list[Asked] = []
        self.url = ""
        self.open: set[socket.socket] = set()

    def handler(self) -> type[BaseHTTPRequestHandler]:
        """For the standard library's server."""
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                fake.open.add(self.connection)

            def finish(self) -> None:
                fake.open.discard(self.connection)
                super().finish()

            def answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                asked = Asked(self.command, self.path, dict(self.headers), body, id(self.connection))
                fake.asked.append(asked)
                said = fake.script(asked)
                if said.cut:
                    self.close_connection = True
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                content = said.body if isinstance(said.body, bytes) else json.dumps(said.body).encode()
                self.send_response(said.status)
                kind = {"Content-Type": "application/json", "Content-Length": str(len(content))}
                for name, value in (kind | said.headers).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST = do_DELETE = answer  # noqa: N815

            def log_message(self, *_: object) -> None:
                """Nothing."""

            def address_string(self) -> str:
                """Of a socket there is none."""
                return "here"

        return Handler


class _Threaded(socketserver.ThreadingMixIn, HTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """A client that goes is none."""


class _OnSocket(_Threaded):
    address_family = socket.AF_UNIX

    def server_bind(self) -> None:
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "here", 0


@contextmanager
def fake_server(
    script: Script, *, path: Path | None = None, certificate: tuple[Path, Path] | None = None, port: int = 0
) -> Iterator[FakeServer]:
    """A server that runs meanwhile; on a socket if there is a path, with TLS if there is a certificate and its key."""
    fake = FakeServer(script)
    if path is None:
        server: _Threaded = _Threaded(("127.0.0.1", port), fake.handler())
        fake.url = f"http://127.0.0.1:{server.server_address[1]}"
    else:
        server = _OnSocket(str(path), fake.handler())  # type: ignore[arg-type]
        fake.url = f"unix://{path}"
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        server.socket = context.wrap_socket(server.socket, server_side=True)
        fake.url = fake.url.replace("http://127.0.0.1", "https://localhost")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        for each in list(fake.open):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
        server.server_close()
        thread.join()
