"""Older names of options, questions and classes: they work everywhere without a word, and are shown nowhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ramgape
import ramgape.questions
import ramgape.testing
from ramgape.commands.study_files import read_study_file
from ramgape.common.old_names import OPTION_NAMES
from ramgape.errors import InvalidSpec
from ramgape.options import IDENTIFY, OPTIONS, options_at
from ramgape.search.spec import make_spec
from tests.cli_support import call, call_json

OLD: dict[str, Any] = {"task": "top:1", "noise": "gaussian"}
NEW: dict[str, Any] = {"question": "top:1", "assumption": "gaussian"}


def test_old_names_stand_for_new_ones_and_are_no_rows_of_the_table() -> None:
    assert set(OPTION_NAMES).isdisjoint(OPTIONS)
    assert set(OPTION_NAMES.values()) <= set(OPTIONS)
    assert set(OPTION_NAMES).isdisjoint(options_at(IDENTIFY))
    assert make_spec(["a", "b"], epsilon=0.1, **OLD) == make_spec(["a", "b"], epsilon=0.1, **NEW)


def test_both_names_at_once_are_refused() -> None:
    with pytest.raises(InvalidSpec, match=r"^question must be given once, not as task as well"):
        make_spec(["a", "b"], epsilon=0.1, question="pareto", task="pareto")  # type: ignore[call-arg]


def test_commands_take_them_and_do_not_show_them() -> None:
    asked = ("simulate", "paper:46", "--epsilon", "0.2", "--seed", "1")
    old, new = (call_json(*asked, name, "top:2") for name in ("--task", "--question"))
    assert [old["task"], old["runs"][0]["front"]] == [new["task"], new["runs"][0]["front"]]
    assert old["task"] == "top:2"
    text = call("simulate", "--help").stdout
    assert "--question" in text
    assert "--task" not in text


def test_lists_keep_the_key_that_was_asked_for() -> None:
    assert call_json("list", "tasks")["tasks"] == call_json("list", "questions")["questions"]


def test_study_files_take_them(tmp_path: Path) -> None:
    text = '[study]\nepsilon = 0.1\n{} = "top:1"\n{} = "gaussian"\n[arms]\na = "echo 1"\nb = "echo 2"\n'
    read = []
    for names in (OLD, NEW):
        path = tmp_path / "study.toml"
        path.write_text(text.format(*names))
        read.append(read_study_file(path).options)
    assert read[0] == read[1]


def test_the_http_api_takes_them() -> None:
    schema = pytest.importorskip("ramgape.web.schema")
    body = {"name": "s", "arms": ["a", "b"]}
    assert schema.NewStudy(**body, **OLD) == schema.NewStudy(**body, **NEW)
    assert set(OLD).isdisjoint(json.loads(json.dumps(schema.NewStudy.model_json_schema()))["properties"])


def test_classes_and_functions_keep_them() -> None:
    assert ramgape.Task is ramgape.questions.Task is ramgape.questions.Question  # type: ignore[attr-defined]
    assert ramgape.questions.TASKS is ramgape.questions.QUESTIONS  # type: ignore[attr-defined]
    assert ramgape.questions.make_task("pareto") == ramgape.questions.PARETO
    assert ramgape.testing.check_task is ramgape.testing.check_question
    assert "Task" not in dir(ramgape)
