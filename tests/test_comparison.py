"""Policies of one's own beside ours: the numbers are those of `replicate`, and the command finds what is named."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import ramgape
from ramgape.simulation.comparison import PolicyComparison, compare_policies, load_policy
from ramgape.statistics.proportions import clopper_pearson
from tests.cli_support import call, call_json, complaint

RULES = """
import numpy as np

def least(state):
    return int(np.argmin(state.pulls))

number = 5
"""
MINE = {
    "reward_range": [0, 1],
    "arms": [
        {"name": "A", "distribution": "beta", "a": 2.0, "b": 3.0},
        {"name": "B", "distribution": "bernoulli", "p": 0.7},
        {"name": "C", "distribution": "uniform", "low": 0.2, "high": 0.9},
    ],
}


def least(state: Any) -> int:
    return min(range(len(state.pulls)), key=lambda arm: state.pulls[arm])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's folder, with a rule and an instance."""
    (tmp_path / "own_rules.py").write_text(RULES)
    (tmp_path / "mine.json").write_text(json.dumps(MINE))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, "own_rules", raising=False)
    return tmp_path


def test_the_numbers_are_those_of_replicate() -> None:
    heard: list[int] = []
    options: dict[str, Any] = {"runs": 6, "seed": 2, "epsilon": 0.08}
    found = compare_policies(["auto", least], ["paper:46"], callback=heard.append, **options)
    ours, theirs = (ramgape.replicate("paper:46", policy=policy, **options) for policy in ("auto", least))
    assert heard[-1] == 12
    assert (found.reference, found.goal) == (ours.policy, ours.goal)
    for row, run in zip(found.rows, (ours, theirs), strict=True):
        assert (row.policy, row.samples, row.samples_stderr) == (run.policy, run.mean_samples, run.mean_samples_stderr)
        assert (row.wrong, row.error_interval, row.ended) == (run.errors, run.error_interval, 6)
    assert found.rows[0].ratio is None
    assert found.rows[1].ratio == pytest.approx(theirs.mean_samples / ours.mean_samples)
    assert found.rows[1].ratio_interval is not None
    assert found.rows[1].ratio_interval[0] < found.rows[1].ratio < found.rows[1].ratio_interval[1]
    assert PolicyComparison.from_dict(json.loads(found.to_json())) == found
    assert "Pulls (2 standard errors)" in {axes.get_xlabel() for axes in found.plot().figure.axes}


def test_under_a_budget_all_are_judged_alike() -> None:
    """Rules of the paper need a tolerance, and have a usual one; the others have none, and must not look worse."""
    options: dict[str, Any] = {"runs": 6, "budget": 60}
    found = compare_policies(["evidence", "ramgape"], ["paper:46"], **options)
    for row in found.rows:
        runs = ramgape.replicate("paper:46", policy=row.policy, **options).runs
        assert row.wrong == sum(not run.exact for run in runs)
        assert row.error_interval == clopper_pearson(row.wrong, 6)
        assert row.regret == pytest.approx(sum(run.regret for run in runs) / 6)
    assert "Mean regret (2 standard errors)" in {axes.get_xlabel() for axes in found.plot().figure.axes}


def test_the_command_takes_ones_own(folder: Path) -> None:
    command = ("benchmark", "--policy", "own_rules:least", "--instance", "mine.json", "--runs", "5", "--jobs", "1")
    printed = call_json(*command, "--epsilon", "0.2", "--json")
    assert [row["policy"] for row in printed["rows"]] == [printed["reference"], "least"]
    assert {row["instance"] for row in printed["rows"]} == {"mine"}
    result = call(*command, "--budget", "60", "--out", "page")
    assert result.exit_code == 0
    assert "mean regret" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 80
    page = (folder / "page" / "comparison.html").read_text(encoding="utf-8")
    assert "least" in page
    assert "<svg" in page
    assert json.loads((folder / "page" / "comparison.json").read_text())["goal"]["budget"] == 60


def test_what_cannot_be_compared(folder: Path) -> None:
    assert "MODULE:FUNCTION that can be imported, got 'own_rules:most'" in complaint(
        "benchmark", "--policy", "own_rules:most"
    )
    assert "got 'nowhere_at_all:x'" in complaint("benchmark", "--policy", "nowhere_at_all:x")
    assert "got 5" in complaint("benchmark", "--policy", "own_rules:number")
    assert "--epsilon must go with --policy or --instance" in complaint("benchmark", "--epsilon", "0.1")
    assert "must go without parts" in complaint("benchmark", "stopping", "--policy", "ramgape")
    assert load_policy("ramgape") == "ramgape"
    with pytest.raises(ramgape.InvalidSpec, match="instances must be at least one"):
        compare_policies(["auto"], [])
