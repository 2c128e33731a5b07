"""Bodies of requests, as much of them as is allowed, as long as is allowed.

A plain body is read as a whole before the application sees the request, so that a slow one keeps nothing waiting but
itself. A file to import is counted while it is read.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from ramgape.web.access.limits import MEGABYTE, Settings
from ramgape.web.errors import TooLarge, TooSlow, Unprocessable

if TYPE_CHECKING:
    from starlette.types import Receive

LOGIN = 4_096  # bytes of a body that everybody may send: a code, or a token
UNREAD = 65_536  # bytes that are taken off a refused connection, so that the client sees why
PATIENCE = 2.0  # seconds for that
_DIGITS = re.compile(rb"[0-9]{1,18}")


def has_body(headers: Mapping[bytes, bytes]) -> bool:
    """Whether a body follows."""
    return headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers


class Body:
    """The body of a request, counted while it comes.

    Raises:
        TooLarge: It is, by its own word or by what has come of it.
        TooSlow: It did not come in time.
        Unprocessable: Two headers say two things of its length; a proxy may have believed the other one.
    """

    def __init__(self, receive: Receive, headers: Mapping[bytes, bytes], settings: Settings, imports: bool) -> None:
        """Look at what it says of itself.

        Args:
            receive: What gives it to us.
            headers: Of the request.
            settings: The limits.
            imports: Whether it is a file to import.
        """
        self._receive, self._headers = receive, headers
        self._limit = settings.max_import if imports else settings.max_body
        self._began, self._settings = asyncio.get_running_loop().time(), settings
        self._deadline = self._began + (settings.import_timeout if imports else settings.body_timeout)
        self._bytes, self._ended, self._whole = 0, False, not imports

    async def open(self, known: bool = True, wanted: bool = True) -> Receive:
        """What gives it to the application: in one piece, or a file to import as it comes.

        Args:
            known: Whether we know who sends it; a login has little to say, and no time to lose.
            wanted: Whether anything reads it.
        """
        if not known:
            self._deadline = min(self._deadline, self._began + self._settings.header_timeout)
        if not (known and wanted):
            self._limit = min(self._limit, (UNREAD if known else LOGIN) / MEGABYTE)
        length = self._headers.get(b"content-length")
        if length is not None:
            if b"transfer-encoding" in self._headers or not _DIGITS.fullmatch(length):
                allowed = "one number, and not beside Transfer-Encoding"
                given = repr(length[:20].decode("latin-1"))
                raise Unprocessable(what="Content-Length", allowed=allowed, given=given)
            if int(length) > self._limit * MEGABYTE:
                raise self._too_large()
        return await self._read() if self._whole else self._next

    async def _read(self) -> Receive:
        message = await self._next()
        if message.get("more_body", False):
            parts = [message.get("body", b"")]
            while message.get("more_body", False):
                message = await self._next()
                parts.append(message.get("body", b""))
            if message["type"] == "http.request":  # the client has not gone
                message = {"type": "http.request", "body": b"".join(parts), "more_body": False}
        first: list[Any] = [message]

        async def receive() -> Any:
            return first.pop() if first else await self._receive()

        return receive

    async def _next(self) -> Any:
        """The next part; after the last one, whatever comes, whenever it does."""
        if self._ended:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            self._ended = True  # the rest is not waited for
            raise TooSlow("the body of this request has not arrived in time") from None
        self._bytes += len(message.get("body", b""))
        self._ended = not message.get("more_body", False)
        if self._bytes > self._limit * MEGABYTE:
            raise self._too_large()
        return message

    def _too_large(self) -> TooLarge:
        return TooLarge(what="the body of this request", verb="have", allowed=f"at most {self._limit:g} MB")

    async def discard(self, most: float) -> None:
        """Take the rest off the connection, at most so many bytes: if it were closed with something unread it would be
        reset, and the answer lost. Who has not sent any, and waits whether he should, need not."""
        if b"expect" in self._headers:
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                while most > 0 and not self._ended:
                    message = await self._receive()
                    most -= len(message.get("body", b""))
                    self._ended = not message.get("more_body", False)
