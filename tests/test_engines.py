"""Engines: what makes trials, of which some are lost with a machine. Most of it over one that tests drive by hand."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest

import ramgape
from ramgape import FailingArm, Study, Trials, WorkerLost
from ramgape.trials.backend import TrialEngine
from ramgape.trials.calls import Limits, PendingCalls
from ramgape.trials.choice import check_resources, engine_of
from ramgape.trials.executors import ExecutorEngine
from ramgape.trials.monitoring import ProgressMonitor
from ramgape.trials.pieces import Piece, made
from tests.cli_support import NO_SIGNALS, call
from tests.engines import FakeEngine

ARMS = ["a", "b", "c"]
OPTIONS: dict[str, Any] = {"reward_range": (0, 1), "budget": 12, "policy": "round-robin", "seed": 1}
LONG = 60.0  # seconds that nobody waits for: if they pass, a test has failed


class Scripted(TrialEngine):
    """Makes trials where they are begun; of some it says that their machine has gone.

    Args:
        lose: Whether the how-manieth trial of a pull, from 0, is lost, by the pull's arm.
        slots: How many at once.
    """

    def __init__(self, lose: Callable[[str, int], bool] = lambda arm, tries: False, slots: int = 2) -> None:
        super().__init__()
        self.lose, self.places = lose, slots
        self.tries: dict[str, int] = {}
        self.seeds: dict[str, list[int]] = {}
        self.alone: list[tuple[str, int]] = []  # pulls, and at which try
        self.most = self.under_way = 0

    def slots(self) -> int:
        return self.places

    def _begin(self, function: Callable[..., Any], arguments: tuple[Any, ...], name: str, alone: bool) -> Future[Any]:
        pull, (arm, seed) = name.partition(".")[0], arguments
        tries = self.tries.get(pull, 0)
        self.tries[pull] = tries + 1
        self.seeds.setdefault(pull, []).append(seed)
        if alone:
            self.alone.append((pull, tries))
        future: Future[Any] = Future()
        self.under_way += 1
        self.most = max(self.most, self.under_way)

        def end() -> None:
            self.under_way -= 1
            if self.lose(arm, tries):
                future.set_exception(WorkerLost("its machine has gone"))
            else:
                future.set_result(function(*arguments))

        self._inbox.put(end)
        return future


@pytest.fixture
def on(monkeypatch: pytest.MonkeyPatch) -> Callable[[TrialEngine], None]:
    """Has studies run on an engine."""

    def use(engine: TrialEngine) -> None:
        @contextmanager
        def chosen(*_: object, **__: object) -> Iterator[TrialEngine]:
            yield engine
            engine.close()

        monkeypatch.setattr("ramgape.studies.running.engine_of", chosen)

    return use


# --- lost is not failed -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("failure", ["retry", "worst"])
def test_what_is_lost_is_tried_again_and_no_failure(on: Callable[..., None], failure: str, tmp_path: Path) -> None:
    """As often as `retries` says, each time with another seed; also where a failure counts as the worst reward."""
    engine = Scripted(lambda arm, tries: arm == "b" and tries < 3)
    on(engine)
    url = f"sqlite:///{tmp_path / 'studies.db'}"
    with Study.create("lost", ARMS, storage=url, failure=failure, retries=3, **OPTIONS) as study:
        result = study.run(lambda arm: 0.5)
        assert result.samples == 12
        assert result.arm("b").mean == 0.5
        report = study.report()
        assert (report.told, report.failed, report.lost, report.pending) == (12, 0, 3 * result.arm("b").pulls, 0)
    again = [seeds for seeds in engine.seeds.values() if len(seeds) > 1]
    assert [len(set(seeds)) for seeds in again] == [4] * result.arm("b").pulls
    assert {tries for _, tries in engine.alone} == {3}  # the last try of each is made alone
    with Study.load("lost", url) as study:  # it is kept
        assert study.report().lost == report.lost
        assert ramgape.Report.from_dict(study.report().to_dict()).lost == report.lost
        assert json.loads(study.report().to_json())["study"]["lost"] == report.lost
    shown = call("study", "show", "lost", "--storage", url).stdout
    assert f"12 completed, {report.lost} lost with their machines" in " ".join(shown.split())


def test_an_arm_that_is_always_lost_fails_in_the_end(on: Callable[..., None]) -> None:
    on(Scripted(lambda arm, tries: arm == "c", slots=1))
    study = Study.create("deadly", ARMS, retries=2, **OPTIONS)
    with pytest.raises(FailingArm, match=r"arm 'c' has failed 3 times .*WorkerLost: its machine has gone"):
        study.run(lambda arm: 0.5)
    report = study.report()
    assert (report.lost, report.failed, report.arms_failed["c"]) == (2, 3, 3)
    assert report.result.arm("a").pulls > 0 < report.result.arm("b").pulls


def test_an_arm_that_is_always_lost_may_count_as_worst(on: Callable[..., None]) -> None:
    """It keeps nobody else from being tried."""
    on(Scripted(lambda arm, tries: arm == "c"))
    study = Study.create("deadly", ARMS, failure="worst", retries=2, **OPTIONS)
    result = study.run(lambda arm: 0.5)
    report = study.report()
    assert {arm.name: arm.mean for arm in result.arms} == {"a": 0.5, "b": 0.5, "c": 0.0}
    pulls = result.arm("c").pulls
    assert pulls >= 3
    assert (report.lost, report.failed, report.arms_failed) == (2 * pulls, pulls, {"a": 0, "b": 0, "c": pulls})


def test_without_retries_one_loss_is_none(on: Callable[..., None]) -> None:
    on(Scripted(lambda arm, tries: tries < 1))
    study = Study.create("lost", ARMS, failure="worst", retries=0, **OPTIONS)
    assert study.run(lambda arm: 0.5).arm("a").mean == 0.5
    assert (study.report().failed, study.report().lost) == (0, 12)


def test_a_trial_may_say_so_itself() -> None:
    tried: list[str] = []

    def pull(arm: str) -> float:
        tried.append(arm)
        if len(tried) == 1:
            raise WorkerLost("this machine is wanted back")
        return 0.5

    study = Study.create("spot", ARMS, **OPTIONS)
    assert study.run(pull).samples == 12
    assert (study.report().lost, study.report().failed, len(tried)) == (1, 0, 13)


def test_who_cancels_a_call_of_an_executor_has_not_made_it_fail() -> None:
    class Cancelling(ThreadPoolExecutor):
        cancelled = 0

        def submit(self, *given: Any, **named: Any) -> Future[Any]:
            if Cancelling.cancelled < 2:
                Cancelling.cancelled += 1
                future: Future[Any] = Future()
                future.cancel()
                future.set_running_or_notify_cancel()
                return future
            return super().submit(*given, **named)

    study = Study.create("cancelled", ARMS, failure="worst", **OPTIONS)
    with Cancelling(2) as pool:
        assert study.run(lambda arm: 0.5, workers=pool).samples == 12
    assert (study.report().lost, study.report().failed) == (2, 0)


@pytest.fixture(params=["memory", "http"])
def place(request: pytest.FixtureRequest) -> Any:
    return None if request.param == "memory" else request.getfixturevalue("server_url")


def test_lost_pulls_in_an_exchange(place: Any) -> None:
    """Given back at once, counted once however often it is said, and not after an answer."""
    study = Study.create("exchanged", ARMS, storage=place, **OPTIONS)
    first, second = study.ask(2, worker="me")
    exchanged = study.exchange([(second, 0.5)], lost=[first], count=0)
    assert [bool(answer) for answer in exchanged.answers] == [True, True]
    assert [bool(answer) for answer in study.exchange(lost=[first, second], count=0).answers] == [True, False]
    assert study.report().lost == 1
    (again,) = study.ask(1, worker="somebody else")
    assert (again.arm, again.id) == (first.arm, f"{first.id}.2")
    assert again.seed != first.seed
    assert not study.exchange(lost=[first], count=0).answers[0]
    assert (study.report().lost, study.report().failed) == (1, 0)
    with pytest.raises(ramgape.InvalidSpec, match="lost must be a list of pulls"):
        study.exchange(lost=first.id)
    study.close()


# --- slots, waiting, time ---------------------------------------------------------------------------------------------


def test_slots_follow_the_engine(on: Callable[..., None]) -> None:
    engine = Scripted(slots=0)
    on(engine)
    study = Study.create("growing", ARMS, **{**OPTIONS, "budget": 40})
    most: list[int] = []

    def grow(progress: ramgape.Progress) -> None:
        most.append(engine.most)
        engine.places = 5 if progress.samples < 20 else 1
        if progress.samples == 25:
            engine.most = 0

    threading.Timer(0.1, engine._inbox.put, [lambda: setattr(engine, "places", 1)]).start()
    assert study.run(lambda arm: 0.5, callback=grow).samples == 40
    assert (most[0], max(most), engine.most) == (1, 5, 1)


def test_a_study_that_others_finish_keeps_nobody_waiting_who_has_no_machine(on: Callable[..., None]) -> None:
    engine = Scripted(slots=0)
    on(engine)
    study = Study.create("elsewhere", ARMS, **OPTIONS)

    def others() -> None:
        while not study.done:
            study.tell_many([(pull, 0.5) for pull in study.ask(3)])

    helper = threading.Timer(0.1, others)
    helper.start()
    assert study.run(lambda arm: 0.5).samples == 12
    helper.join()
    assert engine.most == 0


def test_what_is_waited_for_is_shown() -> None:
    waiting = ["the Dask cluster has no worker yet"]
    monitor = ProgressMonitor(lambda: waiting[0])
    frame = monitor.frame(7.0)
    assert frame is not None
    assert frame.plain() == "waiting for 7 s; the Dask cluster has no worker yet"
    waiting[0] = ""
    assert monitor.frame(8.0) is None
    monitor.remark = "interrupted"
    shown = monitor.frame(9.0)
    assert shown is not None
    assert shown.second == "interrupted"


def test_time_begins_with_a_machine() -> None:
    """What waits for one has taken no time yet; after that, a call that takes too long is abandoned."""

    class Holding(FakeEngine):
        held = True
        abandoned = 0

        def is_held(self, call: Future[Any]) -> bool:
            return self.held

        def abandon(self, call: Future[Any]) -> None:
            self.abandoned += 1
            super().abandon(call)

    engine = Holding(1)
    calls: PendingCalls[str] = PendingCalls(engine, lambda asked: engine.start(Future), Limits(timeout=0.01))
    calls.start("a")
    assert calls.wait(calls.now + 0.1) == []
    assert engine.abandoned == 0
    engine.held = False
    ((asked, future),) = calls.wait()
    assert (asked, engine.abandoned) == ("a", 1)
    assert isinstance(future.exception(), TimeoutError)
    assert not calls.busy


# --- ends -------------------------------------------------------------------------------------------------------------


class Hands:
    """Trials in threads that end when they are let, of which the last ones interrupt."""

    def __init__(self, interrupts: int) -> None:
        self.interrupts, self.calls, self.lock = interrupts, 0, threading.Lock()
        self.released = threading.Event()

    def __call__(self, arm: str) -> float:
        with self.lock:
            self.calls += 1
            mine = self.calls
        if mine == 8:
            threading.Thread(target=self.interrupt).start()
        if mine > 4:
            self.released.wait(LONG)
        return 0.5

    def interrupt(self) -> None:
        for number in range(self.interrupts):
            threading.Event().wait(0.2)
            if number == self.interrupts - 1 == 0:
                threading.Timer(0.2, self.released.set).start()
            os.kill(os.getpid(), signal.SIGINT)


@NO_SIGNALS
def test_an_interrupt_lets_trials_end() -> None:
    """They are told, and nothing more is asked for."""
    hands = Hands(1)
    study = Study.create("grace", ARMS, **OPTIONS)
    result = study.run(hands, workers=4, trials=Trials(grace=LONG))
    assert (result.stopped, result.samples, hands.calls) == ("interrupted", 8, 8)
    assert (study.report().pending, study.report().failed) == (0, 0)


def test_what_came_with_an_interrupt_is_not_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits is woken by both."""
    release = threading.Event()

    class Bell(SimpleQueue[None]):
        def get(self, block: bool = True, timeout: float | None = None) -> None:
            release.set()
            super().get(block, timeout)
            raise KeyboardInterrupt

    with ThreadPoolExecutor(1) as pool:
        engine = ExecutorEngine(pool, 1, own=False)
        with monkeypatch.context() as patched:
            patched.setattr(engine._inbox, "_bell", Bell())
            call = engine.start(release.wait, LONG)
            with pytest.raises(KeyboardInterrupt):
                engine.wait(LONG)
        assert engine.wait(LONG) == [call]
        assert engine.wait(0.0) == []


