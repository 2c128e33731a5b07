"""The data sets that examples use: whole, as their source says, and found in an installed package."""

from __future__ import annotations

import csv

import pytest

from ramgape.datasets import PROMPTS, SIZES, load_models, load_prompts


def test_prompts_are_scores_of_every_prompt_on_every_sentence() -> None:
    data = load_prompts()
    assert data.arms == tuple(PROMPTS) == tuple(data.texts)
    assert len(set(data.items)) == 500
    scores = {arm: [data.ask(arm, item) for item in data.items] for arm in data.arms}
    assert {value for column in scores.values() for value in column} == {0.0, 1.0}
    assert max(scores, key=lambda arm: sum(scores[arm])) == "customer"
    assert sum(scores["customer"]) == 404
    assert sum(scores["good-bad"]) == 276


def test_models_have_an_accuracy_and_a_time_for_every_image() -> None:
    data = load_models()
    assert data.arms == tuple(SIZES) == tuple(data.sizes)
    assert len(set(data.items)) == 500
    outcomes = [data.ask(arm, item) for arm in data.arms for item in data.items]
    assert {tuple(each) for each in outcomes} == {("accuracy", "milliseconds")}
    assert {each["accuracy"] for each in outcomes} == {0.0, 1.0}
    assert all(each["milliseconds"] > 0.0 for each in outcomes)
    assert sum(data.ask("forest-200", item)["accuracy"] for item in data.items) == 461


def test_an_outcome_can_be_changed_without_changing_the_data() -> None:
    data = load_models()
    data.ask("svm", "1")["accuracy"] = 9.0
    assert data.ask("svm", "1")["accuracy"] == 1.0


@pytest.mark.parametrize("load", [load_prompts, load_models])
def test_paths_are_tables_with_a_row_for_each_item(load) -> None:
    data = load()
    with data.path.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    assert len(rows) == len(data.items)
    assert {column.partition(":")[0] for column in header[1:]} == set(data.arms)
