"""Comparisons of two arms at once: the evidence is real, the search over hypotheses is sound, and it pays."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
import scipy

from ramgape import Arm, Bernoulli, Beta, Instance, replicate, simulate
from ramgape.bounds import pairwise
from ramgape.core.kernel import fixed
from ramgape.core.rule import never
from ramgape.risks import moments
from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec
from ramgape.simulation.simulation import simulated_spec
from ramgape.statistics.mixture import log_evidence, log_mixture, log_mixture_below

FALSE_ALARM = 1e-6


def integrated_below(total: float, squares: float, reach: float, scale: float) -> float:
    """ln M for s <= 0 by integration over u = -ln(1 - c l): the integrand falls from u = 0 on."""

    def psi(u: float) -> float:
        return (u - (1.0 - math.exp(-u))) / reach**2

    def mass(weight: float, slope: float) -> float:
        width = min(reach / math.sqrt(weight), reach / slope if slope > 0.0 else math.inf)
        edges = [0.0, *(k * width for k in (0.1, 1.0, 5.0, 30.0, 300.0)), 3000.0 * width + 60.0]
        return math.fsum(
            scipy.integrate.quad(
                lambda u: math.exp(-slope * (1.0 - math.exp(-u)) / reach - psi(u) * weight), low, high
            )[0]
            for low, high in itertools.pairwise(edges)
        )

    return math.log(mass(squares + scale, -total) / mass(scale, 0.0))


@pytest.mark.parametrize("reach", [1.0, 0.3, 0.01])
@pytest.mark.parametrize("scale", [30.0, 1.0, 0.03])
@pytest.mark.parametrize(
    ("count", "spread", "drift"), [(10, 0.2, 0.0), (10, 0.2, 0.3), (1000, 0.1, 0.05), (10**5, 0.01, 0.002)]
)
def test_evidence_against_is_never_above_the_integral(
    reach: float, scale: float, count: int, spread: float, drift: float
) -> None:
    total, squares = -count * drift * reach, count * (spread + drift**2) * reach**2
    exact = integrated_below(total, squares, reach, scale)
    found = log_mixture_below(total, squares, squares, reach, scale)
    assert found <= exact + 1e-7
    assert found >= exact - 1.5
    # Knowing less of the squares can only lower it.
    assert log_mixture_below(total, 2.0 * squares, 0.5 * squares, reach, scale) <= found + 1e-12


def test_evidence_is_the_mean_of_two_mixtures_on_either_side() -> None:
    scales, single = np.array([1.0, 30.0]), np.array([3.0, 3.0])
    for total, form in (
        (5.0, lambda s: log_mixture(5.0, 9.0, 0.5, s)),
        (-5.0, lambda s: log_mixture_below(-5.0, 9.0, 9.0, 0.5, s)),
    ):
        expected = math.log((math.exp(form(1.0)) + math.exp(form(30.0))) / 2.0)
        assert log_evidence(total, 9.0, 9.0, 0.5, scales) == pytest.approx(expected)
        assert log_evidence(total, 9.0, 9.0, 0.5, single) == pytest.approx(form(3.0))


def two_arms(first: Any, second: Any, epsilon: float = 0.0, delta: float = 0.05) -> Engine:
    asked: dict[str, Any] = {"reward_range": (0, 1), "bound": "pairwise", "rho": 0.01}
    engine = Engine(make_spec(["a", "b"], epsilon=epsilon, delta=delta, **asked))
    for arm, rewards in enumerate((first, second)):
        for reward in rewards:
            engine.tell(arm, float(reward))
    return engine


@pytest.mark.parametrize("seed", range(12))
def test_what_is_settled_is_so_for_every_value_in_between(seed: int) -> None:
    """Against the infimum over a fine grid: never settled above it, and settled if it is clearly beyond the level."""
    generator = np.random.default_rng(seed)
    centre, counts = generator.uniform(0.3, 0.7), generator.integers(50, 3000, 2)
    arms = [generator.beta(8 * centre, 8 * (1 - centre), counts[0]), generator.beta(2.0, 2.0, counts[1])]
    epsilon = float(generator.choice([0.0, 0.02]))
    engine = two_arms(*arms, epsilon=epsilon)
    arms, memory, search, problem = engine.rows.records
    risk_ahead = pairwise.moments_ahead(moments.variance_at)
    least_on_risk = fixed(pairwise.least_on_risk, moments.variance_at)
    for one, two in ((0, 1), (1, 0)):
        row, rival = arms[one], arms[two]
        pair = row, memory[one], rival, memory[two]
        for ahead, least_on, level, low, high, points, slack in (
            (
                pairwise.mean_ahead,
                pairwise.least_on_mean,
                float(problem.pair_levels[0]),
                row.mean_low,
                min(row.mean_high, rival.mean_high - epsilon),
                2001,
                0.05,
            ),
            (
                risk_ahead,
                least_on_risk,
                float(problem.pair_levels[1]),
                rival.risk_low + epsilon,
                min(row.risk_high, rival.risk_high + epsilon),
                801,
                0.3,
            ),
        ):
            values = (least_on((m, m), *pair, problem, epsilon, 0, level) for m in np.linspace(low, high, points))
            least = min(values) if low <= high else math.inf
            proved = ahead(*pair, float(search.epsilon), problem, 0, level)
            assert not proved or least >= level - 1e-9
            assert proved or least < level + slack


HARD = {
    "coins": (Bernoulli(0.5), Bernoulli(0.5)),
    "rare": (Bernoulli(0.97), Bernoulli(0.97)),
    "ends": (Beta(0.1, 0.1), Beta(0.1, 0.1)),
    "unlike": (Beta(0.1, 0.1), Beta(500.0, 500.0)),
}


def first_is_ahead(engine: Engine) -> bool:
    """Whether the first arm's mean is proved to be above the other's, at the level of withstanding."""
    arms, memory, search, problem = engine.rows.records
    level = float(problem.pair_levels[0])
    return bool(pairwise.mean_ahead(arms[0], memory[0], arms[1], memory[1], float(search.epsilon), problem, 0, level))


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["coins", *(pytest.param(name, marks=pytest.mark.long) for name in ("rare", "ends", "unlike"))]
)
def test_equal_means_are_rarely_told_apart(name: str) -> None:
    """Arm b's mean is at least arm a's; that is rejected, ever, with probability at most 0.7 delta and 0.05 delta.

    Looks at growing numbers of pulls. False alarm: at most 1e-6 for each case.
    """
    delta, runs, bad = 0.5, 150, 0
    arms = tuple(Arm(label, distribution) for label, distribution in zip("ab", HARD[name], strict=True))
    instance = Instance(name, arms, (0.0, 1.0), "bounded")
    spec = simulated_spec(instance, bound="pairwise", policy="round-robin", rho=0.01, epsilon=0.0, delta=delta)
    for generator in np.random.default_rng(7).spawn(runs):
        engine = Engine(spec)
        engine.rule = engine.rule._replace(stop=never)
        rejected = False
        while engine.samples < 4000 and not rejected:
            engine.advance(instance.sampler(), generator, 2 + engine.samples // 15)
            rejected = engine.samples >= 4 and first_is_ahead(engine)
        bad += rejected
    assert bad <= int(scipy.stats.binom.ppf(1.0 - FALSE_ALARM, runs, (0.7 + 0.05) * delta))


def test_a_result_states_what_was_proved() -> None:
    result = simulate("paper:46", epsilon=0.0, bound="pairwise", policy="evidence", seed=1)
    assert result.stopped == "confidence"
    assert result.front == ("1", "2")
    assert all(arm.certified for arm in result.arms)
    assert result.certified_epsilon == 0.0
    assert "this is exactly the Pareto set" in result.guarantee
    short = simulate(
        "paper:46", epsilon=0.0, bound="pairwise", policy="evidence", seed=1, max_trials=result.samples - 200
    )
    assert short.stopped == "cap"
    certified = [arm.certified for arm in short.arms]
    assert any(certified)
    assert not all(certified)
    assert all((arm.verdict == "open") != arm.certified for arm in short.arms)


def test_fewer_pulls_than_with_boxes_and_none_wrong() -> None:
    """Means of 40 runs: 12,700 give or take 870 in development, so 18,000 is six standard errors away."""
    few = replicate("paper:46", epsilon=0.0, bound="pairwise", policy="evidence", runs=40)
    boxes = replicate("paper:46", epsilon=0.0, bound="empirical-bernstein", policy="ramgape", runs=40)
    assert few.mean_samples < 18_000
    assert few.mean_samples < 0.85 * boxes.mean_samples < 0.85 * 29_000
    assert few.errors == boxes.errors == 0
