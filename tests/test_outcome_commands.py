"""Several outcomes of commands: typed, in a study file, by a worker; times and memory, and the last line as JSON."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from tests.cli_support import call, call_json, complaint

SCRIPT = """
import json, random, sys
quality = {"good": 0.9, "bad": 0.2}[sys.argv[1]]
random.seed(int(sys.argv[2]))
print("working")
print(json.dumps({"score": float(random.random() < quality), "note": "x"}))
"""
ASKED = [
    *("--outcome", "score=0,1", "--objective", "max mean(score)", "--constraint", "mean(elapsed) <= 60"),
    *("--epsilon", "score=0.4,elapsed=20", "--constraint", "mean(memory) <= 4e9"),
]


@pytest.fixture
def line(tmp_path: Path) -> str:
    (tmp_path / "trial.py").write_text(SCRIPT)
    return f"{sys.executable} -S {tmp_path / 'trial.py'}"


def test_commands_that_are_typed(line: str) -> None:
    found = call_json("run", f"{line} good {{seed}}", f"{line} bad {{seed}}", "-n", "good", "-n", "bad", *ASKED)
    assert found["answer"] == ["good"]
    assert [each["text"] for each in found["objectives"]] == ["mean(score)"]


def test_all_that_is_done_around_runs(line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Setup, warm-up, cleanup, exports and exit codes as where the time alone is asked about; in words of commands."""
    monkeypatch.chdir(tmp_path)
    commands = ("run", f"{line} good {{seed}}", f"{line} bad {{seed}}", "-n", "good", "-n", "bad", *ASKED)
    around = ("--setup", "echo setup >> log", "--cleanup", "echo cleanup >> log", "--prepare", "echo run >> log")
    result = call(*commands, *around, "-w", "2", "--export-json", "x.json", "--exit-code", "-u", "second")
    assert result.exit_code == 0, result.output
    log = Path("log").read_text().split()
    made = [len(each["times"]) for each in json.loads(Path("x.json").read_text())["results"]]
    assert (log.count("setup"), log.count("cleanup"), log.count("run")) == (2, 2, 4 + sum(made))
    assert (log[:2], log[-2:]) == (["setup"] * 2, ["cleanup"] * 2)
    assert all(0.001 < each < 60.0 for each in json.loads(Path("x.json").read_text())["results"][0]["times"])
    shown = " ".join(result.stdout.split())
    assert shown.startswith("Choose good.")
    assert f"{sum(made)} runs of 2 commands" in shown
    assert not re.search(r"\b(arms?|trials?|options?|rewards?)\b", shown)
    quiet = call(*commands, "-q").stdout
    assert quiet.startswith("Choose good.")
    assert "Runs:" not in quiet
    assert "± s.e." not in quiet
    found = call_json(*commands)
    assert [each["unit"] for each in found["objectives"]] == [None]
    assert found["arms"][0]["runs"] == found["arms"][0]["trials"]


def test_a_study_file(line: str, tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(
        f"""
        [study]
        objectives = ["maximize mean(score)"]
        constraints = ["mean(elapsed) <= 60", "mean(user) <= 100"]
        epsilon = {{elapsed = 5}}
        storage = "sqlite:///study.db"
        [outcomes]
        score = {{range = [0, 1], epsilon = 0.4}}
        [arms]
        good = "{line} {{arm}} {{seed}}"
        bad = "{line} {{arm}} {{seed}}"
        """
    )
    assert call_json("run", str(tmp_path / "study.toml"))["answer"] == ["good"]
    storage = f"sqlite:///{tmp_path / 'study.db'}"
    call_json("study", "export", "study", str(tmp_path / "study.jsonl"), "--storage", storage)
    first = json.loads((tmp_path / "study.jsonl").read_text().splitlines()[0])
    assert {"elapsed", "user", "system", "memory", "score"} <= set(first["outcomes"])


def test_a_study_of_the_shell(line: str, tmp_path: Path) -> None:
    storage = ("--storage", f"sqlite:///{tmp_path / 's.db'}")
    made = ("--arm", "good", "--arm", "bad", "--outcome", "elapsed=unknown", "--outcome", "memory=unknown")
    call_json("study", "create", "s", *made, *ASKED, *storage)
    pull, other = call_json("study", "ask", "s", "--count", "2", *storage)["pulls"]
    told = '{"score": 1, "elapsed": 0.5, "memory": 1e6}'
    assert call_json("study", "tell", "s", pull["id"], "--outcomes", told, *storage)["accepted"]
    assert "outcome memory" in complaint("study", "tell", "s", other["id"], "--outcomes", told[:27] + "}", *storage)
    assert "a mapping" in complaint("study", "tell", "s", other["id"], "0.5", *storage)
    assert "JSON object" in complaint("study", "tell", "s", other["id"], "--outcomes", "{", *storage)
    assert call_json("study", "give-back", "s", other["id"], *storage)["accepted"]
    call_json("study", "observe", "s", "good", "--outcomes", told, *storage)
    assert call("study", "work", "s", *storage, "--", *line.split(), "{arm}", "{seed}").exit_code == 0
    shown = call_json("study", "show", "s", *storage)
    assert shown["done"]
    assert shown["answer"] == ["good"]


def test_what_cannot_be_meant(line: str) -> None:
    commands = (f"{line} good 1", f"{line} bad 1")
    assert "epsilon must be given" in complaint("run", *commands, "--objective", "min elapsed", "--objective", "max x")
    assert "character" in complaint("run", *commands, "--objective", "min elapsed/0", "--epsilon", "0.1")
