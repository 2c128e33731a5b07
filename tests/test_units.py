"""The unit of rewards changes nothing: in nanoseconds or in years, the same arms are tried in the same order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ramgape
from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec
from ramgape.trials.remaining import expect_pulls

# Powers of two are the same to the last bit; powers of ten move every reward by a rounding error.
UNITS = (2.0**-30, 2.0**30, 2.0**-60, 1e-9, 1e9)
NAMES = ("A", "B", "C", "D")
MEANS, DEVIATIONS = np.array([[0.0], [0.4], [0.8], [1.2]]), np.array([[0.5], [0.8], [1.0], [1.2]])


def rewards_of(seed: int = 0) -> np.ndarray[Any, Any]:
    """What each arm gives, trial by trial, in units of 1."""
    drawn = MEANS + DEVIATIONS * np.random.default_rng(seed).standard_normal((len(NAMES), 4_000))
    return np.clip(drawn, -4.0, 5.0)


def options_of(noise: str, task: str, unit: float) -> dict[str, Any]:
    """What is asked, with all that has a unit in this one."""
    stated: dict[str, Any] = {"noise": noise, "alarm": "off", "task": task}
    if noise == "bounded":
        stated = {"reward_range": (-4.0 * unit, 5.0 * unit), "alarm": "off", "task": task}
    if task == "better-than":
        stated["task"] = ramgape.BetterThan("A", margin=0.1 * unit)
    if task == "limited":
        stated["task"] = ramgape.BestMean(max_risk=0.9 * unit)
    if noise == "sigma":
        stated |= {"noise": "heavy", "sigma_max": 1.5 * unit}
    return stated


def tried(unit: float, rewards: np.ndarray[Any, Any], **options: Any) -> list[str]:
    """The arms that are tried, in their order."""
    order: list[str] = []

    def pull(arm: str) -> float:
        place = order.count(arm)
        order.append(arm)
        return float(rewards[NAMES.index(arm), place] * unit)

    ramgape.identify(pull, NAMES, seed=1, **options)
    return order


CASES = [("any", "pareto"), ("gaussian", "pareto"), ("heavy:kurtosis=10", "pareto"), ("bounded", "best")]
MORE = [
    *(
        (noise, task)
        for noise in ("any", "gaussian", "heavy:kurtosis=10", "bounded")
        for task in ("pareto", "best", "better-than", "limited", "budget")
        if (noise, task) not in CASES
    ),
    ("sigma", "best"),
]


@pytest.mark.parametrize(("noise", "task"), [*CASES, *(pytest.param(*case, marks=pytest.mark.long) for case in MORE)])
def test_the_same_arms_are_tried_in_the_same_order(noise: str, task: str) -> None:
    rewards, orders = rewards_of(), []
    for unit in (1.0, *UNITS):
        asked = options_of(noise, "pareto" if task == "budget" else task, unit)
        goal = {"budget": 600} if task == "budget" else {"epsilon": 0.3 * unit, "max_trials": 2_500}
        orders.append(tried(unit, rewards, **asked, **goal))
    assert all(order == orders[0] for order in orders), [len(order) for order in orders]


@pytest.mark.parametrize("task", ["best", pytest.param("pareto", marks=pytest.mark.long)])
def test_an_arm_that_never_varies_is_set_aside_in_any_unit(task: str) -> None:
    """It is taken for what it has shown, and others are compared with that."""
    rewards = rewards_of()
    rewards[1] = 0.5
    orders = [tried(unit, rewards, noise="any", task=task, epsilon=0.3 * unit) for unit in (1.0, *UNITS)]
    assert all(order == orders[0] for order in orders), [len(order) for order in orders]


def test_forecasts_are_the_same_in_any_unit() -> None:
    found = []
    for unit in (1.0, 2.0**-30, 2.0**30):
        engine = Engine(make_spec(NAMES, noise="any", task="pareto", epsilon=0.3 * unit, alarm="off"))
        arms = np.tile(np.arange(len(NAMES)), 25)
        rewards = rewards_of()[:, :25].T.reshape(-1) * unit
        rewards[arms == 1] = 0.5 * unit  # whose variance is 0
        engine.learn_many(arms, rewards)
        found.append(expect_pulls(engine))
    assert found[0] is not None
    assert found[0] == found[1] == found[2]
