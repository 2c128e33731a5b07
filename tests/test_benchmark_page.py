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
from ramgape.paper import benchmark_budget, benchmark_stopping, figures
from ramgape.paper.benchmark import REPORT, with_risk
from ramgape.paper.benchmark_stopping import (
    Measurement,
    measure_stopping,
    method_ratio,
    pooled,
    stopping_averages,
    versus,
)
from ramgape.paper.jobs import Job, run_job
from ramgape.paper.report import publish
from ramgape.paper.scale import EPSILONS, FAMOUS, LINE_UPS, RANDOM, BenchmarkScale, group_of
from ramgape.paper.scale import FULL_BENCHMARK as FULL
from ramgape.paper.scale import QUICK_BENCHMARK as QUICK
from ramgape.problems.instances import load_instance
from ramgape.search.spec import make_spec
from tests.figures import assert_readable
from tests.races import DEFAULT, PAIRWISE, PAPER, PLACES, RIVAL, STITCHED, TIMES, fake_outcomes, fake_race

TINY = BenchmarkScale(
    "tiny",
    {"paper:46": 3, "random-gaussian:5": 2, "random-beta:107": 2},
    (0.05, 0.0),
    cap=60_000,
    longest=6_000.0,
    other_runs=2,
    paper_runs=1,
    paper_cap=400_000,
)


# What is run


def test_the_plan_covers_what_was_asked_for() -> None:
    plan = benchmark_stopping.plan_jobs(FULL, 0)
    names = list(FULL.instances)
    assert names[:2] == ["paper:10", "paper:46"]
    assert len([name for name in names if name.startswith("paper:") and name not in FAMOUS]) == 10
    assert {"paper-gaussian:10", "paper-gaussian:46"} <= set(names)
    random = [load_instance(name) for name in names if name.startswith("random-") and group_of(name) == "known"]
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
            line_up = LINE_UPS[load_instance(name).noise]
            for method in line_up.methods if group_of(name) == "known" else line_up.contest:
                arguments = plan["runs", name, epsilon, method.name].arguments
                assert (arguments["bound"], arguments["policy"]) == (method.bound, method.policy)
                assert (arguments["delta"], arguments["risk"]) == (0.05, "mean-variance:0.01")
                assert method not in line_up.contest or arguments["trials"] >= 60
    assert all(plan["runs", name, 0.0, DEFAULT].arguments["trials"] == 100 for name in FAMOUS)
    held_out = [name for name in names if group_of(name) == "held-out"]
    assert held_out == [f"{family}:{n}" for family in RANDOM for n in range(101, 121)]
    assert not any(key[-1] == PAPER for key in plan if key[1] in held_out)
    assert sum(load_instance(name).noise == "bounded" and name not in held_out for name in names) == 26
    assert set(QUICK.instances) <= set(FULL.instances)


@pytest.mark.parametrize("noise", LINE_UPS)
def test_the_default_is_the_default(noise: str) -> None:
    """At tolerance 0: with one, `bets` takes the place of `pairwise`, and benchmarks/bets.py compares the two."""
    bound, policy = LINE_UPS[noise].default
    name = "paper:46" if noise == "bounded" else "paper-gaussian:46"
    arms, rewards = list("ABCDEFGHIJ"), {"reward_range": (0, 1)} if noise == "bounded" else {"noise": "gaussian"}
    spec = make_spec(arms, epsilon=0.0, **rewards)
    assert (spec.bound, spec.policy) == (bound, policy)
    with_tolerance = AUTOMATIC[noise, "mean-variance", "confidence"]
    assert with_tolerance == {"pairwise": "bets"}.get(str(bound), bound)
    result = ramgape.simulate(name, epsilon=0.05, max_trials=50)
    assert (result.bound, result.policy) == (with_tolerance, policy)


@pytest.mark.parametrize(
    ("instance", "epsilon", "longest", "is_run"),
    [
        ("paper-gaussian:46", 0.0, 4_200.0, False),  # the bound is 4,285
        ("paper-gaussian:46", 0.0, 4_300.0, True),
        ("paper:46", 0.0, 4_200.0, False),  # the reference 4,279
        ("paper:46", 0.001, 4_200.0, True),
    ],
)
def test_nothing_is_run_where_the_reference_is_too_long(
    instance: str, epsilon: float, longest: float, is_run: bool
) -> None:
    asked = {"seed": 0, "trials": 2, "delta": 0.05, "risk": "mean-variance:0.01", "policy": "ramgape", "bound": "auto"}
    outcome = run_job(
        Job("race", {"instance": instance, "epsilon": epsilon, "longest": longest, "max_trials": 1_000, **asked})
    )
    assert outcome["samples"] == [1_000] * (2 * is_run)
    assert outcome["stopped"] == ["cap"] * (2 * is_run)


