"""Whether a part of your own does what a search relies on; our own parts pass the same checks.

Each check raises an AssertionError that says what was expected and what came. Where chance is involved the seeds are
fixed, and a sound part fails with probability 1e-6 at most.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ramgape.assumptions import ASSUMPTIONS, ITEMS
from ramgape.bounds import Bound, the_bound
from ramgape.core.pareto import Floats
from ramgape.data.formats import FORMATS, Format, parse
from ramgape.data.source import open_source
from ramgape.data.text_rows import read_lines
from ramgape.policies import POLICIES, is_compiled
from ramgape.problems.distributions import Bernoulli, Beta, Data, Distribution, Gaussian, Scores, Uniform
from ramgape.problems.environments import Arm, Instance
from ramgape.problems.unbounded import Exponential, StudentT
from ramgape.questions import Boxes, Question, Wanted, make_question
from ramgape.risks import make_risk, measure_from_dict, measure_to_dict
from ramgape.risks.measure import Measure
from ramgape.risks.table import NORMAL, RISKS, UNRANGED
from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec
from ramgape.search.units import user_risks
from ramgape.simulation.simulation import simulate, simulated_spec, watch
from ramgape.simulation.truth import TrueArms
from ramgape.statistics.proportions import binomial_cdf

# ------------------------------------------------------------------------------------------ complaints


def expect(found: object, wanted: object, what: str) -> None:
    """Complain if something is not what it should be; also where Python leaves out assertions."""
    if found != wanted:
        raise AssertionError(f"{what} must be {wanted!r}, got {found!r}")


def expect_that(holds: bool, what: str, allowed: str, found: object) -> None:
    """The same where more than one value will do."""
    if not holds:
        raise AssertionError(f"{what} must be {allowed}, got {found!r}")


# ----------------------------------------------------------------------------------- coverage of boxes

RUNS, PULLS, DELTA = 60, 2_000, 0.05
FALSE_ALARM = 1e-6
# The most runs that may lose the truth: with a chance of exactly delta each, more do so less often than that.
MOST = next(count for count in range(RUNS) if 1.0 - binomial_cdf(count, RUNS, DELTA) < FALSE_ALARM)


def check_boxes(instance: Instance, **options: Any) -> None:
    """Watch searches of an instance: at no time may a box lose the truth in more runs than delta allows.

    All arms are pulled in turn, and every box is looked at after every pull. With probability 1e-6 at most, a bound
    that fails with probability 0.05 is taken for one that fails more often.

    Raises:
        AssertionError: Too many runs have lost the truth.
    """
    spec = simulated_spec(
        instance, **{"epsilon": 0.0, "delta": DELTA, "policy": "round-robin", "max_trials": PULLS, **options}
    )
    truth = TrueArms(instance, spec).table()
    watched = (watch(Engine(spec, seed), instance, seed, truth) for seed in range(RUNS))
    lost = sum(any(trace["missed"].any() for trace in traces) for traces in watched)
    what = f"runs of {RUNS} in which a box of bound {spec.bound} for risk {spec.risk} lost the truth"
    expect_that(lost <= MOST, what, f"at most {MOST}, at delta {DELTA}", lost)


# -------------------------------------------------------------------------------------------- policies

EASY = Instance(
    "easy", (Arm("good", Beta(24, 12)), Arm("fair", Beta(12, 24)), Arm("poor", Beta(3, 33))), (0.0, 1.0), "bounded"
)
GOALS: dict[str, dict[str, Any]] = {
    "confidence": {"epsilon": (0.2, 0.1), "delta": 0.1, "max_trials": 20_000},
    "budget": {"epsilon": (0.2, 0.1), "budget": 60},
}


def check_policy(policy: str | Callable[..., Any], goals: Sequence[str] = ("confidence", "budget")) -> None:
    """Try whether a policy does what a search relies on.

    It names arms that there are, whatever the data: few and many, equal and different, with several pulls under way.
    Asked twice about the same state it says the same, and it changes nothing in it. Under a budget it spends exactly
    that; for a confidence it comes to an end on an easy problem, with a right answer.

    Args:
        policy: A function of a `PolicyState`, a compiled `decide`, or a name.
        goals: Under which it is meant to run.

    Raises:
        AssertionError: It does not; says what was expected and what came.
        InvalidSpec: It returned something that is no arm's number.

    Examples:
        >>> check_policy(lambda state: state.pulls.argmin())
    """
    for goal in goals:
        options = GOALS[goal]
        for arm_count in (2, 7):
            _check_decisions(policy, arm_count, options)
        result = simulate(EASY, policy=policy, seed=1, **options)
        expect(result.stopped, goal, f"why a search for a fixed {goal} on an easy problem ended")
        if goal == "budget":
            expect(result.trials, options["budget"], "the pulls that a budget has paid for")
        else:
            expect_that(result.truth is not None and result.truth.eps_correct, "the answer", "right", result.answer)


def _check_decisions(policy: str | Callable[..., Any], arm_count: int, options: dict[str, Any]) -> None:
    """Decisions on coins, of which many are alike: ties everywhere."""
    generator = np.random.default_rng(arm_count)
    names = [str(number) for number in range(arm_count)]
    spec = make_spec(names, reward_range=(0, 1), policy=policy, **{**options, **_room(options)})
    engine, coins = Engine(spec), [Bernoulli(chance) for chance in generator.choice([0.0, 0.5, 1.0], arm_count)]
    remembers = (isinstance(policy, str) and policy in POLICIES) or is_compiled(spec.decide)
    for _ in range(200):
        before = [table.copy() for table in engine.state]
        arm = engine.ask()
        if arm is None:
            return
        if not remembers:  # a plain function has nowhere to note where it stands
            expect(engine.ask(), arm, "what a policy says when it is asked the same again")
            for old, new in zip(before, engine.state, strict=True):
                expect(new.tobytes(), old.tobytes(), "what a policy leaves behind in the tables of a search")
        for _ in range(int(generator.integers(3))):  # pulls under way, which never come back
            engine.reserve(arm)
            further = engine.ask()
            engine.release(arm)
            expect_that(further is None or further in range(arm_count), "an arm", "one of the search", further)
        engine.tell(arm, coins[arm].draw(generator))


def _room(options: dict[str, Any]) -> dict[str, Any]:
    return {"budget": 300} if "budget" in options else {"max_trials": 300}


# ----------------------------------------------------------------------------------------------- risks

UNIT: tuple[Distribution, ...] = (Beta(2, 3), Beta(0.3, 0.2), Bernoulli(0.25), Uniform(0.2, 0.7), Data((0.1, 0.4, 0.4)))
REWARDS = 400


def check_risk(measure: Measure, distributions: Sequence[Distribution] = UNIT) -> None:
    """Try whether a risk measure does what a search relies on, for rewards from 0 to 1.

    - Its values for rewards in [0, 1] lie in `unit_range`.
    - `on_unit`, `power` and `offset` bring it to another scale and back.
    - `mirrored` is the same for costs.
    - The truth of a distribution and that of a large sample agree.
    - What a search estimates from rewards is what the definition says of them.
    - Boxes of a search contain the truth: seeded runs, of which a sound risk fails fewer than one in a million.
    - If it serves Gaussian rewards, its value does not rise with the mean, nor both rise and fall with the variance.
    - If it serves rewards without a range, what is estimated from them is what the definition says of them.

    Args:
        measure: The measure, with parameters that make sense for rewards in [0, 1].
        distributions: What it is tried on, in [0, 1].

    Raises:
        AssertionError: It does not; says what was expected and what came.

    Examples:
        >>> from ramgape import CVaR
        >>> check_risk(CVaR(level=0.2))
    """
    if measure.name in RISKS:
        expect(make_risk(str(measure)), measure, "what its text means")
        expect(measure_from_dict(measure_to_dict(measure)), measure, "what its description means")
    for distribution in distributions:
        _check_truth(measure, distribution)
        _check_estimate(measure, distribution)
    if NORMAL in measure.made_of:
        _check_normal(measure)
    if UNRANGED in measure.made_of:
        _check_unranged(measure)
    instance = Instance("hard", (Arm("a", Beta(0.3, 0.2)), Arm("b", Bernoulli(0.25))), (0.0, 1.0), "bounded")
    check_boxes(instance, risk=measure)


def _check_truth(measure: Measure, distribution: Distribution) -> None:
    low, high = measure.unit_range()
    truth, about = measure.value_of(distribution), f"of {distribution!r}"
    expect_that(low - 1e-9 <= truth <= high + 1e-9, f"value_of {about}", f"from {low:g} to {high:g}", truth)
    # The definition knows nothing of the scale on which a search works.
    sample = distribution.quantile((np.arange(2_000) + 0.5) / 2_000)
    expect_that(_near(measure.value_in(sample), truth, 0.01), f"value_in {about}", f"nearly {truth:g}", measure)
    for origin, span in ((-3.0, 2.0), (5.0, 0.25)):
        unit = measure.on_unit(origin, span)
        there = span**measure.power * unit.value_in(sample) + measure.offset(origin)
        here = measure.value_in(origin + span * sample)
        expect_that(_near(there, here, 1e-6), f"the value {about} on another scale", f"{here:g}", there)


def _check_estimate(measure: Measure, distribution: Distribution) -> None:
    """The search's estimate against the definition; a tail is known to a cell of the range only."""
    generator = np.random.default_rng(3)
    rewards = np.array([distribution.draw(generator) for _ in range(REWARDS)])
    for direction in ("maximize", "minimize"):
        engine = Engine(make_spec(["a", "b"], reward_range=(0, 1), budget=1_000, risk=measure, direction=direction))
        engine.learn_many(np.zeros(REWARDS, np.int64), rewards)
        oriented, signed = engine.spec.oriented_risk, rewards if direction == "maximize" else -rewards
        wanted = engine.spec.risk_factor * oriented.value_in(signed)
        found = float(user_risks(engine.spec, engine.arms["risk"][0]))
        what = f"what is estimated of {distribution!r} to {direction}"
        expect_that(_near(found, wanted, 1.0 / 64.0), what, f"{wanted:g}", found)
        expect_that(float(engine.arms["risk_spread"][0]) >= 0.0, f"the spread of {what}", "0 or more", "less")


