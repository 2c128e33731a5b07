"""Experiments 2.1 and 2.2: the exact Pareto set of two patterns, and how wide the intervals are when it is found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ramgape.common.formatting import plural
from ramgape.core.pareto import pareto_front
from ramgape.paper import paper
from ramgape.paper.formatting import display_name, percent
from ramgape.paper.jobs import Job, Outcome
from ramgape.paper.paper import OWN, RA_LUCB
from ramgape.paper.scale import Scale
from ramgape.paper.section import Drawing, Finding, Section, figure, finding, grid, section
from ramgape.paper.stopping import gaps_of, search_job
from ramgape.paper.tables import DataFile
from ramgape.problems.instances import load_instance
from ramgape.search.result import ArmReport

Key = tuple[int, str]  # pattern, policy
Outcomes = Mapping[Key, Outcome]

NEAR = 0.02  # totals within 2 % of the printed ones count as reproduced: they are single runs of another generator
FIGURES = {46: "Figure 2", 10: "Figure 3"}
EVEN = "round-robin"


def plan_jobs(scale: Scale, seed: int) -> dict[Key, Job]:
    """Four rules on two patterns, at epsilon 0."""
    return {
        (pattern, policy): search_job(f"paper:{pattern}", seed, 0.0, policy, "paper")
        for pattern, policies in scale.totals.items()
        for policy in policies
    }


def make_section(scale: Scale, seed: int, outcomes: Outcomes) -> Section:
    """Experiment 2."""
    skipped = ", ".join(
        f"{display_name(policy)} on pattern {pattern}"
        for pattern in paper.TOTALS
        for policy in paper.CONFIDENCE_POLICIES
        if (pattern, policy) not in outcomes
    )
    rows = [
        {"experiment": paper.EXPERIMENTS[pattern], "pattern": pattern, "policy": policy, **outcome}
        | {"printed": printed(pattern, policy), "ratio": outcome["samples"] / printed(pattern, policy)}
        | {"returned": ", ".join(outcome["front"]), "exact": "yes" if outcome["truth"]["exact"] else "NO"}
        for (pattern, policy), outcome in outcomes.items()
    ]
    return section(
        "2",
        scale,
        seed,
        {"skipped": skipped},
        summary=summarize(outcomes),
        data_files=[arms_file(outcomes)],
        drawings=[drawing(outcomes, pattern) for pattern in dict.fromkeys(pattern for pattern, _ in outcomes)],
        grids=[grid("totals", rows)],
        findings=list(findings(outcomes)),
    )


def printed(pattern: int, policy: str) -> int:
    """The paper's total."""
    return paper.TOTALS[pattern][policy]


def summarize(outcomes: Outcomes) -> dict[str, Any]:
    """The numbers for JSON: `pattern_46.ramgape.samples` and so on."""
    summary: dict[str, Any] = {}
    for (pattern, policy), outcome in outcomes.items():
        summary.setdefault(f"pattern_{pattern}", {})[policy] = {
            "samples": outcome["samples"],
            "paper": printed(pattern, policy),
            "ratio": outcome["samples"] / printed(pattern, policy),
            "front": outcome["front"],
            "exact": outcome["truth"]["exact"],
            "share_outside_front": share_outside(outcome),
        }
    return summary


def outside_front(outcome: Outcome) -> list[dict[str, Any]]:
    """The arms that are not in the true Pareto set."""
    return [arm for arm in outcome["arms"] if arm["name"] not in outcome["truth"]["front"]]


def share_outside(outcome: Outcome) -> float:
    """The share of pulls of arms outside the true Pareto set."""
    return sum(int(arm["pulls"]) for arm in outside_front(outcome)) / int(outcome["samples"])


def arms_file(outcomes: Outcomes) -> DataFile:
    """A row for each arm at each stop."""
    columns = ("verdict", "pulls", "mean", "risk", "mean_interval", "risk_interval")
    rows = [
        {"pattern": pattern, "policy": policy, "arm": arm["name"], **{name: arm[name] for name in columns}}
        for (pattern, policy), outcome in outcomes.items()
        for arm in outcome["arms"]
    ]
    return DataFile("experiment2", rows)


def drawn_arm(pulls: int, **known: Any) -> ArmReport:
    """An arm of an outcome, to be drawn."""
    return ArmReport(trials=pulls, **known)


