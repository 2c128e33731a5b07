"""Searches about several outcomes per trial: answers, words, limits, known values, inputs that cannot be meant."""

from __future__ import annotations

import math

import numpy as np
import pytest

import ramgape
from ramgape.errors import InvalidReward, InvalidSpec, RamgapeError
from ramgape.search.engine import Engine
from ramgape.search.objectives import make_objectives
from ramgape.search.outcome_engine import OutcomeEngine
from ramgape.search.outcome_spec import make_outcome_spec
from ramgape.search.single_outcome import make_engine

MODELS = {
    "small": (0.80, 0.02, 1.0),
    "medium": (0.95, 0.10, 1.5),
    "large": (0.98, 0.40, 2.6),
    "tiny": (0.40, 0.01, 0.5),
    "old": (0.60, 0.20, 1.8),
}
OUTCOMES = {"accuracy": (0, 1), "cost": (0, 0.5), "latency": (0, 10)}


def ask(model: str, rng: np.random.Generator) -> dict[str, float]:
    """A trial whose outcomes depend on each other."""
    accuracy, cost, latency = MODELS[model]
    luck = rng.normal()
    return {
        "accuracy": float(rng.random() < accuracy),
        "cost": float(np.clip(cost * (1.0 + 0.1 * luck), 0.0, 0.5)),
        "latency": float(np.clip(latency * (1.0 + 0.1 * luck), 0.0, 10.0)),
        "unasked": float(luck),
    }


def search(**options: object) -> ramgape.Result:
    return ramgape.identify(ask, list(MODELS), seed=1, outcomes=OUTCOMES, **options)  # type: ignore[arg-type]


def test_pareto_under_a_limit() -> None:
    result = search(
        objectives=["maximize mean(accuracy)", "minimize mean(cost)"],
        constraints=["mean(latency) <= 2"],
        epsilon={"accuracy": 0.1, "cost": 0.03, "latency": 0.2},
    )
    assert result.stopped == "confidence"
    assert {"small", "medium"} <= set(result.answer)
    assert not {"large", "old"} & set(result.answer)
    assert "each of" in result.guarantee
    assert "mean(latency) at most 2.2" in result.guarantee
    assert "by 0.1 or more in accuracy and, at once, by 0.03 or more in cost" in result.guarantee
    assert result.certified is not None
    assert result.certified.kind == "finite-sample"
    assert result.arm("large").constraints["mean(latency) <= 2"].verdict == "missed"
    assert list(result.arm("small").objectives) == ["mean(accuracy)", "mean(cost)"]
    assert "breaks mean(latency) <= 2" in result.sentence
    frame = result.trials_frame()  # type: ignore[attr-defined]
    assert len(frame) == result.samples
    assert list(frame.columns) == ["arm", "accuracy", "cost", "latency", "unasked"]
    assert "mean(latency) <= 2 verdict" in result.to_frame().columns


def test_best_under_limits_and_nobody() -> None:
    result = search(
        objectives="accuracy",
        constraints=["mean(cost) <= 0.15", "quantile(latency, 0.95) <= 1.5"],
        epsilon={"accuracy": 0.1},
    )
    assert result.answer == ("small",)
    assert result.task == "best"
    nobody = search(objectives="accuracy", constraints="mean(latency) <= 0.1", epsilon={"accuracy": 0.1})
    assert nobody.answer == ()
    assert nobody.stopped == "confidence"
    assert nobody.sentence == "No option keeps mean(latency) <= 0.1 (95% sure)."
    assert "no arm keeps mean(latency) at most 0.1." in nobody.guarantee


def test_above_a_threshold() -> None:
    result = search(objectives="accuracy", question="above:0.7", epsilon=0.05)
    assert result.answer == ("small", "medium", "large")
    assert (
        "mean(accuracy) of small, medium, large is above 0.65; mean(accuracy) of tiny, old is below 0.75"
        in result.guarantee
    )


