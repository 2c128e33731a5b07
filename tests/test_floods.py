"""What a single client can do to a server: it costs little, and is the client's own loss."""

from __future__ import annotations

import asyncio
import json
import re
import resource
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import closing, suppress
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from pydantic import BaseModel, TypeAdapter, ValidationError, field_validator

from ramgape import Study
from ramgape.storage.store import SqlStore
from ramgape.web import schema
from ramgape.web.access import connections
from ramgape.web.access.limits import BURST, Settings, Shares
from ramgape.web.access.packet_filter import drop_new, drop_none
from ramgape.web.access.roles import sending_role
from ramgape.web.access.routes import Login
from ramgape.web.answers import Json
from ramgape.web.app import make_app
from ramgape.web.forms import LARGE, FormRoute
from ramgape.web.open_studies import OpenStudies
from ramgape.web.serving import Serving
from tests.cli_support import environment
from tests.flood import FLOODS, measure
from tests.guarded import World, request
from tests.servers import call, open_server, serving_of, token_of

JSON = {"content_type": "application/json"}
ASK = "/api/v1/studies/1/ask"


# --- bodies -----------------------------------------------------------------------------------------------------------


def test_a_role_is_looked_at_before_the_body(tmp_path: Path) -> None:
    """The body of this one never comes: who may not send it is told so all the same."""
    world = World(tmp_path, Settings(body_timeout=0.05))
    for role, status in (("read", 403), ("work", 408)):
        headers = {"authorization": f"Bearer {world.token(role)}", "content_length": "5000000", **JSON}
        assert world.ask("POST", ASK, None, **headers).status == status


def test_every_route_that_reads_a_body_has_a_role(tmp_path: Path) -> None:
    studies = OpenStudies(f"sqlite:///{tmp_path}/s.db")
    for path, methods in make_app(studies).openapi()["paths"].items():
        for method, described in methods.items():
            reads = "requestBody" in described
            assert (sending_role(method.upper(), re.sub(r"{\w+}", "1", path)) is not None) == reads, (method, path)
    studies.close()


def test_a_body_that_nothing_reads_is_small(tmp_path: Path) -> None:
    world = World(tmp_path)
    headers = {"authorization": f"Bearer {world.token('read')}", "content_length": "100000"}
    assert world.ask("GET", "/api/v1/studies/1", b" " * 100_000, **headers).status == 413


@pytest.mark.parametrize(
    ("form", "body"),
    [
        (schema.ExchangeBody, {f"k{place}": 0 for place in range(10_000)}),
        (schema.ExchangeBody, {"answers": [{}] * 10_000}),
        (schema.ExchangeBody, {"known": [7] * 10_000}),
        (schema.ObserveBody, {"trials": [{"arm": ""}] * 10_000}),
        (schema.NewStudy, {"name": "s", "arms": [0] * 10_000, "data": [0] * 10_000}),
        (schema.NewStudy, {"name": "s", "arms": ["a"], "price": {f"k{place}": "x" for place in range(10_000)}}),
        (Login, {f"k{place}": 0 for place in range(7_400)}),
    ],
)
def test_errors_are_few_however_large_the_body_is(form: Any, body: Any) -> None:
    with pytest.raises(ValidationError) as caught:
        TypeAdapter(form).validate_json(json.dumps(body))
    assert caught.value.error_count() <= 10


THREADS: list[str] = []


class Form(BaseModel):
    """Notes where it was read."""

    text: str

    @field_validator("text")
    @classmethod
    def _note(cls, text: str) -> str:
        THREADS.append(threading.current_thread().name)
        return text


def test_a_large_body_is_read_in_another_thread() -> None:
    app = FastAPI()
    app.router.route_class = FormRoute

    @app.post("/", response_model=None)
    async def length(body: Form) -> Json:
        return Json(len(body.text))

    def send(**body: object) -> tuple[int, bytes]:
        content = json.dumps(body).encode()
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(content)).encode())]
        answer = asyncio.run(request(app, "POST", "/", (content,), headers))
        return answer.status, answer.body

    for size in (10, LARGE):
        assert send(text="x" * size) == (200, str(size).encode())
    assert send(text=7, more="x" * LARGE)[0] == 422
    assert [name.startswith("ramgape-reader") for name in THREADS] == [False, True]


