"""Exact bets on an arm's rewards in [0, 1], which a histogram counts: ln of what a stake on them has grown to.

A bet is a function q of a reward that is never negative. Each reward X multiplies its stake by q(X) / E, where E is the
most that E q(X) can be under a hypothesis. A mixture of stakes with fixed weights is a test process at the truth, and
what is computed here is never more than that process (docs/theory/comparisons.md, section 3.3):

    mean above m   q = 1 - l + l x / m                              for shares l of the stake; below: x -> 1 - x
    risk above t   q = 1 - l + l (x - m)^2 / v                      v is the variance of a risk t at the mean m
    risk below t   q = a (1 - x) + b x + c x (1 - x), a, b, c >= 0  E q = a (1 - m) + b m + c (m (1 - m) - v)

A risk is the variance less rho times the mean. The mean is unknown, so evidence is the least over all means. Means are
taken in cells, and a cell by a number that the evidence of none of its means is below. The bets of the last kind are
fixed for each of `PARTS` equal parts of [0, 1] in which the mean may be, so ln q at the nodes is a table.

A reward counts at the two nodes beside it, in parts, so that the average of their places is the reward. Of a concave
ln q that takes something and never adds. Squares are overstated by it, in total by `excess`, which is known.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramgape.core.comparisons import COLUMNS as EARLIER
from ramgape.core.kernel import inlined, kernel
from ramgape.statistics.vectors import on_arrays

Floats = NDArray[np.float64]

CELLS = 256
NODES = CELLS + 1
COARSE = 4  # cells that bets about "risk below" take for one
COARSE_CELLS = CELLS // COARSE
PARTS = 32
CASH = 0.15  # of every stake that is not bet, so that no more than the rest can be lost
LARGEST_SHARE = 0.97
SLACK = 1e-6  # more than all rounding of sums of logarithms, for each of which ROUNDING is taken off besides
ROUNDING = 1e-15
FLOOR = 0.01  # a bet that a cell of means leaves less of, at worst, is not made there
# The width of a cell, in errors of the average and in distances from it: for "risk below" and for "risk above".
STEP, GROWTH, WIDE_STEP, WIDE_GROWTH = 0.5, 0.4, 0.7, 0.6
MOST_CELLS = 1000  # more than there are on one side of an average
LEAST_VARIANCE, LEAST_OF_SEEN = 1e-7, 0.01
# Stakes are computed for these factors of a bet (its odds, or b of 1 + b (x - m)^2). Between two of them ln of a stake
# is above the line, and taken to lie on it.
FIRST_FACTOR, RATIO, STEPS = 1e-3, 1.25, 130
LOG_RATIO = math.log(RATIO)
LEAST_MEAN, LEAST_AVERAGE = 1e-6, 1e-3
UNKNOWN = 1e300
NOTED = 40  # ends of cells for which that is computed only once


def _weights(peak: Any) -> Floats:
    """ln of weights of shares: six tenths as a peak says, the rest alike for all."""
    return np.asarray(np.log((1.0 - CASH) * (0.6 * peak / peak.sum() + 0.4 / len(peak))))


SHARES = LARGEST_SHARE / 1.7 ** np.arange(12)
OF_MEANS = _weights(np.sqrt(SHARES))
# Of "risk above": shares as they are, which suit laws without rare rewards, and shares in parts of the variance, which
# suit rewards that are rare and far away.
ABOVE_SHARES = np.append(LARGEST_SHARE / 1.6 ** np.arange(10), np.zeros(6))
ABOVE_FACTORS = np.append(np.zeros(10), 3.0 / 1.7 ** np.arange(6))
_PEAK = np.exp(-0.5 * (np.log(ABOVE_SHARES[:10] / 0.12) / 0.9) ** 2)
OF_ABOVE = np.log(np.append(0.6 * np.exp(_weights(_PEAK)), np.full(6, 0.4 * (1.0 - CASH) / 6.0)))
LOG_CASH = math.log(CASH)
PLACES = np.arange(NODES) / CELLS

# Of "risk below": parts of a stake in the assets that such bets are made of, weights of these mixtures, and shares.
ASSETS = (  # variance about the part's mean, mean above, mean below, x (1 - x); weight
    (1.0, 0.0, 0.0, 0.0, 0.40),
    (0.0, 0.0, 0.0, 1.0, 0.10),
    (0.5, 0.0, 0.0, 0.5, 0.10),
    (0.75, 0.25, 0.0, 0.0, 0.10),
    (0.5, 0.5, 0.0, 0.0, 0.05),
    (0.75, 0.0, 0.25, 0.0, 0.10),
    (0.5, 0.0, 0.5, 0.0, 0.05),
    (0.0, 1.0, 0.0, 0.0, 0.05),
    (0.0, 0.0, 1.0, 0.0, 0.05),
)
BELOW_SHARES = LARGEST_SHARE / 2.0 ** np.arange(6)
BETS = len(ASSETS) * len(BELOW_SHARES)


def _bets_below() -> tuple[Floats, Floats]:
    """The bets of each part, float[PARTS, BETS, 3]: what q is at 0 and at 1, and how it is bent; and ln of weights."""
    mean = ((np.arange(PARTS) + 0.5) / PARTS)[:, None]
    square = np.maximum(mean, 1.0 - mean) ** 2
    # (square - (x - mean)^2) / square, x / mean, (1 - x) / (1 - mean) and x (1 - x) / (mean (1 - mean)) in that form
    zero = np.zeros_like(mean)
    assets = np.stack(
        [
            np.hstack([(square - mean**2) / square, (square - (1.0 - mean) ** 2) / square, 1.0 / square]),
            np.hstack([zero, 1.0 / mean, zero]),
            np.hstack([1.0 / (1.0 - mean), zero, zero]),
            np.hstack([zero, zero, 1.0 / (mean * (1.0 - mean))]),
        ],
        axis=1,
    )
    table = np.array(ASSETS)
    mixed = np.einsum("ma,pac->pmc", table[:, :4], np.maximum(assets, 0.0))
    share = BELOW_SHARES[None, None, :, None]
    # A trifle of bend everywhere: then the top of every parabola is a number.
    bets = (1.0 - share) * np.array([1.0, 1.0, 1e-9]) + share * mixed[:, :, None]
    weights = np.log(table[:, 4])[:, None] + _weights(BELOW_SHARES)
    return bets.reshape(PARTS, BETS, 3), weights.ravel()


BELOW, OF_BELOW = _bets_below()


def _logs_below() -> tuple[Floats, Floats]:
    """ln q at the coarse nodes, float[PARTS, BETS, COARSE_CELLS + 1]; and bends over the largest value of q."""
    place = np.arange(COARSE_CELLS + 1) / COARSE_CELLS
    at_zero, at_one, bend = (BELOW[..., number, None] for number in range(3))
    values = at_zero * (1.0 - place) + at_one * place + bend * place * (1.0 - place)
    slope, bend = (at_one - at_zero + bend)[..., 0], bend[..., 0]
    top = np.clip(slope / (2.0 * bend), 0.0, 1.0)
    largest = at_zero[..., 0] + top * slope - bend * top * top
    return np.log(values), bend / largest


LOGS, BENDS = _logs_below()


# For the compiler: shares and weights as plain numbers. In the scratch memory of a problem stand logarithms of stakes,
# part by part, then the counts at the coarse nodes, then sums of ln(1 + b (x - m)^2).
SHARE, MEAN_WEIGHT = tuple(SHARES.tolist()), tuple(OF_MEANS.tolist())
ABOVE_SHARE, ABOVE_FACTOR = tuple(ABOVE_SHARES.tolist()), tuple(ABOVE_FACTORS.tolist())
ABOVE_WEIGHT = tuple(OF_ABOVE.tolist())
STAKES = PARTS * BETS
NOTES = STAKES + COARSE_CELLS + 1


# ------------------------------------------------------------------------------------------------ what an arm has shown


@inlined
def remember(row, past, problem, value):
    """Add a reward to the histogram of its arm."""
    position = min(max(value, 0.0), 1.0) * CELLS
    place = min(int(position), CELLS - 1)
    past[problem.own_columns + place] += 1.0 - (position - place)
    past[problem.own_columns + place + 1] += position - place


def remember_many(past: Any, problem: Any, values: Floats) -> None:
    """Add rewards to the histogram of their arm, to the bit what `remember` does with one after the other."""
    position = np.clip(values, 0.0, 1.0) * CELLS
    place = np.minimum(position.astype(np.int64), CELLS - 1)
    part = position - place
    own = np.asarray(past)[problem.own_columns : problem.own_columns + NODES]
    np.add.at(own, np.column_stack((place, place + 1)).ravel(), np.column_stack((1.0 - part, part)).ravel())


@inlined
def shown(row, sums):
    """Of an arm's rewards: number, average, about its error, the sum of squares; and by what counts are to be raised.

    Of trials under way, which have shown nothing new, the histogram knows nothing.
    """
    count, mean = sums[0], sums[1] / sums[0]
    error = math.sqrt(max(sums[2] / count - mean * mean, 0.0) / count) + 0.3 / count
    squares = sums[2] + row.shift * (2.0 * sums[1] + count * row.shift)
    return count, row.shift + mean, error, squares, row.pulls / (row.pulls - row.under_way)


@inlined
def count_at(past, problem, since, place):
    """How many rewards count at a node: of all, or of those after the designation of an answer."""
    count = past[problem.own_columns + place]
    if since:
        count -= past[problem.snapshot + EARLIER + problem.own_columns + place]
    return count


def counts_of(past: Any, problem: Any, since: int, growth: float) -> Floats:
    """The whole histogram, float[NODES]."""
    first = problem.own_columns
    counts = np.array(past[first : first + NODES])
    if since:
        first += problem.snapshot + EARLIER
        counts -= np.asarray(past[first : first + NODES])
    return np.maximum(growth * counts, 0.0)


@inlined
def slack_of(count):
    """More than rounding has changed the logarithm of a stake by: each count by a part of all of them."""
    return SLACK + ROUNDING * count * count


@inlined
def added(largest, total, log):
    """A sum with one more number, of which the logarithm is given, as the largest logarithm and a factor."""
    if log > largest:
        return log, total * math.exp(largest - log) + 1.0
    return largest, total + math.exp(log - largest)


def log_sum(logs: Floats, axis: int = 0) -> Floats:
    """ln of a sum with that of the cash, of numbers of which the logarithms are given."""
    largest = np.maximum(logs.max(axis=axis, keepdims=True), LOG_CASH)
    total = np.exp(logs - largest).sum(axis=axis, keepdims=True) + np.exp(LOG_CASH - largest)
    return np.asarray((largest + np.log(total)).squeeze(axis))


# ---------------------------------------------------------------------------------------------------------------- means


@inlined
def step_of(factor):
    """The step of a table at or below a factor."""
    return int(math.log(factor / FIRST_FACTOR) / LOG_RATIO)


@inlined
def factor_at(step):
    """The factor of a step."""
    return FIRST_FACTOR * math.exp(step * LOG_RATIO)


@inlined
def share_at(step):
    """The share of a stake whose odds are the factor of a step."""
    odds = factor_at(step)
    return odds / (1.0 + odds)


@inlined
def mirrored(value, side):
    """A mean, or a reward, of x -> 1 - x for side -1."""
    return value if side > 0.0 else 1.0 - value


@inlined
def bet_on_mean(share, average, mean):
    """A bet 1 - l + l x / m as c (1 - s + s x / a), where a is the average: c, and the odds of s."""
    ratio = average / max(mean, LEAST_MEAN)
    return 1.0 - share + share * ratio, share * ratio / (1.0 - share)


@kernel
def noted_stake(known, past, problem, since, step, side, average):
    """ln of the stake of a step of shares on a mean, as if that were the average, computed once for each arm."""
    note = NOTES + step if side > 0.0 else NOTES + STEPS + step
    if problem.scratch[note] == UNKNOWN:
        share, log = share_at(step), 0.0
        for place in range(NODES):
            count = count_at(past, problem, since, place)
            if count > 0.0:
                log += count * math.log(1.0 - share + share * mirrored(place / CELLS, side) / average)
        problem.scratch[note] = known[4] * log
    return problem.scratch[note]


@kernel
def log_on_mean(known, past, problem, since, mean, side):
    """ln of the evidence that a mean is above a value (side 1), or below it (-1)."""
    largest, total = LOG_CASH, 1.0
    average = max(mirrored(known[1], side), LEAST_AVERAGE)
    for number in range(len(SHARE)):
        constant, odds = bet_on_mean(SHARE[number], average, mirrored(mean, side))
        if odds < FIRST_FACTOR:
            continue
        step = step_of(odds)
        low, high = share_at(step), share_at(step + 1)
        first = noted_stake(known, past, problem, since, step, side, average)
        second = noted_stake(known, past, problem, since, step + 1, side, average)
        log = first + (odds / (1.0 + odds) - low) / (high - low) * (second - first)
        largest, total = added(largest, total, log + known[0] * math.log(constant) + MEAN_WEIGHT[number])
    return largest + math.log(total) - slack_of(known[0])


class OnMean:
    """`log_on_mean` for many values at once, in plain Python.

    Args:
        known, counts: What the arm has shown.
        side: 1 for above, -1 for below.
    """

    def __init__(self, known: Any, counts: Floats, side: float) -> None:
        some = counts > 0.0
        self._number, self._side, self._count = known[0], side, counts[some]
        self._average = max(mirrored(known[1], side), LEAST_AVERAGE)
        self._gain = mirrored(PLACES[some], side) / self._average

    def __call__(self, means: Floats) -> Floats:
        """The evidence, float[N]."""
        constant, odds = bets_on_means(SHARES[:, None], self._average, mirrored(means, self._side))
        made = odds >= FIRST_FACTOR
        odds = np.where(made, odds, 1.0)
        step = steps_of(odds)
        first, last = int(step.min()), int(step.max()) + 1
        share = share_at_steps(np.arange(first, last + 1))
        stakes = np.log(1.0 - share[:, None] + share[:, None] * self._gain) @ self._count
        step -= first
        part = (odds / (1.0 + odds) - share[step]) / (share[step + 1] - share[step])
        logs = stakes[step] + part * (stakes[step + 1] - stakes[step])
        logs += self._number * np.log(constant) + OF_MEANS[:, None]
        return np.asarray(log_sum(np.where(made, logs, -np.inf)) - slack_of(self._number))


# ---------------------------------------------------------------------------------------------------------------- cells


@inlined
def next_mean(mean, side, known, end, parts):
    """Where the cell of means ends that begins at a mean, on the way up (side 1) or down (-1) from the average.

    With `parts` no cell lies in two of so many equal parts of [0, 1].
    """
    step, growth = (STEP, GROWTH) if parts else (WIDE_STEP, WIDE_GROWTH)
    beyond = mean + side * (step * known[2] + growth * abs(mean - known[1]))
    if side > 0.0:
        return min(beyond, end, (math.floor(mean * parts) + 1.0) / parts if parts else end)
    return max(beyond, end, (math.ceil(mean * parts) - 1.0) / parts if parts else end)


@inlined
def most_possible(low, high, rho):
    """The greatest risk that the means between two allow: no variance exceeds m (1 - m)."""
    top = min(max(0.5 * (1.0 - rho), low), high)
    return top * (1.0 - top) - rho * top + 1e-12


@inlined
def means_of(row, known):
    """The least and the greatest mean that the arm's box leaves, and where between them cells begin."""
    low, high = max(row.mean_low, 0.0), min(row.mean_high, 1.0)
    return low, high, min(max(known[1], low), high)


