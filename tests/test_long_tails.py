"""Distributions with long tails and mixtures: truths against scipy, draws, and what is refused."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest
import scipy

from ramgape import (
    Arm,
    Bernoulli,
    Beta,
    Data,
    Distribution,
    Exponential,
    Gamma,
    Gaussian,
    Instance,
    InvalidInstance,
    InvalidSpec,
    LogNormal,
    Lomax,
    Mixture,
    StudentT,
    Uniform,
    load_instance,
)
from ramgape.problems.environments import draw_any, draw_gamma, draw_mixed
from ramgape.statistics import special

LAWS: list[tuple[Distribution, Any]] = [
    (StudentT(5, 1, 2), scipy.stats.t(5, 1, 2)),
    (StudentT(2.5), scipy.stats.t(2.5)),
    (StudentT(40, -3, 0.1), scipy.stats.t(40, -3, 0.1)),
    (LogNormal(0.3, 0.5), scipy.stats.lognorm(0.5, scale=math.exp(0.3))),
    (LogNormal(0, 1, 2, 3), scipy.stats.lognorm(1, 2, 3)),
    (Exponential(2, 1), scipy.stats.expon(1, 2)),
    (Gamma(3, 2, -1), scipy.stats.gamma(3, -1, 2)),
    (Gamma(0.4), scipy.stats.gamma(0.4)),
    (Gamma(1e4), scipy.stats.gamma(1e4)),
    (Lomax(5, 2, 1), scipy.stats.lomax(5, 1, 2)),
    (Lomax(2.5), scipy.stats.lomax(2.5)),
]
NAMES = [repr(law) for law, _ in LAWS]
MIXTURES = [
    Mixture((0.9, 0.1), (Gaussian(1, 1), Exponential(-5))),
    Mixture((0.5, 0.5), (Bernoulli(0.3), Data((1.0, 2.0, 5.0)))),
    Mixture((0.2, 0.8), (StudentT(5), LogNormal(0, 0.5))),
    Mixture((0.4, 0.6), (Uniform(0, 1), Mixture((0.5, 0.5), (Lomax(5), Gamma(2))))),
]


@pytest.mark.parametrize(("law", "reference"), LAWS, ids=NAMES)
def test_moments_are_those_of_scipy(law: Distribution, reference: Any) -> None:
    assert law.mean == pytest.approx(reference.mean(), rel=1e-12, abs=1e-15)
    assert law.variance == pytest.approx(reference.var(), rel=1e-12)
    assert law.std == math.sqrt(law.variance)
    excess = float(reference.stats(moments="k"))
    assert law.kurtosis == (pytest.approx(excess + 3.0, rel=1e-6) if math.isfinite(excess) else math.inf)
    skewness = float(reference.stats(moments="s"))
    if math.isfinite(skewness):
        assert law.skewness == pytest.approx(skewness, rel=1e-6, abs=1e-9)
        assert law.mirrored().skewness == -law.skewness
    assert law.support is None
    assert pickle.loads(pickle.dumps(law)) == law


@pytest.mark.parametrize(("law", "reference"), LAWS, ids=NAMES)
def test_quantiles_and_their_inverse_are_those_of_scipy(law: Distribution, reference: Any) -> None:
    mirrored = law.mirrored()
    assert mirrored.mirrored() == law
    for share in (1e-9, 1e-3, 0.1, 0.5, 0.9, 0.999, 1 - 1e-9):
        place = float(reference.ppf(share))
        assert law.quantile(np.array([share]))[0] == pytest.approx(place, rel=1e-6, abs=1e-9)
        assert law.cumulative(place) == pytest.approx(share, rel=1e-6)
        assert mirrored.cumulative(-place) == pytest.approx(1.0 - share, rel=1e-6)
        other = float(reference.isf(share))
        assert mirrored.quantile(np.array([share]))[0] == pytest.approx(-other, rel=1e-6, abs=1e-9)
    ends = law.quantile(np.array([0.0, 1.0])).tolist()
    assert ends == [float(reference.ppf(0.0)), math.inf]
    assert mirrored.quantile(np.array([0.0, 1.0])).tolist() == [-math.inf, -ends[0]]


@pytest.mark.parametrize(("law", "reference"), LAWS, ids=NAMES)
@pytest.mark.parametrize("level", [0.001, 0.1, 0.6, 1.0])
def test_tail_means_are_averages_of_quantiles(law: Distribution, reference: Any, level: float) -> None:
    low = scipy.integrate.quad(reference.ppf, 0.0, level, limit=500)[0] / level
    high = scipy.integrate.quad(reference.isf, 0.0, level, limit=500)[0] / level
    assert law.tail_mean(level) == pytest.approx(low, rel=1e-5, abs=1e-6)
    assert law.mirrored().tail_mean(level) == pytest.approx(-high, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize(("law", "reference"), LAWS, ids=NAMES)
def test_semivariances_are_integrals_and_have_the_variance_for_their_sum(law: Distribution, reference: Any) -> None:
    mirrored = law.mirrored()
    for place in (-1.0, 0.0, 0.3, 4.0):
        target = law.mean + place * law.std
        whole = (target - law.mean) ** 2 + law.variance
        both = law.semivariance(target) + mirrored.semivariance(-target)
        assert both == pytest.approx(whole, rel=1e-9)
        start = float(reference.ppf(0.0))
        found = 0.0
        if target > start:
            share = float(reference.cdf(target))
            found = scipy.integrate.quad(lambda q, t=target: (t - reference.ppf(q)) ** 2, 0.0, share, limit=500)[0]
        assert law.semivariance(target) == pytest.approx(found, rel=1e-5, abs=1e-9)


def test_laplace_transforms_exist_or_are_refused() -> None:
    assert Gamma(3, 2, -1).log_laplace(0.5) == pytest.approx(0.5 - 3 * math.log(2.0))
    assert Exponential(2).mirrored().log_laplace(0.25) == pytest.approx(math.log(2.0))
    expected = scipy.integrate.quad(lambda z: math.exp(-0.7 * z) * scipy.stats.lognorm(0.5).pdf(z), 0, np.inf)[0]
    assert LogNormal(0, 0.5).log_laplace(0.7) == pytest.approx(math.log(expected), rel=1e-8)
    expected = scipy.integrate.quad(lambda z: math.exp(-0.7 * z) * scipy.stats.lomax(3).pdf(z), 0, np.inf)[0]
    assert Lomax(3).log_laplace(0.7) == pytest.approx(math.log(expected), rel=1e-8)
    assert Lomax(3, location=2).log_laplace(1e-9) == pytest.approx(-2.5e-9, rel=1e-6)
    # Nearly nothing is left: by the trapezoidal rule on the logarithm of Z, about its largest term.
    assert LogNormal(0, 1).log_laplace(1000.0) == pytest.approx(-19.93853113981653, rel=1e-9)
    with pytest.raises(InvalidSpec, match=r"small enough .* neither infinite nor next to nothing, got 1e\+100"):
        LogNormal(0, 1).log_laplace(1e100)
    for law in (StudentT(5), StudentT(5).mirrored(), LogNormal(0, 1, 0, -1), Lomax(5, -1), Exponential(-2)):
        with pytest.raises(InvalidSpec, match=r"gamma, for rewards from .* must be small enough"):
            law.log_laplace(0.5)


@pytest.mark.parametrize("shape", [1e-3, 0.3, 1.0, 2.5, 17.0, 1e4, 1e6])
def test_incomplete_gamma_functions_are_those_of_scipy(shape: float) -> None:
    for share in (1e-9, 1e-3, 0.4, 0.6, 1 - 1e-6):
        place = float(scipy.special.gammaincinv(shape, share))
        found = special.incomplete_gamma(shape, place)
        assert found == pytest.approx(
            (scipy.special.gammainc(shape, place), scipy.special.gammaincc(shape, place)), rel=1e-8
        )
        assert special.gamma_quantile(shape, share, above=False) == pytest.approx(place, rel=1e-8, abs=1e-300)


@pytest.mark.parametrize("mixture", MIXTURES, ids=range(len(MIXTURES)))
def test_mixtures_are_averages(mixture: Mixture) -> None:
    """Of their parts; beside 4,000 draws, whose errors are as large as the tolerances say."""
    assert mixture.mean == pytest.approx(sum(w * p.mean for w, p in zip(mixture.weights, mixture.parts, strict=True)))
    generator = np.random.default_rng(1)
    count = 4_000
    chosen = generator.choice(len(mixture.parts), count, p=mixture.weights)
    rewards = np.concatenate(
        [part.quantile(generator.random(int((chosen == place).sum()))) for place, part in enumerate(mixture.parts)]
    )
    # Twelve standard errors each, or what rare large rewards leave open.
    error = 12.0 * mixture.std / math.sqrt(count)
    assert mixture.mean == pytest.approx(rewards.mean(), abs=error)
    assert mixture.variance == pytest.approx(rewards.var(), rel=0.4)
    missing = np.square(np.maximum(0.5 - rewards, 0.0)).mean()
    assert mixture.semivariance(0.5) == pytest.approx(missing, rel=0.4, abs=1e-2)
    for level in (0.05, 0.5):
        lowest = np.sort(rewards)[: int(level * count)]
        assert mixture.tail_mean(level) == pytest.approx(lowest.mean(), abs=2.0 * error / level)
        place = float(mixture.quantile(np.array([level]))[0])
        assert mixture.cumulative(place) >= level - 1e-9
        assert (rewards < place).mean() <= level + 0.06
    mirrored = mixture.mirrored()
    assert mirrored.mean == pytest.approx(-mixture.mean)
    assert mirrored.variance == pytest.approx(mixture.variance)
    assert mirrored.kurtosis == pytest.approx(mixture.kurtosis)
    read = load_instance({"noise": "any", "arms": [{"name": name, **mixture.to_dict()} for name in "ab"]})
    assert read.arms[0].distribution == mixture


def test_a_mixture_in_closed_form() -> None:
    mixture = Mixture((0.25, 0.75), (Gaussian(-2, 1), Gaussian(1, 4)))
    fourths = 3 + 6 * 2.25**2 + 2.25**4, 48 + 6 * 0.75**2 * 4 + 0.75**4
    assert mixture.kurtosis == pytest.approx((0.25 * fourths[0] + 0.75 * fourths[1]) / mixture.variance**2)
    assert mixture.log_laplace(0.5) == pytest.approx(math.log(0.25 * math.exp(1.125) + 0.75 * math.exp(0.0)))
    assert Mixture((1.0,), (StudentT(3),)).kurtosis == math.inf
    assert Mixture((0.5, 0.5), (Beta(1, 1), Uniform(2, 3))).support == (0.0, 3.0)
    nested = Mixture((0.5, 0.5), (mixture, Gaussian(0, 1)))
    assert nested.weights == (0.125, 0.375, 0.5)


@pytest.mark.parametrize(
    ("kind", "arguments", "place"),
    [
        (StudentT, (2,), "df must be a number above 2"),
        (StudentT, (math.nan,), "df must be"),
        (Lomax, (1.5,), "shape must be a number above 2"),
        (Lomax, (5, 0), "scale must be"),
        (Lomax, (5, 1, math.inf), "location must be"),
        (LogNormal, (0, 0), "sigma must be"),
        (LogNormal, ("0", 1), "mu must be"),
        (Exponential, (0,), "scale must be"),
        (Gamma, (0,), "shape must be"),
        (Gamma, (1, "2"), "scale must be"),
        (Mixture, ((0.5, 0.4), (Beta(1, 1), Beta(1, 1))), "weights must be numbers that add up to 1"),
        (Mixture, ((1.0,), (Beta(1, 1), Beta(1, 1))), "weights must be"),
        (Mixture, ((), ()), "parts must be at least one"),
        (Mixture, ((1.0,), ("beta",)), r"parts\[0\] must be a Distribution"),
        (Mixture, ((-0.5, 1.5), (Beta(1, 1), Beta(1, 1))), r"weights\[0\] must be"),
        (Mixture, (1.0, Beta(1, 1)), "weights must be a list"),
    ],
)
def test_nonsense_is_refused(kind: Any, arguments: Any, place: str) -> None:
    with pytest.raises(InvalidInstance, match=f"^{place}"):
        kind(*arguments)


def test_draws_are_compiled_and_follow_the_distribution() -> None:
    """Kolmogorov and Smirnov's test for 4,000 draws of each: a distance of 0.05 has probability 1e-8."""
    laws = [law for law, _ in LAWS] + MIXTURES
    arms = tuple(Arm(str(place), law) for place, law in enumerate(laws))
    instance = Instance("all", arms, None, "any")
    assert instance.sampler().draw is draw_any
    assert Instance("one", arms[6:8], None, "any").sampler().draw is draw_gamma
    assert Instance("old", (Arm("a", Beta(1, 1)), Arm("b", Gaussian(0, 1))), None, "any").sampler().draw is draw_mixed
    generator = np.random.default_rng(7)
    for place, law in enumerate(laws):
        draws = np.sort([instance.draw(place, generator) for _ in range(4_000)])
        shares = np.array([law.cumulative(value) for value in draws[::20].tolist()])
        seen = np.searchsorted(draws, draws[::20], side="right") / len(draws)
        assert np.abs(shares - seen).max() < 0.05, law


def test_python_draws_what_is_unknown_to_kernels() -> None:
    def odd(generator: np.random.Generator) -> float:
        return 3.0

    mixture = Mixture((0.5, 0.5), (Gaussian(0, 1e-6), Arm("x", odd).distribution))  # type: ignore[arg-type]
    instance = Instance("odd", (Arm("a", mixture), Arm("b", Gamma(2))), None, "any")
    assert instance.sampler().in_python
    generator = np.random.default_rng(1)
    drawn = {round(instance.draw(0, generator)) for _ in range(50)}
    assert drawn == {0, 3}
