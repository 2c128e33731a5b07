"""The commands that workers call for every trial: what argparse reads, what typer is left, and what is imported."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ramgape import Study
from ramgape.cli import answer_worker
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
        ["study", "ask", "x", "--counts", "1"],
        ["study", "ask", "x", "--json=yes"],
        ["study", "ask", "x", "-1"],
        ["study", "renew", "x"],
        ["run", "study.toml"],
    ],
)
def test_what_is_left_to_typer(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anybody is asked."""
    monkeypatch.setenv("RAMGAPE_STORAGE", "http://127.0.0.1:1?timeout=0")
    monkeypatch.setattr("http.client.HTTPConnection.connect", lambda _: pytest.fail("somebody is asked"))
    assert answer_worker(words) is None


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["ask", "x", "--count", "0"], "count must be a whole number from 1 to 100,000, got 0"),
        (["ask", "x", "--count", "many"], "count must be a number, got 'many'"),
        (["tell", "x"], "a pull and its reward must be given, or --from FILE, got neither"),
        (["tell", "x", "y", "much"], "reward must be a number, got 'much'"),
        (["tell", "x", "y", "0.5", "--info", "{"], "info must be a JSON object, got '{'"),
        (["exchange", "x", "--tell", "y"], "--tell must be written PULL=REWARD, got 'y'"),
    ],
)
def test_what_is_refused_before_the_storage_is_opened(
    words: list[str], complaint: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for storage in ("http://127.0.0.1:1?timeout=0", "sqlite:///missing.db"):
        monkeypatch.setenv("RAMGAPE_STORAGE", storage)
        assert answer_worker(["study", *words]) == 2
        said = capsys.readouterr()
        assert (said.out, said.err) == ("", f"error: {complaint}\n")


def test_a_completion_is_left_to_typer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_RAMGAPE_COMPLETE", "complete_bash")
    assert answer_worker(["study", "ask", "x"]) is None


def test_where_the_study_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The option counts before the variable, in both of its forms."""
    rows = {"studies": [{"id": 4, "name": "x", "done": True}], "next": None}
    with fake_server(lambda _: Says(rows)) as fake:
        monkeypatch.setenv("RAMGAPE_STORAGE", "sqlite:///elsewhere.db")
        assert answer_worker(["study", "done", "x", "--storage", fake.url]) == 0
        assert answer_worker(["study", "done", f"--storage={fake.url}", "--", "x"]) == 0
        monkeypatch.setenv("RAMGAPE_STORAGE", fake.url)
        assert answer_worker(["study", "done", "x"]) == 0
        assert answer_worker(["study", "done", "x", "--storage", "sqlite:///elsewhere.db"]) == 2
    assert [each.path for each in fake.asked] == ["/api/v1/studies?name=x"] * 3
    said = capsys.readouterr()
    assert said.out == "yes: the study is done\n" * 3
    assert said.err.startswith("error: there is no store at sqlite:///elsewhere.db")


def test_what_cannot_be_reached(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAMGAPE_STORAGE", "http://127.0.0.1:1?timeout=0")
    assert answer_worker(["study", "ask", "x"]) == 2
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


def test_a_local_study_takes_neither_typer_nor_a_server(tmp_path: Path) -> None:
    storage = f"sqlite:///{tmp_path}/studies.db"
    with Study.create("models", ["A", "B"], storage=storage, reward_range=(-1, 1), budget=4) as study:
        (pull,) = study.ask()
    command = [sys.executable, "-c", LOADED, "study", "tell", "models", "--json", pull.id, "-.5"]
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment(RAMGAPE_STORAGE=storage), check=False
    )
    assert done.returncode == 0, done.stderr
    assert {"typer", "click", "rich", "asyncio"}.isdisjoint(done.stderr.split())
    assert json.loads(done.stdout) == {"pull": pull.id, "accepted": True, "done": False}