@pytest.mark.parametrize(
    ("direction", "question", "kept"), [("maximize", "above:0.8", True), ("minimize", "above:0.8", False)]
)
def test_above_for_one_arm_with_a_plain_reward(direction: str, question: str, kept: bool) -> None:
    def pull(arm: str, rng: np.random.Generator) -> float:
        return float(rng.random() < 0.95)

    result = ramgape.identify(pull, ["x"], question=question, reward_range=(0, 1), direction=direction, seed=1)
    assert result.stopped == "confidence"
    assert (result.answer == ("x",)) == kept
    limit = next(iter(result.arm("x").constraints.values()))
    assert limit.low >= 0.8  # what is proved is in the interval


def test_the_cheapest_arm_that_is_about_as_good() -> None:
    result = search(objectives="accuracy, -cost", question="cheapest:within=0.2", epsilon={"cost": 0.02})
    assert result.answer == ("medium",)
    assert "medium is less than 0.2 behind the best in accuracy" in result.guarantee


def test_better_than_a_control_with_guardrails() -> None:
    result = search(
        objectives="accuracy",
        question="better-than:control=old",
        constraints=["mean(cost) <= 1.1 * control", "mean(latency) <= control + 0.2"],
        epsilon={"accuracy": 0.1, "cost": 0.02, "latency": 0.1},
    )
    assert result.answer == ("small", "medium")
    assert "large (breaks mean(cost) <= 1.1 * control and breaks mean(latency) <= control + 0.2)" in result.sentence
    assert result.control == "old"


def test_an_arm_that_ties_with_the_control_is_not_said_to_beat_it() -> None:
    """6 searches at delta 1e-6; an objective has no tolerance where "better" is said, a guardrail has."""
    words = set()
    for seed in range(6):
        rng = np.random.default_rng(seed)
        result = ramgape.identify(
            lambda arm, rng=rng: {"x": float(rng.random() < (0.9 if arm == "good" else 0.5)), "cost": 0.3},
            ["old", "same", "good"],
            question="better-than:control=old",
            outcomes={"x": (0, 1), "cost": (0, 1)},
            objectives="x",
            constraints="mean(cost) <= control",
            epsilon={"x": 0.3, "cost": 0.2},
            delta=1e-6,
        )
        assert result.stopped == "confidence"
        assert result.answer == ("good",)
        assert result.sentence.startswith("good beats old")
        assert "good is, against old, better in x and mean(cost) <= control (within 0.2)" in result.guarantee
        failed = "at least 0.3 better in x and mean(cost) <= control by 0.2 or more"
        assert f"same does not meet all of this against old: {failed}" in result.guarantee
        words |= {result.arm("same").word}
    assert words == {"not better"}


def test_what_is_said_of_a_limit_agrees_with_the_estimate() -> None:
    """An arm inside its limit by less than the tolerance is never called broken, nor the other way round."""
    for seed, mean in ((1, 0.45), (2, 0.5), (3, 0.55), (4, 0.48)):
        rng = np.random.default_rng(seed)
        result = ramgape.identify(
            lambda arm, rng=rng, mean=mean: {
                "x": rng.random(),
                "y": float(rng.random() < (mean if arm == "a" else 0.9)),
            },
            ["a", "b"],
            outcomes={"x": (0, 1), "y": (0, 1)},
            objectives="x",
            constraints="mean(y) <= 0.5",
            epsilon={"x": 0.3, "y": 0.3},
        )
        for arm in result.arms:
            limit = arm.constraints["mean(y) <= 0.5"]
            assert limit.verdict in ("open", "kept" if limit.estimate <= 0.5 else "missed")
        assert all(result.arm(name).constraints["mean(y) <= 0.5"].verdict == "kept" for name in result.answer)


def test_top_of_a_risk() -> None:
    result = search(objectives="min quantile(latency, 0.9)", question="top:2", epsilon={"latency": 0.2})
    assert result.answer == ("small", "tiny")


def test_known_values_cost_nothing_and_ties_are_settled() -> None:
    prices = {"small": 1, "medium": 1, "large": 3, "tiny": 0.1, "old": 1}
    result = ramgape.identify(
        ask,
        list(MODELS),
        seed=1,
        outcomes={"accuracy": (0, 1)},
        known={"price": prices},
        objectives="accuracy, -price",
        epsilon={"accuracy": 0.05, "price": 0},
    )
    assert "medium" in result.answer
    assert not {"small", "old"} & set(result.answer)  # of equal prices the more accurate
    assert "by anything in price" in result.guarantee
    assert result.arm("large").objectives["mean(price)"].low == 3.0


