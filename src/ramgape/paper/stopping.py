"""Experiment 1: when do four rules stop, pattern by pattern?

The same comparison serves the paper's two tolerances, tighter ones, and Gaussian rewards. Outcomes are those of single
searches, by tolerance, pattern and policy; ratios below 1 mean that RAMGapE stops earlier.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ramgape.common.formatting import list_names, plural
from ramgape.core.pareto import gaps
from ramgape.paper import paper
from ramgape.paper.formatting import display_name, percent, probability
from ramgape.paper.jobs import Job, Outcome
from ramgape.paper.paper import OWN, RA_LUCB
from ramgape.paper.scale import Scale
from ramgape.paper.section import Finding, Section, figure, finding, section
from ramgape.paper.section import grid as section_grid
from ramgape.paper.statistics import geometric_mean, sign_flip_test, sign_test
from ramgape.paper.tables import DataFile, Grid
from ramgape.problems.environments import Instance
from ramgape.problems.instances import load_instance

Key = tuple[float, int, str]  # epsilon, pattern, policy
Outcomes = Mapping[Key, Outcome]

ROUND_ROBINS = ("de-round-robin", "round-robin")
RIVALS = (RA_LUCB, *ROUND_ROBINS)
CLOSE = 0.05  # stopping times within 5 % of each other, on average, count as comparable
CLEAR = 0.95  # a rule counts as faster if it stops first on this share of the patterns
NEAR = 0.1  # a point counts as near the line if the two stopping times are within 10 % of each other
LEVEL = 0.05  # of the tests
ENOUGH = 6  # with fewer patterns neither test can fall below its level, whatever the runs
RESULTS = "Section 4, results"


def search_job(instance: str, seed: int, epsilon: float, policy: str, bound: str) -> Job:
    """One search of the fixed-confidence experiments."""
    goal = {"epsilon": epsilon, "delta": paper.DELTA, "rho": paper.RHO, "bound": bound, "policy": policy}
    cost = expected_pulls(instance, epsilon, policy) if bound == "paper" else 20_000.0
    return Job("search", {"instance": instance, "seed": seed, **goal}, cost)


def expected_pulls(instance: str, epsilon: float, policy: str) -> float:
    """A guess within a factor of two or so: an arm is pulled until its width is below epsilon plus its gap."""
    distances = gaps_of(instance) + epsilon
    if policy == "round-robin":
        return float(len(distances) * paper.correct_cap(float(distances.min())))
    return float(sum(paper.correct_cap(distance) for distance in distances.tolist()))


def gaps_of(instance: str | Instance) -> Any:
    """The gaps of a problem at the paper's rho."""
    known = load_instance(instance)
    return gaps(known.means, known.risks(paper.RHO))


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


# What the searches amount to


def samples(outcomes: Outcomes, epsilon: float, policy: str) -> dict[int, int]:
    """Pulls until the stop, by pattern."""
    return {key[1]: outcome["samples"] for key, outcome in outcomes.items() if (key[0], key[2]) == (epsilon, policy)}


def epsilons(outcomes: Outcomes) -> list[float]:
    """The values of epsilon, in the order of the plan."""
    return list(dict.fromkeys(epsilon for epsilon, _, _ in outcomes))


def right(key: Key, outcome: Outcome) -> bool:
    """Whether an answer keeps its promise: exact at epsilon 0, within epsilon above."""
    return bool(outcome["truth"]["eps_correct" if key[0] > 0.0 else "exact"])


class Comparison(NamedTuple):
    """RAMGapE against one rival, over patterns."""

    earlier: int
    patterns: int
    ratio: float
    sign_test: float
    mean_test: float
    farthest: float  # the ratio that is farthest from 1
    close: int  # the number of patterns on which the two are within 5 % of each other

    @property
    def faster(self) -> bool:
        return self.earlier >= CLEAR * self.patterns and self.ratio < 1.0

    @property
    def comparable(self) -> bool:
        return abs(self.ratio - 1.0) <= CLOSE


