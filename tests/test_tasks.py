"""The tasks that are built in: their doubts against a slow reference, what they prove, and what they are asked with."""

from __future__ import annotations

import itertools
import json
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

import ramgape
from ramgape import (
    Arm,
    Bernoulli,
    BestMean,
    BestScore,
    Beta,
    BetterThan,
    Gaussian,
    Instance,
    InvalidSpec,
    LeastRisk,
    Pareto,
    Question,
    RamgapeWarning,
    Result,
    Study,
    Top,
    Uniform,
    UnknownName,
    analyze,
    identify,
    plan,
    replicate,
    simulate,
)
from ramgape.bounds import BOUNDS
from ramgape.questions import QUESTIONS, Boxes, Rescaling, Wanted, make_question
from ramgape.search.engine import Engine
from ramgape.search.inference import infer
from ramgape.search.result import updated
from ramgape.search.spec import make_spec
from ramgape.testing import check_question
from tests.cli_support import call, call_json, complaint
from tests.guarantees import most_allowed
from tests.reference import tasks as reference
from tests.support import changing

# Each task with how the reference has it, for means and risks from 0 to 1 and arms called 0, 1, 2, ...
Reference = Callable[[Sequence[reference.Box], float], reference.Found]
EACH: dict[str, tuple[Question, Reference]] = {
    "best mean": (BestMean(), lambda boxes, _: reference.top(boxes, 1, reference.mean_of)),
    "least risk": (LeastRisk(), lambda boxes, _: reference.top(boxes, 1, reference.safety_of)),
    "best score": (BestScore(1.5), lambda boxes, _: reference.top(boxes, 1, reference.score_of(1.5))),
    "top 2": (Top(2), lambda boxes, _: reference.top(boxes, 2, reference.mean_of)),
    "ceiling": (
        BestMean(max_risk=0.375),
        lambda boxes, epsilon: reference.limited(boxes, reference.mean_of, reference.safety_of, -0.375, epsilon),
    ),
    "floor": (
        LeastRisk(min_mean=0.5),
        lambda boxes, epsilon: reference.limited(boxes, reference.safety_of, reference.mean_of, 0.5, epsilon),
    ),
    "control": (BetterThan("1"), lambda boxes, epsilon: reference.control(boxes, 1, 0.0, False, epsilon)),
    "margin": (BetterThan("0", 0.125), lambda boxes, epsilon: reference.control(boxes, 0, 0.125, False, epsilon)),
    "both": (BetterThan("2", -0.25, "both"), lambda boxes, epsilon: reference.control(boxes, 2, -0.25, True, epsilon)),
}
each_task = pytest.mark.parametrize("task", [task for task, _ in EACH.values()], ids=list(EACH))
COLUMNS = ("mean_low", "average", "mean_high", "risk_low", "risk", "risk_high")


# --- the kernels against the reference --------------------------------------------------------------


def engine_of(task: Question, count: int) -> Engine:
    """A search on a scale on which the task means the same: rewards in [0, 1], a risk in their units."""
    spec = make_spec(range(count), reward_range=(0, 1), epsilon=0.0625, task=task, risk="std", policy="ramgape")
    engine = Engine(spec)
    with changing(engine) as state:
        state.arms["pulls"] = 2
    return engine


def put(engine: Engine, arm: int, box: reference.Box) -> None:
    for column, value in zip(COLUMNS, box, strict=True):
        setattr(engine.rows.arms[arm], column, value)


def check_against(engine: Engine, boxes: Sequence[reference.Box], found: reference.Found) -> None:
    answer, doubts = found
    assert {*np.flatnonzero(engine.arms["in_front"]).tolist()} == answer
    assert engine.arms["doubt"].tolist() == [doubt.value for doubt in doubts]
    assert engine.search["doubt"][0] == max(doubt.value for doubt in doubts)
    assert engine.arms["doubt"][engine.search["leader"][0]] == engine.search["doubt"][0]
    rivals = engine.arms["rival"].tolist()
    for arm, (doubt, rival) in enumerate(zip(doubts, rivals, strict=True)):
        if rival != doubt.rival:  # then both explain the doubt: equals of an arm that is behind it
            assert len({boxes[rival], boxes[doubt.rival]}) <= 2
            assert math.isclose(doubt.value, doubts[arm].value)
    assert engine.arms["exact"].all()


quarter = st.integers(0, 16).map(lambda number: number / 16)


@st.composite
def box(draw: st.DrawFn) -> reference.Box:
    mean, risk = sorted(draw(st.tuples(quarter, quarter, quarter))), sorted(draw(st.tuples(quarter, quarter, quarter)))
    return reference.Box(*mean, *risk)


@pytest.mark.few(2)
@pytest.mark.parametrize("name", EACH)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_doubts_are_those_of_the_reference(name: str, data: st.DataObject) -> None:
    """Boxes with many ties, changed arm by arm."""
    task, refer = EACH[name]
    count = data.draw(st.integers(3, 6))
    boxes = [data.draw(box()) for _ in range(count)]
    engine = engine_of(task, count)
    for arm in range(count):
        put(engine, arm, boxes[arm])
    for step in range(4):
        changed = data.draw(st.integers(0, count - 1)) if step else 0
        if step:
            boxes[changed] = data.draw(box())
            put(engine, changed, boxes[changed])
        engine.rule.compare(*engine.rows.records, changed)
        found = refer(boxes, 0.0625)
        check_against(engine, boxes, found)
        # What is proved of the present answer is what the rule looks at.
        sides = Boxes(*(engine.arms[side] for side in Boxes._fields))
        tolerances = engine.question.tolerances(engine.answer(), sides)[0]
        if isinstance(task, BetterThan):  # that an arm is better is proved without a tolerance
            tolerances += 0.0625 * engine.answer()
        assert tolerances.tolist() == engine.arms["doubt"].tolist()


