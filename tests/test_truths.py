"""The exact risks of every distribution: against numerical integration, SciPy, long decimals and direct sums."""

from __future__ import annotations

import functools
import math
import pickle
from collections.abc import Callable
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import pairwise, product
from typing import Any

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from ramgape.errors import InvalidSpec
from ramgape.problems.distributions import Bernoulli, Beta, Data, Distribution, Gaussian, Uniform
from ramgape.statistics import special

SHAPES = (0.01, 0.3, 1.0, 2.5, 40.0, 1e3, 1e4)
LEVELS = (1e-4, 0.01, 0.25, 0.5, 0.9, 0.999)
NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)

EXAMPLES: list[Distribution] = [
    Beta(2, 3),
    Beta(0.08, 0.12),
    Beta(300, 20, low=-2, high=5),
    Bernoulli(0.3),
    Bernoulli(0.999, low=-3, high=-1),
    Uniform(-1, 4),
    Data((0.4, 0.1, 0.1, 2.5)),
    Gaussian(0.5, 0.04),
]


def close(value: float, reference: float, relative: float = 1e-9, absolute: float = 1e-290) -> bool:
    return value == pytest.approx(reference, rel=relative, abs=absolute)


def integrated(a: float, b: float, log_factor: Callable[[Any, Any], Any], highest: float = math.inf) -> float:
    """ln of the integral of x^a y^b factor(x, y) over ln(x / y) up to `highest`, by panels of Gauss and Legendre."""

    def logarithm(place: Any) -> Any:
        x, y = scipy.special.expit(place), scipy.special.expit(-place)
        both = a * scipy.special.log_expit(place) + b * scipy.special.log_expit(-place)
        with np.errstate(divide="ignore"):
            return both + log_factor(x, y)

    # a coarse look for the peak, then panels that grow with the distance from it
    coarse = np.sinh(np.linspace(-12, 12, 12_001)) / 8
    coarse = coarse + (math.log(a / b) if highest == math.inf else min(highest, math.log(a / b)))
    coarse = coarse[coarse < highest]
    centre = float(coarse[np.argmax(logarithm(coarse))])
    scale = min(1.0, 1 / math.sqrt(a * b / (a + b)))
    steps = np.sinh(np.linspace(0, math.asinh(200 * (1 / min(a, b, 1) + 1) / scale), 300)) * scale / 4
    edges = np.concatenate([centre - steps[:0:-1], centre + steps])
    if highest < math.inf:
        edges = np.concatenate([edges[edges < highest], [highest]])
        edges = np.unique(np.concatenate([edges, highest - steps[(steps > 0) & (steps < 20 * scale)]]))
    half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    values = logarithm(middle[:, None] + half[:, None] * NODES) + np.log(half[:, None] * WEIGHTS)
    return float(scipy.special.logsumexp(values))


def nothing(x: Any, _: Any) -> Any:
    return np.zeros_like(x)


@functools.cache
def log_whole(a: float, b: float) -> float:
    return integrated(a, b, nothing)


def beta_partial(a: float, b: float, x: float, power: int) -> float:
    """E((x - B)+^power) by integration."""
    highest = math.log(x) - math.log1p(-x)
    part = integrated(a, b, lambda each, _: power * np.log(np.maximum(x - each, 0)), highest)
    return math.exp(part - log_whole(a, b))


@pytest.mark.few(6)
@pytest.mark.parametrize(("a", "b"), list(product(SHAPES, SHAPES)))
def test_beta_against_integrals(a: float, b: float) -> None:
    beta, whole = Beta(a, b), log_whole(a, b)
    for level in LEVELS:
        x = float(scipy.special.betaincinv(a, b, level))
        if 1e-250 < x < 1 - 1e-9:
            assert close(beta.semivariance(x), beta_partial(a, b, x, 2), 2e-10)
            assert close(beta.tail_mean(level), x - beta_partial(a, b, x, 1) / level, 1e-9, 1e-13 * x)
    for gamma in (1.0, 1.5, 7.0, 60.0, 900.0, 1e4):
        expected = integrated(a, b, lambda x, _, gamma=gamma: -gamma * x) - whole
        assert close(beta.log_laplace(gamma), expected, 1e-10, 1e-12)
    for target in (1e-3, 0.02, 0.5, 0.97):
        expected = beta_partial(a, b, target, 2)
        assert close(beta.semivariance(target), expected, 1e-9)


