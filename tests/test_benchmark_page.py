"""`ramgape benchmark`: it covers what it says, averages only what stopped, and its verdicts follow from the numbers."""

from __future__ import annotations

import csv
import json
import math
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import ramgape
from ramgape.bounds import AUTOMATIC
from ramgape.cli import app
from ramgape.errors import MissingExtra
from ramgape.paper import figures, race, race_claims
from ramgape.paper.benchmark import PARTS, REPORT
from ramgape.paper.benchmark_scale import EPSILONS, FAMOUS, FULL, QUICK, BenchmarkScale
from ramgape.paper.jobs import Job, run_job
from ramgape.paper.methods import LINE_UPS
from ramgape.paper.race_results import (
    StoppingMeasurement,
    measure_stopping,
    method_ratio,
    pooled,
    stopping_averages,
    versus,
)
from ramgape.paper.report import publish
from ramgape.problems.instances import load_instance
from tests.figures import assert_readable
from tests.races import CHALLENGER, DEFAULT, PAIRWISE, PAPER, PLACES, STITCHED, TIMES, fake_outcomes, fake_race

TINY = BenchmarkScale(
    "tiny", {"paper:46": 3, "random-gaussian:5": 2}, (0.05, 0.0), cap=60_000, paper_runs=1, paper_cap=400_000
)


# What is run


def test_the_plan_covers_what_was_asked_for() -> None:
    plan = race.plan_jobs(FULL, 0)
    names = list(FULL.instances)
    assert names[:2] == ["paper:10", "paper:46"]
    assert len([name for name in names if name.startswith("paper:") and name not in FAMOUS]) == 10
    assert {"paper-gaussian:10", "paper-gaussian:46"} <= set(names)
    random = [load_instance(name) for name in names if name.startswith("random-")]
    assert len(random) == 20
    assert {instance.name.split(":")[0] for instance in random} == {
        "random-beta",
        "random-bernoulli",
        "random-gaussian",
    }
    sizes = [len(instance.names) for instance in random]
    assert min(sizes) <= 5
    assert max(sizes) >= 40
    assert EPSILONS == (0.05, 0.02, 0.01, 0.0)
    for name in names:
        for epsilon in EPSILONS:
            assert plan["least", name, epsilon].kind == "least_samples"
            for method in LINE_UPS[load_instance(name).noise].methods:
                arguments = plan["race", name, epsilon, method.name].arguments
                assert (arguments["bound"], arguments["policy"]) == (method.bound, method.policy)
                assert (arguments["delta"], arguments["rho"]) == (0.05, 0.01)
    assert all(plan["race", name, 0.0, CHALLENGER].arguments["trials"] == 100 for name in FAMOUS)
    assert set(QUICK.instances) <= set(FULL.instances)


@pytest.mark.parametrize("noise", LINE_UPS)
def test_the_default_is_the_default(noise: str) -> None:
    default = LINE_UPS[noise].default
    assert AUTOMATIC[noise, "mean-variance", "confidence"] == default.bound
    name = "paper:46" if noise == "bounded" else "paper-gaussian:46"
    result = ramgape.simulate(name, epsilon=0.05)
    assert (result.bound, result.policy) == default


@pytest.mark.parametrize(
    ("instance", "bound", "max_pulls", "is_run"),
    [
        ("paper-gaussian:46", "gaussian", 4_000, False),  # the bound is 4,285
        ("paper-gaussian:46", "gaussian", 5_000, True),
        ("paper-gaussian:46", "gaussian-paper", 4_000, True),  # need not be right for every variance
        ("paper:46", "empirical-bernstein", 4_000, True),  # 4,279 is a reference only
    ],
)
def test_only_a_bound_above_the_cap_is_a_reason_to_run_nothing(
    instance: str, bound: str, max_pulls: int, is_run: bool
) -> None:
    asked = {"instance": instance, "seed": 0, "trials": 2, "epsilon": 0.0, "delta": 0.05, "rho": 0.01}
    outcome = run_job(Job("race", {**asked, "bound": bound, "policy": "ramgape", "max_pulls": max_pulls}))
    assert outcome["samples"] == [max_pulls] * (2 * is_run)
    assert outcome["stopped"] == ["cap"] * (2 * is_run)


# What is made of it


def verdicts(rows: list[StoppingMeasurement]) -> dict[str, str]:
    return {finding.claim: finding.verdict for finding in race_claims.findings(rows)}


def evidence(rows: list[StoppingMeasurement], words: str) -> str:
    (found,) = [finding.evidence for finding in race_claims.findings(rows) if words in finding.claim]
    return found


