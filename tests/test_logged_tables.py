"""Logged data as analysts have them: frames, dictionaries, missing values, arms to leave out, arms with few rows."""

from __future__ import annotations

import itertools
import json
import math
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ramgape import InvalidData, InvalidReward, InvalidSpec, RamgapeWarning, UnknownName, analyze
from ramgape.data.missing import is_missing
from ramgape.data.reading import Analysis
from ramgape.questions import make_question
from ramgape.search.result import updated
from tests.cli_support import call, call_json, complaint

BOUNDED: dict[str, Any] = {"reward_range": (0.0, 1.0)}
LONG: dict[str, Any] = {"arm_column": "arm", "reward_column": "reward"}
COLUMNS = ("--arm-column", "arm", "--reward-column", "reward", "--reward-range", "0", "1")
SHAPES = {"steady": (40.0, 40.0), "wild": (2.0, 1.0), "poor": (1.0, 3.0)}


def log_of(rounds: int, seed: int = 1) -> list[tuple[str, float]]:
    """Every arm in turn."""
    generator = np.random.default_rng(seed)
    return [(arm, float(generator.beta(*shape))) for _ in range(rounds) for arm, shape in SHAPES.items()]


def long_frame(rows: list[tuple[Any, Any]]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["arm", "reward"])


def wide_lists(rows: list[tuple[str, float]]) -> dict[str, list[float]]:
    return {name: [reward for arm, reward in rows if arm == name] for name in dict.fromkeys(arm for arm, _ in rows)}


class Polars:
    """A frame of another make: columns by name, each an array to whoever asks NumPy, and nothing of pandas."""

    def __init__(self, columns: dict[str, list[Any]]) -> None:
        self.columns = list(columns)
        self._lists = columns

    def __getitem__(self, name: str) -> PolarsColumn:
        return PolarsColumn(self._lists[name])


class PolarsColumn:
    def __init__(self, values: list[Any]) -> None:
        self._values = values

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.array(self._values, dtype)

    def __iter__(self) -> Any:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


# ------------------------------------------------------------------------------------------ tables


def of_file(analysis: Analysis) -> dict[str, Any]:
    """What the command says of the same data in a plain file."""
    understood = "CSV, arms in column 'arm', rewards in column 'reward'"
    return replace(analysis.named("reward"), understood=understood).to_dict()


def means_of(found: dict[str, Any]) -> dict[str, tuple[int, float]]:
    """Trials and mean of each arm, of what a command wrote."""
    return {arm["name"]: (arm["trials"], arm["objectives"]["mean(reward)"]["estimate"]) for arm in found["arms"]}


def test_every_form_of_the_same_data_says_the_same(tmp_path: Path) -> None:
    log = log_of(60)
    expected = analyze(log, **BOUNDED).to_dict()
    frame, lists = long_frame(log), wide_lists(log)
    named = {"arm": [arm for arm, _ in log], "reward": [reward for _, reward in log]}
    for table in (
        frame,
        frame.astype({"arm": "category"}),
        frame.astype({"arm": object}),
        frame.astype({"reward": "Float64"}),
        frame.astype({"reward": object}),
        frame.set_index("arm", drop=False),
        frame.assign(further="text"),
        named,
        Polars(named),
    ):
        assert analyze(table, **LONG, **BOUNDED).named(None).to_dict() == expected
    for table in (pd.DataFrame(lists), lists, {arm: np.array(each) for arm, each in lists.items()}, Polars(lists)):
        assert analyze(table, **BOUNDED, shared=False).to_dict() == expected
    frame.to_csv(tmp_path / "log.csv", index=False)
    assert call_json("analyze", str(tmp_path / "log.csv"), *COLUMNS) == of_file(analyze(log, **BOUNDED))


def test_names_are_texts_and_flags_are_numbers() -> None:
    frame = pd.DataFrame({"arm": [1, 2] * 4, "reward": [True, False] * 4})
    assert {arm.name: arm.mean for arm in analyze(frame, **LONG, **BOUNDED).result.arms} == {"1": 1.0, "2": 0.0}
    days = pd.to_datetime(["2024-01-01", "2024-01-02"] * 4)
    named = analyze(frame.assign(arm=days), **LONG, **BOUNDED).result.arms
    assert [arm.name for arm in named] == ["2024-01-01 00:00:00", "2024-01-02 00:00:00"]
    mixed = {"arm": [1, True, 1, True], "reward": [0.1, 0.2, 0.1, 0.2]}  # which a dictionary takes for one
    assert [arm.name for arm in analyze(mixed, **LONG, **BOUNDED).result.arms] == ["1", "True"]
    wide = pd.DataFrame({("a", 1): [0.5, 0.25], ("b", 2): [0.5, 0.75]})
    assert [arm.name for arm in analyze(wide, **BOUNDED).result.arms] == ["('a', 1)", "('b', 2)"]