def test_no_arm_is_compared_before_all_have_their_first_pulls() -> None:
    for task, _ in EACH.values():
        engine = engine_of(task, 3)
        with changing(engine) as state:
            state.arms["pulls"] = [2, 1, 2]
        engine.rule.compare(*engine.rows.records, 0)
        assert not engine.ready
        assert not engine.answer().any()


@pytest.mark.few(2)
@pytest.mark.parametrize("constant", [(0,), (0, 1), (0, 1, 2)])
@each_task
def test_nothing_waits_for_an_arm_that_is_set_aside(task: Question, constant: tuple[int, ...]) -> None:
    """All its rewards are equal, and nothing can be said of it: a search in which all else is settled ends."""
    generator = np.random.default_rng(3)

    def pull(arm: str) -> float:
        return 0.5 + 0.1 * int(arm) if int(arm) in constant else float(generator.normal(0.5 + 0.1 * int(arm), 0.05))

    result = identify(pull, ["0", "1", "2"], epsilon=(0.05, 0.05), task=task, max_trials=30_000, alarm="off")
    assert result.stopped == "constant"
    assert result.guarantee.startswith("Undecided")
    assert not result.goal_reached


# --- what boxes prove --------------------------------------------------------------------------------


@pytest.mark.few(2)
@each_task
def test_each_task_does_what_a_search_relies_on(task: Question) -> None:
    check_question(replace(task, control="a") if isinstance(task, BetterThan) else task)


def claims(task: Question, answer: set[int], means: Sequence[float], risks: Sequence[float], epsilon: float) -> bool:
    """The sentence of a task about an answer, in plain Python: whether it is true, with epsilon above 0."""
    arms = range(len(means))
    others = [arm for arm in arms if arm not in answer]
    if isinstance(task, BetterThan):
        base, margin, both = int(task.control), task.margin, task.objective == "both"
        for arm in answer:
            if not means[arm] > means[base] + margin - epsilon or (both and not risks[arm] < risks[base] + epsilon):
                return False
        return all(
            not (means[arm] >= means[base] + margin + epsilon and (not both or risks[arm] <= risks[base] - epsilon))
            for arm in others
            if arm != base
        )
    if isinstance(task, Top):
        return all(means[other] < means[arm] + epsilon for arm in answer for other in others)
    if isinstance(task, BestScore):
        scores = [mean - task.weight * risk for mean, risk in zip(means, risks, strict=True)]
        return all(scores[other] < scores[arm] + epsilon for arm in answer for other in others)
    if isinstance(task, BestMean):
        if task.max_risk is None:
            return all(means[other] < means[arm] + epsilon for arm in answer for other in others)
        able = [arm for arm in arms if risks[arm] <= task.max_risk - epsilon]
        if not answer:
            return not able
        (best,) = answer
        return risks[best] < task.max_risk + epsilon and all(means[arm] < means[best] + epsilon for arm in able)
    assert isinstance(task, LeastRisk)
    if task.min_mean is None:
        return all(risks[other] > risks[arm] - epsilon for arm in answer for other in others)
    able = [arm for arm in arms if means[arm] >= task.min_mean + epsilon]
    if not answer:
        return not able
    (best,) = answer
    return means[best] > task.min_mean - epsilon and all(risks[arm] > risks[best] - epsilon for arm in able)


@each_task
def test_random_boxes_that_hold_never_prove_a_wrong_claim(task: Question) -> None:
    """A truth anywhere in the boxes, often at a corner. No chance is involved: not one may be wrong."""
    generator, proved, right = np.random.default_rng(11), 0, 0
    for _ in range(200):
        count = int(generator.integers(3, 7))
        named = task.among([str(arm) for arm in range(count)])
        means, risks = generator.random(count), generator.random(count)
        sizes = generator.choice([0.02, 0.1, 0.3]) * generator.random((4, count))
        boxes = Boxes(means - sizes[0], means + sizes[1], risks - sizes[2], risks + sizes[3])
        answer = named.true_answer(means, risks)
        epsilon = max(float(named.tolerances(answer, boxes)[0].max()), 0.0) + 1e-9
        if epsilon > 0.3:
            continue
        proved += 1
        for _ in range(20):
            share = np.clip(generator.uniform(-0.5, 1.5, (2, count)), 0.0, 1.0)
            true_means = boxes.mean_low + share[0] * (boxes.mean_high - boxes.mean_low)
            true_risks = boxes.risk_low + share[1] * (boxes.risk_high - boxes.risk_low)
            returned = {*np.flatnonzero(answer).tolist()}
            assert claims(task, returned, true_means.tolist(), true_risks.tolist(), epsilon)
            settled = named.settled(answer, *named.tolerances(answer, boxes), epsilon).all()
            assert not settled or named.is_right(answer, true_means, true_risks, epsilon)
            right += settled
    assert proved >= 30
    assert right >= 200


@each_task
def test_regret_is_the_least_tolerance_at_which_the_claim_is_true(task: Question) -> None:
    generator = np.random.default_rng(5)
    named = task.among(["0", "1", "2", "3"])
    for _ in range(100):
        means, risks = generator.random(4), generator.random(4)
        answer = np.zeros(4, dtype=bool)
        size = 2 if isinstance(task, Top) else 1
        answer[generator.choice(4, size, replace=False)] = True
        if isinstance(task, BetterThan):
            answer[int(task.control)] = False
        regret = named.regret(answer, means, risks)
        returned = {*np.flatnonzero(answer).tolist()}
        assert claims(task, returned, means.tolist(), risks.tolist(), regret + 1e-9)
        assert regret == 0.0 or not claims(task, returned, means.tolist(), risks.tolist(), regret - 1e-9)
        assert named.is_true(answer, means, risks) == (regret == 0.0)
        assert named.regret(named.true_answer(means, risks), means, risks) == 0.0
        assert (named.gaps(means, risks) >= 0.0).all()


