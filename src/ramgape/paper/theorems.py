"""The theorems, checked: the good event, wrong answers, pulls per arm, and the bound for a fixed budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ramgape.common.proportions import clopper_pearson
from ramgape.paper import paper
from ramgape.paper.formatting import format_interval
from ramgape.paper.geometry import beta_with
from ramgape.paper.jobs import Job, Outcome
from ramgape.paper.paper import OWN
from ramgape.paper.scale import Scale
from ramgape.paper.section import DataFile, Drawing, Finding, Grid, Section, judged
from ramgape.paper.stopping import plan_one, plan_tight
from ramgape.paper.stopping_results import gaps_of
from ramgape.problems.environments import Arm, Instance

Key = tuple[Any, ...]
Outcomes = Mapping[Key, Outcome]

EVENT_PATTERNS, EVENT_EPSILON, EVENT_DELTAS = (46,), 0.02, (0.05, 0.5)

# Theorem 1 needs arms whose gaps exceed epsilon, or there is nothing to get wrong, and few of them, or it says nothing
# below millions of pulls.
THEOREM_EPSILON = 0.05
THEOREM_ARMS = {"good": (0.60, 0.02), "worse": (0.45, 0.20), "worst": (0.30, 0.18)}  # mean and variance


def theorem_instance() -> Instance:
    """Three Beta arms, one of them better in both objectives by more than epsilon."""
    arms = tuple(Arm(name, beta_with(*moments)) for name, moments in THEOREM_ARMS.items())
    return Instance("three arms", arms, reward_range=(0.0, 1.0), noise="bounded")


def plan_jobs(scale: Scale, seed: int) -> dict[Key, Job]:
    """Watched searches, searches under growing budgets, and those of Experiment 1 for the pulls per arm."""
    events = {
        ("event", pattern, delta): Job(
            "good_event",
            {
                "instance": f"paper:{pattern}",
                "seed": seed,
                "trials": scale.event_trials,
                "epsilon": EVENT_EPSILON,
                "delta": delta,
                "rho": paper.RHO,
                "bound": "paper",
                "policy": OWN,
            },
            1e6 * scale.event_trials,
        )
        for pattern in EVENT_PATTERNS
        for delta in EVENT_DELTAS
    }
    described = theorem_instance().to_dict()
    budgets = {
        ("budget", returned, budget): Job(
            "trials",
            {
                "instance": described,
                "seed": seed,
                "trials": trials,
                "budget": budget,
                "epsilon": THEOREM_EPSILON,
                "rho": paper.RHO,
                "policy": OWN,
                "returned": returned,
            },
            float(budget * trials),
        )
        for returned in ("last", "smallest-doubt")
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


def missed_theorem(outcomes: Outcomes, returned: str) -> dict[int, tuple[int, int]]:
    """By budget: how many trials had a regret of epsilon or more, and of how many."""
    return {
        key[2]: (sum(regret >= THEOREM_EPSILON for regret in outcome["regret"]), len(outcome["regret"]))
        for key, outcome in outcomes.items()
        if key[:2] == ("budget", returned)
    }


def summarize(outcomes: Outcomes) -> dict[str, Any]:
    """For machines."""
    events = {key[1:]: outcome for key, outcome in outcomes.items() if key[0] == "event"}
    return {
        "good_event": [
            {
                "instance": f"paper:{pattern}",
                "epsilon": EVENT_EPSILON,
                "delta": delta,
                "runs": len(outcome["good"]),
                "good": sum(outcome["good"]),
                "wrong": len(outcome["right"]) - sum(outcome["right"]),
                "failure_interval": clopper_pearson(len(outcome["good"]) - sum(outcome["good"]), len(outcome["good"])),
            }
            for (pattern, delta), outcome in events.items()
        ],
        "pulls_per_arm": {
            f"epsilon_{epsilon:g}": {
                "largest": max(most),
                "paper_cap": paper.closed_form_cap(epsilon),
                "correct_cap": paper.correct_cap(epsilon),
                "runs": len(most),
                "runs_above_paper_cap": sum(pulls > paper.closed_form_cap(epsilon) for pulls in most),
                "runs_above_correct_cap": sum(pulls > paper.correct_cap(epsilon) for pulls in most),
            }
            for epsilon, most in largest_pulls(outcomes).items()
        },
        "theorem_1": [
            {
                "budget": budget,
                "epsilon": THEOREM_EPSILON,
                "bound": paper.theorem_one_bound(budget, len(THEOREM_ARMS), THEOREM_EPSILON),
                "trials": trials,
                **{
                    returned.replace("-", "_"): missed_theorem(outcomes, returned)[budget][0]
                    for returned in ("last", "smallest-doubt")
                },
            }
            for budget, (_, trials) in missed_theorem(outcomes, "last").items()
        ],
    }


def make_section(scale: Scale, seed: int, outcomes: Outcomes) -> Section:
    """The theorems."""
    summary = summarize(outcomes)
    return Section(
        "theorems",
        "The theorems, checked",
        (
            "The good event is that after every pull the mean and the risk of every arm lie inside their intervals; "
            "the paper proves that it fails with probability δ at most, and everything else follows from it. "
            "Simulation can refute such a bound, and show how far from tight it is; it cannot prove it.",
            f"Theorem 1 is tried on three Beta arms whose gaps all exceed ε = {THEOREM_EPSILON:g} "
            f"(smallest {min(summary_gaps()):.4f}), so that every wrong set has a regret of ε or more.",
        ),
        summary,
        {
            "good event": f"pattern {EVENT_PATTERNS[0]}, ε = {EVENT_EPSILON:g}, {scale.event_trials} runs a δ",
            "Theorem 1": f"K = {len(THEOREM_ARMS)}, ε = {THEOREM_EPSILON:g}, a as printed; Beta, (mean, variance) "
            + ", ".join(f"({mean:g}, {variance:g})" for mean, variance in THEOREM_ARMS.values()),
            "seeds": f"run r has {seed} + r",
        },
        data_files(summary, caps_by_tolerance(outcomes)),
        drawings(summary, outcomes),
        [event_grid(summary), cap_grid(summary)],
        findings(summary, outcomes),
    )


def caps_by_tolerance(outcomes: Outcomes) -> list[tuple[float, list[int], int, int]]:
    """Epsilon, the most pulls of an arm in each search, and the two caps on them."""
    return [
        (epsilon, most, paper.closed_form_cap(epsilon), paper.correct_cap(epsilon))
        for epsilon, most in largest_pulls(outcomes).items()
    ]


def data_files(summary: Mapping[str, Any], caps: Sequence[tuple[float, list[int], int, int]]) -> list[DataFile]:
    """Theorem 1 by budget, and the most pulled arm of each search."""
    return [
        DataFile(
            "theorem1",
            ("budget", "bound", "trials", "missed_last", "missed_smallest_doubt"),
            [
                (row["budget"], row["bound"], row["trials"], row["last"], row["smallest_doubt"])
                for row in summary["theorem_1"]
            ],
        ),
        DataFile(
            "pulls-per-arm",
            ("epsilon", "run", "most_pulls", "paper_cap", "correct_cap"),
            [(epsilon, run, pulls, *both) for epsilon, most, *both in caps for run, pulls in enumerate(most, start=1)],
        ),
    ]


def drawings(summary: Mapping[str, Any], outcomes: Outcomes) -> list[Drawing]:
    """Pulls against their caps, and regrets against the bound."""
    misses = missed_theorem(outcomes, "last")
    shares = [missed / trials for missed, trials in misses.values()]
    intervals = [clopper_pearson(missed, trials) for missed, trials in misses.values()]
    bounds = [row["bound"] for row in summary["theorem_1"]]
    return [
        Drawing(
            "theorem-pulls",
            "pulls_against_cap",
            (caps_by_tolerance(outcomes),),
            "not in the paper",
            "The most pulled arm of each search of RAMGapE in Experiment 1, against the cap that the proof gives "
            "(1 on the axis) and the paper's closed form for it. " + exceeded_in_words(summary),
        ),
        Drawing(
            "theorem-1",
            "theorem_one",
            (list(misses), shares, intervals, bounds),
            "not in the paper",
            "How often the regret is ε or more, against Theorem 1's bound. " + slack_in_words(summary),
        ),
    ]


def exceeded_in_words(summary: Mapping[str, Any]) -> str:
    """At which tolerances a search exceeds the paper's cap."""
    caps = summary["pulls_per_arm"]
    above = [name.removeprefix("epsilon_") for name, row in caps.items() if row["runs_above_paper_cap"]]
    return f"Some runs exceed that form at ε = {' and '.join(above)}." if above else "No run exceeds that form."


