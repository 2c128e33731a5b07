"""Two roads, one search: trials that are told and those that are simulated agree to the bit; units do not matter.

Both call the same functions in plain Python; that compiled ones do the same is in tests/test_interpreted.py.
"""

from __future__ import annotations

import dataclasses
import multiprocessing
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import numpy as np
import pytest

from ramgape import (
    Arm,
    Bernoulli,
    Beta,
    Data,
    Instance,
    Result,
    Uniform,
    identify,
    load_instance,
    replicate,
    simulate,
)
from ramgape.search.engine import Engine
from ramgape.search.result import updated
from ramgape.simulation.simulation import simulated_spec
from tests.support import POLICIES, by_hand, can_run, in_full, make_engine

INSTANCES = {
    "bounded": load_instance("paper:46"),
    "gaussian": load_instance("paper-gaussian:10"),
    "coins": Instance(
        "coins",
        tuple(Arm(name, Bernoulli(p)) for name, p in {"a": 0.5, "b": 0.5, "c": 0.25, "d": 0.75}.items()),
        reward_range=(0.0, 1.0),
        noise="bounded",
    ),
    "mixed": Instance(
        "mixed",
        (
            Arm("shaped", Beta(2.0, 3.0, low=-1.0, high=2.0)),
            Arm("coin", Bernoulli(0.3, low=-1.0, high=1.5)),
            Arm("flat", Uniform(-0.5, 1.0)),
            Arm("recorded", Data((0.1, 0.2, 0.2, 1.7, -0.9))),
            Arm("tiny", Beta(0.01, 0.02)),
        ),
        reward_range=(-1.0, 2.0),
        noise="bounded",
    ),
}

BOUNDED_GOALS: list[dict[str, Any]] = [
    {"bound": "paper", "epsilon": 0.01, "max_trials": 301},
    {"bound": "hoeffding", "epsilon": 0.08, "delta": 0.5, "max_trials": 300},
    {"budget": 301, "epsilon": 0.05},
    {"budget": 299, "returned": "smallest-doubt"},
    {"bound": "budget", "budget": 300, "epsilon": 0.05, "exploration": 0.02, "returned": "smallest-doubt", "rho": 0.7},
]
GAUSSIAN_GOALS: list[dict[str, Any]] = [
    {"bound": "gaussian-paper", "epsilon": 1.0, "delta": 0.3, "max_trials": 300},
    {"bound": "auto", "epsilon": 0.01, "max_trials": 301, "initial_trials": 4},
    {"budget": 301, "epsilon": 0.05},
]
CASES = [
    pytest.param(policy, name, goal, id=f"{policy}-{name}-{number}")
    for name, instance in INSTANCES.items()
    for number, goal in enumerate(GAUSSIAN_GOALS if instance.noise == "gaussian" else BOUNDED_GOALS)
    for policy in POLICIES
    if can_run(policy, **goal)
]
every_case = pytest.mark.parametrize(("policy", "name", "goal"), CASES)


def policies_with(*bounds: str) -> list[tuple[str, str]]:
    """Every policy with each of these bounds that serves its goals."""
    return [(policy, bound) for policy in POLICIES for bound in bounds if can_run(policy, bound=bound)]


def state_bytes(engine: Engine) -> tuple[bytes, bytes]:
    return engine.arms.tobytes(), engine.search.tobytes()


# --- ask and tell, and simulated trials -----------------------------------------------------------


@pytest.mark.few(5)
@every_case
@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_both_roads_give_the_same_result(policy: str, name: str, goal: dict[str, Any], direction: str) -> None:
    instance = INSTANCES[name]
    simulated = simulate(instance, seed=7, policy=policy, direction=direction, **goal)
    asked = by_hand(instance, 7, policy=policy, direction=direction, **goal)
    assert in_full(asked) == in_full(simulated)
    assert updated(simulated, truth=None) == asked
    assert simulated.samples == sum(arm.pulls for arm in simulated.arms)
    assert simulated.truth is not None
    assert simulated.stopped in ("confidence", "cap", "budget")


@pytest.mark.parametrize("policy", ["ramgape", "ra-lucb", "round-robin", "de-round-robin", "psi-unif-elim", "ape"])
@pytest.mark.parametrize(("name", "epsilon"), [("coins", 0.08), ("gaussian", 1.0)])
def test_both_roads_stop_at_the_same_pull(policy: str, name: str, epsilon: float) -> None:
    options: dict[str, Any] = {"policy": policy, "epsilon": epsilon, "delta": 0.5, "rho": 0.3, "max_trials": 5000}
    simulated = simulate(INSTANCES[name], seed=1, **options)
    assert simulated.stopped == "confidence"
    assert simulated.samples > 2 * len(simulated.arms)
    assert in_full(by_hand(INSTANCES[name], 1, **options)) == in_full(simulated)


