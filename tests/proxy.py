"""A proxy in front of a PostgreSQL server that can fall silent: it then takes everything and passes on nothing.

To the client's operating system all is well: what it sends is acknowledged. It can also break all connections at once.
"""

from __future__ import annotations

import socket
import struct
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
        self._speaking, self._answering = threading.Event(), threading.Event()
        self.speak_again()
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
        self._answering.clear()

    def keep_answers(self) -> None:
        """From now on the server hears everything, and the client nothing."""
        self._answering.clear()

    def speak_again(self) -> None:
        """Pass on what has come meanwhile, and all that follows."""
        self._speaking.set()
        self._answering.set()

    def cut(self) -> None:
        """Reset all connections; what was kept is lost. New ones may come."""
        cut, self._sockets = self._sockets, []
        for each in cut:
            with suppress(OSError):
                each.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # no farewell
                each.shutdown(socket.SHUT_RD)  # wakes whoever listens here
            each.close()
        self.speak_again()

    def close(self) -> None:
        """Hang up."""
        self.speak_again()
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
                for way in ((client, server, self._speaking), (server, client, self._answering)):
                    threading.Thread(target=self._pass_on, args=way, daemon=True).start()

    def _pass_on(self, source: socket.socket, target: socket.socket, allowed: threading.Event) -> None:
        with suppress(OSError):
            while data := source.recv(65536):
                allowed.wait()
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
