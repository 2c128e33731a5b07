"""Logged scores on test sets: long and wide tables, finished sets, samples, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import ramgape
from ramgape import Items
from ramgape.errors import InvalidData, InvalidSpec
from tests.cli_support import call, call_json, complaint
from tests.items import DIGITS, digits

NAMES, ITEMS, SCORES = digits(300)
ROWS = [
    (name, item, score)
    for name, row in zip(NAMES, SCORES.tolist(), strict=True)
    for item, score in zip(ITEMS, row, strict=True)
]
RANGE: dict[str, Any] = {"reward_range": (0, 1)}
WIDE = ("--wide", "--item-column", "item", "--reward-range", "0", "1", "--task", "best")


def test_a_finished_set_is_exact() -> None:
    analysis = ramgape.analyze(ROWS, items="population", task="best", **RANGE)
    result = analysis.result
    assert (result.front, result.stopped, analysis.next_pulls) == (("SVC",), "complete", {})
    assert result.arm("SVC").mean_interval == pytest.approx((284 / 300, 284 / 300))
    assert {arm.certificate for arm in result.arms} == {"in", "out"}


def test_a_sample_is_not() -> None:
    options: dict[str, Any] = {"task": "best", "epsilon": 0.1, **RANGE}
    world = ramgape.analyze(ROWS, items="sample", **options).result
    set_of_many = ramgape.analyze(ROWS, items=500, **options).result
    listed = ramgape.analyze(ROWS, items=[*ITEMS, *(f"further {place}" for place in range(200))], **options).result
    assert world.stopped == set_of_many.stopped == "confidence"
    widths = [
        result.arm("tree").mean_interval[1] - result.arm("tree").mean_interval[0] for result in (world, set_of_many)
    ]
    assert widths[1] < 0.8 * widths[0]
    assert [arm.mean_interval for arm in listed.arms] == [arm.mean_interval for arm in set_of_many.arms]
    assert "a larger world" in world.guarantee
    assert "these 500 items" in set_of_many.guarantee


def test_the_order_of_rows_means_nothing() -> None:
    options: dict[str, Any] = {"items": "population", **RANGE}
    assert ramgape.analyze(ROWS, **options).result.front == ramgape.analyze(ROWS[::-1], **options).result.front


@pytest.mark.parametrize(
    ("rows", "options", "words"),
    [
        ([*ROWS, (NAMES[0], ITEMS[0], 1.0 - SCORES[0, 0])], {}, "the only one, or .* again"),
        ([*ROWS, (NAMES[0], "unheard of", 1.0)], {"items": ITEMS}, "the item must be one of the items"),
        ([(name, "only", 1.0) for name in NAMES], {}, "about at least two items"),
        ([("A", 1.0)], {}, "a triple"),
        (ROWS, {"items": 299}, "items must be at least 300"),
        (ROWS, {"items": "some"}, "items must be population, all there are"),
        (ROWS, {"items": 1}, "items must be a whole number of at least 2"),
        (ROWS, {"block": 2}, "block must be 1 with items"),
        (ROWS, {"reward_range": None}, "reward_range must be given with items"),
    ],
)
def test_what_is_no_test_set(rows: Any, options: dict[str, Any], words: str) -> None:
    with pytest.raises((InvalidData, InvalidSpec), match=words):
        ramgape.analyze(rows, **{"items": "population", **RANGE, **options})


def test_the_same_score_twice_counts_once() -> None:
    result = ramgape.analyze([*ROWS, ROWS[0]], items="population", **RANGE).result
    assert result.samples == 3000
    assert any("1 row told a score again" in warning for warning in result.warnings)


def test_items_with_repetitions_are_not_for_tables() -> None:
    with pytest.raises(InvalidSpec, match="repeats"):
        ramgape.analyze(ROWS, items=Items(ITEMS, repeats=2), **RANGE)


def test_a_wide_file() -> None:
    found = call_json("analyze", str(DIGITS), *WIDE, "--items", "population")
    assert (found["answer"], found["details"]["stopped"], found["trials"], found["data"]["rows"]) == (
        ["SVC"],
        "complete",
        10_000,
        10_000,
    )
    shown = " ".join(call("analyze", str(DIGITS), *WIDE, "--items", "population").stdout.split())
    assert shown.startswith("Choose SVC. It has the highest mean. This is exact: every item was asked of every option.")
    assert "CSV, a column an arm, items in column" in shown
    explained = call("analyze", str(DIGITS), *WIDE, "--items", "population", "--explain").stdout
    assert "Exact, since each of these 1,000 items has been asked" in " ".join(explained.split())


def test_a_wide_file_of_moments(tmp_path: Path) -> None:
    """A layout and no more: arms are compared as ever."""
    file = tmp_path / "returns.csv"
    file.write_text("A,B\n" + "".join(f"{0.5 + 0.01 * (row % 5)},{0.2 + 0.01 * (row % 3)}\n" for row in range(60)))
    found = call_json("analyze", str(file), "--wide", "--epsilon", "0.05")
    assert found["answer"] == ["A", "B"] or found["answer"] == ["A"]
    assert (found["data"]["rows"], found["details"]["noise"]) == (120, "unknown")


def test_a_long_file(tmp_path: Path) -> None:
    file = tmp_path / "long.csv"
    file.write_text("model,question,score\n" + "".join(f"{name},{item},{score}\n" for name, item, score in ROWS))
    columns = ("--arm-column", "model", "--reward-column", "score", "--item-column", "question")
    found = call_json("analyze", str(file), *columns, "--reward-range", "0", "1", "--items", "population")
    assert found["details"]["stopped"] == "complete"
    sample = call_json("analyze", str(file), *columns, *WIDE[3:], "--epsilon", "0.1")
    assert "a larger world" in sample["details"]["guarantee"]


@pytest.mark.parametrize(
    ("text", "arguments", "words"),
    [
        (
            "item,A,B\nx,1,0\ny,,1\n",
            WIDE,
            "column 'A': the reward must be a number from 0 to 1 (--skip-empty leaves out",
        ),
        ("item,A,B\nx,1,0\ny,0,1\n", (*WIDE, "--items", "1000000000"), "at most 20,000,000, got '2 x 1,000,000,000'"),
        ("item,A,B\nx,1,0\ny,2,1\n", WIDE, "line 3, column 'A': the reward must be a number from 0 to 1, got 2.0"),
        ("item,A,B\nx,1,0\nx,0,1\n", WIDE, "line 3, column 'A': the score of arm 'A' on item 'x' must be the only one"),
        ("item,A,A\nx,1,0\ny,0,1\n", WIDE, "the name of an arm must be the name of one column"),
        ("item,A,B\nx,1,0\ny,0,1\n", (*WIDE, "--arm-column", "A"), "--arm-column must be absent with --wide"),
        (
            "item,A,B,C\nx,1,0,1\ny,0,1,1\n",
            ("--arm-column", "A"),
            "--reward-column must name the column with the rewards: scores.csv has no column 'reward' for them, and 2",
        ),
        ("item,A,B\nx,1,0\ny,0,1\n", (*WIDE, "--items", "few"), "items must be population, all there are"),
        ("item,A,B\nx,1,0\ny,0,1\n", ("--wide", "--item-column", "question", *WIDE[3:]), "item column of"),
    ],
)
def test_what_is_wrong_with_a_file(tmp_path: Path, text: str, arguments: tuple[str, ...], words: str) -> None:
    file = tmp_path / "scores.csv"
    file.write_text(text)
    assert words in complaint("analyze", str(file), *arguments)
