"""The benchmark of tasks: what one arm costs compared with the Pareto set, and what a budget buys for it."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from statistics import fmean, median
from typing import Any

from ramgape.common.formatting import plural
from ramgape.options import DEFAULT_DELTA
from ramgape.paper.formatting import display_name, factor, thousandths
from ramgape.paper.jobs import Job, Outcome
from ramgape.paper.scale import BenchmarkScale
from ramgape.paper.section import Drawing, Finding, Section, figure, finding, grid, note, section
from ramgape.paper.statistics import geometric_mean, standard_error
from ramgape.paper.tables import Columns, DataFile, Row, distinct, records, select, side_by_side, table
from ramgape.problems.instances import load_instance
from ramgape.simulation.simulation import simulated_spec
from ramgape.simulation.truth import TrueArms
from ramgape.statistics.proportions import clopper_pearson, ratio_interval

Key = tuple[str, str, str, float]  # what is asked, by which method, on which problem, with which epsilon or budget
Outcomes = Mapping[Key, Outcome]

PARETO, CEILING, MEAN, BUDGET, VARIANCE = "pareto", "ceiling", "best-mean", "budget", "variance-ceiling"
BOXES, DEFAULT, UGAPE, LUCB, VA_LUCB = "boxes", "default", "ugape", "lucb", "va-lucb"
METHODS: dict[str, dict[str, Any]] = {
    BOXES: {"policy": "ramgape", "bound": "empirical-bernstein"},
    DEFAULT: {},
    UGAPE: {"policy": "ugape", "bound": "hoeffding"},
    LUCB: {"policy": "lucb", "bound": "hoeffding"},
    VA_LUCB: {"policy": "va-lucb"},
}
PLAIN = (UGAPE, LUCB)
EXACT = 0.0  # the tolerance of the comparison with VA-LUCB, which has none
OWN, RIVALS = "evidence", ("successive-rejects", "sequential-halving")
POLICIES = (OWN, *RIVALS, "round-robin")

# Which searches are divided by which.
COMPARED = {
    "ceiling / Pareto set, by boxes": ((CEILING, BOXES), (PARETO, BOXES)),
    "ceiling / Pareto set, by default": ((CEILING, DEFAULT), (PARETO, DEFAULT)),
    "best mean / Pareto set, by default": ((MEAN, DEFAULT), (PARETO, DEFAULT)),
    "best mean: default / UGapE with Hoeffding's bounds": ((MEAN, DEFAULT), (MEAN, UGAPE)),
    "best mean: default / LUCB with Hoeffding's bounds": ((MEAN, DEFAULT), (MEAN, LUCB)),
}
ASKED = "ceiling / Pareto set, by boxes"
DRAWN = {"benchmark-tasks-ceiling": ASKED, "benchmark-tasks-default": "ceiling / Pareto set, by default"}
MOST = 0.35  # our aim: the ceiling's share of the Pareto search's pulls, on each problem
AIMS = {500: 1.15}  # our aim: times the better rival's regret; 1 under larger budgets


def plan_jobs(scale: BenchmarkScale, seed: int) -> dict[Key, Job]:
    """Every question by every method on every problem."""
    field, jobs = scale.tasks, {}

    def job(instance: str, runs: int, cost: float, **options: Any) -> Job:
        return Job("trials", {"instance": instance, "seed": seed, "trials": runs, **options}, runs * cost)

    for instance in field.instances:
        ceiling = f"best:max-risk={median_risk(instance, scale.risk)!r}"
        for epsilon in field.epsilons:
            goal = {"epsilon": epsilon, "delta": DEFAULT_DELTA, "risk": scale.risk, "max_trials": field.cap}
            for asked, task in ((PARETO, "pareto"), (CEILING, ceiling), (MEAN, "best")):
                for method in (*PLAIN, DEFAULT) if asked == MEAN else (BOXES, DEFAULT):
                    runs = field.plain_runs if method in PLAIN else field.runs
                    jobs[asked, method, instance, epsilon] = job(
                        instance, runs, 1e3 / epsilon, task=task, **goal, **METHODS[method]
                    )
    for instance in field.instances:
        goal = {"task": f"best:max-risk={ceiling_between(instance)!r}", "risk": "variance", "epsilon": EXACT}
        goal |= {"delta": DEFAULT_DELTA, "max_trials": field.exact_cap}
        for method in (DEFAULT, VA_LUCB):
            jobs[VARIANCE, method, instance, EXACT] = job(instance, field.plain_runs, 1e5, **goal, **METHODS[method])
    for instance in field.averaged:
        for budget, runs in field.budget_runs.items():
            for policy in POLICIES:
                goal = {"task": "best", "policy": policy, "budget": budget, "risk": scale.risk}
                jobs[BUDGET, policy, instance, budget] = job(instance, runs, budget + 3_000.0, **goal)
    return jobs


def median_risk(instance: str, risk: str) -> float:
    """The median of the true risks, a ceiling that half of the arms keep."""
    known = load_instance(instance)
    return median(arm.risk for arm in TrueArms(known, simulated_spec(known, epsilon=0.01, risk=risk)).arms)


def ceiling_between(instance: str) -> float:
    """A ceiling of the variance that no arm is at: half-way between two neighbors in the middle."""
    found = sorted(arm.distribution.variance for arm in load_instance(instance).arms)
    return 0.5 * (found[(len(found) - 1) // 2] + found[(len(found) - 1) // 2 + 1])


# What the runs amount to


def compare(outcomes: Outcomes, scale: BenchmarkScale) -> list[Row]:
    """The pulls of one search and of another, and their ratio, on every problem at every tolerance."""
    rows = []
    for compared, (first, second) in COMPARED.items():
        for instance in scale.tasks.instances:
            for epsilon in scale.tasks.epsilons:
                own, others = (outcomes[*asked, instance, epsilon]["samples"] for asked in (first, second))
                errors = [(standard_error(each) or 0.0) / fmean(each) for each in (own, others)]
                ratio, place = fmean(own) / fmean(others), {"instance": instance, "epsilon": epsilon}
                row = Row(compared=compared, **place, pulls=fmean(own), others=fmean(others), ratio=ratio)
                row.interval = ratio_interval(ratio, *errors)
                rows.append(row)
    return rows


def averages(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Over all problems: geometric means, and the largest ratio."""
    table = []
    for compared in distinct(rows, "compared"):
        for epsilon in distinct(rows, "epsilon"):
            ratios = [row.ratio for row in select(rows, compared=compared, epsilon=epsilon)]
            place = {"compared": compared, "epsilon": epsilon}
            table.append({**place, "average": geometric_mean(ratios), "largest": max(ratios)})
    return table


