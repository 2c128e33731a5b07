"""Exact bets: the evidence is never more than the wealth at the truth, and seldom large where a claim is false.

The first tests are about every number for itself (theorem 8 of docs/theory/comparisons.md). Those about frequencies
state how likely a correct program is to fail them.
"""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from ramgape import Arm, Beta, Data, Instance
from ramgape.core.comparisons import COLUMNS
from ramgape.core.table import SCRATCH
from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec
from ramgape.statistics import wealth
from ramgape.statistics.wealth import (
    BELOW,
    CASH,
    NODES,
    NOTES,
    OF_ABOVE,
    OF_BELOW,
    OF_MEANS,
    PARTS,
    Above,
    Below,
    OnMean,
    cells_of,
    counts_of,
    shown,
)

Floats = NDArray[np.float64]
FALSE_ALARM = 1e-6


class Law(NamedTuple):
    """Rewards of a few values in [0, 1]."""

    values: tuple[float, ...]
    chances: tuple[float, ...]

    @property
    def mean(self) -> float:
        return float(np.dot(self.values, self.chances))

    @property
    def variance(self) -> float:
        return float(np.dot((np.array(self.values) - self.mean) ** 2, self.chances))

    def draw(self, generator: np.random.Generator, *size: int) -> Floats:
        return generator.choice(self.values, size, p=self.chances)


# Those that bets find hardest: a rare end of the range, coins, a narrow law between two nodes, a long tail.
LAWS = {
    "rare zero": Law((0.0, 0.8), (0.03, 0.97)),
    "rare one": Law((0.2, 1.0), (0.97, 0.03)),
    "fair coin": Law((0.0, 1.0), (0.5, 0.5)),
    "coin of 0.9": Law((0.0, 1.0), (0.1, 0.9)),
    "narrow": Law((0.5012, 0.5035), (0.5, 0.5)),
    "skewed": Law((0.05, 0.1, 0.3, 0.9), (0.5, 0.3, 0.15, 0.05)),
    "tenths": Law((0.5, 0.6, 0.7, 0.8), (0.1, 0.4, 0.4, 0.1)),
}


class Shown:
    """What an arm has shown, as the kernels have it, with the whole range for its mean."""

    def __init__(self, rewards: Floats, rho: float = 0.0) -> None:
        moved = rewards - rewards[0]
        sums = tuple(float((moved**power).sum()) for power in range(5))
        self.row: Any = SimpleNamespace(
            shift=float(rewards[0]), pulls=len(rewards), under_way=0, mean_low=0.0, mean_high=1.0
        )
        self.problem: Any = SimpleNamespace(own_columns=0, snapshot=-1, rho=rho, scratch=[0.0] * SCRATCH)
        self.past = np.zeros(NODES)
        wealth.remember_many(self.past, self.problem, rewards)
        self.known: Any = shown(self.row, sums)
        self.counts = counts_of(self.past, self.problem, 0, 1.0)

    def below(self, risks: Floats) -> Floats:
        """ln of the evidence that the risk is below values."""
        return Below(self.known, self.counts, self.problem, cells_of(self.row, self.known, PARTS))(risks)

    def above(self, risks: Floats) -> Floats:
        """The same for above."""
        found = Above(self.known, self.counts, self.problem, cells_of(self.row, self.known, 0))(risks)
        return np.asarray(found.min(axis=0))


def on_mean(seen: Shown, means: Floats, side: float) -> Floats:
    """ln of the evidence that a mean is above values (1) or below them (-1)."""
    return OnMean(seen.known, seen.counts, side)(means)


def mixed(logs: Floats, weights: Floats) -> float:
    """ln of a mixture of stakes with the cash."""
    return float(np.logaddexp.reduce(np.append(logs + weights, math.log(CASH))))


