"""Forged, oversized, slow and too many requests: each is refused as designed, for the reason that stands beside it."""

from __future__ import annotations

import asyncio
import hashlib
import json
import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from ramgape.web.access.hosts import Hosts, parse_public_url
from ramgape.web.access.limits import Settings
from ramgape.web.access.middleware import HEADERS, POLICY, AccessMiddleware
from ramgape.web.access.tokens import LOOK_AGAIN
from ramgape.web.serving import application
from tests.guarded import HOST, World, request

TINY = Settings(max_body=0.001, max_import=0.004, body_timeout=0.05, import_timeout=0.05)
JSON = {"content_type": "application/json"}
FOLLOWED = {"sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "sec_fetch_dest": "document"}
ASK, SHOW, IMPORT = "/api/v1/studies/1/ask", "/api/v1/studies/1", "/api/v1/studies/1/import"


@pytest.fixture(autouse=True)
def no_tarpit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ramgape.web.access.middleware.TARPIT", 0.0)


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path, TINY)


class Row(NamedTuple):
    """A request, how it must be answered, and why."""

    why: str
    status: int
    method: str = "GET"
    path: str = "/api/v1"
    headers: Mapping[str, str | None] = MappingProxyType({})
    parts: tuple[bytes | None, ...] = ()


# WORK, READ, ADMIN: tokens of these roles; LIMITED: for the study `suppliers` alone; COOKIE: a browser, logged in.
ROWS = [
    # --- Host
    Row("a stranger's name that leads here: DNS rebinding", 421, headers={"host": "evil.example"}),
    Row("so it is with the port that we have", 421, headers={"host": "evil.example:8460"}),
    Row("a name of ours at another port: another server was meant", 421, headers={"host": "127.0.0.1:9999"}),
    Row("without its port it is the server at port 80", 421, headers={"host": "localhost"}),
    Row("a name that only begins like ours", 421, headers={"host": "localhost.evil.example:8460"}),
    Row("a name that only ends like ours", 421, headers={"host": "evil.localhost:8460"}),
    Row("a user before the name", 421, headers={"host": "evil@127.0.0.1:8460"}),
    Row("the same number written otherwise: no browser of ours would", 421, headers={"host": "2130706433:8460"}),
    Row("no Host: nobody knows whom it is for", 421, headers={"host": None}),
    Row("an empty one", 421, headers={"host": ""}),
    Row("all addresses are nobody's name", 421, headers={"host": "0.0.0.0:8460"}),
    Row("pages too: after a rebind they would be the stranger's", 421, path="/", headers={"host": "evil.example"}),
    Row("files too", 421, path="/static/page.js", headers={"host": "evil.example"}),
    Row("health too", 421, path="/healthz", headers={"host": "evil.example"}),
    Row("every method", 421, "POST", ASK, {"host": "evil.example", "authorization": "WORK"}),
    Row("also one that nobody has", 421, "BREW", "/", {"host": "evil.example"}),
    Row("before it is known that there is no such page", 421, path="/nothing", headers={"host": "evil.example"}),
    # --- Origin
    Row("a stranger's page", 403, headers={"origin": "https://evil.example", "authorization": "READ"}),
    Row("a page that hides where it is from", 403, headers={"origin": "null", "authorization": "READ"}),
    Row("a page of another program on this machine", 403, headers={"origin": "http://127.0.0.1:3000"}),
    Row("our name, and not the one that was asked", 403, headers={"origin": "http://localhost:8460"}),
    Row("our name, with TLS that we do not speak", 403, headers={"origin": "https://127.0.0.1:8460"}),
    Row("what begins like us", 403, headers={"origin": "http://127.0.0.1:8460.evil.example"}),
    Row("an empty one", 403, headers={"origin": ""}),
    Row("a stranger's page that asks whether it may (CORS)", 403, "OPTIONS", ASK, {"origin": "https://evil.example"}),
    Row("a stranger's page that logs his browser in as somebody", 403, "POST", "/api/v1/login",
        {"origin": "https://evil.example", **JSON}, (b'{"token": "x"}',)),
    # --- Sec-Fetch-Site
    Row("a picture on a stranger's page", 403, path=SHOW, headers={"sec_fetch_site": "cross-site", "cookie": "COOKIE"}),
    Row("the same from another port: same site, same cookies", 403, path=SHOW,
        headers={"sec_fetch_site": "same-site", "cookie": "COOKIE"}),
    Row("a word that nobody knows", 403, path=SHOW, headers={"sec_fetch_site": "friendly", "cookie": "COOKIE"}),
    Row("a file of ours on a stranger's page", 403, path="/static/page.js", headers={"sec_fetch_site": "cross-site"}),
    Row("our page in a stranger's frame", 403, path="/", headers={
        "sec_fetch_site": "cross-site", "sec_fetch_mode": "navigate", "sec_fetch_dest": "iframe"}),
    Row("a link that leads into the API", 403, path=SHOW, headers={"cookie": "COOKIE", **FOLLOWED}),
    Row("a form on a stranger's page", 403, "POST", ASK, {"cookie": "COOKIE", **FOLLOWED}),
    # --- who asks
    Row("no token", 401),
    Row("no token, for something that is not there", 401, path="/api/v1/nothing"),
    Row("no token, for the root of the API", 401, path="/api"),
    Row("no token, for the numbers", 401, path="/metrics"),
    Row("a token that nobody made", 401, headers={"authorization": f"Bearer rg_{'A' * 43}"}),
    Row("an empty token", 401, headers={"authorization": "Bearer "}),
    Row("what is no text", 401, headers={"authorization": "Bearer \xff\xfe"}),
    Row("a token in another scheme", 401, headers={"authorization": "Basic cmc6cmc="}),
    Row("a token in the address, where logs would have it", 401, path="/api/v1?token=READ"),
    Row("a bad token beside a good cookie", 401, headers={"authorization": "Bearer rg_no", "cookie": "COOKIE"}),
    Row("a token of which the time is over", 401, headers={"authorization": "EXPIRED"}),
    Row("a token that was taken back", 401, headers={"authorization": "REVOKED"}),
    Row("the digest of a token, out of a stolen file", 401, headers={"authorization": "DIGEST"}),
    # --- cookies
    Row("a cookie that nobody gave", 401, headers={"cookie": "ramgape-8460=forged"}),
    Row("the cookie of the server at another port", 401, headers={"cookie": "OTHER PORT"}),
    Row("a token as a cookie", 401, headers={"cookie": "TOKEN AS COOKIE"}),
    Row("a browser only looks: POST", 401, "POST", ASK, {"cookie": "COOKIE", **JSON}, (b"{}",)),
    Row("a browser only looks: DELETE", 401, "DELETE", SHOW, {"cookie": "COOKIE"}),
    Row("a browser only looks: POST, from our own page", 401, "POST", ASK,
        {"cookie": "COOKIE", "origin": f"http://{HOST}", "sec_fetch_site": "same-origin", **JSON}, (b"{}",)),
    Row("a browser that came in with an admin's token makes no token", 401, "POST", "/api/v1/tokens",
        {"cookie": "COOKIE", **JSON}, (b'{"role": "admin"}',)),
    Row("nor does it see them", 403, path="/api/v1/tokens", headers={"cookie": "COOKIE"}),
    # --- roles
    Row("who reads does not work", 403, "POST", ASK, {"authorization": "READ", **JSON}, (b"{}",)),
    Row("who works does not delete", 403, "DELETE", SHOW, {"authorization": "WORK"}),
    Row("who works makes no tokens", 403, "POST", "/api/v1/tokens",
        {"authorization": "WORK", **JSON}, (b'{"role": "read"}',)),
    Row("who works sees no tokens", 403, path="/api/v1/tokens", headers={"authorization": "WORK"}),
    Row("an admin of some studies would make himself one of all", 403, "POST", "/api/v1/tokens",
        {"authorization": "LIMITED ADMIN", **JSON}, (b'{"role": "read"}',)),
    Row("and does not revoke those of others", 403, "DELETE", "/api/v1/tokens/00000000",
        {"authorization": "LIMITED ADMIN"}),
    # --- studies
    Row("a study that is not for him is not there", 404, path=f"{SHOW[:-1]}2", headers={"authorization": "LIMITED"}),
    Row("nor for an admin of others", 404, "DELETE", "/api/v1/studies/2", {"authorization": "LIMITED ADMIN"}),
    Row("patterns know capital letters", 404, path=SHOW, headers={"authorization": "CAPITAL"}),
    # --- bodies
    Row("too large, by its own word", 413, "POST", ASK,
        {"authorization": "WORK", "content_length": "1001", **JSON}, (b"x" * 1001,)),
    Row("too large, and nothing of it is read for somebody who waits to be asked", 413, "POST", ASK,
        {"authorization": "WORK", "content_length": "999999999999", "expect": "100-continue"}, (None,)),
    Row("too large, without a word before", 413, "POST", ASK,
        {"authorization": "WORK", "transfer_encoding": "chunked", **JSON}, (b"x" * 600, b"x" * 600)),
    Row("too large for an import", 413, "POST", IMPORT,
        {"authorization": "ADMIN", "content_length": "4001"}, (b"x" * 4001,)),
    Row("too large for an import, without a word before", 413, "POST", IMPORT,
        {"authorization": "ADMIN", "transfer_encoding": "chunked"}, (b"x" * 3000, b"x" * 3000)),
    Row("two lengths: a proxy may believe the other (smuggling)", 422, "POST", ASK,
        {"authorization": "WORK", "content_length": "2", "transfer_encoding": "chunked"}, (b"{}",)),
    Row("a length that is none", 422, "POST", ASK, {"authorization": "WORK", "content_length": "-1"}, (b"{}",)),
    Row("a length with a sign", 422, "POST", ASK, {"authorization": "WORK", "content_length": "+2"}, (b"{}",)),
    Row("a GET has no larger body either", 413, path=SHOW,
        headers={"authorization": "READ", "content_length": "5000"}, parts=(b"x" * 5000,)),
    Row("who is nobody is told so before a byte of his body", 401, "POST", ASK,
        {"content_length": "999999999999", "expect": "100-continue"}, (None,)),
    # --- slow ones
    Row("a body that does not come", 408, "POST", ASK,
        {"authorization": "WORK", "content_length": "9", **JSON}, (None,)),
    Row("a body that stops", 408, "POST", ASK,
        {"authorization": "WORK", "content_length": "9", **JSON}, (b'{"a"', None)),
    Row("an import that stops", 408, "POST", IMPORT,
        {"authorization": "ADMIN", "transfer_encoding": "chunked"}, (b"arm,reward\n", None)),
]  # fmt: skip


