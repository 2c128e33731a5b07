"""What people read: units, labels, digits, and certificates that say something."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import ramgape
from ramgape.common.formatting import Digits
from ramgape.search.engine import Engine
from ramgape.search.inference import infer
from ramgape.search.spec import make_spec
from ramgape.views.table import build_columns
from ramgape.views.text import plain

ARMS = ("a", "b", "c")


def found(rewards: dict[str, list[float]], **options: Any) -> ramgape.Result:
    """The result of a search that was told these rewards."""
    engine = Engine(make_spec(list(rewards), **options))
    for number, values in enumerate(rewards.values()):
        for value in values:
            engine.tell(number, value)
    return infer(engine)


def spread(mean: float, deviation: float, count: int = 200) -> list[float]:
    """Rewards with exactly this mean and standard deviation."""
    return [mean + deviation * (1 if place % 2 else -1) for place in range(count)]


# --- the standard deviation, and what is shown of any risk ------------------------------------------------------------


def test_the_risk_is_the_standard_deviation_unless_told_otherwise() -> None:
    result = found({"a": spread(5.0, 2.0), "b": spread(3.0, 1.0)}, reward_range=(0, 10), epsilon=0.5)
    assert (result.risk, result.risk_label) == ("std", "standard deviation")
    assert (result.rho, result.alpha) == (None, None)
    assert [arm.std for arm in result.arms] == pytest.approx([2.0, 1.0])
    assert [arm.risk for arm in result.arms] == pytest.approx([2.0, 1.0])
    described = json.loads(result.to_json())
    assert described["details"]["alpha"] is None
    assert described["details"]["rho"] is None
    assert [arm["std"] for arm in described["details"]["arms"]] == pytest.approx([2.0, 1.0])
    assert "scaled" not in str(result)
    assert "alpha" not in str(result)


@pytest.mark.parametrize(
    ("risk", "label", "shown"),
    [
        ("std", "standard deviation", 2.0),
        ("variance", "variance", 4.0),
        ("cvar:0.5", "average of the worst 50 %", 3.0),
    ],
)
def test_every_risk_is_said_in_words_and_in_the_users_units(risk: str, label: str, shown: float) -> None:
    result = found({"a": spread(5.0, 2.0), "b": spread(3.0, 1.0)}, reward_range=(0, 10), epsilon=0.5, risk=risk)
    assert result.risk_label == label
    assert result.arms[0].std == pytest.approx(2.0)
    assert result.alpha is None
    assert "scaled" not in result.explain()
    assert result.arms[0].risk_shown == pytest.approx(shown)
    low, high = result.arms[0].risk_shown_interval
    assert low <= result.arms[0].risk_shown <= high
    assert label in " ".join(result.explain().split())
    assert label.replace("average of the ", "").replace("standard deviation", "std").replace(" %", "%") in str(result)


def test_only_the_mean_variance_has_a_factor() -> None:
    options: dict[str, Any] = {"reward_range": (0, 10), "epsilon": 0.5, "risk": "mean-variance:0.5"}
    result = found({"a": spread(5.0, 2.0), "b": spread(3.0, 1.0)}, **options)
    assert result.risk_label == "variance - 0.5 mean"
    assert result.alpha == pytest.approx(1.0 / 30.5)
    assert "scaled risk" in str(result)


def test_costs_turn_no_sign() -> None:
    options: dict[str, Any] = {"reward_range": (0, 10), "epsilon": 0.5, "risk": "cvar:0.5", "direction": "minimize"}
    result = found({"a": spread(5.0, 2.0), "b": spread(3.0, 1.0)}, **options)
    assert result.arms[0].risk_shown == pytest.approx(7.0)
    assert result.arms[0].risk == pytest.approx(7.0)


def test_a_variance_has_the_tolerance_that_belongs_to_its_unit() -> None:
    """One epsilon is worth as much variance as by the paper's factor, and is said in the variance's own unit."""
    spec = make_spec(ARMS, reward_range=(0, 10), epsilon=0.5, risk="variance")
    assert spec.alpha is None
    assert spec.risk_epsilon == pytest.approx(0.5 * 30.0)
    assert make_spec(ARMS, reward_range=(0, 10), epsilon=0.5, risk="std").risk_epsilon is None
    with pytest.raises(ramgape.InvalidSpec, match="alpha must be absent"):
        make_spec(ARMS, reward_range=(0, 10), epsilon=0.5, alpha=0.1)


# --- tolerances in per cent -------------------------------------------------------------------------------------------


def test_a_share_of_the_range_is_a_number_at_once() -> None:
    spec = make_spec(ARMS, reward_range=(-5, 15), epsilon="5%")
    assert (spec.epsilon, spec.epsilon_share) == (pytest.approx(1.0), pytest.approx(0.05))


def test_a_share_without_a_range_is_fixed_by_the_first_looks() -> None:
    engine = Engine(make_spec(ARMS, noise="gaussian", initial_trials=3, epsilon="10%"))
    generator = np.random.default_rng(1)
    told: list[list[float]] = [[], [], []]
    while not engine.ready:
        assert engine.spec.epsilon is None
        arm = engine.ask()
        assert arm is not None
        told[arm].append(float(generator.normal(-3.0 + arm)))
        engine.tell(arm, told[arm][-1])
    wanted = 0.1 * min(abs(float(np.mean(rewards))) for rewards in told)
    assert engine.spec.epsilon == pytest.approx(wanted)
    for number in range(20):
        engine.tell(number % 3, 100.0)
    assert engine.spec.epsilon == pytest.approx(wanted)
    goal = infer(engine).goal
    assert (goal.epsilon, goal.epsilon_share) == (pytest.approx(wanted), 0.1)
    assert "10% of the smallest absolute mean after the first looks" in " ".join(infer(engine).explain().split())


def test_both_roads_fix_the_same_share() -> None:
    arms = tuple(ramgape.Arm(name, ramgape.Gaussian(3.0 + place, 1.0)) for place, name in enumerate(ARMS))
    instance = ramgape.Instance("three", arms, reward_range=None, noise="gaussian")
    simulated = ramgape.simulate(instance, epsilon="10%", seed=5)
    generator = np.random.default_rng(5)
    asked = ramgape.identify(
        lambda name: instance.draw(ARMS.index(name), generator), ARMS, noise="gaussian", epsilon="10%"
    )
    assert simulated.goal == asked.goal
    assert simulated.samples == asked.samples
    assert simulated.truth is not None
    assert simulated.truth.eps_correct
    assert 0.2 < (simulated.goal.epsilon or 0.0) < 0.4


@pytest.mark.parametrize("wrong", ["5", "0%", "-5%", "100%", "5%%", "%", "a few %", "nan%"])
def test_a_share_that_is_none(wrong: str) -> None:
    with pytest.raises(ramgape.InvalidSpec, match=r"epsilon must be .* a share such as '5%'"):
        make_spec(ARMS, reward_range=(0, 1), epsilon=wrong)


def test_a_budget_has_no_first_looks_to_wait_for() -> None:
    assert make_spec(ARMS, reward_range=(0, 1), budget=100, epsilon="5%").epsilon == pytest.approx(0.05)
    with pytest.raises(ramgape.InvalidSpec, match="epsilon must be a number under a budget"):
        make_spec(ARMS, noise="gaussian", budget=100, epsilon="5%")


def test_a_study_keeps_a_share(tmp_path: Any) -> None:
    store = f"sqlite:///{tmp_path / 'a.db'}"
    options: dict[str, Any] = {"noise": "gaussian", "epsilon": "20%", "storage": store, "seed": 1}
    study = ramgape.Study.create("s", ARMS, **options)
    generator = np.random.default_rng(2)
    study.run(lambda arm: float(generator.normal(3.0 + ARMS.index(arm))))
    before = study.result()
    again = ramgape.Study.create("s", ARMS, exist_ok=True, **options).result()
    assert again.goal == before.goal
    assert (before.goal.epsilon or 0.0) > 0.3
    assert again.samples == before.samples


# --- a certificate that says nothing ----------------------------------------------------------------------------------


def test_a_tolerance_above_all_differences_is_no_certificate() -> None:
    few = found({"a": spread(0.5, 0.1, 30), "b": spread(0.45, 0.15, 30)}, reward_range=(0, 1), epsilon=0.01)
    assert not few.is_informative
    assert few.guarantee.startswith("Nothing is proved yet")
    assert "Certified" not in str(few)
    many = found({"a": spread(0.5, 0.1, 30_000), "b": spread(0.2, 0.3, 30_000)}, reward_range=(0, 1), epsilon=0.0)
    assert many.is_informative


def test_an_objective_that_decided_nothing_is_named() -> None:
    options: dict[str, Any] = {"reward_range": (0, 1), "epsilon": 0.1}
    result = found({"a": spread(0.5, 0.2, 20_000), "b": spread(0.2, 0.21, 20_000)}, **options)
    (note,) = result.notes
    assert note.startswith("epsilon 0.1 is more than all differences in standard deviation, 0.01")
    assert note.endswith("that objective decided nothing")
    assert note in " ".join(str(result).split())
    both = found({"a": spread(0.5, 0.2, 20_000), "b": spread(0.48, 0.21, 20_000)}, **options)
    assert "any arm is an answer" in both.notes[0]
    assert found({"a": spread(0.5, 0.2), "b": spread(0.2, 0.4)}, **options).notes == ()
    assert found({"a": spread(0.5, 0.2), "b": spread(0.49, 0.2)}, reward_range=(0, 1), epsilon=0.0).notes == ()


# --- digits -----------------------------------------------------------------------------------------------------------


def test_arms_with_different_verdicts_never_show_the_same_numbers() -> None:
    """Widths of intervals suggest two digits; what tells these arms apart is in the fifth."""
    rewards = {"a": spread(0.50001, 0.2, 100), "b": spread(0.5, 0.20001, 100), "c": spread(0.3, 0.25, 100)}
    result = found(rewards, reward_range=(0, 1), budget=300)
    assert [arm.verdict for arm in result.arms] == ["in", "out", "out"]
    columns = build_columns(result, result.arms, "narrow", 20)
    shown = list(zip(columns[-2].cells, columns[-1].cells, strict=True))
    assert shown[0] != shown[1]
    assert Digits(2, scientific=False).finer() == Digits(3, scientific=False)


def test_equal_arms_do_not_ask_for_digits_for_ever() -> None:
    rewards = {"a": spread(0.5, 0.2, 100), "b": spread(0.5, 0.2, 100)}
    assert "0.5" in plain(found(rewards, reward_range=(0, 1), epsilon=0.0))


# --- pictures ---------------------------------------------------------------------------------------------------------


def test_a_picture_has_the_shown_risk_at_its_axis() -> None:
    result = ramgape.simulate("random-beta:3", risk="cvar:0.1", epsilon=0.1, seed=1)
    axes = result.plot().axes
    assert axes.get_ylabel().startswith("Average of the worst 10 %")
    assert "higher is better" in axes.get_ylabel()
    axes.figure.canvas.draw()
    labels = [label.get_text().replace("\N{MINUS SIGN}", "-") for label in axes.get_yticklabels()]
    places = [label.get_position()[1] for label in axes.get_yticklabels()]
    assert [float(label) for label in labels] == pytest.approx([-place for place in places], abs=1e-9)
    assert not any(math.isnan(arm.risk_shown) for arm in result.arms)


def test_arms_with_equal_rewards_are_named_one_by_one() -> None:
    result = ramgape.identify({"a": 1.0, "b": 2.0}.__getitem__, ["a", "b"], epsilon=0.3)
    assert result.stopped == "constant"
    assert "each of these arms gave equal rewards only: a, b, which tells nothing" in result.guarantee
    assert "nothing is claimed of them" in result.guarantee


def test_equal_rewards_are_no_obstacle_where_a_kurtosis_is_stated() -> None:
    result = ramgape.identify({"a": 1.0, "b": 2.0}.__getitem__, ["a", "b"], epsilon=0.3, noise="heavy:kurtosis=4")
    assert (result.stopped, result.rigour) == ("confidence", "proved")
    assert not any("nothing is claimed" in warning for warning in result.warnings)


def test_an_alarm_calls_nothing_proved_that_is_approximate() -> None:
    rows = [(arm, 10.0 * (pull > 100) + pull % 7 + (arm == "b")) for pull in range(300) for arm in ("a", "b")]
    result = ramgape.analyze(rows, epsilon=5.0).result
    assert result.alarms
    text = " ".join(result.explain().split())
    assert "What is claimed rests on that assumption." in text
    for shown in (text, str(result)):
        assert "proved" not in shown.replace("not proved", "")
