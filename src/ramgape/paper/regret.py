"""Experiments 3 and 4: seven rules under a budget, with few arms and with many.

Beside what the paper shows, the mean of the middle half of the trials: the mean of all of them, the share of wrong
sets, how both depend on the constant a, a comparison with more trials of the three rules that come out best, and where
the pulls went. Three rules that the paper does not have stand beside its seven, in no verdict on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from ramgape.bounds.budget import exploration
from ramgape.common.formatting import plural
from ramgape.paper import paper
from ramgape.paper.formatting import display_name, format_interval, percent, ranked
from ramgape.paper.jobs import STAGES, Job, Outcome
from ramgape.paper.outcomes import (
    FURTHER,
    Key,
    Outcomes,
    area,
    closer_comparison,
    curve,
    finals,
    stage_shares,
    sweep,
    traces_of,
)
from ramgape.paper.paper import OWN, RA_LUCB
from ramgape.paper.regret_claims import findings
from ramgape.paper.scale import Scale
from ramgape.paper.section import DataFile, Drawing, Grid, Section
from ramgape.problems.instances import load_instance
from ramgape.views.plots.policies import name_outside

INSTANCES = {3: "paper:exp3", 4: "paper:exp4"}
COMPARED = (OWN, RA_LUCB, "round-robin")
STEERED = ("ramgape", "ra-lucb", "lie-round-robin", "xi-lcb")  # the rules that look at widths, and so at a
MARKED = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5)  # tolerances whose a is shown
RATIO_FIGURES = {3: "Figure 8", 4: "Figure 9"}


def plan_jobs(experiment: int, scale: Scale, seed: int) -> dict[Key, Job]:
    """Traces of all rules; finals of more trials of some, and of some over a."""
    instance = INSTANCES[experiment]
    common = {"instance": instance, "seed": seed, "budget": paper.HORIZON, "rho": paper.RHO}
    arms = len(load_instance(instance).arms)

    def job(kind: str, trials: int, policy: str, **options: Any) -> Job:
        # At K = 100 EGP takes 40 times as long for a pull as the others.
        cost = trials * paper.HORIZON * (1.0 + arms / 40.0) * (arms / 4.0 if policy == "egp" else 1.0)
        return Job(kind, {**common, "trials": trials, "policy": policy, **options}, cost)

    traces = {
        ("trace", policy): job("regret_traces", scale.trials, policy, epsilon=paper.EPSILON)
        for policy in paper.BUDGET_POLICIES
    }
    further = {
        ("further", policy): job("regret_traces", scale.trials, policy, epsilon=paper.EPSILON) for policy in FURTHER
    }
    compared = {
        ("comparison", policy): job("trials", scale.comparison_trials, policy, epsilon=paper.EPSILON)
        for policy in COMPARED
    }
    swept = {
        ("sweep", policy, value): job("trials", scale.sweep_trials, policy, epsilon=paper.EPSILON, exploration=value)
        for policy in STEERED
        for value in scale.explorations
    }
    return {**traces, **further, **compared, **swept}


plan_three, plan_four = partial(plan_jobs, 3), partial(plan_jobs, 4)


def summarize(outcomes: Outcomes, marks: Mapping[str, float]) -> dict[str, Any]:
    """For machines: `final_regret.ramgape.mean` and so on."""
    traces, further = traces_of(outcomes), traces_of(outcomes, "further")
    return {
        "epsilon": paper.EPSILON,
        "exploration": traces[OWN]["exploration"],
        "theorem_1_bound": paper.theorem_one_bound(paper.HORIZON, traces[OWN]["arms"], paper.EPSILON),
        "final_regret": finals(outcomes),
        "average_regret": {policy: area(outcome, "middle_half") for policy, outcome in traces.items()},
        "duel": closer_comparison(outcomes),
        "by_exploration": sweep(outcomes),
        "exploration_at_epsilon": dict(marks),
        "pulling_ratio": pulling_ratios(traces),
        "pareto_arms": traces[OWN]["pareto_arms"],
        "not_in_the_paper": {
            "final_regret": finals(outcomes, "further"),
            "average_regret": {policy: area(outcome, "middle_half") for policy, outcome in further.items()},
            "pulling_ratio": pulling_ratios(further),
        },
    }


def pulling_ratios(traces: Mapping[str, Outcome]) -> dict[str, dict[str, Any]]:
    """The shares of pulls of Pareto arms."""
    return {
        policy: {
            "mean": float(np.mean(outcome["pareto_share"])),
            "by_stage": stage_shares(outcome),
            "per_trial": outcome["pareto_share"],
        }
        for policy, outcome in traces.items()
    }


def make_section(experiment: int, scale: Scale, seed: int, outcomes: Outcomes) -> Section:
    """One of the two experiments."""
    traces = traces_of(outcomes)
    arms, front = traces[OWN]["arms"], traces[OWN]["pareto_arms"]
    constant = traces[OWN]["exploration"]
    marks = {f"ε = {epsilon:g}": exploration("theorem", arms, paper.HORIZON, epsilon) for epsilon in MARKED}
    inside = {
        label: value for label, value in marks.items() if scale.explorations[0] <= value <= scale.explorations[-1]
    }
    return Section(
        str(experiment),
        f"Experiment {experiment}: simple regret under a budget, {arms} arms",
        (
            f"Seven rules pull {paper.HORIZON:,} times, {plural(scale.trials, 'trial')} each; after every pull the "
            f"regret of the empirical front is taken. {front} of the {arms} arms are Pareto optimal. The paper does "
            f"not say which ε goes into its constant a; with ε = {paper.EPSILON:g}, as in Experiment 1, a = (n − 2K) "
            f"ε² / (16 K) = {constant:g}.",
            "The paper averages the middle half of the trials at each pull. That hides the trials that go wrong, so "
            "the mean of all trials and the share of wrong sets stand beside it.",
            "Three rules that are not in the paper are shown as well and marked as such: Evidence, which is ours, and "
            "EGE-SR and EGE-SH (Kone, Jourdan, Kaufmann 2024). No verdict on the paper looks at them.",
        ),
        summarize(outcomes, marks),
        {
            "n": f"{paper.HORIZON:,}",
            "K": str(arms),
            "a": f"{constant:g} (ε = {paper.EPSILON:g})",
            "ρ": f"{paper.RHO:g}",
            "trials": f"{scale.trials}; {scale.comparison_trials} of the best three, {scale.sweep_trials} for each a",
            "seeds": f"trial r has {seed} + r",
        },
        trial_files(experiment, outcomes),
        drawings(experiment, scale, outcomes, inside),
        [final_grid(outcomes), comparison_grid(outcomes), share_grid(outcomes)],
        findings(experiment, outcomes),
    )


make_section_three, make_section_four = partial(make_section, 3), partial(make_section, 4)


def trial_files(experiment: int, outcomes: Outcomes) -> list[DataFile]:
    """Curves, trials, and the sweep over a; of all rules, the last column telling which are the paper's."""
    papers = traces_of(outcomes)
    traces = {**papers, **traces_of(outcomes, "further")}
    names = ("middle_half", "mean", "wrong")
    curves = [
        (pull, policy, *(outcome[name][pull - 1] for name in names), policy in papers)
        for policy, outcome in traces.items()
        for pull in range(outcome["started"] + 1, paper.HORIZON + 1)
    ]
    trials = [
        (policy, trial, regret, share, *stages, policy in papers)
        for policy, outcome in traces.items()
        for trial, (regret, share, stages) in enumerate(
            zip(outcome["final"], outcome["pareto_share"], outcome["pareto_share_by_stage"], strict=True)
        )
    ]
    steered = [
        (key[1], key[2], trial, regret)
        for key, outcome in outcomes.items()
        if key[0] == "sweep"
        for trial, regret in enumerate(outcome["regret"])
    ]
    stages = [f"pareto_share_stage_{stage}" for stage in range(1, STAGES + 1)]
    return [
        DataFile(f"experiment{experiment}-curves", ("pull", "policy", *names, "in_paper"), curves),
        DataFile(
            f"experiment{experiment}-trials",
            ("policy", "trial", "regret", "pareto_share", *stages, "in_paper"),
            trials,
        ),
        DataFile(f"experiment{experiment}-exploration", ("policy", "a", "trial", "regret"), steered),
    ]


