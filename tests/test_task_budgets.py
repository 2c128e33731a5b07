"""Tasks under a fixed budget: the evidence rule, successive rejects, sequential halving; other names of rules."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from ramgape import Arm, Bernoulli, Beta, Instance, InvalidSpec, Study, load_instance, replicate, simulate
from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec
from ramgape.simulation.simulation import simulated_spec

QUESTIONS = [
    "best",
    "best:max-risk=0.2",
    "best:max-risk=0.001",  # nobody is feasible
    "least-risk",
    "least-risk:min-mean=0.6",
    "best-score:weight=1.5",
    "top:3",
    "better-than:control=arm 1,margin=0.01",
    "better-than:control=arm 1,objective=both",
]
MEANS = (0.30, 0.45, 0.50, 0.62, 0.70, 0.81)
ARMS = Instance(
    "six arms",
    tuple(Arm(f"arm {i}", Beta(4.0 * (1 + i % 3) * m, 4.0 * (1 + i % 3) * (1 - m))) for i, m in enumerate(MEANS)),
    reward_range=(0.0, 1.0),
    noise="bounded",
)


@pytest.mark.parametrize("task", QUESTIONS)
def test_both_roads_agree(task: str) -> None:
    """Asked and told one by one, in chunks, and simulated at once."""
    spec = simulated_spec(ARMS, task=task, budget=301)
    assert spec.policy == "evidence"
    whole, by_pull, sampler = Engine(spec), Engine(spec), ARMS.sampler()
    whole.advance(sampler, np.random.default_rng(3), 301)
    generator = np.random.default_rng(3)
    while (arm := by_pull.ask()) is not None:
        by_pull.tell(arm, ARMS.draw(arm, generator))
    assert by_pull.arms.tobytes() == whole.arms.tobytes()
    assert by_pull.stopped == "budget"


@pytest.mark.parametrize("task", QUESTIONS)
def test_a_budget_finds_the_answer(task: str) -> None:
    """Every arm is at least four standard errors from where its place would change, by then; no run of 20 may fail.

    The ceilings and floors lie between the arms, and the least difference that decides is 0.05 in mean or risk. The
    chance that a correct program fails was not computed; in 400 other runs each none did.
    """
    found = replicate(ARMS, runs=20, seed=1, task=task, budget=6_000)
    assert all(run.exact for run in found.runs), [run.answer for run in found.runs]


def test_nobody_is_an_answer() -> None:
    result = simulate(ARMS, task="best:max-risk=0.001", budget=200)
    assert result.front == ()
    assert result.stopped == "budget"


@pytest.mark.parametrize("task", QUESTIONS)
def test_every_arm_is_looked_at_again(task: str) -> None:
    """A tenth of the pulls goes to the arm with the fewest: no arm may starve, whatever the first rewards were."""
    result = simulate(ARMS, task=task, budget=3_000)
    assert min(arm.pulls for arm in result.arms) >= 3_000 * 0.1 / 6 - 1


def reference_rejects(rewards: list[list[float]], budget: int, wanted: int) -> tuple[list[int], set[int]]:
    """Successive accepts and rejects as the papers have it: pulls of each arm, and the answer."""
    count = len(rewards)
    logarithm = 0.5 + sum(1 / rank for rank in range(2, count + 1))
    pulls, still, answer, missing = [2] * count, set(range(count)), set(), wanted
    for phase in range(1, count + 1):
        if phase < count:
            target = math.ceil((budget - count) / (logarithm * (count + 1 - phase)) - 1e-9)
            for arm in still:
                pulls[arm] = max(pulls[arm], target)
        means = {arm: float(np.mean(rewards[arm][: pulls[arm]])) for arm in still}
        order = sorted(still, key=lambda arm: -means[arm])
        inside, outside = order[:missing], order[missing:]
        gaps = {arm: means[arm] - means[outside[0]] if outside else math.inf for arm in inside}
        gaps |= {arm: means[inside[-1]] - means[arm] if inside else math.inf for arm in outside}
        clearest = max(still, key=lambda arm: (gaps[arm], arm in outside))
        still.remove(clearest)
        if clearest in inside:
            answer.add(clearest)
            missing -= 1
    return pulls, answer


def reference_halving(rewards: list[list[float]], budget: int) -> tuple[list[int], set[int]]:
    """Sequential halving for one arm, with all that was seen."""
    count = len(rewards)
    phases, target, pulls, still = math.ceil(math.log2(count)), 0, [2] * count, list(range(count))
    while len(still) > 1:
        target += budget // (len(still) * phases)
        for arm in still:
            pulls[arm] = max(pulls[arm], target)
        means = {arm: float(np.mean(rewards[arm][: pulls[arm]])) for arm in still}
        still = sorted(still, key=lambda arm: -means[arm])[: len(still) - len(still) // 2]
    return pulls, set(still)


def play(policy: str, task: str, rewards: list[list[float]], budget: int) -> tuple[list[int], set[int]]:
    """The rule on rewards that are there already; what rounding leaves over is not pulled."""
    engine = Engine(make_spec(range(len(rewards)), reward_range=(0, 1), policy=policy, task=task, budget=budget))
    while (engine.arms["accepted"] == 0).any():
        arm = engine.ask()
        assert arm is not None
        engine.tell(arm, rewards[arm][engine.arms["pulls"][arm]])
    return engine.arms["pulls"].tolist(), set(np.flatnonzero(engine.answer()).tolist())


@pytest.mark.parametrize("seed", range(8))
def test_successive_rejects_and_halving_are_what_they_are_called(seed: int) -> None:
    generator = np.random.default_rng(seed)
    count, budget = int(generator.integers(3, 12)), int(generator.integers(200, 900))
    rewards = generator.beta(2, generator.uniform(1, 4, count)[:, None], (count, budget)).tolist()
    for wanted in range(1, count):
        task = "best" if wanted == 1 and seed % 2 else f"top:{wanted}"
        expected = reference_rejects(rewards, budget, wanted)
        assert play("successive-rejects", task, rewards, budget) == expected
        assert len(expected[1]) == wanted
    assert play("sequential-halving", "best", rewards, budget) == reference_halving(rewards, budget)
    for wanted in range(1, count):
        assert len(play("sequential-halving", f"top:{wanted}", rewards, budget)[1]) == wanted


@pytest.mark.parametrize("policy", ["successive-rejects", "sequential-halving"])
@pytest.mark.parametrize("task", ["best", "top:3"])
def test_eliminating_rules_return_as_many_as_asked(policy: str, task: str) -> None:
    for budget in (12, 13, 40, 500):
        result = simulate(ARMS, policy=policy, task=task, budget=budget)
        assert len(result.answer) == (1 if task == "best" else 3)
        assert result.samples == budget


@pytest.mark.parametrize(("alias", "rule"), [("ugape", "ramgape"), ("lucb", "ra-lucb")])
def test_other_names_of_rules(alias: str, rule: str) -> None:
    options: dict[str, Any] = {"task": "best", "bound": "hoeffding", "epsilon": 0.2, "seed": 1}
    found = simulate(ARMS, policy=alias, **options)
    assert found == simulate(ARMS, policy=rule, **options)
    assert found.policy == rule
    for task in ("pareto", "best:max-risk=0.2", "least-risk"):
        with pytest.raises(InvalidSpec, match=r"policy must be one that serves this task \(auto, .*ramgape"):
            simulate(ARMS, policy=alias, epsilon=0.2, task=task)
    with pytest.raises(InvalidSpec, match=r"auto, ramgape, .*ugape, lucb\), got 'egp'"):
        simulate(ARMS, policy="egp", budget=100, task="best")


@pytest.mark.parametrize("policy", ["successive-rejects", "sequential-halving"])
def test_rules_of_tasks_serve_no_others(policy: str) -> None:
    for task in ("pareto", "best:max-risk=0.2", "best-score:weight=2", "better-than:control=arm 1"):
        with pytest.raises(InvalidSpec, match="policy must be one that serves this task"):
            simulate(ARMS, policy=policy, budget=100, task=task)
    with pytest.raises(InvalidSpec, match="which is for a fixed budget only"):
        simulate(ARMS, policy=policy, epsilon=0.1, task="best")


def test_a_study_of_such_a_rule_is_opened_again(tmp_path: Any) -> None:
    place = f"sqlite:///{tmp_path / 'studies.db'}"
    options: dict[str, Any] = {"reward_range": (0, 1), "budget": 30, "policy": "successive-rejects", "task": "top:2"}
    with Study.create("three", ["a", "b", "c"], storage=place, **options) as study:
        while pulls := study.ask(10):
            study.tell_many([(pull, {"a": 0.2, "b": 0.5, "c": 0.7}[pull.arm]) for pull in pulls])
        found = study.result(expect=False)
    with Study.load("three", place) as again:
        assert again.result(expect=False) == found
    assert found.answer == ("b", "c")


def test_coins_that_never_show_anything_do_no_harm() -> None:
    """Arms without any spread: errors come from the others, or are next to nothing."""
    instance = Instance(
        "coins",
        tuple(Arm(str(p), Bernoulli(p)) for p in (0.0, 0.3, 0.9, 1.0)),
        reward_range=(0.0, 1.0),
        noise="bounded",
    )
    for task in ("best", "top:2", "best:max-risk=0.1", "better-than:control=0.3,objective=both"):
        result = simulate(instance, task=task, budget=400)
        assert result.truth is not None
        assert result.truth.exact
    constant = Instance(
        "constant", tuple(Arm(str(p), Bernoulli(p)) for p in (0.0, 1.0)), reward_range=(0.0, 1.0), noise="bounded"
    )
    assert simulate(constant, task="best", budget=50).answer == ("1.0",)


@pytest.mark.long
@pytest.mark.parametrize(("budget", "most"), [(500, 1.15), (2_000, 1.0)])
def test_regret_is_that_of_the_better_rival(budget: int, most: float) -> None:
    """Over forty instances; measured .85 and .67 with 100 runs each, so that 40 leave a wide margin."""
    regrets = {
        policy: np.mean(
            [
                np.mean([run.regret for run in replicate(f"random-beta:{i}", runs=40, **options).runs])
                for i in range(1, 41)
                for options in [{"task": "best", "policy": policy, "budget": budget}]
                if 2 * len(load_instance(f"random-beta:{i}").names) <= budget
            ]
        )
        for policy in ("evidence", "successive-rejects", "sequential-halving")
    }
    assert regrets["evidence"] <= most * min(regrets["successive-rejects"], regrets["sequential-halving"])
