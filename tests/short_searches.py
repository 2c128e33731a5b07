"""Short searches with every policy, bound and risk, for the compiler on and off: `python -m tests.short_searches`.

With NUMBA_DISABLE_JIT=1 kernels run as the plain Python that they are written in, where NumPy warns of what compiled
code passes over in silence: an overflow, a division by zero, a NaN.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

from ramgape import Arm, Bernoulli, Beta, Data, Gaussian, Instance, InvalidSpec, Uniform, simulate
from ramgape.bounds import BOUNDS
from ramgape.policies import POLICIES
from ramgape.problems.distributions import Scores
from ramgape.search.simulation import simulated_spec

# A coin, a constant, extreme shapes: what makes estimates of spread 0 and intervals meet the ends of the range.
BOUNDED = Instance(
    "bounded",
    (Arm("coin", Bernoulli(0.5)), Arm("always", Data((1.0,))), Arm("ends", Beta(0.1, 0.1)), Arm("flat", Uniform(0, 1))),
    reward_range=(0.0, 1.0),
    noise="bounded",
)
GAUSSIAN = Instance(
    "gaussian",
    (Arm("wide", Gaussian(0.5, 0.2)), Arm("narrow", Gaussian(0.3, 1e-6)), Arm("far", Gaussian(-3.0, 0.25))),
    reward_range=None,
    noise="gaussian",
    sigma_max=0.5,
)
ANY = Instance("any", BOUNDED.arms, reward_range=None, noise="any")
HEAVY = Instance("heavy", BOUNDED.arms, reward_range=None, noise="heavy:kurtosis=1.9,sigma_max=0.6,cv=1.1")
ITEMS = Instance(
    "items",
    (
        Arm("coin", Scores((0.0, 1.0) * 12)),
        Arm("always", Scores((1.0,) * 24)),
        Arm("once", Scores((1.0,) + (0.0,) * 23)),
    ),
    reward_range=(0.0, 1.0),
    noise="items",
    items=24,
)
RISKS = ("std", "mean-variance:0.5", "variance", "semivariance:0.5", "entropic:3", "cvar:0.1")
GOALS: tuple[dict[str, Any], ...] = ({"epsilon": 0.01, "max_pulls": 60}, {"epsilon": 0.05, "budget": 60})


def cases() -> Iterator[tuple[Instance, dict[str, Any]]]:
    """Every bound with every risk, and every policy, wherever they serve."""
    for instance in (BOUNDED, GAUSSIAN, ANY, HEAVY, ITEMS):
        for goal in GOALS:
            for options in (
                *({"bound": bound, "risk": risk} for bound in BOUNDS for risk in RISKS),
                *({"bound": name, "risk": "std", "task": "best-mean"} for name in BOUNDS if BOUNDS[name].means_only),
                *(
                    {"policy": name, **({"task": "best-mean"} if rule.of_tasks else {})}
                    for name, rule in POLICIES.items()
                ),
            ):
                try:
                    simulated_spec(instance, **goal, **options)
                except InvalidSpec:
                    continue
                yield instance, {**goal, **options}


def play() -> dict[str, Any]:
    """What every search finds."""
    found = {}
    for instance, options in cases():
        result = simulate(instance, seed=5, **options)
        numbers = [(arm.mean, arm.risk, *arm.mean_interval, *arm.risk_interval) for arm in result.arms]
        found[f"{instance.name}, {options}"] = {
            "answer": [result.stopped, *result.front],
            "pulls": [arm.pulls for arm in result.arms],
            "numbers": [number for row in numbers for number in row],
        }
    return found


if __name__ == "__main__":
    json.dump(play(), sys.stdout)
