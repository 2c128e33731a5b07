"""Many runs on a Dask cluster of real processes: the same numbers, also when a worker is killed; and a great many."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import distributed
import numpy as np
import pytest

from ramgape import replicate
from tests.cli_support import call_json

INSTANCE = "paper:46"


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Two processes with one thread each; one that dies is started again."""
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


def tasks_of(client: Any) -> list[str]:
    return list(client.run_on_scheduler(lambda dask_scheduler: [*dask_scheduler.tasks]))


def test_the_numbers_are_those_of_this_process(client: Any) -> None:
    """By a client, and by an address that was typed; nothing of ours stays there."""
    found = replicate(INSTANCE, runs=12, budget=60, seed=4, executor=client)
    expected = replicate(INSTANCE, runs=12, budget=60, seed=4)
    for name in ("seed", "samples", "regret", "front", "pulls", "stopped"):
        assert np.array_equal(found.runs.table[name], expected.runs.table[name])
    address = client.scheduler.address
    typed = call_json("simulate", INSTANCE, "--runs", "12", "--budget", "60", "--cluster", address, "--json")
    assert typed["mean_samples"] == 60
    assert [key for key in tasks_of(client) if "ramgape" in key] == []


@pytest.mark.long
def test_a_worker_that_is_killed_costs_no_run(client: Any, tmp_path: Path) -> None:
    """Killed in the middle of a task, which is made again elsewhere."""
    killed: list[int] = []

    def kill(finished: int) -> None:
        if not killed:
            process = next(iter(client.cluster.workers.values())).process
            killed.append(process.pid)
            process.process.kill()

    options: dict[str, Any] = {"runs": 400, "epsilon": 0.06, "seed": 1}
    found = replicate(INSTANCE, executor=client, callback=kill, keep=tmp_path, **options)
    assert killed
    expected = replicate(INSTANCE, **options)
    assert np.array_equal(found.runs.table["pulls"], expected.runs.table["pulls"])
    kept = [path.stem.split("-")[2:] for path in tmp_path.glob("runs-*.json")]
    assert sum(int(count) for _, count in kept) == 400  # nothing twice


@pytest.mark.long
def test_a_hundred_thousand_runs_in_bounded_memory(client: Any) -> None:
    """In a process of its own, which knows how much it has ever used."""
    command = [sys.executable, "-c", MANY, client.scheduler.address]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=3000)
    before, after, size = map(int, done.stdout.split())
    assert size == 100_000
    # Kilobytes; ten times as many runs would take ten times their columns, and no more of anything else.
    assert after - before < 100_000


MANY = """
import resource, sys
from distributed import Client
from ramgape import replicate
def used():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
if __name__ == "__main__":
    with Client(sys.argv[1]) as client:
        options = {"budget": 30, "executor": client, "progress": False}
        replicate("paper:46", runs=200, **options)
        before = used()
        found = replicate("paper:46", runs=100_000, **options)
        assert found.mean_samples == 30
        str(found)
        print(before, used(), len(found.runs))
"""