@pytest.mark.parametrize(("a", "b"), [(0.01, 1e6), (1e6, 0.01), (1e6, 1e6), (3.0, 1e6), (1e6, 40.0), (0.01, 0.01)])
@pytest.mark.parametrize("gamma", [1.0, 30.0, 1e4, 1e6, 1e9])
def test_beta_laplace_under_stress(a: float, b: float, gamma: float) -> None:
    expected = integrated(a, b, lambda x, _: -gamma * x) - log_whole(a, b)
    assert close(Beta(a, b).log_laplace(gamma), expected, 1e-9, 1e-13)


@pytest.mark.parametrize(
    ("a", "b", "gamma"), [(0.5, 2.0, 3.0), (12.0, 0.25, 40.0), (3.0, 5.0, 300.0), (64.0, 64.0, 9.0)]
)
def test_beta_laplace_is_kummer_s_series(a: float, b: float, gamma: float) -> None:
    with localcontext() as context:
        context.prec = 60
        term, total = Decimal(1), Decimal(0)
        for order in range(2000):
            total += term
            term *= Decimal(b + order) / Decimal(a + b + order) * Decimal(gamma) / (order + 1)
        expected = float(total.ln() - Decimal(gamma))
    assert close(Beta(a, b).log_laplace(gamma), expected, 1e-13)


@pytest.mark.parametrize(("a", "b"), list(product((0.01, 1.0, 7.5, 1e4, 1e6), repeat=2)))
@pytest.mark.parametrize("gamma", [1e-8, 1e-5, 1e-3])
def test_beta_laplace_keeps_the_digits_of_tiny_gammas(a: float, b: float, gamma: float) -> None:
    mean, variance, skewness, kurtosis = (float(value) for value in scipy.stats.beta.stats(a, b, moments="mvsk"))
    third, fourth = skewness * variance**1.5, kurtosis * variance**2
    excess = gamma**2 * variance / 2 - gamma**3 * third / 6 + gamma**4 * fourth / 24
    assert close(Beta(a, b).log_laplace(gamma), -gamma * mean + excess, 1e-12)
    if a == b:  # about its mean only the excess is left
        assert close(Beta(a, b, -0.5, 0.5).log_laplace(gamma), excess, 1e-11)


def test_beta_at_and_beyond_its_ends() -> None:
    for a, b in product(SHAPES, SHAPES):
        beta = Beta(a, b, low=2, high=5)
        assert beta.semivariance(2) == beta.semivariance(-1e9) == 0.0
        for target in (5.0, 5.5, 1e9):
            assert close(beta.semivariance(target), (target - beta.mean) ** 2 + beta.variance, 1e-14)
        inside = beta.semivariance(5.0 - 1e-12)
        assert close(inside, beta.semivariance(5.0), 1e-9, 1e-11)
        assert beta.tail_mean(1) == beta.mean


@pytest.mark.parametrize(("a", "b"), list(product((1e-100, 1e-3, 1.0, 1e9, 1e50, 1e100), repeat=2)))
def test_absurd_shapes_give_finite_values(a: float, b: float) -> None:
    beta = Beta(a, b, low=-1, high=1)
    for level in LEVELS:
        assert -1.0 <= beta.tail_mean(level) <= beta.mean
    for target in (-0.999, 0.0, beta.mean, 0.999):
        assert 0.0 <= beta.semivariance(target) <= (target - beta.mean) ** 2 + beta.variance * (1 + 1e-12) + 1e-15
    for gamma in (1e-100, 1e-8, 1.0, 1e4, 1e20, 1e100):
        assert -gamma * beta.mean - 1e-14 * gamma <= beta.log_laplace(gamma) <= gamma + 1e-12


LONG_GAMMAS = (1e-8, 1e-4, 0.3, 1.0, 2.5, 40.0, 900.0, 1e4)


@pytest.mark.parametrize("low", [0.0, -0.5, 3.0, 1e6, -1e6])
@pytest.mark.parametrize("gamma", LONG_GAMMAS)
def test_laplace_against_long_decimals(low: float, gamma: float) -> None:
    with localcontext() as context:
        context.prec, context.Emax, context.Emin = 100, 10**15, -(10**15)
        long_low, long_high, long_gamma = Decimal(low), Decimal(low + 1), Decimal(gamma)
        at_low, at_high = (-long_gamma * long_low).exp(), (-long_gamma * long_high).exp()
        for p in (0.0, 1e-9, 0.25, 0.5, 1 - 1e-9, 1.0):
            expected = float(((1 - Decimal(p)) * at_low + Decimal(p) * at_high).ln())
            assert close(Bernoulli(p, low, low + 1).log_laplace(gamma), expected, 1e-14, 1e-16 * gamma)
        expected = float(((at_low - at_high) / long_gamma).ln())
        assert close(Uniform(low, low + 1).log_laplace(gamma), expected, 1e-14)
        values = [low + share for share in (0.0, 0.125, 0.125, 0.4, 1.0)]
        expected = float((sum((-long_gamma * Decimal(value)).exp() for value in values) / len(values)).ln())
        assert close(Data(tuple(values)).log_laplace(gamma), expected, 1e-14)
        # around an offset a Beta distribution is one around 0, moved
        expected = float(-long_gamma * long_low + Decimal(Beta(2, 5).log_laplace(gamma)))
        assert close(Beta(2, 5, low, low + 1).log_laplace(gamma), expected, 1e-13)


