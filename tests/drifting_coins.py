"""Searches whose coins change under way, in a process that can be killed: `python -m tests.drifting_coins`."""

from __future__ import annotations

import json
import sys
from typing import Any

import numpy as np

from ramgape.core.loop import replay
from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec
from tests.loops import compiled_loop

PULLS = 20_000


def misses_of(seed: int, before: float, after: float, pulls: int, **options: Any) -> int:
    """Two coins, in turn, that change after so many pulls: how often intervals were contradicted, when it has ended."""
    engine = Engine(make_spec(range(2), reward_range=(0.0, 1.0), epsilon=0.0, rho=0.01, **options))
    chances = np.where(np.arange(PULLS) < pulls, before, after)
    rewards = np.random.default_rng(seed).random(PULLS) < chances
    with engine._tables() as state:
        learn, compare, _, stop = engine.rule
        compiled_loop(replay)(learn, compare, stop, *state, np.arange(PULLS) % 2, rewards.astype(float), True)
    return engine.misses


# A search that ends, wrongly, before the change notices nothing of it: hence a delta that leaves no such end to chance.
PAIRS = {"bound": "pairwise", "policy": "evidence", "delta": 1e-6}
BOXES = {"bound": "empirical-bernstein", "policy": "ramgape"}
CASES: dict[str, dict[str, Any]] = {
    "drift": {"before": 0.3, "after": 0.6, "pulls": 4_000, **BOXES},
    "drift, pairwise": {"before": 0.3, "after": 0.6, "pulls": 4_000, **PAIRS},
    "independent": {"before": 0.5, "after": 0.5, "pulls": 0, "delta": 0.8, **BOXES},
}


def play() -> None:
    """All cases, in a process that can be killed."""
    misses = {name: [misses_of(seed, **case) for seed in range(50)] for name, case in CASES.items()}
    json.dump(misses, sys.stdout)


if __name__ == "__main__":
    play()
