"""Calls of a user's function: asynchronous ones, several under way, with a rate, a timeout and retries."""

from __future__ import annotations

import asyncio
import math
import threading
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import ramgape
from ramgape import Study, Trials, identify
from ramgape.search.calls import Calls
from ramgape.search.engine import Engine
from ramgape.search.trying import Call, Turns

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

    def tell(engine: Engine, arm: int, reward: float) -> None:
        found[arm].append(reward)
        usual(engine, arm, reward)

    monkeypatch.setattr(Engine, "tell", tell)
    return found


def test_the_rewards_of_an_arm_do_not_depend_on_who_is_faster(learnt: dict[int, list[float]]) -> None:
    """With a seed, the same pull of an arm has the same reward, in threads or on a loop: here, in order."""
    runs = []
    for pull in (plain, coroutine, plain):
        identify(pull, ARMS, workers=5, trials=Trials(in_order=True), reward_range=(0, 1), budget=60, seed=1)
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

    class Watched(Calls[Call]):
        def start(self, asked_for: Call, pause: float = 0.0) -> None:
            asked.append(asked_for)
            super().start(asked_for, pause)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("ramgape.search.trying.Calls", Watched)
        identify(coroutine, ARMS, workers=4, reward_range=(0, 1), budget=30)
    assert len(asked) == 30
    for arm in range(3):
        turns = [call.turn for call in asked if call.arm == arm]
        assert turns == list(range(len(turns)))


# --- answers in order -------------------------------------------------------------------------------------------------


def test_answers_that_are_held_back() -> None:
    turns = Turns(True, [0, 2])
    assert list(turns.learnable(Call(0, 1), 0.1)) == []
    assert list(turns.learnable(Call(1, 2), 0.2)) == [0.2]  # another arm, of which two are learnt already
    assert list(turns.learnable(Call(0, 2), 0.3)) == []
    assert list(turns.learnable(Call(0, 0), 0.4)) == [0.4, 0.1, 0.3]
    assert list(Turns(False, [0]).learnable(Call(0, 7), 0.5)) == [0.5]


@pytest.mark.parametrize("in_order", [False, True])
def test_the_first_pull_of_an_arm_is_the_last_to_end(in_order: bool, learnt: dict[int, list[float]]) -> None:
    """In order, its arm's others wait for it, and no other arm does."""
    begun: Counter[str] = Counter()
    loops: list[asyncio.AbstractEventLoop] = []
    others_learnt = asyncio.Event()

    async def pull(arm: str) -> float:
        begun[arm] += 1
        mine = begun[arm]
        if arm == "steady" and mine == 1:
            loops.append(asyncio.get_running_loop())
            await asyncio.wait_for(others_learnt.wait(), LONG)
        return mine / 100

    def watch(progress: ramgape.Progress) -> None:
        if progress.samples == (6 if in_order else 11):
            loops[0].call_soon_threadsafe(others_learnt.set)

    options: dict[str, Any] = {"reward_range": (0, 1), "budget": 12, "policy": "round-robin"}
    result = identify(pull, ARMS, workers=3, in_order=in_order, callback=watch, **options)
    assert result.samples == 12
    assert 0.01 in learnt[0]
    assert (learnt[0] == sorted(learnt[0])) == in_order


# --- what is no reward ------------------------------------------------------------------------------------------------


def test_a_coroutine_is_never_taken_for_a_reward() -> None:
    """Nor does it complain later that nobody has awaited it: every warning is an error here."""
    study = Study.create("coins", ARMS, reward_range=(0, 1), epsilon=0.1)
    (pull,) = study.ask()
    words = "reward must be a number, not what must be awaited"
    tellings: list[Callable[[Any], object]] = [
        lambda reward: study.tell(pull, reward),
        lambda reward: study.tell_many([(pull, reward)]),
        lambda reward: study.observe("wild", reward),
        lambda reward: study.check_reward(reward),
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

    with pytest.raises(ramgape.InvalidReward, match="not what must be awaited"):
        identify(pull, ARMS, **OPTIONS)
