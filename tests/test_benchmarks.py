"""The benchmarks run and report; what they measure is for `make bench`, on a quiet machine."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def test_quick_benchmarks_report_every_group(tmp_path: Path) -> None:
    """A ratio says nothing here, but it must be one: positive and finite, with its target beside it."""
    file = tmp_path / "bench.json"
    command = [sys.executable, "-m", "benchmarks", "--quick", "--json", str(file)]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    report = json.loads(file.read_text())
    assert report["schema_version"] == 1
    rows = report["rows"]
    groups = {row["group"] for row in rows}
    assert groups == {"a round, in draws", "speed-up", "from Python", "to the first pull", "command line"}
    for row in rows:
        assert math.isfinite(row["value"])
        assert 0 < row["low"] <= row["value"] <= row["high"]
        assert row["what"] in run.stdout
        assert (row["met"] is None) == (row["target"] is None)
