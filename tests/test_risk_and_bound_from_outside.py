"""A risk and a bound that the package does not know: a measure with two kernels, a bound with one."""

from __future__ import annotations

import math
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import ramgape
from ramgape import (
    Bernoulli,
    Beta,
    Data,
    Entropic,
    Gaussian,
    InvalidSpec,
    Semivariance,
    Uniform,
    load_instance,
    registry,
    simulate,
)
from ramgape.bounds import BOUNDED, BOUNDS, Bound
from ramgape.core.kernel import kernel
from ramgape.risks import make_risk, measure_from_dict, measure_to_dict
from ramgape.risks.measure import Measure
from ramgape.risks.table import MEANS, RISKS
from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec


@kernel
def deficit(problem, value):  # type: ignore[no-untyped-def]
    return max(problem.risk_parameters[0] - value, 0.0)


def expected_deficit(problem, part):  # type: ignore[no-untyped-def]
    return problem.alpha * part


def normal_deficit(problem, mean, variance):  # type: ignore[no-untyped-def]
    distance, deviation = problem.risk_parameters[0] - mean, math.sqrt(variance)
    if deviation == 0.0:
        return problem.alpha * max(distance, 0.0)
    if math.isinf(deviation) or math.isinf(distance):  # nothing is known yet
        return math.inf if distance > -math.inf else 0.0
    ratio = distance / deviation
    density = math.exp(-0.5 * ratio * ratio) / math.sqrt(2.0 * math.pi)
    return problem.alpha * (distance * 0.5 * math.erfc(-ratio / math.sqrt(2.0)) + deviation * density)


@dataclass(frozen=True)
class Deficit(Measure):
    """E (target - X)+, for targets from 0 to 1."""

    name = "deficit"
    transform, untransform = staticmethod(deficit), staticmethod(expected_deficit)
    normal_risk = staticmethod(normal_deficit)
    target: float = 0.5

    def formula(self, costs: bool) -> str:
        return f"mean of ({self.target:g} - X)+"

    def on_unit(self, origin: float, span: float) -> Deficit:
        return Deficit((self.target - origin) / span)

    def offset(self, origin: float) -> float:
        return 0.0

    def unit_range(self) -> tuple[float, float]:
        return 0.0, self.target


def looks(problem, count, average, variance, level, low, high):  # type: ignore[no-untyped-def]
    """Hoeffding's interval at every number of pulls T, with a share of 1 / (T (T + 1)) of the chance."""
    radius = math.sqrt((level + math.log(count * (count + 1.0))) / (2.0 * count))
    return max(average - radius, low), min(average + radius, high)


LOOKS = Bound("looks", SimpleNamespace(interval=looks), BOUNDED, (MEANS,), "a union over all numbers of pulls")
OPTIONS: dict[str, Any] = {"epsilon": 0.1, "seed": 1, "max_trials": 30_000}


@pytest.mark.long
@pytest.mark.parametrize(
    "bound",
    ["auto", pytest.param("hoeffding", marks=pytest.mark.long), pytest.param(LOOKS, marks=pytest.mark.long)],
    ids=str,
)
def test_a_risk_from_outside_is_searched_like_any_other(bound: str | Bound) -> None:
    result = simulate("paper:46", risk=Deficit(0.6), bound=bound, **OPTIONS)
    assert result.stopped == "confidence"
    assert result.risk == "deficit:0.6"
    assert result.bound == ("pairwise" if bound == "auto" else str(bound))
    assert result.truth is not None
    assert result.truth.eps_correct
    for arm in result.arms:
        assert arm.risk_interval[0] <= arm.risk <= arm.risk_interval[1]


LONG = [pytest.param(risk, marks=pytest.mark.long) for risk in ("variance", "semivariance:0.5", "entropic:2")]


@pytest.mark.parametrize("risk", ["std", "mean-variance:0.5", "cvar:0.2", *LONG])
def test_a_bound_from_outside_serves_every_risk(risk: str) -> None:
    """Boxes that hold with probability 0.999 each contain the truth of every arm."""
    instance = load_instance("paper:10")
    result = simulate(instance, risk=risk, bound=LOOKS, epsilon=0.05, delta=0.001, seed=3, max_trials=5_000)
    assert result.bound == "looks"
    truths = (result.alpha or 1.0) * instance.risks_by(make_risk(risk))
    for arm, truth in zip(result.arms, truths, strict=True):
        assert arm.risk_interval[0] <= truth <= arm.risk_interval[1]


def test_gaussian_rewards_and_budgets_take_it_too() -> None:
    result = simulate("paper-gaussian:46", risk=Deficit(0.3), **OPTIONS)
    assert result.bound == "gaussian"
    assert result.truth is not None
    assert result.truth.eps_correct
    budget = simulate("paper:46", risk=Deficit(0.3), budget=400, seed=1)
    assert budget.interval_bound == "pairwise"


