"""Experiment 1 and what belongs to it: when do four rules stop, pattern by pattern?

The same comparison is made for the paper's tolerance, for the appendix's second one, for tight ones, and for Gaussian
rewards; only the jobs and the words differ.
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
from ramgape.paper.scale import Scale
from ramgape.paper.section import DataFile, Drawing, Finding, Grid, Section, Verdict, judged
from ramgape.paper.statistics import geometric_mean, sign_flip_test, sign_test
from ramgape.problems.environments import Instance
from ramgape.problems.instances import load_instance

Key = tuple[float, int, str]  # epsilon, pattern, policy
Outcomes = Mapping[Key, Outcome]

OWN, RA_LUCB, ROBINS = "ramgape", "ra-lucb", ("de-round-robin", "round-robin")
RIVALS = (RA_LUCB, *ROBINS)
CLOSE = 0.05  # stopping times within 5 % of each other, on average, are called comparable
CLEAR = 0.95  # a rule is called faster if it stops first on so many of the patterns
NEAR = 0.1  # a point is called near the line if the two stopping times are within 10 % of each other
LEVEL = 0.05  # of the tests
ENOUGH = 6  # with fewer patterns neither test can fall below its level, whatever the runs

TITLES = {
    "1": "Experiment 1: when does each rule stop?",
    "1-tight": "Experiment 1 with tolerances that ask for something",
    "gaussian": "Gaussian rewards (appendix)",
}


class Comparison(NamedTuple):
    """RAMGapE against one rival, over patterns; a ratio below 1 means that RAMGapE stops earlier."""

    earlier: int
    patterns: int
    ratio: float
    sign_test: float
    mean_test: float
    farthest: float  # the ratio that is farthest from 1
    close: int  # on so many patterns the two are within 5 % of each other

    @property
    def testable(self) -> bool:
        return self.patterns >= ENOUGH

    @property
    def faster(self) -> bool:
        return self.earlier >= CLEAR * self.patterns and self.ratio < 1.0

    @property
    def comparable(self) -> bool:
        return abs(self.ratio - 1.0) <= CLOSE

    def words(self) -> str:
        return (
            f"stops first on {self.earlier} of {plural(self.patterns, 'pattern')}, with {self.ratio:.3f} times the "
            "pulls on (geometric) average"
        )


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
    known = load_instance(instance)
    distances = gaps(known.means, known.risks(paper.RHO)) + epsilon
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


def samples(outcomes: Outcomes, epsilon: float, policy: str) -> dict[int, int]:
    """Pulls until the stop, by pattern."""
    return {key[1]: outcome["samples"] for key, outcome in outcomes.items() if (key[0], key[2]) == (epsilon, policy)}


def epsilons(outcomes: Outcomes) -> list[float]:
    """The values of epsilon, in the order of the plan."""
    return list(dict.fromkeys(epsilon for epsilon, _, _ in outcomes))


def summarize(outcomes: Outcomes) -> dict[str, Any]:
    """For machines: `epsilon_0.1.ramgape.mean` and so on, and whether the paper's claim holds there."""
    summary: dict[str, Any] = {}
    for epsilon in epsilons(outcomes):
        entry: dict[str, Any] = {}
        for policy in paper.CONFIDENCE_POLICIES:
            times = samples(outcomes, epsilon, policy)
            per_pattern = {str(pattern): number for pattern, number in times.items()}
            entry[policy] = {"mean": math.fsum(times.values()) / len(times), "per_pattern": per_pattern}
        versus = {rival: compare_with(outcomes, epsilon, rival) for rival in RIVALS}
        entry["against"] = {rival: comparison._asdict() for rival, comparison in versus.items()}
        entry["paper_claim"] = "RAMGapE stops well before both round-robins, and about when RA-LUCB does"
        entry["holds"] = versus[RA_LUCB].comparable and all(versus[rival].faster for rival in ROBINS)
        entry["wrong"] = sum(not right(key, outcome) for key, outcome in outcomes.items() if key[0] == epsilon)
        summary[f"epsilon_{epsilon:g}"] = entry
    return summary


