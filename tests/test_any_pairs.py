"""Rewards of any kind, two arms compared at once: the evidence is what it says, and claims what is false rarely."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import scipy

from ramgape import Arm, Data, Gaussian, Instance, simulate
from ramgape.bounds import BOUNDS
from ramgape.bounds.central_limit_pairwise import SCALES, WEIGHTS, difference_evidence, mean_ahead, risk_ahead
from ramgape.core.comparisons import PULLS, RISK, SQUARES, TOTAL
from ramgape.core.rows import Rows
from ramgape.problems.unbounded import Exponential, LogNormal, StudentT
from ramgape.search.engine import Engine
from ramgape.search.inference import infer
from ramgape.search.spec import make_spec
from tests.misses import FAMILIES, LEVELS, claim_shares, false_claims
from tests.support import changing

METHOD: dict[str, Any] = {"bound": "central-limit-pairwise", "policy": "evidence"}


def fed(first: Any, second: Any, **options: Any) -> Engine:
    """A search over two arms that have shown these rewards."""
    engine = Engine(make_spec(["a", "b"], **{"epsilon": 0.1, "risk": "std", **METHOD, **options}))
    for arm, rewards in enumerate((first, second)):
        engine.learn_many(np.full(len(rewards), arm), np.asarray(rewards, float), may_stop=False)
    engine.make_boxes()
    return engine


def reached(engine: Engine, kernel: Any, *, arm: int = 0, since: int = 0) -> float:
    """The evidence that an arm is ahead of the other, by bisection on the level; boxes say nothing here."""
    arms, memory, search, problem = Rows.of(engine.state).records
    for row in arms:
        row.mean_low, row.mean_high, row.risk_low, row.risk_high = -math.inf, math.inf, -math.inf, math.inf
    other = 1 - arm

    def ahead(level: float) -> bool:
        pair = arms[arm], memory[arm], arms[other], memory[other]
        return bool(kernel(*pair, search.epsilon, problem, since, level))

    low, high = -50.0, 1000.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if ahead(middle) else (low, middle)
    return low


# --- the evidence -----------------------------------------------------------------------------------------------------


def mixed(excess: float, count: float, spread: float, scale: float) -> float:
    """The evidence of one arm that its errors sum to `excess` too much, integrated over half-normal bets."""
    width = 1.0 / math.sqrt(scale * spread)

    def term(bet: float) -> float:
        prior = math.sqrt(2.0 / math.pi) / width * math.exp(-0.5 * (bet / width) ** 2)
        return prior * math.exp(bet * excess - 0.5 * bet * bet * count * spread)

    return float(scipy.integrate.quad(term, 0.0, 12.0 * width, limit=200)[0])


@pytest.mark.parametrize("counts", [(20.0, 20.0), (30.0, 300.0), (400.0, 50.0)])
@pytest.mark.parametrize("size", [2.0, 4.0])
def test_evidence_is_the_mixture_of_products_where_it_is_least(counts: tuple[float, float], size: float) -> None:
    """Where the squares alone decide whose error a difference is: at most a little more than the least."""
    spreads = 1.0, 2.5
    difference = size * math.sqrt(spreads[0] / counts[0] + spreads[1] / counts[1])

    def evidence(part: float) -> float:
        terms = (
            weight
            * mixed(counts[0] * part, counts[0], spreads[0], scale)
            * mixed(counts[1] * (difference - part), counts[1], spreads[1], scale)
            for scale, weight in zip(SCALES, WEIGHTS, strict=True)
        )
        return math.log(sum(terms))

    least = scipy.optimize.minimize_scalar(evidence, bounds=(0.0, difference), method="bounded").fun
    found = difference_evidence(difference, counts[0], spreads[0], 0.0, counts[1], spreads[1], 0.0, 0.0)
    assert abs(found - least) < 0.25
    assert sum(WEIGHTS) == pytest.approx(1.0)


def test_what_grows_with_the_error_counts_and_nothing_is_said_against_the_estimate() -> None:
    plain = difference_evidence(1.0, 50.0, 1.0, 0.0, 50.0, 1.0, 0.0, 0.0)
    assert difference_evidence(1.0, 50.0, 1.0, 2.0, 50.0, 1.0, 0.0, 0.0) < plain
    assert difference_evidence(1.0, 50.0, 1.0, 0.0, 50.0, 1.0, 2.0, 0.0) < plain
    assert difference_evidence(1.0, 50.0, 1.0, 0.0, 50.0, 1.0, 0.0, 0.5) < plain
    assert difference_evidence(0.0, 50.0, 1.0, 0.0, 50.0, 1.0, 0.0, 0.0) == -math.inf
    assert difference_evidence(1.0, 50.0, 0.0, 0.0, 50.0, 0.0, 0.0, 0.0) == -math.inf
    # A chance of 0 has no spread, but it grows at once: about n d / 2 for a difference of d.
    assert 0.0 < difference_evidence(0.2, 100.0, 0.0, 1.0, 1e6, 1e-9, 0.0, 0.0) < 10.0
    assert difference_evidence(1e9, 50.0, 1.0, 0.0, 50.0, 1.0, 0.0, 0.0) == math.inf


@pytest.mark.parametrize(("risk", "power"), [("std", 1), ("variance", 2)])
@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_evidence_depends_neither_on_units_nor_on_offsets(risk: str, power: int, scale: float) -> None:
    rewards = np.random.default_rng(1).gamma(2.0, size=(2, 200)) * [[0.5], [1.0]]
    plain = fed(*rewards, risk=risk, epsilon=(0.1, 0.1))
    moved = fed(*(3.0 * scale + scale * rewards), risk=risk, epsilon=(0.1 * scale, 0.1 * scale**power))
    for kernel in (mean_ahead, risk_ahead):
        for arm in (0, 1):
            assert reached(moved, kernel, arm=arm) == pytest.approx(reached(plain, kernel, arm=arm), rel=1e-6, abs=1e-6)


def test_nothing_is_claimed_before_the_first_looks_nor_of_equal_rewards() -> None:
    rewards = np.random.default_rng(2).normal(size=(2, 40)) * 0.01 + [[5.0], [0.0]]
    assert reached(fed(rewards[0, :9], rewards[1]), mean_ahead) < -10.0
    assert reached(fed(rewards[0, :10], rewards[1]), mean_ahead) > 0.0
    assert reached(fed(rewards[0, :19], rewards[1]), risk_ahead) < -10.0
    assert reached(fed(rewards[0, :20], rewards[1]), risk_ahead) > 0.0
    still = fed(np.full(40, 5.0), rewards[1])
    assert reached(still, mean_ahead) < -10.0
    assert reached(still, risk_ahead) < -10.0


def test_after_a_designation_only_later_rewards_count() -> None:
    """Means exactly, a risk to first order: what later rewards show by themselves, with the spread that all show."""
    before, after = np.random.default_rng(3).normal(size=(2, 2, 400)) * [[[1.0], [1.5]]]
    engine = fed(*np.concatenate([before, after], axis=1))
    engine._hold(engine.state._replace(memory=np.concatenate([engine.memory, np.zeros((2, 30))], axis=1)))
    with changing(engine) as state:
        state.problem["snapshot"] = 2
    early = fed(*before)
    for arm in (0, 1):
        snapshot, row = engine.memory[arm][2:], early.arms[arm]
        snapshot[PULLS], snapshot[TOTAL], snapshot[SQUARES] = row["pulls"], row["total"], row["squares"]
        snapshot[RISK] = row["risk"]
    alone = fed(*after)
    for kernel in (mean_ahead, risk_ahead):
        assert reached(engine, kernel, since=1) == pytest.approx(reached(alone, kernel), rel=0.15, abs=0.3)
    engine.memory[:, 2 + PULLS] = 800.0  # nothing came since
    assert reached(engine, mean_ahead, since=1) < -10.0
    assert reached(engine, risk_ahead, since=1) < -10.0


# --- searches ---------------------------------------------------------------------------------------------------------


def instance_of(*arms: Any) -> Instance:
    return Instance("any", tuple(Arm(f"arm {place}", arm) for place, arm in enumerate(arms)), None, "any")


def test_searches_are_approximate_and_certified_by_comparisons() -> None:
    assert BOUNDS["central-limit-pairwise"].rigour == "approximate"
    instance = instance_of(Exponential(), LogNormal(0.5, 0.5), StudentT(5.0))
    result = simulate(instance, epsilon=0.2, risk="std", seed=1, **METHOD)
    assert (result.stopped, result.goal_reached, result.rigour) == ("confidence", True, "approximate")
    assert result.guarantee.startswith("Approximately, with probability 0.95, ")
    assert all(arm.certified for arm in result.arms)


def test_a_constant_arm_ends_a_search_and_proves_nothing() -> None:
    arms = Gaussian(1.0, 0.25), Gaussian(2.0, 1.0), Gaussian(0.0, 1.0), Data((1.5, 1.5))
    result = simulate(instance_of(*arms), epsilon=0.3, risk="std", seed=3, max_trials=20_000, **METHOD)
    assert (result.stopped, result.goal_reached) == ("constant", False)
    assert 1_000 <= result.arm("arm 3").pulls <= 1_010
    assert result.samples < 1_300
    assert {arm.certificate for arm in result.arms if arm.name in result.front} <= {"none"}


def test_an_arm_far_from_the_others_is_not_waited_for() -> None:
    """With few pulls of its own its box settles what a common scale of evidence does not, and no rule would pull it."""
    arms = Gaussian(0.0, 25.0), Gaussian(1.0, 1.0), Gaussian(1.02, 1.2)
    result = simulate(instance_of(*arms), epsilon=0.0, risk="std", seed=4, max_trials=400_000, **METHOD)
    assert result.stopped == "confidence"
    assert result.arm("arm 0").pulls < 2_000


def test_told_rewards_lead_to_the_same_bits() -> None:
    instance = instance_of(Exponential(1.0), LogNormal(0.0, 0.5), StudentT(5.0))
    spec = make_spec(instance.names, epsilon=0.3, risk="std", max_trials=3_000, **METHOD)
    generator, sampler = np.random.default_rng(7), instance.sampler()
    played, told = Engine(spec), Engine(spec)
    played.advance(sampler, generator, 3_000)
    generator = np.random.default_rng(7)
    while (arm := told.ask()) is not None:
        told.tell(arm, sampler.draw(sampler.parameters, sampler.values, arm, generator))
    assert (played.samples, played.stopped) == (told.samples, told.stopped) == (told.samples, "confidence")
    assert played.arms.tobytes() == told.arms.tobytes()
    assert infer(played) == infer(told)


# --- how often it is right --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["exponential", "lognormal(0.5)"])
def test_what_is_just_false_is_hardly_claimed_more_often_than_stated(family: str) -> None:
    """The long test below in small, on families that are hard when one arm has four times the pulls of the other.

    A correct program claims it in .04 of the runs at most; more than .12 of 400 comes with a chance of about 1e-9.
    """
    evidence = false_claims(FAMILIES[family], FAMILIES[family], 400, pulls=(150, 600), seed=8)
    for side in (0, 1):
        assert claim_shares(evidence[:, :, side])[0] <= 0.12


@pytest.mark.long
@pytest.mark.parametrize("ratio", [1, 4])
@pytest.mark.parametrize("family", FAMILIES)
def test_false_claims_of_every_family(family: str, ratio: int) -> None:
    """At most twice nominal at .05, four times at .005 and eight times at .001, of 4,000 runs.

    With other seeds no family came to more than .042, .0083 and .0022 (docs/theory/rewards-of-any-kind.md). If the
    truth is .045, .0085 and .0025, more than is allowed comes with a chance of 1e-7 at most.
    """
    evidence = false_claims(FAMILIES[family], FAMILIES[family], 4_000, pulls=(400, 400 * ratio), seed=9)
    for side in (0, 1):
        for found, level, most in zip(claim_shares(evidence[:, :, side]), LEVELS, (2.0, 4.0, 8.0), strict=True):
            assert found <= most * level
