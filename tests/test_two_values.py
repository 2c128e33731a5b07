"""Rewards with two values: their risk is a function of their mean, and a result says so."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ramgape import Study, analyze, identify, simulate
from ramgape.search.assumptions import two_values
from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec
from tests.cli_support import call

BETTER = "question best is the better question"
CHANCES = {"A": 0.3, "B": 0.5, "C": 0.8}


def coin(arm: str, generator: np.random.Generator) -> float:
    return float(generator.random() < CHANCES[arm])


def notes_of(**options: Any) -> str:
    return " ".join(identify(coin, list(CHANCES), seed=1, **{"reward_range": (0, 1), "epsilon": 0.1, **options}).notes)


def test_the_default_question_about_coins_names_a_better_one() -> None:
    vacuous = "all rewards are 0 or 1: of two values the standard deviation is a function of the mean, so that "
    assert vacuous in notes_of()
    assert BETTER in notes_of()
    assert BETTER in notes_of(reward_range=None, epsilon=0.2)
    assert BETTER in notes_of(direction="minimize", risk="cvar:0.2")
    assert BETTER not in notes_of(task="best")
    assert BETTER in " ".join(simulate("random-bernoulli:3", risk="std", epsilon=0.1).notes)
    assert BETTER not in " ".join(simulate("random-beta:3", risk="std", epsilon=0.1).notes)
    command = ("simulate", "random-bernoulli:3", "--risk", "std", "--epsilon", "0.1", "--seed", "1")
    assert BETTER in " ".join(call(*command).stdout.replace("\N{BOX DRAWINGS LIGHT VERTICAL}", " ").split())


def test_data_and_studies_say_so_too() -> None:
    generator = np.random.default_rng(2)
    data = {name: (5.0 - 3.0 * (generator.random(400) < chance)).tolist() for name, chance in CHANCES.items()}
    found = analyze(data, epsilon=0.2, alarm="off").result
    assert "all rewards are 2 or 5: of two values the " in " ".join(found.notes)
    data["C"][17] = 4.0
    assert BETTER not in " ".join(analyze(data, epsilon=0.2, alarm="off").result.notes)
    study = Study.create("coins", list(CHANCES), storage=None, reward_range=(0, 1), epsilon=0.2)
    while not study.done:
        for trial in study.ask():
            study.tell(trial, coin(trial.arm, generator))
    assert BETTER in " ".join(study.result().notes)


@pytest.mark.parametrize("direction", ["maximize", "minimize"])
def test_two_values_are_found_from_sums_of_powers(direction: Any) -> None:
    """Of any size, whichever comes how often; a third value, or other ones in another arm, are noticed."""
    generator = np.random.default_rng(7)
    for scale in (1e-6, 1.0, 1e6):
        for chance in (0.01, 0.5, 0.9):
            pair = np.sort(scale * generator.normal(size=2))

            def told(*more: float, pair: Any = pair, chance: float = chance) -> Any:
                engine = Engine(make_spec(["A", "B", "C"], epsilon=0.1, direction=direction, alarm="off"))
                for arm, share in ((0, chance), (1, 0.5), (2, 0.0)):
                    first = generator.random(300) < share
                    engine.learn_many(np.full(300, arm), np.where(first, pair[0], pair[1]), may_stop=False)
                engine.learn_many(np.zeros(len(more), np.int64), np.array(more, float), may_stop=False)
                return two_values(engine.spec, engine.arms)

            assert told() == pytest.approx(tuple(pair), rel=1e-4)
            assert told(float(pair.mean())) is None


def test_few_rewards_prove_nothing_of_the_kind() -> None:
    assert two_values(make_spec(["A", "B"], epsilon=0.1), Engine(make_spec(["A", "B"], epsilon=0.1)).arms) is None
    assert BETTER not in " ".join(analyze({"A": [0, 1, 1], "B": [1, 0, 0]}, epsilon=0.1).result.notes)
