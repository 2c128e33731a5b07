"""The nearest alternative to an instance by brute force: a slow way to the lower bound."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from ramgape.core.pareto import pareto_front
from ramgape.problems.environments import Instance

Floats = NDArray[np.float64]


def slow_divergence(moments: Floats, moved: Floats) -> Floats:
    """KL as it stands in every textbook; the rows are (mean, variance)."""
    mean, variance, new_mean, new_variance = *moments.T, *moved.T
    return 0.5 * (np.log(new_variance / variance) + (variance + (mean - new_mean) ** 2) / new_variance - 1.0)


def slow_minimum(
    moments: Floats, weights: Floats, demands: list[tuple[Floats, float]], deviation: bool = False
) -> float:
    """The cheapest move of all arms at once, to where demands hold; several starts.

    Demands are linear in means and variances, or in means and standard deviations (`deviation`). Moves are in
    units of the arms: deviations of their means, and logarithms of how their variances grow.
    """
    count = len(moments)
    rows, margins = np.array([row for row, _ in demands]), np.array([margin for _, margin in demands])
    deviations = np.sqrt(moments[:, 1])

    def compared(moments: Floats) -> Floats:
        """What demands are about, of all arms."""
        return (np.column_stack([moments[:, 0], np.sqrt(moments[:, 1])]) if deviation else moments).ravel()

    units = np.abs(rows) @ compared(moments)

    def moved(flat: Floats) -> Floats:
        shifts, growths = flat.reshape(2, count)
        return np.column_stack([moments[:, 0] + deviations * shifts, moments[:, 1] * np.exp(growths)])

    def cost(flat: Floats) -> float:
        return float(weights @ slow_divergence(moments, moved(flat))) / scale

    scale = 1.0
    slack = {"type": "ineq", "fun": lambda flat: (rows @ compared(moved(flat)) - margins) / units}
    generator = np.random.default_rng(1)
    best = math.inf
    for attempt in range(6):
        start = generator.standard_normal(2 * count) * (0.0, 0.01, 0.1, 0.3, 1.0, 2.0)[attempt]
        scale = max(best, 1e-12) if math.isfinite(best) else 1.0
        found = scipy.optimize.minimize(
            cost, start, method="SLSQP", bounds=[(-50.0, 50.0)] * 2 * count, constraints=[slack], options={"ftol": 1e-9}
        )
        if slack["fun"](found.x).min() >= -1e-8:
            best = min(best, scale * found.fun)
    return best


def slow_distance(
    instance: Instance,
    weights: Floats,
    epsilon: float = 0.0,
    rho: float = 0.01,
    answer: Any = None,
    deviation: bool = False,
) -> float:
    """The nearest alternative by brute force, straight from the definition of a wrong answer.

    The risk is variance - rho mean with the usual factor, or the standard deviation as it is.
    """
    moments = np.column_stack([instance.means, instance.variances])
    rho, margin = (0.0, epsilon) if deviation else (rho, epsilon * (3.0 + rho))
    count = len(moments)
    if answer is None:
        answer = pareto_front(instance.means, instance.risks(rho))

    def ahead(better: int, worse: int, in_mean: bool) -> Floats:
        """Row r with r @ (mean, variance, mean, variance, ...) = how far `better` is ahead in one objective."""
        row = np.zeros((count, 2))
        row[better], row[worse] = ((1.0, 0.0), (-1.0, 0.0)) if in_mean else ((rho, -1.0), (-rho, 1.0))
        return row.ravel()

    found = []
    inside, outside = np.flatnonzero(answer), np.flatnonzero(~answer)
    for i, j in itertools.product(inside, range(count)):
        if i != j:
            demands = [(ahead(j, i, True), epsilon), (ahead(j, i, False), margin)]
            found.append(slow_minimum(moments, weights, demands, deviation))
    for i in outside:
        for ways in itertools.product((True, False), repeat=len(inside)):
            demands = [
                (ahead(i, j, in_mean), epsilon if in_mean else margin) for j, in_mean in zip(inside, ways, strict=True)
            ]
            found.append(slow_minimum(moments, weights, demands, deviation))
    return min(found)


Law = tuple[Floats, Floats]  # values, and their shares


def slow_law_minimum(laws: list[Law], weights: Floats, grid: Floats, moved: list[int], demands: Any) -> float:
    """The cheapest laws on a grid of values that meet demands, all moving arms at once and from several starts.

    Laws are vectors of probabilities. Demands are a function of the means and the standard deviations of all arms,
    which is to be 0 at least.
    """
    count, size = len(laws), len(grid)
    own = np.zeros((count, size))
    for row, (values, shares) in zip(own, laws, strict=True):
        row[np.abs(grid[:, None] - values).argmin(axis=0)] = shares
    before, weight = own[moved], weights[moved]
    present = before > 0.0

    def slack(part: Floats) -> Floats:
        new = own.copy()
        new[moved] = part.reshape(len(moved), size)
        means = new @ grid
        return np.asarray(demands(means, np.sqrt(np.maximum(new @ grid**2 - means**2, 1e-12))))

    def cost(part: Floats) -> float:
        ratios = np.log(before[present] / part.reshape(len(moved), size)[present])
        return float(np.repeat(weight, present.sum(axis=1)) @ (before[present] * ratios))

    def slope(part: Floats) -> Floats:
        ratios = np.where(present, before / part.reshape(len(moved), size), 0.0)
        return np.asarray((-weight[:, None] * ratios).ravel())

    total = {"type": "eq", "fun": lambda part: part.reshape(len(moved), size).sum(axis=1) - 1.0}
    best, generator = math.inf, np.random.default_rng(1)
    for mixed in (0.02, 0.2, 0.5):
        start = (1.0 - mixed) * before + mixed * generator.dirichlet(np.ones(size), len(moved))
        found = scipy.optimize.minimize(
            cost,
            start.ravel(),
            jac=slope,
            method="SLSQP",
            bounds=[(1e-9, 1.0)] * start.size,
            constraints=[{"type": "ineq", "fun": slack}, total],
            options={"ftol": 1e-10, "maxiter": 300},
        )
        if slack(found.x).min() > -1e-7:
            best = min(best, found.fun)
    return best


def slow_law_distance(laws: list[Law], weights: Floats, epsilon: float, answer: Any, grid: Floats) -> float:
    """The nearest alternative to an answer for the Pareto set in mean and standard deviation, by its definition."""
    inside, outside = np.flatnonzero(answer).tolist(), np.flatnonzero(~np.asarray(answer)).tolist()
    found = []
    for i, j in itertools.product(inside, range(len(laws))):
        if i != j:

            def beaten(means: Floats, stds: Floats, i: int = i, j: int = j) -> list[float]:
                return [means[j] - means[i] - epsilon, stds[i] - stds[j] - epsilon]

            found.append(slow_law_minimum(laws, weights, grid, [i, j], beaten))
    for i in outside:
        for ways in itertools.product((True, False), repeat=len(inside)):

            def away(means: Floats, stds: Floats, i: int = i, ways: Any = ways) -> Floats:
                return np.where(ways, means[i] - means[inside] - epsilon, stds[inside] - stds[i] - epsilon)

            found.append(slow_law_minimum(laws, weights, grid, [i, *inside], away))
    return min(found)