def test_what_is_no_login_counts_as_one_that_failed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ramgape.web.access.middleware.TARPIT", 0.0)
    world = World(tmp_path, Settings(max_logins=3))
    content = json.dumps({f"k{place}": 0 for place in range(300)}).encode()

    def log_in(body: bytes) -> int:
        return world.ask("POST", "/api/v1/login", body, content_length=str(len(body)), **JSON).status

    assert [log_in(content) for _ in range(4)] == [422, 422, 422, 429]
    assert log_in(b" " * 5_000) == 429  # nothing more is read of that address
    world.now += 61.0
    assert log_in(b" " * 5_000) == 413


# --- requests of many parts ------------------------------------------------------------------------------------------


def test_requests_of_many_parts_are_refused(tmp_path: Path) -> None:
    """They need few bytes, and to look at them took 50 ms."""
    world = World(tmp_path)
    token = {"authorization": f"Bearer {world.token('read')}"}
    assert world.ask("PATCH", "/api/v1/studies/1" + "/x" * 500, **token).status == 404
    assert world.ask("GET", "/api/v1/studies?" + "name=b&" * 101, **token).status == 422
    assert world.ask("GET", "/api/v1", **token, **{f"x_{place}": "y" for place in range(99)}).status == 422
    assert world.ask("GET", "/api/v1", **token, **{f"x_{place}": "y" for place in range(98)}).status == 200


