"""The truth of every distribution: against exact fractions, scipy and numerical integration."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import scipy
from hypothesis import given
from hypothesis import strategies as st

from ramgape.common.checks import LARGEST, SMALLEST
from ramgape.errors import InvalidInstance
from ramgape.problems.distributions import Bernoulli, Beta, Data, Distribution, Gaussian, Uniform
from ramgape.problems.environments import DISTRIBUTIONS, Arm, Instance

EXAMPLES: list[tuple[Distribution, Any]] = [
    (Beta(2, 3), scipy.stats.beta(2, 3)),
    (Beta(0.08, 0.12), scipy.stats.beta(0.08, 0.12)),
    (Beta(9.8779, 13.5171, low=-2, high=5), scipy.stats.beta(9.8779, 13.5171, loc=-2, scale=7)),
    (Bernoulli(0.3), scipy.stats.bernoulli(0.3)),
    (Uniform(-1, 4), scipy.stats.uniform(-1, 5)),
    (Gaussian(0.5, 0.04), scipy.stats.norm(0.5, 0.2)),
]


@pytest.mark.parametrize(("distribution", "reference"), EXAMPLES)
def test_mean_and_variance_are_those_of_scipy(distribution: Distribution, reference: Any) -> None:
    assert distribution.mean == pytest.approx(reference.mean(), rel=1e-12)
    assert distribution.variance == pytest.approx(reference.var(), rel=1e-12)


@pytest.mark.parametrize(
    ("distribution", "reference"), [pair for pair in EXAMPLES if not isinstance(pair[0], Bernoulli)]
)
def test_mean_and_variance_are_the_integrals(distribution: Distribution, reference: Any) -> None:
    # over quantiles instead of rewards: the density of Beta(0.08, 0.12) is infinite at both ends
    def expectation(power: int, centre: float) -> float:
        def integrand(share: float) -> float:
            return float((reference.ppf(share) - centre) ** power)

        return float(scipy.integrate.quad(integrand, 0, 1, limit=500)[0])

    assert distribution.mean == pytest.approx(expectation(1, 0.0), abs=1e-6)
    assert distribution.variance == pytest.approx(expectation(2, distribution.mean), rel=1e-5)


shapes = st.floats(SMALLEST, LARGEST)


@given(a=shapes, b=shapes)
def test_beta_is_exact_for_tiny_and_huge_shapes(a: float, b: float) -> None:
    total = Fraction(a) + Fraction(b)
    mean = Fraction(a) / total
    variance = mean * (1 - mean) / (total + 1)
    assert Beta(a, b).mean == pytest.approx(float(mean), rel=1e-14, abs=0)
    assert Beta(a, b).variance == pytest.approx(float(variance), rel=1e-14, abs=0)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.sampled_from([0.0, 1e8, -1e12]))
def test_data_is_exact_even_far_from_zero(spread: list[float], offset: float) -> None:
    values = tuple(offset + value for value in spread)
    exact = [Fraction(value) for value in values]
    mean = sum(exact) / len(exact)
    variance = sum((value - mean) ** 2 for value in exact) / len(exact)
    data = Data(values)
    assert data.mean == pytest.approx(float(mean), rel=1e-15, abs=1e-300)
    assert data.variance == pytest.approx(float(variance), rel=1e-12, abs=1e-300)


def test_equal_values_have_no_variance() -> None:
    assert Data((0.1,) * 3).mean == 0.1
    assert Data((0.1,) * 3).variance == 0.0


def test_variance_of_data_does_not_cancel() -> None:
    assert Data((1e9, 1e9 + 1)).variance == 0.25
    # two neighbouring floats, whose mean is no float
    assert Data((1.0, 1.0 + 2.0**-52)).variance == 2.0**-106


@given(p=st.floats(0, 1), low=st.floats(-1e3, 1e3), span=st.floats(1e-3, 1e3))
def test_shifting_and_scaling(p: float, low: float, span: float) -> None:
    high = low + span
    pairs: list[tuple[Distribution, Distribution]] = [
        (Bernoulli(p), Bernoulli(p, low, high)),
        (Beta(1 + p, 2), Beta(1 + p, 2, low, high)),
        (Uniform(0, 1), Uniform(low, high)),
    ]
    for plain, moved in pairs:
        assert moved.mean == pytest.approx(low + (high - low) * plain.mean)
        assert moved.variance == pytest.approx((high - low) ** 2 * plain.variance)
        assert moved.support == (low, high)
        assert low <= moved.mean <= high


def test_supports() -> None:
    assert Beta(1, 2).support == (0.0, 1.0)
    assert Data((0.4, 0.1, 0.2)).support == (0.1, 0.4)
    assert Gaussian(0, 1).support is None


def test_mean_of_an_extreme_beta_stays_in_its_range() -> None:
    low, high = -0.1, 0.3
    assert low + (high - low) > high  # why a `min` is needed
    assert Beta(1e50, 1e-50, low, high).mean == high


@pytest.mark.parametrize(
    ("kind", "arguments", "place"),
    [
        (Beta, (0, 1), "a"),
        (Beta, (1, -1), "b"),
        (Beta, (math.nan, 1), "a"),
        (Beta, (1, math.inf), "b"),
        (Beta, ("2", 1), "a"),
        (Beta, (True, 1), "a"),
        (Beta, (None, 1), "a"),
        (Beta, (10**400, 1), "a"),
        (Beta, (1, 1, 1, 0), "low"),
        (Beta, (1, 1, 0, 0), "low"),
        (Beta, (1, 1, -math.inf, 0), "low"),
        (Beta, (1, 1, 0, 1e300), "high"),
        (Bernoulli, (1.5,), "p"),
        (Bernoulli, (-0.1,), "p"),
        (Bernoulli, (0.5, 2), "low"),
        (Uniform, (1, 1), "low"),
        (Uniform, (0, "1"), "high"),
        (Gaussian, (0, 0), "variance"),
        (Gaussian, (0, -1), "variance"),
        (Gaussian, (math.nan, 1), "mean"),
        (Data, ((),), "values"),
        (Data, ("0.5",), "values"),
        (Data, (0.5,), "values"),
        (Data, ({0.5: 1},), "values"),
        (Data, ((0.5, math.nan),), "values[1]"),
        (Data, ((0.5, "x"),), "values[1]"),
        (Data, ((0.5, True),), "values[1]"),
        (Data, (([0.5], 1),), "values[0]"),
    ],
)
def test_nonsense_is_refused_by_the_name_of_the_argument(kind: Any, arguments: Any, place: str) -> None:
    with pytest.raises(InvalidInstance) as caught:
        kind(*arguments)
    assert str(caught.value).startswith(f"{place} must be ")
    assert ", got " in str(caught.value)


def test_distributions_are_values() -> None:
    assert Beta(2, 3) == Beta(2.0, 3.0)
    assert hash(Beta(2, 3)) == hash(Beta(2.0, 3.0))
    assert Data([1, 2]) == Data(np.array([1.0, 2.0]))  # type: ignore[arg-type]
    assert Beta(*np.array([2, 3], dtype=np.float32)) == Beta(*np.array([2, 3])) == Beta(2, 3)
    assert type(Beta(*np.array([2.0, 3.0])).a) is float
    for distribution, _ in EXAMPLES:
        assert pickle.loads(pickle.dumps(distribution)) == distribution


def test_every_distribution_is_listed_under_its_kind() -> None:
    assert {kind: cls.kind for kind, cls in DISTRIBUTIONS.items()} == {kind: kind for kind in DISTRIBUTIONS}


def test_written_form() -> None:
    assert Beta(2, 3).to_dict() == {"distribution": "beta", "a": 2.0, "b": 3.0}
    assert Beta(2, 3, 0, 9).to_dict() == {"distribution": "beta", "a": 2.0, "b": 3.0, "high": 9.0}
    assert Bernoulli(0.4).to_dict() == {"distribution": "bernoulli", "p": 0.4}
    assert Uniform(0, 1).to_dict() == {"distribution": "uniform", "low": 0.0, "high": 1.0}
    assert Data((0.1, 0.4)).to_dict() == {"distribution": "data", "values": [0.1, 0.4]}
    assert Gaussian(0, 1).to_dict() == {"distribution": "gaussian", "mean": 0.0, "variance": 1.0}


class OnlyQuantile(Distribution):
    """What a distribution from outside may be: a quantile, and all else by integration."""

    def __init__(self, known: Distribution) -> None:
        self.known = known

    def quantile(self, shares):
        return self.known.quantile(shares)


@pytest.mark.parametrize(
    "known",
    [Beta(2, 3), Beta(0.2, 0.1, -1, 4), Bernoulli(0.3), Uniform(1, 4), Data((3, 1, 2, 6)), Gaussian(1.0, 2.0)],
    ids=lambda known: type(known).__name__,
)
def test_a_quantile_is_enough(known):
    """Integration finds what closed forms say, of the distribution and of its mirror image."""
    for exact, found in ((known, OnlyQuantile(known)), (known.mirrored(), OnlyQuantile(known).mirrored())):
        assert found.mean == pytest.approx(exact.mean, abs=1e-9)
        assert found.variance == pytest.approx(exact.variance, rel=1e-8)
        assert found.semivariance(0.7) == pytest.approx(exact.semivariance(0.7), abs=1e-8)
        # Where much depends on rewards beyond the last share below 1 that a float can be, digits are lost.
        assert found.log_laplace(2.0) == pytest.approx(exact.log_laplace(2.0), abs=1e-4)
        assert found.tail_mean(0.3) == pytest.approx(exact.tail_mean(0.3), abs=1e-8)
        assert found.support == exact.support
        assert exact.expectation(np.square) == pytest.approx(exact.variance + exact.mean**2, rel=1e-8)


def test_a_function_of_a_generator_is_an_arm():
    arm = Arm("x", lambda generator: generator.beta(2, 3))
    # The mean of 100,000 rewards of deviation 0.2: ten standard errors.
    assert arm.distribution.mean == pytest.approx(0.4, abs=0.0064)
    assert arm.distribution.mirrored().tail_mean(0.1) == pytest.approx(-0.766, abs=0.02)
    instance = Instance("mixed", (arm, Arm("y", OnlyQuantile(Beta(2, 2)))), reward_range=(0, 1), noise="bounded")
    generator = np.random.default_rng(0)
    rewards = [[instance.draw(number, generator) for _ in range(2000)] for number in range(2)]
    assert np.mean(rewards, axis=1) == pytest.approx([0.4, 0.5], abs=0.05)
    with pytest.raises(InvalidInstance, match="must be one that files know"):
        instance.to_dict()
