"""What the paper says of stopping times, and what the searches say of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from ramgape.common.formatting import plural
from ramgape.paper import paper
from ramgape.paper.formatting import display_name, percent, probability
from ramgape.paper.paper import RA_LUCB
from ramgape.paper.section import Finding, Verdict, judged
from ramgape.paper.stopping_results import (
    CLOSE,
    ENOUGH,
    LEVEL,
    NEAR,
    ROBINS,
    Comparison,
    Outcomes,
    compare_with,
    epsilons,
    gaps_of,
    right,
)
from ramgape.problems.instances import load_instance


def findings_one(outcomes: Outcomes) -> list[Finding]:
    """The claims about Experiment 1."""
    first = epsilons(outcomes)[0]
    tests = {epsilon: compare_with(outcomes, epsilon, RA_LUCB) for epsilon in epsilons(outcomes)}
    return [
        *claims(outcomes, first, f"Experiment 1, ε = {first:g}", "Section 4, results"),
        *against_ra_lucb(tests),
        asks_for_something(),
        arms_in_range(),
    ]


def findings_tight(outcomes: Outcomes) -> list[Finding]:
    """The same where epsilon is smaller than some gaps, and the definition of an epsilon-Pareto set."""
    strict = [outcome for (epsilon, _, _), outcome in outcomes.items() if epsilon > 0.0]
    wrong = sum(not right(key, outcome) for key, outcome in outcomes.items())
    beyond = sum(not outcome["section_2"] for outcome in strict)
    tight = [
        finding
        for epsilon in epsilons(outcomes)
        for finding in claims(outcomes, epsilon, f"At ε = {epsilon:g}", "Section 4, results, at a tight ε", False)
    ]
    return [
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


def against_ra_lucb(tests: Mapping[float, Comparison]) -> list[Finding]:
    """How the stopping times of RAMGapE and RA-LUCB compare, by tolerance."""
    significance = "; ".join(
        f"ε = {epsilon:g}: ratio {versus.ratio:.4f}, {probability(versus.mean_test)}"
        for epsilon, versus in tests.items()
    )
    return [
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
    ]


def asks_for_something() -> Finding:
    """Whether the paper's tolerance can be missed at all."""
    largest = max(float(gaps_of(f"paper:{pattern}").max()) for pattern in paper.PATTERNS)
    return Finding(
        "ε = 0.1 makes Experiment 1 a test of identification.",
        judged(paper.largest_regret() >= paper.EPSILON),
        f"On [0, 1] the scaled risk has a range of {paper.largest_regret():.4f}, so no set of arms can have a "
        "simple regret of 0.1, and the set of all arms is a right answer before the first pull. The largest gap in "
        f"the 50 patterns is {largest:.4f}. Part 1-tight has smaller tolerances.",
        "Section 4, Experiment 1",
    )


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
