"""Trials in progress: slow results that are bad results, failures that hide bad results, and what results say."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ramgape import Result, Retry, Study, TrialQuality, Trials, identify
from ramgape.studies.specification import FORMAT, StudySpec
from ramgape.trials.asking import AskingOrder
from tests.engines import VirtualEngine
from tests.guarantees import most_allowed

CHANCES = {"A": 0.7, "B": 0.8}
GOAL: dict[str, Any] = {"reward_range": (0, 1), "task": "best", "epsilon": 0.09, "delta": 0.05}
WORKERS, SLOW = 64, 60.0


# --- slow results that are bad results ---------------------------------------------------------------------------


def coin(arm: str, rng: np.random.Generator) -> float:
    return float(rng.random() < CHANCES[arm])


def by_identify(seed: int) -> Result:
    return identify(coin, list(CHANCES), workers=WORKERS, seed=seed, **GOAL)


def by_study(seed: int) -> Result:
    return Study.create("slow", list(CHANCES), seed=seed, **GOAL).run(coin, workers=WORKERS)


@pytest.mark.parametrize(("search", "runs"), [(by_identify, 12), (by_study, 8)])
def test_zeros_of_one_arm_take_sixty_times_as_long(
    search: Callable[[int], Result], runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Counted as they came in, fast results made the worse arm the best in 99 of 100 searches.

    Each search is wrong with probability 0.05 at most, so this fails with probability 1e-6 if all is well.
    """
    wrong, rng = 0, np.random.default_rng(1)

    def seconds(reward: float, about: Any, *_: Any) -> float:
        arm = about if isinstance(about, str) else list(CHANCES)[about.arm]
        return float(rng.exponential() * (SLOW if arm == "A" and not reward else 1.0))

    @contextmanager
    def virtual(*_: Any, **__: Any) -> Iterator[VirtualEngine]:
        yield VirtualEngine(WORKERS, seconds)

    monkeypatch.setattr("ramgape.trials.trial_loop.engine_of", virtual)
    monkeypatch.setattr("ramgape.studies.running.engine_of", virtual)
    for seed in range(runs):
        result = search(seed)
        assert result.goal_reached
        assert result.conditions == []
        wrong += result.front != ("B",)
    assert wrong <= most_allowed(runs, GOAL["delta"])


def test_the_order_of_asking() -> None:
    order = AskingOrder()
    for number in range(4):
        order.enter(number)
    order.leave(2)
    order.enter(2, held=True)
    assert (order.ready(), order.held, order.is_next(0), order.is_next(2)) == ([], 1, True, False)
    for number in (1, 0):  # both are passed over, one after the other
        order.leave(number)
        order.move(number, 4)
        order.enter(number)
    assert order.ready() == [2]
    for number in (0, 1):
        order.leave(number)
        order.enter(number, held=True)
    assert order.ready() == [2]
    assert order.ready(everything=True) == [2, 1, 0]
    order.leave(3)
    assert order.ready() == [2, 1, 0]


# --- failures that hide bad results --------------------------------------------------------------------------------


def hiding(arm: str, rng: np.random.Generator) -> float:
    """The same rewards for both arms; but B fails instead of giving a low one."""
    reward = rng.random()
    if arm == "B" and reward < 0.5:
        raise Retry(f"no {reward:.2f}", after=0)
    return float(reward)


def check_says_so(result: Result) -> None:
    failures = result.quality.failures["B"]
    assert result.quality.failures == {"B": failures}
    assert failures > 5
    assert result.front == ("B",)
    words = f"failures are unrelated to the reward (B failed {failures} times, A never)"
    assert f"if {words}" in result.guarantee
    assert any(words in warning for warning in result.warnings)
    described = result.to_dict()
    assert described["quality"]["failures"] == {"B": failures}
    assert any(words in warning for warning in described["warnings"])
    assert Result.from_dict(json.loads(result.to_json())).quality == result.quality
    assert words in " ".join(str(result).split())
    assert words in " ".join(re.sub("<[^>]*>", "", result._repr_html_()).split())


@pytest.mark.parametrize("workers", [1, 8])
def test_failures_that_were_replaced_are_said(workers: int, tmp_path: Path) -> None:
    result = identify(hiding, ["A", "B"], workers=workers, trials=Trials(retries=99), seed=1, **GOAL)
    check_says_so(result)
    result.save_html(tmp_path / "report.html")
    assert "failures are unrelated to the reward" in (tmp_path / "report.html").read_text()


def test_failures_that_a_study_replaced_are_said(storage: str | None) -> None:
    study = Study.create("hidden", ["A", "B"], storage=storage, retries=99, seed=1, **GOAL)
    check_says_so(study.run(hiding, workers=1))
    report = study.report()
    check_says_so(report.result)
    assert report.to_dict()["quality"] == report.result.to_dict()["quality"]
    assert "unrelated to the reward" in str(report)
    study.close()


