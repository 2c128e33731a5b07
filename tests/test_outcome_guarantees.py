"""The levels of questions about several outcomes, against an adversary; and the rules that are easy to get wrong.

The adversary is a game in which every true claim costs nothing, every false one is verified as soon as its test process
at the truth reaches its level, and an answer may be proposed at any moment. Then the share of games in which a wrong
answer is proved is at most delta, by the theorems; a rule that breaks a condition exceeds it. Outcomes of a trial are
correlated Gaussian variables, and the truths lie on the boundary: differences of 0, epsilon and twice that.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import ramgape
from ramgape.core.claims import Seen, infeasible_by_boxes, wrong_covers
from ramgape.problems.distributions import Bernoulli, Beta
from ramgape.problems.vector_problems import VectorProblem
from ramgape.questions import of_outcomes
from ramgape.questions.of_outcomes import (
    AboveOf,
    Asked,
    BestOf,
    BetterThanOf,
    CheapestOf,
    Condition,
    ParetoOf,
    TopOf,
)
from ramgape.search.outcome_engine import OutcomeEngine
from ramgape.search.outcome_spec import make_outcome_spec
from ramgape.simulation.vectors import assess, play_vectors, true_table, vector_spec
from ramgape.statistics.proportions import clopper_pearson

LONG = pytest.mark.long
Floats = NDArray[np.float64]
BET, STEPS = 1.0, 16  # of all test processes: high, so that games are short
LOW_BET, MORE_STEPS = 0.4, 60  # where a broken rule is to have its full effect


class Game:
    """The test processes of all claims, at a truth."""

    def __init__(self, truth: Floats, opposite: bool = False, bet: float = BET) -> None:
        self.truth, self.noise, self.number = truth, np.zeros_like(truth), 0
        self.opposite, self.bet = opposite, bet  # opposite luck of arms that share rows
        self.evidence: Callable[[Game, int, int, int, float], float] = Game.of_pair

    def play(self, rng: np.random.Generator, mixing: Floats) -> None:
        """One more trial of every arm."""
        noise = rng.standard_normal(self.truth.shape) @ mixing.T
        if self.opposite:
            signs = np.where(np.arange(len(noise)) % 2, -1.0, 1.0)[:, None]
            noise = signs * noise[:1]
        self.noise += noise
        self.number += 1

    def of_pair(self, arm: int, other: int, column: int, factor: float) -> float:
        """ln of the process of a false claim about two arms."""
        moved = self.noise[arm, column] - factor * self.noise[other, column]
        return float(self.bet * moved - 0.5 * self.number * self.bet**2 * (1.0 + factor * factor))

    def ahead(self, arm: int, other: int, column: int, margin: float, level: float, factor: float = 1.0) -> bool:
        if self.truth[arm, column] > factor * self.truth[other, column] - margin:
            return True
        return self.evidence(self, arm, other, column, factor) >= level

    def beyond(self, arm: int, column: int, value: float, side: float, level: float) -> bool:
        if side * (self.truth[arm, column] - value) > 0.0:
            return True
        return bool(self.bet * side * self.noise[arm, column] - 0.5 * self.number * self.bet**2 >= level)


def proposals(question: Asked, rng: np.random.Generator) -> Iterator[Floats]:
    """Estimates that suggest an answer, whatever is true."""
    count, columns = question.count, len(question.epsilon)
    inside = rng.random(count) < 0.5
    estimate = np.zeros((count, columns))
    if isinstance(question, ParetoOf) and question.objectives > 1:
        places = np.arange(count)
        estimate[:, 0], estimate[:, 1] = 10.0 + places, 10.0 - places
        estimate[~inside] = -10.0
        estimate[:, question.objectives :] = np.where(inside, 1.0, -1.0)[:, None]
    elif isinstance(question, BestOf | ParetoOf):
        estimate[rng.integers(count), 0] = 10.0
        estimate[:, question.objectives :] = np.where(inside, 1.0, -1.0)[:, None]
    elif isinstance(question, TopOf):
        estimate[:, 0] = rng.permutation(count)
    elif isinstance(question, CheapestOf):
        estimate[:, 1] = rng.permutation(count)
    else:
        estimate[:] = np.where(inside, 10.0, -10.0)[:, None]
        if isinstance(question, BetterThanOf):
            estimate[question.control] = 0.0
    yield estimate


def is_fooled(question: Asked, game: Game, rng: np.random.Generator, mixing: Floats) -> bool:
    """Whether a wrong answer is proved at some moment of a game."""
    count = np.full(question.count, 10)
    tiny = np.full_like(game.truth, 1e-6)
    for _ in range(STEPS if game.bet == BET else MORE_STEPS):
        game.play(rng, mixing)
        for estimate in proposals(question, rng):
            low = high = game.truth  # boxes that know all: N_i is as small as it may be
            seen = Seen(count, estimate, tiny, low, high, question.epsilon, question.known, question.objectives)
            question.verify(seen, game)
            plan = question.plan(seen)
            if plan.unproved.any():
                continue
            if question.at_one_moment:
                question.verify(seen, game, anew=True)
                plan = question.plan(seen)
            if not plan.unproved.any() and not question.is_right(plan.answer, game.truth):
                return True
    return False


def mixing_of(correlation: float, columns: int) -> Floats:
    if correlation < 0.0:
        correlation = max(correlation, -1.0 / max(columns - 1, 1) + 1e-9)
    matrix = np.full((columns, columns), correlation) + (1.0 - correlation) * np.eye(columns)
    values, vectors = np.linalg.eigh(matrix)
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def errors(
    make: Callable[[float], Asked],
    delta: float,
    games: int,
    correlation: float,
    seed: int,
    change: Callable[[Asked, Game], None] = lambda question, game: None,
    truth_of: Callable[[np.random.Generator, Asked], Floats] | None = None,
    opposite: bool = False,
    bet: float = BET,
) -> int:
    """In how many games a wrong answer is proved."""
    rng, found = np.random.default_rng(seed), 0
    for _ in range(games):
        question = make(delta)
        shape = question.count, len(question.epsilon)
        truth = rng.integers(-2, 3, shape).astype(float) if truth_of is None else truth_of(rng, question)
        game = Game(truth, opposite, bet)
        change(question, game)
        found += is_fooled(question, game, rng, mixing_of(correlation, shape[1]))
    return found


@pytest.fixture(autouse=True)
def _eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every claim is looked at, whatever it promises."""
    monkeypatch.setattr(of_outcomes, "HOPELESS", -1.0)
    monkeypatch.setattr(of_outcomes, "MORE", -1.0)


