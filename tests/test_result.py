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
from ramgape.search.result import ArmReport, Result, Truth
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
    result = make_result(make_arm("A", 0.9, verdict="undecided"), make_arm("B"), front=("A", "B"))
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
        with pytest.raises(NoAnswer, match="the returned set must be one with at least one observed arm"):
            make_result(unseen, front=front).best(rho=1.0)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({}, "exactly one of rho and max_risk"),
        ({"rho": 1.0, "max_risk": 0.1}, "exactly one of rho and max_risk"),
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
    for thing, name in ((result, "front"), (result.arms[0], "mean"), (result.goal, "epsilon")):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(thing, name, None)


def test_results_survive_pickling() -> None:
    result = make_result(truth=Truth(("A",), 0.01, exact=False, eps_correct=True), warnings=("careful",))
    again = pickle.loads(pickle.dumps(result))
    assert again == result
    assert str(again) == str(result)


def test_repr_is_one_short_line() -> None:
    assert repr(make_result()) == "<Result: Pareto set: A, C (2 of 3 arms), after 400 pulls>"
    many = make_result(*(make_arm(f"arm {number}") for number in range(1000)))
    assert len(repr(many)) < 300


def test_dictionary_has_every_field() -> None:
    result = make_result(truth=Truth(("A",), 0.01, exact=False, eps_correct=True), warnings=("careful",))
    plain = result.to_dict()
    assert plain["schema_version"] == 1
    assert set(plain["versions"]) == {"python", "ramgape", "numpy", "numba"}
    assert plain["versions"]["python"].startswith("3.")
    assert "history" not in plain  # hundreds of points, for reports
    for field in dataclasses.fields(Result):
        assert field.name in plain or field.name == "history"
    for field in dataclasses.fields(ArmReport):
        assert field.name in plain["arms"][0]
    assert plain["front"] == ["A", "C"]
    assert plain["goal"] == {
        "kind": "confidence", "epsilon": 0.05, "delta": 0.05, "budget": None, "risk_epsilon": None,
        "epsilon_share": None,
        "spend": None,
    }  # fmt: skip
    assert plain["truth"] == {"front": ["A"], "regret": 0.01, "exact": False, "eps_correct": True}
    assert plain["warnings"] == ["careful"]
    assert plain["arms"][1]["dominated_by"] == "A"
    assert plain["arms"][1]["mean_interval"] == [0.25, 0.35]


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
    assert unseen["mean"] is None
    assert unseen["risk_interval"] == [None, None]
    assert "\n" not in result.to_json(indent=None)


def test_frame_has_one_row_per_arm() -> None:
    result = make_result()
    frame = result.to_frame()
    assert list(frame["name"]) == ["A", "B", "C"]
    assert list(frame["returned"]) == [True, False, True]
    assert list(frame["pulls"]) == [100, 50, 250]
    row = frame.set_index("name").loc["B"]
    assert row["dominated_by"] == "A"
    assert (row["mean_low"], row["mean"], row["mean_high"]) == (0.25, 0.3, 0.35)
    assert (row["risk_low"], row["risk_high"]) == result.arm("B").risk_interval
    assert {field.name for field in dataclasses.fields(ArmReport)} - set(frame) == {
        "mean_interval",
        "risk_interval",
        "risk_shown_interval",
        *("price", "spent"),  # of which there are none here
        *("word", "p", "support", "objectives", "constraints"),
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
    source = Path(ramgape.search.result.__file__).parents[1]
    heavy = "{'numpy', 'numba', 'rich', 'matplotlib', 'pandas'}"
    program = f"import sys, ramgape.search.result; print(sorted({heavy} & set(sys.modules)))"
    environment = {**os.environ, "PYTHONPATH": str(source)}
    ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
