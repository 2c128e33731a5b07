"""`ramgape benchmark budget`: it covers what it says; means, intervals, ratios and verdicts follow from the runs."""

from __future__ import annotations

import csv
import io
import json
import math
import warnings
from collections.abc import Mapping
from dataclasses import replace
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console
from typer.testing import CliRunner

import ramgape
from ramgape.cli import app
from ramgape.cli.benchmark import benchmark_tables
from ramgape.paper import benchmark_budget, figures, paper
from ramgape.paper.benchmark import REPORT
from ramgape.paper.benchmark_budget import (
    BY_ARMS,
    OWN,
    POLICIES,
    RIVALS,
    WHOLE,
    budget_average,
    budget_averages,
    differences,
    instance_groups,
    measure_budgets,
    ratio,
    ratios,
)
from ramgape.paper.scale import FULL_BENCHMARK as FULL
from ramgape.paper.scale import QUICK_BENCHMARK as QUICK
from ramgape.paper.scale import BenchmarkScale, BudgetScale
from ramgape.paper.tables import Row
from ramgape.policies import resolve_policy
from ramgape.problems.instances import load_instance
from ramgape.statistics.proportions import clopper_pearson
from tests.figures import assert_readable
from tests.support import POLICIES as KNOWN

BUDGETS = (500, 2_000, 10_000, 40_000)
FIELD = BudgetScale(
    ("random-beta:1", "random-beta:2", "random-bernoulli:4", "random-gaussian:1"),
    dict.fromkeys(BUDGETS, 20),
    ("paper:exp3", "paper:exp4"),
    dict.fromkeys(BUDGETS, 20),
)
TINY = BenchmarkScale(
    "tiny",
    {},
    (),
    cap=1,
    longest=1.0,
    other_runs=1,
    paper_runs=1,
    paper_cap=1,
    budget=BudgetScale(
        ("random-beta:1", "random-gaussian:5"), {100: 4, 300: 3}, ("paper:exp3",), dict.fromkeys((100, 300), 2)
    ),
)

HELD_OUT = range(101, 121)


# What is run


def test_the_plan_covers_what_was_asked_for() -> None:
    field = FULL.budget
    assert list(field.averaged) == [
        f"random-{kind}:{n}" for kind in ("beta", "bernoulli", "gaussian") for n in HELD_OUT
    ]
    sizes = [len(load_instance(name).names) for name in field.averaged]
    assert (len(sizes), min(sizes)) == (60, 3)
    assert 40 <= max(sizes) <= 50
    assert field.alone == ("paper:exp3", "paper:exp4")
    assert field.budgets == tuple(field.runs) == tuple(field.runs_alone) == BUDGETS
    plan = benchmark_budget.plan_jobs(FULL, 7)
    assert len(plan) == 62 * len(BUDGETS) * 10
    for (instance, pulls, policy), job in plan.items():
        runs = field.runs_alone if instance in field.alone else field.runs
        assert job.kind == "trials"
        assert job.arguments == {
            "instance": instance,
            "seed": 7,
            "trials": runs[pulls],
            "budget": pulls,
            "policy": policy,
            "epsilon": 0.1,
            "risk": "mean-variance:0.01",
        }
    assert set(QUICK.budget.instances) <= set(field.instances)
    assert QUICK.budget.budgets == BUDGETS


def test_every_rule_that_is_meant_for_a_budget_takes_part() -> None:
    assert resolve_policy("auto", "budget") == (OWN, None)
    assert POLICIES[0] == OWN
    meant = {name for name, policy in KNOWN.items() if "budget" in policy.paper_goals or policy.goals == ("budget",)}
    assert set(RIVALS) == meant
    assert set(paper.BUDGET_POLICIES) < set(RIVALS)


def test_without_a_part_everything_is_run() -> None:
    assert REPORT.check_parts(["all"]) == ["stopping", "budget", "tasks"]
    assert REPORT.check_parts(["budget"]) == ["budget"]


def test_the_field_is_looked_at_whole_and_in_parts() -> None:
    parts = instance_groups(FULL.budget)
    assert list(parts) == [WHOLE, "Beta", "Bernoulli", "Gaussian", *BY_ARMS, "paper:exp3", "paper:exp4"]
    assert [len(parts[title]) for title in ("Beta", "Bernoulli", "Gaussian")] == [20, 20, 20]
    few, many = (parts[title] for title in BY_ARMS)
    assert sorted([*few, *many]) == sorted(parts[WHOLE])
    assert max(len(load_instance(name).names) for name in few) == 10
    assert min(len(load_instance(name).names) for name in many) == 11