def cells_of(row: Any, known: Any, parts: int) -> tuple[Floats, Floats]:
    """All cells of means of an arm, float[M] each: their ends nearer to the average, and those farther away."""
    low, high, start = means_of(row, known)
    near: list[float] = []
    far: list[float] = []
    for side, end in ((1.0, high), (-1.0, low)):
        mean = start
        while not near or mean != end:
            near.append(mean)
            mean = next_mean(mean, side, known, end, parts)
            far.append(mean)
    return np.array(near), np.array(far)


# ----------------------------------------------------------------------------------------------------------- risk above


@inlined
def variance_in(value, low, high, rho, seen):
    """The most that the variance can be if the risk is a value and the mean lies between two, or a little more.

    Of far smaller variances than what is seen nothing needs to be known: there is more evidence against them.
    """
    variance = min(value + rho * high, most_possible(low, high, 0.0))
    return max(max(variance, 0.25 * (high - low) * (high - low)), max(LEAST_OF_SEEN * seen, LEAST_VARIANCE))


@kernel
def log_products(past, problem, since, step, mean):
    """The sum of ln(1 + b (x - m)^2) over the rewards, where b is the factor of a step."""
    factor, log = factor_at(step), 0.0
    for place in range(NODES):
        count = count_at(past, problem, since, place)
        if count > 0.0:
            away = place / CELLS - mean
            log += count * math.log(1.0 + factor * away * away)
    return log


