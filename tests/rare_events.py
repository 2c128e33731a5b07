"""How often searches miss a rare event that decides: `python -m tests.rare_events` makes the table of the docs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy

from ramgape import Arm, Data, Instance
from ramgape.search.engine import Engine
from ramgape.search.simulator import compiled_at_once
from ramgape.search.spec import make_spec

RUNS, MOST, PARTS = 300, 20_000, 2_000
QUANTILES = (np.arange(PARTS) + 0.5) / PARTS


def usual(mean: float, deviation: float, share: float = 0.0, event: float = 0.0) -> Data:
    """Normal rewards, in a share of which something else happens."""
    rare = round(PARTS * share)
    rewards = scipy.stats.norm.ppf((np.arange(PARTS - rare) + 0.5) / (PARTS - rare), mean, deviation)
    return Data((*rewards.tolist(), *[event] * rare))


def ratings(shares: Sequence[float]) -> Data:
    """One to five, with these shares."""
    return Data(tuple(np.repeat(np.arange(1.0, 6.0), [round(PARTS * share) for share in shares]).tolist()))


def waits(mean: float) -> Data:
    """Exponential rewards."""
    return Data(tuple((-mean * np.log1p(-QUANTILES)).tolist()))


SEEDS = (
    (0.97, 8),
    (0.962, 8),
    (0.955, 10),
    (0.95, 10),
    (0.95, 10),
    (0.94, 12),
    (0.93, 12),
    (0.92, 15),
    (0.9, 15),
    (0.74, 30),
)
SERVICES = zip(
    (0.20, 0.25, 0.22, 0.21, 0.30, 0.35, 0.40, 0.45, 0.50, 0.60),
    (0.02, 0.0, 0.01, 0.03, 0.005, 0.02, 0.01, 0.0, 0.02, 0.01),
    strict=True,
)
# The tolerance, and the rewards of each arm.
FAMILIES: dict[str, tuple[float, tuple[Data, ...]]] = {
    "latency in s, 2% of the trials of A take 10 s": (0.02, (usual(-0.2, 0.02, 0.02, -10.0), usual(-0.25, 0.02))),
    "accuracy, 5% of the trials of A diverge": (0.01, (usual(0.9, 0.01, 0.05, 0.1), usual(0.88, 0.01))),
    "10 services, timeouts of 5 s in 0 to 3% of the trials": (
        0.02,
        tuple(usual(-latency, 0.02, share, -5.0) for latency, share in SERVICES),
    ),
    "latency in s, 2% of the trials of both take 10 s": (
        0.02,
        (usual(-0.2, 0.02, 0.02, -10.0), usual(-0.25, 0.02, 0.02, -10.0)),
    ),
    "accuracy of 10 models": (0.01, tuple(usual(mean, 0.001 * deviation) for mean, deviation in SEEDS)),
    "ratings of 3 products": (
        0.2,
        tuple(map(ratings, ((0.05, 0.1, 0.2, 0.35, 0.3), (0.1, 0.15, 0.25, 0.3, 0.2), (0.08, 0.12, 0.22, 0.33, 0.25)))),
    ),
    "5 exponential waits": (0.2, tuple(map(waits, (1.0, 1.0, 1.0, 0.6, 0.3)))),
    "5 arms, deviations of 1 and 10": (
        0.3,
        tuple(usual(*each) for each in ((0.0, 1.0), (-0.5, 10.0), (-1.0, 1.0), (-3.0, 10.0), (0.0, 1.0))),
    ),
}
RULES: dict[str, dict[str, Any]] = {
    "no guard": {},
    "guard": {},
    "rare=0.05": {"rare": 0.05},
    "rare=0.02": {"rare": 0.02},
}


class Found(NamedTuple):
    """What searches of one family came to: wrong answers, searches that were stopped undecided, and trials."""

    wrong: int
    undecided: int
    trials: float


def searches(family: str, rule: str, runs: int = RUNS, seed: int = 1_000) -> Found:
    """Searches for the best mean, of which nothing is declared; undecided after so many trials."""
    epsilon, laws = FAMILIES[family]
    instance = Instance("rare", tuple(Arm(str(arm), law) for arm, law in enumerate(laws)), None, "unknown")
    means, sampler = [float(np.mean(law.values)) for law in laws], instance.sampler()
    spec = make_spec(instance.names, question="best", epsilon=epsilon, drift="off", max_trials=MOST, **RULES[rule])
    spec = replace(spec, guarded=rule != "no guard")
    wrong, undecided, trials = 0, 0, []
    for run in range(runs):
        engine = Engine(spec, run)
        engine.advance(sampler, np.random.default_rng(seed + run), MOST)
        trials.append(engine.samples)
        undecided += engine.stopped != "confidence"
        if engine.stopped == "confidence":
            wrong += means[int(np.flatnonzero(engine.answer())[0])] <= max(means) - epsilon - 1e-9
    return Found(wrong, undecided, float(np.mean(trials)))


if __name__ == "__main__":
    sys.stdout.write(f"| rewards | {' | '.join(RULES)} |\n|---|{'--:|' * len(RULES)}\n")
    with compiled_at_once():
        for name in FAMILIES:
            cells = [searches(name, rule) for rule in RULES]
            shown = [f"{found.wrong / RUNS:.1%} / {found.trials:,.0f}" for found in cells]
            sys.stdout.write(f"| {name} | {' | '.join(shown)} |\n")