# What is made of it


def fake_outcomes(
    regrets: Mapping[str, float], field: BudgetScale = FIELD, **special: Mapping[str, float]
) -> dict[Any, Any]:
    """Every second run of a rule is wrong, by twice the mean regret that it is given here.

    special   other regrets, by "n" and a budget, or by an instance without its punctuation
    """
    outcomes = {}
    for instance, runs in field.instances.items():
        for pulls, number in runs.items():
            place = instance.replace(":", "").replace("-", "")
            means = {**regrets, **special.get(f"n{pulls}", {}), **special.get(place, {})}
            for policy in POLICIES:
                values = [0.0 if run % 2 else 2.0 * means.get(policy, 0.01) for run in range(number)]
                outcomes[instance, pulls, policy] = {"regret": values, "exact": [value == 0.0 for value in values]}
    return outcomes


def test_means_and_intervals() -> None:
    outcomes = fake_outcomes({OWN: 0.002}, randombeta2={OWN: 0.006})
    table = {
        (row.group, row.budget, row.policy): row for row in budget_averages(measure_budgets(outcomes, FIELD), FIELD)
    }
    assert len(table) == 8 * len(BUDGETS) * 10
    own = table[WHOLE, 500, OWN]
    assert own.regret == pytest.approx((3 * 0.002 + 0.006) / 4)
    one = np.std([0.0, 0.004] * 10, ddof=1) / math.sqrt(20)
    error = math.sqrt(3 * one**2 + (3.0 * one) ** 2) / 4
    assert own.standard_error == pytest.approx(error)
    assert own.regret_interval == pytest.approx((0.003 - 1.96 * error, 0.003 + 1.96 * error), rel=1e-4)
    assert (own.instances, own.runs, own.wrong_share) == (4, 80, 0.5)
    assert own.wrong_interval == clopper_pearson(40, 80)
    assert table["Beta", 500, OWN].regret == pytest.approx(0.004)
    assert table["up to 10 arms", 500, OWN].regret == pytest.approx(0.002)
    assert table["paper:exp3", 40_000, "egp"].regret == pytest.approx(0.01)


def test_intervals_hold_as_often_as_they_say() -> None:
    generator = np.random.default_rng(5)
    held = [0, 0]
    for _ in range(300):
        rows = []
        for name, share in (("random-beta:1", 0.5), ("random-beta:2", 0.1)):
            wrong = generator.random(60) < share
            values = np.where(wrong, generator.random(60), 0.0)
            error = float(np.std(values, ddof=1)) / math.sqrt(60)
            row = Row(instance=name, arms=4, front=2, budget=500, policy=OWN, runs=60, regret=float(values.mean()))
            row.standard_error, row.wrong = error, int(wrong.sum())
            rows.append(row)
        own = budget_average(WHOLE, rows)
        held[0] += own.regret_interval[0] <= 0.5 * (0.25 + 0.05) <= own.regret_interval[1]
        held[1] += own.wrong_interval[0] <= 0.3 <= own.wrong_interval[1]
    assert 0.90 <= held[0] / 300 <= 0.98
    assert held[1] / 300 >= 0.95


def average_of(policy: str, regret: float, error: float) -> Row:
    return Row(group=WHOLE, budget=500, policy=policy, regret=regret, standard_error=error)


def test_ratios_to_the_best_rival() -> None:
    rows = measure_budgets(fake_outcomes({OWN: 0.002, "ege-sh": 0.004}, n40000={"ra-lucb": 0.001}), FIELD)
    found = {(row.group, row.budget): row for row in ratios(budget_averages(rows, FIELD))}
    own = found[WHOLE, 500]
    assert (own.rival, own.own_regret, own.rival_regret) == ("ege-sh", pytest.approx(0.002), pytest.approx(0.004))
    assert found[WHOLE, 500].ratio == pytest.approx(0.5)
    assert (found["Beta", 40_000].rival, found["Beta", 40_000].ratio) == ("ra-lucb", pytest.approx(2.0))

    known = ratio(average_of(OWN, 0.002, 0.0002), average_of("egp", 0.004, 0.0004))
    assert known.interval is not None
    factor = math.exp(1.96 * math.hypot(0.1, 0.1))
    assert known.interval == pytest.approx((0.5 / factor, 0.5 * factor), rel=1e-4)

    perfect = ratio(average_of(OWN, 0.0, 0.0), average_of("egp", 0.004, 0.0004))
    assert (perfect.ratio, perfect.interval, perfect.at_most(0.5)) == (0.0, None, True)
    beaten = ratio(average_of(OWN, 0.001, 0.0), average_of("egp", 0.0, 0.0))
    assert (beaten.ratio, beaten.at_most(1.0)) == (None, False)
    assert ratio(average_of(OWN, 0.0, 0.0), average_of("egp", 0.0, 0.0)).at_most(0.5)
    assert [benchmark_budget.in_words(row) for row in (perfect, beaten)] == [
        "0 (EGP), no wrong set seen",
        "EGP has no regret",
    ]


