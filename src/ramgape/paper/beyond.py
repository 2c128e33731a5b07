"""Beyond the paper: its own experiments with our defaults. No verdict on the paper looks at what is here.

Fixed confidence (Experiments 1 and 2): samples to the same guarantee, RAMGapE with the paper's bound beside our bound
and rule. Fixed budget (Experiments 3 and 4): regret after the same pulls. Searches that other parts make as well are
the same jobs, and are made once.
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np

from ramgape.common.formatting import plural
from ramgape.common.proportions import ratio_interval
from ramgape.paper import paper, regret
from ramgape.paper.formatting import display_name, factor, format_interval
from ramgape.paper.jobs import Job, Outcome
from ramgape.paper.methods import LINE_UPS
from ramgape.paper.outcomes import curve, quality
from ramgape.paper.paper import OWN
from ramgape.paper.scale import Scale
from ramgape.paper.section import DataFile, Drawing, Grid, Section
from ramgape.paper.statistics import geometric_mean, standard_error
from ramgape.paper.stopping import common_settings, search_job

Key = tuple[Any, ...]  # (kind, epsilon, pattern) or (kind, experiment, policy)
Outcomes = Mapping[Key, Outcome]

PAPER, OURS = LINE_UPS["bounded"].paper, LINE_UPS["bounded"].default
RULE = OURS.policy  # the default under a budget as well
RAMGAPE_NAME, RULE_NAME = display_name(OWN), display_name(RULE)


def plan_jobs(scale: Scale, seed: int) -> dict[Key, Job]:
    """Experiments 1 and 2 by both methods, 3 and 4 by both rules."""
    jobs: dict[Key, Job] = {}
    for epsilon, patterns in {
        **scale.patterns,
        0.0: [each for each in scale.totals if OWN in scale.totals[each]],
    }.items():
        for pattern in patterns:
            for kind, method in (("paper", PAPER), ("ours", OURS)):
                jobs[kind, epsilon, pattern] = search_job(
                    f"paper:{pattern}", seed, epsilon, method.policy, method.bound
                )
    for experiment in regret.INSTANCES:
        planned = regret.plan_jobs(experiment, scale, seed)
        compared = planned["comparison", OWN]
        jobs["trials", experiment, OWN] = compared
        jobs["trials", experiment, RULE] = Job("trials", {**compared.arguments, "policy": RULE}, compared.cost)
        jobs["traces", experiment, OWN] = planned["trace", OWN]
        jobs["traces", experiment, RULE] = planned["further", RULE]
    return jobs


class Saved(NamedTuple):
    """One pattern at one tolerance: samples until the answer is proved, by the paper's method and by ours."""

    experiment: int
    epsilon: float
    pattern: int
    paper: int
    ours: int
    paper_right: bool
    ours_right: bool

    @property
    def ratio(self) -> float:
        return self.paper / self.ours


class SameBudget(NamedTuple):
    """One experiment: mean regrets after the same pulls, and their ratio (ours over the paper's rule).

    `reached` is the first pull from which on our mean regret stays at or below the other's last one; None if there is
    none. The ratio is None where the other's regret is 0.
    """

    experiment: int
    trials: int
    paper: dict[str, Any]
    ours: dict[str, Any]
    ratio: float | None
    interval: tuple[float, float] | None
    reached: int | None


def saved(outcomes: Outcomes) -> list[Saved]:
    """Every pattern at every tolerance."""
    return [
        Saved(
            1 if epsilon > 0.0 else 2,
            epsilon,
            pattern,
            theirs["samples"],
            ours["samples"],
            kept_promise(theirs, epsilon),
            kept_promise(ours, epsilon),
        )
        for (kind, epsilon, pattern), theirs in outcomes.items()
        if kind == "paper"
        for ours in [outcomes["ours", epsilon, pattern]]
    ]


def kept_promise(outcome: Outcome, epsilon: float) -> bool:
    """Is the answer what was promised?"""
    return bool(outcome["truth"]["eps_correct" if epsilon > 0.0 else "exact"])


def same_budget(outcomes: Outcomes) -> list[SameBudget]:
    """Experiments 3 and 4."""
    return [compare_regrets(outcomes, experiment) for experiment in regret.INSTANCES]


