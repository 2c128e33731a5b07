"""What a stranger gets: the built package, installed alone in a fresh environment, away from the checkout."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
DATA = {".css", ".csv", ".html", ".jinja", ".js", ".json", ".svg", ".toml"}
TARGETS = (
    "help",
    "install",
    "demo",
    "reproduce",
    "benchmark",
    "test",
    "coverage",
    "test-long",
    "bench",
    "jobs",
    "refresh",
    "docs",
    "lint",
    "format",
    "release",
    "clean",
)


def clean_environment() -> dict[str, str]:
    """The caller's environment without what could lead Python or make back to the checkout."""
    misleading = ("PYTHON", "VIRTUAL_ENV", "NUMBA_", "MAKE", "MFLAGS", "PYTEST_")
    return {name: value for name, value in os.environ.items() if not name.startswith(misleading)}


def run(*command: str | Path, cwd: Path) -> str:
    """What a command prints; if it fails, the test shows everything it said."""
    finished = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=clean_environment(),
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert finished.returncode == 0, f"{command}\n{finished.stdout}\n{finished.stderr}"
    return finished.stdout


def data_files(folder: Path) -> set[str]:
    return {file.relative_to(folder.parent).as_posix() for file in folder.rglob("*") if file.suffix in DATA}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source archive and the wheel made from it: the archive must suffice."""
    folder = tmp_path_factory.mktemp("built")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (file,) = built.glob("*.whl")
    return file


def test_wheel_holds_the_package_and_nothing_else(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    assert {name.split("/")[0] for name in names} == {"ramgape", f"ramgape-{PROJECT['version']}.dist-info"}
    assert "ramgape/py.typed" in names
    assert f"ramgape-{PROJECT['version']}.dist-info/licenses/LICENSE" in names
    assert data_files(ROOT / "src" / "ramgape") == {name for name in names if Path(name).suffix in DATA} != set()
    assert {Path(name).suffix for name in names if name.startswith("ramgape/")} == {".py", ".typed", *DATA}


def test_source_archive_holds_what_a_developer_needs(built: Path) -> None:
    (file,) = built.glob("*.tar.gz")
    with tarfile.open(file) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"Makefile", "constraints.txt", "LICENSE", ".ci/run", "tests/test_packaging.py"} <= names
    assert {"SECURITY.md", "CITATION.cff", ".pre-commit-config.yaml", "tools/release.py"} <= names
    for folder in (".github", "benchmarks", "docs/project", "docs/reference", "examples"):
        assert any(name.startswith(f"{folder}/") for name in names), folder
    assert not [name for name in names if re.search(r"(^|/)(\.venv|__pycache__|\.\w+_cache|\.git)(/|$)", name)]


@pytest.mark.long
def test_installed_alone_it_works(wheel: Path, tmp_path: Path) -> None:
    """One test, not three: the environment takes half a minute to make, in each worker that needs it."""
    fresh = tmp_path / "environment"
    venv.create(fresh, with_pip=True)
    programs = fresh / ("Scripts" if os.name == "nt" else "bin")
    constraints = ROOT / "constraints.txt"
    # No extras: neither the import nor a simulation may need matplotlib or pandas.
    run(programs / "python", "-m", "pip", "install", "-qq", "--constraint", constraints, wheel, cwd=tmp_path)

    script = "import ramgape; print(ramgape.__version__); print(ramgape.__file__)"
    version, file = run(programs / "python", "-c", script, cwd=tmp_path).splitlines()
    assert version == PROJECT["version"]
    assert Path(file).is_relative_to(fresh)

    assert PROJECT["version"] in run(programs / "ramgape", "--version", cwd=tmp_path)

    output = run(programs / "ramgape", "simulate", "paper:46", "--epsilon", "0.1", "--json", cwd=tmp_path)
    assert json.loads(output)["runs"][0]["stopped"] == "confidence"


def test_make_lists_its_targets() -> None:
    listed = re.findall(r"^ *make ([\w-]+)  +\S", run("make", cwd=ROOT), flags=re.MULTILINE)
    assert listed == list(TARGETS)


@pytest.mark.parametrize("target", TARGETS)
def test_make_knows_how(target: str) -> None:
    run("make", "--dry-run", target, cwd=ROOT)


def test_ci_runs_what_developers_run() -> None:
    script = ROOT / ".ci" / "run"
    assert os.access(script, os.X_OK)
    lines = script.read_text(encoding="utf-8").splitlines()
    assert "set -euo pipefail" in lines
    assert "make test" in lines


def test_constraints_pin_every_requirement_exactly() -> None:
    lines = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [re.fullmatch(r"([A-Za-z0-9._-]+)==[0-9][0-9A-Za-z.]*", line) for line in lines]
    assert all(pins)
    pinned = {re.sub(r"[-_.]+", "-", pin[1]).lower() for pin in pins if pin}
    extras = PROJECT["optional-dependencies"].values()
    wanted = {re.split(r"[\[<>=!~; ]", line)[0] for line in sum(extras, PROJECT["dependencies"])}
    assert wanted - {"ramgape"} <= pinned
