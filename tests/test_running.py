"""The average over the rounds so far: what is proved under drift and dependence, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy
from numpy.typing import NDArray

from ramgape import InvalidSpec, Study, analyze, identify, simulate
from ramgape.bounds import running
from ramgape.search.engine import Engine
from ramgape.search.inference import infer
from ramgape.search.spec import make_spec
from ramgape.statistics.mixture import log_mixture
from tests.guarantees import most_allowed
from tests.support import changing

DELTA = 0.1
OPTIONS: dict[str, Any] = {"reward_range": (0, 1), "bound": "running", "epsilon": 0.0, "delta": DELTA}
Floats = NDArray[np.float64]


def engine_of(arms: int = 2, seed: int = 0, **options: Any) -> Engine:
    return Engine(make_spec([str(arm) for arm in range(arms)], **{**OPTIONS, **options}), seed)


# ------------------------------------------------------------- rewards that nobody would call i.i.d.


def switching(past: Floats, generator: np.random.Generator) -> tuple[float, float]:
    """A coin whose chance jumps between two values every 50 rounds: the reward, and its expectation given the past."""
    chance = 0.9 if (len(past) // 50) % 2 else 0.2
    return float(generator.random() < chance), chance


def drifting(past: Floats, generator: np.random.Generator) -> tuple[float, float]:
    """A mean that wanders slowly from one end to the other."""
    mean = 0.5 - 0.45 * math.cos(len(past) / 80.0)
    return float(generator.beta(10.0 * mean, 10.0 * (1.0 - mean))), mean


def following(past: Floats, generator: np.random.Generator) -> tuple[float, float]:
    """A coin that mostly repeats its last side."""
    chance = 0.5 if not len(past) else 0.95 * past[-1] + 0.05 * (1.0 - past[-1])
    return float(generator.random() < chance), chance


def opposing(past: Floats, generator: np.random.Generator) -> tuple[float, float]:
    """Somebody who knows the bound: while the average is ahead of its target rewards are calm, and wild otherwise."""
    calm = len(past) > 1 and past.mean() > 0.5
    reward = 0.5 if calm else float(generator.random() < 0.5)
    return reward, 0.5


def rare(past: Floats, generator: np.random.Generator) -> tuple[float, float]:
    """A large reward that nearly never comes, and the likelier the longer it has not."""
    chance = 1.0 / (2.0 + 0.1 * past.sum()) / 25.0
    return float(generator.random() < chance), chance


WORLDS: dict[str, Callable[..., tuple[float, float]]] = {
    each.__name__: each for each in (switching, drifting, following, opposing, rare)
}


def lost(world: Callable[..., tuple[float, float]], runs: int, rounds: int, bold: float = 0.0) -> int:
    """Runs in which an interval of one of two arms has lost the average over the rounds so far, at any time.

    The arms have the same luck in every round. The average with one round more is looked for as well, whatever that
    round will be.
    """
    count = 0
    for seed in range(runs):
        engine, generator = engine_of(), np.random.default_rng(seed)
        with changing(engine) as state:
            state.arms["level"] -= bold
        rewards = np.empty((2, rounds))
        totals, wrong = np.zeros(2), False
        for turn in range(rounds):
            draws = int(generator.integers(2**62))
            told = [world(rewards[arm, :turn], np.random.default_rng(draws)) for arm in range(2)]
            for arm in generator.permutation(2):
                rewards[arm, turn], mean = told[arm]
                totals[arm] += mean
                engine.tell(int(arm), rewards[arm, turn])
            if turn:
                ends = engine.arms["mean_low"], engine.arms["mean_high"]
                for least, most in (
                    (totals / (turn + 1), totals / (turn + 1)),
                    (totals / (turn + 2), (totals + 1) / (turn + 2)),
                ):
                    wrong |= bool((ends[0] > least + 1e-12).any() or (ends[1] < most - 1e-12).any())
        count += wrong
    return count


@pytest.mark.parametrize("name", ["opposing", "following"])
def test_averages_are_kept_under_drift_and_dependence(name: str) -> None:
    """More than allowed of 20 runs lose an average with probability below 1e-6."""
    assert lost(WORLDS[name], 20, 250) <= most_allowed(20, DELTA)


@pytest.mark.long
@pytest.mark.parametrize("name", WORLDS)
def test_averages_are_kept_for_long(name: str) -> None:
    """Likewise in 60 runs of 1,000 rounds; a level that is far too bold loses more, as the test would notice."""
    assert lost(WORLDS[name], 60, 1_000) <= most_allowed(60, DELTA)
    if name == "opposing":
        assert lost(WORLDS[name], 30, 400, bold=5.0) > most_allowed(30, DELTA)


def test_what_assumes_one_distribution_loses_such_averages() -> None:
    """The usual bound intersects intervals over time, and ends up with one in which the average no longer is."""
    usual = engine_of(bound="empirical-bernstein", policy="round-robin", alarm=None)
    ours = engine_of()
    for turn in range(1_000):
        for engine in (usual, ours):
            for arm in range(2):
                engine.tell(arm, 0.1 if turn < 300 else 0.9)
    assert usual.misses > 0
    assert usual.arms["mean_high"][0] < 0.66
    assert ours.arms["mean_low"][0] < 0.66 < ours.arms["mean_high"][0]
    assert ours.misses == 0


# -------------------------------------------------------------------- the interval against slow ones


def test_the_exponential_inequality_about_any_guess() -> None:
    """E exp(l (X - m) - psi(l) (X - p)^2) <= 1 for laws on [0, 1], every guess p in it and every l below 1."""
    generator = np.random.default_rng(1)
    for _ in range(3_000):
        points, shares = generator.random(3).round(1), generator.dirichlet([0.3] * 3)
        guess, rate = generator.random(), generator.uniform(0.0, 0.999)
        psi = -math.log1p(-rate) - rate
        for values in (points, 1.0 - points):
            moment = shares @ np.exp(rate * (values - shares @ values) - psi * (values - guess) ** 2)
            assert moment <= 1.0 + 1e-12


@pytest.mark.parametrize("count", [2, 30, 1_000])
def test_boxes_are_those_of_a_slow_reference(count: int) -> None:
    rewards = np.random.default_rng(count).beta(2.0, 3.0, count) ** np.linspace(0.2, 3.0, count)
    engine = engine_of(risk="variance")
    engine.learn_many(np.zeros(count, np.int64), rewards)
    row, level = engine.arms[0], float(engine.arms["level"][0])
    guesses = np.concatenate([[0.5], np.cumsum(rewards)[:-1] / np.arange(1, count)])
    squares = (rewards - 0.5) ** 2
    expected = np.concatenate([[0.125], np.cumsum(squares)[:-1] / np.arange(1, count)])

    def distance(spread: float, reach: float, scales: Floats) -> float:
        def excess(each: float) -> float:
            terms = [log_mixture(count * each, spread, reach, scale) for scale in scales]
            return float(np.logaddexp.reduce(terms)) - math.log(2.0) - level

        return float(scipy.optimize.brentq(excess, 1e-9, reach)) if excess(reach) > 0.0 else reach

    def ends(values: Floats, spread: float, most: float, scales: Floats) -> tuple[float, float]:
        radius, average = distance(spread, most, scales), float(values.mean())
        low, high = max(average - radius, 0.0), min(average + radius, most)
        return low * count / (count + 1), (high * count + most) / (count + 1)

    problem = engine.problem[0]
    low, high = ends(rewards, float(((rewards - guesses) ** 2).sum()), 1.0, problem["mean_scales"])
    assert (row["mean_low"], row["mean_high"]) == pytest.approx((low, high), rel=0.02, abs=1e-3)
    assert row["mean_low"] <= low + 1e-9
    assert row["mean_high"] >= high - 1e-9
    least, most = ends(squares, float(((squares - expected) ** 2).sum()), 0.25, problem["risk_scales"])
    far = max(abs(low - 0.5), abs(high - 0.5)) ** 2
    near = 0.0 if low <= 0.5 <= high else min(abs(low - 0.5), abs(high - 0.5)) ** 2
    scale = engine.spec.unit_scale
    assert row["risk_low"] == pytest.approx(scale * (least - far), rel=0.05, abs=2e-3)
    assert row["risk_high"] == pytest.approx(scale * (most - near), rel=0.05, abs=2e-3)


def test_intervals_are_hardly_wider_than_the_usual_ones() -> None:
    rewards = np.random.default_rng(2).beta(2.0, 5.0, 10_000)
    widths = []
    for bound in ("running", "empirical-bernstein"):
        engine = engine_of(bound=bound)
        engine.learn_many(np.zeros(len(rewards), np.int64), rewards)
        widths.append(float(engine.arms["mean_high"][0] - engine.arms["mean_low"][0]))
    assert widths[1] < widths[0] < 1.1 * widths[1]


# ---------------------------------------------------------------------------- rounds in random order


@pytest.mark.parametrize("arms", [2, 3, 7])
def test_every_round_has_every_arm_once_in_an_order_by_chance(arms: int) -> None:
    """Also when most arms are settled. 400 rounds: each arm comes first as often as others, up to 6 deviations."""
    engine, firsts, orders = engine_of(arms, seed=5, epsilon=0.0, max_trials=10_000), np.zeros(arms), set()
    for _ in range(400):
        order = []
        for _ in range(arms):
            arm = engine.ask()
            assert arm is not None
            order.append(arm)
            engine.tell(arm, 0.1 + 0.8 * (arm == 0))
            engine.rows.searches[0].stopped = 0
        assert sorted(order) == list(range(arms))
        firsts[order[0]] += 1
        orders.add(tuple(order))
    expected = 400 / arms
    assert (np.abs(firsts - expected) < 6.0 * math.sqrt(expected)).all()
    assert len(orders) >= min(math.factorial(arms), 300)


def test_simulations_and_calls_go_by_the_same_rounds() -> None:
    result = simulate("paper:46", bound="running", task="best", epsilon=0.15, seed=3)
    assert max(arm.pulls for arm in result.arms) - min(arm.pulls for arm in result.arms) <= 1
    assert (result.policy, result.alarm, result.warnings) == ("round-robin", None, ())


# -------------------------------------------------------------------------------------- what is said


WORDS = (
    "With probability at least 0.9, for any rewards in [0, 1], however they drift or depend on each other, about each "
    "arm's average over the rounds so far: "
)


def test_the_certificate_says_what_it_is_about() -> None:
    turns = {"a": 0, "b": 0}

    def pull(arm: str) -> float:
        turns[arm] += 1
        return 0.5 + 0.3 * math.sin(turns[arm] / 20.0) - 0.15 * (arm == "b")

    found = identify(pull, ["a", "b"], task="best", seed=1, **{**OPTIONS, "epsilon": 0.05})
    assert found.guarantee.startswith(WORDS)
    assert found.sentence.endswith("(90% sure, about each arm's average over the rounds so far).")
    assert found.estimand == found.to_dict()["details"]["estimand"] == "each arm's average over the rounds so far"
    assert not found.alarms
    assert type(found).from_dict(found.to_dict()) == found
    assert simulate("paper:46", task="best", epsilon=0.3, seed=1).estimand == ""


def test_logged_rounds_are_served_and_unequal_ones_objected_to() -> None:
    generator = np.random.default_rng(4)
    table = {arm: generator.beta(2, 2, 500) * 0.5 + 0.5 * (arm == "a") for arm in "ab"}
    options: dict[str, Any] = {**OPTIONS, "task": "best", "epsilon": 0.05}
    even = analyze({arm: rewards.tolist() for arm, rewards in table.items()}, **options).result
    assert even.guarantee.startswith(WORDS)
    assert even.front == ("a",)
    uneven = analyze({"a": table["a"].tolist(), "b": table["b"][:300].tolist()}, **options).result
    assert "arms have 300 to 500 pulls" in uneven.guarantee
    assert any("not over the same rounds" in warning for warning in uneven.warnings)


def test_a_study_goes_on_where_it_stood(tmp_path: Any) -> None:
    storage = f"sqlite:///{tmp_path / 's.db'}"
    Study.create("s", ["a", "b", "c"], storage=storage, seed=1, **OPTIONS).close()
    for _ in range(2):
        with Study.load("s", storage) as study:
            for _ in range(40):
                study.tell(study.ask()[0], 0.4)
            pulls = [arm.pulls for arm in study.result().arms]
            assert max(pulls) - min(pulls) <= 1


def test_quick_answers_do_not_count_before_slow_ones(tmp_path: Any) -> None:
    """An average over the first rounds is not one over those whose answers came first."""
    options: dict[str, Any] = {**OPTIONS, "task": "best", "epsilon": 0.1, "max_trials": 600}
    with Study.create("s", ["a", "b"], storage=f"sqlite:///{tmp_path / 's.db'}", seed=1, **options) as study:
        pulls = study.ask(400)
        rewards = {pull.id: float(place % 4 < 2) for place, pull in enumerate(pulls)}  # a fair coin for either arm
        quick = [pull for pull in pulls if rewards[pull.id] == (pull.arm == "a")]  # what speaks for a comes first
        study.tell_many((pull, rewards[pull.id]) for pull in quick)
        found = study.result()
        assert found.stopped == "open"
        assert max(arm.pulls for arm in found.arms) < 100


@pytest.mark.parametrize("policy", ["ramgape", "ra-lucb", "evidence", "de-round-robin", "ape", lambda state: 0])
def test_other_policies_are_refused(policy: Any) -> None:
    with pytest.raises(InvalidSpec, match=r"^policy must be auto or round-robin with bound running"):
        engine_of(policy=policy)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"risk": "cvar:0.1"}, r"^bound must be one that serves bounded rewards, risk cvar"),
        ({"reward_range": None, "noise": "gaussian"}, r"^bound must be one that serves gaussian rewards"),
        ({"delta": None, "budget": 100, "epsilon": None}, r"^bound must be one that serves .* a fixed budget"),
        ({"items": range(50)}, r"^bound must be one that serves items rewards"),
        ({"alarm": 0.2}, r"^drift must be absent or 'off' with bound running"),
    ],
)
def test_what_it_cannot_serve_is_refused(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidSpec, match=words):
        engine_of(**options)


def test_arms_that_come_later_are_refused() -> None:
    with pytest.raises(InvalidSpec, match=r"^expected_arms must be absent with bound running"):
        Study.create("s", ["a", "b"], expected_arms=3, **OPTIONS)


def test_a_result_before_the_end_of_a_round_is_about_all_its_arms() -> None:
    engine = engine_of()
    for _ in range(20):
        for arm in range(2):
            engine.tell(arm, 0.5)
    engine.tell(0, 0.5)
    assert not any("rounds" in warning for warning in infer(engine).warnings)
    low, high = running.ends_of_average(20.0, 0.5, 0.1, 1.0)
    assert (low, high) == pytest.approx((0.4 * 20 / 21, (0.6 * 20 + 1.0) / 21))