def right(key: Key, outcome: Outcome) -> bool:
    """Whether an answer keeps what was promised: exact at epsilon 0, an epsilon-cover above."""
    return bool(outcome["truth"]["eps_correct"] if key[0] > 0.0 else outcome["truth"]["exact"])


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


def panels(outcomes: Outcomes, rivals: Sequence[str], labels: Mapping[float, str]) -> list[tuple[str, Any]]:
    """Scatter data: for each rival, the points of each series."""
    return [(rival, {label: points(outcomes, epsilon, rival) for epsilon, label in labels.items()}) for rival in rivals]


def points(outcomes: Outcomes, epsilon: float, rival: str) -> list[tuple[float, float]]:
    """(rival's time, RAMGapE's time) on each pattern."""
    own, other = samples(outcomes, epsilon, OWN), samples(outcomes, epsilon, rival)
    return [(float(other[pattern]), float(own[pattern])) for pattern in own]


def claims(
    outcomes: Outcomes, epsilon: float, where: str, source: str, significantly: bool = True
) -> Iterator[Finding]:
    """The claims about stopping times, at one tolerance."""
    earlier = "significantly earlier" if significantly else "earlier"
    for rival in reversed(ROBINS):
        versus = compare_with(outcomes, epsilon, rival)
        yield Finding(
            f"{where}: RAMGapE stops {earlier} than {display_name(rival)}.",
            tested(versus.faster and versus.sign_test < LEVEL, [versus]) if significantly else judged(versus.faster),
            f"RAMGapE {versus.words()}; sign test {probability(versus.sign_test)}.{too_few([versus])}",
            source,
        )
    versus = compare_with(outcomes, epsilon, RA_LUCB)
    yield Finding(
        f"{where}: the stopping times of RAMGapE and RA-LUCB are comparable.",
        judged(versus.comparable),
        f"RAMGapE {versus.words()}; comparable is taken to mean within {percent(CLOSE)}.",
        source,
    )


def tested(holds: bool, comparisons: Iterable[Comparison]) -> Verdict:
    """The verdict on a claim about significance, if there are patterns enough to have one."""
    return judged(holds) if all(versus.testable for versus in comparisons) else "not checkable"


def too_few(comparisons: Iterable[Comparison]) -> str:
    """A warning where a test says nothing."""
    return (
        ""
        if all(versus.testable for versus in comparisons)
        else f" With fewer than {plural(ENOUGH, 'pattern')} no difference can be significant."
    )


def make_section_one(scale: Scale, seed: int, outcomes: Outcomes) -> Section:
    """Experiment 1."""
    counts = {epsilon: len(samples(outcomes, epsilon, OWN)) for epsilon in epsilons(outcomes)}
    first, second = epsilons(outcomes)
    tests = {epsilon: compare_with(outcomes, epsilon, RA_LUCB) for epsilon in counts}
    drawings = [
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
    significance = "; ".join(
        f"ε = {epsilon:g}: ratio {versus.ratio:.4f}, {probability(versus.mean_test)}"
        for epsilon, versus in tests.items()
    )
    inexact = sum(set(outcome["front"]) != set(outcome["truth"]["front"]) for outcome in outcomes.values())
    largest = max(float(gaps_of(f"paper:{pattern}").max()) for pattern in paper.PATTERNS)
    findings = [
        *claims(outcomes, first, f"Experiment 1, ε = {first:g}", "Section 4, results"),
        Finding(
            "The points of RAMGapE against RA-LUCB lie close to the identity line, at ε = 0.1 and 0.05.",
            judged(all(abs(versus.farthest - 1.0) <= NEAR for versus in tests.values())),
            "RAMGapE's pulls divided by RA-LUCB's, where this is farthest from 1: "
            + ", ".join(
                f"{versus.farthest:.3f} at ε = {epsilon:g} (within {percent(CLOSE)} on {versus.close} of "
                f"{versus.patterns})"
                for epsilon, versus in tests.items()
            )
            + f". Close is taken to mean within {percent(NEAR)} on every pattern.",
            "Appendix, stopping time by ε",
        ),
        Finding(
            "There is no statistically significant difference in stopping time between RAMGapE and RA-LUCB, at "
            "ε = 0.1 and 0.05.",
            tested(all(versus.mean_test >= LEVEL for versus in tests.values()), tests.values()),
            f"Mean log ratio of the stopping times over the patterns, sign-flip test. {significance}. "
            f"{small_but_sure(tests)}{too_few(tests.values())}",
            "Appendix, stopping time by ε",
        ),
        Finding(
            "Pulling only the less sampled of the two arms, as RAMGapE does, improves on RA-LUCB's sample efficiency.",
            tested(all(versus.ratio < 1.0 and versus.mean_test < LEVEL for versus in tests.values()), tests.values()),
            f"{significance}. A ratio below 1 would be an improvement.{too_few(tests.values())}",
            "Section 4, fixed confidence",
        ),
        Finding(
            "ε = 0.1 makes Experiment 1 a test of identification.",
            judged(paper.largest_regret() >= paper.EPSILON),
            f"On [0, 1] the scaled risk has a range of {paper.largest_regret():.4f}, so no set of arms can have a "
            "simple regret of 0.1, and the set of all arms is a right answer before the first pull. The largest gap in "
            f"the 50 patterns is {largest:.4f}. Part 1-tight has smaller tolerances.",
            "Section 4, Experiment 1",
        ),
        arms_in_range(),
    ]
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
        drawings,
        [grid(outcomes)],
        findings,
    )


