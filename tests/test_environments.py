"""Draws follow the stated distributions on both roads; instances are checked and are values."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy
from hypothesis import given, settings
from hypothesis import strategies as st

from ramgape.common.checks import LARGEST, SMALLEST
from ramgape.errors import InvalidInstance, InvalidSpec, UnknownName
from ramgape.problems.environments import (
    HIGH,
    LOW,
    Arm,
    Bernoulli,
    Beta,
    Data,
    Distribution,
    Floats,
    Gaussian,
    Instance,
    Uniform,
    draw_bernoulli,
    draw_beta,
    draw_data,
    draw_gaussian,
    draw_mixed,
    draw_uniform,
)
from tests.loops import compiled_loop


@compiled_loop
def draw_in_loop(draw, parameters, values, arm, count, generator):  # type: ignore[no-untyped-def]
    """Draw in a compiled loop that receives the kernel by declared type, as the simulation does."""
    rewards = np.empty(count)
    for place in range(count):
        rewards[place] = draw(parameters, values, arm, generator)
    return rewards


def draw_many(instance: Instance, arm: int, count: int, generator: np.random.Generator) -> Floats:
    rewards: Floats = draw_in_loop(*instance.sampler()[:3], arm, count, generator)
    return rewards


def bounded(*distributions: Distribution, reward_range: tuple[float, float] = (-10.0, 10.0)) -> Instance:
    arms = tuple(Arm(f"arm {place}", distribution) for place, distribution in enumerate(distributions))
    return Instance("bounded", arms, reward_range, "bounded")


def gaussian(*distributions: Gaussian, sigma_max: float | None = None) -> Instance:
    arms = tuple(Arm(f"arm {place}", distribution) for place, distribution in enumerate(distributions))
    return Instance("gaussian", arms, None, "gaussian", sigma_max)


RECORDED = (0.1, 0.1, 0.9, 0.4)
MIXED = bounded(Data((1.0, 2.0)), Beta(2, 3), Bernoulli(0.3, -1, 2), Uniform(0.2, 0.9), Data(RECORDED))
PURE: dict[str, Instance] = {
    "beta": bounded(Beta(2, 3), Beta(0.2, 0.3)),
    "bernoulli": bounded(Bernoulli(0.2), Bernoulli(0.7, 1, 3)),
    "uniform": bounded(Uniform(0, 1), Uniform(-1, 4)),
    "data": bounded(Data((5.0,)), Data(RECORDED)),
    "gaussian": gaussian(Gaussian(0, 1), Gaussian(0.5, 0.04)),
}


def test_the_kernel_is_that_of_the_distribution() -> None:
    draws = {name: instance.sampler().draw for name, instance in PURE.items()}
    assert draws == {
        "beta": draw_beta,
        "bernoulli": draw_bernoulli,
        "uniform": draw_uniform,
        "data": draw_data,
        "gaussian": draw_gaussian,
    }
    assert MIXED.sampler().draw is draw_mixed


def test_the_arrays_have_the_shape_kernels_expect() -> None:
    _, parameters, values = MIXED.sampler()
    assert parameters.dtype == values.dtype == np.float64
    assert parameters.shape == (5, 5)
    assert parameters.flags.c_contiguous
    assert values.tolist() == [1.0, 2.0, *RECORDED]
    assert parameters[LOW].tolist() == [1.0, 0.0, -1.0, 0.2, 0.1]
    assert parameters[HIGH].tolist() == [2.0, 1.0, 2.0, 0.9, 0.9]
    assert PURE["beta"].sampler().values.size == 0


def share_at_most(values: tuple[float, ...]) -> Callable[[Floats], Floats]:
    return lambda points: np.mean(np.array(values)[:, None] <= points, axis=0)


@pytest.mark.parametrize(
    ("instance", "arm", "cumulative"),
    [
        (PURE["beta"], 0, scipy.stats.beta(2, 3).cdf),
        (PURE["beta"], 1, scipy.stats.beta(0.2, 0.3).cdf),
        (bounded(Beta(0.02, 0.03), Beta(1, 1)), 0, scipy.stats.beta(0.02, 0.03).cdf),
        (bounded(Beta(1e-4, 3e-4), Beta(1, 1)), 0, scipy.stats.beta(1e-4, 3e-4).cdf),
        (bounded(Beta(1e-100, 3e-100), Beta(1, 1)), 0, share_at_most((0, 0, 0, 1))),
        (bounded(Beta(0.02, 2), Beta(1, 1)), 0, scipy.stats.beta(0.02, 2).cdf),
        (bounded(Beta(4, 2, -3, 5), Beta(1, 1)), 0, scipy.stats.beta(4, 2, loc=-3, scale=8).cdf),
        (PURE["bernoulli"], 1, lambda points: np.where(points < 1, 0.0, np.where(points < 3, 0.3, 1.0))),
        (PURE["uniform"], 1, scipy.stats.uniform(-1, 5).cdf),
        (PURE["data"], 1, share_at_most(RECORDED)),
        (PURE["gaussian"], 1, scipy.stats.norm(0.5, 0.2).cdf),
        (MIXED, 0, share_at_most((1.0, 2.0))),
        (MIXED, 1, scipy.stats.beta(2, 3).cdf),
        (MIXED, 2, lambda points: np.where(points < -1, 0.0, np.where(points < 2, 0.7, 1.0))),
        (MIXED, 3, scipy.stats.uniform(0.2, 0.7).cdf),
        (MIXED, 4, share_at_most(RECORDED)),
    ],
)
def test_draws_follow_the_distribution(instance: Instance, arm: int, cumulative: Callable[[Floats], Floats]) -> None:
    count, tolerance = 200_000, 0.01
    rewards = draw_many(instance, arm, count, np.random.default_rng(20_240))
    # between the atoms: and at 0 itself, the tiniest rewards of a Beta have been rounded to 0
    points = np.linspace(-3.9975, 5.9975, 2000)
    observed = np.searchsorted(np.sort(rewards), points, side="right") / count
    # Dvoretzky-Kiefer-Wolfowitz: a true draw fails with probability 2 exp(-2 count tolerance^2) < 1e-17
    assert np.max(np.abs(observed - cumulative(points))) < tolerance


@pytest.mark.parametrize(("instance", "arm"), [(PURE["beta"], 1), (PURE["uniform"], 1), (MIXED, 1), (MIXED, 4)])
def test_draws_have_the_stated_mean_and_variance(instance: Instance, arm: int) -> None:
    count = 200_000
    rewards = draw_many(instance, arm, count, np.random.default_rng(7))
    support = instance.arms[arm].distribution.support
    assert support is not None
    span = support[1] - support[0]
    # Hoeffding, for rewards and for their squared distances: each fails with probability 2 exp(-40) < 1e-16
    tolerance = math.sqrt(20 / count)
    assert abs(rewards.mean() - instance.means[arm]) < span * tolerance
    squares = (rewards - instance.means[arm]) ** 2
    assert abs(squares.mean() - instance.variances[arm]) < span**2 * tolerance


@pytest.mark.parametrize("instance", [*PURE.values(), MIXED], ids=[*PURE, "mixed"])
def test_both_roads_draw_the_same_bits(instance: Instance) -> None:
    for arm in range(len(instance.arms)):
        generator = np.random.default_rng(3)
        one_by_one = [instance.draw(arm, generator) for _ in range(50)]
        assert all(type(reward) is float for reward in one_by_one)
        assert draw_many(instance, arm, 50, np.random.default_rng(3)).tolist() == one_by_one


def test_a_mixed_instance_draws_what_a_pure_one_draws() -> None:
    alone = bounded(Beta(2, 3), Beta(2, 3))
    generators = np.random.default_rng(4), np.random.default_rng(4)
    assert [MIXED.draw(1, generators[0]) for _ in range(50)] == [alone.draw(0, generators[1]) for _ in range(50)]


@pytest.mark.parametrize(
    ("a", "b"),
    [(2.0, 3.0), (0.08, 0.12), (9.8779, 13.5171), (0.5, 4.0), (1.0, 1.0), (0.05, 0.01), (1e6, 2.0)],
)
def test_beta_draws_are_numpys(a: float, b: float) -> None:
    instance = bounded(Beta(a, b), Beta(a, b))
    expected = np.random.default_rng(11).beta(a, b, size=5_000)
    assert draw_many(instance, 0, 5_000, np.random.default_rng(11)).tolist() == expected.tolist()


def test_gaussian_and_uniform_draws_are_numpys() -> None:
    normal = 0.5 + 0.2 * np.random.default_rng(12).standard_normal(5_000)
    assert draw_many(PURE["gaussian"], 1, 5_000, np.random.default_rng(12)).tolist() == normal.tolist()
    uniform = np.random.default_rng(12).random(5_000)
    assert draw_many(PURE["uniform"], 0, 5_000, np.random.default_rng(12)).tolist() == uniform.tolist()


shapes = st.one_of(st.floats(SMALLEST, LARGEST), st.floats(0.01, 10))
ends = st.tuples(st.floats(-LARGEST, LARGEST), st.floats(-LARGEST, LARGEST)).filter(lambda pair: pair[0] < pair[1])
seeds = st.integers(0, 2**32)


@settings(deadline=None, max_examples=200)
@given(a=shapes, b=shapes, p=st.floats(0, 1), reward_range=ends, seed=seeds)
def test_rewards_never_leave_the_range(
    a: float, b: float, p: float, reward_range: tuple[float, float], seed: int
) -> None:
    low, high = reward_range
    arms = Beta(a, b, low, high), Bernoulli(p, low, high), Uniform(low, high), Data((low, high))
    instance = bounded(*arms, reward_range=reward_range)
    for arm in range(4):
        rewards = draw_many(instance, arm, 30, np.random.default_rng(seed))
        assert np.all((rewards >= low) & (rewards <= high))  # false for NaN


def test_rounding_does_not_carry_a_reward_past_the_end() -> None:
    low, high = -0.1, 0.3
    assert low + (high - low) > high
    certain = Beta(1e50, 1e-50, low, high)
    instance = bounded(certain, certain, reward_range=(low, high))
    assert set(draw_many(instance, 0, 100, np.random.default_rng(1))) == {high}


@pytest.mark.parametrize("a", [1e-100, 1e-12, 1e-3, 0.04, 1.0, 1e8, 1e100])
@pytest.mark.parametrize("b", [1e-100, 1e-12, 1e-3, 0.04, 1.0, 1e8, 1e100])
def test_extreme_betas_are_numbers(a: float, b: float) -> None:
    rewards = draw_many(bounded(Beta(a, b), Beta(a, b)), 0, 2_000, np.random.default_rng(5))
    assert np.all((rewards >= 0.0) & (rewards <= 1.0))


def test_certain_bernoullis() -> None:
    instance = bounded(Bernoulli(0.0), Bernoulli(1.0))
    generator = np.random.default_rng(1)
    assert {instance.draw(0, generator) for _ in range(100)} == {0.0}
    assert {instance.draw(1, generator) for _ in range(100)} == {1.0}


@pytest.mark.parametrize("arm", [-1, 2, 10**6, 0.5, math.nan, "0", None, True])
def test_draw_refuses_an_arm_that_is_not_there(arm: Any) -> None:
    with pytest.raises(InvalidSpec, match="arm_index must be from 0 to 1"):
        PURE["beta"].draw(arm, np.random.default_rng(1))


def test_draw_refuses_a_seed_in_place_of_a_generator() -> None:
    with pytest.raises(InvalidSpec, match="generator must be a numpy"):
        PURE["beta"].draw(0, 1)  # type: ignore[arg-type]


def test_truth_of_all_arms() -> None:
    assert MIXED.names == ("arm 0", "arm 1", "arm 2", "arm 3", "arm 4")
    assert MIXED.means == pytest.approx([1.5, 0.4, -0.1, 0.55, 0.375])
    assert MIXED.variances == pytest.approx([0.25, 0.04, 1.89, 0.49 / 12, 0.106875])


def test_risks_are_scaled_mean_variances() -> None:
    instance = bounded(Beta(2, 3, 0, 2), Bernoulli(0.5, 0, 2), reward_range=(0, 2))
    assert instance.risks(0.5) == pytest.approx([(0.16 - 0.5 * 0.8) / 6.5, (1.0 - 0.5) / 6.5])
    assert instance.risks(0.5, direction="minimize") == pytest.approx([(0.16 + 0.4) / 6.5, (1.0 + 0.5) / 6.5])
    assert instance.risks(0.5, alpha=1.0) == pytest.approx([0.16 - 0.4, 0.5])
    assert PURE["gaussian"].risks(0.0) == pytest.approx([1 / 3, 0.04 / 3])


@pytest.mark.parametrize(
    "arguments", [{"rho": -1}, {"rho": math.nan}, {"rho": "1"}, {"rho": 1, "alpha": 0}, {"rho": 1, "alpha": []}]
)
def test_risks_refuse_nonsense(arguments: Any) -> None:
    with pytest.raises(InvalidSpec):
        MIXED.risks(**arguments)
    with pytest.raises(UnknownName, match="did you mean 'minimize'"):
        MIXED.risks(1.0, direction="minimise")  # type: ignore[arg-type]


def test_reflecting_rewards_turns_maximising_into_minimising() -> None:
    rewards = bounded(Beta(2, 5), Beta(4, 1), reward_range=(0, 1))
    costs = bounded(Beta(5, 2, -1, 0), Beta(1, 4, -1, 0), reward_range=(-1, 0))
    assert costs.risks(0.3, direction="minimize") == pytest.approx(rewards.risks(0.3))


GOOD = (Arm("A", Beta(1, 2)), Arm("B", Beta(2, 1)))
NORMAL = (Arm("A", Gaussian(0, 1)), Arm("B", Gaussian(0, 2)))


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        (("", GOOD, (0, 1), "bounded"), "name must be"),
        ((" ", GOOD, (0, 1), "bounded"), "name must be"),
        (("\ud800", GOOD, (0, 1), "bounded"), "name must be"),
        ((5, GOOD, (0, 1), "bounded"), "name must be"),
        (("x", (), (0, 1), "bounded"), "arms must be at least two"),
        (("x", GOOD[:1], (0, 1), "bounded"), "arms must be at least two"),
        (("x", "AB", (0, 1), "bounded"), "arms must be a list"),
        (("x", (GOOD[0], Beta(1, 2)), (0, 1), "bounded"), "arms[1] must be an Arm"),
        (("x", (*GOOD, Arm("A", Beta(1, 1))), (0, 1), "bounded"), "arms[2].name must be"),
        (("x", GOOD, (0, 1), "normal"), "noise must be"),
        (("x", GOOD, None, "bounded"), "reward_range must be"),
        (("x", GOOD, (0, 1, 2), "bounded"), "reward_range must be"),
        (("x", GOOD, (1, 0), "bounded"), "reward_range must be"),
        (("x", GOOD, (0, math.inf), "bounded"), "reward_range[1] must be"),
        (("x", GOOD, (0, "1"), "bounded"), "reward_range[1] must be"),
        (("x", GOOD, (0, True), "bounded"), "reward_range[1] must be"),
        (("x", GOOD, (0.1, 1), "bounded"), "arms[0].distribution must be"),
        (("x", (GOOD[0], Arm("D", Data((0, 1.5)))), (0, 1), "bounded"), "arms[1].distribution must be"),
        (("x", (GOOD[0], NORMAL[1]), (0, 1), "bounded"), "arms[1].distribution must be"),
        (("x", GOOD, (0, 1), "bounded", 1.0), "sigma_max must be"),
        (("x", NORMAL, (0, 1), "gaussian"), "reward_range must be"),
        (("x", NORMAL, None, "heavier"), "noise must be"),
        (("x", NORMAL, None, "gaussian", 0), "sigma_max must be"),
        (("x", NORMAL, None, "gaussian", "1"), "sigma_max must be"),
        (("x", NORMAL, None, "gaussian", 1.0), "sigma_max must be at least"),
    ],
)
def test_instances_that_make_no_sense(arguments: Any, place: str) -> None:
    with pytest.raises(InvalidInstance) as caught:
        Instance(*arguments)
    assert str(caught.value).startswith(place)


@pytest.mark.parametrize(("name", "distribution"), [("", Beta(1, 1)), (None, Beta(1, 1)), ("A", "beta")])
def test_arms_that_make_no_sense(name: Any, distribution: Any) -> None:
    with pytest.raises(InvalidInstance):
        Arm(name, distribution)


def test_instances_are_values() -> None:
    one, other = (Instance("x", arms, (0, 1), "bounded") for arms in (GOOD, list(GOOD)))  # type: ignore[arg-type]
    assert one == other
    assert hash(one) == hash(other)
    assert one.reward_range == (0.0, 1.0)
    assert one != Instance("y", GOOD, (0, 1), "bounded")
    with pytest.raises(AttributeError):
        one.name = "z"  # type: ignore[misc]


@pytest.mark.parametrize("instance", [*PURE.values(), MIXED], ids=[*PURE, "mixed"])
def test_pickling_leaves_the_sampler_behind(instance: Instance) -> None:
    before = pickle.dumps(Instance(*instance.__reduce__()[1]))
    instance.sampler()
    assert pickle.dumps(instance) == before
    again = pickle.loads(before)
    assert again == instance
    assert hash(again) == hash(instance)
    assert again.draw(0, np.random.default_rng(1)) == instance.draw(0, np.random.default_rng(1))


def test_the_sampler_is_made_once() -> None:
    assert MIXED.sampler() is MIXED.sampler()
