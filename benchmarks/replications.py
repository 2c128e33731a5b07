"""What it costs in processor time to have runs made on a Dask cluster: seconds of its workers over those in process.

The cluster is on this machine, of processes with one thread each, and warm: each has loaded the kernels. Driver and
scheduler, which share a process here, are counted apart.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from benchmarks.cluster import GROUP
from benchmarks.measure import Case, Row, Spread
from ramgape import replicate

WORKERS = 2
SEARCH: dict[str, Any] = {"instance": "paper:46", "epsilon": 0.05, "progress": False}


def cases(quick: bool) -> Iterator[Case]:
    """Where Dask is installed; a cluster takes too long to start for a quick look."""
    with suppress(ImportError):
        import distributed  # noqa: F401

        if not quick:
            yield Case("replications on Dask", lambda: replications(turns=5, runs=400))


def replications(turns: int, runs: int) -> Iterator[Row]:
    """The same runs here and there, in turn."""
    from distributed import Client, LocalCluster

    warnings.simplefilter("ignore")
    processes: Any = LocalCluster(n_workers=WORKERS, threads_per_worker=1, dashboard_address=None)
    with processes as cluster, Client(cluster) as client:
        replicate(runs=4 * WORKERS, executor=client, **SEARCH)
        replicate(runs=1, **SEARCH)
        there, driver = [], []
        for turn in range(turns):
            seed = turn * runs
            begun = time.process_time()
            replicate(runs=runs, seed=seed, **SEARCH)
            here = time.process_time() - begun
            before, begun = sum(client.run(time.process_time).values()), time.process_time()
            replicate(runs=runs, seed=seed, executor=client, **SEARCH)
            own, after = time.process_time() - begun, sum(client.run(time.process_time).values())
            there.append((after - before) / here)
            driver.append(own / here)
    yield Row(GROUP, f"{runs} runs: CPU of Dask's workers / in process", "times", Spread.of(there), 1.25)
    yield Row(GROUP, f"{runs} runs: CPU of driver and scheduler / in process", "times", Spread.of(driver))
