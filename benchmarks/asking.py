"""Ask and tell in memory, and `identify`, from Python: microseconds, and how many empty Python calls they are worth.

Asking and telling goes through the same compiled functions as a simulation, one call at a time. A pull through
`identify` also checks the reward and calls the user's function, which here does nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.measure import Case, Row, Spread, Turns, seconds, take_turns
from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec
from ramgape.trials.identification import identify

GROUP = "from Python"
PULL_TARGET = 20.0  # microseconds
OPTIONS: dict[str, Any] = {"reward_range": (0.0, 1.0), "epsilon": 0.0}


def cases(quick: bool) -> Iterator[Case]:
    """Ask and tell, then `identify`."""
    pulls, repeats = (200, 1) if quick else (5_000, 7)
    yield against_calls("ask and tell", ask_and_tell, pulls, repeats, PULL_TARGET)
    yield against_calls("one pull of identify", identify_nothing, pulls, repeats, None)


def against_calls(
    name: str, work: Callable[[list[float]], None], pulls: int, repeats: int, target: float | None
) -> Case:
    """Turns of the work and of as many empty calls."""

    def turns() -> Iterator[tuple[float, float]]:
        rewards = np.random.default_rng(0).random(pulls).tolist()
        for _ in range(5):
            yield seconds(work, rewards), seconds(call_nothing, rewards)

    def measure() -> Iterator[Row]:
        take_turns(turns())  # warms the caches
        repetitions = [take_turns(turns()) for _ in range(repeats)]
        yield Row(GROUP, f"{name}, K = 10", "us", Spread.of([micros(found, pulls) for found in repetitions]), target)
        yield Row(GROUP, f"{name}, in calls of nothing", "calls", Spread.of([turn.ratio() for turn in repetitions]))

    return Case(name, measure)


def micros(turns: Turns, pulls: int) -> float:
    """Of one pull."""
    return 1e6 * sum(turns.first) / len(turns.first) / pulls


def ask_and_tell(rewards: list[float]) -> None:
    """A search of ten arms, from its beginning."""
    engine = Engine(make_spec(range(10), **OPTIONS))
    for reward in rewards:
        arm = engine.ask()
        assert arm is not None
        engine.tell(arm, reward)


def identify_nothing(rewards: list[float]) -> None:
    """The same through the front door."""
    left = iter(rewards)
    identify(lambda arm: next(left), range(10), max_trials=len(rewards), **OPTIONS)


def nothing(arm: int, reward: float) -> None:
    """What a Python call costs at least."""


def call_nothing(rewards: list[float]) -> None:
    """As many empty calls as there are pulls."""
    for reward in rewards:
        nothing(0, reward)
