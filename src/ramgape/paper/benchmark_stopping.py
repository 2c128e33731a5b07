"""The benchmark of stopping times: the same problems for every method, until it stops.

Samples with their standard errors, ratios between methods, and wrong answers with their intervals. What did not stop in
every run is in no average.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from ramgape.common.formatting import list_names, plural
from ramgape.core.pareto import pareto_front
from ramgape.paper import paper
from ramgape.paper.formatting import factor
from ramgape.paper.jobs import Job, Outcome
from ramgape.paper.scale import FAMOUS, GROUPS, LINE_UPS, BenchmarkScale, LineUp, Method, group_of
from ramgape.paper.section import Drawing, Finding, Section, figure, finding, grid, note, section
from ramgape.paper.statistics import geometric_mean, standard_error
from ramgape.paper.stopping import expected_pulls
from ramgape.paper.tables import Columns, DataFile, Grid, Row, distinct, records, select, side_by_side, table
from ramgape.problems.instances import load_instance
from ramgape.risks import make_risk
from ramgape.risks.table import PAPER_RISK
from ramgape.statistics.proportions import clopper_pearson, ratio_interval
from ramgape.views.content import least_word

Key = tuple[Any, ...]  # ("least", instance, epsilon) or ("runs", instance, epsilon, method)
Outcomes = Mapping[Key, Outcome]
Point = tuple[float | None, bool]  # a number of samples, and what is known of it

# For the order of work and the time left only: what a bound needs of the paper's pulls, and what a pull costs.
SAVING, SEARCH = 150.0, 20_000.0
SLOWNESS = {"pairwise": 5.0, "empirical-bernstein": 2.0}

# How many times fewer samples than the paper's bound the defaults need according to our documentation.
PROMISED = {
    "bounded": (100.0, "ramgape list bounds: some 100 times"),
    "gaussian": (10.0, "README, of patterns 10 and 46: at least 13 times"),
}
# What the bound and the sampling rule of the default do apart: the first of two methods needs fewer samples.
MORE_COMPARISONS = {
    "bounded": (
        ("empirical-bernstein + ramgape", "empirical-bernstein-stitched + ramgape"),
        ("pairwise + ramgape", "empirical-bernstein + ramgape"),
        ("pairwise + evidence", "pairwise + ramgape"),
    ),
    "gaussian": (),
}
# Our aims: the default's share of its rival's samples, geometric mean over problems, by tolerance.
AIMS = {
    ("bounded", PAPER_RISK): {0.05: 0.65, 0.02: 0.70, 0.01: 0.68, 0.0: 0.63},
    ("bounded", "std"): dict.fromkeys((0.05, 0.02, 0.01, 0.0), 0.75),
}
NO_AIMS: Mapping[float, float] = MappingProxyType({})
NEAR = 3.0  # times the reference: our aim for the default


def plan_jobs(scale: BenchmarkScale, seed: int) -> dict[Key, Job]:
    """Every method on every problem at every tolerance, and what any method would take at least."""
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
                limits = {"seed": seed, "trials": trials, "max_trials": cap, "longest": scale.longest}
                jobs["runs", instance, epsilon, method.name] = Job(
                    "race", {**asked, **limits, **method._asdict()}, trials * pulls * SLOWNESS.get(method.bound, 1.0)
                )
    return jobs


# What the runs amount to


class Measurement(Row):
    """One method on one problem at one tolerance; `group` tells whether anything was tuned on that problem.

    `least` is the lower bound if `least_exact`, else the reference; both are None where no number of samples
    suffices. `mean` is there only if every run ended; `pulls` are those made on average, and the mean would exceed them
    if some run did not end. Both are None where nothing was run. `saving` is how many times more samples the paper's
    method takes, or at least so many (`saving_is_least`) if that one did not end; None where it was not run.
    """

    @property
    def method(self) -> str:
        return Method(self.bound, self.policy).name


class MethodRatio(Row):
    """Two methods on one problem: the ratio of their samples, its standard error and an approximate 95 % interval.

    These are None where at most one method stopped in every run. `fewer` tells which is ahead if one did, and is None
    if none did.
    """

    @property
    def sure(self) -> bool:
        """Whether chance alone hardly explains the difference."""
        return self.interval is None or not self.interval[0] <= 1.0 <= self.interval[1]


def measure_stopping(outcomes: Outcomes, scale: BenchmarkScale) -> list[Measurement]:
    """Everything that was run, in the order of the plan."""
    rows = []
    risk = make_risk(scale.risk)
    for instance in scale.instances:
        known, papers = load_instance(instance), scale.line_up(instance).paper
        front = int(pareto_front(known.means, known.risks_by(risk)).sum())
        described: dict[str, Any] = {"instance": instance, "group": group_of(instance), "noise": known.noise}
        described |= {"arms": len(known.names), "front": front}
        for epsilon in scale.epsilons:
            least = outcomes["least", instance, epsilon]
            group = []
            for method in scale.methods(instance):
                cap = scale.paper_cap if method == papers else scale.cap
                row = Measurement(**described, epsilon=epsilon, **method._asdict())
                measure_runs(row, outcomes["runs", instance, epsilon, method.name], cap, least["samples"])
                row.least_exact = None if row.least is None else least["exact"]
                group.append(row)
            compare_with_paper(group, papers.name)
            rows += group
    return rows


def measure_runs(row: Measurement, outcome: Outcome, cap: int, least: float | None) -> None:
    """Add what the runs of one method say, for themselves."""
    samples, runs = outcome["samples"], len(outcome["samples"])
    ended = [stopped != "cap" for stopped in outcome["stopped"]]
    right = outcome["eps_correct" if row.epsilon > 0.0 else "exact"]
    row.runs, row.undecided = runs, ended.count(False)
    row.wrong = sum(over and not good for over, good in zip(ended, right, strict=True))
    pulls = math.fsum(samples) / runs if runs else None
    row.cap, row.least, row.mean = cap, least, pulls if all(ended) else None
    row.standard_error = None if row.mean is None else standard_error(samples)
    row.pulls = pulls
    row.over_least = row.mean / least if row.mean is not None and least is not None else None
    row.saving, row.saving_is_least = None, False
    row.error_interval = clopper_pearson(row.wrong, sum(ended)) if any(ended) else None


def compare_with_paper(group: Sequence[Measurement], papers: str) -> None:
    """Add how many times more samples the paper's method takes, if it was run."""
    for base in select(group, method=papers):
        for row in group:
            if row.mean is not None and base.pulls is not None:
                row.saving, row.saving_is_least = base.pulls / row.mean, base.mean is None