def test_geometric_means_of_the_ratios() -> None:
    outcomes, scale = fake_outcomes(TIMES, PLACES)
    outcomes["race", "paper:10", 0.0, CHALLENGER] = fake_race(*[160_000] * 20)  # twice the default, 16 times the least
    rows = measure_stopping(outcomes, scale)
    table = {row.method: row for row in stopping_averages(rows, "bounded")}
    assert table[DEFAULT].over_least == pytest.approx(8.0)
    assert table[DEFAULT].saving == pytest.approx(250.0)
    assert table[DEFAULT].over_default == pytest.approx(1.0)
    assert table[CHALLENGER].over_least == pytest.approx((16.0 * 4.0 * 4.0) ** (1.0 / 3.0))
    assert table[CHALLENGER].over_default == pytest.approx((2.0 * 0.5 * 0.5) ** (1.0 / 3.0))
    assert (table[CHALLENGER].fewest, table[PAIRWISE].fewest, table[DEFAULT].fewest) == (2, 1, 0)
    (row,) = [row for row in rows if (row.instance, row.method) == ("paper:46", DEFAULT)]
    assert row.mean == pytest.approx(32_000.0)
    assert row.standard_error == pytest.approx(320.0 * math.sqrt(20.0 / 19.0) / math.sqrt(20.0))


def test_what_is_undecided_is_never_averaged() -> None:
    outcomes, scale = fake_outcomes(TIMES, PLACES)
    outcomes["race", "paper:10", 0.0, CHALLENGER] = fake_race(*[1_000] * 19, 5_000, cap=5_000)
    outcomes["race", "paper:46", 0.0, PAPER] = fake_race(9_000_000, cap=9_000_000)
    rows = measure_stopping(outcomes, scale)
    (half,) = [row for row in rows if (row.instance, row.method) == ("paper:10", CHALLENGER)]
    assert (half.mean, half.standard_error, half.over_least, half.saving) == (None, None, None, None)
    assert (half.undecided, half.pulls) == (1, 1_200.0)
    table = {row.method: row for row in stopping_averages(rows, "bounded")}
    assert table[CHALLENGER].over_least == pytest.approx(4.0)
    assert table[CHALLENGER].least_count == 2
    assert (table[CHALLENGER].undecided, table[CHALLENGER].fewest) == (1, 2)
    # Where the paper's method did not stop, the factor is only known to be larger, and is in no mean either.
    (beside,) = [row for row in rows if (row.instance, row.method) == ("paper:46", DEFAULT)]
    assert (beside.saving_is_least, beside.saving) == (True, pytest.approx(9_000_000 / 32_000))
    assert table[DEFAULT].saving_count == 2
    shown = race.stopping_cell(half)
    assert shown.startswith("> 1,200\n")
    assert "1/20 undecided" in shown
    assert "P > 281" in race.stopping_cell(beside)


def test_what_was_not_run_says_so() -> None:
    outcomes, scale = fake_outcomes(TIMES, PLACES)
    outcomes["race", "paper:10", 0.0, CHALLENGER] = fake_race()
    rows = measure_stopping(outcomes, scale)
    (row,) = [row for row in rows if (row.instance, row.method) == ("paper:10", CHALLENGER)]
    assert (row.mean, row.pulls, row.error_interval) == (None, None, None)
    assert race.stopping_cell(row).startswith("not run")
    table = {row.method: row for row in stopping_averages(rows, "bounded")}
    assert (table[CHALLENGER].not_run, table[CHALLENGER].undecided, table[CHALLENGER].least_count) == (1, 0, 2)
    section = race.make_section(scale, 0, outcomes)
    assert any("not run" in job for grid in section.grids for line in grid.rows for job in line)
    json.dumps(section.summary, allow_nan=False)


def test_duels_tell_who_is_ahead_and_how_surely() -> None:
    outcomes, scale = fake_outcomes({**TIMES, CHALLENGER: 7.9}, PLACES)
    rows = measure_stopping(outcomes, scale)
    (own, *_), (base, *_) = ([row for row in rows if row.method == name] for name in (CHALLENGER, DEFAULT))
    close = method_ratio(own, base)
    assert close.fewer
    assert close.sure  # 1 % off with a spread of 0.2 % each
    assert close.ratio == pytest.approx(7.9 / 8.0)
    assert not method_ratio(replace(own, standard_error=5_000.0), base).sure
    stuck = replace(own, mean=None, standard_error=None, undecided=1)
    assert method_ratio(stuck, base).fewer is False
    assert method_ratio(base, stuck).fewer is True
    assert method_ratio(stuck, replace(base, mean=None)).fewer is None
    assert len(versus(rows, CHALLENGER, DEFAULT)) == 3
    assert versus(rows, CHALLENGER, DEFAULT, 0.05) == []


