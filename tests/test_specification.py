"""Specifications outlast the program that wrote them: what is missing, what is newer, what is older."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ramgape
from ramgape import Result, Study
from ramgape.search.engine import Engine
from ramgape.search.inference import infer
from ramgape.studies.specification import FORMAT, UPGRADES, StudySpec


def stored(**options: Any) -> dict[str, Any]:
    study = Study.create("any", ["a", "b"], reward_range=(0, 1), epsilon=0.05, **options)
    found: dict[str, Any] = json.loads(study.spec.to_text())
    return found


def test_what_is_missing_has_its_default() -> None:
    described = stored(seed=1)
    for key in ("in_order", "expired", "seed"):
        del described[key]
    spec = StudySpec.from_text(json.dumps(described))
    assert (spec.in_order, spec.expired, spec.seed) == (True, "retry", None)
    old = described | {"format": 3}
    del old["first_format"]
    spec = StudySpec.from_text(json.dumps(old))
    assert (spec.in_order, spec.first_format) == (False, 3)
    assert StudySpec.from_text(spec.to_text()) == spec  # it knows how it began, whatever is asked of it later


def test_a_newer_format_is_refused() -> None:
    with pytest.raises(
        ramgape.StorageError, match=rf"of format {FORMAT} or older, .*upgrade ramgape, got {FORMAT + 1}"
    ):
        StudySpec.from_text(json.dumps(stored() | {"format": FORMAT + 1}))


@pytest.mark.parametrize("inside", [False, True])
def test_a_field_that_nobody_knows_is_refused(inside: bool) -> None:
    """What it means may matter: to leave it out would be another search."""
    described = stored()
    (described["search"] if inside else described)["patience"] = 3
    with pytest.raises(ramgape.StorageError, match=r"fields .* must be those .*upgrade ramgape, got \['patience'\]"):
        StudySpec.from_text(json.dumps(described))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 2}', '{"format": "2"}', '{"format": true, "search": {}}'])
def test_what_is_no_specification(text: str) -> None:
    with pytest.raises(ramgape.StorageError, match="specification"):
        StudySpec.from_text(text)


def test_every_older_format_has_its_upgrade() -> None:
    assert sorted(UPGRADES) == list(range(1, FORMAT))


@pytest.mark.parametrize(
    "options", [{}, {"seed": 3, "in_order": True}, {"failure": "worst", "expired": "fail"}, {"risk": "cvar:0.2"}]
)
def test_there_and_back(options: dict[str, Any]) -> None:
    spec = Study.create("any", ["a", "b"], reward_range=(0, 1), epsilon=0.05, **options).spec
    assert StudySpec.from_text(spec.to_text()) == spec


# --- format 2: every risk had a factor ---------------------------------------------------------------------------


def of_format_2(spec: StudySpec, alpha: float, risk_epsilon: float | None) -> str:
    """The text that a program of that time would have written."""
    described = json.loads(spec.to_text())
    described["format"] = 2
    described["search"] |= {"alpha": alpha, "risk_epsilon": risk_epsilon}
    del described["search"]["first_looks"]
    return json.dumps(described)


THIRD = 1.0 / 3.0
# What was asked for, the factor of that time, and today's equal: a mean-variance still has a factor.
OLD: list[tuple[dict[str, Any], float, float | None]] = [
    ({"epsilon": 0.05}, THIRD, None),
    ({"epsilon": 0.05}, 1.0, None),
    ({"epsilon": 0.05}, 0.25, None),
    ({"epsilon": 0.05}, 1.0, 0.02),
    ({"epsilon": 0.05}, 2.0, 0.02),
    ({"epsilon": 0.0, "max_trials": 400}, THIRD, None),
    ({"epsilon": 0.0, "max_trials": 400}, 1.0, None),
    ({"budget": 400}, THIRD, None),
    ({"budget": 400}, 1.0, None),
    ({"budget": 400, "policy": "ramgape", "epsilon": 0.05}, THIRD, None),
]


def make_rewards() -> dict[str, Iterator[float]]:
    generator = np.random.default_rng(4)
    shapes = {"good": (4.0, 2.0), "wild": (0.8, 0.4), "poor": (2.0, 4.0)}
    return {arm: iter(generator.beta(*shape, 3_000).tolist()) for arm, shape in shapes.items()}


def study_of(name: str, storage: str | None = None, **options: Any) -> Study:
    return Study.create(name, list(make_rewards()), storage=storage, reward_range=(0, 1), **options)


def searched(spec: StudySpec) -> tuple[list[str], Result]:
    """The arms that are tried, and what is found."""
    engine, rewards, names = Engine(spec.search), make_rewards(), []
    while (arm := engine.ask()) is not None and len(names) < 1_000:
        names.append(spec.search.names[arm])
        engine.tell(arm, next(rewards[names[-1]]))
    return names, infer(engine)


@pytest.mark.parametrize(("options", "alpha", "risk_epsilon"), OLD)
def test_a_factor_of_old_decides_what_it_did(options: dict[str, Any], alpha: float, risk_epsilon: float | None) -> None:
    """The variance is the mean-variance with rho 0, which still has a factor: the same pulls, the same answer."""
    epsilon = options.get("epsilon")
    asked = {**options, **({} if risk_epsilon is None else {"epsilon": (epsilon, risk_epsilon)})}
    upgraded = StudySpec.from_text(of_format_2(study_of("old", risk="variance", **options).spec, alpha, risk_epsilon))
    tried, result = searched(upgraded)
    expected, other = searched(study_of("equal", rho=0, alpha=alpha, **asked).spec)
    assert tried == expected
    assert (result.front, result.stopped, result.samples) == (other.front, other.stopped, other.samples)
    factor = result.alpha or 1.0  # without a tolerance, an unusual one is kept
    assert factor == (1.0 if epsilon or alpha == THIRD else alpha)
    for mine, yours in zip(result.arms, other.arms, strict=True):
        assert (mine.verdict, mine.certificate, mine.pulls) == (yours.verdict, yours.certificate, yours.pulls)
        assert mine.risk / factor == pytest.approx(yours.risk / alpha)
        assert [end / factor for end in mine.risk_interval] == pytest.approx(
            [end / alpha for end in yours.risk_interval]
        )


def test_a_stored_study_with_a_factor_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    storage = f"sqlite:///{tmp_path / 'old.db'}"
    text = of_format_2(study_of("text", risk="variance", budget=30).spec, THIRD, None)
    with monkeypatch.context() as then:
        then.setattr(StudySpec, "to_text", lambda spec: text)
        study_of("old", storage, risk="variance", budget=30).close()
    expected, _ = searched(study_of("equal", rho=0, budget=30).spec)
    rewards, tried = make_rewards(), []
    for _ in range(2):
        with Study.load("old", storage) as study:
            for _ in range(15):
                (pull,) = study.ask()
                tried.append(pull.arm)
                study.tell(pull, next(rewards[pull.arm]))
            assert study.result().alpha is None
    assert tried == expected
    assert study.done


@pytest.mark.parametrize("risk", ["std", "variance", "semivariance:0.5", "entropic:2", "cvar:0.2"])
@pytest.mark.parametrize("options", [{"epsilon": 0.05}, {"epsilon": (0.05, 0.01)}, {"budget": 50}])
def test_what_was_usual_then_is_usual_now(options: dict[str, Any], risk: str) -> None:
    spec = Study.create("usual", ["a", "b"], reward_range=(-1, 3), risk=risk, **options).spec
    pair = isinstance(options.get("epsilon"), tuple)
    alpha = 1.0 if pair else spec.search.risk.usual_scale(4.0)
    text = of_format_2(spec, alpha, spec.search.risk_epsilon if pair else None)
    assert StudySpec.from_text(text) == replace(spec, first_format=3)


def test_a_mean_variance_keeps_its_factor() -> None:
    spec = Study.create("paper", ["a", "b"], reward_range=(0, 1), epsilon=0.05, rho=0.01, alpha=0.7).spec
    assert StudySpec.from_text(of_format_2(spec, 0.7, None)) == replace(spec, first_format=3)