def test_differences_on_each_instance() -> None:
    rows = measure_budgets(fake_outcomes({OWN: 0.002}, randombeta2={OWN: 0.03}, randombernoulli4={OWN: 0.009}), FIELD)
    clear = {row.instance: row.clearly for row in differences(rows, FIELD, 500, "egp")}
    assert clear == {"random-beta:1": -1, "random-beta:2": 1, "random-bernoulli:4": 0, "random-gaussian:1": -1}


# What is said of it


def verdicts(outcomes: dict[Any, Any]) -> list[str]:
    return [finding.verdict for finding in benchmark_budget.findings(measure_budgets(outcomes, FIELD), FIELD)]


def test_verdicts_go_either_way() -> None:
    yes, no = "confirmed", "refuted"
    assert verdicts(fake_outcomes({OWN: 0.002})) == [yes] * 6
    assert verdicts(fake_outcomes({OWN: 0.0045})) == [no, yes, yes, yes, yes, yes]
    assert verdicts(fake_outcomes({OWN: 0.007})) == [no, yes, no, yes, yes, yes]
    assert verdicts(fake_outcomes({OWN: 0.03})) == [no, no, no, no, yes, no]
    # Each claim looks at its own instances, with an aim for each budget.
    assert verdicts(fake_outcomes({OWN: 0.002}, n40000={OWN: 0.0036})) == [no, yes, yes, yes, yes, yes]
    assert verdicts(fake_outcomes({OWN: 0.002}, n500={OWN: 0.0059})) == [yes, yes, yes, yes, yes, yes]
    assert verdicts(fake_outcomes({OWN: 0.002}, randomgaussian1={OWN: 0.011})) == [no, yes, yes, no, yes, yes]
    assert verdicts(fake_outcomes({OWN: 0.002}, randombernoulli4={OWN: 0.0105})) == [no, no, yes, no, yes, yes]
    assert verdicts(fake_outcomes({OWN: 0.002}, paperexp4={OWN: 0.007})) == [yes, yes, no, yes, yes, yes]


def test_wrong_sets_are_compared() -> None:
    outcomes = fake_outcomes({OWN: 0.002})
    outcomes["random-beta:1", 500, "xi-lcb"]["exact"] = [True] * 20
    told = list(benchmark_budget.findings(measure_budgets(outcomes, FIELD), FIELD))[4]
    assert told.verdict == "refuted"
    assert "n = 500: 50 % (39 % to 61 %), the best rival (ξ-LCB) 38 % (27 % to 49 %)" in told.evidence


def test_every_exception_is_listed() -> None:
    outcomes = fake_outcomes({OWN: 0.002}, randomgaussian1={OWN: 0.03})
    whole, coins, many, nowhere, _, instances = benchmark_budget.findings(measure_budgets(outcomes, FIELD), FIELD)
    assert "random instances, n = 2,000: 0.900 (" in whole.evidence
    assert "might as well" not in whole.evidence  # it is above anyhow
    assert coins.claim.endswith("(Bernoulli): 1.15 (n = 500), 1.4 (n = 2,000), 1.15 (n = 10,000), 1 (n = 40,000).")
    assert "paper:exp4, n = 10,000: 0.200 (" in many.evidence
    assert "Gaussian, n = 40,000: 3.00 (" in nowhere.evidence
    assert "24 of 32 cases" in nowhere.evidence
    assert "in 4 of these" in nowhere.evidence
    assert "clearly larger on 1 (random-gaussian:1 [16] 20.0)" in instances.evidence


