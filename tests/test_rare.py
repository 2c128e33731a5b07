"""Rare events in rewards of unknown kind: what claims survive, how many trials `rare` takes, and older studies."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ramgape import InvalidSpec, Outcome, analyze, identify
from ramgape.core.rare import note_extremes, survives_unseen, unseen_chance
from ramgape.core.rows import Rows
from ramgape.search.engine import Engine
from ramgape.search.inference import infer
from ramgape.search.outcome_spec import make_any_spec
from ramgape.search.single_outcome import make_engine
from ramgape.search.spec import make_spec
from ramgape.studies.specification import StudySpec, make_study_spec
from tests.rare_events import FAMILIES, RULES, searches

BEST: dict[str, Any] = {"question": "best", "epsilon": 0.02, "alarm": "off"}


def search(names: str = "ab", **options: Any) -> Engine:
    return Engine(make_spec(list(names), **{**BEST, **options}))


def tell(engine: Engine, *rewards: Any) -> Engine:
    for arm, values in enumerate(rewards):
        engine.add_up(np.full(len(values), arm), np.asarray(values, float))
    engine.look()
    return engine


def play(engine: Engine, reward: Any, seed: int) -> int:
    """Search to the end; the trials made."""
    generator = np.random.default_rng(seed)
    while (arm := engine.ask()) is not None:
        engine.tell(arm, reward(generator, arm))
    return engine.samples


def smooth(count: int, seed: int, mean: float) -> np.ndarray:
    return np.random.default_rng(seed).normal(mean, 0.02, count)


# --- the pooled guard -------------------------------------------------------------------------------------------------


def test_extremes_are_those_of_the_rewards_however_they_came() -> None:
    rewards = np.random.default_rng(1).normal(size=(2, 50))
    one_by_one, at_once = search(), search()
    for arm, values in enumerate(rewards):
        for value in values:
            one_by_one.tell(arm, float(value))
    at_once.add_up(np.repeat([0, 1], 50), rewards.reshape(-1))
    for engine in (one_by_one, at_once):
        assert np.array_equal(engine.arms["lowest"], rewards.min(axis=1))
        assert np.array_equal(engine.arms["highest"], rewards.max(axis=1))


def test_a_claim_survives_an_unseen_event_as_large_as_any_arm_has_shown() -> None:
    """By the formula: lead + epsilon >= q(n) D, and q(n') U, with D and U of all arms, also of one not compared."""
    engine = tell(search("abc"), smooth(40, 1, 1.0), smooth(60, 2, 0.9), [*smooth(30, 3, 0.1), -9.0, 8.0])
    arms, _, _, (problem,) = Rows.of(engine.state)
    note_extremes(arms)
    third = engine.arms[2]
    assert (arms[0].fall, arms[1].rise) == (third["average"] + 9.0, 8.0 - third["average"])
    lead = arms[0].average - arms[1].average
    loss, gain = ((1.0 - 0.05 ** (1.0 / count)) * size for count, size in ((40, arms[0].fall), (60, arms[0].rise)))
    assert unseen_chance(problem, 40) == pytest.approx(1.0 - 0.05 ** (1 / 40), rel=1e-12)
    least = max(loss, gain) - lead
    assert survives_unseen(arms[0], arms[1], problem, least + 1e-9)
    assert not survives_unseen(arms[0], arms[1], problem, least - 1e-9)


def test_one_catastrophe_anywhere_holds_a_certificate_back() -> None:
    """Twenty trials of a and b are enough, until one in 5,000 of c shows a loss of 10: then at that very price."""
    calm = smooth(20, 1, 1.0), smooth(20, 2, 0.9), smooth(5_000, 3, 0.5)
    struck = (*calm[:2], [*calm[2][:-1], -10.0])
    assert search_is_proved(tell(search("abc"), *calm))
    assert search_is_proved(tell(Engine(replace(search("abc").spec, guarded=False)), *struck))
    engine = tell(search("abc"), *struck)
    assert not search_is_proved(engine)
    result, average = infer(engine), engine.arms["average"]
    price = (1.0 - 0.05 ** (1.0 / 20.0)) * (average[2] + 10.0) - (average[0] - average[1])
    assert result.certified_epsilon == pytest.approx(price, rel=0.02)


def search_is_proved(engine: Engine) -> bool:
    return engine.stopped == "confidence" and infer(engine).goal_reached


def test_a_search_goes_on_until_the_claim_survives() -> None:
    """Two arms far apart: stopped after 20 trials without an event; with timeouts in both not before n has grown."""

    def reward(generator: np.random.Generator, arm: int) -> float:
        return -10.0 if generator.random() < 0.1 else -(0.2, 5.2)[arm] + 0.02 * float(generator.normal())

    engine = search()
    play(engine, reward, 5)
    arms, _, (record,), (problem,) = Rows.of(engine.state)
    assert engine.stopped == "confidence"
    assert survives_unseen(arms[0], arms[1], problem, record.epsilon)
    assert engine.samples > 30


@pytest.mark.parametrize("runs", [60, pytest.param(400, marks=pytest.mark.long)])
def test_timeouts_in_both_arms_seldom_deceive(runs: int) -> None:
    """2% timeouts of 10 in both, a gap of .05: 15% of the searches were wrong before, under 1% with the guard.

    A search that is wrong in 4% of the cases has more than 15% of 60 wrong with a chance of 5e-4, of 400 never.
    """

    def reward(generator: np.random.Generator, arm: int) -> float:
        return -10.0 if generator.random() < 0.02 else -(0.2, 0.25)[arm] + 0.02 * float(generator.normal())

    wrong = 0
    for seed in range(runs):
        engine = search(max_trials=1_000)
        play(engine, reward, seed)
        wrong += engine.stopped == "confidence" and not engine.answer()[0]
    assert wrong <= 0.15 * runs


FEW = ("latency in s, 2% of the trials of A take 10 s", "accuracy, 5% of the trials of A diverge")


@pytest.mark.parametrize("family", [*FEW, *(pytest.param(name, marks=pytest.mark.long) for name in FAMILIES)])
def test_rare_events_are_missed_as_often_as_the_docs_say(family: str) -> None:
    """20 or 300 searches; the docs have 300 of other seeds. A share as far off as this has a probability of 1e-5.

    Without the guard and with it, and with a tenth of the seeds for the quick ones.
    """
    runs = 20 if family in FEW else 300
    page = (Path(__file__).parents[1] / "docs/theory/rewards-of-any-kind.md").read_text(encoding="utf-8")
    (row,) = (line for line in page.splitlines() if line.startswith(f"| {family} |"))
    shares = [float(cell.partition("%")[0]) / 100.0 for cell in row.split("|")[2:-1]]
    for rule, share in list(zip(RULES, shares, strict=True))[: 2 if runs == 20 else None]:
        found = searches(family, rule, runs, seed=9_000)
        error = math.sqrt((share * (1.0 - share) + 0.01) * (1.0 / runs + 1.0 / 300))
        assert abs(found.wrong / runs - share) <= 4.5 * error


# --- rare -------------------------------------------------------------------------------------------------------------


def test_rare_gives_the_arms_of_the_answer_enough_trials() -> None:
    """ln .05 / ln .98 = 148.3; the loser needs none of them."""

    def reward(generator: np.random.Generator, arm: int) -> float:
        return (1.0, 0.5)[arm] + 0.02 * float(generator.normal())

    free, asked = search(), search(rare=0.02)
    play(free, reward, 1)
    play(asked, reward, 1)
    assert free.samples == 20
    assert asked.stopped == "confidence"
    assert 149 <= asked.arms["pulls"][0] <= 151
    assert asked.arms["pulls"][1] <= 12
    assert infer(asked).goal_reached


def test_rare_holds_for_a_finished_table() -> None:
    rewards = {"a": smooth(100, 1, 1.0).tolist(), "b": smooth(100, 2, 0.5).tolist()}
    options: dict[str, Any] = {"question": "best", "epsilon": 0.02, "shared": False}
    assert analyze(rewards, **options).result.goal_reached
    assert analyze(rewards, **options, rare=0.05).result.goal_reached
    result = analyze(rewards, **options, rare=0.02).result
    assert not result.goal_reached
    assert "rare=0.02 asks for 149 trials of each arm of the answer: a had fewer" in result.notes


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rare": 0.0}, "rare must be between 0 and 1"),
        ({"rare": "often"}, "rare must be between 0 and 1"),
        ({"rare": 0.02, "reward_range": (0, 1)}, "rare must be absent unless the assumption is"),
        ({"rare": 0.02, "epsilon": None, "budget": 100}, "rare must be absent with a budget"),
        ({"rare": 0.02, "question": "least-risk"}, "rare must be absent where arms are not compared in pairs"),
    ],
)
def test_rare_is_refused_where_it_means_nothing(options: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidSpec, match=words):
        make_spec(list("ab"), **{**BEST, **options})