def slack_in_words(summary: Mapping[str, Any]) -> str:
    """From where on no failure was seen, and from where on the bound forbids them."""
    rows = summary["theorem_1"]
    last_seen = max((row["budget"] for row in rows if row["last"]), default=None)
    saying = [row["budget"] for row in rows if row["bound"] < 1.0]
    seen = "It was never seen" if last_seen is None else f"It was last seen at n = {last_seen:,}"
    return f"{seen}; the bound is " + (f"below 1 from n = {min(saying):,} on." if saying else "nowhere below 1.")


def summary_gaps() -> list[float]:
    """The gaps of the three arms."""
    return [float(gap) for gap in gaps_of(theorem_instance())]


def event_grid(summary: Mapping[str, Any]) -> Grid:
    rows = [
        [
            f"{row['delta']:g}",
            str(row["runs"]),
            str(row["runs"] - row["good"]),
            format_interval(row["failure_interval"], 3),
            str(row["wrong"]),
        ]
        for row in summary["good_event"]
    ]
    header = ("δ", "runs", "good event failed", "95 % interval of its probability", "wrong answers")
    return Grid("The good event", header, rows)


def cap_grid(summary: Mapping[str, Any]) -> Grid:
    rows = [
        [
            name.removeprefix("epsilon_"),
            str(row["runs"]),
            f"{row['largest']:,}",
            f"{row['paper_cap']:,}",
            str(row["runs_above_paper_cap"]),
            f"{row['correct_cap']:,}",
            str(row["runs_above_correct_cap"]),
        ]
        for name, row in summary["pulls_per_arm"].items()
    ]
    header = ("ε", "runs", "most pulls of an arm", "paper's cap", "runs above it", "correct cap", "runs above it")
    return Grid("Pulls per arm (RAMGapE, Experiment 1)", header, rows)


