"""Appendix A: what makes the gap of a Pareto arm, in two cases, computed from three real arms."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ramgape.core.pareto import advantage, gaps, pareto_front
from ramgape.paper import paper
from ramgape.paper.jobs import Job, Outcome
from ramgape.paper.scale import Scale
from ramgape.paper.section import Finding, Section, figure, finding, grid, section
from ramgape.paper.tables import DataFile
from ramgape.paper.theory_figures import GapCase
from ramgape.problems.distributions import Beta

# Mean and variance of Beta arms: i and j are Pareto optimal, k is dominated by j. Only the mean of k differs.
CASES = {
    "a": {"i": (0.45, 0.02), "j": (0.55, 0.15), "k": (0.47, 0.20)},
    "b": {"i": (0.45, 0.02), "j": (0.55, 0.15), "k": (0.52, 0.20)},
}
QUANTITIES = ("M(i,k)", "M(k,i)", "M(i,j)", "M(j,i)", "gap i", "gap j", "gap k")


def beta_with(mean: float, variance: float) -> Beta:
    """The Beta distribution with this mean and variance.

    >>> arm = beta_with(0.45, 0.02)
    >>> round(arm.mean, 12), round(arm.variance, 12)
    (0.45, 0.02)
    """
    size = mean * (1.0 - mean) / variance - 1.0
    return Beta(mean * size, (1.0 - mean) * size)


def plan_jobs(scale: Scale, seed: int) -> dict[Any, Job]:
    """Nothing to simulate."""
    return {}


def gap_case(arms: Mapping[str, tuple[float, float]]) -> GapCase:
    """Places and distances of three arms."""
    known = {name: beta_with(*moments) for name, moments in arms.items()}
    means = np.array([arm.mean for arm in known.values()])
    risks = (np.array([arm.variance for arm in known.values()]) - paper.RHO * means) * (1.0 / (3.0 + paper.RHO))
    assert pareto_front(means, risks).tolist() == [True, True, False]
    lead = -advantage(means, risks)  # M(i, j) at [i, j]
    i, j, k = range(3)
    distances = (lead[i, k], lead[k, i], lead[i, j], lead[j, i], *gaps(means, risks))
    places = {name: (float(means[row]), float(risks[row])) for row, name in enumerate(known)}
    return GapCase(places, {name: float(value) for name, value in zip(QUANTITIES, distances, strict=True)})


def make_section(scale: Scale, seed: int, outcomes: Mapping[Any, Outcome]) -> Section:
    """Appendix A."""
    cases = {name: gap_case(arms) for name, arms in CASES.items()}
    rows = [
        {
            "case": name,
            "arm": arm,
            "mean": CASES[name][arm][0],
            "variance": CASES[name][arm][1],
            "scaled_risk": case.arms[arm][1],
            "gap": case.distances[f"gap {arm}"],
        }
        for name, case in cases.items()
        for arm in case.arms
    ]
    summary = {
        f"case_{name}": {"arms": {arm: list(place) for arm, place in case.arms.items()}, **case.distances}
        for name, case in cases.items()
    }
    distances = {key: case.distances for key, case in cases.items()}
    quantities = [{"name": name, **{key: found[name] for key, found in distances.items()}} for name in QUANTITIES]
    return section(
        "gaps",
        scale,
        seed,
        {},
        summary=summary,
        data_files=[DataFile("gaps", rows)],
        drawings=[figure("gaps", (list(cases.values()),))],
        grids=[grid("gaps", quantities)],
        findings=list(findings(cases)),
    )


def findings(cases: Mapping[str, GapCase]) -> Iterator[Finding]:
    """The identities that the caption states, on numbers."""
    a, b = cases["a"].distances, cases["b"].distances
    risks = {name: {arm: place[1] for arm, place in case.arms.items()} for name, case in cases.items()}
    differences = [
        case.distances["M(i,k)"] - case.distances["M(i,j)"] - (risks[name]["k"] - risks[name]["j"])
        for name, case in cases.items()
    ]
    error = max(map(abs, differences))
    yield finding("lead_over_k", error < 1e-12, error=error, difference=risks["a"]["k"] - risks["a"]["j"])
    lower = a["M(k,i)"] + a["gap k"]
    holds = abs(a["gap i"] - lower) < 1e-12 and lower < a["M(i,k)"]
    holds &= abs(b["gap i"] - min(b["M(i,j)"], b["M(j,i)"])) < 1e-12
    yield finding("gap_of_i", holds, a=a, b=b)