def line_ups(rows: Sequence[Row]) -> dict[str, LineUp]:
    """The methods for the rewards that occur."""
    return {noise: line_up for noise, line_up in LINE_UPS.items() if select(rows, noise=noise)}


def parts_of(rows: Sequence[Row]) -> list[tuple[str, str, list[Row]]]:
    """What is averaged apart: kinds of rewards and groups of problems, with their rows."""
    parts = [(noise, group, select(rows, noise=noise, group=group)) for noise in line_ups(rows) for group in GROUPS]
    return [part for part in parts if part[2]]


def known_values(rows: Sequence[Row], column: str) -> list[float]:
    """The values of a column without None."""
    return [value for value in (getattr(row, column) for row in rows) if value is not None]


def mean_or_none(ratios: Sequence[float]) -> float | None:
    """The geometric mean, if there is anything to average."""
    return geometric_mean(ratios) if ratios else None


def stopping_averages(rows: Sequence[Row]) -> list[Row]:
    """Every method at every tolerance, part by part: geometric means of ratios, and how many problems are in each."""
    return [
        stopping_average(select(own, epsilon=epsilon), method)
        for _, _, own in parts_of(rows)
        for epsilon in distinct(own, "epsilon")
        for method in distinct(own, "method")
    ]


def stopping_average(rows: Sequence[Row], method: str) -> Row:
    """One method at one tolerance in one part."""
    own, noise = select(rows, method=method), rows[0].noise
    over_least = known_values(own, "over_least")
    savings = known_values(select(own, saving_is_least=False), "saving")
    pairs = [pair for pair in versus(rows, method, LINE_UPS[noise].rival.name) if pair.ratio is not None]
    over_rival = known_values(pairs, "ratio")
    fewest = {row.instance: min(known_values(select(rows, instance=row.instance), "mean"), default=None) for row in own}
    return Row(
        noise=noise,
        group=rows[0].group,
        epsilon=rows[0].epsilon,
        method=method,
        instances=len(own),
        over_least=mean_or_none(over_least),
        least_count=len(over_least),
        saving=mean_or_none(savings),
        saving_count=len(savings),
        over_rival=mean_or_none(over_rival),
        rival_count=len(over_rival),
        worst=max(pairs, key=lambda pair: pair.ratio, default=None),
        fewest=sum(row.mean is not None and row.mean == fewest[row.instance] for row in own),
        undecided=sum(row.undecided > 0 for row in own),
        not_run=sum(row.runs == 0 for row in own),
    )