@pytest.mark.few(4)
@every_case
def test_chunks_of_any_size_give_the_same_table(policy: str, name: str, goal: dict[str, Any]) -> None:
    instance = INSTANCES[name]
    limit = "max_trials" if goal.get("budget") is None else "budget"
    spec = simulated_spec(instance, policy=policy, **{**goal, limit: 121})
    sampler = instance.sampler()

    whole = Engine(spec)
    whole.advance(sampler, np.random.default_rng(3), 10**9)
    assert whole.stopped is not None
    assert whole.advance(sampler, np.random.default_rng(3), 10) == 0

    by_pull = Engine(spec)
    generator = np.random.default_rng(3)
    while (arm := by_pull.ask()) is not None:
        by_pull.tell(arm, instance.draw(arm, generator))
    assert state_bytes(by_pull) == state_bytes(whole)

    for size in (1, 7, 1000):
        engine, generator = Engine(spec), np.random.default_rng(3)
        made = 0
        while engine.stopped is None:
            count = engine.advance(sampler, generator, size)
            assert 0 < count <= size
            made += count
        assert made == engine.samples
        assert state_bytes(engine) == state_bytes(whole)


def test_the_roads_may_be_changed_under_way() -> None:
    instance = INSTANCES["mixed"]
    spec = simulated_spec(instance, policy="ra-lucb", epsilon=0.01, max_trials=1000)
    whole, changing = Engine(spec), Engine(spec)
    whole.advance(instance.sampler(), np.random.default_rng(4), 1000)
    generator = np.random.default_rng(4)
    while changing.stopped is None:
        changing.advance(instance.sampler(), generator, 5)
        for _ in range(4):
            if (arm := changing.ask()) is not None:
                changing.tell(arm, instance.draw(arm, generator))
    assert state_bytes(changing) == state_bytes(whole)


# --- one run, and many ----------------------------------------------------------------------------


def without_seconds(runs: Any) -> list[Any]:
    return [dataclasses.replace(run, seconds=0.0) for run in runs]


def test_a_replication_is_made_of_single_runs() -> None:
    options: dict[str, Any] = {"policy": "ra-lucb", "epsilon": 0.05}
    replication = replicate("paper:46", runs=3, seed=5, **options)
    assert [run.seed for run in replication.runs] == [5, 6, 7]
    for run in replication.runs:
        result = simulate("paper:46", seed=run.seed, **options)
        assert result.truth is not None
        assert (run.samples, run.front, run.stopped) == (result.samples, result.front, result.stopped)
        assert run.pulls == {arm.name: arm.pulls for arm in result.arms}
        assert (run.regret, run.exact) == (result.truth.regret, result.truth.exact)
    assert len({run.samples for run in replication.runs}) > 1


def test_other_processes_find_the_same() -> None:
    options: dict[str, Any] = {"runs": 70, "seed": 2, "budget": 101, "epsilon": 0.05, "policy": "hvi-pareto"}
    alone = replicate("paper:3", **options)
    done: list[int] = []
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as executor:
        together = replicate("paper:3", executor=executor, callback=done.append, **options)
    assert without_seconds(together.runs) == without_seconds(alone.runs)
    assert dataclasses.replace(together, runs=(), seconds=0.0) == dataclasses.replace(alone, runs=(), seconds=0.0)
    assert done == sorted(done)
    assert done[-1] == 70


# --- units ----------------------------------------------------------------------------------------

DYADIC_RHO = 0.5


def dyadic_rewards(seed: int, arm_count: int = 4) -> Callable[[int], float]:
    """Multiples of 1/1024, so that shifting, scaling and reflecting them is exact."""
    generator = np.random.default_rng(seed)
    shapes = generator.uniform(0.3, 4.0, (arm_count, 2))
    return lambda arm: round(1024 * float(generator.beta(*shapes[arm]))) / 1024


def searched(
    transform: Callable[[float], float], unit: float, policy: str, bound: str, **options: Any
) -> tuple[list[int], Result]:
    """A search of transformed rewards, with tolerance and weight of the mean given in units of `unit`."""
    draw = dyadic_rewards(9)
    order: list[int] = []

    def pull(arm: int) -> float:
        order.append(arm)
        return transform(draw(arm))

    goal: dict[str, Any] = {"budget": 801} if bound == "budget" else {"max_trials": 801}
    epsilon = 0.015625 * unit
    result = identify(
        pull, range(4), epsilon=epsilon, rho=DYADIC_RHO * unit, policy=policy, bound=bound, **goal, **options
    )
    return order, result


