"""How few samples could suffice: the information-theoretic lower bound of Garivier and Kaufmann (2016).

Take an algorithm that is wrong with probability at most delta on every instance of a family, and one instance on which
its answer is S. On every *alternative*, an instance of the family for which S is wrong, the algorithm must behave
differently, and nothing but its samples can tell it to. Hence

    E[samples] >= T* kl(delta, 1 - delta),    1/T* = max over w of min over alternatives of sum_i w_i KL_i

where w_i is arm i's share of the samples and KL_i the divergence of its rewards from those of the alternative. The
family here are Gaussian arms with unknown means and variances. Arms of another kind are replaced by Gaussian ones of
the same mean and variance, and then the number is a *reference* and no bound: rewards of another shape may tell more
(where only two values occur, equally far from the mean, the variance is soon known), and methods for bounded rewards do
stop below it. An answer S is wrong

    (a) if one of its arms i is beaten by some arm j, by epsilon or more in both objectives: i and j move (`Duels`);
    (b) if an arm i outside it has no cover in it: i moves, and every arm of S that would cover it where it goes
        moves as well, to less mean or to more risk, whichever is cheaper (`Escapes`).

With epsilon 0 this is "S is not the Pareto set". What it costs to move one arm has a closed form (`worsened` and
`improved`); where the arms meet is looked for in two dimensions (`nearest`). The best shares solve a linear programme
with a row for each alternative found so far: its solution is answered by further alternatives, those nearest to it,
until it can hardly be improved (`balance`). The programme proves that T* is no smaller, whatever the search for
alternatives may have missed, and it is this side that is reported.
"""

from __future__ import annotations

import math
import os
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ramgape.common.checks import SMALLEST, check_number
from ramgape.errors import InvalidInstance, MissingExtra, known_name, require
from ramgape.options import DEFAULT_DELTA, Tolerance
from ramgape.problems.environments import Gaussian, Instance
from ramgape.problems.instances import load_instance
from ramgape.risks.mean_variance import Moments
from ramgape.risks.measure import Measure
from ramgape.risks.standard_deviation import StandardDeviation
from ramgape.search.explained import Explained, load_extra
from ramgape.search.spec import check_alpha, check_tolerance, choose_risk, parse_share
from ramgape.tasks import PARETO

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from ramgape.views.explanation import Explanation

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
Mask = NDArray[np.bool_]

GAP = 0.002  # T* is known when what an allocation reaches and what no allocation exceeds differ by this part
ROUNDS = 200  # about ten are needed
ENDLESS = 1e-20  # 1/T* below which an alternative and the truth differ by no more than rounding
DIGITS = 1e12  # times its variance that an arm's risk may be
SLIGHTEST = 1e-12  # a share of 0 would make an arm's infinite divergence count for nothing
COARSE, FINE, LOOKS = 17, 7, 10  # points to a side in the first look for a minimum and in the others; and all looks
WORTHWHILE = 1.5  # alternatives that cost more than so many times the cheapest one are not looked at closely