def _check_normal(measure: Measure) -> None:
    values = [[measure.value_of(Gaussian(mean, variance)) for variance in (0.01, 0.1, 1.0)] for mean in (0.2, 0.5, 0.9)]
    for row, further in itertools.pairwise(values):
        falls = all(new <= old + 1e-12 for old, new in zip(row, further, strict=True))
        expect_that(falls, "the risk of Gaussian rewards", "no more for a larger mean", values)
    for row in values:
        one_way = row in (sorted(row), sorted(row, reverse=True))
        expect_that(one_way, "the risk of Gaussian rewards", "rising or falling with the variance, not both", values)
    expect_that(all(math.isfinite(value) for row in values for value in row), "every value", "finite", values)


def _check_unranged(measure: Measure) -> None:
    """A tail is known to a cell of a few hundredths of the spread only."""
    for distribution in (Gaussian(0.4, 0.09), Beta(0.3, 0.2, -1.0, 2.0)):
        generator = np.random.default_rng(4)
        rewards = np.array([distribution.draw(generator) for _ in range(REWARDS)])
        engine = Engine(make_spec(["a", "b"], assumption="unknown", budget=1_000, risk=measure))
        engine.learn_many(np.zeros(REWARDS, np.int64), rewards)
        wanted, what = measure.value_in(rewards), f"what is estimated of {distribution!r} without a range"
        found = float(engine.arms["risk"][0]) / engine.spec.risk_scale
        expect_that(_near(found, wanted, 0.02), what, f"{wanted:g}", found)
        expect_that(float(engine.arms["risk_spread"][0]) >= 0.0, f"the spread of {what}", "0 or more", "less")