def compare_regrets(outcomes: Outcomes, experiment: int) -> SameBudget:
    """Both rules after the same pulls."""
    theirs, ours = (outcomes["trials", experiment, policy]["regret"] for policy in (OWN, RULE))
    ratio, interval = None, None
    if fmean(theirs) > 0.0:
        ratio = fmean(ours) / fmean(theirs)
        if ratio > 0.0:
            errors = [(standard_error(each) or 0.0) / fmean(each) for each in (ours, theirs)]
            interval = ratio_interval(ratio, *errors)
    last = curve(outcomes["traces", experiment, OWN], "mean")[-1]
    path = curve(outcomes["traces", experiment, RULE], "mean")
    above = np.flatnonzero(~(path <= last))
    reached = int(above[-1]) + 2 if len(above) else 1  # pulls are counted from 1
    return SameBudget(
        experiment,
        len(ours),
        quality(theirs),
        quality(ours),
        ratio,
        interval,
        reached if reached <= len(path) else None,
    )


def make_section(scale: Scale, seed: int, outcomes: Outcomes) -> Section:
    """All four experiments, ours beside the paper's."""
    rows, budgets = saved(outcomes), same_budget(outcomes)
    return Section(
        "beyond",
        "Beyond the paper: its experiments with our defaults",
        (
            f"Ours, not the paper's: the same instances, seeds, ε, δ and risk, searched with the defaults of ramgape, "
            f"which are the bound {OURS.bound} and the rule {RULE}. Beside them stands RAMGapE as in the paper, with "
            "its bound. Both promise the same: with probability 1 − δ a set that is right up to ε (at ε = 0 the Pareto "
            "set itself).",
            f"At ε = {paper.EPSILON:g} the promise of Experiment 1 is an empty one: no set of arms has a regret above "
            f"{paper.largest_regret():.4f}. Tolerances below that ask for something; the exact sets of Experiment 2 "
            "ask for most.",
            f"Under a budget both rules make the same {paper.HORIZON:,} pulls, and neither promises anything; there is "
            f"no bound. {RULE_NAME} has no constant to choose; RAMGapE has the a of Experiments 3 and 4.",
        ),
        summarize(rows, budgets),
        {
            **common_settings(seed),
            "the paper's": f"{PAPER.bound} + {PAPER.policy}",
            "ours": f"{OURS.bound} + {OURS.policy}",
            "runs": f"one a pattern; under a budget {scale.comparison_trials} trials, seeds {seed} + r",
        },
        files(rows, budgets),
        [saved_drawing(rows)],
        [saved_grid(rows), *printed_totals_grid(rows), budget_grid(budgets)],
    )


def by_epsilon(rows: list[Saved]) -> dict[float, list[Saved]]:
    """The patterns of each tolerance."""
    return {
        epsilon: [row for row in rows if row.epsilon == epsilon]
        for epsilon in dict.fromkeys(row.epsilon for row in rows)
    }


def summarize(rows: list[Saved], budgets: list[SameBudget]) -> dict[str, Any]:
    """For machines: `samples.epsilon_0.1.ratio`, `experiment3.ratio` and so on."""
    return {
        "paper": PAPER._asdict(),
        "ours": OURS._asdict(),
        "samples": {
            f"epsilon_{epsilon:g}": {
                "experiment": own[0].experiment,
                "paper": {str(row.pattern): row.paper for row in own},
                "ours": {str(row.pattern): row.ours for row in own},
                "ratio": geometric_mean([row.ratio for row in own]),
                "least_ratio": min(row.ratio for row in own),
                "wrong": {
                    "paper": sum(not row.paper_right for row in own),
                    "ours": sum(not row.ours_right for row in own),
                },
            }
            for epsilon, own in by_epsilon(rows).items()
        },
        **{f"experiment{row.experiment}": row._asdict() for row in budgets},
    }


