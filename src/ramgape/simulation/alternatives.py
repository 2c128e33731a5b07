"""What could be mistaken for an instance: alternatives for which an answer is wrong, and their prices.

An answer S to "which arms are the Pareto set" is wrong

    (a) if one of its arms i is beaten by some arm j, by epsilon or more in both objectives: i and j move (`Duels`);
    (b) if an arm i outside it has no cover in it: i moves, and every arm of S that would cover it where it goes
        moves as well, to less mean or to more risk, whichever is cheaper (`Escapes`).

With epsilon 0 this is "S is not the Pareto set". The answer i to "which arm has the best mean" is wrong

    (c) if some arm j has a mean that is better by epsilon or more: the means of i and j move (`Overtakings`).

Under a limit on the other objective the answer i is wrong

    (d) if i misses the limit by epsilon, or some arm j keeps it by epsilon and is better by epsilon (`Infringements`);
        the answer "no arm" is wrong if some arm keeps the limit by epsilon.

What it costs to move one arm is known to the arms: in closed form for Gaussian ones (`Gaussians`), from tables for all
laws in a range (laws.py). Means and variances of Gaussian arms are unknown, but for (c), where variances are taken as
known, as Garivier and Kaufmann have it: a method that does not know them must tell these alternatives apart, too, so
that the bound holds for both. Where the arms meet is looked for in two dimensions (`nearest`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ramgape.common.checks import SMALLEST
from ramgape.questions import Question
from ramgape.questions.best import BestMean, LeastRisk, Top
from ramgape.questions.pareto import Pareto

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Mask = NDArray[np.bool_]

COARSE, FINE, LOOKS = 17, 7, 10  # points to a side in the first look for a minimum and in the others; and all looks
BEYOND_REACH = 1e4  # nats: no alternative, but a mark that there is none
WORTHWHILE = 1.5  # alternatives that cost more than so many times the cheapest one are not looked at closely


# ----------------------------------------------------------------------------------- moving arms


class Gaussians(NamedTuple):
    """Arms with Gaussian rewards, more mean being better; a risk is variance - rho mean, without the factor alpha.

    For the standard deviation it is the variance as well, with margins that are in units of its root.
    """

    means: Floats
    variances: Floats
    rho: float
    root: bool = False

    @property
    def risks(self) -> Floats:
        return self.variances - self.rho * self.means

    def level(self, risk: float) -> float:
        """A risk that is given in the user's units."""
        return risk * abs(risk) if self.root else risk

    def at(self, places: Places) -> Gaussians:
        """Some of the arms, in the shape of `places`."""
        return self._replace(means=self.means[places], variances=self.variances[places])

    def shifted(self, risks: Any, margin: float) -> Any:
        """Risks that are worse by a margin. A deviation below 0 is out of reach, and so is the variance it becomes."""
        if not self.root:
            return risks + margin
        deviations = np.sqrt(np.maximum(risks, 0.0)) + margin
        return deviations * np.abs(deviations)

    def natural(self, places: Places, means: Floats) -> Floats:
        """The risks of the nearest arms with these means."""
        return spread(self.at(places), means) - self.rho * means

    def worsened(self, places: Places, means: Floats, risks: Floats) -> Floats:
        """The prices of at most these means and at least these risks."""
        return worsened(self.at(places), means, risks)

    def improved(self, places: Places, means: Floats, risks: Floats) -> Floats:
        """The prices of at least these means and at most these risks."""
        return improved(self.at(places), means, risks)

    def lowered(self, places: Places, means: Floats) -> Floats:
        """The prices of at most these means."""
        return lowered(self.at(places), means)

    def raised(self, places: Places, means: Floats) -> Floats:
        """The prices of at least these means."""
        arms = self.at(places)
        return lowered(arms._replace(means=-arms.means), -means)

    def moved(self, places: Places, means: Floats) -> Floats:
        """The prices of these means where variances are known."""
        arms = self.at(places)
        return np.asarray(0.5 * (means - arms.means) ** 2 / arms.variances)