def versus(rows: Sequence[Row], own: str, base: str, epsilon: float | None = None) -> list[MethodRatio]:
    """One method against another, on every problem where both were tried, at one tolerance or at all."""
    found = {(row.instance, row.epsilon): row for row in select(rows, method=base)}
    return [
        method_ratio(row, found[row.instance, row.epsilon])
        for row in select(rows, method=own)
        if epsilon in (None, row.epsilon) and (row.instance, row.epsilon) in found
    ]


def method_ratio(own: Row, base: Row) -> MethodRatio:
    """One method against another on one problem."""
    ratio, error, interval, fewer = None, None, None, None
    if own.mean is not None and base.mean is not None:
        ratio = own.mean / base.mean
        relative = [(row.standard_error or 0.0) / row.mean for row in (own, base)]
        error, interval, fewer = ratio * math.hypot(*relative), ratio_interval(ratio, *relative), ratio < 1.0
    elif own.mean is not None or base.mean is not None:
        fewer = own.mean is not None
    place = {"instance": own.instance, "epsilon": own.epsilon}
    return MethodRatio(**place, ratio=ratio, standard_error=error, interval=interval, fewer=fewer)


def errors(rows: Sequence[Row]) -> list[Row]:
    """Wrong answers of each method, at each tolerance and, with epsilon None, at all of them together."""
    methods = [method.name for line_up in LINE_UPS.values() for method in line_up.methods]
    present = [name for name in methods if select(rows, method=name)]
    return [pooled(rows, method, epsilon) for method in present for epsilon in (*distinct(rows, "epsilon"), None)]


def pooled(rows: Sequence[Row], method: str, epsilon: float | None) -> Row:
    """All runs of a method as if they were of one problem."""
    own = [row for row in select(rows, method=method) if epsilon in (None, row.epsilon)]
    undecided, wrong = sum(row.undecided for row in own), sum(row.wrong for row in own)
    ended = sum(row.runs for row in own) - undecided
    interval = clopper_pearson(wrong, ended) if ended else None
    return Row(method=method, epsilon=epsilon, ended=ended, wrong=wrong, interval=interval, undecided=undecided)


def summarize(rows: Sequence[Row], risk: str) -> dict[str, Any]:
    """The numbers for JSON."""
    return {
        "delta": paper.DELTA,
        "risk": risk,
        "measurements": records(rows),
        "averages": [{**vars(row), "worst": row.worst and vars(row.worst)} for row in stopping_averages(rows)],
        "errors": records(errors(rows)),
        "default_against_rival": {
            noise: [{**vars(pair), "sure": pair.sure} for pair in versus(rows, each.default.name, each.rival.name)]
            for noise, each in line_ups(rows).items()
        },
    }


# What they say


def findings(rows: Sequence[Row], risk: str = PAPER_RISK) -> Iterator[Finding]:
    """All claims, for the rewards that were run."""
    yield reliable(rows)
    for noise, group, own in parts_of(rows):
        line_up = LINE_UPS[noise]
        default, rival, where = line_up.default.name, line_up.rival.name, f"{group} instances, {line_up.rewards}"
        yield fewer_on_average(own, default, rival, where, AIMS.get((noise, risk), {}))
        yield fewer_everywhere(own, default, rival, where)
        yield near_reference(own, default, where)
        methods = distinct(own, "method")
        if line_up.paper.name in methods:
            yield saves(own, noise, line_up)
        for first, second in MORE_COMPARISONS[noise]:
            if {first, second} <= set(methods):
                yield fewer_on_average(own, first, second, where)
    bounded = [row for row in rows if row.least_exact]
    if bounded:
        yield above_the_bound(bounded)


def place(row: Row) -> str:
    """A problem at a tolerance."""
    return f"{row.instance} at ε = {row.epsilon:g}"


