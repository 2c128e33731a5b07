"""Searches in plain Python and the compiled loop: the same tables to the bit, whatever the rule and the rewards.

Plain Python has NumPy compare many hypotheses at once; here it is also compared with the kernels themselves.
"""

from __future__ import annotations

import functools
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ramgape import Arm, Data, Instance
from ramgape.bounds import gaussian_pairwise, pairwise
from ramgape.core.comparisons import MANY
from ramgape.core.kernel import fixed
from ramgape.risks import moments, root
from ramgape.search.engine import Engine
from ramgape.search.simulator import has_compiler, simulator
from ramgape.search.spec import make_spec
from ramgape.statistics.bets import log_mixtures, most_growth
from ramgape.statistics.scan import proved_by_numpy, proved_on, unlimited
from ramgape.statistics.without_replacement import LACK, LEAD, SCORE, SQUARE, SQUARE_LACK, Products, dust_of, evidence

RANGE: dict[str, Any] = {"epsilon": 0.02, "reward_range": (0.0, 1.0)}
PAPER: dict[str, Any] = {**RANGE, "bound": "paper", "risk": "mean-variance"}
RULES: dict[str, dict[str, Any]] = {
    "unknown": {"epsilon": 0.02},
    "unknown, mean-variance": {"epsilon": 0.02, "risk": "mean-variance"},
    "range": RANGE,
    "range, mean-variance": {**RANGE, "risk": "mean-variance"},
    "range, exact": {**RANGE, "epsilon": 0.0},
    "range, cvar": {**RANGE, "risk": "cvar:0.1"},
    "range, evar": {**RANGE, "risk": "evar:0.1"},
    "range, entropic": {**RANGE, "risk": "entropic:1"},
    "range, quantile": {**RANGE, "risk": "quantile:0.1"},
    "range, best mean": {**RANGE, "epsilon": 0.01, "task": "best"},
    "unknown, best mean": {"epsilon": 0.005, "task": "best"},
    "empirical-bernstein": {**RANGE, "bound": "empirical-bernstein", "policy": "ramgape"},
    "hoeffding": {**RANGE, "bound": "hoeffding"},
    "stitched": {**RANGE, "bound": "empirical-bernstein-stitched"},
    "paper, ramgape": {**PAPER, "policy": "ramgape"},
    "paper, ra-lucb": {**PAPER, "policy": "ra-lucb"},
    "gaussian": {"epsilon": 0.02, "noise": "gaussian"},
    "heavy": {"epsilon": 0.02, "bound": "heavy", "noise": "heavy", "kurtosis": 5.0, "sigma_max": 1.0},
    "catoni": {"epsilon": 0.02, "bound": "catoni", "noise": "heavy", "sigma_max": 1.0, "task": "best"},
    "budget, unknown": {"budget": 300},
    "budget, range": {"budget": 300, "reward_range": (0.0, 1.0)},
    "budget, ege-sr": {"budget": 300, "reward_range": (0.0, 1.0), "policy": "ege-sr"},
}
QUICK = ("range", "paper, ramgape")  # rules that are compiled in the short run of the tests, too
TRIALS = 250


def mixed(arm_count: int, seed: int = 7) -> list[tuple[float, ...]]:
    """Rewards of arms that are neither alike nor far apart."""
    generator = np.random.default_rng(seed)
    centres, widths = generator.uniform(0.3, 0.7, arm_count), generator.uniform(0.05, 0.2, arm_count)
    return [
        tuple(np.clip(generator.normal(centre, width, 64), 0.0, 1.0).tolist())
        for centre, width in zip(centres, widths, strict=True)
    ]


REWARDS: dict[str, list[tuple[float, ...]]] = {
    "mixed": mixed(6),
    "constant": [(0.5,)] * 6,
    "zero or one": [(float(arm % 2),) for arm in range(6)],
    "coins": [(0.0,) * (10 - arm) + (1.0,) * arm for arm in range(6)],
    "tiny": [tuple(0.5 + 1e-14 * step for step in range(10))] * 6,
    "one alive": [*mixed(1), *[(1.0,)] * 5],
}


