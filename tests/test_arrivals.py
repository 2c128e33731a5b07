"""Arms that come and go: a part of delta is kept for them, and whoever opens a study knows the same of it."""

from __future__ import annotations

import io
import json
import math
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ramgape
from ramgape import InvalidSpec, Study, UnknownName
from ramgape.search.assembly import make_state
from ramgape.studies.arrivals import FIRST_SHARE, present
from ramgape.studies.checking import check_study
from ramgape.studies.specification import StudySpec, make_study_spec
from tests.cli_support import call_json, complaint
from tests.guarantees import most_allowed

MEANS = {"A": 0.5, "B": 0.7, "C": 0.3, "D": 0.72, "E": 0.9, "F": 0.65}
OPTIONS: dict[str, Any] = {"reward_range": (0, 1), "epsilon": 0.2, "task": "best", "expected_arms": 6, "seed": 3}


def reward_of(pull: ramgape.Pull) -> float:
    return float(random.Random(pull.seed).random() < MEANS[pull.arm])


def work(study: Study, most: int = 10**9) -> None:
    """Make pulls, three at a time."""
    made = 0
    while made < most and (pulls := study.ask(3)):
        study.tell_many([(pull, reward_of(pull)) for pull in pulls])
        made += len(pulls)


def new_study(storage: str | None = None, **options: Any) -> Study:
    return Study.create("prompts", list("ABC"), storage=storage, **{**OPTIONS, **options})


def opened_anew(study: Study, storage: str | None) -> Study:
    """The same study, as another process would see it; in memory this one forgets what it knows."""
    if storage is not None:
        return Study.load(study.name, storage)
    study.backend.session._state = study.backend._inference = None
    return study


# --- shares of delta --------------------------------------------------------------------------------------------------


def levels(spec: StudySpec) -> list[float]:
    """Of the arms that are there."""
    found: list[float] = make_state(spec.present, spec.search.bound, spec.search.delta).arms["level"].tolist()
    return found


@pytest.mark.parametrize("risk", ["std", "mean-variance:1", "cvar:0.1"])
@pytest.mark.parametrize("task", ["pareto", "best"])
def test_a_reserve_for_ten_more_arms_costs_the_first_hardly_anything(risk: str, task: str) -> None:
    """Their levels rise by ln(1 / 0.9), and the shares of all arms that may ever come sum to 1."""
    names = [f"arm {number}" for number in range(10)]
    options: dict[str, Any] = {"reward_range": (0, 1), "epsilon": 0.1, "risk": risk, "task": task}
    options["bound"] = make_study_spec(names, {**options, "expected_arms": 20}).search.bound
    without, reserved = make_study_spec(names, options), make_study_spec(names, {**options, "expected_arms": 20})
    raised = np.array(levels(reserved)) - np.array(levels(without))
    assert (raised <= math.log(1.0 / 0.9) + 1e-12).all()
    assert (raised > 0.0).all()
    study = Study.create("ten", names, **options, expected_arms=20)
    for number in range(10):
        study.add_arm(f"late {number}")
        study.retire(names[number] if number < 5 else f"late {number}")
    shares = present(study.spec).shares
    assert shares is not None
    parts = [FIRST_SHARE / 10] * 10 + [(1.0 - FIRST_SHARE) / 10] * 10
    assert math.fsum(parts) <= 1.0 + 1e-12
    assert set(shares) <= set(parts)
    with pytest.raises(InvalidSpec, match="an arm must be one of 20 at most"):
        study.add_arm("one too many")