@kernel
def noted_products(past, problem, since, step, mean, number):
    """The same for the end of a cell with a number, computed once for each arm."""
    if number >= NOTED:
        return log_products(past, problem, since, step, mean)
    place = NOTES + step * NOTED + number
    if problem.scratch[place] == UNKNOWN:
        problem.scratch[place] = log_products(past, problem, since, step, mean)
    return problem.scratch[place]


@kernel
def log_above(known, past, problem, since, excess, value, near, far, number, next_number):
    """ln of the evidence that a risk is above a value, whatever the mean from one to another; or a little less.

    (x - m)^2 is at least what lies on the line between its values at both ends, less a quarter of the squared width.
    """
    lost = 0.25 * (far - near) * (far - near)
    seen = known[2] * known[2] * known[0]
    variance = variance_in(value, min(near, far), max(near, far), problem.rho, seen)
    largest, total = LOG_CASH, 1.0
    for share_number in range(len(ABOVE_SHARE)):
        share = ABOVE_SHARE[share_number] + ABOVE_FACTOR[share_number] * variance
        floor = 1.0 - share - share / variance * lost
        if floor < FLOOR:
            continue
        factor = share / variance / floor
        step = step_of(factor)
        part = (factor - factor_at(step)) / (factor_at(step + 1) - factor_at(step))
        log = math.inf
        for mean, place in ((near, number), (far, next_number)):
            first = noted_products(past, problem, since, step, mean, place)
            log = min(log, first + part * (noted_products(past, problem, since, step + 1, mean, place) - first))
        log = known[4] * log + known[0] * math.log(floor) - factor * excess + ABOVE_WEIGHT[share_number]
        largest, total = added(largest, total, log)
    return largest + math.log(total) - slack_of(known[0])


