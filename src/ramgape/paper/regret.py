"""Experiments 3 and 4: seven rules under a budget, with few arms and with many.

Besides what the paper shows, the mean of the middle half of the trials: the mean of all of them, the share of wrong
sets, how both depend on the constant a, more trials of the three best rules, and where the pulls went. Three rules that
the paper does not have are shown as well, in no verdict on it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramgape.bounds.budget import exploration
from ramgape.common.formatting import plural
from ramgape.core.pareto import gaps
from ramgape.paper import paper
from ramgape.paper.formatting import display_name, format_interval, name_outside, percent, ranked
from ramgape.paper.jobs import STAGES, Job, Outcome
from ramgape.paper.paper import OWN, RA_LUCB
from ramgape.paper.scale import Scale
from ramgape.paper.section import Finding, Section, figure, finding, grid, section
from ramgape.paper.statistics import mean_interval, middle_half_mean
from ramgape.paper.tables import DataFile
from ramgape.problems.instances import load_instance, paper_tables
from ramgape.statistics.proportions import clopper_pearson

# ("trace", policy), ("further", policy), ("comparison", policy) or ("sweep", policy, value of a)
Key = tuple[Any, ...]
Outcomes = Mapping[Key, Outcome]
Quality = Mapping[str, Any]

INSTANCES = {3: "paper:exp3", 4: "paper:exp4"}
FURTHER = ("evidence", "ege-sr", "ege-sh")  # not in the paper
COMPARED = (OWN, RA_LUCB, "round-robin")
STEERED = ("ramgape", "ra-lucb", "lie-round-robin", "xi-lcb")  # the rules that look at widths, and so at a
MARKED = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)  # tolerances whose a is shown

CLEARLY = 1.25  # a regret counts as clearly larger, or a fall as clearly slower, if it is so many times the other
STEADY = 1.1  # a regret falls steadily if no tenth of the run has more than so many times the one before
ACCURATE = 0.05  # answers count as accurate if at most this share is wrong: the delta of Experiment 1


def plan_jobs(experiment: int, scale: Scale, seed: int) -> dict[Key, Job]:
    """Traces of all rules; finals of more trials of some, and of some over a."""
    instance = INSTANCES[experiment]
    common = {"instance": instance, "seed": seed, "budget": paper.HORIZON, "rho": paper.RHO, "epsilon": paper.EPSILON}
    arms = len(load_instance(instance).arms)

    def job(kind: str, trials: int, policy: str, **options: Any) -> Job:
        # At K = 100 EGP takes 40 times as long for a pull as the others.
        cost = trials * paper.HORIZON * (1.0 + arms / 40.0) * (arms / 4.0 if policy == "egp" else 1.0)
        return Job(kind, {**common, "trials": trials, "policy": policy, **options}, cost)

    return {
        **{("trace", policy): job("regret_traces", scale.trials, policy) for policy in paper.BUDGET_POLICIES},
        **{("further", policy): job("regret_traces", scale.trials, policy) for policy in FURTHER},
        **{("comparison", policy): job("trials", scale.comparison_trials, policy) for policy in COMPARED},
        **{
            ("sweep", policy, value): job("trials", scale.sweep_trials, policy, exploration=value)
            for policy in STEERED
            for value in scale.explorations
        },
    }


# What the trials amount to


def quality(regrets: Sequence[float]) -> dict[str, Any]:
    """How good the answers of many trials are, with intervals."""
    wrong = sum(regret > 0.0 for regret in regrets)
    return {
        "middle_half_mean": float(middle_half_mean(regrets)),
        "mean": float(np.mean(regrets)),
        "mean_interval": mean_interval(regrets),
        "wrong_share": wrong / len(regrets),
        "wrong_share_interval": clopper_pearson(wrong, len(regrets)),
        "trials": len(regrets),
    }


def by_policy(outcomes: Outcomes, kind: str) -> dict[str, Outcome]:
    """The outcomes of one kind."""
    return {key[1]: outcome for key, outcome in outcomes.items() if key[0] == kind}


def finals(outcomes: Outcomes, kind: str = "trace") -> dict[str, dict[str, Any]]:
    """The quality of each rule after the last pull."""
    return {policy: quality(outcome["final"]) for policy, outcome in by_policy(outcomes, kind).items()}


def closer_comparison(outcomes: Outcomes) -> dict[str, dict[str, Any]]:
    """The same from more trials of few rules."""
    return {policy: quality(outcome["regret"]) for policy, outcome in by_policy(outcomes, "comparison").items()}


def sweep(outcomes: Outcomes) -> dict[str, dict[str, list[Any]]]:
    """The same as lists over the values of a."""
    results: dict[str, dict[str, list[Any]]] = {}
    for kind, policy, *value in outcomes:
        if kind == "sweep":
            row = {"exploration": value[0], **quality(outcomes[kind, policy, *value]["regret"])}
            lists = results.setdefault(policy, {name: [] for name in row})
            for name, number in row.items():
                lists[name].append(number)
    return results


def curve(outcome: Outcome, name: str) -> NDArray[np.float64]:
    """A curve over pulls; NaN before the start."""
    return np.array([np.nan if value is None else value for value in outcome[name]], dtype=np.float64)


def areas(traces: Mapping[str, Outcome]) -> dict[str, float]:
    """Each rule's middle-half regret averaged over all pulls: small if it falls soon and far."""
    return {policy: float(np.nanmean(curve(outcome, "middle_half"))) for policy, outcome in traces.items()}


