"""Studies: pairs of ask and tell a second, beside Optuna's in the same run, and how long large ones take.

Optuna draws one categorical with its RandomSampler; both are durable, with the same disk or server. A pair of ours is
one exchange, but in memory, where a transaction costs nothing. Ours and Optuna's processes take turns in slices of a
second. Times are those of a clock on the wall, since a disk is part of it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measure import Case, Row, Spread
from benchmarks.study_pairs import ARMS, STUDY
from ramgape import Study
from tests.postgres import new_database, postgres_server

GROUP = "studies"
OPTIONS: dict[str, Any] = {"reward_range": (0.0, 1.0), "epsilon": 0.0}  # equal arms: it never ends


def cases(quick: bool) -> Iterator[Case]:
    """In memory, on SQLite, on PostgreSQL; then large studies."""
    turns, length = (1, 0.2) if quick else (5, 1.0)

    def against(name: str, where: str, batch: int, processes: int, target: float, goal: float | None) -> Case:
        return Case(name, lambda: against_optuna(name, where, batch, processes, turns, length, target, goal))

    yield Case("in memory", lambda: in_memory(500 if quick else 10_000, turns))
    yield against("SQLite, one process", "sqlite", 1, 1, 7.0, 10.0)
    if not quick:  # to see that it runs, one of each kind is enough
        yield against("SQLite, 4 processes on one study", "sqlite", 1, 4, 7.0, 10.0)
        yield against("PostgreSQL, one process", "postgresql", 1, 1, 4.0, None)
    yield against("PostgreSQL, in batches of 100", "postgresql", 100, 1, 20.0, None)
    yield Case("tell_many", lambda: tell_many(1_000 if quick else 10_000, turns))
    yield Case("reopening", lambda: reopening(10_000 if quick else 1_000_000, min(turns, 3)))


def in_memory(pairs: int, turns: int) -> Iterator[Row]:
    """One pair at a time, without a store."""
    speeds = []
    for _ in range(turns):
        study = Study.create("memory", ARMS, **OPTIONS)
        begun = time.perf_counter()
        for _ in range(pairs):
            (pull,) = study.ask()
            study.tell(pull, 0.5)
        speeds.append(pairs / (time.perf_counter() - begun))
    yield Row(GROUP, "in memory, pairs of ask and tell", "1/s", Spread.of(speeds), 30_000.0, better="more")


def against_optuna(
    name: str, where: str, batch: int, processes: int, turns: int, length: float, target: float, goal: float | None
) -> Iterator[Row]:
    """How many times as many pairs a second as Optuna."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(dir=place_for_files())))
        if where == "sqlite":
            ours, theirs = f"sqlite:///{folder / 'ours.db'}", f"sqlite:///{folder / 'theirs.db'}"
        else:
            server = stack.enter_context(postgres_server(durable=True))
            ours, theirs = new_database(server), new_database(server).replace("postgresql:", "postgresql+psycopg:")
        Study.create(STUDY, ARMS, storage=ours, **OPTIONS).close()
        create_optuna(theirs)
        us = stack.enter_context(crew(str(batch), ours, processes))
        them = stack.enter_context(crew("optuna", theirs, processes))
        pairs = [(speed(us, length), speed(them, length)) for _ in range(turns)]
    ratios = [mine / other for mine, other in pairs]
    details = {"pairs_per_second": [mine for mine, _ in pairs], "optuna": [other for _, other in pairs]}
    yield Row(GROUP, f"{name}, over Optuna", "times", Spread.of(ratios), target, goal, "more", details)
    yield Row(GROUP, f"{name}, pairs", "1/s", Spread.of([mine for mine, _ in pairs]), better="more")


def create_optuna(url: str) -> None:
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    optuna.create_study(study_name=STUDY, storage=url, sampler=optuna.samplers.RandomSampler())


@contextmanager
def crew(kind: str, url: str, processes: int) -> Iterator[list[subprocess.Popen[str]]]:
    """Processes that wait for work."""
    command = [sys.executable, "-m", "benchmarks.study_pairs", kind, url]
    workers = [
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(processes)
    ]
    try:
        for worker in workers:
            answer(worker)
        yield workers
    finally:
        for worker in workers:
            worker.communicate()


def answer(worker: subprocess.Popen[str]) -> str:
    assert worker.stdout is not None
    line = worker.stdout.readline()
    assert line, "a process of the benchmark has failed"
    return line


def speed(workers: list[subprocess.Popen[str]], length: float) -> float:
    """Pairs a second, all processes together."""
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write(f"{length}\n")
        worker.stdin.flush()
    found = [answer(worker).split() for worker in workers]
    return sum(int(count) / float(taken) for count, taken in found)


def place_for_files() -> Path:
    """A folder on the disk that the project is on: a temporary one may be in memory."""
    folder = Path("build")
    folder.mkdir(exist_ok=True)
    return folder


def tell_many(count: int, turns: int) -> Iterator[Row]:
    """Many observations in one transaction, on SQLite."""
    rewards = np.random.default_rng(0).random(count).tolist()
    speeds = []
    with tempfile.TemporaryDirectory(dir=place_for_files()) as folder:
        study = Study.create("many", ARMS, storage=f"sqlite:///{folder}/studies.db", **OPTIONS)
        for _ in range(turns):
            answers = list(zip(study.ask(count), rewards, strict=True))
            begun = time.perf_counter()
            study.tell_many(answers)
            speeds.append(count / (time.perf_counter() - begun))
        study.close()
    what = f"tell_many of {count:,} on SQLite, observations"
    yield Row(GROUP, what, "1/s", Spread.of(speeds), 20_000.0, better="more")


def reopening(count: int, turns: int) -> Iterator[Row]:
    """Loading a study with many observations, and asking it for a pull."""
    rewards = np.random.default_rng(0).random(count).tolist()
    seconds = []
    with tempfile.TemporaryDirectory(dir=place_for_files()) as folder:
        url = f"sqlite:///{folder}/studies.db"
        rows = ((ARMS[number % len(ARMS)], reward) for number, reward in enumerate(rewards))
        Study.create("large", ARMS, storage=url, data=rows, **OPTIONS).close()
        for _ in range(turns):
            begun = time.perf_counter()
            study = Study.load("large", url)
            assert len(study.ask()) == 1
            seconds.append(time.perf_counter() - begun)
            study.close()
    yield Row(GROUP, f"reopening a study of {count:,} observations", "s", Spread.of(seconds), 2.0)
