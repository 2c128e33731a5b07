"""The benchmark of answers under a budget: the same problems and budgets for every rule.

Mean regrets and wrong sets with their intervals, and ratios between rules. The problems are all that is meant, not a
sample of more: an interval tells what other runs on the same problems might show, and nothing about other problems. A
verdict is on what was seen; its evidence has the intervals.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ramgape.common.formatting import plural
from ramgape.core.pareto import pareto_front
from ramgape.paper import paper
from ramgape.paper.formatting import display_name, factor, percent, thousandths
from ramgape.paper.jobs import Job, Outcome
from ramgape.paper.scale import BenchmarkScale, BudgetScale
from ramgape.paper.section import Drawing, Finding, Section, figure, finding, note, section
from ramgape.paper.statistics import standard_error
from ramgape.paper.tables import Columns, DataFile, Grid, Row, distinct, records, select, side_by_side, table
from ramgape.problems.instances import load_instance
from ramgape.risks import make_risk
from ramgape.risks.table import PAPER_RISK
from ramgape.statistics.proportions import NORMAL, clopper_pearson, ratio_interval

Key = tuple[str, int, str]  # instance, budget, policy
Outcomes = Mapping[Key, Outcome]

OWN = "evidence"
RIVALS = ("ege-sr", "ege-sh", *paper.BUDGET_POLICIES)  # the first two are not in the paper
POLICIES = (OWN, *RIVALS)

WHOLE = "random instances"  # the group of all that are averaged
FAMILIES = {"random-beta": "Beta", "random-bernoulli": "Bernoulli", "random-gaussian": "Gaussian"}
FEW_ARMS = 10
BY_ARMS = (f"up to {FEW_ARMS} arms", f"more than {FEW_ARMS} arms")
START = 3_000.0  # the cost of starting a run, in pulls; for the order of work and the time left only

# Our aims, in times the best rival's mean regret, by group of problems and budget.
AIMS = {
    WHOLE: {500: 0.60, 2_000: 0.55, 10_000: 0.35, 40_000: 0.35},
    "Bernoulli": {500: 1.15, 2_000: 1.4, 10_000: 1.15, 40_000: 1.0},
    "paper:exp4": {500: 0.8, 2_000: 0.5, 10_000: 0.5, 40_000: 0.5},
}


def plan_jobs(scale: BenchmarkScale, seed: int) -> dict[Key, Job]:
    """Every rule on every problem under every budget."""
    jobs: dict[Key, Job] = {}
    for instance, runs in scale.budget.instances.items():
        arms = len(load_instance(instance).names)
        for budget, trials in runs.items():
            for policy in POLICIES:
                slowness = (1.0 + arms / 30.0) * {"evidence": 2.0, "egp": 1.0 + arms / 12.0}.get(policy, 1.0)
                # Epsilon is for Theorem 1's constant a of the rules that look at widths.
                goal = {"budget": budget, "policy": policy, "epsilon": paper.EPSILON, "risk": scale.risk}
                asked = {"instance": instance, "seed": seed, "trials": trials, **goal}
                jobs[instance, budget, policy] = Job("trials", asked, trials * (START + budget * slowness))
    return jobs


# What the runs amount to


def measure_budgets(outcomes: Outcomes, scale: BudgetScale, risk: str = PAPER_RISK) -> list[Row]:
    """One rule on one problem under one budget each; the standard error is that of the mean regret."""
    rows = []
    measure = make_risk(risk)
    for instance, runs in scale.instances.items():
        known = load_instance(instance)
        arms, front = len(known.names), int(pareto_front(known.means, known.risks_by(measure)).sum())
        for budget in runs:
            for policy in POLICIES:
                outcome = outcomes[instance, budget, policy]
                regrets = outcome["regret"]
                row = Row(instance=instance, arms=arms, front=front, budget=budget, policy=policy, runs=len(regrets))
                row.regret = math.fsum(regrets) / len(regrets)
                row.standard_error = standard_error(regrets) or 0.0
                row.wrong = list(outcome["exact"]).count(False)
                rows.append(row)
    return rows


def instance_groups(scale: BudgetScale) -> dict[str, list[str]]:
    """The problems that are averaged, whole and in parts, and each of the others for itself."""
    arms = {name: len(load_instance(name).names) for name in scale.averaged}
    groups = {
        WHOLE: list(scale.averaged),
        **{title: [name for name in arms if name.split(":")[0] == family] for family, title in FAMILIES.items()},
        BY_ARMS[0]: [name for name in arms if arms[name] <= FEW_ARMS],
        BY_ARMS[1]: [name for name in arms if arms[name] > FEW_ARMS],
        **{name: [name] for name in scale.alone},
    }
    return {title: names for title, names in groups.items() if names}


def budget_averages(rows: Sequence[Row], scale: BudgetScale) -> list[Row]:
    """Every rule under every budget, group by group."""
    found = {(row.instance, row.budget, row.policy): row for row in rows}
    return [
        budget_average(group, [found[name, budget, policy] for name in names])
        for group, names in instance_groups(scale).items()
        for budget in scale.instances[names[0]]
        for policy in POLICIES
    ]


def budget_average(group: str, rows: Sequence[Row]) -> Row:
    """A rule under a budget over the problems of a group, each with the same weight.

    The interval of the regret is normal. That of the share of wrong sets is Clopper and Pearson's for as many runs of
    one problem: exact for one, and for several too wide rather than too narrow, since shares that differ between
    problems vary less in sum. It needs equally many runs on all of them.
    """
    number = len(rows)
    regret = math.fsum(row.regret for row in rows) / number
    error = math.sqrt(math.fsum(row.standard_error**2 for row in rows)) / number
    runs, wrong = sum(row.runs for row in rows), sum(row.wrong for row in rows)
    return Row(
        group=group,
        instances=number,
        budget=rows[0].budget,
        policy=rows[0].policy,
        runs=runs,
        regret=regret,
        standard_error=error,
        regret_interval=(max(0.0, regret - NORMAL * error), regret + NORMAL * error),
        wrong_share=wrong / runs,
        wrong_interval=clopper_pearson(wrong, runs),
    )


class Ratio(Row):
    """Our rule and the best of its rivals: their mean regrets, and the ratio of these.

    `ratio` is None where the rival has no regret, and `interval` where one of the two has none.
    """

    def at_most(self, factor: float) -> bool:
        """Whether our regret is at most so many times the rival's."""
        return bool(self.own_regret <= factor * self.rival_regret)


