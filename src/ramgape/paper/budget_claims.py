"""What the runs under a budget say; the rule behind each verdict stands next to the sentence that it judges.

A verdict is on what was seen. Its evidence has the intervals, which tell whether other runs might say otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ramgape.common.formatting import plural
from ramgape.paper.benchmark_scale import BudgetScale
from ramgape.paper.budget_results import (
    OWN,
    RIVALS,
    WHOLE,
    BudgetAverage,
    BudgetMeasurement,
    Difference,
    Ratio,
    budget_averages,
    differences,
    ratios,
)
from ramgape.paper.formatting import display_name, factor, percent, thousandths
from ramgape.paper.section import Finding, judged

# What we aim at, in times the best rival's mean regret, by group of instances and budget.
AIMS = {
    WHOLE: {500: 0.60, 2_000: 0.55, 10_000: 0.35, 40_000: 0.35},
    "Bernoulli": {500: 1.15, 2_000: 1.4, 10_000: 1.15, 40_000: 1.0},
    "paper:exp4": {500: 0.8, 2_000: 0.5, 10_000: 0.5, 40_000: 0.5},
}
SOURCE = "our aim"
NAME = f"policy {OWN}"


def findings(rows: Sequence[BudgetMeasurement], scale: BudgetScale) -> list[Finding]:
    """All claims."""
    table = budget_averages(rows, scale)
    beside = ratios(table)
    return [
        *(small_enough(group, aims, beside) for group, aims in AIMS.items()),
        nowhere_worse(beside),
        fewest_wrong([row for row in table if row.group == WHOLE]),
        worse_on_no_instance(rows, scale, [row for row in beside if row.group == WHOLE]),
    ]


def small_enough(group: str, aims: Mapping[int, float], beside: Sequence[Ratio]) -> Finding:
    """Is the ratio as small as we aim at, in one group of instances?"""
    rows = [row for row in beside if row.group == group and row.budget in aims]
    most = {budget: aim for budget, aim in aims.items() if any(row.budget == budget for row in rows)} or aims
    narrow = [
        row
        for row in rows
        if row.at_most(aims[row.budget]) and row.interval is not None and row.interval[1] > aims[row.budget]
    ]
    asked = ", ".join(f"{aim:g} (n = {budget:,})" for budget, aim in most.items())
    return Finding(
        f"{NAME.capitalize()} has at most so many times the mean regret of its best rival ({group}): {asked}.",
        judged(all(row.at_most(aims[row.budget]) for row in rows)) if rows else "not checkable",
        f"Times the best rival's, with approximate 95 % intervals: {listed(rows)}."
        + (f" Of these, {places(narrow)} might as well be above what is aimed at." if narrow else ""),
        SOURCE,
    )


def nowhere_worse(beside: Sequence[Ratio]) -> Finding:
    """Is there a group of instances and a budget where a rival is better?"""
    worse = [row for row in beside if not row.at_most(1.0)]
    sure = [row for row in worse if row.interval is None or row.interval[0] > 1.0]
    return Finding(
        f"In no family, with few arms or with many, and on neither of the paper's instances, does any rival have a "
        f"smaller mean regret than {NAME}, at any n.",
        judged(not worse) if beside else "not checkable",
        f"{len(beside) - len(worse)} of {plural(len(beside), 'case')} (groups of instances at budgets). "
        + (
            f"A rival is better in {listed(worse)}; in {len(sure)} of these chance hardly explains it."
            if worse
            else "There is no exception."
        ),
        "ours",
    )


def fewest_wrong(table: Sequence[BudgetAverage]) -> Finding:
    """Are the sets wrong least often?"""
    told, holds = [], []
    for budget in dict.fromkeys(row.budget for row in table):
        rules = {row.policy: row for row in table if row.budget == budget}
        best = min((rules[policy] for policy in RIVALS), key=lambda row: row.wrong_share)
        holds.append(rules[OWN].wrong_share <= best.wrong_share)
        told.append(
            f"n = {budget:,}: {share_of(rules[OWN])}, the best rival ({display_name(best.policy)}) {share_of(best)}"
        )
    return Finding(
        f"Over the random instances the sets of {NAME} are wrong least often, at every n.",
        judged(all(holds)) if holds else "not checkable",
        "Shares of wrong sets with 95 % intervals. " + "; ".join(told) + ".",
        "ours",
    )


def worse_on_no_instance(rows: Sequence[BudgetMeasurement], scale: BudgetScale, whole: Sequence[Ratio]) -> Finding:
    """On which instances is the rival that is best overall better?"""
    told, found = [], 0
    for case in whole:
        compared = differences(rows, scale, case.budget, case.rival)
        worse = sorted((row for row in compared if row.clearly > 0), key=lambda row: -row.difference)
        better = sum(row.clearly < 0 for row in compared)
        found += len(worse)
        told.append(
            f"n = {case.budget:,}, beside {display_name(case.rival)}: clearly smaller on {better} of {len(compared)}, "
            f"clearly larger on {len(worse)}" + (f" ({', '.join(map(by_how_much, worse))})" if worse else "")
        )
    return Finding(
        f"On no random instance does the rival that is best over all of them have a clearly smaller mean regret than "
        f"{NAME}.",
        judged(not found) if told else "not checkable",
        "Clearly means that the approximate 95 % interval of the difference lies on one side of 0; of so many some "
        "do by chance. In brackets the arms, and by how many thousandths the regret is larger. "
        + "; ".join(told)
        + ".",
        "ours",
    )


def by_how_much(row: Difference) -> str:
    """Where, and how much larger.

    >>> by_how_much(Difference("random-beta:2", 44, 0.00123, (0.001, 0.002)))
    'random-beta:2 [44] 1.23'
    """
    return f"{row.instance} [{row.arms}] {thousandths(row.difference)}"


def share_of(row: BudgetAverage) -> str:
    """A share of wrong sets with its interval."""
    low, high = row.wrong_interval
    return f"{percent(row.wrong_share)} ({percent(low)} to {percent(high)})"


def listed(rows: Iterable[Ratio]) -> str:
    """Where each ratio was seen, and its interval."""
    return "; ".join(f"{row.group}, n = {row.budget:,}: {in_words(row)}" for row in rows)


def places(rows: Iterable[Ratio]) -> str:
    """Where ratios were seen, without them."""
    return " and ".join(f"{row.group} at n = {row.budget:,}" for row in rows)


def in_words(row: Ratio) -> str:
    """A ratio with its interval and the rival, or why there is none."""
    rival = display_name(row.rival)
    if row.ratio is None:
        return f"no regret with either ({rival})" if row.own_regret == 0.0 else f"{rival} has no regret"
    if row.interval is None:
        return f"0 ({rival}), no wrong set seen"
    low, high = row.interval
    return f"{factor(row.ratio)} ({factor(low)} to {factor(high)}, {rival})"
