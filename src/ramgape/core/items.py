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

from ramgape.core.kernel import Kernel, fixed, inlined, open_kernel

# Stakes in units of one over the range of values. Beyond 1 they serve averages that are close to the best of values.
STAKES = (0.0125, 0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 0.95, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
MODEST = 8  # so many of them for differences, whose average is never near the best
MOST = 0.95  # that a stake grows to
LEAST = 0.01  # a factor that may become less than this ends a product
STRIDE = 16  # factors that are multiplied before a logarithm is taken; each is between LEAST and 65
LEAST_DUST = 1e-9  # of the range
HALVINGS = 12

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


@open_kernel
def upper_end(average_evidence, past, problem, count, kind, centre, level, inner, known):
    """The least value found, above one to begin with, of which the evidence suffices that the average is below it."""
    if not inner < known or average_evidence(past, past, problem, count, kind, centre, known) < level:
        return known
    for _ in range(HALVINGS):
        middle = 0.5 * (inner + known)
        if average_evidence(past, past, problem, count, kind, centre, middle) >= level:
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
highest = fixed(upper_end, evidence)
