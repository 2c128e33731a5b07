"""Calls of a user's function: asynchronous ones, several under way, with a rate, a timeout and retries."""

from __future__ import annotations

import asyncio
import math
import os
import pickle
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ramgape
from ramgape import Retry, Study, Trials, identify
from ramgape.cli.run import make_trials
from ramgape.commands.study_files import read_study_file
from ramgape.search.engine import Engine
from ramgape.search.outcome import check_reward
from ramgape.studies.running import maker_of
from ramgape.trials.backend import TrialEngine
from ramgape.trials.calls import Clock, Limits, PendingCalls
from ramgape.trials.executors import Loop, Threads
from ramgape.trials.trial_loop import Call, Turns
from tests.engines import FakeEngine

SHAPES = {"steady": (40, 40), "wild": (0.2, 0.1), "poor": (1, 3)}
ARMS = list(SHAPES)
OPTIONS: dict[str, Any] = {"reward_range": (0, 1), "epsilon": 0.1, "seed": 1}
LONG = 60.0  # seconds that nobody waits for: if they pass, a test has failed


def plain(arm: str, rng: np.random.Generator) -> float:
    return float(rng.beta(*SHAPES[arm]))


async def coroutine(arm: str, rng: np.random.Generator) -> float:
    await asyncio.sleep(0)
    return plain(arm, rng)


class Asking:
    """An object whose calls must be awaited."""

    async def __call__(self, arm: str, rng: np.random.Generator) -> float:
        return await coroutine(arm, rng)


async def with_option(option: str, arm: str, rng: np.random.Generator) -> float:
    assert option == "mine"
    return await coroutine(arm, rng)


class Later:
    """No coroutine, but something to await."""

    def __init__(self, reward: float) -> None:
        self.reward = reward

    def __await__(self) -> Iterator[Any]:
        yield from asyncio.sleep(0).__await__()
        return self.reward


ASYNCHRONOUS: dict[str, Callable[..., Awaitable[float]]] = {
    "function": coroutine,
    "object": Asking(),
    "method": Asking().__call__,
    "partial": partial(with_option, "mine"),
    "returned": lambda arm, rng: coroutine(arm, rng),
    "awaitable": lambda arm, rng: Later(plain(arm, rng)),
}


@pytest.fixture(autouse=True)
def nothing_left_behind() -> Iterator[None]:
    """No loop goes on after its calls."""
    yield
    assert [thread.name for thread in threading.enumerate() if thread.name == "ramgape-loop"] == []


# --- asynchronous calls -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ASYNCHRONOUS)
def test_one_at_a_time_is_the_same_search_awaited_or_not(kind: str) -> None:
    assert identify(ASYNCHRONOUS[kind], ARMS, **OPTIONS) == identify(plain, ARMS, **OPTIONS)


@pytest.mark.parametrize("kind", ["function", "returned"])
@pytest.mark.parametrize("workers", [1, 3])
def test_inside_a_running_loop(kind: str, workers: int) -> None:
    """As in a notebook: the loop that runs already is neither needed nor disturbed."""

    async def main() -> tuple[ramgape.Result, ramgape.Result]:
        mine = asyncio.get_running_loop()
        found = identify(ASYNCHRONOUS[kind], ARMS, workers=workers, **OPTIONS)
        study = Study.create("inside", ARMS, reward_range=(0, 1), epsilon=0.1, seed=1)
        ran = study.run(ASYNCHRONOUS[kind], workers=workers)
        await asyncio.sleep(0)
        assert asyncio.get_running_loop() is mine
        return found, ran

    for result in asyncio.run(main()):
        assert result.front == ("steady", "wild")
        assert result.goal_reached


class Together:
    """Calls that go on only when so many are under way at once."""

    def __init__(self, count: int) -> None:
        self.count, self.under_way, self.most, self.lock = count, 0, 0, threading.Lock()
        self.barrier = threading.Barrier(count)
        self.event: asyncio.Event | None = None

    def thread(self, arm: str) -> float:
        with self.lock:
            self.under_way += 1
            self.most = max(self.most, self.under_way)
        self.barrier.wait(LONG)
        with self.lock:
            self.under_way -= 1
        return 0.5

    async def task(self, arm: str) -> float:
        if self.event is None or self.event.is_set():
            self.event = asyncio.Event()
        self.under_way += 1
        self.most = max(self.most, self.under_way)
        if self.under_way == self.count:
            self.event.set()
        await asyncio.wait_for(self.event.wait(), LONG)
        self.under_way -= 1
        return 0.5