def ratios(averages: Sequence[Row]) -> list[Ratio]:
    """Our rule and the best rival, in every group under every budget; chance helps a rival to be the best."""
    found = []
    for own in select(averages, policy=OWN):
        others = select(averages, group=own.group, budget=own.budget)
        found.append(ratio(own, min((row for row in others if row.policy != OWN), key=lambda row: row.regret)))
    return found


def ratio(own: Row, rival: Row) -> Ratio:
    """Two rules in one group, whose runs are independent."""
    value = own.regret / rival.regret if rival.regret > 0.0 else None
    interval = None
    if value is not None and value > 0.0:
        interval = ratio_interval(value, own.standard_error / own.regret, rival.standard_error / rival.regret)
    regrets = {"own_regret": own.regret, "rival_regret": rival.regret}
    place = {"group": own.group, "budget": own.budget, "rival": rival.policy}
    return Ratio(**place, **regrets, ratio=value, interval=interval)


def differences(rows: Sequence[Row], scale: BudgetScale, budget: int, rival: str) -> list[Row]:
    """Our regret minus a rival's on each of the averaged problems, with an approximate 95 % interval.

    `clearly` is -1 if ours is smaller and chance hardly explains it, 1 if it is larger, 0 if one cannot tell.
    """
    found = {(row.instance, row.policy): row for row in select(rows, budget=budget)}
    table = []
    for name in scale.averaged:
        own, other = found[name, OWN], found[name, rival]
        value, spread = own.regret - other.regret, NORMAL * math.hypot(own.standard_error, other.standard_error)
        clearly = (value - spread > 0.0) - (value + spread < 0.0)
        table.append(Row(instance=name, arms=own.arms, difference=value, clearly=clearly))
    return table


