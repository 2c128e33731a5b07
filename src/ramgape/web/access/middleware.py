"""ASGI middleware for host check, authentication and rate limits.

It checks in this order, before any route is looked for, on every method and for every path, static files included:

Host            must be a name of this server, else 421: another name that leads here is an attack (hosts.py).
Origin          where a browser sends one, must be that of our pages, else 403.
Sec-Fetch-Site  where a browser sends one, must be `same-origin`, or `none` (a typed address), else 403.
                The exception is a link on another site that a user follows: it opens one of our pages, which hold
                no data, and what they ask for then comes from our own origin. `same-site` is refused
                like `cross-site`: all ports of a machine are the same site, and get the same cookies.
Authorization   a token, else 401. A cookie counts for reading alone, so that nothing can be changed by what a browser
                adds by itself.
then            how many requests, connections and streams (429), the role that a body takes (403), and only then the
                body: how large (413), how slow (408).

Pages and their files, the login and /healthz need no token: they hold no data.
"""

from __future__ import annotations

import asyncio
import json
import math
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ramgape.errors import RamgapeError, StorageUnavailable
from ramgape.web.access.bodies import UNREAD, Body, has_body
from ramgape.web.access.hosts import Hosts
from ramgape.web.access.limits import ACCOUNT, MEGABYTE, Account, Bucket, Charged, Settings, Shares
from ramgape.web.access.roles import Access, sending_role
from ramgape.web.access.sessions import Logins
from ramgape.web.access.token_file import write_moment
from ramgape.web.access.tokens import Clocks, Tokens
from ramgape.web.errors import (
    Forbidden,
    Misdirected,
    NotFound,
    TooMany,
    Unauthorized,
    Unprocessable,
    answer_of,
    status_of,
)
from ramgape.web.logs import Log
from ramgape.web.metrics import Metrics

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

API, LOGIN, LOGOUT = "/api/", "/api/v1/login", "/api/v1/logout"
KEPT = ("/api", "/metrics")  # what needs a token, with all below it; the rest are pages, and what belongs to them
KEPT_BELOW = tuple(f"{each}/" for each in KEPT)
SAFE = ("GET", "HEAD")
METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
LONGEST_PATH = 1_000  # characters
MOST_PARTS = 100  # headers, and values in a query
ONCE = (b"host", b"origin", b"authorization", b"content-length", b"sec-fetch-site")  # two of them would be one too many
STILL_KNOWN = 1.0  # seconds after which it is asked again who has a stream open
COME_AGAIN = 5.0  # seconds, when there are too many streams
STREAM_SHARE = 0.25  # of all streams, for one token
STRANGER_SHARES = 0.025, 0.25  # of what a token may ask, for an address without one: all the time, at once
TARPIT = 1.0  # seconds until a client that asks too much gets its answer: meanwhile that connection asks nothing
FAILED_LOGIN = (400, 408, 413, 422)  # answers to what is no login; wrong codes and tokens are counted elsewhere

OTHER_SITE = "a page of another site may not use this server"
POLICY = (
    "default-src 'self'; img-src 'self' data: blob:; style-src 'self'; script-src 'self'; connect-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'self'; object-src 'none'"
)
HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
]


@dataclass
class AccessContext:
    """What access middleware goes by.

    Attributes:
        hosts: The names of this server.
        tokens: Whom it knows.
        logins: Its codes and sessions.
        settings: Its limits.
        metrics: What it counts.
        log: Where it writes.
        read_only: Whether every token counts as one of the role read.
        open_metrics: Whether /metrics needs no token.
        clocks: What the time is.
        stopping: Whether it is about to end.
    """

    hosts: Hosts
    tokens: Tokens
    logins: Logins
    settings: Settings = field(default_factory=Settings)
    metrics: Metrics = field(default_factory=Metrics)
    log: Log = field(default_factory=Log)
    read_only: bool = False
    open_metrics: bool = False
    clocks: Clocks = field(default_factory=Clocks)
    stopping: bool = False


