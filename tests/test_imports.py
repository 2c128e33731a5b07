"""What new processes import: no compiler in real searches, and nothing heavy before it is used."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from ramgape import Study
from ramgape.common.terminal import compiling
from tests.cli_support import environment

COMPILER = ("numba", "llvmlite")
SHELL = ("typer", "click", "rich")
STORAGE = ("sqlalchemy", "alembic", "psycopg", "sqlite3")
SERVER = ("pydantic", "fastapi", "uvicorn")
TABLES = ("scipy", "pandas", "jinja2")
SLOW = (*COMPILER, *TABLES, *SERVER, "matplotlib", "asyncio", "multiprocessing")
HEAVY = (*SLOW, *SHELL, *STORAGE, "numpy")

LOADED = "import sys\n{script}\nprint(*[name for name in {names} if name in sys.modules], file=sys.stderr)\n"
COMMAND = """
from ramgape.cli import main
sys.argv = ["ramgape", *{arguments}]
try:
    main()
except SystemExit as left:
    assert not left.code, left.code
"""
SEARCH = """
import random, ramgape
random.seed(1)
arms = {{"a": 0.9, "b": 0.5, "c": 0.2}}
def trial(arm, *item):
    return arms[arm] + random.uniform(-0.1, 0.1)
result = ramgape.identify(trial, list(arms), progress=False, {options})
print(result)
result.to_json()
"""
FORECAST = """
from ramgape import Study
study = Study.create("study", ["a", "b", "c"], reward_range=(0, 1), epsilon=0.05)
for place, pull in enumerate(study.ask(60)):
    study.tell(pull, 0.1 * (place % 7))
assert study.report(expect=True).result.expected is not None
"""
SEARCHES = {
    "range": "reward_range=(0, 1), epsilon=0.3",
    "unknown": "epsilon=0.3",
    "best": 'reward_range=(0, 1), epsilon=0.3, task="best"',
    "budget": "budget=60",
    "items": 'reward_range=(0, 1), epsilon=0.3, task="best", items=range(20)',
    "watched": "epsilon=0.3, callback=lambda progress: progress.doubt",
    "rounds": 'reward_range=(0, 1), epsilon=0.3, task="best", max_trials=60, workers=2',
}
ROWS = "arm,reward\n" + "".join(
    f"{arm},{0.1 * place + 0.01 * row}\n" for row in range(20) for place, arm in enumerate("ab")
)


def loaded(script: str, names: tuple[str, ...], folder: Path, **variables: str) -> str:
    """Which of these modules a script has loaded when it ends."""
    text = LOADED.format(script=script, names=names)
    command = [sys.executable, "-c", text]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=120, check=False, cwd=folder, env=environment(**variables)
    )
    assert done.returncode == 0, done.stderr
    return done.stderr.splitlines()[-1]


def test_importing_ramgape_loads_nothing_heavy(tmp_path: Path) -> None:
    assert loaded("import ramgape", (*HEAVY, "json", "dataclasses"), tmp_path) == ""


@pytest.mark.parametrize("options", SEARCHES.values(), ids=SEARCHES)
def test_a_search_loads_numpy_alone(options: str, tmp_path: Path) -> None:
    assert loaded(SEARCH.format(options=options), HEAVY, tmp_path) == "numpy"


def test_a_forecast_of_what_is_left_loads_numpy_alone(tmp_path: Path) -> None:
    """It simulates the rest of the search."""
    assert loaded(FORECAST, COMPILER + SHELL + SERVER + TABLES, tmp_path) == ""


@pytest.mark.parametrize("command", [["--help"], ["study", "ask", "--help"]])
def test_help_loads_the_shell_alone(command: list[str], tmp_path: Path) -> None:
    assert loaded(COMMAND.format(arguments=command), (*SLOW, *STORAGE, "numpy"), tmp_path) == ""


def test_logged_data_load_numpy_and_the_shell(tmp_path: Path) -> None:
    (tmp_path / "log.csv").write_text(ROWS, encoding="utf-8")
    command = COMMAND.format(arguments=["analyze", "log.csv", "--reward-range", "0", "1"])
    assert loaded(command, HEAVY, tmp_path) == "typer rich numpy"


def test_timing_commands_loads_no_storage(tmp_path: Path) -> None:
    command = COMMAND.format(arguments=["run", "--runs", "2", "true", "sleep 0.01"])
    unwanted = tuple(name for name in HEAVY if name not in ("numpy", "typer", "rich", "multiprocessing"))
    assert loaded(command, unwanted, tmp_path) == ""


@pytest.mark.parametrize("more", [[], ["--json"]])
def test_asking_loads_one_storage(more: list[str], tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/studies.db"
    Study.create("models", ["A", "B"], storage=url, reward_range=(0, 1), epsilon=0.05).close()
    command = COMMAND.format(arguments=["study", "ask", "models", "--storage", url, *more])
    assert loaded(command, HEAVY, tmp_path) == "sqlite3 numpy"


def test_asking_a_server_loads_nothing(server_url: str, tmp_path: Path) -> None:
    Study.create("models", ["A", "B"], storage=server_url, reward_range=(0, 1), epsilon=0.05).close()
    command = COMMAND.format(arguments=["study", "ask", "models", "--storage", server_url])
    assert loaded(command, HEAVY, tmp_path) == ""


def test_the_demo_loads_what_it_draws_with(tmp_path: Path) -> None:
    command = COMMAND.format(arguments=["demo", "--out", "demo.png"])
    assert loaded(command, (*COMPILER, *TABLES, *SERVER, *STORAGE, "matplotlib"), tmp_path) == "matplotlib"


def test_compiling_is_one_line_with_the_time_it_took(capsys: pytest.CaptureFixture[str]) -> None:
    with compiling():
        pass
    said = capsys.readouterr().err
    assert said.startswith("compiling ")
    assert said.endswith("... done in 0 s\n")