def test_many_objectives_say_that_limits_serve_better() -> None:
    names = [f"x{place}" for place in range(4)]

    def pull(arm: int, rng: np.random.Generator) -> dict[str, float]:
        return {
            name: float(np.clip(rng.normal(0.9 if arm == place else 0.4, 0.1), 0, 1))
            for place, name in enumerate(names)
        }

    with pytest.warns(ramgape.errors.RamgapeWarning, match="limits"):
        result = ramgape.identify(
            pull,
            range(4),
            seed=1,
            outcomes=dict.fromkeys(names, (0, 1)),
            objectives=names,
            epsilon=dict.fromkeys(names, 0.2),
        )
    assert len(result.answer) == 4


def test_a_budget_is_spent_and_claims_nothing() -> None:
    result = search(objectives="accuracy, -cost", constraints="mean(latency) <= 2", budget=400)
    assert result.samples == 400
    assert set(result.answer) >= {"medium"}
    assert not {"large", "old"} & set(result.answer)
    assert result.arm("medium").pulls > 20


def test_items_and_workers() -> None:
    scores = (
        np.random.default_rng(3).random((5, 200, 2)) * 0.2 + np.array([[0.1], [0.5], [0.7], [0.3], [0.5]])[:, :, None]
    )

    def ask_item(arm: int, item: int) -> dict[str, float]:
        return {"accuracy": float(scores[arm, item, 0]), "cost": float(scores[arm, item, 1])}

    common = {"outcomes": {"accuracy": (0, 1), "cost": (0, 1)}, "objectives": "accuracy, -cost", "seed": 1}
    result = ramgape.identify(ask_item, range(5), items=range(200), epsilon={"accuracy": 0.05, "cost": 0.05}, **common)  # type: ignore[arg-type]
    assert result.goal_reached
    assert "for statistics over these 200 items, asked in random order" in result.guarantee
    means = scores.mean(axis=1)
    front = {
        str(i) for i in range(5) if not any(means[j, 0] > means[i, 0] and means[j, 1] < means[i, 1] for j in range(5))
    }
    exact = ramgape.identify(
        ask_item, range(5), items=range(200), epsilon={"accuracy": 0, "cost": 0}, workers=3, **common
    )  # type: ignore[arg-type]
    assert set(exact.answer) == front


def test_every_policy_of_the_pareto_set() -> None:
    for policy in ("ramgape", "round-robin", "ra-lucb", "ape", "psi-unif-elim"):
        result = search(
            objectives="accuracy, -cost, -latency",
            epsilon={"accuracy": 0.2, "cost": 0.1, "latency": 0.5},
            policy=policy,
        )
        assert result.stopped == "confidence", policy
        assert {"tiny", "medium"} <= set(result.answer), policy
    for policy in ("ege-sr", "ege-sh"):
        result = search(objectives="accuracy, -cost, -latency", budget=400, policy=policy)
        assert "tiny" in result.answer, policy
    with pytest.raises(InvalidSpec, match="serves several outcomes"):
        search(objectives="accuracy, -cost", epsilon={"accuracy": 0.2, "cost": 0.1}, policy="hvi-pareto")


def test_history_progress_and_callback() -> None:
    seen: list[ramgape.Progress] = []
    result = search(
        objectives="accuracy, -cost", epsilon={"accuracy": 0.2, "cost": 0.1}, callback=lambda p: seen.append(p)
    )
    assert len(seen) == result.samples
    assert seen[-1].unproved == 0
    assert result.history
    assert result.plot() is not None


BAD = [
    ({"objectives": "acuracy", "epsilon": 0.1}, "did you mean 'accuracy'"),
    ({"objectives": "accuracy, -cost", "epsilon": 0.1}, "epsilon must be"),
    ({"objectives": "accuracy, -cost", "epsilon": {"accuracy": 0.1}}, "given for 'mean\\(cost\\)'"),
    ({"objectives": "accuracy"}, "epsilon must be given"),
    ({"objectives": "accuracy/0", "epsilon": 0.1}, "character 10"),
    (
        {"objectives": "accuracy, -cost", "question": "top:1", "epsilon": {"accuracy": 0.1, "cost": 0.1}},
        "exactly one objective",
    ),
    ({"objectives": "accuracy", "constraints": "mean(cost) <= 1.1 * control", "epsilon": 0.1}, "epsilon|control"),
    ({"objectives": "accuracy", "reward_range": (0, 1), "epsilon": 0.1}, "absent with objectives"),
    ({"objectives": "accuracy", "question": "best-score:weight=1", "epsilon": 0.1}, "question must be one of"),
    ({"epsilon": 0.1}, "objectives must be given"),
]