def test_without_a_field_nothing_is_judged() -> None:
    field = BudgetScale(alone=("paper:exp3",), runs_alone={500: 4})
    told = benchmark_budget.findings(measure_budgets(fake_outcomes({}, field), field), field)
    assert [finding.verdict for finding in told] == [
        "not checkable",
        "not checkable",
        "not checkable",
        "confirmed",
        "not checkable",
        "not checkable",
    ]


# How it looks


def test_the_figures_are_readable() -> None:
    outcomes = fake_outcomes({OWN: 0.002, "hvi-pareto": 0.05}, n40000={OWN: 0.00002}, paperexp3={OWN: 0.0})
    section = benchmark_budget.make_section(replace(TINY, budget=FIELD), 0, outcomes)
    assert [drawing.name for drawing in section.drawings] == [
        "benchmark-budget",
        "benchmark-budget-ratios",
        "benchmark-budget-families",
        "benchmark-budget-arms",
    ]
    for drawing in section.drawings:
        figure = getattr(figures, drawing.function)(*drawing.arguments)
        assert_readable(figure)
        legend = [text.get_text() for text in figure.legends[0].get_texts()]
        if drawing.function == "quality_by_budget":
            assert {"Evidence (ours)", "EGE-SR", "EGP"} <= set(legend)
            assert ("zero: no wrong set" in legend) == (drawing.name == "benchmark-budget")
            assert figure.axes[0].get_xscale() == figure.axes[0].get_yscale() == "log"
        else:
            assert "smaller regret" in legend
    json.dumps(section.summary, allow_nan=False)
    (main,) = [grid for grid in section.grids if grid.title == "Mean regret × 1000: 4 random instances, averaged"]
    assert main.header == ("rule", "n = 500", "n = 2,000", "n = 10,000", "n = 40,000")
    assert main.rows[0][0] == "Evidence (ours)"
    assert main.rows[0][1].startswith("2.00\n1.55 to 2.45\n50 % wrong (")


def test_a_wide_range_of_ratios_is_readable() -> None:
    outcomes = fake_outcomes(
        {OWN: 0.002}, randomgaussian1={OWN: 0.3}, randombeta1={OWN: 0.0001}, randombeta2={OWN: 0.0001}
    )
    drawing = benchmark_budget.make_section(replace(TINY, budget=FIELD), 0, outcomes).drawings[1]
    assert_readable(figures.ratios(*drawing.arguments))


# The whole of it, small


@pytest.mark.long
def test_from_end_to_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ramgape.paper.benchmark.REPORT", replace(REPORT, full=TINY, quick=TINY))
    command = ["benchmark", "budget", "--out", str(tmp_path), "--jobs", "1"]
    done = CliRunner().invoke(app, [*command, "--json"])
    assert done.exit_code == 0, done.output
    summary = json.loads(done.stdout)
    assert (summary["parts"], summary["scale"]) == (["budget"], "tiny")
    rows = summary["budget"]["measurements"]
    with (tmp_path / "data" / "budget.csv").open(encoding="utf-8", newline="") as file:
        table = list(csv.DictReader(file))
    assert len(table) == len(rows) == 3 * 2 * 10
    for line, row in zip(table, rows, strict=True):
        assert (line["instance"], line["policy"], line["regret"]) == (
            row["instance"],
            row["policy"],
            str(row["regret"]),
        )
    found = {(row["instance"], row["budget"], row["policy"]): row for row in rows}
    for policy in (OWN, "ege-sr", "hvi-pareto"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ramgape.RamgapeWarning)  # the tolerance asks for nothing on [0, 1]
            alone = ramgape.replicate("random-beta:1", runs=4, budget=100, policy=policy, epsilon=0.1)
        row = found["random-beta:1", 100, policy]
        assert row["regret"] == pytest.approx(np.mean([run.regret for run in alone.runs]))
        assert (row["wrong"], row["runs"], row["arms"]) == (sum(not run.exact for run in alone.runs), 4, 4)
    html = unescape((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "Answers under a budget" in html
    assert all(finding["claim"] in html for finding in summary["findings"])
    shown = io.StringIO()
    Console(file=shown, width=100).print(*benchmark_tables(summary))
    words = " ".join(shown.getvalue().split())
    assert "Mean regret x 1000, and wrong sets: 2 random instances" in words
    assert "Mean regret of evidence, divided by that of its best rival" in words
