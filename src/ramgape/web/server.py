"""Uvicorn, with its own listeners and end, and without patience for slow beginnings."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from ramgape.errors import StorageError
from ramgape.web.access.connections import (
    RESERVED,
    UNKNOWN_AT_MOST,
    UNKNOWN_RESTS,
    ClientConnection,
    Connections,
    Listener,
)
from ramgape.web.access.limits import Settings
from ramgape.web.access.middleware import MOST_PARTS, AccessMiddleware
from ramgape.web.listening import Place

if TYPE_CHECKING:
    from types import FrameType

ENDING = 10.0  # seconds behind the grace: then the process ends, whatever it waits for
LARGEST_HEADERS = 65_536  # bytes
ENOUGH_FILES = 65_536  # open at once, where the system allows any number


def make_server(
    middleware: AccessMiddleware,
    place: Place,
    settings: Settings,
    started: Callable[[], None],
    overdue: Callable[[], None] = lambda: None,
) -> uvicorn.Server:
    """Uvicorn, with an end of our own and protection from slow beginnings.

    Args:
        middleware: The application, with the middleware around it.
        place: Where it listens.
        settings: Its limits.
        started: Called when it serves.
        overdue: Called in another thread when a signal should have ended it, and has not.
    """

    class Server(uvicorn.Server):
        """Ends at the first signal, in peace; at the second, at once. Either way that is no failure."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            """Start uvicorn without sockets, then listen with our own listeners."""
            await super().startup([])
            patience = settings.header_timeout
            make = partial(StrictProtocol, connections, config, patience, self.server_state, self.lifespan.state)
            listeners = [Listener(each, connections, make, config.ssl, patience) for each in sockets or []]
            self.servers = listeners  # type: ignore[assignment]
            started()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            middleware.stop()
            await super().shutdown(sockets)

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            if self.should_exit and sig == signal.SIGINT:
                self.force_exit = True
            elif not self.should_exit:
                late = threading.Timer(settings.grace + ENDING, overdue)
                late.daemon = True
                late.start()
            self.should_exit = True

    config = uvicorn.Config(
        middleware,
        interface="asgi3",
        lifespan="on",
        http="httptools",
        ws="none",
        log_config=None,
        log_level=logging.WARNING,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=min(settings.keep_alive, UNKNOWN_RESTS),  # type: ignore[arg-type]
        timeout_graceful_shutdown=settings.grace,  # type: ignore[arg-type]
        ssl_certfile=place.tls_cert,
        ssl_keyfile=place.tls_key,
    )
    try:
        config.load()
    except OSError as error:  # also what the certificate is not
        raise StorageError(f"the certificate or its key cannot be used: {error}") from None
    connections = Connections(middleware.context.hosts, most_connections(settings), settings.keep_alive)
    return Server(config)


def most_connections(settings: Settings) -> int:
    """How many connections there may be: each is an open file, and stores need some, too."""
    most = int(settings.max_connections)
    with suppress(ImportError):  # not every system has such a limit
        import resource

        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        if files != resource.RLIM_INFINITY:
            most = min(most, max(files - RESERVED, files // 2))
    return most


def raise_open_files() -> None:
    """Let this process have as many files open as the system allows it."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = ENOUGH_FILES if hard == resource.RLIM_INFINITY else hard
        if soft != resource.RLIM_INFINITY and soft < wanted:
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


class StrictProtocol(HttpToolsProtocol):
    """Uvicorn's, for one request at a time, whose headers arrive in time; it does not last without a token."""

    def __init__(
        self,
        connections: Connections,
        config: uvicorn.Config,
        header_timeout: float,
        state: Any,
        app_state: dict[str, Any],
        connection: ClientConnection,
    ) -> None:
        # Each request tells the middleware on which connection it came.
        super().__init__(config, state, {**app_state, "connection": connection})
        self._connections, self._connection, self._patience = connections, connection, header_timeout
        self._heard = 0  # bytes of headers
        self._timers: dict[Callable[[], None], asyncio.TimerHandle] = {}
        if connection.proxied:
            self.timeout_keep_alive = connections.keep_alive  # type: ignore[assignment]

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._connection.protocol = self
        self._start(UNKNOWN_AT_MOST, self._end_without_token)
        self._start(self._patience, self._end)

    def connection_lost(self, exc: Exception | None) -> None:
        for timer in self._timers.values():
            timer.cancel()
        self._connections.remove(self._connection)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        began = time.thread_time()
        super().data_received(data)
        if not self._connection.charge(time.thread_time() - began):
            self._end()
            return
        if self._is_answering:  # the headers are there
            self._heard = 0
            if self._end in self._timers:
                self._timers.pop(self._end).cancel()
            return
        self._heard += len(data)
        if self._heard > LARGEST_HEADERS:
            self._end()
        elif self._end not in self._timers:
            self._start(self._patience, self._end)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Refuse thousands of headers before they are read: that takes milliseconds, for each packet."""
        if len(self.headers) >= MOST_PARTS:
            raise ValueError("too many headers")
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Refuse a request that comes before the last one is answered: a thousand fit into one packet."""
        if self._is_answering:
            raise ValueError("one request at a time")
        super().on_headers_complete()

    @property
    def _is_answering(self) -> bool:
        cycle: Any = self.cycle  # None before the first request
        return cycle is not None and not cycle.response_complete

    def _start(self, seconds: float, end: Callable[[], None]) -> None:
        self._timers[end] = self.loop.call_later(seconds, end)

    def _end_without_token(self) -> None:
        if self._connection.stranger:
            self.shutdown()  # at once, or when the request in progress is answered

    def _end(self) -> None:
        if not self.transport.is_closing():
            self.transport.close()
