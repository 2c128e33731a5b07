"""The default on instances made to break it: not wrong too often, and never far behind a rule that is mostly slower."""

from __future__ import annotations

import functools

import pytest

import ramgape
from ramgape.statistics.proportions import binomial_cdf
from tests.hard_instances import STARVING, TEMPTING, HardCase

RIVAL = {"bound": "empirical-bernstein", "policy": "ramgape"}
CHANCE = 1e-8  # that one of the tests below on wrong answers fails although the guarantee holds: 52 times that for all


def name_of(case: HardCase) -> str:
    return f"{case.instance.name} at {case.epsilon:g}"


@functools.cache
def most_wrong(runs: int, delta: float) -> int:
    """More wrong answers than that come with a probability of at most `CHANCE` if each comes with at most delta."""
    return next(wrong for wrong in range(runs + 1) if 1.0 - binomial_cdf(wrong, runs, delta) <= CHANCE)


def test_how_many_may_be_wrong() -> None:
    assert [most_wrong(100, delta) for delta in (0.5, 0.2, 0.05)] == [77, 45, 21]


@pytest.mark.long
@pytest.mark.parametrize(("delta", "risk"), [(0.5, None), (0.5, "std"), (0.2, None), (0.05, None)])
@pytest.mark.parametrize("case", TEMPTING, ids=name_of)
def test_wrong_answers_come_no_more_often_than_delta(case: HardCase, delta: float, risk: str | None) -> None:
    # A run that reaches its cap claims nothing, and counts as one that is not wrong.
    runs = 100 if len(case.instance.arms) < 50 else 30
    asked = {} if risk is None else {"risk": risk}
    done = ramgape.replicate(
        case.instance, runs=runs, delta=delta, epsilon=case.epsilon, max_trials=case.cap, seed=1, **asked
    )
    right = [run.eps_correct if case.epsilon > 0.0 else run.exact for run in done.runs if run.stopped == "confidence"]
    assert right.count(False) <= most_wrong(runs, delta)


@pytest.mark.long
@pytest.mark.parametrize("risk", ["mean-variance:0.01", "std"])
@pytest.mark.parametrize("case", STARVING, ids=name_of)
def test_it_ends_whenever_another_rule_does(case: HardCase, risk: str) -> None:
    # Seeded, so that it fails always or never; 1.3 is far from what chance does to the longest of twenty runs.
    asked = {"runs": 20, "seed": 1, "epsilon": case.epsilon, "delta": 0.05, "risk": risk}
    longest = max(run.samples for run in ramgape.replicate(case.instance, **asked, **RIVAL).runs)
    done = ramgape.replicate(case.instance, **asked, max_trials=round(1.3 * longest))
    assert {run.stopped for run in done.runs} == {"confidence"}
