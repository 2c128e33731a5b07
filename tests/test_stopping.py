"""A server that stops, or is locked out, while others ask: they are told to ask again, and nobody waits for ever."""

from __future__ import annotations

import fcntl
import json
import random
import signal
import socket
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from ramgape import Study
from ramgape.errors import StorageError, StorageUnavailable
from ramgape.remote.connection import ServerConnection
from ramgape.storage import open_store
from ramgape.studies.checking import check_store
from ramgape.web.access.limits import Settings
from ramgape.web.access.token_file import TokenFile
from tests.cli_support import NO_SIGNALS, environment
from tests.guarded import World
from tests.servers import serving_of, token_of

pytestmark = NO_SIGNALS
OPTIONS: dict[str, Any] = {"reward_range": (0, 1), "budget": 1_000_000}
LOCKED = "BEGIN EXCLUSIVE"  # what keeps everybody else out of a SQLite file


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """A store that another process has for itself."""
    with closing(sqlite3.connect(path, isolation_level=None, timeout=60)) as other:
        other.execute(LOCKED)
        yield
        other.execute("ROLLBACK")


# --- what clients are told --------------------------------------------------------------------------------------------


def test_a_request_that_outlasts_the_grace_is_to_be_repeated(tmp_path: Path) -> None:
    """Its answer is an error of ours, and not a bare 500, which clients took for another server."""
    storage = f"sqlite:///{tmp_path}/s.db"
    Study.create("s", ["a", "b"], storage=storage, **OPTIONS).close()
    answers = []
    with serving_of(storage, tmp_path, Settings(grace=0.2)) as serving:
        headers = {"Authorization": f"Bearer {token_of(serving)}", "Content-Type": "application/json"}
        line = HTTPConnection("127.0.0.1", serving.socket.getsockname()[1], timeout=60)
        line.request("POST", "/api/v1/studies/1/ask", b"{}", headers)  # it has the study open
        line.getresponse().read()

        def ask() -> None:
            line.request("POST", "/api/v1/studies/1/ask", b"{}", headers)
            answer = line.getresponse()
            answers.append((answer.status, answer.getheader("Retry-After"), json.loads(answer.read())["error"]))

        with locked(tmp_path / "s.db"):
            asking = threading.Thread(target=ask)
            asking.start()
            while "ramgape_requests_under_way 1" not in serving.context.metrics.text():
                time.sleep(0.01)
            stop(serving)
            asking.join(30)
        line.close()
    assert answers == [(503, "1", "StorageUnavailable")]


def stop(serving: Any) -> None:
    """As SIGTERM does, and wait until it has."""
    import gc

    from uvicorn import Server

    (server,) = [
        each for each in gc.get_objects() if isinstance(each, Server) and each.config.app is serving.middleware
    ]
    server.should_exit = True


class Odd(BaseHTTPRequestHandler):
    """Answers as it is told, once for each request."""

    answers: ClassVar[list[tuple[int, str, bytes]]] = []

    def do_GET(self) -> None:
        status, kind, content = self.answers.pop(0)
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """Nothing."""


@pytest.fixture
def odd() -> Iterator[str]:
    server = HTTPServer(("127.0.0.1", 0), Odd)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


GOOD = (200, "application/json", b'{"studies": []}')
OURS = {"error": "InternalError", "message": "a mistake", "place": None, "what": None, "allowed": None, "given": None}


def test_a_client_repeats_what_was_answered_by_a_500_that_is_not_ours(odd: str) -> None:
    Odd.answers = [(500, "text/plain", b"Internal Server Error"), GOOD]
    assert ServerConnection(odd, "rg_x").call("GET", "/studies") == {"studies": []}
    Odd.answers = [(500, "application/json", json.dumps(OURS).encode()), GOOD]
    with pytest.raises(StorageError, match="a mistake"):
        ServerConnection(odd, "rg_x").call("GET", "/studies")
    assert Odd.answers == [GOOD]


# --- locks ------------------------------------------------------------------------------------------------------------


def test_whoever_waits_for_sqlite_can_be_interrupted(tmp_path: Path) -> None:
    store = open_store(f"sqlite:///{tmp_path}/s.db?timeout=600", create=True)
    row = store.create_study("s", "key", "{}", 1.0)
    assert row is not None
    raised = []

    def wait() -> None:
        try:
            store.begin(row.id, write=True)
        except StorageUnavailable as error:
            raised.append(error)

    with locked(tmp_path / "s.db"):
        waiting = threading.Thread(target=wait, daemon=True)
        waiting.start()
        time.sleep(0.1)
        assert waiting.is_alive()
        store.interrupt()
        waiting.join(60)
    assert len(raised) == 1
    store.close()


