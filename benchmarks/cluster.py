"""Many trials under way: what the process that runs a study needs for each, and how near it comes to the ideal.

For the first, an engine whose trials take no time answers them one by one; processor time of the thread that runs. For
the others evaluations of half a second sleep, on a pool of threads and on a Dask cluster of processes, where bare
`client.submit`, as many at once, takes turns with ours.
"""

from __future__ import annotations

import tempfile
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from benchmarks.measure import Case, Row, Spread
from ramgape import Study
from ramgape.studies.running import Runner
from ramgape.trials.backend import TrialEngine
from ramgape.trials.calls import Limits, PendingCalls
from ramgape.trials.one_trial import make_trial

GROUP = "cluster"
ARMS = [f"arm {number}" for number in range(10)]
FEW, MANY = 8, 200
SLOTS, SECONDS = 50, 0.5


def cases(quick: bool) -> Iterator[Case]:
    """Costs in memory and on SQLite, then throughput."""
    turns, trials = (1, 100) if quick else (5, 1500)
    yield Case("the driver, in memory", lambda: driver_cost("in memory", trials, turns, durable=False))
    yield Case("the driver, SQLite", lambda: driver_cost("SQLite", trials, turns, durable=True))
    yield Case("a pool of threads", lambda: on_threads(2 if quick else 12, min(turns, 3)))
    yield Case("Dask", lambda: on_dask(2 if quick else 12, min(turns, 3)))


class OneByOne(TrialEngine):
    """So many trials under way, which end one after the other, the oldest first."""

    def __init__(self, slots: int) -> None:
        super().__init__()
        self._slots = slots
        self._queue: deque[tuple[Future[Any], Callable[..., Any], tuple[Any, ...]]] = deque()

    def slots(self) -> int:
        return self._slots

    def _begin(self, function: Callable[..., Any], arguments: tuple[Any, ...], name: str, alone: bool) -> Future[Any]:
        future: Future[Any] = Future()
        self._queue.append((future, function, arguments))
        return future

    def wait(self, seconds: float) -> list[Future[Any]]:
        if seconds > 0.0 and self._queue:
            future, function, arguments = self._queue.popleft()
            future.set_result(function(*arguments))
        return super().wait(0.0)


def half(arm: str) -> float:
    return 0.5


def slow(arm: str) -> float:
    time.sleep(SECONDS)
    return 0.5


def driver_cost(where: str, trials: int, turns: int, *, durable: bool) -> Iterator[Row]:
    """Processor time of a trial with many under way, over that with few."""
    few, many = [], []
    for _ in range(turns):
        few.append(cost(FEW, trials, durable))
        many.append(cost(MANY, trials, durable))
    ratios = [much / little for much, little in zip(many, few, strict=True)]
    details = {"slots": [FEW, MANY], "milliseconds": [few, many]}
    what = f"{where}, a trial at {MANY} slots over {FEW}"
    yield Row(GROUP, what, "times", Spread.of(ratios), 1.5, details=details)
    yield Row(GROUP, f"{where}, a trial at {MANY} slots", "ms", Spread.of(many))


def cost(slots: int, trials: int, durable: bool) -> float:
    """Milliseconds of this thread for each of so many trials."""
    with tempfile.TemporaryDirectory() as folder:
        storage = f"sqlite:///{Path(folder) / 'studies.db'}" if durable else None
        with Study.create("driven", ARMS, storage=storage, reward_range=(0, 1), budget=trials) as study:
            engine, limits = OneByOne(slots), Limits()
            calls: PendingCalls[Any] = PendingCalls(
                engine, lambda pull: engine.start(make_trial, half, False, pull.arm, 0), limits
            )
            runner = Runner(study, calls, limits, None, 60.0, None, None)
            begun = time.thread_time()
            with runner.renewing():
                runner.work()
            return (time.thread_time() - begun) / trials * 1e3


def on_threads(rounds: int, turns: int) -> Iterator[Row]:
    """Of the ideal: as many trials at once as there are slots, one after the other, without a pause."""
    shares = []
    for _ in range(turns):
        with ThreadPoolExecutor(SLOTS) as pool:
            shares.append(rounds * SECONDS / seconds_of(lambda: run(pool, rounds)))
    yield Row(GROUP, f"{SLOTS} threads, {SECONDS} s, of the ideal", "share", Spread.of(shares), 0.8, better="more")


def on_dask(rounds: int, turns: int) -> Iterator[Row]:
    """Of what Dask does by itself, in the same moment."""
    from distributed import Client, LocalCluster

    options: dict[str, Any] = {"n_workers": 2, "threads_per_worker": SLOTS // 2, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster, set_as_default=False) as client:
        run(client, 1)  # what is imported and connected the first time
        pairs = [
            (seconds_of(lambda: bare(client, rounds)), seconds_of(lambda: run(client, rounds))) for _ in range(turns)
        ]
    shares, details = [alone / ours for alone, ours in pairs], {"seconds": [ours for _, ours in pairs]}
    what = f"Dask, {SLOTS} slots, {SECONDS} s, of client.submit"
    yield Row(GROUP, what, "share", Spread.of(shares), 0.8, better="more", details=details)


def run(workers: Any, rounds: int) -> None:
    study = Study.create("slow", ARMS, reward_range=(0, 1), budget=max(rounds * SLOTS, 2 * len(ARMS)))
    study.run(slow, workers=workers, slots=SLOTS, progress=False)


def bare(client: Any, rounds: int) -> None:
    """So many at once, the next one when one has ended."""
    from distributed import as_completed

    left = rounds * SLOTS - SLOTS
    first = [client.submit(slow, "any", pure=False) for _ in range(SLOTS)]
    under_way = as_completed(first, loop=client.loop, with_results=True)
    for _ in under_way:
        if left:
            left -= 1
            under_way.add(client.submit(slow, "any", pure=False))


def seconds_of(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun
