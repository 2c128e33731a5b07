"""A policy and a task from outside: passed as they are or by a name, and run on every road."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

import ramgape
from ramgape import (
    Arm,
    Beta,
    Instance,
    InvalidSpec,
    StorageError,
    Study,
    identify,
    load_instance,
    register,
    registry,
    replicate,
    simulate,
)
from ramgape.core.doubt import follow
from ramgape.core.kernel import kernel
from ramgape.core.pareto import Floats, Mask
from ramgape.policies.ramgape import decide as compiled_ramgape
from ramgape.questions import Boxes, Question, Wanted, make_question
from ramgape.questions.question import Places
from ramgape.search.engine import Engine
from ramgape.search.policy_state import PolicyState
from ramgape.search.result import updated
from ramgape.search.spec import make_spec
from ramgape.simulation.simulation import simulated_spec, watch

INSTANCE = load_instance("paper:exp3")
GOALS: list[dict[str, Any]] = [
    {"epsilon": 0.03, "bound": "paper", "max_trials": 400},
    {"epsilon": 0.05, "delta": 0.5, "max_trials": 3_000},
    {"budget": 300, "epsilon": 0.03, "bound": "budget", "returned": "smallest-doubt"},
]
each_goal = pytest.mark.parametrize("goal", GOALS, ids=["cap", "confidence", "budget"])


def own_ramgape(state: PolicyState) -> int:
    """RAMGapE, as a user would write it."""
    leader = state.leader
    rival = int(state.rival[leader])
    return rival if state.pulls[rival] < state.pulls[leader] else leader


def by_doubt(state: PolicyState) -> int:
    """The same without `leader`."""
    leader = int(state.doubt.argmax())
    rival = int(state.rival[leader])
    return rival if state.pulls[rival] < state.pulls[leader] else leader


def same_but_for_the_name(result: ramgape.Result, name: str) -> ramgape.Result:
    return updated(result, policy=name)


# --------------------------------------------------------------------------------------- policies


@each_goal
@pytest.mark.parametrize("policy", [own_ramgape, by_doubt, compiled_ramgape])
def test_a_policy_from_outside_runs_like_one_of_ours(policy: Callable[..., int], goal: dict[str, Any]) -> None:
    ours = simulate(INSTANCE, policy="ramgape", seed=3, **goal)
    found = simulate(INSTANCE, policy=policy, seed=3, **goal)
    assert found == same_but_for_the_name(ours, policy.__name__)


@each_goal
def test_identify_asks_it_as_well(goal: dict[str, Any]) -> None:
    def pull(name: str, rng: np.random.Generator) -> float:
        return INSTANCE.draw(INSTANCE.names.index(name), rng)

    asked: dict[str, Any] = {"reward_range": (0, 1), "risk": INSTANCE.risk, "alarm": "off"}  # as simulations are
    found = identify(pull, INSTANCE.names, policy=own_ramgape, seed=3, **asked, **goal)
    simulated = simulate(INSTANCE, policy=own_ramgape, seed=3, **goal)
    assert found == updated(simulated, truth=None)


def test_it_is_watched_like_one_of_ours() -> None:
    traces = []
    for policy in ("ramgape", own_ramgape):
        engine = Engine(simulated_spec(INSTANCE, policy=policy, budget=200, epsilon=0.03, bound="budget"))
        traces.append(np.concatenate([part.copy() for part in watch(engine, INSTANCE, 1)]))
    for column in ("arm", "regret", "missed"):
        assert np.array_equal(traces[0][column], traces[1][column], equal_nan=True)


def test_many_runs_of_it() -> None:
    goal: dict[str, Any] = {"budget": 60, "epsilon": 0.03, "bound": "budget"}
    ours = replicate(INSTANCE, runs=3, policy="ramgape", **goal)
    found = replicate(INSTANCE, runs=3, policy=own_ramgape, **goal)
    assert [run.pulls for run in found.runs] == [run.pulls for run in ours.runs]


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_what_it_sees_is_what_the_result_says(direction: str) -> None:
    states: list[dict[str, Any]] = []
    names = ("pulls", "mean", "risk", "mean_low", "mean_high", "risk_low", "risk_high", "in_answer")

    def policy(state: PolicyState) -> int:
        found = {name: getattr(state, name) for name in (*names, "doubt", "rival")}
        assert not any(each.flags.writeable for each in found.values())
        assert (state.samples, state.names, state.epsilon) == (found["pulls"].sum(), ("a", "b", "c"), 1.5)
        assert found["doubt"][state.leader] == found["doubt"].max()
        states.append(found)
        return state.samples % 3

    rewards = iter(np.random.default_rng(2).uniform(-10, 20, 1_000).tolist())
    limit: dict[str, Any] = {"reward_range": (-10, 20), "epsilon": 1.5, "max_trials": 40, "direction": direction}
    identify(lambda arm: next(rewards), ["a", "b", "c"], policy=policy, **limit)
    rewards = iter(np.random.default_rng(2).uniform(-10, 20, 1_000).tolist())
    before = identify(lambda arm: next(rewards), ["a", "b", "c"], policy=policy, **{**limit, "max_trials": 39})
    last, arms = states[33], before.arms
    assert last["pulls"].tolist() == [arm.pulls for arm in arms]
    assert last["mean"].tolist() == [arm.mean for arm in arms]
    assert last["risk"].tolist() == [arm.risk for arm in arms]
    assert list(zip(last["mean_low"], last["mean_high"], strict=True)) == [arm.mean_interval for arm in arms]
    assert list(zip(last["risk_low"], last["risk_high"], strict=True)) == [arm.risk_interval for arm in arms]
    assert [name for name, inside in zip("abc", last["in_answer"], strict=True) if inside] == list(before.front)


@pytest.mark.parametrize("answer", [3, -1, 1.0, "a", None, np.array([1, 2])])
def test_what_is_no_arm_is_refused(answer: Any) -> None:
    def stray(state: PolicyState) -> Any:
        return answer

    with pytest.raises(InvalidSpec, match=r"what policy stray returns must be an arm's number, from 0 to 1, got"):
        identify(lambda arm: 0.5, ["a", "b"], reward_range=(0, 1), epsilon=0.05, policy=stray)


def test_numbers_of_any_type_are_taken() -> None:
    result = identify(
        lambda arm: 0.5, ["a", "b"], reward_range=(0, 1), budget=20, policy=lambda state: np.argmin(state.pulls)
    )
    assert [arm.pulls for arm in result.arms] == [10, 10]
    assert result.policy == "<lambda>"


def test_a_name_of_ours_is_not_taken_for_ours() -> None:
    def ape(state: PolicyState) -> int:
        return 0

    spec = make_spec(["a", "b"], reward_range=(0, 1), epsilon=0.05, policy=ape, returned="smallest-doubt")
    assert spec.policy == "ape (a function)"


def test_pulls_under_way_are_seen_as_if_they_were_back() -> None:
    engine = Engine(make_spec(["a", "b"], reward_range=(0, 1), epsilon=0.05, policy=lambda state: state.pulls.argmin()))
    for arm in (0, 1, 0, 1):
        engine.tell(arm, 0.5)
    engine.reserve(0)
    assert engine.ask() == 1
    assert engine.arms["pulls"].tolist() == [2, 2]


def test_a_study_keeps_a_name_and_no_function() -> None:
    options: dict[str, Any] = {"arms": ["a", "b"], "reward_range": (0, 1), "epsilon": 0.05}
    allowed = r"policy must be a name, for a study, which keeps no code: `ramgape.register` gives it one, got"
    with pytest.raises(InvalidSpec, match=allowed):
        Study.create("kept", policy=own_ramgape, **options)
    register("policy", "test-own-ramgape", own_ramgape)
    study = Study.create("kept", policy="test-own-ramgape", **options)
    for pull in study.ask(4):
        study.tell(pull, 0.5)
    assert len(study.ask()) == 1


def test_a_study_is_not_opened_where_its_policy_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "_registered", {kind: {} for kind in registry.GROUPS})
    register("policy", "test-here", own_ramgape)
    storage = f"sqlite:///{tmp_path}/studies.db"
    Study.create("kept", ["a", "b"], reward_range=(0, 1), budget=10, policy="test-here", storage=storage).close()
    monkeypatch.setattr(registry, "_registered", {kind: {} for kind in registry.GROUPS})
    with pytest.raises(StorageError, match=r"got 'test-here'.*must be registered \(`ramgape.register`\), or installed"):
        Study.load("kept", storage)


# ------------------------------------------------------------------------------------------ tasks


@kernel
def compare_best(arms, memory, search, problem, changed):  # type: ignore[no-untyped-def]
    """The arm whose mean is nearest to being proved the best, and what keeps it from that."""
    for arm in range(len(arms)):
        if arms[arm].pulls < problem.initial_pulls:
            return
    search.ready = 1
    best = -1
    for arm in range(len(arms)):
        row = arms[arm]
        row.rival, row.doubt, row.exact, row.in_front = -1, -math.inf, 1, 0
        for other in range(len(arms)):
            if other != arm and arms[other].mean_high - row.mean_low > row.doubt:
                row.doubt, row.rival = arms[other].mean_high - row.mean_low, other
        if best < 0 or row.doubt < arms[best].doubt:
            best = arm
    arms[best].in_front = 1
    for arm in range(len(arms)):
        if arm != best:
            arms[arm].doubt, arms[arm].rival = arms[arm].mean_high - arms[best].mean_low, best
    follow(arms, search, problem, best, arms[best].doubt)


@dataclass(frozen=True)
class BestMean(Question):
    """The arm with the highest mean: the shortest task there is."""

    name: ClassVar[str] = "test-best"
    handicap: float = 0.0

    def compare(self) -> Any:
        return compare_best

    def tolerances(self, answer: Mask, boxes: Boxes) -> tuple[Floats, Places]:
        best = int(answer.argmax())
        others = np.where(answer, -math.inf, boxes.mean_high)
        found = np.where(answer, others.max(), boxes.mean_high) - boxes.mean_low[best]
        return found, np.where(answer, others.argmax(), best)

    def reasons(self, answer: Mask, means: Floats, risks: Floats, rivals: Places) -> Places:
        return np.full(len(answer), answer.argmax())

    def claim(self, wanted: Wanted) -> str:
        returned: Sequence[str] = wanted.returned
        return f"no arm has a mean {wanted.epsilon:g} or more above that of {', '.join(returned)}."

    def true_answer(self, means: Floats, risks: Floats) -> Mask:
        return np.arange(len(means)) == means.argmax()

    def gaps(self, means: Floats, risks: Floats) -> Floats:
        second = np.sort(means)[-2]
        return np.where(self.true_answer(means, risks), means.max() - second, means.max() - means)

    def is_right(self, answer: Mask, means: Floats, risks: Floats, epsilon: float) -> bool:
        return (
            bool(means[answer].min() > means.max() - epsilon) if epsilon else bool(means[answer].min() == means.max())
        )

    def right_answers(self, means: Floats, risks: Floats, epsilon: float) -> list[Mask]:
        return [self.true_answer(means, risks)]

    def is_only_answer(self, means: Floats, risks: Floats, epsilon: float) -> bool:
        return bool((means > means.max() - epsilon).sum() == 1)


THREE = Instance(
    "three",
    tuple(Arm(name, Beta(*shape)) for name, shape in {"a": (6, 4), "b": (4, 6), "c": (9, 1)}.items()),
    reward_range=(0, 1),
    noise="bounded",
)


@pytest.mark.parametrize("policy", ["auto", "ra-lucb", "round-robin", own_ramgape])
def test_a_task_from_outside_is_searched_proved_and_judged(policy: Any) -> None:
    result = simulate(THREE, task=BestMean(), epsilon=0.02, policy=policy, seed=1)
    assert (result.front, result.stopped) == (("c",), "confidence")
    assert result.guarantee.endswith(": no arm has a mean 0.02 or more above that of c.")
    assert result.truth is not None
    assert result.truth == ramgape.Truth(front=("c",), regret=0.0, exact=True, eps_correct=True)
    assert [(arm.certified, arm.dominated_by) for arm in result.arms] == [(True, "c"), (True, "c"), (True, None)]
    assert result.samples < simulate(THREE, epsilon=0.02, seed=1).samples


def test_a_task_under_a_budget() -> None:
    result = simulate(THREE, task=BestMean(), budget=400, seed=1)
    assert (result.front, result.policy, result.stopped) == (("c",), "ramgape", "budget")


@pytest.mark.parametrize("option", [{"policy": "evidence"}, {"policy": "ape"}, {"bound": "pairwise", "rho": 0}])
def test_what_is_made_for_another_question_is_refused(option: dict[str, Any]) -> None:
    with pytest.raises(InvalidSpec, match=r"must be (one that serves|another one for) (t|q)"):
        simulate(THREE, task=BestMean(), epsilon=0.02, **option)


def test_a_task_by_its_name() -> None:
    register("task", "test-best", BestMean)
    assert make_question("test-best") == BestMean()
    assert make_question("test-best:handicap=0.5") == make_question("test-best:0.5") == BestMean(0.5)
    assert str(BestMean(0.5)) == "test-best:handicap=0.5"
    assert make_question(str(BestMean(0.5))) == BestMean(0.5)
    assert str(make_question("pareto")) == "pareto"
    with pytest.raises(ramgape.UnknownName, match="question must be one of"):
        make_question("parteo")
    study = Study.create("best", arms=["a", "b"], reward_range=(0, 1), epsilon=0.05, task="test-best")
    assert study.report().result.front == ()