def test_an_arm_is_called_proved_only_where_that_says_something_of_its_place() -> None:
    """With a ceiling: to keep it is not to be the best, and to be behind an arm tells only where that one keeps it."""
    task = BestMean(max_risk=0.5)
    answer = np.array([True, False, False])
    mean_low, mean_high = np.array([0.5, 0.1, 0.1]), np.array([0.6, 0.9, 0.4])
    safe = Boxes(mean_low, mean_high, np.array([0.1, 0.4, 0.1]), np.array([0.2, 0.6, 0.2]))
    tolerances, rivals = task.tolerances(answer, safe)
    assert (tolerances < 0.0).tolist() == [True, False, True]
    assert task.settled(answer, tolerances, rivals, 0.0).tolist() == [False, False, True]
    doubtful = Boxes(mean_low, mean_high, np.array([0.1, 0.6, 0.1]), np.array([0.7, 0.7, 0.2]))
    tolerances, rivals = task.tolerances(answer, doubtful)
    assert (tolerances < 0.0).tolist() == [False, True, True]
    assert task.settled(answer, tolerances, rivals, 0.0).tolist() == [False, True, False]


# --- ties, duplicates, other scales ------------------------------------------------------------------


def test_of_equal_arms_any_is_right() -> None:
    means, risks = np.array([0.5, 0.8, 0.8, 0.2]), np.array([0.1, 0.3, 0.3, 0.1])
    for task in (BestMean(), BestMean(max_risk=0.3), BestScore(0.5), Top(1)):
        assert task.true_answer(means, risks).tolist() == [False, True, False, False]
        other = np.array([False, False, True, False])
        assert task.is_true(other, means, risks)
        assert task.is_right(other, means, risks, 0.0)
        assert not task.is_true(np.array([True, False, False, False]), means, risks)
    assert LeastRisk().is_true(np.array([False, False, False, True]), means, risks)
    # An arm whose risk is the ceiling keeps it.
    assert BestMean(max_risk=0.1).true_answer(means, risks).tolist() == [True, False, False, False]
    assert BestMean(max_risk=0.05).true_answer(means, risks).tolist() == [False] * 4
    # An arm that is level with the control is not better.
    control = BetterThan("b").among("abcd")
    assert not control.true_answer(means, risks).any()
    assert BetterThan("a", 0.3, "both").among("abcd").true_answer(means, risks).tolist() == [False] * 4


TWINS = Instance(
    "twins",
    tuple(Arm(name, Beta(*shape)) for name, shape in {"a": (8, 4), "b": (8, 4), "c": (3, 9), "d": (3, 9)}.items()),
    reward_range=(0, 1),
    noise="bounded",
)


@pytest.mark.parametrize("policy", ["ramgape", "ra-lucb", "round-robin"])
@pytest.mark.parametrize(
    "task", [BestMean(), BestMean(max_risk=0.14), BestMean(max_risk=0.05), LeastRisk(min_mean=0.5), Top(3), Top(2)]
)
def test_duplicates_are_found_out_up_to_epsilon(task: Question, policy: str) -> None:
    result = simulate(TWINS, task=task, policy=policy, epsilon=(0.05, 0.03), seed=2, max_trials=100_000)
    assert result.stopped == "confidence"
    assert result.truth is not None
    assert result.truth.eps_correct


STREAMS = np.random.default_rng(8).beta(
    [[2.0], [3.0], [4.0], [5.0], [3.0]], [[3.0], [3.0], [4.0], [3.0], [1.5]], (5, 3000)
)


def search(task: Question, order: Sequence[int], scale: float = 1.0, shift: float = 0.0, **options: Any) -> Result:
    """A search in which every arm has its own fixed rewards, wherever it stands and whatever their unit."""
    taken = dict.fromkeys(map(str, order), -1)

    def pull(arm: str) -> float:
        taken[arm] += 1
        return float(shift + scale * STREAMS[int(arm), taken[arm]])

    span = sorted((shift, shift + scale))
    usual: dict[str, Any] = {
        "reward_range": tuple(span),
        "policy": "ramgape",
        "alarm": "off",
        "epsilon": 0.125 * abs(scale),
    }
    return identify(pull, [str(arm) for arm in order], task=task, max_trials=5_000, **{**usual, **options})


def pulls_by_name(result: Result) -> dict[str, int]:
    return {arm.name: arm.pulls for arm in sorted(result.arms, key=lambda arm: arm.name)}


@each_task
def test_relabelling_arms_relabels_pulls_and_answer(task: Question) -> None:
    first = search(task, range(5))
    assert first.stopped == "confidence"
    for order in ([4, 2, 0, 3, 1], [1, 0, 3, 2, 4]):
        second = search(task, order)
        assert (pulls_by_name(second), {*second.answer}) == (pulls_by_name(first), {*first.answer})


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
@pytest.mark.parametrize(("scale", "shift"), [(4.0, -2.0), (0.25, 64.0)])
@each_task
def test_other_units_ask_the_same_question(task: Question, scale: float, shift: float, direction: str) -> None:
    """Powers of two are exact; costs are the negatives. Ceilings, floors, margins and tolerances go along."""
    sign = 1.0 if direction == "maximize" else -1.0
    first = search(task, range(5))
    other = task
    if isinstance(task, BestMean) and task.max_risk is not None:
        other = BestMean(max_risk=scale * task.max_risk)
    elif isinstance(task, LeastRisk) and task.min_mean is not None:
        other = LeastRisk(min_mean=sign * (shift + scale * task.min_mean))
    elif isinstance(task, BetterThan):
        other = replace(task, margin=scale * task.margin)
    second = search(other, range(5), sign * scale, sign * shift, direction=direction, epsilon=0.125 * scale)
    assert (pulls_by_name(second), second.answer) == (pulls_by_name(first), first.answer)
    assert second.stopped == "confidence"