def filled(world: World, headers: Mapping[str, str | None]) -> dict[str, str | None]:
    """Headers with tokens and cookies in them."""
    ended, revoked = world.token("admin", days=1), world.token("admin")
    world.now += 90_000.0
    (gone,) = [each.id for each in world.file.read().values() if each.digest == digest(revoked)]
    world.file.revoke(gone)
    world.now += LOOK_AGAIN  # the file is looked at again, as if another process had written it
    cookie = world.session()
    secrets = {
        "READ": f"Bearer {world.token('read')}",
        "WORK": f"bearer  {world.token('work')}",
        "ADMIN": f"Bearer {world.own}",
        "LIMITED": f"Bearer {world.token('work', 'supp*')}",
        "LIMITED ADMIN": f"Bearer {world.token('admin', 'supp*')}",
        "CAPITAL": f"Bearer {world.token('read', 'Supp*')}",
        "EXPIRED": f"Bearer {ended}",
        "REVOKED": f"Bearer {revoked}",
        "DIGEST": f"Bearer {digest(world.own)}",
        "COOKIE": f"theme=dark; {cookie}",
        "OTHER PORT": cookie.replace("8460", "8461"),
        "TOKEN AS COOKIE": f"ramgape-8460={world.own}",
    }
    return {name: secrets.get(value or "", value) for name, value in headers.items()}


def digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.status} {row.why}")
def test_what_is_refused(world: World, row: Row) -> None:
    parts = row.parts
    headers = filled(world, row.headers)
    if parts and "content_length" not in headers and "transfer_encoding" not in headers:
        headers["content_length"] = str(sum(len(part or b"") for part in parts))
    answer = world.ask(row.method, row.path, *parts, **headers)
    assert answer.status == row.status
    assert set(answer.json) == {"error", "message", "place", "what", "allowed", "given"}
    assert (answer.header("www-authenticate") is not None) == (row.status == 401)
    assert not any(name.startswith("access-control-") for name, _ in answer.headers)
    for secret in (world.own, *(value for value in headers.values() if value and value.startswith("Bearer rg_"))):
        assert secret not in world.log.getvalue() + answer.body.decode()


LET_IN = [
    Row("nobody needs to be known for a page", 200, path="/"),
    Row("nor for its files", 200, path="/static/page.js"),
    Row("nor for health", 200, path="/healthz"),
    Row("a name of ours", 200, headers={"host": "localhost:8460", "authorization": "READ"}),
    Row("in capital letters", 200, headers={"host": "LOCALHOST:8460", "authorization": "READ"}),
    Row("the other family of addresses", 200, headers={"host": "[::1]:8460", "authorization": "READ"}),
    Row("our own page", 200, path=SHOW,
        headers={"origin": f"http://{HOST}", "sec_fetch_site": "same-origin", "cookie": "COOKIE"}),
    Row("an address that was typed", 200, path="/", headers={"sec_fetch_site": "none"}),
    Row("a link on a stranger's page, to one of ours", 200, path="/", headers=FOLLOWED),
    Row("a browser that looks", 200, path=SHOW, headers={"cookie": "COOKIE"}),
    Row("who works, works", 200, "POST", ASK, {"authorization": "WORK", **JSON}, (b'{"count"', b": 1}")),
    Row("who works, reads", 200, path=SHOW, headers={"authorization": "WORK"}),
    Row("what his pattern has", 200, path=SHOW, headers={"authorization": "LIMITED"}),
    Row("an admin of some deletes those", 200, "DELETE", SHOW, {"authorization": "LIMITED ADMIN"}),
    Row("a body just small enough", 200, "POST", ASK,
        {"authorization": "WORK", **JSON}, (json.dumps({"x": "y" * 990}).encode(),)),
    Row("a file just small enough, in parts", 200, "POST", IMPORT,
        {"authorization": "ADMIN", "transfer_encoding": "chunked"}, (b"x" * 2000, b"x" * 2000)),
    Row("the numbers", 200, path="/metrics", headers={"authorization": "READ"}),
]  # fmt: skip