def test_the_lock_on_tokens_is_not_waited_for_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ramgape.web.access.token_file.LOCK_PATIENCE", 0.1)
    world = World(tmp_path)
    world.token("read")
    content = b'{"role": "read"}'
    headers = {"authorization": f"Bearer {world.own}", "content_type": "application/json"}
    with (tmp_path / "tokens.json.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        answer = world.ask("POST", "/api/v1/tokens", content, content_length=str(len(content)), **headers)
        assert (answer.status, answer.json["error"]) == (503, "StorageUnavailable")
        assert "is locked by another process, and was for 0.1 s: try again" in answer.json["message"]
        with pytest.raises(StorageUnavailable, match=r"end the process that holds .*tokens.json.lock"):
            TokenFile(tmp_path / "tokens.json").revoke("x")
    assert world.ask("POST", "/api/v1/tokens", content, content_length=str(len(content)), **headers).status == 201


# --- restarts ---------------------------------------------------------------------------------------------------------


class Restarted:
    """`ramgape serve` at one port, in one life after another."""

    def __init__(self, folder: Path, grace: float) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.address, self._grace = f"http://127.0.0.1:{self.port}", grace
        self.storage = f"sqlite:///{folder}/s.db"
        self.environment = environment() | {"XDG_STATE_HOME": str(folder / "state")}
        self.process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """Begin another life."""
        command = [sys.executable, "-m", "ramgape", "serve", "--port", str(self.port), "--storage", self.storage]
        command += ["--grace", str(self._grace), "--json", "--log-level", "error"]
        self.process = subprocess.Popen(command, stdout=-1, stderr=-1, text=True, env=self.environment)
        assert self.process.stdout is not None
        assert self.process.stdout.readline(), self.process.communicate()[1]

    def end(self, sent: signal.Signals) -> int:
        """End this one; what it says of that. It hangs if it takes as long as a unit of systemd gives it."""
        assert self.process is not None
        self.process.send_signal(sent)
        self.process.communicate(timeout=30)
        return self.process.returncode


@pytest.fixture
def restarted(tmp_path: Path) -> Iterator[Restarted]:
    made = Restarted(tmp_path, 0.5)
    yield made
    if made.process is not None and made.process.poll() is None:
        made.process.kill()
        made.process.communicate()


def test_a_server_whose_store_is_locked_stops(restarted: Restarted, tmp_path: Path) -> None:
    """Whatever waits for the lock, for a minute, is told to ask again."""
    Study.create("s", ["a", "b"], storage=restarted.storage, **OPTIONS).close()
    restarted.start()
    token = json.loads((tmp_path / f"state/ramgape/servers/{restarted.port}.json").read_text())["token"]
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    with closing(HTTPConnection("127.0.0.1", restarted.port, timeout=60)) as line:
        line.request("POST", "/api/v1/studies/1/ask", b"{}", headers)
        assert line.getresponse().read()
        with locked(tmp_path / "s.db"):
            line.request("POST", "/api/v1/studies/1/ask", b"{}", headers)
            time.sleep(0.3)
            assert restarted.end(signal.SIGTERM) == 0
        assert line.getresponse().status == 503


WORKER = """
import random, sys, time
import ramgape
address, log, seed = sys.argv[1:]
study, dice = ramgape.Study.load("s", address), random.Random(int(seed))
with open(log, "a", buffering=1) as told:
    answers = []
    while True:
        exchanged = study.exchange(answers, count=2)
        for pull, reward in answers:
            told.write(f"{pull} {reward!r}\\n")
        if exchanged.done:
            break
        answers = [(pull.id, dice.choice([0.0, 1.0])) for pull in exchanged.pulls]
        time.sleep(0.01)
"""


@pytest.mark.parametrize(("restarts", "workers"), [(3, 2), pytest.param(20, 6, marks=pytest.mark.long)])
def test_workers_go_on_after_restarts(restarted: Restarted, tmp_path: Path, restarts: int, workers: int) -> None:
    """SIGTERM and SIGKILL, also with a locked store: each worker goes on by itself; 0 lost, 0 doubled."""
    budget = 100 * restarts * workers
    Study.create("s", ["a", "b"], storage=restarted.storage, reward_range=(0, 1), budget=budget).close()
    restarted.start()
    logs = [tmp_path / f"log-{place}" for place in range(workers)]
    working = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, restarted.address, str(log), str(seed)],
            stderr=-1,
            text=True,
            env=restarted.environment,
        )
        for seed, log in enumerate(logs)
    ]
    dice = random.Random(7)
    for place in range(restarts):
        before = told_in(logs)
        while told_in(logs) < before + 2 * workers and all(each.poll() is None for each in working):
            time.sleep(0.05)  # they work
        sent = (signal.SIGTERM, signal.SIGKILL, signal.SIGTERM)[place % 3]
        if place % 3 == 2:
            with locked(tmp_path / "s.db"):
                time.sleep(0.5)
                assert restarted.end(sent) == 0
        else:
            time.sleep(dice.uniform(0.0, 0.1))
            restarted.end(sent)
        restarted.start()
    ended = [(each.wait(timeout=600), each.communicate()[1]) for each in working]
    assert ended == [(0, "")] * workers
    restarted.end(signal.SIGTERM)
    told = dict(line.split() for log in logs for line in log.read_text().splitlines())
    with Study.load("s", restarted.storage) as study:
        kept = {row.pull: repr(row.reward) for row in (each.row for each in study.backend.observations())}
        assert len(kept) == study.report().told  # none is there twice
    assert {pull: reward for pull, reward in told.items() if kept.get(pull) != reward} == {}  # none is lost
    assert len(kept) >= budget
    assert check_store(restarted.storage).sound


def told_in(logs: list[Path]) -> int:
    """How many answers the workers know to be stored."""
    return sum(log.read_text().count("\n") for log in logs if log.exists())
