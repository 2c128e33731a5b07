"""A server that is killed while clients work; run by tests/test_server_kills.py as `python -m tests.server_processes`.

Each life of the server is a child that inherits the listening socket, so that clients who come between two lives wait
for the next one. It dies by a signal that it sends itself: right before or right after a commit, when nobody has been
answered, or a moment later, when some have. A client repeats what was not answered, under the same key where neither a
pull nor its name says that it is the same.
"""

from __future__ import annotations

import io
import itertools
import json
import math
import os
import random
import signal
import socket
import tempfile
import threading
import time
import uuid
from collections.abc import Callable
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import uvicorn

import ramgape
from ramgape import Pull
from ramgape.storage.postgres import PostgresDatabase
from ramgape.storage.sqlite import SqliteDatabase
from ramgape.studies.exchange import Answer
from ramgape.web.access import Access
from ramgape.web.app import BASE, make_app
from ramgape.web.rooms import Rooms
from tests.servers import open_door
from tests.stage import play_all
from tests.storage_processes import in_child, say
from tests.study_processes import ARMS, OPTIONS, Worker, warm_up

WORKERS = 8
LONGEST_LIFE = 30  # commits
PATIENCE = 60.0  # seconds for an answer: beyond, it hangs
PAUSE = 0.02  # seconds between two tries
MOMENTS = ("before", "after", "after", "soon after")
OVER = "over"  # a file: whoever sees it finishes what it is at, and goes


# --- the server ---------------------------------------------------------------------------------------------------


def listen() -> socket.socket:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    return listener


def serve(url: str, listener: socket.socket, commits: float, moment: str) -> None:
    """One life: until it has committed so often; for ever, if that is infinite."""
    die_at_commit(commits, moment)
    app = open_door(make_app(Rooms(url)), Access("tests", "admin"))
    uvicorn.Server(uvicorn.Config(app, log_level="warning", lifespan="on")).run(sockets=[listener])


def die_at_commit(number: float, moment: str) -> None:
    """From now on this process dies at its so many-th commit, whatever is committed."""
    counted, die = itertools.count(1), lambda: os.kill(os.getpid(), signal.SIGKILL)

    def dying(commit: Callable[..., None]) -> Callable[..., None]:
        def committed(database: Any) -> None:
            last = next(counted) >= number
            if last and moment == "before":
                die()
            commit(database)
            if last and moment == "after":
                die()
            if last:
                threading.Timer(random.uniform(0.0, 0.005), die).start()

        return committed

    for kind in (SqliteDatabase, PostgresDatabase):
        kind.commit = dying(kind.commit)  # type: ignore[method-assign]


# --- its clients --------------------------------------------------------------------------------------------------


class Line:
    """Asks a server again and again, until it answers."""

    def __init__(self, port: int) -> None:
        self._port, self._connection = port, None
        self.tries = 0

    def call(self, method: str, path: str, body: Any = None, keyed: bool = False) -> Any:
        """What it answers, or the error that it raised; under one key, however often it is asked, if it is `keyed`."""
        content = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        headers = {"Content-Type": "application/json"} | ({"Idempotency-Key": uuid.uuid4().hex} if keyed else {})
        end = time.monotonic() + PATIENCE
        while True:
            self.tries += 1
            try:
                status, found = self._try(method, path, content, headers)
            except (HTTPException, OSError):
                self._connection = None
                status, found = 0, None
            if 200 <= status < 300:
                return found
            if status not in (0, 429, 503):
                raise getattr(ramgape, found["error"], AssertionError)(found["message"])
            assert time.monotonic() < end, (method, path, status, found)
            time.sleep(PAUSE)

    def _try(self, method: str, path: str, content: bytes | None, headers: dict[str, str]) -> tuple[int, Any]:
        self._connection = self._connection or HTTPConnection("127.0.0.1", self._port, timeout=PATIENCE)
        self._connection.request(method, BASE + path, content, headers)
        response = self._connection.getresponse()
        text = response.read()
        return response.status, json.loads(text) if text else None


