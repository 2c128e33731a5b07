"""A server that is killed while clients work; run by tests/test_server_kills.py as `python -m tests.server_processes`.

Each life of the server is a child that inherits the listening socket, so that clients who come between two lives wait
for the next one. It dies by a signal that it sends itself: right before or right after a commit, when nobody has been
answered, or a moment later, when some have. Clients are studies opened by the server's address, as anybody opens them:
they repeat what was not answered, under the same key where neither a pull nor a name says that it is the same.
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
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import uvicorn

from ramgape import Pull, Study
from ramgape.storage.postgres import PostgresStore
from ramgape.storage.sqlite import SqliteStore
from ramgape.web.access.roles import Access
from ramgape.web.app import make_app
from ramgape.web.open_studies import OpenStudies
from tests.servers import open_door
from tests.stage import play_all
from tests.storage_processes import in_child, say
from tests.study_processes import ARMS, OPTIONS, Worker, warm_up

WORKERS = 8
LONGEST_LIFE = 15  # commits
PATIENCE = 120.0  # seconds for a life, or for the last answers: beyond, it hangs
MOMENTS = ("before", "after", "after", "soon after")
OVER = "over"  # a file: whoever sees it finishes what it is at, and goes


# --- the server ---------------------------------------------------------------------------------------------------


def listen() -> socket.socket:
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(128)
    return listener


def address_of(listener: socket.socket) -> str:
    return f"http://127.0.0.1:{listener.getsockname()[1]}"


def serve(url: str, listener: socket.socket, commits: float, moment: str) -> None:
    """One life: until it has committed so often; for ever, if that is infinite."""
    die_at_commit(commits, moment)
    app = open_door(make_app(OpenStudies(url)), Access("tests", "admin"))
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

    for kind in (SqliteStore, PostgresStore):
        kind.commit = dying(kind.commit)  # type: ignore[method-assign]


# --- its clients --------------------------------------------------------------------------------------------------


class Over(Exception):
    """Nothing more is to be done."""


class Client(Worker):
    """A worker that knows only a server. Nobody kills it, so whatever it is given it answers: leases have no end."""

    lease = None  # type: ignore[assignment]

    def __init__(self, address: str, goal: str, folder: Path, name: str | None) -> None:
        super().__init__(address, goal, folder, name)
        self._over = folder.parent / OVER

    def work(self) -> None:
        with suppress(Over):
            super().work()

    def one_round(self, study: Study) -> None:
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
        end = time.monotonic() + PATIENCE
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
        Client(address_of(listener), goal, Path(folder), name).work()

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
    """Every kind of request, each to a server that dies at its first commit; who comes next hears it again. Say what
    came of it."""
    listener = listen()
    for name, step in all_steps(address_of(listener)).items():
        with Cast() as cast:
            first = cast.enter(lambda: serve(url, listener, 1, moment))

            def go_on(cast: Cast = cast, first: int = first) -> None:
                assert cast.leave(first)[1] == -signal.SIGKILL
                cast.enter(lambda: serve(url, listener, math.inf, ""))

            successor = threading.Thread(target=go_on)
            successor.start()
            say(json.dumps([name, step()]))
            successor.join()


def all_steps(address: str) -> dict[str, Callable[[], Any]]:
    """Requests that change a study, in the order in which they make sense."""
    options: dict[str, Any] = {"reward_range": (0, 1), "epsilon": 0.1, "expected_arms": 9, "retries": 0}
    known: dict[str, Study] = {}
    pulls: list[Pull] = []

    def create() -> str:
        known["study"] = Study.create("requests", ARMS, storage=address, data=[("poor", 0.25)] * 5, **options)
        return known["study"].name

    def ask(worker: str | None) -> int:
        pulls.extend(known["study"].ask(2, worker))
        return len(pulls)

    return {
        "create": create,
        "ask": lambda: ask(None),
        "ask as ada": lambda: ask("ada"),
        "tell": lambda: known["study"].tell(pulls[0], 0.5).accepted,
        "fail": lambda: known["study"].fail(pulls[1], "bad luck").accepted,
        "give back": lambda: known["study"].give_back(pulls[2]).accepted,
        "leave": lambda: known["study"].leave("ada"),
        "retry": lambda: known["study"].retry(),
        "observe": lambda: known["study"].observe("poor", 0.5).accepted,
        "import": lambda: known["study"].import_jsonl(io.StringIO('{"arm": "wild", "reward": 0.5}\n' * 3)),
        "extend": lambda: known["study"].extend(epsilon=0.05),
        "add an arm": lambda: [known["study"].add_arm("new"), *known["study"].arms],
        "retire": lambda: [known["study"].retire("poor"), *known["study"].arms],
    }


def warm_up_server() -> None:
    """Compile and import what the first request would."""
    with tempfile.TemporaryDirectory() as folder, Cast() as cast:
        listener = listen()
        cast.enter(lambda: serve(f"sqlite:///{folder}/warm.db", listener, math.inf, ""))
        with Study.create("warm", ARMS, storage=address_of(listener), **OPTIONS["budget"]) as study:
            study.ask(1)


if __name__ == "__main__":
    warm_up()
    warm_up_server()
    play_all(globals())
