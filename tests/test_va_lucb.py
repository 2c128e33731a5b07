"""VA-LUCB, the published rival under a ceiling of the variance: pull by pull as described, and refused elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ramgape
from ramgape import Arm, Bernoulli, Beta, Instance, InvalidSpec
from ramgape.search.engine import Engine
from ramgape.search.spec import make_spec
from tests.guarantees import most_allowed
from tests.reference.rivals import VaLucb
from tests.support import by_hand, in_full

EASY = [(30.0, 5.0), (12.0, 8.0), (0.1, 0.1), (3.0, 6.0)]
CASES: dict[str, tuple[list[tuple[float, float]], float, tuple[str, ...]]] = {
    "one is best": (EASY, 0.12, ("0",)),
    "all keep it": ([(30.0, 5.0), (5.0, 30.0), (20.0, 20.0)], 0.2, ("0",)),
    "nobody does": ([(0.2, 0.2), (0.1, 0.1), (0.2, 0.3)], 0.02, ()),
    "one keeps it": ([(0.2, 0.2), (0.1, 0.1), (5.0, 30.0)], 0.08, ("2",)),
}


def instance_of(shapes: list[tuple[float, float]], low: float = 0.0, high: float = 1.0) -> Instance:
    arms = tuple(Arm(str(place), Beta(*shape, low, high)) for place, shape in enumerate(shapes))
    return Instance("ceiling", arms, (low, high), "bounded")


def options_of(ceiling: float, **more: Any) -> dict[str, Any]:
    task = f"best:max-risk={ceiling!r}"
    return {"task": task, "risk": "variance", "policy": "va-lucb", "epsilon": 0.0, "delta": 0.1, **more}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("scale", "origin"), [(1.0, 0.0), (4.0, -2.0)])
def test_it_follows_the_description_pull_by_pull(case: str, scale: float, origin: float) -> None:
    """On other ranges than [0, 1] as well, the ceiling being in units of squared rewards."""
    shapes, ceiling, expected = CASES[case]
    generator = np.random.default_rng(7)
    names = [str(place) for place in range(len(shapes))]
    spec = make_spec(names, reward_range=(origin, origin + scale), **options_of(ceiling * scale**2))
    engine = Engine(spec)
    rewards: list[list[float]] = [[] for _ in shapes]

    def pull(arm: int) -> None:
        value = float(generator.beta(*shapes[arm]))
        rewards[arm].append(value)
        engine.tell(arm, origin + scale * value)

    for arm in [*range(len(shapes))] * 2:
        pull(arm)
    reference = VaLucb(rewards, ceiling, 0.1)
    rounds = 0
    for rounds in range(5_000):
        wanted, answer = reference.round()
        assert (engine.stopped == "confidence") == (answer is not None), rounds
        if answer is not None:
            break
        for arm in wanted:
            assert engine.ask() == arm, rounds
            pull(arm)
    assert answer == [int(name) for name in expected]
    assert [names[arm] for arm in np.flatnonzero(engine.answer())] == list(expected)
    assert rounds > 20


def test_its_answers_are_right() -> None:
    """In at most delta of runs it is wrong, with false alarm 1e-6; its own bounds are far more cautious than that."""
    wrong = 0
    for seed in range(20):
        result = ramgape.simulate(instance_of(EASY), seed=seed, **options_of(0.12, max_trials=200_000))
        assert (result.stopped, result.bound, result.policy) == ("confidence", "va-lucb", "va-lucb")
        assert all(arm.verdict in ("in", "out") for arm in result.arms)
        wrong += not (result.truth is not None and result.truth.exact)
    assert wrong <= most_allowed(20, 0.1)


def test_ours_takes_fewer_pulls_for_the_same_guarantee() -> None:
    """Means of five runs each, by tens of times apart."""
    instance = instance_of(EASY)
    rival = [ramgape.simulate(instance, seed=seed, **options_of(0.12)).samples for seed in range(5)]
    own = [ramgape.simulate(instance, seed=seed, **options_of(0.12, policy="auto")).samples for seed in range(5)]
    assert 3 * np.mean(own) < np.mean(rival)


def test_both_roads_agree_to_the_bit() -> None:
    instance = instance_of(EASY)
    for cap in (9, 500, 501):
        options = options_of(0.12, max_trials=cap)
        assert in_full(by_hand(instance, 3, **options)) == in_full(ramgape.simulate(instance, seed=3, **options))


def test_a_stored_study_goes_on_where_it_was(tmp_path: Any) -> None:
    """Rounds are a function of the rewards in their order, so that another process comes to the same decisions."""
    place, asked = f"sqlite:///{tmp_path / 'studies.db'}", []
    coins = [Bernoulli(0.9), Bernoulli(0.6), Bernoulli(0.2)]
    for opened in range(2):
        generator = np.random.default_rng(1)
        name, pulls = f"study {opened}", []
        with ramgape.Study.create(name, [*"abc"], storage=place, reward_range=(0, 1), **options_of(0.2)) as study:
            for count in range(61):
                if opened and count % 7 == 6:
                    study.close()
                    study = ramgape.Study.load(name, storage=place)  # as another process would
                (pull,) = study.ask()
                pulls.append(pull.arm)
                study.tell(pull, coins["abc".index(pull.arm)].draw(generator))
        asked.append(pulls)
    assert asked[0] == asked[1]


CEILING = "best:max-risk=0.05"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"task": "pareto"}, "policy must be one that serves this task (auto, ramgape"),
        ({"task": "best"}, "policy must be one that serves this task (auto, ramgape"),
        ({"task": "least-risk:min-mean=0.5"}, "policy must be one that serves this task (auto, ramgape"),
        ({"risk": "std"}, "risk must be variance for policy va-lucb, which serves no other, got 'std'"),
        ({"risk": "cvar:0.1"}, "risk must be variance for policy va-lucb, which serves no other, got 'cvar:0.1'"),
        (
            {"noise": "gaussian", "reward_range": None},
            "assumption must be bounded for policy va-lucb, which serves no other, got 'gaussian'",
        ),
        ({"bound": "paper"}, "bound must be auto for policy va-lucb, which has bounds of its own, got 'paper'"),
        (
            {"epsilon": None, "delta": None, "budget": 100},
            "policy must be one that can run for a fixed budget (auto, ramgape",
        ),
    ],
)
def test_it_is_refused_for_what_it_cannot_serve(options: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidSpec) as caught:
        make_spec(["a", "b"], **{"reward_range": (0, 1), **options_of(0.05), **options})
    assert str(caught.value).startswith(said)
    if "task" in options:
        assert str(caught.value).endswith("'va-lucb', which is for the best mean under a ceiling of the variance")


def test_its_bounds_serve_nobody_else() -> None:
    with pytest.raises(ramgape.UnknownName):
        make_spec(["a", "b"], reward_range=(0, 1), epsilon=0.1, bound="va-lucb")
    spec = make_spec(["a", "b"], reward_range=(0, 1), **options_of(0.05, bound="va-lucb"))
    assert (spec.bound, spec.policy) == ("va-lucb", "va-lucb")