def drawings(experiment: int, scale: Scale, outcomes: Outcomes, marks: Mapping[str, float]) -> list[Drawing]:
    """Curves, finals, sweep, pulling ratios."""
    traces, further = traces_of(outcomes), traces_of(outcomes, "further")
    curves = {
        policy: {name: curve(outcome, name) for name in ("middle_half", "mean")}
        for policy, outcome in {**traces, **further}.items()
    }
    results, beside = finals(outcomes), finals(outcomes, "further")
    flat = {policy: results[policy] for policy in results if policy not in STEERED}
    shares = {policy: outcome["pareto_share"] for policy, outcome in traces.items()}
    even = traces[OWN]["pareto_arms"] / traces[OWN]["arms"]
    return [
        Drawing(
            f"experiment{experiment}-regret",
            "regret_curves",
            (np.arange(1, paper.HORIZON + 1), curves, list(further)),
            "Figure 4" + ("a" if experiment == 3 else "b"),
            "Left as in the paper, the mean of the middle half of the trials; right the mean of all. At the end, by "
            f"the mean of all trials, the best first: {ranking_in_words(results)}.{further_in_words(beside)}",
        ),
        Drawing(
            f"experiment{experiment}-final",
            "final_quality",
            ({**results, **beside}, list(beside)),
            "not in the paper",
            f"After {paper.HORIZON:,} pulls: regret with 95 % intervals of the mean, and how often the set is not "
            "exactly the Pareto set. " + hidden_in_words(results),
        ),
        Drawing(
            f"experiment{experiment}-exploration",
            "exploration_sweep",
            (list(scale.explorations), sweep(outcomes), marks, flat),
            "not in the paper",
            f"The same after {paper.HORIZON:,} pulls, for other values of the constant a. Dotted lines: the a that the "
            "theorem gives for an ε. " + sensitivity_in_words(outcomes),
        ),
        Drawing(
            f"experiment{experiment}-pulling-ratios",
            "pull_shares",
            (shares, even),
            RATIO_FIGURES[experiment],
            "The share of pulls that went to Pareto arms, trial by trial; the line is what an even split would give. "
            + shares_in_words(traces),
        ),
    ]


