"""Fourth-order bets: how strongly data speak for a mean above or below a value, on power sums alone.

For x >= -u, 0 < u < 1, ln(1 + x) >= x - x^2/2 + x^3/3 - h(u) x^4, where h(u) = (-ln(1 - u) - u - u^2/2 - u^3/3) / u^4.
So for independent y >= -c of mean 0 and a bet l with l c < 1, the product of 1 + l y, a martingale, is at least e^W,
where W = l S1 - l^2 S2/2 + l^3 S3/3 - h(l c) l^4 S4 and Sk is the sum of y^k. Bets are taken from a fixed grid; a bet
with l c >= `LARGEST` counts nothing. The product itself is monotone in the hypothesis, and fewer bets count the larger
c is: so W at one end of a cell of hypotheses is less than the logarithm of what belongs to any of them
(docs/theory/comparisons.md).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from ramgape.core.kernel import inlined, kernel

NODES = 40
RATIO = 1.25
BETS = 20.0 * RATIO ** -np.arange(NODES, dtype=np.float64)
SCALES = (1.0, 10.0, 100.0)  # amounts of variation that the three mixtures over the grid are made for
LARGEST = 0.95
SLACK = 1e-6  # more than all rounding of W
LEAST = -1e300


def _weights() -> NDArray[np.float64]:
    """For each scale r, the bets' shares: proportional to l exp(-l^2 r / 2), which is half of a normal in ln l."""
    shares = np.stack([BETS * np.exp(-0.5 * scale * BETS**2) for scale in SCALES])
    return np.asarray(shares / shares.sum(axis=1, keepdims=True) * (1.0 - 1e-12))


WEIGHTS = _weights()
# The same for kernels, where numbers must be plain ones.
GRID, (FIRST, SECOND, THIRD) = tuple(BETS.tolist()), map(tuple, WEIGHTS.tolist())


@inlined
def power_sums(sums, shift, mean, side):
    """Sums of the powers of side * (X - mean), from those about `shift`; that of the fourth not less by rounding."""
    count, first, second, third, fourth = sums
    away = shift - mean
    square = away * away
    total = first + count * away
    squares = second + away * (2.0 * first + count * away)
    cubes = third + away * (3.0 * second + away * (3.0 * first + count * away))
    fourths = fourth + away * (4.0 * third + away * (6.0 * second + away * (4.0 * first + count * away)))
    size = fourth + 4.0 * abs(away * third) + square * (6.0 * second + 4.0 * abs(away * first) + count * square)
    return side * total, max(squares, 0.0), side * cubes, max(fourths, 0.0) + 1e-14 * size


@inlined
def remainder(reach):
    """h(u), or a little more."""
    if reach < 0.5:  # the series, and more than what it leaves out
        tail = reach / (13.0 * (1.0 - reach))
        tail = 1.0 / 9.0 + reach * (0.1 + reach * (1.0 / 11.0 + reach * (1.0 / 12.0 + tail)))
        return 0.25 + reach * (0.2 + reach * (1.0 / 6.0 + reach * (1.0 / 7.0 + reach * (0.125 + reach * tail)))) + 1e-15
    square = reach * reach
    return (-math.log1p(-reach) - reach - 0.5 * square - square * reach / 3.0) / (square * square) * (1.0 + 1e-12)


@inlined
def log_growth(powers, reach, bet):
    """W of one bet; nothing is gained by one that is too large."""
    total, squares, cubes, fourths = powers
    if bet * reach >= LARGEST:
        return LEAST
    return bet * (total - bet * (0.5 * squares - bet * (cubes / 3.0 - remainder(bet * reach) * bet * fourths))) - SLACK


@kernel
def most_growth(sums, shift, mean, side):
    """No less than any of `log_mixtures`, at a tenth of the cost: their greatest W, with the least that h can be."""
    reach = max(mean if side > 0.0 else 1.0 - mean, 0.0)
    total, squares, cubes, fourths = power_sums(sums, shift, mean, side)
    half, third, quarter, most = 0.5 * squares, cubes / 3.0, 0.25 * fourths, 0.0
    for node in range(NODES):
        bet = GRID[node]
        growth = bet * (total - bet * (half - bet * (third - quarter * bet)))
        if growth > most and bet * reach < LARGEST:
            most = growth
    return most


@kernel
def log_mixtures(sums, shift, mean, side):
    """ln of the mixtures over the grid, for the three scales, that the mean is above (side 1) or below (-1) a value."""
    reach = max(mean if side > 0.0 else 1.0 - mean, 0.0)
    powers = power_sums(sums, shift, mean, side)
    largest, start = LEAST, NODES
    for node in range(NODES - 1, -1, -1):
        if GRID[node] * reach >= LARGEST:
            break
        largest, start = max(largest, log_growth(powers, reach, GRID[node])), node
    first = second = third = 0.0
    for node in range(start, NODES):
        growth = log_growth(powers, reach, GRID[node]) - largest
        if growth > -60.0:
            part = math.exp(growth)
            first += FIRST[node] * part
            second += SECOND[node] * part
            third += THIRD[node] * part
    return largest + log_or_less(first), largest + log_or_less(second), largest + log_or_less(third)


@inlined
def log_or_less(value):
    """ln, or for what is nothing hardly more than nothing."""
    return math.log(value) if value > 0.0 else LEAST


@inlined
def log_average(first, second, third):
    """ln of the average of three numbers of which the logarithms are given."""
    largest = max(first, second, third)
    if largest <= LEAST:
        return LEAST
    parts = math.exp(first - largest) + math.exp(second - largest) + math.exp(third - largest)
    return largest + math.log(parts / 3.0)
