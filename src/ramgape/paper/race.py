"""The benchmark of stopping times: the same instances for every method, until it stops.

race            what to run, and the section
race_results    what the runs amount to: means, ratios, errors
race_claims     what they say
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from ramgape.common.formatting import list_names, plural
from ramgape.paper import paper
from ramgape.paper.benchmark_scale import FAMOUS, BenchmarkScale
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
    measure_stopping,
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
    for instance, runs in scale.instances.items():
        line_up = LINE_UPS[load_instance(instance).noise]
        for epsilon in scale.epsilons:
            asked = {"instance": instance, "epsilon": epsilon, "delta": paper.DELTA, "rho": paper.RHO}
            jobs["least", instance, epsilon] = Job("least_samples", asked, 2e6)
            guess = expected_pulls(instance, max(epsilon, 1e-4), "ramgape")  # two arms may be equal
            for method in line_up.methods:
                papers = method == line_up.paper
                trials, cap = (scale.paper_runs, scale.paper_cap) if papers else (runs, scale.cap)
                pulls = min(guess, cap) if papers else SEARCH + min(guess / SAVING, cap)
                jobs["race", instance, epsilon, method.name] = Job(
                    "race",
                    {**asked, "seed": seed, "trials": trials, "max_pulls": cap, **method._asdict()},
                    trials * pulls * SLOWNESS.get(method.bound, 1.0),
                )
    return jobs


def make_section(scale: BenchmarkScale, seed: int, outcomes: Outcomes) -> Section:
    """Samples to stop."""
    rows = measure_stopping(outcomes, scale)
    present = {noise: line_up for noise, line_up in LINE_UPS.items() if any(row.noise == noise for row in rows)}
    arms = [row.arms for row in rows]
    return Section(
        "stopping",
        "Samples to stop, by bound and tolerance",
        (
            f"Each method searches {plural(len(scale.instances), 'instance')} with {min(arms)} to {max(arms)} arms, at "
            f"ε = {list_names([f'{epsilon:g}' for epsilon in scale.epsilons])}, until it can prove its answer with "
            f"probability 1 − δ. A method is a confidence bound and a sampling rule. {defaults(present)}",
            "A search that reaches the cap on its pulls is undecided. Where one is, there is no mean: > stands before "
            "the pulls that were made on average, which the mean of whole searches would exceed. Such a case is in no "
            "average. Where the answer hangs on a tie, no number of samples suffices, and nothing is run.",
            *explained(rows),
        ),
        summarize(rows),
        {
            "δ": f"{paper.DELTA:g}",
            "ρ": f"{paper.RHO:g}",
            "runs": f"{runs_by_instance(scale)}; of the paper's methods {scale.paper_runs}",
            "cap on the pulls of a run": f"{scale.cap:,}; of the paper's methods {scale.paper_cap:,}",
            "seeds": f"run r has {seed} + r, counted from 0",
            "instances": ", ".join(scale.instances),
        },
        [stopping_file(rows)],
        [
            *overview(rows, scale),
            *(by_rewards(rows, scale, noise, line_up) for noise, line_up in present.items()),
            *(challenger_drawing(rows, scale, noise, line_up) for noise, line_up in present.items()),
        ],
        [
            *(average_grid(stopping_averages(rows, noise), line_up) for noise, line_up in present.items()),
            error_grid(errors(rows)),
            *(
                samples_grid(rows, noise, line_up, epsilon)
                for noise, line_up in present.items()
                for epsilon in scale.epsilons
            ),
        ],
        findings(rows),
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
            "on all Gaussian instances can better it on average. Where that alone is above the cap, nothing is run, "
            "and the table says so."
        )


def defaults(present: Mapping[str, LineUp]) -> str:
    """What is the default for which rewards."""
    told = [f"{line_up.default.name} for {line_up.rewards}" for line_up in present.values()]
    return f"The default is {list_names(told)}."


def runs_by_instance(scale: BenchmarkScale) -> str:
    """How many runs on which instances.

    >>> runs_by_instance(BenchmarkScale("", {"a": 100, "b": 20, "c": 20}, (), 1, 1, 1))
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
    line_up = LINE_UPS["bounded"]
    shown = (line_up.paper.name, line_up.default.name, line_up.challenger.name)
    panels: list[tuple[str, dict[str, list[Point]], list[Point]]] = []
    for instance in (instance for instance in FAMOUS if instance in scale.instances):
        found = {(row.method, row.epsilon): row for row in rows if row.instance == instance}
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


