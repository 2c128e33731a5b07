"""What it costs to move an arm among all laws on a range: KL_inf for mean and risk together.

The price of a demand is the least divergence KL(F, G) of an arm's law F from a law G on [0, 1] that meets it. With
y = x - m the prices of "mean m, variance at least v" and of "mean m, variance at most v" are (by duality; Honda and
Takemura 2010, with one moment more)

    max over a and b >= 0 of E ln(1 + a y + b (v - y^2)),    1 + a y + b (v - y^2) >= 0 on all of [0, 1]
    max over a and b >= 0 of E ln(1 + a y + b (y^2 - v)),    the same

The first function is concave in x, so its ends decide where it is positive; of the second its lowest point does, too.
A price changes with m, v being fixed, at a rate of -a E[G/F]: a demand on the mean binds only while a pushes there.

Laws with a density are taken as values of equal probability, and prices are kept in a table for each arm (`Laws`).
Both change the numbers by a part of about 1%.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramgape.problems.distribution import Distribution

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

SHARES, MOST_VALUES = 512, 64  # quantiles that are looked at, and values that stand for a law
BARRIER, SHRINK, FINAL, POLISH = 0.3, 0.3, 1e-11, 3  # of the barrier: first, factor, last, and steps with the last
KEPT = 0.05  # of its distance to the barrier that a step leaves
LEAST_ROOM = 1e-11  # below the largest variance that a mean allows: with less only coins are left, and no digits
NODES, GROWTH = 30, 1.25  # of a table, to each side of the arm's own place: how many, and how distances grow
CLOSER = 9  # means that are tried around the cheapest
EDGE = 1e-6  # of the way to the end of what is possible, where the outermost node stands
IMPOSSIBLE = 1e15  # the price of what no law meets: finite, since it is interpolated and multiplied by shares of 0


class Law(NamedTuple):
    """A law on [0, 1] that takes finitely many values."""

    values: Floats
    shares: Floats

    @property
    def mean(self) -> float:
        return float(self.shares @ self.values)

    @property
    def variance(self) -> float:
        return float(self.shares @ (self.values - self.mean) ** 2)

    def spread_of_deviation(self, rho: float, root: bool) -> float:
        """The variance of one reward's part in an estimate of the risk; not 0."""
        off = self.values - self.mean
        part = off**2 - rho * off
        variance = float(self.shares @ (part - self.shares @ part) ** 2)
        return max(variance / (4.0 * self.variance) if root and self.variance else variance, 1e-6)


def law_of(distribution: Distribution, low: float, high: float) -> Law:
    """A distribution on a range, carried over to [0, 1]; one with a density as values of equal probability.

    Shares are then changed by a parabola, and very little, so that mean and variance are what they were.
    """
    quantiles = np.sort(distribution.quantile((np.arange(SHARES) + 0.5) / SHARES))
    places = np.clip((quantiles - low) / (high - low), 0.0, 1.0)
    values, counts = np.unique(places, return_counts=True)
    shares = counts / SHARES
    if len(values) > MOST_VALUES:
        values = places.reshape(MOST_VALUES, -1).mean(axis=1)
        shares = np.full(MOST_VALUES, 1.0 / MOST_VALUES)
    mean = (distribution.mean - low) / (high - low)
    off = values - mean
    wanted = np.array([1.0, 0.0, distribution.variance / (high - low) ** 2])
    powers = np.stack([off**power for power in range(3)])
    change, *_ = np.linalg.lstsq(powers * shares @ powers.T, wanted - powers @ shares)
    return Law(values, shares * np.maximum(1.0 + change @ powers, 0.0))


class Duals(NamedTuple):
    """Prices, and what shows that they are no smaller: the slopes a and b of the function in the logarithm."""

    price: Floats
    a: Floats
    b: Floats