def test_a_pair_of_tolerances_gives_the_ceiling_its_own() -> None:
    """On the engine's scale one of the risk's is worth one of the mean's."""
    spec = make_spec(
        ["a", "b", "c"], reward_range=(0, 2), risk="variance", epsilon=(0.02, 0.005), task="best:max-risk=0.02"
    )
    assert spec.unit_question == BestMean(max_risk=0.02 / 0.005 * 0.02 / 2)
    assert spec.oriented_question == BestMean(max_risk=0.02 / 0.005 * 0.02)
    scored = make_spec(
        ["a", "b", "c"], reward_range=(0, 2), risk="variance", epsilon=(0.02, 0.005), task="best-score:weight=8"
    )
    assert scored.unit_question == BestScore(weight=2.0)
    assert Rescaling(-1.0, -10.0, 5.0)(3.0) == (-3.0 + 10.0) / 5.0


# --- searches ----------------------------------------------------------------------------------------

SERVING: list[tuple[str, dict[str, Any]]] = [
    *(("bounded", {"bound": bound}) for bound in ("empirical-bernstein", "empirical-bernstein-stitched")),
    *(("bounded", {"bound": bound}) for bound in ("hoeffding", "paper")),
    *(("bounded", {"risk": risk}) for risk in ("variance", "mean-variance:0.5", "cvar:0.2", "quantile:0.2")),
    *(("bounded", {"risk": risk}) for risk in ("semivariance:0.5", "entropic:2", "shortfall:0.3")),
    *(("gaussian", {"bound": bound}) for bound in ("gaussian", "gaussian-paper")),
    *(("gaussian", {"risk": risk}) for risk in ("cvar:0.2", "shortfall:0.3")),
    ("heavy:kurtosis=4", {}),
    *(("any", {"risk": risk}) for risk in ("std", "variance", "cvar:0.2")),
]


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:.*as large as the ceiling:ramgape.RamgapeWarning")
@pytest.mark.parametrize(("noise", "setting"), SERVING, ids=[f"{noise} {setting}" for noise, setting in SERVING])
@each_task
def test_every_bound_noise_and_risk_that_gives_boxes_serves(
    task: Question, noise: str, setting: dict[str, Any]
) -> None:
    """Clear arms: the answer comes and is right, but for a chance of 0.01 each, which these seeds are not."""
    means, bounded = (0.2, 0.5, 0.8), noise == "bounded"
    kinds = [Beta(20 * mean, 20 - 20 * mean) if bounded else Gaussian(mean, 0.01) for mean in means]
    arms = tuple(Arm(str(place), kind) for place, kind in enumerate(kinds))
    instance = Instance("clear", arms, (0.0, 1.0) if bounded else None, noise, None if bounded else 0.2, "std")
    if isinstance(task, BestMean) and task.max_risk is not None:
        negative = ("cvar:0.2", "quantile:0.2", "entropic:2", "mean-variance:0.5")
        task = BestMean(max_risk=-0.3 if setting.get("risk") in negative else 0.12)
    asked: dict[str, Any] = {"epsilon": (0.2, 0.2), "delta": 0.01, "policy": "ramgape", "max_trials": 2_000_000}
    found = simulate(instance, task=task, **asked, **setting)
    assert found.stopped == "confidence"
    assert not BOUNDS[found.bound].compares_pairs
    assert found.truth is not None
    assert found.truth.eps_correct
    assert found.guarantee.startswith(("With probability at least 0.99", "Approximately, with"))


ANSWERS = {
    "best": ("c",),
    "best:max-risk=0.15": ("b",),
    "best:max-risk=0.02": (),
    "least-risk": ("a",),
    "least-risk:min-mean=0.5": ("b",),
    "least-risk:min-mean=0.95": (),
    "best-score:weight=3": ("b",),
    "top:2": ("b", "c"),
    "better-than:control=b": ("c",),
    "better-than:control=c": (),
    "better-than:control=a,margin=0.1,objective=both": (),
}
THREE = Instance(
    "three",
    (Arm("a", Beta(30, 70)), Arm("b", Beta(12, 8)), Arm("c", Beta(1.6, 0.4))),
    (0.0, 1.0),
    "bounded",
    risk="std",
)


@pytest.mark.parametrize(("text", "answer"), ANSWERS.items())
def test_each_question_is_answered(text: str, answer: tuple[str, ...]) -> None:
    """The same on every road: simulated, asked and told, in a study, from data."""
    asked: dict[str, Any] = {"task": text, "epsilon": (0.04, 0.01 if "max-risk=0.02" in text else 0.04), "delta": 0.01}
    result = simulate(THREE, seed=1, **asked)
    assert (result.answer, result.front, result.stopped) == (answer, answer, "confidence")
    assert result.task == text
    assert result.truth is not None
    assert (result.truth.front, result.truth.exact, result.truth.eps_correct) == (answer, True, True)
    assert result.truth.regret == 0.0
    described = json.loads(result.to_json())
    assert (described["answer"], described["question"]) == (list(answer), text)
    assert Result.from_dict(result.to_dict()) == result

    generator = np.random.default_rng(1)
    search: dict[str, Any] = {**asked, "reward_range": (0, 1), "risk": "std", "alarm": "off"}

    def pull(name: str) -> float:
        return THREE.draw(THREE.names.index(name), generator)

    asked_and_told = identify(pull, THREE.names, **search)
    assert asked_and_told == updated(result, truth=None, seed=None)
    study = Study.create("asked", THREE.names, seed=1, **search)
    while not study.done:
        for pulled in study.ask(10):
            study.tell(pulled, pull(pulled.arm))
    assert (study.result().answer, study.result().task) == (answer, text)
    rows = [(name, pull(name)) for name in THREE.names for _ in range(3_000)]
    assert analyze(rows, **search).result.answer == answer


def test_an_empty_answer_is_an_answer() -> None:
    result = simulate(THREE, task=BestMean(max_risk=0.02), epsilon=0.01, seed=1)
    assert result.explanation().brief.startswith("No arm is feasible (0 of 3 arms), after ")
    assert result.sentence == "No arm is feasible: there is none whose standard deviation is at most 0.02 (95% sure)."
    assert result.guarantee.endswith(": no arm has a standard deviation of at most 0.01.")
    assert {(arm.verdict, arm.certified, arm.rival) for arm in result.arms} == {("out", True, None)}
    assert "No arm is feasible" in str(result)
    capped = simulate(THREE, task=BestMean(max_risk=0.02), epsilon=0.001, seed=1, max_trials=200)
    assert capped.sentence.startswith("By the estimates no arm is feasible")
    begun = identify(lambda arm: 0.5, ["a", "b"], task="best", reward_range=(0, 1), epsilon=0.1, max_trials=4)
    assert begun.explanation().brief.startswith("Best arm: ")