class FarStudy:
    """A study on a server: as much of `Study` as a worker takes."""

    def __init__(self, line: Line, name: str, options: dict[str, Any], **more: Any) -> None:
        made = line.call("POST", "/studies", {"name": name, "arms": ARMS, **options, **more}, keyed=True)
        self.name, self._line, self.path = name, line, f"/studies/{made['id']}"

    def post(self, what: str, body: Any, keyed: bool = False) -> Any:
        return self._line.call("POST", f"{self.path}/{what}", body, keyed)

    def ask(self, count: int, worker: str | None = None, lease: float | None = None) -> list[Pull]:
        body = {"count": count, "worker": worker, "lease": lease}
        return [Pull(**each) for each in self.post("ask", body, keyed=worker is None)["pulls"]]

    def tell_many(self, told: list[tuple[Pull, float]]) -> list[Answer]:
        found = self.post("tell", {"answers": [{"pull": pull.id, "reward": reward} for pull, reward in told]})
        return [Answer(accepted, found["done"]) for accepted in found["accepted"]]

    def fail(self, pull: Pull, reason: str) -> Answer:
        return Answer(**self.post("fail", {"pull": pull.id, "reason": reason}))

    def observe(self, arm: str, reward: float) -> None:
        self.post("observe", {"trials": [{"arm": arm, "reward": reward}]}, keyed=True)

    def import_jsonl(self, stream: io.StringIO) -> int:
        imported: int = self.post("import?format=jsonl", stream.getvalue().encode(), keyed=True)["imported"]
        return imported

    def report(self) -> Any:
        found = self._line.call("GET", f"{self.path}?expect=false")
        return SimpleNamespace(told=found["told"], pending=found["pending"])

    @property
    def spec(self) -> Any:
        return SimpleNamespace(search=SimpleNamespace(limit=10**9))  # which is checked in the end

    @property
    def done(self) -> bool:
        done: bool = self._line.call("GET", f"{self.path}/progress")["done"]
        return done


class Over(Exception):
    """Nothing more is to be done."""


class Client(Worker):
    """A worker that knows only a server. Nobody kills it, so whatever it is given it answers: leases have no end."""

    lease = None

    def __init__(self, port: int, goal: str, folder: Path, name: str | None) -> None:
        super().__init__("", goal, folder, name)
        self._line, self._over = Line(port), folder.parent / OVER

    def work(self) -> None:
        with suppress(Over):
            super().work()

    def open(self, name: str) -> Any:
        return FarStudy(self._line, name, OPTIONS[self.goal], exist_ok=True)

    def one_round(self, study: Any) -> None:
        if self._over.exists():
            raise Over
        super().one_round(study)


# --- scenes -------------------------------------------------------------------------------------------------------


class Cast:
    """Processes, of which none is left in the end."""

    def __init__(self) -> None:
        self._present: set[int] = set()

    def enter(self, work: Callable[[], object]) -> int:
        self._present.add(child := in_child(work))
        return child

    def leave(self, child: int = -1) -> tuple[int, int]:
        """Wait for one of them, or any; which it was, and how it ended."""
        end = time.monotonic() + 2.0 * PATIENCE
        while (found := os.waitpid(child, os.WNOHANG))[0] == 0:
            assert time.monotonic() < end, "nobody gets on"
            time.sleep(0.005)
        left, status = found
        self._present.discard(left)
        return left, os.waitstatus_to_exitcode(status)

    def __enter__(self) -> Cast:
        return self

    def __exit__(self, *_: object) -> None:
        for child in list(self._present):
            os.kill(child, signal.SIGKILL)
            self.leave(child)