@pytest.mark.parametrize("kind", ["thread", "task"])
def test_so_many_are_under_way_at_once_and_no_more(kind: str) -> None:
    """Each waits for the others, so that fewer would never come to an end."""
    together = Together(4)
    result = identify(getattr(together, kind), ARMS, workers=4, reward_range=(0, 1), budget=24, policy="round-robin")
    assert (result.samples, together.most) == (24, 4)
    together = Together(4)
    study = Study.create("four", ARMS, reward_range=(0, 1), budget=24, policy="round-robin")
    assert study.run(getattr(together, kind), workers=4).samples == 24
    assert together.most == 4


@pytest.fixture
def learnt(monkeypatch: pytest.MonkeyPatch) -> dict[int, list[float]]:
    """The rewards that are learnt, by arm and in their order."""
    found: dict[int, list[float]] = {arm: [] for arm in range(len(ARMS))}
    usual = Engine.tell

    def tell(engine: Engine, arm: int, reward: float, *price: float | None) -> None:
        found[arm].append(reward)
        usual(engine, arm, reward, *price)

    monkeypatch.setattr(Engine, "tell", tell)
    return found


def test_the_rewards_of_an_arm_do_not_depend_on_who_is_faster(learnt: dict[int, list[float]]) -> None:
    """With a seed, the same pull of an arm has the same reward, in threads or on a loop."""
    runs = []
    for pull in (plain, coroutine, plain):
        identify(pull, ARMS, workers=5, reward_range=(0, 1), budget=60, seed=1)
        runs.append([rewards.copy() for rewards in learnt.values()])
        for rewards in learnt.values():
            rewards.clear()
    assert all(sum(map(len, run)) == 60 for run in runs)
    for arm in range(3):
        fewest = min(len(run[arm]) for run in runs)
        assert fewest >= 2
        assert len({tuple(run[arm][:fewest]) for run in runs}) == 1


def test_pulls_are_counted_by_arm() -> None:
    asked: list[Call] = []

    class Watched(PendingCalls[Call]):
        def start(self, asked_for: Call, pause: float = 0.0) -> None:
            asked.append(asked_for)
            super().start(asked_for, pause)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ramgape.trials.trial_loop.PendingCalls", Watched)
        identify(coroutine, ARMS, workers=4, reward_range=(0, 1), budget=30)
    assert len(asked) == 30
    for arm in range(3):
        turns = [call.turn for call in asked if call.arm == arm]
        assert turns == list(range(len(turns)))


# --- answers in order -------------------------------------------------------------------------------------------------


def test_answers_that_are_held_back() -> None:
    turns = Turns(True)
    calls = [turns.ask(arm, turn) for arm, turn in ((0, 0), (1, 2), (0, 1), (1, 3))]
    assert list(turns.learnable(calls[2], 0.2)) == []
    assert list(turns.learnable(calls[1], 0.1)) == []  # of another arm
    assert turns.held == 2
    assert list(turns.learnable(calls[0], 0.0)) == [(0, 0.0), (1, 0.1), (0, 0.2)]
    assert (turns.held, turns.overtaken) == (0, False)
    turns = Turns(False)
    calls = [turns.ask(0, turn) for turn in range(3)]
    assert list(turns.learnable(calls[0], 0.5)) == [(0, 0.5)]
    assert not turns.overtaken
    assert list(turns.learnable(calls[2], 0.5)) == [(0, 0.5)]
    assert turns.overtaken


@pytest.mark.parametrize("stays", [False, True])
def test_a_call_that_is_tried_again(stays: bool) -> None:
    """It counts as asked for anew, unless its place is fixed."""
    turns = Turns(True, stays)
    first, second, third = (turns.ask(arm, 0) for arm in range(3))
    assert list(turns.learnable(second, 0.1)) == []
    assert list(turns.again(first)) == ([] if stays else [(1, 0.1)])
    fourth = turns.ask(0, 1)
    assert list(turns.learnable(fourth, 0.3)) == []
    expected = [(0, 0.0), (1, 0.1)] if stays else []
    assert list(turns.learnable(first._replace(attempt=1), 0.0)) == expected
    expected = [(2, 0.2), (0, 0.3)] if stays else [(2, 0.2), (0, 0.0), (0, 0.3)]
    assert list(turns.learnable(third, 0.2)) == expected