def pareto_shares(traces: Mapping[str, Outcome]) -> dict[str, dict[str, Any]]:
    """The shares of pulls of Pareto arms: the mean, by quarter of the run, and trial by trial."""
    return {
        policy: {
            "mean": float(np.mean(outcome["pareto_share"])),
            "by_stage": [float(share) for share in np.mean(outcome["pareto_share_by_stage"], axis=0)],
            "per_trial": outcome["pareto_share"],
        }
        for policy, outcome in traces.items()
    }


def summarize(outcomes: Outcomes, marks: Mapping[str, float]) -> dict[str, Any]:
    """The numbers for JSON: `final_regret.ramgape.mean` and so on."""

    def numbers(kind: str) -> dict[str, Any]:
        traces = by_policy(outcomes, kind)
        return {
            "final_regret": finals(outcomes, kind),
            "average_regret": areas(traces),
            "pulling_ratio": pareto_shares(traces),
        }

    own, papers = outcomes["trace", OWN], numbers("trace")
    return {
        "epsilon": paper.EPSILON,
        "exploration": own["exploration"],
        "theorem_1_bound": paper.theorem_one_bound(paper.HORIZON, own["arms"], paper.EPSILON),
        **{name: papers[name] for name in ("final_regret", "average_regret")},
        "duel": closer_comparison(outcomes),
        "by_exploration": sweep(outcomes),
        "exploration_at_epsilon": dict(marks),
        "pulling_ratio": papers["pulling_ratio"],
        "pareto_arms": own["pareto_arms"],
        "not_in_the_paper": numbers("further"),
    }


# The section


