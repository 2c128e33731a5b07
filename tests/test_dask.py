"""Studies whose trials are made on a Dask cluster with real processes: machines that come, die and are slow."""

from __future__ import annotations

import gc
import io
import json
import logging
import re
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import dask
import pytest
from dask.utils import parse_timedelta
from distributed import Client, LocalCluster

import ramgape
from docs.blocks import ROOT
from ramgape import FailingArm, InvalidSpec, Study, Trials
from ramgape.trials.on_dask import DaskEngine
from tests.cluster_trials import ARMS, Coin, Deadly, Together, broken, coin

OPTIONS: dict[str, Any] = {"reward_range": (0, 1), "budget": 60, "seed": 1, "task": "best"}
LONG = 120.0  # seconds that nobody waits for: if they pass, a test has failed


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    """Two processes with four threads each. A worker that is started again slowly is not to be given up."""
    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "600s"}),
        LocalCluster(n_workers=2, threads_per_worker=4, dashboard_address=":0", silence_logs=logging.CRITICAL) as made,
    ):
        yield made


@pytest.fixture
def client(cluster: LocalCluster) -> Iterator[Client]:
    """Somebody's client, of which nothing may be left."""
    with Client(cluster, set_as_default=False) as found:
        found.wait_for_workers(2, timeout=LONG)
        yield found
        assert tasks_of(found) == []


def test_settings_in_the_pages_are_ones_that_dask_reads() -> None:
    """A unit that Dask does not know ends every run that follows the page."""
    pages = (ROOT / "docs" / "guides").glob("*.md")
    found = [
        each
        for page in pages
        for each in re.findall(r"config\.set\(\{\"([\w.-]+)\": \"(.*?)\"", page.read_text("utf-8"))
    ]
    assert [name for name, _ in found] == ["distributed.deploy.lost-worker-timeout"]
    for name, value in found:
        assert parse_timedelta(value) > parse_timedelta(dask.config.get(name))


def tasks_of(client: Client) -> list[str]:
    """What the scheduler knows of; what was released is forgotten in a moment."""
    end = time.monotonic() + 5.0
    while (found := client.run_on_scheduler(names_of_tasks)) and time.monotonic() < end:
        time.sleep(0.02)
    return found


def names_of_tasks(dask_scheduler: Any) -> list[str]:
    return list(dask_scheduler.tasks)


def pulls_told(study: Study) -> list[str]:
    """The pulls that were answered, whichever attempt at them it was."""
    text = io.StringIO()
    study.export_jsonl(text)
    return [json.loads(line)["pull"].partition(".")[0] for line in text.getvalue().splitlines()]


def test_a_worker_that_dies_in_mid_trial(client: Client, tmp_path: Path) -> None:
    """What it was at is lost and made again elsewhere; nothing has failed, and nothing counts twice."""
    undisturbed = Study.create("calm", ARMS, **OPTIONS).run(coin, workers=client)
    study = Study.create("killed", ARMS, failure="worst", **OPTIONS)
    result = study.run(Deadly(None, tmp_path), workers=client)
    assert (tmp_path / "killed").exists()
    report = study.report()
    assert 1 <= report.lost <= 4
    assert (report.told, report.failed, report.pending, result.samples) == (60, 0, 0, 60)
    assert result.front == undisturbed.front == ("good",)
    told = pulls_told(study)
    assert len(told) == len(set(told)) == 60


def test_a_callback_ends_it_and_nothing_is_left(client: Client, capfd: pytest.CaptureFixture[str]) -> None:
    study = Study.create("ended", ARMS, **{**OPTIONS, "budget": 1000})
    result = study.run(Coin(0.05), workers=client, callback=lambda progress: progress.samples >= 10)
    assert result.stopped == "callback"
    assert 10 <= result.samples <= 18
    assert tasks_of(client) == []
    assert len(study.ask(3)) == 3  # given back
    assert capfd.readouterr().err == ""  # and nobody complains of what was cancelled


def test_failures_and_slots(client: Client) -> None:
    study = Study.create("broken", ARMS, retries=1, **OPTIONS)
    with pytest.raises(FailingArm, match=r"LookupError: no good here"):
        study.run(broken, workers=client)
    assert study.report().lost == 0
    engine = DaskEngine(client, None, {})
    assert (engine.slots(), engine.waiting) == (8, "")
    engine.close()
    wanting = DaskEngine(client, None, {"GPU": 1.0})
    assert (wanting.slots(), wanting.waiting) == (0, "the Dask cluster has no worker with GPU=1 yet")
    wanting.close()


def test_a_cluster_that_grows() -> None:
    """It begins with nobody; in threads of this process, since only who comes and goes matters here."""
    options: dict[str, Any] = {"processes": False, "dashboard_address": ":0", "threads_per_worker": 2}
    with LocalCluster(n_workers=0, **options) as cluster, Client(cluster, set_as_default=False) as client:
        engine = DaskEngine(client, None, {})
        assert (engine.slots(), engine.waiting) == (0, "the Dask cluster has no worker yet")
        engine.close()
        sizes: list[int] = []

        def watch(progress: ramgape.Progress) -> None:
            if progress.samples >= 5 and len(client.nthreads()) == 1:
                cluster.scale(2)
                client.wait_for_workers(2, timeout=LONG)
            sizes.append(len(client.nthreads()))

        timer = threading.Timer(0.3, cluster.scale, [1])
        timer.start()
        study = Study.create("growing", ARMS, **OPTIONS)
        assert study.run(coin, workers=client, callback=watch).samples == 60
        assert (sizes[0], sizes[-1], study.report().failed, study.report().lost) == (1, 2, 0, 0)
        assert tasks_of(client) == []
        timer.join()


@pytest.mark.parametrize("address", ["tcp://", "tcp://127.0.0.1:1"])
def test_a_scheduler_that_does_not_answer(address: str, capfd: pytest.CaptureFixture[str]) -> None:
    """Nothing stays that would wait for it once more, and complain, when it is thrown away."""
    study = Study.create("nowhere", ARMS, **OPTIONS)
    said = rf"^the Dask scheduler must be one that answers, got {address} \(.+\)$"
    with dask.config.set({"distributed.comm.timeouts.connect": "100ms"}), pytest.raises(InvalidSpec, match=said):
        study.run(coin, workers=address)
    gc.collect()
    assert (capfd.readouterr().err, study.report().pending) == ("", 0)


def test_a_client_of_a_loop_is_refused() -> None:
    import asyncio

    async def main() -> None:
        async with (
            LocalCluster(n_workers=0, processes=False, dashboard_address=":0", asynchronous=True) as cluster,
            Client(cluster, asynchronous=True, set_as_default=False) as client,
        ):
            with pytest.raises(ramgape.InvalidSpec, match="workers must be a client that is not asynchronous"):
                Study.create("loop", ARMS, **OPTIONS).run(coin, workers=client)

    asyncio.run(main())


# --- who makes what: over a client that does nothing by itself --------------------------------------------------------


class FakeClient:
    """Notes what is handed over."""

    status, security = "running", None

    def __init__(self, *_: object, **__: object) -> None:
        self.scheduler = self.loop = self
        self.address = "tcp://nowhere:1"
        self.given: dict[str, str | None] = {}  # to which worker, by key
        self.cancelled: list[str] = []

    def submit(self, *_: object, key: str, workers: tuple[str, ...] = (None,), **__: object) -> str:  # type: ignore[assignment]
        (self.given[key],) = workers
        return key

    def cancel(self, tasks: list[str], force: bool) -> None:
        self.cancelled += tasks

    def nothing(self, *_: object) -> None: ...

    add_callback = subscribe_topic = unsubscribe_topic = sync = close = nothing


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> DaskEngine:
    """Two workers with two threads each."""
    monkeypatch.setattr("distributed.Client", FakeClient)
    found = DaskEngine(FakeClient(), None, {})
    found._take_rooms({"A": 2, "B": 2})
    return found


def start_all(engine: DaskEngine, names: str) -> dict[str, Future[Any]]:
    return {name: engine.start(coin, name=name) for name in names}