def reliable(rows: Sequence[Row]) -> Finding:
    """Are answers wrong more often than is allowed, on the whole or anywhere?"""
    totals = select(errors(rows), epsilon=None)
    tried = [row for row in rows if row.error_interval is not None]
    # Among so many intervals some would miss by chance; widened, all of them together are right with 95 %.
    level = 1.0 - 0.05 / max(len(tried), 1)
    beyond = [row for row in tried if clopper_pearson(row.wrong, row.runs - row.undecided, level)[0] > paper.DELTA]
    holds = not beyond and all(row.interval is None or row.interval[0] <= paper.DELTA for row in totals)
    listed = ", ".join(f"{row.method} on {place(row)}" for row in beyond) or "there is none"
    return finding("right_often_enough", holds, records(totals), cases=len(tried), beyond=listed)


def saves(rows: Sequence[Row], noise: str, line_up: LineUp) -> Finding:
    """Is the default as much better than the paper's bound as our documentation says?"""
    promised, source = PROMISED[noise]
    own = [row for row in select(rows, method=line_up.default.name) if row.saving is not None]
    short = [f"{place(row)} ({row.saving:.1f})" for row in own if row.saving < promised and not row.saving_is_least]
    # Where the paper's method was undecided, the factor is above what is seen; if that falls short, it says nothing.
    known = [row for row in own if row.saving >= promised or not row.saving_is_least]
    factors = sorted(row.saving for row in own if not row.saving_is_least)
    told = f"; where both stop, the factor is from {factors[0]:.1f} to {factors[-1]:,.0f}" if factors else ""
    counts = {"good": len(known) - len(short), "cases": plural(len(known), "case"), "factors": told}
    values = {"line_up": line_up, "promised": promised, "short": f"on {'; '.join(short)}" if short else "nowhere"}
    return finding("saves", not short if known else None, **values, **counts, source=source)


def means_by_tolerance(rows: Sequence[Row], column: str) -> list[Row]:
    """The geometric mean of a column at each tolerance, with its range and the number of problems behind it."""
    found = []
    for epsilon in distinct(rows, "epsilon"):
        ratios = known_values(select(rows, epsilon=epsilon), column)
        if ratios:
            mean, count = geometric_mean(ratios), plural(len(ratios), "instance")
            found.append(Row(epsilon=epsilon, mean=mean, count=count, low=min(ratios), high=max(ratios)))
    return found


def fewer_on_average(
    rows: Sequence[Row], own: str, base: str, where: str, aims: Mapping[float, float] = NO_AIMS
) -> Finding:
    """Is one method better than another, at every tolerance, on geometric average, and by as much as we aim at?"""
    means = means_by_tolerance(versus(rows, own, base), "ratio")
    most = {row.epsilon: aims[row.epsilon] for row in means if row.epsilon in aims}
    holds = all(row.mean <= most.get(row.epsilon, 1.0) for row in means) if means else None
    values = {"own": own, "base": base, "where": where}
    if not most:
        return finding("fewer_on_average", holds, records(means), **values)
    asked = {"aims": list_names([f"{aim:g}" for aim in most.values()])}
    tolerances = list_names([f"{epsilon:g}" for epsilon in most])
    return finding("fewer_by_our_aims", holds, records(means), **values, **asked, tolerances=tolerances)


def near_reference(rows: Sequence[Row], method: str, where: str) -> Finding:
    """Is the default as near to the reference as we aim at?"""
    means = means_by_tolerance(select(rows, method=method), "over_least")
    holds = all(row.mean <= NEAR for row in means) if means else None
    return finding("near_reference", holds, records(means), method=method, near=NEAR, where=where)


def fewer_everywhere(rows: Sequence[Row], own: str, base: str, where: str) -> Finding:
    """Is it better everywhere? Every exception is listed, and how sure it is."""
    pairs = [pair for pair in versus(rows, own, base) if pair.fewer is not None]
    fewer = [pair for pair in pairs if pair.fewer]
    exceptions = sorted((each for each in pairs if not each.fewer), key=lambda each: -(each.ratio or float("inf")))
    values = {"own": own, "base": base, "where": where, "better": len(fewer), "cases": plural(len(pairs), "case")}
    values |= {"below": sum(pair.sure for pair in fewer), "above": sum(pair.sure for pair in exceptions)}
    values |= {"average": "", "worst": "", "exceptions": "There is no exception."}
    known = [pair for pair in pairs if pair.ratio is not None]
    if known:
        worst, mean = max(known, key=lambda pair: pair.ratio), geometric_mean([pair.ratio for pair in known])
        values["average"] = f"; geometric mean of the ratio of their samples {mean:.3f}"
        values["worst"] = f"At worst it is {worst.ratio:.3f} ± {worst.standard_error:.3f} ({place(worst)}). "
    if exceptions:
        listed = "; ".join(map(exception, exceptions))
        values["exceptions"] = f"{len(exceptions)} exceptions, with their intervals: {listed}."
    return finding("fewer_everywhere", not exceptions if pairs else None, **values)


