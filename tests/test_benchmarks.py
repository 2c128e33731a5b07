"""The benchmarks run and report; what they measure is for `make bench`, on a quiet machine."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ramgape.bounds import BOUNDS
from ramgape.policies import POLICIES

ROOT = Path(__file__).resolve().parents[1]
GROUPS = [
    "a round of a whole run",
    "a round of each policy",
    "a whole pull",
    "a bound learns one reward",
    "compiled against NumPy",
    "a trial in plain Python",
    "from Python",
    "to the first pull",
    "the command",
    "studies",
    "server",
    "pages",
    "cluster",
]
COLUMNS: dict[str, Any] = {
    "group": str,
    "what": str,
    "unit": str,
    "better": str,
    "value": float,
    "low": float,
    "high": float,
    "target": (float, type(None)),
    "goal": (float, type(None)),
    "met": (bool, type(None)),
    "goal_met": (bool, type(None)),
    "details": dict,
}


@pytest.mark.long
def test_quick_benchmarks_report_everything(tmp_path: Path) -> None:
    """One test, not three: the measurements would be made again in each worker."""
    file = tmp_path / "new folder" / "bench.json"
    command = [sys.executable, "-m", "benchmarks", "--quick", "--json", str(file)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""  # what is being measured is told to terminals only
    report = json.loads(file.read_text(encoding="utf-8"))
    check_form(report, run.stdout)
    for row in report["rows"]:
        check_numbers(row)
    check_completeness(report["rows"])


def check_form(report: dict[str, Any], printed: str) -> None:
    """Others may read the file: its form changes only with its version."""
    assert list(report) == ["schema_version", "quick", "machine", "rows"]
    assert report["schema_version"] == 1
    assert report["quick"] is True
    assert {"cores", "python", "numpy", "numba", "ramgape"} <= set(report["machine"])
    assert list(dict.fromkeys(row["group"] for row in report["rows"])) == GROUPS
    for row in report["rows"]:
        assert list(row) == list(COLUMNS)
        assert all(isinstance(row[column], kind) for column, kind in COLUMNS.items()), row
        assert row["what"] in printed


def check_numbers(row: dict[str, Any]) -> None:
    """How large a number is says nothing here, but it must be one."""
    assert 0.0 < row["low"] <= row["value"] <= row["high"] < math.inf, row
    for wanted, met in (("target", "met"), ("goal", "goal_met")):
        if row[wanted] is None:
            assert row[met] is None
        else:
            reached = row["value"] <= row[wanted] if row["better"] == "less" else row["value"] >= row[wanted]
            assert row[met] is reached


def check_completeness(rows: list[dict[str, Any]]) -> None:
    """Nothing is measured twice, and no policy and no bound is left out."""
    names = [(row["group"], row["what"]) for row in rows]
    assert len(set(names)) == len(names)
    for policy, about in POLICIES.items():
        for kind in about.paper_goals:
            assert (GROUPS[1], f"{policy}, K = 10, fixed {kind}") in names
    assert [what for group, what in names if group == GROUPS[3]] == list(BOUNDS)