def places(engine: DaskEngine) -> dict[str, str]:
    """The worker of each call that was handed over, by its name."""
    return {key.split("-")[1]: at for key, at in engine._client.given.items()}


def end(engine: DaskEngine, name: str) -> None:
    (key,) = (key for key in engine._calls if key.split("-")[1] == name)
    engine._settle(key, 0.5, None)


def test_calls_are_spread_and_a_last_try_is_alone(engine: DaskEngine) -> None:
    calls = start_all(engine, "abc")
    assert (places(engine), engine.slots()) == ({"a": "A", "b": "B", "c": "A"}, 4)
    calls["x"] = engine.start(coin, name="x", alone=True)
    assert "x" not in places(engine)  # B is to become free for it, and gets nothing else meanwhile
    assert engine.is_held(calls["x"])
    assert engine.slots() - 4 == -1 + 1
    end(engine, "b")
    assert places(engine)["x"] == "B"
    assert not engine.is_held(calls["x"])
    assert engine.slots() == 3  # two on A, one on B
    end(engine, "a")
    engine.start(coin, name="d")
    assert places(engine)["d"] == "A"
    end(engine, "x")
    assert engine.slots() == 4
    engine.start(coin, name="e")
    assert places(engine)["e"] == "B"
    assert [future.result() for name, future in calls.items() if name in "abx"] == [0.5] * 3


def test_half_of_the_workers_are_left_to_others(engine: DaskEngine) -> None:
    first, second = (engine.start(coin, name=name, alone=True) for name in "xy")
    assert places(engine) == {"x": "A"}
    engine.start(coin, name="a")
    assert places(engine)["a"] == "B"
    end(engine, "x")
    assert places(engine)["y"] == "A"  # which stays set aside
    engine.cancel([second])
    assert (first.result(), second.cancelled(), engine.slots()) == (0.5, True, 4)


def test_what_goes_with_a_worker(engine: DaskEngine) -> None:
    """And no answer of it counts that comes later; of who else has gone the next look tells."""
    calls = start_all(engine, "abc")
    keys = [key for key, call in engine._calls.items() if call.address == "A"]
    engine._hear((0.0, {"action": "remove-worker", "worker": "A", "processing-tasks": keys, "lost-computed-tasks": ()}))
    engine._hear((0.0, "hello"))  # type: ignore[arg-type]
    assert set(engine.wait(0.0)) == {calls["a"], calls["c"]}
    assert engine._client.cancelled == keys  # or Dask would begin them again
    assert isinstance(calls["a"].exception(), ramgape.WorkerLost)
    engine._settle(keys[0], 0.5, None)
    assert isinstance(calls["a"].exception(), ramgape.WorkerLost)
    assert (engine.slots(), engine.waiting) == (2, "")
    engine._take_rooms({"C": 1})
    assert isinstance(calls["b"].exception(), ramgape.WorkerLost)
    held = engine.start(coin, name="x", alone=True)
    engine._take_rooms({})
    assert isinstance(held.exception(), ramgape.WorkerLost)
    assert (engine.slots(), engine.waiting) == (0, "the Dask cluster has no worker yet")
    assert "ramgape-knock-4" in engine._client.given  # for which a cluster may grow
    held = engine.start(coin, name="y", alone=True)
    engine._take_rooms({"D": 1})
    assert places(engine)["y"] == "D"
    assert not held.done()
    assert "ramgape-knock-4" in engine._client.cancelled


def test_a_call_that_takes_too_long_keeps_its_place(engine: DaskEngine) -> None:
    calls = start_all(engine, "abcd")
    engine.abandon(calls["a"])
    assert calls["a"].cancelled()
    assert (engine.slots(), engine.waiting) == (3, "1 trial took too long, and did not end on the cluster yet")
    end(engine, "a")
    assert (engine.slots(), engine.waiting) == (4, "")
    engine._most = 6
    calls |= start_all(engine, "efg")
    assert (places(engine)["e"], places(engine)["f"], engine.slots()) == ("A", None, 6)  # Dask's to place
    engine.abandon(calls["f"])
    assert len(engine._client.cancelled) == 1
    engine.close()
    assert len(engine._client.cancelled) == 6


