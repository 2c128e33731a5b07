"""One simulated search about several outcomes, and what is true of its answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramgape.core.claims import Mask, Seen
from ramgape.errors import InvalidSpec
from ramgape.problems.distributions import Data
from ramgape.problems.vector_problems import VectorProblem
from ramgape.search.inference import infer
from ramgape.search.outcome_engine import OutcomeEngine
from ramgape.search.outcome_spec import OutcomeSpec, make_outcome_spec
from ramgape.search.result import Result, Truth, updated
from ramgape.search.statistic import Statistic
from ramgape.trials.history import SELDOM, Recorder

Floats = NDArray[np.float64]

SAMPLED = 200_000  # trials that stand for an expression of several outcomes


def vector_spec(problem: VectorProblem, options: Any) -> OutcomeSpec:
    """What is asked of a problem, which knows what is assumed of its outcomes.

    Args:
        problem: The arms.
        options: As for `identify`.
    """
    if options.get("objectives") is None:
        allowed = f"given for trials with several outcomes ({', '.join(problem.measured)})"
        raise InvalidSpec(what="objectives", allowed=allowed)
    asked = {"outcomes": problem.outcomes, **{name: value for name, value in options.items() if value is not None}}
    items = asked.pop("items", None)
    if items is not None:
        raise InvalidSpec(what="items", allowed="absent for simulated outcomes, which come from distributions")
    return replace(make_outcome_spec(problem.arms, asked), drift=None)


def true_value(problem: VectorProblem, statistic: Statistic, arm: int) -> float:
    """What is true of an arm; of a risk of several outcomes, and of a share, as many simulated trials say.

    Args:
        problem: The arms.
        statistic: With its bad end, as of a specification.
        arm: Its number.
    """
    of, found = statistic.of, list(problem.arms.values())[arm]
    if statistic.measure is None and of.above is None:
        return of.value({name: found[name].mean for name in of.outcomes})
    sample: list[float] = []
    if of.alone is None:
        drawn = problem.draw(arm, np.random.default_rng(arm), SAMPLED)
        sample = [of.value(dict(zip(drawn, values, strict=True))) for values in zip(*drawn.values(), strict=True)]
    if statistic.measure is None:
        return float(np.mean(sample))
    distribution = Data(tuple(sample)) if sample else found[of.outcomes[0]]
    costs, risk = statistic.bad == "high", statistic.by_the_end
    assert risk is not None
    return float(risk.shown(risk.value_of(distribution.mirrored() if costs else distribution), costs))


def true_table(problem: VectorProblem, spec: OutcomeSpec) -> Floats:
    """float[arm, column]: what is true, in units of the columns, more being better."""
    table = np.empty((len(spec.names), len(spec.columns)))
    for place, column in enumerate(spec.columns):
        for arm in range(len(spec.names)):
            if column.lane < 0:
                value = column.values[arm]
            else:
                value = column.turn * true_value(problem, column.wish.statistic, arm)
            table[arm, place] = (value - column.limit) / column.unit
    return table


def assess(spec: OutcomeSpec, values: Floats, answer: Mask) -> Truth:
    """How an answer compares with what is true.

    Args:
        spec: What was asked.
        values: As `true_table` has them.
        answer: The arms that were returned.
    """
    question = spec.ask()
    count = np.full(len(values), 10**9)
    exact = Seen(count, values, 0.0 * values, values, values, question.epsilon, question.known, question.objectives)
    right = question.answer_of(exact)
    doubt = float(question.doubts(exact, answer)[0].max())
    tolerance = 1.0 if (question.epsilon > 0.0).any() else 0.0
    front = tuple(name for name, inside in zip(spec.names, right.tolist(), strict=True) if inside)
    same = bool((right == answer).all())
    return Truth(front, 0.0 if same else max(doubt + tolerance, 0.0), same, question.is_right(answer, values))


def simulate_vectors(problem: VectorProblem, options: Any, seed: int) -> Result:
    """One simulated search; the result carries the truth.

    Args:
        problem: The arms.
        options: As for `identify`.
        seed: Of the trials.
    """
    spec = vector_spec(problem, options)
    engine = OutcomeEngine(spec, seed)
    recorder = Recorder(engine, SELDOM)
    play_vectors(engine, problem, seed, recorder)
    truth = assess(spec, true_table(problem, spec), engine.answer())
    return updated(infer(engine, seed=seed), history=recorder.points(), truth=truth)


def play_vectors(engine: OutcomeEngine, problem: VectorProblem, seed: int, recorder: Recorder | None = None) -> None:
    """Simulate a search to its end."""
    generator = np.random.default_rng(seed)
    made = [problem.trials(arm, generator) for arm in range(len(problem.arms))]
    while (arm := engine.ask()) is not None:
        engine.tell(arm, next(made[arm]))
        if recorder is not None:
            recorder.note()