@pytest.mark.parametrize(
    ("in_order", "options"),
    [
        (False, {"budget": 12, "policy": "round-robin", "in_order": False}),
        (True, {"budget": 12, "policy": "round-robin"}),
        (True, {"epsilon": 0.0, "max_trials": 12, "bound": "running"}),  # whose averages are over the first rounds
    ],
)
def test_the_first_pull_is_the_last_to_end(
    in_order: bool, options: dict[str, Any], learnt: dict[int, list[float]]
) -> None:
    """In order, all others wait for it; otherwise it comes when they have been learned."""
    begun: Counter[str] = Counter()
    loops: list[asyncio.AbstractEventLoop] = []
    others_learnt = asyncio.Event()
    seen: list[int] = []

    async def pull(arm: str) -> float:
        begun[arm] += 1
        mine = begun[arm]
        if sum(begun.values()) == 1:
            seen.append(ARMS.index(arm))
            loops.append(asyncio.get_running_loop())
            await asyncio.wait_for(others_learnt.wait(), LONG)
        if in_order and sum(begun.values()) == 12:
            assert not any(learnt.values())
            others_learnt.set()
        return mine / 100

    def watch(progress: ramgape.Progress) -> None:
        if not in_order and progress.samples == 11:
            loops[0].call_soon_threadsafe(others_learnt.set)

    result = identify(pull, ARMS, workers=3, callback=watch, reward_range=(0, 1), **options)
    assert result.samples == 12
    assert all((rewards == sorted(rewards)) == (in_order or arm not in seen) for arm, rewards in learnt.items())
    assert bool(result.conditions) != in_order


# --- what is no reward ------------------------------------------------------------------------------------------------


def test_a_coroutine_is_never_taken_for_a_reward() -> None:
    """Nor does it complain later that nobody has awaited it: every warning is an error here."""
    study = Study.create("coins", ARMS, reward_range=(0, 1), epsilon=0.1)
    (pull,) = study.ask()
    words = "reward must be a number, not an awaitable"
    tellings: list[Callable[[Any], object]] = [
        lambda reward: study.tell(pull, reward),
        lambda reward: study.tell_many([(pull, reward)]),
        lambda reward: study.observe("wild", reward),
        lambda reward: check_reward(study.spec.search, reward),
        lambda reward: study.exchange([(pull, reward)]),
    ]
    for telling in tellings:
        for reward in (coroutine("poor", np.random.default_rng(1)), Later(0.5)):
            with pytest.raises(ramgape.InvalidReward, match=words):
                telling(reward)
    assert study.report().told == 0


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("reward", [math.nan, "0.5", 2.0, None])
def test_what_is_awaited_must_be_a_reward(workers: int, reward: Any) -> None:
    async def pull(arm: str) -> Any:
        return reward

    with pytest.raises(ramgape.InvalidReward, match="reward must be a number from 0 to 1, got") as caught:
        identify(pull, ARMS, workers=workers, **OPTIONS)
    assert caught.value.partial_result.samples == 0


def test_what_gives_something_to_await_that_gives_something_to_await() -> None:
    async def pull(arm: str) -> Any:
        return coroutine(arm, np.random.default_rng(1))

    with pytest.raises(ramgape.InvalidReward, match="not an awaitable"):
        identify(pull, ARMS, **OPTIONS)


# --- limits -----------------------------------------------------------------------------------------------------------


class Time(Clock):
    """A clock that goes on at once where somebody waits for it: no call is slow here, unless it says that it hangs."""

    def __init__(self) -> None:
        self.present = 0.0
        self.hanging = threading.Semaphore(0)

    def now(self) -> float:
        return self.present

    def wait(self, engine: TrialEngine, busy: bool, seconds: float | None) -> list[Future[Any]]:
        while busy:
            if found := engine.wait(0.01):
                return found
            if self.hanging.acquire(blocking=False):
                break
        assert seconds is not None
        self.present += seconds
        return []


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Time:
    found = Time()
    monkeypatch.setattr("ramgape.trials.calls.Clock", lambda: found)
    return found


