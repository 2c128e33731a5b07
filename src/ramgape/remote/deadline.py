"""A socket on which everything together ends at one moment, however slowly the other side sends or reads.

A timeout of a socket is for one step: a server that sends a byte a minute never exceeds it.
"""

from __future__ import annotations

import io
import math
import time
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from socket import socket

    from _typeshed import ReadableBuffer, WriteableBuffer


class DeadlineSocket:
    """What `http.client` needs of a socket; every step waits until `end` at most, a moment of `time.monotonic`."""

    def __init__(self, inner: socket) -> None:
        self._inner = inner
        self.end = math.inf

    def wait(self) -> None:
        """Let the next step wait for what is left; a TimeoutError if nothing is."""
        left = self.end - time.monotonic()
        if left <= 0.0:
            raise TimeoutError
        self._inner.settimeout(left)

    def sendall(self, data: ReadableBuffer) -> None:
        """Send everything."""
        rest = memoryview(data).cast("B")
        while rest:
            self.wait()
            rest = rest[self._inner.send(rest) :]

    def makefile(self, mode: str) -> io.BufferedReader:
        """What is read from it, in the only mode that is asked for; as of every socket, it stays open until read."""
        assert mode == "rb"
        return io.BufferedReader(cast(io.RawIOBase, _Reader(self, self._inner.makefile("rb", buffering=0))))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class _Reader(io.RawIOBase):
    """The bytes that arrive in time."""

    def __init__(self, timed: DeadlineSocket, raw: Any) -> None:
        self._timed, self._raw = timed, raw

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: WriteableBuffer) -> int | None:
        """Wait for the next bytes."""
        self._timed.wait()
        found: int | None = self._raw.readinto(buffer)
        return found

    def close(self) -> None:
        """Let go of the socket."""
        self._raw.close()
        super().close()
