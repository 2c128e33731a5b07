"""Beyond the paper: its own experiments with our defaults. No verdict on the paper looks at what is here.

Fixed confidence (Experiments 1 and 2): samples to the same guarantee, RAMGapE with the paper's bound compared with our
bound and rule. Fixed budget (Experiments 3 and 4): regret after the same pulls. Searches that other parts make as well
are the same jobs, and are made once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

import numpy as np

from ramgape.common.formatting import plural
from ramgape.paper import paper, regret
from ramgape.paper.formatting import display_name, factor, format_interval
from ramgape.paper.jobs import Job, Outcome
from ramgape.paper.paper import OWN
from ramgape.paper.scale import LINE_UPS, Scale
from ramgape.paper.section import Section, figure, grid, note, section
from ramgape.paper.statistics import geometric_mean, standard_error
from ramgape.paper.stopping import right, search_job
from ramgape.paper.tables import DataFile, Row, distinct, flat, records, select
from ramgape.statistics.proportions import ratio_interval

Key = tuple[Any, ...]  # (kind, epsilon, pattern) or (kind, experiment, policy)
Outcomes = Mapping[Key, Outcome]

PAPER, OURS = LINE_UPS["bounded"].paper, LINE_UPS["bounded"].default
RULE = OURS.policy  # the default under a budget as well


def plan_jobs(scale: Scale, seed: int) -> dict[Key, Job]:
    """Experiments 1 and 2 by both methods, 3 and 4 by both rules."""
    exact = [pattern for pattern, policies in scale.totals.items() if OWN in policies]
    jobs: dict[Key, Job] = {
        (kind, epsilon, pattern): search_job(f"paper:{pattern}", seed, epsilon, method.policy, method.bound)
        for epsilon, patterns in {**scale.patterns, 0.0: exact}.items()
        for pattern in patterns
        for kind, method in (("paper", PAPER), ("ours", OURS))
    }
    for experiment in regret.INSTANCES:
        planned = regret.plan_jobs(experiment, scale, seed)
        compared = planned["comparison", OWN]
        jobs["trials", experiment, OWN] = compared
        jobs["trials", experiment, RULE] = Job("trials", {**compared.arguments, "policy": RULE}, compared.cost)
        jobs["traces", experiment, OWN] = planned["trace", OWN]
        jobs["traces", experiment, RULE] = planned["further", RULE]
    return jobs


def compare_samples(outcomes: Outcomes) -> list[Row]:
    """Samples until the answer is proved, by the paper's method and by ours, on every pattern at every tolerance."""
    rows = []
    for (kind, epsilon, pattern), papers in outcomes.items():
        if kind == "paper":
            ours = outcomes["ours", epsilon, pattern]
            row = Row(experiment=1 if epsilon > 0.0 else 2, epsilon=epsilon, pattern=pattern)
            row.paper, row.ours = papers["samples"], ours["samples"]
            row.paper_right, row.ours_right = (right((epsilon, pattern, ""), each) for each in (papers, ours))
            row.ratio = row.paper / row.ours
            rows.append(row)
    return rows


def compare_regrets(outcomes: Outcomes, experiment: int) -> Row:
    """Mean regrets of both rules after the same pulls, and their ratio (ours over the paper's rule).

    `reached` is the first pull from which on our mean regret stays at or below the other's last one; None if there is
    none. The ratio is None where the other's regret is 0.
    """
    papers, ours = (outcomes["trials", experiment, policy]["regret"] for policy in (OWN, RULE))
    ratio, interval = None, None
    if fmean(papers) > 0.0:
        ratio = fmean(ours) / fmean(papers)
        if ratio > 0.0:
            interval = ratio_interval(ratio, *((standard_error(each) or 0.0) / fmean(each) for each in (ours, papers)))
    last = regret.curve(outcomes["traces", experiment, OWN], "mean")[-1]
    path = regret.curve(outcomes["traces", experiment, RULE], "mean")
    above = np.flatnonzero(~(path <= last))
    reached = int(above[-1]) + 2 if len(above) else 1  # pulls are counted from 1
    row = Row(experiment=experiment, trials=len(ours), paper=regret.quality(papers), ours=regret.quality(ours))
    row.ratio, row.interval, row.reached = ratio, interval, reached if reached <= len(path) else None
    return row


