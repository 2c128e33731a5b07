"""Older names of options, questions and classes: they work everywhere without a word, and are shown nowhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ramgape
import ramgape.questions
import ramgape.testing
from ramgape.commands.placeholders import fill
from ramgape.commands.shell_lines import read_line
from ramgape.commands.study_files import read_study_file
from ramgape.common.old_names import OPTION_NAMES
from ramgape.errors import InvalidSpec
from ramgape.options import IDENTIFY, OPTIONS, options_at
from ramgape.search.spec import make_spec
from tests.cli_support import call, call_json

OLD: dict[str, Any] = {"task": "best-mean", "noise": "any", "max_pulls": 90, "initial_pulls": 5, "alarm": 0.02}
NEW: dict[str, Any] = {
    "question": "best",
    "assumption": "unknown",
    "max_trials": 90,
    "initial_trials": 5,
    "drift": 0.02,
}


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
    names = {"--task": "--question", "--max-pulls": "--max-trials", "--initial-pulls": "--initial-trials"}
    values = {"--question": "top:2", "--max-trials": "1e5", "--initial-trials": "3"}
    given = [[part for old, new in names.items() for part in ((old, new)[at], values[new])] for at in (0, 1)]
    old, new = (call_json(*asked, *each) for each in given)
    assert [old["task"], old["runs"][0]["front"]] == [new["task"], new["runs"][0]["front"]]
    assert old["task"] == "top:2"
    text = call("simulate", "--help").stdout
    assert all(each in text for each in names.values())
    assert not any(each in text for each in (*names, "--rho", "--sigma-max"))


def test_lists_keep_the_key_that_was_asked_for() -> None:
    assert call_json("list", "tasks")["tasks"] == call_json("list", "questions")["questions"]


def test_study_files_take_them(tmp_path: Path) -> None:
    read = []
    for given in (OLD, NEW):
        path = tmp_path / "study.toml"
        written = "".join(f"{name} = {json.dumps(value)}\n" for name, value in given.items())
        path.write_text(f'[study]\nepsilon = 0.1\n{written}[arms]\na = "echo 1"\nb = "echo 2"\n')
        read.append(read_study_file(path).options)
    assert read[0] == read[1]


def test_commands_of_workers_know_the_trial_by_both_names() -> None:
    assert read_line("./a {trial} {pull} {arm}").names == {"trial", "pull", "arm"}
    assert fill(("./a", "{trial}", "{pull}"), {"trial": "x-1", "pull": "x-1"}) == ["./a", "x-1", "x-1"]


def test_the_http_api_takes_them() -> None:
    schema = pytest.importorskip("ramgape.web.schema")
    body = {"name": "s", "arms": ["a", "b"]}
    assert schema.NewStudy(**body, **OLD) == schema.NewStudy(**body, **NEW)
    assert set(OLD).isdisjoint(json.loads(json.dumps(schema.NewStudy.model_json_schema()))["properties"])


def test_groups_take_them() -> None:
    assert ramgape.Search(max_pulls=90, alarm=0.02) == ramgape.Search(max_trials=90, drift=0.02)
    assert ramgape.Search(max_trials=90).max_pulls == 90
    options: dict[str, Any] = {"question": "best", "reward_range": (0, 1), "epsilon": 0.1}
    by_itself = make_spec(["a", "b"], **options, max_trials=90, policy="evidence")
    assert make_spec(["a", "b"], **options, search=ramgape.Search(max_pulls=90, policy="evidence")) == by_itself


def test_results_have_them_and_do_not_show_them() -> None:
    result = ramgape.simulate("paper:46", question="best", epsilon=0.2, seed=1)
    assert (result.front, result.samples) == (result.answer, result.trials)  # type: ignore[attr-defined]
    assert [arm.pulls for arm in result.arms] == [arm.trials for arm in result.arms]  # type: ignore[attr-defined]
    assert result.task == "best"
    assert not {"front", "samples"} & set(dir(result))
    with pytest.raises(AttributeError, match="'Result' object has no attribute 'fronts'"):
        _ = result.fronts  # type: ignore[attr-defined]


def test_json_of_earlier_versions_loads() -> None:
    result = ramgape.simulate("paper:46", question="best", epsilon=0.2, seed=1)
    written = json.loads(result.to_json())
    older = written["details"] | {"schema_version": 1, "warnings": [], "question": "the arm with the highest mean"}
    older |= {"front": list(result.answer), "samples": result.trials, "task": "best-mean", "noise": "any"}
    older["arms"] = [
        more | {"name": arm.name, "pulls": arm.trials, "dominated_by": arm.beaten_by, "verdict": arm.verdict}
        for more, arm in zip(older["arms"], result.arms, strict=True)
    ]
    read = ramgape.Result.from_dict(older)
    assert (read.answer, read.trials, read.task, read.noise) == (result.answer, result.trials, "best", "unknown")
    assert [arm.beaten_by for arm in read.arms] == [arm.beaten_by for arm in result.arms]


def test_a_stored_specification_keeps_its_keys() -> None:
    spec = ramgape.Study.create("s", ["a", "b"], epsilon=0.1, **NEW).spec
    stored = json.loads(spec.to_text())
    assert set(OLD) <= set(stored["search"])
    assert not set(NEW) & set(stored["search"])
    older = json.dumps(stored | {"search": stored["search"] | {"task": "best-mean", "noise": "any"}})
    assert type(spec).from_text(older) == spec == type(spec).from_text(spec.to_text())


def test_classes_and_functions_keep_them() -> None:
    assert ramgape.Task is ramgape.questions.Task is ramgape.questions.Question  # type: ignore[attr-defined]
    assert ramgape.questions.TASKS is ramgape.questions.QUESTIONS  # type: ignore[attr-defined]
    assert ramgape.questions.make_task("pareto") == ramgape.questions.PARETO
    assert ramgape.testing.check_task is ramgape.testing.check_question
    assert "Task" not in dir(ramgape)
