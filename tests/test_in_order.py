"""Results that come later when they are worse: a study counts results in the order of asking, over all arms."""

from __future__ import annotations

import csv
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
        options = {"reward_range": (0, 1), "budget": 40, "policy": "round-robin", **options}
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
    with (tmp_path / "told.csv").open(newline="") as file:
        return [row["pull"] for row in csv.DictReader(file)]


def test_answers_that_come_together_in_the_wrong_order(create: Make, tmp_path: Path) -> None:
    """Held back, and released in the same moment."""
    study = create()
    pulls = study.ask(8)
    assert all(study.tell_many([(pull, 0.5) for pull in reversed(pulls)]))
    assert told(study, tmp_path) == [pull.id for pull in pulls]
    assert study.report().held == 0


def test_a_later_attempt_at_a_pull_whose_answer_is_held_back(create: Make, clock: Clock) -> None:
    """The first answer is that of an earlier attempt: whoever made the later one hears that it came too late."""
    study = create()
    first, second = study.ask(2, lease=10)
    clock.passes(20)
    first, again = study.ask(2, lease=10)
    assert study.tell(second, 0.5)
    assert study.report().held == 1
    assert not study.tell(again, 0.75)
    assert not study.fail(again)
    assert not study.give_back(again)
    assert study.renew([again]) == [False]
    assert study.tell(first, 0.25)
    assert study.report().held == 0
    assert not study.tell(again, 0.75)


def test_an_answer_waits_for_the_earlier_ones_of_all_arms(create: Make, tmp_path: Path) -> None:
    study = create()
    pulls = study.ask(6)
    assert {pull.arm for pull in pulls} == set(ARMS)
    assert all(study.tell(pulls[place], 0.5) for place in (2, 1, 4))
    report = study.report()
    assert (report.told, report.held, report.pending) == (0, 3, 3)
    assert report.to_dict()["study"]["held"] == 3
    assert "3 waiting for earlier trials" in " ".join(str(report).split())
    study.tell(pulls[0], 0.25)
    assert told(study, tmp_path) == [pull.id for pull in pulls[:3]]
    study.tell_many([(pulls[5], 0.25), (pulls[3], 0.75)])
    assert told(study, tmp_path) == [pull.id for pull in pulls]
    assert (study.report().held, study.report().pending) == (0, 0)


def test_a_study_may_count_as_results_come_in(create: Make, tmp_path: Path) -> None:
    """Its results then say what that assumes, as soon as one has overtaken another."""
    study = create(in_order=False, budget=None, epsilon=0.4)
    pulls = study.ask(20)
    study.tell_many([(pull, float(pull.arm == "a")) for pull in pulls])
    assert study.result().conditions == []
    while pulls := study.ask(4):
        study.tell_many([(pull, float(pull.arm == "a")) for pull in reversed(pulls)])
    result = study.result()
    words = "the time a trial takes is unrelated to its reward (results counted as they came in)"
    assert result.goal_reached
    assert result.conditions == [words]
    assert words in " ".join(str(result).split())
    assert f", and if {words}: " in result.guarantee
    assert any(words in warning for warning in result.warnings)
    assert result.to_dict()["quality"]["overtaken"]


def test_what_is_held_has_been_answered(create: Make) -> None:
    study = create()
    first, second, *_ = study.ask(4, worker="ada")
    assert study.tell(second, 0.5)
    assert study.tell(second, 0.5)  # again, after a lost reply
    with pytest.raises(ramgape.ChangedAnswer, match=r"must be 0.5, as reported before, got 0.75"):
        study.tell(second, 0.75)
    assert not study.fail(second)
    assert not study.give_back(second)
    assert study.renew([first, second]) == [True, False]
    assert second not in study.ask(9, worker="ada")
    assert (study.report().told, study.report().held) == (0, 1)
    assert study.leave("ada") >= 1  # nothing that it waits for is under way any longer
    assert (study.report().told, study.report().held) == (1, 0)


def test_a_held_answer_of_an_earlier_attempt(create: Make, tmp_path: Path) -> None:
    """Whoever has the later attempt comes too late, and is no stranger for that."""
    study = create()
    first, second = pulls = study.ask(2)
    for pull in pulls:
        study.give_back(pull)
    again = {pull.id.partition(".")[0]: pull for pull in study.ask(2)}
    assert study.tell(second, 0.5)
    assert not study.tell(again[second.id], 0.25)
    assert study.tell(again[first.id], 0.75)
    assert not study.tell(again[second.id], 0.25)
    assert study.tell(second, 0.5)
    assert told(study, tmp_path) == [f"{first.id}.2", second.id]