@kernel
def excess_of(known, past, problem, since):
    """By how much the nodes of the histogram overstate the sum of squares."""
    total = 0.0
    for place in range(NODES):
        total += count_at(past, problem, since, place) * (place / CELLS) * (place / CELLS)
    return max(known[4] * total - known[3], 0.0) + ROUNDING * known[0]


@kernel
def forget(problem, count):
    """Forget so many notes about another arm."""
    for place in range(NOTES, NOTES + count):
        problem.scratch[place] = UNKNOWN


@kernel
def least_above(known, row, past, problem, since, excess, value, possible, need):
    """ln of the evidence that a risk is above a value, whatever the mean, or less if that is below what is needed.

    Means are left out for which not even the risk `possible` is.
    """
    low, high, start = means_of(row, known)
    least, number = math.inf, 0
    for turn in range(2):
        side, end, mean, before = 1.0 - 2.0 * turn, low if turn else high, start, 0
        for _ in range(MOST_CELLS):
            near, mean = mean, next_mean(mean, side, known, end, 0)
            number += 1
            if not possible > most_possible(min(near, mean), max(near, mean), problem.rho):
                log = log_above(known, past, problem, since, excess, value, near, mean, before, number)
                least, before = min(least, log), number
                if least < need:
                    return least
            before = number
            if mean == end:
                break
    return least