def compare_exactly(outcomes: Outcomes, scale: BenchmarkScale) -> list[Row]:
    """The best mean under a ceiling of the variance, exactly: pulls of our default and of VA-LUCB, and runs that ended.

    A run that was given up counts with the pulls that it has made.
    """
    rows = []
    for instance in scale.tasks.instances:
        own, other = (outcomes[VARIANCE, method, instance, EXACT] for method in (DEFAULT, VA_LUCB))
        ended = [list(each["stopped"]).count("confidence") for each in (own, other)]
        row = Row(instance=instance, pulls=fmean(own["samples"]), others=fmean(other["samples"]))
        row.runs, row.ended, row.others_ended = len(own["samples"]), *ended
        rows.append(row)
    return rows


def exact_ratio(row: Row) -> str:
    """The ratio of pulls, as far as runs that were given up allow to tell it."""
    ratio = factor(row.pulls / row.others)
    if row.ended == row.others_ended == row.runs:
        return ratio
    if row.ended == row.runs:
        return f"less than {ratio}"
    return f"more than {ratio}" if row.others_ended == row.runs else "not known"


def average_regrets(outcomes: Outcomes, scale: BenchmarkScale) -> list[Row]:
    """The best mean under a budget: means over problems of means over runs."""
    rows = []
    for budget in scale.tasks.budget_runs:
        for policy in POLICIES:
            found = [outcomes[BUDGET, policy, instance, budget] for instance in scale.tasks.averaged]
            row = Row(policy=policy, budget=budget, regret=fmean(fmean(each["regret"]) for each in found))
            row.error = math.hypot(*(standard_error(each["regret"]) or 0.0 for each in found)) / len(found)
            row.wrong_share = fmean(1.0 - fmean(each["exact"]) for each in found)
            rows.append(row)
    return rows


def wrong_answers(outcomes: Outcomes) -> list[dict[str, Any]]:
    """For each question and method: runs that ended by proof, and how many of them claim something wrong."""
    counts: dict[tuple[str, str], list[bool]] = {}
    for (asked, method, *_), outcome in outcomes.items():
        if asked != BUDGET:
            ends = zip(outcome["eps_correct"], outcome["stopped"], strict=True)
            counts.setdefault((asked, method), []).extend(right for right, how in ends if how == "confidence")
    return [
        {"asked": asked, "method": method, "ended": len(right), "wrong": right.count(False)}
        for (asked, method), right in counts.items()
    ]


# The section


