"""Outcomes of a trial: what is assumed of them, their tolerances, and what a trial may give."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from ramgape.common.parsing import parse_tolerances
from ramgape.errors import InvalidReward, InvalidSpec, RamgapeError
from ramgape.search.objectives import Wish, make_constraints, make_objectives, sided
from ramgape.search.outcomes import (
    TrialOutcomes,
    check_used,
    declare_outcomes,
    derived,
    read_known,
    with_worst,
)
from ramgape.search.statistic import Statistic
from ramgape.search.tolerances import tolerances_of

ARMS = ("small", "large")


def wishes(objectives: str, *constraints: str) -> list[Wish]:
    return sided([*make_objectives(objectives), *make_constraints(constraints)])


# --- what is assumed --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "noise", "reward_range", "parameters"),
    [
        ((0, 1), "bounded", (0.0, 1.0), {}),
        ([0, 1], "bounded", (0.0, 1.0), {}),
        ("0, 0.5", "bounded", (0.0, 0.5), {}),
        (np.array([-1, 1]), "bounded", (-1.0, 1.0), {}),
        ({"range": [0, 1], "epsilon": 0.1}, "bounded", (0.0, 1.0), {}),
        ("unknown", "unknown", None, {}),
        ("any", "unknown", None, {}),
        (None, "unknown", None, {}),
        ({}, "unknown", None, {}),
        ("gaussian", "gaussian", None, {}),
        ("gaussian:resolution=0.1", "gaussian", None, {"resolution": 0.1}),
        ("heavy:kurtosis=10", "heavy", None, {"kurtosis": 10.0}),
        ({"noise": "heavy:cv=2"}, "heavy", None, {"cv": 2.0}),
    ],
)
def test_what_is_assumed(given: Any, noise: str, reward_range: Any, parameters: dict[str, float]) -> None:
    declared, _ = declare_outcomes({"x": given})
    assert (declared["x"].noise, declared["x"].range, dict(declared["x"].parameters)) == (
        noise,
        reward_range,
        parameters,
    )


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("bounded", "must be a range such as"),
        ("gausian", "must be a range such as"),
        ("heavy", "heavy:kurtosis=10"),
        ("heavy:kurtosis=0.5", "kurtosis must be a finite number of at least 1"),
        ((1, 0), "low < high"),
        ((0, math.inf), "each end of the range must be a finite number"),
        ((0, 1, 2), "must be a range such as"),
        (3, "must be a range such as"),
        ({"rnge": [0, 1]}, "did you mean 'range'"),
        ({"range": [0, 1], "noise": "gaussian"}, "absent beside noise"),
        ({"failure": "worst"}, "only with a range"),
        ({"range": [0, 1], "failure": "best"}, "failure must be one of retry, worst"),
    ],
)
def test_bad_assumptions_name_the_outcome(given: Any, words: str) -> None:
    with pytest.raises(RamgapeError, match=words) as caught:
        declare_outcomes({"latency": given})
    assert str(caught.value).startswith("outcome 'latency': ")


def test_assumptions_of_expressions_follow() -> None:
    declared, _ = declare_outcomes(
        {"a": (0, 1), "b": (-1, 3), "g": "gaussian:resolution=0.1", "h": "heavy:cv=2", "k": "heavy:kurtosis=10"}
    )

    def noise(text: str) -> Any:
        found = derived(Statistic.parse(text).of, declared)
        return found.noise, found.range, dict(found.parameters)

    assert noise("a - 0.5*b + 1") == ("bounded", (-0.5, 2.5), {})
    assert noise("share(unheard > 2)") == ("bounded", (0.0, 1.0), {})
    assert noise("3 - 2*g") == ("gaussian", None, {"resolution": 0.2})
    assert noise("2*h + 1") == ("heavy", None, {"cv": 2.0})
    assert noise("-h") == ("unknown", None, {})  # a coefficient of variation is about values above 0
    assert noise("1 - k") == ("heavy", None, {"kurtosis": 10.0})
    assert noise("g + a") == noise("g + k") == noise("unheard") == ("unknown", None, {})


def test_known_values_are_given_for_every_arm() -> None:
    assert read_known({"cost": {"large": 2, "small": 0.2}}, ARMS, []) == {"cost": (0.2, 2.0)}
    for given, words in (
        ({"cost": {"small": 1}}, "given for every arm, got 'none for large'"),
        ({"cost": {"small": 1, "lrge": 2}}, "did you mean 'large'"),
        ({"cost": {"small": 1, "large": math.nan}}, "known outcome cost of arm large must be a finite number"),
        ({"cost": [1, 2]}, "a mapping from arms to numbers"),
        ({"seen": {"small": 1, "large": 2}}, "absent from outcomes"),
        ([1], "a mapping from outcomes"),
    ):
        with pytest.raises(RamgapeError, match=words):
            read_known(given, ARMS, ["seen"])


def test_an_outcome_that_nobody_declared_is_a_typing_error() -> None:
    declared, _ = declare_outcomes({"accuracy": (0, 1), "latency": "unknown"})
    check_used(declared, {"cost": (1.0, 2.0)}, wishes("accuracy, -cost"))
    with pytest.raises(
        InvalidSpec, match=r"objective 'maximize mean\(acuracy\)' must be about.* did you mean 'accuracy'"
    ):
        check_used(declared, {}, wishes("acuracy"))
    with pytest.raises(InvalidSpec, match=r"constraint 'quantile\(late, 0.9\) <= 2' must be about outcomes"):
        check_used(declared, {}, wishes("accuracy", "quantile(late, 0.9) <= 2"))
    check_used({}, {}, wishes("acuracy"))  # nothing was declared: the first trial will tell


# --- tolerances -------------------------------------------------------------------------------------------------------


def test_tolerances_by_outcome_and_by_text() -> None:
    asked = wishes("accuracy, -cost", "quantile(latency, 0.95) <= 2")
    assert tolerances_of({"accuracy": 0.02, "cost": 0.001, "latency": 0.2}, asked) == (0.02, 0.001, 0.2)
    assert tolerances_of({"accuracy": 0.02, "cost": 0.001}, asked) == (0.02, 0.001, 0.0)
    by_text = {"maximize mean(accuracy)": 0.02, "mean(cost)": 0.001, "quantile(latency,.95)<=2": 0.2}
    assert tolerances_of(by_text, asked) == (0.02, 0.001, 0.2)
    assert tolerances_of({"-cost": 1, "accuracy": 0, "quantile(latency, 0.95)": 3}, asked) == (0.0, 1.0, 3.0)
    both = wishes("x, min quantile(x, 0.9)")
    assert tolerances_of({"x": 0.1, "quantile(x, 0.9)": 0.3}, both) == (0.1, 0.3)


def test_a_single_tolerance_serves_one_outcome() -> None:
    assert tolerances_of(0.1, wishes("accuracy")) == (0.1,)
    assert tolerances_of(0.1, wishes("x, min std(x)", "quantile(x, 0.1) >= 3")) == (0.1, 0.1, 0.1)
    assert tolerances_of(0.1, wishes("min share(latency > 2)")) == (0.1,)


@pytest.mark.parametrize(
    ("epsilon", "asked", "words"),
    [
        (0.1, ("a, b",), "a number for each outcome or objective"),
        (0.1, ("x, min variance(x)",), "a number for each outcome or objective"),
        ({"a": 0.1}, ("a, b",), r"given for 'mean\(b\)', too"),
        ({"x": 0.1}, ("x, min variance(x)",), r"given for 'variance\(x\)', too \(x is in another unit\)"),
        ({"x": 0.1}, ("min share(x > 2)",), r"given for 'share\(x > 2\)', too"),
        ({"a": 0.1, "bb": 0.1}, ("a",), "for what is asked about"),
        ({"a": -0.1}, ("a",), "epsilon of a must be a finite number of at least 0"),
        ({"a": "5%"}, ("a",), "shares in per cent are not available"),
        ("5%", ("a",), "shares in per cent are not available"),
        ({3: 0.1}, ("a",), "for what is asked about"),
    ],
)
def test_bad_tolerances(epsilon: Any, asked: tuple[str, ...], words: str) -> None:
    with pytest.raises(InvalidSpec, match=words):
        tolerances_of(epsilon, wishes(*asked))


def test_tolerances_as_they_are_typed() -> None:
    assert parse_tolerances("a=0.02, cvar(b, 0.1)=1e-3", "epsilon") == {"a": 0.02, "cvar(b, 0.1)": 0.001}
    assert parse_tolerances("share(b >= 2)=.1", "epsilon") == {"share(b >= 2)": 0.1}
    for text in ("a", "a=1,a=2", "a=x", "=1", "a=1,"):
        with pytest.raises(InvalidSpec, match="epsilon"):
            parse_tolerances(text, "epsilon")


# --- trials -----------------------------------------------------------------------------------------------------------


def reader(objectives: str, *constraints: str, known: Any = None, **outcomes: Any) -> TrialOutcomes:
    asked = wishes(objectives, *constraints)
    declared = with_worst(declare_outcomes(outcomes)[0], asked)
    columns = tuple({str(each.statistic.of): each.statistic.of for each in asked}.values())
    return TrialOutcomes(declared, columns, read_known(known, ARMS, declared))


def test_a_trial_gives_outcomes_by_name() -> None:
    trial = reader("accuracy, min 2*cost", "share(latency > 2) <= 0.1", accuracy=(0, 1), cost=(0, 1), latency="unknown")
    found = trial.read({"latency": np.float32(2.5), "cost": 0.25, "accuracy": True, "tokens": 17}, "small")
    assert found == {"latency": 2.5, "cost": 0.25, "accuracy": 1.0, "tokens": 17.0}
    assert trial.values(found, 0) == (1.0, 0.5, 1.0)
    assert trial.measured == ("accuracy", "cost", "latency")


def test_known_outcomes_are_not_measured() -> None:
    trial = reader("accuracy - 0.1*cost", known={"cost": {"small": 1, "large": 5}}, accuracy=(0, 1))
    assert trial.measured == ("accuracy",)
    assert [trial.values(trial.read({"accuracy": 1}, name), arm) for arm, name in enumerate(ARMS)] == [(0.9,), (0.5,)]
    with pytest.raises(InvalidReward, match="one that is not known beforehand, got 'cost'"):
        trial.read({"accuracy": 1, "cost": 1}, "small")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"accuracy": 1}, "a trial of arm 'small' must return outcome cost, got accuracy"),
        ({"accuracy": 1, "Cost": 0.1}, "must return outcome cost, got accuracy, Cost; did you mean 'Cost'"),
        ({}, "must return outcome accuracy, got nothing"),
        ({"accuracy": math.nan, "cost": 0.1}, "outcome accuracy of arm small must be a number from 0 to 1, got nan"),
        ({"accuracy": 1.5, "cost": 0.1}, "outcome accuracy of arm small must be a number from 0 to 1, got 1.5"),
        ({"accuracy": 1, "cost": math.inf}, "outcome cost of arm small must be a finite number, got inf"),
        ({"accuracy": "1", "cost": 0.1}, "outcome accuracy of arm small must be a number from 0 to 1, got '1'"),
        ({"accuracy": None, "cost": 0.1}, "outcome accuracy of arm small must be a number from 0 to 1, got None"),
        ({"accuracy": 1, "cost": 1, "text": "a"}, r"outcome text of .* got 'a'; remarks .* ramgape.Outcome\(info"),
        ({"accuracy": 1, "cost": 1, 3: 1}, "the name of every outcome of arm small must be text, got 3"),
        ((1, 0.1), r"must return a mapping of outcomes by name, {'accuracy': ..., 'cost': ...}, got \(1, 0.1\)"),
        (0.5, "must return a mapping of outcomes by name"),
        (None, "must return a mapping of outcomes by name"),
    ],
)
def test_errors_name_arm_outcome_and_value(given: Any, words: str) -> None:
    trial = reader("accuracy, -cost", accuracy=(0, 1), cost="unknown")
    with pytest.raises(InvalidReward, match=words):
        trial.read(given, "small")


def test_what_is_absent_because_it_is_bad_counts_as_the_worst() -> None:
    worst = {"range": (0, 60), "failure": "worst"}
    for asked, value in (("-latency", 60.0), ("max quantile(latency, 0.1)", 0.0), ("max 2 - latency", 60.0)):
        trial = reader(asked, latency=worst)
        given = trial.read({}, "small")
        assert given == {} == trial.read({"latency": None}, "small")  # what was not measured is not kept as if it were
        assert trial.values(given, 0) == trial.values({"latency": value}, 0)
        with pytest.raises(InvalidReward, match="got nan"):
            trial.read({"latency": math.nan}, "small")
    with pytest.raises(InvalidSpec, match=r"failure of outcome latency must be absent where .* contradict each other"):
        reader("latency", "quantile(latency, 0.9) <= 3", latency=worst)
    with pytest.raises(InvalidSpec, match="say nothing about which end of latency is bad"):
        reader("accuracy", latency=worst)