@functools.cache
def instance_of(rewards: str) -> Instance:
    values = mixed(MANY + 20) if rewards == "many" else REWARDS[rewards]
    arms = tuple(Arm(str(number), Data(each)) for number, each in enumerate(values))
    return Instance(rewards, arms, reward_range=(0.0, 1.0), noise="bounded")


def tables(engine: Engine) -> tuple[bytes, ...]:
    return engine.arms.tobytes(), engine.memory.tobytes(), engine.search.tobytes()


def new_engine(rule: str, rewards: str) -> Engine:
    return Engine(make_spec([arm.name for arm in instance_of(rewards).arms], **RULES[rule]), 1)


def played(rule: str, rewards: str, trials: int) -> Engine:
    """A search in plain Python, trial by trial."""
    engine, generator = new_engine(rule, rewards), np.random.default_rng(3)
    sampler = instance_of(rewards).sampler()
    for _ in range(trials):
        arm = engine.ask()
        if arm is None:
            break
        engine.tell(arm, sampler.draw(sampler.parameters, sampler.values, arm, generator))
    return engine


def compiled(rule: str, rewards: str, trials: int) -> Engine:
    """The same search in the compiled loop."""
    engine, sampler = new_engine(rule, rewards), instance_of(rewards).sampler()
    loop = simulator(engine.rule, sampler.draw, bool(engine.spec.interleave))
    if not loop.is_compiled:
        loop._compile()
    engine.advance(sampler, np.random.default_rng(3), trials)
    return engine


@pytest.mark.skipif(not has_compiler(), reason="needs Numba")
@pytest.mark.parametrize(
    "rule", [pytest.param(rule, marks=() if rule in QUICK else pytest.mark.long, id=rule) for rule in RULES]
)
def test_plain_python_and_the_compiled_loop_agree_to_the_bit(rule: str) -> None:
    for rewards in REWARDS:
        ours, theirs = played(rule, rewards, TRIALS), compiled(rule, rewards, TRIALS)
        assert ours.samples == theirs.samples, rewards
        assert tables(ours) == tables(theirs), rewards


@pytest.mark.long
@pytest.mark.skipif(not has_compiler(), reason="needs Numba")
@pytest.mark.parametrize("rule", ["range", "range, exact", "range, best mean", "unknown"])
def test_they_agree_where_arms_are_many(rule: str) -> None:
    trials = 6 * (MANY + 20)
    assert tables(played(rule, "many", trials)) == tables(compiled(rule, "many", trials))


@pytest.mark.parametrize("rule", RULES)
def test_nothing_raises_whatever_the_rewards(rule: str) -> None:
    """In plain Python a division by zero, ln 0 and e^1000 are errors; compiled code would go on."""
    for rewards in REWARDS:
        engine = played(rule, rewards, 80)
        assert engine.samples == 80 or engine.stopped is not None
        assert not np.isnan(engine.arms["average"]).any()


# --- the forms for arrays, and the kernels --------------------------------------------------------


def arm_with(rewards: Any, risk_range: tuple[float, float] = (0.0, 0.5)) -> Any:
    """A row that has seen rewards in [0, 1]."""
    rewards = np.asarray(rewards, float)
    shifted = rewards - rewards[0]
    powers = {
        name: float((shifted**power).sum()) for power, name in enumerate(("total", "squares", "cubes", "fourths"), 1)
    }
    carries = {f"{name}_carry": 0.0 for name in powers}
    half = 4.0 * float(rewards.std()) / math.sqrt(len(rewards)) + 0.01
    average = float(rewards.mean())
    return SimpleNamespace(
        **powers,
        **carries,
        pulls=len(rewards),
        shift=float(rewards[0]),
        mean_low=max(average - half, 0.0),
        mean_high=min(average + half, 1.0),
        risk_low=risk_range[0],
        risk_high=risk_range[1],
    )


def problem_with(rho: float, is_root: bool) -> Any:
    scales = np.maximum(pairwise.RISK_SCALES, rho**2 * np.array(pairwise.SCALES)).tolist()
    return SimpleNamespace(rho=rho, alpha=1.0, risk_root=int(is_root), pair_scales=scales, snapshot=-1)


