"""Spectral risks: sums of conditional values at risk, from the same cells, with one chance of error for all of them.

How intervals hold at all times is tested with the other risks, in test_risks.py.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import ramgape
from ramgape import Arm, Bernoulli, Beta, Data, Gaussian, Instance, InvalidSpec, Uniform
from ramgape.risks import make_risk, measure_from_dict, measure_to_dict
from ramgape.search.spec import make_spec
from ramgape.testing import check_risk
from tests.support import by_hand, engine_that_saw, in_full

TEXT = "spectral:0.05=0.3,0.25=0.7"
STEPS = {0.05: 0.3, 0.25: 0.7}


def samples() -> list[Any]:
    generator = np.random.default_rng(2)
    return [
        generator.beta(2, 5, 1_000),
        generator.beta(400, 400, 600),
        (generator.random(900) < 0.93).astype(float),
        generator.choice([0.2, 0.9], 500, p=[0.08, 0.92]),
    ]


def test_an_interval_is_the_sum_of_those_of_the_tail_means() -> None:
    """Each with its share of delta: the compiled sum against searches for each of the tail means by itself.

    An end is found to a 128th of its distance from the estimate, and where exactly depends on the last digits.
    """
    for rewards in samples():
        found = engine_that_saw(rewards, TEXT, delta=0.1).arms[0]
        alone = {level: engine_that_saw(rewards, ramgape.CVaR(level), delta=0.05).arms[0] for level in STEPS}
        for side in ("risk", "risk_low", "risk_high"):
            expected = sum(weight * float(alone[level][side]) for level, weight in STEPS.items())
            fine = 1e-9 if side == "risk" else abs(expected - float(found["risk"])) / 64.0
            assert float(found[side]) == pytest.approx(expected, abs=fine)
        assert found["risk_low"] < found["risk"] < found["risk_high"]


@pytest.mark.parametrize(
    "noise", ["bounded", *(pytest.param(each, marks=pytest.mark.long) for each in ("gaussian", "any"))]
)
def test_a_single_level_is_cvar_to_the_bit(noise: str) -> None:
    options: dict[str, Any] = {"epsilon": 0.05, "delta": 0.3, "seed": 4, "max_trials": 300, "policy": "ramgape"}
    arms = {"bounded": (Beta(2, 5), Bernoulli(0.6)), "gaussian": (Gaussian(0, 1), Gaussian(0.3, 2))}
    shapes: Any = arms.get(noise, arms["bounded"])
    instance = Instance("two", tuple(map(Arm, "ab", shapes)), (0, 1) if noise == "bounded" else None, noise)
    for level in (0.1, 1.0):
        one = ramgape.simulate(instance, risk=ramgape.Spectral({level: 1.0}), **options)
        other = ramgape.simulate(instance, risk=ramgape.CVaR(level), **options)
        mine = [(arm.pulls, arm.risk, arm.risk_interval, arm.verdict) for arm in one.arms]
        assert mine == [(arm.pulls, arm.risk, arm.risk_interval, arm.verdict) for arm in other.arms]
        assert one.samples == other.samples


@pytest.mark.parametrize("shape", [(2.0, 2.0), (1.5, 0.8)])
def test_the_spread_is_that_of_the_sum(shape: tuple[float, float]) -> None:
    """Of 600 estimates from 1,000 rewards each, the variance against what an estimate says of itself.

    The variance of so many is off by a quarter, four of its standard errors, once in 10,000 such tests.
    """
    drawn = np.random.default_rng(5).beta(*shape, (600, 1_000))
    measure = make_risk(TEXT)
    variance = float(np.var([measure.value_in(each) for each in drawn]))
    engines = [engine_that_saw(each, TEXT, budget=100_000, epsilon=None) for each in drawn[:20]]
    said = np.mean([float(engine.arms[0]["risk_spread"]) for engine in engines])
    assert 0.7 < 1_000 * variance / said < 1.3


def test_it_does_what_a_search_relies_on() -> None:
    check_risk(ramgape.Spectral(STEPS))


def test_both_roads_agree_to_the_bit() -> None:
    options: dict[str, Any] = {"policy": "ramgape", "risk": TEXT, "epsilon": 0.05, "delta": 0.3, "max_trials": 151}
    instance = ramgape.load_instance("paper:46")
    assert in_full(by_hand(instance, 3, **options)) == in_full(ramgape.simulate(instance, seed=3, **options))


@pytest.mark.parametrize(
    ("distribution", "truth"),
    [
        (Uniform(-2, 6), -(0.3 * -1.8 + 0.7 * -1.0)),
        (Bernoulli(0.9), -(0.3 * 0.0 + 0.7 * 0.6)),
        (Gaussian(3, 4), -3.0 + 2.0 * (0.3 * 2.0627128 + 0.7 * 1.2711063)),
        (Data(tuple(range(20))), -(0.3 * 0.0 + 0.7 * 2.0)),
    ],
    ids=str,
)
def test_the_truth_is_what_the_definition_says(distribution: Any, truth: float) -> None:
    assert ramgape.Spectral(STEPS).value_of(distribution) == pytest.approx(truth, abs=1e-6)
    if isinstance(distribution, Data):
        assert ramgape.Spectral(STEPS).value_in(np.array(distribution.values, float)) == pytest.approx(truth)


def test_steps_are_values() -> None:
    """In any order, as pairs or by levels; weights that were typed with few digits add up to 1 all the same."""
    measure = ramgape.Spectral(STEPS)
    pairs: Any = [[0.25, 0.7], [0.05, 0.3]]
    assert measure == make_risk(TEXT) == make_risk("spectral: 0.25=0.7, 0.05 = 0.3") == ramgape.Spectral(pairs)
    assert measure_from_dict(measure_to_dict(measure)) == measure == make_risk(measure.exact)
    thirds = make_risk("spectral:0.1=0.3333333333,0.2=0.3333333333,0.3=0.3333333333")
    assert math.fsum(weight for _, weight in thirds.steps) == pytest.approx(1.0, abs=1e-15)
    assert make_risk(thirds.exact) == thirds
    assert measure.label(costs=False) == "weighted worst 5 % and 25 %"
    assert thirds.label(costs=True) == "weighted worst 10 % to 30 %"
    assert ramgape.Spectral({0.1: 1.0}).label(costs=False) == ramgape.CVaR(0.1).label(costs=False)


WRITTEN = "risk must be written spectral:LEVEL=WEIGHT,..., such as spectral:0.05=0.3,0.25=0.7, got "


@pytest.mark.parametrize(
    ("risk", "said"),
    [
        ("spectral", f"{WRITTEN}'spectral'"),
        ("spectral:", f"{WRITTEN}'spectral:'"),
        ("spectral:0.1", f"{WRITTEN}'spectral:0.1'"),
        ("spectral:0.1=0.5,", f"{WRITTEN}'spectral:0.1=0.5,'"),
        ("spectral:0.1=x", f"{WRITTEN}'spectral:0.1=x'"),
        ("spectral:0.05=0.3", "the sum of the weights of risk spectral must be 1, got 0.3"),
        ("spectral:0.1=0.5,0.1=0.5", "the levels of risk spectral must be different from each other"),
        ("spectral:nan=1", "each level of risk spectral must be a number from 1e-6 to 1, got nan"),
        ("spectral:0=1", "each level of risk spectral must be a number from 1e-6 to 1, got 0.0"),
        ("spectral:2=1", "each level of risk spectral must be a number from 1e-6 to 1, got 2.0"),
        ("spectral:0.1=nan", "each weight of risk spectral must be a positive number, got nan"),
        ("spectral:0.1=1.5,0.2=-0.5", "each weight of risk spectral must be a positive number, got -0.5"),
        ("spectral:" + ",".join(f"0.{n}=0.1" for n in range(10, 20)), "the steps of risk spectral must be from 1 to 8"),
    ],
)
def test_what_cannot_be_meant_is_refused(risk: str, said: str) -> None:
    with pytest.raises(InvalidSpec) as caught:
        make_spec(["a", "b"], reward_range=(0, 1), epsilon=0.1, risk=risk)
    assert str(caught.value).startswith(said)


@pytest.mark.parametrize("steps", [0.1, None, {}, [0.1], "0.1=1", {"0.1": 1.0}])
def test_steps_that_are_none_are_refused(steps: Any) -> None:
    with pytest.raises(InvalidSpec, match="of risk spectral must be"):
        ramgape.Spectral(steps)