def test_lists_may_differ_in_length() -> None:
    analysis = analyze({"A": [0.1, 0.2, 0.3], "B": (0.5, Decimal("0.5")), "C": []}, **BOUNDED)
    assert {arm.name: arm.pulls for arm in analysis.result.arms} == {"A": 3, "B": 2, "C": 0}
    assert analysis.rows == 5


def test_items_in_tables() -> None:
    scores = pd.DataFrame({"item": ["x", "y", "z"], "A": [1, 1, 0], "B": [0, 1, 0]})
    options: dict[str, Any] = {"items": "population", "task": "best", **BOUNDED}
    wide = analyze(scores, item_column="item", **options)
    assert (wide.result.front, wide.result.stopped) == (("A",), "complete")
    assert analyze(scores.drop(columns="item"), **options).result.front == ("A",)
    long = scores.melt(id_vars="item", var_name="arm", value_name="reward")
    assert analyze(long, **LONG, item_column="item", **options).named(None).to_dict() == wide.to_dict()
    assert analyze(long, **LONG, item_column="item", task="best", **BOUNDED).result.stopped == "data"  # a sample
    with pytest.raises(InvalidSpec, match="item_column must be given with items"):
        analyze(long, **LONG, **options)
    with pytest.raises(InvalidSpec, match="must be absent with items"):
        analyze(scores, item_column="item", **options, min_rows=2)
    assert analyze(scores.assign(C=math.nan), item_column="item", exclude="C", **options).result.front == ("A",)


WIDE = pd.DataFrame({"A": [0.1, 0.2], "B": [0.3, 0.4]})
FRAME = pd.DataFrame({"arm": ["A", "B"] * 3, "reward": [0.5, 0.25] * 3, "item": list("xxyyzz")})
SCORES = pd.DataFrame({"model": ["A", "B"] * 3, "score": [0.5, 0.25] * 3, "seconds": [1, 2] * 3})


