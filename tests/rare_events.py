"""How often searches miss a rare event that decides: `python -m tests.rare_events` makes the table of the docs."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import scipy

from ramgape import Arm, Data, Instance, Replication, replicate

RUNS = 400


def usual(mean: float, deviation: float, share: float, event: float) -> Data:
    """Normal rewards, 1,000 of them, in a share of which something else happens."""
    rare = round(1_000 * share)
    rewards = scipy.stats.norm.ppf((np.arange(1_000 - rare) + 0.5) / (1_000 - rare), mean, deviation)
    return Data((*rewards.tolist(), *[event] * rare))


# Mean, standard deviation, share and value of the event, of each arm; and what is asked.
Usual = tuple[float, float, float, float]
FAMILIES: dict[str, tuple[tuple[Usual, Usual], dict[str, Any]]] = {
    "latency in s, 1% of the trials of A take 10 s": (
        ((0.20, 0.04, 0.01, 10.0), (0.25, 0.05, 0.0, 0.0)),
        {"direction": "minimize", "epsilon": 0.02},
    ),
    "latency in s, 2% of the trials of A take 10 s": (
        ((0.20, 0.04, 0.02, 10.0), (0.25, 0.05, 0.0, 0.0)),
        {"direction": "minimize", "epsilon": 0.02},
    ),
    "accuracy, 5% of the trials of A diverge": (
        ((0.92, 0.01, 0.05, 0.1), (0.90, 0.01, 0.0, 0.0)),
        {"epsilon": 0.005},
    ),
    "latency in s, 2% of the trials of both take 10 s": (
        ((0.25, 0.05, 0.02, 10.0), (0.20, 0.04, 0.02, 10.0)),
        {"direction": "minimize", "epsilon": 0.02},
    ),
}


def searches(family: str, runs: int = RUNS, **options: Any) -> Replication:
    """Searches for the best mean, of which nothing is declared."""
    arms, asked = FAMILIES[family]
    instance = Instance(
        "rare", tuple(Arm(name, usual(*arm)) for name, arm in zip("AB", arms, strict=True)), None, "any"
    )
    return replicate(instance, runs=runs, task="best", **{**asked, "max_trials": 200_000, **options})


if __name__ == "__main__":
    sys.stdout.write("| rewards | wrong | trials |\n|---|--:|--:|\n")
    for family in FAMILIES:
        done = searches(family)
        trials = np.mean([run.samples for run in done.runs])
        sys.stdout.write(f"| {family} | {done.errors / len(done.ended):.0%} of {len(done.ended)} | {trials:,.0f} |\n")
