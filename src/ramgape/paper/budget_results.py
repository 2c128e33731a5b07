"""What runs under a budget amount to: regrets and wrong sets with their intervals, and ratios between rules.

The instances are the whole field, not a sample of a larger one: an interval tells how far other runs on the same
instances might lead elsewhere, and nothing of other instances.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from ramgape.common.proportions import NORMAL, clopper_pearson, ratio_interval
from ramgape.core.pareto import pareto_front
from ramgape.options import PAPER_RISK
from ramgape.paper import paper
from ramgape.paper.benchmark_scale import BudgetScale
from ramgape.paper.jobs import Outcome
from ramgape.paper.statistics import standard_error
from ramgape.problems.instances import load_instance
from ramgape.risks import make_risk

Key = tuple[str, int, str]  # instance, budget, policy
Outcomes = Mapping[Key, Outcome]
Interval = tuple[float, float]

OWN = "evidence"
ELSEWHERE = ("ege-sr", "ege-sh")  # published, but not in the paper
RIVALS = (*ELSEWHERE, *paper.BUDGET_POLICIES)
POLICIES = (OWN, *RIVALS)

WHOLE = "random instances"  # the group of all that are averaged
FAMILIES = {"random-beta": "Beta", "random-bernoulli": "Bernoulli", "random-gaussian": "Gaussian"}
FEW_ARMS = 10
BY_ARMS = (f"up to {FEW_ARMS} arms", f"more than {FEW_ARMS} arms")


@dataclass(frozen=True, slots=True)
class BudgetMeasurement:
    """One rule on one instance under one budget; the standard error is that of the mean regret."""

    instance: str
    arms: int
    front: int
    budget: int
    policy: str
    runs: int
    regret: float
    standard_error: float
    wrong: int

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


class BudgetAverage(NamedTuple):
    """A rule under a budget, over the instances of a group, each with the same weight."""

    group: str
    instances: int
    budget: int
    policy: str
    runs: int  # on all instances together
    regret: float
    standard_error: float
    regret_interval: Interval
    wrong_share: float
    wrong_interval: Interval


class Ratio(NamedTuple):
    """Our rule beside the best of its rivals: their mean regrets, and how those relate.

    `ratio` is None where the rival has no regret, and `interval` where one of the two has none.
    """

    group: str
    budget: int
    rival: str
    own_regret: float
    rival_regret: float
    ratio: float | None
    interval: Interval | None

    def at_most(self, factor: float) -> bool:
        """Whether our regret is at most so many times the rival's."""
        return self.own_regret <= factor * self.rival_regret


class Difference(NamedTuple):
    """Our regret minus a rival's on one instance, with an approximate 95 % interval."""

    instance: str
    arms: int
    difference: float
    interval: Interval

    @property
    def clearly(self) -> int:
        """-1 if ours is smaller and chance hardly explains it, 1 if it is larger, 0 if one cannot tell."""
        return (self.interval[0] > 0.0) - (self.interval[1] < 0.0)


def measure_budgets(outcomes: Outcomes, scale: BudgetScale, risk: str = PAPER_RISK) -> list[BudgetMeasurement]:
    """Everything that was run, in the order of the plan."""
    rows = []
    measure = make_risk(risk)
    for instance, runs in scale.instances.items():
        known = load_instance(instance)
        front = int(pareto_front(known.means, known.risks_by(measure)).sum())
        for budget in runs:
            for policy in POLICIES:
                outcome = outcomes[instance, budget, policy]
                regrets, number = outcome["regret"], len(outcome["regret"])
                rows.append(
                    BudgetMeasurement(
                        instance=instance,
                        arms=len(known.names),
                        front=front,
                        budget=budget,
                        policy=policy,
                        runs=number,
                        regret=math.fsum(regrets) / number,
                        standard_error=standard_error(regrets) or 0.0,
                        wrong=sum(not exact for exact in outcome["exact"]),
                    )
                )
    return rows


def instance_groups(scale: BudgetScale) -> dict[str, list[str]]:
    """The instances that are averaged, whole and in parts, and each of the others for itself."""
    few, many = BY_ARMS
    parts: dict[str, list[str]] = {WHOLE: list(scale.averaged)}
    parts |= {title: [name for name in scale.averaged if family_title(name) == title] for title in FAMILIES.values()}
    parts[few] = [name for name in scale.averaged if len(load_instance(name).names) <= FEW_ARMS]
    parts[many] = [name for name in scale.averaged if name not in parts[few]]
    parts |= {name: [name] for name in scale.alone}
    return {title: names for title, names in parts.items() if names}


def family_title(instance: str) -> str:
    """What the rewards of a random instance are.

    >>> family_title("random-beta:3")
    'Beta'
    """
    return FAMILIES.get(instance.split(":")[0], "")


def budget_averages(rows: Sequence[BudgetMeasurement], scale: BudgetScale) -> list[BudgetAverage]:
    """Every rule under every budget, group by group."""
    found = {(row.instance, row.budget, row.policy): row for row in rows}
    return [
        budget_average(group, [found[name, budget, policy] for name in names])
        for group, names in instance_groups(scale).items()
        for budget in scale.instances[names[0]]
        for policy in POLICIES
    ]


def budget_average(group: str, rows: Sequence[BudgetMeasurement]) -> BudgetAverage:
    """One rule under one budget.

    The interval of the regret is normal. That of the share of wrong sets is Clopper and Pearson's for as many runs of
    one instance: exact for one, and for several too wide rather than too narrow, since shares that differ between
    instances vary less in sum. It needs equally many runs on all of them.
    """
    number = len(rows)
    regret = math.fsum(row.regret for row in rows) / number
    error = math.sqrt(math.fsum(row.standard_error**2 for row in rows)) / number
    runs, wrong = sum(row.runs for row in rows), sum(row.wrong for row in rows)
    return BudgetAverage(
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


def ratios(table: Sequence[BudgetAverage]) -> list[Ratio]:
    """Our rule beside the best rival, in every group under every budget."""
    cases: dict[tuple[str, int], dict[str, BudgetAverage]] = {}
    for row in table:
        cases.setdefault((row.group, row.budget), {})[row.policy] = row
    return [ratio(rules[OWN], best_rival(rules)) for rules in cases.values()]


def best_rival(rules: Mapping[str, BudgetAverage]) -> BudgetAverage:
    """The rival with the smallest mean regret, as it was seen; chance helps it a little to be that one."""
    return min((rules[policy] for policy in RIVALS), key=lambda row: row.regret)


def ratio(own: BudgetAverage, rival: BudgetAverage) -> Ratio:
    """Two rules in one group, whose runs are independent."""
    value = own.regret / rival.regret if rival.regret > 0.0 else None
    interval = None
    if value is not None and value > 0.0:
        interval = ratio_interval(value, own.standard_error / own.regret, rival.standard_error / rival.regret)
    return Ratio(own.group, own.budget, rival.policy, own.regret, rival.regret, value, interval)


def differences(rows: Sequence[BudgetMeasurement], scale: BudgetScale, budget: int, rival: str) -> list[Difference]:
    """Our rule against one rival on each of the averaged instances."""
    found = {(row.instance, row.policy): row for row in rows if row.budget == budget}
    return [difference(found[name, OWN], found[name, rival]) for name in scale.averaged]


def difference(own: BudgetMeasurement, rival: BudgetMeasurement) -> Difference:
    """Two rules on one instance."""
    value = own.regret - rival.regret
    spread = NORMAL * math.hypot(own.standard_error, rival.standard_error)
    return Difference(own.instance, own.arms, value, (value - spread, value + spread))


def summarize(rows: Sequence[BudgetMeasurement], scale: BudgetScale, risk: str) -> dict[str, Any]:
    """For machines."""
    table = budget_averages(rows, scale)
    return {
        "epsilon": paper.EPSILON,
        "risk": risk,
        "groups": instance_groups(scale),
        "measurements": [row.to_dict() for row in rows],
        "averages": [row._asdict() for row in table],
        "against_best_rival": [row._asdict() for row in ratios(table)],
    }