def exception(pair: MethodRatio) -> str:
    """Where a method needs more samples, and how many times."""
    if pair.ratio is None:
        return f"{place(pair)}: undecided at its cap, the other not"
    low, high = pair.interval
    return f"{place(pair)}: {pair.ratio:.2f} ({low:.2f} to {high:.2f})"


def above_the_bound(rows: Sequence[Row]) -> Finding:
    """Does any method do better than the lower bound, where it is one?"""
    compared = [row for row in rows if row.over_least is not None]
    better = [f"{row.method} on {place(row)} ({row.over_least:.2f})" for row in compared if row.over_least < 1.0]
    nearest = ""
    if compared:
        row = min(compared, key=lambda row: row.over_least)
        nearest = f"; the nearest is {row.method} on {place(row)}, with {row.over_least:.2f} times the bound"
    values = {"cases": plural(len(compared), "case"), "nearest": nearest}
    told = f"Below it: {'; '.join(better)}." if better else "None is below it."
    return finding("above_the_bound", not better if compared else None, **values, better=told)


# The section


def make_section(scale: BenchmarkScale, seed: int, outcomes: Outcomes) -> Section:
    """Samples to stop."""
    rows = measure_stopping(outcomes, scale)
    parts, exact = parts_of(rows), any(row.least_exact for row in rows)
    held_out = sum(group_of(instance) == GROUPS[1] for instance in scale.instances)
    defaults = [
        f"{each.default.name} for {each.rewards}, measured by {each.rival.name}" for each in line_ups(rows).values()
    ]
    drawings = [part_drawings(own, scale, noise, group) for noise, group, own in parts]
    arms = [row.arms for row in rows]
    values: dict[str, Any] = {"count": plural(len(scale.instances), "instance"), "fewest": min(arms), "most": max(arms)}
    values |= {"epsilons": list_names([f"{epsilon:g}" for epsilon in scale.epsilons]), "defaults": list_names(defaults)}
    values |= {"runs": runs_by_instance(scale), "instances": ", ".join(scale.instances)}
    values |= {"held_out": held_out and plural(held_out, "instance"), "exact": exact}
    return section(
        "stopping",
        scale,
        seed,
        values,
        summary=summarize(rows, scale.risk),
        data_files=[DataFile("stopping", records(rows))],
        drawings=[
            *overview(rows, scale),
            *(methods for methods, _ in drawings),
            *(contest for _, contest in drawings),
        ],
        grids=[
            *(average_grid(own, LINE_UPS[noise], group) for noise, group, own in parts),
            grid("errors", map(vars, select(errors(rows), epsilon=None)), note=note("errors")),
            *(
                samples_grid(own, LINE_UPS[noise], group, each)
                for noise, group, own in parts
                for each in scale.epsilons
            ),
        ],
        findings=list(findings(rows, scale.risk)),
    )


def runs_by_instance(scale: BenchmarkScale) -> str:
    """The numbers of runs, in words.

    >>> runs_by_instance(BenchmarkScale("", {"a": 100, "b": 20, "c": 20}, (), 1, 1.0, 1, 1, 1))
    '100 on a, 20 elsewhere'
    """
    usual = min(scale.instances.values())
    more = [f"{runs} on {instance}" for instance, runs in scale.instances.items() if runs != usual]
    return ", ".join([*more, f"{usual} elsewhere"]) if more else str(usual)


def overview(rows: Sequence[Row], scale: BenchmarkScale) -> list[Drawing]:
    """The two problems of Experiment 2, for a quick look."""
    panels = []
    for instance in (instance for instance in FAMOUS if instance in scale.instances):
        others = {method.name for method in scale.line_up(instance).others}
        panels.append(
            (instance, *curves_of([row for row in select(rows, instance=instance) if row.method not in others]))
        )
    return [figure("benchmark-stopping", ([f"{each:g}" for each in scale.epsilons], panels))] if panels else []


