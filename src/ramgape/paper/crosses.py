"""Experiments 2.1 and 2.2: the exact Pareto set of two patterns, and how wide the intervals are when it is found."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ramgape.common.formatting import plural
from ramgape.core.pareto import pareto_front
from ramgape.paper import paper
from ramgape.paper.formatting import display_name, percent
from ramgape.paper.jobs import Job, Outcome
from ramgape.paper.paper import OWN, RA_LUCB
from ramgape.paper.scale import Scale
from ramgape.paper.section import DataFile, Drawing, Finding, Grid, Section, judged
from ramgape.paper.stopping import common_settings, search_job
from ramgape.paper.stopping_results import gaps_of
from ramgape.problems.instances import load_instance
from ramgape.search.result import ArmReport

Key = tuple[int, str]  # pattern, policy
Outcomes = Mapping[Key, Outcome]

NEAR = 0.02  # totals within 2 % of the printed ones count as reproduced: they are single runs of another generator
FIGURES = {46: "Figure 2", 10: "Figure 3"}


def plan_jobs(scale: Scale, seed: int) -> dict[Key, Job]:
    """Four rules on two patterns, at epsilon 0."""
    return {
        (pattern, policy): search_job(f"paper:{pattern}", seed, 0.0, policy, "paper")
        for pattern, policies in scale.totals.items()
        for policy in policies
    }


def make_section(scale: Scale, seed: int, outcomes: Outcomes) -> Section:
    """Experiment 2."""
    patterns = list(dict.fromkeys(pattern for pattern, _ in outcomes))
    return Section(
        "2",
        "Experiment 2: the exact Pareto set, and the intervals when it is found",
        (
            "At ε = 0 a search goes on until every arm is certainly in or certainly out. Totals are single runs, here "
            "as in the paper, so they differ by chance; another seed moves them by a percent or two.",
            *missing(scale),
        ),
        summarize(outcomes),
        {**common_settings(seed), "ε": "0", "bound": "paper"},
        [arms_file(outcomes)],
        [drawing(outcomes, pattern) for pattern in patterns],
        [totals(outcomes)],
        [
            reproduced(outcomes),
            *swapped_labels(outcomes),
            *(avoids_waste(outcomes, policy) for policy in (OWN, RA_LUCB) if comparable(outcomes, policy)),
            balanced(outcomes),
            *(spares_far_right(outcomes, policy) for policy in (OWN, RA_LUCB) if (46, policy) in outcomes),
        ],
    )


def missing(scale: Scale) -> list[str]:
    """Which runs this scale leaves out."""
    left_out = [
        f"{display_name(policy)} on pattern {pattern}"
        for pattern in paper.TOTALS
        for policy in paper.CONFIDENCE_POLICIES
        if policy not in scale.totals.get(pattern, ())
    ]
    return [f"Left out for speed: {', '.join(left_out)}."] if left_out else []


def summarize(outcomes: Outcomes) -> dict[str, Any]:
    """For machines: `pattern_46.ramgape.search.samples` and so on."""
    summary: dict[str, Any] = {}
    for (pattern, policy), outcome in outcomes.items():
        printed = paper.TOTALS[pattern][policy]
        summary.setdefault(f"pattern_{pattern}", {})[policy] = {
            "samples": outcome["samples"],
            "paper": printed,
            "ratio": outcome["samples"] / printed,
            "front": outcome["front"],
            "exact": outcome["truth"]["exact"],
            "share_outside_front": share_outside(outcome),
        }
    return summary


def share_outside(outcome: Outcome) -> float:
    """The share of pulls that went to arms outside the true Pareto set."""
    true_front = set(outcome["truth"]["front"])
    outside = sum(int(arm["pulls"]) for arm in outcome["arms"] if arm["name"] not in true_front)
    return outside / int(outcome["samples"])


def arms_file(outcomes: Outcomes) -> DataFile:
    """A row for each arm at each stop."""
    columns = ("name", "verdict", "pulls", "mean", "risk")
    header = ("pattern", "policy", "arm", *columns[1:], "mean_low", "mean_high", "risk_low", "risk_high")
    rows = [
        (pattern, policy, *(arm[column] for column in columns), *arm["mean_interval"], *arm["risk_interval"])
        for (pattern, policy), outcome in outcomes.items()
        for arm in outcome["arms"]
    ]
    return DataFile("experiment2", header, rows)


def drawing(outcomes: Outcomes, pattern: int) -> Drawing:
    """The crosses of one pattern."""
    panels = [
        (policy, outcome["samples"], [ArmReport(**arm) for arm in outcome["arms"]], outcome["front"])
        for (number, policy), outcome in outcomes.items()
        if number == pattern
    ]
    count = len(load_front(pattern))
    shown = [policy for policy, *_ in panels]
    sparing = " and ".join(display_name(policy) for policy in (OWN, RA_LUCB) if policy in shown)
    even = "; Round-Robin makes all of them equally short" if "round-robin" in shown else ""
    return Drawing(
        f"experiment2-pattern-{pattern}",
        "confidence_crosses",
        (panels,),
        FIGURES[pattern],
        f"Experiment {paper.EXPERIMENTS[pattern]}: pattern {pattern}, whose Pareto set has {plural(count, 'arm')}. The "
        "longer the bars of a cross, the fewer the pulls behind it. Arms that are clearly placed keep long bars under "
        f"{sparing}{even}.",
    )


def load_front(pattern: int) -> list[str]:
    """The true Pareto set of a pattern."""
    known = load_instance(f"paper:{pattern}")
    front = pareto_front(known.means, known.risks(paper.RHO))
    return [name for name, inside in zip(known.names, front, strict=True) if inside]


def totals(outcomes: Outcomes) -> Grid:
    """Paper, ours, ratio."""
    rows = [
        [
            paper.EXPERIMENTS[pattern],
            str(pattern),
            display_name(policy),
            f"{paper.TOTALS[pattern][policy]:,}",
            f"{outcome['samples']:,}",
            f"{outcome['samples'] / paper.TOTALS[pattern][policy]:.4f}",
            ", ".join(outcome["front"]),
            "yes" if outcome["truth"]["exact"] else "NO",
        ]
        for (pattern, policy), outcome in outcomes.items()
    ]
    header = ("experiment", "pattern", "rule", "paper", "ours", "ratio", "returned arms", "exact")
    return Grid("Total samples", header, rows, "Ratio: ours divided by the paper's.")


def reproduced(outcomes: Outcomes) -> Finding:
    """Do the printed totals come out?"""
    ratios = {
        f"{display_name(policy)} on {pattern}": outcome["samples"] / paper.TOTALS[pattern][policy]
        for (pattern, policy), outcome in outcomes.items()
    }
    farthest = max(ratios, key=lambda name: abs(ratios[name] - 1.0))
    return Finding(
        "The total sample counts printed under the two figures of Experiment 2 (taken for patterns 46 and 10).",
        judged(all(abs(ratio - 1.0) <= NEAR for ratio in ratios.values())),
        f"{plural(len(ratios), 'total')} compared; ours divided by the paper's lie from {min(ratios.values()):.4f} to "
        f"{max(ratios.values()):.4f}, farthest for {farthest}. Every set returned is exactly the Pareto set: "
        f"{'yes' if all(outcome['truth']['exact'] for outcome in outcomes.values()) else 'no'}.",
        "Figures 2 and 3",
    )


def swapped_labels(outcomes: Outcomes) -> list[Finding]:
    """Are the two patterns what the text says they are?"""
    own = {pattern: outcomes[pattern, OWN]["samples"] for pattern in paper.TOTALS if (pattern, OWN) in outcomes}
    if len(own) < len(paper.TOTALS):
        return []
    few, many = len(load_front(46)), len(load_front(10))
    swapped = own[10] / paper.TOTALS[46][OWN]
    return [
        Finding(
            "Experiment 2.1 runs on pattern 10, with few Pareto arms, and Experiment 2.2 on pattern 46, with many.",
            judged(many < few),
            f"Pattern 10 has {plural(many, 'Pareto arm')}, pattern 46 has {few}: the two numbers are swapped in the "
            f"text. Taken literally, RAMGapE's total on pattern 10 would be {swapped:.2f} times the paper's; with the "
            f"numbers exchanged it is {own[10] / paper.TOTALS[10][OWN]:.4f} times.",
            "Section 4, Experiment 2",
        )
    ]


def balanced(outcomes: Outcomes) -> Finding:
    """Are the intervals of mean and risk equally wide?"""
    arms = [arm for outcome in outcomes.values() for arm in outcome["arms"]]
    widths = [[arm[side][1] - arm[side][0] for side in ("mean_interval", "risk_interval")] for arm in arms]
    error = max(abs(risk / mean - 1.0) for mean, risk in widths)
    return Finding(
        "With α = 1/(3 + ρ) the intervals of mean and risk are equally wide.",
        judged(error < 1e-6),
        f"Over {len(arms)} arms at the stop, the two widths differ by a factor of 1 ± {error:.0e} at most.",
        "Section 4, settings",
    )


def comparable(outcomes: Outcomes, policy: str) -> bool:
    return all((46, name) in outcomes for name in (policy, "round-robin"))


def avoids_waste(outcomes: Outcomes, policy: str) -> Finding:
    """Does a rule spend less on arms outside the Pareto set than an even split would, most of all on those far away?"""
    sentences, holds = [], True
    for pattern in paper.TOTALS:
        if (pattern, policy) not in outcomes or (pattern, "round-robin") not in outcomes:
            continue
        outcome, even = outcomes[pattern, policy], outcomes[pattern, "round-robin"]
        outside = [arm for arm in outcome["arms"] if arm["name"] not in outcome["truth"]["front"]]
        distances = dict(zip((arm["name"] for arm in outcome["arms"]), gaps_of(f"paper:{pattern}"), strict=True))
        far, near = (choose(outside, key=lambda arm: distances[arm["name"]]) for choose in (max, min))
        spent = sum(arm["pulls"] for arm in outside)
        round_robin = share_outside(even) * even["samples"]
        holds &= spent < 0.75 * round_robin and far["pulls"] < near["pulls"]
        sentences.append(
            f"Pattern {pattern}: {spent:,} pulls of non-Pareto arms ({percent(share_outside(outcome))} of all) against "
            f"Round-Robin's {round_robin:,.0f} ({percent(share_outside(even))}); the farthest of them (arm "
            f"{far['name']}) got {far['pulls']:,}, the nearest (arm {near['name']}) {near['pulls']:,}"
        )
    return Finding(
        f"{display_name(policy)} avoids needless exploration of non-Pareto arms and concentrates on arms near the "
        "front.",
        judged(holds),
        f"{'. '.join(sentences)}.",
        "Section 4, results",
    )


def spares_far_right(outcomes: Outcomes, policy: str) -> Finding:
    """Does a rule spare the returned arm with the highest mean, compared with the others that it returns?"""
    outcome = outcomes[46, policy]
    returned = [arm for arm in outcome["arms"] if arm["name"] in outcome["front"]]
    rightmost = max(returned, key=lambda arm: arm["mean"])
    most = max(returned, key=lambda arm: arm["pulls"])
    return Finding(
        f"In Experiment 2.1 {display_name(policy)} also limits the pulls of returned arms with a high mean.",
        judged(rightmost["pulls"] < 0.5 * most["pulls"]),
        f"Pattern 46: the returned arm with the highest mean (arm {rightmost['name']}) got {rightmost['pulls']:,} "
        f"pulls, the most pulled of the returned arms (arm {most['name']}) {most['pulls']:,}. Limits is taken to mean "
        "less than half.",
        "Figure 2, caption",
    )