@pytest.mark.parametrize("row", LET_IN, ids=lambda row: row.why)
def test_what_is_let_in(world: World, row: Row) -> None:
    headers = filled(world, row.headers)
    if row.parts and "transfer_encoding" not in headers:
        headers["content_length"] = str(sum(len(part or b"") for part in row.parts))
    answer = world.ask(row.method, row.path, *row.parts, **headers)
    assert answer.status == row.status, answer.body


@pytest.mark.parametrize("path", ["/", "/static/page.js", "/nothing", "/api/v1", "/api/v1/nothing", "/metrics"])
@pytest.mark.parametrize("known", [True, False])
def test_every_answer_has_the_headers_of_safety(world: World, path: str, known: bool) -> None:
    answer = world.ask("GET", path, authorization=f"Bearer {world.own}" if known else None)
    found = dict(answer.headers)
    assert found["content-security-policy"] == POLICY
    assert "unsafe" not in POLICY
    assert all(found[name.decode()] == value.decode() for name, value in HEADERS)
    assert (found.get("cache-control") == "no-store") == (path.startswith("/api/") or path == "/metrics")


@pytest.mark.parametrize("name", [b"host", b"authorization", b"origin", b"content-length", b"sec-fetch-site"])
def test_two_of_a_header_are_one_too_many(world: World, name: bytes) -> None:
    """The guard would look at one, and somebody behind or before it at the other."""
    good = {b"host": HOST.encode(), b"authorization": b"Bearer " + world.own.encode(), name: b"2"}
    answer = asyncio.run(request(world.middleware, "GET", "/api/v1", (), [*good.items(), (name, b"3")]))
    assert answer.status == (421 if name == b"host" else 422)