@pytest.fixture(params=["identify", "Study.run"])
def search(request: pytest.FixtureRequest) -> Callable[..., ramgape.Result]:
    """Both ways to have calls made, with the same options."""

    def run(pull: Callable[..., Any], workers: int = 1, trials: Trials | None = None, **options: Any) -> ramgape.Result:
        options = {"reward_range": (0, 1), "budget": 12, "seed": 1, **options}
        if request.param == "identify":
            return identify(pull, ARMS, workers=workers, trials=trials, **options)
        study = Study.create("limited", ARMS, **options)
        return study.run(pull, workers=workers, trials=trials, progress=False)

    return run


Way = Callable[..., ramgape.Result]


def both(function: Callable[[str], float]) -> list[Callable[[str], Any]]:
    """A function, and the same as one that must be awaited."""

    async def asynchronous(arm: str) -> float:
        return function(arm)

    return [function, asynchronous]


def test_a_rate_is_never_exceeded(search: Way, clock: Time) -> None:
    begun: list[float] = []

    def pull(arm: str) -> float:
        begun.append(clock.now())
        return 0.5

    for each in both(pull):
        begun.clear()
        assert search(each, trials=Trials(rate="30/min")).samples == 12
        assert np.diff(begun).tolist() == [2.0] * 11  # and no slower than it must be


def test_a_rate_with_several_under_way(clock: Time) -> None:
    """Whoever waits for room is told when the next may begin; what is tried again begins at that rate, too."""
    begun: list[tuple[float, str]] = []
    futures: dict[str, Future[float]] = {}

    def submit(asked: str) -> Future[float]:
        begun.append((clock.now(), asked))
        futures[asked] = Future()
        clock.hanging.release()
        return futures[asked]

    engine = FakeEngine(2)
    calls = PendingCalls(engine, lambda asked: engine.start(submit, asked), Limits(interval=2.0))
    assert calls.free == 1
    calls.start("a")
    assert calls.free == 0
    assert calls.wait() == []
    assert (clock.now(), calls.free) == (2.0, 1)
    calls.start("b")
    futures["b"].set_result(0.5)
    assert calls.wait() == [("b", futures["b"])]
    calls.start("b", 0.5)  # again
    assert calls.in_progress == ["a", "b"]
    assert calls.free == 0
    futures["a"].set_result(0.5)
    assert calls.wait() == [("a", futures["a"])]
    clock.present = 3.0
    assert calls.free == 0  # since 2.0 the rate has been used up
    assert calls.wait() == []  # "b" has begun, then there was room
    assert begun == [(0.0, "a"), (2.0, "b"), (4.0, "b")]


def test_what_ended_together_is_handed_over_in_the_order_of_its_beginning(clock: Time) -> None:
    futures: dict[str, Future[float]] = {name: Future() for name in "abc"}
    engine = FakeEngine(3)
    calls = PendingCalls(engine, lambda asked: engine.start(futures.__getitem__, asked), Limits())
    for name in "abc":
        calls.start(name)
    for name in "cb":
        futures[name].set_result(0.5)
    assert [name for name, _ in calls.wait()] == ["b", "c"]
    assert calls.in_progress == ["a"]
    calls.cancel()
    assert futures["a"].cancelled()


