"""The attack on studies, scene by scene (attack.py); one table at the end says what was found.

RAMGAPE_ATTACK=0.1 plays a tenth of each scene.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.attack import LONGEST_SCENE, SCENES, Row, table

SCALE = float(os.environ.get("RAMGAPE_ATTACK", "1"))


@pytest.mark.long
@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are killed and stopped here as POSIX does it")
@pytest.mark.parametrize(("name", "store"), [(name, store) for name in SCENES for store in SCENES[name].stores])
def test_attack(name: str, store: str, record_property: Callable[[str, object], None]) -> None:
    count = max(round(SCALE * SCENES[name].count), 2)
    chosen = ["--only", name, "--store", store, f"--{name}", str(count), "--json"]
    finished = subprocess.run(
        [sys.executable, "-m", "tests.attack", *chosen],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        timeout=LONGEST_SCENE + 300,
    )
    row = Row(*json.loads(finished.stdout))
    record_property("attack", tuple(row))
    assert row.good, f"{table([row])}\n{finished.stderr}"
    assert finished.returncode == 0, finished.stderr
    assert row.attacks >= count
    assert row.acknowledged > 0