def test_a_web_socket_is_not_opened(world: World) -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(world.middleware({"type": "websocket", "path": "/", "headers": []}, None, send))  # type: ignore[arg-type]
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_every_address_of_the_api_needs_a_token(tmp_path: Path) -> None:
    """But for the login; and nothing that is not below /api holds anything of anybody."""
    world = World(tmp_path)
    app = application(f"sqlite:///{tmp_path}/s.db")(world.context)
    middleware = AccessMiddleware(app, world.context)
    addresses = [
        (method.upper(), re.sub(r"{\w+}", "1", path))
        for path, methods in app.openapi()["paths"].items()  # type: ignore[attr-defined]
        for method in methods
    ]
    assert len(addresses) > 25
    headers = [(b"host", HOST.encode())]
    let_in = {
        f"{method} {path}"
        for method, path in addresses
        if asyncio.run(request(middleware, method, path, (), headers)).status != 401
    }
    assert let_in == {"POST /api/v1/login", "GET /healthz"}
    app.state.studies.close()  # type: ignore[attr-defined]


# --- names of a server ------------------------------------------------------------------------------------------------

PUBLIC = parse_public_url("https://Ramgape.example.org")
BEHIND = Hosts(port=8460, bound="127.0.0.1", public_url=PUBLIC, allowed=["node-7", "other:99"])


@pytest.mark.parametrize(
    ("host", "ours"),
    [
        (b"ramgape.example.org", True),
        (b"RAMGAPE.example.org", True),
        (b"ramgape.example.org:8460", False),  # nobody was told of that one
        (b"node-7", True),
        (b"node-7:8460", True),
        (b"node-7:99", False),
        (b"other:99", True),
        (b"other", False),
        (b"localhost:8460", True),
        (b"example.org", False),
    ],
)
def test_names_of_a_server_behind_a_proxy(host: bytes, ours: bool) -> None:
    assert BEHIND.is_ours(host) is ours


def test_pages_behind_a_proxy_are_ours_and_speak_tls() -> None:
    assert BEHIND.is_our_page(b"https://ramgape.example.org", b"ramgape.example.org")
    assert BEHIND.is_our_page(b"https://ramgape.example.org", b"127.0.0.1:8460")  # a proxy that says its own name
    assert not BEHIND.is_our_page(b"http://evil.example", b"ramgape.example.org")
    assert BEHIND.is_secure(b"ramgape.example.org")
    assert not BEHIND.is_secure(b"127.0.0.1:8460")
    assert Hosts(port=443, bound="10.0.0.1", tls=True).is_ours(b"10.0.0.1")
    everywhere = Hosts(port=8460, bound="0.0.0.0")
    assert not everywhere.is_ours(b"0.0.0.0:8460")
    assert everywhere.is_ours(b"10.0.0.5:8460", ("10.0.0.5", 8460))
    assert Hosts(port=8460, bound="::").is_ours(b"10.0.0.5:8460", ("::ffff:10.0.0.5", 8460))
    assert not everywhere.is_ours(b"evil.example:8460", ("10.0.0.5", 8460))
    assert not Hosts(port=8460, bound="127.0.0.1").is_ours(b"10.0.0.5:8460", ("10.0.0.5", 8460))
    assert Hosts(port=None).is_ours(b"localhost")


