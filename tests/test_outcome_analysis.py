"""Logged trials with several outcomes: every form of data comes to the same, and bad rows are named."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ramgape
from ramgape.errors import RamgapeError
from tests.cli_support import call, call_json

TRUTH = {"small": (0.7, 0.02), "medium": (0.9, 0.1), "large": (0.92, 0.4), "old": (0.5, 0.3)}
ASKED: dict[str, Any] = {
    "outcomes": {"accuracy": (0, 1), "cost": (0, 0.5)},
    "objectives": ["max mean(accuracy)", "min mean(cost)"],
    "constraints": "mean(cost) <= 0.25",
    "epsilon": {"accuracy": 0.1, "cost": 0.03},
}
TYPED = [
    *("--outcome", "accuracy=0,1", "--outcome", "cost=0,0.5"),
    *("--objective", "max mean(accuracy)", "--objective", "min mean(cost)", "--constraint", "mean(cost) <= 0.25"),
    *("--epsilon", "accuracy=0.1,cost=0.03"),
]


@pytest.fixture(scope="module")
def trials() -> list[tuple[str, dict[str, float]]]:
    rng = np.random.default_rng(1)
    return [
        (
            arm,
            {
                "accuracy": float(rng.random() < accuracy),
                "cost": round(float(np.clip(cost * rng.normal(1, 0.1), 0, 0.5)), 4),
            },
        )
        for _ in range(300)
        for arm, (accuracy, cost) in TRUTH.items()
    ]


def test_every_form_comes_to_the_same(trials: list[tuple[str, dict[str, float]]], tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    first = ramgape.analyze(trials, **ASKED)
    assert first.result.stopped == "confidence"
    assert first.result.answer == ("small", "medium")
    assert first.next_pulls == {}
    assert (first.rows, first.skipped) == (1200, 0)
    rows = [{"arm": arm, **outcomes, "note": "x"} for arm, outcomes in trials]
    (tmp_path / "t.csv").write_text("")
    with (tmp_path / "t.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    (tmp_path / "t.jsonl").write_text("\n".join(map(json.dumps, rows)))
    found = first.result.to_dict()
    for given in (pd.DataFrame(rows), str(tmp_path / "t.csv"), str(tmp_path / "t.jsonl")):
        assert ramgape.analyze(given, **ASKED).result.to_dict() == found


def test_a_search_and_an_analysis_say_the_same_of_the_same_trials(trials: list[tuple[str, dict[str, float]]]) -> None:
    made = (
        iter([outcomes for arm, outcomes in trials if arm == "small"]),
        iter([outcomes for arm, outcomes in trials if arm == "old"]),
    )
    result = ramgape.identify(lambda arm: next(made[arm == "old"]), ["small", "old"], **{**ASKED, "constraints": None})
    frame = result.trials_frame()  # type: ignore[attr-defined]
    logged = [(row["arm"], {"accuracy": row["accuracy"], "cost": row["cost"]}) for _, row in frame.iterrows()]
    again = ramgape.analyze(logged, **{**ASKED, "constraints": None}).result
    assert again.answer == result.answer == ("small",)
    for arm in ("small", "old"):
        for text in ("mean(accuracy)", "mean(cost)"):
            one, other = again.arm(arm).objectives[text], result.arm(arm).objectives[text]
            assert one.estimate == pytest.approx(other.estimate, abs=1e-12)


def test_wide_tables_share_rows(trials: list[tuple[str, dict[str, float]]], tmp_path: Path) -> None:
    pd = pytest.importorskip("pandas")
    wide: dict[str, list[float]] = {}
    for arm, outcomes in trials:
        for name, value in outcomes.items():
            wide.setdefault(f"{arm}:{name}", []).append(value)
    options = {**ASKED, "epsilon": {"accuracy": 0.2, "cost": 0.1}}
    found = ramgape.analyze(pd.DataFrame(wide), **options).result
    assert "within a block" in found.guarantee or "arms independent" not in found.guarantee
    assert set(found.answer) <= {"small", "medium"}
    pd.DataFrame(wide).to_csv(tmp_path / "wide.csv", index=False)
    assert ramgape.analyze(str(tmp_path / "wide.csv"), wide=True, **options).result.to_dict() == found.to_dict()
    items = ramgape.analyze(pd.DataFrame(wide), items="population", **options).result
    assert items.stopped == "complete"
    assert items.answer == ("small", "medium")
    assert "beats another by" not in items.sentence  # since nothing is left open


def test_items_are_matched_by_name() -> None:
    rng = np.random.default_rng(2)
    hard = rng.random(60)
    rows = [
        (arm, f"q{item}", {"accuracy": float(hard[item] < able), "cost": cost})
        for arm, (able, cost) in {"a": (0.5, 0.1), "b": (0.6, 0.2), "c": (0.4, 0.3)}.items()
        for item in rng.permutation(60).tolist()
    ]
    options: dict[str, Any] = {**ASKED, "constraints": None, "epsilon": 0}
    result = ramgape.analyze(rows, items="population", **options).result
    assert result.stopped == "complete"
    assert set(result.answer) == {"a", "b"}
    assert "no other arm beats" in result.guarantee
    part = ramgape.analyze(rows[:-20], items="population", **{**options, "epsilon": ASKED["epsilon"]}).result
    assert any("incomplete" in warning for warning in part.warnings)


def test_the_command(trials: list[tuple[str, dict[str, float]]], tmp_path: Path) -> None:
    lines = ["model,accuracy,cost", *(f"{arm},{each['accuracy']},{each['cost']}" for arm, each in trials)]
    (tmp_path / "runs.csv").write_text("\n".join(lines))
    found = call_json("analyze", str(tmp_path / "runs.csv"), *TYPED)
    assert found["answer"] == ["small", "medium"]
    assert [each["text"] for each in found["objectives"]] == ["mean(accuracy)", "mean(cost)"]
    plain = call("analyze", str(tmp_path / "runs.csv"), "--outcome", "accuracy", "--reward-range", "0", "1")
    assert plain.exit_code == 0, plain.output


BAD = [
    ([("a", {"accuracy": 1.0, "cost": 0.1}), ("b", {"accuracy": 1.0})], "row 2: .*outcome cost"),
    ([("a", {"accuracy": 1.0, "cost": 0.1}), ("b", {"accuracy": 2.0, "cost": 0.1})], "row 2: .*from 0 to 1"),
    ([("a", 0.5)], "row 1 must be a tuple"),
    ([("a", {"accuracy": 1.0, "cost": float("nan")})], "row 1: .*cost"),
]


@pytest.mark.parametrize(("rows", "message"), BAD)
def test_bad_rows_are_named(rows: list[Any], message: str) -> None:
    with pytest.raises(RamgapeError, match=message) as caught:
        ramgape.analyze(rows, **ASKED)
    assert "\n" not in str(caught.value)


def test_missing_outcomes_are_counted_where_that_is_asked_for(trials: list[tuple[str, dict[str, float]]]) -> None:
    gaps = [*trials, ("old", {"accuracy": 1.0, "cost": None})]
    analysis = ramgape.analyze(gaps, na="drop", **ASKED)
    assert analysis.missing == {"old": 1}
    assert any("without an outcome" in warning for warning in analysis.result.warnings)
    with pytest.raises(RamgapeError, match="na="):
        ramgape.analyze(gaps, **ASKED)


def test_columns_that_are_not_there() -> None:
    with pytest.raises(RamgapeError, match="did you mean 'accuracy'"):
        ramgape.analyze({"arm": ["a"], "accuracy": [1.0]}, objectives="acuracy")
    with pytest.raises(RamgapeError, match="objectives must be given"):
        ramgape.analyze({"arm": ["a"], "accuracy": [1.0]}, outcomes={"accuracy": (0, 1)})


def test_questions_of_logged_trials(trials: list[tuple[str, dict[str, float]]]) -> None:
    common = {"outcomes": ASKED["outcomes"]}
    one: dict[str, Any] = {**common, "objectives": "accuracy", "epsilon": 0.15}
    assert ramgape.analyze(trials, question="above:0.6", **one).result.answer == ("small", "medium", "large")
    assert ramgape.analyze(trials, question="top:2", **one).result.answer == ("medium", "large")
    guarded = {**one, "epsilon": {"accuracy": 0.1, "cost": 0.05}, "constraints": "mean(cost) <= 1.1 * control"}
    better = ramgape.analyze(trials, question="better-than:control=old", **guarded).result
    assert better.answer == ("small", "medium")
    nobody = ramgape.analyze(
        trials, **{**one, "epsilon": {"accuracy": 0.15}, "constraints": "mean(cost) <= 0.001"}
    ).result
    assert nobody.answer == ()
    assert "No option keeps mean(cost) <= 0.001" in nobody.sentence
