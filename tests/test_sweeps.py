"""Many runs: as columns, in tasks of any size, by anything that makes calls, kept on disk; always the same numbers."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ramgape
from ramgape import InvalidSpec, Replication, Run, replicate
from ramgape.core.table import Table
from ramgape.errors import TrialError, WorkerLost
from ramgape.simulation import sweep
from ramgape.simulation.runs import RunLayout, Runs
from ramgape.simulation.simulation import simulated_spec
from ramgape.simulation.sweep import Cutter, gaps_between
from ramgape.trials.pieces import LOSSES, Piece, engine_for, made
from tests.cli_support import call_json, complaint
from tests.engines import FakeEngine

SEARCH: dict[str, Any] = {"budget": 60, "seed": 5}
INSTANCE = "paper:46"
PRICES = {str(arm): 1.0 + arm for arm in range(1, 11)}


def numbers(found: Replication) -> Table:
    """All that a run is but for its time."""
    table = found.runs.table.copy()
    table["seconds"] = 0.0
    return table


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The seeds of all runs that are made in this process."""
    seeds: list[int] = []
    run_once = sweep.run_once

    def counted(instance: Any, spec: Any, seed: int, *more: Any) -> Any:
        seeds.append(seed)
        return run_once(instance, spec, seed, *more)

    monkeypatch.setattr(sweep, "run_once", counted)
    return seeds


# --- columns ----------------------------------------------------------------------------------------------------------


def test_runs_are_views_of_columns() -> None:
    found = replicate(INSTANCE, runs=6, price=PRICES, **SEARCH)
    runs = found.runs
    assert isinstance(runs[0], Run)
    assert [run.seed for run in runs] == [5, 6, 7, 8, 9, 10]
    assert runs[-1] == list(runs)[5] == runs[5:][0]
    for run in runs:
        assert sum(run.pulls.values()) == run.samples == 60
        assert run.spent == pytest.approx(sum(PRICES[arm] * pulls for arm, pulls in run.pulls.items()))
        alone = ramgape.simulate(INSTANCE, price=PRICES, budget=60, seed=run.seed)
        assert (run.front, run.regret) == (alone.front, alone.truth and alone.truth.regret)
    assert Runs.of(tuple(runs)) == runs == runs[:2] + tuple(runs)[2:]
    assert runs != runs[:5]
    assert runs.returned == {name: sum(name in run.front for run in runs) for name in runs.names}
    again = Replication.from_dict(json.loads(found.to_json()))
    assert again.runs == runs
    assert (again.mean_samples, again.errors, again.ended) == (found.mean_samples, found.errors, found.ended)


def test_a_million_runs_are_less_than_a_hundred_megabytes() -> None:
    spec = simulated_spec(ramgape.load_instance(INSTANCE), epsilon=0.05)
    assert RunLayout.of(spec).dtype.itemsize * 1_000_000 < 90e6
    table = RunLayout.of(spec).empty(1_000_000)
    found = replace(replicate(INSTANCE, runs=1, epsilon=0.05), runs=Runs(spec.names, table))
    assert len(found.runs) == found.ended_count == 1_000_000
    assert found.runs[999_999].samples == 0


# --- tasks ------------------------------------------------------------------------------------------------------------


def test_tasks_take_some_seconds() -> None:
    cutter = Cutter([range(1_000_000)])
    assert cutter.take(4) == range(sweep.PILOT)
    cutter.learn(8, 0.8)
    assert cutter.size(4) == 50  # five seconds
    cutter.learn(8, 800.0)
    assert cutter.size(4) == 1
    for _ in range(100):
        cutter.learn(1000, 0.001)
    assert cutter.size(4) == sweep.MOST


def test_towards_the_end_there_is_work_for_everybody() -> None:
    cutter = Cutter([range(100), range(200, 300)])
    cutter.learn(1, 0.05)
    sizes = []
    while (seeds := cutter.take(2)) is not None:
        sizes.append(len(seeds))
    assert sum(sizes) == 200
    assert sizes[0] == 50
    assert min(sizes[:-1]) >= 10
    cutter.give_back(range(7, 9))
    assert cutter.take(2) == range(7, 9)


def test_gaps_are_what_is_wanted_and_not_there() -> None:
    generator = np.random.default_rng(1)
    for _ in range(200):
        there = [range(low, low + length) for low, length in generator.integers(0, 20, (4, 2)).tolist()]
        wanted = range(5, 5 + int(generator.integers(1, 25)))
        found = [seed for gap in gaps_between(there, wanted) for seed in gap]
        assert found == [seed for seed in wanted if not any(seed in each for each in there)]


def test_a_task_that_takes_too_long_gives_back_what_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    expected = numbers(replicate(INSTANCE, runs=9, **SEARCH))
    monkeypatch.setattr(sweep, "LONGEST", 0.0)
    with ThreadPoolExecutor(1) as executor:
        assert np.array_equal(numbers(replicate(INSTANCE, runs=9, executor=executor, **SEARCH)), expected)
    assert np.array_equal(numbers(replicate(INSTANCE, runs=9, **SEARCH)), expected)


def test_the_numbers_do_not_depend_on_who_makes_them() -> None:
    heard: list[int] = []
    options: dict[str, Any] = {"epsilon": 0.07, "seed": 3, "runs": 30, "checkpoints": 5}
    expected = replicate(INSTANCE, **options)
    with ThreadPoolExecutor(3) as executor:
        found = replicate(INSTANCE, executor=executor, callback=heard.append, **options)
    assert np.array_equal(numbers(found), numbers(expected))
    assert found.curves == expected.curves
    assert heard[-1] == 30
    assert heard[0] < 30  # several tasks