def test_what_may_be_a_rate() -> None:
    wrong: dict[Any, str] = {
        "60": "the unit of rate '60' must be one of s, min, h, got ''",
        "60/minute": "did you mean 'min'",
        "many/min": 'rate must be a number above 0 per second, or text such as "60/min"',
        "0/s": "rate must be a number above 0 per second",
        -1: "rate must be a number above 0 per second",
        math.inf: "rate must be a number above 0 per second",
    }
    for rate, message in wrong.items():
        with pytest.raises(ramgape.SpecificationError, match=message):
            identify(never, ARMS, trials=Trials(rate=rate), **OPTIONS)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"timeout": 0}, "timeout must be a number of seconds above 0"),
        ({"timeout": "soon"}, "timeout must be a number of seconds above 0"),
        ({"retry_on": "TimeoutError"}, "retry_on must be an exception, or several in a tuple"),
        ({"retry_on": (KeyboardInterrupt,)}, "retry_on must be an exception, or several in a tuple"),
        ({"retry_on": (TimeoutError("now"),)}, "retry_on must be an exception, or several in a tuple"),
    ],
)
def test_what_limits_cannot_be(given: dict[str, Any], message: str) -> None:
    study = Study.create("limited", ARMS, reward_range=(0, 1), epsilon=0.1)
    with pytest.raises(ramgape.InvalidSpec, match=message):
        identify(never, ARMS, trials=Trials(**given), **OPTIONS)
    with pytest.raises(ramgape.InvalidSpec, match=message):
        study.run(never, trials=Trials(**given))


def test_what_cannot_be_meant() -> None:
    for workers in (0, 1.5, "2", None):
        with pytest.raises(ramgape.InvalidSpec, match="workers must be a whole number of at least 1, got"):
            identify(never, ARMS, workers=workers, **OPTIONS)
    with pytest.raises(ramgape.InvalidSpec, match="in_order must be true or false, got 1"):
        identify(never, ARMS, in_order=1, **OPTIONS)  # type: ignore[call-arg]
    with pytest.raises(ramgape.InvalidSpec, match="retries must be a whole number of at least 0, got -1"):
        identify(never, ARMS, trials=Trials(retries=-1), **OPTIONS)
    with pytest.raises(ramgape.InvalidSpec, match="after must be a number of seconds of at least 0, or None, got -1"):
        Retry(after=-1)
    study = Study.create("limited", ARMS, reward_range=(0, 1), epsilon=0.1)
    with pytest.raises(ramgape.InvalidSpec, match=r"retries must be left out of Study\.run: it is an option"):
        study.run(never, trials=Trials(retries=7))
    with pytest.raises(ramgape.InvalidSpec, match="rate must be left out of study: it is an option of identify, Study"):
        Study.create("limited", ARMS, reward_range=(0, 1), epsilon=0.1, trials=Trials(rate=1))


def never(arm: object) -> float:
    raise AssertionError("what cannot be meant must not be tried")


# --- retries ----------------------------------------------------------------------------------------------------------


def failing(times: int, error: Exception, clock: Time) -> tuple[Callable[[str], float], list[float]]:
    """A function whose first calls fail, and when it was called."""
    called: list[float] = []

    def pull(arm: str) -> float:
        called.append(clock.now())
        if len(called) <= times:
            raise error
        return 0.5

    return pull, called


def test_what_fails_is_tried_again_after_growing_pauses(search: Way, clock: Time) -> None:
    for kind in (0, 1):
        pull, called = failing(3, ConnectionError("lost"), clock)
        assert search(both(pull)[kind], trials=Trials(retry_on=(ConnectionError,))).samples == 12
        pauses = np.diff(called)[:3]
        for pause, longest in zip(pauses, (1.0, 2.0, 4.0), strict=True):
            assert longest / 2 <= pause <= longest
        assert len(called) == 15


def test_pauses_are_the_same_with_the_same_seed_and_have_an_end() -> None:
    limits = Limits(retry_on=(OSError,), retries=5000)
    assert (
        limits.pause_after(OSError(), 2, 5)
        == limits.pause_after(OSError(), 2, 5)
        != limits.pause_after(OSError(), 2, 6)
    )
    for tries in (7, 50, 4999):
        pause = limits.pause_after(OSError(), tries, 5)
        assert pause is not None
        assert 30.0 <= pause <= 60.0
    assert limits.pause_after(OSError(), 5000, 5) is None
    assert limits.pause_after(ValueError(), 0, 5) is None


def test_a_trial_says_after_how_long_it_is_to_be_tried_again(search: Way, clock: Time) -> None:
    """Whatever `retry_on` says: also in a search that knows of no limit before."""
    for trials in (None, Trials(retry_on=(OSError,))):
        pull, called = failing(2, Retry("busy", after=7.5), clock)
        assert search(pull, trials=trials).samples == 12
        assert np.diff(called)[:2].tolist() == [7.5, 7.5]