def ask(kind: type[Asked], count: int, objectives: int, limits: int = 0, epsilon: float = 1.0, **more: Any) -> Any:
    columns = objectives + limits
    common = {"count": count, "objectives": objectives, "known": np.zeros(columns, bool), **more}
    return lambda delta: kind(epsilon=np.full(columns, epsilon), left=delta, **common)


QUESTIONS: dict[str, Callable[[float], Asked]] = {
    **{f"pareto of {d}": ask(ParetoOf, 4, d) for d in (1, 2, 3, 4)},
    "pareto of 3, exact": ask(ParetoOf, 4, 3, epsilon=0.0),
    "pareto of 2, one limit": ask(ParetoOf, 4, 2, 1),
    "pareto of 2, two limits, no tolerance": ask(ParetoOf, 3, 2, 2, epsilon=0.0),
    "best": ask(BestOf, 5, 1),
    "best under two limits": ask(BestOf, 4, 1, 2),
    "top 2": ask(TopOf, 5, 1, wanted=2),
    "above": ask(AboveOf, 3, 0, 1),
    "above, one arm": ask(AboveOf, 1, 0, 1),
    "cheapest": ask(CheapestOf, 4, 2, within=2.0, rivals=1.0),
    "control with guardrails": ask(
        BetterThanOf, 4, 3, control=0, conditions=tuple(Condition(place, 1.0, 0.0) for place in range(3))
    ),
    "control with a ratio": ask(BetterThanOf, 4, 2, conditions=(Condition(0, 1.0, 0.0), Condition(1, 1.1, 0.0))),
}


def is_plausible(found: int, games: int, delta: float) -> bool:
    """Whether so many errors may come of a probability of at most delta."""
    low, _ = clopper_pearson(found, games, 1e-4)
    return low <= delta