def make_section(scale: BenchmarkScale, seed: int, outcomes: Outcomes) -> Section:
    """Ratios of pulls, and regrets."""
    rows, regrets, exact = compare(outcomes, scale), average_regrets(outcomes, scale), compare_exactly(outcomes, scale)
    field = scale.tasks
    by_problem = [select(rows, instance=name, epsilon=each) for name in field.instances for each in field.epsilons]
    by_rule = [select(regrets, policy=policy) for policy in POLICIES]
    budgets = [f"n = {budget:,}" for budget in field.budget_runs]
    regret_columns = [("rule", lambda own: display_name(own[0].policy)), *side_by_side(budgets, regret_cell)]
    told = ", ".join(f"{runs} (n = {budget:,})" for budget, runs in field.budget_runs.items())
    names = {"instances": ", ".join(field.instances), "averaged": ", ".join(field.averaged)}
    numbers = {"averages": averages(rows), "pulls": records(rows), "regrets": records(regrets)}
    ratio = "Pulls of one search, divided by those of another"
    regret = "Best mean under a budget: mean regret × 1000"
    return section(
        "tasks",
        scale,
        seed,
        {"delta": DEFAULT_DELTA, "budget_runs": told, **names},
        summary={**numbers, "va_lucb": records(exact), "wrong": wrong_answers(outcomes)},
        data_files=[
            DataFile("tasks", records(rows)),
            DataFile("tasks-budget", records(regrets)),
            DataFile("tasks-va-lucb", records(exact)),
        ],
        drawings=[
            *(ratio_drawing(name, select(rows, compared=compared)) for name, compared in DRAWN.items()),
            regret_drawing(regrets),
        ],
        grids=[
            table(ratio, by_problem, PULL_COLUMNS, "Below it both averages."),
            grid("tasks_exact", ({**vars(row), "ratio": exact_ratio(row)} for row in exact), note=note("tasks_exact")),
            table(regret, by_rule, regret_columns, note("tasks_regret")),
        ],
        findings=list(findings(rows, regrets, outcomes)),
    )


def pulls_cell(row: Row) -> str:
    """One ratio, with both averages."""
    return f"{factor(row.ratio)}\n{row.pulls:,.0f} / {row.others:,.0f}"


def regret_cell(row: Row) -> str:
    """One rule under one budget."""
    return f"{thousandths(row.regret)}\n± {thousandths(row.error)}\n{row.wrong_share:.1%} wrong"


PULL_COLUMNS: Columns[Sequence[Row]] = [
    ("instance", lambda own: own[0].instance),
    ("epsilon", lambda own: f"{own[0].epsilon:g}"),
    *side_by_side(list(COMPARED), pulls_cell),
]


def ratio_drawing(name: str, rows: Sequence[Row]) -> Drawing:
    """The ceiling compared with the Pareto set, problem by problem."""
    compared, panels = rows[0].compared, []
    for epsilon in distinct(rows, "epsilon"):
        panels.append((f"epsilon = {epsilon:g}", [(row.ratio, *row.interval) for row in select(rows, epsilon=epsilon)]))
    aims = [MOST] if compared == ASKED else []
    arguments = (f"Pulls: {compared}", distinct(rows, "instance"), panels, "pulls", aims)
    return figure(name, arguments, compared=compared, aim=MOST)


def regret_drawing(regrets: Sequence[Row]) -> Drawing:
    """Regret and wrong answers over budgets; the latter have no interval, being averages of shares."""
    points, wrong = {}, {}
    for policy in POLICIES:
        own = select(regrets, policy=policy)
        spread = [1.96 * row.error for row in own]
        points[policy] = [
            (row.regret, max(0.0, row.regret - by), row.regret + by) for row, by in zip(own, spread, strict=True)
        ]
        wrong[policy] = [(row.wrong_share,) * 3 for row in own]
    return figure("benchmark-tasks-budget", (distinct(regrets, "budget"), [("best mean", points, wrong)]))


def findings(rows: Sequence[Row], regrets: Sequence[Row], outcomes: Outcomes) -> Iterator[Finding]:
    """What we aim at, and what the guarantee promises."""
    asked = select(rows, compared=ASKED)
    worst, average = max(asked, key=lambda row: row.ratio), geometric_mean([row.ratio for row in asked])
    numbers = {"ratios": plural(len(asked), "ratio"), "largest": factor(worst.ratio), "average": factor(average)}
    yield finding("ceiling_costs_less", worst.ratio <= MOST, most=MOST, row=worst, **numbers)
    told, holds = [], []
    for own in select(regrets, policy=OWN):
        rivals = [row for row in select(regrets, budget=own.budget) if row.policy in RIVALS]
        best = min(rivals, key=lambda row: row.regret)
        holds.append(own.regret <= AIMS.get(own.budget, 1.0) * best.regret)
        ratio = factor(own.regret / best.regret) if best.regret > 0.0 else "no wrong answer seen"
        told.append({"row": own, "ratio": ratio, "rival": display_name(best.policy)})
    yield finding("best_mean_under_budget", all(holds), told)
    counts = wrong_answers(outcomes)
    ended, wrong = (sum(row[name] for row in counts) for name in ("ended", "wrong"))
    low, high = clopper_pearson(wrong, ended)
    few = all(row["wrong"] <= DEFAULT_DELTA * row["ended"] for row in counts)
    yield finding("few_wrong", few, delta=DEFAULT_DELTA, wrong=wrong, ended=ended, low=low, high=high)
