"""What the paper's results section says of Experiments 3 and 4, sentence by sentence, and what the runs say."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np

from ramgape.common.formatting import plural
from ramgape.core.pareto import gaps
from ramgape.paper import paper
from ramgape.paper.formatting import display_name, format_interval, percent, ranked
from ramgape.paper.jobs import Outcome
from ramgape.paper.outcomes import Outcomes, area, closer_comparison, curve, finals, stage_shares, sweep, traces_of
from ramgape.paper.paper import OWN, RA_LUCB
from ramgape.paper.section import Finding, judged
from ramgape.paper.statistics import mean_interval
from ramgape.problems.instances import load_instance, paper_tables

CLEARLY = 1.25  # a regret is called clearly larger, or a fall clearly slower, if it is so many times the other
STEADY = 1.1  # a regret is said to fall steadily if no tenth of the run has more than so many times the one before
ACCURATE = 0.05  # answers are called accurate if at most so many are wrong: the delta of Experiment 1


def findings(experiment: int, outcomes: Outcomes) -> list[Finding]:
    """The sentences of the results section, one by one."""
    traces = traces_of(outcomes)
    told = [
        converges(experiment, traces),
        falls_steadily(experiment, traces),
        identifies(experiment, outcomes),
        outperforms(experiment, outcomes),
        others_converge_worse(experiment, outcomes),
        shifts_focus(experiment, traces),
        largest_share(experiment, outcomes),
        vacuous(experiment, traces),
        robust_to_exploration(experiment, outcomes),
    ]
    if experiment == 4:
        told[1:1] = [drops_fastest(traces), faster_than_ra_lucb(outcomes)]
    else:
        told.append(same_arms())
    return told


def converges(experiment: int, traces: Mapping[str, Outcome]) -> Finding:
    """Does the regret of RAMGapE fall fast?"""
    middle, mean = (curve(traces[OWN], name) for name in ("middle_half", "mean"))
    start = traces[OWN]["started"]
    at = {pull: float(middle[pull - 1]) for pull in (1_000, 2_000, 5_000, paper.HORIZON)}
    others = {policy: area(outcome, "middle_half") for policy, outcome in traces.items()}
    place = sorted(others, key=lambda policy: others[policy]).index(OWN) + 1
    return Finding(
        f"Experiment {experiment}: the average simple regret of RAMGapE converges fast.",
        judged(at[paper.HORIZON] < 0.5 * float(middle[start]) and place <= 2),
        f"Middle-half regret {float(middle[start]):.4f} at the first answer (pull {start + 1}), then "
        + ", ".join(f"{value:.4f} after {pull:,}" for pull, value in at.items())
        + f" (mean of all trials {float(mean[-1]):.4f}). Averaged over the run it is {ranked(place, 'smallest')} of "
        f"{len(others)}. Fast is taken to mean that less than half is left, and that at most one rule has less on "
        "average over the run.",
        "Section 4, results",
    )


def falls_steadily(experiment: int, traces: Mapping[str, Outcome]) -> Finding:
    """Does the regret of RAMGapE never rise for long?"""
    tenths = [float(np.nanmean(part)) for part in np.array_split(curve(traces[OWN], "middle_half"), 10)]
    rises = sum(later > earlier for earlier, later in itertools.pairwise(tenths))
    return Finding(
        f"Experiment {experiment}: the regret of RAMGapE falls steadily.",
        judged(all(later <= STEADY * earlier for earlier, later in itertools.pairwise(tenths))),
        "Middle-half regret, averaged over each tenth of the run: "
        + ", ".join(f"{value:.4f}" for value in tenths)
        + f" ({plural(rises, 'rise')}). Steadily is taken to mean that none is more than {percent(STEADY - 1.0)} above "
        "the one before.",
        "Section 4, results",
    )


def identifies(experiment: int, outcomes: Outcomes) -> Finding:
    """Is the Pareto set found, and not only one of small regret?"""
    own = closer_comparison(outcomes)[OWN]
    low, high = own["wrong_share_interval"]
    return Finding(
        f"Experiment {experiment}: RAMGapE identifies the Pareto set accurately.",
        judged(low <= ACCURATE),
        f"After {paper.HORIZON:,} pulls {percent(own['wrong_share'])} of the sets in {plural(own['trials'], 'trial')} "
        f"are wrong (95 % interval {percent(low)} to {percent(high)}). Accurately is taken to mean at most "
        f"{percent(ACCURATE)}.",
        "Section 4, results",
    )


def drops_fastest(traces: Mapping[str, Outcome]) -> Finding:
    """Is RAMGapE's drop the fastest?"""
    areas = {policy: area(outcome, "middle_half") for policy, outcome in traces.items()}
    order = sorted(areas, key=lambda policy: areas[policy])
    return Finding(
        "Experiment 4: with 100 arms the regret of RAMGapE drops fastest of all.",
        judged(order[0] == OWN),
        "Middle-half regret averaged over the run: "
        + ", ".join(f"{display_name(policy)} {areas[policy]:.4f}" for policy in order)
        + ".",
        "Section 4, results",
    )