def test_others_see_what_is_held_and_go_on_with_it(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'studies.db'}"
    study = Study.create("ordered", ARMS, storage=url, reward_range=(0, 1), budget=40, policy="round-robin")
    first, second = study.ask(2)
    other = Study.load("ordered", url)
    assert other.tell(second, 0.5)
    assert study.report().held == other.report().held == Study.load("ordered", url).report().held == 1
    assert Study.load("ordered", url).tell(first, 0.25)
    assert told(study, tmp_path) == told(other, tmp_path) == [first.id, second.id]


def test_a_failure_is_passed_over(create: Make, tmp_path: Path) -> None:
    """The results behind it count, and the next attempt counts as asked for after them."""
    study = create(retries=1)
    first, second, third, fourth = study.ask(4)
    assert study.tell(second, 0.5)
    assert told(study, tmp_path) == []
    study.fail(first)
    assert told(study, tmp_path) == [second.id]
    again, fifth = study.ask(2)
    assert again.id == f"{first.id}.2"
    study.tell_many([(fifth, 0.5), (again, 0.5), (third, 0.5)])
    assert told(study, tmp_path) == [second.id, third.id]
    study.tell(fourth, 0.5)
    assert told(study, tmp_path) == [pull.id for pull in (second, third, fourth, again, fifth)]
    assert study.result().quality.failures == {first.arm: 1}


def test_a_pull_that_was_given_up_is_passed_over(create: Make, tmp_path: Path) -> None:
    """An answer that comes all the same counts after those to pulls under way."""
    study = create(retries=0)
    first, second, third = study.ask(3)
    study.fail(first)
    study.tell(first, 0.25)
    assert (study.report().given_up, study.report().held) == (0, 1)
    study.tell(third, 0.5)
    study.tell(second, 0.5)
    assert told(study, tmp_path) == [pull.id for pull in (second, third, first)]


@pytest.mark.parametrize("gone", ["expired", "given back", "left", "lost"])
def test_a_worker_that_vanishes_is_passed_over(
    create: Make, clock: Clock, tmp_path: Path, gone: str, storage: str | None
) -> None:
    study = create()
    (first,) = study.ask(worker="ada", lease=10)
    second, third = study.ask(2, worker="ben")
    study.tell(second, 0.5)
    assert told(study, tmp_path) == []
    if gone == "expired":
        clock.passes(20)
        study.tell(third, 0.5)
        assert told(study, tmp_path) == [second.id, third.id]
    else:
        {
            "given back": lambda: study.give_back(first),
            "left": lambda: study.leave("ada"),
            "lost": lambda: study.exchange(lost=[first], count=0),
        }[gone]()
        assert told(study, tmp_path) == [second.id]
        study.tell(third, 0.5)
    again, fifth = study.ask(2, worker="ben")
    assert again.id == f"{first.id}.2"
    if storage is not None:  # another process knows the same order
        study = Study.load("ordered", storage)
    study.tell(fifth, 0.5)
    assert study.report().held == 1
    study.tell(again, 0.5)
    assert told(study, tmp_path) == [pull.id for pull in (second, third, again, fifth)]
    quality = study.result().quality
    assert quality.expired == ({first.arm: 1} if gone == "expired" else {})
    assert quality.lost == ({first.arm: 1} if gone == "lost" else {})


def test_a_result_that_is_told_after_its_lease_has_expired(create: Make, clock: Clock, tmp_path: Path) -> None:
    """It is not lost: it counts after the results that did not wait for it."""
    study = create()
    slow, second = study.ask(2, lease=10)
    clock.passes(20)
    study.tell(second, 0.5)
    (third,) = study.ask(worker="ben")  # the one that expired, again
    assert third.id == f"{slow.id}.2"
    assert study.tell(slow, 0.25)
    assert not study.tell(third, 0.75)
    assert told(study, tmp_path) == [second.id, slow.id]


