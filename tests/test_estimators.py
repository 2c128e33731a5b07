"""Estimators for heavy tails by name: each step of the proofs, a slow reference beside the compiled one, coverage."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy
from numpy.typing import NDArray

from ramgape import (
    Arm,
    Data,
    Distribution,
    Gaussian,
    Instance,
    InvalidSpec,
    LogNormal,
    Lomax,
    StudentT,
    Study,
    analyze,
    simulate,
)
from ramgape.bounds import BOUNDS, catoni, truncated_mean
from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec
from ramgape.simulation.simulation import simulated_spec, watch
from ramgape.simulation.truth import TrueArms
from tests.guarantees import most_allowed
from tests.support import changing

NAMES = ("catoni", "truncated-mean")
Floats = NDArray[np.float64]
DRAWS: dict[str, Callable[[np.random.Generator, int], Floats]] = {  # each of deviation 1 at most
    "normal": lambda generator, count: generator.standard_normal(count),
    "t(3)": lambda generator, count: generator.standard_t(3, count) / math.sqrt(3.0),
    "lognormal, far away": lambda generator, count: 1e4 + generator.lognormal(0.0, 1.0, count) / 2.17,
    "two points": lambda generator, count: (generator.random(count) < 0.01) * 10.0,
    "equal": lambda generator, count: np.full(count, 0.3),
}


def learnt(bound: str, rewards: Floats, sigma_max: float = 1.0, **options: Any) -> Engine:
    """A search that has learnt rewards of its first arm, whose box is that of the last moment."""
    options = {"noise": "heavy", "task": "best", "epsilon": 0.0, **options}
    engine = Engine(make_spec(["a", "b"], bound=bound, sigma_max=sigma_max, **options))
    with changing(engine) as state:
        state.arms["renewal"] = 2**62
    engine.learn_many(np.zeros(len(rewards), np.int64), np.asarray(rewards, float))
    engine.make_boxes()
    return engine


def interval(engine: Engine) -> tuple[float, float]:
    return float(engine.arms["mean_low"][0]), float(engine.arms["mean_high"][0])


# --------------------------------------------------------------------------------------- Catoni's


def phi(values: Floats) -> Floats:
    return np.where(values >= 0.0, np.log1p(values + values**2 / 2.0), -np.log1p(-values + values**2 / 2.0))


def test_the_influence_function_is_below_its_parabola_and_bends_no_more_than_stated() -> None:
    values = np.concatenate([-np.geomspace(1e-6, 1e6, 4001), np.geomspace(1e-6, 1e6, 4001)])
    assert (phi(values) <= np.log(1.0 + values + values**2 / 2.0) + 1e-12).all()
    assert [catoni.influence(value) for value in values[::50]] == pytest.approx(phi(values)[::50].tolist())
    grid = np.linspace(-3.0, 6.0, 9001)
    second = np.diff(phi(grid), 2) / (grid[1] - grid[0]) ** 2
    for low, high in ((-3.0, -0.5), (-0.2, 0.1), (0.1, 0.4), (0.5, 2.0), (1.5, 5.9)):
        inside = (grid[1:-1] > low + 2e-3) & (grid[1:-1] < high - 2e-3)
        greatest = max(0.0, -float(second[inside].min()))
        assert catoni.bend(low, high) == pytest.approx(greatest, abs=5e-3)
        assert catoni.bend(low, high) >= greatest - 1e-5


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("count", [3, 60, 2_000])
def test_cells_never_overstate_the_influence_and_hardly_understate_it(name: str, count: int) -> None:
    rewards = DRAWS[name](np.random.default_rng(count), count)
    engine = learnt("catoni", rewards)
    own, first = engine.memory[0, -catoni.COLUMNS :], rewards[0]
    for rate in (1.0, 0.25, 0.02):
        for mean in (rewards.mean(), rewards.mean() - 1.0, rewards.mean() + 0.1, rewards.min() - 30.0):
            for side in (1.0, -1.0):
                exact = float(phi(side * rate * (rewards - mean)).sum())
                found = catoni.total_influence(own, side * rate, side * rate * (first - mean))
                assert found <= exact + 1e-7 * count
                assert found >= exact - 0.01 * rate * count


def catoni_ends(rewards: Floats, level: float) -> tuple[float, float]:
    """From all rewards and all nodes, for a deviation of 1."""

    def evidence(mean: float, side: float) -> float:
        terms = []
        for place in range(catoni.NODES):
            rate = 2.0**-place
            gain = phi(side * rate * (rewards - mean)).sum() - len(rewards) * math.log1p(rate**2 / 2.0)
            terms.append(gain - math.log(2.0 * (place + 3.0)))
        return float(np.logaddexp.reduce(terms)) - level

    middle = float(np.median(rewards))
    low = scipy.optimize.brentq(evidence, middle - 1e4, middle + 10.0, args=(1.0,), xtol=1e-6)
    return float(low), float(scipy.optimize.brentq(evidence, middle - 10.0, middle + 1e4, args=(-1.0,), xtol=1e-6))


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("count", [40, 500, 6_000])
def test_catoni_is_as_wide_as_the_slow_one_and_never_narrower(name: str, count: int) -> None:
    rewards = DRAWS[name](np.random.default_rng(count), count)
    engine = learnt("catoni", rewards)
    (low, high), (least, most) = interval(engine), catoni_ends(rewards, float(engine.arms["level"][0]))
    assert low <= least + 1e-6
    assert high >= most - 1e-6
    assert high - low <= 1.06 * (most - least)


def test_catoni_does_not_go_by_the_order_of_rewards() -> None:
    rewards = DRAWS["t(3)"](np.random.default_rng(1), 3_000)
    there, back = interval(learnt("catoni", rewards)), interval(learnt("catoni", rewards[::-1].copy()))
    assert there == pytest.approx(back, abs=0.03 * (there[1] - there[0]))


# ------------------------------------------------------------------------------ the truncated mean


def test_the_tilt_is_where_both_parts_of_the_error_are_alike() -> None:
    tilt = truncated_mean.TILT
    assert math.exp(tilt) - 1.0 - tilt == pytest.approx(tilt, abs=1e-12)
    assert 2.0 / math.sqrt(tilt) == pytest.approx(1.784, abs=1e-3)
    assert sum(1.0 / (place + 3.0) for place in range(truncated_mean.THRESHOLDS)) < truncated_mean.SHARES
    assert math.exp(truncated_mean.HALVES) == pytest.approx(truncated_mean.CRUDE * math.comb(16, 8))


def test_the_exponential_moment_of_a_truncated_reward_is_bounded() -> None:
    """Of random laws on three points, most of which have the greatest second moment that is allowed."""
    generator, tilt = np.random.default_rng(2), truncated_mean.TILT
    for _ in range(2_000):
        points, shares = (
            generator.normal(0.0, 1.0, 3) * 10.0 ** generator.uniform(-1, 1, 3),
            generator.dirichlet([0.4] * 3),
        )
        mean, square = float(shares @ points), float(shares @ points**2)
        threshold = 10.0 ** generator.uniform(-1, 1.5)
        kept = np.where(np.abs(points) <= threshold, points, 0.0)
        for side in (1.0, -1.0):
            moment = float(shares @ np.exp(side * tilt * kept / threshold))
            assert math.log(moment) <= side * tilt * mean / threshold + tilt * square / threshold**2 + 1e-12


def truncated_ends(rewards: Floats, level: float) -> tuple[float, float]:
    """From all rewards, for a deviation of 1: the inequality for every d on a fine grid of what is possible."""
    first, rest = np.sort(rewards[:16]), rewards[16:]
    centre, level = (first[7] + first[8]) / 2.0, level + math.log(1.01)
    reach = (math.comb(16, 8) * 100.0 * math.exp(level)) ** (1.0 / 16.0)
    grid = np.linspace(-reach, reach, 100_001)
    possible = np.ones(len(grid), dtype=bool)
    for place in range(truncated_mean.THRESHOLDS):
        threshold, distances = 2.0**place, rest - centre
        average = distances[np.abs(distances) <= threshold].sum() / len(rest)
        error = (level + math.log(2.7 * (place + 3))) * threshold / (truncated_mean.TILT * len(rest))
        most = (1.0 + grid**2) / threshold + error
        possible &= (average - grid <= most) & (grid - average <= most)
    return float(centre + grid[possible].min()), float(centre + grid[possible].max())


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("count", [40, 500, 6_000])
def test_the_truncated_mean_is_as_wide_as_the_slow_one(name: str, count: int) -> None:
    rewards = DRAWS[name](np.random.default_rng(count), count)
    engine = learnt("truncated-mean", rewards)
    (low, high), (least, most) = interval(engine), truncated_ends(rewards, float(engine.arms["level"][0]))
    assert low <= least + 2e-4
    assert high >= most - 2e-4
    if count > 100:  # before, a threshold may exclude what lies beyond another's larger root, which the fast one leaves
        assert (low, high) == pytest.approx((least, most), abs=2e-4)


def test_nothing_is_known_before_there_is_a_centre() -> None:
    rewards = DRAWS["normal"](np.random.default_rng(3), 40)
    assert interval(learnt("truncated-mean", rewards[:15])) == (-math.inf, math.inf)
    low, high = interval(learnt("truncated-mean", rewards[:16]))
    assert low < 0.0 < high < 5.0


# ----------------------------------------------------------------------------------- both of them


def test_the_memory_is_as_large_as_the_table_says() -> None:
    assert BOUNDS["catoni"].columns == catoni.COLUMNS
    assert BOUNDS["truncated-mean"].columns == truncated_mean.COLUMNS


@pytest.mark.parametrize("bound", NAMES)
def test_intervals_follow_the_rewards_in_scale_and_place(bound: str) -> None:
    rewards = DRAWS["t(3)"](np.random.default_rng(4), 1_000)
    there, moved = interval(learnt(bound, rewards)), interval(learnt(bound, 64.0 * rewards + 1024.0, 64.0))
    assert [(end - 1024.0) / 64.0 for end in moved] == pytest.approx(there, abs=0.03 * (there[1] - there[0]))
    costs = interval(learnt(bound, rewards, direction="minimize"))
    assert (-costs[1], -costs[0]) == pytest.approx(there, abs=0.03 * (there[1] - there[0]))


@pytest.mark.parametrize("bound", NAMES)
def test_a_single_outlier_moves_little(bound: str) -> None:
    rewards = DRAWS["normal"](np.random.default_rng(5), 2_000)
    (low, high), spoilt = interval(learnt(bound, rewards)), rewards.copy()
    spoilt[1_000] = 300.0
    ends = interval(learnt(bound, spoilt))
    assert ends == pytest.approx((low, high), abs=0.35 * (high - low))
    assert spoilt.mean() - rewards.mean() > 0.6 * (high - low)


LAWS: dict[str, tuple[Distribution, float]] = {
    "normal": (Gaussian(0.0, 1.0), 1.0),
    "t(3)": (StudentT(3.0), math.sqrt(3.0)),
    "Lomax(3)": (Lomax(3.0), Lomax(3.0).std),
    "lognormal(1)": (LogNormal(0.0, 1.0), LogNormal(0.0, 1.0).std),
    "two points": (Data((10.0,) + (0.0,) * 99), Data((10.0,) + (0.0,) * 99).std),
}
DELTA = 0.1


def lost(bound: str, law: Distribution, sigma_max: float, runs: int, pulls: int) -> int:
    """Runs in which an interval of one of two arms has lost the mean at any time."""
    instance = Instance("two", (Arm("a", law), Arm("b", law)), None, f"heavy:sigma_max={sigma_max!r}")
    spec = simulated_spec(
        instance, task="best", epsilon=0.0, delta=DELTA, policy="round-robin", max_trials=pulls, bound=bound
    )
    truth, count = TrueArms(instance, spec).table(), 0
    for seed in range(runs):
        count += any(trace["missed"].any() for trace in list(watch(Engine(spec), instance, seed, truth)))
    return count


@pytest.mark.parametrize("bound", NAMES)
def test_intervals_hold_at_all_times(bound: str) -> None:
    """More than allowed of 40 runs lose the truth with probability below 1e-6; with a fifth of the deviation stated,
    more do."""
    law, sigma_max = LAWS["t(3)"]
    assert lost(bound, law, sigma_max, 40, 800) <= most_allowed(40, DELTA)
    assert lost(bound, law, sigma_max / 5.0, 40, 800) > most_allowed(40, DELTA)


@pytest.mark.long
@pytest.mark.parametrize("bound", NAMES)
@pytest.mark.parametrize("name", LAWS)
def test_intervals_hold_for_long(bound: str, name: str) -> None:
    """Likewise in 200 runs of 10,000 pulls; a false alarm has probability 1e-6."""
    assert lost(bound, *LAWS[name], 200, 6_000) <= most_allowed(200, DELTA)


# ------------------------------------------------------------------------------------ what is said


HEAVY: dict[str, Any] = {"noise": "heavy:sigma_max=1.3", "epsilon": 0.3}


@pytest.mark.parametrize("bound", NAMES)
def test_what_they_cannot_serve_is_refused_with_what_they_can(bound: str) -> None:
    for task in ("pareto", "least-risk", "best:max-risk=1", "better-than:control=a,objective=both"):
        with pytest.raises(InvalidSpec, match=f"question must be about means alone with bound {bound}.*best, top:2"):
            make_spec(["a", "b", "c"], bound=bound, task=task, **HEAVY)
    for task in ("best", "top:2", "better-than:control=a"):
        assert make_spec(["a", "b", "c"], bound=bound, task=task, **HEAVY).bound == bound
    with pytest.raises(InvalidSpec, match=f"^sigma_max must be given with bound {bound}"):
        make_spec(["a", "b", "c"], bound=bound, task="best", epsilon=0.3, noise="heavy:kurtosis=9")
    with pytest.raises(InvalidSpec, match=r"^bound must be one that serves bounded rewards"):
        make_spec(["a", "b", "c"], bound=bound, task="best", epsilon=0.3, reward_range=(0, 1))
    with pytest.raises(InvalidSpec, match=r"^bound must be one that serves heavy rewards.* fixed budget"):
        make_spec(["a", "b", "c"], bound=bound, task="best", budget=300, noise="heavy:sigma_max=1.3")


@pytest.mark.parametrize("bound", NAMES)
def test_searches_studies_and_logged_rewards_are_served(bound: str) -> None:
    arms = tuple(Arm(name, StudentT(5.0, mean)) for name, mean in (("low", 0.0), ("high", 1.0)))
    options: dict[str, Any] = {**HEAVY, "bound": bound, "task": "best"}
    result = simulate(Instance("t", arms, None, "heavy:sigma_max=1.3"), seed=1, bound=bound, task="best", epsilon=0.3)
    assert result.front == ("high",)
    assert result.stopped == "confidence"
    assert result.guarantee.startswith(
        "With probability at least 0.95, for independent draws from one distribution for each arm, with standard "
        "deviation at most 1.3: "
    )
    generator = np.random.default_rng(6)
    log = [(name, float(generator.standard_t(5) + (name == "high"))) for _ in range(600) for name in ("low", "high")]
    analysis = analyze(log, **options)
    study = Study.create("s", ["low", "high"], data=log, **options)
    for found in (analysis.result, study.result()):
        assert found.front == ("high",)
        assert found.bound == bound
        assert all(math.isfinite(end) for arm in found.arms for end in arm.mean_interval)
        assert "standard deviation at most 1.3" in found.guarantee