@pytest.mark.parametrize(("options", "message"), BAD)
def test_what_cannot_be_meant_is_one_line(options: dict[str, object], message: str) -> None:
    with pytest.raises(RamgapeError, match=message) as caught:
        search(**options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"cost": 0.1}, "outcome accuracy"),
        ({"accuracy": math.nan, "cost": 0.1}, "outcome accuracy of arm b"),
        ({"accuracy": 2.0, "cost": 0.1}, "from 0 to 1"),
        (0.5, "a mapping of outcomes by name"),
        ((0.5, 0.1), "positions are easily confused"),
    ],
)
def test_a_bad_trial_loses_nothing(given: object, message: str) -> None:
    def pull(arm: str) -> object:
        made.append(arm)
        return given if arm == "b" and made.count("b") > 3 else {"accuracy": 0.5, "cost": 0.1}

    made: list[str] = []
    with pytest.raises(InvalidReward, match=message) as caught:
        ramgape.identify(
            pull,
            ["a", "b"],
            outcomes={"accuracy": (0, 1), "cost": (0, 1)},
            objectives="accuracy, -cost",
            epsilon={"accuracy": 0.01, "cost": 0.01},
        )
    assert "\n" not in str(caught.value)
    assert caught.value.partial_result.samples == len(made) - 1  # type: ignore[attr-defined]


def test_a_missing_outcome_may_count_as_the_worst() -> None:
    def pull(arm: str, rng: np.random.Generator) -> dict[str, float]:
        found = {"accuracy": float(rng.random() < 0.9)}
        return found if arm == "slow" and rng.random() < 0.8 else {**found, "latency": 0.3}

    result = ramgape.identify(
        pull,
        ["fast", "slow"],
        seed=1,
        outcomes={"accuracy": (0, 1), "latency": {"range": (0, 1), "failure": "worst"}},
        objectives="accuracy",
        constraints="mean(latency) <= 0.6",
        epsilon={"accuracy": 0.2, "latency": 0.05},
    )
    assert result.answer == ("fast",)
    lacking = result.trials_frame().set_index("arm")["latency"].isna().groupby(level=0).sum()
    assert result.quality.missing == {"slow": {"latency": lacking["slow"]}}
    assert lacking["slow"] > 5
    assert f"missing for slow, counted as the worst: {lacking['slow']} of latency" in " ".join(str(result).split())


SHAPES = {"a": (8, 2), "b": (20, 20), "c": (2, 1), "d": (30, 12), "e": (5, 9)}
ALIKE: list[tuple[dict[str, object], list[str], dict[str, object]]] = [
    ({"risk": "std", "epsilon": (0.05, 0.04)}, ["max mean(x)", "min std(x)"], {}),
    ({"risk": "std", "epsilon": (0.05, 0.04), "direction": "minimize"}, ["min std(x)", "min mean(x)"], {}),
    ({"risk": "cvar:0.2", "epsilon": (0.1, 0.1)}, ["max mean(x)", "max cvar(x, 0.2)"], {}),
    ({"risk": "std", "epsilon": (0.1, 0.1)}, ["max mean(x)", "min std(x)"], {"policy": "ramgape"}),
    ({"risk": "std", "epsilon": (0.1, 0.1)}, ["max mean(x)", "min std(x)"], {"items": range(60)}),
    ({"risk": "std", "budget": 200}, ["max mean(x)", "min std(x)"], {}),
]