def divergence(arms: Gaussians, means: Floats, variances: Floats) -> Floats:
    """KL(N(mean, variance), N(mean', variance')), accurate for small moves, too; infinite without a new variance.

    >>> arms = Gaussians(np.array([0.0]), np.array([1.0]), 0.0)
    >>> divergence(arms, np.array([1.0]), np.array([1.0])), divergence(arms, np.array([1.0]), np.array([0.0]))
    (array([0.5]), array([inf]))
    """
    possible = variances > 0.0
    variances = np.where(possible, variances, 1.0)
    growth = (variances - arms.variances) / arms.variances
    cost = 0.5 * (np.log1p(growth) - growth / (1.0 + growth) + (means - arms.means) ** 2 / variances)
    return np.where(possible, cost, np.inf)


def drifted_means(arms: Gaussians, risks: Floats) -> Floats:
    """The means that arms have when they reach these risks in the cheapest way, nothing being asked of the means.

    With s = risk + rho mean, the variance that this risk asks for at the old mean, the new one is mean - d where
    rho d^2 - (rho^2 + 2s) d + rho (s - variance) = 0; of its roots the one for which a variance above 0 is left.
    """
    if arms.rho < SMALLEST:
        return np.broadcast_to(arms.means, np.broadcast_shapes(arms.means.shape, risks.shape))
    rho, asked = arms.rho, risks + arms.rho * arms.means
    slope = rho**2 + 2.0 * asked
    root = np.hypot(np.hypot(rho**2, 2.0 * asked), 2.0 * rho * np.sqrt(arms.variances))  # which overflows for no rho
    # two ways to write the same root, each without a difference of nearly equal numbers
    usual = 2.0 * rho * (asked - arms.variances) / (abs(slope) + root)
    return arms.means - np.where(slope > 0.0, usual, (slope - root) / (2.0 * rho))


def worsened(arms: Gaussians, means: Floats, risks: Floats) -> Floats:
    """The smallest divergence at which arms have at most these means and at least these risks.

    In the natural parameters mean / variance and -1 / (2 variance) the divergence is convex and both demands are
    linear. So either one of them alone decides, the other being met by itself, or both are met exactly.
    """
    drifted = np.where(risks > arms.risks, drifted_means(arms, risks), arms.means)
    moved = np.minimum(means, drifted)
    return divergence(arms, moved, np.maximum(spread(arms, moved), risks + arms.rho * moved))


def improved(arms: Gaussians, means: Floats, risks: Floats) -> Floats:
    """The smallest divergence at which arms have at least these means and at most these risks; see `worsened`."""
    drifted = np.where(risks < arms.risks, drifted_means(arms, risks), arms.means)
    moved = np.maximum(means, drifted)
    return divergence(arms, moved, np.minimum(spread(arms, moved), risks + arms.rho * moved))


def lowered(arms: Gaussians, means: Floats) -> Floats:
    """The smallest divergence at which arms have at most these means, whatever their risks."""
    return np.asarray(0.5 * np.log1p(np.maximum(arms.means - means, 0.0) ** 2 / arms.variances))


def spread(arms: Gaussians, means: Floats) -> Floats:
    """The variances of the Gaussian rewards nearest to the arms' among those with these means."""
    return np.asarray(arms.variances + (means - arms.means) ** 2)


# ------------------------------------------------------------------------------------ alternatives


class Arms(Protocol):
    """Arms that can be moved; prices are those of arms at `places`, which fit the demands in shape."""

    @property
    def means(self) -> Floats: ...

    @property
    def risks(self) -> Floats: ...

    @property
    def root(self) -> bool: ...

    def level(self, risk: float) -> float: ...

    def shifted(self, risks: Any, margin: float) -> Any: ...

    def natural(self, places: Places, means: Floats) -> Floats: ...

    def worsened(self, places: Places, means: Floats, risks: Floats) -> Floats: ...

    def improved(self, places: Places, means: Floats, risks: Floats) -> Floats: ...

    def lowered(self, places: Places, means: Floats) -> Floats: ...

    def raised(self, places: Places, means: Floats) -> Floats: ...

    def moved(self, places: Places, means: Floats) -> Floats: ...