@pytest.mark.parametrize(
    ("client", "forwarded", "expected"),
    [
        ("127.0.0.1", b"203.0.113.9", "203.0.113.9"),
        ("127.0.0.1", b"6.6.6.6, 203.0.113.9", "203.0.113.9"),  # the first is what the client wrote
        ("127.0.0.1", b"203.0.113.9, 10.1.2.3", "203.0.113.9"),  # a second proxy, which is trusted
        ("198.51.100.1", b"6.6.6.6", "198.51.100.1"),  # who is no proxy says nothing of others
        ("127.0.0.1", b"", "127.0.0.1"),
        ("127.0.0.1", b"2001:db8::1:2:3", "2001:db8::"),  # whoever has a network has 2^64 addresses
        ("127.0.0.1", b"2001:db8::9", "2001:db8::"),
        (None, b"203.0.113.9", "203.0.113.9"),  # a Unix socket: only the proxy can write there
        (None, b"", "unix"),
    ],
)
def test_who_asks_through_a_proxy(client: str | None, forwarded: bytes, expected: str) -> None:
    hosts = Hosts(port=8460, bound="127.0.0.1", public_url=PUBLIC, proxies=["10.0.0.0/8"])
    peer = None if client is None else (client, 1)
    assert hosts.address_of(peer, {b"x-forwarded-for": forwarded}) == expected
    assert Hosts(port=8460).address_of(("127.0.0.1", 1), {b"x-forwarded-for": forwarded}) == "127.0.0.1"


# --- too many ---------------------------------------------------------------------------------------------------------


def test_too_many_requests_of_a_token(tmp_path: Path) -> None:
    world = World(tmp_path, Settings(max_requests=3))
    busy, other = f"Bearer {world.token('read')}", f"Bearer {world.token('read')}"
    assert [world.ask("GET", "/api/v1", authorization=busy).status for _ in range(4)] == [200, 200, 200, 429]
    refused = world.ask("GET", "/api/v1", authorization=busy)
    assert refused.header("retry-after") == "1"
    assert refused.json["error"] == "TooMany"
    assert world.ask("GET", "/api/v1", authorization=other).status == 200
    world.now += 0.4
    assert [world.ask("GET", "/api/v1", authorization=busy).status for _ in range(2)] == [200, 429]


def test_too_many_requests_without_a_token(tmp_path: Path) -> None:
    """Those that are refused count, by address: to guess is to be slowed down."""
    world = World(tmp_path, Settings(max_requests=8))
    statuses = [world.ask("GET", "/api/v1", authorization="Bearer rg_guess").status for _ in range(3)]
    assert statuses == [401, 401, 429]
    assert world.ask("GET", "/").status == 429
    assert world.ask("GET", "/api/v1", authorization=f"Bearer {world.own}").status == 200


def test_too_many_streams(tmp_path: Path) -> None:
    """They end with the server, as streams end: their readers see the end, not a broken connection."""
    world = World(tmp_path, Settings(max_streams=2))
    headers = {"authorization": f"Bearer {world.own}"}
    tokens = [world.own, world.token("read")]

    async def watch() -> None:
        path = f"{SHOW}/events"
        streams = [asyncio.ensure_future(world.asking("GET", path, authorization=f"Bearer {each}")) for each in tokens]
        while "ramgape_watchers 2" not in world.context.metrics.text():
            await asyncio.sleep(0.01)
        refused = await world.asking("GET", path, **headers)
        assert (refused.status, refused.header("retry-after")) == (429, "5")
        await asyncio.sleep(0.05)
        world.middleware.stop()
        answers = await asyncio.gather(*streams)
        assert all(each.status == 200 and each.body.startswith(b": still here") for each in answers)
        assert (await world.asking("GET", "/healthz")).status == 503

    asyncio.run(watch())
    assert "ramgape_watchers 0" in world.context.metrics.text()


