"""The benchmark of stopping times: the same instances for every method, until it stops.

race            what to run, and the section
race_results    what the runs amount to: means, ratios, errors
race_claims     what they say
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ramgape.common.formatting import list_names, plural
from ramgape.paper import paper
from ramgape.paper.benchmark_scale import FAMOUS, GROUPS, BenchmarkScale, group_of
from ramgape.paper.formatting import factor, format_interval
from ramgape.paper.jobs import Job
from ramgape.paper.methods import LINE_UPS, LineUp
from ramgape.paper.race_claims import findings
from ramgape.paper.race_results import (
    ErrorCounts,
    Key,
    Outcomes,
    StoppingAverage,
    StoppingMeasurement,
    by_instance,
    errors,
    line_ups,
    measure_stopping,
    parts_of,
    stopping_averages,
    summarize,
    versus,
)
from ramgape.paper.section import DataFile, Drawing, Grid, Section
from ramgape.paper.stopping import expected_pulls
from ramgape.problems.instances import load_instance
from ramgape.views.content import least_word

# For the order of work and the time left only: what a bound needs of the paper's pulls, and what a pull costs.
SAVING, SEARCH = 150.0, 20_000.0
Point = tuple[float | None, bool]  # a number of samples, and what is to be known of it

SLOWNESS = {"pairwise": 5.0, "empirical-bernstein": 2.0}


def plan_jobs(scale: BenchmarkScale, seed: int) -> dict[Key, Job]:
    """Every method on every instance at every tolerance, and what Gaussian arms would take at least."""
    jobs: dict[Key, Job] = {}
    for instance in scale.instances:
        papers = scale.line_up(instance).paper
        for epsilon in scale.epsilons:
            asked = {"instance": instance, "epsilon": epsilon, "delta": paper.DELTA, "risk": scale.risk}
            jobs["least", instance, epsilon] = Job("least_samples", asked, 2e6)
            guess = expected_pulls(instance, max(epsilon, 1e-4), "ramgape")  # two arms may be equal
            for method in scale.methods(instance):
                trials, cap = scale.runs(instance, method), scale.paper_cap if method == papers else scale.cap
                pulls = min(guess, cap) if method == papers else SEARCH + min(guess / SAVING, cap)
                jobs["race", instance, epsilon, method.name] = Job(
                    "race",
                    {
                        **asked,
                        "seed": seed,
                        "trials": trials,
                        "max_pulls": cap,
                        "longest": scale.longest,
                        **method._asdict(),
                    },
                    trials * pulls * SLOWNESS.get(method.bound, 1.0),
                )
    return jobs


def make_section(scale: BenchmarkScale, seed: int, outcomes: Outcomes) -> Section:
    """Samples to stop."""
    rows = measure_stopping(outcomes, scale)
    parts = parts_of(rows)
    arms = [row.arms for row in rows]
    return Section(
        "stopping",
        "Samples to stop, by bound and tolerance",
        (
            f"Each method searches {plural(len(scale.instances), 'instance')} with {min(arms)} to {max(arms)} arms, at "
            f"ε = {list_names([f'{epsilon:g}' for epsilon in scale.epsilons])}, until it can prove its answer with "
            f"probability 1 − δ; the risk is {scale.risk}. A method is a confidence bound and a sampling rule. "
            f"{defaults(rows)}",
            *groups_in_words(scale),
            "A search that reaches the cap on its pulls is undecided. Where one is, there is no mean: > stands before "
            "the pulls that were made on average, which the mean of whole searches would exceed. Such a case is in no "
            "average. Where the answer hangs on a tie, no number of samples suffices, and nothing is run; nor is it "
            f"where the reference is above {scale.longest:,.0f} at ε = 0.",
            *explained(rows),
        ),
        summarize(rows, scale.risk),
        {
            "δ": f"{paper.DELTA:g}",
            "risk": scale.risk,
            "runs": f"{runs_by_instance(scale)}; of methods between the default, its rival and the paper's "
            f"{scale.other_runs}; of the paper's {scale.paper_runs}",
            "cap on the pulls of a run": f"{scale.cap:,}; of the paper's methods {scale.paper_cap:,}",
            "seeds": f"run r has {seed} + r, counted from 0",
            "instances": ", ".join(scale.instances),
        },
        [stopping_file(rows)],
        [
            *overview(rows, scale),
            *(by_rewards(own, scale, noise, group) for noise, group, own in parts),
            *(contest_drawing(own, scale, noise, group) for noise, group, own in parts),
        ],
        [
            *(average_grid(stopping_averages(own), LINE_UPS[noise], group) for noise, group, own in parts),
            error_grid(errors(rows)),
            *(samples_grid(own, noise, group, epsilon) for noise, group, own in parts for epsilon in scale.epsilons),
        ],
        findings(rows, scale.risk),
    )


def groups_in_words(scale: BenchmarkScale) -> Iterator[str]:
    """What is new among the instances."""
    held_out = sum(group_of(instance) == GROUPS[1] for instance in scale.instances)
    if held_out:
        yield (
            f"{plural(held_out, 'instance')} {'is' if held_out == 1 else 'are'} held out: nothing was tuned on them, "
            "and only the default and its rival run there. Known instances were there while methods were made."
        )


def explained(rows: Sequence[StoppingMeasurement]) -> Iterator[str]:
    """What the samples are compared with: references, and bounds where there are any."""
    yield (
        "The Gaussian reference is what arms would take at least, on average, if they were Gaussian with the same "
        "means and variances. It is no bound: rewards of another kind may take fewer samples, and where ε allows "
        "several answers it is asymptotic in δ."
    )
    if any(row.least_exact for row in rows):
        yield (
            "Where the arms are Gaussian and there is one right answer, it is a lower bound: no method that is right "
            "on all Gaussian instances can better it on average."
        )


def defaults(rows: Sequence[StoppingMeasurement]) -> str:
    """What is the default for which rewards, and what it is measured by."""
    told = [
        f"{line_up.default.name} for {line_up.rewards}, measured by {line_up.rival.name}"
        for line_up in line_ups(rows).values()
    ]
    return f"The default is {list_names(told)}."


def runs_by_instance(scale: BenchmarkScale) -> str:
    """How many runs on which instances.

    >>> runs_by_instance(BenchmarkScale("", {"a": 100, "b": 20, "c": 20}, (), 1, 1.0, 1, 1, 1))
    '100 on a, 20 elsewhere'
    """
    usual = min(scale.instances.values())
    more = [f"{runs} on {instance}" for instance, runs in scale.instances.items() if runs != usual]
    return ", ".join([*more, f"{usual} elsewhere"]) if more else str(usual)


def stopping_file(rows: list[StoppingMeasurement]) -> DataFile:
    """A row for each method on each instance at each tolerance."""
    table = [row.to_dict() for row in rows]
    for row in table:
        low_and_high = row.pop("error_interval") or (None, None)
        row["error_low"], row["error_high"] = low_and_high
    return DataFile("stopping", list(table[0]), [list(row.values()) for row in table])


def overview(rows: list[StoppingMeasurement], scale: BenchmarkScale) -> list[Drawing]:
    """The two instances of Experiment 2, for a quick look."""
    panels: list[tuple[str, dict[str, list[Point]], list[Point]]] = []
    for instance in (instance for instance in FAMOUS if instance in scale.instances):
        found = {(row.method, row.epsilon): row for row in rows if row.instance == instance}
        others = {method.name for method in scale.line_up(instance).others}
        shown = [method.name for method in scale.methods(instance) if method.name not in others]
        curves = {method: [point(found[method, epsilon]) for epsilon in scale.epsilons] for method in shown}
        panels.append((instance, curves, [least_of(found[shown[0], epsilon]) for epsilon in scale.epsilons]))
    if not panels:
        return []
    return [
        Drawing(
            "benchmark-stopping",
            "samples_by_tolerance",
            ([f"{epsilon:g}" for epsilon in scale.epsilons], panels),
            "",
            "Samples to stop on the two patterns of the paper's Experiment 2: means, on a logarithmic axis. A hollow "
            "mark with an arrow is a search that was undecided at its cap.",
        )
    ]


def least_of(row: StoppingMeasurement) -> Point:
    """What the samples are compared with, and whether it is a bound."""
    return row.least, bool(row.least_exact)


def point(row: StoppingMeasurement) -> Point:
    """Where a method is drawn, and whether it is known to need more than that."""
    return (row.mean, False) if row.mean is not None else (row.pulls, True)


def by_rewards(rows: list[StoppingMeasurement], scale: BenchmarkScale, noise: str, group: str) -> Drawing:
    """All methods on all instances of a part."""
    found = {(row.instance, row.epsilon, row.method): row for row in rows}
    least = {(row.instance, row.epsilon): least_of(row) for row in rows}
    names = by_difficulty(rows, scale)
    methods = dict.fromkeys(row.method for row in rows)
    panels = [
        (
            f"ε = {epsilon:g}",
            {method: [point(found[name, epsilon, method]) for name in names] for method in methods},
            [least[name, epsilon] for name in names],
        )
        for epsilon in scale.epsilons
    ]
    return Drawing(
        f"benchmark-{noise}-{group}",
        "samples_by_instance",
        (labels(names), panels),
        "",
        f"Samples to stop on each {group} instance with {LINE_UPS[noise].rewards}, sorted by what Gaussian arms would "
        "take at the smallest ε; in brackets the number of arms. Means, on a logarithmic axis; a hollow mark with an "
        "arrow is a method that was undecided at its cap in at least one run, drawn at the pulls made on average.",
    )


def contest_drawing(rows: list[StoppingMeasurement], scale: BenchmarkScale, noise: str, group: str) -> Drawing:
    """The default beside its rival."""
    own, base = LINE_UPS[noise].default.name, LINE_UPS[noise].rival.name
    pairs = {(pair.instance, pair.epsilon): pair for pair in versus(rows, own, base)}
    names = by_difficulty(rows, scale)
    panels = [
        (
            f"ε = {epsilon:g}",
            [
                None if pair.ratio is None or pair.interval is None else (pair.ratio, *pair.interval)
                for pair in (pairs[name, epsilon] for name in names)
            ],
        )
        for epsilon in scale.epsilons
    ]
    return Drawing(
        f"benchmark-{noise}-{group}-rival",
        "samples_against",
        (own, base, labels(names), panels),
        "",
        f"{own}, the default, beside {base} on {group} instances with {LINE_UPS[noise].rewards}: left of the line it "
        "needs fewer samples. Bars are approximate 95 % intervals; marks are hollow where these contain 1. Instances "
        "in the same order; nothing is drawn where one of the two did not stop in every run.",
    )


def by_difficulty(rows: list[StoppingMeasurement], scale: BenchmarkScale) -> list[str]:
    """The instances, the hardest first; where no number of samples suffices is hardest of all."""
    tightest = min(scale.epsilons)
    least = {row.instance: row.least for row in rows if row.epsilon == tightest}
    return sorted(least, key=lambda name: -(least[name] or float("inf")))


def labels(instances: list[str]) -> list[str]:
    """Names with the number of arms."""
    return [f"{name} ({len(load_instance(name).names)})" for name in instances]


def samples_grid(rows: list[StoppingMeasurement], noise: str, group: str, epsilon: float) -> Grid:
    """One tolerance: a row for each instance."""
    groups, line_up = by_instance(rows, noise, epsilon), LINE_UPS[noise]
    methods = list(dict.fromkeys(row.method for row in rows))
    least = least_word(all(cells[0].least_exact is not False for cells in groups.values()))
    header = ("instance", "arms", "front", least, *methods)
    table = [
        [
            instance,
            str(cells[0].arms),
            str(cells[0].front),
            "none suffices" if cells[0].least is None else f"{cells[0].least:,.0f}",
            *(stopping_cell(row) for row in cells),
        ]
        for instance, cells in groups.items()
    ]
    papers = f"how many times more samples {line_up.paper.name} takes (P); "
    return Grid(
        f"ε = {epsilon:g}, {line_up.rewards}, {group} instances",
        header,
        table,
        f"Mean samples ± standard error. Below them: how many times the {least} that is (R); "
        f"{papers if line_up.paper.name in methods else ''}and how many of the ended runs gave a wrong answer.",
        folded=True,
    )


def stopping_cell(row: StoppingMeasurement) -> str:
    """One method on one instance, in a few lines."""
    if row.pulls is None:
        return "not run" if row.least is None else "not run\ntoo long"
    ratios = [f"{factor(row.over_least)} R"] if row.over_least is not None else []
    if row.saving is not None and row.saving != 1.0:
        ratios.append(f"P {'> ' if row.saving_is_least else ''}{factor(row.saving)}")
    ended = row.runs - row.undecided
    ends = [f"{row.wrong}/{ended} wrong"] if ended else []
    if row.undecided:
        ends.append(f"{row.undecided}/{row.runs} undecided")
    spread = "" if row.standard_error is None else f" ± {row.standard_error:,.0f}"
    large = f"> {row.pulls:,.0f}" if row.mean is None else f"{row.mean:,.0f}{spread}"
    return "\n".join(line for line in (large, " · ".join(ratios), " · ".join(ends)) if line)


def average_grid(table: list[StoppingAverage], line_up: LineUp, group: str) -> Grid:
    """What each method needs on average, as ratios."""

    def shown(value: float | None, count: int) -> str:
        return "" if value is None else f"{factor(value)} ({count})"

    rows = [
        [
            f"{row.epsilon:g}",
            row.method,
            shown(row.over_least, row.least_count),
            shown(row.saving, row.saving_count),
            shown(row.over_rival, row.rival_count),
            worst_cell(row),
            f"{row.fewest} of {row.instances}",
            str(row.undecided),
            str(row.not_run),
        ]
        for row in table
    ]
    header = (
        "ε",
        "method",
        "samples / reference",
        f"{line_up.paper.name} / samples",
        f"samples / those of {line_up.rival.name}",
        "the same at worst",
        "fewest of all on",
        "undecided on",
        "not run on",
    )
    note = (
        "Geometric means over instances; in brackets how many. An instance counts where both sides of the ratio "
        "stopped in every run, so columns with few instances are about the easier ones. The reference is the Gaussian "
        "one. The worst ratio has its standard error; the largest of many seen is too large on average."
    )
    return Grid(f"On average, {line_up.rewards}, {group} instances", header, rows, note)


def worst_cell(row: StoppingAverage) -> str:
    """The instance that suits a method least beside the rival."""
    if row.worst is None or row.worst.ratio is None or row.worst.ratio == 1.0:
        return ""
    return f"{row.worst.ratio:.2f} ± {row.worst.standard_error or 0.0:.2f}\n{row.worst.instance}"


def error_grid(table: list[ErrorCounts]) -> Grid:
    """Wrong answers, over all instances and tolerances."""
    rows = [
        [
            row.method,
            f"{row.ended:,}",
            str(row.wrong),
            format_interval(row.interval) if row.interval else "",
            f"{row.undecided:,}",
        ]
        for row in table
        if row.epsilon is None
    ]
    header = ("method", "ended runs", "wrong answers", "95 % interval of their probability", "undecided runs")
    note = (
        f"A wrong answer may come with probability δ = {paper.DELTA:g} on each instance. Right is the exact Pareto set "
        "at ε = 0, and an ε-cover above. The interval is exact (Clopper and Pearson) for runs that are alike; these "
        "are pooled over instances and tolerances."
    )
    return Grid("Errors", header, rows, note)