def faster_than_ra_lucb(outcomes: Outcomes) -> Finding:
    """Is RAMGapE's drop much faster than RA-LUCB's?"""
    traces = traces_of(outcomes)
    areas = {policy: area(traces[policy], "middle_half") for policy in (OWN, RA_LUCB)}
    halves = {policy: first_below(traces[policy], 0.5) for policy in (OWN, RA_LUCB)}
    steered = sweep(outcomes)
    ratios = [
        own / other for own, other in zip(steered[OWN]["mean"], steered[RA_LUCB]["mean"], strict=True) if other > 0.0
    ]
    return Finding(
        "Experiment 4: with 100 arms the regret of RAMGapE drops much faster than RA-LUCB's.",
        judged(areas[RA_LUCB] > CLEARLY * areas[OWN]),
        f"Middle-half regret averaged over the run: RAMGapE {areas[OWN]:.4f}, RA-LUCB {areas[RA_LUCB]:.4f} (ratio "
        f"{areas[OWN] / areas[RA_LUCB]:.2f}). It is below half of the first for good {pulls_in_words(halves[OWN])} "
        f"with RAMGapE, {pulls_in_words(halves[RA_LUCB])} with RA-LUCB. Much faster is taken to mean a ratio below "
        f"{1.0 / CLEARLY:g}. The paper does not state the ε behind its a; over the values of a tried, RAMGapE ends "
        f"with {min(ratios):.2f} to {max(ratios):.2f} times RA-LUCB's mean regret.",
        "Section 4, results",
    )


def first_below(outcome: Outcome, share: float) -> int | None:
    """The pull after which the middle-half regret stays below a share of its first value."""
    values = curve(outcome, "middle_half")
    above = np.flatnonzero(~(values <= share * values[outcome["started"]]))
    return None if above[-1] == len(values) - 1 else int(above[-1]) + 2


def pulls_in_words(pull: int | None) -> str:
    return "at no time" if pull is None else f"after {pull:,} pulls"


def outperforms(experiment: int, outcomes: Outcomes) -> Finding:
    """Is RAMGapE best, or as good as the best?"""
    results, close = finals(outcomes), closer_comparison(outcomes)
    best = min(results, key=lambda policy: results[policy]["mean"])
    rival = min((policy for policy in close if policy != OWN), key=lambda policy: close[policy]["mean"])
    own, other = (np.array(outcomes["comparison", policy]["regret"]) for policy in (OWN, rival))
    behind = mean_interval(own - other)
    beaten = [policy for policy in results if policy not in close and results[policy]["mean"] < close[OWN]["mean"]]
    return Finding(
        f"Experiment {experiment}: RAMGapE outperforms all other rules or equals the best of them.",
        judged(behind[0] <= 0.0 and not beaten),
        f"Smallest mean regret in {results[OWN]['trials']} trials: {display_name(best)} ({results[best]['mean']:.5f}"
        + ("" if best == OWN else f"; RAMGapE {results[OWN]['mean']:.5f}")
        + f"). Over {close[OWN]['trials']} trials RAMGapE has {close[OWN]['mean']:.5f} "
        f"({format_interval(close[OWN]['mean_interval'])}), {display_name(rival)} {close[rival]['mean']:.5f} "
        f"({format_interval(close[rival]['mean_interval'])}); 95 % interval of the difference: "
        f"{format_interval(behind)}.",
        "Section 4, results",
    )


def others_converge_worse(experiment: int, outcomes: Outcomes) -> Finding:
    """Do all others converge very slowly, or to something larger?

    What is slower or larger by a hair is neither: which way a hair falls depends on the seed.
    """
    traces = traces_of(outcomes)
    results = finals(outcomes)
    areas = {policy: area(outcome, "middle_half") for policy, outcome in traces.items()}
    exceptions = [
        policy
        for policy in traces
        if policy != OWN
        and areas[policy] <= CLEARLY * areas[OWN]
        and results[policy]["middle_half_mean"] <= CLEARLY * results[OWN]["middle_half_mean"]
    ]
    numbers = ", ".join(
        f"{display_name(policy)} {results[policy]['middle_half_mean']:.5f} / {areas[policy]:.5f}" for policy in traces
    )
    return Finding(
        f"Experiment {experiment}: every other rule converges clearly more slowly than RAMGapE, or to a clearly larger "
        "regret.",
        judged(not exceptions),
        f"Middle-half regret at the end / averaged over the run: {numbers}. "
        + (
            f"Clearly worse in neither: {', '.join(map(display_name, exceptions))}. "
            if exceptions
            else "No exception. "
        )
        + f"Clearly is taken to mean more than {CLEARLY:g} times.",
        "Section 4, results",
    )