# What is made of it


def changed(row: Measurement, **values: Any) -> Measurement:
    return Measurement(**{**vars(row), **values})


def verdicts(rows: list[Measurement]) -> dict[str, str]:
    return {finding.claim: finding.verdict for finding in benchmark_stopping.findings(rows)}


def evidence(rows: list[Measurement], words: str) -> str:
    (found,) = [finding.evidence for finding in benchmark_stopping.findings(rows) if words in finding.claim]
    return found


def test_geometric_means_of_the_ratios() -> None:
    outcomes, scale = fake_outcomes(TIMES, PLACES)
    outcomes["runs", "paper:10", 0.0, DEFAULT] = fake_race(*[160_000] * 20)  # twice the rival, 16 times the least
    rows = measure_stopping(outcomes, scale)
    table = {row.method: row for row in stopping_averages(rows)}
    assert table[RIVAL].over_least == pytest.approx(8.0)
    assert table[RIVAL].saving == pytest.approx(250.0)
    assert table[RIVAL].over_rival == pytest.approx(1.0)
    assert table[DEFAULT].over_least == pytest.approx((16.0 * 2.9 * 2.9) ** (1.0 / 3.0))
    assert table[DEFAULT].over_rival == pytest.approx((2.0 * (2.9 / 8.0) ** 2) ** (1.0 / 3.0))
    worst = table[DEFAULT].worst
    assert worst is not None
    assert (worst.instance, worst.ratio) == ("paper:10", pytest.approx(2.0))
    assert worst.standard_error == pytest.approx(2.0 * 0.01 * math.sqrt(20.0 / 19.0) / math.sqrt(20.0))
    assert (table[DEFAULT].fewest, table[PAIRWISE].fewest, table[RIVAL].fewest) == (2, 1, 0)
    (row,) = [row for row in rows if (row.instance, row.method) == ("paper:46", RIVAL)]
    assert row.mean == pytest.approx(32_000.0)
    assert row.standard_error == pytest.approx(320.0 * math.sqrt(20.0 / 19.0) / math.sqrt(20.0))


def test_what_is_undecided_is_never_averaged() -> None:
    outcomes, scale = fake_outcomes(TIMES, PLACES)
    outcomes["runs", "paper:10", 0.0, DEFAULT] = fake_race(*[1_000] * 19, 5_000, cap=5_000)
    outcomes["runs", "paper:46", 0.0, PAPER] = fake_race(9_000_000, cap=9_000_000)
    rows = measure_stopping(outcomes, scale)
    (half,) = [row for row in rows if (row.instance, row.method) == ("paper:10", DEFAULT)]
    assert (half.mean, half.standard_error, half.over_least, half.saving) == (None, None, None, None)
    assert (half.undecided, half.pulls) == (1, 1_200.0)
    table = {row.method: row for row in stopping_averages(rows)}
    assert table[DEFAULT].over_least == pytest.approx(2.9)
    assert table[DEFAULT].least_count == 2
    assert (table[DEFAULT].undecided, table[DEFAULT].fewest) == (1, 2)
    # Where the paper's method did not stop, the factor is only known to be larger, and is in no mean either.
    (beside,) = [row for row in rows if (row.instance, row.method) == ("paper:46", RIVAL)]
    assert (beside.saving_is_least, beside.saving) == (True, pytest.approx(9_000_000 / 32_000))
    assert table[RIVAL].saving_count == 2
    shown = benchmark_stopping.stopping_cell(half)
    assert shown.startswith("> 1,200\n")
    assert "1/20 undecided" in shown
    assert "P > 281" in benchmark_stopping.stopping_cell(beside)


def test_what_was_not_run_says_so() -> None:
    outcomes, scale = fake_outcomes(TIMES, PLACES)
    outcomes["runs", "paper:10", 0.0, DEFAULT] = fake_race()
    rows = measure_stopping(outcomes, scale)
    (row,) = [row for row in rows if (row.instance, row.method) == ("paper:10", DEFAULT)]
    assert (row.mean, row.pulls, row.error_interval) == (None, None, None)
    assert benchmark_stopping.stopping_cell(row).startswith("not run")
    table = {row.method: row for row in stopping_averages(rows)}
    assert (table[DEFAULT].not_run, table[DEFAULT].undecided, table[DEFAULT].least_count) == (1, 0, 2)
    section = benchmark_stopping.make_section(scale, 0, outcomes)
    assert any("not run" in job for grid in section.grids for line in grid.rows for job in line)
    json.dumps(section.summary, allow_nan=False)