def final_grid(outcomes: Outcomes) -> Grid:
    """The quality of all rules."""
    further = finals(outcomes, "further")
    rows = [
        [
            name_outside(policy) if policy in further else display_name(policy),
            f"{result['middle_half_mean']:.5f}",
            *quality_cells(result),
        ]
        for policy, result in {**finals(outcomes), **further}.items()
    ]
    note = "Intervals: bootstrap for the mean, Clopper-Pearson for the share."
    return Grid("After the last pull", ("rule", "regret, middle half", *QUALITY), rows, note)


def comparison_grid(outcomes: Outcomes) -> Grid:
    """The best rules, more closely."""
    results = closer_comparison(outcomes)
    rows = [[display_name(policy), *quality_cells(result)] for policy, result in results.items()]
    return Grid(f"Three rules over {plural(results[OWN]['trials'], 'trial')}", ("rule", *QUALITY), rows)


QUALITY = ("regret, mean", "95 % interval", "wrong sets", "95 % interval")


def quality_cells(result: Mapping[str, Any]) -> list[str]:
    """Mean regret and wrong sets, each with its interval."""
    return [
        f"{result['mean']:.5f}",
        format_interval(result["mean_interval"]),
        percent(result["wrong_share"]),
        " to ".join(percent(end) for end in result["wrong_share_interval"]),
    ]


def share_grid(outcomes: Outcomes) -> Grid:
    """Where the pulls went, by quarter of the run."""
    traces, further = traces_of(outcomes), traces_of(outcomes, "further")
    rows = [
        [
            name_outside(policy) if policy in further else display_name(policy),
            percent(float(np.mean(outcome["pareto_share"]))),
            *map(percent, stage_shares(outcome)),
        ]
        for policy, outcome in {**traces, **further}.items()
    ]
    header = ("rule", "all pulls", "first quarter", "second", "third", "last")
    return Grid("Share of pulls of Pareto arms", header, rows)


def ranking_in_words(results: Mapping[str, Mapping[str, Any]]) -> str:
    """Rules in their order, the best first, with their mean regrets."""
    order = sorted(results, key=lambda policy: results[policy]["mean"])
    return ", ".join(f"{display_name(policy)} {results[policy]['mean']:.5f}" for policy in order)


def further_in_words(results: Mapping[str, Mapping[str, Any]]) -> str:
    """The rules that the paper does not have, and how their curves are to be read."""
    if not results:
        return ""
    return (
        f" Not in the paper: {ranking_in_words(results)}. EGE-SR and EGE-SH are made for an answer after the last pull "
        "only; before it, their curves show what they have accepted and the front of the arms that are still open."
    )


def hidden_in_words(results: Mapping[str, Mapping[str, Any]]) -> str:
    """What the middle half does not show."""
    hidden = [
        f"{percent(result['wrong_share'])} ({display_name(policy)})"
        for policy, result in results.items()
        if result["middle_half_mean"] == 0.0 < result["wrong_share"]
    ]
    if hidden:
        return f"A middle half of zero stands beside wrong sets: {', '.join(hidden)}."
    own = results[OWN]
    return f"RAMGapE's set is wrong in {percent(own['wrong_share'])} of the trials."


def sensitivity_in_words(outcomes: Outcomes) -> str:
    own = sweep(outcomes)[OWN]
    best, worst = int(np.argmin(own["mean"])), int(np.argmax(own["mean"]))
    return (
        f"RAMGapE's mean regret goes from {own['mean'][best]:.4f} at a = {own['exploration'][best]:.2g} to "
        f"{own['mean'][worst]:.4f} at a = {own['exploration'][worst]:.2g}."
    )


def shares_in_words(traces: Mapping[str, Outcome]) -> str:
    order = sorted(traces, key=lambda policy: -float(np.mean(traces[policy]["pareto_share"])))
    place = order.index(OWN) + 1
    return f"RAMGapE's share is {ranked(place, 'largest')} of {len(order)}" + (
        f"; the largest is {display_name(order[0])}'s." if place > 1 else "."
    )