class AccessMiddleware:
    """Around an application (ASGI), and before it."""

    def __init__(self, app: ASGIApp, context: AccessContext) -> None:
        self.app, self.context = app, context
        self._bucket = Bucket(context.settings.max_requests, context.clocks.machine)
        few, some = (share * context.settings.max_requests for share in STRANGER_SHARES)
        self._strangers = Bucket(few, context.clocks.machine, max(some, 1.0))
        self._shares = Shares()
        self._streams: set[asyncio.Future[None]] = set()
        self._streams_of: Counter[str] = Counter()
        self._under_way = 0
        self._notes: set[asyncio.Future[None]] = set()
        context.metrics.gauge("ramgape_watchers", lambda: len(self._streams))
        context.metrics.gauge("ramgape_requests_under_way", lambda: self._under_way)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
        elif scope["type"] == "http":
            headers: Mapping[bytes, bytes] = dict(scope["headers"])
            address = self.context.hosts.address_of(scope.get("client"), headers)
            account = Account()
            ACCOUNT.set(account)
            scope.setdefault("state", {})["payer"] = address
            try:
                await Charged(self._serve(scope, receive, send, headers, address), account)
            finally:
                if scope["state"]["payer"] is not None:
                    self._shares.charge(scope["state"]["payer"], account.seconds)
        else:
            await send({"type": "websocket.close", "code": 1008})

    async def _serve(
        self, scope: Scope, receive: Receive, send: Send, headers: Mapping[bytes, bytes], address: str
    ) -> None:
        began = time.perf_counter()
        answer = Outgoing(send, scope["path"])
        self._under_way += 1
        refused = body = None
        if has_body(headers):
            imports = scope["path"].endswith("/import") and scope["path"].startswith(API)
            body = Body(receive, headers, self.context.settings, imports)
        try:
            access, owner = self._admit(scope, headers, address)
            role = sending_role(scope["method"], scope["path"])
            if access is not None:
                scope["state"]["access"] = access
                scope["state"]["payer"] = owner
                if role is not None:
                    access.require(role)
            if body is not None:
                receive = await body.open(access is not None, role is not None)
            if scope["path"].endswith("/events") and scope["path"].startswith(API):
                await self._stream(scope, receive, answer, headers, owner)
            elif access is not None and access.role != "read" and scope["method"] not in SAFE:
                scope["state"]["payer"] = None  # to work is free
                await self.app(scope, receive, answer.send)
            else:
                connection = scope["state"].get("connection")
                gone = never if connection is None else connection.is_gone
                async with self._shares.turn(owner, gone):
                    if not gone():  # or work piles up for clients that ask, close, and ask again
                        await self.app(scope, receive, answer.send)
        except RamgapeError as error:  # of ours: the application answers its own
            if answer.status:
                raise
            refused = type(error).__name__
            await self._refuse(error, scope, body, answer)
        except asyncio.CancelledError:
            if answer.status or not self.context.stopping:
                raise
            refused = "Stopping"  # it took longer than the grace; whether it was done is for a repetition to find out
            await self._refuse(StorageUnavailable("the server stops: ask again in a moment"), scope, body, answer)
        finally:
            self._under_way -= 1
            if scope["path"] == LOGIN and answer.status in FAILED_LOGIN:
                self.context.logins.failures.add(address, -1.0)
            self._note(scope, answer.status or 499, time.perf_counter() - began, refused, address)

    def _admit(self, scope: Scope, headers: Mapping[bytes, bytes], address: str) -> tuple[Access | None, str]:
        """Return the sender's access, None where none is needed, and by what the request is counted."""
        context = self.context
        try:
            check_size(scope)
            if len(headers) != len(scope["headers"]):
                check_once(scope)
            self._check_source(scope, headers)
            is_open = self._is_open(scope["method"], scope["path"])
            access, counted = (None, address) if is_open else self._authenticate(scope, headers) or (None, address)
        except RamgapeError:
            self._strangers.take(address)
            raise
        (self._strangers if access is None else self._bucket).take(counted)
        if access is None:
            if not is_open:
                raise Unauthorized("a token is needed: Authorization: Bearer rg_...; ramgape token new makes one")
            if scope["path"] == LOGIN:
                context.logins.failures.check(counted)
            return None, counted
        connection = scope["state"].get("connection")
        if connection is not None:
            connection.belongs_to(counted, access.role != "read")
        self._shares.note(counted)
        return (access.only_reading() if context.read_only else access), counted

    def _check_source(self, scope: Scope, headers: Mapping[bytes, bytes]) -> None:
        """Refuse a request for another host, or from a page of another site."""
        host = headers.get(b"host", b"")
        if not self.context.hosts.is_ours(host, scope.get("server")):
            allowed = "a name of this server; others are added by --allow-host or --public-url"
            raise Misdirected(what="Host", allowed=allowed, given=repr(host[:100].decode("latin-1")))
        origin = headers.get(b"origin")
        if origin is not None and not self.context.hosts.is_our_page(origin, host):
            raise Forbidden(OTHER_SITE)
        site = headers.get(b"sec-fetch-site")
        if site is None or site in (b"same-origin", b"none"):
            return
        followed = (
            scope["method"] == "GET"
            and headers.get(b"sec-fetch-mode") == b"navigate"
            and headers.get(b"sec-fetch-dest") == b"document"
            and is_page(scope["path"])
        )
        if not followed:
            raise Forbidden(OTHER_SITE)

    def _is_open(self, method: str, path: str) -> bool:
        """Whether no token is needed."""
        if is_page(path) or (path == LOGIN and method == "POST"):
            return True
        return path == "/metrics" and self.context.open_metrics

    def _authenticate(self, scope: Scope, headers: Mapping[bytes, bytes]) -> tuple[Access, str] | None:
        """Return the access of a token or session, and by what it is counted; None without one."""
        context, given = self.context, headers.get(b"authorization")
        if given is None:
            safe = scope["method"] in SAFE or (scope["path"] == LOGOUT and scope["method"] == "POST")
            session = context.logins.find(session_cookie(headers, context.hosts) or b"") if safe else None
            return None if session is None else (session.access, f"session of {session.token}")
        scheme, _, secret = given.partition(b" ")
        token = context.tokens.find(secret.strip()) if scheme.lower() == b"bearer" else None
        if token is None:
            raise Unauthorized("this token is not valid, or no longer: Authorization: Bearer rg_...")
        if token.has_ended(context.clocks.wall()):
            raise Unauthorized(f"this token has ended, at {write_moment(token.expires)}: ramgape token new makes one")
        if context.tokens.note_use(token):
            writing = asyncio.get_running_loop().run_in_executor(None, context.tokens.write_uses)
            self._notes.add(writing)
            writing.add_done_callback(self._notes.discard)
        return token.access, f"token {token.id}"

    async def _stream(
        self, scope: Scope, receive: Receive, answer: Outgoing, headers: Mapping[bytes, bytes], owner: str
    ) -> None:
        """A stream of events, which ends with its reader, with the server, or with the token that it was opened by."""
        most = self.context.settings.max_streams
        if len(self._streams) >= most:
            message = f"{len(self._streams)} event streams are open, as many as are allowed"
            raise TooMany(message, retry_after=COME_AGAIN)
        owner = owner.rpartition(" ")[2]  # the id of the token, also of one that a session came in with
        if self._streams_of[owner] >= max(STREAM_SHARE * most, 1.0):
            message = f"this token has {self._streams_of[owner]} event streams open, as many as one token may"
            raise TooMany(message, retry_after=COME_AGAIN)
        stream = asyncio.ensure_future(self.app(scope, receive, answer.send))
        self._streams.add(stream)
        self._streams_of[owner] += 1
        ended = False
        try:
            while not (await asyncio.wait((stream,), timeout=STILL_KNOWN))[0]:
                if not ended and not self._is_known(scope, headers):
                    ended = stream.cancel()
            await stream
        except asyncio.CancelledError:
            own = asyncio.current_task()
            if not (self.context.stopping or ended) or (own is not None and own.cancelling()):
                raise
            if answer.status and not answer.ended:
                await answer.send({"type": "http.response.body", "body": b"", "more_body": False})
        finally:
            stream.cancel()
            self._streams.discard(stream)
            self._streams_of[owner] -= 1
            if not self._streams_of[owner]:
                del self._streams_of[owner]

    def _is_known(self, scope: Scope, headers: Mapping[bytes, bytes]) -> bool:
        """Whether the token or session of a request is still valid."""
        try:
            return self._authenticate(scope, headers) is not None
        except RamgapeError:
            return False

    def stop(self) -> None:
        """End the streams: the server is about to end. Other requests go on."""
        self.context.stopping = True
        for stream in list(self._streams):
            stream.cancel()

    async def _refuse(self, error: RamgapeError, scope: Scope, body: Body | None, answer: Outgoing) -> None:
        """Say why not, in the same form as the application does."""
        self.context.metrics.count("ramgape_refused_total", error=type(error).__name__)
        status = status_of(error)
        content = json.dumps(answer_of(error)).encode()
        said = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
        known = scope.get("state", {}).get("access") is not None
        if isinstance(error, TooMany):
            said.append((b"retry-after", str(max(1, math.ceil(error.retry_after))).encode()))
            await asyncio.sleep(TARPIT)
        elif isinstance(error, StorageUnavailable):
            said += [(b"retry-after", b"1"), (b"connection", b"close")]
        if status == 401:
            said.append((b"www-authenticate", b'Bearer realm="ramgape"'))
        if body is not None and not self.context.stopping:  # of which a part may be unread
            said.append((b"connection", b"close"))
            allowed = known and status != 403 and sending_role(scope["method"], scope["path"]) is not None
            await body.discard(2.0 * self.context.settings.max_body * MEGABYTE if allowed else UNREAD)
        await answer.send({"type": "http.response.start", "status": status, "headers": said})
        await answer.send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else content})

    def _note(self, scope: Scope, status: int, seconds: float, refused: str | None, address: str) -> None:
        """Count and log a request by its route, never by the text of its address."""
        context, access = self.context, scope.get("state", {}).get("access")
        template = template_of(scope)
        route = template or ("refused" if refused else "unknown")
        method = scope["method"] if scope["method"] in METHODS else "other"
        context.metrics.count("ramgape_requests_total", route=route, method=method, status=status)
        context.metrics.observe("ramgape_request_seconds", seconds, route=route)
        context.log.request(
            method,
            route,
            status,
            seconds,
            study=study_of(scope, template),
            token=None if access is None else access.name,
            error=refused,
            address=address if refused else None,
        )


