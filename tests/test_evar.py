"""Entropic value at risk: against its definition, its bound against a slow reference, and what it is said to cost."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import ramgape
from ramgape import Arm, Bernoulli, Beta, Data, Gaussian, Instance, InvalidSpec, Uniform
from ramgape.problems.distribution import Distribution
from ramgape.risks.evar import BAND, BANDS, GAMMA, NODES, SCALES, is_too_high, is_too_low
from ramgape.search.assembly import make_learn, make_state
from ramgape.search.spec import make_spec
from ramgape.simulation.simulation import simulated_spec
from ramgape.simulation.truth import TrueArms
from ramgape.statistics.mixture import log_evidence
from ramgape.testing import check_risk
from tests.guarantees import most_allowed, watch
from tests.support import by_hand, engine_that_saw, in_full


def samples() -> list[Any]:
    generator = np.random.default_rng(1)
    return [
        generator.beta(2, 5, 900),
        generator.beta(0.5, 0.5, 400),
        generator.beta(50, 50, 600),
        (generator.random(700) < 0.93).astype(float),
        generator.choice([0.2, 0.9], 500, p=[0.08, 0.92]),
        np.full(200, 0.37),
    ]


# --- the definition ---------------------------------------------------------------------------------------------------


def defined(rewards: Any, level: float) -> float:
    """On a fine grid of g; minus the worst reward if that is as good."""
    gammas = np.geomspace(0.05, 1e5, 2_000)
    low = float(rewards.min())
    laplace = np.array([np.log(np.exp(-gamma * (rewards - low)).mean()) - gamma * low for gamma in gammas])
    return min(float(np.min((laplace - math.log(level)) / gammas)), -low)


@pytest.mark.parametrize("level", [0.01, 0.7])
def test_it_is_estimated_by_the_definition(level: float) -> None:
    """Nodes reach up to 300; what is beyond is known to ln(1 / level) / 300."""
    for rewards in samples():
        truth = defined(rewards, level)
        assert ramgape.EVaR(level).value_in(rewards) == pytest.approx(truth, abs=5e-6)
        found = float(engine_that_saw(rewards, ramgape.EVaR(level), budget=100_000, epsilon=None).arms[0]["risk"])
        assert truth - 1e-4 <= found <= truth + 1e-4 - math.log(level) / 300.0


TRUTHS: list[tuple[Any, float, float]] = [
    (Gaussian(3, 4), 0.1, -3.0 + 2.0 * math.sqrt(2.0 * math.log(10.0))),
    (Bernoulli(0.8), 0.1, 0.0),
    (Bernoulli(0.25, 2, 6), 0.5, -2.0),
    (Data((0.4,)), 0.1, -0.4),
]


@pytest.mark.parametrize(("distribution", "level", "truth"), TRUTHS, ids=str)
def test_the_truth_in_closed_form(distribution: Any, level: float, truth: float) -> None:
    assert ramgape.EVaR(level).value_of(distribution) == pytest.approx(truth, abs=1e-9)


@pytest.mark.parametrize("distribution", [Beta(2, 5), Beta(0.5, 0.5), Uniform(-2, 6), Bernoulli(0.95)], ids=str)
def test_it_is_no_less_than_cvar_and_no_more_than_the_worst(distribution: Any) -> None:
    for level in (0.01, 0.1, 0.7):
        value = ramgape.EVaR(level).value_of(distribution)
        assert ramgape.CVaR(level).value_of(distribution) <= value + 1e-9
        assert value <= 1e-12 - distribution.support[0]


# --- the bound, against a slow reference ------------------------------------------------------------------------------


def evidence(values: Any, reach: float, scales: tuple[float, float]) -> float:
    """That values of at least -reach have a mean above 0, from the values themselves."""
    total, squares = float(values.sum()), float(np.square(values).sum())
    return log_evidence(total, squares, squares, reach, scales) if total > 0.0 else -math.inf


def above_everywhere(rewards: Any, risk: float, level: float, gamma: float, nodes: Any) -> float:
    """The evidence against one g: half on exp(-g X) itself, half on the nodes below it."""
    mean = level * math.exp(gamma * risk) if gamma <= nodes[-1] else math.inf
    own = evidence(np.exp(-gamma * rewards) / mean - 1.0, 1.0, SCALES) if mean > 0.0 and mean < math.inf else -math.inf
    lower = nodes[nodes <= gamma]
    parts = []
    for node in lower:
        most = math.exp(node * risk + math.log(level) * node / gamma)
        parts.append(evidence(np.exp(-node * rewards) / most - 1.0, 1.0, SCALES))
    return float(np.logaddexp(own, np.logaddexp.reduce(parts) - math.log(len(lower))) - math.log(2.0))


def below_by_nodes(rewards: Any, risk: float, level: float, band: float, nodes: Any) -> float:
    """The mean of the evidence at the nodes, with the scales of a band."""
    parts = []
    for node in nodes:
        mean, size = level * math.exp(node * risk), level * math.exp(-node * (band + 0.5) / BANDS)
        scales = SCALES[0] * size**2, SCALES[1] * size**2
        parts.append(evidence(mean - np.exp(-node * rewards), 1.0 - mean, scales))
    return float(np.logaddexp.reduce(parts) - math.log(len(nodes)))


@pytest.mark.parametrize("level", [0.1, 0.7])
def test_what_is_rejected_is_rejected_by_the_evidence_there_is(level: float) -> None:
    """Too low: at every g, which the compiled bound looks at by tangents. Too high: by the nodes together.

    And nearly as much is rejected as the evidence allows: to a tenth of a nat from above, to one from below.
    """
    for rewards in samples():
        engine = engine_that_saw(rewards, ramgape.EVaR(level))
        (row, *_), (past, *_), _, problem = engine.rows.records
        enough, nodes = float(row.level), np.array(past[GAMMA : GAMMA + NODES])
        gammas = np.concatenate([np.geomspace(nodes[0], nodes[-1], 61), [400.0, 1e4, 1e9]])
        seen, low, high = row.risk, row.risk_low, row.risk_high
        for risk in np.linspace(1.2 * low - 0.2 * seen, seen, 6)[:-1]:
            found = min(above_everywhere(rewards, risk, level, gamma, nodes) for gamma in gammas)
            assert found >= enough if is_too_low(row, past, problem, risk) else found < enough + 1.0
        for risk in np.linspace(seen, min(1.2 * high - 0.2 * seen, 0.0), 6)[1:]:
            past[BAND] = math.floor(-risk * BANDS)
            found = below_by_nodes(rewards, risk, level, past[BAND], nodes)
            assert found >= enough if is_too_high(row, past, problem, risk) else found < enough + 0.1


def test_intervals_go_on_shrinking_where_rewards_reach_the_worst_end() -> None:
    generator = np.random.default_rng(3)
    widths = []
    for count in (500, 8_000):
        row = engine_that_saw(generator.beta(2, 5, count), "evar:0.1").arms[0]
        assert row["risk_low"] < row["risk"] < row["risk_high"]
        widths.append(float(row["risk_high"] - row["risk_low"]))
    assert widths[1] < widths[0] / 3.0


def test_it_does_what_a_search_relies_on() -> None:
    """Coverage is among it, in seeded runs: a sound risk fails fewer than one time in a million."""
    check_risk(ramgape.EVaR(0.2), (Beta(2, 5), Uniform(0.1, 0.8)))


STRESSED: dict[str, tuple[Distribution, ...]] = {
    "coins": (Bernoulli(0.5), Bernoulli(0.998), Bernoulli(0.1), Bernoulli(0.92)),
    "shapes": (Beta(0.1, 0.1), Beta(0.3, 3.0), Uniform(0.999, 1), Beta(5_000, 5_000), Uniform(0, 1)),
    "tails": (Beta(2, 5), Beta(0.5, 0.5), Data((0.2,) + (0.8,) * 11), Data((0.0, 0.5, 1.0)), Data((0.3,))),
}


@pytest.mark.long
@pytest.mark.parametrize("level", [0.1, 0.7])
@pytest.mark.parametrize("arms", STRESSED)
def test_it_holds_at_all_times(arms: str, level: float) -> None:
    """A look after every pull; the sides of the risk have half of delta. False alarm: at most 1e-6 for each case."""
    shapes = STRESSED[arms]
    instance = Instance("hard", tuple(Arm(str(n), shape) for n, shape in enumerate(shapes)), (0.0, 1.0), "bounded")
    spec = simulated_spec(instance, risk=ramgape.EVaR(level), epsilon=0.02, delta=0.9)
    learn, sampler = make_learn(spec, spec.bound), instance.sampler()
    truth = TrueArms(instance, spec).table()
    means, risks = np.full(len(truth), math.nan), np.ascontiguousarray(truth["risk"])
    missed = 0
    for generator in np.random.default_rng(31).spawn(60):
        state = make_state(spec, spec.bound, spec.delta)
        drawn = (sampler.parameters, sampler.values, generator)
        missed += watch(sampler.draw, learn, *state, *drawn, 600, means, risks) > 0
    assert missed <= most_allowed(60, 0.45)


# --- around it --------------------------------------------------------------------------------------------------------


def test_both_roads_agree_to_the_bit() -> None:
    options: dict[str, Any] = {
        "policy": "ramgape",
        "risk": "evar:0.3",
        "epsilon": 0.05,
        "delta": 0.3,
        "max_trials": 151,
    }
    instance = ramgape.load_instance("paper:46")
    result = ramgape.simulate(instance, seed=3, **options)
    assert in_full(by_hand(instance, 3, **options)) == in_full(result)
    assert any("too rare to be seen" in note for note in result.notes)


@pytest.mark.long
def test_its_cost_is_said_only_where_it_has_one() -> None:
    result = ramgape.simulate("random-gaussian:1", budget=100, risk="evar:0.1", seed=1)
    assert not any("rare" in note for note in result.notes)
    means = ramgape.simulate("paper:46", budget=100, risk="evar:0.1", task="best", seed=1)
    assert not any("rare" in note for note in means.notes)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"risk": "evar:0"}, "the level of risk evar must be a number from 1e-6 to 0.999, got 0.0"),
        ({"risk": "evar:2"}, "the level of risk evar must be a number from 1e-6 to 0.999, got 2.0"),
        ({"risk": "evar:nan"}, "the level of risk evar must be a number from 1e-6 to 0.999, got nan"),
        ({"risk": "evar:"}, "risk must be written evar:LEVEL, got 'evar:'"),
        ({"noise": "any", "reward_range": None}, "risk must be one that unknown rewards have an interval for (std,"),
        (
            {"noise": "heavy:kurtosis=9", "reward_range": None},
            "risk must be one that heavy rewards have an interval for (std, mean-variance, variance)",
        ),
        (
            {"bound": "paper"},
            "bound must be one that serves bounded rewards, risk evar and a fixed confidence (auto, "
            "empirical-bernstein, hoeffding), got 'paper'",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_can(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidSpec) as caught:
        make_spec(["a", "b"], **{"reward_range": (0, 1), "epsilon": 0.1, "risk": "evar:0.1", **options})
    assert str(caught.value).startswith(said)
