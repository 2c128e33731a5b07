"""Tail risks: that what is rejected is rejected at every threshold, that ends are where counts put them, and words.

How intervals hold at all times is tested with the other risks, in test_risks.py.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import ramgape
from ramgape import Arm, Bernoulli, Beta, Data, Gaussian, InvalidSpec, Uniform
from ramgape.problems.environments import Instance
from ramgape.risks.cells import BLOCK, CELLS
from ramgape.risks.cvar import choose_nodes, is_too_high, is_too_low
from ramgape.risks.quantile import log_ratio
from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec
from ramgape.statistics.mixture import log_evidence
from ramgape.testing import check_risk
from tests.loops import learn_in_loop
from tests.support import by_hand, changing, engine_that_saw, in_full

NEW = ["quantile:0.1", "quantile:0.7", "shortfall:0.5"]


def samples() -> list[Any]:
    generator = np.random.default_rng(1)
    return [
        generator.beta(2, 5, 3_000),
        generator.beta(0.5, 0.5, 400),
        generator.beta(400, 400, 20_000),
        (generator.random(900) < 0.93).astype(float),
        generator.choice([0.2, 0.9], 500, p=[0.08, 0.92]),
        np.full(300, 0.37),
        np.ones(200),
    ]


# --- CVaR: evidence at every threshold --------------------------------------------------------------------------------


def evidence(rewards: Any, mean: float, threshold: float, sign: float, size: float) -> float:
    """That the mean of (z - X)+ is more (sign 1) or less (-1) than stated, from the rewards themselves."""
    values = sign * (np.maximum(threshold - rewards, 0.0) - mean)
    total, squares = float(values.sum()), float(np.square(values).sum())
    reach = mean if sign > 0 else threshold - mean
    scales = (size * size, 30.0 * size * size)
    return log_evidence(total, squares, squares, max(reach, 0.0), scales) if total > 0.0 else -math.inf


@pytest.mark.parametrize("level", [0.03, 0.3, 1.0])
def test_a_tail_mean_is_rejected_by_no_more_than_the_evidence_there_is(level: float) -> None:
    """Too high: at every threshold, which cells and blocks only bound. Too low: by all 1,024 nodes, of which 17 speak.

    Nearly as much is rejected as the evidence allows, too: the ends of the search's own interval lie there.
    """
    for rewards in samples():
        engine = engine_that_saw(rewards, ramgape.CVaR(level))
        (row, *_), (past, *_), _, problem = engine.rows.records
        choose_nodes(row, past, problem)
        enough, tail = float(row.level), -row.risk / problem.alpha
        thresholds = np.unique([*np.linspace(0.0, 1.0, 400), tail, *np.quantile(rewards, [level])])
        for away in (0.3, 0.1, 0.03, 0.01):
            high, low = tail + away * (1.0 - tail), tail - away * tail
            if is_too_high(row, past, problem, high * CELLS):
                for z in thresholds[thresholds >= high]:
                    end = min(math.floor(z * CELLS) // BLOCK + 1, CELLS // BLOCK) * BLOCK / CELLS
                    assert evidence(rewards, level * (z - high), z, 1.0, end) >= enough
            if is_too_low(row, past, problem, low * CELLS):
                weights = [sum(1 / (7 * 2**d) for d in range(4, 11) if k % 2 ** (10 - d) == 0) for k in range(1, 1025)]
                assert sum(weights) == pytest.approx(1.0)
                terms = [
                    evidence(rewards, level * (k / CELLS - low), k / CELLS, -1.0, k / CELLS) + math.log(weight)
                    for k, weight in enumerate(weights, 1)
                    if k / CELLS > low
                ]
                assert np.logaddexp.reduce(terms) >= enough


def test_intervals_of_a_tail_mean_go_on_shrinking() -> None:
    """With 64 nodes they stopped at what the nodes leave open, here some 0.003."""
    rewards = np.random.default_rng(2).beta(400, 400, 300_000)
    widths = []
    for count in (3_000, 30_000, 300_000):
        arm = engine_that_saw(rewards[:count], "cvar:0.1").arms[0]
        widths.append(float(arm["risk_high"] - arm["risk_low"]))
        assert arm["risk_low"] <= ramgape.CVaR(0.1).value_of(Beta(400, 400)) <= arm["risk_high"]
    assert widths[1] < 0.4 * widths[0]
    assert widths[2] < 0.4 * widths[1]
    assert widths[2] < 1e-3


# --- quantiles: ends by counts ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [0.02, 0.5, 0.9])
def test_the_ends_of_a_quantile_are_where_counts_put_them(level: float) -> None:
    """The outermost borders that the likelihood ratios leave, all of them tried."""
    for rewards in samples():
        engine = engine_that_saw([], ramgape.Quantile(level))
        engine.learn_many(np.zeros(len(rewards), np.int64), rewards)
        engine.look()
        row = engine.arms[0]
        enough = float(row["level"])
        cells = np.minimum((rewards * CELLS).astype(int), CELLS - 1)
        below = np.concatenate([[0], np.cumsum(np.bincount(cells, minlength=CELLS))]).astype(float)
        many = [k for k in range(CELLS + 1) if log_ratio(len(rewards), below[k], level, 1.0) >= enough]
        few = [k for k in range(CELLS) if log_ratio(len(rewards), below[k], level, -1.0) >= enough]
        # What was known before may have been better, never worse.
        assert -row["risk_low"] * CELLS <= min(many, default=CELLS) + 1e-9
        assert -row["risk_high"] * CELLS >= max(few, default=0) - 1e-9
        assert -row["risk_low"] >= np.quantile(rewards, level, method="inverted_cdf") - 1e-9
        assert -row["risk_high"] <= np.quantile(rewards, level, method="inverted_cdf") + 1e-9


def test_likelihood_ratios_are_those_of_coins() -> None:
    """Their mean under the hypothesis is 1, and more hits speak more for more."""
    for level in (0.01, 0.3, 0.98):
        for count in (1, 7, 40):
            hits = np.arange(count + 1)
            logs = np.array([math.log(math.comb(count, k)) for k in hits])
            chances = np.exp(logs + hits * math.log(level) + (count - hits) * math.log1p(-level))
            for side in (1.0, -1.0):
                ratios = np.array([log_ratio(float(count), float(k), level, side) for k in hits])
                assert float((chances * np.exp(ratios)).sum()) == pytest.approx(1.0)
                assert (np.diff(side * ratios) > 0.0).all()


def test_a_quantile_is_estimated_by_the_reward_of_its_rank() -> None:
    for rewards in samples():
        for level in (0.001, 0.1, 0.5, 0.999):
            found = -float(engine_that_saw(rewards, ramgape.Quantile(level)).arms["risk"][0])
            exact = np.quantile(rewards, level, method="inverted_cdf")
            assert found == pytest.approx(exact, abs=1.0 / CELLS)
            assert -ramgape.Quantile(level).value_in(rewards) == exact
    few = engine_that_saw([0.25] * 3 + [0.5] * 27, "quantile:0.1")  # 0.1 * 30 is a little more than 3
    assert few.arms["risk"][0] == -0.25


@pytest.mark.parametrize(("level", "distribution"), [(0.1, Beta(2, 5)), (0.5, Beta(2, 2)), (0.8, Uniform(0.2, 0.7))])
def test_the_spread_of_a_quantile_is_what_it_is_said_to_be(level: float, distribution: Any) -> None:
    """Of 600 estimates from 2,000 rewards each; their variance is off by a quarter once in 10,000 such tests."""
    generator, count, pulls = np.random.default_rng(3), 600, 2_000
    rewards = distribution.quantile(generator.random(2_000))[generator.integers(0, 2_000, (count, pulls))]
    truth = np.quantile(distribution.quantile((np.arange(2_000) + 0.5) / 2_000), level)
    names = [str(arm) for arm in range(count)]
    engine = Engine(make_spec(names, reward_range=(0, 1), budget=10**7, risk=ramgape.Quantile(level)))
    with changing(engine) as state:
        learn_in_loop(engine.rule.learn, *state, rewards)
    arms = engine.arms
    ratio = pulls * float(arms["risk"].var()) / float(arms["risk_spread"].mean())
    assert 0.65 < ratio < 1.35
    assert -float(arms["risk"].mean()) == pytest.approx(truth, abs=0.02)


# --- Gaussian rewards -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("risk", ["quantile:0.1", "quantile:0.5", "quantile:0.9", "shortfall:0.3", "shortfall:-2"])
def test_a_gaussian_box_holds_the_risks_of_all_its_means_and_variances(risk: str) -> None:
    """The value at risk of a level above a half falls with the deviation, and so does P(X < t) where t is above."""
    generator = np.random.default_rng(4)
    for mean, deviation, count in ((0.5, 1.0, 30), (0.3, 0.1, 200), (-1.0, 2.0, 12), (0.0, 1.0, 5)):
        engine = Engine(make_spec(["a", "b"], noise="gaussian", epsilon=0.1, risk=risk))
        engine.learn_many(np.zeros(count, np.int64), generator.normal(mean, deviation, count))
        row, measure = engine.arms[0], engine.spec.risk
        assert row["risk_low"] <= row["risk"] <= row["risk_high"]
        assert not math.isnan(row["risk_low"] + row["risk_spread"]) or math.isinf(row["risk_low"])
        assert row["risk_low"] <= measure.value_of(Gaussian(mean, deviation**2)) <= row["risk_high"]
        if math.isfinite(row["mean_low"]):
            for m in np.linspace(row["mean_low"], row["mean_high"], 5):
                at_estimate = measure.value_of(Gaussian(float(m), float(row["variance"])))
                assert row["risk_low"] - 1e-12 <= at_estimate <= row["risk_high"] + 1e-12


# --- as any other risk ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("measure", [ramgape.Quantile(0.7), ramgape.Shortfall(0.45)], ids=str)
def test_they_do_what_a_search_relies_on(measure: ramgape.Measure) -> None:
    check_risk(measure)


@pytest.mark.parametrize(("policy", "goal"), [("ramgape", {"epsilon": 0.05}), ("evidence", {"budget": 151})])
@pytest.mark.parametrize("risk", NEW)
def test_both_roads_agree_to_the_bit(risk: str, policy: str, goal: dict[str, Any]) -> None:
    options: dict[str, Any] = {"policy": policy, "risk": risk, **goal}
    if "epsilon" in goal:
        options |= {"delta": 0.3, "max_trials": 151}
    instance = ramgape.load_instance("paper:46")
    assert in_full(by_hand(instance, 3, **options)) == in_full(ramgape.simulate(instance, seed=3, **options))


TRUTHS: list[tuple[Any, Any, float]] = [
    (ramgape.Quantile(0.25), Uniform(-2, 6), 0.0),
    (ramgape.Quantile(0.3), Bernoulli(0.75), 1.0 - 2.0),
    (ramgape.Quantile(0.2), Bernoulli(0.75), 0.0),
    (ramgape.Quantile(0.5), Gaussian(3, 4), -3.0),
    (ramgape.Quantile(0.5), Data((5, 1, 2, 9)), -2.0),
    (ramgape.Shortfall(0.0), Uniform(-2, 6), 0.25),
    (ramgape.Shortfall(1.0), Bernoulli(0.75), 0.25),
    (ramgape.Shortfall(0.0), Bernoulli(0.75), 0.0),
    (ramgape.Shortfall(2.0), Data((5, 1, 2, 9)), 0.25),
    (ramgape.Shortfall(3.0), Gaussian(3, 4), 0.5),
    (ramgape.Shortfall(0.5), Beta(2, 1), 0.25),
]


@pytest.mark.parametrize(("measure", "distribution", "truth"), TRUTHS, ids=str)
def test_the_truth_is_what_the_definition_says(measure: Any, distribution: Any, truth: float) -> None:
    assert measure.value_of(distribution) == pytest.approx(truth, abs=1e-12)
    if isinstance(distribution, Data):
        assert measure.value_in(np.array(distribution.values)) == truth


def test_costs_exceed_where_rewards_fall_short() -> None:
    """P(cost > 4), and the quantile from above, in the user's units."""
    arms = tuple(Arm(name, Data(values)) for name, values in {"a": (2, 3, 5, 6), "b": (2, 2, 4, 6)}.items())
    instance = Instance("costs", arms, (2, 6), "bounded")
    options: dict[str, Any] = {"direction": "minimize", "epsilon": 0.5, "seed": 1, "max_trials": 4_000}
    short = ramgape.simulate(instance, risk=ramgape.Shortfall(4), **options)
    assert [arm.risk for arm in short.arms] == pytest.approx([0.5, 0.25], abs=0.1)
    high = ramgape.simulate(instance, risk=ramgape.Quantile(0.1), **options)
    assert [arm.risk for arm in high.arms] == pytest.approx([6.0, 6.0])


