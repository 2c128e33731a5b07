"""The way to the first result: what a new process loads, and what it says while kernels are compiled."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from ramgape.core.kernel import SYMBOLS_KNOWN
from ramgape.studies.study import Study
from ramgape.views.terminal import COMPILING

HEAVY = ("numpy", "numba", "scipy", "pandas", "matplotlib", "psycopg")
# Not all of SciPy: Numba looks at its version.
FOR_A_PULL = ("scipy.linalg", "pandas", "matplotlib", "psycopg", "ramgape.storage.postgres")
COMMAND = """
import sys
from ramgape.cli import main
sys.argv = ["ramgape", *{arguments}]
try:
    main()
finally:
    print(*[name for name in {names} if name in sys.modules], file=sys.stderr)
"""


def loaded(script: str) -> str:
    """What a script says on stderr."""
    finished = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=300, check=True)
    return finished.stderr.strip()


def test_importing_ramgape_loads_nothing_heavy() -> None:
    names = (*HEAVY, "typer", "rich", "json", "dataclasses")
    assert loaded(f"import ramgape, sys; print(*[x for x in {names} if x in sys.modules], file=sys.stderr)") == ""


@pytest.mark.parametrize("command", [["--help"], ["study", "ask", "--help"]])
def test_help_loads_nothing_heavy(command: list[str]) -> None:
    assert loaded(COMMAND.format(arguments=command, names=HEAVY)) == ""


@pytest.mark.skipif(numba.version_info.short not in SYMBOLS_KNOWN, reason="this Numba loads its compiler in any case")
def test_asking_for_a_pull_loads_no_more_than_it_takes(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/studies.db"
    with Study.create("models", ["A", "B"], storage=url, reward_range=(0, 1), epsilon=0.05) as study:
        study.ask()  # compiled, from here on
    for more in ([], ["--json"]):
        arguments = ["study", "ask", "models", "--storage", url, *more]
        assert loaded(COMMAND.format(arguments=arguments, names=FOR_A_PULL)) == ""


# A small kernel, by itself.
COMPILE = """
from ramgape.core.table import empty_table
from ramgape.search.engine import least_pulled
print(least_pulled(empty_table(3)))
"""


def said(cache: Path, terminal: bool) -> str:
    """What a process says on stderr that needs a kernel."""
    import pty

    controller, end = pty.openpty() if terminal else os.pipe()
    environment = os.environ | {"NUMBA_CACHE_DIR": str(cache), "TERM": "xterm"}
    process = subprocess.run(
        [sys.executable, "-c", COMPILE], stdout=subprocess.PIPE, stderr=end, env=environment, timeout=300, check=True
    )
    os.close(end)
    assert process.stdout.strip() == b"0"
    text = b""
    try:
        while some := os.read(controller, 4096):
            text += some
    except OSError:  # how Linux says that the other end of a terminal is closed
        pass
    os.close(controller)
    return text.decode().strip()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such terminals")
def test_a_terminal_is_told_of_compiling_and_only_then(tmp_path: Path) -> None:
    assert said(tmp_path / "one", terminal=True) == COMPILING
    assert said(tmp_path / "one", terminal=True) == ""
    assert said(tmp_path / "two", terminal=False) == ""