def compare_with(outcomes: Outcomes, epsilon: float, rival: str) -> Comparison:
    """RAMGapE against a rival at one tolerance."""
    own, other = samples(outcomes, epsilon, OWN), samples(outcomes, epsilon, rival)
    logarithms = [math.log(own[pattern] / other[pattern]) for pattern in own]
    return Comparison(
        earlier=sum(value < 0.0 for value in logarithms),
        patterns=len(logarithms),
        ratio=geometric_mean([own[pattern] / other[pattern] for pattern in own]),
        sign_test=sign_test(logarithms),
        mean_test=sign_flip_test(logarithms),
        farthest=math.exp(max(logarithms, key=abs)),
        close=sum(abs(math.exp(value) - 1.0) <= CLOSE for value in logarithms),
    )


def summarize(outcomes: Outcomes) -> dict[str, Any]:
    """The numbers for JSON: `epsilon_0.1.ramgape.mean` and so on, and whether the paper's claim holds there."""
    summary: dict[str, Any] = {}
    for epsilon in epsilons(outcomes):
        entry = summary[f"epsilon_{epsilon:g}"] = {}
        for policy in paper.CONFIDENCE_POLICIES:
            times = samples(outcomes, epsilon, policy)
            per_pattern = {str(pattern): number for pattern, number in times.items()}
            entry[policy] = {"mean": math.fsum(times.values()) / len(times), "per_pattern": per_pattern}
        against = {rival: compare_with(outcomes, epsilon, rival) for rival in RIVALS}
        entry["against"] = {rival: comparison._asdict() for rival, comparison in against.items()}
        entry["paper_claim"] = "RAMGapE stops well before both round-robins, and about when RA-LUCB does"
        entry["holds"] = against[RA_LUCB].comparable and all(against[rival].faster for rival in ROUND_ROBINS)
        entry["wrong"] = sum(not right(key, outcome) for key, outcome in outcomes.items() if key[0] == epsilon)
    return summary


# What the paper says of stopping times


def claims(
    outcomes: Outcomes, epsilon: float, where: str, source: str, significantly: bool = True
) -> Iterator[Finding]:
    """The claims about stopping times, at one tolerance."""
    said = {"where": where, "source": source, "close": percent(CLOSE)}
    for rival in reversed(ROUND_ROBINS):
        row = compare_with(outcomes, epsilon, rival)
        holds, few = tested(row.faster and row.sign_test < LEVEL, [row])
        said |= {"rival": display_name(rival), "earlier": "significantly earlier" if significantly else "earlier"}
        said |= {"sign_test": probability(row.sign_test), "few": few, "patterns": plural(row.patterns, "pattern")}
        yield finding("stops_earlier", holds if significantly else row.faster, row=row, **said)
    row = compare_with(outcomes, epsilon, RA_LUCB)
    yield finding("stops_alike", row.comparable, row=row, **said)


def tested(holds: bool, comparisons: Iterable[Comparison]) -> tuple[bool | None, str]:
    """A claim about significance, or None and a warning if there are too few patterns to judge it."""
    if all(row.patterns >= ENOUGH for row in comparisons):
        return holds, ""
    return None, f" With fewer than {plural(ENOUGH, 'pattern')} no difference can be significant."


def against_ra_lucb(tests: Mapping[float, Comparison]) -> Iterator[Finding]:
    """How the stopping times of RAMGapE and RA-LUCB compare, by tolerance."""
    rows = list(tests.values())
    cases = [{"epsilon": each, "row": row, "test": probability(row.mean_test)} for each, row in tests.items()]
    near = all(abs(row.farthest - 1.0) <= NEAR for row in rows)
    yield finding("close_to_the_line", near, cases, close=percent(CLOSE), near=percent(NEAR))
    chance = all(row.mean_test >= LEVEL for row in rows)
    widest = percent(max(abs(row.ratio - 1.0) for row in rows))
    small = f"A difference of {widest} at most, too regular for chance and too small to matter."
    sense = "Neither is significant at 5 %." if chance else small
    holds, few = tested(chance, rows)
    yield finding("no_significant_difference", holds, cases, sense=sense, few=few)
    holds, few = tested(all(row.ratio < 1.0 and row.mean_test < LEVEL for row in rows), rows)
    yield finding("improves_on_ra_lucb", holds, cases, few=few)


