"""Uvicorn, with an end of our own and without patience for slow beginnings."""

from __future__ import annotations

import asyncio
import logging
import signal
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal

import uvicorn

from ramgape.errors import StorageError
from ramgape.web.guard import Guard
from ramgape.web.limits import Settings
from ramgape.web.listening import Place

if TYPE_CHECKING:
    from types import FrameType

LARGEST_HEADERS = 65_536  # bytes


def make_server(
    guard: Guard, place: Place, settings: Settings, started: Callable[[], None], http: Literal["auto", "h11"] = "auto"
) -> uvicorn.Server:
    """Uvicorn, with an end of our own and protection from slow beginnings."""

    class Server(uvicorn.Server):
        """Ends at the first signal, in peace; at the second, at once. Either way that is no failure."""

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            started()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            guard.stop()
            await super().shutdown(sockets)

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            if self.should_exit and sig == signal.SIGINT:
                self.force_exit = True
            self.should_exit = True

    config = uvicorn.Config(
        guard,
        interface="asgi3",
        lifespan="on",
        http=http,
        ws="none",
        log_config=None,
        log_level=logging.WARNING,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        limit_concurrency=int(settings.max_connections),
        timeout_keep_alive=settings.keep_alive,  # type: ignore[arg-type]
        timeout_graceful_shutdown=settings.grace,  # type: ignore[arg-type]
        h11_max_incomplete_event_size=LARGEST_HEADERS,
        ssl_certfile=place.tls_cert,
        ssl_keyfile=place.tls_key,
    )
    try:
        config.load()
    except OSError as error:  # also what the certificate is not
        raise StorageError(f"the certificate or its key cannot be used: {error}") from None
    config.http_protocol_class = punctual(config.http_protocol_class, settings.header_timeout)
    return Server(config)


def punctual(protocol: Any, seconds: float) -> Any:
    """A protocol whose headers arrive in time and end: whoever sends a letter a minute is not waited for."""

    class Punctual(protocol):  # type: ignore[misc]
        """Uvicorn's, with a clock that runs whenever a request is expected or has begun."""

        _waiting: asyncio.TimerHandle | None = None
        _heard = 0

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            self._waiting = self.loop.call_later(seconds, self._give_up)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self.cycle is not None and not self.cycle.response_complete:  # the headers are there
                self._calm()
                return
            self._heard += len(data)
            if self._heard > LARGEST_HEADERS:
                self._give_up()
            elif self._waiting is None:
                self._waiting = self.loop.call_later(seconds, self._give_up)

        def connection_lost(self, exc: Exception | None) -> None:
            self._calm()
            super().connection_lost(exc)

        def _calm(self) -> None:
            self._heard = 0
            if self._waiting is not None:
                self._waiting.cancel()
                self._waiting = None

        def _give_up(self) -> None:
            self._calm()
            if not self.transport.is_closing():
                self.transport.close()

    return Punctual
