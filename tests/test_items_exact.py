"""Complete test sets: what is called exact is so, at round limits and where arms are equal, and nothing that is proved
before hangs on the last bit of a sum. All is held against fractions (tests/reference/exact_items.py)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pytest

import ramgape
from ramgape import Instance, load_instance
from ramgape.common.exact import Exact, exactly
from ramgape.questions import make_question
from ramgape.search.engine import Engine
from ramgape.search.inference import infer
from ramgape.search.items_exact import exact_measure, order
from ramgape.search.spec import Spec, make_spec
from tests.items import Floats
from tests.reference.exact_items import Truth, mean_of, risk_of, root_of, truth, variance_of

# What scores may be: right or wrong, ratings, tenths, tenths far from 0; and their range.
KINDS = (
    (np.array([0.0, 1.0]), (0.0, 1.0)),
    (np.arange(1.0, 6.0), (1.0, 5.0)),
    (np.arange(11) / 10.0, (0.0, 1.0)),
    (np.arange(1000, 1011) / 10.0, (100.0, 101.0)),
)
TINY = Fraction(1, 10**30)  # by less than this no two roots of what is here differ, unless they are equal
RISKS = ("std", "variance", "semivariance", "shortfall", "entropic", "mean-variance")


class Asked(NamedTuple):
    """A question: the task as text, and as the reference takes it."""

    task: str
    name: str
    limits: dict[str, Any]


def fractions_of(scores: Floats, sign: int) -> list[tuple[Fraction, ...]]:
    return [tuple(sign * Fraction(repr(score)) for score in row) for row in scores.tolist()]


def asked_of(exact: list[tuple[Fraction, ...]], risk: str, sign: int) -> Iterator[Asked]:
    """Every task, with limits at every value that an arm has, as a float is written that is nearest to it."""
    yield Asked("pareto", "pareto", {})
    yield Asked("best", "best", {})
    yield Asked("least-risk", "least-risk", {})
    yield Asked("top:1", "top", {"m": 1})
    if len(exact) > 2:
        yield Asked("top:2", "top", {"m": 2})
    for weight in (0.1, 0.5, 1.0):
        yield Asked(f"best-score:weight={weight}", "best-score", {"weight": exactly(weight)})
    means = [mean_of(row) for row in exact]
    for mean in set(means):
        text = repr(sign * float(mean))
        yield Asked(f"least-risk:min-mean={text}", "least-risk", {"floor": sign * Fraction(text)})
    for found in {risk_of(row, risk, sign)[0] for row in exact}:
        text = repr(float(found) ** (0.5 if risk == "std" else 1.0))
        yield Asked(f"best:max-risk={text}", "best", {"ceiling": Fraction(text)})
    for mean in set(means):
        text = repr(round(float(mean - means[0]), 10))
        for objective in ("mean", "both"):
            task = f"better-than:control=A,margin={text},objective={objective}"
            yield Asked(task, "better-than", {"margin": Fraction(text), "both": objective == "both"})


def risk_text(name: str, values: Floats) -> str:
    """With a parameter that is a score, where there is one between the ends."""
    middle = values[len(values) // 2].item() if len(values) > 2 else 0.5
    parameters = {"semivariance": middle, "shortfall": middle, "entropic": 2.0, "mean-variance": 0.1}
    return f"{name}:{parameters[name]}" if name in parameters else name


def draw_scores(generator: np.random.Generator, values: Floats) -> Floats:
    """Two or three arms, mostly with much in common: equal means, the same scores in another order."""
    count, items = int(generator.integers(2, 4)), int(generator.integers(2, 11))
    scores = generator.choice(values, (count, items))
    if generator.random() < 0.4:
        scores[-1] = generator.permutation(scores[0])
    return scores


def spec_of(scores: Floats, reward_range: tuple[float, float], risk: str, direction: str) -> Spec:
    names, items = list("ABC")[: len(scores)], range(scores.shape[1])
    options: dict[str, Any] = {"reward_range": reward_range, "risk": risk, "direction": direction}
    return make_spec(names, items=items, epsilon=0, alpha=1.0 if risk.startswith("mean-variance") else None, **options)


def drawn(runs: int, seed: int, risks: tuple[str, ...]) -> Iterator[tuple[Spec, Floats, list[tuple[Asked, Truth]]]]:
    """Test sets, with all that is asked of them and what is true."""
    generator = np.random.default_rng(seed)
    for run in range(runs):
        values, reward_range = KINDS[run % len(KINDS)]
        sign = -1 if generator.random() < 0.3 else 1
        scores, risk = draw_scores(generator, values), risk_text(risks[run // len(KINDS) % len(risks)], values)
        spec = spec_of(scores, reward_range, risk, "maximize" if sign > 0 else "minimize")
        exact = fractions_of(scores, sign)
        asked = [(each, truth(exact, each.name, risk, sign, **each.limits)) for each in asked_of(exact, risk, sign)]
        yield spec, scores, asked


def complete(spec: Spec, scores: Floats) -> Engine:
    """A search that has learnt all scores."""
    engine = Engine(spec)
    engine.add_up(np.tile(np.arange(len(scores)), scores.shape[1]), scores.T.reshape(-1).copy())
    return engine


def test_limits_at_round_values_are_kept_or_missed_exactly() -> None:
    """Every answer that a complete search gives, at limits that an arm just reaches; by the standard deviation."""
    wrong, judged = [], 0
    for spec, scores, asked in drawn(60, 1, ("std",)):
        engine = complete(spec, scores)
        for each, true in asked:
            other = Engine.from_statistics(replace(spec, question=make_question(each.task)), engine.state)
            judged += 1
            if other.answer().tolist() != true.answer:
                wrong.append((each.task, scores.tolist(), true.answer))
    assert judged > 700
    assert not wrong


def test_ties_and_answers_are_exact_whatever_the_risk() -> None:
    """By the functions that decide, without a search."""
    for spec, scores, asked in drawn(60, 2, RISKS):
        numbers = exact_measure(spec, scores)
        for each, true in asked:
            known = order(replace(spec, question=make_question(each.task)), *numbers)
            found = known.answer.tolist(), known.tied.tolist()
            assert found == true, (each.task, str(spec.risk), spec.direction, scores.tolist())


@pytest.mark.long
def test_no_exact_statement_is_wrong() -> None:
    """24,000 test sets, all that is asked of each by the functions that decide; of 1,000, one question by a result."""
    wrong, judged = [], 0
    for run, (spec, scores, asked) in enumerate(drawn(24_000, 3, RISKS)):
        numbers = exact_measure(spec, scores)
        for each, true in asked:
            known = order(replace(spec, question=make_question(each.task)), *numbers)
            judged += 1
            if (known.answer.tolist(), known.tied.tolist()) != true:
                wrong.append((each.task, str(spec.risk), spec.direction, scores.tolist()))
        if run // len(KINDS) % 24 == 0:  # by the standard deviation: others take the compiler minutes
            each, true = asked[run // 24 % len(asked)]
            engine = complete(replace(spec, question=make_question(each.task)), scores)
            engine.look()
            result = infer(engine)
            told = [arm.certificate for arm in result.arms], [arm.name in result.front for arm in result.arms]
            right = [
                "within-epsilon" if tied else "in" if inside else "out"
                for inside, tied in zip(true.answer, true.tied, strict=True)
            ]
            assert told == (right, true.answer), (each.task, scores.tolist())
            assert result.guarantee.startswith("Exact")
    assert judged > 300_000
    assert not wrong


def scored(scores: Floats, reward_range: tuple[float, float] = (0.0, 1.0)) -> Instance:
    arms = [
        {"name": name, "distribution": "scores", "values": row}
        for name, row in zip("ABC", scores.tolist(), strict=False)
    ]
    return load_instance({"name": "made", "reward_range": list(reward_range), "items": scores.shape[1], "arms": arms})


def test_sentences_at_a_floor_and_at_a_margin() -> None:
    ratings = scored(np.array([[4.0, 4.0, 4.0, 5.0, 5.0], [1.0, 1.0, 2.0, 1.0, 1.0]]), (1.0, 5.0))
    result = ramgape.simulate(ratings, epsilon=0, task="least-risk:min-mean=4.4", seed=1)
    assert result.front == ("A",)
    assert "A is the arm with the lowest standard deviation of those whose mean is at least 4.4" in result.guarantee
    coins = scored(np.array([[1.0] * 7 + [0.0] * 3, [1.0] * 8 + [0.0] * 2]))
    result = ramgape.simulate(coins, epsilon=0, task="better-than:control=A,margin=0.1", seed=1)
    assert (result.front, result.empty_answer) == ((), "no arm is better than A")  # exactly so, not by estimates
    assert result.guarantee.startswith("Exact")


@pytest.mark.parametrize("right", [(3, 7, 1), (3, 3), (2, 8, 5)])
def test_equal_deviations_are_no_difference(right: tuple[int, ...]) -> None:
    """Rates p and 1 - p have the same standard deviation, so all of these are in the Pareto set but in the last row,
    where 5 of 10 is beaten in both by 8 of 10. Delta is 1e-6, so that 60 searches have no excuse."""
    scores = np.array([[1.0] * count + [0.0] * (10 - count) for count in right])
    for seed in range(60):
        generator = np.random.default_rng(seed)
        shuffled = np.array([generator.permutation(row) for row in scores])
        result = ramgape.simulate(scored(shuffled), epsilon=0, delta=1e-6, seed=seed)
        assert result.front == (("A", "B") if right[-1] == 5 else tuple("ABC")[: len(right)])
        assert result.truth is not None
        assert result.truth.exact


@pytest.mark.parametrize("others", [0, 1])
def test_the_same_scores_in_another_order_are_as_good(others: int) -> None:
    """Also beside an arm that is given up early, so that the test set need not be completed. Delta is 1e-6."""
    for seed in range(120):
        generator = np.random.default_rng(seed)
        values = generator.integers(5, 11, 40) / 10.0
        poor = generator.integers(0, 3, (others, 40)) / 10.0
        instance = scored(np.vstack([values, generator.permutation(values), poor]))
        result = ramgape.simulate(instance, epsilon=0, delta=1e-6, task="best", seed=seed)
        assert result.front == ("A",)
        assert result.guarantee.endswith("As good: B.")
        assert [arm.certificate for arm in result.arms][:2] == ["in", "within-epsilon"]


def beaten_by(epsilon: Fraction, exact: list[tuple[Fraction, ...]], one: int, other: int) -> bool:
    """Whether an arm is beaten by epsilon or more in both mean and standard deviation."""
    in_risk = root_of(variance_of(exact[one])) - root_of(variance_of(exact[other]))
    return mean_of(exact[other]) - mean_of(exact[one]) >= epsilon and in_risk > epsilon - TINY


def check_claims(run: int, generator: np.random.Generator) -> bool:
    """One search at delta 1e-7, of which all that is proved must be true; tells whether it ended before the last item.

    Its tolerance is a difference that there is between two arms, which a claim must not get past by rounding.
    """
    values, reward_range = KINDS[run % len(KINDS)]
    scores = draw_scores(generator, values)
    exact = fractions_of(scores, 1)
    means = [mean_of(row) for row in exact]
    text = repr(round(abs(float(means[0] - means[-1])), 10)) if run % 3 else "0.0"
    task, epsilon = ("pareto", "best")[run // 4 % 2], Fraction(text)
    result = ramgape.simulate(scored(scores, reward_range), epsilon=float(text), delta=1e-7, task=task, seed=run)
    true = truth(exact, task, "std")
    about = (task, text, scores.tolist(), result.front, result.stopped)
    for arm, report in enumerate(result.arms):
        right = true.answer[arm] or true.tied[arm]
        assert report.certificate != "in" or right, about
        assert report.certificate != "out" or not right, about
    inside = [arm for arm in range(len(exact)) if result.arms[arm].name in result.front]
    if result.goal_reached and epsilon and task == "best":
        assert max(means) - means[inside[0]] < epsilon, about
    if result.goal_reached and epsilon and task == "pareto":
        pairs = [(one, other) for one in inside for other in range(len(exact))]
        assert not any(beaten_by(epsilon, exact, *pair) for pair in pairs), about
    return result.stopped == "confidence"


@pytest.mark.filterwarnings("ignore:epsilon")
def test_nothing_false_is_proved_before_the_last_item() -> None:
    """120 searches, with a chance of 1e-7 each that a claim is false, whatever the order of the items."""
    generator = np.random.default_rng(5)
    assert sum(check_claims(run, generator) for run in range(120)) > 10


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:epsilon")
def test_nothing_false_is_proved_before_the_last_item_of_many_sets() -> None:
    """4,000 searches; a right program fails with a probability of at most 4e-4."""
    generator = np.random.default_rng(6)
    assert sum(check_claims(run, generator) for run in range(4_000)) > 400


def test_numbers_with_roots_are_compared_exactly() -> None:
    """Against 40 digits; among them numbers that are equal though they are written otherwise."""
    drawn = np.random.default_rng(7).integers(-40, 41, (60, 2)).tolist()
    numbers = [Exact(Fraction(part, 6), Fraction(square, 36)) for part, square in drawn]
    numbers += [Exact(Fraction(part), Fraction(square)) for part, square in ((2, 0), (0, 4), (5, -9), (-1, 9))]

    def value(number: Exact) -> Fraction:
        root = root_of(abs(number.square))
        return number.part + (root if number.square > 0 else -root)

    for one in numbers:
        for other in numbers:
            assert (one < other) == (value(one) < value(other) - TINY), (one, other)
