"""An arm's mean and variance stay right: far from zero, for nearly constant rewards, after very many pulls."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from ramgape import identify
from ramgape.risks.means import mean_of, variance_of
from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec
from tests.loops import compiled_loop
from tests.support import changing, make_engine

ROUNDING = 2.0**-53


def repeat_slowly(learn: Any, arms: Any, memory: Any, search: Any, problem: Any, values: Any, count: int) -> bool:
    """Pull arm 0 so often, with these rewards over and over; tells whether its variance was ever negative."""
    negative = False
    place = 0
    for _ in range(count):
        learn(arms, memory, search, problem, 0, values[place])
        place = place + 1 if place + 1 < len(values) else 0
        negative |= not arms[0].variance >= 0.0
    return negative


repeat = compiled_loop(repeat_slowly)


def gaussian_engine() -> Engine:
    """Rewards of any size, not scaled: what the engine sums is what it is told."""
    return make_engine(2, "gaussian-paper")


def row_after(rewards: Iterable[float], engine: Engine | None = None) -> Any:
    engine = engine or gaussian_engine()
    for reward in rewards:
        engine.tell(0, reward)
        assert engine.arms["variance"][0] >= 0.0
    return engine.arms[0]


def exact_moments(values: Iterable[float], times: int = 1, extra: int = 0) -> tuple[Fraction, Fraction]:
    """Mean and plug-in variance without any rounding: all values `times` times, the first `extra` once more."""
    fractions = [Fraction(value) for value in values]
    every = [(value, times + (place < extra)) for place, value in enumerate(fractions)]
    count = sum(weight for _, weight in every)
    mean = sum((weight * value for value, weight in every), Fraction(0)) / count
    return mean, sum((weight * (value - mean) ** 2 for value, weight in every), Fraction(0)) / count


def check_moments(row: Any, mean: Fraction, variance: Fraction, spread: float) -> None:
    """Right up to a few roundings: of the mean relative to itself, of the rest relative to the rewards' spread."""
    assert abs(Fraction(float(row["average"])) - mean) <= ROUNDING * (2 * abs(mean) + 8 * spread)
    assert abs(Fraction(float(row["variance"])) - variance) <= 16 * ROUNDING * spread**2


# --- a few thousand rewards -----------------------------------------------------------------------


@pytest.mark.parametrize("offset", [0.0, 1.0, -1e6, 1e9, -1e12])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_a_large_offset_costs_nothing(offset: float, scale: float) -> None:
    rewards = (offset + scale * np.random.default_rng(1).standard_normal(4000)).tolist()
    row = row_after(rewards)
    mean, variance = exact_moments(rewards)
    check_moments(row, mean, variance, max(rewards) - min(rewards))


@pytest.mark.parametrize("value", [0.1, 1.0 / 3.0, 1e9 + 0.1, -1e-300, 5e-324, 0.0])
def test_constant_rewards_have_no_variance(value: float) -> None:
    row = row_after([value] * 1000)
    assert row["average"] == value
    assert row["variance"] == 0.0


@pytest.mark.parametrize("reward_range", [(0.0, 1.0), (-3.0, 7.0), (1e9, 1e9 + 1.0)])
def test_nearly_constant_rewards(reward_range: tuple[float, float]) -> None:
    low, high = reward_range
    engine = make_engine(2, "paper", reward_range=reward_range)
    middle = low + 0.7 * (high - low)
    neighbour = np.nextafter(middle, high)
    rewards = [middle, neighbour, middle, middle] * 500
    row = row_after(rewards, engine)
    shares = [(reward - low) / (high - low) for reward in rewards]
    mean, variance = exact_moments(shares)
    check_moments(row, mean, variance, max(shares) - min(shares))


def test_an_outlying_first_reward_does_little_harm() -> None:
    """Sums are taken about the first reward, so here everything is far from the centre."""
    rewards = [1.0, *(0.25 + 1e-4 * np.random.default_rng(2).standard_normal(5000)).tolist()]
    mean, variance = exact_moments(rewards)
    check_moments(row_after(rewards), mean, variance, 1.0)


def test_the_order_of_rewards_hardly_matters() -> None:
    generator = np.random.default_rng(3)
    rewards = generator.beta(0.12, 0.08, 3000)
    first = row_after(rewards.tolist())
    mean, variance, pulls = (first[column].item() for column in ("average", "variance", "pulls"))
    for _ in range(5):
        again = row_after(generator.permutation(rewards).tolist())
        assert again["pulls"] == pulls
        assert again["average"] == pytest.approx(mean, rel=4 * ROUNDING)
        assert again["variance"] == pytest.approx(variance, rel=1e-14)


@pytest.mark.parametrize("reward_range", [(-3.0, 7.0), (0.0, 1.0), (100.0, 101.0), (-1e-3, 1e-3), (0.0, 1e12)])
@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_any_range_of_rewards(reward_range: tuple[float, float], direction: str) -> None:
    """On the engine's scale rewards lie in [0, 1]; in the result they are the user's again."""
    low, high = reward_range
    rewards = np.random.default_rng(4).uniform(low, high, (2, 300))
    readers = [iter(rewards[arm].tolist()) for arm in range(2)]
    result = identify(
        lambda arm: next(readers[arm]),
        [0, 1],
        reward_range=reward_range,
        budget=600,
        epsilon=0.01 * (high - low),
        rho=0.5 * (high - low),
        policy="round-robin",
        direction=direction,
    )
    sign = 1.0 if direction == "maximize" else -1.0
    for arm in range(2):
        mean, variance = (float(moment) for moment in exact_moments(rewards[arm].tolist()))
        report = result.arms[arm]
        risk = result.alpha * (variance - sign * result.rho * mean)
        assert report.mean == pytest.approx(mean, rel=1e-13, abs=1e-13 * (high - low))
        assert report.variance == pytest.approx(variance, rel=1e-12)
        assert report.risk == pytest.approx(risk, rel=1e-12, abs=1e-12 * (high - low))
        assert report.mean_interval[0] < report.mean < report.mean_interval[1]
        assert report.risk_interval[0] < report.risk < report.risk_interval[1]