def test_requests_that_are_refused_are_counted_by_address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever they are refused for: otherwise they cost their sender nothing."""
    monkeypatch.setattr("ramgape.web.access.middleware.TARPIT", 0.0)
    for headers, status in ({"host": "elsewhere"}, 421), ({"origin": "http://elsewhere"}, 403):
        world = World(tmp_path, Settings(max_requests=8))
        found = [world.ask("GET", "/api/v1", **headers).status for _ in range(3)]
        assert found == [status, status, 429]


def test_requests_pay_for_their_processor_time(tmp_path: Path) -> None:
    """Not those that work."""
    world = World(tmp_path)

    async def burn(scope: Any, receive: Any, send: Any) -> None:
        for _ in range(10):
            await asyncio.sleep(0)
            end = time.thread_time() + 0.01
            while time.thread_time() < end:
                pass
        await Json({})(scope, receive, send)

    world.middleware.app = burn
    charged: dict[str, float] = {}
    for role, method in ("read", "PATCH"), ("work", "POST"), ("work", "GET"), (None, "GET"):
        token = {} if role is None else {"authorization": f"Bearer {world.token(role)}"}
        world.ask(method, "/" if role is None else "/api/v1/studies/1/ask", **token)
        levels = world.middleware._shares._levels
        charged[f"{role} {method}"] = sum(BURST - level for level, _ in levels.values())
        levels.clear()
    assert charged.pop("work POST") == 0.0
    assert all(0.1 <= each < 0.2 for each in charged.values())


# --- lists ------------------------------------------------------------------------------------------------------------


def test_a_list_reads_no_more_studies_than_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = f"sqlite:///{tmp_path}/s.db"
    for place in range(12):
        Study.create(f"s{place:02}", ["a", "b"], storage=storage, reward_range=(0, 1), epsilon=0.1).close()
    read: list[str] = []
    looked: list[str] = []
    find, look = SqlStore.find_study, OpenStudies._look
    monkeypatch.setattr(SqlStore, "find_study", lambda self, name: (read.append(name), find(self, name))[1])
    monkeypatch.setattr(OpenStudies, "_look", lambda self, row: (looked.append(row.name), look(self, row))[1])
    with open_server(storage) as address:
        status, found = call(address, "GET", "/studies?limit=2&after=s03")
        assert (status, [each["name"] for each in found["studies"]], found["next"]) == (200, ["s04", "s05"], "s05")
        assert read[:3] == ["s04", "s05", "s06"]
        assert set(read[3:]) <= {"s04", "s05"}  # by whoever looks for their answers
        found = call(address, "GET", "/studies?limit=3&state=done")[1]
        assert (found["studies"], found["next"]) == ([], None)
        found = call(address, "GET", "/studies?text=S1")[1]
        assert ([each["name"] for each in found["studies"]], found["next"]) == (["s10", "s11"], None)
    assert set(looked) <= {"s04", "s05", "s10", "s11"}


# --- streams, turns ---------------------------------------------------------------------------------------------------


def test_a_token_has_a_share_of_the_streams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ramgape.web.access.middleware.TARPIT", 0.0)
    world = World(tmp_path, Settings(max_streams=8))
    path, tokens = "/api/v1/studies/1/events", [world.token("read"), world.token("read")]

    async def watch() -> None:
        def open_one(token: str) -> asyncio.Future[Any]:
            return asyncio.ensure_future(world.asking("GET", path, authorization=f"Bearer {token}"))

        streams = [open_one(tokens[0]) for _ in range(2)]
        await asyncio.sleep(0.1)
        async with asyncio.timeout(10):
            assert (await open_one(tokens[0])).status == 429
            session = await world.asking("GET", path, cookie=world.session(tokens[0]))
            assert session.status == 429  # which is the same token's
        streams.append(open_one(tokens[1]))
        await asyncio.sleep(0.1)
        assert not any(each.done() for each in streams)
        world.middleware.stop()
        assert [each.status for each in await asyncio.gather(*streams)] == [200] * 3

    asyncio.run(watch())


def test_a_token_that_has_looked_much_waits_while_others_work() -> None:
    now = [0.0]
    shares = Shares(lambda: now[0])

    async def look() -> bool:
        """Whether it was its turn at once."""

        async def turn() -> None:
            async with shares.turn("reader"):
                pass

        asked = asyncio.ensure_future(turn())
        await asyncio.sleep(0.02)
        return asked.done() or not asked.cancel()

    async def play() -> list[bool]:
        shares.note("reader")
        shares.charge("reader", BURST + 1.0)  # a second of processor time too much
        found = [await look()]  # nobody else is at work
        shares.note("worker")
        found.append(await look())
        now[0] += 10.1  # in which it has earned that second again
        shares.note("worker")
        found.append(await look())
        return found

    assert asyncio.run(play()) == [True, False, True]


def test_nothing_is_done_for_a_client_that_has_gone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that asks, closes and asks again would fill a queue that takes hours to work off."""
    looked: list[str] = []
    monkeypatch.setattr(SqlStore, "study_names", lambda self: (looked.append(""), [])[1])
    with serving_of(f"sqlite:///{tmp_path}/s.db", tmp_path) as serving:
        shares = serving.middleware._shares
        known = serving.context.tokens.find(token_of(serving).encode())
        assert known is not None
        owner = f"token {known.id}"
        shares._levels[owner] = -100.0, time.monotonic()  # seconds of processor time too much

        def under_way(expected: int) -> bool:
            """Whether so many requests wait, soon, while others work."""
            end = time.monotonic() + 20.0
            while f"ramgape_requests_under_way {expected}\n" not in serving.context.metrics.text():
                shares.note("worker")
                if time.monotonic() > end:
                    return False
                time.sleep(0.01)
            return True

        shares.note("worker")
        lines = [connect(serving) for _ in range(12)]
        for each in lines:
            each.sendall(head(serving, "/api/v1/studies", token_of(serving)))
        assert under_way(12)
        for each in lines[1:]:
            each.close()
        assert under_way(1)
        assert looked == []
        shares._levels.clear()
        assert lines[0].recv(9) == b"HTTP/1.1 "
        assert looked == [""]
        lines[0].close()


# --- connections ------------------------------------------------------------------------------------------------------


def connect(serving: Serving) -> socket.socket:
    return socket.create_connection(("127.0.0.1", serving.socket.getsockname()[1]), timeout=30)


def head(serving: Serving, path: str = "/healthz", token: str = "") -> bytes:
    port = serving.socket.getsockname()[1]
    known = f"Authorization: Bearer {token}\r\n" if token else ""
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n{known}\r\n".encode()


def status_on(line: socket.socket, serving: Serving, path: str = "/healthz", token: str = "") -> int:
    """The status of the answer to a request on a connection; 0 if that is closed."""
    try:
        line.sendall(head(serving, path, token))
        answer = HTTPResponse(line)
        answer.begin()
        answer.read()
    except (ConnectionError, HTTPException):
        return 0
    return answer.status


def is_open(line: socket.socket) -> bool:
    """Whether nobody has closed it, as far as can be seen now."""
    line.setblocking(False)
    try:
        return line.recv(1) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        line.settimeout(30)


def still_open(lines: list[socket.socket], expected: int) -> bool:
    """Whether so many of them are, soon."""
    end = time.monotonic() + 20.0
    while sum(map(is_open, lines)) != expected and time.monotonic() < end:
        time.sleep(0.01)
    return sum(map(is_open, lines)) == expected


