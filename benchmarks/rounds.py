"""What a round of a search costs, in units of one draw of its reward.

Numerator: the time of `advance` for a whole stretch of a search. Denominator: the same compiled loop with everything
but the draw taken out, drawing from the same arms as often as the search did, because a draw's cost depends on the
arm. The two take turns, and each ratio is of two neighbours in time; the median of the ratios is reported.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numba import types

from ramgape.core import rule as rules
from ramgape.core.kernel import kernel
from ramgape.engine import Engine
from ramgape.environments import Arm, Beta, Instance, Sampler
from ramgape.instances import load_instance
from ramgape.policies import POLICIES
from ramgape.simulation import simulated_spec


@kernel
def draw_only(draw, sequence, parameters, values, generator):
    """The rewards of a sequence of arms, and nothing else."""
    total = 0.0
    for arm in sequence:
        total += draw(parameters, values, arm, generator)
    return total


DRAW_ONLY = types.float64(
    types.FunctionType(rules.DRAW), types.Array(types.int64, 1, "C"), *rules.DRAW.args[:2], rules.DRAW.args[3]
)


class Ratio(NamedTuple):
    """A ratio, the spread of its measurements, and the time behind its denominator."""

    median: float
    low: float
    high: float
    draw_ns: float


def many_arms(count: int, seed: int = 0) -> Instance:
    """A random instance of the paper's kind: means in [0.4, 0.6], variances in [0.01, 0.2]."""
    generator = np.random.default_rng(seed)
    arms = []
    for number in range(count):
        mean, variance = generator.uniform(0.4, 0.6), generator.uniform(0.01, 0.2)
        size = mean * (1.0 - mean) / variance - 1.0
        arms.append(Arm(str(number + 1), Beta(mean * size, (1.0 - mean) * size)))
    return Instance(f"random:{count}", tuple(arms), (0.0, 1.0), "bounded")


def measure_round(instance: Instance, pulls: int, repeats: int, **options: Any) -> Ratio:
    """The cost of a round over the first `pulls` pulls of a search, or to its end if that comes sooner."""
    sampler = instance.sampler()
    spec = simulated_spec(instance, **options)
    rules.compile_for(draw_only, DRAW_ONLY)
    ratios, draws = [], []
    for repeat in range(repeats + 1):
        engine = Engine(spec)
        engine.prepare(sampler)
        generator = np.random.default_rng(repeat)
        begun = time.perf_counter()
        made = engine.advance(sampler, generator, pulls)
        searching = (time.perf_counter() - begun) / made
        drawing = time_draws(sampler, engine.arms["pulls"], made)
        if repeat:  # the first warms the caches
            ratios.append(searching / drawing)
            draws.append(drawing)
    return Ratio(statistics.median(ratios), min(ratios), max(ratios), 1e9 * statistics.median(draws))


def time_draws(sampler: Sampler, pulls: Any, made: int) -> float:
    """Seconds for one draw, averaged over arms as often as they were pulled, in random order."""
    sequence = np.random.default_rng(0).permutation(np.repeat(np.arange(len(pulls)), pulls))[: min(made, 500_000)]
    generator = np.random.default_rng(1)
    begun = time.perf_counter()
    draw_only(sampler.draw, sequence, sampler.parameters, sampler.values, generator)
    return (time.perf_counter() - begun) / len(sequence)


def cases(quick: bool) -> Iterator[tuple[str, Callable[[], Ratio], float | None, float | None]]:
    """What is measured: a name, the measurement, the target and the goal."""
    repeats = 1 if quick else 5
    scale = 100 if quick else 1
    for name, epsilon, target, goal in (
        ("paper:10", 0.05, 3.0, 2.0),
        ("paper:46", 0.05, 3.0, 2.0),
        ("paper:exp4", 0.1, 10.0, 4.0),
        ("random:1000", 0.2, None, None),
    ):
        instance = many_arms(1000) if name == "random:1000" else load_instance(name)
        count = len(instance.names)
        pulls = max((2_000_000 if count < 1000 else 1_000_000) // scale, 3 * count)
        yield (
            f"RAMGapE, {name} (K = {count}), epsilon {epsilon:g}",
            lambda i=instance, p=pulls, e=epsilon: measure_round(i, p, repeats, epsilon=e, bound="paper"),  # type: ignore[misc]
            target,
            goal,
        )
    for policy, about in POLICIES.items():
        sizes = ((10, "paper:exp3"), (100, "paper:exp4"), (1000, "random:1000"))
        for count, name in sizes[:1] if quick else sizes:
            instance = many_arms(1000) if count == 1000 else load_instance(name)
            pulls = max({10: 200_000, 100: 50_000, 1000: 6_000}[count] // scale, 3 * count)
            goal_of: dict[str, Any] = {"budget": pulls, "epsilon": 0.05} if "budget" in about.paper_goals else {}
            if not goal_of:
                goal_of = {"epsilon": 0.0, "bound": "paper", "max_pulls": pulls}
            kind = "budget" if "budget" in goal_of else "confidence"
            yield (
                f"{policy}, K = {count}, fixed {kind}",
                lambda i=instance, p=pulls, n=policy, g=goal_of: measure_round(i, p, repeats, policy=n, **g),  # type: ignore[misc]
                None,
                None,
            )
