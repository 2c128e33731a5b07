"""Answers that come later when they are worse: a study `in_order` counts an arm's answers in the order of its pulls."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

import ramgape
from ramgape import Pull, Study
from tests.support import Clock

ARMS = ["a", "b"]
Make = Callable[..., Study]


@pytest.fixture
def create(storage: str | None) -> Iterator[Make]:
    made: list[Study] = []

    def make(**options: object) -> Study:
        options = {"reward_range": (0, 1), "budget": 40, "policy": "round-robin", "in_order": True, **options}
        made.append(Study.create("ordered", ARMS, storage=storage, **options))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for study in made:
        study.close()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    found.rule(monkeypatch)
    return found


def told(study: Study, tmp_path: Path) -> list[str]:
    """The pulls that count, in their order."""
    study.export_csv(tmp_path / "told.csv")
    return [line.split(",")[-1] for line in (tmp_path / "told.csv").read_text().splitlines()[1:]]


def of_arm(pulls: list[Pull], arm: str) -> list[Pull]:
    return [pull for pull in pulls if pull.arm == arm]


def test_answers_that_come_together_in_the_wrong_order(create: Make, tmp_path: Path) -> None:
    """Held back, and released in the same moment."""
    study = create()
    pulls = of_arm(study.ask(8), "a")
    assert all(study.tell_many([(pull, 0.5) for pull in reversed(pulls)]))
    assert told(study, tmp_path) == [pull.id for pull in pulls]
    assert study.report().held == 0


def test_a_later_attempt_at_a_pull_whose_answer_is_held_back(create: Make, clock: Clock) -> None:
    """The first answer is that of an earlier attempt: whoever made the later one hears that it came too late."""
    study = create()
    first, second = of_arm(study.ask(4, lease=10), "a")
    clock.passes(20)
    again = {pull.id.partition(".")[0]: pull for pull in study.ask(4, lease=10)}[second.id]
    assert study.tell(second, 0.5)
    assert study.report().held == 1
    assert not study.tell(again, 0.75)
    assert not study.fail(again)
    assert not study.give_back(again)
    assert study.renew([again]) == [False]
    assert study.tell(first, 0.25)
    assert study.report().held == 0
    assert not study.tell(again, 0.75)


def test_an_answer_waits_for_the_earlier_ones_of_its_arm(create: Make, tmp_path: Path) -> None:
    study = create()
    pulls = study.ask(8)
    a, b = of_arm(pulls, "a"), of_arm(pulls, "b")
    assert all(study.tell(pull, 0.5) for pull in (a[2], a[1], b[0]))
    report = study.report()
    assert (report.told, report.held, report.pending) == (1, 2, 5)
    assert report.to_dict()["held"] == 2
    assert told(study, tmp_path) == [b[0].id]
    study.tell_many([(a[3], 0.25), (a[0], 0.75)])
    assert told(study, tmp_path) == [pull.id for pull in (b[0], *a)]
    assert (study.report().held, study.report().pending) == (0, 3)


def test_what_is_held_has_been_answered(create: Make) -> None:
    study = create()
    first, second = of_arm(study.ask(4, worker="ada"), "a")
    assert study.tell(second, 0.5)
    assert study.tell(second, 0.5)  # again, after a lost reply
    with pytest.raises(ramgape.ChangedAnswer, match=r"must be 0.5, as it was told before, got 0.75"):
        study.tell(second, 0.75)
    assert not study.fail(second)
    assert not study.give_back(second)
    assert study.renew([first, second]) == [True, False]
    assert second not in study.ask(9, worker="ada")
    assert study.leave("ada") >= 1
    assert study.report().held == 1
    assert study.report().told == 0


def test_a_held_answer_of_an_earlier_attempt(create: Make, tmp_path: Path) -> None:
    """Whoever has the later attempt comes too late, and is no stranger for that."""
    study = create()
    pulls = study.ask(4)
    first, second = of_arm(pulls, "a")
    for pull in pulls:
        study.give_back(pull)
    again = {pull.id.partition(".")[0]: pull for pull in study.ask(4)}
    assert study.tell(second, 0.5)
    assert not study.tell(again[second.id], 0.25)
    assert study.tell(again[first.id], 0.75)
    assert not study.tell(again[second.id], 0.25)
    assert study.tell(second, 0.5)
    assert told(study, tmp_path) == [f"{first.id}.2", second.id]


def test_others_see_what_is_held_and_go_on_with_it(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'studies.db'}"
    study = Study.create(
        "ordered", ARMS, storage=url, reward_range=(0, 1), budget=40, policy="round-robin", in_order=True
    )
    first, second = of_arm(study.ask(4), "a")
    other = Study.load("ordered", url)
    assert other.tell(second, 0.5)
    assert study.report().held == other.report().held == Study.load("ordered", url).report().held == 1
    assert Study.load("ordered", url).tell(first, 0.25)
    assert told(study, tmp_path) == told(other, tmp_path) == [first.id, second.id]


def test_a_failure_lets_the_others_go(create: Make, tmp_path: Path) -> None:
    """Given up after its last retry; before that the pull is tried again, and waited for."""
    study = create(retries=1)
    first, second = of_arm(study.ask(4), "a")
    study.tell(second, 0.5)
    study.fail(first)
    assert told(study, tmp_path) == []
    (again,) = study.ask()
    assert again.id == f"{first.id}.2"
    study.fail(again)
    assert told(study, tmp_path) == [second.id]


def test_a_failure_that_counts_waits_its_turn(create: Make, tmp_path: Path) -> None:
    study = create(failure="worst")
    first, second = of_arm(study.ask(4), "a")
    assert study.fail(second)
    assert study.fail(second)
    assert (study.report().told, study.report().held) == (0, 1)
    study.tell(first, 0.5)
    assert told(study, tmp_path) == [first.id, second.id]
    assert study.result().arms[0].mean == 0.25


def test_after_the_end_nothing_is_held(create: Make) -> None:
    study = create(budget=None, epsilon=0.3, policy="auto")
    (early, late) = of_arm(study.ask(4), "a")
    assert study.tell(late, 0.5)
    while not study.done:
        study.observe("a", 0.9)
        if not study.done:
            study.observe("b", 0.1)
    assert (study.report().held, study.report().late) == (0, 1)
    assert not study.ask()
    assert study.tell(early, 0.5).accepted
    assert study.report().late == 2


def test_a_budget_is_spent_to_the_last_pull(create: Make) -> None:
    study = create(budget=12)
    generator = np.random.default_rng(1)
    under_way: list[Pull] = []
    while not study.done:
        under_way += study.ask(3)
        assert under_way
        study.tell(under_way.pop(int(generator.integers(len(under_way)))), 0.5)
    assert (study.report().told, study.report().held, study.report().pending) == (12, 0, 0)


def test_an_expired_lease_can_count_as_a_failure(create: Make, clock: Clock, tmp_path: Path) -> None:
    """Otherwise whoever is slower than a lease drops out, and the rest looks better than the arm is."""
    study = create(failure="worst", expired="fail")
    (slow,) = study.ask(lease=10)
    clock.passes(11)
    (_, *_) = study.ask(2)
    report = study.report()
    assert (report.failed, report.told) == (1, 1)
    assert report.failures[0].reason == "its lease ran out"
    assert not study.tell(slow, 0.5)  # too late, and no error
    assert study.report().told == 1
    assert told(study, tmp_path) == [slow.id]


def test_what_the_options_may_be(tmp_path: Path) -> None:
    def create(**options: object) -> Study:
        return Study.create("wrong", ARMS, reward_range=(0, 1), epsilon=0.05, **options)  # type: ignore[arg-type]

    with pytest.raises(ramgape.InvalidSpec, match="expired must be 'retry' unless failure is 'worst'"):
        create(expired="fail")
    with pytest.raises(ramgape.UnknownName, match="expired must be one of retry, fail, got 'never'"):
        create(expired="never")
    with pytest.raises(ramgape.InvalidSpec, match="in_order must be true or false, got 1"):
        create(in_order=1)


@pytest.mark.parametrize("in_order", [False, True])
def test_slow_and_bad(in_order: bool) -> None:
    """Rewards 0 or 1 with equal chances, the zeros after all ones: 20 pulls under way, the ones told first.

    In order, the interval holds 1/2 but with probability 0.05; without, it never does.
    """
    missed = 0
    for seed in range(10):
        generator = np.random.default_rng(seed)
        study = Study.create("slow", ARMS, reward_range=(0, 1), epsilon=0.05, policy="round-robin", in_order=in_order)
        waiting: list[tuple[Pull, float]] = []
        for _ in range(40):
            new = [(pull, float(generator.integers(2))) for pull in study.ask(20)]
            waiting += [(pull, reward) for pull, reward in new if not reward]
            for pull, reward in new:
                if reward:
                    study.tell(pull, reward)
            if len(waiting) > 400:
                study.tell_many(waiting[:100])
                del waiting[:100]
        missed += any(not low <= 0.5 <= high for low, high in (arm.mean_interval for arm in study.result().arms))
    # With in_order at most 0.05 each: 7 or more of 10 with a chance below 1e-7.
    assert missed <= 6 if in_order else missed == 10