def lives(url: str, goal: str, folder: str, count: int, seed: int) -> None:
    """A server dies so many times while clients work; in one more life they come to an end."""
    dice, listener = random.Random(seed), listen()
    # Two have one name, two another, and the rest none: nothing but a key knows their requests again.
    names = ["ada", "ada", "bob", "bob", *[None] * (WORKERS - 4)]

    def work(name: str | None) -> None:
        Client(listener.getsockname()[1], goal, Path(folder), name).work()

    with Cast() as cast:
        clients = [cast.enter(lambda name=name: work(name)) for name in names]  # type: ignore[misc]
        for _ in range(count):
            life = dice.randint(1, LONGEST_LIFE), dice.choice(MOMENTS)
            server = cast.enter(lambda life=life: serve(url, listener, *life))  # type: ignore[misc]
            assert cast.leave() == (server, -signal.SIGKILL), "a client has ended"
            say(life[1])
        server = cast.enter(lambda: serve(url, listener, math.inf, ""))
        (Path(folder).parent / OVER).touch()
        assert [cast.leave(client)[1] for client in clients] == [0] * len(clients)
        os.kill(server, signal.SIGTERM)
        assert cast.leave(server)[1] in (0, -signal.SIGTERM)


def requests(url: str, moment: str) -> None:
    """Every kind of request, each to a server that dies at its first commit, and once more to whoever comes next; say
    what came of it, and how often it was tried."""
    listener = listen()
    line = Line(listener.getsockname()[1])
    steps = all_steps(line)
    for name, step in steps.items():
        with Cast() as cast:
            first = cast.enter(lambda: serve(url, listener, 1, moment))

            def go_on(cast: Cast = cast, first: int = first) -> None:
                assert cast.leave(first)[1] == -signal.SIGKILL
                cast.enter(lambda: serve(url, listener, math.inf, ""))

            successor = threading.Thread(target=go_on)
            successor.start()
            line.tries = 0
            say(json.dumps([name, step(), line.tries]))
            successor.join()


def all_steps(line: Line) -> dict[str, Callable[[], object]]:
    """Requests that change a study, in the order in which they make sense."""
    options = {"reward_range": (0, 1), "epsilon": 0.1, "expected_arms": 9, "retries": 0}
    study: Any = None
    pulls: list[Pull] = []

    def create() -> None:
        nonlocal study
        study = FarStudy(line, "requests", options, exist_ok=False, data=[["poor", 0.25]] * 5)

    def ask(worker: str | None) -> int:
        pulls.extend(study.ask(2, worker))
        return len(pulls)

    return {
        "create": create,
        "ask": lambda: ask(None),
        "ask as ada": lambda: ask("ada"),
        "tell": lambda: study.tell_many([(pulls[0], 0.5)])[0].accepted,
        "fail": lambda: study.fail(pulls[1], "bad luck").accepted,
        "give back": lambda: study.post("give-back", {"pulls": [pulls[2].id]})["accepted"],
        "leave": lambda: study.post("leave", {"worker": "ada"}, keyed=True)["given_back"],
        "retry": lambda: study.post("retry", None, keyed=True)["retried"],
        "observe": lambda: study.observe("poor", 0.5),
        "import": lambda: study.import_jsonl(io.StringIO('{"arm": "wild", "reward": 0.5}\n' * 3)),
        "extend": lambda: study.post("extend", {"epsilon": 0.05}, keyed=True)["more"],
        "add an arm": lambda: study.post("arms", {"name": "new"}, keyed=True)["arms"],
        "retire": lambda: line.call("DELETE", f"{study.path}/arms?name=poor", keyed=True)["arms"],
    }


def warm_up_server() -> None:
    """Compile and import what the first request would."""
    with tempfile.TemporaryDirectory() as folder, Cast() as cast:
        listener = listen()
        cast.enter(lambda: serve(f"sqlite:///{folder}/warm.db", listener, math.inf, ""))
        FarStudy(Line(listener.getsockname()[1]), "warm", OPTIONS["budget"]).ask(1)


if __name__ == "__main__":
    warm_up()
    warm_up_server()
    play_all(globals())