WORDS = [
    (ramgape.CVaR(0.1), "average of the worst 10 %", "average of the worst 10 %", 0.5, -0.5),
    (ramgape.Quantile(0.1), "10 % quantile", "90 % quantile", 0.5, -0.5),
    (ramgape.Shortfall(0.25), "P(reward < 0.25)", "P(cost > 0.25)", -0.5, -0.5),
    (ramgape.Semivariance(0.25), "mean squared shortfall below 0.25", "mean squared excess above 0.25", -0.5, -0.5),
    (ramgape.Entropic(2), "entropic risk (gamma 2)", "entropic risk (gamma 2)", -0.5, -0.5),
    (ramgape.MeanVariance(0.01), "variance - 0.01 mean", "variance + 0.01 mean", -0.5, -0.5),
    (ramgape.Variance(), "variance", "variance", -0.5, -0.5),
]


@pytest.mark.parametrize(("measure", "of_rewards", "of_costs", "shown", "shown_cost"), WORDS, ids=str)
def test_people_have_their_words_and_signs(
    measure: ramgape.Measure, of_rewards: str, of_costs: str, shown: float, shown_cost: float
) -> None:
    assert (measure.label(costs=False), measure.label(costs=True)) == (of_rewards, of_costs)
    assert (measure.shown(-0.5), measure.shown(-0.5, costs=True)) == (shown, shown_cost)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"risk": "quantile:1"}, "the level of risk quantile must be a number from 1e-6 to 0.999999, got 1.0"),
        ({"risk": "quantile:0"}, "the level of risk quantile must be a number from 1e-6 to 0.999999, got 0.0"),
        ({"risk": "shortfall"}, "risk must be written shortfall:THRESHOLD, got 'shortfall'"),
        (
            {"risk": "shortfall:0"},
            "the threshold of risk shortfall must be above 0 and at most 1, the reward range, got 0.0",
        ),
        (
            {"risk": "shortfall:1.5"},
            "the threshold of risk shortfall must be above 0 and at most 1, the reward range, got 1.5",
        ),
        (
            {"risk": "shortfall:1", "direction": "minimize"},
            "the threshold of risk shortfall must be from 0 to below 1, the reward range, got 1.0",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidSpec) as caught:
        make_spec(["a", "b"], reward_range=(0, 1), epsilon=0.1, **options)
    assert str(caught.value) == said