def test_a_renewed_lease_is_waited_for(create: Make, clock: Clock, tmp_path: Path) -> None:
    study = create()
    first, second = study.ask(2, lease=10)
    for _ in range(3):
        clock.passes(8)
        assert study.renew([first], 10) == [True]
    study.tell(second, 0.5)
    assert (told(study, tmp_path), study.report().held) == ([], 1)
    assert study.result().quality.expired == {}


def test_trials_made_elsewhere_wait_for_nothing(create: Make) -> None:
    study = create()
    first, second = study.ask(2)
    study.tell(second, 0.5)
    study.observe("a", 0.25)
    assert (study.report().told, study.report().held) == (1, 1)
    study.tell(first, 0.5)
    assert study.report().told == 3


def test_an_arm_that_was_retired_is_not_waited_for() -> None:
    study = Study.create("ordered", ["a", "b", "c"], reward_range=(0, 1), epsilon=0.01, expected_arms=4)
    pulls = study.ask(6)
    gone = [pull for pull in pulls if pull.arm == pulls[0].arm]
    study.retire(pulls[0].arm)
    rest = [pull for pull in pulls if pull not in gone]
    study.tell_many([(pull, 0.5) for pull in rest])
    assert (study.report().told, study.report().held) == (len(rest), 0)
    study.tell_many([(pull, 0.5) for pull in gone])
    assert study.report().told == 6


def test_ten_thousand_in_progress_told_backwards() -> None:
    study = Study.create("many", ARMS, reward_range=(0, 1), budget=20_000, policy="round-robin")
    pulls = study.ask(10_000)
    study.tell_many([(pull, 0.5) for pull in reversed(pulls[1:])])
    assert (study.report().told, study.report().held) == (0, 9_999)
    study.tell(pulls[0], 0.5)
    assert (study.report().told, study.report().held) == (10_000, 0)


def test_a_failure_that_counts_waits_its_turn(create: Make, tmp_path: Path) -> None:
    study = create(failure="worst")
    first, second = study.ask(2)
    assert study.fail(second)
    assert study.fail(second)
    assert (study.report().told, study.report().held) == (0, 1)
    study.tell(first, 0.5)
    assert told(study, tmp_path) == [first.id, second.id]
    result = study.result()
    assert result.arm(second.arm).mean == 0.0
    assert (result.quality.failures, result.conditions) == ({second.arm: 1}, [])  # it counts: nothing replaced it


def test_after_the_end_nothing_is_held(create: Make) -> None:
    study = create(budget=None, epsilon=0.3, policy="auto")
    early, late = study.ask(2)
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


def test_a_trial_without_a_lease_is_named_while_results_wait_for_it(create: Make, clock: Clock, tmp_path: Path) -> None:
    """It is never passed over; released, it counts as asked for last, and the study goes on."""
    study = create(budget=6)
    (lost,) = study.ask(1, lease=None, worker="node-7")
    later = study.ask(3)
    assert study.report().waits_for is None  # nothing waits yet
    study.tell_many([(pull, 0.5) for pull in later])
    clock.passes(1e9)
    report = study.report()
    assert (report.held, report.waits_for) == (3, (lost.id, lost.arm, "node-7"))
    assert f"trial {lost.id} ({lost.arm}, worker node-7): report it, or release it" in " ".join(str(report).split())
    assert ramgape.Report.from_dict(report.to_dict()).waits_for == report.waits_for
    study.give_back(lost.id)
    assert (study.report().held, study.report().waits_for) == (0, None)
    study.run(lambda arm, generator: 0.5, progress=False)
    assert told(study, tmp_path)[:3] == [pull.id for pull in later]
    assert study.done


@pytest.mark.parametrize("worker", ["ada", None])
def test_a_trial_with_a_lease_is_named_if_no_worker_has_it(create: Make, clock: Clock, worker: str | None) -> None:
    """A named worker reports it or comes back for it. Asked for by hand, it may be forgotten until its lease ends."""
    study = create()
    (first,) = study.ask(1, lease=10, worker=worker)
    study.tell(study.ask(1)[0], 0.5)
    report = study.report()
    assert (report.held, report.waits_for) == (1, None if worker else (first.id, first.arm, None))
    assert ("ramgape study release" in str(report)) is (worker is None)
    clock.passes(11)
    study.ask(1)
    assert (study.report().held, study.report().waits_for) == (0, None)
