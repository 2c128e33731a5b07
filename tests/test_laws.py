"""The lower bound among all laws in a range: prices, the nearest alternatives, and what is said of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy
from numpy.typing import NDArray

import ramgape
from ramgape.core.pareto import pareto_front
from ramgape.errors import InvalidInstance
from ramgape.problems.distributions import Bernoulli, Beta, Data
from ramgape.problems.environments import Arm, Gaussian, Instance
from ramgape.questions.best import BestMean, LeastRisk
from ramgape.simulation.alternatives import families_of, nearest
from ramgape.simulation.laws import Laws, law_of, price_moments, tables_of
from ramgape.simulation.lower_bound import lower_bound, relative_entropy
from tests.reference.lower_bound import slow_law_distance, slow_law_minimum

Floats = NDArray[np.float64]

GRID = np.linspace(0.0, 1.0, 21)
ARMS: dict[str, list[list[float]]] = {
    "coins": [[0] * 3 + [1] * 7, [0] * 5 + [1] * 5],
    "good coins": [[0] * 2 + [1] * 8, [0] * 3 + [1] * 7],
    "narrow": [[0.6, 0.6, 0.7, 0.8], [0.3, 0.4, 0.5, 0.6]],
    "a rare 0": [[0.8] * 9 + [0], [0.5, 0.6, 0.7, 0.6]],
    "three": [[0.1, 0.5, 0.9, 0.9], [0.3, 0.4, 0.6, 0.6], [0.2, 0.4, 0.4, 0.5]],
    "equal spreads": [[0.3, 0.5, 0.5, 0.7], [0.4, 0.6, 0.6, 0.8]],
}
NEARLY = 0.06  # tables are interpolated: within 1% for most laws, within 6% for coins with a tolerance


def laws_of(case: str) -> tuple[Laws, list[tuple[Floats, Floats]]]:
    """The same arms as they are priced, and as values with their shares."""
    listed = []
    for values in ARMS[case]:
        unique, counts = np.unique(values, return_counts=True)
        listed.append((unique, counts / counts.sum()))
    return Laws([Data(tuple(map(float, values))) for values in ARMS[case]], 0.0, 1.0, 0.0, True), listed


def coin_divergence(p: Any, q: Any) -> Any:
    return scipy.special.rel_entr(p, q) + scipy.special.rel_entr(1.0 - p, 1.0 - q)


def instance(*distributions: Any, low: float = 0.0, high: float = 1.0) -> Instance:
    arms = tuple(Arm(f"arm {place}", each) for place, each in enumerate(distributions))
    return Instance("laws", arms, (low, high), "bounded")


# ------------------------------------------------------------------------------------------ prices


@pytest.mark.parametrize("at_least", [True, False])
def test_a_coin_with_another_mean_is_a_coin(at_least: bool) -> None:
    """Where the variance asks for nothing; no law is nearer, and no law has more variance than a coin."""
    law, means = law_of(Bernoulli(0.3), 0.0, 1.0), np.linspace(0.02, 0.98, 25)
    demanded = np.zeros(25) if at_least else means * (1.0 - means)
    prices = price_moments(law, means, demanded, at_least).price
    assert prices == pytest.approx(coin_divergence(0.3, means), abs=1e-9)
    beyond = price_moments(law, means, means * (1.0 - means) + 1e-6, at_least=True).price
    assert np.isinf(beyond).all()


def test_a_constant_must_become_rare() -> None:
    """From 0.5 always to a mean of 0.5 + d: a share 2d of ones; to a variance v: shares of 4v at the ends."""
    law = law_of(Data((0.5, 0.5)), 0.0, 1.0)
    off = np.array([0.01, 0.1, 0.3])
    assert price_moments(law, 0.5 + off, 0.0, True).price == pytest.approx(-np.log1p(-2.0 * off), rel=1e-6)
    assert price_moments(law, 0.5, off / 2.0, True).price == pytest.approx(-np.log1p(-2.0 * off), rel=1e-6)


@pytest.mark.parametrize("case", ARMS)
def test_prices_are_those_of_the_cheapest_laws(case: str) -> None:
    """Against a search among vectors of probabilities, which knows nothing of the dual."""
    tables, (law, *_) = laws_of(case)
    generator, first = np.random.default_rng(3), np.array(0)
    for _ in range(3):
        mean = np.clip(tables.means[0] + generator.uniform(-0.2, 0.2), 0.1, 0.9)
        std = np.clip(tables.risks[0] * generator.uniform(0.6, 1.5), 0.05, 0.4)
        worse = slow_law_minimum([law], np.ones(1), GRID, [0], lambda m, s, *at: [mean - m[0], s[0] - std])  # noqa: B023
        better = slow_law_minimum([law], np.ones(1), GRID, [0], lambda m, s, *at: [m[0] - mean, std - s[0]])  # noqa: B023
        for slow, found in ((worse, tables.worsened), (better, tables.improved)):
            price = found(first, np.array(mean), np.array(std))
            assert price == pytest.approx(slow, rel=NEARLY, abs=1e-6)


@pytest.mark.parametrize("distribution", [Beta(0.12, 0.08), Beta(60, 40), Bernoulli(0.5), Data((0.5, 0.5))])
def test_more_is_never_cheaper(distribution: Any) -> None:
    tables = tables_of(distribution, 0.0, 1.0, 0.0, True)
    means, risks = tables.means.nodes()[:, None], tables.risks.nodes()
    worse = tables.worse * tables.normal_price(means, risks, better=False)
    better = tables.better * tables.normal_price(means, risks, better=True)
    slack = 1e-6
    for harder, easier in (
        (worse[:-1], worse[1:]),
        (worse[:, 1:], worse[:, :-1]),
        (better[1:], better[:-1]),
        (better[:, :-1], better[:, 1:]),
    ):
        assert (harder >= (1.0 - slack) * easier - 1e-9).all()


# ------------------------------------------------------------------------------------ alternatives


@pytest.mark.parametrize("epsilon", [0.0, 0.05])
@pytest.mark.parametrize("case", ARMS)
def test_the_nearest_alternative_by_brute_force(case: str, epsilon: float) -> None:
    arms, laws = laws_of(case)
    weights = np.random.default_rng(3).dirichlet(3.0 * np.ones(len(laws)))
    answer = pareto_front(arms.means, arms.risks)
    families = families_of(ramgape.Pareto(), arms, answer, epsilon, epsilon)
    found = min((nearest(family, weights) @ weights).min(initial=math.inf) for family in families)
    slow = slow_law_distance(laws, weights, epsilon, answer, GRID)
    assert found == pytest.approx(slow, rel=NEARLY, abs=1e-7)  # of a tie the search comes within 1e-8


@pytest.mark.parametrize("epsilon", [0.0, 0.04])
def test_limits_by_brute_force(epsilon: float) -> None:
    """By the definition of a wrong answer, under a ceiling, over a floor, with no arm that will do, and without."""
    arms, laws = laws_of("three")
    weights, others = np.array([0.5, 0.3, 0.2]), (0, 1, 2)

    def check(task: Any, answer: list[int], wrong: list[tuple[list[int], Any]]) -> None:
        mask = np.isin(np.arange(3), answer)
        (family,) = families_of(task, arms, mask, epsilon, epsilon)
        found = float((nearest(family, weights) @ weights).min())
        slow = min(slow_law_minimum(laws, weights, GRID, *each) for each in wrong)
        assert found == pytest.approx(slow, rel=0.03)

    misses = [([1], lambda m, s: [s[1] - 0.2 - epsilon])]
    overtaken = [([1, j], lambda m, s, j=j: [m[j] - m[1] - epsilon, 0.2 - epsilon - s[j]]) for j in others if j != 1]
    check(BestMean(0.2), [1], misses + overtaken)
    check(BestMean(0.1), [], [([j], lambda m, s, j=j: [0.1 - epsilon - s[j]]) for j in others])
    short = [([1], lambda m, s: [0.4 - epsilon - m[1]])]
    safer = [([1, j], lambda m, s, j=j: [m[j] - 0.4 - epsilon, s[1] - s[j] - epsilon]) for j in others if j != 1]
    check(LeastRisk(0.4), [1], short + safer)
    check(LeastRisk(), [2], [([2, j], lambda m, s, j=j: [s[2] - s[j] - epsilon]) for j in others if j != 2])


# ---------------------------------------------------------------------------------- the lower bound


def test_the_best_of_two_coins_is_the_classic_bound() -> None:
    """Garivier and Kaufmann (2016), for Bernoulli arms: no law with a mean is nearer to a coin than a coin."""
    one, two = 0.7, 0.4

    def nearness(share: float) -> float:
        def cost(mean: float) -> float:
            return float(share * coin_divergence(one, mean) + (1.0 - share) * coin_divergence(two, mean))

        return -scipy.optimize.minimize_scalar(cost, bounds=(two, one), method="bounded").fun

    best = -scipy.optimize.minimize_scalar(nearness, bounds=(0.01, 0.99), method="bounded").fun
    bound = lower_bound(instance(Bernoulli(one), Bernoulli(two)), question="best")
    assert bound.samples == pytest.approx(relative_entropy(0.05) / best, rel=0.01)
    assert bound.exact
    assert bound.note.startswith("for rewards of any kind between 0 and 1 it is exact, for every delta")


def test_units_and_directions_do_not_matter() -> None:
    arms = [Beta(8, 2), Beta(3, 5), Bernoulli(0.6)]
    expected = lower_bound(instance(*arms), risk="std", epsilon=0.05)
    wide = [Beta(8, 2, -5, 15), Beta(3, 5, -5, 15), Bernoulli(0.6, -5, 15)]
    costs = [Beta(2, 8, 1, 2), Beta(5, 3, 1, 2), Bernoulli(0.4, 1, 2)]
    for found in (
        lower_bound(instance(*wide, low=-5.0, high=15.0), risk="std", epsilon=1.0),
        lower_bound(instance(*costs, low=1.0, high=2.0), risk="std", epsilon=0.05, direction="minimize"),
        lower_bound(instance(*arms), risk="std", epsilon=(0.05, 0.05)),
    ):
        assert found.samples == pytest.approx(expected.samples, rel=0.005)
        assert list(found.allocation.values()) == pytest.approx(list(expected.allocation.values()), abs=0.02)


@pytest.mark.parametrize(
    ("question", "turned"), [("best:max-risk=0.2", "best:max-risk=4"), ("least-risk:min-mean=0.3", None)]
)
def test_limits_are_in_the_units_of_the_user(question: str, turned: str | None) -> None:
    arms = [Beta(8, 2), Beta(3, 5), Bernoulli(0.6)]
    expected = lower_bound(instance(*arms), risk="std", epsilon=0.02, question=question)
    wide = instance(Beta(8, 2, -5, 15), Beta(3, 5, -5, 15), Bernoulli(0.6, -5, 15), low=-5.0, high=15.0)
    found = lower_bound(wide, risk="std", epsilon=0.4, question=turned or "least-risk:min-mean=1")
    assert found.samples == pytest.approx(expected.samples, rel=0.005)
    assert found.allocation == pytest.approx(expected.allocation, abs=0.02)
    costs = instance(Beta(2, 8, 1, 2), Beta(5, 3, 1, 2), Bernoulli(0.4, 1, 2), low=1.0, high=2.0)
    asked: Any = {"question": question if turned else "least-risk:min-mean=1.7", "direction": "minimize"}
    found = lower_bound(costs, risk="std", epsilon=0.02, **asked)
    assert found.samples == pytest.approx(expected.samples, rel=0.005)


def test_a_search_cannot_be_faster() -> None:
    """Coins of which the Gaussian formula knows nothing: 20 searches take more on average than the bound."""
    coins = instance(Bernoulli(0.8), Bernoulli(0.5))
    bound = lower_bound(coins, risk="std", epsilon=0.0)
    assert bound.exact
    found = ramgape.replicate(coins, risk="std", epsilon=0.0, runs=20)
    assert found.errors == 0
    assert found.mean_samples > bound.samples


def test_a_constant_arm_has_a_bound() -> None:
    """Of arms in a range nothing need be uncertain: a sure 0.5 could be a law with a rare 1."""
    bound = lower_bound(instance(Data((0.5, 0.5)), Data((0.4, 0.4))), question="best", epsilon=0.0)
    # Shares w and 1 - w meet at m: the first becomes 0 with probability 1 - m / 0.5, the other 1 with (m - 0.4) / 0.6.
    shares, means = np.linspace(0.001, 0.999, 999)[:, None], np.linspace(0.4, 0.5, 1001)
    costs = -shares * np.log(means / 0.5) - (1.0 - shares) * np.log1p(-(means - 0.4) / 0.6)
    assert bound.samples == pytest.approx(relative_entropy(0.05) / costs.min(axis=1).max(), rel=0.01)


@pytest.mark.parametrize("assumption", ["unknown", "heavy:kurtosis=10"])
def test_of_other_rewards_none_is_known(assumption: str) -> None:
    arms = (Arm("a", Gaussian(0.0, 1.0)), Arm("b", Gaussian(1.0, 1.0)))
    with pytest.raises(InvalidInstance, match="noise must be bounded or gaussian for a lower bound"):
        lower_bound(Instance("other", arms, None, assumption))
