"""A proxy in front of a PostgreSQL server that can fall silent: it then takes everything and passes on nothing.

To the client's operating system all is well: what it sends is acknowledged.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.parse import parse_qs, urlsplit


class Proxy:
    """Listens on a port of this machine, for a server that listens on a socket in a folder."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self._query = parts.query.partition("&")[2]
        self._server = f"{parse_qs(parts.query)['host'][0]}/.s.PGSQL.5432"
        self._speaking = threading.Event()
        self._speaking.set()
        self._sockets: list[socket.socket] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def url(self) -> str:
        """Of the same database, by way of the proxy."""
        return f"postgresql://postgres@127.0.0.1:{self._listener.getsockname()[1]}/postgres?{self._query}"

    def fall_silent(self) -> None:
        """From now on nothing is passed on, in either direction."""
        self._speaking.clear()

    def speak_again(self) -> None:
        """Pass on what has come meanwhile, and all that follows."""
        self._speaking.set()

    def close(self) -> None:
        """Hang up."""
        self._speaking.set()
        for each in (self._listener, *self._sockets):
            with suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def _accept(self) -> None:
        with suppress(OSError):  # closed
            while True:
                client, _ = self._listener.accept()
                server = socket.socket(socket.AF_UNIX)
                server.connect(self._server)
                self._sockets += [client, server]
                for source, target in ((client, server), (server, client)):
                    threading.Thread(target=self._pass_on, args=(source, target), daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                self._speaking.wait()
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)


@contextmanager
def proxy_for(address: str) -> Iterator[Proxy]:
    """A proxy for as long as this lasts."""
    proxy = Proxy(address)
    try:
        yield proxy
    finally:
        proxy.close()
