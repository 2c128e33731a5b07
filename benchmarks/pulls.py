"""What a whole pull costs, in microseconds of processor time: draw, learn, compare, decide, ask whether to stop.

Unlike the ratios elsewhere these depend on the machine; they answer whether a promise of so many microseconds is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.measure import Case, Row, Spread, seconds
from ramgape.problems.instances import load_instance
from ramgape.search.engine import Engine
from ramgape.simulation.simulation import simulated_spec

GROUP = "a whole pull"

# instance, options, microseconds promised
PULLS: tuple[tuple[str, dict[str, Any], float | None], ...] = (
    ("paper:10", {"epsilon": 0.0, "bound": "empirical-bernstein", "policy": "ramgape"}, 3.0),
    ("paper:10", {"epsilon": 0.0, "bound": "pairwise", "policy": "evidence"}, None),
    ("paper:exp3", {"budget": 40_000, "policy": "evidence"}, 1.0),
    ("paper:exp4", {"budget": 40_000, "policy": "evidence"}, 10.0),
    ("paper:46", {"epsilon": 0.02, "risk": "cvar:0.1"}, None),
)


def cases(quick: bool) -> Iterator[Case]:
    """One row for each promise."""
    for instance, options, promised in PULLS:
        short = {"budget": 2_000} if "budget" in options else {"max_trials": 2_000}
        yield average_pull(instance, options, short if quick else {}, promised, 1 if quick else 7)


def average_pull(
    instance: str, options: dict[str, Any], short: dict[str, Any], promised: float | None, repeats: int
) -> Case:
    """Whole searches, from the first pull to the last, with seeds from 0; one before them warms the caches."""
    name = ", ".join([instance, *(f"{what} {value}" for what, value in options.items())])

    def search(seed: int) -> float:
        known = load_instance(instance)
        engine, sampler = Engine(simulated_spec(known, **{**options, **short})), known.sampler()
        engine.prepare(sampler)
        generator = np.random.default_rng(seed)
        needed = seconds(engine.advance, sampler, generator, engine.spec.limit)
        return 1e6 * needed / engine.samples

    def measure() -> Iterator[Row]:
        search(0)
        yield Row(GROUP, name, "us", Spread.of([search(seed) for seed in range(repeats)]), promised)

    return Case(name, measure)