class Above:
    """`log_above` for many values and all cells at once, in plain Python.

    Args:
        known, counts: What the arm has shown.
        problem: The search's.
        cells: Of means.
    """

    def __init__(self, known: Any, counts: Floats, problem: Any, cells: tuple[Floats, Floats]) -> None:
        some = counts > 0.0
        self._known, self._rho, self._count, self._place = known, problem.rho, counts[some], PLACES[some]
        self._excess = max(float(counts @ PLACES**2) - known[3], 0.0) + ROUNDING * known[0]
        (near, far), self._products = cells, np.empty((0, 0))
        self._low, self._high, self._lost = np.minimum(near, far), np.maximum(near, far), 0.25 * (far - near) ** 2
        self._ends, place = np.unique(np.concatenate((near, far)), return_inverse=True)
        self._near, self._far = place[: len(near)], place[len(near) :]
        self._possible = possible_in(self._low, self._high, self._rho)
        self._first = 0

    def is_impossible(self, risks: Floats) -> NDArray[np.bool_]:
        """In which cells not even these risks are possible, bool[M, N]."""
        return np.asarray(risks > self._possible[:, None])

    def __call__(self, values: Floats) -> Floats:
        """The evidence, float[M, N]."""
        number, _, error = self._known[:3]
        variance = variances_in(values[:, None], self._low, self._high, self._rho, error * error * number)
        share = ABOVE_SHARES[:, None, None] + ABOVE_FACTORS[:, None, None] * variance
        floor = 1.0 - share - share / variance * self._lost  # float[L, N, M]
        made = floor >= FLOOR
        floor = np.where(made, floor, 1.0)
        factor = share / variance / floor
        step = steps_of(factor)
        part = (factor - factors_at(step)) / (factors_at(step + 1) - factors_at(step))
        self._note(int(step.min()), int(step.max()) + 1)
        step -= self._first
        logs = np.full(factor.shape, np.inf)
        for end in (self._near, self._far):
            first = self._products[step, end]
            logs = np.minimum(logs, first + part * (self._products[step + 1, end] - first))
        logs = logs + number * np.log(floor) - factor * self._excess + OF_ABOVE[:, None, None]
        return np.asarray(log_sum(np.where(made, logs, -np.inf)).T - slack_of(number))

    def _note(self, first: int, last: int) -> None:
        """Compute the products of all ends for the steps from one to another."""
        known = len(self._products)
        if known and self._first <= first and last < self._first + known:
            return
        factors = factors_at(np.arange(first, last + 1))
        squares = (self._place - self._ends[:, None]) ** 2
        self._first, self._products = first, np.log(1.0 + factors[:, None, None] * squares) @ self._count