# What they say


def findings(rows: Sequence[Row], scale: BudgetScale) -> Iterator[Finding]:
    """All claims."""
    averages = budget_averages(rows, scale)
    found = ratios(averages)
    for group, aims in AIMS.items():
        yield small_enough(group, aims, select(found, group=group))
    yield nowhere_worse(found)
    yield fewest_wrong(select(averages, group=WHOLE))
    yield worse_on_no_instance(rows, scale, select(found, group=WHOLE))


def small_enough(group: str, aims: Mapping[int, float], found: Sequence[Ratio]) -> Finding:
    """Is the ratio as small as we aim at, in one group of problems?"""
    own = [row for row in found if row.budget in aims]
    most = {budget: aim for budget, aim in aims.items() if select(own, budget=budget)} or aims
    good = [row for row in own if row.at_most(aims[row.budget])]
    narrow = [
        f"{row.group} at n = {row.budget:,}" for row in good if row.interval and row.interval[1] > aims[row.budget]
    ]
    asked = ", ".join(f"{aim:g} (n = {budget:,})" for budget, aim in most.items())
    also = f" Of these, {' and '.join(narrow)} might as well be above what is aimed at." if narrow else ""
    holds = len(good) == len(own) if own else None
    return finding("small_enough", holds, cases(own), group=group, asked=asked, narrow=also)


def cases(rows: Sequence[Ratio]) -> list[dict[str, Any]]:
    """Ratios for a text."""
    return [{"row": row, "ratio": in_words(row)} for row in rows]


def nowhere_worse(found: Sequence[Ratio]) -> Finding:
    """Is there any group of problems and a budget where a rival is better?"""
    worse = [row for row in found if not row.at_most(1.0)]
    sure = [row for row in worse if row.interval is None or row.interval[0] > 1.0]
    counts = {"good": len(found) - len(worse), "cases": plural(len(found), "case"), "sure": len(sure)}
    if not worse:
        return finding("nowhere_worse", True if found else None, **counts)
    return finding("somewhere_worse", False, cases(worse), **counts)


def fewest_wrong(averages: Sequence[Row]) -> Finding:
    """Are the sets wrong least often?"""

    def share(row: Row) -> str:
        return f"{percent(row.wrong_share)} ({' to '.join(map(percent, row.wrong_interval))})"

    told, holds = [], []
    for own in select(averages, policy=OWN):
        others = [row for row in select(averages, budget=own.budget) if row.policy != OWN]
        best = min(others, key=lambda row: row.wrong_share)
        holds.append(own.wrong_share <= best.wrong_share)
        told.append({"row": own, "own": share(own), "rival": display_name(best.policy), "other": share(best)})
    return finding("fewest_wrong", all(holds) if holds else None, told)


def worse_on_no_instance(rows: Sequence[Row], scale: BudgetScale, whole: Sequence[Ratio]) -> Finding:
    """On which problems is the rival that is best overall better?"""
    told: list[dict[str, Any]] = []
    for case in whole:
        compared = differences(rows, scale, case.budget, case.rival)
        worse = sorted(select(compared, clearly=1), key=lambda row: -row.difference)
        exceptions = ", ".join(f"{row.instance} [{row.arms}] {thousandths(row.difference)}" for row in worse)
        counts = {"smaller": len(select(compared, clearly=-1)), "all": len(compared), "larger": len(worse)}
        listed = f" ({exceptions})" if worse else ""
        told.append({"row": case, "rival": display_name(case.rival), **counts, "exceptions": listed})
    return finding("worse_on_no_instance", not any(row["larger"] for row in told) if told else None, told)


def in_words(row: Ratio) -> str:
    """A ratio with its interval and the rival, or why there is none."""
    rival = display_name(row.rival)
    if row.ratio is None:
        return f"no regret with either ({rival})" if row.own_regret == 0.0 else f"{rival} has no regret"
    if row.interval is None:
        return f"0 ({rival}), no wrong set seen"
    low, high = row.interval
    return f"{factor(row.ratio)} ({factor(low)} to {factor(high)}, {rival})"


# The section


def make_section(scale: BenchmarkScale, seed: int, outcomes: Outcomes) -> Section:
    """Regret and wrong sets."""
    field = scale.budget
    rows, groups = measure_budgets(outcomes, field, scale.risk), instance_groups(field)
    averages = budget_averages(rows, field)
    found = ratios(averages)
    arms = [row.arms for row in rows if row.instance in field.averaged]
    values = {"count": plural(len(field.averaged), "random instance"), "fewest": min(arms), "most": max(arms)}
    values |= {"budgets": ", ".join(f"{budget:,}" for budget in field.budgets), "own": display_name(OWN)}
    values |= {"alone": " and ".join(field.alone), "instances": ", ".join(field.instances)}
    values |= {"runs": runs_by_budget(field.runs), "runs_alone": runs_by_budget(field.runs_alone)}
    summary = {"epsilon": paper.EPSILON, "risk": scale.risk, "groups": groups, "measurements": records(rows)}
    return section(
        "budget",
        scale,
        seed,
        values,
        summary={**summary, "averages": records(averages), "against_best_rival": records(found)},
        data_files=[
            DataFile("budget", records(rows)),
            DataFile("budget-averages", records(averages)),
            DataFile("budget-ratios", records(found)),
        ],
        drawings=[
            curves_drawing("benchmark-budget", averages, field, (WHOLE, *field.alone)),
            ratio_drawing(found, groups, field),
            curves_drawing("benchmark-budget-families", averages, field, tuple(FAMILIES.values())),
            curves_drawing("benchmark-budget-arms", averages, field, BY_ARMS),
        ],
        grids=[
            *(quality_grid(select(averages, group=group)) for group in (WHOLE, *field.alone)),
            ratio_grid(found, groups, field),
            *(regret_grid(select(rows, budget=budget), budget) for budget in field.budgets),
        ],
        findings=list(findings(rows, field)),
    )


def runs_by_budget(runs: Mapping[int, int]) -> str:
    """The numbers of runs with the budgets that have them, in words.

    >>> runs_by_budget({500: 100, 2_000: 100, 10_000: 40})
    '100 (n = 500, 2,000) or 40 (n = 10,000)'
    """
    budgets = {number: [f"{n:,}" for n in runs if runs[n] == number] for number in runs.values()}
    return " or ".join(f"{number} (n = {', '.join(group)})" for number, group in budgets.items())


def heading(group: str, instances: int) -> str:
    """The words above a panel or before a row; several problems are counted.

    >>> heading("random instances", 60), heading("Beta", 20), heading("paper:exp3", 1)
    ('60 random instances', 'Beta (20)', 'paper:exp3')
    """
    if group.startswith("paper:"):
        return group
    return f"{instances} {group}" if group == WHOLE else f"{group} ({instances})"


def curves_drawing(name: str, averages: Sequence[Row], field: BudgetScale, groups: Sequence[str]) -> Drawing:
    """Regret and wrong sets over the budget, for some of the groups."""
    panels = []
    for group in groups:
        rules = {policy: select(averages, group=group, policy=policy) for policy in POLICIES}
        if rules[OWN]:
            regrets = {rule: [(row.regret, *row.regret_interval) for row in own] for rule, own in rules.items()}
            wrong = {rule: [(row.wrong_share, *row.wrong_interval) for row in own] for rule, own in rules.items()}
            panels.append((heading(group, rules[OWN][0].instances), regrets, wrong))
    return figure(name, (list(field.budgets), panels))


