"""Operations that share a transaction: each counts, or fails, by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import ramgape
from ramgape import Study
from ramgape.studies.local import LocalBackend
from tests.stores import HERE

pytestmark = HERE


@pytest.fixture
def study(storage: str | None) -> Study:
    return Study.create("shared", ["a", "b", "c"], storage=storage, reward_range=(0, 1), budget=200, retries=0)


def commits(desk: LocalBackend, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What grows by one with every commit."""
    made: list[int] = []
    commit = desk.session.store.commit
    monkeypatch.setattr(desk.session.store, "commit", lambda: (made.append(1), commit())[1])
    return made


def made_together(study: Study, *operations: Callable[[], Any]) -> list[Any]:
    desk = study.backend
    assert isinstance(desk, LocalBackend)
    return desk.together(operations)


def test_many_operations_are_one_transaction(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = commits(study.backend, monkeypatch)  # type: ignore[arg-type]
    first, second = study.ask(2, "one")
    before = len(counted)
    told, asked, done, observed = made_together(
        study,
        lambda: study.tell(first, 0.5),
        lambda: study.ask(1, "other"),
        lambda: study.done,
        lambda: study.observe("b", 0.25),
    )
    assert len(counted) == before + 1
    assert (told.accepted, len(asked), done, observed.accepted) == (True, 1, False, True)
    assert study.report(expect=False).told == 2
    assert {pull.id for pull in asked}.isdisjoint({first.id, second.id})


def test_a_pull_may_be_made_and_changed_in_one_transaction(study: Study) -> None:
    """A worker asks again before it has an answer, or leaves; a store had no row to change, and refused them all."""
    (first,), (again,), other = made_together(
        study, lambda: study.ask(1, "one"), lambda: study.ask(1, "one"), lambda: study.ask(1, "other")
    )
    assert first == again != other[0]
    asked, left, later = made_together(
        study, lambda: study.ask(1, "third"), lambda: study.leave("third"), lambda: study.ask(1, "fourth")
    )
    assert left == 1
    assert later[0].id == f"{asked[0].id}.2"  # a further attempt
    assert made_together(study, lambda: study.renew([first], 60.0), lambda: study.tell(first, 0.5))[0] == [True]
    if study.backend.durable:  # another process reads what this one knows
        seen = Study.load("shared", study.backend.storage)
        assert seen.ask(1, "fourth")[0].id == later[0].id
        assert seen.report(expect=False).pending == study.report(expect=False).pending == 2


def test_a_pull_may_be_made_and_fail_in_one_transaction(storage: str | None) -> None:
    study = Study.create(
        "worst", ["a", "b"], storage=storage, reward_range=(0, 1), budget=9, failure="worst", expired="fail"
    )
    made_together(study, lambda: study.ask(1, lease=1e-13), lambda: study.ask(1, lease=3600.0))
    report = study.report(expect=False)
    assert (report.told, report.failed, report.pending) == (1, 1, 1)


def test_an_error_belongs_to_its_operation(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = commits(study.backend, monkeypatch)  # type: ignore[arg-type]
    first, second = study.ask(2)
    before = len(counted)
    outcomes = made_together(
        study,
        lambda: study.tell(first, 0.5),
        lambda: study.tell(second, 7.0),
        lambda: study.tell(first, 0.75),
        lambda: study.tell(second, 0.25),
    )
    assert [type(each).__name__ for each in outcomes] == ["Answer", "InvalidReward", "ChangedAnswer", "Answer"]
    assert len(counted) == before + 1
    assert study.report(expect=False).told == 2


def test_one_that_fails_halfway_takes_nobody_with_it(study: Study) -> None:
    """Its answer is taken in before its failure turns out to be of another study: then each is made by itself."""
    first, second, third = study.ask(3)
    other = Study.create("other", ["a", "b"], reward_range=(0, 1), budget=9).ask()[0]
    outcomes = made_together(
        study,
        lambda: study.tell(first, 0.5),
        lambda: study.exchange([(second, 0.5)], failed=[(other, "mine?")]),
        lambda: study.tell(third, 0.25),
    )
    assert [type(each).__name__ for each in outcomes] == ["Answer", "UnknownPull", "Answer"]
    report = study.report(expect=False)
    assert (report.told, report.held) == (1, 1)  # the third waits for the second
    assert study.tell(second, 0.75).accepted


def test_a_mistake_of_ours_takes_nobody_with_it(study: Study) -> None:
    (first,) = study.ask()

    def mistaken() -> None:
        study.observe("a", 0.5)
        raise ZeroDivisionError

    outcomes = made_together(study, lambda: study.tell(first, 0.5), mistaken, lambda: study.observe("b", 0.5))
    assert [type(each).__name__ for each in outcomes] == ["Answer", "ZeroDivisionError", "Answer"]
    # By itself, what it had observed before its mistake was a transaction of its own.
    assert study.report(expect=False).told == 3


def test_all_hear_of_a_store_that_fails(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    first, second = study.ask(2)
    with monkeypatch.context() as patch:

        def fail() -> None:
            raise ramgape.StorageUnavailable("the disk is full")

        patch.setattr(study.backend.session.store, "commit", fail)  # type: ignore[attr-defined]
        outcomes = made_together(study, lambda: study.tell(first, 0.5), lambda: study.tell(second, 0.5))
    assert [type(each).__name__ for each in outcomes] == ["StorageUnavailable"] * 2
    assert study.report(expect=False).told == 0
    assert study.tell(first, 0.5).accepted


def test_a_request_with_a_key_is_made_once(study: Study) -> None:
    desk = study.backend
    assert isinstance(desk, LocalBackend)
    answers = [desk.once("key", "digest", lambda: str(study.observe("a", 0.5).accepted)) for _ in range(2)]
    shared = made_together(study, *[lambda: desk.once("other", "digest", lambda: str(study.ask()[0].id))] * 2)
    assert answers == ["True"] * 2
    assert shared[0] == shared[1]
    assert study.report(expect=False).told == study.report(expect=False).pending == 1
    with pytest.raises(ramgape.KeyReused, match="that of another request"):
        desk.once("key", "another", str)


def test_many_observations_at_once(study: Study) -> None:
    answers = study.observe_many([("a", 0.5), ("b", ramgape.Outcome(0.25, info={"seen": 1}))])
    assert [each.accepted for each in answers] == [True, True]
    with pytest.raises(ramgape.InvalidReward, match=r"trials\[1\]: reward must be .* for arm 'b'$"):
        study.observe_many([("a", 0.5), ("b", 2.0)])
    with pytest.raises(ramgape.UnknownName, match=r"trials\[0\]: arm must be one of a, b, c"):
        study.observe_many([("d", 0.5)])
    with pytest.raises(ramgape.BudgetSpent):
        study.observe_many([("a", 0.5)] * 199)
    assert study.observe_many([]) == []
    assert study.report(expect=False).told == 2


def test_an_error_says_which_answer_is_meant(study: Study) -> None:
    first, second = study.ask(2)
    with pytest.raises(ramgape.InvalidReward, match=r"answers\[1\]: reward must be a number from 0 to 1"):
        study.tell_many([(first, 0.5), (second, 2.0)])