@pytest.fixture
def serving(tmp_path: Path) -> Any:
    with serving_of(f"sqlite:///{tmp_path}/s.db", tmp_path, Settings(max_connections=40, header_timeout=300)) as made:
        yield made


def test_connections_without_a_token_are_few(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    """Idle ones are closed, the oldest first; one that has shown a token stays, and others come in."""
    monkeypatch.setattr(connections, "STRANGERS", 6)
    monkeypatch.setattr("ramgape.web.server.UNKNOWN_AT_MOST", 300.0)
    monkeypatch.setattr(serving_connections(serving).new, "_burst", 300.0)  # a fast machine makes more in a second
    worker = connect(serving)
    assert status_on(worker, serving, "/api/v1", token_of(serving)) == 200
    idle = []
    for _ in range(30):
        idle.append(connect(serving))
        with closing(connect(serving)) as line:
            assert status_on(line, serving) == 200
    assert still_open(idle[:24], 0)
    assert status_on(worker, serving, "/api/v1", token_of(serving)) == 200
    for each in (worker, *idle):
        each.close()


def test_a_token_has_a_share_of_the_connections(serving: Serving) -> None:
    """A quarter of 40; of more, those are closed that rest longest."""
    lines = [connect(serving) for _ in range(15)]
    for each in lines:
        assert status_on(each, serving, "/api/v1", token_of(serving)) == 200
    assert still_open(lines, 10)
    assert [is_open(each) for each in lines] == [False] * 5 + [True] * 10
    for each in lines:
        each.close()


def test_new_connections_of_an_address_are_counted(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    bucket = serving_connections(serving).new
    monkeypatch.setattr(bucket, "_burst", 3.0)
    monkeypatch.setattr(bucket, "rate", 0.001)
    for _ in range(6):  # those of a token that may work are not
        with closing(connect(serving)) as line:
            assert status_on(line, serving, "/api/v1", token_of(serving)) == 200
    lines = [connect(serving) for _ in range(6)]
    assert still_open(lines, 3)
    for each in lines:
        each.close()


def test_an_address_has_a_share_of_what_reads_requests(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    """A packet may have thousands of headers or parts of a body. Connections of workers are not closed for that."""
    reading = serving_connections(serving).reading
    monkeypatch.setattr(reading, "_burst", 5.0)
    monkeypatch.setattr(reading, "rate", 0.001)
    worker = connect(serving)
    assert status_on(worker, serving, "/api/v1", token_of(serving)) == 200
    strange = connect(serving)
    assert status_on(strange, serving) == 200
    body = b"POST /api/v1/login HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 40_000
    with suppress(OSError):
        strange.sendall(body)
    assert still_open([strange], 0)
    refused = connect(serving)
    assert still_open([refused], 0)
    assert status_on(worker, serving, "/api/v1", token_of(serving)) == 200
    for each in (worker, strange, refused):
        each.close()


def come_from(address: str, to: socket.socket) -> socket.socket:
    """A connection from an address of this machine that is perhaps not made yet."""
    made = socket.socket(to.family)
    made.setblocking(False)
    made.bind((address, 0))
    with suppress(BlockingIOError):
        made.connect(to.getsockname())
    return made


def is_made(line: socket.socket, seconds: float) -> bool:
    return bool(select.select((), (line,), (), seconds)[1])


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such filter")
@pytest.mark.parametrize(
    ("listens", "dropped", "other"), [("127.0.0.1", "127.0.0.2", "127.0.0.1"), ("::1", "::1", None)]
)
def test_the_kernel_drops_connections_of_one_address(listens: str, dropped: str, other: str | None) -> None:
    family = socket.AF_INET6 if ":" in listens else socket.AF_INET
    try:
        listening = socket.create_server((listens, 0), family=family)
    except OSError:
        pytest.skip("this machine has no IPv6")
    with listening, closing(come_from(dropped, listening)) as before:
        assert is_made(before, 30)
        assert drop_new(listening, dropped)
        with closing(come_from(dropped, listening)) as late:
            assert not is_made(late, 0.2)
            if other is not None:
                with closing(come_from(other, listening)) as made:
                    assert is_made(made, 30)
            taken = listening.accept()[0]
            before.sendall(b"x")  # what is there already stays
            taken.settimeout(30)
            assert taken.recv(1) == b"x"
            taken.close()
            drop_none(listening)
            assert is_made(late, 30)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no such filter")
def test_an_address_that_floods_is_shut_out_for_a_while(serving: Serving, monkeypatch: pytest.MonkeyPatch) -> None:
    """Others come in, and it does, too, later."""
    dropped: list[str] = []
    monkeypatch.setattr(
        connections, "drop_new", lambda to, address: (dropped.append(address), drop_new(to, address))[1]
    )
    monkeypatch.setattr(connections, "SHUT_OUT", 0.2)
    monkeypatch.setattr(connections, "REFUSED_AT_ONCE", 5)
    monkeypatch.setattr(serving_connections(serving).new, "rate", 0.001)
    monkeypatch.setattr(serving_connections(serving).new, "_burst", 3.0)
    lines = [come_from("127.0.0.2", serving.socket) for _ in range(200)]
    with closing(connect(serving)) as line:
        assert status_on(line, serving) == 200
    end = time.monotonic() + 30.0
    while not dropped and time.monotonic() < end:
        lines += [come_from("127.0.0.2", serving.socket) for _ in range(50)]
        time.sleep(0.01)
    assert set(dropped) == {"127.0.0.2"}
    assert is_made(lines[-1], 30)
    for each in lines:
        each.close()


def serving_connections(serving: Serving) -> connections.Connections:
    import gc

    (found,) = [
        each
        for each in gc.get_objects()
        if type(each) is connections.Connections and each._hosts is serving.context.hosts
    ]
    return found


def test_a_connection_without_a_token_does_not_last(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often something is asked on it."""
    monkeypatch.setattr("ramgape.web.server.UNKNOWN_AT_MOST", 2.0)
    with serving_of(f"sqlite:///{tmp_path}/s.db", tmp_path) as serving:
        known = connect(serving)
        assert status_on(known, serving, "/api/v1", token_of(serving)) == 200
        unknown = connect(serving)
        asked = 0
        while status_on(unknown, serving):
            asked += 1
            time.sleep(0.01)
        assert asked > 0
        assert is_open(known)
        known.close()
        unknown.close()


def test_requests_that_do_not_wait_for_an_answer_are_refused(serving: Serving) -> None:
    with closing(connect(serving)) as line:
        line.sendall(head(serving) * 500)
        answers = b""
        while part := line.recv(65_536):
            answers += part
    assert answers.count(b"HTTP/1.1 200") <= 1
    assert b"HTTP/1.1 400" in answers


def test_headers_are_read_up_to_a_hundred(serving: Serving) -> None:
    port = serving.socket.getsockname()[1]
    for count, expected in (99, b"HTTP/1.1 200"), (100, b"HTTP/1.1 400"):
        with closing(connect(serving)) as line:
            line.sendall(f"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n".encode())
            line.sendall(b"X: y\r\n" * count + b"\r\n")
            assert line.recv(12) == expected


@pytest.mark.parametrize(("hard", "warned"), [(4096, False), (1024, True)])
def test_the_limit_on_open_files_is_raised_or_reported(tmp_path: Path, hard: int, warned: bool) -> None:
    def lower() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (300, hard))

    command = [
        sys.executable,
        "-m",
        "ramgape",
        "serve",
        "--port",
        "0",
        "--json",
        "--storage",
        f"sqlite:///{tmp_path}/s",
    ]
    where = environment() | {"XDG_STATE_HOME": str(tmp_path)}
    with subprocess.Popen(command, stdout=-1, stderr=-1, text=True, preexec_fn=lower, env=where) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = resource.prlimit(process.pid, resource.RLIMIT_NOFILE)
        process.terminate()
        log = process.communicate(timeout=60)[1]
    assert found == (hard, hard)
    assert ("leaves room for 512 of 2,000 connections: raise `ulimit -n`" in log) == warned


# --- floods -----------------------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processor time is read from /proc")
def test_floods_cost_little() -> None:
    """Each flood takes less than half of the one processor that a server has; `python -m tests.flood` shows rates."""
    with tempfile.TemporaryDirectory() as folder:
        measured = measure(Path(folder), 3_000, 15.0, FLOODS)
        costs = {name: during.cost_beside(without) for name, without, _, during in measured}
    assert {name: cost for name, cost in costs.items() if not cost < 0.5} == {}