def test_in_the_middle_of_a_plain_search(clock: Time) -> None:
    """What is learnt is what would have been without."""
    called: list[float] = []

    def pull(arm: str, rng: np.random.Generator) -> float:
        called.append(clock.now())
        if len(called) in (1, 20, 21):
            raise Retry(after=3)
        return plain(arm, rng)

    found = identify(pull, ARMS, **OPTIONS)
    assert sum(found.quality.failures.values()) == 3
    assert found.arms == identify(plain, ARMS, **OPTIONS).arms
    assert sorted(np.diff(called).tolist())[-4:] == [0.0, 3.0, 3.0, 3.0]


@pytest.mark.parametrize("error", [ConnectionError("lost"), Retry("busy", after=1)], ids=["retry_on", "Retry"])
@pytest.mark.parametrize("asynchronous", [False, True])
def test_when_retries_are_used_up_the_error_arrives(error: Exception, asynchronous: bool, clock: Time) -> None:
    pull, called = failing(99, error, clock)
    with pytest.raises(type(error)) as caught:
        identify(both(pull)[asynchronous], ARMS, trials=Trials(retry_on=ConnectionError, retries=2), **OPTIONS)
    assert caught.value is error
    assert caught.value.partial_result.samples == 0  # type: ignore[attr-defined]
    assert len(called) == 3


def test_other_errors_are_not_tried_again(clock: Time) -> None:
    pull, called = failing(99, ValueError("wrong"), clock)
    with pytest.raises(ValueError, match="wrong"):
        identify(pull, ARMS, trials=Trials(retry_on=(ConnectionError,)), **OPTIONS)
    assert len(called) == 1


def test_a_study_counts_what_was_tried_again_as_it_always_did(clock: Time) -> None:
    """With failure "retry" its own retries are the ones that are made, and each is a failure; with pauses."""
    study = Study.create("limited", ARMS, reward_range=(0, 1), budget=12, retries=2, policy="round-robin")
    pull, called = failing(99, ConnectionError("lost"), clock)
    with pytest.raises(ramgape.FailingArm, match=r"has failed 3 times .* ConnectionError: lost"):
        study.run(pull, trials=Trials(retry_on=(ConnectionError,)))
    assert study.report().failed == len(called) == 3
    assert [0.5 <= pause <= 2.0 for pause in np.diff(called)] == [True, True]


def test_a_study_whose_failures_count_hears_of_the_last_one_alone(clock: Time) -> None:
    study = Study.create("limited", ARMS, reward_range=(0, 1), budget=12, failure="worst", retries=2)
    pull, called = failing(3 + 2, ConnectionError("lost"), clock)
    assert study.run(pull, trials=Trials(retry_on=(ConnectionError,))).samples == 12
    assert study.report().failed == 1
    assert len(called) == 3 + 2 + 12 - 1


# --- timeouts ---------------------------------------------------------------------------------------------------------


class Hanging:
    """Calls of which the first never end, unless they are told to."""

    def __init__(self, times: int, clock: Time) -> None:
        self.times, self.clock, self.calls, self.cancelled = times, clock, 0, 0
        self.told, self.lock = threading.Event(), threading.Lock()

    def _hangs(self) -> bool:
        with self.lock:
            self.calls += 1
            return self.calls <= self.times

    def thread(self, arm: str) -> float:
        if self._hangs():
            self.clock.hanging.release()
            self.told.wait(LONG)
        return 0.5

    async def task(self, arm: str) -> float:
        if self._hangs():
            self.clock.hanging.release()
            try:
                await asyncio.sleep(LONG)
            except asyncio.CancelledError:
                self.cancelled += 1
                raise
        return 0.5


@pytest.mark.parametrize(
    ("kind", "became"), [("thread", "nothing can end what runs in a thread"), ("task", "cancelled")]
)
def test_a_timeout_ends_the_waiting(kind: str, became: str, clock: Time) -> None:
    hanging = Hanging(1, clock)
    with pytest.raises(TimeoutError, match=rf"a trial took more than 30 s; .*{became}") as caught:
        identify(getattr(hanging, kind), ARMS, trials=Trials(timeout=30), **OPTIONS)
    assert caught.value.partial_result.samples == 0  # type: ignore[attr-defined]
    assert clock.now() == 30.0
    assert hanging.cancelled == (kind == "task")
    hanging.told.set()


