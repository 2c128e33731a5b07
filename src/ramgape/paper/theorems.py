"""The theorems, checked: the good event, wrong answers, pulls per arm, and the bound for a fixed budget."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ramgape.paper import paper
from ramgape.paper.geometry import beta_with
from ramgape.paper.jobs import Job, Outcome
from ramgape.paper.paper import OWN
from ramgape.paper.scale import Scale
from ramgape.paper.section import Finding, Section, figure, finding, grid, section
from ramgape.paper.stopping import gaps_of, plan_one, plan_tight
from ramgape.paper.tables import DataFile
from ramgape.problems.environments import Arm, Instance
from ramgape.statistics.proportions import clopper_pearson

Key = tuple[Any, ...]
Outcomes = Mapping[Key, Outcome]

EVENT_PATTERN, EVENT_EPSILON, EVENT_DELTAS = 46, 0.02, (0.05, 0.5)

# Theorem 1 needs arms whose gaps exceed epsilon, or no answer is wrong, and few of them, or it says nothing below
# millions of pulls.
EPSILON = 0.05
ARMS = {"good": (0.60, 0.02), "worse": (0.45, 0.20), "worst": (0.30, 0.18)}  # mean and variance
RETURNED = ("last", "smallest-doubt")


def theorem_instance() -> Instance:
    """Three Beta arms, one of them better in both objectives by more than epsilon."""
    arms = tuple(Arm(name, beta_with(*moments)) for name, moments in ARMS.items())
    return Instance("three arms", arms, reward_range=(0.0, 1.0), noise="bounded")


def plan_jobs(scale: Scale, seed: int) -> dict[Key, Job]:
    """Watched searches, searches under growing budgets, and those of Experiment 1 for the pulls per arm."""
    own = {"seed": seed, "rho": paper.RHO, "policy": OWN}
    goal = {"instance": f"paper:{EVENT_PATTERN}", "epsilon": EVENT_EPSILON, "bound": "paper"}
    cost, trials = 1e6 * scale.event_trials, scale.event_trials
    events = {
        ("event", delta): Job("good_event", {**own, **goal, "trials": trials, "delta": delta}, cost)
        for delta in EVENT_DELTAS
    }
    goal = {"instance": theorem_instance().to_dict(), "epsilon": EPSILON}
    budgets = {
        ("budget", returned, budget): Job(
            "trials",
            {**own, **goal, "trials": trials, "budget": budget, "returned": returned},
            float(budget * trials),
        )
        for returned in RETURNED
        for budget, trials in scale.theorem_budgets.items()
    }
    searches = {
        ("search", *key): job
        for key, job in {**plan_one(scale, seed), **plan_tight(scale, seed)}.items()
        if key[2] == OWN and key[0] > 0.0
    }
    return {**events, **budgets, **searches}


def largest_pulls(outcomes: Outcomes) -> dict[float, list[int]]:
    """By epsilon, the most pulls of an arm in each search."""
    most: dict[float, list[int]] = {}
    for key, outcome in outcomes.items():
        if key[0] == "search":
            most.setdefault(key[1], []).append(max(arm["pulls"] for arm in outcome["arms"]))
    return most


def summarize(outcomes: Outcomes) -> dict[str, Any]:
    """The numbers for JSON."""
    summary: dict[str, Any] = {"good_event": [], "pulls_per_arm": {}, "theorem_1": []}
    for delta in EVENT_DELTAS:
        good, right = (outcomes["event", delta][name] for name in ("good", "right"))
        runs = {"runs": len(good), "good": sum(good), "wrong": right.count(False)}
        failed = {"failure_interval": clopper_pearson(good.count(False), len(good))}
        described = {"instance": f"paper:{EVENT_PATTERN}", "epsilon": EVENT_EPSILON, "delta": delta}
        summary["good_event"].append({**described, **runs, **failed})
    for epsilon, most in largest_pulls(outcomes).items():
        caps = {"paper_cap": paper.closed_form_cap(epsilon), "correct_cap": paper.correct_cap(epsilon)}
        summary["pulls_per_arm"][f"epsilon_{epsilon:g}"] = {
            "largest": max(most),
            **caps,
            "runs": len(most),
            **{f"runs_above_{name}": sum(pulls > cap for pulls in most) for name, cap in caps.items()},
        }
    for kind, returned, budget, *_ in (key for key in outcomes if key[:2] == ("budget", RETURNED[0])):
        missed = {
            each.replace("-", "_"): sum(regret >= EPSILON for regret in outcomes[kind, each, budget]["regret"])
            for each in RETURNED
        }
        bound = paper.theorem_one_bound(budget, len(ARMS), EPSILON)
        trials = len(outcomes[kind, returned, budget]["regret"])
        summary["theorem_1"].append({"budget": budget, "epsilon": EPSILON, "bound": bound, "trials": trials, **missed})
    return summary


def make_section(scale: Scale, seed: int, outcomes: Outcomes) -> Section:
    """The theorems."""
    summary = summarize(outcomes)
    rows, events = summary["theorem_1"], summary["good_event"]
    pulls = [
        (epsilon, most, paper.closed_form_cap(epsilon), paper.correct_cap(epsilon))
        for epsilon, most in largest_pulls(outcomes).items()
    ]
    shown = {name: [row[name] for row in rows] for name in ("budget", "bound", "trials", "last", "smallest_doubt")}
    seen = [missed / trials for missed, trials in zip(shown["last"], shown["trials"], strict=True)]
    intervals = [clopper_pearson(row["last"], row["trials"]) for row in rows]
    names = {"last": "missed_last", "smallest_doubt": "missed_smallest_doubt"}
    by_run = [
        {"epsilon": epsilon, "run": run, "most_pulls": most, "paper_cap": papers, "correct_cap": correct}
        for epsilon, group, papers, correct in pulls
        for run, most in enumerate(group, start=1)
    ]
    moments = ", ".join(f"({mean:g}, {variance:g})" for mean, variance in ARMS.values())
    above = [f"{epsilon:g}" for epsilon, most, papers, _ in pulls if max(most) > papers]
    told = f"Some runs exceed that form at ε = {' and '.join(above)}." if above else "No run exceeds that form."
    event = {"pattern": EVENT_PATTERN, "event_epsilon": EVENT_EPSILON}
    smallest = min(float(gap) for gap in gaps_of(theorem_instance()))
    return section(
        "theorems",
        scale,
        seed,
        {"epsilon": EPSILON, "gap": smallest, "arms": len(ARMS), "moments": moments, **event},
        summary=summary,
        data_files=[
            DataFile("theorem1", [{names.get(name, name): row[name] for name in shown} for row in rows]),
            DataFile("pulls-per-arm", by_run),
        ],
        drawings=[
            figure("theorem-pulls", (pulls,), told=told),
            figure("theorem-1", (shown["budget"], seen, intervals, shown["bound"])),
        ],
        grids=[
            grid("good_event", [{**row, "failed": row["runs"] - row["good"]} for row in events]),
            grid("pulls_per_arm", caps_of(summary)),
        ],
        findings=list(findings(summary)),
    )


def caps_of(summary: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The entries on pulls per arm, each with its tolerance."""
    return [{"epsilon": name.removeprefix("epsilon_"), **entry} for name, entry in summary["pulls_per_arm"].items()]


def findings(summary: Mapping[str, Any]) -> Iterator[Finding]:
    """What the theorems claim."""
    caps = caps_of(summary)
    events = [{**row, "failed": row["runs"] - row["good"]} for row in summary["good_event"]]
    for claim, count in (("good_event", "failed"), ("right_answers", "wrong")):
        holds = all(clopper_pearson(row[count], row["runs"])[0] <= row["delta"] for row in events)
        yield finding(claim, holds, events)
    yield finding("closed_form_cap", all(row["runs_above_paper_cap"] == 0 for row in caps), caps)
    yield finding("correct_cap", all(row["runs_above_correct_cap"] == 0 for row in caps), caps)
    saying = [row for row in summary["theorem_1"] if row["bound"] < 1.0]
    holds = all(clopper_pearson(row["last"], row["trials"])[0] <= row["bound"] for row in saying)
    yield finding("theorem_1", holds if saying else None, saying)