@pytest.mark.parametrize(("reward", "objectives", "more"), ALIKE)
def test_mean_and_risk_of_one_outcome_are_decided_as_of_a_reward(
    reward: dict[str, object], objectives: list[str], more: dict[str, object]
) -> None:
    def made(*given: object) -> float:
        rng = given[-1]
        assert isinstance(rng, np.random.Generator)
        value = float(rng.beta(*SHAPES[str(given[0])]))
        made_so_far.append((given[0], value))
        return value

    def pull(arm: str, rng: np.random.Generator) -> float:
        return made(arm, rng)

    def pull_item(arm: str, item: int, rng: np.random.Generator) -> float:
        return made(arm, rng)

    def named(*given: object) -> dict[str, float]:
        return {"x": made(*given)}

    takes_items = pull_item if "items" in more else pull
    made_so_far: list[tuple[object, float]] = []
    one = ramgape.identify(takes_items, list(SHAPES), reward_range=(0, 1), seed=3, **reward, **more)  # type: ignore[arg-type]
    first, made_so_far = made_so_far, []
    names = [str(each) for each in make_objectives(objectives)]
    tolerances = reward.get("epsilon")
    if isinstance(tolerances, tuple):
        in_order = tolerances if "mean" in names[0] else tolerances[::-1]
        more = {**more, "epsilon": dict(zip(names, in_order, strict=True))}
    else:
        more = {**more, "budget": reward["budget"]}

    def pull_named(arm: str, rng: np.random.Generator) -> dict[str, float]:
        return named(arm, rng)

    def pull_named_item(arm: str, item: int, rng: np.random.Generator) -> dict[str, float]:
        return named(arm, rng)

    takes = pull_named_item if "items" in more else pull_named
    options = {"outcomes": {"x": (0, 1)}, "objectives": objectives, "seed": 3, **more}
    other = ramgape.identify(takes, list(SHAPES), **options)  # type: ignore[arg-type]
    assert made_so_far == first
    assert other.answer == one.answer
    assert other.stopped == one.stopped
    assert other.trials == one.trials


def test_trials_in_progress_are_decided_as_of_a_reward() -> None:
    """Three at a time; by engines, since the order of what threads do is not theirs to decide."""
    options = {"outcomes": {"x": (0, 1)}, "objectives": ["max mean(x)", "min std(x)"], "items": range(60)}
    spec = make_outcome_spec(list(SHAPES), options | {"epsilon": {"mean(x)": 0.1, "std(x)": 0.1}})
    assert spec.alone is not None
    one, other = Engine(spec.alone, 3), make_engine(spec, 3)
    rng = np.random.default_rng(3)
    while one.stopped is None:
        asked = []
        while len(asked) < 3 and (arm := one.ask()) is not None:
            assert other.ask() == arm
            asked.append((arm, one.item_of(arm), other.item_of(arm)))
            one.reserve(arm)
            other.reserve(arm)
        for arm, item, same in asked:
            assert item == same
            value = float(rng.beta(*SHAPES[list(SHAPES)[arm]]))
            for engine, reward in ((one, value), (other, {"x": value})):
                engine.release(arm)
                if engine.stopped is None:
                    engine.tell(arm, reward)  # type: ignore[arg-type]
    assert other.stopped == one.stopped
    assert other.samples == one.samples > 30
    assert (other.answer() == one.answer()).all()


def test_a_copy_goes_on_alike() -> None:
    options = {"outcomes": OUTCOMES, "objectives": "accuracy, -cost", "epsilon": {"accuracy": 0.05, "cost": 0.01}}
    engine = OutcomeEngine(make_outcome_spec(list(MODELS), options))
    rng = np.random.default_rng(5)
    for _ in range(60):
        arm = engine.ask()
        assert arm is not None
        engine.tell(arm, engine.check_outcome(ask(list(MODELS)[arm], rng), arm).reward)
    other = engine.copy()
    for _ in range(30):
        arm = engine.ask()
        assert arm == other.ask()
        assert arm is not None
        outcomes = engine.check_outcome(ask(list(MODELS)[arm], rng), arm).reward
        engine.tell(arm, outcomes)
        other.tell(arm, outcomes)
    assert (engine.arms["estimate"] == other.arms["estimate"]).all()
    assert engine.doubt == other.doubt