@pytest.mark.parametrize(
    ("table", "options", "error", "words"),
    [
        (FRAME, {"arm_column": "arms", "reward_column": "reward"}, UnknownName, "did you mean 'arm'?"),
        (
            SCORES,
            {"arm_column": "model"},
            InvalidSpec,
            "reward_column must name the column with the rewards: the table",
        ),
        (SCORES, {"arm_column": "model"}, InvalidSpec, "and 2 numeric columns (score, seconds)"),
        (FRAME[["item", "reward"]], {"arm_column": "item", "reward_column": "item"}, InvalidSpec, "different ones"),
        (WIDE, {"reward_column": "A"}, InvalidSpec, "no column 'arm' for them, and no text column among A, B"),
        (FRAME, {"arm_column": "arm", "reward_column": "arm"}, InvalidSpec, "must be different ones"),
        (
            SCORES,
            {},
            InvalidReward,
            "row 1, column 'model': the reward must be a number from 0 to 1, got 'A' for arm 'model'; ex",
        ),
        (FRAME, LONG | {"reward_column": "item"}, InvalidReward, "row 1: column 'item' must be a number"),
        (FRAME.replace(0.25, math.inf), LONG, InvalidReward, "row 2: column 'reward' must be a number from 0 to 1"),
        (
            FRAME.replace(0.25, math.nan),
            LONG,
            InvalidReward,
            "got nan for arm 'B'; na=\"drop\" leaves out what is missing",
        ),
        (FRAME.replace("B", None), LONG, InvalidData, "row 2: column 'arm' must be a name, got"),
        (FRAME.iloc[:0], LONG, InvalidData, "the table must be one with rows"),
        (WIDE.iloc[:0], {}, InvalidData, "the table must be one with rows"),
        (pd.DataFrame(), {}, InvalidData, "the table must be one with rows"),
        ({}, {}, InvalidData, "the table must be one with rows"),
        (FRAME.iloc[::2], LONG, InvalidData, "the data must be about at least two arms, got ['A']"),
        (WIDE.set_axis(["A", "A"], axis=1), {}, InvalidData, "the name of one column of the table, not of 2"),
        (
            FRAME.set_axis(["arm", "reward", "arm"], axis=1),
            LONG,
            InvalidData,
            "the name of one column of the table, not of 2",
        ),
        ({"arm": ["A", "B"], "reward": [0.5]}, LONG, InvalidData, "the columns of the table must be of one length"),
        ({"A": 0.5, "B": [0.5]}, {}, InvalidData, "column 'A' must be a list of rewards, got 0.5"),
        ({"A": "0.5", "B": [0.5]}, {}, InvalidData, "column 'A' must be a list of rewards, got '0.5'"),
        ({"A": [[0.5], [0.5, 1]], "B": [0.5]}, {}, InvalidReward, "row 1, column 'A': the reward must be a number"),
        (
            {"A": np.ones((2, 2)), "B": [0.5]},
            {},
            InvalidData,
            "numbers in one dimension, got '2 dimensions of float64'",
        ),
        ({"A": pd.to_datetime(["2024-01-01"]), "B": [0.5]}, {}, InvalidData, "column 'A' must be numbers"),
        ({"A": np.array([1, 2], "timedelta64[s]"), "B": [0.5]}, {}, InvalidData, "column 'A' must be numbers"),
        ({"A": np.array([1j]), "B": [0.5]}, {}, InvalidReward, "row 1, column 'A': the reward must be a number"),
        ([("A", 0.5)], {"arm_column": "arm"}, InvalidSpec, "absent where rows are tuples, got ['arm']"),
        ([(None, 0.5)], {}, InvalidData, "row 1: the arm must be a name, got None"),
        ([(math.nan, 0.5)], {}, InvalidData, "row 1: the arm must be a name, got nan"),
        (WIDE, {"na": 5}, InvalidSpec, "na must be"),
        (WIDE, {"na": [math.nan]}, InvalidSpec, "na must be"),
        (WIDE, {"min_rows": -1}, InvalidSpec, "min_rows must be a whole number of at least 1, got -1"),
        (WIDE, {"min_rows": 3}, InvalidData, "about at least two arms that are not left out, got []"),
        (WIDE, {"exclude": "A"}, InvalidData, "about at least two arms that are not left out, got ['B']"),
        (WIDE, {"exclude": ["AA"]}, UnknownName, "exclude must be one of A, B, got 'AA'; did you mean 'A'?"),
        (WIDE, {"only": ["A", "B", "C"]}, UnknownName, "only must be one of A, B, got 'C'"),
        (WIDE, {"only": "A", "exclude": "A"}, InvalidSpec, "exclude and only must be about different arms"),
        (WIDE, {"only": 5}, InvalidSpec, "only must be the name of an arm, or several, got 5"),
        (WIDE.assign(C=0.5), {"task": "better-than:control=A", "exclude": "A"}, UnknownName, "got 'A'"),
    ],
)
def test_tables_that_are_refused(table: Any, options: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error) as refused:
        analyze(table, **{**BOUNDED, **options})
    assert words in str(refused.value)


def test_other_kinds_of_numbers() -> None:
    masked = np.ma.MaskedArray([0.25, 9.0, 0.75], mask=[False, True, False])
    analysis = analyze(
        {"A": masked, "B": np.array([0, 1], np.int8), "C": np.array([0.5], np.float16)}, **BOUNDED, na="drop"
    )
    assert {arm.name: arm.mean for arm in analysis.result.arms} == {"A": 0.5, "B": 0.5, "C": 0.5}
    assert analysis.missing == {"A": 1}
    with pytest.raises(InvalidReward, match="row 2, column 'A'"):
        analyze({"A": masked, "B": [0.5]}, **BOUNDED)


# --------------------------------------------------------------------- columns that nobody has named