# What is said of it


def test_verdicts_go_either_way() -> None:
    good = measure_stopping(*fake_outcomes(TIMES, PLACES))
    assert set(verdicts(good).values()) == {"confirmed"}
    worse = measure_stopping(
        *fake_outcomes({**TIMES, PAPER: 500.0, CHALLENGER: 13.0, STITCHED: 0.9, PAIRWISE: 14.0}, PLACES)
    )
    found = verdicts(worse)
    assert [claim for claim, verdict in found.items() if verdict == "confirmed"] == [
        claim
        for claim in found
        if claim.startswith(("No method gives a wrong", f"{CHALLENGER} needs fewer samples than {PAIRWISE}"))
    ]
    assert list(found.values()).count("refuted") == len(found) - 2


def test_the_lower_bound_is_judged_where_it_is_one() -> None:
    gaussian = [method.name for method in LINE_UPS["gaussian"].methods]
    for factor, verdict in ((6.0, "confirmed"), (0.9, "refuted")):
        both, scale = fake_outcomes(dict.fromkeys(gaussian, factor), {"random-gaussian:1": 1_000.0})
        bounded, bounded_scale = fake_outcomes(dict.fromkeys(TIMES, 0.5), {"paper:46": 1_000.0})
        rows = measure_stopping(
            {**both, **bounded}, replace(scale, instances={**scale.instances, **bounded_scale.instances})
        )
        (found,) = [verdict for claim, verdict in verdicts(rows).items() if "lower bound" in claim]
        assert found == verdict
        assert "paper:46" not in evidence(rows, "lower bound")


def test_every_exception_is_listed() -> None:
    outcomes, scale = fake_outcomes(TIMES, PLACES)
    outcomes["race", "paper:46", 0.0, CHALLENGER] = fake_race(*[40_000] * 20)
    outcomes["race", "random-beta:1", 0.0, CHALLENGER] = fake_race(*[1_000] * 19, 5_000, cap=5_000)
    rows = measure_stopping(outcomes, scale)
    words = f"{CHALLENGER} needs fewer samples than {DEFAULT}, on every instance"
    (verdict,) = [verdict for claim, verdict in verdicts(rows).items() if claim.startswith(words)]
    assert verdict == "refuted"
    told = evidence(rows, words)
    assert "in 1 of 3 cases" in told
    assert "2 exceptions" in told
    assert "random-beta:1 at ε = 0: undecided at its cap, the other not" in told
    assert "paper:46 at ε = 0: 1.25 (1.24 to 1.26)" in told


def test_errors_are_pooled_and_judged() -> None:
    outcomes, scale = fake_outcomes(TIMES, PLACES, epsilons=(0.05, 0.0))
    for wrong, verdict in ((3, "confirmed"), (14, "refuted")):
        outcomes["race", "paper:46", 0.05, CHALLENGER] = fake_race(*[16_000] * 20, wrong=wrong)
        rows = measure_stopping(outcomes, scale)
        total = pooled(rows, CHALLENGER, None)
        assert (total.ended, total.wrong) == (120, wrong)
        assert total.interval is not None
        assert total.interval[0] < wrong / 120 < total.interval[1]
        assert pooled(rows, CHALLENGER, 0.0).wrong == 0
        assert next(iter(verdicts(rows).values())) == verdict
        assert f"{CHALLENGER} {wrong} of 120" in evidence(rows, "wrong answer")
    assert "pairwise + evidence on paper:46 at ε = 0.05" in evidence(rows, "wrong answer")


def test_runs_at_their_cap_are_no_errors() -> None:
    outcomes, scale = fake_outcomes(TIMES, PLACES)
    outcomes["race", "paper:46", 0.0, CHALLENGER] = fake_race(*[5_000] * 20, cap=5_000, wrong=20)
    total = pooled(measure_stopping(outcomes, scale), CHALLENGER, None)
    assert (total.ended, total.wrong, total.undecided) == (40, 0, 20)


# How it looks


def test_the_figures_are_readable() -> None:
    outcomes, scale = fake_outcomes(TIMES, dict.fromkeys([name for name in FULL.instances if "gauss" not in name], 1e3))
    outcomes["race", "paper:46", 0.0, PAPER] = fake_race(50_000_000, cap=50_000_000)
    outcomes["least", "paper:10", 0.0] = {"samples": None, "exact": True}
    drawings = race.make_section(scale, 0, outcomes).drawings
    assert [drawing.function for drawing in drawings] == [
        "samples_by_tolerance",
        "samples_by_instance",
        "samples_against",
    ]
    for drawing in drawings:
        figure = getattr(figures, drawing.function)(*drawing.arguments)
        assert_readable(figure)
        legend = [text.get_text() for text in figure.legends[0].get_texts()]
        expected = (
            {"fewer samples"} if "against" in drawing.function else {"Gaussian reference", "undecided: needs more"}
        )
        assert expected <= set(legend)
    # Sorted by the least, the hardest at the top.
    assert drawings[1].arguments[0][0] == "paper:10 (10)"