rewards_of_an_arm = st.builds(
    lambda seed, count, shape: np.random.default_rng(seed).beta(*shape, count),
    st.integers(0, 10**6),
    st.integers(2, 400),
    st.sampled_from([(0.05, 0.05), (1.0, 1.0), (8.0, 5.0), (500.0, 500.0), (30.0, 0.5)]),
)
pairs = st.tuples(rewards_of_an_arm, rewards_of_an_arm)
cuts = st.lists(st.floats(0.0, 1.0), min_size=2, max_size=6, unique=True).map(sorted)


@given(pairs, cuts, st.sampled_from([0.0, 0.02, 0.3]))
def test_evidence_on_many_cells_of_means_is_that_on_each(pair: Any, ends: list[float], epsilon: float) -> None:
    row, rival = map(arm_with, pair)
    rest = (row, (), rival, (), problem_with(0.0, True), epsilon, 0, 5.0)
    starts, stops = np.array(ends[:-1]), np.array(ends[1:])
    with np.errstate(all="ignore"):
        many = pairwise.least_on_means(starts, stops, *rest)
    for start, stop, found in zip(starts.tolist(), stops.tolist(), many.tolist(), strict=True):
        assert found == pytest.approx(pairwise.least_on_mean((start, stop), *rest), rel=1e-9, abs=1e-8)
        at_a_point = pairwise.least_on_mean((start, start), *rest)
        assert pairwise.most_on_mean((start, start), *rest) >= at_a_point


@given(pairs, cuts, st.sampled_from([0.0, 0.02, 0.1]), st.sampled_from([(0.0, True), (0.0, False), (0.4, False)]))
def test_evidence_on_many_cells_of_risks_is_that_on_each(
    pair: Any, ends: list[float], epsilon: float, kind: tuple[float, bool]
) -> None:
    row, rival = map(arm_with, pair)
    variance_at = root.variance_at if kind[1] else moments.variance_at
    one, several = fixed(pairwise.least_on_risk, variance_at), fixed(pairwise.least_on_risks, variance_at)
    starts, stops = 0.5 * np.array(ends[:-1]), 0.5 * np.array(ends[1:])
    for level in (1.0, 6.0, 15.0):
        rest = (row, (), rival, (), problem_with(*kind), epsilon, 0, level)
        with np.errstate(all="ignore"):
            many = several(starts, stops, *rest)
        for start, stop, found in zip(starts.tolist(), stops.tolist(), many.tolist(), strict=True):
            expected = one((start, stop), *rest)
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-7, nan_ok=True) or found == level


@settings(deadline=None)
@given(
    st.integers(0, 10**6),
    st.tuples(st.integers(2, 120), st.integers(2, 120)),
    st.lists(st.floats(-3.0, 3.0), min_size=2, max_size=6, unique=True).map(sorted),
    st.sampled_from([{"rho": 0.0}, {"rho": 2.0}, {"risk": "std"}]),
    st.sampled_from([None, 0.25]),
    st.sampled_from([0.0, 0.3]),
)
def test_gaussian_evidence_on_many_cells_is_that_on_each(
    seed: int,
    counts: tuple[int, int],
    ends: list[float],
    risk: dict[str, Any],
    resolution: float | None,
    epsilon: float,
) -> None:
    generator = np.random.default_rng(seed)
    engine = Engine(make_spec(["a", "b"], noise="gaussian", epsilon=epsilon, resolution=resolution, **risk))
    for arm, count in enumerate(counts):
        deviation = float(generator.choice([0.3, 1.0, 2.0]))
        engine.learn_many(np.full(count, arm), generator.normal(arm * deviation, deviation, count), may_stop=False)
    arms, memory, _, problem = engine.rows.records
    rest = (arms[0], memory[0], arms[1], memory[1], problem, epsilon, 0, 5.0)
    starts, stops = np.array(ends[:-1]), np.array(ends[1:])
    for one, several in (
        (gaussian_pairwise.least_on_mean, gaussian_pairwise.least_on_means),
        (gaussian_pairwise.least_on_risk, gaussian_pairwise.least_on_risks),
    ):
        with np.errstate(all="ignore"):
            many = several(starts, stops, *rest)
        for start, stop, found in zip(starts.tolist(), stops.tolist(), many.tolist(), strict=True):
            assert found == pytest.approx(one((start, stop), *rest), rel=1e-9, abs=1e-7, nan_ok=True)