def about_the_problems() -> Iterator[Finding]:
    """Whether the paper's tolerance can be missed at all, and whether the tables are what the text says."""
    largest = max(float(gaps_of(f"paper:{pattern}").max()) for pattern in paper.PATTERNS)
    possible = paper.largest_regret()
    yield finding("asks_for_something", possible >= paper.EPSILON, range=possible, largest=largest)
    known = [load_instance(f"paper:{pattern}") for pattern in paper.PATTERNS]
    means = [float(mean) for instance in known for mean in instance.means]
    variances = [float(variance) for instance in known for variance in instance.variances]
    found = {"means": (min(means), max(means)), "variances": (min(variances), max(variances))}
    printed = {"means": paper.MEANS, "variances": paper.VARIANCES}
    slack = 0.0005  # the tables print four digits
    inside = [low - slack <= found[name][0] and found[name][1] <= high + slack for name, (low, high) in printed.items()]
    yield finding("arms_in_range", all(inside), **found)


def findings_tight(outcomes: Outcomes) -> Iterator[Finding]:
    """The same where epsilon is smaller than some gaps, and the definition of an epsilon-Pareto set."""
    for epsilon in epsilons(outcomes):
        yield from claims(outcomes, epsilon, f"At ε = {epsilon:g}", f"{RESULTS}, at a tight ε", False)
    strict = [outcome["section_2"] for (epsilon, _, _), outcome in outcomes.items() if epsilon > 0.0]
    counts = {"beyond": strict.count(False), "strict": len(strict), "searches": len(outcomes)}
    kept = sum(right(key, outcome) for key, outcome in outcomes.items())
    yield finding("definition_of_section_2", all(strict), kept=kept, **counts)


# The sections


def make_section_one(scale: Scale, seed: int, outcomes: Outcomes) -> Section:
    """Experiment 1."""
    first, second = epsilons(outcomes)
    tests = {epsilon: compare_with(outcomes, epsilon, RA_LUCB) for epsilon in (first, second)}
    farthest = " and ".join(percent(abs(row.farthest - 1.0)) for row in tests.values())
    exact = sum(set(outcome["front"]) == set(outcome["truth"]["front"]) for outcome in outcomes.values())
    because = ": the bound is so wide that by the time it stops, everything has long been clear"
    shown = {epsilon: f"ε = {epsilon:g}, {plural(row.patterns, 'pattern')}" for epsilon, row in tests.items()}
    apart = [(RA_LUCB, {label: points(outcomes, epsilon, RA_LUCB)}) for epsilon, label in shown.items()]
    numbers = {"first": first, "second": second, "exact": exact, "searches": len(outcomes)}
    values = {**numbers, "because": because if exact == len(outcomes) else "", "counts": counts_in_words(outcomes)}
    earlier, panel = earlier_in_words(outcomes, first), panels(outcomes, {first: "one series"})
    count = tests[first].patterns
    drawings = [
        figure("experiment1-epsilon-0.1", (panel,), count=count, epsilon=first, earlier=earlier),
        figure("experiment1-appendix", (apart, OWN, True), first=first, second=second, farthest=farthest),
    ]
    told = claims(outcomes, first, f"Experiment 1, ε = {first:g}", RESULTS)
    findings = [*told, *against_ra_lucb(tests), *about_the_problems()]
    parts = common_parts("experiment1", outcomes)
    return section("1", scale, seed, values, **parts, drawings=drawings, findings=findings)


def make_section_tight(scale: Scale, seed: int, outcomes: Outcomes) -> Section:
    """Experiment 1 where epsilon is smaller than some gaps."""
    numbers = {epsilon: list(samples(outcomes, epsilon, OWN)) for epsilon in epsilons(outcomes)}
    labels = {each: f"ε = {each:g} ({plural(len(patterns), 'pattern')})" for each, patterns in numbers.items()}
    patterns = "; ".join(f"{numbers_in_words(patterns)} at ε = {each:g}" for each, patterns in numbers.items())
    drawings = [figure("experiment1-tight", (panels(outcomes, labels),))]
    values = {"counts": counts_in_words(outcomes), "patterns": patterns}
    parts, findings = common_parts("experiment1-tight", outcomes), list(findings_tight(outcomes))
    return section("1-tight", scale, seed, values, **parts, drawings=drawings, findings=findings)