def test_the_steering_rule_does_not_stall() -> None:
    """The floor is kept for sure by an arm that is nearly the best: only comparing the two can end the doubt.

    To pull for the smaller of the two terms never ends here, since that one cannot fall.
    """
    arms = (Arm("a", Beta(60, 40)), Arm("b", Beta(58, 42)), Arm("c", Uniform(0.9, 1.0)), Arm("d", Bernoulli(0.9)))
    instance = Instance("near", arms, (0.0, 1.0), "bounded", risk="std")
    for policy in ("ramgape", "ra-lucb"):
        result = simulate(instance, task=LeastRisk(min_mean=0.5), epsilon=0.01, policy=policy, max_trials=200_000)
        assert (result.answer, result.stopped) == (("c",), "confidence")
        result = simulate(instance, task=BestMean(max_risk=0.2), epsilon=0.01, policy=policy, max_trials=200_000)
        assert (result.answer, result.stopped) == (("c",), "confidence")


def test_means_alone_have_the_level_of_two_sides() -> None:
    def level(task: Question, **options: Any) -> float:
        asked: dict[str, Any] = {"reward_range": (0, 1), "policy": "ramgape", **options}
        return float(Engine(make_spec(range(10), epsilon=0.05, task=task, **asked)).arms["level"][0])

    for task in (BestMean(), Top(3), BetterThan("1"), BestScore(0.0)):
        assert not task.about_risk
        assert math.isclose(level(task), math.log(2 * 10 / 0.05))
        assert math.isclose(level(task, reward_range=None, noise="gaussian"), math.log(10 / 0.05))
    for about_both in (Pareto(), BestMean(0.3), LeastRisk(), BestScore(1.0), BetterThan("1", objective="both")):
        assert about_both.about_risk
        if about_both != Pareto():
            assert math.isclose(level(about_both), math.log(4 * 10 / 0.05))
    result = simulate("paper:46", task="best", epsilon=0.1, seed=1, policy="ramgape")
    # Those of means hold together with the answer; those of risks would need a share of delta of their own.
    assert {name for values in result.intervals("all").values() for name in values} == {"mean(reward)"}
    # Where only means can be known, questions about them can be asked.
    rewards = iter(np.random.default_rng(1).normal(0.0, 1.0, 10_000).tolist())
    tails = identify(
        lambda arm: next(rewards) + (arm == "b"), ["a", "b"], noise="heavy:sigma_max=2", epsilon=0.5, task=Top(1)
    )
    assert tails.answer == ("b",)


# --- how often an answer is wrong --------------------------------------------------------------------


def random_instance(generator: np.random.Generator, noise: str) -> Instance:
    """Arms that are often alike, in mean or in risk."""
    shared = generator.uniform(0.2, 0.8)
    arms = []
    for place in range(int(generator.integers(3, 6))):
        mean = shared if generator.random() < 0.4 else generator.uniform(0.1, 0.9)
        if noise == "gaussian":
            arms.append(Arm(str(place), Gaussian(mean, float(generator.choice([0.1, 0.3, 0.5])) ** 2)))
        else:
            total = float(generator.choice([0.5, 3.0, 20.0]))
            arms.append(Arm(str(place), Beta(total * mean, total * (1.0 - mean))))
    bounded = noise == "bounded"
    return Instance("random", tuple(arms), (0.0, 1.0) if bounded else None, noise, None if bounded else 0.5, risk="std")


def wrong_answers(task: Question, noise: str, runs: int, delta: float, **options: Any) -> tuple[int, int]:
    """Of so many random problems, one run each: how many claims are false, and how many answers are empty."""
    generator, wrong, empty = np.random.default_rng(21), 0, 0
    for seed in range(runs):
        result = simulate(random_instance(generator, noise), task=task, delta=delta, seed=seed, **options)
        assert result.stopped == "confidence"
        assert result.truth is not None
        wrong += not result.truth.eps_correct
        empty += not result.answer
    return wrong, empty


@pytest.mark.parametrize("noise", ["bounded", "gaussian"])
@pytest.mark.parametrize(
    "task",
    [
        *(BestMean(), BestMean(max_risk=0.25), LeastRisk(min_mean=0.5), Top(2)),
        pytest.param(BetterThan("0", objective="both"), marks=pytest.mark.long),
    ],
    ids=str,
)
def test_wrong_answers_are_rarer_than_delta(task: Question, noise: str) -> None:
    """40 runs at delta 0.2. A program whose chance is delta fails with probability 1e-6 at most; proofs leave room."""
    wrong, _ = wrong_answers(task, noise, 40, 0.2, epsilon=0.1)
    assert wrong <= most_allowed(40, 0.2)


@pytest.mark.long
@pytest.mark.parametrize("policy", ["ramgape", "ra-lucb", "round-robin"])
@pytest.mark.parametrize("noise", ["bounded", "gaussian"])
@each_task
def test_wrong_answers_are_rarer_than_delta_in_many_runs(task: Question, noise: str, policy: str) -> None:
    """300 runs at delta 0.05: at most 36 wrong ones, by the same count. Nobody being feasible is among the answers."""
    if isinstance(task, BestMean) and task.max_risk is not None:
        task = BestMean(max_risk=0.2)
    wrong, empty = wrong_answers(task, noise, 300, 0.05, epsilon=0.05, policy=policy)
    assert wrong <= most_allowed(300, 0.05)
    assert wrong <= 3  # what is seen: the proofs leave room
    if getattr(task, "floor", None) is not None:
        assert empty > 0


# --- as text -----------------------------------------------------------------------------------------