@dataclass(frozen=True, slots=True, repr=False)
class LowerBound(Explained):
    """The fewest samples, on average, that an algorithm can do with on Gaussian arms like these.

    Where the answer hangs on a tie, no number of samples suffices: `samples`, `characteristic_time` and `reached` are
    then None, and the allocation is empty. That is exact for rewards of every kind: any law that is not a constant has
    others, as near as you like, with a larger mean, or with the same mean and a smaller variance.

    Attributes:
        samples: The number itself.
        characteristic_time: T*, up to 0.2 % below the truth and never above it.
        allocation: The shares of the samples that an algorithm ideal for Gaussian arms would give them; for these
            shares the time is `reached`, so that the truth lies in between.
        exact: Whether this is a lower bound as it stands, for every delta and every algorithm that is right with
            probability 1 - delta whatever Gaussian arms it is given. Otherwise it is a reference: a number to compare
            with, which a method may well be below.
        note: Why it is the one or the other.
        instance: What was asked about, as `delta`, `epsilon`, `risk`, `rho`, `alpha` and `direction` are
            what was asked for.
    """

    samples: float | None
    characteristic_time: float | None
    reached: float | None
    allocation: dict[str, float]
    exact: bool
    note: str
    instance: str
    delta: float
    epsilon: float | tuple[float, float]
    risk: str
    rho: float | None
    alpha: float | None
    direction: Literal["maximize", "minimize"]

    def explanation(self, ascii_only: bool = False) -> Explanation:
        """All that is said of it, for whoever shows it."""
        from ramgape.views.lower_bound import explain_lower_bound

        return explain_lower_bound(self)

    def _rows(self) -> list[dict[str, Any]]:
        """One for each arm."""
        samples = self.samples or 0.0
        return [{"name": name, "share": part, "samples": part * samples} for name, part in self.allocation.items()]

    def plot(self) -> Figure:
        """The shares of the samples."""
        load_extra("matplotlib", "plot")
        from ramgape.views.lower_bound import headline
        from ramgape.views.plots import style
        from ramgape.views.plots.runs import draw_allocation

        with style.applied():
            figure = style.new_figure(title="\n".join(textwrap.wrap(headline(self), 90)))
            draw_allocation(figure.add_subplot(), self.allocation)
        return figure


def has_lower_bound(measure: Measure) -> bool:
    """Whether it is known for a risk."""
    return isinstance(measure, Moments | StandardDeviation)


def lower_bound(
    instance: Instance | Mapping[str, Any] | str | os.PathLike[str],
    *,
    delta: float = DEFAULT_DELTA,
    epsilon: Tolerance = 0.0,
    risk: Measure | str | None = None,
    rho: float | None = None,
    alpha: float | None = None,
    direction: Literal["maximize", "minimize"] = "maximize",
) -> LowerBound:
    """The samples that an algorithm needs on average, if it is to be right with probability 1 - delta.

    This is a bound for Gaussian arms only; for others it is a reference, and `exact` is False.

    With epsilon 0 the one right answer is the Pareto set, and the bound holds for every delta. With epsilon above 0
    (see `is_epsilon_cover` for what is then right) there may be several right answers:

    - if there is only one, nothing changes;
    - if there are a few, an algorithm may aim at the one that is easiest to prove, and T* is the least of theirs. The
      bound is then asymptotic: it is about the limit of samples / ln(1/delta) as delta goes to 0 (Degenne and Koolen
      2019), and at a given delta a reference rather than a proof;
    - if there are too many to look at, T* is that of the Pareto set alone. This is the bound, asymptotic as
      well, for algorithms whose answer is the exact Pareto set. It is no bound where another answer is easier.

    Args:
        instance: A name such as "paper:46", an instance file, its contents, or an `Instance`.
        delta: Accepted probability of a wrong answer.
        epsilon: Tolerance in mean and risk, or a pair (mean, risk), or a share such as "5%", of the reward range or
            else of the smallest absolute mean.
        risk: "std", "variance" or "mean-variance:RHO", the only ones for which this is known; unless given, the
            instance's own, or std.
        rho: Short for risk "mean-variance:RHO".
        alpha: Factor of the mean-variance; unless given, as for `identify`.
        direction: "maximize" rewards, or "minimize" costs.

    Raises:
        InvalidSpec: What is asked for cannot be meant.
        MissingExtra: SciPy is not installed.

    Examples:
        >>> bound = lower_bound("paper:46")
        >>> round(bound.samples, -2), bound.exact
        (4300.0, False)
        >>> max(bound.allocation, key=bound.allocation.get)
        '1'
    """
    instance = load_instance(instance)
    delta = check_number(delta, "delta", "between 0 and 1, both excluded", lambda value: 0.0 < value < 1.0)
    tolerance, risk_epsilon = check_tolerance(in_numbers(instance, epsilon))
    require(tolerance is not None, "epsilon", "a finite number of at least 0, or a pair (mean, risk)", epsilon)
    assert tolerance is not None
    measure = choose_risk(instance.risk if risk is None and rho is None else risk, rho)
    require(has_lower_bound(measure), "risk", "std, variance or mean-variance, for a lower bound", str(measure))
    rho = getattr(measure, "rho", 0.0)
    scale = comparison_scale(instance, measure, alpha, tolerance, risk_epsilon)
    asked: dict[str, Any] = {
        "instance": instance.name,
        "delta": delta,
        "epsilon": tolerance if risk_epsilon is None else (tolerance, risk_epsilon),
        "risk": str(measure),
        "rho": getattr(measure, "rho", None),
        "alpha": None if alpha is None else float(alpha),
        "direction": direction,
    }
    oriented = measure if direction == "maximize" else measure.mirrored()
    known_name(direction, ("maximize", "minimize"), "direction")
    risks = scale * instance.risks_by(oriented, direction)
    check_moments(instance, rho)
    solve = load_solver()

    means = instance.means if direction == "maximize" else -instance.means
    arms = Gaussians(means, instance.variances, rho, isinstance(measure, StandardDeviation))
    answers = PARETO.right_answers(means, risks, tolerance)
    balances: list[tuple[Balance, Mask]] = []
    for answer in answers:
        farthest = max((found.low for found, _ in balances), default=ENDLESS)
        balanced = balance(arms, answer, tolerance, tolerance / scale, solve, farthest)
        if balanced is not None:
            balances.append((balanced, answer))

    gaussian = all(isinstance(arm.distribution, Gaussian) for arm in instance.arms)
    if not balances:
        note = "no number of samples suffices: the Pareto set hangs on a tie, which no data can tell from a near tie"
        return LowerBound(None, None, None, {}, True, note, **asked)
    best, easiest = max(balances, key=lambda pair: pair[0].low)
    highest = max(found.high for found, _ in balances)
    several = not PARETO.is_only_answer(means, risks, tolerance)
    chosen = [name for name, returned in zip(instance.names, easiest, strict=True) if returned]
    shares = dict(zip(instance.names, best.shares.tolist(), strict=True))
    return LowerBound(
        samples=relative_entropy(delta) / highest,
        characteristic_time=1.0 / highest,
        reached=1.0 / best.low,
        allocation=shares,
        exact=gaussian and not several,
        note=f"{family_of(gaussian)} it is {scope_of(several, len(answers), chosen)}",
        **asked,
    )