def _near(found: float, wanted: float, tolerance: float) -> bool:
    return abs(found - wanted) <= tolerance * max(1.0, abs(wanted))


# ---------------------------------------------------------------------------------------------- bounds

# Near an end, rare large values, two points, and what looks like nothing at first.
HARD = {
    "bounded": (Bernoulli(0.02), Bernoulli(0.5), Beta(0.1, 0.3), Data((0.5,) * 30 + (1.0,))),
    "gaussian": (Gaussian(0.3, 0.01), Gaussian(-1.0, 1.0)),
    "unknown": (Gaussian(0.3, 0.01), Uniform(-1.0, 1.0), Beta(2.0, 5.0)),
    "heavy": (StudentT(5.0), Exponential(-1.0), Bernoulli(0.1)),  # of kurtosis 9 at most
    ITEMS: tuple(Scores(values) for values in ((0.0, 1.0) * 30, (0.5,) * 59 + (1.0,), (0.0,) * 58 + (0.9, 1.0))),
}
TEST_SET, LARGE_SET = 60, 20_000  # items


def check_bound(bound: str | Bound, risks: Sequence[Any] = ("mean-variance:0.5",), **options: Any) -> None:
    """Try whether a bound does what a search relies on: that its boxes hold at all times at once.

    - On rewards that make it hard, seeded runs lose the truth no more often than delta allows; a sound bound fails that
      with probability 1e-6 at most, for each risk and noise.
    - With a smaller delta boxes are not narrower.
    - With ten thousand rewards they are narrower than with a hundred, and they are not empty.

    Args:
        bound: The bound, or a name.
        risks: With which it is tried.
        **options: What else a search with it needs, `sigma_max` say; for heavy tails `kurtosis=9`.

    Raises:
        AssertionError: It does not; says what was expected and what came.

    Examples:
        >>> check_bound("hoeffding")
    """
    chosen = the_bound(bound)
    if chosen.terms.means_only:
        options = {"question": "best", **options}
    for assumption in chosen.assumptions:
        reward_range = (0.0, 1.0) if ASSUMPTIONS[assumption].ranged else None
        for risk in risks:
            arms = tuple(Arm(str(number), hard) for number, hard in enumerate(HARD[assumption]))
            instance = Instance("hard", arms, reward_range, assumption, items=TEST_SET if assumption == ITEMS else None)
            check_boxes(instance, bound=bound, risk=risk, **options)
            _check_widths(bound, assumption, risk, options)