@pytest.mark.parametrize("executor", [3, "cluster", "http://localhost", object()])
def test_what_makes_no_calls_is_refused(executor: Any) -> None:
    with pytest.raises(InvalidSpec, match="executor must be None, a concurrent"):
        replicate(INSTANCE, runs=2, executor=executor, **SEARCH)


# --- workers that die -------------------------------------------------------------------------------------------------


def settled(give: Callable[[], Any]) -> Callable[..., Future[Any]]:
    def call(*arguments: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(give())
        except WorkerLost as lost:
            future.set_exception(lost)
        return future

    return call


def test_what_is_lost_is_made_again() -> None:
    tries = [0]

    def give() -> int:
        tries[0] += 1
        if tries[0] in (1, 2, 5):
            raise WorkerLost("gone")
        return tries[0]

    pieces = iter([Piece(settled(give), (number,)) for number in range(6)])
    found = [piece.arguments[0] for piece, _ in made(FakeEngine(2), lambda: next(pieces, None))]
    assert sorted(found) == list(range(6))
    assert tries[0] == 9


def test_but_not_for_ever() -> None:
    tries = [0]

    def give() -> None:
        tries[0] += 1
        raise WorkerLost("out of memory")

    pieces = iter([Piece(settled(give), ())])
    with pytest.raises(TrialError, match="4 workers have died at the same work: out of memory"):
        list(made(FakeEngine(1), lambda: next(pieces, None)))
    assert tries[0] == LOSSES + 1


def test_a_pool_of_processes_that_dies_says_so() -> None:
    pieces: Iterator[Piece] = iter([Piece(os._exit, (3,))])
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as executor, engine_for(executor) as engine:
        assert engine is not None
        finished = made(engine, lambda: next(pieces, None))
        with pytest.raises(TrialError, match="what makes the runs is gone"):
            list(finished)


# --- on disk ----------------------------------------------------------------------------------------------------------


def test_what_is_kept_is_not_made_again(tmp_path: Path, played: list[int]) -> None:
    expected = numbers(replicate(INSTANCE, runs=20, **SEARCH))
    played.clear()
    replicate(INSTANCE, runs=12, keep=tmp_path, **SEARCH)
    assert played == list(range(5, 17))
    with ThreadPoolExecutor(2) as executor:
        found = replicate(INSTANCE, runs=20, keep=tmp_path, executor=executor, **SEARCH)
    assert sorted(played) == list(range(5, 25))
    assert np.array_equal(numbers(found), expected)
    # Other seeds, some of them known; another question; and a file that is not whole.
    played.clear()
    shifted = replicate(INSTANCE, runs=20, keep=tmp_path, budget=60, seed=10)
    assert played == list(range(25, 30))
    assert shifted.runs[:15] == found.runs[5:]
    (first,) = tmp_path.glob("runs-*-5-*.json")
    replicate(INSTANCE, runs=1, keep=tmp_path, budget=61, seed=5)
    assert played[-1] == 5
    first.write_text(first.read_text(encoding="utf-8")[:-30], encoding="utf-8")
    played.clear()
    again = replicate(INSTANCE, runs=20, keep=tmp_path, **SEARCH)
    assert played
    assert played[0] == 5
    assert np.array_equal(numbers(again), expected)


KILLED = """
import os, signal, sys
from ramgape import replicate
def heard(finished):
    if finished >= 20:
        os.kill(os.getpid(), signal.SIGKILL)
replicate("paper:46", runs=40, budget=60, seed=5, keep=sys.argv[1], callback=heard)
"""


def test_killed_and_started_again_it_goes_on(tmp_path: Path, played: list[int]) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False, timeout=120)
    assert done.returncode == -signal.SIGKILL
    (kept,) = tmp_path.glob("runs-*.json")  # the pilot; the task in which it died is made again
    assert kept.stem.endswith(f"-5-{sweep.PILOT}")
    found = replicate(INSTANCE, runs=40, keep=tmp_path, **SEARCH)
    assert played == list(range(5 + sweep.PILOT, 45))
    assert np.array_equal(numbers(found), numbers(replicate(INSTANCE, runs=40, **SEARCH)))


def test_what_cannot_be_kept(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for keep in (tmp_path / "file", tmp_path / "file" / "folder", "", 3):
        with pytest.raises(InvalidSpec, match="keep must be a folder that can be written"):
            replicate(INSTANCE, runs=2, keep=keep, **SEARCH)  # type: ignore[arg-type]
    with pytest.raises(InvalidSpec, match="keep must be absent where code takes part that is not ramgape's own"):
        replicate(INSTANCE, runs=2, keep=tmp_path, policy=lambda state: 0, **SEARCH)


# --- commands ---------------------------------------------------------------------------------------------------------


def test_the_commands(tmp_path: Path) -> None:
    command = ("simulate", INSTANCE, "--budget", "60", "--runs", "3", "--keep", str(tmp_path / "kept"), "--json")
    assert call_json(*command)["runs"] == call_json(*command)["runs"]  # with the times of the first
    assert len(list((tmp_path / "kept").glob("runs-*-0-3.json"))) == 1
    for name in (("simulate", INSTANCE), ("plan", INSTANCE), ("benchmark",), ("reproduce",)):
        words = complaint(*name, "--cluster", "nowhere")
        assert "cluster must be tcp://SCHEDULER:8786, dask or ray, got 'nowhere'" in words
        assert "jobs must be absent with --cluster" in complaint(*name, "--cluster", "dask", "--jobs", "3")
