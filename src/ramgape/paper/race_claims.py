"""What the races say; the rule behind each verdict stands next to the sentence that it judges."""

from __future__ import annotations

from collections.abc import Sequence

from ramgape.common.formatting import plural
from ramgape.common.proportions import clopper_pearson
from ramgape.paper import paper
from ramgape.paper.methods import LINE_UPS, LineUp
from ramgape.paper.race_results import MethodRatio, StoppingMeasurement, errors, tolerances, versus
from ramgape.paper.section import Finding, judged
from ramgape.paper.statistics import geometric_mean

# How many times fewer samples than the paper's bound the defaults are said to need, and where that is said.
PROMISED = {
    "bounded": (100.0, "ramgape list bounds: some 100 times"),
    "gaussian": (10.0, "README, of patterns 10 and 46: at least 13 times"),
}

# What the bound and the sampling rule of the challenger do apart, and what closed formulas cost: the first of two
# methods is said to need fewer samples.
MORE_COMPARISONS = {
    "bounded": (
        ("empirical-bernstein + ramgape", "empirical-bernstein-stitched + ramgape"),
        ("pairwise + ramgape", "empirical-bernstein + ramgape"),
        ("pairwise + evidence", "pairwise + ramgape"),
    ),
    "gaussian": (),
}


def findings(rows: Sequence[StoppingMeasurement]) -> list[Finding]:
    """All claims, for the rewards that were run."""
    told = [reliable(rows)]
    for noise, line_up in LINE_UPS.items():
        own = [row for row in rows if row.noise == noise]
        if not own:
            continue
        challenger, default = line_up.challenger.name, line_up.default.name
        told += [
            saves(own, noise, line_up),
            fewer_on_average(own, challenger, default, line_up.rewards),
            fewer_everywhere(own, challenger, default, line_up.rewards),
            *(fewer_on_average(own, first, second, line_up.rewards) for first, second in MORE_COMPARISONS[noise]),
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


def fewer_on_average(rows: Sequence[StoppingMeasurement], own: str, base: str, rewards: str) -> Finding:
    """Is one method better than another, at every tolerance, on geometric average?"""
    ratios = {
        epsilon: [pair.ratio for pair in versus(rows, own, base, epsilon) if pair.ratio is not None]
        for epsilon in tolerances(rows)
    }
    means = {epsilon: geometric_mean(group) for epsilon, group in ratios.items() if group}
    return Finding(
        f"{own} needs fewer samples than {base}, on average over instances, at every ε ({rewards}).",
        judged(all(mean < 1.0 for mean in means.values())) if means else "not checkable",
        "Geometric mean of the ratio of their samples: "
        + "; ".join(
            f"{mean:.3f} at ε = {epsilon:g} ({plural(len(ratios[epsilon]), 'instance')})"
            for epsilon, mean in means.items()
        )
        + ".",
        "ours",
    )


def fewer_everywhere(rows: Sequence[StoppingMeasurement], own: str, base: str, rewards: str) -> Finding:
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
        f"{own} needs fewer samples than {base}, on every instance at every ε ({rewards}).",
        judged(not exceptions) if pairs else "not checkable",
        f"So it is in {len(fewer)} of {plural(len(pairs), 'case')} (instances at tolerances) where one of them stops"
        + (f"; geometric mean of the ratio of their samples {geometric_mean(ratios):.3f}" if ratios else "")
        + f". The approximate 95 % interval of the ratio lies below 1 in {below} and above 1 in {above}; of so many "
        "intervals some miss by chance. "
        + (
            f"{len(exceptions)} exceptions, with their intervals: " + "; ".join(map(exception, exceptions)) + "."
            if exceptions
            else "There is no exception."
        ),
        "ours",
    )


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