class Family(Protocol):
    """Alternatives in rows; those of a row are the points of a unit square."""

    refuted: Places  # by row: the arm of which the cheapest alternative is wanted, its place being wrong

    def prices(self, rows: Places, across: Floats, down: Floats) -> Iterator[tuple[Places, Floats]]:
        """Who moves in the alternatives at these points of these rows, and the divergences; `rows` fits the points."""
        ...


class Duels:
    """(a): the arm i of the answer and another arm j move until j beats i.

    Across the square goes the mean at which they meet, from i's own to j's own; down goes the risk, from that which i
    has at this mean anyway, to that which j has.
    """

    def __init__(self, arms: Arms, answer: Mask, mean_margin: float, risk_margin: float) -> None:
        pairs = [(i, j) for i in np.flatnonzero(answer) for j in range(len(answer)) if i != j]
        self.arms, self.mean_margin, self.risk_margin = arms, mean_margin, risk_margin
        self.refuted = np.array([i for i, _ in pairs], dtype=np.intp)
        self.rivals = np.array([j for _, j in pairs], dtype=np.intp)

    def prices(self, rows: Places, across: Floats, down: Floats) -> Iterator[tuple[Places, Floats]]:
        arms, refuted, rivals = self.arms, self.refuted[rows], self.rivals[rows]
        beaten, winner = arms.means[refuted], arms.means[rivals]
        mean = beaten + (winner - self.mean_margin - beaten) * across
        start = arms.natural(refuted, np.minimum(beaten, mean))
        end = arms.shifted(arms.natural(rivals, np.maximum(winner, mean + self.mean_margin)), self.risk_margin)
        risk = start + (end - start) * down
        yield refuted, arms.worsened(refuted, mean, risk)
        yield rivals, arms.improved(rivals, mean + self.mean_margin, arms.shifted(risk, -self.risk_margin))


class Escapes:
    """(b): an arm outside the answer moves to where no arm of the answer covers it, perhaps because that moves as well.

    Of its covers, in the order of their means, the first few are left behind in risk and the others in mean; there is
    a row for each number of the former. No other choice is worth while on a front, where more mean goes with more risk:
    the first are the hardest to leave behind in mean and the easiest in risk. Across the square goes the mean of the
    arm, up to where those left behind in mean need not move; down goes its risk, to where the others need not.
    """

    def __init__(self, arms: Arms, answer: Mask, mean_margin: float, risk_margin: float) -> None:
        self.arms, self.mean_margin, self.risk_margin = arms, mean_margin, risk_margin
        self.answer = np.flatnonzero(answer)
        ordered = self.answer[np.argsort(-arms.means[self.answer], kind="stable")]
        risks = arms.risks
        refuted, in_risk, in_mean, highest, lowest = [], [], [], [], []
        for arm in np.flatnonzero(~answer):
            near_mean = arms.means[ordered] > arms.means[arm] - mean_margin
            covers = ordered[near_mean & (risks[ordered] < arms.shifted(risks[arm], risk_margin))]
            for count in range(len(covers) + 1):
                first, rest = covers[:count], covers[count:]
                refuted.append(arm)
                in_risk.append(np.isin(self.answer, first))
                in_mean.append(np.isin(self.answer, rest))
                highest.append(np.max(arms.means[rest] + mean_margin, initial=arms.means[arm]))
                lowest.append(np.min(arms.shifted(risks[first], -risk_margin), initial=math.inf))
        self.refuted = np.array(refuted, dtype=np.intp)
        shape = (len(refuted), len(self.answer))  # said explicitly, because there may be no row
        self.in_risk = np.array(in_risk, dtype=bool).reshape(shape)
        self.in_mean = np.array(in_mean, dtype=bool).reshape(shape)
        self.highest, self.lowest = np.array(highest), np.array(lowest)

    def prices(self, rows: Places, across: Floats, down: Floats) -> Iterator[tuple[Places, Floats]]:
        arms, refuted = self.arms, self.refuted[rows]
        own = arms.means[refuted]
        mean = own + (self.highest[rows] - own) * across
        start = arms.natural(refuted, mean)
        risk = start + (np.minimum(self.lowest[rows], start) - start) * down
        yield refuted, arms.improved(refuted, mean, risk)
        left_behind = arms.shifted(np.maximum(risk, 0.0) if arms.root else risk, self.risk_margin)
        for column, place in enumerate(self.answer):
            cover = np.array(place)
            by_mean = arms.lowered(cover, mean - self.mean_margin)
            by_risk = arms.worsened(cover, np.array(math.inf), left_behind)
            cheaper = np.minimum(by_mean, by_risk)
            # Not always the cheaper way, or the function would have a valley for each row, and all in one square.
            forced = np.where(self.in_mean[rows, column], by_mean, cheaper)
            yield cover, np.where(self.in_risk[rows, column], by_risk, forced)