def wealth_of_mean(law: Law, rewards: Floats, side: float) -> float:
    """At the truth, of bets that the mean is above (1) or below (-1) what it is."""
    gain = rewards / law.mean if side > 0.0 else (1.0 - rewards) / (1.0 - law.mean)
    return mixed(np.log(1.0 + np.multiply.outer(wealth.SHARES, gain - 1.0)).sum(axis=1), OF_MEANS)


def logs_above(squares: Floats, variance: float) -> Floats:
    """ln of all stakes on a variance being above a value, of which the largest shares are not used."""
    shares = wealth.ABOVE_SHARES + wealth.ABOVE_FACTORS * variance
    logs = np.log(1.0 + np.multiply.outer(np.minimum(shares, 1.0), squares / variance - 1.0)).sum(axis=1)
    return np.where(shares <= 1.0 - wealth.FLOOR, logs, -math.inf)


def wealth_above(law: Law, rewards: Floats) -> float:
    """At the truth, of bets that the risk is above what it is."""
    return mixed(logs_above((rewards - law.mean) ** 2, law.variance), OF_ABOVE)


def wealth_below(law: Law, rewards: Floats) -> float:
    """The same for below."""
    at_zero, at_one, bend = BELOW[min(int(law.mean * PARTS), PARTS - 1)].T
    values = np.outer(at_zero, 1.0 - rewards) + np.outer(at_one, rewards) + np.outer(bend, rewards * (1.0 - rewards))
    expected = at_zero * (1.0 - law.mean) + at_one * law.mean + bend * (law.mean * (1.0 - law.mean) - law.variance)
    return mixed(np.log(values / expected[:, None]).sum(axis=1), OF_BELOW)


def test_no_bet_is_ever_negative_and_weights_leave_the_cash() -> None:
    place = np.linspace(0.0, 1.0, 1001)
    at_zero, at_one, bend = (BELOW[..., number, None] for number in range(3))
    assert (at_zero * (1.0 - place) + at_one * place + bend * place * (1.0 - place)).min() > 0.0
    assert min(at_zero.min(), at_one.min(), bend.min()) >= 0.0
    for weights in (OF_MEANS, OF_ABOVE, OF_BELOW):
        assert np.exp(weights).sum() == pytest.approx(1.0 - CASH, abs=1e-12)


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("rho", [0.0, 0.3])
def test_evidence_is_at_most_the_wealth_at_the_truth(name: str, rho: float) -> None:
    law, generator = LAWS[name], np.random.default_rng(7)
    risk = law.variance - rho * law.mean
    steps = np.array([0.0, 1e-9, 1e-4, 0.01, 0.05, 0.2])
    for count in (2, 5, 20, 100, 1_000):
        for _ in range(5):
            rewards = law.draw(generator, count)
            seen = Shown(rewards, rho)
            with np.errstate(all="ignore"):
                assert seen.below(risk - steps).max() <= wealth_below(law, rewards)
                assert seen.above(risk + steps).max() <= wealth_above(law, rewards)
                for side in (1.0, -1.0):
                    beyond = np.clip(law.mean + side * steps, 0.0, 1.0)
                    assert on_mean(seen, beyond, side).max() <= wealth_of_mean(law, rewards, side)


@pytest.mark.parametrize("name", [name for name in LAWS if name != "narrow"])  # which lies between two nodes
def test_what_cells_and_nodes_cost_is_little(name: str) -> None:
    """Cells of means, nodes and lines between bets lose evidence: of "above", hardly a tenth."""
    rewards = LAWS[name].draw(np.random.default_rng(8), 200)
    seen, means = Shown(rewards), np.linspace(0.0, 1.0, 1_001)
    squares = (rewards - means[:, None]) ** 2
    for factor in (0.5, 0.7):
        most = np.minimum(factor * rewards.var(), np.maximum(means * (1.0 - means), 1e-9))
        exact = min(
            mixed(logs_above(square, float(variance)), OF_ABOVE) for square, variance in zip(squares, most, strict=True)
        )
        with np.errstate(all="ignore"):
            found = float(seen.above(np.array([factor * rewards.var()]))[0])
        assert exact + 1e-6 >= found >= 0.85 * exact - 0.4