def test_intervals_in_place_of_comparisons() -> None:
    spec = make_study_spec(list("ABC"), {"reward_range": (0, 1), "epsilon": 0.1, "expected_arms": 5})
    assert (spec.search.bound, spec.search.policy) == ("empirical-bernstein", "ramgape")
    for options, words in (
        ({"bound": "pairwise"}, "bound must be one with intervals for each arm where arms may come later"),
        ({"expected_arms": 3}, "expected_arms must be a whole number of at least 4"),
        ({"expected_arms": 2.5}, "expected_arms must be a whole number"),
        ({"epsilon": None, "budget": 50}, "expected_arms must be absent under a budget"),
        ({"epsilon": None, "spend": 50}, "expected_arms must be absent under a budget"),
    ):
        with pytest.raises(InvalidSpec, match=words):
            make_study_spec(list("ABC"), {"reward_range": (0, 1), "epsilon": 0.1, "expected_arms": 5, **options})
    any_kind = make_study_spec(list("ABC"), {"epsilon": 0.1, "expected_arms": 5})
    assert any_kind.search.bound == "central-limit"


@pytest.mark.few(2)
@pytest.mark.parametrize("task", ["best", "pareto"])
def test_answers_are_right_though_arms_come_because_of_what_was_seen(task: str) -> None:
    """The adversary adds an arm as soon as a study is done, retires what looks second best, and adds again.

    Every answer at every end must be right up to epsilon for the arms then present, in a share 1 - delta of the runs,
    delta 0.5 so that errors would be seen. False alarms: at most 1e-6, by the binomial distribution.
    """
    runs, wrong, epsilon = 20, 0, 0.2
    for seed in range(runs):
        dice = random.Random(seed)
        means = {f"arm {number}": dice.choice((0.3, 0.45, 0.5, 0.6)) for number in range(6)}
        study = Study.create(
            "adversary", list(means)[:3], reward_range=(0, 1), epsilon=epsilon, delta=0.5, task=task, expected_arms=6
        )
        later, bad = list(means)[3:], False
        while True:
            while pulls := study.ask(10):
                study.tell_many([(pull, float(dice.random() < means[pull.arm])) for pull in pulls])
            result = study.result(expect=False)
            assert result.goal_reached
            spreads = {name: math.sqrt(means[name] * (1.0 - means[name])) for name in study.arms}
            if task == "best":
                bad |= means[result.front[0]] <= max(means[name] for name in study.arms) - epsilon
            else:
                for name in study.arms:
                    covers = [
                        other
                        for other in result.front
                        if means[other] > means[name] - epsilon and spreads[other] < spreads[name] + epsilon
                    ]
                    bad |= not covers
            if not later:
                break
            if len(study.arms) > 2:
                second = sorted(result.arms, key=lambda arm: arm.mean)[-2].name
                study.retire(second)
            study.add_arm(later.pop(0))
        wrong += bad
    assert wrong <= most_allowed(runs, 0.5)
    assert wrong < runs / 2


# --- coming and going -------------------------------------------------------------------------------------------------


def test_an_arm_comes_and_goes(storage: str | None) -> None:
    study = new_study(storage)
    work(study, 30)
    assert study.retire("C")
    assert study.arms == ("A", "B")
    work(study)
    first = study.result(expect=False)
    assert (first.front, first.goal_reached, [arm.name for arm in first.arms]) == (("B",), True, ["A", "B"])
    assert study.add_arm("E")
    assert (study.done, study.arms) == (False, ("A", "B", "E"))
    assert study.result(expect=False).arm("A").pulls == first.arm("A").pulls  # nothing is lost
    work(study)
    report = study.report(expect=False)
    assert report.result.front == ("E",)
    (gone,) = report.retired
    assert (gone.name, gone.pulls) == ("C", report.told - report.late - report.result.samples)
    assert "Retired: C (" in " ".join(report.explain().split())
    assert "about the arms there are now" in " ".join(str(report).split())
    assert ramgape.Report.from_dict(json.loads(json.dumps(report.to_dict()))) == report
    assert opened_anew(study, storage).report(expect=False) == report
    text = io.StringIO()
    assert study.export_csv(text) == report.told
    assert text.getvalue().count("\nC,") == gone.pulls


