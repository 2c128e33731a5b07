"""Questions to a server and its answers, over HTTP/1.1 with connections that are kept.

Whatever is asked may be asked again: a pull id or the name of a worker says what is meant, and where neither does, an
`Idempotency-Key` that is made once for all tries. So a question is repeated, with growing pauses, when a connection
breaks, when the server has too much to do (429), and while it stops or is away behind a proxy (502 to 504, and a 500
that is no error of ours), until its patience is over. Redirections are not followed: a token is for the server that it
was given for.

One answer has a time in which all of it must come, and a size; what it says is checked (`answers`). A timeout of a
socket is for one step, which a server that sends a byte a minute never exceeds: hence `DeadlineSocket`.
"""

from __future__ import annotations

import http.client
import io
import json
import math
import os
import random
import socket
import ssl
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlencode

from ramgape.errors import InvalidData, RamgapeError, StorageError, StorageUnavailable, shorten
from ramgape.remote.address import Address, parse_address
from ramgape.remote.answers import Check, Unexpected, anything, error_in, is_refusal
from ramgape.remote.credentials import VARIABLE, Credentials, find_credentials, servers_folder

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer, WriteableBuffer

BASE = "/api/v1"
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 5.0  # seconds between two tries
LEAST_WAIT = 1.0  # seconds for one answer, however short the patience is
LONG_WAIT = 600.0  # seconds for one that may take long: a whole file is taken in
CONNECTING = 10.0  # seconds
PIECE = 2**16  # bytes
LARGEST_ANSWER = 2**27  # bytes of JSON: as many as the largest report of ours has
LARGEST_FILE = 2**34  # bytes that are streamed
SLOWEST = 50_000  # bytes per second of a file: it has so much more time
AWAY = (500, 502, 503, 504)
BUSY = 429

Query = Mapping[str, object]


class Lost(Exception):
    """An answer did not come; a later one may."""

    def __init__(self, reason: str, after: float = 0.0) -> None:
        super().__init__(reason)
        self.after = after  # seconds, as the server says