# ----------------------------------------------------------------------------------------------------------- risk below


@kernel
def fill_scratch(known, past, problem, since, low, high):
    """Write down ln of the stakes on "risk below", times their weights, of the parts with means from one to another."""
    scratch, excess = problem.scratch, -known[3] - ROUNDING * known[0]
    for node in range(COARSE_CELLS + 1):
        count = 0.0
        for place in range(max(COARSE * (node - 1), 0), min(COARSE * (node + 1), CELLS) + 1):
            count += count_at(past, problem, since, place) * (1.0 - abs(place - COARSE * node) / COARSE)
        scratch[STAKES + node] = known[4] * count
        excess += known[4] * count * (node / COARSE_CELLS) * (node / COARSE_CELLS)
    for part in range(min(int(low * PARTS), PARTS - 1), min(int(high * PARTS), PARTS - 1) + 1):
        for bet in range(BETS):
            log = BENDS[part, bet] * excess + OF_BELOW[bet]
            for node in range(COARSE_CELLS + 1):
                log += scratch[STAKES + node] * LOGS[part, bet, node]
            scratch[part * BETS + bet] = log


@inlined
def part_of(low, high):
    """The part of [0, 1] in which a cell of means lies."""
    return min(int(0.5 * (low + high) * PARTS), PARTS - 1)


