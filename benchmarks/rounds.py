"""What a round of a search costs, in draws: choose an arm, draw, learn, compare, ask whether that is enough.

Numerator: the time of `Engine.advance` for a stretch of a search. Denominator: drawing the same number of rewards from
the same arms and doing nothing with them (`draws`). The two take turns, stretch by stretch, so a ratio of 2 means that
all the thinking of a round costs as much as its draw.

RAMGapE runs whole: from the first pull until it stops, or to a cap where that would take too long. To see how the cost
grows with the number of arms, every policy then runs under each goal that the paper gives it, for a fixed number of
pulls after the initial ones, because a policy that was not made for stopping might never stop.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.draws import draw_seconds, instance_of, shuffled
from benchmarks.measure import Case, Row, Spread, Turns, seconds, take_turns
from ramgape.policies import POLICIES
from ramgape.problems.environments import Instance
from ramgape.problems.instances import load_instance
from ramgape.search.engine import Engine
from ramgape.search.spec import Spec
from ramgape.simulation.simulation import simulated_spec

WHOLE_RUNS = "a round of a whole run"
POLICY_ROUNDS = "a round of each policy"

STRETCH = 100_000  # pulls in one turn; handing over the functions of a rule takes as long as 1,000
PULLS = {10: 100_000, 100: 50_000, 1000: 20_000}  # for so many arms
PULLS_OF_EGP = {10: 100_000, 100: 20_000, 1000: 1_000}  # it compares all pairs of arms in every round


def cases(quick: bool) -> Iterator[Case]:
    """Whole runs of RAMGapE, then all policies."""
    repeats = 1 if quick else 7
    for instance, epsilon, cap, target, goal in (
        (load_instance("paper:10"), 0.05, 10**9, 3.0, 2.0),
        (load_instance("paper:46"), 0.05, 10**9, 3.0, 2.0),
        (load_instance("paper:exp4"), 0.1, 10**9, 10.0, 4.0),
        (instance_of(1000), 0.3, 300_000, None, None),
    ):
        most = min(cap, 5_000) if quick else cap
        name = f"ramgape, {instance.name}, K = {len(instance.arms)}, epsilon {epsilon:g}"
        options = {"epsilon": epsilon, "bound": "paper", "max_trials": most}
        yield whole_run(name, instance, options, repeats, target, goal)
    for noise in (
        "gaussian",
        "any",
    ):  # the same arms and draws: what a round costs more, or less, where nothing is known
        arms = load_instance("paper-gaussian:10").arms
        options = {"epsilon": 0.02, "risk": "std", "max_trials": 5_000 if quick else 10**9}
        instance = Instance("paper-gaussian:10", arms, None, noise)
        yield whole_run(f"ramgape, paper-gaussian:10, noise {noise}, risk std", instance, options, repeats, None, None)
    for policy, about in POLICIES.items():
        for kind in about.paper_goals:
            for arm_count, pulls in (PULLS_OF_EGP if policy == "egp" else PULLS).items():
                if not quick:
                    yield fixed_pulls(policy, kind, arm_count, pulls, 3)
                elif arm_count == 10:
                    yield fixed_pulls(policy, kind, arm_count, 1_000, 1)


def whole_run(
    name: str, instance: Instance, options: dict[str, Any], repeats: int, target: float | None, goal: float | None
) -> Case:
    """RAMGapE from the first pull to the last."""

    def measure() -> Iterator[Row]:
        spec = simulated_spec(instance, **options)
        turns = repeated(instance, spec, repeats, skipped=0)
        yield in_draws(WHOLE_RUNS, name, turns, target, goal)

    return Case(name, measure)


def fixed_pulls(policy: str, kind: str, arm_count: int, pulls: int, repeats: int) -> Case:
    """A policy for so many pulls after the initial ones."""
    name = f"{policy}, K = {arm_count}, fixed {kind}"

    def measure() -> Iterator[Row]:
        instance = instance_of(arm_count)
        initial = 2 * arm_count
        options: dict[str, Any] = {"epsilon": 0.0, "bound": "paper", "max_trials": initial + pulls}
        if kind == "budget":
            options = {"epsilon": 0.05, "budget": initial + pulls}
        spec = simulated_spec(instance, policy=policy, **options)
        yield in_draws(POLICY_ROUNDS, name, repeated(instance, spec, repeats, skipped=initial))

    return Case(name, measure)


def repeated(instance: Instance, spec: Spec, repeats: int, skipped: int) -> list[Turns]:
    """Several searches, with seeds from 0; one before them warms the caches."""
    take_turns(stretches(instance, spec, seed=0, skipped=skipped, most=STRETCH))
    return [take_turns(stretches(instance, spec, seed, skipped)) for seed in range(repeats)]


def stretches(
    instance: Instance, spec: Spec, seed: int, skipped: int, most: int | None = None
) -> Iterator[tuple[float, float]]:
    """Times of a search and of its draws, stretch by stretch; the first `skipped` pulls are not measured."""
    engine, sampler = Engine(spec), instance.sampler()
    engine.prepare(sampler)
    generator = np.random.default_rng(seed)
    engine.advance(sampler, generator, skipped)
    while engine.stopped is None and (most is None or engine.samples < most + skipped):
        before = engine.arms["pulls"].copy()
        searching = seconds(engine.advance, sampler, generator, STRETCH)
        yield searching, draw_seconds(sampler, shuffled(engine.arms["pulls"] - before))


def in_draws(
    group: str, name: str, repetitions: list[Turns], target: float | None = None, goal: float | None = None
) -> Row:
    """The row of a ratio to draws."""
    spread = Spread.of([turns.ratio() for turns in repetitions])
    return Row(group, name, "draws", spread, target, goal)