def drawing(outcomes: Outcomes, pattern: int) -> Drawing:
    """The crosses of one pattern."""
    panels = [
        (policy, outcome["samples"], [drawn_arm(**arm) for arm in outcome["arms"]], outcome["front"])
        for (number, policy), outcome in outcomes.items()
        if number == pattern
    ]
    shown = [policy for policy, *_ in panels]
    values = {"experiment": paper.EXPERIMENTS[pattern], "arms": plural(len(load_front(pattern)), "arm")}
    values |= {"sparing": " and ".join(display_name(policy) for policy in (OWN, RA_LUCB) if policy in shown)}
    values |= {"even": "; Round-Robin makes all of them equally short" if EVEN in shown else ""}
    return figure("experiment2", (panels,), pattern=pattern, stands_for=FIGURES[pattern], **values)


def load_front(pattern: int) -> list[str]:
    """The true Pareto set of a pattern."""
    known = load_instance(f"paper:{pattern}")
    front = pareto_front(known.means, known.risks(paper.RHO))
    return [name for name, inside in zip(known.names, front, strict=True) if inside]


def findings(outcomes: Outcomes) -> Iterator[Finding]:
    """What the paper says of Experiment 2."""
    yield reproduced(outcomes)
    if all((pattern, OWN) in outcomes for pattern in paper.TOTALS):
        few, many = len(load_front(46)), len(load_front(10))
        total = outcomes[10, OWN]["samples"]
        ratios = {"literal": total / printed(46, OWN), "exchanged": total / printed(10, OWN)}
        yield finding("pattern_numbers", many < few, few=few, many=plural(many, "Pareto arm"), **ratios)
    for policy in (OWN, RA_LUCB):
        if (46, policy) in outcomes and (46, EVEN) in outcomes:
            yield avoids_waste(outcomes, policy)
    yield balanced(outcomes)
    for policy in (OWN, RA_LUCB):
        if (46, policy) in outcomes:
            yield spares_far_right(outcomes, policy)


def reproduced(outcomes: Outcomes) -> Finding:
    """Are the printed totals reproduced?"""
    ratios = {
        f"{display_name(policy)} on {pattern}": outcome["samples"] / printed(pattern, policy)
        for (pattern, policy), outcome in outcomes.items()
    }
    return finding(
        "total_samples",
        all(abs(ratio - 1.0) <= NEAR for ratio in ratios.values()),
        totals=plural(len(ratios), "total"),
        least=min(ratios.values()),
        most=max(ratios.values()),
        farthest=max(ratios, key=lambda name: abs(ratios[name] - 1.0)),
        exact="yes" if all(outcome["truth"]["exact"] for outcome in outcomes.values()) else "no",
    )


def avoids_waste(outcomes: Outcomes, policy: str) -> Finding:
    """Does a rule spend less on arms outside the Pareto set than an even split would, most of all on far ones?"""
    cases, holds = [], True
    for pattern in paper.TOTALS:
        if (pattern, policy) in outcomes and (pattern, EVEN) in outcomes:
            outcome, even = outcomes[pattern, policy], outcomes[pattern, EVEN]
            outside = outside_front(outcome)
            distances = dict(zip((arm["name"] for arm in outcome["arms"]), gaps_of(f"paper:{pattern}"), strict=True))
            far, near = (choose(outside, key=lambda arm: distances[arm["name"]]) for choose in (max, min))
            spent, split = sum(arm["pulls"] for arm in outside), share_outside(even) * even["samples"]
            holds &= spent < 0.75 * split and far["pulls"] < near["pulls"]
            shares = {"share": percent(share_outside(outcome)), "even": percent(share_outside(even))}
            cases.append({"pattern": pattern, "spent": spent, "split": split, "far": far, "near": near, **shares})
    return finding("avoids_waste", holds, cases, rule=display_name(policy))


def balanced(outcomes: Outcomes) -> Finding:
    """Are the intervals of mean and risk equally wide?"""
    arms = [arm for outcome in outcomes.values() for arm in outcome["arms"]]
    widths = [[arm[side][1] - arm[side][0] for side in ("mean_interval", "risk_interval")] for arm in arms]
    error = max(abs(risk / mean - 1.0) for mean, risk in widths)
    return finding("equal_widths", error < 1e-6, arms=len(arms), error=error)


def spares_far_right(outcomes: Outcomes, policy: str) -> Finding:
    """Does a rule spare the returned arm with the highest mean, compared with the others that it returns?"""
    outcome = outcomes[46, policy]
    returned = [arm for arm in outcome["arms"] if arm["name"] in outcome["front"]]
    right = max(returned, key=lambda arm: arm["mean"])
    most = max(returned, key=lambda arm: arm["pulls"])
    return finding(
        "spares_far_right", right["pulls"] < 0.5 * most["pulls"], rule=display_name(policy), right=right, most=most
    )
