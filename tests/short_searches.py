"""Short searches with every policy, bound and risk, of rewards that make estimates and intervals meet their ends."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ramgape import Arm, Bernoulli, Beta, Data, Gaussian, Instance, InvalidSpec, Uniform
from ramgape.bounds import BOUNDS
from ramgape.policies import POLICIES
from ramgape.problems.distributions import Scores
from ramgape.simulation.simulation import simulated_spec

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
GOALS: tuple[dict[str, Any], ...] = ({"epsilon": 0.01, "max_trials": 60}, {"epsilon": 0.05, "budget": 60})


CEILING = {"task": "best:max-risk=0.05", "risk": "variance"}


def cases() -> Iterator[tuple[Instance, dict[str, Any]]]:
    """Every bound with every risk, and every policy, wherever they serve."""
    for instance in (BOUNDED, GAUSSIAN, ANY, HEAVY, ITEMS):
        for goal in GOALS:
            for options in (
                *({"bound": bound, "risk": risk} for bound in BOUNDS for risk in RISKS),
                *({"bound": name, "risk": "std", "task": "best"} for name in BOUNDS if BOUNDS[name].terms.means_only),
                *(
                    {"policy": name, **(CEILING if rule.bound else {"task": "best"} if rule.of_questions else {})}
                    for name, rule in POLICIES.items()
                ),
            ):
                try:
                    simulated_spec(instance, **goal, **options)
                except InvalidSpec:
                    continue
                yield instance, {**goal, **options}
