"""Better than a control: better, not worse, not better or open; only what is proved to be better is returned."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy

from ramgape import Arm, Bernoulli, BetterThan, Instance, Result, analyze, replicate, simulate
from ramgape.search.result import ControlDifference

FALSE_ALARM = 1e-6


def coins(**chances: float) -> Instance:
    arms = tuple(Arm(name, Bernoulli(chance)) for name, chance in chances.items())
    return Instance("coins", arms, (0.0, 1.0), "bounded")


RATES = {"control": 0.10, "A": 0.10, "B": 0.13, "D": 0.11, "E": 0.15}


def test_an_arm_as_good_as_the_control_is_not_called_better() -> None:
    """Another seed fails with probability 0.05 at most: then a claim is wrong."""
    result = simulate(coins(**RATES), task="better-than:control=control", epsilon=0.01, seed=1)
    assert result.stopped == "confidence"
    verdicts = {row.name: row.verdict for row in result.differences}
    assert set(verdicts.values()) == {"better", "not better"}
    assert {name for name, verdict in verdicts.items() if verdict == "better"} == set(result.front)
    assert verdicts["A"] == "not better"
    assert {"B", "E"} <= set(result.front) <= {"B", "D", "E"}
    assert "E beat control" in result.sentence
    assert "(95% sure)" in result.sentence
    assert "Not better" in result.sentence
    assert "every returned arm has a mean above that of control, and no other arm has a mean 0.01 or more above" in (
        result.guarantee
    )
    for row in result.differences:
        assert row.verdict != "better" or row.mean_interval[0] >= 0.0
        assert row.verdict != "not better" or row.mean_interval[1] <= 0.01
    assert {row["name"]: row["verdict"] for row in json.loads(result.to_json())["details"]["differences"]} == verdicts
    assert Result.from_dict(result.to_dict()) == result
    assert "not better" in str(result)


@pytest.mark.parametrize(
    ("task", "policy"),
    [("better-than:control=c", "auto"), ("better-than:control=c,margin=0.1", "ramgape")],
)
def test_every_search_with_a_tolerance_ends_and_returns_better_arms_alone(task: str, policy: str) -> None:
    """Two arms at the control and the margin, one half a tolerance above: both verdicts are right of it.

    40 runs at delta 0.1: more wrong ones than allowed have a probability of 1e-6.
    """
    margin = 0.1 if "margin" in task else 0.0
    level, runs = 0.4 + margin, 40
    instance = coins(c=0.4, same=level, alike=level, above=level + 0.1, best=level + 0.3)
    done = replicate(instance, runs=runs, task=task, policy=policy, epsilon=0.2, delta=0.1, max_trials=100_000)
    assert len(done.ended) == runs
    wrong = sum(not {"best"} <= set(run.front) <= {"above", "best"} for run in done.runs)
    assert wrong == done.errors <= int(scipy.stats.binom.ppf(1.0 - FALSE_ALARM, runs, 0.1))


def test_right_is_an_answer_of_better_arms_that_misses_none_by_epsilon() -> None:
    means, risks = np.array([0.5, 0.5, 0.52, 0.6]), np.array([0.3, 0.2, 0.2, 0.2])
    task = BetterThan("0").among("0123")

    def right(epsilon: float, *answer: int) -> bool:
        return task.is_right(np.isin(np.arange(4), answer), means, risks, epsilon)

    assert right(0.05, 3)
    assert right(0.05, 2, 3)
    assert not right(0.05, 2)  # misses one by more than epsilon
    assert not right(0.05, 1, 2, 3)  # has one that is no better
    assert not right(0.0, 3)
    assert right(0.0, 2, 3)
    assert task.regret(np.array([False, True, False, True]), means, risks) == pytest.approx(0.02)
    both = BetterThan("0", objective="both").among("0123")
    assert both.is_right(np.array([False, False, True, True]), means, risks, 0.05)
    assert not both.is_right(np.array([False, False, True, True]), means, risks[::-1], 0.05)


def fair(chance: float, count: int) -> list[float]:
    """Zeros and ones in this proportion, well mixed."""
    return np.random.default_rng(5).permutation(np.arange(count) < round(chance * count)).astype(float).tolist()


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_data_lead_to_each_of_the_four_verdicts(direction: str) -> None:
    chances = {"now": 0.5, "better": 0.6, "not better": 0.5, "not worse": 0.53, "open": 0.6}
    counts = {"now": 40_000, "better": 20_000, "not better": 20_000, "not worse": 1_500, "open": 60}
    rewards = {name: fair(chance, counts[name]) for name, chance in chances.items()}
    if direction == "minimize":
        rewards = {name: [1.0 - reward for reward in values] for name, values in rewards.items()}
    options = {"reward_range": (0, 1), "epsilon": 0.05, "direction": direction, "alarm": "off"}
    result = analyze(rewards, task="better-than:control=now", **options).result  # type: ignore[call-overload]
    assert {row.name: row.verdict for row in result.differences} == {name: name for name in chances if name != "now"}
    assert not result.goal_reached
    assert result.sentence.startswith("better beats now: ")
    assert "Not better: not better." in result.sentence
    assert "Not worse: not worse." in result.sentence
    assert "No verdict yet on open." in result.sentence
    shown = str(result)
    assert all(f"{name} " in shown for name in ("not better", "not worse", "open", "better"))


def test_results_of_older_versions_claim_nothing() -> None:
    row = ControlDifference("A", 0.1, (0.0, 0.2), 1.0, (0.0, 2.0), 0.0, (0.0, 0.0))
    assert row.verdict == "open"