def test_outcomes_of_any_kind_say_what_may_have_gone_unseen() -> None:
    rng = np.random.default_rng(1)
    options: dict[str, object] = {"outcomes": {"x": "unknown", "y": (0, 1)}, "objectives": ["x", "y"]}
    result = ramgape.identify(
        lambda arm: {"x": float(rng.normal(arm == "b")), "y": 0.5}, ["a", "b"], epsilon={"x": 0.8, "y": 0.1}, **options
    )
    assert result.stopped == "confidence"
    (fewest,) = {min(result.arm(name).trials for name in result.answer)}
    chance = 1.0 - 0.05 ** (1.0 / fewest)
    assert chance in [pytest.approx(each) for each in result.quality.unseen.values()]
    assert "An event with probability up to " in result.guarantee
    assert f"may have gone unseen in the {fewest} trials of " in result.guarantee
    assert "may have gone unseen" in " ".join(str(result).split())


def test_mean_and_risk_of_two_values_ask_nothing_new() -> None:
    rng = np.random.default_rng(1)
    options: dict[str, object] = {"outcomes": {"x": (0, 1)}, "epsilon": {"mean(x)": 0.2, "std(x)": 0.2}}
    objectives = ["max mean(x)", "min std(x)"]
    for pull, noted in ((lambda arm: {"x": float(rng.random() < 0.5)}, True), (lambda arm: {"x": rng.random()}, False)):
        result = ramgape.identify(pull, ["a", "b"], objectives=objectives, max_trials=200, **options)
        assert any("all values of x are 0 or 1" in note for note in result.notes) == noted


def test_what_is_proved_after_a_budget_is_said_if_it_tells_arms_apart() -> None:
    pull = {"a": (0.9, 0.1), "b": (0.2, 0.9), "c": (0.1, 0.1)}
    seen = set()
    for budget in (30, 2_000):
        rng = np.random.default_rng(1)
        result = ramgape.identify(
            lambda arm, rng=rng: {name: float(rng.random() < p) for name, p in zip("xy", pull[arm], strict=True)},
            list(pull),
            outcomes={"x": (0, 1), "y": (0, 1)},
            objectives=["x", "y"],
            epsilon={"x": 0.1, "y": 0.1},
            budget=budget,
        )
        spread = {name: max(arm.objectives[f"mean({name})"].estimate for arm in result.arms) for name in "xy"}
        if result.certified is None:
            assert (result.status, result.sentence.startswith("Best guess: ")) == ("best guess", True)
        else:
            assert min(result.certified.tolerance[f"mean({name})"] - spread[name] for name in "xy") < 0.0
            assert (result.status, result.sentence.startswith("Keep ")) == ("certified", True)
            assert "% sure)" in result.sentence
        seen.add(result.status)
    assert seen == {"best guess", "certified"}


def test_a_threshold_without_a_tolerance_is_kept_or_at_most_reached() -> None:
    """A search that is capped names what is proved of single arms; at a tie nothing is "below"."""
    rng = np.random.default_rng(1)
    result = ramgape.identify(
        lambda arm: {"x": float(rng.random() < {"low": 0.1, "edge": 0.5, "high": 0.9}[arm])},
        ["low", "edge", "high"],
        outcomes={"x": (0, 1)},
        objectives="x",
        question="above:0.5",
        epsilon={"x": 0},
        max_trials=2_000,
    )
    assert result.stopped == "cap"
    assert "mean(x) of high is above 0.5; mean(x) of low is at most 0.5." in result.guarantee


@pytest.mark.parametrize("epsilon", [0.0, 0.02])
def test_an_arm_that_ties_with_the_control_does_not_take_all_trials(epsilon: float) -> None:
    """With probability 0.95 what is proved is true; the seed is fixed."""
    rng, rates = np.random.default_rng(1), {"old": 0.5, "same": 0.5, "good": 0.9, "bad": 0.1}
    result = ramgape.identify(
        lambda arm: {"x": float(rng.random() < rates[arm])},
        list(rates),
        question="better-than:control=old",
        outcomes={"x": (0, 1)},
        objectives="x",
        epsilon={"x": epsilon},
        max_trials=600,
    )
    words = {arm.name: arm.word for arm in result.arms}
    assert words == {"old": "control", "same": "open", "good": "better", "bad": "not better"}
    assert result.sentence == "good beats old; not better: bad (95% sure); same is open."
    assert "So far: With probability at least 0.95" in result.guarantee
    assert "good is, against old, better in x; bad is not, against old, " in result.guarantee
