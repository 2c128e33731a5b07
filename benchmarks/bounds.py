"""What a bound does with one reward, in draws: `learn` adds it to an arm's statistics and renews the arm's box.

All bounds learn the same Beta rewards of ten arms in the same order, and all are compared with drawing those rewards.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import types

from benchmarks.draws import SEQUENCE, draw_seconds, instance_of, shuffled
from benchmarks.measure import Case, Row, Spread, seconds, take_turns
from ramgape.bounds import BOUNDS
from ramgape.core.compiled import ADVANCE, LEARN, compiled
from ramgape.core.kernel import kernel
from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec

GROUP = "a bound learns one reward"
ARM_COUNT = 10

SETTINGS: dict[str, dict[str, Any]] = {
    "empirical-bernstein": {"reward_range": (0.0, 1.0), "epsilon": 0.0},
    "pairwise": {"reward_range": (0.0, 1.0), "epsilon": 0.0},
    "empirical-bernstein-stitched": {"reward_range": (0.0, 1.0), "epsilon": 0.0},
    "running": {"reward_range": (0.0, 1.0), "epsilon": 0.0},
    "gaussian": {"noise": "gaussian", "epsilon": 0.1},
    "gaussian-pairwise": {"noise": "gaussian", "epsilon": 0.1},
    "heavy": {"noise": "heavy:kurtosis=10", "epsilon": 0.1},
    "catoni": {"noise": "heavy:sigma_max=0.5", "epsilon": 0.1, "task": "best"},
    "truncated-mean": {"noise": "heavy:sigma_max=0.5", "epsilon": 0.1, "task": "best"},
    "central-limit": {"noise": "any", "epsilon": 0.1},
    "central-limit-pairwise": {"noise": "any", "epsilon": 0.1},
    "items": {"items": range(30_000), "reward_range": (0.0, 1.0), "epsilon": 0.1},
    "items-pairwise": {"items": range(30_000), "reward_range": (0.0, 1.0), "epsilon": 0.1},
    "paper": {"reward_range": (0.0, 1.0), "epsilon": 0.1},
    "hoeffding": {"reward_range": (0.0, 1.0), "epsilon": 0.1},
    "gaussian-paper": {"noise": "gaussian", "sigma_max": 0.5, "epsilon": 0.1},
    "budget": {"reward_range": (0.0, 1.0), "epsilon": 0.1, "budget": 1_000_000, "policy": "ramgape"},
    "none": {"reward_range": (0.0, 1.0), "budget": 1_000_000, "policy": "evidence"},
}

# The tables stand in the signature of the loop of a simulation: arms, memory, search, problem.
LEARN_ALL = types.void(types.FunctionType(LEARN), *ADVANCE.args[5:9], SEQUENCE, types.Array(types.float64, 1, "C"))


@kernel
def learn_all(learn: Any, arms: Any, memory: Any, searches: Any, problems: Any, sequence: Any, rewards: Any) -> None:
    """Learn one reward after the other."""
    for pull in range(len(sequence)):
        learn(arms, memory, searches[0], problems[0], sequence[pull], rewards[pull])


def cases(quick: bool) -> Iterator[Case]:
    """One row for each bound."""
    for bound in BOUNDS:
        yield learning(bound, 1_000 if quick else 100_000, 1 if quick else 7)


def learning(bound: str, pulls: int, repeats: int) -> Case:
    """Turns of learning and drawing."""

    def turns(rewards: Any, sequence: Any) -> Iterator[tuple[float, float]]:
        engine = Engine(make_spec(range(ARM_COUNT), bound=bound, **SETTINGS[bound]))
        loop, learn = compiled(learn_all, LEARN_ALL), compiled(engine.rule.learn, LEARN)
        for _ in range(3):
            learned = seconds(loop, learn, *engine.state, sequence, rewards)
            yield learned, draw_seconds(instance_of(ARM_COUNT).sampler(), sequence)

    def measure() -> Iterator[Row]:
        sampler = instance_of(ARM_COUNT).sampler()
        sequence = shuffled(np.full(ARM_COUNT, pulls // ARM_COUNT))
        generator = np.random.default_rng(0)
        rewards = np.array([sampler.draw(sampler.parameters, sampler.values, arm, generator) for arm in sequence])
        take_turns(turns(rewards, sequence))  # warms the caches
        spread = Spread.of([take_turns(turns(rewards, sequence)).ratio() for _ in range(repeats)])
        yield Row(GROUP, bound, "draws", spread)

    return Case(f"bound {bound}", measure)
