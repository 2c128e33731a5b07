"""Experiment 1 and what belongs to it: when do four rules stop, pattern by pattern?

The same comparison is made for the paper's tolerance, for the appendix's second one, for tight ones, and for Gaussian
rewards; only the jobs and the words differ.

stopping            what to run, and the sections
stopping_results    what the searches amount to: stopping times, comparisons
stopping_claims     what they say
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from ramgape.common.formatting import list_names, plural
from ramgape.paper import paper
from ramgape.paper.formatting import display_name, percent
from ramgape.paper.jobs import Job
from ramgape.paper.paper import OWN, RA_LUCB
from ramgape.paper.scale import Scale
from ramgape.paper.section import DataFile, Drawing, Grid, Section
from ramgape.paper.stopping_claims import claims, findings_one, findings_tight
from ramgape.paper.stopping_results import (
    RIVALS,
    Key,
    Outcomes,
    compare_with,
    epsilons,
    gaps_of,
    panels,
    points,
    samples,
    summarize,
)

TITLES = {
    "1": "Experiment 1: when does each rule stop?",
    "1-tight": "Experiment 1 with tolerances that ask for something",
    "gaussian": "Gaussian rewards (appendix)",
}


def search_job(instance: str, seed: int, epsilon: float, policy: str, bound: str) -> Job:
    """One search of the fixed-confidence experiments."""
    arguments = {
        "instance": instance,
        "seed": seed,
        "epsilon": epsilon,
        "delta": paper.DELTA,
        "rho": paper.RHO,
        "bound": bound,
        "policy": policy,
    }
    return Job("search", arguments, expected_pulls(instance, epsilon, policy) if bound == "paper" else 20_000.0)


def expected_pulls(instance: str, epsilon: float, policy: str) -> float:
    """Within a factor of two or so: an arm must be pulled until its width is below epsilon and its gap together."""
    distances = gaps_of(instance) + epsilon
    if policy == "round-robin":
        return float(len(distances) * paper.correct_cap(float(distances.min())))
    return float(sum(paper.correct_cap(distance) for distance in distances.tolist()))


def plan_searches(family: str, bound: str, patterns: Mapping[float, Sequence[int]], seed: int) -> dict[Key, Job]:
    """Every policy on every pattern at every tolerance."""
    return {
        (epsilon, pattern, policy): search_job(f"{family}:{pattern}", seed, epsilon, policy, bound)
        for epsilon, numbers in patterns.items()
        for pattern in numbers
        for policy in paper.CONFIDENCE_POLICIES
    }


def plan_one(scale: Scale, seed: int) -> dict[Key, Job]:
    """Experiment 1, at the paper's two tolerances."""
    return plan_searches("paper", "paper", scale.patterns, seed)


def plan_tight(scale: Scale, seed: int) -> dict[Key, Job]:
    """Experiment 1, at smaller tolerances."""
    return plan_searches("paper", "paper", scale.tight_patterns, seed)


def plan_gaussian(scale: Scale, seed: int) -> dict[Key, Job]:
    """Experiment 1 with Gaussian rewards."""
    return plan_searches("paper-gaussian", "gaussian-paper", {paper.EPSILON: scale.gaussian_patterns}, seed)


def searches_file(name: str, outcomes: Outcomes) -> DataFile:
    """A row for each search."""
    header = (
        "epsilon",
        "pattern",
        "policy",
        "seed",
        "samples",
        "front",
        "regret",
        "eps_correct",
        "exact",
        "most_pulls",
    )
    rows = [
        (
            epsilon,
            pattern,
            policy,
            outcome["seed"],
            outcome["samples"],
            " ".join(outcome["front"]),
            outcome["truth"]["regret"],
            outcome["truth"]["eps_correct"],
            outcome["truth"]["exact"],
            max(arm["pulls"] for arm in outcome["arms"]),
        )
        for (epsilon, pattern, policy), outcome in outcomes.items()
    ]
    return DataFile(name, header, rows)


