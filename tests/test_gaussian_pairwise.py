"""Comparisons of two arms with Gaussian rewards: the evidence is real, and the infimum over hypotheses is a bound."""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import numpy as np
import pytest
import scipy
from numpy.typing import NDArray

from ramgape.bounds import gaussian_pairwise as bound
from ramgape.core.comparisons import sums
from ramgape.search.assembly import make_learn, make_state
from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec
from tests.guarantees import most_allowed
from tests.loops import compiled_loop

Floats = NDArray[np.float64]
SCALES = range(len(bound.MEAN_PRIORS))


def searched(rewards: list[Floats], **options: Any) -> Engine:
    """A search that has seen these rewards, arm by arm, and is far from a proof."""
    asked = {"noise": "gaussian", "risk": "mean-variance:0.01", "epsilon": 1e-4, "delta": 1e-4, **options}
    engine = Engine(make_spec([str(arm) for arm in range(len(rewards))], bound="gaussian-pairwise", **asked))
    for turn in range(len(rewards[0])):
        engine.learn_many(np.arange(len(rewards)), np.array([row[turn] for row in rewards]))
    assert engine.samples == sum(map(len, rewards))
    return engine


def exact_symmetric(rewards: Floats, mean: float, side: float, scale: float) -> float:
    """ln of the mixture over l of the products of e^(l y) / cosh(l y), by integration."""
    values, width = side * (rewards - mean), 1.0 / math.sqrt(scale)
    bets = np.linspace(0.0, 8.0 * width, 801)
    stretched = bets[:, None] * values
    logarithms = (stretched - np.logaddexp(stretched, -stretched) + math.log(2.0)).sum(axis=1)
    top = logarithms.max()
    mass = np.exp(logarithms - top) * 2.0 * scipy.stats.norm.pdf(bets, scale=width)
    return float(top + math.log(scipy.integrate.simpson(mass, x=bets)))


def exact_below(rewards: Floats, place: int, mean: float, variance: float) -> float:
    """ln of a component of the evidence that the variance is below a value, at a point, by integration over means."""
    pulls, terms = bound.PULLS[place], []
    for factor, weight in zip(bound.FACTORS[place], bound.WEIGHTS[place], strict=True):
        deviation, prior = math.sqrt(variance / factor), math.sqrt(variance / (factor * pulls))
        centre = (pulls * mean + rewards.sum()) / (pulls + len(rewards))
        width = math.sqrt(variance / (factor * (pulls + len(rewards))))
        grid = np.linspace(centre - 10.0 * width, centre + 10.0 * width, 801)
        logarithms = scipy.stats.norm.logpdf(rewards[:, None], grid, deviation).sum(axis=0)
        logarithms += (
            scipy.stats.norm.logpdf(grid, mean, prior)
            - scipy.stats.norm.logpdf(rewards, mean, math.sqrt(variance)).sum()
        )
        top = logarithms.max()
        terms.append(math.log(weight) + top + math.log(scipy.integrate.simpson(np.exp(logarithms - top), x=grid)))
    return float(np.logaddexp.reduce(terms))


def exact_above(rewards: Floats, place: int, mean: float, variance: float) -> float:
    """The same for a variance above a value."""
    base = scipy.stats.norm.logpdf(rewards, mean, math.sqrt(variance)).sum()
    terms = [
        math.log(weight) + scipy.stats.norm.logpdf(rewards, mean, math.sqrt(variance / factor)).sum() - base
        for factor, weight in zip(1.0 / np.array(bound.FACTORS[place]), bound.WEIGHTS[place], strict=True)
    ]
    return float(np.logaddexp.reduce(terms))


def averaged(first: list[float], second: list[float]) -> float:
    """ln of the average of products."""
    return float(np.logaddexp.reduce(np.add(first, second)) - math.log(len(first)))


