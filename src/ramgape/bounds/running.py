"""Rewards that drift, or depend on each other: the average over the rounds so far, whatever the rewards go by.

Every arm is pulled once in a round, and the order in a round is random. Let m_t be the expectation of an arm's reward
in round t, given all that happened before that round: what it is depends on the past in any way, and on what the other
arms do in the same round as well. What is estimated is the average of m_1, ..., m_n, which moves with n.

For predictable p in [0, 1], the average of the arm's rewards in earlier rounds, y = X - p is never below -1, and
exp(l y - psi(l) y^2) <= 1 + l y (Fan, Grama and Liu 2015; mixture.py). Given the past its expectation is at most
1 + l (m_t - p) <= exp(l (m_t - p)), so that E exp(l (X - m_t) - psi(l) (X - p)^2 | past) <= 1: the product over rounds
is a test supermartingale under any drift and any dependence (Howard, Ramdas, McAuliffe and Sekhon 2021, Theorem 4). So
the mixture of mixture.py with s = n (average of X - average of m_t), v = the sum of (X - p)^2 and reach 1 bounds
the distance, at all times at once; for the other end the same with 1 - X. The filtration is by rounds, in which an arm
has one reward: no matter at which place.

Mean-variance: the same for (X - 1/2)^2, reach 1/4, gives that of the pooled distribution, from which one draws by
choosing one of the rounds so far at random; as in stitched.py. For an arm that is still to be pulled in the present
round, boxes hold for that round, too: whatever its m_t is, it lies between 0 and 1, and moves an average of n by at
most 1 / (n + 1). So at any moment all boxes are about the same rounds.

A later box is about another average. So boxes are made anew with every pull, and never intersected over time.
"""

from __future__ import annotations

from ramgape.bounds.empirical_bernstein import constants as constants
from ramgape.bounds.stitched import MEAN_SPREAD, SQUARE_SPREAD
from ramgape.bounds.stitched import remember as remember
from ramgape.core.box import mean_variance_ends
from ramgape.core.kernel import inlined, kernel
from ramgape.statistics.inversion import FINENESS, MOST_STEPS, SAFETY
from ramgape.statistics.mixture import is_rejected


@kernel
def deviation_of(count, squares, reach, scales, level):
    """How far an average of so many values may be from that of their expectations: the least found that is rejected."""
    low, high = 0.0, reach
    if not is_rejected(count * high, squares * SAFETY, reach, scales, level):
        return reach
    for _ in range(MOST_STEPS):
        if high - low <= high / FINENESS:
            break
        middle = 0.5 * (low + high)
        if is_rejected(count * middle, squares * SAFETY, reach, scales, level):
            high = middle
        else:
            low = middle
    return high


@inlined
def ends_of_average(count, average, distance, most):
    """Ends for averages over so many rounds, and over one more, of what lies between 0 and `most`."""
    low, high = max(average - distance, 0.0), min(average + distance, most)
    return low * count / (count + 1.0), (high * count + most) / (count + 1.0)


@kernel
def moments_box(row, past, search, problem):
    """The box of one arm, whatever came before."""
    count = float(row.pulls)
    distance = deviation_of(count, past[MEAN_SPREAD], 1.0, problem.mean_scales, row.level)
    low, high = ends_of_average(count, row.average, distance, 1.0)
    distance = deviation_of(count, past[SQUARE_SPREAD], 0.25, problem.risk_scales, row.level)
    square = row.variance + (row.average - 0.5) * (row.average - 0.5)
    ends = ends_of_average(count, square, distance, 0.25)
    row.mean_low, row.mean_high = low, high
    row.risk_low, row.risk_high = mean_variance_ends(problem, low, high, ends[0], ends[1])
