"""The command line for tests: in this process, in one of its own, and what it must say when it refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from ramgape.cli import app

NO_SIGNALS = pytest.mark.skipif(os.name == "nt", reason="pseudo-terminals and signals are those of POSIX")
# Terminals of 80 columns without colours, whatever the one is that runs the tests.
PLAIN: dict[str, str | None] = {
    "COLUMNS": "80",
    "FORCE_COLOR": None,
    "GITHUB_ACTIONS": None,
    "PYTHONIOENCODING": "utf-8",
    "TERMINAL_WIDTH": None,
    "TTY_COMPATIBLE": None,
    "_TYPER_FORCE_DISABLE_TERMINAL": "1",
}


def environment(**changes: str | None) -> dict[str, str]:
    """The environment of a process of its own."""
    wanted = {**os.environ, **PLAIN, **changes}
    return {name: value for name, value in wanted.items() if value is not None}


def call(*arguments: str) -> Result:
    """The command in this process."""
    return CliRunner().invoke(app, list(arguments), env=PLAIN)


def call_json(*arguments: str) -> dict[str, Any]:
    """What the command prints with --json, and nothing else."""
    result = call(*arguments, "--json")
    assert result.exit_code == 0, result.output
    printed: dict[str, Any] = json.loads(result.stdout)
    return printed


def complaint(*arguments: str) -> str:
    """The one line on stderr, of a call that must be refused."""
    result = call(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    assert result.stderr.startswith("error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr.removeprefix("error: ").strip()


def start(*arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own, perhaps with another environment."""
    command = [sys.executable, "-m", "ramgape", *arguments]
    return subprocess.run(
        command, capture_output=True, encoding="utf-8", timeout=300, check=False, env=environment(**changes)
    )
