"""Bodies of requests, as much of them as is allowed, as long as is allowed.

A plain body is read as a whole before the application sees the request, so that a slow one keeps nothing waiting but
itself. A file to import is counted while it is read.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ramgape.web.errors import TooLarge, TooSlow, Unprocessable
from ramgape.web.limits import MEGABYTE, Settings

if TYPE_CHECKING:
    from starlette.types import Receive

UNREAD = 65_536  # bytes that are taken off a connection for somebody unknown, so that he sees why he was refused
PATIENCE = 2.0  # seconds for that
_DIGITS = re.compile(rb"[0-9]{1,18}")


def has_body(headers: Mapping[bytes, bytes]) -> bool:
    """Whether a body follows."""
    return headers.get(b"content-length", b"0") != b"0" or b"transfer-encoding" in headers


async def limited_body(receive: Receive, headers: Mapping[bytes, bytes], settings: Settings, imports: bool) -> Receive:
    """What gives the body to the application.

    Args:
        receive: What gives it to us.
        headers: Of the request.
        settings: The limits.
        imports: Whether it is a file to import.

    Raises:
        TooLarge: It is, by its own words or by what has come of it.
        TooSlow: It did not come in time.
        Unprocessable: Two headers say two things about its length; a proxy may have believed the other one.
    """
    length = headers.get(b"content-length")
    if length is not None and (b"transfer-encoding" in headers or not _DIGITS.fullmatch(length)):
        allowed = "one number, and not beside Transfer-Encoding"
        raise Unprocessable(what="Content-Length", allowed=allowed, given=repr(length[:20].decode("latin-1")))
    limit = settings.max_import if imports else settings.max_body
    if length is not None and int(length) > limit * MEGABYTE:
        raise too_large(limit)
    deadline = asyncio.get_running_loop().time() + (settings.import_timeout if imports else settings.body_timeout)
    if imports:
        return Counted(receive, limit, deadline).receive
    return await _whole(Counted(receive, limit, deadline))


def too_large(megabytes: float) -> TooLarge:
    """The complaint."""
    return TooLarge(what="the body of this request", verb="have", allowed=f"at most {megabytes:g} MB")


class Counted:
    """A body that is counted while it comes, and has to be there at a certain time."""

    def __init__(self, receive: Receive, limit: float, deadline: float) -> None:
        self._receive, self._limit, self._deadline = receive, limit, deadline
        self._bytes, self._more = 0, True

    async def receive(self) -> Any:
        """The next part; after the last one, whatever comes, whenever it does."""
        if not self._more:
            return await self._receive()
        try:
            async with asyncio.timeout_at(self._deadline):
                message = await self._receive()
        except TimeoutError:
            raise TooSlow("the body of this request has not arrived in time") from None
        self._bytes += len(message.get("body", b""))
        self._more = bool(message.get("more_body", False))
        if self._bytes > self._limit * MEGABYTE:
            raise too_large(self._limit)
        return message


async def _whole(counted: Counted) -> Receive:
    """The same body in one piece."""
    message = await counted.receive()
    if message.get("more_body", False):
        parts = [message.get("body", b"")]
        while message.get("more_body", False):
            message = await counted.receive()
            parts.append(message.get("body", b""))
        if message["type"] == "http.request":
            message = {"type": "http.request", "body": b"".join(parts), "more_body": False}
    first: list[Any] = [message]

    async def receive() -> Any:
        return first.pop() if first else await counted.receive()

    return receive


async def discard(receive: Receive, most: int) -> None:
    """Take what has come off a connection, at most so much: it would be reset, and the answer lost, if it were closed
    with something unread."""
    try:
        async with asyncio.timeout(PATIENCE):
            while most > 0:
                message = await receive()
                most -= len(message.get("body", b""))
                if not message.get("more_body", False):
                    return
    except TimeoutError:
        return