def test_duels_tell_who_is_ahead_and_how_surely() -> None:
    outcomes, scale = fake_outcomes({**TIMES, DEFAULT: 7.9}, PLACES)
    rows = measure_stopping(outcomes, scale)
    (own, *_), (base, *_) = ([row for row in rows if row.method == name] for name in (DEFAULT, RIVAL))
    close = method_ratio(own, base)
    assert close.fewer
    assert close.sure  # 1 % off with a spread of 0.2 % each
    assert close.ratio == pytest.approx(7.9 / 8.0)
    assert not method_ratio(changed(own, standard_error=5_000.0), base).sure
    stuck = changed(own, mean=None, standard_error=None, undecided=1)
    assert method_ratio(stuck, base).fewer is False
    assert method_ratio(base, stuck).fewer is True
    assert method_ratio(stuck, changed(base, mean=None)).fewer is None
    assert len(versus(rows, DEFAULT, RIVAL)) == 3
    assert versus(rows, DEFAULT, RIVAL, 0.05) == []


def test_groups_are_averaged_apart() -> None:
    outcomes, scale = fake_outcomes(TIMES, {**PLACES, "random-beta:101": 1_000.0})
    outcomes["runs", "random-beta:101", 0.0, DEFAULT] = fake_race(*[9_000] * 20)
    rows = measure_stopping(outcomes, scale)
    table = {(row.group, row.method): row for row in stopping_averages(rows)}
    assert table["held-out", DEFAULT].over_rival == pytest.approx(9.0 / 8.0)
    assert table["known", DEFAULT].over_rival == pytest.approx(2.9 / 8.0)
    assert ("held-out", PAPER) not in table
    known, held_out = (
        [
            finding
            for finding in benchmark_stopping.findings(rows)
            if words in finding.claim and DEFAULT in finding.claim
        ]
        for words in ("known instances", "held-out instances")
    )
    assert {finding.verdict for finding in known} == {"confirmed"}
    assert [finding.verdict for finding in held_out] == ["refuted"] * 3
    assert "At worst it is 1.125 ± 0.003 (random-beta:101 at ε = 0)" in held_out[1].evidence


def test_with_another_risk_only_two_methods_run_and_less_is_promised() -> None:
    report = with_risk(REPORT, "std")
    assert report.full.name == "full, risk std"
    plan = benchmark_stopping.plan_jobs(report.full, 0)
    assert {key[-1] for key in plan if key[:2] == ("runs", "paper:10")} == {RIVAL, DEFAULT}
    assert {job.arguments["risk"] for job in plan.values()} == {"std"}
    assert {job.arguments["risk"] for job in benchmark_budget.plan_jobs(report.full, 0).values()} == {"std"}
    assert with_risk(REPORT, "mean-variance:0.010") is REPORT
    outcomes, scale = fake_outcomes({RIVAL: 8.0, DEFAULT: 5.7}, PLACES)
    rows = measure_stopping(outcomes, replace(scale, risk="std"))
    (front,) = {row.front for row in rows if row.instance == "paper:10"}
    assert front == len(ramgape.simulate("paper:10", risk="std", budget=40).truth.front)
    for risk, verdict in (("std", "confirmed"), ("mean-variance:0.01", "refuted")):
        assert list(benchmark_stopping.findings(rows, risk))[1].verdict == verdict
    json.dumps(benchmark_stopping.make_section(replace(scale, risk="std"), 0, outcomes).summary, allow_nan=False)


# What is said of it


