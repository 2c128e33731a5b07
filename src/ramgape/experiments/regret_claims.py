"""What the paper's results section says of Experiments 3 and 4, sentence by sentence, and what the runs say."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ramgape.core.pareto import gaps
from ramgape.experiments import paper
from ramgape.experiments.cells import Outcome
from ramgape.experiments.chapter import Finding, judged
from ramgape.experiments.outcomes import OWN, TWIN, Outcomes, area, curve, duel, finals, stage_shares, sweep, traces_of
from ramgape.experiments.statistics import mean_interval
from ramgape.experiments.words import display_name, interval, ordinal, percent, plural
from ramgape.instances import load_instance, paper_tables


def findings(experiment: int, outcomes: Outcomes) -> list[Finding]:
    """The sentences of the results section, one by one."""
    traces = traces_of(outcomes)
    told = [
        converges(experiment, traces),
        outperforms(experiment, outcomes),
        others_converge_worse(experiment, outcomes),
        shifts_focus(experiment, traces),
        largest_share(experiment, traces),
        vacuous(experiment, traces),
        robust_to_exploration(experiment, outcomes),
    ]
    if experiment == 4:
        told.insert(1, faster_than_twin(outcomes))
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
        + f" (mean of all trials {float(mean[-1]):.4f}). Averaged over the run it is the {ordinal(place)} smallest of "
        f"{len(others)}.",
        "Section 4, results",
    )


def faster_than_twin(outcomes: Outcomes) -> Finding:
    """Is RAMGapE's drop the fastest, and much faster than RA-LUCB's?"""
    traces = traces_of(outcomes)
    areas = {policy: area(outcome, "middle_half") for policy, outcome in traces.items()}
    best = min(areas, key=lambda policy: areas[policy])
    halves = {policy: first_below(traces[policy], 0.5) for policy in (OWN, TWIN)}
    steered = sweep(outcomes)
    ratios = [
        own / other for own, other in zip(steered[OWN]["mean"], steered[TWIN]["mean"], strict=True) if other > 0.0
    ]
    return Finding(
        "Experiment 4: with 100 arms RAMGapE's regret drops fastest of all, and much faster than RA-LUCB's.",
        judged(best == OWN and areas[OWN] < 0.8 * areas[TWIN]),
        f"Middle-half regret averaged over the run: RAMGapE {areas[OWN]:.4f}, RA-LUCB {areas[TWIN]:.4f} (ratio "
        f"{areas[OWN] / areas[TWIN]:.2f}); smallest: {display_name(best)}. Half of the first regret is left after "
        f"{pulls_in_words(halves[OWN])} and {pulls_in_words(halves[TWIN])} pulls. Much faster is taken to mean a ratio "
        "below 0.8. The paper does not state the ε behind its a; over the values of a tried, RAMGapE ends with "
        f"{min(ratios):.2f} to {max(ratios):.2f} times RA-LUCB's mean regret.",
        "Section 4, results",
    )


def first_below(outcome: Outcome, share: float) -> int | None:
    """The pull after which the middle-half regret stays below a share of its first value."""
    values = curve(outcome, "middle_half")
    above = np.flatnonzero(~(values <= share * values[outcome["started"]]))
    return None if above[-1] == len(values) - 1 else int(above[-1]) + 2


def pulls_in_words(pull: int | None) -> str:
    return "more than all" if pull is None else f"{pull:,}"


def outperforms(experiment: int, outcomes: Outcomes) -> Finding:
    """Is RAMGapE best, or as good as the best?"""
    results, close = finals(outcomes), duel(outcomes)
    best = min(results, key=lambda policy: results[policy]["mean"])
    rival = min((policy for policy in close if policy != OWN), key=lambda policy: close[policy]["mean"])
    own, other = (np.array(outcomes["duel", policy]["regret"]) for policy in (OWN, rival))
    behind = mean_interval(own - other)
    beaten = [policy for policy in results if policy not in close and results[policy]["mean"] < close[OWN]["mean"]]
    return Finding(
        f"Experiment {experiment}: RAMGapE outperforms all other rules or equals the best of them.",
        judged(behind[0] <= 0.0 and not beaten),
        f"Smallest mean regret in {results[OWN]['trials']} trials: {display_name(best)} ({results[best]['mean']:.5f}; "
        f"RAMGapE {results[OWN]['mean']:.5f}). Over {close[OWN]['trials']} trials RAMGapE has {close[OWN]['mean']:.5f} "
        f"({interval(close[OWN]['mean_interval'])}), {display_name(rival)} {close[rival]['mean']:.5f} "
        f"({interval(close[rival]['mean_interval'])}); 95 % interval of the difference: {interval(behind)}.",
        "Section 4, results",
    )


def others_converge_worse(experiment: int, outcomes: Outcomes) -> Finding:
    """Do all others converge more slowly, or to something larger?"""
    traces = traces_of(outcomes)
    results = finals(outcomes)
    areas = {policy: area(outcome, "middle_half") for policy, outcome in traces.items()}
    exceptions = [
        policy
        for policy in traces
        if policy != OWN
        and areas[policy] <= areas[OWN]
        and results[policy]["middle_half_mean"] <= results[OWN]["middle_half_mean"]
    ]
    numbers = ", ".join(
        f"{display_name(policy)} {results[policy]['middle_half_mean']:.4f} / {areas[policy]:.4f}" for policy in traces
    )
    return Finding(
        f"Experiment {experiment}: every other rule converges more slowly, or to a larger regret, than RAMGapE.",
        judged(not exceptions),
        f"Middle-half regret at the end / averaged over the run: {numbers}. "
        + (f"Not worse in either: {', '.join(map(display_name, exceptions))}." if exceptions else "No exception."),
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


def largest_share(experiment: int, traces: Mapping[str, Outcome]) -> Finding:
    """Does RAMGapE give Pareto arms more than the others do?"""
    shares = {policy: float(np.mean(outcome["pareto_share"])) for policy, outcome in traces.items()}
    order = sorted(shares, key=lambda policy: -shares[policy])
    return Finding(
        f"Experiment {experiment}: RAMGapE gives Pareto arms a significantly larger share of its pulls than the other "
        "rules, and this is behind its performance.",
        judged(order[0] == OWN),
        "Mean shares: "
        + ", ".join(f"{display_name(policy)} {percent(shares[policy])}" for policy in order)
        + ". Rules with a larger share can have a larger regret, and Round-Robin a smaller one.",
        "Appendix, pulling ratios",
    )


def vacuous(experiment: int, traces: Mapping[str, Outcome]) -> Finding:
    """Does Theorem 1 say anything here?"""
    bound = paper.theorem_one(paper.HORIZON, traces[OWN]["arms"], paper.EPSILON)
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
        f"({interval(results['mean_interval'][near])}) near the theorem's ({values[near]:.2g}), {means[worst]:.5f} at "
        f"the worst ({values[worst]:.2g}). Suits is taken to mean at most twice the best, as far as "
        f"{plural(results['trials'][0], 'trial')} can tell.",
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