def make_section(experiment: int, scale: Scale, seed: int, outcomes: Outcomes) -> Section:
    """One of the two experiments."""
    papers, further = by_policy(outcomes, "trace"), by_policy(outcomes, "further")
    traces = {**papers, **further}
    results, beside = finals(outcomes), finals(outcomes, "further")
    own, closer = papers[OWN], closer_comparison(outcomes)
    marks = {f"ε = {epsilon:g}": exploration("theorem", own["arms"], paper.HORIZON, epsilon) for epsilon in MARKED}
    values = {"experiment": experiment, "own": own, "trials": plural(scale.trials, "trial")}
    words = {"ranking": ranking_in_words(results), "further": ranking_in_words(beside), "letter": "ab"[experiment - 3]}
    curves = {rule: {name: curve(trace, name) for name in ("middle_half", "mean")} for rule, trace in traces.items()}
    first, *_, last = scale.explorations
    shown = {label: value for label, value in marks.items() if first <= value <= last}
    flat = {policy: result for policy, result in results.items() if policy not in STEERED}
    shares = {policy: outcome["pareto_share"] for policy, outcome in papers.items()}
    drawings = [
        figure("regret", (np.arange(1, paper.HORIZON + 1), curves, list(further)), **values, **words),
        figure("final", ({**results, **beside}, list(beside)), **values),
        figure("exploration", (list(scale.explorations), sweep(outcomes), shown, flat), **values),
        figure("pulling-ratios", (shares, own["pareto_arms"] / own["arms"]), **values, number=experiment + 5),
    ]

    names = {rule: name_outside(rule) if rule in further else display_name(rule) for rule in traces}
    ends, three = (
        {rule: {"name": names[rule], **each} for rule, each in found.items()}
        for found in ({**results, **beside}, closer)
    )
    spent = [{"name": names[rule], **each} for rule, each in pareto_shares(traces).items()]
    return section(
        "regret",
        scale,
        seed,
        values,
        name=str(experiment),
        summary=summarize(outcomes, marks),
        data_files=trial_files(experiment, outcomes),
        drawings=drawings,
        grids=[
            grid("after_the_last_pull", ends.values()),
            grid("three_rules", three.values(), trials=plural(closer[OWN]["trials"], "trial")),
            grid("share_of_pulls", spent),
        ],
        findings=list(findings(experiment, outcomes)),
    )


plan_three, plan_four = partial(plan_jobs, 3), partial(plan_jobs, 4)
make_section_three, make_section_four = partial(make_section, 3), partial(make_section, 4)


def trial_files(experiment: int, outcomes: Outcomes) -> list[DataFile]:
    """Curves, trials, and the sweep over a, of all rules."""
    papers = by_policy(outcomes, "trace")
    traces = {**papers, **by_policy(outcomes, "further")}
    curves = [
        {
            "pull": pull,
            "policy": policy,
            **{name: outcome[name][pull - 1] for name in ("middle_half", "mean", "wrong")},
            "in_paper": policy in papers,
        }
        for policy, outcome in traces.items()
        for pull in range(outcome["started"] + 1, paper.HORIZON + 1)
    ]
    trials = [
        {
            "policy": policy,
            "trial": trial,
            "regret": regret,
            "pareto_share": outcome["pareto_share"][trial],
            **{
                f"pareto_share_stage_{stage + 1}": outcome["pareto_share_by_stage"][trial][stage]
                for stage in range(STAGES)
            },
            "in_paper": policy in papers,
        }
        for policy, outcome in traces.items()
        for trial, regret in enumerate(outcome["final"])
    ]
    steered = [
        {"policy": key[1], "a": key[2], "trial": trial, "regret": regret}
        for key, outcome in outcomes.items()
        if key[0] == "sweep"
        for trial, regret in enumerate(outcome["regret"])
    ]
    files = {"curves": curves, "trials": trials, "exploration": steered}
    return [DataFile(f"experiment{experiment}-{name}", rows) for name, rows in files.items()]


def ranking_in_words(results: Mapping[str, Quality]) -> str:
    """Rules with their mean regrets, the best first."""
    order = sorted(results, key=lambda policy: results[policy]["mean"])
    return ", ".join(f"{display_name(policy)} {results[policy]['mean']:.5f}" for policy in order)


# What the paper says of the results, sentence by sentence


def findings(experiment: int, outcomes: Outcomes) -> Iterator[Finding]:
    """All claims. Each function returns whether its claim holds, and the numbers behind that."""
    claims = [converges, falls_steadily, identifies, outperforms, others_converge_worse, shifts_focus, largest_share]
    claims += [theorem_one_says_something, robust_to_exploration]
    if experiment == 3:
        claims.append(own_problem)
    else:
        claims[1:1] = [drops_fastest, faster_than_ra_lucb]
    for claim in claims:
        holds, values = claim(outcomes)
        yield finding(claim.__name__, holds, experiment=experiment, clearly=CLEARLY, **values)


Judged = tuple[bool, dict[str, Any]]


