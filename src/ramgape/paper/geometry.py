"""Appendix A: what makes the gap of a Pareto arm, in two cases, computed from three real arms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ramgape.core.pareto import advantage, gaps, pareto_front
from ramgape.paper import paper
from ramgape.paper.jobs import Job, Outcome
from ramgape.paper.scale import Scale
from ramgape.paper.section import DataFile, Drawing, Finding, Grid, Section, judged
from ramgape.problems.distributions import Beta
from ramgape.views.plots.geometry import GapCase

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
    alpha = 1.0 / (3.0 + paper.RHO)
    risks = alpha * (np.array([arm.variance for arm in known.values()]) - paper.RHO * means)
    assert pareto_front(means, risks).tolist() == [True, True, False]
    lead = -advantage(means, risks)  # M(i, j) at [i, j]
    i, j, k = range(3)
    distances = (lead[i, k], lead[k, i], lead[i, j], lead[j, i], *gaps(means, risks))
    places = {name: (float(means[row]), float(risks[row])) for row, name in enumerate(known)}
    return GapCase(places, {name: float(value) for name, value in zip(QUANTITIES, distances, strict=True)})


def make_section(scale: Scale, seed: int, outcomes: Mapping[Any, Outcome]) -> Section:
    """Appendix A."""
    cases = {name: gap_case(arms) for name, arms in CASES.items()}
    summary = {
        f"case_{name}": {"arms": {arm: list(place) for arm, place in case.arms.items()}, **case.distances}
        for name, case in cases.items()
    }
    rows = [[name, *(f"{cases[case].distances[name]:.4f}" for case in CASES)] for name in QUANTITIES]
    return Section(
        "gaps",
        "The geometry of gaps (appendix A)",
        (
            "M(i, j) is the lead of arm i over arm j in the objective where it leads most. The gap of a Pareto arm i "
            "is the smaller of two things: how far it is from trading places with another Pareto arm j, and how far a "
            "suboptimal arm k would have to come to eliminate it. Both cases are computed from three Beta arms; only "
            "the mean of k differs between them.",
        ),
        summary,
        {"ρ": f"{paper.RHO:g}", "α": "1 / (3 + ρ)", "arms": "Beta; means and variances in the sheet"},
        [
            DataFile(
                "gaps",
                ("case", "arm", "mean", "variance", "scaled_risk", "gap"),
                [
                    (name, arm, *CASES[name][arm], case.arms[arm][1], case.distances[f"gap {arm}"])
                    for name, case in cases.items()
                    for arm in case.arms
                ],
            )
        ],
        [
            Drawing(
                "gaps",
                "gap_geometry",
                (list(cases.values()),),
                "Figure 5",
                "Left, M(k,i) < M(i,j): the suboptimal arm k decides the gap of i, by M(k,i) plus the gap of k itself. "
                "Right, M(k,i) ≥ M(i,j): k is too far off in the mean, and the nearest Pareto arm j decides.",
            )
        ],
        [Grid("The quantities", ("", "case (a)", "case (b)"), rows)],
        list(findings(cases)),
    )


def findings(cases: Mapping[str, GapCase]) -> list[Finding]:
    """The identities that the caption states, on numbers."""
    a, b = cases["a"], cases["b"]
    risk = {name: place[1] for name, place in a.arms.items()}
    error = max(
        abs(case.distances["M(i,k)"] - case.distances["M(i,j)"] - (case.arms["k"][1] - case.arms["j"][1]))
        for case in cases.values()
    )
    lower = a.distances["M(k,i)"] + a.distances["gap k"]
    return [
        Finding(
            "M(i,k) = M(i,j) + (ξ_k − ξ_j) in both cases.",
            judged(error < 1e-12),
            f"Largest difference between the two sides: {error:.1e} (ξ_k − ξ_j = {risk['k'] - risk['j']:.4f}).",
            "Appendix A, Figure 5",
        ),
        Finding(
            "If M(k,i) < M(i,j), the gap of i is M(k,i)⁺ + Δ_k, a lower bound of M(i,k); otherwise arm k does not "
            "matter and the gap of i is min(M(i,j), M(j,i)).",
            judged(
                abs(a.distances["gap i"] - lower) < 1e-12
                and lower < a.distances["M(i,k)"]
                and abs(b.distances["gap i"] - min(b.distances["M(i,j)"], b.distances["M(j,i)"])) < 1e-12
            ),
            f"(a) gap {a.distances['gap i']:.4f} = {a.distances['M(k,i)']:.4f} + {a.distances['gap k']:.4f} < M(i,k) = "
            f"{a.distances['M(i,k)']:.4f}; (b) gap {b.distances['gap i']:.4f} = M(i,j).",
            "Appendix A, Figure 5",
        ),
    ]