number = st.floats(-1e6, 1e6, allow_nan=False)
names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
TASK = st.one_of(
    st.just(Pareto()),
    st.builds(BestMean, st.none() | number),
    st.builds(LeastRisk, st.none() | number),
    st.builds(BestScore, st.floats(0.0, 1e6)),
    st.builds(Top, st.integers(1, 1000)),
    st.builds(BetterThan, names, number, st.sampled_from(["mean", "both"])),
)


@settings(max_examples=200, deadline=None)
@given(TASK)
def test_a_task_is_the_same_after_a_round_trip(task: Question) -> None:
    assert make_question(str(task)) == task
    assert str(make_question(str(task))) == str(task)


@pytest.mark.parametrize(
    ("text", "task"),
    [
        ("best", BestMean()),
        ("best:0.02", BestMean(0.02)),
        ("best:max_risk=0.02", BestMean(0.02)),
        ("least-risk:min-mean=-1e-3", LeastRisk(-0.001)),
        ("best-score:weight=1.5", BestScore(1.5)),
        ("top:3", Top(3)),
        ("top:m=3", Top(3)),
        ("better-than:A", BetterThan("A")),
        ("better-than:control=007", BetterThan("007")),
        ("better-than:control=a=b:c", BetterThan("a=b:c")),
        ("better-than:control=A,margin=0.01,objective=both", BetterThan("A", 0.01, "both")),
        ("better-than:control=a%2C b", BetterThan("a, b")),
    ],
)
def test_how_tasks_are_written(text: str, task: Question) -> None:
    assert make_question(text) == task


@pytest.mark.parametrize(
    ("task", "text"),
    [
        (BestMean(max_risk=0.02), "best:max-risk=0.02"),
        (LeastRisk(min_mean=0.6), "least-risk:min-mean=0.6"),
        (BestScore(weight=1.5), "best-score:weight=1.5"),
        (Top(3), "top:3"),
        (BetterThan("A", 0.01, "both"), "better-than:control=A,margin=0.01,objective=both"),
        (BetterThan(" x,50 %"), "better-than:control=%20x%2C50 %25"),
    ],
)
def test_how_tasks_are_shown(task: Question, text: str) -> None:
    assert str(task) == text


def test_every_task_says_what_it_is() -> None:
    for name, kind in QUESTIONS.items():
        assert (kind.name, kind.written.split(":")[0].split("[")[0]) == (name, name)
        assert kind.meaning


# --- sentences ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "wanted", "sentence"),
    [
        (BestMean(), Wanted(["A"], 0.01, None, "std"), "no arm has a mean 0.01 or more above that of A."),
        (BestMean(), Wanted(["A"], 0.0, None, "std"), "A is the arm with the highest mean."),
        (BestMean(), Wanted(["A"], 0.01, None, "std", True), "no arm has a mean 0.01 or more below that of A."),
        (
            BestMean(0.02),
            Wanted(["A"], 0.01, 0.005, "variance"),
            "the variance of A is below 0.025, and no arm whose variance is at most 0.015 has a mean 0.01 or more "
            "above that of A.",
        ),
        (BestMean(0.02), Wanted([], 0.01, 0.005, "variance"), "no arm has a variance of at most 0.015."),
        (BestMean(0.02), Wanted([], 0.0, None, "std"), "no arm has a std of at most 0.02."),
        (
            BestMean(0.02),
            Wanted(["A"], 0.0, None, "std"),
            "A is the arm with the highest mean of those whose std is at most 0.02.",
        ),
        (
            BestMean(-0.9),
            Wanted(["A"], 0.01, None, "average", turned=True),
            "the average of A is above 0.89, and no arm whose average is at least 0.91 has a mean 0.01 or more above "
            "that of A.",
        ),
        (BestMean(-0.9), Wanted([], 0.01, None, "average", turned=True), "no arm has an average of at least 0.91."),
        (LeastRisk(), Wanted(["A"], 0.02, 0.003, "std"), "no arm has a std 0.003 or more below that of A."),
        (LeastRisk(), Wanted(["A"], 0.0, None, "std"), "A is the arm with the lowest std."),
        (
            LeastRisk(0.6),
            Wanted(["A"], 0.02, 0.003, "std"),
            "the mean of A is above 0.58, and no arm whose mean is at least 0.62 has a std 0.003 or more below that "
            "of A.",
        ),
        (LeastRisk(0.6), Wanted([], 0.02, None, "std"), "no arm has a mean of at least 0.62."),
        (LeastRisk(6.0), Wanted([], 0.5, None, "std", True), "no arm has a mean of at most 5.5."),
        (
            BestScore(1.5),
            Wanted(["A"], 0.02, None, "std"),
            "no arm has a score 0.02 or more above that of A, the score being mean - 1.5 std.",
        ),
        (
            BestScore(1.5),
            Wanted(["A"], 0.02, None, "std", True),
            "no arm has a score 0.02 or more below that of A, the score being mean + 1.5 std.",
        ),
        (
            BestScore(2),
            Wanted(["A"], 0.0, None, "average", turned=True),
            "A is the arm with the highest mean + 2 average.",
        ),
        (
            Top(2),
            Wanted(["A", "B"], 0.1, None, "std"),
            "no other arm has a mean 0.1 or more above that of any returned one.",
        ),
        (Top(2), Wanted(["A", "B"], 0.0, None, "std"), "these are the 2 arms with the highest means."),
        (
            BetterThan("C", 0.01),
            Wanted(["A"], 0.02, None, "std"),
            "every returned arm has a mean above that of C minus 0.01, and no other arm has a mean 0.03 or more above "
            "that of C.",
        ),
        (BetterThan("C"), Wanted([], 0.02, None, "std"), "no arm has a mean 0.02 or more above that of C."),
        (
            BetterThan("C", 0.5),
            Wanted(["A"], 0.0, None, "std"),
            "these are the arms with a mean above that of C plus 0.5.",
        ),
        (BetterThan("C", -0.5), Wanted([], 0.2, None, "std"), "no arm has a mean at least that of C minus 0.3."),
        (
            BetterThan("C", 0.0, "both"),
            Wanted(["A"], 0.02, 0.01, "std", True),
            "every returned arm has a mean below that of C plus 0.02 and a std below that of C plus 0.01, and no other "
            "arm has a mean 0.02 or more below that of C and a std 0.01 or more below that of C.",
        ),
    ],
)
def test_certificates_say_exactly_what_is_proved(task: Question, wanted: Wanted, sentence: str) -> None:
    assert task.claim(wanted) == sentence