@pytest.mark.parametrize("count", [5, 40, 400])
@pytest.mark.parametrize("shift", [-1.0, -0.2, 0.0, 0.1, 0.5, 2.0])
def test_evidence_on_a_mean_is_never_above_the_integral(count: int, shift: float) -> None:
    rewards = np.random.default_rng(count).normal(shift, 1.0, count)
    for scale in (1.0, 30.0, 300.0):
        found = bound.log_symmetric(float(count), rewards.mean(), rewards.var(), scale, scale)
        exact = exact_symmetric(rewards, 0.0, 1.0, scale)
        assert found <= exact + 1e-6
        if abs(shift) < 0.3:
            assert found >= exact - 0.05 * count**0.5
        inside = [
            bound.log_symmetric(float(count), rewards.mean(), rewards.var(), r, r) for r in (scale * 1.5, scale * 2)
        ]
        # Of all scales between two, the worst is one of the two.
        assert (
            bound.log_symmetric(float(count), rewards.mean(), rewards.var(), scale, 3.0 * scale) <= min(inside) + 1e-9
        )


def test_each_factor_has_expectation_one_at_the_truth() -> None:
    """One pull: integrated over its distribution, the evidence is the sum of weights, or for means less."""
    grid = np.linspace(-30.0, 30.0, 6_001)
    density = scipy.stats.norm.pdf(grid)
    for place in SCALES:
        scale = bound.MEAN_PRIORS[place]
        means = [math.exp(bound.log_symmetric(1.0, value, 0.0, scale, scale)) for value in grid]
        assert 0.8 < scipy.integrate.simpson(means * density, x=grid) <= 1.0
        below = [math.exp(bound.log_below(place, 1.0, 0.0, (value**2, value**2), (1.0, 1.0))) for value in grid]
        assert scipy.integrate.simpson(below * density, x=grid) == pytest.approx(1.0, abs=1e-5)
        above = [math.exp(bound.log_above(place, 1.0, value**2)) for value in grid]
        assert scipy.integrate.simpson(above * density, x=grid) == pytest.approx(1.0, abs=1e-5)


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("risk", "resolution"),
    [
        ("mean-variance:0.01", None),
        ("std", 0.2),
        *(
            pytest.param(*case, marks=pytest.mark.long)
            for case in itertools.product(["mean-variance:0.01", "mean-variance:0.5", "std"], [None, 0.2])
        ),
    ],
)
def test_what_is_found_on_cells_is_below_every_hypothesis_in_them(risk: str, resolution: float | None) -> None:
    """Brute force: random points of the null within the boxes, with evidence from the densities of the draws."""
    rng = np.random.default_rng(11)
    draws = [rng.normal(1.0, 0.3, 60), rng.normal(0.7, 0.6, 60)]
    seen = draws if resolution is None else [np.round(row / resolution) * resolution for row in draws]
    engine = searched(seen, risk=risk, resolution=resolution)
    arms, memory, _, problem = engine.rows.records
    epsilon, (row, rival) = 0.02, arms
    ends = [bound.ends_of_variance(arm, problem) for arm in arms]
    variances = [rng.uniform(*end, 12) for end in ends]
    for start, width in ((0.75, 0.0), (0.8, 0.05), (0.95, 0.02)):
        found = bound.least_on_mean((start, start + width), row, memory[0], rival, memory[1], problem, epsilon, 0, 5.0)
        for mean in np.linspace(start, start + width, 3):
            for first, second in zip(*variances, strict=True):
                extra = 0.25 * (resolution or 0.0) ** 2
                own = [exact_symmetric(draws[0], mean, 1.0, c * (first + extra)) for c in bound.MEAN_PRIORS]
                scales = [c * (second + extra) for c in bound.MEAN_PRIORS]
                others = [exact_symmetric(draws[1], mean + epsilon, -1.0, scale) for scale in scales]
                assert found <= averaged(own, others) + 1e-6
    lowest, highest = rival.risk_low + epsilon, row.risk_high
    for start in np.linspace(lowest, highest, 5)[:-1]:
        end = start + 0.05 * (highest - lowest)
        found = bound.least_on_risk((start, end), row, memory[0], rival, memory[1], problem, epsilon, 0, 5.0)
        for _ in range(25):
            value = rng.uniform(start, end)
            one, two = (rng.uniform(arm.mean_low, arm.mean_high) for arm in arms)
            least, most = bound.variance_at(problem, value, one), bound.variance_at(problem, value - epsilon, two)
            if least > ends[0][1] or most < ends[1][0]:
                continue
            first, second = (
                rng.uniform(max(least, ends[0][0]), ends[0][1]),
                rng.uniform(ends[1][0], min(most, ends[1][1])),
            )
            own = [exact_below(draws[0], place, one, first) for place in SCALES]
            others = [exact_above(draws[1], place, two, second) for place in SCALES]
            assert found <= averaged(own, others) + 1e-6


