"""Studies on test sets: who gets which item, in which order answers count, and what becomes of items that fail."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import ramgape
from ramgape import Items, Pull, Study
from ramgape.errors import FailingArm, InvalidSpec
from ramgape.studies.specification import StudySpec, make_study_spec
from tests.cli_support import call, call_json, complaint
from tests.items import digits

NAMES, ITEMS, SCORES = digits(40)
KNOWN = {name: dict(zip(ITEMS, row.tolist(), strict=True)) for name, row in zip(NAMES, SCORES, strict=True)}
ASKED: dict[str, Any] = {"reward_range": (0, 1), "epsilon": 0.1, "task": "best", "seed": 3}
Make = Callable[..., Study]


@pytest.fixture
def create(storage: str | None) -> Iterator[Make]:
    made: list[Study] = []

    def make(**options: Any) -> Study:
        made.append(Study.create("exam", NAMES, storage=storage, **{**ASKED, "items": ITEMS, **options}))
        return made[-1]

    yield make
    for study in made:
        study.close()


def answer(pull: Pull) -> float:
    return KNOWN[pull.arm][pull.item]


def test_a_study_does_what_identify_does(create: Make) -> None:
    """One pull at a time, the same items in the same order, and the same answer."""
    study = create()
    while pulls := study.ask():
        study.tell(pulls[0], answer(pulls[0]))
    found = study.result()
    alone = ramgape.identify(lambda arm, item: KNOWN[arm][item], NAMES, items=ITEMS, **ASKED)
    assert (found.front, found.samples, found.stopped) == (alone.front, alone.samples, alone.stopped)
    assert [arm.mean_interval for arm in found.arms] == [arm.mean_interval for arm in alone.arms]


def test_an_opened_study_goes_on_with_the_same_items(create: Make, storage: str | None) -> None:
    study = create()
    asked: list[tuple[str, object]] = []
    while pulls := study.ask(3):
        asked += [(pull.arm, pull.item) for pull in pulls]
        study.tell_many([(pull, answer(pull)) for pull in pulls])
        if storage is not None:
            study.close()
            study = Study.load("exam", storage)
    assert len(set(asked)) == len(asked)
    order = [ITEMS[number] for number in Items(ITEMS).order(3)]
    for name in NAMES:
        taken = [item for arm, item in asked if arm == name]
        assert taken == order[: len(taken)]
    study.close()


def test_answers_count_in_the_order_of_items(create: Make) -> None:
    study = create(epsilon=0.0)
    pulls = study.ask(60)
    for pull in reversed(pulls):
        study.tell(pull, answer(pull))
    report = study.report(expect=False)
    assert report.held == 0
    order = [ITEMS[number] for number in Items(ITEMS).order(3)]
    for arm in report.result.arms:
        first = [KNOWN[arm.name][item] for item in order[: arm.pulls]]
        assert arm.mean == pytest.approx(sum(first) / len(first))


def test_an_item_that_was_given_up_keeps_later_ones_waiting(create: Make) -> None:
    """It is tried again; were it left out, two arms would be compared on different items."""
    study = create(retries=0, epsilon=0.0)
    pulls = study.ask(40)
    arm = pulls[0].arm
    first, *later = [pull for pull in pulls if pull.arm == arm]
    study.fail(first, "no answer")
    for pull in pulls:
        if pull is not first:
            study.tell(pull, answer(pull))
    counted = {found.name: found.pulls for found in study.result("open").arms}
    assert counted[arm] == 0
    assert study.report(expect=False).held == len(later)

    def ask_on() -> None:
        for _ in range(1000):
            (pull,) = study.ask()
            study.tell(pull, answer(pull))

    with pytest.raises(FailingArm):
        ask_on()
    assert study.retry() == 1
    (again,) = study.ask(1)
    assert (again.arm, again.item) == (arm, first.item)
    study.tell(again, answer(again))
    assert {found.name: found.pulls for found in study.result("open").arms}[arm] == 1 + len(later)


def test_a_late_answer_to_an_item_that_was_given_up(create: Make) -> None:
    """It is held back if an earlier one is missing still."""
    study = create(retries=0, epsilon=0.0)
    pulls = study.ask(60)
    first, second, third = [pull for pull in pulls if pull.arm == pulls[0].arm][:3]
    study.fail(second, "no answer")
    study.tell(third, answer(third))
    assert study.tell(second, answer(second))
    assert study.report(expect=False).held == 2
    for pull in pulls[: pulls.index(third)]:
        if pull != second:
            study.tell(pull, answer(pull))
    assert study.report(expect=False).held == 0
    assert {arm.name: arm.pulls for arm in study.result("open").arms}[first.arm] == 3


def test_failures_may_count_as_the_worst_score(create: Make) -> None:
    study = create(failure="worst", epsilon=0.0)
    (pull,) = study.ask()
    study.fail(pull, "no answer")
    assert study.result("open").arm(pull.arm).mean == 0.0


def test_nothing_but_answers_to_its_own_questions(create: Make) -> None:
    study = create()
    with pytest.raises(InvalidSpec, match="results of trials that the study handed out, since items have an order"):
        study.observe(NAMES[0], 1.0)
    with pytest.raises(InvalidSpec, match="results of trials that the study handed out, since items have an order"):
        create(data=[(NAMES[0], 1.0)])


def test_a_whole_study_is_exact(create: Make) -> None:
    study = create(epsilon=0.0, task="pareto", items=ITEMS[:12])
    study.run(lambda arm, item: KNOWN[arm][item], workers=4, progress=False)
    result = study.result()
    if result.samples == 120:
        assert result.stopped == "complete"
    assert study.done
    assert result.goal_reached


def test_a_budget_ends_with_the_items(create: Make) -> None:
    study = create(epsilon=None, budget=30)
    with pytest.raises(InvalidSpec, match="budget must be at most 400"):
        study.extend(budget=401)
    assert study.extend(budget=400)


def test_exports_have_the_items(create: Make, tmp_path: Path) -> None:
    study = create()
    pulls = study.ask(4)
    study.tell_many([(pull, answer(pull)) for pull in pulls])
    study.export_csv(tmp_path / "told.csv")
    with (tmp_path / "told.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [ITEMS[int(row["item"])] for row in rows] == [pull.item for pull in pulls]


def test_specifications_keep_items() -> None:
    options: Any = {**ASKED, "items": Items(["a", 2, {"question": "why?"}], repeats=3)}
    spec = make_study_spec(["x", "y"], options)
    again = StudySpec.from_text(spec.to_text())
    assert again == spec
    assert again.search.items is not None
    assert again.search.items.values[2] == {"question": "why?"}
    without = make_study_spec(["x", "y"], {**ASKED, "items": None})  # type: ignore[typeddict-item]
    assert "items" not in json.loads(without.to_text())["search"]  # older programs can read it
    with pytest.raises(InvalidSpec, match="items must be what JSON has"):
        make_study_spec(["x", "y"], {**ASKED, "items": [object(), object()]})  # type: ignore[typeddict-item]


def test_the_shell_asks_for_items(tmp_path: Path) -> None:
    store = f"sqlite:///{tmp_path / 'store.db'}"
    (tmp_path / "questions.txt").write_text("2 + 2\n\n3 * 3\n7 - 1\n")
    arguments = ("study", "create", "exam", "--arm", "A", "--arm", "B", "--items", str(tmp_path / "questions.txt"))
    created = call(*arguments, "--reward-range", "0", "1", "--epsilon", "0.1", "--seed", "1", "--storage", store)
    assert created.exit_code == 0, created.output
    asked = call_json("study", "ask", "exam", "--count", "2", "--storage", store)
    assert {pull["item"] for pull in asked["pulls"]} <= {"2 + 2", "3 * 3", "7 - 1"}
    plain = call("study", "ask", "exam", "--count", "1", "--storage", store)
    assert plain.stdout.strip().split("\t")[3] in {'"2 + 2"', '"3 * 3"', '"7 - 1"'}
    wrong = complaint(*arguments[:-1], str(tmp_path / "none.txt"), "--reward-range", "0", "1", "--epsilon", "0.1")
    assert "a file with items must be an existing file" in wrong


def test_commands_get_their_item(tmp_path: Path) -> None:
    """As one word, whatever is in it."""
    (tmp_path / "items.json").write_text(json.dumps(["it's", "$HOME", {"a": 1}, "x; exit 1", "two\nlines"]))
    (tmp_path / "exam.toml").write_text(
        """
        [study]
        epsilon = 0.0
        reward_range = [0, 1]
        items = "items.json"
        task = "best"
        [arms]
        words = ["python3", "-c", "import sys; print(len(sys.argv[1]) / 10)", "{item}"]
        shell = "printf '%s' {item} | wc -c | awk '{print $1 / 20}'"
        """
    )
    store = f"sqlite:///{tmp_path / 'store.db'}"
    found = call_json("run", str(tmp_path / "exam.toml"), "--storage", store)
    means = {arm["name"]: arm["objectives"]["mean(reward)"]["estimate"] for arm in found["arms"]}
    assert found["answer"] == ["words"]
    if found["details"]["stopped"] == "complete":
        lengths = [4, 5, 8, 9, 9]
        assert means == pytest.approx({"words": sum(lengths) / 50, "shell": sum(lengths) / 100})
