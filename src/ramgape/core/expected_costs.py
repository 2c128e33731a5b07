"""What mistakes are expected to cost: a mistake turns a difference round that has a certain error.

For a difference d with squared error e that is about sqrt(e) exp(-z / 2) / (1 + z), with z = d^2 / e; here it is
squared and in logarithms. Under a budget, pulls go to the pair behind the costliest mistake, and a tenth of them to the
arm with the fewest (policies/evidence_budget.py).
"""

from __future__ import annotations

import math

import numpy as np

from ramgape.core.kernel import inlined, kernel, open_kernel
from ramgape.core.prices import for_the_money, least_paid
from ramgape.core.statistics import LEAST_ERROR, squared_error, third_moment

GOLDEN = 0.6180339887498949  # multiples of it, without their whole parts, are spread evenly: a choice without dice
EXPLORED = 0.1  # of all pulls
RISK_PSEUDO_PULLS = 12.0  # as PSEUDO_PULLS, for risks: fourth powers take that long to show how large they are


@inlined
def trust(difference, error):
    """How certain a difference is: d^2 / e if it is the right way round, 0 if it is not."""
    return difference * difference / error if difference > 0.0 else 0.0


@inlined
def expected(size, certainty):
    """ln of the square of what a mistake is expected to cost."""
    if certainty > 1e150:  # its square may be beyond all floats
        return -np.inf
    return math.log(size / ((1.0 + certainty) * (1.0 + certainty))) - certainty


@inlined
def size_of(difference, error):
    """The square of how much a mistake costs that turns a difference round, or leaves it the wrong way round."""
    return error if difference > 0.0 else error + difference * difference


@inlined
def squared_skewness(row):
    """The square of the skewness of an arm's rewards; it is always less than their number."""
    third = third_moment(row) / row.variance
    return min(third * third / row.variance, 1.0 * row.pulls)


@kernel
def set_errors(row, search):
    """The squared errors of an arm's estimates, allowing for what a skew arm has not shown often enough.

    A coin that has shown heads k times in n gets the variance of one with k + 1 in n + 2. For other rewards the two
    values with the same mean, variance and skewness take the place of its sides, R apart, where
    R^2 = variance (4 + skewness^2). An arm without any spread so far gets the reach of the others.
    """
    unseen = (row.pulls + 1.0) / ((row.pulls + 2.0) * (row.pulls + 2.0))  # 1 / (n + 2) times (n + 1) / (n + 2)
    if row.variance > 0.0:
        factor = 1.0 + unseen * squared_skewness(row)
        mean_spread, risk_spread = factor * row.variance, factor * row.risk_spread
    else:
        mean_spread, risk_spread = unseen * search.mean_reach, unseen * search.risk_reach
    row.error[0] = squared_error(row, mean_spread, search.mean_prior)
    row.error[1] = squared_error(row, risk_spread, search.risk_prior, RISK_PSEUDO_PULLS)


@kernel
def set_priors(arms, search):
    """What the other arms tell of an arm with few pulls: the average spreads, and the reach of rewards.

    The reach of the mean is the average R^2 of arms with a spread. In units of the risk it is more by as much as the
    risk of any arm is spread more than its mean: rare rewards move a variance by R^2, those of a fair coin by nothing.
    """
    count, spread_out, steepest = len(arms), 0.0, 0.0
    search.mean_prior = search.risk_prior = LEAST_ERROR
    search.mean_reach = 0.0
    for arm in range(count):
        row = arms[arm]
        search.mean_prior += row.variance / count
        search.risk_prior += row.risk_spread / count
        if row.variance > 0.0:
            spread_out += 1.0
            search.mean_reach += row.variance * (4.0 + squared_skewness(row))
            steepest = max(steepest, row.risk_spread / row.variance)
    search.mean_reach /= max(spread_out, 1.0)
    search.risk_reach = steepest * search.mean_reach


@open_kernel
def pull_for_leader(gain, arms, memory, search, problem):
    """One of the two arms behind the largest doubt, or now and then the arm that least was paid for.

    `gain` says what the next reward of the first of two arms is worth.
    """
    if (search.samples * GOLDEN) % 1.0 < EXPLORED:
        return least_paid(arms)
    one, other = arms[search.leader], arms[arms[search.leader].rival]
    if one.doubt == -np.inf:  # no difference is in doubt
        return least_paid(arms)
    own, others = gain(one, other, problem), gain(other, one, problem)
    return search.leader if for_the_money(own, one, other) >= for_the_money(others, other, one) else one.rival
