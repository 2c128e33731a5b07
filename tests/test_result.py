"""What a result answers and how it travels; `make_arm` and `make_result` serve the tests of its looks too."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import ramgape.search.result
from ramgape.errors import InvalidSpec, MissingExtra, NoAnswer, UnknownName
from ramgape.search.result import ArmObjective, ArmReport, Details, ObjectiveReport, Result, Truth
from tests.results import NOT_PULLED, make_arm, make_result

# --------------------------------------------------------------------------------------- one arm of many


def test_arm_is_found_by_name() -> None:
    result = make_result()
    assert result.arm("C") is result.arms[2]


def test_unknown_arm_gets_a_suggestion() -> None:
    result = make_result(make_arm("alpha"), make_arm("omega"))
    with pytest.raises(UnknownName, match=r"arm must be one of alpha, omega, got 'alhpa'; did you mean 'alpha'\?"):
        result.arm("alhpa")


def test_best_by_rho_trades_variance_for_mean() -> None:
    result = make_result()
    # A: 0.01 - 0.4 rho, C: 0.09 - 0.7 rho; equal at rho = 0.08 / 0.3.
    assert result.best(rho=0.0) == "A"
    assert result.best(rho=0.26) == "A"
    assert result.best(rho=0.27) == "C"


def test_best_by_rho_when_minimizing_prefers_low_means() -> None:
    cheap, steady = make_arm("cheap", 0.2, variance=0.09), make_arm("steady", 0.5, variance=0.01)
    result = make_result(cheap, steady, direction="minimize")
    assert result.best(rho=0.26) == "steady"
    assert result.best(rho=0.27) == "cheap"


def test_best_by_risk_takes_the_best_mean_allowed() -> None:
    result = make_result()
    assert result.best(max_risk=0.05) == "A"  # the limit itself is allowed
    assert result.best(max_risk=0.14) == "A"
    assert result.best(max_risk=0.15) == "C"
    assert result.best(max_risk=math.inf) == "C"
    assert make_result(direction="minimize").best(max_risk=1) == "A"


def test_best_chooses_among_the_returned_arms_only() -> None:
    better = make_arm("better", 0.9, 0.0, "out", variance=0.0)
    result = make_result(better, make_arm("returned", 0.5, 0.1))
    assert result.best(rho=1.0) == "returned"
    assert result.best(max_risk=1.0) == "returned"


def test_an_undecided_arm_may_be_returned_and_best() -> None:
    result = make_result(make_arm("A", 0.9, verdict="open"), make_arm("B"), front=("A", "B"))
    assert result.best(rho=1.0) == "A"


def test_best_takes_the_first_of_equals() -> None:
    result = make_result(make_arm("first"), make_arm("second"))
    assert result.best(rho=1.0) == "first"
    assert result.best(max_risk=1.0) == "first"
    assert make_result(make_arm("a"), make_arm("b"), direction="minimize").best(max_risk=1.0) == "a"


def test_no_arm_is_safe_enough() -> None:
    result = make_result()
    with pytest.raises(NoAnswer, match=r"max_risk must be at least 0\.05, .*\(arm 'A'\), got 0\.01"):
        result.best(max_risk=0.01)


def test_the_risk_named_in_the_error_is_one_that_works() -> None:
    result = make_result(make_arm("A", risk=1.0 / 3.0))
    assert result.best(max_risk=result.arm("A").risk) == "A"
    with pytest.raises(NoAnswer, match=str(1.0 / 3.0)):
        result.best(max_risk=0.3333)


def test_best_passes_over_arms_without_estimates() -> None:
    unseen = make_arm("unseen", **NOT_PULLED)
    assert make_result(unseen, make_arm("seen"), front=("unseen", "seen")).best(rho=1.0) == "seen"
    for front in ((), ("unseen",)):
        with pytest.raises(NoAnswer, match="the answer must be one with at least one arm that was tried"):
            make_result(unseen, front=front).best(rho=1.0)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "exactly one of by, rho and max_risk"),
        ({"rho": 1.0, "max_risk": 0.1}, "exactly one of by, rho and max_risk"),
        ({"rho": -0.1}, "rho must be a finite number, at least 0, got -0.1"),
        ({"rho": math.nan}, "rho must be a finite number"),
        ({"rho": math.inf}, "rho must be a finite number"),
        ({"rho": "1"}, "rho must be a finite number"),
        ({"rho": True}, "rho must be a finite number"),
        ({"max_risk": math.nan}, "max_risk must be a number, got nan"),
        ({"rho": 10**400}, "rho must be a finite number"),
        ({"max_risk": 10**400}, "max_risk must be a number, got 1000"),
        ({"max_risk": "low"}, "max_risk must be a number, got 'low'"),
    ],
)
def test_best_checks_its_arguments(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidSpec, match=message):
        make_result().best(**asked)


# --------------------------------------------------------------------------------------- plain data


def test_results_are_frozen() -> None:
    result = make_result()
    for thing, name in ((result, "answer"), (result.arms[0], "mean"), (result.goal, "epsilon")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(thing, name, None)


def test_results_survive_pickling() -> None:
    result = make_result(truth=Truth(("A",), 0.01, exact=False, eps_correct=True), warnings=("careful",))
    again = pickle.loads(pickle.dumps(result))
    assert again.to_dict() == result.to_dict()
    assert str(again) == str(result)


def test_repr_is_one_short_line() -> None:
    assert repr(make_result()) == "<Result: Pareto set: A, C (2 of 3 arms), after 400 trials>"
    many = make_result(*(make_arm(f"arm {number}") for number in range(1000)))
    assert len(repr(many)) < 300


def test_dictionary_has_every_field() -> None:
    result = make_result(truth=Truth(("A",), 0.01, exact=False, eps_correct=True), warnings=("careful",))
    plain = result.to_dict()
    assert plain["schema_version"] == 2
    assert set(plain["versions"]) == {"python", "ramgape", "numpy", "numba"}
    assert plain["versions"]["python"].startswith("3.")
    fields = [
        *("schema_version", "sentence", "status", "answer", "question", "certified", "trials", "objectives"),
        *("constraints", "arms", "quality", "warnings", "settings", "versions", "details"),
    ]
    assert list(plain) == fields
    assert {*Details.__dataclass_fields__, "arms"} - {*plain["details"]} == {
        "history",
        "observed",
    }  # thousands of points
    arm = plain["arms"][0]
    assert list(arm) == [
        *("name", "trials", "verdict", "word", "p", "support", "beaten_by", "objectives", "constraints"),
    ]
    assert {*arm, *plain["details"]["arms"][0]} == set(ArmReport.__dataclass_fields__)
    assert list(arm["objectives"]) == [each["text"] for each in plain["objectives"]]
    number = {"estimate", "se", "low", "high", "behind", "at_most_behind"}
    assert set(arm["objectives"]["mean(reward)"]) == number
    assert plain["answer"] == ["A", "C"]
    assert plain["status"] == "certified"
    assert plain["details"]["goal"] == {
        "kind": "confidence", "epsilon": 0.05, "delta": 0.05, "budget": None, "risk_epsilon": None,
        "epsilon_share": None,
        "spend": None,
    }  # fmt: skip
    assert plain["details"]["truth"] == {"front": ["A"], "regret": 0.01, "exact": False, "eps_correct": True}
    assert plain["warnings"] == ["careful"]
    assert plain["arms"][1]["beaten_by"] == "A"
    assert plain["details"]["arms"][1]["mean_interval"] == [0.25, 0.35]


def test_public_members_are_few_and_old_names_work() -> None:
    result = make_result()
    members = [name for name in dir(result) if not name.startswith("_")]
    assert len(members) <= 30
    assert {"answer", "sentence", "status", "certified", "trials", "arms", "objectives", "constraints"} <= set(members)
    assert (result.front, result.samples, result.stopped) == (result.answer, result.trials, "confidence")
    assert result.arms[1].dominated_by == result.arms[1].beaten_by == "A"
    assert result.arms[1].pulls == result.arms[1].trials == 50
    with pytest.raises(AttributeError, match="no attribute 'fronts'"):
        _ = result.fronts


def test_results_of_version_1_are_read() -> None:
    arm = {
        "name": "A",
        "verdict": "open",
        "certified": False,
        "dominated_by": "B",
        "pulls": 7,
        "mean": 0.5,
        "mean_interval": [None, 0.75],
        "risk": 0.25,
        "risk_interval": [0.0, None],
        "variance": 0.0625,
        "doubt": None,
        "std": 0.25,
        "risk_shown": 0.25,
        "certificate": "none",
    }
    old = {
        "schema_version": 1,
        "arms": [arm],
        "front": ["A"],
        "stopped": "cap",
        "goal_reached": False,
        "guarantee": "none",
        "certified_epsilon": None,
        "certified_delta": None,
        "samples": 7,
        "rho": None,
        "goal": {"kind": "confidence", "epsilon": 0.1, "delta": 0.05, "budget": None},
        "alpha": 1.0,
        "noise": "any",
        "reward_range": None,
        "direction": "maximize",
        "policy": "evidence",
        "bound": "b",
        "interval_bound": "b",
        "task": "best-mean",
        "question": "the arm with the highest mean",
        "risk": "std",
        "alarms": [{"arm": "A", "kind": "level", "evidence": 200.0, "pull": 5}],
        "quality": {"failures": {"A": 2}},
    }
    result = Result.from_dict(old)
    assert (result.answer, result.trials, result.question, result.status) == (("A",), 7, "best", "undecided")
    assert (result.arms[0].verdict, result.arms[0].beaten_by, result.arms[0].trials) == ("open", "B", 7)
    assert result.arms[0].mean_interval == (-math.inf, 0.75)
    assert result.arms[0].objectives["mean(reward)"].estimate == 0.5
    assert result.quality.drift[0].kind == "level"
    assert result.quality.failures == {"A": 2}
    assert Result.from_dict(result.to_dict()).to_dict() == result.to_dict()
    assert "A" in str(result)


def test_each_kind_of_interval_has_its_name() -> None:
    number = ArmObjective(0.5, 0.1, 0.2, 0.8)
    arm = make_arm("A", mean_interval=(0.1, 0.9), objectives={"mean(reward)": number}, trials=10)
    result = make_result(arm, objectives=(ObjectiveReport("mean(reward)", "maximize"),))
    assert result.intervals() == result.intervals("each") == {"A": {"mean(reward)": (0.2, 0.8)}}
    assert result.intervals("all") == {"A": {"mean(reward)": (0.1, 0.9)}}
    ((low, high),) = result.intervals("fixed")["A"].values()
    assert (low, high) == pytest.approx((0.5 - 0.2262157, 0.5 + 0.2262157))  # t of 9 degrees of freedom
    with pytest.raises(InvalidSpec, match="kind must be 'each', 'all' or 'fixed'"):
        result.intervals("some")


def test_json_is_strict_and_complete() -> None:
    result = make_result(make_arm("A"), make_arm('"new\nline" 日本', **NOT_PULLED))

    def refuse(constant: str) -> None:
        raise AssertionError(constant)

    text = result.to_json()
    plain = json.loads(text, parse_constant=refuse)
    assert plain == result.to_dict()
    assert text.isascii()
    unseen = plain["arms"][1]
    assert unseen["name"] == '"new\nline" 日本'
    assert unseen["objectives"]["mean(reward)"]["estimate"] is None
    assert plain["details"]["arms"][1]["risk_interval"] == [None, None]
    assert "\n" not in result.to_json(indent=None)


def test_frame_has_one_row_per_arm() -> None:
    result = make_result()
    frame = result.frame()
    assert list(frame["name"]) == ["A", "B", "C"]
    assert list(frame["returned"]) == [True, False, True]
    assert list(frame["trials"]) == [100, 50, 250]
    row = frame.set_index("name").loc["B"]
    assert row["beaten_by"] == "A"
    assert (row["mean_low"], row["mean"], row["mean_high"]) == (0.25, 0.3, 0.35)
    assert (row["risk_low"], row["risk_high"]) == result.arm("B").risk_interval
    assert {field.name for field in dataclasses.fields(ArmReport)} - set(frame) == {
        *("mean_interval", "risk_interval", "risk_shown_interval", "regions", "why"),
        *("objectives", "constraints"),  # of which each has columns of its own
        *("price", "spent"),  # of which there are none here
    }


@pytest.mark.parametrize(
    ("module", "extra", "method"), [("pandas", "frame", "to_frame"), ("matplotlib", "plot", "plot")]
)
def test_missing_extras_say_how_to_get_them(
    monkeypatch: pytest.MonkeyPatch, module: str, extra: str, method: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingExtra, match=rf'{module} must be installed for this: pip install "ramgape\[{extra}\]"'):
        getattr(make_result(), method)()


def test_a_broken_extra_keeps_its_own_error(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "pandas.py").write_text("import a_module_that_does_not_exist\n")
    monkeypatch.delitem(sys.modules, "pandas", raising=False)
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(ModuleNotFoundError, match="a_module_that_does_not_exist"):
        make_result().to_frame()


def test_importing_results_loads_nothing_heavy() -> None:
    source = Path(ramgape.__file__).parents[1]
    heavy = "{'numpy', 'numba', 'rich', 'matplotlib', 'pandas'}"
    program = f"import sys, ramgape.search.result; print(sorted({heavy} & set(sys.modules)))"
    environment = {**os.environ, "PYTHONPATH": str(source)}
    ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