def price_moments(law: Law, means: Any, variances: Any, at_least: bool) -> Duals:
    """The prices of a mean and a variance of at least so much, or of at most so much.

    Newton's method with a logarithmic barrier that is made smaller at each step, for all demands at once. What is
    returned is the value of a function that is allowed, so it is never too large (but by the values that stand for F).

    Args:
        law: F.
        means, variances: The demands, arrays that fit one another.
        at_least: The side of the variance.

    Returns:
        Arrays of their common shape; infinite where no law meets the demands.
    """
    means, variances = np.broadcast_arrays(np.asarray(means, dtype=float), np.asarray(variances, dtype=float))
    possible = (means > 0.0) & (means < 1.0)
    possible &= (means * (1.0 - means) > variances + LEAST_ROOM) if at_least else (variances > 0.0)
    found = Duals(*(np.full(means.shape, fill) for fill in (math.inf, 0.0, 0.0)))
    if possible.any():
        newton = _Newton(law, means[possible], variances[possible], 1.0 if at_least else -1.0)
        for array, values in zip(found, newton.solve(), strict=True):
            array[possible] = values
    return found


class _Newton:
    """max of E ln(1 + a y + b sign (v - y^2)) for many (m, v): f is a parabola of z = (x - mean) / scale."""

    def __init__(self, law: Law, means: Floats, variances: Floats, sign: float) -> None:
        self.sign, self.shares, self.variances = sign, law.shares, variances
        centre, self.scale = law.mean, max(math.sqrt(law.variance), 1e-3)
        z = (law.values - centre) / self.scale
        self.basis = np.stack([np.ones_like(z), z, z**2])
        self.moments = np.stack([law.shares * z**power for power in range(5)], axis=1)
        off, h = centre - means, self.scale
        self.linear = np.stack([off, np.full_like(off, h)], axis=1)  # y, by powers of z
        square = np.stack([off**2 - variances, 2.0 * off * h, np.full_like(off, h**2)], axis=1)
        self.square = -sign * square  # sign (v - y^2)
        # Both where f must not be negative at the ends of the range.
        self.ends = np.stack([-means, 1.0 - means])
        self.squares_at_ends = sign * (variances - self.ends**2)
        self.a = np.zeros_like(means)
        steepest = np.maximum(-self.squares_at_ends.min(axis=0), variances if sign < 0.0 else 1e-12)
        self.b = 0.5 / steepest

    def solve(self) -> Duals:
        barrier, left = BARRIER, POLISH
        while True:
            self._step(barrier)
            if barrier > FINAL:
                barrier = max(barrier * SHRINK, FINAL)
            elif left:
                left -= 1
            else:
                break
        price = np.log(np.maximum(self._function(), 1e-300)) @ self.shares
        return Duals(np.maximum(price, 0.0), self.a, self.b)

    def _function(self) -> Floats:
        """F by demand and value."""
        coefficients = self.b[:, None] * self.square
        coefficients[:, :2] += self.a[:, None] * self.linear
        coefficients[:, 0] += 1.0
        return np.asarray(coefficients @ self.basis)

    def _lowest(self, a: Floats, b: Floats, rows: Any = slice(None)) -> tuple[Floats, Floats]:
        """Where, in y, a convex f is lowest between the ends, and how low."""
        y = np.clip(-0.5 * a / b, *self.ends[:, rows])
        return y, 1.0 + a * y + b * (y**2 - self.variances[rows])

    def _step(self, barrier: float) -> None:
        """One step of Newton's method, short enough to stay inside."""
        a, b, (off, h), square = self.a, self.b, self.linear.T, self.square
        inverse = 1.0 / self._function()
        first = inverse @ self.moments[:, :3]
        second = np.square(inverse, out=inverse) @ self.moments
        slope_a = off * first[:, 0] + h * first[:, 1]
        slope_b = (square * first).sum(axis=1)
        bend_aa = off**2 * second[:, 0] + 2.0 * off * h * second[:, 1] + h**2 * second[:, 2]
        bend_ab = (off[:, None] * square * second[:, :3] + h[:, None] * square * second[:, 1:4]).sum(axis=1)
        bend_bb = sum(square[:, i] * square[:, j] * second[:, i + j] for i in range(3) for j in range(3))
        # The barrier: the sum of ln of the distances, each of which is linear in a and b but that of the lowest point.
        distances = [b, *(1.0 + a * self.ends + b * self.squares_at_ends)]
        along_a = [np.zeros_like(a), *self.ends]
        along_b = [np.ones_like(b), *self.squares_at_ends]
        if self.sign < 0.0:
            y, lowest = self._lowest(a, b)
            distances.append(lowest)
            along_a.append(y)
            along_b.append(y**2 - self.variances)
            inside = (y > self.ends[0]) & (y < self.ends[1])
            curved = np.where(inside, barrier / (2.0 * b * distances[-1]), 0.0)
            bend_aa += curved
            bend_ab += 2.0 * curved * y  # y = -a / 2b
            bend_bb = bend_bb + 4.0 * curved * y**2
        distances = [np.maximum(distance, 1e-60) for distance in distances]  # rounding may leave nothing
        for distance, in_a, in_b in zip(distances, along_a, along_b, strict=True):
            slope_a, slope_b = slope_a + barrier * in_a / distance, slope_b + barrier * in_b / distance
            weight = barrier / distance**2
            bend_aa, bend_ab = bend_aa + weight * in_a**2, bend_ab + weight * in_a * in_b
            bend_bb = bend_bb + weight * in_b**2
        # Where mean and variance leave hardly a law, both bend alike.
        determinant = np.maximum(bend_aa * bend_bb - bend_ab**2, 1e-13 * bend_aa * bend_bb)
        step_a = (bend_bb * slope_a - bend_ab * slope_b) / determinant
        step_b = (bend_aa * slope_b - bend_ab * slope_a) / determinant
        length = np.ones_like(a)
        for distance, in_a, in_b in zip(distances[:3], along_a, along_b, strict=False):
            towards = np.maximum(-(in_a * step_a + in_b * step_b), 1e-30)
            length = np.minimum(length, (1.0 - KEPT) * distance / towards)
        if self.sign < 0.0:
            # The lowest point does not move in proportion: shorten steps that leave too little of its distance.
            late = np.arange(len(a))
            for _ in range(60):
                to_a, to_b = (each[late] + length[late] * step[late] for each, step in ((a, step_a), (b, step_b)))
                late = late[self._lowest(to_a, to_b, late)[1] <= KEPT * distances[3][late]]
                if not len(late):
                    break
                length[late] *= 0.6
        self.a, self.b = a + length * step_a, b + length * step_b