@pytest.mark.parametrize("correlation", [0.95, -0.9])
@pytest.mark.parametrize("name", QUESTIONS)
def test_no_adversary_errs_more_often_than_delta(name: str, correlation: float) -> None:
    found = errors(QUESTIONS[name], 0.5, 40, correlation, 1)
    assert is_plausible(found, 40, 0.5), found


@LONG
@pytest.mark.parametrize("delta", [0.3, 0.5])
@pytest.mark.parametrize("correlation", [0.95, 0.0, -0.9])
@pytest.mark.parametrize("name", QUESTIONS)
def test_no_adversary_errs_more_often_than_delta_in_many_games(name: str, correlation: float, delta: float) -> None:
    found = errors(QUESTIONS[name], delta, 1000, correlation, 2)
    assert is_plausible(found, 1000, delta), found


# --- rules that are broken are caught ---------------------------------------------------------------------------------


def dominated(rng: np.random.Generator, question: Asked) -> Floats:
    """One arm that is beaten by exactly epsilon in all objectives, by one other; and arms far below both."""
    truth = np.full((question.count, len(question.epsilon)), -50.0)
    truth[0], truth[1] = 0.0, -1.0
    return truth


def without_ln_d(question: Asked, game: Game) -> None:
    levels = question.levels  # type: ignore[attr-defined]
    question.levels = levels._replace(  # type: ignore[attr-defined]
        withstand=levels.withstand - math.log(question.count * question.objectives)
    )


def product_over_objectives(question: Asked, game: Game) -> None:
    def product(game: Game, arm: int, other: int, column: int, factor: float) -> float:
        return sum(game.of_pair(arm, other, each, factor) for each in range(question.objectives))

    game.evidence = product


@pytest.mark.parametrize(
    ("change", "correlation", "delta"), [(without_ln_d, -0.3, 0.3), (product_over_objectives, 0.95, 0.1)]
)
def test_a_broken_rule_errs_more_often_than_delta(
    change: Callable[[Asked, Game], None], correlation: float, delta: float
) -> None:
    make = ask(ParetoOf, 2, 4)
    kept = errors(make, delta, 60, correlation, 3, truth_of=dominated, bet=LOW_BET)
    broken = errors(make, delta, 60, correlation, 3, change, dominated, bet=LOW_BET)
    assert is_plausible(kept, 60, delta), kept
    assert not is_plausible(broken, 60, delta), broken


def test_arms_that_share_rows_have_no_products() -> None:
    """Multiplying two arms with opposite luck errs too often; so a search with `shared` compares no pairs."""
    make = ask(ParetoOf, 2, 1)
    broken = errors(make, 0.02, 100, 0.0, 4, truth_of=dominated, opposite=True, bet=LOW_BET)
    assert not is_plausible(broken, 100, 0.02), broken
    options = {"outcomes": {"x": (0, 1), "y": (0, 1)}, "objectives": "x, y", "epsilon": {"x": 0.1, "y": 0.1}}
    engine = OutcomeEngine(make_outcome_spec(["a", "b"], {**options, "shared": True}))
    assert not any(lane.pairs for lane in engine.lanes)
    assert all(lane.pairs for lane in OutcomeEngine(make_outcome_spec(["a", "b"], options)).lanes)


def test_an_answer_counts_for_n_only_if_all_tolerances_are_0() -> None:
    known = np.zeros(2, bool)
    for epsilon, shared, expected in [
        ([0.0, 0.0], False, True),
        ([0.0, 1.0], False, False),
        ([1.0, 1.0], False, False),
        ([0.0, 0.0], True, False),
    ]:
        question = ParetoOf(count=3, objectives=2, epsilon=np.array(epsilon), known=known, left=0.05, shared=shared)
        assert question.at_one_moment == expected


def seen_of(low: Floats, high: Floats, epsilon: list[float], objectives: int) -> Seen:
    count, tolerance = np.full(len(low), 10), np.array(epsilon)
    middle = 0.5 * (low + high)
    return Seen(count, middle, 0.0 * middle + 1.0, low, high, tolerance, np.zeros(len(epsilon), bool), objectives)