def test_timeouts_are_counted_apart() -> None:
    slow = iter([True, False] * 100)

    def pull(arm: str) -> float:
        if arm == "B" and next(slow):
            raise TimeoutError("too late")
        return float(arm == "B")

    study = Study.create("late", ["A", "B"], **GOAL)
    result = study.run(pull)
    assert (result.quality.failures, list(result.quality.timeouts)) == ({}, ["B"])
    assert "if timeouts are unrelated to the reward (B timed out" in result.guarantee
    assert "timeouts are unrelated to the reward (B timed out" in " ".join(str(result).split())
    study = Study.create("commands", ["A", "B"], **GOAL)
    for reason in ("FailedTrial: timeout after 3 s", "FailedTrial: exit code 1"):
        (pull,) = study.ask()
        study.fail(pull, reason)
    assert (study.result().quality.failures, study.result().quality.timeouts) == ({pull.arm: 1}, {pull.arm: 1})


def test_few_failures_of_all_arms_alike_go_without_a_word() -> None:
    trials = {"A": 500, "B": 400, "C": 300}
    assert TrialQuality(failures=dict.fromkeys(trials, 4)).conditions(trials) == []
    assert TrialQuality(failures=dict.fromkeys(trials, 5)).conditions(trials) == [
        "failures are unrelated to the reward (A failed 5 times, B failed 5 times, C failed 5 times)"
    ]
    found = TrialQuality(failures={"A": 1}, expired={"A": 2, "B": 1}, lost={"B": 9}).conditions(trials)
    assert found == [
        "failures and expired leases and lost trials are unrelated to the reward (B lost its lease once and was lost 9 "
        "times, A failed once and lost its lease 2 times, C never)"
    ]
    assert TrialQuality(failures={"A": 99}, counted=True).conditions(trials) == []


# --- studies of earlier versions -----------------------------------------------------------------------------------


@pytest.fixture
def older(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., Study]:
    """A new study, written as the version before did it, and opened."""

    def create(arms: list[str], **options: Any) -> Study:
        usual, url = StudySpec.to_text, f"sqlite:///{tmp_path / 'old.db'}"

        def written(spec: StudySpec) -> str:
            described = json.loads(usual(spec))
            assert described.pop("first_format") == FORMAT
            return json.dumps(described | {"format": 3})

        with monkeypatch.context() as patch:
            patch.setattr(StudySpec, "to_text", written)
            Study.create("old", arms, storage=url, **{"in_order": False, **options}).close()
        return Study.load("old", url)

    return create


def work(study: Study, backwards: bool) -> None:
    while pulls := study.ask(8):
        answers = [(pull, float(pull.arm == "B")) for pull in pulls]
        study.tell_many(answers[::-1] if backwards else answers)


REFUTED = "Certified by ramgape 0.2.0 or older, which counted results as they came in: slow bad results could bias it"


@pytest.mark.parametrize("backwards", [False, True])
def test_an_older_study_goes_on_by_its_rule_and_says_so(older: Callable[..., Study], backwards: bool) -> None:
    """Only where results did overtake others: one at a time, they are as good as any."""
    with older(["A", "B"], **GOAL) as study:
        work(study, backwards)
        assert study.done
        shown = " ".join(str(study.report()).split())
        assert (REFUTED in shown) == backwards
        assert any(REFUTED in warning for warning in study.result().warnings) == backwards
        assert study.result().quality.overtaken == backwards
        url = study.backend.url
    with Study.create("old", ["A", "B"], storage=url, exist_ok=True, **GOAL) as study:  # with the default of today
        assert not study.spec.in_order
        assert any(REFUTED in warning for warning in study.result().warnings) == backwards


def test_a_new_study_has_nothing_to_say() -> None:
    study = Study.create("new", ["A", "B"], **GOAL)
    work(study, backwards=True)
    assert study.done
    assert study.result().warnings == ()


def test_a_test_set_of_an_older_version_says_so(older: Callable[..., Study]) -> None:
    options: dict[str, Any] = {**GOAL, "epsilon": 0.0, "items": list(range(5)), "in_order": True}
    with older(["A", "B"], **options) as study:
        while pulls := study.ask(4):
            study.tell_many([(pull, float(pull.item < 3)) for pull in pulls])
        words = "which could judge equal averages, and averages at a threshold, by a rounding error"
        assert any(words in warning for warning in study.result().warnings)


def test_an_older_study_that_was_extended_still_says_so(older: Callable[..., Study]) -> None:
    with older(["A", "B"], **GOAL) as study:
        work(study, backwards=True)
        study.extend(epsilon=0.05)
        work(study, backwards=False)
        assert study.done
        assert json.loads(study.spec.to_text())["format"] == FORMAT
        assert any(REFUTED in warning for warning in study.result().warnings)
