"""What the tab key offers."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ramgape.cli import completion
from ramgape.policies import POLICIES
from ramgape.problems.instances import instance_names
from ramgape.questions import QUESTIONS
from ramgape.studies.study import Study
from tests.cli_support import call, environment


def offered(line: str, folder: Path, **changes: str) -> list[str]:
    """What bash is told for a line whose last word is being typed."""
    variables = {"COMP_WORDS": line, "COMP_CWORD": str(line.count(" ")), "_RAMGAPE_COMPLETE": "complete_bash"}
    program = "import sys; sys.argv = ['ramgape']; from ramgape.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment(**variables, **changes),
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.split()


def test_commands_options_and_names(tmp_path: Path) -> None:
    assert offered("ramgape si", tmp_path) == ["simulate"]
    assert offered("ramgape study rel", tmp_path) == ["release"]
    assert "--policy" in offered("ramgape simulate paper:46 --p", tmp_path)
    assert offered("ramgape simulate paper:46 --policy ra", tmp_path) == ["ramgape", "ra-lucb"]
    assert offered("ramgape simulate paper-g", tmp_path) == [
        name for name in instance_names() if name.startswith("paper-g")
    ]


def test_studies_of_the_store_that_is_meant(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'here.db'}"
    for name in ("models", "moths", "other"):
        Study.create(name, ["a", "b"], reward_range=(0, 1), budget=9, storage=url).close()
    assert offered("ramgape study show mo", tmp_path, RAMGAPE_STORAGE=url) == ["models", "moths"]
    assert offered(f"ramgape study show --storage {url} o", tmp_path) == ["other"]
    assert offered("ramgape study show mo", tmp_path) == []  # there is no store, and nothing is made
    assert sorted(path.name for path in tmp_path.iterdir() if path.suffix == ".db") == ["here.db"]


def test_every_list_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, kinds in (("policy", POLICIES), ("question", QUESTIONS)):
        complete = completion.completer(name)
        assert complete is not None
        assert set(kinds) <= set(complete(""))
    assert all(completion.names_of(kind) for kind in completion.TABLES)
    assert completion.completer("epsilon") is None

    def fail(kind: str) -> list[str]:
        raise OSError(kind)

    monkeypatch.setattr(completion, "names_of", fail)
    complete = completion.completer("policy")
    assert complete is not None
    assert complete("") == []


def test_help_names_it() -> None:
    assert "--install-completion" in call("--help").stdout
    assert "--install-completion" not in call("simulate", "--help").stdout