def test_n_leaves_out_no_arm_because_of_one_whose_limits_are_in_doubt() -> None:
    value = np.array([[5.0, 0.0], [0.0, 3.0], [1.0, 3.0]])  # one objective, one limit; arm 0 beats the others
    error = np.array([0.4, 1.0])
    doubtful = seen_of(value - error, value + error, [0.5, 0.5], 1)
    assert wrong_covers(doubtful).tolist() == [2, 1, 1]
    value[0, 1] = 3.0  # now it keeps its limit for sure
    sure = seen_of(value - error, value + error, [0.5, 0.5], 1)
    assert wrong_covers(sure).tolist() == [1, 1, 1]


def test_without_a_tolerance_an_arm_on_the_limit_keeps_it() -> None:
    on = np.array([[1.0, 0.0], [0.5, -1e-9]])
    assert infeasible_by_boxes(seen_of(on, on, [0.0, 0.0], 1)).tolist() == [False, True]
    assert infeasible_by_boxes(seen_of(on - 1.0, on - 1.0, [0.0, 1.0], 1)).tolist() == [True, True]
    question = ask(BestOf, 2, 1, 1, epsilon=0.0)(0.05)
    assert question.is_right(np.array([True, False]), on)
    assert not question.is_right(np.array([False, True]), on)
    assert not question.is_right(np.array([False, False]), on)


def test_what_a_level_of_an_answer_needs_holds_at_one_moment() -> None:
    question = ask(ParetoOf, 2, 2, epsilon=0.0)(0.05)
    question.aheads.proved[:] = 9.0
    seen = seen_of(np.full((2, 2), -9.0), np.full((2, 2), 9.0), [0.0, 0.0], 2)
    question.verify(seen, Game(np.zeros((2, 2))), anew=True)
    assert not np.isfinite(question.aheads.proved).any()


# --- whole searches, on boundaries ------------------------------------------------------------------------------------

EPSILON = 0.3
ASKED: dict[str, dict[str, Any]] = {
    "pareto of 2": {"objectives": "x, y"},
    "pareto of 3": {"objectives": "x, y, z"},
    "pareto of 2 with a limit": {"objectives": "x, y", "constraints": "mean(z) >= 0.5"},
    "best under limits": {"objectives": "x", "constraints": ["mean(y) >= 0.5", "mean(z) >= 0.5"]},
    "cheapest": {"objectives": "x, y", "question": f"cheapest:within={2 * EPSILON}"},
    "above": {"objectives": "x", "question": "above:0.5"},
    "top": {"objectives": "x", "question": "top:2"},
    "control": {"objectives": "x", "question": "better-than:control=0", "constraints": "mean(y) >= control"},
    "std": {"objectives": "max mean(x), min std(x)"},
}


def boundary_problem(rng: np.random.Generator, arms: int, correlation: float) -> VectorProblem:
    means = 0.5 + EPSILON * rng.integers(-1, 2, (arms, 3))
    found = {
        str(arm): {
            name: Bernoulli(float(mean)) if rng.random() < 0.5 else Beta(2.0 * mean, 2.0 - 2.0 * mean)
            for name, mean in zip("xyz", means[arm].tolist(), strict=True)
        }
        for arm in range(arms)
    }
    return VectorProblem(found, dict.fromkeys("xyz", (0, 1)), correlation)


def wrong_runs(asked: dict[str, Any], runs: int, delta: float, correlation: float, seed: int, **more: Any) -> int:
    rng, wrong = np.random.default_rng(seed), 0
    for _ in range(runs):
        problem = boundary_problem(rng, int(rng.integers(3, 7)), correlation)
        names = {name for name in "xyz" if name in str(asked["objectives"]) + str(asked.get("constraints", ""))}
        epsilon: Any = dict.fromkeys(sorted(names - ({"x"} if "cheapest" in str(asked) else set())), EPSILON)
        spec = vector_spec(problem, {**asked, "epsilon": epsilon, "delta": delta, **more})
        engine = OutcomeEngine(spec, 0)
        play_vectors(engine, problem, int(rng.integers(2**31)))
        assert engine.stopped == "confidence"
        wrong += not assess(spec, true_table(problem, spec), engine.answer()).eps_correct
    return wrong


@pytest.mark.parametrize("name", [pytest.param(name, marks=LONG if name == "std" else []) for name in ASKED])
def test_searches_err_at_most_delta_on_boundaries(name: str) -> None:
    found = wrong_runs(ASKED[name], 4, 0.5, 0.0, 5)
    assert is_plausible(found, 4, 0.5), found