def test_extreme_rewards_of_a_range_become_0_and_1() -> None:
    engine = Engine(make_spec(["a", "b"], reward_range=(-3.0, 7.0), epsilon=0.1))
    for reward in (7.0, -3.0, -3.0, 7.0):
        engine.tell(0, reward)
    assert engine.arms["average"][0] == 0.5
    assert engine.arms["variance"][0] == 0.25
    costs = Engine(make_spec(["a", "b"], reward_range=(-3.0, 7.0), epsilon=0.1, direction="minimize"))
    for reward in (7.0, 7.0, 7.0, -3.0):
        costs.tell(0, reward)
    assert costs.arms["average"][0] == 0.25


# --- very many ------------------------------------------------------------------------------------

CYCLES = {
    "constant": [0.1],
    "alternating": [0.1, 0.7],
    "decimals": [share / 1000.0 for share in range(1000)],
    "far away": [1e9 + 0.1, 1e9 + 0.7, 1e9 - 0.4],
    "rarely different": [0.3] * 9999 + [1.0],
    "outlier first": [1.0, *([0.3] * 9999)],
}


def check_cycles(name: str, count: int) -> None:
    values = CYCLES[name]
    engine = gaussian_engine()
    with changing(engine) as state:
        assert not repeat(engine.rule.learn, *state.records, np.array(values), count)
    row = engine.arms[0]
    assert row["pulls"] == engine.samples == count
    times, extra = divmod(count, len(values))
    mean, variance = exact_moments(values, times, extra)
    check_moments(row, mean, variance, max(values) - min(values))
    offsets = [value - values[0] for value in values]
    for power, column in ((3, "cubes"), (4, "fourths")):
        exact = times * sum((Fraction(offset) ** power for offset in offsets), Fraction(0))
        exact += sum((Fraction(offset) ** power for offset in offsets[:extra]), Fraction(0))
        found = Fraction(float(row[column])) + Fraction(float(row[f"{column}_carry"]))
        assert abs(found - exact) <= 4 * ROUNDING * count * max(map(abs, offsets)) ** power
    if name == "constant":
        assert (row["average"], row["variance"]) == (0.1, 0.0)


@pytest.mark.parametrize("name", list(CYCLES))
def test_ten_million_rewards(name: str) -> None:
    check_cycles(name, 10_000_019)


@pytest.mark.long
@pytest.mark.parametrize("name", list(CYCLES))
def test_a_hundred_million_rewards(name: str) -> None:
    check_cycles(name, 100_000_007)


def check_spread(count: int) -> None:
    """Of a law whose squared distances from the mean are nearly the same: little of the fourth powers is left over."""
    values = [1.0, 0.3] * 4999 + [0.3, 0.3]
    engine = make_engine(2, "gaussian-paper", rho=0.0)
    with changing(engine) as state:
        repeat(engine.rule.learn, *state.records, np.array(values), count)
    high, low, share = Fraction(values[0]), Fraction(values[1]), Fraction(4999, 10000)
    mean = low + share * (high - low)
    spread = share * (1 - share) * ((high - mean) ** 2 - (low - mean) ** 2) ** 2
    alpha = Fraction(float(engine.problem[0]["alpha"]))
    assert float(engine.arms["risk_spread"][0]) == pytest.approx(float(alpha * alpha * spread), rel=1e-7, abs=0.0)


def test_the_spread_of_a_two_point_law() -> None:
    check_spread(1_000_000)


@pytest.mark.long
def test_the_spread_of_a_two_point_law_after_a_hundred_million_rewards() -> None:
    check_spread(100_000_000)


def test_a_million_rewards_transformed() -> None:
    """After an outlier the others are all alike: their variance is that of one reward among so many."""
    count = 1_000_000
    rewards = np.full(count, 0.7)
    rewards[0] = 0.0
    engine = make_engine(2, "none", policy="evidence", risk="semivariance:1", budget=2 * count)
    with changing(engine) as state:
        repeat(engine.rule.learn, *state.records, rewards, count)
    row, past = engine.rows.arms[0], engine.memory[0]
    step = Fraction(1) - Fraction(float(1.0 - 0.7) ** 2)
    assert mean_of(row, past) == pytest.approx(float(1 - step * (count - 1) / count), rel=8 * ROUNDING)
    assert variance_of(row, past) == pytest.approx(float(step * step * (count - 1) / count**2), rel=1e-9, abs=0.0)


def test_a_million_simulated_rewards() -> None:
    rewards = np.random.default_rng(6).beta(13.5171, 9.8779, 1_000_000)
    engine = gaussian_engine()
    with changing(engine) as state:
        assert not repeat(engine.rule.learn, *state.records, rewards, len(rewards))
    mean = math.fsum(rewards) / len(rewards)
    distances = rewards - mean
    variance = math.fsum(distances * distances) / len(rewards) - (math.fsum(distances) / len(rewards)) ** 2
    assert engine.arms["average"][0] == pytest.approx(mean, rel=4 * ROUNDING)
    assert engine.arms["variance"][0] == pytest.approx(variance, rel=1e-14)
