"""A server of studies beside a study in one's own process: trials a second, one at a time and in batches.

All take turns in slices of a second, on stores of the same kind: in memory where the system has such files, where only
work counts, and on a disk, which many share by one transaction. A trial is one exchange: the last one's answer, and the
next pull. Workers are connections of one other process, which does as little as can be.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from benchmarks.measure import Case, Row, Spread
from benchmarks.studies import OPTIONS, answer, crew, place_for_files
from benchmarks.study_pairs import ARMS, STUDY
from ramgape import Study

GROUP = "server"
MEMORY = Path("/dev/shm")
WORKERS, BATCH, WATCHERS = 16, 32, 100
GRPC = "Optuna's gRPC proxy"


def cases(quick: bool) -> Iterator[Case]:
    """In memory, and on a disk."""
    turns, length = (1, 0.3) if quick else (7, 1.0)
    if MEMORY.is_dir():
        yield Case("server, store in memory", lambda: beside(MEMORY, "store in memory", turns, length))
    if not quick:
        yield Case("server, store on a disk", lambda: beside(place_for_files(), "store on a disk", turns, length))
        with suppress(ImportError):
            import grpc  # noqa: F401

            yield Case(GRPC, lambda: grpc_proxy(turns, length))


def beside(place: Path, where: str, turns: int, length: float) -> Iterator[Row]:
    """How the server's rates compare with that of a study in its own process."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=place)))
        own = f"sqlite:///{folder.absolute() / 'own.db'}"
        Study.create(STUDY, ARMS, storage=own, **OPTIONS).close()
        (alone,) = stack.enter_context(crew("1", own, 1))
        address, token = stack.enter_context(serving(folder.absolute()))
        studies = [make(address, token, f"{STUDY} {number}") for number in range(3)]
        kinds = {"one worker": (0, 1, 1), "single": (1, WORKERS, 1), "batches": (2, WORKERS, BATCH)}
        crews = {
            kind: stack.enter_context(process("work", address, token, studies[at], workers, batch))
            for kind, (at, workers, batch) in kinds.items()
        }
        found: dict[str, list[list[float]]] = {"in process": [], **{kind: [] for kind in kinds}, "watched": []}
        for _ in range(turns):
            found["in process"].append(slice_of(alone, length))
            for kind, each in crews.items():
                found[kind].append(slice_of(each, length))
            with process("watch", address, token, studies[1], WATCHERS, 0) as watching:
                slice_of(crews["single"], 2.0 * length)  # until all have their first picture
                found["watched"].append(slice_of(crews["single"], length))
                slice_of(watching, 0)
    yield from rows_of(found, where)


def rows_of(found: dict[str, list[list[float]]], where: str) -> Iterator[Row]:
    """Ratios of what was measured in the same turn, and the times of requests."""
    rates = {kind: [told / taken for told, taken, *_ in each] for kind, each in found.items()}

    def over(kind: str, other: str) -> Spread:
        return Spread.of([mine / beside for mine, beside in zip(rates[kind], rates[other], strict=True)])

    details = {"trials_per_second": rates}
    many, batches = f"{WORKERS} workers, one at a time", f"{WORKERS} workers, batches of {BATCH}"
    yield Row(
        GROUP, f"{where}: {many}, over in process", "times", over("single", "in process"), 0.4, 1.0, "more", details
    )
    yield Row(
        GROUP, f"{where}: batches of {BATCH}, over one at a time", "times", over("batches", "single"), 5.0, None, "more"
    )
    yield Row(
        GROUP, f"{where}: with {WATCHERS} watchers, over without", "times", over("watched", "single"), 0.9, None, "more"
    )
    for kind, words in (
        ("in process", "in process"),
        ("single", many),
        ("batches", batches),
        ("one worker", "one worker"),
    ):
        yield Row(GROUP, f"{where}: {words}, trials", "1/s", Spread.of(rates[kind]), better="more")
    for kind, words in (("one worker", "one worker"), ("single", many), ("batches", batches)):
        for at, name in ((2, "p50"), (3, "p99")):
            times = Spread.of([1000.0 * each[at] for each in found[kind]])
            yield Row(GROUP, f"{where}: {words}, {name}", "ms", times)


@contextmanager
def serving(folder: Path) -> Iterator[tuple[str, str]]:
    """A server as it is started from the shell: its address and its token."""
    command = [sys.executable, "-m", "ramgape", "serve", "--port", "0", "--json", "--storage"]
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
    server = subprocess.Popen(
        [*command, f"sqlite:///{folder / 'served.db'}"],
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        told = json.loads(answer(server))
        yield told["address"], json.loads(Path(told["token_file"]).read_text(encoding="utf-8"))["token"]
    finally:
        server.terminate()
        server.communicate()


def make(address: str, token: str, name: str) -> int:
    """The number of a new study, whose kernels are there."""
    connection = HTTPConnection(address.removeprefix("http://"))
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def post(path: str, body: dict[str, Any]) -> Any:
        connection.request("POST", f"/api/v1/studies{path}", json.dumps(body), headers)
        return json.loads(connection.getresponse().read())

    number: int = post("", {"name": name, "arms": list(ARMS), **OPTIONS})["id"]
    post(f"/{number}/ask", {})
    return number


@contextmanager
def process(*arguments: object) -> Iterator[subprocess.Popen[str]]:
    """Workers, or watchers, that wait for their turn."""
    command = [sys.executable, "-m", "benchmarks.load", *map(str, arguments)]
    started = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        answer(started)
        yield started
    finally:
        started.communicate()


def slice_of(worker: subprocess.Popen[str], length: float) -> list[float]:
    """What a process has done in so many seconds."""
    assert worker.stdin is not None
    worker.stdin.write(f"{length}\n")
    worker.stdin.flush()
    return [float(each) for each in answer(worker).split()]


def grpc_proxy(turns: int, length: float) -> Iterator[Row]:
    """Pairs of ask and tell a second through Optuna's proxy, on SQLite, by as many threads."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else place_for_files()) as folder:
        url = f"sqlite:///{Path(folder).absolute() / 'theirs.db'}"
        optuna.create_study(study_name=STUDY, storage=url, sampler=optuna.samplers.RandomSampler())
        with crew_of_proxy(url) as workers:
            speeds = [
                sum(told / taken for told, taken in [slice_of(each, length) for each in workers]) for _ in range(turns)
            ]
    yield Row(GROUP, f"{GRPC}, store in memory, trials", "1/s", Spread.of(speeds), better="more")


@contextmanager
def crew_of_proxy(url: str) -> Iterator[list[subprocess.Popen[str]]]:
    """One process with threads that talk to a proxy in another."""
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([sys.executable, "-m", "benchmarks.study_pairs", f"grpc-server:{port}", url])
    try:
        with crew(f"grpc:{port}", url, 1) as workers:
            yield workers
    finally:
        server.terminate()
        server.wait()
