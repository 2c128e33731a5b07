"""What the program computes as evidence is never more than the wealth at the truth: theorems 1 to 3 of
docs/theory/comparisons.md, number by number, for claims that are false.

Rewards take a few values, so that the wealth of every bet is known exactly; mixtures over bets are integrated.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import pytest
import scipy
from numpy.typing import NDArray

from ramgape.bounds import pairwise
from ramgape.core import comparisons
from ramgape.core.kernel import fixed
from ramgape.risks import moments, root
from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec
from ramgape.statistics.bets import GRID, WEIGHTS, log_mixtures, remainder
from ramgape.statistics.mixture import log_mixture, log_mixture_below

Floats = NDArray[np.float64]
ROUNDING = 1e-9


class Coin(NamedTuple):
    """Rewards of a few values, in [0, 1]."""

    values: tuple[float, ...]
    chances: tuple[float, ...]

    @property
    def mean(self) -> float:
        return float(np.dot(self.values, self.chances))

    def mean_variance(self, rho: float) -> float:
        return float(np.dot((np.array(self.values) - self.mean) ** 2, self.chances)) - rho * self.mean

    def draw(self, generator: np.random.Generator, count: int) -> Floats:
        return generator.choice(self.values, count, p=self.chances)


COINS = [
    Coin((0.0, 1.0), (0.7, 0.3)),
    Coin((0.0, 1.0), (0.03, 0.97)),
    Coin((0.0, 0.5, 1.0), (0.2, 0.5, 0.3)),
    Coin((0.1, 0.2, 0.9), (0.5, 0.4, 0.1)),
    Coin((0.5, 0.6), (0.5, 0.5)),
]


def grid_wealth(gains: Floats, reach: float) -> Floats:
    """ln of the wealth of each bet of the grid on gains of mean 0, never below -reach."""
    grid = np.array(GRID)
    allowed = grid * reach < 1.0
    wealth = np.full(len(grid), -math.inf)
    wealth[allowed] = np.log1p(grid[allowed, None] * gains).sum(axis=1)
    return wealth


def mixed(wealth: Floats) -> Floats:
    """ln of its mixtures, for the three scales."""
    return np.log(np.exp(wealth - wealth.max()) @ np.array(WEIGHTS).T) + wealth.max()


def sums_about(rewards: Floats, shift: float) -> tuple[float, ...]:
    return tuple(float(((rewards - shift) ** power).sum()) for power in range(5))


def test_the_remainder_is_rounded_up() -> None:
    for u in np.concatenate([np.geomspace(1e-9, 0.04, 50), np.linspace(0.04, 0.949, 400)]):
        exact = math.fsum(u**power / (power + 4) for power in range(1200))
        assert exact <= remainder(u) <= exact * (1.0 + 1e-3)


@pytest.mark.parametrize("coin", COINS)
@pytest.mark.parametrize("count", [3, 40, 2000])
def test_evidence_about_a_mean_is_at_most_the_wealth_at_the_truth(coin: Coin, count: int) -> None:
    rewards = coin.draw(np.random.default_rng(count), count)
    known = sums_about(rewards, rewards[0])
    for side, truth in ((1.0, coin.mean), (-1.0, 1.0 - coin.mean)):
        wealth = mixed(grid_wealth(side * (rewards - coin.mean), truth))
        for further in (0.0, 1e-6, 0.01, 0.1, 0.5, 1.0):
            hypothesis = coin.mean + side * further * (1.0 - truth)
            assert (np.array(log_mixtures(known, rewards[0], hypothesis, side)) <= wealth + ROUNDING).all()


def wealth_of_squares(gains: Floats, reach: float, scale: float) -> float:
    """ln of the mixture over l = (1 - e^(-c x)) / c of the products of 1 + l y, for the prior of section 3."""
    values, counts = np.unique(gains, return_counts=True)
    grid = np.concatenate([[0.0], np.geomspace(1e-4, 1e5, 4000)])
    bets = -np.expm1(-reach * grid) / reach
    prior = -scale * (reach * grid + np.expm1(-reach * grid)) / reach**2
    with np.errstate(divide="ignore"):  # all is lost where the bet is as large as can be
        heights = np.log1p(np.maximum(np.outer(bets, values), -1.0)) @ counts + prior
    above = scipy.integrate.trapezoid(np.exp(heights - heights.max()), grid)
    return float(heights.max() + math.log(above) - math.log(scipy.integrate.trapezoid(np.exp(prior), grid)))


@pytest.mark.parametrize("total", [0.0, 0.5, 4.0, 30.0, -1.0, -20.0])
def test_a_greater_reach_never_helps(total: float) -> None:
    """Lemmas 3 and 4: what is computed with a greater reach is at most the mixture with any smaller one."""
    for squares in (0.3, 5.0, 200.0):
        for scale in (0.03, 1.0, 30.0):
            exact = [integrated(total, squares, reach, scale) for reach in (0.05, 0.3, 1.0)]
            if total >= 0.0:
                assert exact[0] >= exact[1] - ROUNDING
                assert exact[1] >= exact[2] - ROUNDING
            for place, reach in enumerate((0.05, 0.3, 1.0)):
                if total > 0.0:
                    found = log_mixture(total, squares, reach, scale)
                else:
                    found = log_mixture_below(total, squares, squares, reach, scale)
                assert found <= min(exact[: place + 1]) + 1e-7


def integrated(total: float, squares: float, reach: float, scale: float) -> float:
    """ln M(s, v; c)."""
    grid = np.concatenate([[0.0], np.geomspace(1e-5, 1e6, 20_000)])
    bets = -np.expm1(-reach * grid) / reach
    losses = (reach * grid + np.expm1(-reach * grid)) / reach**2
    heights = total * bets - (squares + scale) * losses
    above = scipy.integrate.trapezoid(np.exp(heights - heights.max()), grid)
    return float(heights.max() + math.log(above) - math.log(scipy.integrate.trapezoid(np.exp(-scale * losses), grid)))


def two_arms(first: Floats, second: Floats, risk: str = "mean-variance:0.2") -> Engine:
    asked: dict[str, Any] = {"epsilon": 0.0, "delta": 0.5, "bound": "pairwise", "reward_range": (0, 1), "risk": risk}
    engine = Engine(make_spec(["a", "b"], **asked))
    engine.rows.searches[0].next_look = 10**9  # nothing is designated but by the test
    tell(engine, first, second)
    return engine


def tell(engine: Engine, first: Floats, second: Floats) -> None:
    for arm, rewards in enumerate((first, second)):
        for reward in rewards:
            engine.tell(arm, float(reward))


def put_boxes(engine: Engine, coins: tuple[Coin, Coin]) -> None:
    """Intervals of the mean that hold, around the truth but not centred at it."""
    for row, coin in zip(engine.rows.arms, coins, strict=True):
        row.mean_low, row.mean_high = max(coin.mean - 0.06, 0.0), min(coin.mean + 0.14, 1.0)


def cells_with(point: float, low: float, high: float, generator: np.random.Generator) -> list[tuple[float, float]]:
    """Cells of some sizes that contain a point."""
    found = [(point, point)]
    for size in (1e-4, 1e-2, 0.1, 0.3):
        start = point - size * generator.random()
        found.append((max(start, low), min(start + size, high)))
    return found


PAIRS = [(first, second) for first in COINS for second in COINS if first.mean <= second.mean]


def searched(coins: tuple[Coin, Coin], rewards: tuple[Floats, Floats], since: int, risk: str) -> Engine:
    """A search that has seen these rewards, before which an answer was designated if `since` is 1."""
    if not since:
        return two_arms(*rewards, risk)
    generator = np.random.default_rng(7)
    engine = two_arms(*(coin.draw(generator, 40) for coin in coins), risk)
    comparisons.designate(*engine.rows.records)
    tell(engine, *rewards)
    return engine


@pytest.mark.few(2)
@pytest.mark.parametrize("since", [0, 1])
@pytest.mark.parametrize("count", [10, 300])
def test_two_means_are_compared_by_less_than_the_wealth(count: int, since: int) -> None:
    generator = np.random.default_rng(5)
    for lower, higher in PAIRS:
        first, second = lower.draw(generator, count), higher.draw(generator, 2 * count)
        engine = searched((lower, higher), (first, second), since, "mean-variance:0.2")
        own = mixed(grid_wealth(first - lower.mean, lower.mean))
        other = mixed(grid_wealth(higher.mean - second, 1.0 - higher.mean))
        wealth = float(np.logaddexp.reduce(own + other) - math.log(3.0))
        for point in np.linspace(lower.mean, higher.mean, 4):
            for start, end in cells_with(point, 0.0, 1.0, generator):
                assert on_means(engine, start, end, since) <= wealth + ROUNDING


def on_means(engine: Engine, start: float, end: float, since: int) -> float:
    arms, memory, _, problem = engine.rows.records
    return float(pairwise.least_on_mean((start, end), arms[0], memory[0], arms[1], memory[1], problem, 0.0, since, 5.0))


def on_risks(engine: Engine, cell: tuple[float, float], since: int, variance_at: Any, level: float = math.inf) -> float:
    """With the usual cells of means; with fine ones, too, if the level is none, which no evidence reaches or misses."""
    arms, memory, _, problem = engine.rows.records
    least_on = fixed(pairwise.least_on_risk, variance_at)
    return float(least_on(cell, arms[0], memory[0], arms[1], memory[1], problem, 0.0, since, level))


def least_and_most(mean: float, rho: float) -> tuple[float, float]:
    """The ends of (x - mean)^2 - rho x for x in [0, 1]."""
    lowest = min(mean + 0.5 * rho, 1.0)
    return (lowest - mean) ** 2 - rho * lowest, max(mean**2, (1.0 - mean) ** 2 - rho)


def gains_on_risk(rewards: Floats, coin: Coin, rho: float, side: float) -> tuple[Floats, float]:
    """What bets on the risk are on, at the truth, and the most that they can lose."""
    low, high = least_and_most(coin.mean, rho)
    truth = coin.mean_variance(rho)
    gains = side * ((rewards - coin.mean) ** 2 - rho * rewards - truth)
    return gains, truth - low if side > 0.0 else high - truth


RISKS = [("mean-variance:0.2", 0.2, moments.variance_at), ("std", 0.0, root.variance_at)]


def risky_pairs(rho: float) -> list[tuple[Coin, Coin]]:
    """Pairs of which the first has no less risk: it is not ahead."""
    return [
        (first, second) for first in COINS for second in COINS if first.mean_variance(rho) >= second.mean_variance(rho)
    ]


@pytest.mark.few(2)
@pytest.mark.parametrize("since", [0, 1])
@pytest.mark.parametrize(("risk", "rho", "variance_at"), RISKS)
def test_two_risks_are_compared_by_less_than_the_wealth(risk: str, rho: float, variance_at: Any, since: int) -> None:
    generator = np.random.default_rng(6)
    for more, less in risky_pairs(rho):
        first, second = more.draw(generator, 150), less.draw(generator, 60)
        engine = searched((more, less), (first, second), since, risk)
        put_boxes(engine, (more, less))
        wealth = -math.inf
        for scale in engine.problem[0]["pair_scales"]:
            own = wealth_of_squares(*gains_on_risk(first, more, rho, -1.0), scale)
            other = wealth_of_squares(*gains_on_risk(second, less, rho, 1.0), scale)
            wealth = np.logaddexp(wealth, own + other - math.log(3.0))
        for cell in cells_with(risk_of(engine, less, rho), 0.0 if rho == 0.0 else -1.0, 1.0, generator):
            for level in (math.inf, math.nan):
                assert on_risks(engine, cell, since, variance_at, level) <= wealth + 1e-4, (more, less)


@pytest.mark.parametrize(("risk", "rho", "variance_at"), RISKS)
def test_a_deviation_that_is_nearly_proved_is_looked_at_more_closely(risk: str, rho: float, variance_at: Any) -> None:
    generator = np.random.default_rng(8)
    engine = two_arms(generator.random(120) < 0.85, generator.random(160) < 0.4, risk)
    between = 0.6 * float(engine.arms[0]["risk"]) + 0.4 * float(engine.arms[1]["risk"])
    cell = between, between
    usual = on_risks(engine, cell, 0, variance_at)
    assert usual > 1.0
    for level, closely in ((usual, False), (1.01 * usual, True), (1.6 * usual, True), (1.7 * usual, False)):
        found = on_risks(engine, cell, 0, variance_at, level)
        assert found > 1.05 * usual if closely and risk == "std" else found == usual


def risk_of(engine: Engine, coin: Coin, rho: float) -> float:
    """The true risk on the engine's scale."""
    found = coin.mean_variance(rho)
    return float(engine.problem[0]["alpha"]) * (math.sqrt(found) if rho == 0.0 else found)