def test_the_usual_columns_of_a_table_need_no_names() -> None:
    log = log_of(20)
    expected = analyze(log, **BOUNDED).to_dict()
    frame = long_frame(log)
    for table in (frame, frame.assign(note="x", seconds=1.0), frame.to_dict("list"), frame.astype({"arm": "category"})):
        for given in ({}, {"arm_column": "arm"}, {"reward_column": "reward"}):
            assert analyze(table, **given, **BOUNDED).named(None).to_dict() == expected  # and no warning, an error here
    numbered = {"arm": [1, 2] * 4, "reward": [0.5, 0.25] * 4}
    assert [arm.name for arm in analyze(numbered, **BOUNDED).result.arms] == ["1", "2"]
    items = frame.assign(item=[str(row // 3) for row in range(len(frame))])
    assert analyze(items, item_column="item", **BOUNDED).result.reward_name == "reward"


def test_the_only_columns_of_a_table_are_taken_and_named() -> None:
    log = log_of(20)
    expected = analyze(log, **BOUNDED).to_dict()
    frame = long_frame(log).set_axis(["model", "score"], axis=1)
    dates = pd.date_range("2024-01-01", periods=len(frame))
    said = "arms are read from column 'model', the only text column; rewards are read from column 'score', the only"
    for table in (frame, frame.to_dict("list"), frame.astype({"score": object}), frame.assign(day=dates)):
        with pytest.warns(RamgapeWarning, match=said):
            analysis = analyze(table, **BOUNDED)
        assert analysis.named(None).to_dict() == expected
        assert analysis.result.reward_name == "score"
    with pytest.warns(RamgapeWarning, match="^rewards are read from column 'score', the only numeric column$"):
        analyze(frame.assign(note="x"), arm_column="model", **BOUNDED)
    with pytest.raises(InvalidReward, match="column 'A'"):  # each an arm: who knows how often a generator can be read
        analyze({"A": (text for text in "xy"), "B": [0.5, 0.5]}, **BOUNDED)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("arm,reward\nA,0.5\nB,0.25\n", ""),
        ("reward,seconds,note,arm\n0.5,7,x,A\n0.25,8,y,B\n", ""),
        ("arm,reward\n1,0.5\n2,0.25\n", ""),
        (
            "model,score\nA,0.5\nB,0.25\n",
            "warning: arms are read from column 'model', the only text column; rewards are read from column 'score', "
            "the only numeric column\n",
        ),
        (
            "score,none,model\n0.5,,A\n0.25,,1\n",
            "warning: arms are read from column 'model', the only text column; rewards are read from column 'score', "
            "the only numeric column\n",
        ),
        ("arm,score,\nA,0.5,\nB,0.25,\n", "warning: rewards are read from column 'score', the only numeric column\n"),
        ("reward,model,n\n0.5,A,1\n0.25,B,2\n", "warning: arms are read from column 'model', the only text column\n"),
    ],
)
def test_the_columns_of_a_file(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "log.csv"
    head, *rows = text.splitlines(keepends=True)
    file.write_text(head + "".join(rows) * 400)  # more than one part
    given = call("analyze", str(file), "--reward-range", "0", "1", "--json")
    assert given.exit_code == 0, given.output
    assert [line + "\n" for line in given.stderr.splitlines() if "columns" in line or "read from" in line] == (
        [said] if said else []
    )
    found = json.loads(given.stdout)
    assert means_of(found) in (
        {"A": (400, 0.5), "B": (400, 0.25)},
        {"A": (400, 0.5), "1": (400, 0.25)},
        {"1": (400, 0.5), "2": (400, 0.25)},
    )
    assert found["details"]["reward_name"] == ("reward" if "reward" in head else "score")


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (
            "date,model,score\n2024-01-01,A,0.5\n2024-01-02,B,0.5\n",
            (),
            "--arm-column must name the column with the arms: log.csv has no column 'arm' for them, and 2 text columns "
            "(date, model); --wide reads a table with a column an arm",
        ),
        (
            "id,model,score\n1,A,0.5\n2,B,0.5\n",
            (),
            "--reward-column must name the column with the rewards: log.csv has no column 'reward' for them, and 2 "
            "numeric columns (id, score)",
        ),
        ("A,B\n0.5,0.25\n", (), "--arm-column must name the column with the arms: log.csv has no column 'arm' for"),
        ("A,B\n0.5,0.25\n", (), "and no text column among A, B; --wide reads"),
        ("model,score\n", (), "and no text column among model, score"),
        ("model,score\nA,0.5\nB,x\n", (), "--arm-column must name"),
        ("model,score\nA,0.5\nB,NA\n", (), "line 3: column 'score' must be a number from 0 to 1, got 'NA'"),
        ("arm;reward\nA;0.5\n", ("--delimiter", ","), "did you mean --delimiter ';'?"),
        ("arm,arm,reward\nA,A,0.5\n", (), "arm column must be the name of one column of log.csv, not of 2"),
        ("model,score\nA,0.5\nB\n", (), "line 3: the row must be 2 cells"),
        ("", (), "log.csv must be a CSV file whose first line names its columns, got an empty file"),
    ],
)
def test_columns_of_a_file_that_nobody_can_guess(
    tmp_path: Path, text: str, options: tuple[str, ...], words: str
) -> None:
    file = tmp_path / "log.csv"
    file.write_text(text)
    refused = call("analyze", str(file), "--reward-range", "0", "1", *options)
    assert refused.exit_code == 2
    assert words in refused.stderr