def _check_widths(bound: str | Bound, assumption: str, risk: Any, options: dict[str, Any]) -> None:
    generator, widths = np.random.default_rng(1), {}
    rewards = generator.beta(2.0, 2.0, 10_000) if ASSUMPTIONS[assumption].ranged else generator.normal(0.5, 0.2, 10_000)
    asked: dict[str, Any] = {"reward_range": (0, 1)} if ASSUMPTIONS[assumption].ranged else {"assumption": assumption}
    if assumption == ITEMS:
        asked["items"] = range(LARGE_SET)
    for delta in (0.05, 0.001):
        for count in (100, 10_000):
            engine = Engine(make_spec(["a", "b"], epsilon=0.0, delta=delta, bound=bound, risk=risk, **asked, **options))
            engine.learn_many(np.zeros(count, np.int64), rewards[:count])
            row = engine.arms[0]
            box = row["mean_high"] - row["mean_low"], row["risk_high"] - row["risk_low"]
            expect_that(min(box) >= 0.0, f"the box of {count} rewards", "no less than empty", box)
            widths[delta, count] = box
    for side, what in enumerate(("mean",) if the_bound(bound).terms.means_only else ("mean", "risk")):
        for count in (100, 10_000):
            wider = widths[0.001, count][side] >= widths[0.05, count][side]
            expect_that(wider, f"the interval of the {what}", "no narrower for a smaller delta", widths)
        narrower = widths[0.05, 10_000][side] < widths[0.05, 100][side]
        expect_that(narrower, f"the interval of the {what}", "narrower with more rewards", widths)


