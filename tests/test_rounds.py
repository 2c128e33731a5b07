"""Pulls that are decided in rounds and made in random order: on every road, in studies, and with pulls under way."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ramgape
from ramgape import Study, identify, simulate
from ramgape.core.rounds import MOST_IN_A_ROW
from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec
from ramgape.simulation.simulation import simulated_spec
from tests.support import POLICIES, Streams, beta_streams, by_hand, can_run, in_full

CONFIDENCE: dict[str, Any] = {"epsilon": 0.05, "bound": "paper", "max_trials": 203}
BUDGET: dict[str, Any] = {"budget": 203}
CASES = [
    pytest.param(policy, goal, id=f"{policy}-{name}")
    for policy in POLICIES
    for name, goal in {"confidence": CONFIDENCE, "budget": BUDGET}.items()
    if can_run(policy, **goal)
]
ARMS = [0, 1, 2, 3, 4]
INSTANCE = ramgape.load_instance("paper:46")


def longest_run(order: list[int]) -> int:
    return max(len(list(run)) for _, run in itertools.groupby(order))


def identified(policy: Any, seed: int = 3, **goal: Any) -> list[int]:
    """The order of the pulls of a search by hand."""
    streams = Streams(beta_streams(len(ARMS), 2000, 1))
    identify(streams, ARMS, reward_range=(0, 1), policy=policy, interleave=True, seed=seed, **goal)
    return streams.order


# The rules that are used most, and one of each other kind; the others take long to compile.
AMONG_FEW = ("ramgape", "evidence", "ege-sr", "psi-unif-elim")
SPLIT_CASES = [
    pytest.param(*case.values, id=case.id, marks=[] if case.values[0] in AMONG_FEW else [pytest.mark.long])
    for case in CASES
]


@pytest.mark.parametrize(("policy", "goal"), SPLIT_CASES)
def test_both_roads_make_the_same_rounds(policy: str, goal: dict[str, Any]) -> None:
    simulated = simulate(INSTANCE, seed=7, policy=policy, interleave=True, **goal)
    assert in_full(by_hand(INSTANCE, 7, policy=policy, interleave=True, **goal)) == in_full(simulated)
    assert in_full(simulated) != in_full(simulate(INSTANCE, seed=7, policy=policy, **goal))
    spec, sampler = simulated_spec(INSTANCE, policy=policy, interleave=True, **goal), INSTANCE.sampler()
    tables = set()
    for size in (7, 1000):
        engine, generator = Engine(spec, 7), np.random.default_rng(7)
        while engine.stopped is None:
            engine.advance(sampler, generator, size)
        tables.add((engine.arms.tobytes(), engine.search.tobytes()))
    assert len(tables) == 1


@pytest.mark.parametrize(("policy", "goal"), CASES)
def test_no_arm_comes_more_than_three_times_in_a_row(policy: str, goal: dict[str, Any]) -> None:
    order = identified(policy, **goal)
    initial = [tuple(order[start : start + len(ARMS)]) for start in (0, len(ARMS))]
    assert all(sorted(once) == ARMS for once in initial)
    assert initial != [tuple(ARMS)] * 2
    if not POLICIES[policy].own_answer:  # these may have a single arm left
        assert longest_run(order) <= MOST_IN_A_ROW
    assert order == identified(policy, **goal)
    assert order != identified(policy, seed=4, **goal)


def test_a_rule_that_wants_one_arm_alone_gets_it_three_times_of_four() -> None:
    order = identified(lambda state: 2, **BUDGET)
    assert longest_run(order) == MOST_IN_A_ROW
    assert 0.7 < order[10:].count(2) / len(order[10:]) <= 0.77


def test_every_order_of_a_round_is_as_likely() -> None:
    """1,200 rounds of initial pulls of 4 arms: 24 orders, each 50 times on average.

    The statistic has 23 degrees of freedom; it is above 75 with a chance of 2e-7.
    """
    spec = make_spec(ARMS[:4], reward_range=(0, 1), budget=4800, initial_trials=1200, interleave=True)
    engine, seen = Engine(spec, 1), Counter[tuple[int, ...]]()
    for _ in range(1200):
        order = []
        for _ in range(4):
            arm = engine.ask()
            assert arm is not None
            engine.tell(arm, 0.5)
            order.append(arm)
        seen[tuple(order)] += 1
    assert sum((count - 50) ** 2 / 50 for count in seen.values()) + 50 * (24 - len(seen)) < 75


@pytest.mark.parametrize("policy", ["ra-lucb", "evidence", "round-robin"])
@pytest.mark.parametrize("batch", [1, 3])
def test_a_study_opened_anew_goes_on_with_its_round(tmp_path: Path, policy: str, batch: int) -> None:
    """Nothing that is decided is lost, or made twice, whoever asks next; with one at a time all is as in `identify`."""
    goal: dict[str, Any] = {"epsilon": 0.05, "bound": "paper", "max_trials": 60}
    orders = []
    for anew in (False, True):
        options = {**goal, "policy": policy, "interleave": True, "seed": 3, "reward_range": (0, 1)}
        url = f"sqlite:///{tmp_path / str(anew)}.db"
        study = Study.create("rounds", ARMS, storage=url, **options)
        streams = Streams(beta_streams(len(ARMS), 2000, 1))
        while pulls := study.ask(batch):
            if anew:
                study = Study.load("rounds", url)
            study.tell_many([(pull, streams(int(pull.arm))) for pull in pulls])
        orders.append(streams.order)
    assert orders[0] == orders[1]
    assert longest_run(orders[0]) <= MOST_IN_A_ROW
    if batch == 1:
        assert orders[0] == identified(policy, **goal)


def test_pulls_under_way_are_counted_in_the_next_round() -> None:
    """Whatever is under way, initial pulls are those of every arm; and what is handed out goes on in rounds."""
    engine = Engine(make_spec(ARMS, reward_range=(0, 1), epsilon=0.01, interleave=True), 1)
    asked = []
    for _ in range(10):
        arm = engine.ask()
        assert arm is not None
        engine.reserve(arm)
        asked.append(arm)
    assert sorted(asked[:5]) == sorted(asked[5:]) == ARMS
    draw = Streams(beta_streams(len(ARMS), 2000, 2))
    while len(asked) < 500:
        first = asked[len(asked) - 10]
        engine.release(first)
        engine.tell(first, draw(first))
        arm = engine.ask()
        assert arm is not None
        engine.reserve(arm)
        asked.append(arm)
    assert longest_run(asked) <= MOST_IN_A_ROW


def test_it_is_true_or_false() -> None:
    with pytest.raises(ramgape.InvalidSpec, match="interleave must be true or false, got 'yes'"):
        make_spec(ARMS, reward_range=(0, 1), epsilon=0.05, interleave="yes")  # type: ignore[typeddict-item]
