"""Studies that go on for more: a smaller epsilon, or a larger budget."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import ramgape
from ramgape import InvalidSpec, Study
from ramgape.search.assembly import designates, make_state
from tests.cli_support import call

MEANS = {"a": 0.05, "b": 0.5, "c": 0.8}
BOXES: dict[str, Any] = {"policy": "ramgape", "bound": "empirical-bernstein", "delta": 0.1}


def reward_of(arm: str, seed: int) -> float:
    """A coin of which the arm says how heavy one side is."""
    return float(random.Random(seed).random() < MEANS[arm])


@pytest.fixture
def create(storage: str | None) -> Iterator[Callable[..., Study]]:
    """Makes studies in a place of each kind."""
    made: list[Study] = []

    def new(name: str = "coins", **options: Any) -> Study:
        made.append(Study.create(name, list(MEANS), storage=storage, reward_range=(0, 1), seed=5, **options))
        return made[-1]

    yield new
    for study in made:
        study.close()


def finish(study: Study, count: int = 1) -> ramgape.Result:
    """Make all pulls that are asked for, so many at a time: where a store is on a disk, a transaction takes long."""
    while pulls := study.ask(count):
        study.tell_many([(pull, reward_of(pull.arm, pull.seed)) for pull in pulls])
    assert study.done
    return study.result(expect=False)


def unlike(result: ramgape.Result) -> dict[str, Any]:
    """What a study that was extended and one that asked for that from the start have in common."""
    shown = result.to_dict()
    del shown["details"]["extensions"]
    guarantee = {"guarantee": result.guarantee.partition(" The paper's Theorem 1")[0]}
    certified = shown["certified"] and shown["certified"] | guarantee
    return shown | {"details": shown["details"] | guarantee, "certified": certified}


def in_memory(name: str = "coins", **options: Any) -> Study:
    """A study without a store."""
    return Study.create(name, list(MEANS), **{"reward_range": (0, 1), "seed": 5, **options})


@pytest.mark.parametrize("policy", ["ramgape", "ra-lucb", "psi-unif-elim", "round-robin"])
def test_a_smaller_epsilon_is_as_if_it_had_been_there(policy: str) -> None:
    """These rules do not steer by epsilon, and to this bound both tolerances are coarse: nothing is different."""
    goal = {**BOXES, "policy": policy}
    study, whole = in_memory(epsilon=0.4, **goal), in_memory(epsilon=0.2, **goal)
    first = finish(study)
    assert study.extend(epsilon=0.2)
    assert not study.done
    last = finish(study)
    assert last.samples > first.samples
    assert last.goal.epsilon == 0.2
    assert unlike(last) == unlike(finish(whole))
    [note] = last.extensions
    assert (note.told, note.done, note.epsilon, note.budget) == (first.samples, True, 0.4, None)


@pytest.mark.parametrize("policy", ["evidence", "round-robin", "ramgape"])
def test_a_larger_budget_is_as_if_it_had_been_there(policy: str) -> None:
    exploration = {"exploration": 2.0} if policy == "ramgape" else {}
    study, whole = (in_memory(policy=policy, budget=budget, **exploration) for budget in (60, 90))
    assert finish(study).samples == 60
    assert study.extend(budget=90)
    assert unlike(finish(study)) == unlike(finish(whole))
    assert study.extend(budget=91)
    assert [each.budget for each in finish(study).extensions] == [60, 90]


@pytest.mark.parametrize("policy", ["ege-sr", "ege-sh"])
def test_rules_that_eliminate_begin_their_phases_anew(policy: str) -> None:
    study = in_memory(policy=policy, budget=60)
    finish(study)
    study.extend(budget=200)
    assert finish(study).samples == 200


def test_the_width_of_a_budget_grows_with_it() -> None:
    study = in_memory(policy="ramgape", budget=60)
    study.extend(budget=90)
    assert study.spec.search.exploration == in_memory(policy="ramgape", budget=90).spec.search.exploration
    assert "proves nothing of a budget that was extended" in finish(study).guarantee


def test_comparisons_count_for_all_tolerances(create: Callable[..., Study], storage: str | None) -> None:
    """What is chosen after a look at the data has the levels for all tolerances at once, and designates nothing."""
    study = create(epsilon=0.4)
    first = finish(study, 30)
    assert study.extend(epsilon=0.15)
    assert study.extend(epsilon=0)
    last = finish(study, 30)
    assert last.stopped == "confidence"
    assert last.samples > first.samples
    assert last.goal.epsilon == 0.0
    assert last.front == ("a", "c")
    search = study.spec.search
    assert not designates(search)
    began, now = (
        make_state(study.spec.first().search, search.bound, search.delta),
        make_state(search, search.bound, 0.05),
    )
    for column in ("epsilon", "pair_levels", "pair_scales", "mean_scales", "risk_scales", "alpha", "snapshot"):
        assert (began.problem[column] == now.problem[column]).all(), column
    assert began.problem["any_epsilon"][0]
    assert now.problem["any_epsilon"][0]
    exact = in_memory(epsilon=0).spec.search
    assert not make_state(exact, exact.bound, exact.delta).problem["any_epsilon"][0]
    assert now.search["epsilon"][0] == 0.0
    if storage is not None:
        with Study.load("coins", storage) as again:
            assert again.result(expect=False) == last


def test_what_is_no_more_is_refused() -> None:
    study = in_memory(epsilon=0.2)
    for given, words in (
        ({"epsilon": 0.3}, r"epsilon must be at most 0.2, .*can only go on for more, got 0.3"),
        ({"epsilon": (0.1, 0.2)}, r"pair \(mean, risk\) in the ratio that the study began with, 1,"),
        ({"epsilon": "30%"}, "at most 0.2"),
        ({"epsilon": -0.1}, "at least 0"),
        ({"budget": 1000}, "budget must be absent for a study with a confidence: give a smaller epsilon"),
        ({}, "given one of epsilon, budget and spend"),
        ({"epsilon": 0.1, "budget": 1000}, "given one of epsilon, budget and spend"),
    ):
        with pytest.raises(InvalidSpec, match=words):
            study.extend(**given)  # type: ignore[arg-type]
    assert study.extend(epsilon=0.2)  # as it is; nothing to write down
    assert study.result(expect=False).extensions == ()
    assert study.extend(epsilon="10%")
    assert study.spec.search.epsilon == pytest.approx(0.1)
    study = in_memory(budget=100)
    for given, words in (
        ({"budget": 99}, "budget must be a whole number of at least 100, .*got 99"),
        ({"budget": 100.5}, "whole number"),
        ({"epsilon": 0.1}, "absent for a study with a budget: give a larger budget"),
    ):
        with pytest.raises(InvalidSpec, match=words):
            study.extend(**given)  # type: ignore[arg-type]
    study = in_memory(reward_range=None, epsilon="50%")
    with pytest.raises(InvalidSpec, match="a share of at most 50%"):
        study.extend(epsilon=0.1)
    assert study.extend(epsilon="20%")
    study = in_memory(epsilon=0.01, max_trials=10, policy="ramgape")
    finish(study)
    with pytest.raises(InvalidSpec, match="before the cap on pulls, max_trials=10, is reached"):
        study.extend(epsilon=0.001)


def test_a_tolerance_in_risk_keeps_its_ratio() -> None:
    study = in_memory(reward_range=(0, 2), epsilon=(0.2, 0.1), risk="variance")
    study.extend(epsilon=(0.1, 0.05))
    assert (study.spec.search.epsilon, study.spec.search.risk_epsilon) == (0.1, 0.05)
    study.extend(epsilon=0.0)
    assert (study.spec.search.risk_epsilon, study.spec.search.risk_weight) == (None, 2.0)


def test_what_came_late_counts_from_then_on(create: Callable[..., Study], storage: str | None) -> None:
    study = create(epsilon=0.4, **BOXES)
    first = finish(study, 30)
    for seed in range(5):
        study.observe("b", reward_of("b", seed))
    report = study.report(expect=False)
    assert report.late >= 5
    assert report.result.samples == first.samples
    assert study.extend(epsilon=0.2)
    report = study.report(expect=False)
    assert (report.late, report.result.samples, report.done) == (0, report.told, False)
    assert report.to_dict()["details"]["extensions"][0]["told"] == report.told
    assert "from an answer within 0.4 (reached)" in " ".join(report.explain().split())
    assert ramgape.Result.from_dict(report.result.to_dict()) == report.result
    if storage is not None:
        with Study.load("coins", storage) as again:
            assert again.report(expect=False) == report
            [listed] = ramgape.list_studies(storage)
            assert (listed.goal.epsilon, listed.done) == (0.2, False)


def test_what_is_there_may_be_enough() -> None:
    data = [(arm, reward_of(arm, seed)) for seed in range(4000) for arm in MEANS]
    study = in_memory(epsilon=0.4, data=data, **BOXES)
    assert study.done
    assert not study.extend(epsilon=0.15)
    assert study.done
    assert study.result(expect=False).stopped == "confidence"
    assert study.ask() == []


@pytest.mark.parametrize("storage", ["sqlite", "postgresql", "http"], indirect=True)  # memory is one process's
def test_others_notice(create: Callable[..., Study], storage: str) -> None:
    """Whoever has the study open goes on with it, with the pulls that are under way."""
    study = create(epsilon=0.4, in_order=False, **BOXES)
    with Study.load("coins", storage) as other:
        held = other.ask(2, worker="other")
        finish(study, 30)
        assert other.done
        assert study.extend(epsilon=0.2)
        assert not other.done
        assert other.spec.search.epsilon == 0.2
        assert other.ask(2, worker="other") == held
        other.tell_many([(pull, reward_of(pull.arm, pull.seed)) for pull in held])
        assert other.extend(epsilon=0.15)
        assert study.spec.search.epsilon == 0.2  # as this process last saw it
        result = finish(study, 30)
        assert study.spec.search.epsilon == 0.15
        assert other.result(expect=False) == result
        assert [each.epsilon for each in result.extensions] == [0.4, 0.2]


def test_creating_an_extended_study_again(tmp_path: Path) -> None:
    """A script that creates, extends and runs may be run again; and so may one that asks for all from the start."""
    place = f"sqlite:///{tmp_path / 'studies.db'}"

    def make(epsilon: float) -> Study:
        options: dict[str, Any] = {"storage": place, "reward_range": (0, 1), "exist_ok": True, **BOXES}
        return Study.create("coins", list(MEANS), epsilon=epsilon, **options)

    make(0.4).extend(epsilon=0.2)
    make(0.4).extend(epsilon=0.2)
    assert len(make(0.2).result(expect=False).extensions) == 1
    with pytest.raises(ramgape.StudyExists, match=r"epsilon is 0.2 in the store, 0.3 here"):
        make(0.3)


def test_a_snapshot_of_before_is_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ramgape.studies import session

    monkeypatch.setattr(session, "SNAPSHOT_EVERY", 20)
    place = f"sqlite:///{tmp_path / 'studies.db'}"
    study = Study.create("coins", list(MEANS), storage=place, reward_range=(0, 1), seed=5, epsilon=0.4, **BOXES)
    finish(study, 30)
    study.extend(epsilon=0.2)
    with Study.load("coins", place) as again:
        assert again.result(expect=False) == study.result(expect=False)
    last = finish(study, 30)
    with Study.load("coins", place) as again:
        assert again.result(expect=False) == last


def test_extending_from_the_shell(tmp_path: Path) -> None:
    place = ["--storage", f"sqlite:///{tmp_path / 'studies.db'}"]
    arms = ["--arm", "a", "--arm", "b", "--reward-range", "0", "1"]
    assert call("study", "create", "coins", *arms, "--budget", "10", *place).exit_code == 0
    said = call("study", "extend", "coins", "--budget", "20", *place)
    assert said.stdout == "Goal now: the best answer after 20 trials; the study goes on.\n"
    told = json.loads(call("study", "extend", "coins", "--budget", "30", "--json", *place).stdout)
    assert told == {"name": "coins", "epsilon": None, "budget": 30, "done": False}
    assert call("study", "extend", "coins", "--budget", "5", *place).exit_code == 2
    shown = call("study", "show", "coins", "--explain", *place).stdout
    assert "from a budget of 10" in " ".join(shown.split())
