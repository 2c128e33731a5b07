"""The best guess is the arm with the best average; another one may be the safest choice so far."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from ramgape import Arm, Bernoulli, Instance, Result, analyze, identify, replicate, simulate
from ramgape.problems.instances import load_instance
from ramgape.search.engine import Engine
from ramgape.simulation.simulation import play, simulated_spec
from ramgape.simulation.truth import TrueArms

RANGE: dict[str, Any] = {"reward_range": (0, 1), "alarm": "off"}


def shares(**ones: tuple[float, int]) -> dict[str, list[float]]:
    """Zeros and ones, in this proportion and so many, well mixed."""
    mixed = np.random.default_rng(3)
    return {
        name: mixed.permutation(np.arange(count) < round(share * count)).astype(float).tolist()
        for name, (share, count) in ones.items()
    }


# Of "steady" most is known, so that its worst case is the least bad; "bright" has the best average.
REWARDS = shares(steady=(0.7, 400), bright=(0.8, 30), dark=(0.5, 10))


def within(result: Result, name: str) -> float:
    """By how much another arm may be better than this one, by the intervals."""
    own = result.arm(name).mean_interval[0]
    return max(arm.mean_interval[1] for arm in result.arms if arm.name != name) - own


def test_the_best_average_is_named_and_certified() -> None:
    result = analyze(REWARDS, epsilon=0.01, task="best", **RANGE).result
    assert (result.stopped, result.front, result.safest) == ("data", ("bright",), ("steady",))
    assert result.certified_epsilon == pytest.approx(within(result, "bright"))
    assert within(result, "steady") < within(result, "bright")
    assert result.sentence.startswith("Best guess: bright leads; nothing is proved.")
    assert result.sentence.endswith(" Safest choice so far: steady.")
    assert Result.from_dict(json.loads(result.to_json())) == result
    alike = shares(steady=(0.7, 400), bright=(0.8, 400), dark=(0.5, 10))
    assert analyze(alike, epsilon=0.01, task="best", **RANGE).result.safest == ()


@pytest.mark.parametrize(
    ("task", "named"),
    [
        ("best", ("dark",)),
        ("top:2", ("steady", "dark")),
        ("best:max-risk=0.48", ("steady",)),
        ("least-risk", ("bright",)),
    ],
)
def test_costs_several_arms_and_constraints(task: str, named: tuple[str, ...]) -> None:
    """By the estimates alone, feasible by them where there is a limit."""
    result = analyze(REWARDS, epsilon=0.001, task=task, direction="minimize", **RANGE).result
    assert not result.goal_reached
    assert result.front == named


def test_a_search_that_is_capped_names_it_too() -> None:
    """And a simulation judges what is named."""
    ends = {name: iter(rewards) for name, rewards in REWARDS.items()}
    generator = np.random.default_rng(1)

    def pull(arm: str) -> float:
        return next(ends[arm], float(generator.random() < 0.5))

    for options in ({"epsilon": 0.01, "max_trials": 40}, {"budget": 40, "policy": "ramgape"}, {"budget": 40}):
        result = identify(pull, list(REWARDS), task="best", **RANGE, **options)  # type: ignore[arg-type]
        assert not is_proved(result)
        assert result.arm(result.front[0]).mean == max(arm.mean for arm in result.arms)


def is_proved(result: Result) -> bool:
    return result.stopped == "confidence"


COINS = Instance("coins", tuple(Arm(str(ones), Bernoulli(0.1 * ones)) for ones in range(3, 8)), (0.0, 1.0), "bounded")


def test_simulations_judge_the_answer_that_they_name() -> None:
    """The rule's own answer, which goes by shrunken averages, is another one in some of these."""
    known, options, differ = load_instance("random-beta:202"), {"task": "best", "budget": 200}, 0
    spec = simulated_spec(known, **options)  # type: ignore[arg-type]
    true = TrueArms(known, spec)
    many = replicate(known, runs=12, seed=0, **options)  # type: ignore[arg-type]
    for seed, run in enumerate(many.runs):
        result = simulate(known, seed=seed, **options)  # type: ignore[arg-type]
        named = np.array([name in result.front for name in known.names])
        assert result.arm(result.front[0]).mean == max(arm.mean for arm in result.arms)
        assert result.truth == true.assess(named, None)
        assert (run.front, run.regret) == (result.front, result.truth.regret)
        engine = Engine(spec, seed)
        for _ in play(engine, known, seed):
            pass
        differ += (engine.answer() != named).any()
    assert differ >= 2


def test_a_policy_that_dismisses_arms_and_a_stop_have_their_own_answer() -> None:
    rejecting = simulate(COINS, task="best", budget=100, policy="successive-rejects", seed=1)
    assert len(rejecting.front) == 1
    assert rejecting.safest == ()
    proved = simulate(COINS, task="best", epsilon=0.2, seed=1)
    assert is_proved(proved)
    assert proved.safest == ()


LEVELS: dict[str, Any] = {"control": (0.4, 60), "ahead": (0.55, 25), "behind": (0.3, 20)}


@pytest.mark.parametrize("policy", ["auto", "ramgape"])
def test_the_guess_against_a_control_goes_by_averages(policy: str) -> None:
    """Intervals alone are nearer to the verdict that the second arm is not better."""
    options = {"task": "better-than:control=control", "epsilon": 0.01, "policy": policy, **RANGE}
    result = analyze(shares(**LEVELS), **options).result
    assert result.front == ("ahead",)
    assert {row.verdict for row in result.differences} == {"open"}
    assert result.sentence.startswith("Best guess: ahead may have a mean above that of control. Nothing is proved yet.")
    for seed in range(20):
        capped = simulate(COINS, task="better-than:control=5", epsilon=0.01, max_trials=60, policy=policy, seed=seed)
        control = capped.arm("5").mean
        assert set(capped.front) == {arm.name for arm in capped.arms if arm.mean > control}


@pytest.mark.parametrize("policy", ["auto", "ramgape"])
def test_an_arm_that_is_proved_not_better_is_no_guess(policy: str) -> None:
    """Though its average is above that of the control: by less than the tolerance, as is proved."""
    known: dict[str, Any] = {"control": (0.4, 4000), "alike": (0.41, 4000), "ahead": (0.55, 25)}
    options = {"task": "better-than:control=control", "epsilon": 0.2, "policy": policy, **RANGE}
    result = analyze(shares(**known), **options).result
    assert result.arm("alike").mean > result.arm("control").mean
    assert {row.name: row.verdict for row in result.differences} == {"alike": "not better", "ahead": "open"}
    assert result.front == ("ahead",)