def grid(outcomes: Outcomes) -> Grid:
    """Means by tolerance, and how RAMGapE compares."""
    rows = []
    for epsilon in epsilons(outcomes):
        count = len(samples(outcomes, epsilon, OWN))
        for policy in paper.CONFIDENCE_POLICIES:
            times = samples(outcomes, epsilon, policy)
            row = [f"{epsilon:g}", str(count), display_name(policy), f"{math.fsum(times.values()) / len(times):,.0f}"]
            if policy == OWN:
                row += ["", ""]
            else:
                versus = compare_with(outcomes, epsilon, policy)
                row += [f"{versus.earlier} of {versus.patterns}", f"{versus.ratio:.3f}"]
            rows.append(row)
    header = ("ε", "patterns", "rule", "mean pulls to stop", "RAMGapE stops first on", "pulls, RAMGapE / rule")
    return Grid("Stopping times", header, rows, "The last column is a geometric mean over the patterns.")


def make_section_one(scale: Scale, seed: int, outcomes: Outcomes) -> Section:
    """Experiment 1."""
    counts = {epsilon: len(samples(outcomes, epsilon, OWN)) for epsilon in epsilons(outcomes)}
    inexact = sum(set(outcome["front"]) != set(outcome["truth"]["front"]) for outcome in outcomes.values())
    return Section(
        "1",
        TITLES["1"],
        (
            f"Four rules search the paper's Beta patterns with the paper's own confidence bound, at (δ, ρ) = "
            f"({paper.DELTA:g}, {paper.RHO:g}) and ε = {' and '.join(f'{epsilon:g}' for epsilon in counts)}. "
            f"{len(outcomes) - inexact} of the {len(outcomes)} searches returned exactly the Pareto set, which these "
            "tolerances do not even ask for"
            + ("." if inexact else ": the bound is so wide that by the time it stops, everything has long been clear."),
        ),
        summarize(outcomes),
        {**common_settings(seed), "bound": "paper", "patterns": counts_in_words(counts)},
        [searches_file("experiment1", outcomes)],
        drawings_one(outcomes, counts),
        [grid(outcomes)],
        findings_one(outcomes),
    )


def drawings_one(outcomes: Outcomes, counts: Mapping[float, int]) -> list[Drawing]:
    """The paper's two figures; `counts` are the patterns by tolerance."""
    first, second = epsilons(outcomes)
    tests = {epsilon: compare_with(outcomes, epsilon, RA_LUCB) for epsilon in counts}
    return [
        Drawing(
            "experiment1-epsilon-0.1",
            "stopping_times",
            (panels(outcomes, RIVALS, {first: "one series"}),),
            "Figure 1",
            f"One point for each of {plural(counts[first], 'pattern')} at ε = {first:g}: below the line RAMGapE stops "
            f"earlier. {earlier_in_words(outcomes, first)}",
        ),
        Drawing(
            "experiment1-appendix",
            "stopping_times_apart",
            (
                RA_LUCB,
                {
                    f"ε = {epsilon:g}, {plural(count, 'pattern')}": points(outcomes, epsilon, RA_LUCB)
                    for epsilon, count in counts.items()
                },
            ),
            "Figure 7",
            f"RAMGapE against RA-LUCB at ε = {first:g} and at ε = {second:g}, where more is asked. "
            "The farthest points are "
            + " and ".join(f"{percent(abs(versus.farthest - 1.0))}" for versus in tests.values())
            + " off the line.",
        ),
    ]


