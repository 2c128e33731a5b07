"""The answer in a plain sentence: of every task, for every end, and never more than is known."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ramgape
from ramgape.common.formatting import short_names
from ramgape.questions import QUESTIONS
from ramgape.search.quality import Alarm, TrialQuality
from ramgape.search.result import Goal, Result, Stopped, updated
from ramgape.views import as_text
from tests.results import NOT_PULLED, make_arm, make_result

ARMS = ("A", "B", "C", "D")
MEANS = {"A": 0.4, "B": 0.5, "C": 0.7, "D": 0.2}
RISKS = {"A": 0.05, "B": 0.1, "C": 0.15, "D": 0.3}
BUDGET = Goal("budget", epsilon=None, delta=None, budget=400)
STD: dict[str, Any] = {"risk": "std", "risk_label": "standard deviation", "alpha": None, "rho": None}


def four(*front: str, **others: Any) -> Result:
    """Four arms, of which A, B and C are on the front; A is safe, C is good, D is neither."""
    front = front or ("A", "B", "C")
    arms = [make_arm(name, MEANS[name], RISKS[name], "in" if name in front else "out", margin=0.1) for name in ARMS]
    return make_result(*arms, **{"front": front, **STD, **others})


def ended(stopped: Stopped, **others: Any) -> dict[str, Any]:
    return {"stopped": stopped, "goal_reached": stopped in ("confidence", "budget", "complete"), **others}


# --- the Pareto set ---------------------------------------------------------------------------------------------------

WITHIN = "This is right within 0.042 (95% sure)."


def test_a_pareto_set_has_two_ends_a_middle_and_the_rest() -> None:
    words = "Keep C (highest measured mean), B (in between) and A (lowest measured standard deviation)"
    assert four().sentence == f"{words.replace('standard deviation', 'std')}; drop D. {WITHIN}"
    assert four("C").sentence.startswith("Keep C (highest measured mean and lowest measured std); drop ")
    assert " and B and D (in between)" not in four("A", "C").sentence
    cheap = four("A", "D", direction="minimize").sentence
    assert cheap.startswith("Keep D (lowest measured mean) and A (lowest measured std); drop ")


def test_guesses_are_called_so() -> None:
    nothing = four(**ended("cap", certified_epsilon=None, certified_delta=None))
    assert nothing.sentence.startswith("Best guess: C (highest measured mean)")
    assert nothing.sentence.endswith("behind so far: D. Nothing is proved yet.")
    assert nothing.status == "undecided"
    some = four(**ended("cap", certified_epsilon=0.0812, goal_reached=False))
    assert some.sentence.endswith("This is right within 0.082 (95% sure); within 0.05 was asked for.")
    going = four(**ended("open", certified_epsilon=None))
    assert going.sentence.startswith("So far: C ")


def test_a_budget_says_how_sure_it_is() -> None:
    known = four(**ended("budget", goal=BUDGET, certified_epsilon=0.123456, certified_delta=0.05))
    assert known.sentence.startswith("Keep C ")
    assert known.sentence.endswith("drop D. This is right within 0.13 (95% sure).")
    assert known.status == "certified"
    # More than all differences between arms, 0.5 in mean and 0.25 in risk: as good as nothing.
    unknown = four(**ended("budget", goal=BUDGET, certified_epsilon=0.6))
    assert unknown.sentence.startswith("Best guess: C ")
    assert unknown.sentence.endswith("Nothing is proved yet.")
    assert unknown.status == "best guess"


def test_tolerances_chances_and_rigour() -> None:
    assert four(certified_epsilon=0.0).sentence.endswith(" This is right (95% sure).")
    assert four(certified_delta=0.1).sentence.endswith("(90% sure).")
    assert "(about 95% sure)" in four(rigour="approximate").sentence
    units = four(certified_epsilon=0.02, certified_risk_epsilon=0.04)
    assert "right within 0.02 in mean and 0.04 in std" in units.sentence
    complete = four(**ended("complete", certified_epsilon=0.0, certified_delta=0.0))
    assert complete.sentence.endswith("This is exact: every item was asked of every option.")
    assert "(99.99% sure)" in four(certified_delta=1e-9).sentence  # rounded down
    alike = [make_arm("A", 0.5, 0.1), make_arm("B", 0.51, 0.11)]
    assert make_result(*alike, **STD).sentence.endswith("sure), but all options are as close as that.")


def test_drift_is_no_small_print() -> None:
    doubtful = " But the data speak against what that assumes."
    drifting = four(alarms=(Alarm("A", "level", 1e4, 50),), alarm=0.01)
    assert drifting.sentence.endswith(WITHIN + doubtful)
    assert "Data quality: drift: A (level)." in flat(drifting)
    objected = four(guarantee="With probability ... But this assumption is in doubt: 3 times an interval ...")
    assert objected.sentence.endswith(WITHIN + doubtful)
    unproved = four(alarms=drifting.quality.drift, **ended("cap", certified_epsilon=None))
    assert not unproved.sentence.endswith(doubtful)  # where nothing is claimed, nothing is in doubt


def flat(result: Result) -> str:
    return " ".join(str(result).split())


def test_failures_are_one_line() -> None:
    quality = TrialQuality(failures={"A": 3}, timeouts={"C": 1}, missing={"B": {"latency": 2}})
    text = flat(four(quality=quality))
    assert "Data quality: failures: 3 of A; timeouts: 1 of C; missing for B, counted as the worst: 2 of" in text
    assert text.count("unrelated to the reward") == 1


def test_before_the_first_trials() -> None:
    nothing = make_result(make_arm("A", **NOT_PULLED), samples=0, **ended("open", certified_epsilon=None))
    assert nothing.sentence == "Nothing is known yet: there are no trials."
    begun = replace(nothing, trials=1)
    assert begun.sentence == "Nothing is known yet: not every option has had its first trials."


# --- other questions --------------------------------------------------------------------------------------------------

SEARCHES = {
    "pareto": "(highest measured mean)",
    "best": "Choose three. It has the highest mean",
    "best:max-risk=0.2": " has the highest mean of those whose standard deviation is at most 0.2, within ",
    "least-risk": "Choose one. It has the lowest standard deviation",
    "least-risk:min-mean=0.45": " has the lowest standard deviation of those whose mean is at least 0.45, within ",
    "best-score:weight=0.5": " has the highest mean - 0.5 standard deviation, or is within ",
    "top:2": "Choose two and three. They are the 2 options with the highest means",
    "better-than:control=one": "two and three beat one (95% sure).",
    "better-than:control=two": "three beats two: ",
    "better-than:control=three": "Keep three: no option has a mean above that of three by ",
}


def pull(arm: str) -> float:
    """Coins that are certain to fall on alternating sides, 0.1 or 0.3 from their mean."""
    place = ("one", "two", "three").index(arm)
    COUNTS[arm] = COUNTS.get(arm, 0) + 1
    return 0.3 + 0.2 * place + (0.02, 0.15, 0.25)[place] * (-1) ** COUNTS[arm]


COUNTS: dict[str, int] = {}


@pytest.mark.parametrize("question", SEARCHES)
def test_every_question_has_its_sentence(question: str) -> None:
    assert {name.split(":")[0] for name in SEARCHES} == set(QUESTIONS)
    COUNTS.clear()
    options: dict[str, Any] = {"question": question, "reward_range": (0, 1), "drift": None}
    proved = ramgape.identify(pull, ["one", "two", "three"], epsilon=0.1, **options)
    assert SEARCHES[question] in proved.sentence
    assert "(95% sure)" in proved.sentence
    assert proved.status == "certified"
    capped = ramgape.identify(pull, ["one", "two", "three"], epsilon=0.01, max_trials=40, **options)
    assert capped.sentence.startswith(("Best guess: ", "By the estimates "))
    assert capped.status == "undecided"
    for result in (proved, capped):
        assert flat(result).startswith(result.sentence)
        assert result.to_dict()["sentence"] == result.sentence
        assert Result.from_dict(json.loads(result.to_json())).sentence == result.sentence
        assert max(map(len, str(result).split("\n"))) <= 80


def test_an_empty_answer_says_what_no_option_has() -> None:
    question = "the arm with the highest mean of those whose standard deviation is at most 0.02"
    others = {"task": "best:max-risk=0.02", "question": question, "empty_answer": "no arm is feasible"}
    nobody = replace(four(**others), answer=())
    assert nobody.sentence == "No arm is feasible: there is none whose standard deviation is at most 0.02 (95% sure)."
    capped = updated(nobody, stopped="cap", goal_reached=False, empty_answer="no arm is feasible, by the estimates")
    assert capped.sentence.startswith("By the estimates no arm is feasible: there is none ")
    assert capped.sentence.endswith("Nothing is proved yet.")


def test_a_question_from_outside_has_a_sentence_too() -> None:
    said = four("A", "B", task="odd", question="", answer_name="odd ones").sentence
    assert said.startswith("Choose A and B. They are odd ones")


def test_names_stay_in_the_line() -> None:
    arms = [make_arm(name, mean) for mean, name in enumerate(["two\nlines \x1b[31m", "x" * 200])]
    said = make_result(*arms, **STD).sentence
    assert "\n" not in said
    assert "\x1b" not in said
    assert "x" * 41 not in said
    assert max(map(len, short_names(["x" * 200], 40).values())) == 40


def test_analyses_and_studies_say_the_same() -> None:
    rows = [(arm, 0.1 * place + 0.02 * (pull % 5)) for pull in range(40) for place, arm in enumerate(("a", "b"))]
    analysis = ramgape.analyze(rows, reward_range=(0, 1), epsilon=0.1)
    assert analysis.to_dict()["sentence"] == analysis.sentence == analysis.result.sentence
    assert type(analysis).from_dict(analysis.to_dict()).to_dict() == analysis.to_dict()
    with ramgape.Study.create("s", ["a", "b"], reward_range=(0, 1), epsilon=0.1) as study:
        study.tell_many([(asked, 0.5) for asked in study.ask(30)])
        report = study.report()
    assert report.sentence.startswith("So far: ")
    assert report.to_dict()["sentence"] == report.sentence
    assert report.explanation().headlines[1] == report.sentence
    assert str(report).split("\n")[1].startswith("So far: ")


# --- the order of arms ------------------------------------------------------------------------------------------------


def order_of(result: Result) -> list[str]:
    from ramgape.views.sentence import choose_arms

    return [arm.name for arm in choose_arms(result)[0]]


def test_the_answer_comes_first_and_the_nearest_next() -> None:
    margins = {"A": 0.3, "B": 0.1, "C": 0.2, "D": -0.05, "E": None}
    arms = [make_arm(name, 0.5, verdict="out", margin=margin) for name, margin in margins.items()]
    arms += [make_arm("F", 0.4), make_arm("G", 0.6)]
    result = make_result(*arms)
    assert order_of(result) == ["G", "F", "D", "B", "C", "A", "E"]
    assert order_of(updated(result, direction="minimize"))[:2] == ["F", "G"]
    assert order_of(updated(result, control="A"))[:3] == ["A", "G", "F"]
    assert [arm["name"] for arm in result.to_dict()["arms"]] == [*"ABCDEFG"]


@pytest.mark.parametrize(
    ("task", "margins"),
    [
        # In mean and in risk: one is (0.3, 0.02), two (0.5, 0.15), three (0.7, 0.25), by construction.
        ("pareto", {"one": 0.13, "two": 0.1, "three": 0.2}),
        ("best", {"one": 0.4, "two": 0.2, "three": 0.2}),
        ("least-risk", {"one": 0.13, "two": 0.13, "three": 0.23}),
        ("best:max-risk=0.2", {"one": 0.2, "two": 0.05, "three": 0.05}),
        ("better-than:control=one", {"one": 0.0, "two": 0.2, "three": 0.4}),
    ],
)
def test_margins_are_those_of_the_estimates(task: str, margins: dict[str, float]) -> None:
    COUNTS.clear()
    names = list(margins)
    rows = [(name, pull(name)) for name in names for _ in range(400)]
    result = ramgape.analyze(rows, task=task, reward_range=(0, 1), epsilon=0.2, alarm=None).result
    assert {arm.name: arm.margin for arm in result.arms} == pytest.approx(margins, abs=1e-9)


def test_margins_do_not_exist_before_all_arms_are_known() -> None:
    with ramgape.Study.create("s", ["a", "b"], reward_range=(0, 1), epsilon=0.1) as study:
        assert [arm.margin for arm in study.result().arms] == [None, None]


def test_an_analysis_says_what_is_right_without_thin_arms() -> None:
    generator = np.random.default_rng(1)
    counts = {"A": 4000, "B": 4000, "C": 4000, "thin": 40}
    log = {
        name: generator.normal(mean, 1.0, counts[name]) for name, mean in zip(counts, (1.0, 0.0, 0.5, 0.9), strict=True)
    }
    analysis = ramgape.analyze(log, task="best", shared=False)
    assert analysis.without_thin is not None
    assert "Without thin, which has few rows, it is approximately right, with probability 0.95." in analysis.sentence
    assert analysis.to_dict()["sentence"] == analysis.sentence
    assert analysis.sentence in " ".join(str(analysis).split())
    assert "without these it is 0 (approximate), for A." in " ".join(as_text(analysis, full=True).split())
    two = ramgape.analyze({"A": [0.1, 0.9], "B": [0.2, 0.8]}, reward_range=(0, 1))
    assert two.sentence.endswith("Nothing is proved yet.")


def test_plain_text_is_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    result = ramgape.simulate("paper:46", budget=200, seed=1)
    monkeypatch.setenv("COLUMNS", "60")
    assert 60 < max(map(len, str(result).splitlines())) <= 80
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert max(map(len, str(result).splitlines())) <= 60