def test_rare_is_an_option_of_identify() -> None:
    generator = np.random.default_rng(3)

    def pull(arm: str) -> float:
        return {"a": 1.0, "b": 0.0}[arm] + 0.1 * float(generator.normal())

    result = identify(pull, ["a", "b"], epsilon=0.2, question="best", rare=0.1)
    assert result.goal_reached
    assert result.arm("a").pulls >= 29  # ln .05 / ln .9


# --- studies ----------------------------------------------------------------------------------------------------------


def test_a_study_follows_the_rule_it_began_with() -> None:
    """A text without the mark is that of an older study: no guard, and every arm waits for finite boxes."""
    new = make_study_spec(list("ab"), {**BEST, "rare": 0.1})
    read = StudySpec.from_text(new.to_text())
    assert (read.search.guarded, read.search.rare) == (True, 0.1)
    old = replace(new, search=replace(new.search, guarded=False, rare=None))
    assert "guarded" not in old.to_text()
    assert "rare" not in old.to_text()
    engine = Engine(StudySpec.from_text(old.to_text()).search)
    assert float(engine.problem["rare_level"][0]) == 0.0
    assert not old.differences(replace(new, search=replace(new.search, rare=None)))


def test_an_older_study_asks_as_it_did() -> None:
    """Golden trials: by the rule before near arms waited for finite boxes, for 21 trials each."""

    def reward(generator: np.random.Generator, arm: int) -> float:
        return (0.97, 0.962, 0.955, 0.74)[arm] + (0.008, 0.008, 0.01, 0.03)[arm] * float(generator.normal())

    spec = search("abcd", epsilon=0.01).spec
    new, old = Engine(spec), Engine(replace(spec, guarded=False))
    play(new, reward, 1)
    play(old, reward, 1)
    assert old.arms["pulls"].tolist() == [21, 21, 13, 10]
    assert new.arms["pulls"].tolist() == [16, 16, 13, 10]