@given(rewards_of_an_arm, st.floats(0.0, 1.0), st.sampled_from([1.0, -1.0]))
def test_the_greatest_growth_limits_the_mixtures(rewards: Any, mean: float, side: float) -> None:
    row = arm_with(rewards)
    known = float(row.pulls), row.total, row.squares, row.cubes, row.fourths
    assert max(log_mixtures(known, row.shift, mean, side)) <= most_growth(known, row.shift, mean, side)


SCOUTS = (1.0, 0.0), (0.0, 0.25)


@given(
    st.lists(st.tuples(st.floats(0.0, 1.0), st.floats(0.0, 12.0), st.floats(0.5, 400.0)), min_size=1, max_size=4),
    st.floats(0.0, 1.0),
    st.floats(1e-9, 1e-2),
)
def test_both_scans_end_alike(valleys: list[tuple[float, float, float]], middle: float, noise: float) -> None:
    """Evidence with several valleys about the level, which the form for arrays has with other last digits."""
    level, seen = 6.0, []

    def at(point: Any) -> Any:
        return functools.reduce(np.minimum, [low + slope * abs(point - place) for place, low, slope in valleys])

    def least_on(cell: Any, *rest: Any) -> float:
        seen.append(cell)
        inside = [place for place, *_ in valleys if cell[0] <= place <= cell[1]]
        return float(min(at(point) for point in (*cell, *inside)))

    def least_on_many(starts: Any, stops: Any, *rest: Any) -> Any:
        exact = np.array([least_on(cell) for cell in zip(starts.tolist(), stops.tolist(), strict=True)])
        return exact * (1.0 + min(noise, 1e-8))

    ends, rest = (0.0, 1.0, middle), (None,) * 7
    fast = proved_by_numpy(SCOUTS, unlimited, least_on, least_on_many, ends, level, *rest)
    assert fast == proved_on(SCOUTS, unlimited, least_on, None, ends, level, *rest)
    if fast:
        assert least_on((0.0, 1.0)) >= level or len(seen) > 1


def test_a_scan_asks_the_kernel_near_the_level() -> None:
    """The arrays say that it is missed by a trifle, the kernel that it is reached."""
    rest = (None,) * 7
    for near, expected in ((1e-7, True), (1e-3, False)):
        many = lambda starts, stops, *rest, near=near: np.full(len(starts), 6.0 - near)  # noqa: E731
        found = proved_by_numpy(SCOUTS, unlimited, lambda *_: 6.0, many, (0.0, 1.0, 0.5), 6.0, *rest)
        assert found is expected


@given(
    st.integers(0, 10**6),
    st.integers(2, 90),
    st.sampled_from([SCORE, LACK, SQUARE, SQUARE_LACK, LEAD]),
    st.floats(0.0, 1.0),
    st.floats(0.1, 12.0),
    st.booleans(),
    st.booleans(),
)
def test_evidence_of_items_is_compared_as_the_kernel_compares_it(
    seed: int, count: int, kind: int, hypothesis: float, level: float, finite: bool, coins: bool
) -> None:
    generator = np.random.default_rng(seed)
    scores = generator.random((2, 100))
    past, others = np.round(scores) if coins else scores
    problem = SimpleNamespace(
        item_count=100.0 if finite else math.inf, first_item=0, origin=0.0, span=1.0, dust=dust_of(100, 0.0, 1.0)
    )
    known = (past, others, problem, count, kind, 0.4)
    with np.errstate(all="raise", under="ignore"):
        found = Products(evidence, *known).reach(hypothesis, level)
    assert found == (evidence(*known, hypothesis) >= level)