def make_section(scale: Scale, seed: int, outcomes: Outcomes) -> Section:
    """All four experiments, ours and the paper's."""
    rows, budgets = compare_samples(outcomes), [compare_regrets(outcomes, number) for number in regret.INSTANCES]
    tolerances = [select(rows, epsilon=epsilon) for epsilon in distinct(rows, "epsilon")]
    series = {
        f"ε = {own[0].epsilon:g}" + (" (Experiment 2)" if own[0].epsilon == 0.0 else ""): [
            (float(row.paper), float(row.ours)) for row in own
        ]
        for own in tolerances
    }
    by_rule = [
        Row(experiment=row.experiment, policy=policy, row=row, found=found)
        for row in budgets
        for policy, found in ((OWN, row.paper), (RULE, row.ours))
    ]
    regrets = [
        {
            "experiment": row.experiment,
            "policy": row.policy,
            "trials": row.row.trials,
            **flat({"regret": row.found["mean"], "regret_interval": row.found["mean_interval"]}),
            "wrong_share": row.found["wrong_share"],
        }
        for row in by_rule
    ]
    values = {"rule_name": display_name(RULE), "paper_method": PAPER, "ours": OURS}
    trials, exact = plural(budgets[0].trials, "trial"), select(rows, experiment=2)
    by_tolerance = [
        {
            "experiment": own[0].experiment,
            "epsilon": own[0].epsilon,
            "patterns": len(own),
            **{side: fmean(getattr(row, side) for row in own) for side in ("paper", "ours")},
            "fewer": geometric_mean([row.ratio for row in own]),
            "ends": (min(row.ratio for row in own), max(row.ratio for row in own)),
            "wrong": " / ".join(map(str, wrong_answers(own).values())),
        }
        for own in tolerances
    ]
    printed = [{**vars(row), "printed": paper.TOTALS[row.pattern][OWN]} for row in exact]
    grids = [
        grid("beyond_samples", by_tolerance, note=note("beyond_samples")),
        grid("beyond_exact", [{**row, "rerun": row["paper"]} for row in printed]),
        grid("beyond_regret", map(regret_cells, by_rule), note=note("beyond_regret", trials=trials)),
    ]
    return section(
        "beyond",
        scale,
        seed,
        {**values, "regret": paper.largest_regret()},
        summary=summarize(tolerances, budgets),
        data_files=[DataFile("beyond-samples", records(rows)), DataFile("beyond-regret", regrets)],
        drawings=[figure("beyond-samples", ([(OWN, series)], RULE), **values)],
        grids=[grid for grid in grids if grid.rows],
    )


def regret_cells(own: Row) -> dict[str, Any]:
    """A rule under a budget; ours is compared with the paper's: the ratio of regrets, and where ours gets below."""
    cells = {"experiment": own.experiment, "policy": own.policy, **own.found}
    if own.policy != RULE:
        return {**cells, "ratio": "", "reached": ""}
    row, interval = own.row, "" if own.row.interval is None else f"\n{format_interval(own.row.interval, 2)}"
    ratio = "no wrong set seen" if row.ratio is None else f"{factor(row.ratio)}{interval}"
    return {**cells, "ratio": ratio, "reached": f"{row.reached:,} pulls" if row.reached else "not reached"}


def summarize(tolerances: Sequence[Sequence[Row]], budgets: Sequence[Row]) -> dict[str, Any]:
    """The numbers for JSON: `samples.epsilon_0.1.ratio`, `experiment3.ratio` and so on."""
    samples = {
        f"epsilon_{own[0].epsilon:g}": {
            "experiment": own[0].experiment,
            "paper": {str(row.pattern): row.paper for row in own},
            "ours": {str(row.pattern): row.ours for row in own},
            "ratio": geometric_mean([row.ratio for row in own]),
            "least_ratio": min(row.ratio for row in own),
            "wrong": wrong_answers(own),
        }
        for own in tolerances
    }
    experiments = {f"experiment{row.experiment}": vars(row) for row in budgets}
    return {"paper": PAPER._asdict(), "ours": OURS._asdict(), "samples": samples, **experiments}


def wrong_answers(rows: Sequence[Row]) -> dict[str, int]:
    """How many answers do not keep their promise."""
    return {side: [getattr(row, f"{side}_right") for row in rows].count(False) for side in ("paper", "ours")}