def test_work_that_somebody_left_is_not_taken_for_later_work() -> None:
    release = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        engine = ExecutorEngine(pool, 1, own=False)
        pieces = [Piece(int, ()), Piece(release.wait, (LONG,))]
        first = made(engine, lambda: pieces.pop(0) if pieces else None)
        assert next(first)[1] == 0
        first.close()
        more = [Piece(int, ("7",))]
        release.set()
        assert [result for _, result in made(engine, lambda: more.pop() if more else None)] == [7]


@NO_SIGNALS
def test_a_second_interrupt_ends_the_waiting() -> None:
    hands = Hands(2)
    study = Study.create("grace", ARMS, **OPTIONS)
    result = study.run(hands, workers=4, trials=Trials(grace=LONG))
    assert (result.stopped, result.samples) == ("interrupted", 4)
    assert study.report().failed == 0
    assert len(study.ask(4)) == 4  # what was under way is given back
    hands.released.set()


def test_what_grace_and_resources_cannot_be() -> None:
    study = Study.create("wrong", ARMS, **OPTIONS)
    for given, words in [
        ({"grace": -1}, "grace must be a number of seconds of at least 0, got -1"),
        ({"resources": {"GPU": 1}}, "resources must be absent without a cluster"),
        ({"resources": "GPU"}, "resources must be a mapping of names to numbers above 0"),
        ({"resources": {"GPU": 0}}, r"resources\['GPU'\] must be a number above 0, got 0"),
        ({"resources": {"": 1}}, "resources must be a mapping of names to numbers above 0"),
    ]:
        with pytest.raises(ramgape.InvalidSpec, match=words):
            study.run(lambda arm: 0.5, trials=Trials(**given))  # type: ignore[arg-type]
    with pytest.raises(ramgape.InvalidSpec, match=r"grace must be left out of identify: it is an option of Study\.run"):
        ramgape.identify(lambda arm: 0.5, ARMS, reward_range=(0, 1), budget=3, trials=Trials(grace=1.0))
    assert check_resources(None) == {}


