"""Whether a task does what a search relies on."""

from __future__ import annotations

import numpy as np

from ramgape.core.pareto import Floats
from ramgape.problems.environments import Arm, Beta, Instance
from ramgape.questions import Boxes, Question, Wanted, make_question
from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec
from ramgape.simulation.simulation import simulate
from ramgape.testing.expecting import expect, expect_that

TRIALS = 300


def check_question(question: Question) -> None:
    """Try whether a question does what a search relies on.

    - What boxes prove is so: of random boxes, whenever every arm is settled up to epsilon, the answer is right up to
      epsilon for means and risks anywhere in the boxes.
    - The true answer is right, up to 0 and up to anything; it is the first of the right answers.
    - The kernel that keeps the doubts agrees: no tolerance is above the doubt of its arm.
    - A search for it ends, with a right answer, and there is a sentence for it.

    Args:
        question: With parameters that make sense for means and risks from 0 to 1, and for arms a, b and c.

    Raises:
        AssertionError: It does not; says what was expected and what came.

    Examples:
        >>> from ramgape.questions import Pareto
        >>> check_question(Pareto())
    """
    generator = np.random.default_rng(1)
    proofs = sum(_check_proof(question, generator) for _ in range(TRIALS))
    expect_that(proofs >= TRIALS // 20, "random boxes that prove something", f"at least {TRIALS // 20}", proofs)
    _check_doubts(question, generator)
    _check_search(question)
    for epsilon in (0.0, 0.05):
        sentence = question.claim(Wanted(["a"], epsilon, None, "risk"))
        expect_that(sentence.endswith("."), "the claim", "a sentence", sentence)
    expect(type(make_question(question)), type(question), "what is made of a task")


def _check_proof(question: Question, generator: np.random.Generator) -> bool:
    """Random boxes, the answer that their centres suggest, and truths anywhere in them; whether anything was proved."""
    count = int(generator.integers(3, 8))
    question = question.among("abcdefg"[:count])
    means, risks = generator.random(count), generator.random(count)
    sizes = generator.choice([0.01, 0.1, 0.3]) * generator.random((2, count))
    boxes = Boxes(means - sizes[0], means + sizes[0], risks - sizes[1], risks + sizes[1])
    answer = question.true_answer(means, risks)
    expect(question.is_right(answer, means, risks, 0.0), True, "whether the true answer is right")
    expect(question.right_answers(means, risks, 0.1)[0].tolist(), answer.tolist(), "the first of the right answers")
    tolerances, rivals = question.tolerances(answer, boxes)
    epsilon = float(np.max(tolerances))
    just_above = max(0.0, np.nextafter(epsilon, 1.0))
    if not epsilon < 0.2 or not question.settled(answer, tolerances, rivals, just_above).all():
        return False
    for _ in range(20):
        truth = _inside(boxes.mean_low, boxes.mean_high, generator), _inside(boxes.risk_low, boxes.risk_high, generator)
        right = question.is_right(answer, *truth, just_above)
        expect_that(right, "an answer whose tolerances are proved", f"right up to {just_above}", (answer, *truth))
    return True


def _inside(low: Floats, high: Floats, generator: np.random.Generator) -> Floats:
    """Somewhere between, and often at an end: that is where proofs fail first."""
    share = np.clip(generator.uniform(-0.5, 1.5, len(low)), 0.0, 1.0)
    return np.asarray(low + share * (high - low))


def _check_doubts(question: Question, generator: np.random.Generator) -> None:
    engine = Engine(
        make_spec(list("abcde"), reward_range=(0, 1), epsilon=0.01, policy="round-robin", question=question)
    )
    chances = generator.random(5)
    for pull in range(400):
        if engine.ask() is None:
            return
        engine.tell(pull % 5, float(generator.random() < chances[pull % 5]))
    question.complete(engine.state)
    question = engine.question
    boxes = Boxes(*(engine.arms[side] for side in Boxes._fields))
    tolerances, _ = question.tolerances(engine.answer(), boxes)
    held = (tolerances <= engine.arms["doubt"] + 1e-12).all()
    expect_that(bool(held), "the tolerances of the present answer", "no more than its doubts", tolerances)


def _check_search(question: Question) -> None:
    arms = (Arm("a", Beta(30, 4)), Arm("b", Beta(30, 30)), Arm("c", Beta(4, 30)))
    instance = Instance("easy", arms, (0.0, 1.0), "bounded")
    result = simulate(instance, question=question, epsilon=(0.1, 0.05), delta=0.01, seed=1, max_trials=100_000)
    expect(result.stopped, "confidence", "why a search on an easy problem ended")
    expect_that(result.truth is not None and result.truth.eps_correct, "its answer", "right", result.answer)
