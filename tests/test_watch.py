"""Watched simulations: what the compiled loop writes down is what plain Python finds, and watching changes nothing."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ramgape import Arm, Bernoulli, Beta, Instance, Uniform, load_instance
from ramgape.core.pareto import pareto_front, simple_regret
from ramgape.search.engine import COMPILED_AT_A_TIME as CHUNK
from ramgape.search.engine import Engine
from ramgape.simulation.simulation import play, simulated_spec, watch
from ramgape.simulation.truth import TrueArms
from tests.support import policies_for

COSTS = Instance(
    "costs",
    (Arm("shaped", Beta(2.0, 3.0, low=-1.0, high=2.0)), Arm("coin", Bernoulli(0.3)), Arm("flat", Uniform(-0.5, 1.0))),
    reward_range=(-1.0, 2.0),
    noise="bounded",
)


def watched(instance: Instance, seed: int, **options: Any) -> tuple[Engine, Any]:
    """A whole run and its trace."""
    engine = Engine(simulated_spec(instance, **options))
    return engine, np.concatenate([part.copy() for part in watch(engine, instance, seed)])


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_the_truth_is_that_of_the_instance_on_the_engines_scale(direction: str) -> None:
    spec = simulated_spec(COSTS, epsilon=0.1, rho=0.4, direction=direction)
    truth = TrueArms(COSTS, spec).table()
    sign = 1.0 if direction == "maximize" else -1.0
    risks = COSTS.risks(0.4, spec.alpha, spec.direction)
    # Differences are all that counts, and they are those of the user's units divided by the range.
    assert np.diff(truth["mean"]) * 3.0 == pytest.approx(np.diff(sign * COSTS.means))
    assert np.diff(truth["risk"]) * 3.0 == pytest.approx(np.diff(risks))
    assert (truth["in_front"] == pareto_front(sign * COSTS.means, risks)).all()
    assert 0.0 <= truth["mean"].min() <= truth["mean"].max() <= 1.0


@pytest.mark.parametrize("policy", policies_for("budget"))
def test_a_trace_is_what_ask_and_tell_would_see(policy: str) -> None:
    instance, seed = load_instance("paper:exp3"), 5
    options: dict[str, Any] = {"budget": 300, "epsilon": 0.1, "policy": policy}
    _, trace = watched(instance, seed, **options)
    spec = simulated_spec(instance, **options)
    engine, generator = Engine(spec), np.random.default_rng(seed)
    means, risks = instance.means, instance.risks(spec.rho, spec.alpha)
    truth = TrueArms(instance, spec).table()
    for step in trace:
        arm = engine.ask()
        assert arm == step["arm"]
        assert arm is not None
        engine.tell(arm, instance.draw(arm, generator))
        row: Any = engine.arms[arm]
        if engine.search["ready"][0]:
            assert step["regret"] == pytest.approx(simple_regret(engine.answer(), means, risks))
        else:
            assert np.isnan(step["regret"])
        inside = row["mean_low"] <= truth[arm]["mean"] <= row["mean_high"]
        inside &= row["risk_low"] <= truth[arm]["risk"] <= row["risk_high"]
        assert step["missed"] == (not inside)
    assert engine.ask() is None
    assert len(trace) == 300


def test_a_narrow_box_loses_the_truth() -> None:
    _, trace = watched(load_instance("paper:exp3"), 0, budget=1000, exploration=1e-6, policy="round-robin")
    assert trace["missed"].mean() > 0.9


def test_regrets_are_in_the_users_units() -> None:
    engine, trace = watched(COSTS, 3, budget=40, epsilon=0.5, direction="minimize", rho=0.4)
    spec = engine.spec
    answer = engine.arms["in_front"] == 1
    regret = simple_regret(answer, -COSTS.means, COSTS.risks(spec.rho, spec.alpha, "minimize"))
    assert trace["regret"][-1] == pytest.approx(regret)


def test_watching_changes_nothing_and_goes_on_over_chunks() -> None:
    instance = load_instance("paper:46")
    options: dict[str, Any] = {"epsilon": 0.05, "bound": "paper"}
    engine, trace = watched(instance, 1, **options)
    assert engine.samples == len(trace) > CHUNK
    unwatched = Engine(simulated_spec(instance, **options))
    for _ in play(unwatched, instance, 1):
        pass
    assert unwatched.samples == engine.samples
    assert (unwatched.arms == engine.arms).all()
    assert (np.bincount(trace["arm"]) == engine.arms["pulls"]).all()
