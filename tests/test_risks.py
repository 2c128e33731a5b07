"""The risk measures: intervals that hold at all times, estimates against definitions, units, words and errors.

The coverage of intervals is tested as in test_guarantees.py, by counting: a case fails by chance with probability at
most 1e-6, and there are about a hundred cases, so that all of them together raise a false alarm with probability at
most 1e-4. Seeds are fixed, so that they either do or do not.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ramgape
from ramgape import (
    Arm,
    Bernoulli,
    Beta,
    Data,
    Gaussian,
    Instance,
    InvalidSpec,
    RamgapeError,
    Result,
    Uniform,
    UnknownName,
    load_instance,
    replicate,
    simulate,
)
from ramgape.problems.environments import Distribution
from ramgape.risks import make_risk
from ramgape.risks.cells import CELLS
from ramgape.risks.table import RISKS
from ramgape.search.assembly import make_learn, make_state
from ramgape.search.engine import Engine
from ramgape.search.spec import Spec, make_spec
from ramgape.simulation.simulation import simulated_spec
from ramgape.simulation.truth import TrueArms
from tests.cli_support import call, complaint
from tests.guarantees import most_allowed, random_arm, watch
from tests.support import POLICIES, by_hand, in_full

OWN_KERNELS = ["semivariance:0.5", "entropic:3", "cvar:0.1"]
SIX = ["std", "mean-variance:0.5", "variance", *OWN_KERNELS]


def instance_of(*distributions: Distribution, reward_range: tuple[float, float] = (0.0, 1.0)) -> Instance:
    arms = tuple(Arm(f"arm {place}", distribution) for place, distribution in enumerate(distributions))
    if isinstance(distributions[0], Gaussian):
        return Instance("gaussian", arms, None, "gaussian")
    return Instance("bounded", arms, reward_range, "bounded")


def learnt(instance: Instance, spec: Spec, pulls: int, seed: int, bound: str) -> Any:
    """The table after so many pulls of each arm, none of them looked at."""
    return watched(instance, spec, pulls, np.random.default_rng(seed), bound, None, look=())[0]


def watched(
    instance: Instance,
    spec: Spec,
    pulls: int,
    generator: np.random.Generator,
    bound: str,
    level: float | None,
    look: tuple[str, ...],
) -> tuple[Any, int]:
    """The table after so many pulls of each arm, or at the first one after which a truth that counts is missed."""
    state, sampler = make_state(spec, bound, spec.delta), instance.sampler()
    if level is not None:
        state.arms["level"] = level
    learn = make_learn(spec, bound)
    truth = TrueArms(instance, spec).table()
    unseen = np.full(len(truth), math.nan)  # no end of an interval is above or below
    means, risks = (np.ascontiguousarray(truth[side]) if side in look else unseen for side in ("mean", "risk"))
    sampled = (sampler.parameters, sampler.values, generator)
    return state.arms, watch(sampler.draw, learn, *state, *sampled, pulls, means, risks)


def missed_runs(
    instance: Instance, spec: Spec, runs: int, pulls: int, look: tuple[str, ...], level: float | None = None
) -> int:
    """In how many runs a truth of any arm is outside its interval after any pull."""
    generators = np.random.default_rng(31).spawn(runs)
    return sum(watched(instance, spec, pulls, each, spec.bound, level, look)[1] > 0 for each in generators)


# --- intervals hold at all times ----------------------------------------------------------------------

STRESSED: dict[str, tuple[Distribution, ...]] = {
    "coins": (Bernoulli(0.5), Bernoulli(0.002), Bernoulli(0.998), Bernoulli(0.1), Bernoulli(0.9)),
    "shapes": (Beta(0.1, 0.1), Beta(0.3, 3.0), Uniform(0.999, 1), Uniform(0, 0.001), Beta(5_000, 5_000), Uniform(0, 1)),
    "ends": (Data((0.0, 0.0, 0.5, 1.0)), Data((0.0,) * 29 + (1.0,)), Data((0.0,)), Data((1.0,)), Data((0.3,))),
    "tails": (
        Beta(2, 5),
        Beta(0.5, 0.5),
        Bernoulli(0.92),
        Bernoulli(0.88),
        Data((0.2,) + (0.8,) * 11),
        Bernoulli(0.12),
    ),
    "nodes": (Data((0.25, 0.5)), Data((1 / 64, 63 / 64, 1.0)), Data((0.0, 1 / 64)), Data((0.5,) * 19 + (0.49,))),
}
BOUNDED = [*SIX, "semivariance:1.3", "semivariance:0.01", "entropic:0.001", "entropic:100"]
TAILS = [
    "cvar:0.97",
    "cvar:1",
    "cvar:0.001",
    "quantile:0.1",
    "quantile:0.9",
    "shortfall:0.5",
    "spectral:0.05=0.3,0.25=0.7",
]
FAST = [
    *itertools.product(SIX, ("coins", "shapes", "ends", "nodes")),
    *itertools.product(["cvar:0.1", *TAILS], ("tails",)),
]
NORMAL = (Gaussian(0, 1e-8), Gaussian(5, 100), Gaussian(-3, 0.25), Gaussian(1_000, 1))


@pytest.mark.few(2)
@pytest.mark.parametrize(("risk", "arms"), FAST)
def test_bounded_risks_hold_at_all_times(risk: str, arms: str) -> None:
    """A look after every pull. The two sides of the risk have half of delta. False alarm: at most 1e-6 for each case.

    delta is large, so that a proof that gives away too much would be seen.
    """
    instance = instance_of(*STRESSED[arms])
    spec = simulated_spec(instance, risk=risk, epsilon=0.02, delta=0.9)
    runs, pulls = (24, 250) if risk.startswith(("cvar", "spectral")) else (60, 300)
    missed = missed_runs(instance, spec, runs, pulls, look=("risk",))
    assert missed <= most_allowed(runs, 0.45), f"{missed} of {runs} runs"


@pytest.mark.parametrize("risk", [*SIX, "cvar:1", "semivariance:-3", "entropic:0.001"])
def test_gaussian_risks_hold_at_all_times(risk: str) -> None:
    """Tiny and large variances and means; mean and risk, which share the chance. False alarm: at most 1e-6 each."""
    instance = instance_of(*NORMAL)
    spec = simulated_spec(instance, risk=risk, epsilon=0.02, delta=0.9)
    missed = missed_runs(instance, spec, 100, 300, look=("mean", "risk"))
    assert missed <= most_allowed(100, 0.9), f"{missed} of 100 runs"
    spec = simulated_spec(instance, risk=risk, epsilon=0.02, delta=0.05)
    missed = missed_runs(instance, spec, 100, 300, look=("mean", "risk"))
    assert missed <= most_allowed(100, 0.05), f"{missed} of 100 runs"


@pytest.mark.parametrize("risk", OWN_KERNELS)
def test_costs_in_other_units_are_covered(risk: str) -> None:
    """Costs on [-5, 15], risks in their units. False alarm: at most 1e-6 for each case."""
    arms = (Bernoulli(0.9, -5, 15), Beta(0.1, 0.1, -5, 15), Uniform(-5, 15), Data((-5.0,) * 30 + (15.0,)))
    instance = instance_of(*arms, reward_range=(-5, 15))
    own = {"semivariance:0.5": "semivariance:5", "entropic:3": "entropic:0.2"}.get(risk, risk)
    spec = simulated_spec(instance, risk=own, epsilon=0.5, delta=0.9, direction="minimize")
    missed = missed_runs(instance, spec, 40, 250, look=("mean", "risk"))
    assert missed <= most_allowed(40, 0.9)


@pytest.mark.parametrize(
    ("risk", "arms", "level"),
    [
        ("semivariance:0.5", STRESSED["coins"], 1.0),
        ("entropic:3", STRESSED["coins"], 1.0),
        ("cvar:0.1", NORMAL, 0.5),
        ("semivariance:0", NORMAL, 0.5),
    ],
)
def test_coverage_notices_a_level_that_is_too_low(risk: str, arms: tuple[Distribution, ...], level: float) -> None:
    """The same count with intervals that are too narrow: the tests above would not pass."""
    instance = instance_of(*arms)
    spec = simulated_spec(instance, risk=risk, epsilon=0.02, delta=0.05)
    assert missed_runs(instance, spec, 60, 400, look=("risk",), level=level) > most_allowed(60, 0.05)


@pytest.mark.long
@pytest.mark.parametrize("arms", STRESSED)
@pytest.mark.parametrize("risk", [*BOUNDED, *TAILS])
def test_bounded_risks_hold_longer(risk: str, arms: str) -> None:
    """As above, 400 runs of 4,000 pulls of each arm. False alarm: at most 1e-6 for each case."""
    instance = instance_of(*STRESSED[arms])
    spec = simulated_spec(instance, risk=risk, epsilon=0.005, delta=0.5)
    assert missed_runs(instance, spec, 400, 4_000, look=("risk",)) <= most_allowed(400, 0.25)


def test_nothing_is_not_a_number() -> None:
    """Where nothing is known of a mean or a variance yet, 0 times infinity must not spoil a box."""
    for risk in (*SIX, "mean-variance:0", "cvar:1"):
        engine = Engine(make_spec(["a", "b"], noise="gaussian", epsilon=0.1, risk=risk))
        generator = np.random.default_rng(0)
        for pull in range(40):
            engine.tell(0, float(generator.normal()) if pull > 3 else 0.25)
            row = engine.arms[0]
            values = [float(row[side]) for side in ("risk_low", "risk_high", "mean_low", "mean_high", "risk_spread")]
            assert not any(map(math.isnan, values)), (risk, pull, values)
            assert row["risk_low"] <= row["risk_high"]


# --- answers ------------------------------------------------------------------------------------------


@pytest.mark.few(3)
@pytest.mark.parametrize("noise", ["bounded", "gaussian"])
@pytest.mark.parametrize("risk", SIX)
def test_answers_are_wrong_in_at_most_delta_of_runs(risk: str, noise: str) -> None:
    """One run of each of 40 random instances of three arms. False alarm: at most 1e-6 for each case."""
    generator, delta, wrong, ended = np.random.default_rng(41), 0.1, 0, 0
    for seed in range(40):
        instance = instance_of(*(random_arm(generator, noise) for _ in range(3)))
        run = replicate(instance, runs=1, seed=seed, risk=risk, epsilon=0.06, delta=delta, max_trials=50_000).runs[0]
        ended += run.stopped == "confidence"
        wrong += run.stopped == "confidence" and not run.eps_correct
    assert ended >= 36
    assert wrong <= most_allowed(40, delta)


# --- estimates ----------------------------------------------------------------------------------------

SAMPLES: dict[str, Callable[[np.random.Generator, int], Any]] = {
    "flat": lambda generator, count: generator.random(count),
    "U": lambda generator, count: generator.beta(0.2, 0.2, count),
    "skewed": lambda generator, count: generator.beta(5.0, 1.0, count),
    "narrow": lambda generator, count: 0.5 + 0.001 * generator.random(count),
    "coins": lambda generator, count: generator.integers(0, 2, count).astype(float),
    "atoms": lambda generator, count: generator.choice([0.0, 0.1, 0.33, 0.5, 1.0], count),
}


def told(rewards: Any, **options: Any) -> Any:
    """The row of an arm that has seen these rewards."""
    engine = Engine(make_spec(["a", "b"], **{"reward_range": (0, 1), "epsilon": 0.1, **options}))
    for reward in rewards:
        engine.rule.learn(*engine.rows.records, 0, float(reward))
    return engine.arms[0]


@pytest.mark.parametrize("risk", SIX)
def test_a_change_of_distribution_is_noticed_by_the_risk_alone(risk: str) -> None:
    """Rewards near 1/2 and then coins: the mean stays, and so does the interval of it."""
    generator = np.random.default_rng(8)
    rewards = np.concatenate([generator.uniform(0.45, 0.55, 3_000), np.tile([0.0, 1.0], 4_000)])
    engine = Engine(make_spec(["a", "b"], reward_range=(0, 1), epsilon=0.0, risk=risk))
    engine.learn_many(np.zeros(len(rewards), np.int64), rewards)
    row = engine.arms[0]
    assert row["mean_low"] < row["average"] < row["mean_high"]
    assert engine.search["misses"][0] > 0
    steady = Engine(make_spec(["a", "b"], reward_range=(0, 1), epsilon=0.0, risk=risk))
    steady.learn_many(np.zeros(len(rewards), np.int64), generator.permutation(rewards))
    assert steady.search["misses"][0] == 0


@pytest.mark.parametrize("kind", SAMPLES)
@pytest.mark.parametrize("level", [0.003, 0.1, 0.5, 1.0])
def test_cvar_is_estimated_by_the_mean_of_the_lowest_rewards(kind: str, level: float) -> None:
    """To a part of a cell, however few rewards there are; exactly where a cell holds no two different ones."""
    generator = np.random.default_rng(5)
    for count in (1, 2, 9, 1000):
        rewards = SAMPLES[kind](generator, count)
        found = -float(told(rewards, risk=ramgape.CVaR(level))["risk"])
        exact = Data(tuple(rewards)).tail_mean(level)
        assert found == pytest.approx(exact, abs=1e-12 if kind in ("coins", "atoms") else 1.0 / CELLS)
        assert min(rewards) - 1.0 / CELLS <= found <= rewards.mean() + 1e-12
        assert 0.0 <= found <= 1.0
    # With many rewards, the only error is that of taking them for evenly spread within one cell.
    assert found == pytest.approx(exact, abs=0.25 / CELLS)


def test_cvar_never_leaves_the_cell_of_a_lopsided_pair() -> None:
    """Two far ends of one cell have a larger variance than anything spread evenly over it."""
    for rewards in ([0.0, 0.0156], [0.0, 0.0, 0.0, 0.0156], [0.985, 1.0, 1.0, 1.0], [0.0, 0.0156] * 20):
        row = told(rewards, risk="cvar:0.01")
        assert -max(rewards) <= row["risk"] <= -min(rewards)


@pytest.mark.parametrize("kind", SAMPLES)
def test_transformed_risks_are_estimated_by_their_definitions(kind: str) -> None:
    generator = np.random.default_rng(6)
    rewards = SAMPLES[kind](generator, 200)
    for target in (0.01, 0.5, 1.0, 1.7):
        row = told(rewards, risk=ramgape.Semivariance(target))
        assert row["risk"] == pytest.approx(0.5 * float((np.maximum(target - rewards, 0) ** 2).mean()), rel=1e-12)
    for gamma in (1e-7, 0.1, 2.0, 50.0, 300.0):
        row = told(rewards, risk=ramgape.Entropic(gamma))
        terms = -gamma * rewards
        exact = (terms.max() + math.log(float(np.exp(terms - terms.max()).mean()))) / gamma
        assert row["risk"] == pytest.approx(exact, rel=1e-8, abs=1e-12)
        assert math.isfinite(row["risk_spread"])
        assert -1.0 <= row["risk_low"] <= row["risk"] + 1e-12
        assert row["risk"] - 1e-12 <= row["risk_high"] <= 0.0


SPREADS: list[tuple[str, Distribution]] = [
    *itertools.product([*SIX, "cvar:0.9"], [Beta(2, 2), Beta(1.5, 0.8), Uniform(0.3, 0.9)]),
    *itertools.product(["semivariance:0.5", "entropic:3"], [Bernoulli(0.3)]),
    ("cvar:0.4", Bernoulli(0.7)),
    *itertools.product([*SIX, "cvar:1", "semivariance:-0.5"], [Gaussian(0.4, 0.7)]),
]


@pytest.mark.parametrize(("risk", "distribution"), SPREADS)
def test_the_spread_of_an_estimate_is_what_it_is_said_to_be(risk: str, distribution: Distribution) -> None:
    """Of 600 estimates from 400 rewards each, the variance against the average of what each says of itself.

    The variance of that many estimates is off by a quarter, four of its standard errors, once in 10,000 such tests;
    the delta method is off by a few hundredths here.
    """
    instance = instance_of(*[distribution] * 600)
    arms = learnt(instance, simulated_spec(instance, risk=risk, budget=10_000, policy="round-robin"), 400, 7, "none")
    ratio = 400 * float(arms["risk"].var()) / float(arms["risk_spread"].mean())
    assert 0.7 < ratio < 1.3
    truth = TrueArms(instance, simulated_spec(instance, risk=risk, epsilon=0.1)).table()
    error = float(arms["risk"].mean() - truth["risk"][0])
    # Plugged-in estimates are biased by something like 1 / 400.
    assert abs(error) < 5 * math.sqrt(float(arms["risk_spread"].mean()) / 400 / 600) + 5 / 400 * abs(truth["risk"][0])


# --- both roads ---------------------------------------------------------------------------------------

GOALS: dict[str, dict[str, Any]] = {
    "confidence": {"epsilon": 0.05, "delta": 0.3, "max_trials": 151},
    "budget": {"budget": 151},
}
RULES = [(policy, goal) for policy in POLICIES for goal in GOALS if goal in POLICIES[policy].goals]
# The default risk with all rules, every one with the paper's, and three with the default rule; the others take long to
# compile.
USUAL = [
    (risk, *rule)
    for place, risk in enumerate(SIX)
    for rule in RULES
    if place == 0 or rule[0] == "ramgape" or (rule[0] == "evidence" and place < 3)
]
UNUSUAL = [(risk, *rule) for risk in SIX for rule in RULES if (risk, *rule) not in USUAL]


@pytest.mark.parametrize(
    ("risk", "policy", "goal"), [*USUAL, *(pytest.param(*case, marks=pytest.mark.long) for case in UNUSUAL)]
)
def test_both_roads_agree_to_the_bit(risk: str, policy: str, goal: str) -> None:
    instance = load_instance("paper:46")
    simulated = simulate(instance, seed=3, policy=policy, risk=risk, **GOALS[goal])
    asked = by_hand(instance, 3, policy=policy, risk=risk, **GOALS[goal])
    assert in_full(asked) == in_full(simulated)
    assert simulated.samples == sum(arm.pulls for arm in simulated.arms)
    assert simulated.risk == risk


@pytest.mark.parametrize(("policy", "goal"), [("ramgape", "confidence"), ("evidence", "budget"), ("ape", "confidence")])
@pytest.mark.parametrize("risk", SIX)
def test_both_roads_agree_for_gaussian_costs(risk: str, policy: str, goal: str) -> None:
    instance = load_instance("paper-gaussian:10")
    options: dict[str, Any] = {"policy": policy, "risk": risk, "direction": "minimize", **GOALS[goal]}
    assert in_full(by_hand(instance, 3, **options)) == in_full(simulate(instance, seed=3, **options))


# --- units --------------------------------------------------------------------------------------------

# Multiples of 1/8 and stretches by powers of two: nothing is rounded, so that the same pulls are made.
EIGHTHS = {"a": (0, 4, 5, 8), "b": (3, 4, 4, 5), "c": (0, 0, 8, 8, 8), "d": (2, 2, 3, 6)}
MIRRORED = {
    "std": ("std", 4.0, 0.0),
    "mean-variance:0.5": ("mean-variance:2", 16.0, 0.5 * 4 * 6),
    "variance": ("variance", 16.0, 0.0),
    "semivariance:0.5": ("semivariance:4", 16.0, 0.0),
    "entropic:2": ("entropic:0.5", 4.0, 6.0),
    "cvar:0.25": ("cvar:0.25", 4.0, 6.0),
    "quantile:0.25": ("quantile:0.25", 4.0, 6.0),
    "shortfall:0.5": ("shortfall:4", 1.0, 0.0),
}


def eighths(make: Callable[[float], float], reward_range: tuple[float, float]) -> Instance:
    arms = tuple(Arm(name, Data(tuple(make(value / 8) for value in values))) for name, values in EIGHTHS.items())
    return Instance("eighths", arms, reward_range, "bounded")


@pytest.mark.few(3)
@pytest.mark.parametrize("goal", [{"epsilon": 0.0625, "max_trials": 3_000}, {"budget": 400}])
@pytest.mark.parametrize("risk", MIRRORED)
def test_costs_are_mirrored_rewards(risk: str, goal: dict[str, Any]) -> None:
    """Rewards y in [0, 1] against costs 6 - 4 y in [2, 6]."""
    other, factor, constant = MIRRORED[risk]
    rewards = simulate(eighths(lambda y: y, (0, 1)), seed=2, risk=risk, **goal)
    stretched = {**goal, "epsilon": 4 * goal["epsilon"]} if "epsilon" in goal else goal
    costs = simulate(eighths(lambda y: 6 - 4 * y, (2, 6)), seed=2, risk=other, direction="minimize", **stretched)
    assert (costs.front, costs.samples, costs.stopped) == (rewards.front, rewards.samples, rewards.stopped)
    assert rewards.truth is not None
    assert costs.truth is not None
    assert costs.truth.front == rewards.truth.front
    for cost, reward in zip(costs.arms, rewards.arms, strict=True):
        assert (cost.pulls, cost.verdict, cost.certificate) == (reward.pulls, reward.verdict, reward.certificate)
        assert cost.mean == pytest.approx(6 - 4 * reward.mean)
        assert cost.mean_interval == pytest.approx([6 - 4 * end for end in reversed(reward.mean_interval)])
        for mine, yours in zip((cost.risk, *cost.risk_interval), (reward.risk, *reward.risk_interval), strict=True):
            raw = yours / (rewards.alpha or 1.0)
            assert mine / (costs.alpha or 1.0) == pytest.approx(factor * raw + constant, abs=1e-9)


UNITS = ["entropic:0.3", "cvar:0.1", "quantile:0.2", "shortfall:14"]


def defined(risk: str, values: Any) -> float:
    """A risk of recorded rewards, from its definition."""
    name, _, number = risk.partition(":")
    if name == "std":
        return float(values.std())
    if name == "cvar":
        return -float(np.sort(values)[: round(float(number) * len(values))].mean())
    if name == "quantile":
        return -float(np.quantile(values, float(number)))
    if name == "shortfall":
        return float((values < float(number)).mean())
    if name == "entropic":
        return math.log(float(np.exp(-float(number) * values).mean())) / float(number)
    if name == "semivariance":
        return float((np.maximum(float(number) - values, 0.0) ** 2).mean())
    return float(values.var()) - (float(number) * float(values.mean()) if number else 0.0)


SHAPES = {"a": Beta(2, 5, 10, 20), "b": Uniform(11, 17), "c": Bernoulli(0.3, 12, 19), "d": Data((10, 13, 13.5, 20))}
IN_UNITS = Instance("units", tuple(Arm(name, shape) for name, shape in SHAPES.items()), (10, 20), "bounded")


@functools.cache
def rewards_in_units() -> list[np.ndarray]:
    """Many of each arm."""
    generator = np.random.default_rng(2)
    return [np.array([IN_UNITS.draw(arm, generator) for _ in range(10_000)]) for arm in range(len(SHAPES))]


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
@pytest.mark.parametrize("risk", ["std", "mean-variance:3", "variance", "semivariance:14", *UNITS])
def test_the_reported_risk_is_in_the_units_of_the_user(risk: str, direction: str) -> None:
    """Against the definition, on as many rewards as the search has seen; for costs, of their negatives."""
    options: dict[str, Any] = {"risk": risk, "budget": 40_000, "policy": "round-robin", "direction": direction}
    result = simulate(IN_UNITS, seed=1, **options)
    costs, measure = direction == "minimize", make_risk(risk)
    for arm, name, rewards in zip(result.arms, SHAPES, rewards_in_units(), strict=True):
        assert arm.name == name
        values = rewards * (-1 if costs else 1)
        mirrored = f"{measure.name}:-14" if costs and risk.endswith(":14") else risk
        expected = defined(mirrored, values)
        assert arm.risk / (result.alpha or 1.0) == pytest.approx(expected, abs=0.05 * (abs(expected) + 1))
        assert arm.risk_interval[0] <= arm.risk <= arm.risk_interval[1]
    for end in measure.mirrored().mirrored(), make_risk(str(measure)):
        assert end == measure


def test_a_tolerance_for_each_objective_is_a_factor_of_the_mean_variance() -> None:
    instance = eighths(lambda y: y, (0, 1))
    apart = simulate(instance, seed=4, rho=1, epsilon=(0.125, 0.25), max_trials=20_000)
    alike = simulate(instance, seed=4, rho=1, epsilon=0.125, alpha=0.5, max_trials=20_000)
    assert apart.alpha == 1.0
    assert (apart.front, apart.samples) == (alike.front, alike.samples)
    for mine, yours in zip(apart.arms, alike.arms, strict=True):
        assert mine.risk == 2.0 * yours.risk
        assert mine.risk_interval == pytest.approx([2.0 * end for end in yours.risk_interval])
    assert apart.certified_epsilon is not None
    assert apart.certified_risk_epsilon == pytest.approx(2.0 * apart.certified_epsilon)
    assert "by 0.25 or more in variance - 1 mean" in apart.guarantee


@pytest.mark.parametrize("risk", ["std", "semivariance:0.5", "entropic:2", "cvar:0.25", "variance"])
def test_a_tolerance_for_each_objective(risk: str) -> None:
    """Mean and risk may be off by so much each; the risk itself is shown as it is, whatever the tolerance."""
    instance = eighths(lambda y: y, (0, 1))
    apart = simulate(instance, seed=4, risk=risk, epsilon=(0.125, 0.25), max_trials=20_000)
    alone = simulate(instance, seed=4, risk=risk, epsilon=0.0625, max_trials=20_000)
    assert (apart.alpha, alone.alpha) == (None, None)
    assert apart.samples <= alone.samples
    wanted = {arm.name: make_risk(risk).value_of(arm.distribution) for arm in instance.arms}
    for result in (apart, alone):
        for arm in result.arms:
            low, high = arm.risk_interval
            assert low - 1e-9 <= wanted[arm.name] <= high + 1e-9
    # One tolerance e for both is e in the mean, and in a risk in units of reward^2 what usual_scale makes of it.
    usual = make_risk(risk).usual_scale(1.0)
    same = simulate(instance, seed=4, risk=risk, epsilon=(0.0625, 0.0625 / usual), max_trials=20_000)
    assert (same.arms, same.samples, same.front) == (alone.arms, alone.samples, alone.front)
    assert apart.certified_epsilon is not None
    assert apart.certified_risk_epsilon == pytest.approx(2.0 * apart.certified_epsilon)
    assert f"by 0.25 or more in {make_risk(risk).label(costs=False)}" in apart.guarantee


# --- the measures -------------------------------------------------------------------------------------

OBJECTS = {
    "std": ramgape.StandardDeviation(),
    "mean-variance:0.5": ramgape.MeanVariance(rho=0.5),
    "variance": ramgape.Variance(),
    "semivariance:0.25": ramgape.Semivariance(target=0.25),
    "entropic:2": ramgape.Entropic(gamma=2),
    "cvar:0.1": ramgape.CVaR(level=0.1),
    "spectral:0.05=0.3,0.25=0.7": ramgape.Spectral({0.25: 0.7, 0.05: 0.3}),
    "evar:0.1": ramgape.EVaR(level=0.1),
    "quantile:0.1": ramgape.Quantile(level=0.1),
    "shortfall:0.25": ramgape.Shortfall(threshold=0.25),
}


def test_every_measure_is_a_value() -> None:
    assert list(RISKS) == [measure.name for measure in OBJECTS.values()]
    for text, measure in OBJECTS.items():
        assert make_risk(text) == make_risk(measure) == measure
        assert str(measure) == text
        assert pickle.loads(pickle.dumps(measure)) == measure
        assert len({measure, make_risk(text)}) == 1
        assert repr(measure).startswith(type(measure).__name__)
        assert sum(measure == other for other in OBJECTS.values()) == 1
    assert make_risk("cvar") == ramgape.CVaR()
    assert make_risk(" cvar: 0.2") == ramgape.CVaR(0.2)
    assert make_risk("mean-variance") == ramgape.MeanVariance(0.01)
    assert ramgape.CVaR(0.1) != ramgape.CVaR(0.2)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: ramgape.CVaR(0.0), "the level of risk cvar must be a number from 1e-6 to 1, got 0.0"),
        (lambda: ramgape.CVaR(1.5), "the level of risk cvar must be a number from 1e-6 to 1, got 1.5"),
        (lambda: ramgape.CVaR("0.1"), "the level of risk cvar must be a number from 1e-6 to 1, got '0.1'"),  # type: ignore[arg-type]
        (lambda: ramgape.CVaR(True), "the level of risk cvar must be a number from 1e-6 to 1, got True"),
        (lambda: ramgape.CVaR(math.nan), "the level of risk cvar must be a number from 1e-6 to 1, got nan"),
        (lambda: ramgape.Entropic(0), "the gamma of risk entropic must be a number from 1e-100 to 1e100, got 0"),
        (lambda: ramgape.Entropic(-1), "the gamma of risk entropic must be a number from 1e-100 to 1e100, got -1"),
        (lambda: ramgape.Semivariance(math.inf), "the target of risk semivariance must be a finite number, got inf"),
        (
            lambda: ramgape.MeanVariance(-1),
            "the rho of risk mean-variance must be a finite number of at least 0, got -1",
        ),
        (lambda: make_risk("cvar:"), "risk must be written cvar:LEVEL, got 'cvar:'"),
        (lambda: make_risk("cvar:ten"), "risk must be written cvar:LEVEL, got 'cvar:ten'"),
        (lambda: make_risk("cvar:0.1:2"), "risk must be written cvar:LEVEL, got 'cvar:0.1:2'"),
        (lambda: make_risk("cvar:7"), "the level of risk cvar must be a number from 1e-6 to 1, got 7.0"),
        (lambda: make_risk("variance:1"), "risk must be written variance, got 'variance:1'"),
        (lambda: make_risk("semivariance"), "risk must be written semivariance:TARGET, got 'semivariance'"),
        (
            lambda: make_risk(0.1),
            "risk must be a measure such as ramgape.CVaR(level=0.1), or one of std, mean-variance:RHO",
        ),
    ],
)
def test_bad_parameters_are_explained(make: Callable[[], object], said: str) -> None:
    with pytest.raises(InvalidSpec) as caught:
        make()
    assert str(caught.value).startswith(said)


def refused(error: type[RamgapeError] = InvalidSpec, **options: Any) -> str:
    options = {"epsilon": 0.1, **({} if "noise" in options else {"reward_range": (0, 1)}), **options}
    with pytest.raises(error) as caught:
        make_spec(["a", "b"], **options)
    return str(caught.value)


def test_what_cannot_be_meant_is_refused() -> None:
    assert refused(UnknownName, risk="cvra:0.1").endswith("got 'cvra'; did you mean 'cvar'?")
    assert (
        refused(risk="cvar:0.1", rho=1) == "rho must be absent together with risk, which has its own parameter, got 1"
    )
    target = "the target of risk semivariance must be "
    assert refused(risk="semivariance:0") == f"{target}above 0, the worst reward, got 0.0"
    assert refused(risk="semivariance:-2", reward_range=(-1, 3)) == f"{target}above -1, the worst reward, got -2.0"
    costs: dict[str, Any] = {"direction": "minimize", "reward_range": (-1, 3)}
    assert refused(risk="semivariance:3.5", **costs) == f"{target}below 3, the worst cost, got 3.5"
    assert make_spec(["a", "b"], epsilon=0.1, risk="semivariance:2", **costs).unit_risk == ramgape.Semivariance(0.25)
    gamma = refused(risk="entropic:200", reward_range=(0, 4))
    assert gamma == (
        "the gamma of risk entropic must be at most 75, that is 300 over the length of the reward range, got 200.0"
    )
    assert make_spec(["a", "b"], epsilon=0.1, risk="entropic:200", noise="gaussian").risk == ramgape.Entropic(200)


@pytest.mark.parametrize("risk", OWN_KERNELS)
def test_a_bound_that_does_not_know_a_risk_is_refused_and_those_that_do_are_listed(risk: str) -> None:
    name = risk.partition(":")[0]
    serving = "empirical-bernstein, hoeffding" if name == "cvar" else "empirical-bernstein, bets, pairwise, hoeffding"
    for bound in ("paper", "empirical-bernstein-stitched"):
        assert refused(risk=risk, bound=bound) == (
            f"bound must be one that serves bounded rewards, risk {name} and a fixed confidence "
            f"(auto, {serving}), got {bound!r}"
        )
    assert "(auto, gaussian), got 'gaussian-paper'" in refused(risk=risk, noise="gaussian", bound="gaussian-paper")


@pytest.mark.parametrize(
    "goal", [{"epsilon": 0.05}, {"epsilon": 0.05, "bound": "paper", "max_trials": 500}, {"budget": 99}]
)
def test_the_usual_risk_by_name_is_the_usual_risk(goal: dict[str, Any]) -> None:
    usual = simulate("paper:3", seed=1, **goal)
    for risk in ("mean-variance:0.01", ramgape.MeanVariance(), "mean-variance"):
        assert in_full(simulate("paper:3", seed=1, risk=risk, **goal)) == in_full(usual)
    alone, named = (simulate("paper:3", seed=1, **goal, **how) for how in ({"risk": "variance"}, {"rho": 0}))  # type: ignore[arg-type]
    assert (alone.risk, named.risk) == ("variance", "mean-variance:0")
    assert (alone.alpha, named.alpha) == (None, 1.0 / 3.0)
    assert (alone.front, alone.samples, alone.stopped) == (named.front, named.samples, named.stopped)
    for mine, yours in zip(alone.arms, named.arms, strict=True):
        assert (mine.pulls, mine.mean_interval, mine.certificate) == (
            yours.pulls,
            yours.mean_interval,
            yours.certificate,
        )
        assert (mine.risk, *mine.risk_interval) == pytest.approx(
            [max(3.0 * value, 0.0) for value in (yours.risk, *yours.risk_interval)]  # no variance is below 0
        )


# --- words --------------------------------------------------------------------------------------------

FORMULAS = {
    "std": ("standard deviation", "standard deviation"),
    "variance": ("variance", "variance"),
    "semivariance:0.25": ("mean of ((0.25 - X)+)^2", "mean of ((X - 0.25)+)^2"),
    "entropic:2": ("ln E exp(-2 X) / 2", "ln E exp(2 X) / 2"),
    "cvar:0.1": ("mean of the lowest 10%, negated", "mean of the highest 10%"),
    "spectral:0.05=0.3,0.25=0.7": (
        "0.3 mean of the lowest 5% + 0.7 mean of the lowest 25%, negated",
        "0.3 mean of the highest 5% + 0.7 mean of the highest 25%",
    ),
    "evar:0.1": (
        "least (ln E exp(-g X) - ln 0.1) / g over g > 0",
        "least (ln E exp(g X) - ln 0.1) / g over g > 0",
    ),
    "quantile:0.1": ("the 10% quantile, negated", "the 90% quantile"),
    "shortfall:0.25": ("P(X < 0.25)", "P(X > 0.25)"),
}


def result_of(risk: str, **options: Any) -> Result:
    return simulate(
        eighths(lambda y: y, (0, 1)), seed=1, risk=risk, **{"epsilon": 0.015, "max_trials": 3_000, **options}
    )


@pytest.mark.few(3)
@pytest.mark.parametrize("direction", ["maximize", "minimize"])
@pytest.mark.parametrize("risk", FORMULAS)
def test_a_result_speaks_of_its_own_risk(risk: str, direction: str) -> None:
    result = result_of(risk, direction=direction)
    formula = FORMULAS[risk][direction == "minimize"]
    assert (result.risk, result.risk_formula) == (risk, formula)
    text = str(result)
    assert result.risk_label == make_risk(risk).label(direction == "minimize")
    assert result.risk_label in " ".join(result.explain().split())
    assert "rho" not in text
    assert max(map(len, text.splitlines())) <= 120
    stored = json.loads(result.to_json())
    details = stored["details"]
    assert (details["risk"], details["risk_formula"]) == (risk, formula)
    assert details["rho"] == (0.0 if risk == "variance" else None)
    in_risk = stored["objectives"][1]["text"]
    assert in_risk.startswith(risk.partition(":")[0])
    for arm in stored["arms"]:
        number = arm["objectives"][in_risk]
        assert number["low"] <= number["estimate"] <= number["high"]
    label = result.plot().axes.get_ylabel()
    assert label.lower().startswith(result.risk_label.lower())
    assert result.alpha is None
    assert "scaled risk" not in result.guarantee


def test_the_mean_variance_keeps_its_letters() -> None:
    assert result_of("mean-variance:0.5").plot().axes.get_ylabel().startswith("Risk ξ = α(σ² − ρμ)")


def test_a_single_arm_can_be_chosen_by_any_risk() -> None:
    """`rho` weighs mean and variance, whatever the risk; `max_risk` is on the scale of the risk."""
    result = result_of("cvar:0.25", epsilon=0.02)
    safest = min((result.arm(name) for name in result.front), key=lambda arm: arm.risk)
    assert result.best(max_risk=safest.risk) == safest.name
    steady = min((result.arm(name) for name in result.front), key=lambda arm: arm.variance)
    assert result.best(rho=0) == steady.name
    assert result.best(rho=1e9) == max((result.arm(name) for name in result.front), key=lambda arm: arm.mean).name


def said(*arguments: str) -> str:
    """What the command prints, in 80 columns, without its frame."""
    result = call(*arguments)
    assert result.exit_code == 0, result.output
    assert max(map(len, result.stdout.splitlines())) <= 80
    return " ".join(result.stdout.replace("│", " ").split())


def test_the_command_speaks_of_risks() -> None:
    listed = said("list", "risks")
    assert all(word in listed for word in ("mean-variance:RHO", "variance", "semivariance:TARGET", "cvar:LEVEL"))
    alone = said("simulate", "paper:3", "--risk", "cvar:0.1", "--epsilon", "0.2")
    assert "worst 10%" in alone
    full = said("simulate", "paper:3", "--risk", "cvar:0.1", "--epsilon", "0.2", "--explain")
    assert "average of the worst 10 %" in " ".join(full.split())
    several = said("simulate", "paper:3", "--risk", "entropic:3", "--epsilon", "0.2", "--runs", "2")
    assert "risk entropic:3" in several
    plan = said("plan", "paper:3", "--risk", "cvar:0.1", "--budget", "100", "--budgets", "100", "--runs", "10")
    assert "risk cvar:0.1" in plan
    assert complaint("simulate", "paper:3", "--risk", "cvar:2") == (
        "the level of risk cvar must be a number from 1e-6 to 1, got 2.0"
    )
    known = "std, variance or mean-variance:RHO, the only risks for which a lower bound is known"
    assert known in said("lower-bound", "--help")