# ------------------------------------------------------------------------------------------ tables


class Grid(NamedTuple):
    """Places to both sides of an arm's own, ever farther apart: distances grow by a factor."""

    own: float
    least: float
    most: float

    def nodes(self) -> Floats:
        parts = (1.0 - EDGE) * GROWTH ** -np.arange(NODES)
        below, above = self.own - self.least, self.most - self.own
        return np.concatenate([self.own - below * parts, self.own + above * parts[::-1]])

    def place(self, values: Floats) -> Floats:
        """Between which nodes values stand, as a number with a fraction; never between the two innermost ones."""
        is_below = values < self.own
        reach = np.where(is_below, self.own - self.least, self.most - self.own)
        parts = np.clip(np.abs(values - self.own), 1e-300, reach) / np.maximum(reach, 1e-300)
        steps = np.clip(-np.log(np.maximum(parts, 1e-300)) / math.log(GROWTH), 0.0, NODES - 1.0)
        return np.where(is_below, steps, 2.0 * NODES - 1.0 - steps)


class Tables(NamedTuple):
    """The prices of one arm, divided by those of a normal law, which makes them smooth.

    Attributes:
        means, risks: Where they are known.
        units: Twice the variances of what estimates the mean and the risk.
        worse, better: By mean and risk: for at most this mean and at least this risk, and the other way round.
        natural: The risks of the nearest laws with these means, the own one in the middle.
    """

    means: Grid
    risks: Grid
    units: tuple[float, float]
    worse: Floats
    better: Floats
    natural: Floats

    def price(self, means: Floats, risks: Floats, better: bool) -> Floats:
        """Interpolate, in the ratio to the price of a normal law."""
        if better:
            table, impossible = self.better, (means >= self.means.most) | (risks <= self.risks.least)
        else:
            table, impossible = self.worse, (means <= self.means.least) | (risks >= self.risks.most)
        row, column = self.means.place(means), self.risks.place(risks)
        top, left = (np.minimum(place.astype(np.intp), 2 * NODES - 2) for place in (row, column))
        down, right = row - top, column - left
        upper = table[top, left] * (1.0 - right) + table[top, left + 1] * right
        lower = table[top + 1, left] * (1.0 - right) + table[top + 1, left + 1] * right
        found = (upper * (1.0 - down) + lower * down) * self.normal_price(means, risks, better)
        return np.where(impossible, IMPOSSIBLE, np.minimum(found, IMPOSSIBLE))

    def normal_price(self, means: Floats, risks: Floats, better: bool) -> Floats:
        """What moving mean and risk costs roughly, each only as far as it must."""
        side = 1.0 if better else -1.0
        means, risks = (np.clip(at, grid.least, grid.most) for at, grid in ((means, self.means), (risks, self.risks)))
        in_mean = np.maximum(side * (means - self.means.own), 0.0) ** 2 / self.units[0]
        in_risk = np.maximum(side * (self.risks.own - risks), 0.0) ** 2 / self.units[1]
        return np.asarray(in_mean + in_risk)