def test_symmetric_distributions_keep_the_excess_alone() -> None:
    for gamma in (1e-8, 1e-5):
        assert close(Uniform(-1, 1).log_laplace(gamma), gamma**2 / 6, 1e-9)
        assert close(Bernoulli(0.5, -1, 1).log_laplace(gamma), gamma**2 / 2, 1e-9)
        assert close(Data((-1, 1)).log_laplace(gamma), gamma**2 / 2, 1e-9)
        assert close(Gaussian(0, 4).log_laplace(gamma), gamma**2 * 2, 1e-15)


@pytest.mark.parametrize("distance", [-30.0, -9.0, -2.001, -1.999, -0.5, 0.0, 1.0, 6.0, 50.0])
def test_gaussian_semivariance(distance: float) -> None:
    # relative to the largest of exp(-(each - distance)^2 / 2) for each >= 0
    centre = max(distance, 0.0)

    def integrand(each: float) -> float:
        return each * each * math.exp(-0.5 * (each - centre) * (each + centre - 2 * distance))

    width = 1 / (1 - min(distance, 0.0))
    parts = sorted({max(centre + width * step, 0.0) for step in (-40, -8, -2, 0, 2, 8, 40)})
    total = math.fsum(
        scipy.integrate.quad(integrand, left, right, epsabs=0, epsrel=1e-12)[0] for left, right in pairwise(parts)
    )
    expected = 0.25 * total * float(scipy.stats.norm.pdf(centre - distance))
    assert close(Gaussian(3.0, 0.25).semivariance(3.0 + 0.5 * distance), expected, 1e-10)


@pytest.mark.parametrize("level", [1e-12, *LEVELS])
def test_tail_means_are_averages_of_quantiles(level: float) -> None:
    quantile = float(scipy.stats.norm.ppf(level))
    parts = (-40.0, quantile - 4, quantile - 1, quantile)
    total = math.fsum(
        scipy.integrate.quad(lambda z: scipy.special.ndtr(z) / level, left, right, epsabs=1e-13, epsrel=1e-12)[0]
        for left, right in pairwise(parts)
    )
    expected = quantile - total
    assert close(Gaussian(1, 9).tail_mean(level), 1 + 3 * expected, 1e-9)
    assert close(Uniform(-1, 4).tail_mean(level), -1 + 2.5 * level, 1e-14)
    for p in (0.0, 1e-9, 0.25, 0.75, 1 - 1e-9, 1.0):
        won = max(Fraction(level) - (1 - Fraction(p)), 0) / Fraction(level)
        assert close(Bernoulli(p, 2, 5).tail_mean(level), float(2 + 3 * won), 1e-15)


@pytest.mark.parametrize("target", [-1e9, -1.0, 0.0, 1.5, 4.0, 7.0])
def test_uniform_and_bernoulli_semivariance(target: float) -> None:
    expected = scipy.integrate.quad(lambda x: (target - x) ** 2 / 5, -1, max(min(target, 4.0), -1.0))[0]
    assert close(Uniform(-1, 4).semivariance(target), expected, 1e-13)
    expected = 0.7 * max(target + 1, 0) ** 2 + 0.3 * max(target - 4, 0) ** 2
    assert close(Bernoulli(0.3, -1, 4).semivariance(target), expected, 1e-14)


finite = st.floats(-1e3, 1e3)
samples = st.lists(finite, min_size=1, max_size=20)
levels = st.floats(1e-4, 1.0)


@given(samples, finite, levels)
def test_data_against_direct_sums(values: list[float], target: float, level: float) -> None:
    data, exact = Data(tuple(values)), sorted(map(Fraction, values))
    missing = sum((max(Fraction(target) - value, Fraction(0)) ** 2 for value in exact), Fraction(0))
    assert close(data.semivariance(target), float(missing / len(exact)), 1e-14)
    # the largest z - E(z - X)+ / level stands at one of the values
    best = max(
        z - sum((max(z - value, Fraction(0)) for value in exact), Fraction(0)) / len(exact) / Fraction(level)
        for z in exact
    )
    assert close(data.tail_mean(level), float(best), 1e-12, 1e-12)
    assert data.support[0] <= data.tail_mean(level) <= data.mean