def test_a_mark_for_missing_values_is_no_text(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("model,score\nA,0.5\nB,gone\nB,0.5\n")
    found = call_json("analyze", str(file), "--reward-range", "0", "1", "--na", "gone")
    assert found["data"]["missing"] == {"B": 1}


# ------------------------------------------------------------------------------------ true and false


@pytest.mark.parametrize("words", [("True", "False"), ("t", "f"), ("YES", "No"), (" true", "FALSE "), ("T", "no")])
def test_words_for_true_and_false_are_rewards(tmp_path: Path, words: tuple[str, str]) -> None:
    yes, no = words
    file = tmp_path / "log.csv"
    file.write_text("arm,reward\n" + f"A,{yes}\nB,{no}\nA,\nB,{yes}\nA,{yes}\nB,NA\n" * 200)  # more than one part
    found = call_json("analyze", str(file), "--na", "NA")
    assert means_of(found) == {"A": (400, 1.0), "B": (400, 0.5)}
    assert found["data"]["missing"] == {"A": 200, "B": 200}
    file.write_text("model,won\n" + f"A,{yes}\nB,{no}\n" * 20)  # a column of numbers, for whoever looks for one
    assert call_json("analyze", str(file))["details"]["reward_name"] == "won"
    file.write_text(f"A,B,C\n{no},0.25,1\n{yes},0.75,0\n" + f"{yes},0.5,1\n" * 600)  # each column by itself
    found = call_json("analyze", str(file), "--wide")
    means = {name: round(mean * 602, 6) for name, (_, mean) in means_of(found).items()}
    assert means == {"A": 601.0, "B": 301.0, "C": 601.0}


@pytest.mark.parametrize("before", [2, 700])  # in the same part and in a later one
@pytest.mark.parametrize(
    ("usual", "other", "words"),
    [
        (
            "True",
            "1",
            "must be true or false (or t, f, yes, no, pass, fail, C, I), like the rewards before it, got '1'",
        ),
        (
            "no",
            "0.5",
            "must be true or false (or t, f, yes, no, pass, fail, C, I), like the rewards before it, got '0.5'",
        ),
        ("1", "True", "must be a number from 0 to 1, like the rewards before it, got 'True'"),
        ("0", "f", "must be a number from 0 to 1, like the rewards before it, got 'f'"),
        ("True", "maybe", "must be true or false (or t, f, yes, no, pass, fail, C, I), got 'maybe' for arm"),
        ("True", "nan", "must be true or false (or t, f, yes, no, pass, fail, C, I), got 'nan' for arm"),
        (
            "True",
            "",
            "must be true or false (or t, f, yes, no, pass, fail, C, I) (--skip-empty leaves out rows without one), "
            "got ''",
        ),
    ],
)
def test_columns_of_two_kinds_are_refused(tmp_path: Path, before: int, usual: str, other: str, words: str) -> None:
    file = tmp_path / "log.csv"
    file.write_text("arm,reward\n" + f"A,{usual}\n" * before + f"B,{other}\n" + f"B,{usual}\n" * 3)
    said = complaint("analyze", str(file), *COLUMNS)
    assert f"log.csv, line {before + 2}: column 'reward' {words}" in said
    assert "for arm 'B'" in said
    assert ("; --na" in said) == (other in ("maybe", "nan"))  # never for what is a reward
    file.write_text("A,B\n" + f"{usual},0.5\n" * before + f"{other},0.5\n")
    said = complaint("analyze", str(file), "--wide", "--reward-range", "0", "1")
    assert f"log.csv, line {before + 2}, column 'A': the reward {words}" in said


# ---------------------------------------------------------------------------------- missing values


def test_what_is_missing() -> None:
    for value in (None, math.nan, np.float32("nan"), np.datetime64("NaT"), pd.NaT, pd.NA, Decimal("NaN")):
        assert is_missing(value)
    for value in (0.0, "", "NA", False, math.inf, np.array([math.nan, 1.0]), [None]):
        assert not is_missing(value)


@pytest.mark.parametrize("nothing", [None, math.nan, pd.NA, pd.NaT, "", " NA"])
def test_missing_rewards_are_left_out_counted_and_reported_by_arm(nothing: Any) -> None:
    rows: list[tuple[Any, Any]] = [("a", 0.5), ("lost", nothing), ("b", 0.25), ("a", nothing), ("a", 0.25), ("b", 0.5)]
    expected = analyze([row for row in rows if row[1] is not nothing], **BOUNDED, arms=["a", "lost", "b"]).result
    found = []
    for table, columns in ((rows, {}), (long_frame(rows).astype({"reward": object}), LONG)):
        with pytest.raises(InvalidReward, match="row 2"):
            analyze(table, **columns, **BOUNDED)
        found.append(analyze(table, **columns, **BOUNDED, na="NA"))
    for analysis in found:
        assert (analysis.rows, analysis.skipped, analysis.missing) == (6, 2, {"a": 1, "lost": 1})
        assert analysis.to_dict()["arms"] == expected.to_dict()["arms"]
        said = " ".join(str(analysis).split())
        assert "Data: 6 rows, 2 of them left out without a reward (lost 100.0%, a 33.3%)" in said
        assert "2 rows without a reward were left out: what is said holds only if" in analysis.result.warnings[-1]
        assert list(analysis.to_frame()["missing"]) == [1, 1, 0]
        assert Analysis.from_dict(json.loads(analysis.to_json())).to_dict() == analysis.to_dict()


def test_numbers_in_bulk_may_be_missing_too() -> None:
    frame = long_frame([("a", 0.5), ("b", math.nan), ("b", 0.5), ("a", math.nan), ("b", math.nan)])
    assert analyze(frame, **LONG, **BOUNDED, na="drop").missing == {"a": 1, "b": 2}
    wide = pd.DataFrame({"a": [0.5, math.nan], "b": [math.nan, math.nan]})
    assert analyze(wide, **BOUNDED, na="drop").missing == {"a": 1, "b": 2}
    with pytest.raises(InvalidReward, match="got nan"):  # which is no empty cell
        analyze(frame, **LONG, **BOUNDED, skip_empty=True)


def test_the_command_leaves_out_what_is_said_to_be_missing(tmp_path: Path) -> None:
    file = tmp_path / "log.csv"
    file.write_text("arm,reward\n" + "A,0.5\nA,NA\nB,0.25\nB,nan\nB,\nC, NA \nA,0.25\nB,0.5\n" * 2)
    found = call_json("analyze", str(file), *COLUMNS, "--na", "NA,nan")
    assert (found["data"]["rows"], found["data"]["skipped"], found["data"]["missing"]) == (
        16,
        8,
        {"A": 2, "B": 4, "C": 2},
    )
    said = complaint("analyze", str(file), *COLUMNS)
    assert (
        "line 3: column 'reward' must be a number from 0 to 1, got 'NA' for arm 'A'; --na NA leaves out such rows"
        in said
    )
    assert "line 5" in complaint("analyze", str(file), *COLUMNS, "--na", "NA")
    assert "got nan for arm 'B'; --na nan leaves out such rows" in complaint(
        "analyze", str(file), *COLUMNS, "--na", "NA"
    )
    shown = " ".join(call("analyze", str(file), *COLUMNS, "--na", "NA,nan").stdout.replace("│", " ").split())
    assert "'reward'; 16 rows, 8 of them left out without a reward (C 100.0%, B 50.0%, A 33.3%)" in shown
    numbers = "arm,reward\nA,0.5\nB,-999\nB,0.5\nA,0.25\n"
    file.write_text(numbers)
    assert call_json("analyze", str(file), *COLUMNS, "--na", "-999")["data"]["missing"] == {"B": 1}
    file.write_text("Date,A,B\n2024-01-01,0.5,0.25\n2024-01-02,0.75,0.5\n")
    wide = ("analyze", str(file), "--wide", "--reward-range", "0", "1")
    found = call_json(*wide)
    assert [arm["name"] for arm in found["arms"]] == ["A", "B"]
    assert found["data"]["understood"] == "CSV, a column an arm, items in column 'Date'"
    file.write_text("Date,Place,A,B\n2024-01-01,x,0.5,0.25\n2024-01-02,y,0.75,0.5\n")
    assert "line 2, column 'Date'" in complaint(*wide)
    assert "--exclude Date leaves out a column that is no arm" in complaint(*wide)


# ------------------------------------------------------------------------------- arms to leave out


def test_arms_are_left_out_by_name(tmp_path: Path) -> None:
    log = [*log_of(50), ("broken", 7.0), ("broken", 8.0)]
    expected = analyze([row for row in log if row[0] in ("steady", "wild")], **BOUNDED).result
    for options in ({"exclude": ["poor", "broken"]}, {"only": ["steady", "wild"]}, {"only": ("wild", "steady")}):
        for table, columns in ((log, {}), (long_frame(log), LONG), (wide_lists(log), {"shared": False})):
            analysis = analyze(table, **columns, **BOUNDED, **options).named(None)
            assert analysis.result == expected
            assert (analysis.rows, analysis.excluded) == (152, {"poor": 50, "broken": 2})
            assert "left out by name poor (50 rows), broken (2 rows)" in " ".join(str(analysis).split())
    file = tmp_path / "log.csv"
    long_frame(log).to_csv(file, index=False)
    found = call_json("analyze", str(file), *COLUMNS, "--exclude", "poor", "--exclude", "broken")
    assert found == of_file(analyze(log, **BOUNDED, exclude=["poor", "broken"]))
    assert call_json("analyze", str(file), *COLUMNS, "--only", "wild", "--only", "steady") == found
    several = complaint("analyze", str(file), *COLUMNS, "--exclude", "broken", "--exclude", "poor,wild")
    assert several.strip().endswith("got 'poor,wild'; several: in a list, in a command once for each")
    assert "--exclude must be one of steady, wild, poor, broken, got 'por'; did you mean 'poor'?" in complaint(
        "analyze", str(file), *COLUMNS, "--exclude", "broken", "--exclude", "por"
    )
    named = analyze(log, **BOUNDED, arms=[*SHAPES, "broken", "unseen"], exclude=["unseen", "broken"])
    assert [arm.name for arm in named.result.arms] == list(SHAPES)


@pytest.mark.parametrize("options", [BOUNDED, {"noise": "gaussian", "risk": "cvar:0.1"}, {**BOUNDED, "block": 3}])
def test_thin_arms_are_listed_apart(options: dict[str, Any]) -> None:
    """All that is known of the others is as if nobody had ever seen the thin ones, which come first."""
    log = [("thin", 0.9), ("thinner", 0.1), ("thin", 0.2), *log_of(100), ("thin", 0.3)]
    analysis = analyze([*log, ("thinner", None)], **options, min_rows=4, skip_empty=True)
    expected = analyze(log_of(100), **options)
    assert (analysis.thin, analysis.min_rows, analysis.without_thin) == ({"thinner": 1, "thin": 3}, 4, None)
    assert (analysis.rows, analysis.skipped, analysis.missing) == (305, 1, {"thinner": 1})
    without = {"guarantee": "", "warnings": ()}
    assert updated(analysis.result, **without) == updated(expected.result, **without)
    assert analysis.result.guarantee == (
        f"{expected.result.guarantee} Arms with fewer than 4 rows were left out (thinner, thin): this holds for the "
        "others if how many rows an arm has does not depend on its rewards."
    )
    assert analysis.incomplete == expected.incomplete
    assert analysis.next_pulls == expected.next_pulls
    said = "Thin:        left out, with fewer than 4 rows: thinner (1 row), thin (3 rows)"
    assert said in analysis.explain()
    untouched = analyze(log_of(100), **options, min_rows=5)
    assert (untouched.thin, untouched.result) == ({}, expected.result)


# ----------------------------------------------------------------------- certificates without them


def thin_log(generator: np.random.Generator, means: dict[str, float], counts: dict[str, int]) -> dict[str, Any]:
    return {name: generator.normal(mean, 1.0, counts[name]) for name, mean in means.items()}


def test_a_certificate_without_thin_arms() -> None:
    means = {"A": 1.0, "B": 0.0, "C": 0.9, "thin": 0.5, "thinner": 0.5}
    counts = {"A": 4000, "B": 4000, "C": 4000, "thin": 90, "thinner": 40}
    log = thin_log(np.random.default_rng(1), means, counts)
    options: dict[str, Any] = {"noise": "gaussian", "task": "best", "bound": "gaussian", "policy": "ramgape"}
    analysis = analyze(log, **options)
    apart, result = analysis.without_thin, analysis.result
    assert apart is not None
    assert (apart.arms, apart.front, apart.certified_delta) == ({"thinner": 40, "thin": 90}, ("A",), 0.05)
    # From the very boxes that the result shows, which share delta among all five arms.
    boxes = {arm.name: arm.mean_interval for arm in result.arms}
    assert apart.certified_epsilon == pytest.approx(max(boxes["C"][1], boxes["B"][1]) - boxes["A"][0])
    assert result.certified_epsilon == pytest.approx(boxes["thinner"][1] - boxes["A"][0])
    assert apart.certified_epsilon < 0.1 * result.certified_epsilon
    assert apart.guarantee.startswith("Among the other 3 arms: With probability at least 0.95, for independent draws")
    alone = analyze({name: log[name] for name in "ABC"}, **options).result  # whose delta is shared among three
    assert alone.certified_epsilon is not None
    assert alone.certified_epsilon < apart.certified_epsilon
    assert "Without thinner and thin, which have few rows, it is right within" in " ".join(str(analysis).split())
    words = " ".join(analysis.explain().split())
    assert "Thin: 2 arms with few rows spoil the certificate: thinner (40 rows), thin (90 rows)." in words
    assert "since delta is shared among all 5 arms. (To leave these out: min_rows=91, or --min-rows 91.)" in words
    assert analysis.to_dict()["data"]["without_thin"]["arms"] == {"thinner": 40, "thin": 90}
    assert Analysis.from_dict(json.loads(analysis.to_json())) == analysis
    assert analyze(log, **options, min_rows=91).without_thin is None


def test_only_what_is_much_better_is_told() -> None:
    generator = np.random.default_rng(2)
    means = {"A": 1.0, "B": 0.0, "C": 0.9}
    options: dict[str, Any] = {"noise": "gaussian", "task": "best", "shared": False}
    even = thin_log(generator, means, dict.fromkeys(means, 300))
    assert analyze(even, **options).without_thin is None  # none is thin
    beaten = {**even, "thin": generator.normal(-50.0, 1.0, 20)}
    assert analyze(beaten, **options).without_thin is None  # nor does a thin one spoil it
    assert analyze({**even, "thin": even["A"][:20]}, **options).without_thin is not None
    proved = {name: even[name] for name in "AB"} | {"thin": generator.normal(-50.0, 1.0, 20)}
    assert analyze(proved, **options).result.goal_reached
    assert analyze(proved, **options).without_thin is None  # there is nothing to add
    control = analyze({**even, "thin": even["A"][:20]}, noise="gaussian", task="better-than:control=thin")
    assert control.without_thin is None  # of the others alone nobody can ask that
    assert analyze({"A": even["A"], "thin": even["B"][:5]}, **options).without_thin is None  # nor of one arm
    assert analyze({**even, "thin": [1.0]}, **options).without_thin is not None  # with which nothing can be compared
    assert analyze({**even, "thin": []}, **options).without_thin is not None


def test_returned_arms_are_not_set_apart_if_others_will_do() -> None:
    generator = np.random.default_rng(3)
    counts = {"A": 4000, "B": 4000, "C": 4000, "best": 200, "thin": 10}
    log = thin_log(generator, {"A": 0.0, "B": 0.1, "C": 0.2, "best": 1.0, "thin": 0.5}, counts)
    apart = analyze(log, noise="gaussian", task="best").without_thin
    assert apart is not None
    assert (apart.arms, apart.front) == ({"thin": 10}, ("best",))


@pytest.mark.parametrize("task", ["pareto", "best", "least-risk", "top:3", "better-than:control=A"])
def test_a_certificate_follows_from_the_intervals_of_all_arms(task: str) -> None:
    """So it is true whenever they hold, which with probability 1 - delta they all do, however arms became thin.

    Every corner that intervals leave to the truth is tried, and one of them is so bad that no less could be certified.
    """
    counts = {"A": 3000, "B": 2500, "C": 2000, "D": 3000, "thin": 30, "thinner": 20}
    means = {"A": 0.0, "B": 0.03, "C": 0.95, "D": 1.0, "thin": 1.0, "thinner": 1.0}
    log = thin_log(np.random.default_rng(4), means, counts)
    log["D"] = 1.5 * log["D"] - 0.5
    analysis = analyze(log, noise="gaussian", bound="gaussian", policy="ramgape", task=task)
    apart = analysis.without_thin
    assert apart is not None
    kept = [arm for arm in analysis.result.arms if arm.name not in apart.arms]
    answer = np.array([arm.name in apart.front for arm in kept])
    asked = make_question(task).among([arm.name for arm in kept])
    verdicts = set()
    for corner in itertools.product((0, 1), repeat=2 * len(kept)):
        truth = [arm.mean_interval[end] for arm, end in zip(kept, corner, strict=False)]
        risks = [arm.risk_interval[end] for arm, end in zip(kept, corner[len(kept) :], strict=True)]
        # Of a guess against a control, which is_right would have proved without a tolerance, the regret is judged.
        regret = asked.regret(answer, np.array(truth), np.array(risks))
        assert regret < apart.certified_epsilon + 1e-9
        verdicts.add(regret < 0.99 * apart.certified_epsilon)
    assert verdicts == {True, False}
