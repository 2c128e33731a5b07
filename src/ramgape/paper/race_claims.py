"""What the races say; the rule behind each verdict stands next to the sentence that it judges."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from ramgape.common.formatting import list_names, plural
from ramgape.common.proportions import clopper_pearson
from ramgape.options import PAPER_RISK
from ramgape.paper import paper
from ramgape.paper.methods import LINE_UPS, LineUp
from ramgape.paper.race_results import MethodRatio, StoppingMeasurement, errors, parts_of, tolerances, versus, worst_of
from ramgape.paper.section import Finding, judged
from ramgape.paper.statistics import geometric_mean

# How many times fewer samples than the paper's bound the defaults are said to need, and where that is said.
PROMISED = {
    "bounded": (100.0, "ramgape list bounds: some 100 times"),
    "gaussian": (10.0, "README, of patterns 10 and 46: at least 13 times"),
}

# What the bound and the sampling rule of the default do apart, and what closed formulas cost: the first of two methods
# is said to need fewer samples.
MORE_COMPARISONS = {
    "bounded": (
        ("empirical-bernstein + ramgape", "empirical-bernstein-stitched + ramgape"),
        ("pairwise + ramgape", "empirical-bernstein + ramgape"),
        ("pairwise + evidence", "pairwise + ramgape"),
    ),
    "gaussian": (),
}

# What the default is to need of its rival's samples, geometric mean over instances, by tolerance.
AIMS = {
    ("bounded", PAPER_RISK): {0.05: 0.65, 0.02: 0.70, 0.01: 0.68, 0.0: 0.63},
    ("bounded", "std"): dict.fromkeys((0.05, 0.02, 0.01, 0.0), 0.75),
}
NO_AIMS: Mapping[float, float] = MappingProxyType({})
NEAR = 3.0  # times the reference, which is what we aim at in the end


def findings(rows: Sequence[StoppingMeasurement], risk: str = PAPER_RISK) -> list[Finding]:
    """All claims, for the rewards that were run."""
    told = [reliable(rows)]
    for noise, group, own in parts_of(rows):
        line_up = LINE_UPS[noise]
        default, rival, where = line_up.default.name, line_up.rival.name, f"{group} instances, {line_up.rewards}"
        told += [
            fewer_on_average(own, default, rival, where, AIMS.get((noise, risk), {})),
            fewer_everywhere(own, default, rival, where),
            near_reference(own, default, where),
        ]
        methods = {row.method for row in own}
        if line_up.paper.name in methods:
            told.append(saves(own, noise, line_up))
        told += [
            fewer_on_average(own, first, second, where)
            for first, second in MORE_COMPARISONS[noise]
            if {first, second} <= methods
        ]
    bounded = [row for row in rows if row.least_exact]
    return [*told, above_the_bound(bounded)] if bounded else told


def reliable(rows: Sequence[StoppingMeasurement]) -> Finding:
    """Are answers wrong more often than is allowed, on the whole or anywhere?"""
    totals = [row for row in errors(rows) if row.epsilon is None]
    tried = [row for row in rows if row.error_interval is not None]
    # Among so many intervals some would miss by chance; widened, all of them together are right with 95 %.
    level = 1.0 - 0.05 / max(len(tried), 1)
    beyond = [row for row in tried if clopper_pearson(row.wrong, row.runs - row.undecided, level)[0] > paper.DELTA]
    return Finding(
        f"No method gives a wrong answer with a probability above δ = {paper.DELTA:g}, on any instance at any ε.",
        judged(not beyond and all(row.interval is None or row.interval[0] <= paper.DELTA for row in totals)),
        "Wrong answers of all ended runs: "
        + "; ".join(f"{row.method} {row.wrong} of {row.ended:,}" for row in totals)
        + f". A method is refuted if its 95 % interval lies above δ, or if the interval of one of {len(tried):,} cases "
        "does, widened for their number: "
        + (", ".join(f"{row.method} on {row.instance} at ε = {row.epsilon:g}" for row in beyond) or "there is none")
        + ".",
        "what δ promises",
    )


def saves(rows: Sequence[StoppingMeasurement], noise: str, line_up: LineUp) -> Finding:
    """Is the default as much better than the paper's bound as is said?"""
    promised, source = PROMISED[noise]
    own = [row for row in rows if row.method == line_up.default.name and row.saving is not None]
    short = [row for row in own if row.saving is not None and row.saving < promised and not row.saving_is_least]
    # Where the paper's method was undecided, the factor is above what is seen; if that falls short, it says nothing.
    known = [row for row in own if row.saving is not None and (row.saving >= promised or not row.saving_is_least)]
    factors = sorted(row.saving for row in own if row.saving is not None and not row.saving_is_least)
    return Finding(
        f"{line_up.default.name} needs at least {promised:g} times fewer samples than {line_up.paper.name}, on every "
        "instance at every ε.",
        judged(not short) if known else "not checkable",
        f"So it is in {len(known) - len(short)} of {plural(len(known), 'case')} that can be judged"
        + (f"; where both stop, the factor is from {factors[0]:.1f} to {factors[-1]:,.0f}" if factors else "")
        + ". "
        + (
            "It falls short on "
            + "; ".join(f"{row.instance} at ε = {row.epsilon:g} ({row.saving:.1f})" for row in short)
            + "."
            if short
            else "It falls short nowhere."
        ),
        source,
    )