# ------------------------------------------------------------------------------------------- questions

TRIALS, MOST_TRIALS = 300, 30_000


def check_question(question: Question) -> None:
    """Try whether a question does what a search relies on.

    - What boxes prove is so: of random boxes, whenever every arm is settled up to epsilon, the answer is right up to
      epsilon for means and risks anywhere in the boxes.
    - The true answer is right, up to 0 and up to anything; it is the first of the right answers.
    - The kernel that keeps the doubts agrees: no tolerance is above the doubt of its arm.
    - A search for it ends, with a right answer, also where all arms are alike; and there is a sentence for it.

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
    """Searches end with a right answer: on an easy problem, and on equal arms, where only epsilon ends them."""
    easy = (Arm("a", Beta(30, 4)), Arm("b", Beta(30, 30)), Arm("c", Beta(4, 30)))
    alike = tuple(Arm(name, Beta(30, 30)) for name in "abc")
    served = question.policies is None or "ramgape" in question.policies
    # A rule that goes by boxes alone stops by the doubts of the question; the default one may compare pairs of arms.
    rules = ("auto", "ramgape") if served else ("auto",)
    for policy, (problem, arms) in itertools.product(rules, (("an easy problem", easy), ("equal arms", alike))):
        instance = Instance("checked", arms, (0.0, 1.0), "bounded")
        asked: dict[str, Any] = {"question": question, "epsilon": (0.1, 0.05), "delta": 0.01, "policy": policy}
        result = simulate(instance, **asked, seed=1, max_trials=MOST_TRIALS)
        ended = result.stopped == "confidence"
        expect_that(ended, f"how a search on {problem} ended", f"by proof, in {MOST_TRIALS:,} trials", result.stopped)
        expect_that(result.truth is not None and result.truth.eps_correct, "its answer", "right", result.answer)


# ---------------------------------------------------------------------------------------------- readers


def check_reader(reader: Format, path: str | Path) -> None:
    """Try whether a reader of logs does what an analysis relies on.

    - It recognizes the file, which no reader of ours does.
    - Every record says where it stands, and has the labels of arms and, if the reader names some, of items.
    - Some outcome of some record is a number; a tool that has none has nothing to analyze.

    Args:
        reader: The format.
        path: A file of its tool.

    Raises:
        AssertionError: It does not; says what was expected and what came.
    """
    with open_source(path) as source:
        content = source.document()
        first = content.split(b"\n", 1)[0] if reader.lines else content
        found = parse(first, source.name)
        expect(bool(reader.recognize(found)), True, f"whether {reader.name!r} recognizes {source.name}")
        ours = [each.name for each in FORMATS if each.lines == reader.lines and each.recognize(found)]
        expect(ours, [], f"the readers of ours that recognize {source.name}, which come first")
        lines = read_lines(source, "", content.decode("utf-8").splitlines(keepends=True))
        records = list(reader.read(lines if reader.lines else found, source))
    expect_that(bool(records), f"the records of {source.name}", "at least one", records)
    for record in records:
        expect_that(bool(record.place), "the place of a record", "words for errors", record)
        for label in filter(None, (reader.arm, reader.item)):
            expect_that(label in record.labels, "the labels of a record", f"with {label!r}", sorted(record.labels))
    values = [value for record in records for value in record.outcomes.values()]
    numbers = any(isinstance(value, int | float) for value in values)
    expect_that(numbers, f"the outcomes of {source.name}", "numbers somewhere", values[:5])