@pytest.mark.parametrize(("policy", "bound"), policies_with("paper", "hoeffding", "budget"))
@pytest.mark.parametrize(("origin", "unit"), [(-3.0, 4.0), (5.0, 0.125), (0.0, 1024.0)])
def test_shifted_and_scaled_rewards(policy: str, bound: str, origin: float, unit: float) -> None:
    plain, first = searched(lambda reward: reward, 1.0, policy, bound, reward_range=(0.0, 1.0))
    order, second = searched(
        lambda reward: origin + unit * reward, unit, policy, bound, reward_range=(origin, origin + unit)
    )
    assert order == plain
    assert second.front == first.front
    assert (second.stopped, second.samples) == (first.stopped, first.samples)
    assert second.certified_epsilon == unit * (first.certified_epsilon or 0.0)
    assert second.alpha == first.alpha / unit
    for arm, other in zip(first.arms, second.arms, strict=True):
        for same in ("name", "verdict", "certified", "dominated_by", "pulls"):
            assert getattr(other, same) == getattr(arm, same)
        assert other.mean == origin + unit * arm.mean
        assert other.mean_interval == tuple(origin + unit * end for end in arm.mean_interval)
        assert other.variance == unit**2 * arm.variance
        assert other.doubt == unit * arm.doubt
        # xi = alpha (variance - rho mean): shifting the mean by the origin shifts it by a constant
        shift = -second.alpha * second.rho * origin
        assert other.risk == pytest.approx(unit * arm.risk + shift, rel=1e-14, abs=1e-14 * unit)
        expected = [unit * end + shift for end in arm.risk_interval]
        assert other.risk_interval == pytest.approx(expected, rel=1e-14, abs=1e-14 * unit)
        assert other.risk == pytest.approx(second.alpha * (other.variance - second.rho * other.mean), rel=1e-12)


@pytest.mark.parametrize(("policy", "bound"), policies_with("paper", "hoeffding", "gaussian-paper", "budget"))
def test_minimising_reflected_rewards_is_maximising(policy: str, bound: str) -> None:
    unbounded = bound == "gaussian-paper"
    if unbounded:
        low = high = 0.0
        noise: dict[str, Any] = {"noise": "gaussian", "sigma_max": 0.5}
    else:
        low, high = -3.0, 5.0
        noise = {"reward_range": (low, high)}
    unit = (high - low) or 1.0
    plain, first = searched(lambda reward: low + unit * reward, unit, policy, bound, **noise)
    order, second = searched(lambda reward: high - unit * reward, unit, policy, bound, direction="minimize", **noise)
    assert order == plain
    assert second.front == first.front
    assert second.certified_epsilon == first.certified_epsilon
    for arm, other in zip(first.arms, second.arms, strict=True):
        for same in ("name", "verdict", "certified", "dominated_by", "pulls", "variance", "doubt"):
            assert getattr(other, same) == getattr(arm, same)
        assert other.mean == pytest.approx(low + high - arm.mean, abs=1e-14)
        reflected = tuple(low + high - end for end in arm.mean_interval[::-1])
        assert other.mean_interval == pytest.approx(reflected, abs=1e-13)
        # the mean of a cost counts as a risk: xi = alpha (variance + rho mean)
        assert other.risk == pytest.approx(second.alpha * (other.variance + second.rho * other.mean), abs=1e-13)
        shift = second.alpha * second.rho * (low + high)
        assert other.risk_interval == pytest.approx([end + shift for end in arm.risk_interval], abs=1e-13)


@pytest.mark.parametrize("policy", list(POLICIES))
def test_the_truth_of_a_reflected_instance_is_the_same(policy: str) -> None:
    generator = np.random.default_rng(1)
    recorded = [(generator.integers(0, 257, 40) / 64).tolist() for _ in range(5)]
    gains, costs = (
        Instance(
            "recorded",
            tuple(Arm(str(arm), Data(tuple(map(turn, values)))) for arm, values in enumerate(recorded)),
            reward_range=(-4.0, 4.0),
            noise="bounded",
        )
        for turn in (lambda value: value, lambda value: -value)
    )
    limit = "max_trials" if can_run(policy) else "budget"
    options: dict[str, Any] = {"policy": policy, "epsilon": 0.1, "rho": 0.5, limit: 3000}
    first = simulate(gains, seed=3, **options)
    second = simulate(costs, seed=3, direction="minimize", **options)
    assert first.truth is not None
    assert second.truth is not None
    assert second.front == first.front
    assert [arm.pulls for arm in second.arms] == [arm.pulls for arm in first.arms]
    assert second.truth.front == first.truth.front
    assert (second.truth.exact, second.truth.eps_correct) == (first.truth.exact, first.truth.eps_correct)
    assert second.truth.regret == pytest.approx(first.truth.regret, abs=1e-15)


def test_the_engine_works_on_the_same_scale_whatever_the_units() -> None:
    """Not only the answer: the whole table, to the byte."""
    plain = make_engine(4, "hoeffding", rho=DYADIC_RHO, epsilon=0.0)
    scaled = make_engine(4, "hoeffding", rho=4 * DYADIC_RHO, epsilon=0.0, reward_range=(-3.0, 1.0))
    costs = make_engine(4, "hoeffding", rho=4 * DYADIC_RHO, epsilon=0.0, reward_range=(-3.0, 1.0), direction="minimize")
    draw = dyadic_rewards(2)
    for _ in range(500):
        arm = plain.ask()
        assert arm is not None
        assert scaled.ask() == costs.ask() == arm
        reward = draw(arm)
        plain.tell(arm, reward)
        scaled.tell(arm, 4 * reward - 3)
        costs.tell(arm, 1 - 4 * reward)
        assert state_bytes(scaled) == state_bytes(costs) == state_bytes(plain)