def fewer_on_average(
    rows: Sequence[StoppingMeasurement], own: str, base: str, where: str, aims: Mapping[float, float] = NO_AIMS
) -> Finding:
    """Is one method better than another, at every tolerance, on geometric average, and by as much as we aim at?"""
    ratios = {
        epsilon: [pair.ratio for pair in versus(rows, own, base, epsilon) if pair.ratio is not None]
        for epsilon in tolerances(rows)
    }
    means = {epsilon: geometric_mean(group) for epsilon, group in ratios.items() if group}
    most = {epsilon: aims[epsilon] for epsilon in means if epsilon in aims}
    asked = (
        f"at most {list_names([f'{aim:g}' for aim in most.values()])} times the samples of {base}, on average over "
        f"instances, at ε = {list_names([f'{epsilon:g}' for epsilon in most])}"
        if most
        else f"fewer samples than {base}, on average over instances, at every ε"
    )
    return Finding(
        f"{own} needs {asked} ({where}).",
        judged(all(mean <= most.get(epsilon, 1.0) for epsilon, mean in means.items())) if means else "not checkable",
        "Geometric mean of the ratio of their samples: "
        + "; ".join(
            f"{mean:.3f} at ε = {epsilon:g} ({plural(len(ratios[epsilon]), 'instance')})"
            for epsilon, mean in means.items()
        )
        + ".",
        "our aim" if most else "ours",
    )


def near_reference(rows: Sequence[StoppingMeasurement], method: str, where: str) -> Finding:
    """Is the default as near to the reference as it should be in the end?"""
    times = {
        epsilon: [
            row.over_least
            for row in rows
            if (row.method, row.epsilon) == (method, epsilon) and row.over_least is not None
        ]
        for epsilon in tolerances(rows)
    }
    means = {epsilon: geometric_mean(group) for epsilon, group in times.items() if group}
    return Finding(
        f"{method} needs at most {NEAR:g} times the reference, on average over instances, at every ε ({where}).",
        judged(all(mean <= NEAR for mean in means.values())) if means else "not checkable",
        "Times the reference, geometric mean and range: "
        + "; ".join(
            f"{mean:.2f} ({min(times[epsilon]):.2f} to {max(times[epsilon]):.2f}) at ε = {epsilon:g}"
            for epsilon, mean in means.items()
        )
        + ".",
        "our aim",
    )


def fewer_everywhere(rows: Sequence[StoppingMeasurement], own: str, base: str, where: str) -> Finding:
    """Is it better everywhere? Every exception is listed, and how sure it is."""
    pairs = [pair for pair in versus(rows, own, base) if pair.fewer is not None]
    fewer = [pair for pair in pairs if pair.fewer]
    exceptions = sorted(
        (pair for pair in pairs if not pair.fewer),
        key=lambda pair: -(pair.ratio or float("inf")),
    )
    ratios = [pair.ratio for pair in pairs if pair.ratio is not None]
    below, above = (
        sum(pair.sure for pair in fewer),
        sum(pair.sure for pair in exceptions),
    )
    return Finding(
        f"{own} needs fewer samples than {base}, on every instance at every ε ({where}).",
        judged(not exceptions) if pairs else "not checkable",
        f"So it is in {len(fewer)} of {plural(len(pairs), 'case')} (instances at tolerances) where one of them stops"
        + (f"; geometric mean of the ratio of their samples {geometric_mean(ratios):.3f}" if ratios else "")
        + f". The approximate 95 % interval of the ratio lies below 1 in {below} and above 1 in {above}; of so many "
        "intervals some miss by chance. "
        + worst_in_words(pairs)
        + (
            f"{len(exceptions)} exceptions, with their intervals: " + "; ".join(map(exception, exceptions)) + "."
            if exceptions
            else "There is no exception."
        ),
        "ours",
    )


def worst_in_words(pairs: Sequence[MethodRatio]) -> str:
    """The largest ratio with its standard error."""
    worst = worst_of(pairs)
    if worst is None or worst.ratio is None or worst.standard_error is None:
        return ""
    place = f"{worst.instance} at ε = {worst.epsilon:g}"
    return f"At worst it is {worst.ratio:.3f} ± {worst.standard_error:.3f} ({place}). "


def exception(pair: MethodRatio) -> str:
    """Where, and by how much."""
    place = f"{pair.instance} at ε = {pair.epsilon:g}"
    if pair.ratio is None or pair.interval is None:
        return f"{place}: undecided at its cap, the other not"
    low, high = pair.interval
    return f"{place}: {pair.ratio:.2f} ({low:.2f} to {high:.2f})"


def above_the_bound(rows: Sequence[StoppingMeasurement]) -> Finding:
    """Does any method do better than the lower bound, where it is one?"""
    compared = [row for row in rows if row.over_least is not None]
    better = [row for row in compared if row.over_least is not None and row.over_least < 1.0]
    nearest = min(compared, key=lambda row: row.over_least or float("inf"), default=None)
    return Finding(
        "No method stops with fewer samples, on average, than the lower bound, where there is one.",
        judged(not better) if compared else "not checkable",
        f"{plural(len(compared), 'case')} compared"
        + (
            f"; the nearest is {nearest.method} on {nearest.instance} at ε = {nearest.epsilon:g}, with "
            f"{nearest.over_least:.2f} times the bound"
            if nearest is not None
            else ""
        )
        + ". "
        + (
            "Below it: "
            + "; ".join(
                f"{row.method} on {row.instance} at ε = {row.epsilon:g} ({row.over_least:.2f})" for row in better
            )
            + "."
            if better
            else "None is below it."
        )
        + " There is one for Gaussian arms with one right answer, as at ε = 0.",
        "ramgape lower-bound",
    )