@functools.cache
def chaser() -> Any:
    """A compiled adversary: it pulls one arm until that has some of the evidence for a false claim, then the other.

    Whoever may stop each arm where it suits breaks products of processes that are martingales for the arm alone.
    """
    mean_ahead, risk_ahead, evidence_on_mean = bound.mean_ahead, bound.risk_ahead, bound.evidence_on_mean
    evidence_below, evidence_above = bound.evidence_below, bound.evidence_above

    @compiled_loop
    def chase(learn, arms, memory, search, problem, truths, level, by_mean, draws):  # type: ignore[no-untyped-def]
        """Whether the false claim that the first arm is ahead was ever proved."""
        wanted, pulled = draws[-1, 0] * level, 0
        for turn in range(draws.shape[0] - 1):
            learn(arms, memory, search, problem, pulled, truths[pulled, 0] + truths[pulled, 1] * draws[turn, 1])
            if arms[0].pulls < 8 or arms[1].pulls < 8:
                pulled = 1 - pulled
                continue
            own, others = sums(arms[0], memory[0], problem, 0), sums(arms[1], memory[1], problem, 0)
            if by_mean:
                ahead = mean_ahead(arms[0], memory[0], arms[1], memory[1], search.epsilon, problem, 0, level)
                first = max(evidence_on_mean(own, arms[0], problem, truths[0, 0], 1.0))
                second = max(evidence_on_mean(others, arms[1], problem, truths[1, 0], -1.0))
            else:
                ahead = risk_ahead(arms[0], memory[0], arms[1], memory[1], search.epsilon, problem, 0, level)
                first = max(evidence_below(own, arms[0], problem, truths[0, 2]))
                second = max(evidence_above(others, arms[1], problem, truths[1, 2]))
            if ahead:
                return True
            pulled = 0 if (first < wanted and arms[0].pulls < 400) or second >= level - wanted else 1
        return False

    return chase


@pytest.mark.long
@pytest.mark.parametrize("chance", [0.2, 0.5])
@pytest.mark.parametrize("by_mean", [True, False])
@pytest.mark.parametrize("risk", ["std", "mean-variance:0.3"])
def test_false_claims_are_rare_under_adversarial_sampling(chance: float, by_mean: bool, risk: str) -> None:
    """At the edge of a claim; the boxes, at a level at which they never fail, cost almost nothing of the chance."""
    rng, epsilon, runs = np.random.default_rng(5), 0.1, 400
    spec = make_spec(["a", "b"], noise="gaussian", risk=risk, epsilon=epsilon, delta=1e-3, bound="gaussian-pairwise")
    learn = make_learn(spec, spec.bound)
    deviations = np.array([0.3, 0.3])
    means, rho, alpha = np.array([0.5, 0.5 + epsilon * by_mean]), spec.rho or 0.0, spec.unit_scale
    if not by_mean:
        deviations[1] = 0.3 - epsilon / alpha if risk == "std" else math.sqrt(0.3**2 - epsilon / alpha * 0.2)
        if risk != "std":
            means[1] = means[0] + (epsilon / alpha - deviations[0] ** 2 + deviations[1] ** 2) / rho
    risks = alpha * (deviations if risk == "std" else deviations**2 - rho * means)
    assert by_mean or risks[0] == pytest.approx(risks[1] + epsilon)
    truths, proved = np.column_stack([means, deviations, risks]), 0
    for _ in range(runs):
        state, draws = make_state(spec, spec.bound, spec.delta), rng.normal(size=(1500, 2))
        draws[-1, 0] = rng.uniform()
        proved += chaser()(learn, *state.records, truths, -math.log(chance), by_mean, draws)
    # A correct program fails with probability 1e-6 at most.
    assert proved <= most_allowed(runs, chance)