@pytest.mark.parametrize("kind", ["thread", "task"])
def test_what_took_too_long_is_tried_again(kind: str, search: Way, clock: Time) -> None:
    """What hangs in a thread takes nobody's place."""
    hanging = Hanging(2, clock)
    trials = Trials(timeout=30, retry_on=(TimeoutError,))
    assert search(getattr(hanging, kind), trials=trials).samples == 12
    assert hanging.calls == 14
    hanging.told.set()


@pytest.mark.parametrize("kind", ["thread", "task"])
def test_a_timeout_is_a_failed_trial_of_a_study(kind: str, clock: Time) -> None:
    hanging = Hanging(1, clock)
    study = Study.create("limited", ARMS, reward_range=(0, 1), budget=12, failure="worst")
    assert study.run(getattr(hanging, kind), trials=Trials(timeout=30)).samples == 12
    (failure,) = study.report().failures
    assert failure.reason.startswith("TimeoutError: a trial took more than 30 s")
    hanging.told.set()


def test_what_comes_after_its_timeout_is_nobodys_reward(clock: Time, learnt: dict[int, list[float]]) -> None:
    hanging = Hanging(1, clock)
    over = threading.Event()

    def pull(arm: str) -> float:
        first = hanging.calls == 0
        hanging.thread(arm)
        if first:
            over.set()
        return 0.25 if first else 0.5

    def watch(progress: ramgape.Progress) -> None:
        hanging.told.set()
        assert over.wait(LONG)

    trials = Trials(timeout=30, retry_on=(TimeoutError,))
    identify(pull, ARMS, trials=trials, callback=watch, reward_range=(0, 1), budget=12)
    assert {reward for rewards in learnt.values() for reward in rewards} == {0.5}


# --- ends that were not meant -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["thread", "task"])
def test_an_error_in_one_of_several_calls(kind: str) -> None:
    """The others are cancelled, or let end; what was learnt is not lost."""
    ended = threading.Event()
    calls = Counter[str]()
    lock = threading.Lock()
    cancelled: list[str] = []

    def count() -> int:
        with lock:
            calls["all"] += 1
            return calls["all"]

    def thread(arm: str) -> float:
        mine = count()
        if mine == 10:
            raise LookupError("mine")
        if mine > 10:
            ended.wait(LONG)
        return 0.5

    async def task(arm: str) -> float:
        mine = count()
        if mine == 10:
            raise LookupError("mine")
        if mine > 10:
            try:
                await asyncio.sleep(LONG)
            except asyncio.CancelledError:
                cancelled.append(arm)
                raise
        return 0.5

    with pytest.raises(LookupError, match="mine") as caught:
        identify(thread if kind == "thread" else task, ARMS, workers=4, **OPTIONS)
    result = caught.value.partial_result  # type: ignore[attr-defined]
    assert (result.stopped, result.samples) == ("error", 9)
    assert "after 9 rewards" in caught.value.__notes__[0]
    assert kind == "thread" or len(cancelled) == calls["all"] - 10
    ended.set()


@pytest.mark.parametrize("kind", ["thread", "task"])
@pytest.mark.parametrize("raised", [False, True])
def test_an_interrupt_returns_the_result_so_far(kind: str, raised: bool) -> None:
    """Ctrl-C comes while the main thread waits, or is raised by a call itself; nobody waits for the others."""
    ended = threading.Event()
    calls = Counter[str]()
    lock = threading.Lock()

    def interrupt() -> bool:
        """Whether this call goes on as if nothing had been."""
        with lock:
            calls["all"] += 1
            mine = calls["all"]
        if mine == 10 and raised:
            raise KeyboardInterrupt
        if mine == 12 and not raised:
            os.kill(os.getpid(), signal.SIGINT)
        return mine < 10

    def thread(arm: str) -> float:
        if not interrupt():
            ended.wait(LONG)
        return 0.5

    async def task(arm: str) -> float:
        if not interrupt():
            await asyncio.sleep(LONG)
        return 0.5

    pull: Callable[[str], Any] = thread if kind == "thread" else task
    result = identify(pull, ARMS, workers=3, reward_range=(0, 1), budget=40)
    assert (result.stopped, result.samples) == ("interrupted", 9)
    ended.set()
    calls.clear()
    ended.clear()
    study = Study.create("interrupted", ARMS, reward_range=(0, 1), budget=40)
    result = study.run(pull, workers=3, trials=Trials(grace=0))
    assert (result.stopped, result.samples) == ("interrupted", 9)
    assert study.report().failed == 0
    ended.set()


