"""Whatever listens at an address: servers that drip or never end, other services, and servers in the wrong hands."""

from __future__ import annotations

import copy
import random
import re
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest

import ramgape
from ramgape import RamgapeError, StorageError, StorageUnavailable, Study
from ramgape.cli import work
from ramgape.remote.answers import LONGEST_ARM
from ramgape.remote.connection import ServerConnection
from ramgape.studies.catalog import find_summary
from tests.fake_server import Asked, Says, fake_server
from tests.servers import call, open_server

ARMS = ["a", "b", "c"]
OURS = r"there is no server of ramgape at http://127\.0\.0\.1:\d+"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
DRIPS = 300  # of a hundredth of a second: who waits for all of them gets a good answer in the end


@pytest.fixture(autouse=True)
def _nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """No token of whoever runs the tests, and short waits."""
    monkeypatch.delenv("RAMGAPE_TOKEN", raising=False)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr("ramgape.remote.connection.LEAST_WAIT", 0.2)


# --- slow and endless -------------------------------------------------------------------------------------------------

Sends = Callable[[Callable[[bytes], None], Callable[[], None]], None]


@contextmanager
def raw_server(sends: Sends) -> Iterator[str]:
    """A server that sends bytes to whoever connects, whatever was asked; it can pause until the test is over."""
    over = threading.Event()

    def serve(client: socket.socket) -> None:
        with client, suppress(OSError):
            client.recv(65536)
            sends(client.sendall, lambda: over.wait(0.01) and None)

    def accept() -> None:
        with suppress(OSError):
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        over.set()
        listener.shutdown(socket.SHUT_RDWR)


def drips(start: bytes, drop: bytes, end: bytes) -> Sends:
    def sends(send: Callable[[bytes], None], pause: Callable[[], None]) -> None:
        send(start)
        for _ in range(DRIPS):
            send(drop)
            pause()
        send(end)

    return sends


