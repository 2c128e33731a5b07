"""How many more pulls a search may take: it is simulated to its end, with arms as they may be by what was seen.

That is an estimate and no more. Arms that are exactly as they look would be kinder than the truth, where two of them
look further apart than they are: the means and variances of each simulated run are drawn from their uncertainty. Where
that leads to very different ends, all that is told is a number that most of them exceed.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable

import numpy as np

from ramgape.common.checks import SMALLEST
from ramgape.problems.distributions import Beta, Gaussian, Scores
from ramgape.problems.environments import Arm, Instance
from ramgape.search.engine import Engine
from ramgape.search.outcome_engine import OutcomeEngine
from ramgape.search.result import Expectation
from ramgape.search.units import user_rewards

RUNS = 3
WORK = 1_500  # trials of one run with ten arms; more arms, fewer trials. Runs are in plain Python: no search compiles
CHUNK = 64
LEAST_PART = 1e-12  # of the largest variance of an arm: that of one whose rewards are all equal
APART = 10  # times as long as the shortest run is a longest one that says how little is known


def expect_pulls(engine: Engine, is_over: Callable[[], bool] = lambda: False) -> Expectation | None:
    """How many more pulls a search may take; None where there is nothing to go by, or where it has ended.

    Soon None once `is_over` says that the estimate is not needed.
    """
    if engine.stopped is not None:
        return None
    left = engine.spec.limit - engine.samples
    if engine.spec.goal == "budget":
        bought = pulls_for_money(engine)
        return Expectation(left if bought is None else min(left, bought)) if bought or engine.spec.budget else None
    if not engine.ready or isinstance(engine, OutcomeEngine):  # whose outcomes depend on each other in a way unknown
        return None
    cap = min(left, WORK * 10 // max(10, len(engine.arms)))
    draw = draw_instance if engine.order is None else draw_items
    runs: list[int] = []
    while len(runs) < RUNS:
        if is_over():
            return None
        runs.append(play_on(engine, draw(engine, np.random.default_rng(len(runs))), len(runs), cap))
        if runs == [cap, cap]:  # it would take too long to find out
            return Expectation(cap, at_least=True)
    runs.sort()
    if runs[-1] > APART * (engine.samples + runs[0]):
        return Expectation(runs[1], at_least=True)
    typical = statistics.median_low(runs)
    return Expectation(typical, at_least=typical == cap)


def pulls_for_money(engine: Engine) -> int | None:
    """How many more pulls the money buys, if they go on to cost what they did on average; None if unknown."""
    spent = engine.spent
    return int(engine.money * engine.samples / spent) if spent and math.isfinite(engine.money) else None


def play_on(engine: Engine, instance: Instance, seed: int, cap: int) -> int:
    """Simulate a copy of a search to its end, or for so many pulls; returns how many they were."""
    played, last = engine.copy(), engine.samples + cap
    for arm, under_way in enumerate(engine.pending):  # they are among the pulls to come
        for _ in range(under_way):
            played.release(arm)
    played.begin_rounds(seed)  # so that the same observations lead to the same forecast
    sampler, generator = instance.sampler(), np.random.default_rng(seed)
    while played.stopped is None and played.samples < last:
        played.play(sampler, generator, min(last - played.samples, CHUNK))
    return played.samples - engine.samples


def draw_instance(engine: Engine, generator: np.random.Generator) -> Instance:
    """Arms with means and variances that those which have been seen may come from."""
    spec, low, high = engine.spec, *(engine.spec.reward_range or (0.0, 0.0))
    arms, least = [], max(LEAST_PART * float(engine.arms["variance"].max()), SMALLEST)
    for place, row in enumerate(engine.arms):
        name, pulls = str(place), max(int(row["pulls"]), 2)  # an instance is choosier about names than a search
        average, variance = float(row["average"]), float(row["variance"])
        error = generator.standard_normal() / math.sqrt(pulls)
        if not spec.rewards.ranged:
            variance = max(variance, least) * (pulls - 1) / max(generator.chisquare(pulls - 1), 0.1)
            average += error * math.sqrt(variance)
            arms.append(Arm(name, Gaussian(float(user_rewards(spec, average)), variance)))
            continue
        # A few equal rewards do not mean that all others are the same.
        share = _inside(average)
        share = _inside(share + error * math.sqrt(max(variance, 1e-4 * share * (1.0 - share))))
        most = share * (1.0 - share)
        spread = most / min(max(variance, 1e-4 * most), 0.999 * most) - 1.0
        if spec.direction == "minimize":
            share = 1.0 - share
        arms.append(Arm(name, Beta(share * spread, (1.0 - share) * spread, low=low, high=high)))
    return Instance("as it may be", tuple(arms), spec.reward_range, spec.assumption, sigma_max_of(engine, arms))


def _inside(share: float) -> float:
    """A mean that rewards which vary can have."""
    return min(max(share, 1e-3), 1.0 - 1e-3)


def draw_items(engine: Engine, generator: np.random.Generator) -> Instance:
    """The test set, with an unasked item replaced by one that every arm was asked.

    How often each of those lends its scores is drawn, too: they may be more or fewer among the unknown ones.
    """
    spec, order = engine.spec, engine.order
    assert order is not None
    assert spec.items is not None
    count, pulls = len(spec.items.values), engine.arms["pulls"]
    first = int(engine.problem["first_item"][0])
    turns = np.arange(len(order))
    known_items = int(pulls.min())
    donors = generator.choice(known_items, size=len(order), p=generator.dirichlet(np.ones(known_items)))
    known = np.where(turns < pulls[:, None], turns, donors)
    scores = np.take_along_axis(engine.memory[:, first : first + len(order)], known, axis=1)
    of_items = np.empty((len(pulls), count))
    of_items[:, (order % count)[::-1]] = scores[:, ::-1]  # of an item that comes again, what was seen first
    arms = [Arm(str(place), Scores(tuple(row))) for place, row in enumerate(of_items.tolist())]
    return Instance("as it may be", tuple(arms), spec.reward_range, spec.assumption, items=count)


def sigma_max_of(engine: Engine, arms: list[Arm]) -> float | None:
    """The largest standard deviation that these arms have, where it was stated."""
    if engine.spec.sigma_max is None or not engine.spec.rewards.normal:
        return None
    return max(engine.spec.sigma_max, *(math.sqrt(arm.distribution.variance) for arm in arms))