class Overtakings:
    """(c): the arm i of the answer and another arm j move in mean until j is ahead by the margin.

    Across the square goes the mean at which they meet, from i's own to j's own; down nothing changes.
    """

    def __init__(self, arms: Arms, answer: Mask, mean_margin: float, risk_margin: float) -> None:
        (best,) = np.flatnonzero(answer)
        self.arms, self.mean_margin = arms, mean_margin
        self.rivals = np.flatnonzero(~answer)
        # By the rival, since it is one arm that is refuted whoever overtakes it: one alternative is kept of each.
        self.refuted, self.best = self.rivals, np.full(len(self.rivals), best)

    def prices(self, rows: Places, across: Floats, down: Floats) -> Iterator[tuple[Places, Floats]]:
        best, rivals = self.best[rows], self.rivals[rows]
        beaten, winner = self.arms.means[best], self.arms.means[rivals]
        mean = beaten + (winner - self.mean_margin - beaten) * across + 0.0 * down
        yield best, self.arms.moved(best, mean)
        yield rivals, self.arms.moved(rivals, mean + self.mean_margin)


class Infringements:
    """(d): the arm i of the answer misses the limit, or another arm j keeps it and overtakes i in the objective.

    Args:
        objective: "mean", with a ceiling on the risk, or "risk", with a floor under the mean.
        limit: The ceiling or the floor; None: there is none.
    """

    def __init__(
        self, arms: Arms, answer: Mask, mean_margin: float, risk_margin: float, objective: str, limit: float | None
    ) -> None:
        self.arms, self.mean_margin, self.risk_margin = arms, mean_margin, risk_margin
        self.by_mean, self.limit = objective == "mean", limit
        self.refuted = np.flatnonzero(~answer)  # by the rival, and last the answer itself
        self.best = int(np.flatnonzero(answer)[0]) if answer.any() else None
        if self.best is not None and limit is not None:
            self.refuted = np.append(self.refuted, self.best)

    def prices(self, rows: Places, across: Floats, down: Floats) -> Iterator[tuple[Places, Floats]]:
        arms, rivals, free = self.arms, self.refuted[rows], np.zeros(np.broadcast_shapes(across.shape, down.shape))
        # What a rival must reach beside the objective.
        ceiling, floor = np.array(math.inf), np.array(-math.inf)
        if self.limit is not None and self.by_mean:
            ceiling = np.array(arms.shifted(self.limit, -self.risk_margin))
        elif self.limit is not None:
            floor = np.array(self.limit + self.mean_margin)
        if self.best is None:
            yield rivals, (arms.improved(rivals, floor, ceiling) if self.by_mean else arms.raised(rivals, floor)) + free
            return
        best = np.array(self.best)
        own = rivals == best
        if self.by_mean:
            level = arms.means[best] + (arms.means[rivals] - self.mean_margin - arms.means[best]) * across
            behind = arms.lowered(best, level)
            ahead = arms.improved(rivals, level + self.mean_margin, ceiling)
        else:
            start = arms.natural(best, arms.means[best])
            end = arms.shifted(arms.natural(rivals, np.maximum(arms.means[rivals], floor)), self.risk_margin)
            level = start + (end - start) * down
            behind = arms.worsened(best, np.array(math.inf), level)
            ahead = arms.improved(rivals, floor, arms.shifted(level, -self.risk_margin))
        missed = np.array(0.0)
        if self.limit is not None and self.by_mean:
            missed = arms.worsened(best, np.array(math.inf), np.array(arms.shifted(self.limit, self.risk_margin)))
        elif self.limit is not None:
            missed = arms.lowered(best, np.array(self.limit - self.mean_margin))
        yield rivals, np.where(own, 0.0, ahead) + free
        yield best, np.where(own, missed, behind) + free