@kernel
def log_below(known, problem, value, low, high):
    """ln of the evidence that a risk is below a value, whatever the mean from one to another, by `fill_scratch`."""
    part, largest, total = part_of(low, high), LOG_CASH, 1.0
    for bet in range(BETS):
        at_zero, at_one, bend = BELOW[part, bet, 0], BELOW[part, bet, 1], BELOW[part, bet, 2]
        slope = at_one - at_zero + bend * (1.0 - problem.rho)
        # What is expected at most is a parabola of the mean, and greatest as near to its top as the cell reaches.
        top = min(max(slope / (2.0 * bend), low), high)
        expected = at_zero + top * (slope - bend * top) - bend * value
        log = problem.scratch[part * BETS + bet] - known[0] * math.log(expected)
        largest, total = added(largest, total, log)
    return largest + math.log(total) - slack_of(known[0])


@kernel
def least_below(known, row, problem, value, need):
    """ln of the evidence that a risk is below a value, whatever the mean, or less if that is below what is needed."""
    low, high, start = means_of(row, known)
    least = math.inf
    for turn in range(2):
        side, end, mean = 1.0 - 2.0 * turn, low if turn else high, start
        for _ in range(MOST_CELLS):
            before, mean = mean, next_mean(mean, side, known, end, PARTS)
            first, last = min(before, mean), max(before, mean)
            if not value > most_possible(first, last, problem.rho):
                least = min(least, log_below(known, problem, value, first, last))
                if least < need:
                    return least
            if mean == end:
                break
    return least


class Below:
    """`least_below` for many values at once, in plain Python.

    Args:
        known, counts: What the arm has shown.
        problem: The search's.
        cells: Of means, none of which lies in two parts.
    """

    def __init__(self, known: Any, counts: Floats, problem: Any, cells: tuple[Floats, Floats]) -> None:
        low, high = np.minimum(*cells), np.maximum(*cells)
        parts = np.minimum((0.5 * (low + high) * PARTS).astype(np.int64), PARTS - 1)
        inner, weight = counts[:-1].reshape(COARSE_CELLS, COARSE), np.arange(COARSE) / COARSE
        coarse = np.append(inner @ (1.0 - weight), counts[-1])
        coarse[1:] += inner @ weight
        excess = float(coarse @ PLACES[::COARSE] ** 2) - known[3] - ROUNDING * known[0]
        first, last = int(parts.min()), int(parts.max()) + 1
        logs = LOGS[first:last] @ coarse + BENDS[first:last] * excess + OF_BELOW
        self._number, self._logs = known[0], logs[parts - first]
        at_zero, at_one, self._bend = (BELOW[parts, :, number] for number in range(3))  # float[M, B]
        slope = at_one - at_zero + self._bend * (1.0 - problem.rho)
        top = np.clip(slope / (2.0 * self._bend), low[:, None], high[:, None])
        self._expected = at_zero + top * (slope - self._bend * top)
        self._possible = possible_in(low, high, problem.rho)

    def __call__(self, values: Floats) -> Floats:
        """The evidence, float[N], without a need."""
        out = values[:, None] > self._possible
        expected = np.where(out[..., None], 1.0, self._expected - self._bend * values[:, None, None])
        found = log_sum(self._logs - self._number * np.log(expected), axis=2) - slack_of(self._number)
        return np.asarray(np.where(out, np.inf, found).min(axis=1))


possible_in, steps_of = on_arrays(most_possible), on_arrays(step_of, int=np.int64)
factors_at, share_at_steps = on_arrays(factor_at), on_arrays(share_at, factor_at=on_arrays(factor_at))
bets_on_means = on_arrays(bet_on_mean)
variances_in = on_arrays(variance_in, most_possible=on_arrays(most_possible))