def in_numbers(instance: Instance, epsilon: Any) -> Any:
    """A tolerance, where it is a share as a number: of what a search would have to see first, an instance knows it."""
    share = parse_share(epsilon)
    if share is None:
        return epsilon
    if instance.reward_range is None:
        return share * float(abs(instance.means).min())
    return share * (instance.reward_range[1] - instance.reward_range[0])


def comparison_scale(
    instance: Instance, measure: Measure, alpha: float | None, tolerance: float, risk_epsilon: float | None
) -> float:
    """The factor with which risks are compared with means, as in `Spec.risk_scale`."""
    low, high = instance.reward_range or (0.0, 1.0)
    factor = check_alpha(alpha, high - low, measure, risk_epsilon)
    if tolerance and risk_epsilon:
        return tolerance / risk_epsilon * (1.0 if factor is None else factor)
    return measure.usual_scale(high - low) if factor is None else factor


def check_moments(instance: Instance, rho: float) -> None:
    """Complain of arms that are no Gaussian ones, or whose risks have none of the digits of their variances."""
    variances = instance.variances
    for name, variance in zip(instance.names, variances, strict=True):
        allowed = "above 0 for a Gaussian reference (a constant reward is told from others by one sample)"
        require(variance > 0.0, f"the variance of arm {name!r}", allowed, float(variance), error=InvalidInstance)
    lost = rho * float(abs(instance.means).max()) / float(variances.min())
    allowed = "small enough for a lower bound that variance - rho mean keeps the digits of the variance"
    require(lost <= DIGITS, "rho", allowed, rho, error=InvalidInstance)


def scope_of(several: bool, looked_at: int, chosen: list[str]) -> str:
    """Whom it binds, the arms being Gaussian, in words."""
    if not several:
        return "exact, for every delta and every algorithm, since there is one right answer, the Pareto set"
    if looked_at == 1:
        return (
            "asymptotic (delta to 0), and only for algorithms that answer with the exact Pareto set: epsilon allows "
            "too many other answers to look at, and where one of them is easier this is no bound"
        )
    return (
        f"asymptotic (delta to 0), for every algorithm: the easiest to prove of the {looked_at} answers that epsilon "
        f"allows is {', '.join(chosen)}"
    )