def ratio_drawing(found: Sequence[Ratio], groups: Mapping[str, Sequence[str]], field: BudgetScale) -> Drawing:
    """Our rule and its best rival, in every group under every budget."""
    panels = []
    for budget in field.budgets:
        own = select(found, budget=budget)
        panels.append((f"n = {budget:,}", [row.interval and (row.ratio, *row.interval) for row in own]))
    label = f"Mean regret of {display_name(OWN)}, divided by that of its best rival"
    names = [heading(group, len(names)) for group, names in groups.items()]
    arguments = (label, names, panels, "regret", sorted(set(AIMS[WHOLE].values())))
    return figure("benchmark-budget-ratios", arguments, own=display_name(OWN))


def under_budgets(budgets: Sequence[int]) -> list[str]:
    """The headings of columns."""
    return [f"n = {budget:,}" for budget in budgets]


def quality_grid(averages: Sequence[Row]) -> Grid:
    """Rules by budgets, in one group."""
    number, budgets = averages[0].instances, under_budgets(distinct(averages, "budget"))
    title = averages[0].group if number == 1 else f"{plural(number, 'random instance')}, averaged"
    several = "" if number == 1 else "; too wide rather than too narrow for several instances"
    rows = [select(averages, policy=policy) for policy in POLICIES]
    columns = [("rule", lambda own: display_name(own[0].policy)), *side_by_side(budgets, quality_cell)]
    return table(f"Mean regret × 1000: {title}", rows, columns, note("budget_quality", several=several))


def quality_cell(row: Row) -> str:
    """One rule under one budget, in three lines."""
    interval = " to ".join(map(thousandths, row.regret_interval)) if row.wrong_share > 0.0 else "no wrong set seen"
    wrong = f"{percent(row.wrong_share)} wrong ({' to '.join(map(percent, row.wrong_interval))})"
    return f"{thousandths(row.regret)}\n{interval}\n{wrong}"


def ratio_cell(row: Ratio) -> str:
    """One ratio with its interval and the rival."""
    rival = display_name(row.rival)
    if row.ratio is None:
        return "0 / 0\nno wrong set" if row.own_regret == 0.0 else f"> 1\nno wrong set\n{rival}"
    if row.interval is None:
        return f"0\nno wrong set\n{rival}"
    return f"{factor(row.ratio)}\n{' to '.join(map(factor, row.interval))}\n{rival}"


def ratio_grid(found: Sequence[Ratio], groups: Mapping[str, Sequence[str]], field: BudgetScale) -> Grid:
    """Groups by budgets."""
    first = ("instances", lambda own: heading(own[0].group, len(groups[own[0].group])))
    columns = [first, *side_by_side(under_budgets(field.budgets), ratio_cell)]
    title = f"Mean regret of {display_name(OWN)} / that of its best rival"
    return table(title, [select(found, group=group) for group in groups], columns, note("budget_ratios"))


def regret_grid(rows: Sequence[Row], budget: int) -> Grid:
    """One budget: a row for each problem."""

    def cell(row: Row) -> str:
        return f"{thousandths(row.regret)}\n{row.wrong}/{row.runs}"

    columns: Columns[Sequence[Row]] = [
        ("instance", lambda own: own[0].instance),
        ("arms", lambda own: str(own[0].arms)),
        ("front", lambda own: str(own[0].front)),
        *side_by_side([*map(display_name, POLICIES)], cell),
    ]
    by_problem = [select(rows, instance=instance) for instance in distinct(rows, "instance")]
    return table(f"n = {budget:,}, instance by instance", by_problem, columns, note("budget_runs"), folded=True)