def steer(problem, count, average, variance, level, low, high):  # type: ignore[no-untyped-def]
    """So narrow that it proves nothing."""
    return max(average - 0.02, low), min(average + 0.02, high)


def test_what_steers_under_a_budget_is_no_evidence_afterwards() -> None:
    """CVaR keeps in the memory what a bound has found: the bound that proves something must not go by it."""
    kernels = SimpleNamespace(interval=steer)
    bound = Bound("steer", kernels, BOUNDED, (MEANS,), "it steers only", goals=("budget",))
    options: dict[str, Any] = {"policy": "round-robin", "risk": "cvar:0.3", "epsilon": 0.1, "budget": 400, "seed": 3}
    steered, plain = simulate("paper:46", bound=bound, **options), simulate("paper:46", **options)
    assert steered.interval_bound == plain.interval_bound == "empirical-bernstein"
    assert [arm.risk_interval for arm in steered.arms] == [arm.risk_interval for arm in plain.arms]


def test_what_is_estimated_is_what_the_definition_says() -> None:
    rewards = np.random.default_rng(1).beta(2.0, 3.0, 500)
    engine = Engine(make_spec(["a", "b"], reward_range=(0, 1), epsilon=0.1, risk=Deficit(0.6)))
    engine.learn_many(np.zeros(len(rewards), np.int64), rewards)
    row, short = engine.arms[0], np.maximum(0.6 - rewards, 0.0)
    assert row["risk"] == pytest.approx(short.mean(), rel=1e-12)
    assert row["risk_spread"] == pytest.approx(short.var(), rel=1e-6)
    normal = Engine(make_spec(["a", "b"], noise="gaussian", epsilon=0.1, risk=Deficit(0.6)))
    normal.learn_many(np.zeros(len(rewards), np.int64), rewards)
    assert normal.arms["risk"][0] == pytest.approx(short.mean(), rel=0.05)
    assert normal.arms["risk_spread"][0] == pytest.approx(short.var(), rel=0.2)


DISTRIBUTIONS = [Beta(2, 3), Beta(0.3, 0.4, 2, 6), Bernoulli(0.3, 1, 5), Uniform(-1, 3), Data((1, 2, 2, 5)), Data((2,))]


@pytest.mark.parametrize("distribution", [*DISTRIBUTIONS, Gaussian(1.5, 2.0)], ids=repr)
@pytest.mark.parametrize("measure", [Semivariance(2.5), Entropic(0.7)], ids=str)
def test_the_truth_by_integration_is_the_truth(measure: Measure, distribution: Any) -> None:
    """Of risks that know it exactly: the same as from their kernels."""
    assert Measure.value_of(measure, distribution) == pytest.approx(measure.value_of(distribution), rel=1e-8)
    if isinstance(distribution, Data):
        rewards = np.array(distribution.values)
        assert Measure.value_in(measure, rewards) == pytest.approx(measure.value_in(rewards), rel=1e-12)


@pytest.mark.parametrize(("options", "kept"), [({}, True), ({"risk": Deficit()}, False), ({"bound": LOOKS}, False)])
def test_no_state_is_written_down_where_their_code_takes_part(options: dict[str, Any], kept: bool) -> None:
    """Nobody would notice that it has changed; risk and bound are part of a kernel of ours."""
    engine = Engine(make_spec(["a", "b"], reward_range=(0, 1), epsilon=0.1, **options))
    engine.tell(0, 0.5)
    assert (engine.state_bytes() is not None) == kept


def test_they_have_names_once_they_are_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registered", {kind: {} for kind in registry.GROUPS})
    ramgape.register("risk", "deficit", Deficit)
    ramgape.register("bound", "looks", LOOKS)
    spec = make_spec(["a", "b"], reward_range=(0, 1), epsilon=0.1, risk="deficit:0.25", bound="looks")
    assert (spec.risk, spec.bound) == (Deficit(0.25), LOOKS)
    assert measure_from_dict(measure_to_dict(spec.risk)) == spec.risk


def test_what_does_not_fit_is_refused() -> None:
    @dataclass(frozen=True)
    class Bounded(Deficit):
        normal_risk = None

    with pytest.raises(InvalidSpec, match=r"risk must be one .* needs `normal_risk` for that, got 'deficit:0.5'"):
        make_spec(["a", "b"], noise="gaussian", epsilon=0.1, risk=Bounded())
    with pytest.raises(InvalidSpec, match="got 'looks'"):
        make_spec(["a", "b"], noise="gaussian", epsilon=0.1, bound=LOOKS)


def test_the_table_says_of_every_risk_what_it_is_made_of() -> None:
    for name, known in RISKS.items():
        parameter = "0.5=1" if name == "spectral" else "0.5"
        measure = make_risk(f"{name}:{parameter}" if known.parameter else name)
        assert measure.made_of == known.made_of
    for name, bound in BOUNDS.items():
        assert bound.name == name
        assert bound.risks