def curves_of(rows: Sequence[Row]) -> tuple[dict[str, list[Point]], list[Point]]:
    """The samples of each method in the order of the rows, and what they are compared with."""
    curves = {}
    for method in distinct(rows, "method"):
        own = select(rows, method=method)
        # A mean, or the pulls made where the method is only known to need more than that.
        curves[method] = [(row.pulls if row.mean is None else row.mean, row.mean is None) for row in own]
    return curves, [(row.least, bool(row.least_exact)) for row in select(rows, method=next(iter(curves)))]


def by_difficulty(rows: Sequence[Row], scale: BenchmarkScale) -> list[str]:
    """The problems, the hardest first; a problem for which no number of samples suffices is hardest of all."""
    least = {row.instance: row.least for row in select(rows, epsilon=min(scale.epsilons))}
    return sorted(least, key=lambda name: -(least[name] or float("inf")))


def part_drawings(rows: Sequence[Row], scale: BenchmarkScale, noise: str, group: str) -> tuple[Drawing, Drawing]:
    """All methods on all problems of a part, and the default compared with its rival."""
    own, base = LINE_UPS[noise].default.name, LINE_UPS[noise].rival.name
    names = by_difficulty(rows, scale)
    labels = [f"{name} ({len(load_instance(name).names)})" for name in names]
    methods, contest = [], []
    for epsilon in scale.epsilons:
        ordered = sorted(select(rows, epsilon=epsilon), key=lambda row: names.index(row.instance))
        pairs = [pair.interval and (pair.ratio, *pair.interval) for pair in versus(ordered, own, base)]
        methods.append((f"ε = {epsilon:g}", *curves_of(ordered)))
        contest.append((f"ε = {epsilon:g}", pairs))
    label = f"Samples of {own},\ndivided by those of {base}"
    values = {"noise": noise, "group": group, "rewards": LINE_UPS[noise].rewards, "own": own, "base": base}
    return (
        figure("benchmark-part", (labels, methods), **values),
        figure("benchmark-rival", (label, labels, contest, "samples"), **values),
    )


def average_grid(rows: Sequence[Row], line_up: LineUp, group: str) -> Grid:
    """What each method needs on average, as ratios."""

    cells = []
    for row in stopping_averages(rows):
        means = {"least": (row.over_least, row.least_count), "saved": (row.saving, row.saving_count)}
        means["rival"] = row.over_rival, row.rival_count
        shown = {name: f"{factor(mean)} ({count})" if mean else "" for name, (mean, count) in means.items()}
        worst = row.worst if row.worst is not None and row.worst.ratio != 1.0 else None
        told = worst and f"{worst.ratio:.2f} ± {worst.standard_error or 0.0:.2f}\n{worst.instance}"
        cells.append({**vars(row), **shown, "worst": told})
    values: dict[str, Any] = {"paper_method": line_up.paper.name, "rival_method": line_up.rival.name}
    values |= {"rewards": line_up.rewards, "group": group}
    return grid("averages", cells, note=note("averages"), **values)


def samples_grid(rows: Sequence[Row], line_up: LineUp, group: str, epsilon: float) -> Grid:
    """One tolerance: a row for each problem."""
    own, methods = select(rows, epsilon=epsilon), distinct(rows, "method")
    groups = [select(own, instance=instance) for instance in distinct(own, "instance")]
    least = least_word(all(cells[0].least_exact is not False for cells in groups))
    papers = f"how many times more samples {line_up.paper.name} takes (P); " if line_up.paper.name in methods else ""
    columns: Columns[Sequence[Row]] = [
        ("instance", lambda cells: cells[0].instance),
        ("arms", lambda cells: str(cells[0].arms)),
        ("front", lambda cells: str(cells[0].front)),
        (least, lambda cells: "none suffices" if cells[0].least is None else f"{cells[0].least:,.0f}"),
        *side_by_side(methods, stopping_cell),
    ]
    title = f"ε = {epsilon:g}, {line_up.rewards}, {group} instances"
    return table(title, groups, columns, note("samples", least=least, papers=papers), folded=True)


def stopping_cell(row: Row) -> str:
    """One method on one problem, in a few lines."""
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