def ordered(numbers: Mapping[str, float]) -> list[str]:
    """The rules from the smallest number to the largest."""
    return sorted(numbers, key=lambda policy: numbers[policy])


def converges(outcomes: Outcomes) -> Judged:
    """Does the regret of RAMGapE fall fast?"""
    traces = by_policy(outcomes, "trace")
    middle, mean = (curve(traces[OWN], name) for name in ("middle_half", "mean"))
    start, over = traces[OWN]["started"], areas(traces)
    at = {pull: float(middle[pull - 1]) for pull in (1_000, 2_000, 5_000, paper.HORIZON)}
    place = ordered(over).index(OWN) + 1
    return at[paper.HORIZON] < 0.5 * float(middle[start]) and place <= 2, {
        "at_first": float(middle[start]),
        "first": start + 1,
        "later": ", ".join(f"{value:.4f} after {pull:,}" for pull, value in at.items()),
        "mean": float(mean[-1]),
        "rank": f"{ranked(place, 'smallest')} of {len(over)}",
    }


def falls_steadily(outcomes: Outcomes) -> Judged:
    """Does the regret of RAMGapE never rise for long?"""
    tenths = [float(np.nanmean(part)) for part in np.array_split(curve(outcomes["trace", OWN], "middle_half"), 10)]
    pairs = list(itertools.pairwise(tenths))
    return all(later <= STEADY * earlier for earlier, later in pairs), {
        "tenths": ", ".join(f"{value:.4f}" for value in tenths),
        "rises": plural(sum(later > earlier for earlier, later in pairs), "rise"),
        "most": percent(STEADY - 1.0),
    }


def identifies(outcomes: Outcomes) -> Judged:
    """Is the Pareto set found, and not only one of small regret?"""
    own = closer_comparison(outcomes)[OWN]
    return own["wrong_share_interval"][0] <= ACCURATE, {
        "wrong": percent(own["wrong_share"]),
        "trials": plural(own["trials"], "trial"),
        "interval": " to ".join(map(percent, own["wrong_share_interval"])),
        "most": percent(ACCURATE),
    }


def drops_fastest(outcomes: Outcomes) -> Judged:
    """Is RAMGapE's drop the fastest?"""
    over = areas(by_policy(outcomes, "trace"))
    order = ordered(over)
    return order[0] == OWN, {"over": ", ".join(f"{display_name(policy)} {over[policy]:.4f}" for policy in order)}


def faster_than_ra_lucb(outcomes: Outcomes) -> Judged:
    """Is RAMGapE's drop much faster than RA-LUCB's?"""
    traces, steered = by_policy(outcomes, "trace"), sweep(outcomes)
    over = areas(traces)
    pairs = zip(steered[OWN]["mean"], steered[RA_LUCB]["mean"], strict=True)
    ratios = [own / other for own, other in pairs if other > 0.0]
    return over[RA_LUCB] > CLEARLY * over[OWN], {
        "own": over[OWN],
        "other": over[RA_LUCB],
        "ratio": over[OWN] / over[RA_LUCB],
        "halved": [first_below(traces[policy], 0.5) for policy in (OWN, RA_LUCB)],
        "below": 1.0 / CLEARLY,
        "ends": (min(ratios), max(ratios)),
    }


def first_below(outcome: Outcome, share: float) -> str:
    """The pull after which the middle-half regret stays below a share of its first value, in words."""
    values = curve(outcome, "middle_half")
    above = np.flatnonzero(~(values <= share * values[outcome["started"]]))
    return "at no time" if above[-1] == len(values) - 1 else f"after {int(above[-1]) + 2:,} pulls"