class DeadlineSocket:
    """What `http.client` needs of a socket; every step waits until `end` at most, a moment of `time.monotonic`."""

    def __init__(self, inner: socket.socket) -> None:
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


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a socket of this machine."""

    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        """Open the socket."""
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class ServerConnection:
    """A server of studies, as far as this process knows it; from several threads at once, if need be.

    Args:
        url: Its address.
        token: What is shown to it. Default: RAMGAPE_TOKEN, or what the server has left on this machine.
    """

    def __init__(self, url: str, token: str | None = None) -> None:
        self.address: Address = parse_address(url)
        self.url = str(self.address)
        self._credentials: Credentials = find_credentials(self.address, token)
        # Connections that are not in use: each thread takes one, or makes one, and puts it back.
        self._idle: list[http.client.HTTPConnection] = []
        self._process = os.getpid()
        self._context: Any = None  # of TLS
        weakref.finalize(self, _close_all, self._idle)

    def __repr__(self) -> str:
        return f"<ServerConnection to {self.url}>"

    def close(self) -> None:
        """Let go of all connections; a later question opens another."""
        _close_all(self._idle)

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        query: Query | None = None,
        key: str | None = None,
        wait: float = 0.0,
        form: Check = anything,
    ) -> Any:
        """What the server answers, read from JSON and checked; None where it has nothing to say.

        Args:
            method, path: What is asked; the path without /api/v1.
            body: What is sent: an object for JSON, or an open file, from its beginning.
            query: Behind the path; what is None is left out.
            key: By which a repetition is known (`request_key`), where nothing else in the question says so.
            wait: Seconds that one answer may take, where that may be longer than the patience, and the address does
                not say how long.
            form: What is asked of the answer.

        Raises:
            RamgapeError: What the server refuses, as it was there.
            StorageUnavailable: It could not be asked until the patience was over.
            StorageError: It is no server of studies, or the token is not the right one.
        """
        content, headers = _written(body)
        if key is not None:
            headers["Idempotency-Key"] = key
        target = self._target(path, query)
        sent = int(headers.get("Content-Length", 0)) / SLOWEST

        def ask(seconds: float) -> Any:
            limit = self._limit(seconds, wait) + sent
            with self._asked(method, target, content, headers, limit) as (response, _):
                found = self._read(response)
            return self._understood(response, found)

        found = self._patiently(ask)
        with self.understanding(f"{method} {path}"):
            form(found, "the answer")
        return found

    def _limit(self, seconds: float, wait: float) -> float:
        """How many seconds one answer has: what the address says, or what such an answer may take."""
        return seconds if self.address.bounded else max(seconds, wait)

    @contextmanager
    def understanding(self, question: str) -> Iterator[None]:
        """Read an answer: whatever is wrong with it is one error, which says that it is none of ours.

        Args:
            question: What was asked.
        """
        try:
            yield
        except (Unexpected, InvalidData) as error:
            reason = str(error)
        except RamgapeError:
            raise
        except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
            reason = f"it cannot be read ({shorten(error)})"
        else:
            return
        where = f"there is no server of ramgape at {self.url}, or one of another version"
        raise StorageError(f"{where}: to {question} it answers what no such server does: {reason}")

    def _read(self, response: http.client.HTTPResponse) -> bytes:
        """An answer in JSON, as a whole; nothing of one that is not."""
        parts: list[bytes] = []
        size = 0
        while _is_json(response) and (part := response.read(PIECE)):
            parts.append(part)
            size += len(part)
            if size > LARGEST_ANSWER:
                raise StorageError(f"the answer of {self.url} is too long: it has more than {LARGEST_ANSWER:,} bytes")
        if response.length and _is_json(response):  # the server has gone, perhaps between the head and the body
            raise http.client.IncompleteRead(b"", response.length)
        return b"".join(parts)

    def stream(self, path: str, query: Query | None = None) -> Iterator[bytes]:
        """A long answer, piece by piece, whatever it is. It is asked for again until it begins; then no more.

        It has the time of one answer, and more for what has come, since it may be large.

        Args:
            path, query: As of `call`.
        """
        with ExitStack() as asked:

            def ask(seconds: float) -> tuple[http.client.HTTPResponse, DeadlineSocket]:
                with ExitStack() as asking:
                    limit = self._limit(seconds, LONG_WAIT)
                    question = self._asked("GET", self._target(path, query), None, {}, limit)
                    response, timed = asking.enter_context(question)
                    if response.status != http.client.OK:
                        self._understood(response, self._read(response))
                    asked.push(asking.pop_all())
                return response, timed

            response, timed = self._patiently(ask)
            size = 0
            while piece := self._piece_of(response):
                size += len(piece)
                if size > LARGEST_FILE:
                    raise StorageError(f"the answer of {self.url} is too long: it has more than {LARGEST_FILE:,} bytes")
                timed.end += len(piece) / SLOWEST
                yield piece

    def _piece_of(self, response: http.client.HTTPResponse) -> bytes:
        reason = "it ended too early"
        try:
            piece = response.read(PIECE)
            if piece or not response.length:
                return piece
        except (http.client.HTTPException, OSError) as error:
            reason = _reason(error)
        raise StorageUnavailable(f"the answer of {self.url} broke off: {reason}")

    def _patiently(self, ask: Callable[[float], Any]) -> Any:
        """What a question gives, asked again with growing pauses until the patience is over."""
        pause, end = FIRST_PAUSE, time.monotonic() + self.address.patience
        while True:
            try:
                return ask(max(end - time.monotonic(), LEAST_WAIT))
            except Lost as lost:
                left = end - time.monotonic()
                # Not all at the same moment, after all were thrown out at the same moment.
                wait = max(pause * random.uniform(0.5, 1.0), lost.after)
                if left <= 0 or lost.after > left:
                    raise StorageUnavailable(f"the server at {self.url} cannot be used now: {lost}") from None
            time.sleep(min(wait, left))
            pause = min(2.0 * pause, LONGEST_PAUSE)

    @contextmanager
    def _asked(
        self, method: str, target: str, content: Any, headers: Mapping[str, str], seconds: float
    ) -> Iterator[tuple[http.client.HTTPResponse, DeadlineSocket]]:
        """The response to one question, and its socket; its connection is put back if the answer was read to its end.

        All of that takes so many seconds at most.
        """
        with ExitStack() as used:
            try:
                connection = self._connection(seconds)
                timed = cast(DeadlineSocket, connection.sock)
                used.callback(connection.close)
                if hasattr(content, "seek"):
                    content.seek(0)
                connection.request(method, target, content, {**self._headers(), **headers})
                response = used.enter_context(connection.getresponse())
                yield response, timed
            except (http.client.HTTPException, OSError) as error:
                self._refuse_certificate(error)
                raise Lost(_reason(error)) from None
            if response.isclosed() and not response.will_close:
                used.pop_all()
                self._idle.append(connection)

    def _connection(self, seconds: float) -> http.client.HTTPConnection:
        """One that is not in use, or a new one; its socket waits for so many seconds at most."""
        end = time.monotonic() + seconds
        if self._process != os.getpid():  # what was open belongs to the process that we come from
            self.close()
            self._process = os.getpid()
        while self._idle:
            connection = self._idle.pop()
            if _is_alive(connection):
                cast(DeadlineSocket, connection.sock).end = end
                return connection
            connection.close()
        connection = self._new(min(seconds, CONNECTING))
        try:
            connection.connect()
        except BaseException:
            connection.close()
            raise
        timed = DeadlineSocket(connection.sock)
        timed.end = end
        connection.sock = timed
        return connection

    def _new(self, seconds: float) -> http.client.HTTPConnection:
        where = self.address
        if where.scheme == "unix":
            return UnixConnection(where.path, seconds)
        if where.scheme == "http":
            return http.client.HTTPConnection(where.host, where.port, timeout=seconds)
        if self._context is None:
            self._context = ssl.create_default_context()
        return http.client.HTTPSConnection(where.host, where.port, timeout=seconds, context=self._context)

    def _refuse_certificate(self, error: Exception) -> None:
        """A certificate that is not the right one today is no better in a minute."""
        reason = getattr(error, "verify_message", "")
        if reason:
            hint = "; a certificate of your own can be named by SSL_CERT_FILE"
            raise StorageError(f"the certificate of {self.url} is not trusted: {reason}", hint=hint) from None

    def _target(self, path: str, query: Query | None) -> str:
        base = "" if self.address.scheme == "unix" else self.address.path
        given = {name: value for name, value in (query or {}).items() if value is not None}
        return f"{base}{BASE}{path}{'?' if given else ''}{urlencode(given)}"

    def _headers(self) -> dict[str, str]:
        token = self._credentials.token
        return {"Accept": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})

    def _understood(self, response: http.client.HTTPResponse, content: bytes) -> Any:
        """What an answer says, or the error in it."""
        status = response.status
        found = _parsed(content)
        if 200 <= status < 300:
            if found is None and status != http.client.NO_CONTENT:
                raise self._no_server(response)
            return found
        refused = found if is_refusal(found) else None
        error = None if refused is None else error_in(refused)
        if status == BUSY or (status in AWAY and (error is None or isinstance(error, StorageUnavailable))):
            after = _seconds(response.getheader("Retry-After"))
            raise Lost(str(error) if error is not None else f"it answers {status} {response.reason}", after)
        if status in (401, 403):
            raise self._unauthorized(status, error)
        if 300 <= status < 400:
            there = shorten(response.getheader("Location", "elsewhere"))
            raise StorageError(f"the server at {self.url} sends its clients to {there}: give that address, if it is it")
        raise error or self._no_server(response)

    def _unauthorized(self, status: int, error: RamgapeError | None) -> StorageError:
        """What to say of a token that is missing, or not good enough."""
        source, said = self._credentials.source, "" if error is None else f": {error}"
        if status == 403:
            shown = f"the token from {source}" if source else "a client without a token"
            return StorageError(f"the server at {self.url} does not let {shown} do that{said}")
        places = f"{VARIABLE} in the environment, or on the server's own machine its file in {servers_folder()}"
        if source:
            return StorageError(f"the server at {self.url} does not know the token from {source}{said}")
        return StorageError(f"the server at {self.url} wants a token, and there is none: a token is {places}")

    def _no_server(self, response: http.client.HTTPResponse) -> StorageError:
        kind = (response.getheader("Content-Type") or "nothing that has a type").partition(";")[0]
        what = f"{response.status} {response.reason}".strip()
        return StorageError(f"there is no server of ramgape at {self.url}: it answers {what} with {shorten(kind)}")


def request_key() -> str:
    """By which the repetitions of one question are known."""
    return os.urandom(16).hex()


def _written(body: Any) -> tuple[Any, dict[str, str]]:
    """What is sent, and what is said of it."""
    if body is None:
        return None, {}
    if hasattr(body, "seek"):
        size = body.seek(0, os.SEEK_END)
        return body, {"Content-Type": "application/octet-stream", "Content-Length": str(size or body.tell())}
    return json.dumps(body).encode(), {"Content-Type": "application/json"}


def _is_json(response: http.client.HTTPResponse) -> bool:
    return "json" in (response.getheader("Content-Type") or "")


def _parsed(content: bytes) -> Any:
    """What is written there, if it is JSON."""
    with suppress(ValueError, RecursionError):
        return json.loads(content)
    return None


def _is_alive(connection: http.client.HTTPConnection) -> bool:
    """Whether a connection that was idle is still good: a server closes it after a while, and when it restarts."""
    if connection.sock is None:
        return False
    connection.sock.settimeout(0.0)
    try:
        connection.sock.recv(1)  # nothing was asked, so nothing should come, not even an end
    except (BlockingIOError, ssl.SSLWantReadError):
        return True
    except OSError:
        pass
    return False


def _seconds(text: str | None) -> float:
    """How long a server wants to be left alone; a date is too much to read."""
    with suppress(ValueError):
        return min(max(float(text or 0.0), 0.0), LONG_WAIT)
    return 0.0


def _reason(error: BaseException) -> str:
    """What has happened to a connection, in a few words."""
    if isinstance(error, TimeoutError):
        return "no answer in time"
    if isinstance(error, Lost):
        return str(error)
    return getattr(error, "strerror", None) or str(error) or type(error).__name__


def _close_all(idle: list[http.client.HTTPConnection]) -> None:
    while idle:
        idle.pop().close()