def distributions() -> st.SearchStrategy[Distribution]:
    shapes = st.floats(-2, 4).map(lambda power: 10.0**power)
    ends = st.tuples(finite, st.floats(1e-2, 1e2)).map(lambda pair: (pair[0], pair[0] + pair[1]))
    return st.one_of(
        st.builds(lambda a, b, both: Beta(a, b, *both), shapes, shapes, ends),
        st.builds(lambda p, both: Bernoulli(p, *both), st.floats(0, 1), ends),
        ends.map(lambda both: Uniform(*both)),
        samples.map(lambda values: Data(tuple(values))),
        st.builds(Gaussian, finite, st.floats(1e-4, 1e4)),
    )


def spread(distribution: Distribution) -> float:
    """A size that rounding errors may be measured by."""
    low, high = distribution.support or (-50 * distribution.variance**0.5, 50 * distribution.variance**0.5)
    return high - low + abs(distribution.mean) + abs(low)


@given(distributions())
def test_mirrored_twice_is_the_same(distribution: Distribution) -> None:
    mirrored = distribution.mirrored()
    assert type(mirrored) is type(distribution)
    assert close(mirrored.mean, -distribution.mean, 1e-12, 1e-12 * spread(distribution))
    assert close(mirrored.variance, distribution.variance, 1e-12, 1e-15 * spread(distribution) ** 2)
    if isinstance(distribution, Bernoulli):
        twice = mirrored.mirrored()
        assert twice.support == distribution.support
        assert abs(twice.p - distribution.p) <= 2.0**-53  # 1 - p is rounded
    else:
        assert mirrored.mirrored() == distribution
    assert pickle.loads(pickle.dumps(mirrored)) == mirrored


def test_mirrored_ends_are_plain_zeros() -> None:
    for distribution in (Beta(2, 3), Bernoulli(0.25), Uniform(0, 1), Data((0, 1)), Gaussian(0, 1)):
        assert "-0.0" not in repr(distribution.mirrored())
    assert Beta(2, 3).mirrored() == Beta(3, 2, -1, 0)
    assert Bernoulli(0.25).mirrored() == Bernoulli(0.75, -1, 0)


@given(distributions(), levels, levels)
def test_tail_mean_grows_with_the_level_up_to_the_mean(distribution: Distribution, one: float, two: float) -> None:
    low, high = sorted((one, two))
    slack = 1e-12 * spread(distribution)
    assert distribution.tail_mean(low) <= distribution.tail_mean(high) + slack
    assert distribution.tail_mean(high) <= distribution.mean
    assert distribution.tail_mean(1) == distribution.mean


gammas = st.floats(-8, 3).map(lambda power: 10.0**power)


@given(distributions(), gammas, gammas)
def test_laplace_is_convex_and_above_the_mean(distribution: Distribution, one: float, two: float) -> None:
    middle = (one + two) / 2
    slack = 1e-12 * (1 + max(one, two) * spread(distribution))
    for gamma in (one, two, middle):
        assert distribution.log_laplace(gamma) >= -gamma * distribution.mean - 1e-14 * gamma * spread(distribution)
    chord = (distribution.log_laplace(one) + distribution.log_laplace(two)) / 2
    assert distribution.log_laplace(middle) <= chord + slack


@given(distributions(), st.floats(-1.5, 1.5), levels)
def test_semivariance_of_both_sides_is_the_whole(distribution: Distribution, place: float, level: float) -> None:
    target = distribution.mean + place * math.sqrt(distribution.variance)
    both = distribution.semivariance(target) + distribution.mirrored().semivariance(-target)
    whole = (target - distribution.mean) ** 2 + distribution.variance
    assert close(both, whole, 1e-8, 1e-13 * spread(distribution) ** 2)
    # and the worst share with the best one makes the mean
    best = -distribution.mirrored().tail_mean(1 - level) if level < 1 else 0.0
    joined = level * distribution.tail_mean(level) + (1 - level) * best
    assert close(joined, distribution.mean, 1e-11, 1e-12 * spread(distribution))