def outperforms(outcomes: Outcomes) -> Judged:
    """Is RAMGapE best, or as good as the best?"""
    results, close = finals(outcomes), closer_comparison(outcomes)
    means = {policy: result["mean"] for policy, result in results.items()}
    best = ordered(means)[0]
    rival = ordered({policy: close[policy]["mean"] for policy in close if policy != OWN})[0]
    own, other = (np.array(outcomes["comparison", policy]["regret"]) for policy in (OWN, rival))
    behind = mean_interval(own - other)
    beaten = [policy for policy in means if policy not in close and means[policy] < close[OWN]["mean"]]
    return behind[0] <= 0.0 and not beaten, {
        "trials": results[OWN]["trials"],
        "best": f"{display_name(best)} ({means[best]:.5f}" + ("" if best == OWN else f"; RAMGapE {means[OWN]:.5f}"),
        "more_trials": close[OWN]["trials"],
        "own": close[OWN]["mean"],
        "own_interval": format_interval(close[OWN]["mean_interval"]),
        "rival": display_name(rival),
        "other": close[rival]["mean"],
        "other_interval": format_interval(close[rival]["mean_interval"]),
        "difference": format_interval(behind),
    }


def others_converge_worse(outcomes: Outcomes) -> Judged:
    """Do all others converge clearly more slowly, or to something clearly larger?"""
    results, over = finals(outcomes), areas(by_policy(outcomes, "trace"))
    ends = {policy: result["middle_half_mean"] for policy, result in results.items()}
    exceptions = [
        display_name(policy)
        for policy in ends
        if policy != OWN and over[policy] <= CLEARLY * over[OWN] and ends[policy] <= CLEARLY * ends[OWN]
    ]
    return not exceptions, {
        "numbers": ", ".join(f"{display_name(policy)} {ends[policy]:.5f} / {over[policy]:.5f}" for policy in ends),
        "exceptions": f"Clearly worse in neither: {', '.join(exceptions)}." if exceptions else "No exception.",
    }


def shifts_focus(outcomes: Outcomes) -> Judged:
    """Do Pareto arms get more of the pulls later on?"""
    shares = pareto_shares(by_policy(outcomes, "trace"))[OWN]["by_stage"]
    return shares[-1] > shares[0] and shares[0] < 0.9, {"shares": ", ".join(map(percent, shares))}


def largest_share(outcomes: Outcomes) -> Judged:
    """Does RAMGapE give Pareto arms more than the others do?"""
    results = finals(outcomes)
    shares = {policy: row["mean"] for policy, row in pareto_shares(by_policy(outcomes, "trace")).items()}
    order = sorted(shares, key=lambda policy: -shares[policy])
    worse = [policy for policy in order[: order.index(OWN)] if results[policy]["mean"] > results[OWN]["mean"]]
    told = f" With a larger share, and yet a larger regret: {', '.join(map(display_name, worse))}."
    return order[0] == OWN, {
        "shares": ", ".join(f"{display_name(policy)} {percent(shares[policy])}" for policy in order),
        "worse": told if worse else "",
    }


def theorem_one_says_something(outcomes: Outcomes) -> Judged:
    """Is the bound of Theorem 1 below 1 here?"""
    bound = paper.theorem_one_bound(paper.HORIZON, outcomes["trace", OWN]["arms"], paper.EPSILON)
    return bound < 1.0, {"bound": bound, "largest": paper.largest_regret()}


def robust_to_exploration(outcomes: Outcomes) -> Judged:
    """Does the result depend on a?"""
    results = sweep(outcomes)[OWN]
    values, means, intervals = np.array(results["exploration"]), results["mean"], results["mean_interval"]
    best, worst = int(np.argmin(means)), int(np.argmax(means))
    near = int(np.argmin(np.abs(np.log(values / outcomes["trace", OWN]["exploration"]))))
    return intervals[near][0] <= 2.0 * means[best], {
        "best": means[best],
        "best_a": values[best],
        "near": means[near],
        "near_a": values[near],
        "worst": means[worst],
        "worst_a": values[worst],
        "interval": format_interval(intervals[near]),
        "trials": plural(results["trials"][0], "trial"),
    }


def own_problem(outcomes: Outcomes) -> Judged:
    """Are the arms of Experiment 3 new ones?"""
    tables = paper_tables()["paper"]
    (same,) = [key for key, rows in tables.items() if key.isdigit() and rows == tables["exp3"]] or ["none"]
    known = load_instance("paper:exp3")
    return same == "none", {"same": same, "largest": float(gaps(known.means, known.risks(paper.RHO)).max())}