class Outgoing:
    """An answer on its way, with the headers that every answer has."""

    def __init__(self, send: Send, path: str) -> None:
        self._send, self._api = send, path.startswith(API) or path == "/metrics"
        self.status, self.ended = 0, False

    async def send(self, message: Message) -> None:
        """A part of it."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            given = message.get("headers", ())
            names = {name.lower() for name, _ in given}
            more = [(b"content-security-policy", POLICY_BYTES)] if b"content-security-policy" not in names else []
            if self._api and b"cache-control" not in names:
                more.append((b"cache-control", b"no-store"))
            message = {**message, "headers": [*given, *HEADERS, *more]}
        elif not message.get("more_body", False):
            self.ended = True
        await self._send(message)


POLICY_BYTES = POLICY.encode()


def check_size(scope: Scope) -> None:
    """Refuse a request whose address or headers have so many parts that to look at them takes long."""
    if len(scope["path"]) > LONGEST_PATH:
        raise NotFound("there is nothing at such a long path")
    if (count := scope["query_string"].count(b"&")) > MOST_PARTS:
        raise Unprocessable(what="the query", allowed=f"at most {MOST_PARTS} values", given=str(count + 1))
    if len(scope["headers"]) > MOST_PARTS:
        given = str(len(scope["headers"]))
        raise Unprocessable(what="the headers", verb="be", allowed=f"at most {MOST_PARTS}", given=given)


def check_once(scope: Scope) -> None:
    """Refuse a request that says two things of what counts once."""
    names = [name for name, _ in scope["headers"]]
    for name in ONCE:
        if names.count(name) > 1:
            kind = Misdirected if name == b"host" else Unprocessable
            raise kind(what=f"the header {name.decode().title()}", allowed="there once", given="several")


def never() -> bool:
    """No, where connections are not known."""
    return False


def template_of(scope: Scope) -> str | None:
    """The route that was taken, with the names of its parameters for their values; None if there was none."""
    path: str = scope["path"]
    for folder in ("/static", "/looks"):
        if path.startswith(f"{folder}/"):
            return folder
    if "endpoint" not in scope:
        return None
    parts = path.split("/")
    for name, value in scope.get("path_params", {}).items():
        if str(value) not in parts:
            return None
        parts[parts.index(str(value))] = f"{{{name}}}"
    return "/".join(parts)


def study_of(scope: Scope, template: str | None) -> str | None:
    """The number of the study in a path, for logs; None for text that is no number, which may be a token."""
    found = str(scope["path_params"].get("id")) if template and "/studies/{id}" in template else ""
    return found if found.isascii() and found.isdecimal() else None


def is_page(path: str) -> bool:
    """Whether a path leads to what needs no token, or to nothing."""
    return not (path in KEPT or path.startswith(KEPT_BELOW))


def session_cookie(headers: Mapping[bytes, bytes], hosts: Hosts) -> bytes | None:
    """The id of the browser's session. Cookies know no ports: the name says which server of a machine is meant."""
    for part in headers.get(b"cookie", b"").split(b";"):
        name, _, value = part.strip().partition(b"=")
        if name == hosts.cookie:
            return value
    return None