def shifts_focus(experiment: int, traces: Mapping[str, Outcome]) -> Finding:
    """Do Pareto arms get more of the pulls later on?"""
    shares = stage_shares(traces[OWN])
    return Finding(
        f"Experiment {experiment}: RAMGapE explores Pareto and non-Pareto arms, and later shifts its pulls to Pareto "
        "arms.",
        judged(shares[-1] > shares[0] and shares[0] < 0.9),
        "Share of Pareto arms by quarter of the run: " + ", ".join(map(percent, shares)) + ".",
        "Section 4, results",
    )


def largest_share(experiment: int, outcomes: Outcomes) -> Finding:
    """Does RAMGapE give Pareto arms more than the others do?"""
    traces, results = traces_of(outcomes), finals(outcomes)
    shares = {policy: float(np.mean(outcome["pareto_share"])) for policy, outcome in traces.items()}
    order = sorted(shares, key=lambda policy: -shares[policy])
    worse = [policy for policy in order[: order.index(OWN)] if results[policy]["mean"] > results[OWN]["mean"]]
    return Finding(
        f"Experiment {experiment}: RAMGapE gives Pareto arms a significantly larger share of its pulls than the other "
        "rules, and this is behind its performance.",
        judged(order[0] == OWN),
        "Mean shares: "
        + ", ".join(f"{display_name(policy)} {percent(shares[policy])}" for policy in order)
        + "."
        + (f" With a larger share, and yet a larger regret: {', '.join(map(display_name, worse))}." if worse else ""),
        "Appendix, pulling ratios",
    )


def vacuous(experiment: int, traces: Mapping[str, Outcome]) -> Finding:
    """Does Theorem 1 say anything here?"""
    bound = paper.theorem_one_bound(paper.HORIZON, traces[OWN]["arms"], paper.EPSILON)
    return Finding(
        f"Theorem 1 bounds the probability of a large regret in Experiment {experiment}.",
        judged(bound < 1.0),
        f"4Kn exp(−2a) = {bound:,.0f} at ε = {paper.EPSILON:g}: above 1, so it says nothing. Nor could it, since no "
        f"regret on [0, 1] exceeds {paper.largest_regret():.4f}.",
        "Theorem 1",
    )


def robust_to_exploration(experiment: int, outcomes: Outcomes) -> Finding:
    """Does the outcome depend on a?"""
    results = sweep(outcomes)[OWN]
    constant = outcomes["trace", OWN]["exploration"]
    values = np.array(results["exploration"])
    best, worst = int(np.argmin(results["mean"])), int(np.argmax(results["mean"]))
    near = int(np.argmin(np.abs(np.log(values / constant))))
    means = results["mean"]
    return Finding(
        f"Experiment {experiment}: the a of the theorem suits RAMGapE.",
        judged(results["mean_interval"][near][0] <= 2.0 * means[best]),
        f"Mean regret over a: {means[best]:.5f} at the best value tried (a = {values[best]:.2g}), {means[near]:.5f} "
        f"({format_interval(results['mean_interval'][near])}) near the theorem's ({values[near]:.2g}), "
        f"{means[worst]:.5f} at the worst ({values[worst]:.2g}). Suits is taken to mean at most twice the best, as "
        f"far as {plural(results['trials'][0], 'trial')} can tell.",
        "Section 4, Experiment 3",
    )


def same_arms() -> Finding:
    """Where the arms of Experiment 3 come from."""
    tables = paper_tables()["paper"]
    (same,) = [key for key, rows in tables.items() if key.isdigit() and rows == tables["exp3"]] or ["none"]
    largest = float(gaps(load_instance("paper:exp3").means, load_instance("paper:exp3").risks(paper.RHO)).max())
    return Finding(
        "Experiment 3 uses a problem of its own, with means and variances drawn at random.",
        judged(same == "none"),
        f"Its table is that of pattern {same} of Experiments 1 and 2 (largest gap {largest:.4f}).",
        "Appendix, arm settings",
    )