@pytest.mark.parametrize("rho", [0.0, 0.3])
def test_kernels_for_the_compiler_find_what_numpy_finds(rho: float) -> None:
    generator = np.random.default_rng(9)
    for law in LAWS.values():
        seen = Shown(law.draw(generator, 40), rho)
        known, row, past, problem = seen.known, seen.row, seen.past, seen.problem
        risk = law.variance - rho * law.mean
        wealth.fill_scratch(known, past, problem, 0, 0.0, 1.0)
        wealth.forget(problem, wealth.STEPS * wealth.NOTED)
        excess = wealth.excess_of(known, past, problem, 0)
        for value in (risk - 0.02, risk, risk + 0.02):
            at = np.array([value])
            with np.errstate(all="ignore"):
                below, above = float(seen.below(at)[0]), float(seen.above(at)[0])
            assert wealth.least_below(known, row, problem, value, -1e300) == pytest.approx(below, abs=1e-9)
            found = wealth.least_above(known, row, past, problem, 0, excess, value, -1e300, -1e300)
            assert found == pytest.approx(above, abs=1e-9)
        wealth.forget(problem, 2 * wealth.STEPS)
        for mean, side in ((0.4, 1.0), (0.7, -1.0)):
            expected = float(on_mean(seen, np.array([mean]), side)[0])
            assert wealth.log_on_mean(known, past, problem, 0, mean, side) == pytest.approx(expected, abs=1e-9)
    assert NOTES + wealth.STEPS * wealth.NOTED <= SCRATCH


def test_rewards_added_at_once_leave_the_same_histogram() -> None:
    rewards = np.random.default_rng(3).random(500)
    seen = Shown(rewards)
    past = np.zeros(NODES)
    for value in rewards.tolist():
        wealth.remember(None, past, seen.problem, value)
    assert past.tolist() == seen.past.tolist()
    assert past @ wealth.PLACES == pytest.approx(rewards.sum(), abs=1e-9)


def test_evidence_since_a_designation_is_that_of_later_rewards_alone() -> None:
    rewards = LAWS["skewed"].draw(np.random.default_rng(4), 60)
    earlier, all_of_them, later = Shown(rewards[:25]), Shown(rewards), Shown(rewards[25:])
    problem = SimpleNamespace(own_columns=0, snapshot=NODES)
    past = np.concatenate((all_of_them.past, np.zeros(COLUMNS), earlier.past))
    assert counts_of(past, problem, 1, 1.0) == pytest.approx(later.past, abs=1e-12)
    assert wealth.count_at(past, problem, 1, 77) == pytest.approx(later.past[77], abs=1e-12)


def misses(law: Law, runs: int, count: int, level: float, seed: int) -> Floats:
    """How often evidence at the truth ever reaches e^level, a check at every trial: mean above and below, risk above,
    below, and the pair of two arms alike."""
    found, generator = np.zeros(5), np.random.default_rng(seed)
    risk = np.array([law.variance])
    for _ in range(runs):
        rewards, ever = law.draw(generator, 2, count), np.zeros(5, dtype=bool)
        for number in range(2, count + 1):
            one, two = (Shown(each[:number]) for each in rewards)
            means = [float(on_mean(one, np.array([law.mean]), side)[0]) for side in (1.0, -1.0)]
            below, above = float(one.below(risk)[0]), float(two.above(risk)[0])
            ever |= np.array([*means, above, below, below + above]) >= level
        found += ever
    return found


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize(
    ("runs", "count"), [pytest.param(20, 40, id="short"), pytest.param(300, 300, id="long", marks=pytest.mark.long)]
)
def test_false_claims_reach_a_level_seldom_enough(name: str, runs: int, count: int) -> None:
    """A correct program exceeds the allowed number with a chance of 1e-6 / 70 each, 1e-6 for all laws and kinds."""
    from scipy.stats import binom

    with np.errstate(all="ignore"):
        for delta in (0.3, 0.5):
            allowed = binom.isf(FALSE_ALARM / 70.0, runs, delta)
            assert (misses(LAWS[name], runs, count, -math.log(delta), 11) <= allowed).all()