# --- which engine -----------------------------------------------------------------------------------------------------


def test_what_workers_may_be() -> None:
    study = Study.create("wrong", ARMS, **OPTIONS)
    for workers in (0, 1.5, None, "dusk", "http://scheduler:8786", json):
        with pytest.raises(ramgape.InvalidSpec, match=r"workers must be a whole number .* a dask\.distributed\.Client"):
            study.run(lambda arm: 0.5, workers=workers)
    with ThreadPoolExecutor(3) as pool, engine_of(print, pool) as engine:
        assert engine.slots() == 3
        assert isinstance(engine, ExecutorEngine)


@pytest.mark.parametrize(
    ("workers", "module"), [("dask", "distributed"), ("tcp://nowhere:1", "distributed"), ("ray", "ray")]
)
def test_what_is_not_installed(workers: str, module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    study = Study.create("missing", ARMS, **OPTIONS)
    with pytest.raises(ramgape.MissingExtra, match=rf'{module} must be installed .* "ramgape\[(dask|ray)\]"'):
        study.run(lambda arm: 0.5, workers=workers)


LIGHT = """
import sys
from ramgape.trials.one_trial import make_trial
assert make_trial(len, False, "abc", 1) == 3
print(sorted(name for name in sys.modules if name.split(".")[0] in ("ramgape", "numpy", "numba", "asyncio")))
"""


def test_a_machine_imports_next_to_nothing_for_a_trial() -> None:
    """Neither NumPy, before a trial wants a generator, nor what compiles."""
    ran = subprocess.run([sys.executable, "-c", LIGHT], capture_output=True, text=True, check=True)
    lazy = "'ramgape.common', 'ramgape.common.lazy'"  # by which the package finds its names when they are asked for
    assert ran.stdout.strip() == f"['ramgape', {lazy}, 'ramgape.trials', 'ramgape.trials.one_trial']"
