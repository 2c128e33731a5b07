"""With the compiler off kernels are plain Python: no warning, and the same searches as compiled."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from ramgape.bounds import BOUNDS
from ramgape.policies import POLICIES
from tests import short_searches


@pytest.mark.long
def test_plain_kernels_warn_of_nothing_and_find_the_same() -> None:
    """Pull by pull; the last digits of logarithms may differ from those of compiled code."""
    run = subprocess.run(
        [sys.executable, "-W", "error", "-m", "tests.short_searches"],
        cwd=Path(__file__).parents[1],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    plain, compiled = json.loads(run.stdout), short_searches.play()
    assert plain.keys() == compiled.keys()
    for case, expected in compiled.items():
        assert plain[case]["answer"] == expected["answer"], case
        assert plain[case]["pulls"] == expected["pulls"], case
        assert plain[case]["numbers"] == pytest.approx(expected["numbers"], rel=1e-9, abs=1e-12, nan_ok=True), case


def test_the_short_searches_leave_nothing_out() -> None:
    played = [options for _, options in short_searches.cases()]
    assert {options["policy"] for options in played if "policy" in options} == set(POLICIES)
    assert {options["bound"] for options in played if "bound" in options} == set(BOUNDS)
    assert {options["risk"] for options in played if "risk" in options} == set(short_searches.RISKS)