def test_whoever_opens_it_knows_the_same(url: str) -> None:
    """At every moment, whatever came and went, and whoever did it."""
    dice = random.Random(1)
    with new_study(url, epsilon=0.05) as study, Study.load("prompts", url) as other:
        later, steps = ["D", "E", "F"], ["add", "retire", "add", "retire", "work", "work", "ask", "ask"] * 4
        held: list[ramgape.Pull] = []
        dice.shuffle(steps)
        for step in steps:
            who = dice.choice((study, other))
            if step == "add" and later:
                who.add_arm(later.pop())
            elif step == "retire" and len(who.arms) > 3:
                who.retire(dice.choice(who.arms))
            elif step == "ask":
                held += who.ask(2)
            work(who, dice.randrange(30))
            for pull in held[:2]:
                assert who.tell(pull, reward_of(pull))  # of a retired arm, too
            del held[:2]
            seen = [each.report(expect=False).to_dict() for each in (study, other)]
            with Study.load("prompts", url) as anew:
                assert seen == [anew.report(expect=False).to_dict()] * 2
                assert study.arms == other.arms == anew.arms
        assert len(study.spec.retired) >= 2
        assert check_study(study.backend.session.store, "prompts").problems == ()


def test_open_pulls_of_a_retired_arm(storage: str | None) -> None:
    study = new_study(storage, policy="round-robin", bound="empirical-bernstein")
    pulls = study.ask(6, worker="w", lease=0.001)
    mine = [pull for pull in pulls if pull.arm == "C"]
    assert len(mine) == 2
    study.retire("C")
    again = study.ask(6, worker="w") + study.ask(6)
    assert "C" not in {pull.arm for pull in again}
    assert study.tell(mine[0], 0.25)
    assert study.tell(mine[0], 0.25)  # after a lost reply
    assert [(arm.pulls, arm.mean, arm.std) for arm in study.report().retired] == [(1, 0.25, 0.0)]
    assert study.result().samples == 0
    assert study.report().told == 1
    before = study.report().to_dict()
    assert opened_anew(study, storage).report().to_dict() == before
    with pytest.raises(UnknownName, match="arm must be one of A, B, got 'C'"):
        study.observe("C", 0.5)


def test_retiring_may_settle_the_rest(storage: str | None) -> None:
    """What is left is decided at once if it is decided; the last observation may be of the arm that went."""
    study = new_study(storage, epsilon=0.3)
    work(study)
    assert study.done
    study.add_arm("D")
    for _ in range(3):
        study.observe("D", 0.5)
    assert not study.done
    assert study.retire("D") is False
    assert study.done
    assert study.result().front == ("B",)
    assert opened_anew(study, storage).result() == study.result()


def test_in_rounds_and_with_a_control(storage: str | None) -> None:
    """Where rules remember arms by their numbers: the rounds begin anew, and the control is found by its name."""
    study = Study.create(
        "rounds",
        list("ABC"),
        storage=storage,
        **{**OPTIONS, "task": "better-than:control=B", "epsilon": 0.3, "interleave": True},
    )
    work(study, 7)
    study.add_arm("E")
    study.retire("A")
    work(study)
    assert (study.result().front, study.result().control) == (("E",), "B")
    assert opened_anew(study, storage).result() == study.result()


def test_prices_of_arms_that_come_and_go(storage: str | None) -> None:
    """What was spent on an arm that went is spent."""
    prices = {"A": 1.0, "B": 2.0, "C": 50.0}
    study = new_study(storage, price=prices, spend=400.0, epsilon=0.001)
    with pytest.raises(InvalidSpec, match="the price of 'D' must be a finite number above 0, got None"):
        study.add_arm("D")
    work(study, 12)
    before = study.result(expect=False)
    study.retire("C")
    assert study.result(expect=False).spent == before.spent
    study.add_arm("D", price=4.0)
    work(study)
    result = study.result(expect=False)
    assert result.stopped == "spend"
    assert 399.0 < (result.spent or 0.0) <= 400.0
    assert (result.spent or 0.0) - sum(arm.spent or 0.0 for arm in result.arms) == before.arm("C").spent
    assert opened_anew(study, storage).result(expect=False) == result
    plain = new_study()
    with pytest.raises(InvalidSpec, match="price must be absent for a study whose prices are not stated"):
        plain.add_arm("D", price=4.0)