# --- bad input ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("task", "complaint"),
    [
        ("top:10", r"m of question top must be less than the number of arms, 10: all of them are no choice, got 10"),
        ("top:0", r"m of question top must be a whole number of at least 1, and less than the number of arms, got 0"),
        ("top:2.5", r"m of question top must be a whole number"),
        ("top", r"question must be written top:M, got 'top'"),
        ("better-than", r"question must be written better-than:control=ARM"),
        ("better-than:control=11", r"control of question better-than must be one of 1, .*, got '11'; did you mean '1'"),
        (
            "better-than:control=1,objective=risk",
            r"objective of question better-than must be one of mean, both, got 'risk'",
        ),
        ("better-than:control=1,margin=nan", r"margin of question better-than must be a finite number, got nan"),
        ("better-than:control=a,b", r"question must be written better-than:control=ARM"),
        ("best:max-risk=-0.1", r"max_risk must be at least 0, the least risk that is possible, got -0.1"),
        ("best:nan", r"max_risk of question best must be a finite number, got nan"),
        ("best:limit=1", r"question must be written best\[:max-risk=NUMBER\], got 'best:limit=1'"),
        ("least-risk:min-mean=1.5", r"min_mean must be at most 1, the highest mean that is possible, got 1.5"),
        ("best-score:weight=-1", r"weight of question best-score must be a finite number of at least 0, got -1"),
        ("best-score", r"question must be written best-score:weight=NUMBER"),
        ("bast", r"question must be one of pareto, best.*did you mean 'best'"),
    ],
)
def test_what_cannot_be_meant_is_refused(task: str, complaint: str) -> None:
    with pytest.raises((InvalidSpec, UnknownName), match=complaint):
        simulate("paper:46", task=task, risk="std", epsilon=0.05)


def test_a_limit_that_binds_nobody_is_told() -> None:
    for task, warning in {
        "best:max-risk=0.5": "max_risk 0.5 is no constraint",
        "least-risk:min-mean=0": "min_mean 0 is no constraint",
        "best:max-risk=0.04": "the tolerance in risk, 0.05, is as large as the ceiling",
        "better-than:control=1,margin=1.5": "margin 1.5 exceeds the whole possible range",
    }.items():
        with pytest.warns(RamgapeWarning, match=warning):
            simulate("paper:46", task=task, risk="std", epsilon=0.05, max_trials=100)
    with pytest.warns(RamgapeWarning, match="epsilon 2 exceeds all differences that are possible"):
        simulate("paper:46", task="best", epsilon=2.0)
    for costs, binds in ((-1.0, False), (5.0, True), (10.0, False)):
        asked: dict[str, Any] = {"reward_range": (0, 10), "direction": "minimize", "epsilon": 0.1}
        if costs < 0.0:
            with pytest.raises(InvalidSpec, match="min_mean must be at least 0, the lowest mean that is possible"):
                make_spec(["a", "b"], task=LeastRisk(costs), **asked)
        else:
            assert (make_spec(["a", "b"], task=LeastRisk(costs), **asked).warnings == ()) == binds


@pytest.mark.parametrize("policy", ["ape", "xi-lcb", "hvi-pareto", "psi-unif-elim", "de-round-robin"])
def test_a_policy_that_cannot_serve_is_refused_with_those_that_can(policy: str) -> None:
    for task, _ in EACH.values():
        with pytest.raises(
            InvalidSpec, match=r"one that serves this task \(auto, ramgape, .*ra-lucb, round-robin.*\), got"
        ):
            make_spec(range(4), reward_range=(0, 1), epsilon=0.1, policy=policy, task=task)


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
@pytest.mark.parametrize("risk", ["std", "variance", "mean-variance:0.5", "cvar:0.2", "entropic:2", "shortfall:3"])
def test_limits_are_in_the_units_that_results_report(risk: str, direction: str) -> None:
    """A variance of 0.02 is a ceiling of 0.02; of the mean-variance it is the scaled one. The engine sees the same."""
    generator = np.random.default_rng(2)
    asked: dict[str, Any] = {"reward_range": (2, 6), "direction": direction, "risk": risk, "epsilon": 0.1}
    spec = make_spec(range(6), task="least-risk:min-mean=4", policy="round-robin", **asked)
    engine = Engine(spec)
    for pull in range(120):
        engine.tell(pull % 6, float(generator.uniform(2.0, 4.0 + 0.4 * (pull % 6))))
    sign = 1.0 if direction == "maximize" else -1.0
    arms = infer(engine).arms
    for ceiling in [0.5 * (low + high) for low, high in itertools.pairwise(sorted(arm.risk for arm in arms))]:
        unit = replace(spec, question=BestMean(ceiling)).unit_question
        assert isinstance(unit, BestMean)
        assert unit.max_risk is not None
        assert [arm.risk <= ceiling for arm in arms] == (engine.arms["risk"] <= unit.max_risk).tolist()
    for floor in (3.0, 3.5, 4.2):
        unit = replace(spec, question=LeastRisk(floor)).unit_question
        assert isinstance(unit, LeastRisk)
        assert unit.min_mean is not None
        assert [sign * arm.mean >= sign * floor for arm in arms] == (engine.arms["average"] >= unit.min_mean).tolist()
    scored = replace(spec, question=BestScore(0.7)).unit_question
    order = [sign * arm.mean - 0.7 * arm.risk for arm in arms]
    assert isinstance(scored, BestScore)
    found = engine.arms["average"] - scored.weight * engine.arms["risk"]
    assert np.argsort(order).tolist() == np.argsort(found).tolist()