def make_section_tight(scale: Scale, seed: int, outcomes: Outcomes) -> Section:
    """Experiment 1 where epsilon is smaller than some gaps."""
    counts = {epsilon: len(samples(outcomes, epsilon, OWN)) for epsilon in epsilons(outcomes)}
    labels = {epsilon: f"ε = {epsilon:g} ({plural(count, 'pattern')})" for epsilon, count in counts.items()}
    return Section(
        "1-tight",
        TITLES["1-tight"],
        (
            "At ε = 0.1 the paper's Experiment 1 asks for nothing. Here the same rules search with tolerances smaller "
            f"than many gaps: {counts_in_words(counts)}. The patterns, not chosen by their outcome: "
            + "; ".join(
                f"{numbers_in_words(list(samples(outcomes, epsilon, OWN)))} at ε = {epsilon:g}" for epsilon in counts
            )
            + ". They are few, because halving ε takes up to four times the pulls.",
        ),
        summarize(outcomes),
        {**common_settings(seed), "bound": "paper", "patterns": counts_in_words(counts)},
        [searches_file("experiment1-tight", outcomes)],
        [
            Drawing(
                "experiment1-tight",
                "stopping_times",
                (panels(outcomes, RIVALS, labels),),
                "not in the paper",
                "One point for each pattern, below the line if RAMGapE stops earlier. Its pulls divided by the "
                f"other's, on (geometric) average: {ratios_in_words(outcomes)}.",
            )
        ],
        [grid(outcomes)],
        findings_tight(outcomes),
    )


def make_section_gaussian(scale: Scale, seed: int, outcomes: Outcomes) -> Section:
    """Experiment 1 with Gaussian rewards and the appendix's bounds."""
    (epsilon,) = epsilons(outcomes)
    count = len(samples(outcomes, epsilon, OWN))
    return Section(
        "gaussian",
        TITLES["gaussian"],
        (
            f"The same comparison on {plural(count, 'Gaussian pattern')}, with the appendix's confidence bounds for a "
            "known largest standard deviation √0.2. They hold from two pulls on, and differ for mean and risk. The "
            "appendix prints the upper end of the mean-variance with a standard deviation where the variance is meant; "
            "the variance is used.",
        ),
        summarize(outcomes),
        {**common_settings(seed), "bound": "gaussian-paper", "σ max": "√0.2", "patterns": str(count)},
        [searches_file("gaussian", outcomes)],
        [
            Drawing(
                "gaussian",
                "stopping_times",
                (panels(outcomes, RIVALS, {epsilon: "one series"}),),
                "Figure 6",
                f"The same for unbounded rewards. {earlier_in_words(outcomes, epsilon)}",
            )
        ],
        [grid(outcomes)],
        list(claims(outcomes, epsilon, f"Gaussian rewards, ε = {epsilon:g}", "Appendix, Gaussian rewards")),
    )


def earlier_in_words(outcomes: Outcomes, epsilon: float) -> str:
    """How often RAMGapE is first, and by how much."""
    versus = {rival: compare_with(outcomes, epsilon, rival) for rival in reversed(RIVALS)}
    told = [
        f"{row.earlier} of {row.patterns} against {display_name(rival)} (with {row.ratio:.2f} times its pulls)"
        for rival, row in versus.items()
    ]
    return f"RAMGapE stops first on {', '.join(told)}."


def ratios_in_words(outcomes: Outcomes) -> str:
    """The ratios, rival by rival and tolerance by tolerance."""
    return "; ".join(
        f"{display_name(rival)} "
        + ", ".join(
            f"{compare_with(outcomes, epsilon, rival).ratio:.2f} (ε = {epsilon:g})" for epsilon in epsilons(outcomes)
        )
        for rival in RIVALS
    )


def common_settings(seed: int) -> dict[str, str]:
    return {"δ": f"{paper.DELTA:g}", "ρ": f"{paper.RHO:g}", "α": "1 / (3 + ρ)", "seed of every search": str(seed)}


def numbers_in_words(numbers: Sequence[int]) -> str:
    """Numbers in a row by their ends, others one by one.

    >>> numbers_in_words([1, 2, 3]), numbers_in_words([1, 10, 46])
    ('1 to 3', '1, 10, 46')
    """
    first, last = numbers[0], numbers[-1]
    in_a_row = len(numbers) > 2 and list(numbers) == list(range(first, last + 1))
    return f"{first} to {last}" if in_a_row else ", ".join(map(str, numbers))


def counts_in_words(counts: Mapping[float, int]) -> str:
    """How many patterns at each tolerance."""
    return list_names([f"{plural(count, 'pattern')} at ε = {epsilon:g}" for epsilon, count in counts.items()])