@pytest.mark.parametrize("kind", ["thread", "task"])
def test_system_exit_is_not_held_up(kind: str) -> None:
    def thread(arm: str) -> float:
        raise SystemExit(3)

    with pytest.raises(SystemExit):
        identify(both(thread)[kind == "task"], ARMS, workers=2, **OPTIONS)


def test_a_callback_ends_it_and_what_has_begun_in_threads_is_let_end() -> None:
    together = threading.Barrier(3)
    under_way: list[str] = []

    def pull(arm: str) -> float:
        under_way.append(arm)
        together.wait(LONG)
        under_way.remove(arm)
        return 0.5

    result = identify(pull, ARMS, workers=3, callback=lambda progress: together.abort() or True, **OPTIONS)  # type: ignore[func-returns-value]
    assert (result.stopped, result.samples) == ("callback", 1)
    assert len(under_way) <= 2  # those that an aborted barrier has ended: none is waiting


HANGS = """
import threading, ramgape
def pull(arm):
    threading.Event().wait()
try:
    ramgape.identify(pull, ["a", "b"], reward_range=(0, 1), epsilon=0.1, workers=2, trials=ramgape.Trials(timeout=0.1))
except TimeoutError as error:
    print(error.partial_result.samples)
"""


def test_a_program_ends_though_a_trial_does_not() -> None:
    ran = subprocess.run([sys.executable, "-c", HANGS], capture_output=True, text=True, timeout=300)
    assert (ran.returncode, ran.stdout.strip()) == (0, "0"), ran.stderr


def test_a_call_that_does_not_let_itself_be_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is given a moment, and then left alone."""
    monkeypatch.setattr("ramgape.trials.executors.GRACE", 0.01)
    told = threading.Event()

    async def pull(arm: str) -> float:
        if arm == "wild":
            raise LookupError("mine")
        told.wait(LONG)  # and nobody else on the loop has a turn
        return 0.5

    loop = Loop()
    future = loop.submit(pull, "steady")
    loop.shutdown()
    assert not future.done()
    told.set()
    assert future.result(LONG) == 0.5
    for thread in threading.enumerate():
        if thread.name == "ramgape-loop":
            thread.join(LONG)


# --- executors of others ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["function", "object", "partial", "returned"])
def test_an_executor_of_somebody_else_awaits_as_well(kind: str) -> None:
    study = Study.create("elsewhere", ARMS, reward_range=(0, 1), epsilon=0.1, seed=1)
    with ThreadPoolExecutor(2) as pool:
        assert study.run(ASYNCHRONOUS[kind], workers=pool).front == ("steady", "wild")


def test_a_maker_travels() -> None:
    make = pickle.loads(pickle.dumps(maker_of(coroutine, False)))
    assert asyncio.run(make("steady", 1)) == plain("steady", np.random.default_rng(1))


def test_threads_are_used_again() -> None:
    threads, names = Threads(), set()
    for _ in range(20):
        names.add(threads.submit(lambda: threading.current_thread().name).result(LONG))
    threads.shutdown()
    assert len(names) <= 3  # a new one only where the last was not idle yet


def test_a_study_file_has_a_rate(tmp_path: Path, clock: Time) -> None:
    path = tmp_path / "mine.toml"
    table = '[study]\nbudget = 6\nreward_range = [0, 1]\nrate = "1000/h"\n'
    path.write_text(f'{table}[arms]\none = "echo 0.5"\ntwo = "echo 0.25"\n', encoding="utf-8")
    file = read_study_file(path)
    assert file.rate == "1000/h"
    study = Study.create(file.name, file.commands, **file.options)
    assert make_trials(study, file, 1, f"sqlite:///{tmp_path / 'none.db'}", None) == 0
    assert study.done
    assert clock.now() == pytest.approx(5 * 3.6)
