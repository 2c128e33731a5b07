"""What the examples show, runs; blocks of pages are in test_blocks.py."""

from __future__ import annotations

import json
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from ramgape.testing import check_store

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
# Of each example: what makes it shorter, a line that it prints, and the picture that it writes.
SHOWN = {
    "models.py": (["--quick"], "96 trials of 12 options: ", "models.png"),
    "prompts.py": ([], "Choose step by step. It has the highest mean, or is within 0.0", "prompts.png"),
    "quickstart.py": ([], "Keep Adler (lowest measured mean), Borges (in between) and Curie (lowest", "suppliers.png"),
    "risks.py": (["4000"], "std  mean-variance   semivariance       entropic           cvar", "risks.png"),
}


TAKES_LONG = "models.py"  # ten seconds, for fits; `risks.py` is short


@pytest.mark.parametrize(
    "example",
    [pytest.param(path, marks=[pytest.mark.long] * (path.name == TAKES_LONG)) for path in EXAMPLES],
    ids=[path.name for path in EXAMPLES],
)
def test_an_example_runs(example: Path, tmp_path: Path) -> None:
    arguments, line, picture = SHOWN[example.name]
    command = [sys.executable, str(example), *arguments]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert line in run.stdout
    assert (tmp_path / picture).read_bytes().startswith(b"\x89PNG")


# Of each example of a thing from outside: a line that it prints.
EXTENDING = {
    "bound.py": "union: 4,635 pulls",
    "distribution.py": "Pareto set steady, crashing, after 758 pulls; the truth: ('steady', 'crashing')",
    "policy.py": "largest-box: Pareto set 1, 2 after 16,985 pulls",
    "question.py": "above the floor: 1 2 3 4 5 6 7",
    "risk.py": "Pareto set 1 2",
    "store.py": '{"study": "coins", "told": 20}',
}


SLOW = ("bound.py", "risk.py")  # what calls functions from outside is compiled in every process


@pytest.mark.parametrize(
    "example",
    [
        pytest.param(path, id=path.name, marks=[pytest.mark.long] if path.name in SLOW else [])
        for path in sorted((ROOT / "examples" / "extending").glob("*.py"))
    ],
)
def test_a_thing_from_outside_runs(example: Path, tmp_path: Path) -> None:
    run = subprocess.run([sys.executable, str(example)], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert EXTENDING[example.name] in run.stdout
    assert len([line for line in example.read_text(encoding="utf-8").splitlines() if line]) < 40


def test_the_store_from_outside_does_what_studies_rely_on(tmp_path: Path) -> None:
    shown = runpy.run_path(str(ROOT / "examples" / "extending" / "store.py"))
    check_store(lambda: shown["open_audited"](f"audited:///{tmp_path}/studies.db", create=True))


def test_the_commands_are_timed(tmp_path: Path) -> None:
    """`examples/solvers.toml` with fewer numbers and fewer trials: `ramgape run` on real commands."""
    shutil.copytree(ROOT / "examples" / "solvers", tmp_path / "solvers")
    text = (ROOT / "examples" / "solvers.toml").read_text(encoding="utf-8")
    for usual, reduced in (
        (" 80000 ", " 500 "),
        ("budget = 200 ", "budget = 12 "),
        ("timeout = 1.5 ", "timeout = 60 "),
    ):
        assert usual in text
        text = text.replace(usual, reduced)
    (tmp_path / "solvers.toml").write_text(text, encoding="utf-8")
    # The examples say python3, which need not be the Python that has ramgape; any will do.
    search = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    command = [sys.executable, "-m", "ramgape", "run", str(tmp_path / "solvers.toml"), "--json"]
    wanted = {**os.environ, "PATH": search}
    wanted.pop("RAMGAPE_STORAGE", None)
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=wanted)
    assert run.returncode == 0, run.stderr
    report = json.loads(run.stdout)
    assert (report["name"], report["told"], report["failed"], report["done"]) == ("sorting", 12, 0, True)
    assert report["answer"]
    assert (tmp_path / "solvers.db").exists()


def test_the_five_risks_choose_five_sets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the example is there to show, of the truth: no two risks have the same front."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["risks.py", "400"])
    shown = runpy.run_path(str(ROOT / "examples" / "risks.py"))
    truths = [shown["search"](risk, 100).truth.front for risk in shown["RISKS"].values()]
    assert len(set(truths)) == 5


def test_the_readme_shows_files_that_exist() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    links = [link for link in re.findall(r"\]\(([^)]+)\)", text) if not link.startswith("http")]
    assert links
    assert all(os.path.exists(ROOT / link) for link in links)  # noqa: PTH110