def test_what_cannot_be_meant() -> None:
    study = new_study(task="better-than:control=B")
    study.add_arm("D")
    study.retire("A")
    cases: list[tuple[Callable[[], Any], type[Exception], str]] = [
        (lambda: study.add_arm("D"), InvalidSpec, "an arm must be a name that no arm of the study has, or had"),
        (lambda: study.add_arm("A"), InvalidSpec, "an arm must be a name that no arm of the study has, or had"),
        (lambda: study.add_arm(""), InvalidSpec, "an arm must be a name that is text"),
        (lambda: study.add_arm(7), InvalidSpec, "an arm must be a name that is text"),  # type: ignore[arg-type]
        (lambda: study.add_arm("\ud800"), InvalidSpec, "an arm must be a name that is text"),
        (lambda: study.retire("B"), InvalidSpec, "an arm to retire must be another one than the control of question"),
        (lambda: study.retire("A"), InvalidSpec, "an arm must be retired once, got 'A'"),
        (lambda: study.retire("Z"), UnknownName, "an arm to retire must be one of B, C, D, got 'Z'"),
    ]
    for attempt, kind, words in cases:
        with pytest.raises(kind, match=words):
            attempt()
    study.retire("C")
    with pytest.raises(InvalidSpec, match="the arms that are left must be two at least"):
        study.retire("D")
    assert study.arms == ("B", "D")
    plain = Study.create("plain", list("ABC"), reward_range=(0, 1), epsilon=0.1)
    with pytest.raises(InvalidSpec, match="a share of delta must be kept for arms that come later when the study is"):
        plain.add_arm("D")
    with pytest.raises(InvalidSpec, match="a study must be created with expected_arms, for arms that come or go"):
        plain.retire("A")
    top = new_study(task="top:2")
    with pytest.raises(InvalidSpec):
        top.retire("A")  # the two best of two arms are no question


def test_the_specification(url: str) -> None:
    with new_study(url) as study:
        study.add_arm("D")
        study.retire("A")
        study.extend(epsilon=0.1)
        text = study.spec.to_text()
        assert StudySpec.from_text(text) == study.spec
        assert [(change.arm, change.kind) for change in study.spec.arm_changes] == [("D", "added"), ("A", "retired")]
        with new_study(url, exist_ok=True) as same:  # as it was created
            assert same.arms == ("B", "C", "D")
        with pytest.raises(ramgape.StudyExists, match="expected_arms is 6 in the store, 7 here"):
            new_study(url, exist_ok=True, expected_arms=7)
    assert "arm_changes" not in new_study().spec.to_text()
    plain = Study.create("plain", list("ABC"), reward_range=(0, 1), epsilon=0.1).spec.to_text()
    assert not {"expected_arms", "arm_changes", "price", "spend", "shares"} & set(plain.replace('"', " ").split())


def test_commands(tmp_path: Path) -> None:
    storage = ("--storage", f"sqlite:///{tmp_path}/studies.db")
    arms = ("--arm", "A", "--arm", "B", "--reward-range", "0", "1", "--epsilon", "0.1", "--expected-arms", "3")
    call_json("study", "create", "prompts", *arms, *storage)
    assert call_json("study", "add-arm", "prompts", "C", *storage) == {"arms": ["A", "B", "C"], "done": False}
    assert call_json("study", "retire", "prompts", "A", *storage) == {"arms": ["B", "C"], "done": False}
    assert call_json("study", "show", "prompts", *storage)["study"]["retired"][0]["name"] == "A"
    assert "an arm must be one of 3 at most" in complaint("study", "add-arm", "prompts", "D", *storage)
