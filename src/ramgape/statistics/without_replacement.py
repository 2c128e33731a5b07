"""How strongly the first items of a test set speak against an average over all of it.

N items in random order; the average over all of them is h, and S the sum over those before the t-th. Then the t-th is
expected to be m_t = (N h - S) / (N - t + 1), whatever the values are (Waudby-Smith and Ramdas 2020). So with stakes l_t
that are fixed beforehand the product of 1 + l_t (m_t - x_t) is a martingale as long as its factors are not negative: it
exceeds e^L for any number of items at all with probability at most e^-L. If the average is more than h the product is
a supermartingale at h. It grows with h, so that a product of at least e^L at one h rejects all greater ones too, and a
mixture of such products over stakes does as well: what is proved holds for all h at once. Where items are a sample from
a larger world, m_t is h.

Stakes grow as N / (N - t + 1), because m_t moves away from a wrong h like that; none depends on h or on the values. A
product whose factor could come near 0 at the worst of values is given up for good, which is allowed. A hypothesis that
not even the best of the remaining items can make true is rejected with certainty, and so nothing is left to doubt
when all items are in.

Rounding decides nothing. An average on the engine's scale is off by less than `problem.dust` (`dust_of`): a hypothesis
is rejected with certainty only if it is farther than that from all that is possible, and the box of an arm that has
been asked everything is so much wider on each side (bounds/items.py). Two arms that differ by less are not told apart
before the test set is complete; then exact arithmetic decides (search/items_exact.py).

No product of evidence from two arms is made here, for the same items do not speak independently. The difference of
two arms on the same item is one value; and every such stream is judged in the order of its items, so it does not matter
which arm was asked for more of them, nor why.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from ramgape.core.kernel import Kernel, fixed, inlined, interpreted_by, open_kernel
from ramgape.statistics.scan import NEAR

# Stakes in units of one over the range of values. Beyond 1 they serve averages that are close to the best of values.
STAKES = (0.0125, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 0.95, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
STAKE_COLUMN = np.array(STAKES)[:, None]
MODEST = 8  # so many of them for differences, whose average is never near the best
MOST = 0.95  # that a stake grows to
LEAST = 0.01  # a factor that may become less than this ends a product
STRIDE = 16  # factors that are multiplied before a logarithm is taken; each is between LEAST and 65
LEAST_DUST = 1e-9  # of the range
HALVINGS = 12
CLOSE = 1e-9  # to a border that changes the evidence at once: then NumPy's rounding must not decide on which side

# What is averaged over items.
SCORE, LACK = 0, 1  # a score, and what it misses of the best
SQUARE, SQUARE_LACK = 2, 3  # its squared distance from a centre, and what that is less than 1
LEAD = 4  # by how much another arm is ahead on the same item


@inlined
def itself(problem, score):
    """A score as it is."""
    return score


@open_kernel
def item_value(part, past, others, problem, place, kind, centre):
    """What an item adds to an average; `part` is what a risk makes of a score, in [0, 1], or the score itself.

    Scores are kept in the user's units.
    """
    score = past[problem.first_item + place]
    if kind == LEAD:
        return (others[problem.first_item + place] - score) / problem.span
    value = min(max(part(problem, (score - problem.origin) / problem.span), 0.0), 1.0)
    if kind >= SQUARE:
        value = (value - centre) * (value - centre)
    return 1.0 - value if kind % 2 else value


@open_kernel
def log_product(item_value, past, others, problem, count, kind, centre, hypothesis, stake):
    """ln of the product for one stake; minus infinity where it has been given up."""
    size, finite = problem.item_count, problem.item_count < math.inf
    total, found, product = 0.0, 0.0, 1.0
    expected, staked = hypothesis, stake
    for place in range(count):
        value = item_value(past, others, problem, place, kind, centre)
        if finite:
            left = size - place
            expected = (size * hypothesis - total) / left
            staked = max(stake, min(stake * size / left, MOST))
            total += value
        if 1.0 - staked * (1.0 - expected) < LEAST:
            return -math.inf
        product *= 1.0 + staked * (expected - value)
        if place % STRIDE == STRIDE - 1:
            found += math.log(product)
            product = 1.0
    return found + math.log(product)


@open_kernel
def average_evidence(item_value, log_product, past, others, problem, count, kind, centre, hypothesis):
    """ln of the evidence, from the first `count` items, that the average over all is below a hypothesis."""
    if problem.item_count < math.inf:
        total = 0.0
        for place in range(count):
            total += item_value(past, others, problem, place, kind, centre)
        if problem.item_count * (hypothesis - problem.dust) > total + problem.item_count - count:
            return math.inf  # not even the best of values for the items that are left bring the average there
    largest, total, stakes = -math.inf, 0.0, MODEST if kind == LEAD else len(STAKES)
    for number in range(stakes):
        found = log_product(past, others, problem, count, kind, centre, hypothesis, STAKES[number])
        if found > largest:
            total, largest = total * math.exp(largest - found) + 1.0, found
        elif found > -math.inf:
            total += math.exp(found - largest)
    return largest + math.log(total / stakes) if total > 0.0 else -math.inf


class Products:
    """The products for all stakes at once, by NumPy, for hypotheses about one average in plain Python.

    A factor 1 + l (m - x) is linear in the hypothesis h behind the expected value m, so it is kept as `constant` +
    `slope` * h: float[S, n] for S stakes and n items, or float[S, 1] where it is the same for all items. So is what
    the least possible factor is, at x = 1. In a test set m = (N h - S_before) / left, and m = h elsewhere.
    """

    def __init__(
        self, average_evidence: Any, past: Any, others: Any, problem: Any, count: int, kind: int, centre: float
    ) -> None:
        self.exact = partial(average_evidence, past, others, problem, count, kind, centre)
        (part,) = average_evidence.args[0].args
        values = _item_values(part, past, others, problem, count, kind, centre)
        stakes = STAKE_COLUMN[:MODEST] if kind == LEAD else STAKE_COLUMN
        size = problem.item_count
        self.impossible, before, growth = math.inf, 0.0, 1.0
        if size < math.inf:
            sums = np.cumsum(values)
            self.impossible = (float(sums[-1]) + size - count) / size + problem.dust
            left = size - np.arange(count)
            before, growth = np.concatenate(([0.0], sums[:-1])) / left, size / left
            stakes = np.maximum(stakes, np.minimum(stakes * growth, MOST))
        self.constant, self.slope = 1.0 - stakes * (before + values), stakes * growth
        self.least_constant = 1.0 - stakes * (1.0 + before)
        self.blocks = np.arange(0, count, STRIDE)

    def reach(self, hypothesis: float, level: float) -> bool:
        """Whether the evidence that the average is below a hypothesis reaches a level."""
        least = (self.least_constant + self.slope * hypothesis).min(axis=1)
        alive = least >= LEAST
        near = abs(hypothesis - self.impossible) <= CLOSE or (np.abs(least - LEAST) <= CLOSE).any()
        if not near:
            if hypothesis > self.impossible:
                return True
            if not alive.any():
                return -math.inf >= level
            factors = (self.constant + self.slope * hypothesis)[alive]
            logs = np.log(np.multiply.reduceat(factors, self.blocks, axis=1)).sum(axis=1)
            largest = logs.max()
            evidence = largest + math.log(np.exp(logs - largest).sum() / len(alive))
            if abs(evidence - level) > NEAR:
                return bool(evidence >= level)
        return bool(self.exact(hypothesis) >= level)


def _item_values(part: Any, past: Any, others: Any, problem: Any, count: int, kind: int, centre: float) -> Any:
    """`item_value` of the first items, float[n]."""
    places = slice(problem.first_item, problem.first_item + count)
    scores = np.asarray(past[places])
    if kind == LEAD:
        return (np.asarray(others[places]) - scores) / problem.span
    values = (scores - problem.origin) / problem.span
    if part is not itself:
        values = np.array([part(problem, value) for value in values.tolist()])
    values = np.minimum(np.maximum(values, 0.0), 1.0)
    if kind >= SQUARE:
        values = (values - centre) * (values - centre)
    return 1.0 - values if kind % 2 else values


def reaches_by_numpy(
    average_evidence: Any, past: Any, others: Any, problem: Any, count: int, kind: int, centre: float, *compared: float
) -> bool:
    """`reaches` for plain Python."""
    return Products(average_evidence, past, others, problem, count, kind, centre).reach(*compared)


def upper_end_by_numpy(
    reaches: Any,
    past: Any,
    problem: Any,
    count: int,
    kind: int,
    centre: float,
    level: float,
    inner: float,
    known: float,
) -> float:
    """`upper_end` for plain Python: what does not depend on the hypothesis is computed once."""
    (average_evidence,) = reaches.args
    products = Products(average_evidence, past, past, problem, count, kind, centre) if inner < known else None

    def reaches_level(*given: Any) -> bool:
        assert products
        return products.reach(*given[-2:])

    return upper_end(reaches_level, past, problem, count, kind, centre, level, inner, known)  # type: ignore[no-any-return]


@interpreted_by(reaches_by_numpy)
@open_kernel
def reaches(average_evidence, past, others, problem, count, kind, centre, hypothesis, level):
    """Whether the evidence, from the first `count` items, that the average is below a hypothesis reaches a level."""
    return average_evidence(past, others, problem, count, kind, centre, hypothesis) >= level


@interpreted_by(upper_end_by_numpy)
@open_kernel
def upper_end(reaches, past, problem, count, kind, centre, level, inner, known):
    """The least value found, above one to begin with, of which the evidence suffices that the average is below it."""
    if not inner < known or not reaches(past, past, problem, count, kind, centre, known, level):
        return known
    for _ in range(HALVINGS):
        middle = 0.5 * (inner + known)
        if reaches(past, past, problem, count, kind, centre, middle, level):
            known = middle
        else:
            inner = middle
    return known


@open_kernel
def average_of(item_value, past, problem, count):
    """The average over the first `count` items."""
    total = 0.0
    for place in range(count):
        total += item_value(past, past, problem, place, SCORE, 0.0)
    return total / count


def dust_of(count: int, low: float, high: float) -> float:
    """More than rounding may have changed an average of so many scores in a range, in units of the range.

    A score and a limit are numbers that somebody has written: the float is off by a part of 2^-53 of what was written,
    and so is the end of the range that is taken away from it. A plain sum loses at most as large a part with each
    summand.
    """
    return LEAST_DUST + 2.0**-52 * (count + 16.0 * max(abs(low), abs(high)) / (high - low))


def evidence_of(part: Kernel) -> Kernel:
    """The evidence about averages of what a risk makes of scores."""
    value = fixed(item_value, part)
    return fixed(average_evidence, value, fixed(log_product, value))


evidence = evidence_of(itself)
is_below = fixed(reaches, evidence)
highest = fixed(upper_end, is_below)
