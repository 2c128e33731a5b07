"""The standard deviation: its box is the root of the variance's, so that what is proved of the one is of the other.

That intervals of it hold at all times on hard shapes is in test_risks.py, with the other risks; here are jumps so rare
that nothing shows whether there are any.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ramgape
from ramgape import Arm, Bernoulli, Beta, Data, Instance, Uniform, load_instance, plan, replicate, simulate
from ramgape.problems.environments import Distribution
from ramgape.search.assembly import make_learn, make_state
from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec
from ramgape.search.units import user_risks
from ramgape.simulation.simulation import simulated_spec
from ramgape.simulation.truth import TrueArms
from tests.cli_support import call
from tests.guarantees import instance_of, most_allowed, watch

BOXED = ("empirical-bernstein", "empirical-bernstein-stitched", "hoeffding", "paper", "gaussian", "gaussian-paper")


def told(risk: str, bound: str, epsilon: Any, rewards: Any) -> list[tuple[float, ...]]:
    """The estimate, its interval and that of the mean after each reward of an arm, in the user's units."""
    noise: dict[str, Any] = {"noise": "gaussian"} if "gaussian" in bound else {"reward_range": (-2.0, 2.0)}
    noise |= {"sigma_max": 1.0} if bound == "gaussian-paper" else {}
    engine = Engine(make_spec(["a", "b"], bound=bound, risk=risk, epsilon=epsilon, **noise))
    found = []
    for reward in rewards:
        engine.tell(0, float(reward))
        row = engine.arms[0]
        ends = (user_risks(engine.spec, float(row[side])) for side in ("risk", "risk_low", "risk_high"))
        found.append((*map(float, ends), float(row["mean_low"]), float(row["mean_high"])))
    return found[1:]  # of one reward nothing is known


@pytest.mark.parametrize("epsilon", [0.08, 0.0, (0.08, 0.02)], ids=str)
@pytest.mark.parametrize("bound", BOXED)
def test_its_box_is_the_root_of_the_variance_s(bound: str, epsilon: Any) -> None:
    """Reward by reward, whatever the tolerance for the risk is; bounds go by the tolerance for the mean alone."""
    generator = np.random.default_rng(3)
    rewards = np.concatenate([generator.uniform(-0.2, 0.3, 150), [1.9, -2.0], generator.beta(2, 5, 150)])
    for mine, other in zip(
        told("std", bound, epsilon, rewards), told("variance", bound, epsilon, rewards), strict=True
    ):
        roots = [math.sqrt(max(value, 0.0)) for value in other[:3]]
        assert mine == pytest.approx((*roots, *other[3:]), rel=1e-9, abs=1e-12)


# --- jumps ------------------------------------------------------------------------------------------------

# Twice in 5,000 pulls, and hardly ever; the standard deviations are 0.02, 0.1, 0.07 and 0.035.
JUMPS: tuple[Distribution, ...] = (
    Bernoulli(0.0004),
    Bernoulli(0.99),
    Data((0.5,) * 49 + (1.0,)),
    Data((0.5,) * 199 + (0.0,)),
)


def missed_runs(bound: str, runs: int, pulls: int, level: float | None = None) -> int:
    """In how many runs a truth of any arm is outside its interval of the standard deviation after any pull."""
    instance = instance_of(*JUMPS)
    spec = simulated_spec(instance, risk="std", epsilon=0.02, delta=0.3, bound=bound)
    learn, sampler = make_learn(spec, bound), instance.sampler()
    risks = np.ascontiguousarray(TrueArms(instance, spec).table()["risk"])
    missed = 0
    for generator in np.random.default_rng(17).spawn(runs):
        state = make_state(spec, bound, spec.delta)
        if level is not None:
            state.arms["level"] = level
        sampled = (sampler.parameters, sampler.values, generator)
        missed += watch(sampler.draw, learn, *state, *sampled, pulls, np.full(len(JUMPS), math.nan), risks) > 0
    return missed


@pytest.mark.parametrize("bound", ["empirical-bernstein", "empirical-bernstein-stitched", "hoeffding"])
def test_rare_jumps_are_reckoned_with(bound: str) -> None:
    """A look after every pull, delta 0.3. False alarm: at most 1e-6 for each bound."""
    runs = 50
    assert missed_runs(bound, runs, 1_500) <= most_allowed(runs, 0.3)


@pytest.mark.long
@pytest.mark.parametrize("bound", ["empirical-bernstein", "empirical-bernstein-stitched", "hoeffding"])
def test_rare_jumps_are_reckoned_with_for_long(bound: str) -> None:
    """As above, 400 runs of 10,000 pulls of each arm. False alarm: at most 1e-6 for each bound."""
    runs = 400
    assert missed_runs(bound, runs, 10_000) <= most_allowed(runs, 0.3)


def test_intervals_that_are_too_narrow_would_be_noticed() -> None:
    runs = 50
    assert missed_runs("empirical-bernstein", runs, 1_500, level=0.5) > most_allowed(runs, 0.3)