def family_of(gaussian: bool) -> str:
    """What is taken as known of the rewards, in words."""
    if gaussian:
        return "for Gaussian arms with unknown means and variances"
    return (
        "no bound, since these rewards are not Gaussian and a method may need fewer samples: it is what Gaussian arms "
        "with the same means and variances would take. For those"
    )


def relative_entropy(delta: float) -> float:
    """kl(delta, 1 - delta), which is 0 once a coin may decide.

    >>> round(relative_entropy(0.05), 3), relative_entropy(0.6)
    (2.65, 0.0)
    """
    return (1.0 - 2.0 * delta) * (math.log1p(-delta) - math.log(delta)) if delta < 0.5 else 0.0


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

    def at(self, places: Places) -> Gaussians:
        """Some of the arms, in the shape of `places`."""
        return self._replace(means=self.means[places], variances=self.variances[places])

    def shifted(self, risks: Any, margin: float) -> Any:
        """Risks that are worse by a margin. A deviation below 0 is out of reach, and so is the variance it becomes."""
        if not self.root:
            return risks + margin
        deviations = np.sqrt(np.maximum(risks, 0.0)) + margin
        return deviations * np.abs(deviations)


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


class Family(Protocol):
    """Alternatives in rows; those of a row are the points of a unit square."""

    refuted: Places  # by row: the arm whose place, in the answer or outside it, is wrong

    def prices(self, rows: Places, across: Floats, down: Floats) -> Iterator[tuple[Places, Floats]]:
        """Who moves in the alternatives at these points of these rows, and the divergences; `rows` fits the points."""
        ...


class Duels:
    """(a): the arm i of the answer and another arm j move until j beats i.

    Across the square goes the mean at which they meet, from i's own to j's own; down goes the risk, from that which i
    has at this mean anyway, to that which j has.
    """

    def __init__(self, arms: Gaussians, answer: Mask, mean_margin: float, risk_margin: float) -> None:
        pairs = [(i, j) for i in np.flatnonzero(answer) for j in range(len(answer)) if i != j]
        self.arms, self.mean_margin, self.risk_margin = arms, mean_margin, risk_margin
        self.refuted = np.array([i for i, _ in pairs], dtype=np.intp)
        self.rivals = np.array([j for _, j in pairs], dtype=np.intp)

    def prices(self, rows: Places, across: Floats, down: Floats) -> Iterator[tuple[Places, Floats]]:
        refuted, rivals = self.refuted[rows], self.rivals[rows]
        beaten, winner = self.arms.at(refuted), self.arms.at(rivals)
        mean = beaten.means + (winner.means - self.mean_margin - beaten.means) * across
        lowest = np.minimum(beaten.means, mean)
        highest = np.maximum(winner.means, mean + self.mean_margin)
        start = spread(beaten, lowest) - beaten.rho * lowest
        end = self.arms.shifted(spread(winner, highest) - winner.rho * highest, self.risk_margin)
        risk = start + (end - start) * down
        yield refuted, worsened(beaten, mean, risk)
        yield rivals, improved(winner, mean + self.mean_margin, self.arms.shifted(risk, -self.risk_margin))


