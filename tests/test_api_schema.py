"""The API does what its description says, also for whoever asks for what nobody would: by schemathesis, all checks."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.servers import call, whole_server

ROOT = Path(__file__).parents[1]
COINS = {"name": "coins", "arms": ["fair", "bent"], "reward_range": [0, 1], "epsilon": 0.1, "expected_arms": 9}


@pytest.mark.parametrize("examples", [2, pytest.param(200, marks=pytest.mark.long)])
def test_schemathesis_finds_nothing(tmp_path: Path, examples: int) -> None:
    """With a fixed seed: what is found once is found again. schemathesis.toml says what is allowed."""
    with whole_server(f"sqlite:///{tmp_path / 'studies.db'}", tmp_path) as (address, token):
        asked = {"Authorization": f"Bearer {token}"}
        assert call(address, "POST", "/studies", COINS, **asked)[0] == 201
        command = [sys.executable, "-m", "schemathesis.cli.__main__", "run", f"{address}/api/v1/openapi.json"]
        options = ["-H", f"Authorization: Bearer {token}", "--checks", "all", "--seed", "1"]
        found = subprocess.run(
            [*command, *options, "--max-examples", str(examples)],
            cwd=ROOT,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=3600,
        )
        assert found.returncode == 0, found.stdout + found.stderr
        assert "No issues found" in found.stdout or "passed" in found.stdout
        assert call(address, "GET", "", **asked)[0] == 200
