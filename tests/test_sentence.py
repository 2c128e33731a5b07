"""The answer in a plain sentence: of every task, for every end, and never more than is known."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any, get_args

import numpy as np
import pytest

import ramgape
from ramgape.common.formatting import short_names
from ramgape.questions import QUESTIONS
from ramgape.search.result import Alarm, Goal, Result, Stopped
from tests.results import NOT_PULLED, make_arm, make_result

ARMS = ("A", "B", "C", "D")
MEANS = {"A": 0.4, "B": 0.5, "C": 0.7, "D": 0.2}
RISKS = {"A": 0.05, "B": 0.1, "C": 0.15, "D": 0.3}
BUDGET = Goal("budget", epsilon=None, delta=None, budget=400)
STD: dict[str, Any] = {"risk": "std", "risk_label": "standard deviation", "alpha": None, "rho": None}
SURE = "This is right within 0.05, with probability 0.95."


def four(*front: str, **others: Any) -> Result:
    """Four arms, of which A, B and C are on the front; A is safe, C is good, D is neither."""
    front = front or ("A", "B", "C")
    arms = [make_arm(name, MEANS[name], RISKS[name], "in" if name in front else "out", margin=0.1) for name in ARMS]
    return make_result(*arms, **{"front": front, **STD, **others})


def ended(stopped: Stopped, **others: Any) -> dict[str, Any]:
    return {"stopped": stopped, "goal_reached": stopped in ("confidence", "budget", "complete"), **others}


# --- the Pareto set ---------------------------------------------------------------------------------------------------


def test_a_pareto_set_has_two_ends_a_middle_and_the_rest() -> None:
    assert four().sentence == (
        f"Choose C for the highest mean, A for the lowest standard deviation; B is between; D is beaten. {SURE}"
    )


@pytest.mark.parametrize(
    ("front", "words"),
    [
        (
            ("C",),
            "Choose C for the highest mean and nearly the lowest measured standard deviation; the others are beaten.",
        ),
        (
            ("A", "C"),
            "Choose C for the highest mean, A for the lowest standard deviation; the others are beaten.",
        ),
        (ARMS, "; B is between; D may be as good. "),
    ],
)
def test_a_pareto_set_of_one_two_and_all(front: tuple[str, ...], words: str) -> None:
    assert words in four(*front).sentence


def test_costs_and_turned_risks_have_their_own_words() -> None:
    cheap = four("A", "D", direction="minimize").sentence
    assert cheap.startswith("Choose D for the lowest mean, A for the lowest standard deviation; ")
    turned = [replace(arm, risk=-arm.mean, risk_shown=arm.mean) for arm in four().arms]
    worst = replace(four("C"), arms=tuple(turned), risk="cvar:0.1", risk_label="average of the worst 10 %").sentence
    assert "C for the highest mean and the highest measured average of the worst 10 %" in worst


def test_what_intervals_leave_open_is_measured() -> None:
    """Means are 0.1 apart and known to 0.05: the highest one is certain up to 0.05, but not up to nothing."""
    wide = {"mean_interval": (0.0, 1.0)}
    arms = [make_arm(name, MEANS[name], RISKS[name], **(wide if name == "D" else {})) for name in ARMS]
    assert "C for the highest measured mean" in make_result(*arms, **STD).sentence
    narrow = [make_arm(name, MEANS[name], RISKS[name], risk_interval=(RISKS[name], RISKS[name])) for name in ARMS]
    assert "Choose C for the highest mean, A for the lowest standard deviation" in make_result(*narrow, **STD).sentence
    budget = make_result(*narrow, **STD, **ended("budget", goal=BUDGET, certified_epsilon=None))
    assert "C for the highest measured mean, A for the lowest measured standard deviation" in budget.sentence


def test_of_many_arms_between_the_best_compromise_is_named() -> None:
    arms = [make_arm(f"arm {place}", 0.1 * place, 0.01 * place**3) for place in range(10)]
    said = make_result(*arms, **STD).sentence
    assert "; 8 are between, of which arm 5 gives up least of both. " in said  # p / 9 - p³ / 729 is largest there
    long = [replace(arm, name=f"{arm.name}, a configuration") for arm in arms[:6]]
    assert "; 4 are between, of which arm " in make_result(*long, **STD).sentence


def test_equal_arms_measured_the_same() -> None:
    twins = [make_arm("A"), make_arm("B"), make_arm("C", 0.1, 0.4, "out")]
    said = make_result(*twins, **STD).sentence
    assert "Choose A for the highest measured mean and the lowest standard deviation; B measured the same" in said
    tied = four("C", task="best", question="the arm with the highest mean")
    tied = replace(tied, arms=(*tied.arms[:3], replace(tied.arms[3], margin=0.0)))
    assert tied.sentence.startswith("Choose C for the highest mean; D measured the same. ")


# --- other tasks ------------------------------------------------------------------------------------------------------

SEARCHES = {
    "pareto": "for the highest measured mean, ",
    "best": "Choose three for the highest mean. ",
    "best:max-risk=0.2": " for the highest mean of those whose standard deviation is at most 0.2. ",
    "least-risk": "Choose one for the lowest standard deviation. ",
    "least-risk:min-mean=0.45": " for the lowest standard deviation of those whose mean is at least 0.45. ",
    "best-score:weight=0.5": " for the highest mean - 0.5 standard deviation. ",
    "top:2": "Choose two and three: the 2 arms with the highest means. ",
    "better-than:control=one": "two and three have a mean above that of one. ",
    "better-than:control=two": "three has a mean above that of two; no other arm does by 0.1 or more. ",
    "better-than:control=three": "Keep three: no arm has a mean above that of three by 0.1 or more. ",
}


def pull(arm: str) -> float:
    """Coins that are certain to fall on alternating sides, 0.1 or 0.3 from their mean."""
    place = ("one", "two", "three").index(arm)
    COUNTS[arm] = COUNTS.get(arm, 0) + 1
    return 0.3 + 0.2 * place + (0.02, 0.15, 0.25)[place] * (-1) ** COUNTS[arm]


COUNTS: dict[str, int] = {}


@pytest.mark.parametrize("task", SEARCHES)
def test_every_task_has_its_sentence(task: str) -> None:
    assert {name.split(":")[0] for name in SEARCHES} == set(QUESTIONS)
    COUNTS.clear()
    options: dict[str, Any] = {"task": task, "reward_range": (0, 1), "alarm": None}
    proved = ramgape.identify(pull, ["one", "two", "three"], epsilon=0.1, **options)
    assert SEARCHES[task] in proved.sentence
    close = "" if proved.control else " within 0.1,"
    assert f"This is right{close} with probability 0.95." in proved.sentence
    capped = ramgape.identify(pull, ["one", "two", "three"], epsilon=0.01, max_trials=40, **options)
    assert capped.sentence.startswith(("Best guess: ", "By the estimates "))
    assert capped.sentence.endswith(("Nothing is proved yet: all 3 arms are undecided.", "arms are undecided."))
    for result in (proved, capped):
        assert result.explanation().headlines[0] == result.sentence
        assert result.to_dict()["sentence"] == result.sentence
        assert Result.from_dict(json.loads(result.to_json())).sentence == result.sentence


def test_an_empty_answer_says_what_nobody_has() -> None:
    question = "the arm with the highest mean of those whose standard deviation is at most 0.02"
    others = {"task": "best:max-risk=0.02", "question": question, "empty_answer": "no arm is feasible"}
    nobody = four(**others)
    nobody = replace(nobody, answer=())
    assert nobody.sentence == f"No arm is feasible: there is none whose standard deviation is at most 0.02. {SURE}"
    capped = replace(nobody, stopped="cap", goal_reached=False, empty_answer="no arm is feasible, by the estimates")
    assert capped.sentence.startswith("By the estimates no arm is feasible: there is none ")


def test_a_control_is_kept_or_beaten() -> None:
    question = "the arms with a mean above that of A"
    others: dict[str, Any] = {"task": "better-than:control=A", "question": question, "control": "A"}
    sure = "This is right with probability 0.95."
    some = "a mean above that of A; no other arm does by 0.05 or more"
    assert four("C", **others).sentence == f"C has {some}. {sure}"
    both = four("B", "C", **others)
    assert both.sentence == f"B and C have {some}. {sure}"
    exact = replace(both, goal=replace(both.goal, epsilon=0.0), certified_epsilon=0.0)
    assert exact.sentence == f"B and C have a mean above that of A; no other arm does. {sure}"
    nobody = replace(four(**others), answer=(), empty_answer="no arm is better than A")
    assert nobody.sentence == f"Keep A: no arm has a mean above that of A by 0.05 or more. {sure}"
    capped = replace(nobody, stopped="cap", goal_reached=False)
    assert capped.sentence.startswith("Best guess: keep A; no arm is proved to have a mean above that of A. ")


def test_above_a_control_is_said_only_of_arms_that_are_proved_to_be() -> None:
    question = "the arms with a mean above that of A"
    others: dict[str, Any] = {"task": "better-than:control=A", "question": question, "control": "A"}
    some = replace(four("B", "C", **others), stopped="cap", goal_reached=False)
    some = replace(some, arms=tuple(replace(arm, certificate="in" if arm.name == "B" else "none") for arm in some.arms))
    assert some.sentence.startswith("B has a mean above that of A; best guess: C may, too. ")
    none = replace(some, arms=tuple(replace(arm, certificate="none") for arm in some.arms))
    assert none.sentence.startswith("Best guess: B and C may have a mean above that of A. ")
    assert replace(none, stopped="open").sentence.startswith("So far: B and C may have a mean above that of A. ")


def test_a_task_from_outside_has_a_sentence_too() -> None:
    said = four("A", "B", task="odd", question="", answer_name="odd ones").sentence
    assert said == f"Choose A and B: odd ones. {SURE}"


# --- how sure it is ---------------------------------------------------------------------------------------------------


PROVING = ("confidence", "complete")


@pytest.mark.parametrize("stopped", PROVING)
def test_an_end_that_proves_the_answer_claims_it(stopped: Stopped) -> None:
    assert four(**ended(stopped, certified_epsilon=None, certified_delta=None)).sentence.startswith("Choose C for ")


@pytest.mark.parametrize("stopped", [each for each in get_args(Stopped) if each not in PROVING])
def test_nothing_is_claimed_at_another_end(stopped: Stopped) -> None:
    nothing = four(**ended(stopped, certified_epsilon=None, certified_delta=None))
    assert nothing.sentence.startswith("So far: C" if stopped == "open" else "Best guess: C")
    assert nothing.sentence.endswith(" D looks beaten. Not proved yet.")
    some = four(**ended(stopped, certified_epsilon=0.0812, goal_reached=False)).sentence
    assert some.endswith("So far this is right within 0.0812, with probability 0.95, not within 0.05 as asked.")


def test_a_budget_says_how_sure_it_is() -> None:
    known = four(**ended("budget", goal=BUDGET, certified_epsilon=0.123456, certified_delta=0.05)).sentence
    assert known.startswith("Choose C for ")
    assert known.endswith(" D is beaten. This is right within 0.124, with probability 0.95.")
    # More than all differences between arms, 0.5 in mean and 0.25 in risk: as good as nothing.
    unknown = four(**ended("budget", goal=BUDGET, certified_epsilon=0.6)).sentence
    assert unknown.startswith("Best guess: C for ")
    assert unknown.endswith(" D looks beaten. Nothing is proved of this.")


def test_undecided_arms_are_counted() -> None:
    arms = [make_arm(name, MEANS[name], RISKS[name], "undecided") for name in ARMS]
    base = make_result(*arms, front=("C",), **STD, **ended("open", certified_epsilon=None))
    assert base.sentence.endswith("Nothing is proved yet: all 4 arms are undecided.")
    one = replace(base, arms=(*(replace(arm, verdict="in") for arm in arms[:3]), arms[3]))
    assert one.sentence.endswith("Not proved yet: 1 of 4 arms is undecided.")


def test_tolerances_chances_and_rigour() -> None:
    exact = Goal("confidence", epsilon=0.0, delta=0.1, budget=None)
    assert four(goal=exact).sentence.endswith(" This is right with probability 0.9.")
    pair = Goal("confidence", epsilon=0.05, delta=0.05, budget=None, risk_epsilon=0.01)
    assert four(goal=pair).sentence.endswith("right within 0.05 in mean and 0.01 in std, with probability 0.95.")
    assert four(rigour="approximate").sentence.endswith(
        "This is approximately right within 0.05, with probability 0.95. An event with probability up to 3% may have "
        "gone unseen in the 100 trials of A."
    )
    # Risks in units of their own: what is certified of both tells what epsilon is there.
    units = four(certified_epsilon=0.02, certified_risk_epsilon=0.04)
    assert "right within 0.05 in mean and 0.1 in std" in units.sentence
    complete = four(**ended("complete", certified_epsilon=0.0, certified_delta=0.0))
    assert complete.sentence.endswith("This is exact: every item was asked of every arm.")
    rare = Goal("confidence", epsilon=0.05, delta=1e-9, budget=None)
    assert four(goal=rare).sentence.endswith("with probability 1 - 1e-09.")


def test_a_tolerance_that_tells_nothing_apart_is_admitted() -> None:
    alike = [make_arm("A", 0.5, 0.1), make_arm("B", 0.51, 0.11)]
    assert make_result(*alike, **STD).sentence.endswith("0.95; but all arms are as close as that.")


def test_an_alarm_is_no_small_print() -> None:
    doubtful = " But the data speak against what that assumes."
    alarmed = four(alarms=(Alarm("A", "level", 1e4, 50),), alarm=0.01)
    assert alarmed.sentence.endswith(SURE + doubtful)
    objected = four(guarantee="With probability ... But this assumption is in doubt: 3 times an interval ...")
    assert objected.sentence.endswith(SURE + doubtful)
    unproved = replace(alarmed, **ended("cap", certified_epsilon=None))
    assert not unproved.sentence.endswith(doubtful)  # where nothing is claimed, nothing is in doubt


def test_before_the_first_pulls() -> None:
    nothing = make_result(make_arm("A", **NOT_PULLED), samples=0, **ended("open", certified_epsilon=None))
    assert nothing.sentence == "Nothing can be said yet: there are no trials."
    begun = replace(nothing, trials=1)
    assert begun.sentence == "Nothing can be said yet: not every arm has had its first trials."


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
    assert type(analysis).from_dict(analysis.to_dict()) == analysis
    with ramgape.Study.create("s", ["a", "b"], reward_range=(0, 1), epsilon=0.1) as study:
        study.tell_many([(asked, 0.5) for asked in study.ask(30)])
        report = study.report()
    assert report.sentence.startswith("So far: ")
    assert report.to_dict()["sentence"] == report.sentence
    assert report.explanation().headlines[1] == report.sentence
    assert str(report).split("\n")[1].startswith("So far: ")


# --- the order of arms ------------------------------------------------------------------------------------------------


def order_of(result: Result) -> list[str]:
    from ramgape.views.content import choose_arms

    return [arm.name for arm in choose_arms(result)[0]]


def test_the_answer_comes_first_and_the_nearest_next() -> None:
    margins = {"A": 0.3, "B": 0.1, "C": 0.2, "D": -0.05, "E": None}
    arms = [make_arm(name, 0.5, verdict="out", margin=margin) for name, margin in margins.items()]
    arms += [make_arm("F", 0.4), make_arm("G", 0.6)]
    result = make_result(*arms)
    assert order_of(result) == ["G", "F", "D", "B", "C", "A", "E"]
    assert order_of(replace(result, direction="minimize"))[:2] == ["F", "G"]
    assert order_of(replace(result, control="A"))[:3] == ["G", "F", "A"]
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
    analysis = ramgape.analyze(log, task="best")
    assert analysis.without_thin is not None
    assert "Without thin, which has few rows, it is approximately right, with probability 0.95." in analysis.sentence
    assert analysis.to_dict()["sentence"] == analysis.sentence
    assert analysis.sentence in " ".join(str(analysis).split())
    assert "without these it is 0 (approximate), for A." in " ".join(str(analysis).split())
    two = ramgape.analyze({"A": [0.1, 0.9], "B": [0.2, 0.8]}, reward_range=(0, 1))
    assert two.sentence.endswith("Nothing is proved yet: both arms are undecided.")


def test_plain_text_is_as_wide_as_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    result = ramgape.simulate("paper:46", budget=200, seed=1)
    monkeypatch.setenv("COLUMNS", "80")
    assert max(map(len, str(result).splitlines())) > 80
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    assert max(map(len, str(result).splitlines())) <= 80
