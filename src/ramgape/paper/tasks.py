"""The benchmark of tasks: what it costs to ask for one arm instead of the Pareto set, and what a budget buys for it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, median
from typing import Any, NamedTuple

from ramgape.common.formatting import plural
from ramgape.common.proportions import clopper_pearson, ratio_interval
from ramgape.options import DEFAULT_DELTA
from ramgape.paper.benchmark_scale import BenchmarkScale
from ramgape.paper.formatting import display_name, factor, thousandths
from ramgape.paper.jobs import Job, Outcome
from ramgape.paper.section import DataFile, Drawing, Finding, Grid, Section, judged
from ramgape.paper.statistics import geometric_mean, standard_error
from ramgape.problems.instances import load_instance
from ramgape.search.simulation import simulated_spec
from ramgape.search.truth import TrueArms

Key = tuple[str, str, str, float]  # what is asked, by which method, on which instance, with which epsilon or budget
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
EXACT = 0.0  # the tolerance where VA-LUCB is compared, which has none
OWN, RIVALS = "evidence", ("successive-rejects", "sequential-halving")
POLICIES = (OWN, *RIVALS, "round-robin")

# What is divided by what, and in which words.
COMPARED = {
    "ceiling / Pareto set, by boxes": ((CEILING, BOXES), (PARETO, BOXES)),
    "ceiling / Pareto set, by default": ((CEILING, DEFAULT), (PARETO, DEFAULT)),
    "best mean / Pareto set, by default": ((MEAN, DEFAULT), (PARETO, DEFAULT)),
    "best mean: default / UGapE with Hoeffding's bounds": ((MEAN, DEFAULT), (MEAN, UGAPE)),
    "best mean: default / LUCB with Hoeffding's bounds": ((MEAN, DEFAULT), (MEAN, LUCB)),
}
ASKED = "ceiling / Pareto set, by boxes"
MOST = 0.35  # of the Pareto search's pulls, asked of the ceiling on each instance
AIMS = {500: 1.15}  # times the better rival's regret; 1 under larger budgets
SOURCE = "our aim"


def plan_jobs(scale: BenchmarkScale, seed: int) -> dict[Key, Job]:
    """Every question by every method on every instance."""
    field, jobs = scale.tasks, {}
    for instance in field.instances:
        for epsilon in field.epsilons:
            ceiling = f"best-mean:max-risk={median_risk(instance, scale.risk)!r}"
            for asked, task in ((PARETO, "pareto"), (CEILING, ceiling), (MEAN, "best-mean")):
                for method in (UGAPE, LUCB, DEFAULT) if asked == MEAN else (BOXES, DEFAULT):
                    runs = field.plain_runs if method in (UGAPE, LUCB) else field.runs
                    goal = {"epsilon": epsilon, "delta": DEFAULT_DELTA, "risk": scale.risk, "max_pulls": field.cap}
                    options = {"task": task, **goal, **METHODS[method]}
                    jobs[asked, method, instance, epsilon] = Job(
                        "trials", {"instance": instance, "seed": seed, "trials": runs, **options}, runs * 1e3 / epsilon
                    )
    for instance in field.instances:
        task, goal = f"best-mean:max-risk={ceiling_between(instance)!r}", {"epsilon": EXACT, "delta": DEFAULT_DELTA}
        for method in (DEFAULT, VA_LUCB):
            options = {"task": task, "risk": "variance", **goal, "max_pulls": field.exact_cap, **METHODS[method]}
            arguments = {"instance": instance, "seed": seed, "trials": field.plain_runs, **options}
            jobs[VARIANCE, method, instance, EXACT] = Job("trials", arguments, field.plain_runs * 1e5)
    for instance in field.averaged:
        for budget, runs in field.budget_runs.items():
            for policy in POLICIES:
                options = {"task": "best-mean", "policy": policy, "budget": budget, "risk": scale.risk}
                jobs[BUDGET, policy, instance, budget] = Job(
                    "trials", {"instance": instance, "seed": seed, "trials": runs, **options}, runs * (budget + 3_000.0)
                )
    return jobs


def median_risk(instance: str, risk: str) -> float:
    """The median of the true risks, which half of the arms keep as a ceiling."""
    known = load_instance(instance)
    return median(arm.risk for arm in TrueArms(known, simulated_spec(known, epsilon=0.01, risk=risk)).arms)


def ceiling_between(instance: str) -> float:
    """A ceiling of the variance that no arm is at: half-way between two neighbours in the middle."""
    known = load_instance(instance)
    found = sorted(arm.distribution.variance for arm in known.arms)
    return 0.5 * (found[(len(found) - 1) // 2] + found[(len(found) - 1) // 2 + 1])


class PullRatio(NamedTuple):
    """The pulls of one search beside those of another."""

    compared: str
    instance: str
    epsilon: float
    pulls: float
    others: float
    ratio: float
    interval: tuple[float, float]


class ExactPulls(NamedTuple):
    """The best mean under a ceiling of the variance, exactly: our default and VA-LUCB, and how many runs ended."""

    instance: str
    pulls: float
    others: float
    runs: int
    ended: int
    others_ended: int

    @property
    def runs_that_ended(self) -> str:
        """Of either."""
        return f"{self.ended} and {self.others_ended} of {self.runs}"

    @property
    def words(self) -> str:
        """The ratio, as far as runs that were given up allow to tell it."""
        ratio = factor(self.pulls / self.others)
        if self.ended == self.others_ended == self.runs:
            return ratio
        if self.ended == self.runs:
            return f"less than {ratio}"
        return f"more than {ratio}" if self.others_ended == self.runs else "not known"


class Regret(NamedTuple):
    """The best mean under a budget, over all instances."""

    policy: str
    budget: int
    regret: float
    error: float
    wrong_share: float

    @property
    def points(self) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
        """Regret and wrong answers with intervals, for a figure; the second has none, being an average of shares."""
        low, high = max(0.0, self.regret - 1.96 * self.error), self.regret + 1.96 * self.error
        return (self.regret, low, high), (self.wrong_share, self.wrong_share, self.wrong_share)


def compare(outcomes: Outcomes, scale: BenchmarkScale) -> list[PullRatio]:
    """Every ratio on every instance."""
    rows = []
    for compared, (first, second) in COMPARED.items():
        for instance in scale.tasks.instances:
            for epsilon in scale.tasks.epsilons:
                own = outcomes[*first, instance, epsilon]["samples"]
                others = outcomes[*second, instance, epsilon]["samples"]
                means = fmean(own), fmean(others)
                errors = [(standard_error(each) or 0.0) / fmean(each) for each in (own, others)]
                ratio = means[0] / means[1]
                rows.append(PullRatio(compared, instance, epsilon, *means, ratio, ratio_interval(ratio, *errors)))
    return rows


def compare_exactly(outcomes: Outcomes, scale: BenchmarkScale) -> list[ExactPulls]:
    """VA-LUCB on every instance; a run that was given up counts with the pulls that it has made."""
    rows = []
    for instance in scale.tasks.instances:
        own, other = (outcomes[VARIANCE, method, instance, EXACT] for method in (DEFAULT, VA_LUCB))
        ended = [list(each["stopped"]).count("confidence") for each in (own, other)]
        rows.append(ExactPulls(instance, fmean(own["samples"]), fmean(other["samples"]), len(own["samples"]), *ended))
    return rows


def average_regrets(outcomes: Outcomes, scale: BenchmarkScale) -> list[Regret]:
    """Means over instances of means over runs."""
    rows = []
    for budget in scale.tasks.budget_runs:
        for policy in POLICIES:
            found = [outcomes[BUDGET, policy, instance, budget] for instance in scale.tasks.averaged]
            errors = [standard_error(each["regret"]) or 0.0 for each in found]
            wrong = fmean(1.0 - fmean(each["exact"]) for each in found)
            regret = fmean(fmean(each["regret"]) for each in found)
            rows.append(Regret(policy, budget, regret, math.hypot(*errors) / len(found), wrong))
    return rows


def make_section(scale: BenchmarkScale, seed: int, outcomes: Outcomes) -> Section:
    """Ratios of pulls, and regrets."""
    rows, regrets, exact = compare(outcomes, scale), average_regrets(outcomes, scale), compare_exactly(outcomes, scale)
    field = scale.tasks
    averages = summarize(rows)
    return Section(
        "tasks",
        "One arm instead of the Pareto set",
        (
            "Who wants one arm need not search the Pareto set. Here the best mean is asked for, with a ceiling of the "
            "risk at the median of the true risks, and without one. Once both searches go by the same boxes, policy "
            "ramgape with bound empirical-bernstein, and once each has its default: comparisons of two arms for the "
            "Pareto set and for the best mean, boxes for a ceiling.",
            "Beside the default for the best mean stand UGapE and LUCB with Hoeffding's bounds, as they were "
            "published but for the bounds, which hold at all times here. Under a budget the rivals for the best mean "
            "are Successive Rejects and Sequential Halving.",
            "Under a ceiling of the variance the rival is VA-LUCB (Hou, Tan and Zhong 2023) as published, with its own "
            "bounds. It knows no tolerance, so here neither has one: the ceiling is half-way between two variances in "
            f"the middle, and a run is given up after {field.exact_cap:,} pulls.",
        ),
        {
            "averages": averages,
            "pulls": [row._asdict() for row in rows],
            "regrets": [row._asdict() for row in regrets],
            "va_lucb": [row._asdict() for row in exact],
            "wrong": wrong_answers(outcomes),
        },
        {
            "delta": f"{DEFAULT_DELTA:g}",
            "risk": scale.risk,
            "runs": f"{field.runs}, {field.plain_runs} with Hoeffding's bounds; under a budget "
            + ", ".join(f"{runs} (n = {budget:,})" for budget, runs in field.budget_runs.items()),
            "seeds": f"run r has {seed} + r, counted from 0",
            "instances": ", ".join(field.instances),
            "instances under a budget": ", ".join(field.averaged),
        },
        [*task_files(rows, regrets), DataFile("tasks-va-lucb", ExactPulls._fields, [list(row) for row in exact])],
        [*(ratio_drawing(name, compared, rows) for name, compared in DRAWN.items()), regret_drawing(regrets)],
        [pulls_grid(rows), exact_grid(exact), best_mean_grid(regrets)],
        [*findings(rows, regrets), few_wrong(outcomes)],
    )


def summarize(rows: Sequence[PullRatio]) -> list[dict[str, Any]]:
    """Over all instances: geometric means, and the largest ratio."""
    found: dict[tuple[str, float], list[float]] = {}
    for row in rows:
        found.setdefault((row.compared, row.epsilon), []).append(row.ratio)
    return [
        {"compared": compared, "epsilon": epsilon, "average": geometric_mean(ratios), "largest": max(ratios)}
        for (compared, epsilon), ratios in found.items()
    ]


def task_files(rows: Sequence[PullRatio], regrets: Sequence[Regret]) -> list[DataFile]:
    """Ratios with intervals as two columns, and regrets."""
    names = (*PullRatio._fields[:-1], "ratio_low", "ratio_high")
    return [
        DataFile("tasks", names, [[*row[:-1], *row.interval] for row in rows]),
        DataFile("tasks-budget", Regret._fields, [list(row) for row in regrets]),
    ]


DRAWN = {"benchmark-tasks-ceiling": ASKED, "benchmark-tasks-default": "ceiling / Pareto set, by default"}


def ratio_drawing(name: str, compared: str, rows: Sequence[PullRatio]) -> Drawing:
    """The ceiling beside the Pareto set, instance by instance."""
    own = [row for row in rows if row.compared == compared]
    instances = list(dict.fromkeys(row.instance for row in own))
    panels = [
        (f"epsilon = {epsilon:g}", [(row.ratio, *row.interval) for row in own if row.epsilon == epsilon])
        for epsilon in dict.fromkeys(row.epsilon for row in own)
    ]
    return Drawing(
        name,
        "pulls_against",
        (f"Pulls: {compared}", instances, panels, [MOST] if compared == ASKED else []),
        "",
        f"{compared}: left of the dashed line the one arm takes fewer pulls. Bars are approximate 95 % intervals; "
        "marks are on the edge if they are beyond it."
        + (f" The dotted line is what is asked, {MOST:g}." if compared == ASKED else ""),
    )


def regret_drawing(regrets: Sequence[Regret]) -> Drawing:
    """Regret over budgets."""
    budgets = list(dict.fromkeys(row.budget for row in regrets))
    curves = {policy: [row.points for row in regrets if row.policy == policy] for policy in POLICIES}
    panel = (
        "best mean",
        {policy: [points[0] for points in own] for policy, own in curves.items()},
        {policy: [points[1] for points in own] for policy, own in curves.items()},
    )
    return Drawing(
        "benchmark-tasks-budget",
        "quality_by_budget",
        (budgets, [panel]),
        "",
        "The best mean under a budget: above, how much worse the returned arm is on the average, with approximate 95 % "
        "intervals; below, how often it is not the best one.",
    )


def pulls_grid(rows: Sequence[PullRatio]) -> Grid:
    """Instances by what is compared."""
    cells: dict[tuple[str, float], list[str]] = {}
    for row in rows:
        text = f"{factor(row.ratio)}\n{row.pulls:,.0f} / {row.others:,.0f}"
        cells.setdefault((row.instance, row.epsilon), []).append(text)
    return Grid(
        "Pulls of one search, divided by those of another",
        ("instance", "epsilon", *COMPARED),
        [[instance, f"{epsilon:g}", *own] for (instance, epsilon), own in cells.items()],
        "Below it both averages.",
    )


def exact_grid(rows: Sequence[ExactPulls]) -> Grid:
    """Instances by method."""
    return Grid(
        "Pulls until the best mean under a ceiling of the variance is known exactly",
        ("instance", "default", "VA-LUCB", "default / VA-LUCB", "runs that ended"),
        [[row.instance, f"{row.pulls:,.0f}", f"{row.others:,.0f}", row.words, row.runs_that_ended] for row in rows],
        "Averages; runs that were given up count with the pulls that they have made.",
    )


def best_mean_grid(regrets: Sequence[Regret]) -> Grid:
    """Rules by budgets."""
    budgets = list(dict.fromkeys(row.budget for row in regrets))
    found = {(row.policy, row.budget): row for row in regrets}
    return Grid(
        "Best mean under a budget: mean regret × 1000",
        ("rule", *(f"n = {budget:,}" for budget in budgets)),
        [[display_name(policy), *(regret_cell(found[policy, budget]) for budget in budgets)] for policy in POLICIES],
        "With the standard error of the mean over these instances; below it how often it is not the best arm.",
    )


def regret_cell(row: Regret) -> str:
    """One rule under one budget."""
    return f"{thousandths(row.regret)}\n± {thousandths(row.error)}\n{row.wrong_share:.1%} wrong"


def findings(rows: Sequence[PullRatio], regrets: Sequence[Regret]) -> list[Finding]:
    """What is asked of a ceiling, and of a budget."""
    asked = [row for row in rows if row.compared == ASKED]
    worst = max(asked, key=lambda row: row.ratio)
    told, holds = [], []
    found = {(row.policy, row.budget): row.regret for row in regrets}
    for budget in dict.fromkeys(row.budget for row in regrets):
        best = min(RIVALS, key=lambda policy: found[policy, budget])
        own, other = found[OWN, budget], found[best, budget]
        holds.append(own <= AIMS.get(budget, 1.0) * other)
        ratio = factor(own / other) if other > 0.0 else "no wrong answer seen"
        told.append(f"n = {budget:,}: {ratio} of {display_name(best)}'s")
    return [
        Finding(
            f"The best mean with a ceiling at the median risk takes at most {MOST:g} of the pulls of the Pareto set, "
            "both by the same boxes, on each instance and at each tolerance.",
            judged(worst.ratio <= MOST),
            f"The largest of {plural(len(asked), 'ratio')} is {factor(worst.ratio)} ({worst.instance}, epsilon "
            f"{worst.epsilon:g}); their geometric mean is {factor(geometric_mean([row.ratio for row in asked]))}.",
            SOURCE,
        ),
        Finding(
            "Under a budget the mean regret for the best mean is at most 1.15 times that of the better of Successive "
            "Rejects and Sequential Halving at n = 500, and no more than that of either from n = 2,000 on.",
            judged(all(holds)),
            "; ".join(told) + ".",
            SOURCE,
        ),
    ]


def wrong_answers(outcomes: Outcomes) -> list[dict[str, Any]]:
    """Of each question and method: runs that ended by proof, and those of them whose claim is not true."""
    counts: dict[tuple[str, str], list[int]] = {}
    for (asked, method, *_), outcome in outcomes.items():
        if asked != BUDGET:
            ends = zip(outcome["eps_correct"], outcome["stopped"], strict=True)
            ended = [right for right, how in ends if how == "confidence"]
            own = counts.setdefault((asked, method), [0, 0])
            own[0] += len(ended)
            own[1] += ended.count(False)
    return [{"asked": asked, "method": method, "ended": n, "wrong": k} for (asked, method), (n, k) in counts.items()]


def few_wrong(outcomes: Outcomes) -> Finding:
    """Does the guarantee hold?"""
    rows = wrong_answers(outcomes)
    ended, wrong = sum(row["ended"] for row in rows), sum(row["wrong"] for row in rows)
    low, high = clopper_pearson(wrong, ended)
    return Finding(
        f"Of all answers that are claimed to be proved at most {DEFAULT_DELTA:g} are wrong, in every group.",
        judged(all(row["wrong"] <= DEFAULT_DELTA * row["ended"] for row in rows)),
        f"{wrong} of {ended:,} are (95 % interval of that share: {low:.2g} to {high:.2g}).",
        "ours",
    )
