"""Test sets: the same items for all arms, without replacement; evidence, intervals, searches, exactness."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

import ramgape
from ramgape import Items
from ramgape.errors import InvalidInstance, InvalidSpec
from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec
from ramgape.statistics.without_replacement import LEAD, MODEST, MOST, STAKES, evidence
from tests.guarantees import most_allowed
from tests.items import Floats, correlated, digits, scored, shares
from tests.loops import compiled_loop
from tests.support import changing

RANGE = {"reward_range": (0, 1)}

# Made to be hard: nothing varies, one item differs, most are one end, items lie in clusters, all that is possible.
POPULATIONS = {
    "all equal": np.full(40, 0.7),
    "all at the end": np.ones(40),
    "one outlier": np.r_[np.zeros(39), 1.0],
    "one failure": np.r_[np.ones(59), 0.0],
    "sorted by difficulty": np.linspace(0.0, 1.0, 50),
    "coins": np.r_[np.ones(30), np.zeros(20)],
    "narrow": np.r_[np.full(25, 0.49), np.full(25, 0.51)],
    "two": np.array([0.0, 1.0]),
}


def engine_for(scores: Floats, order: Floats | None = None, **options: Any) -> Engine:
    """A search that has not begun, whose arms have these scores."""
    asked = {"epsilon": 0.1, "bound": "items", "policy": "ramgape", **RANGE, **options}
    return Engine(make_spec(range(len(scores)), items=range(scores.shape[1]), **asked))


def learn(engine: Engine, scores: Floats, turns: int) -> None:
    """Tell the first scores of every arm, in the order in which they stand."""
    arms = np.tile(np.arange(len(scores)), turns)
    engine.learn_many(arms, scores[:, :turns].T.reshape(-1).copy(), may_stop=False)


def slow_evidence(values: Floats, count: int, size: float, hypothesis: float, stakes: int) -> float:
    """The same as the kernel, as it is defined."""
    total, products = 0.0, np.ones(stakes)
    dead = np.zeros(stakes, bool)
    for place in range(count):
        left = size - place
        expected = hypothesis if math.isinf(size) else (size * hypothesis - total) / left
        for number in range(stakes):
            stake = STAKES[number] if math.isinf(size) else max(STAKES[number], min(STAKES[number] * size / left, MOST))
            dead[number] |= 1.0 - stake * (1.0 - expected) < 0.01
            products[number] *= 1.0 + stake * (expected - values[place])
        total += values[place]
    if not math.isinf(size) and size * (hypothesis - 1e-9) > total + size - count:
        return math.inf
    kept = float(np.where(dead, 0.0, products).mean())
    return math.log(kept) if kept > 0.0 else -math.inf


@pytest.mark.parametrize("population", [True, False])
def test_evidence_is_what_it_is_defined_to_be(population: bool) -> None:
    generator = np.random.default_rng(1)
    scores = generator.random((2, 30)).round(1)
    spec = make_spec(["A", "B"], items=Items(range(30), population=population), epsilon=0.1, **RANGE)
    engine = Engine(spec)
    learn(engine, scores, 20)
    (_, memory, _, problem), size = engine.rows.records, 30.0 if population else math.inf
    for hypothesis in (-0.3, 0.0, 0.02, 0.2, 0.5, 0.9):
        for count in (2, 11, 16, 17, 20):
            found = evidence(memory[0], memory[1], problem, count, LEAD, 0.0, hypothesis)
            expected = slow_evidence(scores[1] - scores[0], count, size, hypothesis, MODEST)
            assert found == pytest.approx(expected, abs=1e-9)


def test_evidence_grows_with_the_hypothesis() -> None:
    """So that one hypothesis stands for all beyond it."""
    generator = np.random.default_rng(2)
    engine = engine_for(generator.random((2, 40)))
    learn(engine, generator.random((2, 40)), 33)
    _, memory, _, problem = engine.rows.records
    found = [evidence(memory[0], memory[1], problem, 33, LEAD, 0.0, value) for value in np.linspace(-1, 1, 201)]
    assert all(first <= second for first, second in itertools.pairwise(found))
    assert found[0] < 0.0 < found[-1] == math.inf


@compiled_loop
def misses_on_the_way(learn, arms, memory, searches, problems, scores, mean, risk):  # type: ignore[no-untyped-def]
    """Whether the box of the first arm is without the truth after any item."""
    wrong = False
    for turn in range(scores.shape[1]):
        for arm in range(len(scores)):
            learn(arms, memory, searches[0], problems[0], arm, scores[arm, turn])
        row = arms[0]
        wrong |= not row.mean_low - 1e-9 <= mean <= row.mean_high + 1e-9
        wrong |= not row.risk_low - 1e-9 <= risk <= row.risk_high + 1e-9
    return wrong


@pytest.mark.few(2)
@pytest.mark.parametrize("name", POPULATIONS)
def test_intervals_contain_the_truth_of_every_prefix(name: str) -> None:
    """The chance that any end is ever wrong is at most delta = 0.4 for two arms; the second is the first turned round.

    120 orders; a right program fails here with probability below 1e-6 (`most_allowed`).
    """
    values = POPULATIONS[name]
    generator, missed, runs = np.random.default_rng(3), 0, 120
    truth = {"mean": values.mean(), "risk": values.std()}
    for _ in range(runs):
        order = generator.permutation(len(values))
        scores = np.array([values[order], 1.0 - values[order]])
        engine = engine_for(scores, delta=0.4)
        with changing(engine) as state:
            missed += misses_on_the_way(engine.rule.learn, *state, scores, *map(float, truth.values()))
        for what, true in truth.items():  # but for what rounding may have done, which proofs allow for
            ends = engine.arms[0][[f"{what}_low", f"{what}_high"]].tolist()
            assert ends == pytest.approx((true, true), abs=1.5e-9)
    assert missed <= most_allowed(runs, 0.4)


@pytest.mark.parametrize(
    "risk",
    [
        "std",
        "semivariance:0.6",
        # Each of these takes the compiler seconds more.
        *(
            pytest.param(risk, marks=pytest.mark.long)
            for risk in ("variance", "mean-variance:0.5", "entropic:1", "shortfall:0.5")
        ),
    ],
)
def test_every_risk_that_is_served_is_exact_at_the_end(risk: str) -> None:
    scores = np.random.default_rng(4).random((3, 25)).round(2)
    result = ramgape.simulate(scored(scores), epsilon=0, risk=risk, seed=1)
    assert result.truth is not None
    assert result.truth.exact
    narrow = [arm.risk_interval[1] - arm.risk_interval[0] for arm in result.arms if arm.pulls == 25]
    assert max(narrow, default=0.0) < 1e-9


@pytest.mark.parametrize(
    "task",
    [
        "pareto",
        "best",
        "better-than:control=arm 1",
        *(pytest.param(task, marks=pytest.mark.long) for task in ("top:2", "least-risk", "best-score:weight=1")),
    ],
)
def test_exhausted_items_give_the_exact_answer_whatever_is_asked(task: str) -> None:
    """With ties: arms that are alike on every item, and others that are alike on the whole."""
    scores = np.random.default_rng(5).random((4, 20)).round(1)
    scores[3] = scores[0]
    scores[2] = scores[1, ::-1]
    for seed in range(10):
        result = ramgape.simulate(scored(scores), epsilon=0, task=task, seed=seed)
        assert result.truth is not None
        assert result.truth.regret == 0.0
        assert result.samples <= 80
        if result.samples == 80:
            assert result.stopped == "complete"
            assert result.guarantee.startswith("Exact, since each of these 20 items has been asked of every arm")
            assert result.certified_epsilon == result.certified_delta == 0.0


@pytest.mark.few(3)
@pytest.mark.parametrize("delta", [0.5, 0.2])
@pytest.mark.parametrize("task", ["best", "pareto"])
def test_answers_are_right_as_often_as_stated_where_two_arms_differ_by_epsilon(task: str, delta: float) -> None:
    """The hardest truth: an arm that is just epsilon behind must not be returned. Delta .5 and .2, 100 orders each;
    false alarm below 1e-6."""
    scores = np.zeros((3, 40))
    scores[0, :24] = scores[1, 2:24] = 1.0  # behind by 0.05
    scores[2, 14:28] = 1.0
    runs = ramgape.replicate(scored(scores), runs=100, epsilon=0.05, delta=delta, task=task, seed=9).runs
    assert sum(not run.eps_correct for run in runs) <= most_allowed(100, delta)


@pytest.mark.few(2)
@pytest.mark.parametrize(("count", "most"), [(1000, 0.42), (300, 0.55)])
def test_real_models_need_a_part_of_the_evaluations(count: int, most: float) -> None:
    """Measured .17 and .48 over 50 orders; the spread of an order is .04, so 6 orders are below by far."""
    mean, largest, wrong = shares(digits(count)[2], 6, task="best")
    assert mean <= most
    assert largest <= 1.0
    assert wrong <= most_allowed(6, 0.05)


@pytest.mark.long
@pytest.mark.parametrize(
    ("scores", "most"),
    [(digits(1000)[2], 0.42), (digits(300)[2], 0.55), (correlated(3000, 0.9, 1), 0.16)],
    ids=["digits-1000", "digits-300", "correlated-3000"],
)
@pytest.mark.parametrize("task", ["best", "pareto", "best:max-risk=0.22"])
def test_shares_over_fifty_orders(scores: Floats, most: float, task: str) -> None:
    mean, largest, wrong = shares(scores, 50, task=task)
    told = f"{scores.shape[1]} items, {task}: {mean:.3f} on average, {largest:.3f} at most, {wrong} wrong"
    assert wrong <= most_allowed(50, 0.05), told
    assert largest <= 1.0, told
    assert mean <= (most if task == "best" else 1.0), told


def test_correlation_pays() -> None:
    """Arms that fail on the same items are told apart by fewer of them."""
    alone, together = (shares(correlated(300, common, 2), 3, task="best")[0] for common in (0.0, 0.95))
    assert together < 0.8 * alone


def test_a_world_beyond_the_items() -> None:
    """Without replacement nothing is gained: an answer takes more, and is never exact."""
    names, items, scores = digits(300)
    known = {name: dict(zip(items, row, strict=True)) for name, row in zip(names, scores, strict=True)}
    sample = Items(items, population=False)
    options: dict[str, Any] = {"task": "best", "epsilon": 0.02, "seed": 1, **RANGE}
    result = ramgape.identify(lambda arm, item: known[arm][item], names, items=sample, **options)
    assert (result.stopped, result.samples, result.goal_reached) == ("exhausted", 3000, False)
    assert "no items left" in result.guarantee
    assert "a larger world" in result.guarantee


def test_false_answers_about_a_world_of_coins() -> None:
    """Items are draws: two arms that differ by epsilon in the world. Delta .3, 80 worlds; false alarm below 1e-6."""
    wrong = 0
    for seed in range(80):
        generator = np.random.default_rng(seed)
        uniform = generator.random(400)
        scores = {"good": (uniform < 0.6).astype(float), "poor": (uniform < 0.5).astype(float)}
        result = ramgape.identify(
            lambda arm, item, scores=scores: scores[arm][item],  # type: ignore[misc]
            ["good", "poor"],
            items=Items(range(400), population=False),
            epsilon=0.1,
            delta=0.3,
            task="best",
            seed=seed,
            **RANGE,
        )
        wrong += result.goal_reached and result.front == ("poor",)
    assert wrong <= most_allowed(80, 0.3)


def test_every_arm_meets_the_same_items_in_one_order() -> None:
    asked: dict[str, list[str]] = {"A": [], "B": []}

    def pull(arm: str, item: str) -> float:
        asked[arm].append(item)
        return float(item < "m") if arm == "A" else 0.5

    result = ramgape.identify(pull, ["A", "B"], items=list("qwertyuiopas"), epsilon=0.001, seed=5, **RANGE)
    assert len(set(asked["A"])) == len(asked["A"])
    for first, second in zip(asked["A"], asked["B"], strict=False):
        assert first == second
    assert [arm.pulls for arm in result.arms] == [len(asked["A"]), len(asked["B"])]


@pytest.mark.parametrize("workers", [1, 8])
def test_calls_at_once_are_learnt_in_the_order_of_items(workers: int) -> None:
    """Whoever is faster: the estimates are those of the first items."""
    names, items, scores = digits(300)
    known = {name: dict(zip(items, row, strict=True)) for name, row in zip(names, scores, strict=True)}
    seen: dict[str, dict[str, float]] = {name: {} for name in names}

    def pull(arm: str, item: str) -> float:
        seen[arm][item] = known[arm][item]
        return known[arm][item]

    options: dict[str, Any] = {"task": "best", "epsilon": 0.05, "seed": 2, **RANGE}
    result = ramgape.identify(pull, names, items=items, workers=workers, **options)
    order = [items[number] for number in Items(items).order(2)]
    for arm in result.arms:
        first = [known[arm.name][item] for item in order[: arm.pulls]]
        assert arm.mean == pytest.approx(np.mean(first))


def test_repetitions_are_trials_of_their_own() -> None:
    asked: dict[tuple[str, str], int] = {}

    def pull(arm: str, item: str, rng: np.random.Generator) -> float:
        asked[arm, item] = asked.get((arm, item), 0) + 1
        return float(rng.random() < {"A": 0.52, "B": 0.5}[arm])

    result = ramgape.identify(pull, ["A", "B"], items=Items(list("xyz"), repeats=7), epsilon=0, seed=1, **RANGE)
    assert result.stopped == "complete"
    assert set(asked.values()) == {7}
    assert "each of these 3 items, 7 times, has been asked" in result.guarantee


def test_a_budget_on_items() -> None:
    scores = correlated(100, 0.5, 3, arms=4)
    result = ramgape.simulate(scored(scores), budget=400, task="best", seed=1)
    assert result.truth is not None
    assert result.truth.exact
    assert result.guarantee.startswith("Exact")
    some = ramgape.simulate(scored(scores), budget=200, task="best", seed=1)
    assert (some.samples, some.stopped) == (200, "budget")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"items": ["a"]}, "items must be at least 2"),
        ({"items": ["a", "b", "a"]}, "all different, got 'a' as the 1st and as the 3rd"),
        ({"items": "questions"}, "items must be a list"),
        ({"items": {"a", "b"}}, "items must be a list"),
        ({"initial_trials": 11}, "initial_trials must be at most as many as there are items"),
        ({"items": 5}, "items must be a list"),
        ({"reward_range": None}, "reward_range must be given with items"),
        ({"noise": "gaussian"}, "assumption must be items or bounded with items"),
        ({"risk": "cvar:0.1"}, "risk must be one that items rewards have an interval for"),
        ({"bound": "pairwise"}, "items-pairwise"),
        ({"epsilon": None, "budget": 21}, "budget must be at most 20"),
        ({"alarm": 0.2}, "drift must be absent or 'off' with items: the search itself draws their order"),
    ],
)
def test_what_cannot_be_meant(change: dict[str, Any], words: str) -> None:
    options: dict[str, Any] = {"items": range(10), "epsilon": 0.1, **RANGE}
    with pytest.raises(InvalidSpec, match=words):
        ramgape.identify(lambda arm, item: 0.5, ["A", "B"], **{**options, **change})


@pytest.mark.parametrize("task", ["best", "pareto"])
@pytest.mark.parametrize("policy", ["auto", "successive-rejects", "ege-sh"])
@pytest.mark.parametrize("returned", ["last", "smallest-doubt"])
def test_what_is_complete_is_right_whatever_rule_asked(task: str, policy: str, returned: str) -> None:
    """A rule may have dismissed the best arm long before; all scores together know better."""
    if (policy == "ege-sh") == (task == "best") or (policy == "successive-rejects") == (task == "pareto"):
        policy = "auto"
    returned = "last" if policy in ("successive-rejects", "ege-sh") else returned
    for seed in range(12):
        scores = np.random.default_rng(100 + seed).random((5, 12)).round(2)
        options: dict[str, Any] = {"budget": 60, "task": task, "policy": policy, "returned": returned}
        result = ramgape.simulate(scored(scores), seed=seed, **options)
        assert result.truth is not None
        assert (result.stopped, result.truth.exact) == ("complete", True)


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_equal_arms_are_equal(direction: str) -> None:
    """The same scores in another order are the same mean, whatever rounding makes of the sums."""
    for seed in range(20):
        values = np.random.default_rng(seed).random(7).round(1)
        scores = np.array([values, values[::-1], np.roll(values, 3)])
        instance = scored(scores)
        result = ramgape.simulate(instance, epsilon=0, direction=direction, seed=seed)
        assert len(result.front) == 3
        best = ramgape.simulate(instance, epsilon=0, direction=direction, task="best", seed=seed)
        assert best.front == ("arm 0",)
        assert best.guarantee.endswith("As good: arm 1, arm 2.")
        assert [arm.certificate for arm in best.arms] == ["in", "within-epsilon", "within-epsilon"]


def test_a_function_that_takes_no_item() -> None:
    with pytest.raises(InvalidSpec, match="pull must be a function of an arm and an item"):
        ramgape.identify(lambda arm: 0.5, ["A", "B"], items=range(9), epsilon=0.1, **RANGE)


def test_items_may_be_pictures() -> None:
    pictures = [np.zeros((30, 30)), np.zeros((30, 30))]
    pictures[1][15, 15] = 1.0
    result = ramgape.identify(lambda arm, item: item.mean(), ["A", "B"], items=pictures, epsilon=0, **RANGE)
    assert result.stopped == "complete"


def test_noise_items_needs_items() -> None:
    with pytest.raises(InvalidSpec, match="assumption must be another one without items"):
        make_spec(["A", "B"], noise="items", epsilon=0.1, **RANGE)
    with pytest.raises(InvalidSpec, match="repeats must be a whole number of at least 1"):
        Items(["a", "b"], repeats=0)
    with pytest.raises(InvalidSpec, match="repeats must be 1 where items are a sample"):
        Items(["a", "b"], population=False, repeats=2)
    with pytest.raises(InvalidSpec, match="at most 20,000,000"):
        make_spec(range(500), items=range(50_000), epsilon=0.1, **RANGE)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"items": 3}, r"arms\[0\].values must be 3 numbers, one an item"),
        ({"items": None}, r"arms\[0\].distribution must be another one than scores"),
        ({"items": 1}, "items must be a whole number of at least 2"),
        ({"arms": [{"name": "A", "distribution": "beta", "a": 1, "b": 1}] * 2}, "a name of its own|scores"),
    ],
)
def test_instances_that_are_no_test_sets(change: dict[str, Any], words: str) -> None:
    arms = [{"name": name, "distribution": "scores", "values": [0, 1]} for name in "AB"]
    with pytest.raises((InvalidInstance, InvalidSpec), match=words):
        ramgape.load_instance({"reward_range": [0, 1], "items": 2, "arms": arms, **change})


def test_an_instance_of_scores_is_written_as_it_was_read() -> None:
    instance = scored(np.array([[0.0, 1.0], [0.5, 0.5]]))
    assert ramgape.load_instance(instance.to_dict()).to_dict() == instance.to_dict()
    draws = {instance.draw(0, np.random.default_rng(seed)) for seed in range(20)}
    assert draws == {0.0, 1.0}


def test_there_is_no_lower_bound_for_what_has_an_end() -> None:
    instance = scored(np.array([[0.0, 1.0, 1.0], [0.5, 0.5, 0.0]]))
    with pytest.raises(InvalidInstance, match="no lower bound is known"):
        ramgape.lower_bound(instance)
    planned = ramgape.plan(instance, task="best", epsilon=0.1, runs=2)
    assert "no lower bound is known" in " ".join(str(planned).split())