@pytest.mark.parametrize("by", ["token", "session"])
def test_a_stream_ends_with_its_token(world: World, by: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ramgape.web.access.middleware.STILL_KNOWN", 0.01)
    token = world.token()
    headers = {"authorization": f"Bearer {token}"} if by == "token" else {"cookie": world.session(token)}

    async def watch() -> None:
        stream = asyncio.ensure_future(world.asking("GET", f"{SHOW}/events", **headers))
        await asyncio.sleep(0.1)
        assert not stream.done()
        (known,) = world.file.read()
        world.file.revoke(known)
        world.context.tokens.look()
        async with asyncio.timeout(10):
            answer = await stream
        assert answer.status == 200

    asyncio.run(watch())


def test_a_stranger_has_little_to_say(tmp_path: Path) -> None:
    """What anybody may send is read as a whole, into memory."""
    world = World(tmp_path)
    content = b" " * 70_000
    for method, path in (("POST", "/api/v1/login"), ("GET", "/")):
        assert world.ask(method, path, content, content_length=str(len(content)), **JSON).status == 413
        assert world.ask(method, path, content[:40_000], content[:40_000], transfer_encoding="chunked").status == 413


def log_in(world: World, **body: str) -> Any:
    content = json.dumps(body).encode()
    return world.ask("POST", "/api/v1/login", content, content_length=str(len(content)), **JSON)


def test_too_many_logins(world: World) -> None:
    assert {log_in(world, code="guess").status for _ in range(5)} == {401}
    assert {log_in(world, token="rg_guess").status for _ in range(5)} == {401}
    code = world.context.logins.new_code()
    refused = log_in(world, code=code)
    assert (refused.status, refused.json["error"], refused.header("set-cookie")) == (429, "TooMany", None)
    world.now += 61.0
    assert log_in(world, code=code).status == 200


# --- browsers ---------------------------------------------------------------------------------------------------------


def test_a_code_is_for_one_login(world: World) -> None:
    code = world.context.logins.new_code()
    answer = log_in(world, code=code)
    assert answer.status == 200
    assert answer.json == {"role": "read", "name": "browser"}
    cookie = answer.header("set-cookie") or ""
    assert re.fullmatch(
        r"ramgape-8460=[\w-]{43}; HttpOnly; Max-Age=604800; Path=/; SameSite=strict", cookie, re.IGNORECASE
    )
    assert world.ask("GET", SHOW, cookie=cookie.partition(";")[0]).status == 200
    assert log_in(world, code=code).status == 401


def test_a_code_is_for_ten_minutes(world: World) -> None:
    code = world.context.logins.new_code()
    world.now += 601.0
    assert log_in(world, code=code).status == 401


@pytest.mark.parametrize("body", [{}, {"code": "a", "token": "b"}, {"code": ""}, {"secret": "a"}, {"code": "a" * 201}])
def test_a_login_says_one_thing(world: World, body: dict[str, str]) -> None:
    assert log_in(world, **body).status == 422


def test_a_session_is_never_more_than_its_token(world: World) -> None:
    """It sees the same studies, changes nothing, and ends with the token, a day, or a word."""
    token = world.token("admin", "supp*")
    cookie = (log_in(world, token=token).header("set-cookie") or "").partition(";")[0]
    assert world.ask("GET", "/api/v1", cookie=cookie).json["role"] == "read"
    assert world.ask("GET", SHOW, cookie=cookie).status == 200
    assert world.ask("GET", "/api/v1/studies/2", cookie=cookie).status == 404
    (kept,) = world.file.read()
    world.file.revoke(kept)
    world.now += LOOK_AGAIN
    assert world.ask("GET", SHOW, cookie=cookie).status == 401


def test_a_session_ends(tmp_path: Path) -> None:
    world = World(tmp_path, Settings(session_hours=1))
    cookie = world.session()
    world.now += 3599.0
    assert world.ask("GET", SHOW, cookie=cookie).status == 200
    world.now += 2.0
    assert world.ask("GET", SHOW, cookie=cookie).status == 401


def test_a_browser_logs_out(world: World) -> None:
    cookie = world.session()
    stranger = world.ask("POST", "/api/v1/logout", cookie=cookie, origin="https://evil.example")
    assert stranger.status == 403
    assert world.ask("GET", SHOW, cookie=cookie).status == 200
    answer = world.ask("POST", "/api/v1/logout", cookie=cookie, origin=f"http://{HOST}")
    assert answer.status == 204
    assert "Max-Age=0" in (answer.header("set-cookie") or "")
    assert world.ask("GET", SHOW, cookie=cookie).status == 401


def test_under_tls_a_cookie_is_for_tls_alone(tmp_path: Path) -> None:
    world = World(tmp_path, hosts=Hosts(port=8460, bound="127.0.0.1", public_url=PUBLIC))
    content = json.dumps({"code": world.context.logins.new_code()}).encode()
    answer = world.ask(
        "POST",
        "/api/v1/login",
        content,
        host="ramgape.example.org",
        content_length=str(len(content)),
        origin="https://ramgape.example.org",
        **JSON,
    )
    assert "; Secure" in (answer.header("set-cookie") or "")


# --- ways to serve ----------------------------------------------------------------------------------------------------


def test_a_server_for_reading_lets_nobody_write(tmp_path: Path) -> None:
    world = World(tmp_path, read_only=True)
    assert world.ask("GET", "/api/v1", authorization=f"Bearer {world.own}").json["role"] == "read"
    assert world.ask("DELETE", SHOW, authorization=f"Bearer {world.own}").status == 403


def test_numbers_can_be_open(tmp_path: Path) -> None:
    assert World(tmp_path, open_metrics=True).ask("GET", "/metrics").status == 200


def test_tokens_by_the_api(world: World) -> None:
    headers = {"authorization": f"Bearer {world.own}"}
    content = b'{"role": "work", "studies": ["supp*"], "days": 2, "name": "node-7"}'
    made = world.ask("POST", "/api/v1/tokens", content, content_length=str(len(content)), **JSON, **headers)
    assert made.status == 201
    assert (made.json["role"], made.json["studies"], made.json["name"]) == ("work", ["supp*"], "node-7")
    theirs = {"authorization": f"Bearer {made.json['token']}"}
    assert world.ask("GET", SHOW, **theirs).status == 200
    listed = world.ask("GET", "/api/v1/tokens", **headers).json["tokens"]
    assert [each["id"] for each in listed] == [made.json["id"]]
    assert "token" not in listed[0]
    assert "sha256" not in listed[0]
    assert world.ask("DELETE", f"/api/v1/tokens/{made.json['id']}", **headers).status == 204
    assert world.ask("GET", SHOW, **theirs).status == 401
    assert world.ask("DELETE", f"/api/v1/tokens/{made.json['id']}", **headers).status == 404


def test_logs_have_no_secrets(world: World) -> None:
    """Not in the path, the query, the headers, the body, a cookie."""
    code, token = world.context.logins.new_code(), world.token("work")
    cookie = (log_in(world, code=code).header("set-cookie") or "").partition(";")[0]
    log_in(world, token=token)
    world.ask("GET", f"/login?code={code}")
    world.ask("GET", f"{SHOW}?token={token}", cookie=cookie)
    world.ask("POST", ASK, authorization=f"Bearer {token}")
    for typed in (f"/{token}", f"/login/{token}", f"/api/{token}", f"/api/v1/studies/{token}", f"/metrics/{token}"):
        world.ask("GET", typed)
        world.ask("GET", typed, authorization=f"Bearer {token}")
    text = world.log.getvalue()
    lines = [json.loads(line) for line in text.splitlines()]
    assert len(lines) >= 6
    for secret in (code, token, cookie.partition("=")[2], world.own):
        assert secret not in text
    seen = [line for line in lines if line.get("route") == "/api/v1/studies/{id}" and "study" in line]
    assert [(line["status"], line["study"], line["token"]) for line in seen] == [(200, "1", "browser")]
