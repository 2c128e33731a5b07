"""What pulls cost, and which of them the money still buys.

A rule that has chosen two arms weighs what a pull of either tells against its price. With equal prices all is as
without any, to the last bit. Any choice that depends on the past alone is a valid one, so no guarantee knows of prices.
"""

from __future__ import annotations

import math

from ramgape.core.kernel import inlined, kernel

ROUNDING = 1e-12  # ten pulls for a tenth each may cost 1, whatever the sum of ten times 0.1 is


@inlined
def for_the_money(value, row, other):
    """What a pull of an arm is worth for its price, beside that of another arm with which it is compared."""
    return value if row.price == other.price else value * other.price


@inlined
def seen_less(row, other):
    """Whether an arm has fewer pulls than another; where prices differ, fewer than are worth their price.

    The error of a difference is least for the money if pulls are in proportion to sqrt(variance / price): that arm has
    too few whose T sqrt(price / variance) is smaller. A variance that few rewards have shown is drawn towards the
    average of both.
    """
    if row.price == other.price:
        return row.pulls < other.pulls
    average = 0.5 * (row.variance + other.variance)
    own = (row.pulls * row.variance + 2.0 * average) / (row.pulls + 2.0)
    others = (other.pulls * other.variance + 2.0 * average) / (other.pulls + 2.0)
    if average == 0.0:
        own = others = 1.0
    return row.pulls * row.pulls * row.price * others < other.pulls * other.pulls * other.price * own


@kernel
def least_paid(arms):
    """The arm that least was paid for, at its present price; the first of them."""
    least = 0
    for arm in range(len(arms)):
        if arms[arm].pulls * arms[arm].price < arms[least].pulls * arms[least].price:
            least = arm
    return least


@inlined
def cost_of(row):
    """What an arm has cost: what was told, and its price for all other pulls."""
    return row.paid + (row.pulls - row.told) * row.price


@kernel
def money_left(arms, problems):
    """What may still be spent."""
    spent, problem = 0.0, problems[0]
    for arm in range(len(arms)):
        spent += cost_of(arms[arm])
    return problem.spend * (1.0 + ROUNDING) - spent


@kernel
def affordable(arms, problems, arm, reserved):
    """The arm that a rule has chosen, if there is money for a pull; or its rival, or that of which least was seen.

    -1 if there is money for none. What pulls under way will cost is reserved.
    """
    problem = problems[0]
    if problem.spend == math.inf:
        return arm
    left = money_left(arms, problems) - reserved
    if arms[arm].price <= left:
        return arm
    rival = arms[arm].rival
    if rival >= 0 and arms[rival].price <= left:
        return rival
    found = -1
    for other in range(len(arms)):
        if arms[other].price <= left and (found < 0 or arms[other].pulls < arms[found].pulls):
            found = other
    return found