def findings(summary: Mapping[str, Any], outcomes: Outcomes) -> list[Finding]:
    """What the theorems claim."""
    events, caps = summary["good_event"], summary["pulls_per_arm"]
    failed = {row["delta"]: (row["runs"] - row["good"], row["runs"]) for row in events}
    wrong = {row["delta"]: (row["wrong"], row["runs"]) for row in events}
    saying = [row for row in summary["theorem_1"] if row["bound"] < 1.0]
    return [
        Finding(
            "With probability at least 1 − δ all intervals contain the truth at all times.",
            judged(all(clopper_pearson(*counts)[0] <= delta for delta, counts in failed.items())),
            "; ".join(f"δ = {delta:g}: failed in {count} of {runs} runs" for delta, (count, runs) in failed.items())
            + ". The bound is far from tight: its radius is about twice what Hoeffding's inequality gives with the "
            "same argument.",
            "Fixed-confidence theorem",
        ),
        Finding(
            "With probability at least 1 − δ the answer has a regret of at most ε.",
            judged(all(clopper_pearson(*counts)[0] <= delta for delta, counts in wrong.items())),
            "; ".join(f"δ = {delta:g}: wrong in {count} of {runs} runs" for delta, (count, runs) in wrong.items())
            + ".",
            "Fixed-confidence theorem",
        ),
        Finding(
            "No arm is pulled more often than the closed form in the proof allows.",
            judged(all(row["runs_above_paper_cap"] == 0 for row in caps.values())),
            "; ".join(
                f"ε = {name.removeprefix('epsilon_')}: {row['runs_above_paper_cap']} of {row['runs']} runs pull an arm "
                f"more often than {row['paper_cap']:,} times (up to {row['largest']:,})"
                for name, row in caps.items()
            )
            + ". The proof replaces log2 T by 2 log2(1/ε), which is smaller.",
            "Proof of the fixed-confidence theorem",
        ),
        Finding(
            "No arm is pulled more often than the smallest T with 2β(T) < ε, the cap that the proof really gives.",
            judged(all(row["runs_above_correct_cap"] == 0 for row in caps.values())),
            "; ".join(
                f"ε = {name.removeprefix('epsilon_')}: at most {row['largest']:,} of {row['correct_cap']:,}"
                for name, row in caps.items()
            )
            + ".",
            "our correction",
        ),
        Finding(
            "Theorem 1: the regret is ε or more with probability at most 4Kn exp(−2a), where that is below 1.",
            judged(all(clopper_pearson(row["last"], row["trials"])[0] <= row["bound"] for row in saying))
            if saying
            else "not checkable",
            "; ".join(
                f"n = {row['budget']:,}: bound {row['bound']:.2g}, seen in {row['last']} of {row['trials']} trials (in "
                f"{row['smallest_doubt']} for the set at the round of smallest doubt)"
                for row in saying
            )
            + ". The proof speaks of the round of smallest doubt, and allows four times the a.",
            "Theorem 1",
        ),
    ]