# --- the control -------------------------------------------------------------------------------------


def test_differences_to_the_control() -> None:
    result = simulate(THREE, task=BetterThan("b"), epsilon=0.03, seed=1, policy="ramgape")
    arms = {arm.name: arm for arm in result.arms}
    assert result.control == "b"
    assert [row.name for row in result.differences] == ["a", "c"]
    row, arm, control = result.differences[1], arms["c"], arms["b"]
    assert row.mean == arm.mean - control.mean
    # By the boxes; and by the claim, where comparisons prove more.
    assert row.mean_interval[0] == max(arm.mean_interval[0] - control.mean_interval[1], 0.0)
    assert row.mean_interval[1] == arm.mean_interval[1] - control.mean_interval[0]
    assert result.differences[0].mean_interval[1] <= 0.03
    assert math.isclose(row.percent, 100.0 * (arm.mean / control.mean - 1.0))
    corners = [100.0 * (end / base - 1.0) for end, base in itertools.product(arm.mean_interval, control.mean_interval)]
    assert math.isclose(row.percent_interval[0], max(min(corners), 0.0))
    assert math.isclose(row.percent_interval[1], max(corners))
    assert (arms["b"].verdict, arms["b"].doubt, arms["c"].rival) == ("out", 0.0, "b")
    assert json.loads(result.to_json())["details"]["differences"][1]["name"] == "c"
    for shown in (str(result), result._repr_html_()):
        assert "c beats b: +" in shown
        assert "change" in shown
        assert "control" in shown
    assert simulate(THREE, task="best", epsilon=0.1).differences == ()


@pytest.mark.few(2)
@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_intervals_of_differences_hold_what_is_true(direction: str) -> None:
    """24 runs of 3 differences at delta 0.05: more than 9 runs with a miss have a chance below 1e-6."""
    truth, missed = dict(zip(THREE.names, THREE.means.tolist(), strict=True)), 0
    for seed in range(24):
        task = BetterThan("b", margin=0.02)
        result = simulate(THREE, task=task, epsilon=0.05, direction=direction, seed=seed)
        missed += any(
            not low <= truth[row.name] - truth["b"] <= high
            or not least <= 100.0 * (truth[row.name] / truth["b"] - 1.0) <= most
            for row in result.differences
            for (low, high), (least, most) in [(row.mean_interval, row.percent_interval)]
        )
    assert missed <= most_allowed(24, 0.05)


def test_no_per_cent_of_a_mean_that_may_be_zero() -> None:
    rewards = np.random.default_rng(1)
    result = identify(
        lambda arm: float(rewards.normal(arm == "b", 1.0)),
        ["a", "b"],
        noise="gaussian",
        epsilon=0.5,
        task=BetterThan("a"),
    )
    assert result.differences[0].percent_interval == (-math.inf, math.inf)
    assert json.loads(result.to_json())["details"]["differences"][0]["percent_interval"] == [None, None]
    assert Result.from_dict(result.to_dict()) == result


# --- every door --------------------------------------------------------------------------------------


def test_runs_tell_their_answers() -> None:
    done = replicate(THREE, runs=5, task="best:max-risk=0.15", epsilon=0.05, seed=1)
    assert {run.answer for run in done.runs} == {("b",)}
    described = done.to_dict()
    assert described["task"] == "best:max-risk=0.15"
    for run in described["runs"]:
        assert run["answer"] == run["front"] == ["b"]
        assert (run["exact"], run["eps_correct"], run["regret"]) == (True, True, 0.0)
    assert "the answer to best:max-risk=0.15 is b" in str(done)
    missing = replicate(THREE, runs=2, task="best:max-risk=0.01", epsilon=0.005)
    assert "is that no arm is one" in str(missing)


def test_a_plan_for_a_task() -> None:
    planned = plan(THREE, task="top:2", epsilon=0.1, epsilons=[0.1], deltas=[0.05], runs=10, max_trials=20_000)
    assert (planned.task, planned.guessed_front) == ("top:2", ("b", "c"))
    assert planned.bound_note == "nothing of the kind is known for question top:2, only for pareto, best and least-risk"
    assert "the answer to top:2 is b, c" in str(planned)


def test_a_study_keeps_its_task(tmp_path: Any) -> None:
    storage = f"sqlite:///{tmp_path}/studies.db"
    task = BetterThan("a, b", margin=0.01)
    Study.create("kept", ["a, b", "c"], reward_range=(0, 1), epsilon=0.1, task=task, storage=storage).close()
    with Study.load("kept", storage) as study:
        assert study.spec.search.question == task
        assert study.report().result.to_dict()["question"] == str(task)
        assert study.report().result.answer == ()
        with pytest.raises(ramgape.StudyError, match=r"question is better-than:control=a%2C b,margin=0.01 in"):
            Study.create(
                "kept", ["a, b", "c"], reward_range=(0, 1), epsilon=0.1, task="top:1", storage=storage, exist_ok=True
            )


def test_the_command_line() -> None:
    found = call_json("simulate", "random-beta:3", "--task", "top:2", "--epsilon", "0.05", "--json")
    assert found["task"] == "top:2"
    (run,) = found["runs"]
    assert {"answer", "exact", "regret", "eps_correct"} <= {*run}
    assert len(run["answer"]) == 2
    shown = call("simulate", "random-beta:3", "--task", "better-than:control=1", "--epsilon", "0.1").stdout
    assert " beats 1: +" in shown
    (header,) = [line.split() for line in shown.splitlines() if line.split()[:1] == ["option"]]
    assert "change" in header
    assert "control of question better-than must be one of" in complaint(
        "simulate", "random-beta:3", "--task", "better-than:control=x"
    )
    listed = call_json("list", "tasks", "--json")["tasks"]
    assert [row["name"] for row in listed] == list(QUESTIONS)
    assert "best[:max-risk=NUMBER]" in call("list", "tasks").stdout