class Escapes:
    """(b): an arm outside the answer moves to where no arm of the answer covers it, perhaps because that moves as well.

    Of its covers, in the order of their means, the first few are left behind in risk and the others in mean; there is
    a row for each number of the former. No other choice is worth while on a front, where more mean goes with more risk:
    the first are the hardest to leave behind in mean and the easiest in risk. Across the square goes the mean of the
    arm, up to where those left behind in mean need not move; down goes its risk, to where the others need not.
    """

    def __init__(self, arms: Gaussians, answer: Mask, mean_margin: float, risk_margin: float) -> None:
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
        refuted = self.refuted[rows]
        escaping = self.arms.at(refuted)
        mean = escaping.means + (self.highest[rows] - escaping.means) * across
        start = spread(escaping, mean) - escaping.rho * mean
        risk = start + (np.minimum(self.lowest[rows], start) - start) * down
        yield refuted, improved(escaping, mean, risk)
        for column, place in enumerate(self.answer):
            cover = np.array(place)
            left = self.arms.at(cover)
            by_mean = lowered(left, mean - self.mean_margin)
            by_risk = worsened(
                left,
                np.array(math.inf),
                self.arms.shifted(np.maximum(risk, 0.0) if self.arms.root else risk, self.risk_margin),
            )
            cheaper = np.minimum(by_mean, by_risk)
            # Not always the cheaper way, or the function would have a valley for each row, and all in one square.
            forced = np.where(self.in_mean[rows, column], by_mean, cheaper)
            yield cover, np.where(self.in_risk[rows, column], by_risk, forced)


ALTERNATIVES: dict[str, tuple[type[Duels] | type[Escapes], ...]] = {"pareto": (Duels, Escapes)}  # by task


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
    order = np.argsort(costs, kind="stable")
    _, first = np.unique(family.refuted[order], return_index=True)
    return found[order[first]]


# ------------------------------------------------------------------------------------- allocation


class Balance(NamedTuple):
    """Shares that keep every alternative at least `low` away; no shares keep all of them farther than `high`."""

    shares: Floats
    low: float
    high: float


# What solves the programme: the alternatives in, and out come the best shares and the weights that prove it.
Solver = Callable[[Floats], tuple[Floats, Floats]]


def balance(
    arms: Gaussians, answer: Mask, mean_margin: float, risk_margin: float, solve: Solver, least: float
) -> Balance | None:
    """The shares that keep the nearest alternative as far away as can be; None if that is no more than `least`.

    A weighted sum of alternatives shows what no shares can exceed: sum_i w_i (sum of weighted KL_i) is at most the
    largest of these sums. That holds for any weights, however accurate the programme's solution is.
    """
    families = [family(arms, answer, mean_margin, risk_margin) for family in ALTERNATIVES[PARETO.name]]
    count = len(answer)
    shares = best = np.full(count, 1.0 / count)
    low, high, scale = 0.0, math.inf, 0.0
    known = np.empty((0, count))
    for _ in range(ROUNDS):
        weights = np.maximum(shares, SLIGHTEST)
        found = np.concatenate([nearest(family, weights) for family in families])
        distance = float((found @ shares).min())
        scale = scale or distance
        if distance > low:
            low, best = distance, shares
        if scale <= ENDLESS:  # nor can the programme be solved on such a scale
            return None
        known = np.concatenate([known, found])
        ideal, proof = solve(known / scale)
        high = min(high, float((proof @ known).max()))
        if high <= least:
            return None
        if low >= (1.0 - GAP) * high:
            break
        # Solutions of the programme jump from corner to corner; one drawn towards the best so far teaches more.
        shares = 0.8 * ideal + 0.2 * best
    return Balance(best, low, high)


def load_solver() -> Solver:
    """SciPy's linear programming, if it is there."""
    try:
        from scipy.optimize import linprog
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "scipy":
            raise
        allowed = 'installed for the Gaussian reference: pip install "ramgape[theory]"'
        raise MissingExtra(what="scipy", allowed=allowed) from None

    def solve(alternatives: Floats) -> tuple[Floats, Floats]:
        """Maximise z where z <= alternatives @ shares; the shares, and the duals as weights of the rows."""
        rows, count = alternatives.shape
        solution = linprog(
            np.append(np.zeros(count), -1.0),
            A_ub=np.column_stack([-alternatives, np.ones(rows)]),
            b_ub=np.zeros(rows),
            A_eq=np.append(np.ones(count), 0.0)[None, :],
            b_eq=[1.0],
            bounds=[(0.0, None)] * count + [(None, None)],
            method="highs",
        )
        assert solution.success, solution.message
        shares = np.maximum(solution.x[:count], 0.0)
        proof = np.maximum(-solution.ineqlin.marginals, 0.0)
        return shares / shares.sum(), proof / proof.sum()

    return solve