# The whole of it, small


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ramgape.paper.benchmark.REPORT", replace(REPORT, full=TINY, quick=TINY))


@pytest.mark.usefixtures("tiny")
def test_from_end_to_end_and_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command = ["benchmark", "stopping", "--out", str(tmp_path), "--jobs", "1"]
    done = CliRunner().invoke(app, [*command, "--json"])
    assert done.exit_code == 0, done.output
    summary = json.loads(done.stdout)
    assert summary == json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    assert (summary["parts"], summary["scale"]) == (["stopping"], "tiny")
    with (tmp_path / "data" / "stopping.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    rows = summary["stopping"]["measurements"]
    assert len(table) == len(rows) == 2 * (5 + 3)
    for line, row in zip(table, rows, strict=True):
        assert (line["instance"], line["mean"]) == (row["instance"], "" if row["mean"] is None else str(row["mean"]))
    check_numbers({(row["instance"], row["epsilon"], row["bound"], row["policy"]): row for row in rows})
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<title>ramgape, measured</title>" in html
    assert "ramgape benchmark stopping" in html
    assert "ramgape benchmark all" not in html
    assert "The whole of it" not in html
    assert sorted(path.name for path in (tmp_path / "figures").glob("*.png")) == [
        "benchmark-bounded-challenger.png",
        "benchmark-bounded.png",
        "benchmark-gaussian-challenger.png",
        "benchmark-gaussian.png",
        "benchmark-stopping.png",
    ]

    def fail(job: Job) -> None:
        raise AssertionError(f"computed again: {job}")

    monkeypatch.setattr("ramgape.paper.report.run_job", fail)
    again = CliRunner().invoke(app, command)
    assert again.exit_code == 0, again.output
    assert "pairwise + evidence" in " ".join(again.stdout.split())
    assert "Wrong answers" in again.stdout
    assert str(tmp_path / "report.html") in again.stdout


def check_numbers(rows: dict[tuple[Any, ...], dict[str, Any]]) -> None:
    """They are those of the library."""
    alone = ramgape.replicate("paper:46", runs=3, epsilon=0.0, delta=0.05, rho=0.01)
    row = rows["paper:46", 0.0, "empirical-bernstein", "ramgape"]
    assert row["mean"] == pytest.approx(alone.mean_samples)
    assert row["standard_error"] == pytest.approx(alone.mean_samples_stderr)
    assert (row["runs"], row["wrong"], row["arms"], row["front"]) == (3, alone.errors, 10, 2)
    assert row["least"] == pytest.approx(4279, abs=1)
    assert row["over_least"] == pytest.approx(alone.mean_samples / row["least"])
    assert (row["saving_is_least"], row["saving"]) == (True, pytest.approx(400_000 / alone.mean_samples))
    papers = rows["paper:46", 0.0, "paper", "ramgape"]
    assert (papers["mean"], papers["undecided"], papers["pulls"]) == (None, 1, 400_000)
    stopped = rows["paper:46", 0.05, "paper", "ramgape"]
    assert stopped["mean"] == ramgape.simulate("paper:46", epsilon=0.05, bound="paper", seed=0).samples


@pytest.mark.usefixtures("tiny")
def test_without_scipy_it_says_so_before_anything_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    done = CliRunner().invoke(app, ["benchmark", "--out", str(tmp_path / "out")])
    assert done.exit_code == 2
    assert 'pip install "ramgape[theory]"' in done.stderr
    assert not (tmp_path / "out").exists()
    with pytest.raises(MissingExtra):
        publish(REPORT, ["all"], tmp_path / "out")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["stoping"], "did you mean 'stopping'"),
        (["stopping", "--seed", "-1"], "seed must be"),
        (["stopping", "--jobs", "-1"], "jobs must be a whole number of at least 0"),
    ],
)
def test_bad_input_is_refused_before_anything_is_written(tmp_path: Path, arguments: list[str], words: str) -> None:
    done = CliRunner().invoke(app, ["benchmark", *arguments, "--out", str(tmp_path / "out")])
    assert done.exit_code == 2
    assert words in " ".join(done.stderr.split())
    assert not (tmp_path / "out").exists()


def test_the_command_knows_all_parts() -> None:
    from ramgape.cli.benchmark import PARTS as HELP

    assert all(part in HELP for part in PARTS)