DRIPPING = {
    "body": drips(HEAD + f"Content-Length: {DRIPS + 2}\r\n\r\n".encode(), b" ", b"{}"),
    "chunks": drips(HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n", b"2\r\n{}\r\n0\r\n\r\n"),
    "until it closes": drips(HEAD + b"Connection: close\r\n\r\n", b" ", b"{}"),
    "headers": drips(HEAD + b"X-Long: ", b"x", b"\r\nContent-Length: 2\r\n\r\n{}"),
    "status": drips(b"HTTP/1.1 200 ", b"x", b"\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"),
    "go on": drips(b"", b"HTTP/1.1 100 Continue\r\n\r\n", HEAD + b"Content-Length: 2\r\n\r\n{}"),
}


@pytest.mark.parametrize("sends", DRIPPING.values(), ids=DRIPPING)
def test_a_timeout_is_for_the_whole_answer(sends: Sends) -> None:
    """Each byte comes in time, and all of them would do in the end; but not by then."""
    with raw_server(sends) as url:
        connection = ServerConnection(f"{url}?timeout=0.3")
        with pytest.raises(StorageUnavailable, match="no answer in time"):
            connection.call("GET", "/x", wait=600.0)
        connection.close()


def test_a_file_that_drips() -> None:
    """It has more time for what has come, but not for one byte after the other."""
    with raw_server(drips(HEAD + f"Content-Length: {DRIPS}\r\n\r\n".encode(), b" ", b"")) as url:
        connection = ServerConnection(f"{url}?timeout=0.3")
        with pytest.raises(StorageUnavailable, match="broke off: no answer in time"):
            list(connection.stream("/export.csv"))
        connection.close()


def test_a_file_that_comes_has_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ramgape.remote.connection.SLOWEST", 1.0)
    monkeypatch.setattr("ramgape.remote.connection.PIECE", 1)
    with raw_server(drips(HEAD + b"Content-Length: 300\r\n\r\n", b" ", b"")) as url:
        connection = ServerConnection(f"{url}?timeout=0.3")
        assert b"".join(connection.stream("/export.csv")) == b" " * DRIPS
        connection.close()


def endless(start: bytes, piece: bytes, most: int) -> Sends:
    def sends(send: Callable[[bytes], None], _: Callable[[], None]) -> None:
        send(start)
        for _ in range(most):
            send(piece)

    return sends


ENDLESS = {
    "chunks": (b"Transfer-Encoding: chunked\r\n\r\n[", b"10000\r\n" + b"1," * 2**15 + b"\r\n"),
    "until it closes": (b"Connection: close\r\n\r\n[", b"1," * 2**15),
    "a length": (b"Content-Length: 999999999999\r\n\r\n[", b"1," * 2**15),
}


@pytest.mark.parametrize(("start", "piece"), ENDLESS.values(), ids=ENDLESS)
def test_an_answer_has_a_size(start: bytes, piece: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ramgape.remote.connection.LARGEST_ANSWER", 2**20, raising=False)
    monkeypatch.setattr("ramgape.remote.connection.LARGEST_FILE", 2**20, raising=False)
    if start.startswith(b"Transfer"):
        start = start[:-1]
    with raw_server(endless(HEAD + start, piece, 1000)) as url:
        connection = ServerConnection(f"{url}?timeout=20")
        with pytest.raises(StorageError, match="is too long: it has more than 1,048,576 bytes"):
            connection.call("GET", "/x")
        with pytest.raises(StorageError, match="is too long: it has more than 1,048,576 bytes"):
            list(connection.stream("/x"))
        connection.close()


def test_an_answer_that_breaks_off_is_asked_for_again() -> None:
    said = iter([b'{"a"', b'{"a": 1}'])

    def sends(send: Callable[[bytes], None], _: Callable[[], None]) -> None:
        send(HEAD + b"Content-Length: 8\r\n\r\n" + next(said))

    with raw_server(sends) as url:
        connection = ServerConnection(f"{url}?timeout=20")
        assert connection.call("GET", "/x") == {"a": 1}
        connection.close()


# --- other services ---------------------------------------------------------------------------------------------------


def some_json(draw: random.Random, depth: int = 0) -> Any:
    """JSON of another service, whose keys are often those of ours."""
    kind = draw.randrange(9 if depth < 4 else 6)
    if kind >= 6:
        keys = ("studies", "next", "id", "name", "specification", "error", "message", "pulls", "done", "status", "data")
        if kind == 6:
            return [some_json(draw, depth + 1) for _ in range(draw.randrange(4))]
        return {key: some_json(draw, depth + 1) for key in draw.sample(keys, draw.randrange(6))}
    plain = (None, draw.random() < 0.5, draw.choice((-1, 0, 7, 2**70)), draw.random(), "models", "x" * 300, 1e308)
    return draw.choice(plain)


QUESTIONS: dict[str, Callable[[str], object]] = {
    "list": lambda url: ramgape.list_studies(url),
    "load": lambda url: Study.load("models", url),
    "find": lambda url: find_summary("models", url),
    "delete": lambda url: ramgape.delete_study("models", url),
    "create": lambda url: Study.create("models", ARMS, storage=url, reward_range=(0, 1), budget=30),
}


def test_another_service_is_one_clear_error() -> None:
    """200 answers by chance, each to five questions, some of them with the status of a refusal."""
    draw, said, caught = random.Random(7), Says(), []
    with fake_server(lambda _: said) as fake:
        for _ in range(200):
            said = Says(some_json(draw), draw.choice((200, 200, 201, 400, 404)))
            for question in QUESTIONS.values():
                try:
                    question(f"{fake.url}?timeout=60")
                except RamgapeError as error:
                    caught.append(error)
    assert len(caught) > 950  # a list of no study is a good answer
    assert {type(error) for error in caught} <= {StorageError, ramgape.UnknownStudy}
    assert all(re.search(OURS, str(error)) or type(error) is ramgape.UnknownStudy for error in caught)


def test_what_another_service_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    for body in ({"status": "ok"}, [], {"studies": {}}, {"studies": [{"name": "models"}], "next": None}, "hello", 7):
        with fake_server(lambda _, body=body: Says(body)) as fake:  # type: ignore[misc]
            for question in ("list", "load", "find", "delete", "create"):
                with pytest.raises(StorageError, match=OURS):
                    QUESTIONS[question](fake.url)
            assert work.answer(["ask", "models", "--storage", fake.url]) == 2
        assert "error: there is no server of ramgape at" in capsys.readouterr().err
    for body in (
        {"error": "Not Found", "message": "No message"},
        {"error": {"code": 5}},
        {"error": "x"},
        {"error": None},
    ):
        with fake_server(lambda _, body=body: Says(body, 404)) as fake, pytest.raises(StorageError, match=OURS):  # type: ignore[misc]
            ramgape.list_studies(fake.url)


def test_a_list_ends() -> None:
    pages = iter(range(10**9))

    def script(_: Asked) -> Says:
        return Says({"studies": [{"id": 1, "name": "x"}], "next": f"x{next(pages) % 3}"})

    with fake_server(script) as fake, pytest.raises(StorageError, match=r"answer\.next must be null at the end"):
        ramgape.list_studies(fake.url)


# --- servers in the wrong hands ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def true_answers(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a server of ours says, by how its path ends."""
    with open_server(f"sqlite:///{tmp_path_factory.mktemp('store') / 'studies.db'}") as address:
        return answers_of(address)


def answers_of(server_url: str) -> dict[str, Any]:
    with Study.create("models", ARMS, storage=server_url, reward_range=(0, 1), budget=60, seed=5) as study:
        pulls = study.ask(12, "me")
        study.tell_many([(pull, 0.25 * (place % 5)) for place, pull in enumerate(pulls[:8])])
        study.fail(pulls[8], "broken")
    number = call(server_url, "GET", "/studies")[1]["studies"][0]["id"]
    paths = {
        "/specification": "/specification",
        "/progress": "/progress",
        "": "?history=true",
        "/observations": "/observations?after=-1",
        "/failures": "/failures",
    }
    found = {path: call(server_url, "GET", f"/studies/{number}{asked}")[1] for path, asked in paths.items()}
    asked = call(server_url, "POST", f"/studies/{number}/exchange", {"count": 2, "worker": "me"})[1]
    return found | {"studies": call(server_url, "GET", "/studies")[1], "/exchange": asked, "number": number}


class Replay:
    """A server that says what ours has said, but for one answer."""

    def __init__(self, true: dict[str, Any]) -> None:
        self.true, self.changed = true, {}

    def __call__(self, asked: Asked) -> Says:
        path = asked.path.partition("?")[0].removeprefix("/api/v1")
        known = {**self.true, **self.changed}
        if path == "/studies":
            return Says(known["studies"])
        return Says(known[path.removeprefix(f"/studies/{self.true['number']}")])


LOOKS: dict[str, Callable[[Study], object]] = {
    "/exchange": lambda study: study.ask(2, "me"),
    "/progress": lambda study: (study.backend.progress(), study.done),
    "": lambda study: (str(study.report(history=True)), study.report().to_json()),
    "/observations": lambda study: list(study.backend.observations()),
    "/failures": lambda study: study.backend.failures(),
    "/specification": lambda study: study.backend.name,
    "studies": lambda study: None,
}


def places_in(thing: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Every place in JSON."""
    yield path
    inner = thing.items() if isinstance(thing, dict) else enumerate(thing) if isinstance(thing, list) else ()
    for key, value in inner:
        yield from places_in(value, (*path, key))


def changed(thing: Any, draw: random.Random) -> Any:
    """The same with something else in one place, or without it."""
    *way, last = draw.choice([path for path in places_in(thing) if path])
    made = copy.deepcopy(thing)
    inner = made
    for key in way:
        inner = inner[key]
    values = [None, True, -1, 2**70, 0.5, "", "z", "x" * (LONGEST_ARM + 1), [], {}, [[1]], {"a": []}, "\ud800"]
    if draw.random() < 0.15:
        del inner[last]
    else:
        inner[last] = draw.choice(values)
    return made


@pytest.mark.parametrize("count", [40, pytest.param(300, marks=pytest.mark.long)])
@pytest.mark.parametrize("path", LOOKS)
def test_answers_that_are_not_as_they_should_be(true_answers: dict[str, Any], path: str, count: int) -> None:
    """Changes by chance: what cannot be used is one error, and what can is used; no traceback, no wrong type."""
    draw, replay, refused = random.Random(f"{path} {count}"), Replay(true_answers), 0
    with fake_server(replay) as fake, Study.load("models", fake.url) as study:
        LOOKS[path](study)  # as they should be
        for _ in range(count):
            replay.changed = {path: changed(true_answers[path], draw)}
            with suppress(StorageError, ramgape.UnknownStudy):
                refused += 1
                if path in ("studies", "/specification"):
                    Study.load("models", fake.url).close()
                LOOKS[path](study)
                for pull in study.ask(2, "me"):
                    assert (type(pull.id), pull.arm in ARMS, type(pull.seed)) == (str, True, int)
                refused -= 1
    assert refused > count / 10


PULL = {"id": f"{'0' * 20}-17", "arm": "a", "seed": 5}
HOSTILE_PULLS = [
    *({**PULL, "seed": seed} for seed in ("1; touch x", "5", True, None, 1.5, -1, 2**70, [5], {"a": 1})),
    *({**PULL, "id": name} for name in ("$(touch x)", "-rf", "a b", "a;b", "", "x" * 1000, "é-1", "a\n", 5, None, [])),
    *({**PULL, "arm": arm} for arm in (5, None, "", [], {}, "\ud800", "x" * (LONGEST_ARM + 1), True)),
    *({key: value for key, value in PULL.items() if key != left} for left in PULL),
    "a",
    None,
    [],
    ["id", "arm", "seed"],
]


@pytest.mark.parametrize("pull", [*HOSTILE_PULLS, {**PULL, "arm": "z"}, {**PULL, "item": "$(touch x)"}], ids=str)
def test_hostile_pulls_are_refused(true_answers: dict[str, Any], pull: Any) -> None:
    replay = Replay(true_answers)
    replay.changed = {"/exchange": {"accepted": [], "pulls": [pull], "done": False}}
    with fake_server(replay) as fake, Study.load("models", fake.url) as study:
        with pytest.raises(StorageError, match=rf"{OURS}.*the answer\.pulls\[0\]"):
            study.ask()
        if pull in HOSTILE_PULLS:  # what needs no knowledge of the study is refused in the shell as well
            assert work.answer(["ask", "models", "--storage", fake.url]) == 2


@pytest.mark.parametrize(
    "said",
    [
        {"accepted": [], "pulls": [PULL, PULL], "done": False},
        {"accepted": [], "pulls": [{**PULL, "id": f"{'0' * 20}-{number}"} for number in range(4)], "done": False},
        {"accepted": [True], "pulls": [], "done": False},
        {"accepted": [], "pulls": [], "done": "no"},
        {"accepted": {}, "pulls": [], "done": False},
        {"pulls": [], "done": False},
    ],
)
def test_answers_are_about_what_was_sent(true_answers: dict[str, Any], said: Any) -> None:
    replay = Replay(true_answers)
    replay.changed = {"/exchange": said}
    with fake_server(replay) as fake, Study.load("models", fake.url) as study, pytest.raises(StorageError, match=OURS):
        study.ask(3)


def test_what_a_newer_server_says_besides_is_ignored(true_answers: dict[str, Any]) -> None:
    replay = Replay(true_answers)
    replay.changed = {"/exchange": {"accepted": [], "pulls": [{**PULL, "colour": "red"}], "done": False, "more": 1}}
    with fake_server(replay) as fake, Study.load("models", fake.url) as study:
        assert study.ask() == [ramgape.Pull(**PULL)]  # type: ignore[arg-type]


def test_a_refusal_of_any_length() -> None:
    refusal = {"error": "StudyError", "message": "no " * 50_000, "place": None, "what": None}
    with fake_server(lambda _: Says(refusal, 409)) as fake, pytest.raises(ramgape.StudyError) as refused:
        ramgape.list_studies(fake.url)
    assert len(str(refused.value)) <= 2000
