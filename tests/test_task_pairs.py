"""The best arms, and those better than a control, proved by comparisons of two arms (core/highest_pairs.py, ...)."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import scipy

from ramgape import replicate, simulate
from ramgape.bounds import the_bound
from ramgape.core.comparisons import IN_MEAN, INSIDE_PROVED, NOT_PROVED
from ramgape.core.control_pairs import FOR_ENDS
from ramgape.core.rows import Rows
from ramgape.problems.distributions import Bernoulli, Beta
from ramgape.problems.environments import Arm, Instance
from ramgape.search.assembly import make_prove
from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec

FALSE_ALARM = 1e-6
DELTA = 0.5


def instance(*means: float) -> Instance:
    """Coins, on which levels are nearly reached by chance alone."""
    arms = tuple(Arm(str(place), Bernoulli(mean)) for place, mean in enumerate(means))
    return Instance("coins", arms, (0.0, 1.0), "bounded", None)


# The arms that tempt are just wrong: epsilon (0.1) behind the best, the last wanted or the control, or ahead of it.
TEMPTING = {
    "best": (0.6, 0.5, 0.5, 0.5, 0.5),
    "top:2": (0.6, 0.6, 0.5, 0.5, 0.5),
    "better-than:control=0": (0.5, 0.6, 0.6, 0.4, 0.4),
    "better-than:control=0,margin=0.1": (0.4, 0.6, 0.6, 0.4, 0.4),
    "better-than:control=0,objective=both": (0.75, 0.9, 0.85, 0.65, 0.5),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("task", TEMPTING)
def test_answers_are_wrong_in_at_most_delta_of_runs(task: str) -> None:
    runs = 60
    found = replicate(instance(*TEMPTING[task]), task=task, epsilon=0.1, delta=DELTA, runs=runs)
    assert found.policy == "evidence"
    assert found.bound == ("bets" if "both" in task else "pairwise")  # of means as before
    assert len(found.ended) == runs
    assert found.errors <= int(scipy.stats.binom.ppf(1.0 - FALSE_ALARM, runs, DELTA))


@pytest.mark.parametrize("task", ["best", "top:3", "better-than:control=2"])
def test_fewer_pulls_than_by_boxes(task: str) -> None:
    """About half of them in development, with a standard error of 0.05."""
    few = replicate("random-beta:3", task=task, epsilon=0.05, runs=20)
    boxes = replicate("random-beta:3", task=task, epsilon=0.05, runs=20, policy="ramgape")
    assert boxes.bound == "empirical-bernstein"
    assert few.mean_samples < 0.8 * boxes.mean_samples
    assert few.errors == boxes.errors == 0


def searched(task: str, seed: int, epsilon: float) -> Engine:
    """A search somewhere on its way, told rewards in turn."""
    generator = np.random.default_rng(seed)
    spec = make_spec(range(4), reward_range=(0.0, 1.0), task=task, epsilon=epsilon, delta=0.3, risk="std")
    engine = Engine(spec)
    shapes = generator.uniform(0.5, 4.0, (4, 2))
    for _ in range(int(generator.integers(30, 200))):
        for arm, (first, second) in enumerate(shapes):
            if engine.stopped is None:
                engine.tell(arm, float(generator.beta(first, second)))
    return engine


def claims(engine: Engine) -> Callable[..., bool]:
    """Whether single claims are proved: of which objective and arms, with which tolerance and share of delta."""
    bound = the_bound(engine.spec.bound).kernels
    kernels = {"mean": bound.mean_ahead, "risk": engine.spec.risk.ahead_by(bound)}
    arms, memory, _, problem = Rows.of(engine.state).records

    def ahead(objective: str, one: int, two: int, tolerance: float, share: float) -> bool:
        level = math.log(share / (0.95 * 0.3))
        pair = arms[one], memory[one], arms[two], memory[two]
        return bool(kernels[objective](*pair, tolerance, problem, 0, level))

    return ahead


def proved_of_best(engine: Engine, epsilon: float) -> list[bool]:
    """A slow reference: every claim by itself, at the level that the proof has."""
    ahead, answer = claims(engine), engine.arms["in_front"] == 1
    inside, outside = np.flatnonzero(answer), np.flatnonzero(~answer)
    found = [
        (one, two, ahead("mean", one, two, epsilon, len(inside) * len(outside))) for one in inside for two in outside
    ]
    return [all(proved for one, two, proved in found if arm in (one, two)) for arm in range(len(answer))]


def proved_of_control(engine: Engine, epsilon: float, margin: float, both: bool) -> list[bool]:
    """The same of a control, which is the second arm."""
    ahead, proved, share = claims(engine), [], (len(engine.arms) - 1.0) / (1.0 - FOR_ENDS)
    for arm, inside in enumerate(engine.arms["in_front"] == 1):
        if inside:
            found = ahead("mean", arm, 1, -margin, share)
            found = found and (not both or ahead("risk", arm, 1, 0.0, share))
        else:
            found = ahead("mean", 1, arm, epsilon + margin, share / (IN_MEAN if both else 1.0))
            found = found or (both and ahead("risk", 1, arm, epsilon, share / (1.0 - IN_MEAN)))
        proved.append(found or arm == 1)
    return proved


REFERENCES: dict[str, Callable[[Engine, float], list[bool]]] = {
    "best": proved_of_best,
    "top:2": proved_of_best,
    "better-than:control=1,margin=0.02": lambda *given: proved_of_control(*given, margin=0.02, both=False),
    "better-than:control=1,objective=both": lambda *given: proved_of_control(*given, margin=0.0, both=True),
}


@pytest.mark.few(2)
@pytest.mark.parametrize("epsilon", [0.0, 0.05])
@pytest.mark.parametrize("task", REFERENCES)
def test_what_is_proved_is_what_single_claims_prove(task: str, epsilon: float) -> None:
    kinds = set()
    for seed in range(12):
        engine = searched(task, seed, epsilon)
        answer, expected = engine.arms["in_front"] == 1, REFERENCES[task](engine, epsilon)
        proofs = np.empty(len(answer), dtype=np.int64)
        make_prove(engine.spec)(*engine.rows, answer, proofs)
        assert (proofs != NOT_PROVED).tolist() == expected
        assert ((proofs == INSIDE_PROVED) <= answer).all()
        assert engine.stopped != "confidence" or all(expected)
        kinds |= set(expected)
    assert kinds == {False, True}


def test_results_say_what_was_proved() -> None:
    result = simulate("random-beta:3", task="best", epsilon=0.02, seed=3)
    assert result.stopped == "confidence"
    assert all(arm.certified for arm in result.arms)
    assert "no arm has a mean 0.02 or more above" in result.guarantee
    arms = tuple(Arm(name, Beta(*shape)) for name, shape in {"A": (2, 2), "B": (4, 2), "C": (2, 4)}.items())
    result = simulate(
        Instance("three", arms, (0.0, 1.0), "bounded", None), task="better-than:control=A", epsilon=0.05, seed=1
    )
    assert result.front == ("B",)
    assert all(arm.certified for arm in result.arms)


@pytest.mark.few(2)
@pytest.mark.parametrize("task", ["better-than:control=0,margin=0.05", "better-than:control=0,objective=both"])
def test_differences_are_where_they_are_said_to_be(task: str) -> None:
    """In all but delta of runs, all at once and with the answer; and no wider than boxes have them."""
    means, runs, missed = (0.4, 0.45, 0.5, 0.3), 25, 0
    for seed in range(runs):
        result = simulate(instance(*means), task=task, epsilon=0.1, delta=DELTA, seed=seed)
        assert result.truth is not None
        right = result.truth.eps_correct
        arms = {arm.name: arm for arm in result.arms}
        for row in result.differences:
            (low, high), (start, end) = arms[row.name].mean_interval, arms["0"].mean_interval
            assert low - end <= row.mean_interval[0] <= row.mean <= row.mean_interval[1] <= high - start
            right = right and row.mean_interval[0] <= means[int(row.name)] - means[0] <= row.mean_interval[1]
        missed += not right
    assert missed <= int(scipy.stats.binom.ppf(1.0 - FALSE_ALARM, runs, DELTA))