def files(rows: list[Saved], budgets: list[SameBudget]) -> list[DataFile]:
    """A row for each pattern, and one for each experiment under a budget and rule."""
    under = [
        (row.experiment, policy, row.trials, found["mean"], *found["mean_interval"], found["wrong_share"])
        for row in budgets
        for policy, found in ((OWN, row.paper), (RULE, row.ours))
    ]
    return [
        DataFile("beyond-samples", (*Saved._fields, "ratio"), [(*row, row.ratio) for row in rows]),
        DataFile(
            "beyond-regret",
            ("experiment", "policy", "trials", "regret", "regret_low", "regret_high", "wrong_share"),
            under,
        ),
    ]


def saved_drawing(rows: list[Saved]) -> Drawing:
    """A point for each pattern and tolerance."""
    series = {
        f"ε = {epsilon:g}" + (" (Experiment 2)" if epsilon == 0.0 else ""): [
            (float(row.paper), float(row.ours)) for row in own
        ]
        for epsilon, own in by_epsilon(rows).items()
    }
    return Drawing(
        "beyond-samples",
        "stopping_times",
        ([(OWN, series)], RULE),
        "not in the paper",
        f"Samples until the answer is proved, with the same ε and δ: RAMGapE with the paper's bound to the right, "
        f"{RULE_NAME} with the bound {OURS.bound} upwards. Below the line ours takes fewer.",
    )


def saved_grid(rows: list[Saved]) -> Grid:
    """A row for each tolerance."""
    table = [
        [
            str(own[0].experiment),
            f"{epsilon:g}",
            str(len(own)),
            f"{fmean(row.paper for row in own):,.0f}",
            f"{fmean(row.ours for row in own):,.0f}",
            factor(geometric_mean([row.ratio for row in own])),
            f"{factor(min(row.ratio for row in own))} to {factor(max(row.ratio for row in own))}",
            f"{sum(not row.paper_right for row in own)} / {sum(not row.ours_right for row in own)}",
        ]
        for epsilon, own in by_epsilon(rows).items()
    ]
    header = ("experiment", "ε", "patterns", "the paper's", "ours", "times fewer", "from, to", "wrong, theirs / ours")
    note = "Mean samples; how many times fewer is a geometric mean over the patterns. One run a pattern."
    return Grid("Samples to the same guarantee (ours)", header, table, note)


def printed_totals_grid(rows: list[Saved]) -> list[Grid]:
    """Experiment 2, with the totals that the paper prints."""
    table = [
        [
            str(row.pattern),
            f"{paper.TOTALS[row.pattern][OWN]:,}",
            f"{row.paper:,}",
            f"{row.ours:,}",
            factor(row.ratio),
        ]
        for row in rows
        if row.experiment == 2
    ]
    header = ("pattern", "RAMGapE, printed", "RAMGapE, run again", "ours", "times fewer")
    return [Grid("Experiment 2: the exact Pareto set (ours)", header, table)] if table else []


def budget_grid(budgets: list[SameBudget]) -> Grid:
    """A row for each rule in each experiment."""
    table = [
        [
            str(row.experiment),
            display_name(policy),
            *regret.quality_cells(found),
            regret_ratio(row) if policy == RULE else "",
            reached_at(row) if policy == RULE else "",
        ]
        for row in budgets
        for policy, found in ((OWN, row.paper), (RULE, row.ours))
    ]
    header = (
        "experiment",
        "rule",
        *regret.QUALITY,
        "regret, ours / RAMGapE",
        f"as good as RAMGapE after {paper.HORIZON:,} from",
    )
    trials = plural(budgets[0].trials, "trial")
    note = (
        f"{trials} of each rule; the interval of the ratio is approximate (95 %). The last column looks at the means "
        "of the watched trials of Experiments 3 and 4: the pull from which on ours is never worse than RAMGapE's last."
    )
    return Grid(f"Regret after {paper.HORIZON:,} pulls (ours)", header, table, note)


def regret_ratio(row: SameBudget) -> str:
    """The ratio with its interval."""
    if row.ratio is None:
        return "no wrong set seen"
    return factor(row.ratio) + (f"\n{format_interval(row.interval, 2)}" if row.interval else "")


def reached_at(row: SameBudget) -> str:
    """Where our regret gets below the other's last one."""
    return "not reached" if row.reached is None else f"{row.reached:,} pulls"