@functools.lru_cache(maxsize=256)
def tables_of(distribution: Distribution, low: float, high: float, rho: float, root: bool) -> Tables:
    """The prices of one arm, remembered, since lower bounds for several tolerances ask for the same.

    First those of each mean with a risk on either side, then of these the cheapest that serves.
    """
    law = law_of(distribution, low, high)
    own = law.mean
    risk = math.sqrt(law.variance) if root else law.variance - rho * own
    least, most = (0.0, 0.5) if root else (-rho, 0.25)
    means, risks = Grid(own, 0.0, 1.0), Grid(risk, least, max(most, risk))
    rows, columns = means.nodes(), risks.nodes()

    def variances(means: Floats) -> Floats:
        return columns * np.abs(columns) if root else columns + rho * means

    # No mean beyond two ends allows more than a risk; the cheapest law for a coin lies at one of them.
    middle = 0.5 if root else 0.5 * (1.0 - rho)
    half = np.sqrt(np.maximum(middle**2 - (columns**2 if root else columns), 0.0)) * (1.0 - EDGE)
    tried = np.broadcast_to(np.append(rows, own)[:, None], (2 * NODES + 1, 2 * NODES))
    tried = np.concatenate([tried, [middle - half, middle + half]])
    tables_by_side = []
    for at_least in (True, False):
        prices = price_moments(law, tried, variances(tried), at_least).price
        closer = _between_best(tried, prices)
        at = np.concatenate([tried, closer])
        prices = np.concatenate([prices, price_moments(law, closer, variances(closer), at_least).price])
        serves = [at <= mean if at_least else at >= mean for mean in rows]
        tables_by_side.append(np.array([np.where(each, prices, np.inf).min(axis=0) for each in serves]))
    # What was not solved to the end is too small, and a harder demand costs no less.
    worse = np.maximum.accumulate(tables_by_side[0], axis=1)
    better = np.maximum.accumulate(tables_by_side[1][:, ::-1], axis=1)[:, ::-1]
    units = max(2.0 * law.variance, 1e-6), 2.0 * law.spread_of_deviation(rho, root)
    natural = np.insert(natural_risks(law, rows, rho, root), NODES, risk)
    tables = Tables(means, risks, units, worse, better, natural)

    def smooth(prices: Floats, better: bool) -> Floats:
        normal = tables.normal_price(rows[:, None], columns, better)
        return np.where(normal > 0.0, np.minimum(prices, IMPOSSIBLE) / np.maximum(normal, 1e-200), 0.0)

    return tables._replace(worse=smooth(worse, better=False), better=smooth(better, better=True))


