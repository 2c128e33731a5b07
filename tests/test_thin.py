"""The short way from a shell to a server: it takes what the ordinary commands take, and imports next to nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ramgape import Study
from ramgape.cli import answer_thinly, thin
from ramgape.cli.study import StudyCommands
from tests.cli_support import environment
from tests.fake_server import Says, fake_server

HEAVY = (
    "typer",
    "click",
    "rich",
    "numpy",
    "numba",
    "dataclasses",
    "inspect",
    "asyncio",
    "ramgape.studies",
)
LOADED = f"""
import atexit, sys
atexit.register(lambda: print(*[name for name in {HEAVY} if name in sys.modules], file=sys.stderr))
from ramgape.cli import main
main()
"""


@pytest.mark.parametrize("verb", thin.SHAPES)
def test_the_options_are_those_of_the_command(verb: str) -> None:
    command = StudyCommands(name="study").load(verb)
    known: dict[str, Any] = {}
    arguments: list[Any] = []
    for each in command.params:
        if each.param_type_name == "argument":
            arguments.append(each)
        elif "--help" not in each.opts:
            (option,) = each.opts
            known[option] = [] if each.multiple else each.default
    shape = thin.SHAPES[verb]
    assert dict(shape.options) == known
    assert list(shape.arguments) == [each.name for each in arguments]
    assert shape.least == sum(each.required for each in arguments)
    assert shape.many == (arguments[-1].nargs == -1)


@pytest.mark.parametrize(
    "words",
    [
        ["study"],
        ["study", "--help"],
        ["study", "show", "x"],
        ["study", "ask"],
        ["study", "ask", "--help"],
        ["study", "ask", "x", "-h"],
        ["study", "ask", "x", "y"],
        ["study", "ask", "x", "--count"],
        ["study", "ask", "x", "--count", "0"],
        ["study", "ask", "x", "--counts", "1"],
        ["study", "ask", "x", "--json=yes"],
        ["study", "ask", "x", "--count", "many"],
        ["study", "ask", "x", "-1"],
        ["study", "ask", "x", "--storage", "sqlite:///file.db"],
        ["study", "tell", "x"],
        ["study", "tell", "x", "y"],
        ["study", "tell", "x", "y", "much"],
        ["study", "tell", "x", "y", "-inf"],
        ["study", "tell", "x", "y", "0.5", "--from", "file"],
        ["study", "tell", "x", "y", "0.5", "--info", "{"],
        ["study", "renew", "x"],
        ["run", "study.toml"],
    ],
)
def test_what_is_left_to_the_ordinary_commands(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anybody is asked."""
    monkeypatch.setenv("RAMGAPE_STORAGE", "http://127.0.0.1:1?timeout=0")
    monkeypatch.setattr("http.client.HTTPConnection.connect", lambda _: pytest.fail("somebody is asked"))
    assert answer_thinly(words) is None


def test_no_server_is_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RAMGAPE_STORAGE", raising=False)
    assert answer_thinly(["study", "ask", "x"]) is None
    monkeypatch.setenv("RAMGAPE_STORAGE", "http://127.0.0.1:1")
    monkeypatch.setenv("_RAMGAPE_COMPLETE", "complete_bash")
    assert answer_thinly(["study", "ask", "x"]) is None


def test_where_the_study_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The option counts before the variable, in both of its forms."""
    rows = {"studies": [{"id": 4, "name": "x", "done": True}], "next": None}
    with fake_server(lambda _: Says(rows)) as fake:
        monkeypatch.setenv("RAMGAPE_STORAGE", "sqlite:///elsewhere.db")
        assert answer_thinly(["study", "done", "x", "--storage", fake.url]) == 0
        assert answer_thinly(["study", "done", f"--storage={fake.url}", "--", "x"]) == 0
        monkeypatch.setenv("RAMGAPE_STORAGE", fake.url)
        assert answer_thinly(["study", "done", "x"]) == 0
        assert answer_thinly(["study", "done", "x", "--storage", "sqlite:///elsewhere.db"]) is None
    assert [each.path for each in fake.asked] == ["/api/v1/studies?name=x"] * 3
    assert capsys.readouterr().out == "yes: the study is done\n" * 3


def test_what_cannot_be_reached(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAMGAPE_STORAGE", "http://127.0.0.1:1?timeout=0")
    assert answer_thinly(["study", "ask", "x"]) == 2
    said = capsys.readouterr()
    assert said.err == "error: the server at http://127.0.0.1:1 cannot be used now: Connection refused\n"
    assert said.out == ""


def test_nothing_heavy_is_loaded(server_url: str, tmp_path: Path) -> None:
    """Of all that a worker in a shell calls for every trial."""
    with Study.create("models", ["A", "B"], storage=server_url, reward_range=(0, 1), budget=4) as study:
        one, two, three = (pull.id for pull in study.ask(3))
    calls = (
        ["ask", "models", "--worker", "me", "--json"],
        ["tell", "models", one, "0.5"],
        ["renew", "models", two, "--lease", "5"],
        ["exchange", "models", "--tell", f"{two}=0.25", "--worker", "me"],
        ["fail", "models", three, "--reason", "why", "--json"],
        ["give-back", "models", three],
        ["done", "models"],
    )
    for call in calls:
        command = [sys.executable, "-c", LOADED, "study", *call]
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment(RAMGAPE_STORAGE=server_url), check=False
        )
        assert (done.returncode, done.stderr) == (1 if call[0] == "done" else 0, "\n"), call
        assert done.stdout
