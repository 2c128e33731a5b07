"""A run outlasts a store that is away for a while: every reward is told once, or it says what it could not tell."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

import ramgape
from ramgape import Pull, Study
from tests.study_processes import ARMS

BUDGET = 60


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "studies.db"


class Trials:
    """Trials whose outcomes are all different, and remembered."""

    def __init__(self) -> None:
        self.measured: list[float] = []
        self.before: Callable[[int], object] = lambda number: None  # what happens before a trial

    def __call__(self, arm: str, generator: Any) -> float:
        self.before(len(self.measured))
        self.measured.append(generator.random())
        return self.measured[-1]


def new_study(url: str, budget: int = BUDGET) -> Study:
    return Study.create("outlasting", ARMS, storage=url, reward_range=(0, 1), budget=budget, seed=1)


def stored(study: Study, folder: Path) -> list[float]:
    study.export_jsonl(folder / "stored.jsonl")
    return [json.loads(line)["reward"] for line in (folder / "stored.jsonl").read_text().splitlines()]


def check(study: Study, trials: Trials, folder: Path) -> None:
    """All that was measured is there, once; nothing was measured in vain."""
    rewards = stored(study, folder)
    assert sorted(rewards) == sorted(trials.measured)
    assert len(set(rewards)) == study.spec.search.limit
    report = study.report()
    assert (report.pending, report.failed) == (0, 0)


@contextmanager
def locked(file: Path) -> Iterator[None]:
    """Somebody has the file for as long as this lasts."""
    other = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN EXCLUSIVE")
    try:
        yield
    finally:
        other.close()


def test_a_file_is_locked_for_longer_than_is_waited_for(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trials, held, refused = Trials(), [], []

    def lock(number: int) -> None:
        if number in (0, 7, 20):
            held.append(locked(file))
            held[-1].__enter__()

    trials.before = lock
    with new_study(f"sqlite:///{file}?timeout=0.1") as study:
        store = study.backend.session.store
        begin = store.begin

        def begun(*arguments: Any) -> Any:
            try:
                return begin(*arguments)
            except ramgape.StorageUnavailable as error:
                refused.append(error)
                held.pop().__exit__(None, None, None)
                raise

        monkeypatch.setattr(store, "begin", begun)
        assert study.run(trials).samples == BUDGET
        assert (len(refused), held) == (3, [])
        check(study, trials, tmp_path)


@pytest.mark.parametrize("workers", [1, 3])
def test_a_file_that_stays_locked(file: Path, tmp_path: Path, workers: int) -> None:
    trials, free, held = Trials(), [locked(file)], []

    def lock(number: int) -> None:
        if number >= 10 and free:
            held.append(free.pop())
            held[0].__enter__()

    trials.before = lock
    with new_study(f"sqlite:///{file}?timeout=0.1") as study:
        with pytest.raises(
            ramgape.StorageUnavailable, match=r"locked by another process.*measured and not told"
        ) as caught:
            study.run(trials, workers=workers)
        held[0].__exit__(None, None, None)
        (pull, reward), *_ = untold = caught.value.untold
        assert f"{pull.id} {reward!r}" in str(caught.value)
        assert all(study.tell_many(untold))
        assert set(stored(study, tmp_path)) <= set(trials.measured)
        assert {reward for _, reward in untold} <= set(stored(study, tmp_path))


def hang_up(url: str) -> None:
    """End all other connections."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
        )


@pytest.mark.parametrize("workers", [1, 4])
def test_a_server_that_hangs_up_all_the_time(postgres_url: str, tmp_path: Path, workers: int) -> None:
    over, dice = threading.Event(), random.Random(5)

    def hang_up_again_and_again() -> None:
        while not over.wait(dice.uniform(0.0, 0.2)):
            hang_up(postgres_url)

    trials, thread = Trials(), threading.Thread(target=hang_up_again_and_again)
    with new_study(postgres_url) as study:
        thread.start()
        try:
            assert study.run(trials, workers=workers).samples == BUDGET
        finally:
            over.set()
            thread.join()
        study.close()
        check(study, trials, tmp_path)


def test_a_server_that_crashes_and_starts_again(postgres_url: str, tmp_path: Path) -> None:
    trials = Trials()

    def crash(number: int) -> None:
        if number in (5, 30):
            with psycopg.connect(postgres_url) as connection:
                process = connection.info.backend_pid
                os.kill(process, signal.SIGKILL)  # then the server ends all others, and recovers
                with pytest.raises(psycopg.OperationalError):
                    connection.execute("SELECT 1")

    trials.before = crash
    with new_study(postgres_url) as study:
        assert study.run(trials).samples == BUDGET
        check(study, trials, tmp_path)


def test_a_commit_of_which_nobody_hears(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may have happened or not; either way it is asked and told again, and counts once."""
    with new_study(url) as study:
        store, dice = study.backend.session.store, random.Random(3)
        commit, failed = store.commit, []

        def unheard() -> None:
            happened = dice.random() < 0.5
            if dice.random() < 0.3:
                failed.append(happened)
                if happened:
                    commit()
                raise ramgape.StorageUnavailable("the connection broke")
            commit()

        trials = Trials()
        with monkeypatch.context() as patch:
            patch.setattr(store, "commit", unheard)
            assert study.run(trials, workers=1).samples == BUDGET
        assert {True, False} <= set(failed)
        check(study, trials, tmp_path)


def test_an_interrupt_while_the_store_is_away(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trials = Trials()
    with new_study(url) as study:
        store = study.backend.session.store
        begin, refusals = store.begin, 3

        def refuse(*arguments: Any) -> Any:
            nonlocal refusals
            if len(trials.measured) < 10 or not refusals:
                return begin(*arguments)
            refusals -= 1
            if not refusals:  # it is there again when what was measured is to be told
                signal.raise_signal(signal.SIGINT)
            raise ramgape.StorageUnavailable("the server is away")

        monkeypatch.setattr(store, "begin", refuse)
        result = study.run(trials)
        assert (result.stopped, result.samples) == ("interrupted", 10)
        assert stored(study, tmp_path) == trials.measured


def test_errors_that_stay_are_not_waited_for(url: str) -> None:
    trials = Trials()
    trials.before = lambda number: number == 4 and ramgape.delete_study("outlasting", url)
    with new_study(url) as study:
        with pytest.raises(ramgape.UnknownStudy, match="deleted meanwhile; measured and not told") as caught:
            study.run(trials)
        ((pull, reward),) = caught.value.untold
        assert isinstance(pull, Pull)
        assert reward == trials.measured[-1]
