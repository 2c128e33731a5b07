"""`analyze(..., stopping="fixed")`: classical tests for one look, compared with SciPy, and how often they are wrong."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy.stats

from ramgape import InvalidSpec, UnknownName, analyze
from ramgape.bounds.one_look import log_odds
from ramgape.common.formatting import round_up

BEST: dict[str, Any] = {"question": "best", "stopping": "fixed"}


def table(count: int = 30) -> dict[str, list[float]]:
    generator, means = np.random.default_rng(2), (0.97, 0.955, 0.95, 0.9)
    return {f"m{arm}": (mean + 0.02 * generator.normal(size=count)).tolist() for arm, mean in enumerate(means)}


def apart(rewards: dict[str, list[float]]) -> list[tuple[str, float]]:
    """As rows of arms that share nothing."""
    return [(arm, value) for arm, values in rewards.items() for value in values]


def test_welch_is_that_of_scipy() -> None:
    """p to four digits, Bonferroni over the K - 1 comparisons; intervals to a hundredth of their width.

    The leader is chosen by the same data, so the intervals of all six pairs hold together with probability 0.95.
    """
    rewards = table()
    result = analyze(apart(rewards), **BEST).result
    assert (result.bound, result.answer) == ("welch", ("m0",))
    for arm in result.arms[1:]:
        test = scipy.stats.ttest_ind(rewards["m0"], rewards[arm.name], equal_var=False)
        one_sided = scipy.stats.ttest_ind(rewards["m0"], rewards[arm.name], equal_var=False, alternative="greater")
        assert arm.p == pytest.approx(max(min(3 * one_sided.pvalue, 1.0), 3e-6), rel=0.01, abs=1e-6)
        behind, (low, high) = arm.objectives["mean(reward)"].behind, test.confidence_interval(1.0 - 0.05 / 6)
        assert behind is not None
        assert (behind.low, behind.high) == pytest.approx((low, high), abs=0.02 * (high - low))


def test_rows_that_arms_share_have_the_paired_test() -> None:
    rewards = table()
    result = analyze(rewards, **BEST).result
    assert result.bound == "paired-t"
    low, high = scipy.stats.ttest_rel(rewards["m0"], rewards["m1"]).confidence_interval(1.0 - 0.05 / 6)
    behind = result.arm("m1").objectives["mean(reward)"].behind
    assert behind is not None
    assert (behind.low, behind.high) == pytest.approx((low, high), abs=0.02 * (high - low))


@pytest.mark.parametrize(("first", "second"), [(5, 5), (12, 40), (400, 3)])
def test_odds_are_those_of_scipy(first: int, second: int) -> None:
    generator = np.random.default_rng(first)
    one, other = generator.normal(0.4, 1.0, first), generator.normal(0.0, 2.0, second)
    errors, freedoms = (one.var() / (first - 1), other.var() / (second - 1)), (first - 1.0, second - 1.0)
    shift = 1.0 + abs(float(one.mean() - other.mean()))
    test = scipy.stats.ttest_ind(one + shift, other, equal_var=False, alternative="greater")
    assert log_odds(one.mean() + shift - other.mean(), errors, freedoms) == pytest.approx(-math.log(test.pvalue))
    assert log_odds(-1.0, errors, freedoms) == 0.0


def test_it_says_that_it_is_one_look_and_what_any_time_costs() -> None:
    result = analyze(apart(table()), **BEST).result
    assert "and if the number of trials was fixed beforehand and these data are looked at once: " in result.guarantee
    (note,) = (each for each in result.notes if "one look" in each)
    many = analyze(apart(table()), question="best").result.certified_epsilon
    assert result.certified_epsilon is not None
    assert many is not None
    assert f"proves the answer within {round_up(result.certified_epsilon)}; checked at any time" in note
    assert note.endswith(f"the same data prove it within {round_up(many)}")
    assert result.certified_epsilon < many


@pytest.mark.parametrize("question", ["pareto", "top:2", "better-than:control=m3"])
def test_every_question_about_pairs_has_it(question: str) -> None:
    result = analyze(apart(table(60)), question=question, stopping="fixed", epsilon=0.02).result
    assert result.bound == "welch"
    assert result.stopped == "confidence"


@pytest.mark.parametrize("law", ["normal", "exponential"])
def test_a_wrong_answer_is_as_rare_as_stated(law: str) -> None:
    """Four arms, three of them exactly epsilon behind: one of these is certified with a chance of delta at most.

    Of 4,000 experiments with 20 trials an arm more than 260 come with a chance of 1e-5 at delta .05.
    """
    generator, wrong, runs = np.random.default_rng(3), 0, 4_000
    for _ in range(runs):
        rewards = generator.normal(size=(4, 20)) if law == "normal" else generator.exponential(size=(4, 20))
        rewards[1:] -= 0.3
        means, errors = rewards.mean(axis=1), rewards.var(axis=1) / 19.0
        for arm in range(1, 4):
            pair = float(errors[arm]), float(errors[0])
            if log_odds(float(means[arm] - means[0]) + 0.3, pair, (19.0, 19.0)) >= math.log(3.0 / 0.05):
                wrong += 1
                break
    assert wrong <= 260


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"reward_range": (0, 2)}, "stopping must be any-time unless arms are compared in pairs"),
        ({"question": "least-risk"}, "stopping must be any-time unless arms are compared in pairs"),
        ({"stopping": "once"}, "stopping must be one of any-time, fixed"),
    ],
)
def test_what_it_does_not_go_with(options: dict[str, Any], words: str) -> None:
    with pytest.raises((InvalidSpec, UnknownName), match=words):
        analyze(apart(table()), **{**BEST, **options})


def test_searches_may_not_use_it() -> None:
    with pytest.raises(UnknownName, match="bound must be one of"):
        analyze(apart(table()), question="best", bound="welch")
