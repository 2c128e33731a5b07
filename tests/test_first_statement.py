"""A cap that is too small for a first statement about every arm is told before the search, and shared out evenly."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ramgape import RamgapeWarning, Study, identify
from ramgape.search.engine import Engine
from ramgape.search.first_statement import trials_needed
from ramgape.search.spec import make_spec
from tests.cli_support import call

ARMS = [f"arm {place}" for place in range(6)]
HEAVY: dict[str, Any] = {"noise": "heavy:kurtosis=10", "epsilon": 0.2}
TOO_FEW = r"each arm needs about 120 trials before anything can be said of it; 180 are too few for 6 arms"


def pull(arm: str, generator: np.random.Generator) -> float:
    place = ARMS.index(arm)
    return 10.0 + 0.5 * place + (1.0 + 0.4 * place) * float(generator.standard_t(6))


def test_no_answer_rests_on_two_trials() -> None:
    with pytest.warns(RamgapeWarning, match=f"{TOO_FEW}, and are shared out evenly"):
        result = identify(pull, ARMS, max_trials=180, seed=1, **HEAVY)
    assert [arm.pulls for arm in result.arms] == [30] * 6
    assert result.policy == "round-robin"
    assert any("too few for 6 arms" in warning for warning in result.warnings)
    assert result.stopped == "cap"


def test_it_is_told_before_the_first_trial(tmp_path: Path) -> None:
    told: list[str] = []

    def watched(arm: str) -> float:
        raise AssertionError(arm)

    with pytest.warns(RamgapeWarning, match=TOO_FEW) as heard, pytest.raises(AssertionError):
        identify(watched, ARMS, max_trials=180, **HEAVY)
    told += [str(each.message) for each in heard]
    assert len(told) == 1
    with pytest.warns(RamgapeWarning, match=TOO_FEW):
        study = Study.create("capped", ARMS, storage=f"sqlite:///{tmp_path / 'store.db'}", max_trials=180, **HEAVY)
    assert {each.arm for each in study.ask(count=12)} == set(ARMS)
    options = ("--noise", "heavy:kurtosis=10", "--epsilon", "0.2", "--max-trials", "180", "--storage")
    arms = [part for arm in ARMS for part in ("--arm", arm)]
    shown = call("study", "create", "again", *arms, *options, f"sqlite:///{tmp_path / 'store.db'}")
    assert "180 are too few for 6 arms" in " ".join((shown.stdout + shown.stderr).replace("│", " ").split())


@pytest.mark.filterwarnings("ignore:each arm needs")
@pytest.mark.parametrize(
    ("noise", "task"),
    [
        ("heavy:kurtosis=10", "pareto"),
        ("heavy:kurtosis=4", "best"),
        ("heavy:sigma_max=2", "best"),
        ("heavy:cv=1.5", "best"),
    ],
)
def test_so_many_trials_make_the_first_interval(noise: str, task: str) -> None:
    """With one trial less the interval of an arm is infinite, whatever its rewards were."""
    spec = make_spec(ARMS, noise=noise, epsilon=0.2, task=task, max_trials=10**8)
    needed, rewards = trials_needed(spec), np.random.default_rng(3).gamma(9.0, 0.5, 20_000)
    engine = Engine(spec)
    for number, reward in enumerate(rewards, start=1):
        engine.tell(0, float(reward))
        if number in (needed - 1, needed):
            engine.make_boxes()
            assert math.isfinite(engine.arms["mean_high"][0]) == (number == needed)
        if number == needed:
            break


def test_what_is_enough_is_not_told() -> None:
    needed = trials_needed(make_spec(ARMS, max_trials=10**8, **HEAVY))
    assert not make_spec(ARMS, max_trials=6 * needed, **HEAVY).warnings
    short = make_spec(ARMS, max_trials=6 * needed - 1, **HEAVY)
    assert (len(short.warnings), short.policy) == (1, "round-robin")
    named = make_spec(ARMS, max_trials=180, policy="ramgape", **HEAVY)  # a user who names a policy gets it
    assert (len(named.warnings), named.policy) == (1, "ramgape")
    budget = make_spec(ARMS, noise="heavy:kurtosis=10", budget=180)  # which goes by estimates
    assert (len(budget.warnings), budget.policy) == (1, "evidence")
    assert not make_spec(ARMS, max_trials=180, epsilon=0.2, reward_range=(0, 1)).warnings
    assert not make_spec(ARMS, max_trials=120, epsilon=0.2).warnings
    assert make_spec(ARMS, max_trials=119, epsilon=0.2).policy == "round-robin"  # of risks nothing is said before
    assert not make_spec(ARMS, max_trials=60, epsilon=0.2, task="best").warnings
    assert not make_spec(ARMS, budget=20).warnings