def make_section_gaussian(scale: Scale, seed: int, outcomes: Outcomes) -> Section:
    """Experiment 1 with Gaussian rewards and the appendix's bounds."""
    (epsilon,) = epsilons(outcomes)
    shown, earlier = panels(outcomes, {epsilon: "one series"}), earlier_in_words(outcomes, epsilon)
    findings = list(claims(outcomes, epsilon, f"Gaussian rewards, ε = {epsilon:g}", "Appendix, Gaussian rewards"))
    drawings, values = [figure("gaussian", (shown,), earlier=earlier)], {"count": len(samples(outcomes, epsilon, OWN))}
    parts = common_parts("gaussian", outcomes)
    return section("gaussian", scale, seed, values, **parts, drawings=drawings, findings=findings)


def common_parts(name: str, outcomes: Outcomes) -> dict[str, Any]:
    """What the three sections have in common: the numbers, a file with a row for each search, and a table."""
    rows = [
        {
            "epsilon": epsilon,
            "pattern": pattern,
            "policy": policy,
            **{name: outcome[name] for name in ("seed", "samples")},
            "front": " ".join(outcome["front"]),
            **{name: outcome["truth"][name] for name in ("regret", "eps_correct", "exact")},
            "most_pulls": max(arm["pulls"] for arm in outcome["arms"]),
        }
        for (epsilon, pattern, policy), outcome in outcomes.items()
    ]
    return {"summary": summarize(outcomes), "data_files": [DataFile(name, rows)], "grids": [grid(outcomes)]}


def grid(outcomes: Outcomes) -> Grid:
    """Means by tolerance, and how RAMGapE compares."""
    rows = []
    for epsilon in epsilons(outcomes):
        for policy in paper.CONFIDENCE_POLICIES:
            pulls, versus = samples(outcomes, epsilon, policy), compare_with(outcomes, epsilon, policy)
            other = versus._asdict() if policy != OWN else {}
            first = f"{versus.earlier} of {versus.patterns}" if other else ""
            row = {"epsilon": epsilon, "policy": policy, "patterns": len(pulls), "ratio": other.get("ratio")}
            rows.append({**row, "mean": math.fsum(pulls.values()) / len(pulls), "first": first})
    return section_grid("stopping_times", rows)


def points(outcomes: Outcomes, epsilon: float, rival: str) -> list[tuple[float, float]]:
    """(rival's time, RAMGapE's time) on each pattern."""
    own, other = samples(outcomes, epsilon, OWN), samples(outcomes, epsilon, rival)
    return [(float(other[pattern]), float(own[pattern])) for pattern in own]


def panels(outcomes: Outcomes, labels: Mapping[float, str]) -> list[tuple[str, Any]]:
    """Data of a figure: for each rival, the points of each series."""
    return [(rival, {label: points(outcomes, epsilon, rival) for epsilon, label in labels.items()}) for rival in RIVALS]


def counts_in_words(outcomes: Outcomes) -> str:
    """The number of patterns at each tolerance."""
    counts = {epsilon: len(samples(outcomes, epsilon, OWN)) for epsilon in epsilons(outcomes)}
    return list_names([f"{plural(count, 'pattern')} at ε = {epsilon:g}" for epsilon, count in counts.items()])


def numbers_in_words(numbers: Sequence[int]) -> str:
    """Numbers in a row by their ends, others one by one.

    >>> numbers_in_words([1, 2, 3]), numbers_in_words([1, 10, 46])
    ('1 to 3', '1, 10, 46')
    """
    first, last = numbers[0], numbers[-1]
    in_a_row = len(numbers) > 2 and list(numbers) == list(range(first, last + 1))
    return f"{first} to {last}" if in_a_row else ", ".join(map(str, numbers))


def earlier_in_words(outcomes: Outcomes, epsilon: float) -> str:
    """How often RAMGapE stops first, and how its pulls compare."""
    found = {rival: compare_with(outcomes, epsilon, rival) for rival in reversed(RIVALS)}
    told = [
        f"{row.earlier} of {row.patterns} against {display_name(rival)} (with {row.ratio:.2f} times its pulls)"
        for rival, row in found.items()
    ]
    return f"RAMGapE stops first on {', '.join(told)}."