def families_of(task: Question, arms: Arms, answer: Mask, mean_margin: float, risk_margin: float) -> list[Family]:
    """The alternatives for which an answer to a task is wrong.

    Args:
        task: One of `is_known`; its limit is in the units of the arms.
        arms, answer: The arms, and which of them are returned.
        mean_margin, risk_margin: The tolerances.
    """
    margins = arms, answer, mean_margin, risk_margin
    if isinstance(task, Pareto):
        return [Duels(*margins), Escapes(*margins)]
    if isinstance(task, LeastRisk):
        return [Infringements(*margins, "risk", task.min_mean)]
    if isinstance(task, BestMean) and task.max_risk is not None:
        return [Infringements(*margins, "mean", arms.level(task.max_risk))]
    return [Overtakings(*margins)]


def is_known(task: Question) -> bool:
    """Whether alternatives to the answers of a task are known."""
    return isinstance(task, Pareto | BestMean | LeastRisk) or (isinstance(task, Top) and task.count == 1)


def nearest(family: Family, weights: Floats) -> Floats:
    """For each arm that can be refuted the cheapest alternative found: a row with the divergences of all arms.

    The minimum over a square is looked for on a grid, then on smaller and smaller ones around the best point so far.
    """
    count = len(family.refuted)
    across, down, costs = np.full(count, 0.5), np.full(count, 0.5), np.full(count, math.inf)
    rows, half = np.arange(count), 0.5
    for look in range(LOOKS if count else 0):
        points = COARSE if look == 0 else FINE
        steps = np.linspace(-half, half, points)
        grid_across = np.clip(across[rows, None, None] + steps[:, None], 0.0, 1.0)
        grid_down = np.clip(down[rows, None, None] + steps[None, :], 0.0, 1.0)
        total = np.zeros((len(rows), points, points))
        for arm, price in family.prices(rows[:, None, None], grid_across, grid_down):
            total += weights[arm] * price
        flat = total.reshape(len(rows), -1)
        least = flat.argmin(axis=1)
        costs[rows] = flat[np.arange(len(rows)), least]
        across[rows] = grid_across[np.arange(len(rows)), least // points, 0]
        down[rows] = grid_down[np.arange(len(rows)), 0, least % points]
        half = 1.25 * 2.0 * half / (points - 1)
        if look == 1:
            rows = rows[costs[rows] <= WORTHWHILE * costs.min()]
    found = np.zeros((count, len(weights)))
    for arm, price in family.prices(np.arange(count), across, down):
        found[np.arange(count), arm] = price
    found = found[possible := found.max(axis=1) < BEYOND_REACH]
    order = np.argsort(costs[possible], kind="stable")
    _, first = np.unique(family.refuted[possible][order], return_index=True)
    return np.asarray(found[order[first]])