# Where B beats A by hardly more than epsilon in both, so that an answer with A in it is wrong.
BOUNDARY = {
    "beta": (Beta(4.0, 4.0), 0.05),
    "two values": (Data((0.05,) * 3 + (0.85,) * 7), 0.05),
    "rare": (Data((0.7,) * 24 + (0.0,)), 0.05),
}


def beaten_by_epsilon(name: str) -> tuple[Data, Data, float]:
    """Two arms of many values: B is A moved up and drawn together, so that it beats A by hardly more than epsilon.

    In both: where that would leave the range, A is drawn together first.
    """
    law, epsilon = BOUNDARY[name]
    values = np.asarray(law.quantile((np.arange(400) + 0.5) / 400))
    more = epsilon + 0.001
    better = (values - values.mean()) * (1.0 - more / values.std()) + values.mean() + more
    room = max(better.max() - 1.0, 0.0)
    values, better = values - room, better - room
    assert values.min() > -1e-9
    return Data(tuple(np.maximum(values, 0.0).tolist())), Data(tuple(better.tolist())), epsilon


@pytest.mark.parametrize("name", BOUNDARY)
@pytest.mark.parametrize("runs", [8, pytest.param(150, marks=pytest.mark.long)])
def test_whole_searches_at_the_boundary_are_wrong_seldom_enough(name: str, runs: int) -> None:
    """At delta 0.4; a correct program exceeds the allowed number with a chance of 1e-6 / 6 for each of six cases."""
    from scipy.stats import binom

    worse, better, epsilon = beaten_by_epsilon(name)
    means = [np.mean(law.values) for law in (worse, better)]
    assert means[1] - means[0] >= epsilon
    assert np.std(worse.values) - np.std(better.values) >= epsilon
    instance = Instance(name, (Arm("A", worse), Arm("B", better)), reward_range=(0.0, 1.0), noise="bounded")
    sampler, wrong = instance.sampler(), 0
    for run in range(runs):
        engine = Engine(make_spec(["A", "B"], epsilon=epsilon, delta=0.4, reward_range=(0.0, 1.0)), run)
        assert engine.spec.bound == "bets"
        generator = np.random.default_rng([run, 5])
        while engine.samples < 3_000 and (arm := engine.ask()) is not None:
            engine.tell(arm, sampler.draw(sampler.parameters, sampler.values, arm, generator))
        wrong += bool(engine.stopped == "confidence" and engine.answer()[0])
    assert wrong <= binom.isf(FALSE_ALARM / 6.0, runs, 0.4)


def test_it_is_the_default_for_rewards_in_a_range_and_takes_fewer_trials_than_pairwise() -> None:
    """The same rewards for both; the ratio was 0.45 to 0.65 on forty problems like this one."""
    trials = {}
    for bound in ("auto", "pairwise"):
        total = 0
        for run in range(3):
            engine = Engine(make_spec(["A", "B", "C"], epsilon=0.05, reward_range=(0.0, 1.0), bound=bound), run)
            generator = np.random.default_rng(run)
            stored = [generator.beta(*shape, 2_000).tolist() for shape in ((8, 4), (20, 12), (3, 3))]
            while (arm := engine.ask()) is not None:
                engine.tell(arm, stored[arm].pop())
            total += engine.samples
        trials[engine.spec.bound] = total
    assert set(trials) == {"bets", "pairwise"}
    assert trials["bets"] < 0.85 * trials["pairwise"]
