"""The benchmark of answers under a budget: the same instances and budgets for every rule.

budget            what to run, and the section
budget_results    what the runs amount to: mean regrets, wrong sets, ratios
budget_claims     what they say
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ramgape.common.formatting import plural
from ramgape.paper import paper
from ramgape.paper.benchmark_scale import BenchmarkScale, BudgetScale
from ramgape.paper.budget_claims import AIMS, findings
from ramgape.paper.budget_results import (
    BY_ARMS,
    FAMILIES,
    OWN,
    POLICIES,
    WHOLE,
    BudgetAverage,
    BudgetMeasurement,
    Key,
    Outcomes,
    Ratio,
    budget_averages,
    instance_groups,
    measure_budgets,
    ratios,
    summarize,
)
from ramgape.paper.formatting import display_name, factor, percent, thousandths
from ramgape.paper.jobs import Job
from ramgape.paper.section import DataFile, Drawing, Grid, Section
from ramgape.problems.instances import load_instance

START = 3_000.0  # what it takes to begin a run, in pulls; for the order of work and the time left only


def plan_jobs(scale: BenchmarkScale, seed: int) -> dict[Key, Job]:
    """Every rule on every instance under every budget."""
    jobs: dict[Key, Job] = {}
    for instance, runs in scale.budget.instances.items():
        arms = len(load_instance(instance).names)
        for budget, trials in runs.items():
            for policy in POLICIES:
                slowness = (1.0 + arms / 30.0) * {"evidence": 2.0, "egp": 1.0 + arms / 12.0}.get(policy, 1.0)
                jobs[instance, budget, policy] = Job(
                    "trials",
                    {
                        "instance": instance,
                        "seed": seed,
                        "trials": trials,
                        "budget": budget,
                        "policy": policy,
                        "epsilon": paper.EPSILON,  # for Theorem 1's constant a of the rules that look at widths
                        "risk": scale.risk,
                    },
                    trials * (START + budget * slowness),
                )
    return jobs


def make_section(scale: BenchmarkScale, seed: int, outcomes: Outcomes) -> Section:
    """Regret and wrong sets."""
    field = scale.budget
    rows = measure_budgets(outcomes, field, scale.risk)
    table = budget_averages(rows, field)
    beside = ratios(table)
    arms = [row.arms for row in rows if row.instance in field.averaged]
    budgets = ", ".join(f"{budget:,}" for budget in field.budgets)
    families = [title for title in FAMILIES.values() if title in instance_groups(field)]
    return Section(
        "budget",
        "Answers under a budget, by sampling rule",
        (
            f"Each rule makes n pulls and then returns a set; n = {budgets}. "
            "What counts is the simple regret of that set, and how often it is not exactly the Pareto set. The field: "
            f"{plural(len(field.averaged), 'random instance')} with {min(arms)} to {max(arms)} arms, the same on "
            f"every machine, none chosen by an outcome and no rule tuned on them, and beside them "
            f"{' and '.join(field.alone)} of the paper. The risk is {scale.risk}.",
            f"{display_name(OWN)} is what this package uses under a budget unless told otherwise. Its rivals are the "
            "paper's seven rules with the paper's constant a, as in its Experiments 3 and 4, and EGE-SR and EGE-SH "
            "(Kone, Jourdan, Kaufmann 2024), which know n beforehand and return what they have accepted.",
            "A mean regret is the mean over instances of the mean over runs. The instances are fixed, so the intervals "
            "tell only how far other runs on the same instances might lead elsewhere. The best rival is the one that "
            "did best in these very runs, at each n and in each group of instances anew, which favours it a little.",
        ),
        summarize(rows, field, scale.risk),
        {
            "n": budgets,
            "a of the paper's rules": f"(n − 2K) ε² / (16 K) with ε = {paper.EPSILON:g}, as Theorem 1 has it",
            "risk": scale.risk,
            "runs": f"{runs_by_budget(field.runs)} on each random instance; {runs_by_budget(field.runs_alone)} on "
            f"{' and '.join(field.alone)}",
            "seeds": f"run r has {seed} + r, counted from 0",
            "instances": ", ".join(field.instances),
        },
        budget_files(rows, table, beside),
        [
            lines("benchmark-budget", table, field, (WHOLE, *field.alone), ""),
            rival_drawing(beside, field),
            lines("benchmark-budget-families", table, field, families, "By the kind of rewards. "),
            lines("benchmark-budget-arms", table, field, BY_ARMS, "By the number of arms. "),
        ],
        [
            *(quality_grid(table, group) for group in (WHOLE, *field.alone)),
            ratio_grid(beside, field),
            *(regret_grid(rows, budget) for budget in field.budgets),
        ],
        findings(rows, field),
    )


def runs_by_budget(runs: Mapping[int, int]) -> str:
    """How many runs under which budgets.

    >>> runs_by_budget({500: 100, 2_000: 100, 10_000: 40})
    '100 (n = 500, 2,000) or 40 (n = 10,000)'
    """
    by_number: dict[int, list[str]] = {}
    for budget, number in runs.items():
        by_number.setdefault(number, []).append(f"{budget:,}")
    return " or ".join(f"{number} (n = {', '.join(budgets)})" for number, budgets in by_number.items())


def budget_files(
    rows: Sequence[BudgetMeasurement], table: Sequence[BudgetAverage], beside: Sequence[Ratio]
) -> list[DataFile]:
    """By instance, by group, and the ratios; intervals as two columns."""
    names = ("regret_low", "regret_high", "wrong_low", "wrong_high")
    plain = [name for name in BudgetAverage._fields if not name.endswith("_interval")]
    grouped = [[*(getattr(row, name) for name in plain), *row.regret_interval, *row.wrong_interval] for row in table]
    compared = [[*row[:-1], *(row.interval or (None, None))] for row in beside]
    by_instance = [row.to_dict() for row in rows]
    return [
        DataFile("budget", list(by_instance[0]), [list(row.values()) for row in by_instance]),
        DataFile("budget-averages", (*plain, *names), grouped),
        DataFile("budget-ratios", (*Ratio._fields[:-1], "ratio_low", "ratio_high"), compared),
    ]


def lines(name: str, table: Sequence[BudgetAverage], field: BudgetScale, shown: Sequence[str], words: str) -> Drawing:
    """Regret and wrong sets over the budget, for some of the groups."""
    found = {(row.group, row.budget, row.policy): row for row in table}
    panels = []
    for group in shown:
        if (group, field.budgets[0], OWN) not in found:
            continue
        curves = {policy: [found[group, budget, policy] for budget in field.budgets] for policy in POLICIES}
        panels.append(
            (
                heading(group, curves[OWN][0].instances),
                {policy: [(row.regret, *row.regret_interval) for row in own] for policy, own in curves.items()},
                {policy: [(row.wrong_share, *row.wrong_interval) for row in own] for policy, own in curves.items()},
            )
        )
    return Drawing(
        name,
        "quality_by_budget",
        (list(field.budgets), panels),
        "",
        f"{words}Above, the mean simple regret on logarithmic axes; below, the share of wrong sets. Bars are 95 % "
        "intervals; the marks at one n are moved apart a little. An interval has no length where no set was wrong.",
    )


def heading(group: str, instances: int) -> str:
    """What stands above a panel or before a row; several instances are counted.

    >>> heading("random instances", 60), heading("Beta", 20), heading("paper:exp3", 1)
    ('60 random instances', 'Beta (20)', 'paper:exp3')
    """
    if group.startswith("paper:"):
        return group
    return f"{instances} {group}" if group == WHOLE else f"{group} ({instances})"


def rival_drawing(beside: Sequence[Ratio], field: BudgetScale) -> Drawing:
    """Our rule beside its best rival, wherever one may look."""
    sizes = {group: len(names) for group, names in instance_groups(field).items()}
    found = {(row.group, row.budget): row for row in beside}
    panels = []
    for budget in field.budgets:
        ratios_here = []
        for group in sizes:
            row = found[group, budget]
            ratios_here.append(None if row.ratio is None or row.interval is None else (row.ratio, *row.interval))
        panels.append((f"n = {budget:,}", ratios_here))
    return Drawing(
        "benchmark-budget-ratios",
        "regret_against",
        (OWN, [heading(group, size) for group, size in sizes.items()], panels, sorted(set(AIMS[WHOLE].values()))),
        "",
        f"{display_name(OWN)} beside the rival that is best in that group at that n: left of the dashed line it has "
        "the smaller mean regret; the dotted lines are what we aim at over all. Bars are approximate 95 % intervals; "
        "marks are hollow where these contain 1, and on the edge if they are beyond it. Nothing is drawn where one of "
        "the two never returned a wrong set.",
    )


def quality_grid(table: Sequence[BudgetAverage], group: str) -> Grid:
    """Rules by budgets."""
    own = [row for row in table if row.group == group]
    budgets = list(dict.fromkeys(row.budget for row in own))
    found = {(row.policy, row.budget): row for row in own}
    rows = [[display_name(policy), *(quality_cell(found[policy, budget]) for budget in budgets)] for policy in POLICIES]
    number = own[0].instances
    title = group if number == 1 else f"{plural(number, 'random instance')}, averaged"
    return Grid(
        f"Mean regret × 1000: {title}",
        ("rule", *(f"n = {budget:,}" for budget in budgets)),
        rows,
        "Below it its approximate 95 % interval, then the share of wrong sets with its interval (Clopper-Pearson"
        + (")." if number == 1 else "; too wide rather than too narrow for several instances)."),
    )


def quality_cell(row: BudgetAverage) -> str:
    """One rule under one budget, in three lines."""
    low, high = row.regret_interval
    return "\n".join(
        (
            thousandths(row.regret),
            f"{thousandths(low)} to {thousandths(high)}" if row.wrong_share > 0.0 else "no wrong set seen",
            f"{percent(row.wrong_share)} wrong ({' to '.join(map(percent, row.wrong_interval))})",
        )
    )


def ratio_grid(beside: Sequence[Ratio], field: BudgetScale) -> Grid:
    """Groups by budgets."""
    found = {(row.group, row.budget): row for row in beside}
    rows = [
        [heading(group, len(names)), *(ratio_cell(found[group, budget]) for budget in field.budgets)]
        for group, names in instance_groups(field).items()
    ]
    return Grid(
        f"Mean regret of {display_name(OWN)} / that of its best rival",
        ("instances", *(f"n = {budget:,}" for budget in field.budgets)),
        rows,
        "Below it the approximate 95 % interval and the rival, which is the best in that group at that n.",
    )


def ratio_cell(row: Ratio) -> str:
    """One ratio with its interval and the rival."""
    if row.ratio is None:
        return "0 / 0\nno wrong set" if row.own_regret == 0.0 else f"> 1\nno wrong set\n{display_name(row.rival)}"
    if row.interval is None:
        return f"0\nno wrong set\n{display_name(row.rival)}"
    low, high = row.interval
    return f"{factor(row.ratio)}\n{factor(low)} to {factor(high)}\n{display_name(row.rival)}"


def regret_grid(rows: Sequence[BudgetMeasurement], budget: int) -> Grid:
    """One budget: a row for each instance."""
    found: dict[str, dict[str, BudgetMeasurement]] = {}
    for row in rows:
        if row.budget == budget:
            found.setdefault(row.instance, {})[row.policy] = row
    table = [
        [
            instance,
            str(rules[OWN].arms),
            str(rules[OWN].front),
            *(
                f"{thousandths(rules[policy].regret)}\n{rules[policy].wrong}/{rules[policy].runs}"
                for policy in POLICIES
            ),
        ]
        for instance, rules in found.items()
    ]
    return Grid(
        f"n = {budget:,}, instance by instance",
        ("instance", "arms", "front", *map(display_name, POLICIES)),
        table,
        "Mean regret × 1000; below it how many of the runs returned a wrong set.",
        folded=True,
    )