def test_verdicts_go_either_way() -> None:
    good = measure_stopping(*fake_outcomes(TIMES, PLACES))
    assert set(verdicts(good).values()) == {"confirmed"}
    worse = measure_stopping(
        *fake_outcomes({**TIMES, PAPER: 500.0, DEFAULT: 13.0, STITCHED: 0.9, PAIRWISE: 14.0}, PLACES)
    )
    found = verdicts(worse)
    assert [claim for claim, verdict in found.items() if verdict == "confirmed"] == [
        claim
        for claim in found
        if claim.startswith(("No method gives a wrong", f"{DEFAULT} needs fewer samples than {PAIRWISE}"))
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
    outcomes["runs", "paper:46", 0.0, DEFAULT] = fake_race(*[40_000] * 20)
    outcomes["runs", "random-beta:1", 0.0, DEFAULT] = fake_race(*[1_000] * 19, 5_000, cap=5_000)
    rows = measure_stopping(outcomes, scale)
    words = f"{DEFAULT} needs fewer samples than {RIVAL}, on every instance"
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
        outcomes["runs", "paper:46", 0.05, DEFAULT] = fake_race(*[16_000] * 20, wrong=wrong)
        rows = measure_stopping(outcomes, scale)
        total = pooled(rows, DEFAULT, None)
        assert (total.ended, total.wrong) == (120, wrong)
        assert total.interval is not None
        assert total.interval[0] < wrong / 120 < total.interval[1]
        assert pooled(rows, DEFAULT, 0.0).wrong == 0
        assert next(iter(verdicts(rows).values())) == verdict
        assert f"{DEFAULT} {wrong} of 120" in evidence(rows, "wrong answer")
    assert "pairwise + evidence on paper:46 at ε = 0.05" in evidence(rows, "wrong answer")


def test_runs_at_their_cap_are_no_errors() -> None:
    outcomes, scale = fake_outcomes(TIMES, PLACES)
    outcomes["runs", "paper:46", 0.0, DEFAULT] = fake_race(*[5_000] * 20, cap=5_000, wrong=20)
    total = pooled(measure_stopping(outcomes, scale), DEFAULT, None)
    assert (total.ended, total.wrong, total.undecided) == (40, 0, 20)


# How it looks


def test_the_figures_are_readable() -> None:
    outcomes, scale = fake_outcomes(TIMES, dict.fromkeys([name for name in FULL.instances if "gauss" not in name], 1e3))
    outcomes["runs", "paper:46", 0.0, PAPER] = fake_race(50_000_000, cap=50_000_000)
    outcomes["least", "paper:10", 0.0] = {"samples": None, "exact": True}
    drawings = benchmark_stopping.make_section(scale, 0, outcomes).drawings
    assert [drawing.function for drawing in drawings] == [
        "samples_by_tolerance",
        "samples_by_instance",
        "samples_by_instance",
        "ratios",
        "ratios",
    ]
    for drawing in drawings:
        figure = getattr(figures, drawing.function)(*drawing.arguments)
        assert_readable(figure)
        legend = [text.get_text() for text in figure.legends[0].get_texts()]
        known = "held-out" not in drawing.name  # with the paper's method, which was undecided
        samples = {"reference", "undecided: needs more"} if known else {"reference"}
        assert ({"fewer samples"} if drawing.function == "ratios" else samples) <= set(legend)
    assert "known" in drawings[1].caption
    assert "held-out" in drawings[2].caption
    # Sorted by the least, the hardest at the top.
    assert drawings[1].arguments[0][0] == "paper:10 (10)"


# The whole of it, small


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ramgape.paper.benchmark.REPORT", replace(REPORT, full=TINY, quick=TINY))


@pytest.mark.long
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
    assert len(table) == len(rows) == 2 * (5 + 3 + 2)
    for line, row in zip(table, rows, strict=True):
        assert (line["instance"], line["mean"]) == (row["instance"], "" if row["mean"] is None else str(row["mean"]))
    check_numbers({(row["instance"], row["epsilon"], row["bound"], row["policy"]): row for row in rows})
    html = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "<title>ramgape, measured</title>" in html
    assert "ramgape benchmark stopping" in html
    assert "ramgape benchmark all" not in html
    assert "The whole of it" not in html
    assert sorted(path.name for path in (tmp_path / "figures").glob("*.png")) == [
        "benchmark-bounded-held-out-rival.png",
        "benchmark-bounded-held-out.png",
        "benchmark-bounded-known-rival.png",
        "benchmark-bounded-known.png",
        "benchmark-gaussian-known-rival.png",
        "benchmark-gaussian-known.png",
        "benchmark-stopping.png",
    ]

    def fail(job: Job, compile_first: bool) -> None:
        raise AssertionError(f"computed again: {job}")

    monkeypatch.setattr("ramgape.paper.report.run_job", fail)
    again = CliRunner().invoke(app, command)
    assert again.exit_code == 0, again.output
    assert "pairwise + evidence" in " ".join(again.stdout.split())
    assert "Wrong answers" in again.stdout
    assert str(tmp_path / "report.html") in again.stdout


def check_numbers(rows: dict[tuple[Any, ...], dict[str, Any]]) -> None:
    """They are those of the library."""
    method = {"bound": "empirical-bernstein", "policy": "ramgape"}
    alone = ramgape.replicate("paper:46", runs=3, epsilon=0.0, delta=0.05, rho=0.01, **method)
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
    alone_at_last = ramgape.simulate("paper:46", epsilon=0.05, bound="paper", policy="ramgape", seed=0)
    assert stopped["mean"] == alone_at_last.samples


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
        (["stopping", "--risk", "sdt"], "did you mean 'std'"),
        (["stopping", "--risk", "cvar:0.1"], "risk must be std, variance or mean-variance for the part stopping"),
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

    assert all(part in HELP for part in REPORT.parts)
