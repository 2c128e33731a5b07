"""The part of the benchmark about tasks: what is run, what it says, and how it looks."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from ramgape.cli import app
from ramgape.paper import benchmark_tasks as tasks
from ramgape.paper import figures
from ramgape.paper.benchmark import REPORT
from ramgape.paper.scale import FULL_BENCHMARK as FULL
from ramgape.paper.scale import QUICK_BENCHMARK as QUICK
from ramgape.paper.scale import BenchmarkScale, QuestionScale
from ramgape.paper.tables import Row
from ramgape.problems.instances import load_instance
from tests.figures import assert_readable

FIELD = QuestionScale(("paper:46", "random-beta:101"), (0.05, 0.1), 2, 1, 10**7, ("random-beta:101",), {50: 3, 100: 3})
TINY = BenchmarkScale("tiny", {}, (), cap=10_000, longest=1.0, other_runs=1, paper_runs=1, paper_cap=10, tasks=FIELD)


def fake_outcomes(regrets: dict[str, float], ceiling: int = 200, wrong: int = 0) -> dict[Any, Any]:
    """As jobs would give them, from a regret for each rule and the pulls of a search with a ceiling."""
    outcomes: dict[Any, Any] = {}
    for key, job in tasks.plan_jobs(TINY, 0).items():
        runs = job.arguments["trials"]
        pulls = ceiling if key[0] == tasks.CEILING else 1000
        right = [place >= wrong for place in range(runs)]
        outcomes[key] = {
            "samples": [pulls + 10 * place for place in range(runs)],
            "stopped": ["confidence"] * runs,
            "regret": [regrets.get(key[1], 0.01)] * runs,
            "exact": right,
            "eps_correct": right,
        }
    return outcomes


def test_what_is_run() -> None:
    for scale in (FULL, QUICK):
        assert {"paper:10", "paper:46"} < set(scale.tasks.instances)
        assert scale.tasks.epsilons == (0.01, 0.02)
    assert len(FULL.tasks.instances) == 14
    jobs = tasks.plan_jobs(FULL, 3)
    boxes = {"policy": "ramgape", "bound": "empirical-bernstein", "delta": 0.05, "seed": 3}
    for asked in (tasks.PARETO, tasks.CEILING):
        assert boxes.items() <= jobs[asked, tasks.BOXES, "paper:10", 0.01].arguments.items()
    assert jobs[tasks.MEAN, tasks.UGAPE, "paper:10", 0.02].arguments["policy"] == "ugape"
    ceiling = jobs[tasks.CEILING, tasks.DEFAULT, "paper:10", 0.01].arguments["task"]
    assert ceiling == f"best:max-risk={tasks.median_risk('paper:10', FULL.risk)!r}"
    rival = jobs[tasks.VARIANCE, tasks.VA_LUCB, "paper:10", 0.0].arguments
    assert {"policy": "va-lucb", "risk": "variance", "epsilon": 0.0, "max_trials": 2_000_000}.items() <= rival.items()
    assert rival["task"] == jobs[tasks.VARIANCE, tasks.DEFAULT, "paper:10", 0.0].arguments["task"]


def test_the_ceiling_of_the_variance_is_that_of_no_arm() -> None:
    for name in FULL.tasks.instances:
        variances = np.array([arm.distribution.variance for arm in load_instance(name).arms])
        ceiling = tasks.ceiling_between(name)
        assert abs((variances < ceiling).sum() - len(variances) / 2) <= 1
        assert np.abs(variances - ceiling).min() > 0.0


def test_runs_that_were_given_up_are_told_as_such() -> None:
    for ended, others, words in (
        (5, 5, "0.500"),
        (5, 4, "less than 0.500"),
        (4, 5, "more than 0.500"),
        (4, 4, "not known"),
    ):
        row = Row(pulls=50.0, others=100.0, runs=5, ended=ended, others_ended=others)
        assert tasks.exact_ratio(row) == words
    grid = tasks.make_section(TINY, 0, fake_outcomes({})).grids[1]
    assert grid.rows[0] == ["paper:46", "1,000", "1,000", "1.00", "1 and 1 of 1"]


def test_verdicts_follow_the_numbers() -> None:
    def verdicts(**given: Any) -> list[str]:
        section = tasks.make_section(TINY, 0, fake_outcomes(**given))
        return [finding.verdict for finding in section.findings]

    assert verdicts(regrets={tasks.OWN: 0.005}) == ["confirmed", "confirmed", "confirmed"]
    assert verdicts(regrets={tasks.OWN: 0.02}) == ["confirmed", "refuted", "confirmed"]
    assert verdicts(regrets={}, ceiling=400) == ["refuted", "confirmed", "confirmed"]
    assert verdicts(regrets={}, wrong=1) == ["confirmed", "confirmed", "refuted"]


def test_the_figures_are_readable() -> None:
    section = tasks.make_section(TINY, 0, fake_outcomes({tasks.OWN: 0.002}))
    assert [drawing.name for drawing in section.drawings] == [
        "benchmark-tasks-ceiling",
        "benchmark-tasks-default",
        "benchmark-tasks-budget",
    ]
    for drawing in section.drawings:
        assert_readable(getattr(figures, drawing.function)(*drawing.arguments))
    json.dumps(section.summary, allow_nan=False)


@pytest.mark.long
def test_from_end_to_end_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ramgape.paper.benchmark.REPORT", replace(REPORT, full=TINY, quick=TINY))
    command = ["benchmark", "tasks", "--out", str(tmp_path), "--jobs", "1"]
    done = CliRunner().invoke(app, [*command, "--json"])
    assert done.exit_code == 0, done.output
    summary = json.loads(done.stdout)
    assert summary["parts"] == ["tasks"]
    with (tmp_path / "data" / "tasks.csv").open(encoding="utf-8", newline="") as file:
        assert len(list(csv.DictReader(file))) == len(summary["tasks"]["pulls"]) == 5 * 2 * 2

    def fail(job: Any, compile_first: bool) -> None:
        raise AssertionError(f"computed again: {job}")

    monkeypatch.setattr("ramgape.paper.report.run_job", fail)
    again = CliRunner().invoke(app, command)
    assert again.exit_code == 0, again.output
    assert "ceiling / Pareto set" in " ".join(again.stdout.split())