def _between_best(tried: Floats, prices: Floats) -> Floats:
    """Means around the cheapest of each column, from its neighbour below to that above."""
    order = np.argsort(tried, axis=0)
    tried, prices = (np.take_along_axis(each, order, axis=0) for each in (tried, prices))
    best = prices.argmin(axis=0)
    low, high = (
        np.take_along_axis(tried, np.clip(best + step, 0, len(tried) - 1)[None], axis=0)[0] for step in (-1, 1)
    )
    return np.linspace(low, high, CLOSER + 2)[1:-1]


def natural_risks(law: Law, means: Floats, rho: float, root: bool) -> Floats:
    """The risks of the laws that are nearest among those with these means: F/f, and what is left at an end."""
    duals = price_moments(law, means, np.zeros_like(means), at_least=True)  # of a variance nothing is demanded
    y = law.values - means[:, None]
    shares = law.shares / np.maximum(1.0 + duals.a[:, None] * y, 1e-12)
    left = np.maximum(1.0 - shares.sum(axis=1), 0.0)
    variances = (shares * y**2).sum(axis=1) + left * np.where(duals.a > 0.0, means, 1.0 - means) ** 2
    return np.asarray(np.sqrt(variances) if root else variances - rho * means)


class Laws:
    """Arms whose rewards may have any law on [0, 1], more mean being better.

    A risk is the standard deviation, or variance - rho mean.

    Args:
        distributions: Those of the arms.
        low, high: The range, which becomes [0, 1].
        rho: The factor.
        root: Whether the risk is the standard deviation.
    """

    def __init__(self, distributions: Sequence[Distribution], low: float, high: float, rho: float, root: bool) -> None:
        self.root = root
        self._tables = [tables_of(each, low, high, rho, root) for each in distributions]
        self.means = np.array([tables.means.own for tables in self._tables])
        self.risks = np.array([tables.risks.own for tables in self._tables])

    def shifted(self, risks: Any, margin: float) -> Any:
        """Risks that are worse by a margin."""
        return risks + margin

    def level(self, risk: float) -> float:
        """A risk that is given in units of the range."""
        return risk

    def natural(self, places: Places, means: Floats) -> Floats:
        """The risks of the nearest laws with these means."""

        def found(tables: Tables, means: Floats) -> Floats:
            places = np.insert(tables.means.nodes(), NODES, tables.means.own)
            return np.asarray(np.interp(means, places, tables.natural))

        return self._each(found, places, means)

    def worsened(self, places: Places, means: Floats, risks: Floats) -> Floats:
        """The prices of at most these means and at least these risks."""
        return self._each(lambda tables, *at: tables.price(*at, better=False), places, means, risks)

    def improved(self, places: Places, means: Floats, risks: Floats) -> Floats:
        """The prices of at least these means and at most these risks."""
        return self._each(lambda tables, *at: tables.price(*at, better=True), places, means, risks)

    def lowered(self, places: Places, means: Floats) -> Floats:
        """The prices of at most these means."""
        return self.worsened(places, means, np.array(-math.inf))

    def raised(self, places: Places, means: Floats) -> Floats:
        """The prices of at least these means."""
        return self.improved(places, means, np.array(math.inf))

    def moved(self, places: Places, means: Floats) -> Floats:
        """The prices of these means; nothing can be known of variances."""
        return self.lowered(places, means) + self.raised(places, means)

    def _each(self, price: Callable[..., Floats], places: Places, *at: Floats) -> Floats:
        """What a function of an arm's tables finds, for places and demands that fit one another."""
        places, *demands = np.broadcast_arrays(places, *at)
        found = np.empty(places.shape)
        for arm in np.unique(places).tolist():
            chosen = places == arm
            found[chosen] = price(self._tables[arm], *(each[chosen] for each in demands))
        return found
