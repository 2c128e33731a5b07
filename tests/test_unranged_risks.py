"""What risks make of rewards without a range: estimates and their spreads, whatever unit and offset rewards have."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ramgape
from ramgape import InvalidSpec
from ramgape.risks.cells import CELL, CELLS, COLUMNS, FIRST, SHIFT, SUMS, WIDTH
from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec
from tests.loops import learn_in_loop
from tests.support import changing

Sample = Callable[[np.random.Generator, Any], Any]

LAWS: dict[str, Sample] = {
    "normal": lambda generator, size: generator.normal(size=size),
    "exponential": lambda generator, size: generator.exponential(size=size),
    "t(5)": lambda generator, size: generator.standard_t(5, size=size),
    "coin": lambda generator, size: (generator.random(size) < 0.3).astype(float),
    "cauchy": lambda generator, size: generator.standard_cauchy(size),
}
UNITS = [(0.0, 1.0), (1e6, 1.0), (0.0, 1e-6), (0.0, 1e6), (-1e6, 1e-2)]


def learnt(risk: Any, rewards: Any, **options: Any) -> Engine:
    """A row of rewards for each arm, without a range."""
    rewards = np.ascontiguousarray(np.atleast_2d(rewards))
    arms, pulls = rewards.shape
    names = [str(arm) for arm in range(max(arms, 2))]
    spec = make_spec(names, **{"noise": "any", "budget": 10**9, "policy": "round-robin", "risk": risk, **options})
    engine = Engine(spec)
    if rewards.size >= 5_000:
        with changing(engine) as state:
            learn_in_loop(engine.rule.learn, *state, rewards)
        return engine
    engine.learn_many(np.repeat(np.arange(arms), pulls), rewards.reshape(-1))
    return engine


def risk_of(risk: Any, rewards: Any) -> float:
    engine = learnt(risk, rewards)
    return float(engine.arms["risk"][0]) / engine.spec.risk_scale


# --- estimates --------------------------------------------------------------------------------------------------------


@pytest.mark.few(3)
@pytest.mark.parametrize("law", LAWS)
def test_tails_are_estimated_by_the_rewards_themselves(law: str) -> None:
    """To a part of a cell, that is of a thousandth or so of what the rewards span; in any unit."""
    sample = LAWS[law](np.random.default_rng(1), 5_000)
    for offset, scale in UNITS:
        for level in (0.02, 0.1, 0.5, 0.9):
            for count in (1, 2, 30, 5_000):
                rewards = offset + scale * sample[:count]
                middle = 0.01 * (np.quantile(sample, 0.9) - np.quantile(sample, 0.1)) * scale
                size = 1e-9 * abs(offset) + (middle if count > 2 else 1e-12 * scale)
                for measure in (ramgape.CVaR(level), ramgape.Quantile(level)):
                    exact = measure.value_in(rewards)
                    wide = 0.02 * abs(exact + offset) + 0.05 * scale if law == "cauchy" else 0.0
                    assert risk_of(measure, rewards) == pytest.approx(exact, rel=0, abs=size + wide)
    one = sample[:500]
    assert risk_of("cvar:1", one) == pytest.approx(-one.mean(), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("law", ["normal", "exponential", "t(5)", "coin"])
def test_means_of_something_are_exact(law: str) -> None:
    sample = LAWS[law](np.random.default_rng(2), 3_000)
    for offset, scale in UNITS:
        rewards = offset + scale * sample
        for measure in (ramgape.Semivariance(offset + 0.4 * scale), ramgape.Shortfall(offset + 0.4 * scale)):
            exact = measure.value_in(rewards)
            assert risk_of(measure, rewards) == pytest.approx(exact, rel=1e-9)
        for gamma in (1e-9, 0.1, 3.0):
            entropic = ramgape.Entropic(gamma / scale)
            exact = entropic.value_in(rewards)
            assert risk_of(entropic, rewards) == pytest.approx(exact, rel=1e-13, abs=1e-9 * scale)


def test_an_extreme_gamma_leaves_the_worst_reward() -> None:
    """Nothing overflows; one reward decides, and the spread says that no average has settled it."""
    rewards = np.random.default_rng(3).normal(size=1_000)
    for gamma in (300.0, 1e6, 1e60):
        engine = learnt(ramgape.Entropic(gamma), rewards)
        found, spread = engine.arms["risk"][0], engine.arms["risk_spread"][0]
        assert found == pytest.approx(-rewards.min() - math.log(len(rewards)) / gamma, abs=1e-3)
        assert math.isfinite(spread)
        assert spread > 0.0
    for order in (np.sort(rewards), np.sort(rewards)[::-1]):
        assert risk_of("entropic:2", order) == pytest.approx(ramgape.Entropic(2).value_in(rewards), rel=1e-12)
    small = risk_of(ramgape.Entropic(1e-100), rewards)
    assert small == pytest.approx(-rewards.mean(), rel=1e-12)


def test_the_order_matters_only_to_the_cells_and_other_units_not_at_all() -> None:
    """Multiples of powers of two change nothing to the bit; an order changes where in a cell rewards are thought."""
    rewards = np.random.default_rng(4).standard_t(3, 4_000)
    there = learnt("cvar:0.1", rewards).arms
    for scale in (0.25, 1024.0):
        here = learnt("cvar:0.1", scale * rewards).arms
        assert here["risk"][0] == scale * there["risk"][0]
        assert here["risk_spread"][0] == scale * scale * there["risk_spread"][0]
    for order in (np.sort(rewards), np.sort(rewards)[::-1]):
        assert risk_of("cvar:0.1", order) == pytest.approx(float(there["risk"][0]), abs=0.05)


def test_nothing_is_lost_when_cells_are_put_together() -> None:
    """Numbers, sums and squares stay what they are, however often the width is doubled, upwards and downwards."""
    generator = np.random.default_rng(5)
    for growth in (1.0, 1.01, 1.1):
        rewards = generator.normal(size=600) * growth ** np.arange(600)
        past = learnt("cvar:0.1", rewards).state.memory[0]
        cells = past[CELL : CELL + SUMS * CELLS].reshape(-1, SUMS)
        blocks = past[CELL + SUMS * CELLS : COLUMNS].reshape(-1, SUMS)
        assert cells[:, 0].sum() == blocks[:, 0].sum() == 600
        starts, wide = np.arange(CELLS), np.arange(len(blocks)) * (CELLS / len(blocks))
        for sums, begin in ((cells, starts), (blocks, wide)):
            total = float((sums[:, 1] + sums[:, 0] * begin).sum())
            squares = float((sums[:, 2] + 2 * begin * sums[:, 1] + begin**2 * sums[:, 0]).sum())
            places = (rewards - past[SHIFT]) / past[WIDTH] - past[FIRST]
            assert total == pytest.approx(float(places.sum()), rel=1e-9)
            assert squares == pytest.approx(float(np.square(places).sum()), rel=1e-9)
        assert math.frexp(past[WIDTH])[0] == 0.5


def test_equal_rewards_have_no_spread_and_one_that_differs_is_seen() -> None:
    for risk in ("cvar:0.1", "quantile:0.1", "shortfall:0.2", "semivariance:0.9", "entropic:1"):
        same = learnt(risk, np.full(50, 0.3)).arms
        assert same["risk_spread"][0] == pytest.approx(0.0, abs=1e-25)
        assert math.isfinite(same["risk"][0])
    for count in (50, 200):
        late = learnt("cvar:0.5", np.array([0.3] * (count - 1) + [-5e9]))
        assert late.arms["risk"][0] == pytest.approx((5e9 - (count / 2 - 1) * 0.3) / (count / 2))


def test_an_outlier_at_the_beginning_does_not_blur_the_rest() -> None:
    """A first run that is a thousand times as slow as all others, which differ by hundredths."""
    rewards = -np.concatenate([[500.0], np.random.default_rng(7).normal(0.5, 0.01, 20_000)])
    for measure in (ramgape.CVaR(0.1), ramgape.Quantile(0.1), ramgape.Quantile(0.9)):
        assert risk_of(measure, rewards) == pytest.approx(measure.value_in(rewards), abs=1e-4)


# --- spreads ----------------------------------------------------------------------------------------------------------

SPREADS = [
    ("cvar:0.1", "normal"),
    ("cvar:0.1", "exponential"),
    ("cvar:0.1", "t(5)"),
    ("cvar:0.9", "exponential"),
    ("cvar:0.8", "coin"),
    ("quantile:0.1", "normal"),
    ("quantile:0.5", "exponential"),
    ("quantile:0.9", "t(5)"),
    ("shortfall:0.4", "normal"),
    ("shortfall:0.4", "coin"),
    ("semivariance:1", "exponential"),
    ("semivariance:0", "normal"),
    ("entropic:0.5", "normal"),
    ("entropic:1", "exponential"),
]


@pytest.mark.few(6)
@pytest.mark.parametrize(("offset", "scale"), [(0.0, 1.0), (1e6, 1e-3)])
@pytest.mark.parametrize(("risk", "law"), SPREADS)
def test_the_spread_of_an_estimate_is_what_it_is_said_to_be(risk: str, law: str, offset: float, scale: float) -> None:
    """Of 600 estimates from 1,000 rewards each, the variance against the average of what each says of itself.

    The variance of that many estimates is off by a quarter, four of its standard errors, once in 10,000 such tests.
    What a density estimate adds to a quantile's is a few hundredths more.
    """
    rewards = LAWS[law](np.random.default_rng(6), (600, 1_000))
    measure = ramgape.risks.make_risk(risk)
    moved = {"semivariance": offset + scale, "shortfall": offset + 0.4 * scale}
    if risk == "semivariance:0":
        moved["semivariance"] = offset
    if measure.name in moved:
        measure = type(measure)(moved[measure.name])
    elif measure.name == "entropic":
        measure = ramgape.Entropic(float(risk.partition(":")[2]) / scale)
    arms = learnt(measure, offset + scale * rewards).arms
    ratio = 1_000 * float(arms["risk"].var()) / float(arms["risk_spread"].mean())
    assert 0.7 < ratio < 1.3


# --- refusals ---------------------------------------------------------------------------------------------------------


def test_a_risk_from_outside_needs_a_kernel_for_them() -> None:
    class Plain(ramgape.Semivariance):
        unclipped = None

    with pytest.raises(InvalidSpec, match=r"needs `unclipped` for that, got 'semivariance:0.5'"):
        make_spec(["a", "b"], noise="any", epsilon=0.1, risk=Plain(0.5))