def make_section_tight(scale: Scale, seed: int, outcomes: Outcomes) -> Section:
    """Experiment 1 where epsilon is smaller than some gaps."""
    counts = {epsilon: len(samples(outcomes, epsilon, OWN)) for epsilon in epsilons(outcomes)}
    labels = {epsilon: f"ε = {epsilon:g} ({plural(count, 'pattern')})" for epsilon, count in counts.items()}
    strict = [outcome for (epsilon, _, _), outcome in outcomes.items() if epsilon > 0.0]
    wrong = sum(not right(key, outcome) for key, outcome in outcomes.items())
    beyond = sum(not outcome["section_2"] for outcome in strict)
    tight = [
        finding
        for epsilon in counts
        for finding in claims(outcomes, epsilon, f"At ε = {epsilon:g}", "Section 4, results, at a tight ε", False)
    ]
    findings = [
        *tight,
        Finding(
            "The returned set satisfies Section 2's definition of an ε-Pareto set, by which every excluded arm is "
            "beaten by at least ε in both objectives (Theorem 7).",
            judged(beyond == 0),
            f"{beyond} of {len(strict)} searches with ε > 0 returned sets that do not. What the stopping rule proves, "
            "that every excluded arm has a returned one less than ε behind it in each objective, held in "
            f"{len(outcomes) - wrong} of all {len(outcomes)}.",
            "Section 2 and Theorem 7",
        ),
    ]
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
        findings,
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


def gaps_of(instance: str | Instance) -> Any:
    """The gaps of an instance at the paper's rho."""
    known = load_instance(instance)
    return gaps(known.means, known.risks(paper.RHO))


def arms_in_range() -> Finding:
    """Whether the tables are what the text says."""
    known = [load_instance(f"paper:{pattern}") for pattern in paper.PATTERNS]
    means = [float(mean) for instance in known for mean in instance.means]
    variances = [float(variance) for instance in known for variance in instance.variances]
    slack = 0.0005  # the tables print four digits
    ranges = [(means, paper.MEANS), (variances, paper.VARIANCES)]
    inside = all(low - slack <= min(values) and max(values) <= high + slack for values, (low, high) in ranges)
    return Finding(
        "The arms of the 50 patterns have means in [0.4, 0.6] and variances in [0.01, 0.2].",
        judged(inside),
        f"By the printed parameters, means lie from {min(means):.4f} to {max(means):.4f} and variances from "
        f"{min(variances):.4f} to {max(variances):.4f}.",
        "Section 4, Experiment 1",
    )


def small_but_sure(tests: Mapping[float, Comparison]) -> str:
    """What to make of a difference that is significant and yet small, or of none."""
    if all(versus.mean_test >= LEVEL for versus in tests.values()):
        return "Neither is significant at 5 %."
    widest = max(abs(versus.ratio - 1.0) for versus in tests.values())
    return f"A difference of {percent(widest)} at most, too regular for chance and too small to matter."


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