def by_rewards(rows: list[StoppingMeasurement], scale: BenchmarkScale, noise: str, line_up: LineUp) -> Drawing:
    """All methods on all instances."""
    found = {(row.instance, row.epsilon, row.method): row for row in rows if row.noise == noise}
    least = {(row.instance, row.epsilon): least_of(row) for row in found.values()}
    names = by_difficulty(rows, scale, noise)
    panels = [
        (
            f"ε = {epsilon:g}",
            {method.name: [point(found[name, epsilon, method.name]) for name in names] for method in line_up.methods},
            [least[name, epsilon] for name in names],
        )
        for epsilon in scale.epsilons
    ]
    return Drawing(
        f"benchmark-{noise}",
        "samples_by_instance",
        (labels(names), panels),
        "",
        f"Samples to stop on each instance with {line_up.rewards}, sorted by what Gaussian arms would take at the "
        "smallest ε; in brackets the number of arms. Means, on a logarithmic axis; a hollow mark with an arrow is a "
        "method that was undecided at its cap in at least one run, drawn at the pulls made on average.",
    )


def challenger_drawing(rows: list[StoppingMeasurement], scale: BenchmarkScale, noise: str, line_up: LineUp) -> Drawing:
    """The challenger beside the default."""
    own, base = line_up.challenger.name, line_up.default.name
    mine = [row for row in rows if row.noise == noise]
    pairs = {(pair.instance, pair.epsilon): pair for pair in versus(mine, own, base)}
    names = by_difficulty(rows, scale, noise)
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
        f"benchmark-{noise}-challenger",
        "samples_against",
        (own, base, labels(names), panels),
        "",
        f"{own} beside the default, with {line_up.rewards}: left of the line it needs fewer samples. Bars are "
        "approximate 95 % intervals; marks are hollow where these contain 1. Instances in the same order; nothing is "
        "drawn where one of the two did not stop in every run.",
    )


def by_difficulty(rows: list[StoppingMeasurement], scale: BenchmarkScale, noise: str) -> list[str]:
    """The instances, the hardest first; where no number of samples suffices is hardest of all."""
    tightest = min(scale.epsilons)
    least = {row.instance: row.least for row in rows if (row.noise, row.epsilon) == (noise, tightest)}
    return sorted(least, key=lambda name: -(least[name] or float("inf")))


def labels(instances: list[str]) -> list[str]:
    """Names with the number of arms."""
    return [f"{name} ({len(load_instance(name).names)})" for name in instances]


def samples_grid(rows: list[StoppingMeasurement], noise: str, line_up: LineUp, epsilon: float) -> Grid:
    """One tolerance: a row for each instance."""
    groups = by_instance(rows, noise, epsilon)
    least = least_word(all(group[0].least_exact is not False for group in groups.values()))
    header = ("instance", "arms", "front", least, *(method.name for method in line_up.methods))
    table = [
        [
            instance,
            str(group[0].arms),
            str(group[0].front),
            "none suffices" if group[0].least is None else f"{group[0].least:,.0f}",
            *(stopping_cell(row) for row in group),
        ]
        for instance, group in groups.items()
    ]
    return Grid(
        f"ε = {epsilon:g}, {line_up.rewards}",
        header,
        table,
        f"Mean samples ± standard error. Below them: how many times the {least} that is (R); how many times more "
        f"samples {line_up.paper.name} takes (P); and how many of the ended runs gave a wrong answer.",
        folded=True,
    )


def stopping_cell(row: StoppingMeasurement) -> str:
    """One method on one instance, in a few lines."""
    if row.pulls is None:
        return "not run" if row.least is None else f"not run\nlower bound > {row.cap:,}"
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


def average_grid(table: list[StoppingAverage], line_up: LineUp) -> Grid:
    """What each method needs on average, as ratios."""

    def shown(value: float | None, count: int) -> str:
        return "" if value is None else f"{factor(value)} ({count})"

    rows = [
        [
            f"{row.epsilon:g}",
            row.method,
            shown(row.over_least, row.least_count),
            shown(row.saving, row.saving_count),
            shown(row.over_default, row.default_count),
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
        "samples / default's",
        "fewest of all on",
        "undecided on",
        "not run on",
    )
    note = (
        "Geometric means over instances; in brackets how many. An instance counts where both sides of the ratio "
        "stopped in every run, so columns with few instances are about the easier ones. The reference is the Gaussian "
        "one."
    )
    return Grid(f"On average, {line_up.rewards}", header, rows, note)


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