@settings(max_examples=50)
@given(st.floats(0.05, 50), st.floats(0.05, 50), finite, st.floats(0.1, 100), levels, st.floats(-0.5, 1.5))
def test_shifting_and_scaling(a: float, b: float, low: float, span: float, level: float, place: float) -> None:
    high = low + span
    span = high - low
    pairs: list[tuple[Distribution, Distribution]] = [
        (Beta(a, b), Beta(a, b, low, high)),
        (Bernoulli(level), Bernoulli(level, low, high)),
        (Uniform(0, 1), Uniform(low, high)),
        (Data((0, level, 1)), Data((low, low + span * level, high))),
        (Gaussian(0, 1), Gaussian(low, span * span)),
    ]
    size = span + abs(low)
    for plain, moved in pairs:
        assert close(moved.tail_mean(level), low + span * plain.tail_mean(level), 1e-12, 1e-13 * size)
        moved_target = moved.semivariance(low + span * place)
        assert close(moved_target, span * span * plain.semivariance(place), 1e-9, 1e-12 * size * size)
        for gamma in (1e-6, 0.1, 30.0):
            expected = plain.log_laplace(gamma) - gamma / span * low
            assert close(moved.log_laplace(gamma / span), expected, 1e-11, 1e-13 * gamma * size / span)


@pytest.mark.parametrize("distribution", EXAMPLES)
@pytest.mark.parametrize(
    ("question", "argument", "value"),
    [
        *(("tail_mean", "level", value) for value in (0, -0.1, 1.0001, math.nan, "0.5", None, True)),
        *(("log_laplace", "gamma", value) for value in (0, -1, math.nan, math.inf, "1", None, True)),
        *(("semivariance", "target", value) for value in (math.nan, math.inf, -math.inf, "0", None, False)),
    ],
)
def test_nonsense_is_refused(distribution: Distribution, question: str, argument: str, value: Any) -> None:
    with pytest.raises(InvalidSpec) as caught:
        getattr(distribution, question)(value)
    assert str(caught.value).startswith(f"{argument} must be a number ")
    assert str(caught.value).endswith(f", got {value!r}")


def test_answers_are_floats_and_leave_the_value_as_it_was() -> None:
    for distribution in EXAMPLES:
        copy = pickle.loads(pickle.dumps(distribution))
        answers = (distribution.semivariance(1), distribution.log_laplace(1), distribution.tail_mean(np.float64(0.5)))
        assert [type(answer) for answer in answers] == [float] * 3
        assert distribution == copy
        assert hash(distribution) == hash(copy)


@pytest.mark.parametrize(("a", "b"), list(product((*SHAPES, 1e6), repeat=2)))
def test_incomplete_beta_is_scipy_s(a: float, b: float) -> None:
    for share in (1e-12, 1e-4, 0.1, 0.5, 0.8, 0.999):
        x, y = special.inverse_incomplete_beta(a, b, share)
        assert x + y == pytest.approx(1, abs=1e-15)
        if x > 1e-290 and y > 1e-290:
            lower, upper = special.incomplete_beta(a, b, x, y)
            assert close(lower, share, 1e-11)
            assert close(upper, 1 - share, 1e-11)
        if 1e-290 < x <= 0.9:
            # SciPy itself is off by up to 1e-9 for shapes like 1e3 and 1e6
            assert close(x, float(scipy.special.betaincinv(a, b, share)), 1e-8)
            assert close(special.incomplete_beta(a, b, x, y)[0], float(scipy.special.betainc(a, b, x)), 1e-10)


def test_nearly_normal_shapes_join_the_others() -> None:
    a, b = 2e7, 3e7
    for distance in (-6.0, -1.0, -1e-5, 0.0, 0.7, 5.0):
        x = (a + distance * math.sqrt(a * b / (a + b))) / (a + b)
        lower, upper = special.incomplete_beta(a, b, x, 1 - x)
        assert close(lower, float(scipy.special.betainc(a, b, x)), 1e-8)
        assert close(upper, float(scipy.special.betaincc(a, b, x)), 1e-8)
        weight = math.exp(special.log_beta_weight(a, b, x, 1 - x))
        assert close(lower, weight * special._beta_fraction(a, b, x, 1 - x), 1e-9) or distance > 0


@given(st.floats(-0.999, 5))
def test_small_differences_keep_their_digits(u: float) -> None:
    with localcontext() as context:
        context.prec = 700 if abs(u) < 1e-20 else 60
        exact = Decimal(u)
        assert close(special.log1p_minus(u), float((1 + exact).ln() - exact), 2e-15, 1e-300)
        assert close(special.expm1_minus(u), float(exact.exp() - 1 - exact), 2e-15, 1e-300)


@given(st.floats(-30, 30))
def test_normal_functions_are_scipy_s(z: float) -> None:
    share = special.normal_share(z)
    assert close(share, float(scipy.stats.norm.cdf(z)), 1e-12)
    assert close(special.normal_density(z), float(scipy.stats.norm.pdf(z)), 1e-12)
    if z < 5:
        assert close(special.normal_quantile(share), z, 1e-9, 1e-9)