def test_outcomes_have_no_rare_events_of_their_own() -> None:
    outcomes: dict[str, Any] = {"outcomes": {"x": "unknown"}, "objectives": "maximize mean(x)"}
    with pytest.raises(InvalidSpec, match="rare"):
        identify(lambda _: Outcome(outcomes={"x": 1.0}), ["a", "b"], epsilon=0.1, rare=0.1, **outcomes)


def test_several_outcomes_are_guarded_as_one_is() -> None:
    """Pairs, intervals and limits: until one of 5,000 trials of c loses 10, then none of them is proved."""
    asked: dict[str, Any] = {
        "outcomes": {"x": "unknown"},
        "objectives": "maximize mean(x)",
        "constraints": "mean(x) >= 0.2",
        "question": "best",
        "epsilon": 0.02,
        "drift": "off",
    }
    calm = smooth(20, 1, 1.0), smooth(20, 2, 0.9), smooth(5_000, 3, 0.5)
    found = []
    for rewards in (calm, (*calm[:2], [*calm[2][:-1], -10.0])):
        engine = make_engine(make_any_spec(list("abc"), asked))
        arms = np.repeat([0, 1, 2], [len(values) for values in rewards])
        engine.add_up(arms, [{"x": float(value)} for values in rewards for value in values])
        engine.look()
        proofs = engine.proofs
        low = engine.seen().low
        found.append((engine.stopped, proofs.ahead(0, 1, 0, 0.02, 4.0), proofs.beyond(0, 1, 0.0, 1.0, 4.0), low[0, 0]))
    assert found[0][:3] == ("confidence", True, True)
    assert found[1][:3] == (None, False, False)
    assert found[1][3] < found[0][3]
