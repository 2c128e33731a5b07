"""Studies about several outcomes: what is stored, replayed, exported, told in every way, and refused."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ramgape
from ramgape.errors import ChangedAnswer, InvalidReward, InvalidSpec, RamgapeError
from ramgape.studies import session
from ramgape.studies.checking import check_store
from ramgape.studies.specification import StudySpec, make_study_spec
from tests.models import ASKED, MODELS, ask


def create(url: str | None = None, **more: Any) -> ramgape.Study:
    return ramgape.Study.create("models", list(MODELS), storage=url, seed=1, **{**ASKED, **more})


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'models.db'}"


def test_a_study_is_what_identify_would_be_and_opens_again(url: str) -> None:
    study = create(url)
    result = study.run(ask)
    again = ramgape.Study.load("models", url)
    assert again.result().to_dict() == result.to_dict()
    assert again.report(history=True).result.history
    assert result.goal_reached
    assert "large" not in result.answer
    assert check_store(url).sound


@pytest.mark.parametrize(
    "more",
    [
        {"epsilon": ASKED["epsilon"]},
        {"objectives": "accuracy, min std(accuracy)", "constraints": None, "epsilon": {"accuracy": 0.1}},
        {"question": "better-than:control=small", "constraints": ["mean(cost) <= 1.1 * control"]},
        {"objectives": ["min cvar(latency, 0.1)"], "constraints": ["mean(cost - 0.1*accuracy) <= 0.123456789012345"]},
        {"known": {"price": {"small": 1 / 3, "medium": 2, "large": 3, "tiny": 0}}, "objectives": "accuracy, -price"},
        {"items": list(range(50)), "constraints": None},
        {"epsilon": None, "budget": 100},
        {"outcomes": {"accuracy": (0, 1), "cost": "heavy:kurtosis=10", "latency": "unknown"}, "constraints": None},
        {"question": "cheapest:within=0.1", "constraints": None},
        {"question": "above:0.7", "objectives": "accuracy", "constraints": None, "epsilon": 0.1},
    ],
)
def test_a_specification_is_text_and_back(more: dict[str, Any]) -> None:
    asked = {**ASKED, "epsilon": {"accuracy": 0.2, "cost": 0.05}, **more}
    if "price" in str(more):
        asked |= {"epsilon": {"accuracy": 0.2, "price": 0.0, "latency": 0.5}}
    if "cvar" in str(more):
        asked["epsilon"] = {"latency": 0.5, "mean(cost - 0.1*accuracy)": 0.05}
    spec = make_study_spec(list(MODELS), asked)  # type: ignore[arg-type]
    again = StudySpec.from_text(spec.to_text())
    assert again == spec
    assert again.to_text() == spec.to_text()
    assert spec.differences(again) == []


def test_a_single_reward_may_have_questions_of_outcomes(url: str) -> None:
    study = ramgape.Study.create("one", ["x"], storage=url, question="above:0.5", reward_range=(0, 1), epsilon=0.05)
    while not study.done:
        for pull in study.ask():
            study.tell(pull, 0.9)
    assert ramgape.Study.load("one", url).result().answer == ("x",)


def test_all_outcomes_are_stored_and_come_back(url: str, tmp_path: Path) -> None:
    study = create(url, epsilon=None, budget=40)
    study.run(ask)
    frame = study.trials_frame()
    assert list(frame.columns[:6]) == ["arm", "accuracy", "cost", "latency", "unasked", "failed"]
    assert len(frame) == 40
    assert frame["unasked"].notna().all()
    for form in ("csv", "jsonl"):
        file = tmp_path / f"trials.{form}"
        study.export_trials(file)
        other = create(epsilon=None, budget=40)
        assert other.import_trials(file) == 40
        columns = ["arm", "accuracy", "cost", "latency", "unasked"]
        assert other.trials_frame()[columns].equals(frame[columns])
    rows = [json.loads(line) for line in (tmp_path / "trials.jsonl").read_text().splitlines()]
    assert set(rows[0]["outcomes"]) == {"accuracy", "cost", "latency", "unasked"}
    assert "reward" not in rows[0]


def test_names_of_columns_may_be_names_of_outcomes(tmp_path: Path) -> None:
    options: dict[str, Any] = {"outcomes": {"price": (0, 1), "reward": (0, 1)}, "objectives": "price, -reward"}
    study = ramgape.Study.create("s", ["a", "b"], budget=4, **options)
    study.observe("a", {"price": 0.25, "reward": 0.5, "item": 3.0})
    study.observe("b", {"price": 0.75, "reward": 0.125})
    study.export_trials(tmp_path / "s.csv")
    assert (
        (tmp_path / "s.csv").read_text().splitlines()[0].startswith("arm,outcomes.price,outcomes.reward,outcomes.item")
    )
    other = ramgape.Study.create("s", ["a", "b"], budget=4, **options)
    other.import_trials(tmp_path / "s.csv")
    assert other.trials_frame()["outcomes.item"].tolist()[0] == 3.0
    assert math.isnan(other.trials_frame()["outcomes.item"].tolist()[1])


def test_ask_and_tell(url: str) -> None:
    study = create(url)
    first, second = study.ask(2)
    told = {"accuracy": 1.0, "cost": 0.01, "latency": 0.5}
    assert study.tell(first, told).accepted
    assert study.tell(first, told).accepted  # told again after a lost reply
    with pytest.raises(ChangedAnswer):
        study.tell(first, {**told, "latency": 0.6})
    for bad, message in [
        ({"accuracy": 1.0, "latency": 0.5}, "outcome cost"),
        ({**told, "accuracy": math.nan}, "accuracy"),
        ({**told, "cost": 0.7}, "from 0 to 0.5"),
        (0.5, "a mapping of outcomes by name"),
    ]:
        with pytest.raises(InvalidReward, match=message) as caught:
            study.tell(second, bad)  # type: ignore[arg-type]
        assert "\n" not in str(caught.value)
    assert study.report().told == 1
    study.observe_many([("tiny", told), ("large", {**told, "note": 3.0})])
    assert study.report().told == 3
    assert ramgape.Study.load("models", url).trials_frame()["note"].notna().sum() == 1


def test_snapshots_go_on_to_the_bit(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "SNAPSHOT_EVERY", 20)
    tight = {"accuracy": 0.05, "cost": 0.01, "latency": 0.2}
    study = create(url, epsilon=tight)
    study.backend.session._interval = 20  # type: ignore[union-attr]
    rng = np.random.default_rng(3)
    for _ in range(90):
        (pull,) = study.ask()
        study.tell(pull, ask(pull.arm, rng))
    row, _ = study.backend.session.store.begin(1, False)  # type: ignore[union-attr]
    kept = study.backend.session.store.read_snapshot(1)  # type: ignore[union-attr]
    study.backend.session.store.rollback()  # type: ignore[union-attr]
    assert kept is not None
    assert kept.told >= 80
    assert row.told == 90
    restored = ramgape.Study.load("models", url)
    anew = ramgape.Study.load("models", url)
    monkeypatch.setattr(session, "SNAPSHOT_EVERY", 10**9)
    assert anew.result().to_dict() == study.result().to_dict()
    monkeypatch.setattr(session, "SNAPSHOT_EVERY", 20)
    assert restored.result().to_dict() == study.result().to_dict()
    engines = [each.backend.session.known.engine for each in (study, restored, anew)]  # type: ignore[union-attr]
    for engine in engines:
        engine.arms["rival"] = engine.search["leader"] = -1  # where the rule stands is stored beside
    for engine in engines[1:]:
        for one, other in zip(engines[0]._written, engine._written, strict=True):
            assert one.tobytes() == other.tobytes()


def test_failures_count_as_the_worst_of_every_outcome() -> None:
    study = create(failure="worst")
    (pull,) = study.ask()
    study.fail(pull, "out of memory")
    row = study.trials_frame().iloc[0]
    assert row["failed"]
    assert (row["accuracy"], row["cost"], row["latency"]) == (0.0, 0.5, 10.0)
    with pytest.raises(InvalidSpec, match="failure of outcome latency"):
        create(failure="worst", outcomes={"accuracy": (0, 1), "cost": (0, 0.5), "latency": "unknown"})


def test_more_is_asked() -> None:
    study = create(epsilon=None, budget=20)
    study.run(ask)
    assert study.extend(budget=30)
    study.run(ask)
    assert study.result().samples == 30


BAD = [
    ({"expected_arms": 9}, "expected_arms must be absent"),
    ({"failure": "censored"}, "failure"),
    ({"objectives": "acuracy"}, "did you mean 'accuracy'"),
    ({"worst": 3.0, "failure": "worst"}, "worst must be absent"),
]


@pytest.mark.parametrize(("more", "message"), BAD)
def test_what_a_study_cannot_be(more: dict[str, Any], message: str) -> None:
    with pytest.raises(RamgapeError, match=message) as caught:
        create(**more)
    assert "\n" not in str(caught.value)


def test_what_a_study_cannot_do() -> None:
    study = create()
    for change in (
        lambda: study.extend(epsilon=0.001),
        lambda: study.add_arm("new"),
        lambda: study.retire("tiny"),
    ):
        with pytest.raises(RamgapeError) as caught:
            change()
        assert "\n" not in str(caught.value)


def test_each_tolerance_is_named_in_the_goal(url: str) -> None:
    """Not the 1 that tolerances are on the scale of the search; and no forecast is promised."""
    study = create(url, epsilon={"accuracy": 0.2, "cost": 0.05})
    words = " ".join(str(study.report()).split())
    assert "Goal: an answer within " in words
    for each in study.result().objectives:
        assert f"{each.epsilon:g} in {each.text}" in words
    assert "how many more is not known" in words
    study.observe_many([(name, dict(ask(name, np.random.default_rng(1)))) for name in MODELS])
    assert "how many more" not in str(study.report())
