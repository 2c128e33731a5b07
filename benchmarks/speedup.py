"""The compiled loop against a plain NumPy loop: the same search, draws included, time for one pull.

Both run RAMGapE with the paper's bound on the same instance for the same tolerance. The NumPy loop makes fewer pulls.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from benchmarks.draws import instance_of
from benchmarks.measure import Case, Row, Spread, clock
from ramgape.search.engine import Engine
from ramgape.search.spec import DEFAULT_DELTA
from ramgape.simulation.simulation import simulated_spec
from tests.reference import search as reference

GROUP = "compiled against NumPy"
EPSILON = 0.05
ADVANTAGE = 100  # so many times more pulls for the compiled loop


def cases(quick: bool) -> Iterator[Case]:
    """Ten arms, and a hundred."""
    for arm_count, pulls, target in ((10, 4_000, 100.0), (100, 1_500, None)):
        yield against_numpy(arm_count, 3 * arm_count if quick else pulls, 1 if quick else 7, target)


def against_numpy(arm_count: int, pulls: int, repeats: int, target: float | None) -> Case:
    """How many times faster a pull is, turn by turn."""

    def measure() -> Iterator[Row]:
        numpy_seconds(arm_count, pulls, seed=0)  # warms the caches
        found = []
        for seed in range(repeats):
            slow = numpy_seconds(arm_count, pulls, seed)
            found.append(slow / compiled_seconds(arm_count, ADVANTAGE * pulls, seed))
        yield Row(GROUP, f"ramgape, K = {arm_count}", "times", Spread.of(found), target, better="more")

    return Case(f"NumPy, K = {arm_count}", measure)


def numpy_seconds(arm_count: int, pulls: int, seed: int) -> float:
    """For one pull in the NumPy loop, which draws with NumPy."""
    instance = instance_of(arm_count)
    parameters = instance.sampler().parameters
    shapes = [(float(a), float(b)) for a, b in zip(parameters[1], parameters[2], strict=True)]
    spec = simulated_spec(instance, epsilon=EPSILON, bound="paper")
    beta = np.random.default_rng(seed).beta
    begun = clock()
    made = reference.run(
        "ramgape",
        "paper",
        lambda arm: beta(*shapes[arm]),
        arm_count,
        epsilon=EPSILON,
        delta=DEFAULT_DELTA,
        rho=spec.rho,
        max_trials=pulls,
    ).samples
    return (clock() - begun) / made


def compiled_seconds(arm_count: int, pulls: int, seed: int) -> float:
    """For one pull in the compiled loop."""
    instance = instance_of(arm_count)
    sampler = instance.sampler()
    engine = Engine(simulated_spec(instance, epsilon=EPSILON, bound="paper"))
    engine.prepare(sampler)
    begun = clock()
    made = engine.advance(sampler, np.random.default_rng(seed), pulls)
    return (clock() - begun) / made