# --- what takes longer ------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_an_arm_that_always_kills_its_worker(client: Client, tmp_path: Path) -> None:
    """It fails in the end; the others have been tried by then, and none of them has failed."""
    study = Study.create("deadly", ARMS, retries=1, policy="round-robin", **OPTIONS)
    with pytest.raises(FailingArm, match=r"arm 'poor' has failed 2 times .*WorkerLost: the Dask worker at .* has gone"):
        study.run(Deadly("poor", tmp_path), workers=client)
    report = study.report()
    assert report.arms_failed["good"] == report.arms_failed["fair"] == 0 < report.arms_failed["poor"]
    assert report.result.arm("good").pulls >= 2 <= report.result.arm("fair").pulls  # of the first eight
    client.wait_for_workers(2, timeout=LONG)


@pytest.mark.long
def test_an_arm_that_always_kills_its_worker_counts_as_worst(client: Client, tmp_path: Path) -> None:
    """And starves nobody, nor is any other arm punished for having been beside it."""
    study = Study.create("deadly", ARMS, failure="worst", retries=1, **{**OPTIONS, "budget": 24})
    result = study.run(Deadly("poor", tmp_path), workers=client)
    report = study.report()
    assert (result.samples, result.front) == (24, ("good",))
    assert report.arms_failed == {"good": 0, "fair": 0, "poor": result.arm("poor").pulls}
    told = pulls_told(study)
    assert len(told) == len(set(told)) == 24
    client.wait_for_workers(2, timeout=LONG)


@pytest.mark.long
def test_two_hundred_slots(tmp_path: Path) -> None:
    """The first two hundred trials end when all of them have begun."""
    with (
        LocalCluster(n_workers=2, threads_per_worker=100, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        study = Study.create("wide", ARMS, failure="worst", **{**OPTIONS, "budget": 1200})
        study.run(Together(200, tmp_path, LONG), workers=client)
        report = study.report()
        assert (report.told, report.failed, report.lost) == (1200, 0, 0)
        assert len(set(pulls_told(study))) == 1200
        assert tasks_of(client) == []


@pytest.mark.long
def test_resources_and_a_timeout() -> None:
    """A worker has room for as many as its resources allow; what took too long keeps its thread until it ends."""
    with (
        LocalCluster(
            n_workers=1, threads_per_worker=4, resources={"GPU": 2}, dashboard_address=":0", processes=True
        ) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        engine = DaskEngine(client, None, {"GPU": 1.0})
        assert engine.slots() == 2
        engine.close()
        study = Study.create("gpu", ARMS, failure="worst", **{**OPTIONS, "budget": 12})
        limits = Trials(resources={"GPU": 1}, timeout=0.2)
        study.run(Coin(0.5), workers=client, trials=limits)
        assert (study.report().failed, study.report().lost) == (12, 0)
        assert "TimeoutError: a trial took more than 0.2 s" in study.report().failures[0].reason
        assert tasks_of(client) == []


@pytest.mark.long
@pytest.mark.parametrize("scheduler_dies", [False, True])
def test_by_name(scheduler_dies: bool) -> None:
    """A cluster of one's own for a run; and one by its address, whose scheduler may go for good."""
    study = Study.create("named", ARMS, **OPTIONS)
    if not scheduler_dies:
        assert study.run(coin, workers="dask").samples == 60
    else:
        with dask.config.set({"distributed.comm.timeouts.connect": "2s"}):
            cluster = LocalCluster(n_workers=1, threads_per_worker=2, dashboard_address=":0")

            def close(progress: ramgape.Progress) -> None:
                if progress.samples == 10:
                    cluster.close()

            with pytest.raises(Exception, match=r"the Dask scheduler at .* is gone") as caught:
                study.run(Coin(0.01), workers=cluster.scheduler_address, callback=close)
            assert caught.value.partial_result.samples >= 10  # type: ignore[attr-defined]
        assert study.report().failed == 0
