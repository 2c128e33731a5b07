"""All trials of a study as a data frame: the rows of the export, and what belongs to them."""

from __future__ import annotations

import csv
import io
import math
import random
from pathlib import Path
from typing import Any

from ramgape import Outcome, Study

COINS: dict[str, Any] = {"arms": ["fair", "bent"], "reward_range": (0, 1), "seed": 7}


def test_it_has_the_rows_of_the_export(tmp_path: Path) -> None:
    with Study.create("coins", budget=20, price="told", storage=f"sqlite:///{tmp_path / 'a.db'}", **COINS) as study:
        study.observe("fair", 0.25, info={"by": "hand"})
        pulls = study.ask(3, worker="me")
        study.tell(pulls[0], 0.5, price=2.0, info={"version": 3})
        study.tell_many([(pulls[1], 0.75), (pulls[2], Outcome(1.0, 4.0))])
        frame, text = study.trials_frame(), io.StringIO()
        assert study.export_csv(text) == len(frame) == 4
        seeds = [pull.seed for pull in pulls]
    rows = list(csv.DictReader(io.StringIO(text.getvalue())))
    assert frame["arm"].tolist() == [row["arm"] for row in rows]
    assert frame["reward"].tolist() == [float(row["reward"]) for row in rows] == [0.25, 0.5, 0.75, 1.0]
    assert frame["pull"].isna().tolist() == [True, False, False, False]
    assert frame["pull"].tolist()[1:] == [row["pull"] for row in rows[1:]]
    assert frame["worker"].tolist()[1:] == 3 * ["me"]
    assert frame["price"].fillna(0.0).tolist() == [0.0, 2.0, 0.0, 4.0]
    assert frame["info"].tolist()[:2] == [{"by": "hand"}, {"version": 3}]
    assert frame["seed"].tolist()[1:] == seeds
    assert frame["seed"].isna().tolist()[0]
    assert [str(moment.date()) for moment in frame["told_at"]] == [row["told_at"][:10] for row in rows]
    assert not frame["failed"].any()


def test_failures_are_rows_if_they_count_or_are_asked_for() -> None:
    study = Study.create("coins", budget=20, **COINS)
    first, second = study.ask(2)
    study.fail(first, "no paper")
    study.tell(second, 1.0)
    assert study.trials_frame()["arm"].tolist() == [second.arm]
    frame = study.trials_frame(failures=True)
    assert frame["failed"].tolist() == [False, True]
    assert math.isnan(frame["reward"][1])
    assert (frame["pull"][1], frame["seed"][1], frame["reason"][1]) == (first.id, first.seed, "no paper")
    worst = Study.create("coins", budget=20, failure="worst", **COINS)
    pull = worst.ask()[0]
    worst.fail(pull, "no ink")
    frame = worst.trials_frame(failures=True)
    assert len(frame) == 1
    assert (frame["reward"][0], frame["failed"][0], frame["reason"][0]) == (0.0, True, "no ink")


def test_an_empty_study_has_an_empty_frame_with_the_same_columns() -> None:
    study = Study.create("coins", budget=20, **COINS)
    empty = study.trials_frame()
    study.observe("fair", random.Random(1).random())
    full = study.trials_frame()
    assert len(empty) == 0
    assert empty.columns.tolist() == full.columns.tolist()
    assert empty.dtypes["reward"] == full.dtypes["reward"] == "float64"


def test_items_are_places() -> None:
    study = Study.create("set", ["a", "b"], items=["x", "y", "z"], reward_range=(0, 1), epsilon=0.1, seed=1)
    pulls = study.ask(2)
    study.tell_many([(pull, 0.5) for pull in pulls])
    assert ["xyz"[place] for place in study.trials_frame()["item"]] == [pull.item for pull in pulls]