# --- the same Pareto set as the variance's ------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", ["paper:10", "random-beta:3", "random-bernoulli:5", "random-gaussian:5", "random-beta:14"]
)
def test_the_pareto_set_is_that_of_the_variance(name: str) -> None:
    found = [simulate(name, risk=risk, epsilon=0, max_trials=400_000, seed=2) for risk in ("std", "variance")]
    for result in found:
        assert result.truth is not None
        assert result.truth.front == found[0].truth.front  # type: ignore[union-attr]
        assert (result.stopped, result.front) == ("confidence", result.truth.front)


# --- whose risk it is: the caller's, the instance's, the usual one ------------------------------------------

ARMS = (Arm("a", Beta(2, 3)), Arm("b", Bernoulli(0.4)), Arm("c", Uniform(0.2, 0.9)))
OWN = "entropic:2"


def own(risk: str | None) -> Instance:
    return Instance("mine", ARMS, (0.0, 1.0), "bounded", risk=risk)


ASKED: list[tuple[str | None, dict[str, Any], str]] = [
    (None, {}, "std"),
    (OWN, {}, OWN),
    (OWN, {"risk": "variance"}, "variance"),
    (OWN, {"risk": ramgape.StandardDeviation()}, "std"),
    (OWN, {"rho": 0.5}, "mean-variance:0.5"),
    (None, {"rho": 0.5}, "mean-variance:0.5"),
]


@pytest.mark.parametrize(("stated", "options", "expected"), ASKED)
def test_the_caller_s_risk_goes_before_the_instance_s(stated: str | None, options: Any, expected: str) -> None:
    instance = own(stated)
    assert simulate(instance, budget=60, **options).risk == expected
    assert replicate(instance, budget=60, runs=1, **options).risk == expected
    assert plan(instance, budget=60, budgets=[60], runs=1, **options).risk == expected


@pytest.mark.parametrize(("stated", "options", "expected"), ASKED)
def test_commands_go_by_the_same_order(stated: str | None, options: Any, expected: str, tmp_path: Path) -> None:
    file = tmp_path / "mine.json"
    file.write_text(json.dumps(own(stated).to_dict()), encoding="utf-8")
    assert load_instance(file) == own(stated)
    words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
    for verb in (("simulate", str(file)), ("plan", str(file), "--budgets", "60", "--runs", "1")):
        printed = call(*verb, "--budget", "60", *words, "--json")
        assert printed.exit_code == 0, printed.output
        assert json.loads(printed.stdout)["risk"] == expected
    if expected in ("std", "variance"):
        assert json.loads(call("lower-bound", str(file), *words, "--json").stdout)["risk"] == expected
    elif not options:
        refused = call("lower-bound", str(file))
        assert refused.exit_code == 2
        assert f"risk must be std, variance or mean-variance, for a lower bound, got '{OWN}'" in refused.stderr


@pytest.mark.parametrize("name", ["paper:46", "paper-gaussian:3", "paper:exp3", "random-beta:1", "random-gaussian:4"])
def test_named_instances_have_the_paper_s_risk(name: str) -> None:
    instance = load_instance(name)
    assert instance.risk == ramgape.MeanVariance(0.01)
    result = simulate(name, budget=100)
    assert (result.risk, result.rho, result.alpha) == ("mean-variance:0.01", 0.01, pytest.approx(1 / 3.01))
    assert simulate(name, budget=100, risk="std").alpha is None


@pytest.mark.parametrize("risk", ["cvar:7", "nope", 3, "semivariance"])
def test_an_instance_with_no_such_risk_is_refused(risk: Any) -> None:
    described = own(None).to_dict() | {"risk": risk}
    with pytest.raises(ramgape.InvalidInstance, match="risk"):
        load_instance(described)


def test_an_instance_s_risk_is_part_of_it() -> None:
    assert own(OWN) != own(None)
    assert own(OWN).to_dict()["risk"] == OWN
    assert "risk" not in own(None).to_dict()
    assert own(OWN).risk == ramgape.Entropic(2)


# --- what is shown, and what is known beforehand ------------------------------------------------------------


def test_it_is_the_usual_risk_and_has_no_factor() -> None:
    result = ramgape.identify(lambda arm, rng: rng.random(), ["a", "b"], reward_range=(0, 1), budget=50, seed=1)
    assert (result.risk, result.rho, result.alpha, result.risk_formula) == ("std", None, None, "standard deviation")
    for arm in result.arms:
        assert arm.risk == arm.std == pytest.approx(math.sqrt(arm.variance))
    assert "scaled" not in str(result)
    with pytest.raises(ramgape.InvalidSpec, match="alpha must be absent, unless the risk is mean-variance"):
        make_spec(["a", "b"], reward_range=(0, 1), epsilon=0.1, alpha=0.5)


def test_a_plan_has_a_lower_bound_for_it() -> None:
    once: dict[str, Any] = {"epsilon": 0.1, "epsilons": [], "deltas": [], "runs": 1}
    found = plan("paper:46", risk="std", **once)
    (row,) = found.trials
    assert row.lower_bound == pytest.approx(ramgape.lower_bound("paper:46", risk="std", epsilon=0.1).samples)
    pair = plan("paper:46", risk="std", **{**once, "epsilon": (0.1, 0.05)})
    wanted = ramgape.lower_bound("paper:46", risk="std", epsilon=(0.1, 0.05)).samples
    assert pair.trials[0].lower_bound == pytest.approx(wanted)
    assert wanted is not None
    assert row.lower_bound is not None
    assert wanted >= row.lower_bound