@LONG
@pytest.mark.parametrize("policy", ["evidence", "ramgape"])
@pytest.mark.parametrize("correlation", [0.95, 0.0, -0.45])
@pytest.mark.parametrize("name", ASKED)
def test_searches_err_at_most_delta_on_boundaries_in_many_runs(name: str, correlation: float, policy: str) -> None:
    found = wrong_runs(ASKED[name], 200, 0.4, correlation, 6, policy=policy)
    assert is_plausible(found, 200, 0.4), found


@pytest.mark.parametrize(("runs", "delta"), [(4, 0.5), pytest.param(300, 0.4, marks=LONG)])
def test_sets_with_several_scores_an_item_err_at_most_delta(runs: int, delta: float) -> None:
    """The answer is about these items, which are taken in a random order."""
    rng, wrong = np.random.default_rng(7), 0
    for _ in range(runs):
        hard = rng.random((40, 1))
        scores = (hard < 0.5 + 0.1 * rng.integers(-1, 2, (4, 1, 3))).astype(float)
        options = {
            "outcomes": dict.fromkeys("xyz", (0, 1)),
            "objectives": "x, y",
            "constraints": "mean(z) >= 0.45",
            "epsilon": dict.fromkeys("xyz", 0.1),
            "delta": delta,
            "items": range(40),
        }
        spec = make_outcome_spec(range(4), options)
        engine = OutcomeEngine(spec, int(rng.integers(2**31)))
        while (arm := engine.ask()) is not None:
            item = engine.item_of(arm)
            engine.tell(arm, dict(zip("xyz", scores[arm, item].tolist(), strict=True)))
        values = np.stack(
            [(scores.mean(axis=1)[:, place] - column.limit) / column.unit for place, column in enumerate(spec.columns)],
            axis=1,
        )
        wrong += not assess(spec, values, engine.answer()).eps_correct
    assert is_plausible(wrong, runs, delta), wrong


def test_a_problem_is_drawn_as_it_is_described() -> None:
    described = {
        "outcomes": {"x": [0, 1], "y": "unknown"},
        "correlation": 0.8,
        "arms": [
            {
                "name": "a",
                "outcomes": {
                    "x": {"distribution": "uniform", "low": 0, "high": 1},
                    "y": {"distribution": "gaussian", "mean": 2, "variance": 4},
                },
            },
            {
                "name": "b",
                "outcomes": {
                    "x": {"distribution": "beta", "a": 2, "b": 2},
                    "y": {"distribution": "gaussian", "mean": 0, "variance": 1},
                },
            },
        ],
    }
    from ramgape.problems.vector_problems import problem_from_dict

    problem = problem_from_dict(described)
    assert problem is not None
    drawn = problem.draw(0, np.random.default_rng(1), 4000)
    x, y = np.array(drawn["x"]), np.array(drawn["y"])
    assert abs(x.mean() - 0.5) < 0.02
    assert abs(y.mean() - 2.0) < 0.15
    assert abs(np.corrcoef(x, y)[0, 1] - 0.8) < 0.05
    result = ramgape.simulate(described, objectives="x, y", epsilon={"x": 0.2, "y": 1.0}, seed=1)
    assert result.truth is not None
    assert result.truth.eps_correct
    assert set(result.truth.front) == {"a"} or result.truth.front
    spec = vector_spec(problem, {"objectives": "mean(x + y), min std(y)", "epsilon": 0})
    assert true_table(problem, replace(spec))[0, 0] * spec.columns[0].unit == pytest.approx(2.5)
    assert true_table(problem, spec)[:, 1] * spec.columns[1].unit == pytest.approx([-2.0, -1.0])
    for bad in ({**described, "correlation": 3.0}, {**described, "arms": [{"name": "a", "outcomes": {"x": {}}}]}):
        with pytest.raises(ramgape.errors.RamgapeError) as caught:
            ramgape.simulate(bad, objectives="x", epsilon=0.1)
        assert "\n" not in str(caught.value)


def test_levels_grow_with_what_can_go_wrong() -> None:
    for d, arms in itertools.product((1, 3), (2, 5)):
        levels = ask(ParetoOf, arms, d)(0.05).levels
        assert levels.withstand == pytest.approx(math.log(arms * d / 0.05))
        assert levels.cover == pytest.approx(math.log(arms / 0.05))
