"""Catoni's estimator as a confidence sequence, for rewards with heavy tails whose standard deviation is at most stated.

With the influence function phi(x) = sign(x) ln(1 + |x| + x^2 / 2) (Catoni 2012), exp(phi(x)) <= 1 + x + x^2 / 2 for all
x. So for rewards of mean m and variance at most s^2 and any l > 0

    product of exp(phi(l (X - m))) / (1 + l^2 s^2 / 2)

is a test supermartingale (Wang and Ramdas 2023, Catoni-style confidence sequences for heavy-tailed mean estimation;
they have e^(l^2 s^2 / 2) below, and another l for every reward, chosen beforehand). Here it is mixed over l s = 1, 1/2,
1/4, ..., fixed in advance, so that it depends on the rewards and not on their order, and holds at all times at once: m
is rejected as too low when the mixture reaches e^L. Every term falls with m, so what is rejected is all that lies below
a point, and any search for that point may be trusted. Above likewise, for -X. Each end fails with probability e^-L.

The sum of phi at another m needs all rewards. They are remembered by size, in 1,024 cells about the arm's first one,
s / 16 wide near it and a 32nd of the distance far from it, so that far outliers take nothing from the others. (Without
a stated deviation risks/cells.py has cells that grow, and may leave outliers in a cell where they are not.) Each has
number, sum and sum of squares of its rewards, by which the sum of phi is bounded from below: around the cell's mean by
Taylor's formula, as phi'' >= -`bend`, and in the outermost cell by its lower end, as phi rises. The mixture is so never
overstated, and understated by a part of the order of l times a cell's width. Of the nodes three are looked at, next to
the one that is best for so many pulls: others could only add evidence.

It says nothing of a risk. `heavy` needs four sums instead of cells and the same statement, and is narrower, by up to a
quarter: benchmarks/heavy.py compares them.
"""

from __future__ import annotations

import math

import numpy as np

from ramgape.core.box import is_due, narrow_mean_alone
from ramgape.core.kernel import inlined, kernel
from ramgape.statistics.inversion import MOST_STEPS
from ramgape.statistics.mixture import SLACK

NODES = 16  # l s = 1, 1/2, 1/4, ...: the smallest is at its best after 10^10 pulls
STEEPEST = math.sqrt(3.0) - 1.0  # where -phi'' is greatest, 1/4
ROUNDING = 1e-12  # the part of a sum of squares that may be rounding
CELLS, SUMS = 1024, 3  # of a cell: number, sum and squares of distances from where it begins
COLUMNS = CELLS * SUMS
FINENESS = 32.0  # a cell is so many times narrower than it is far away
STARTS = 2.0 * np.sinh((np.arange(CELLS + 1) - CELLS // 2) / FINENESS)  # of the cells, in units of s
RESOLUTION = 64.0  # an end is found to such a part of s sqrt(L / n)
due = is_due


@inlined
def influence(value):
    """phi."""
    size = abs(value)
    return math.copysign(math.log1p(size + 0.5 * size * size), value)


@inlined
def bend(low, high):
    """The most that -phi'' is between two points; 0 where phi is convex."""
    if high <= 0.0:
        return 0.0
    if low <= STEEPEST <= high:
        return 0.25
    size = high if high < STEEPEST else low
    size += 0.5 * size * size
    return size / ((1.0 + size) * (1.0 + size))


@inlined
def cell_influence(own, place, unit, first):
    """A lower bound on the sum of phi(first + unit z) over the rewards of one cell, where unit may be negative."""
    at = SUMS * place
    count, offset = own[at], own[at + 1] / own[at]
    start, end = first + unit * float(STARTS[place]), first + unit * float(STARTS[place + 1])
    spread = max(own[at + 2] - own[at + 1] * offset, 0.0) + ROUNDING * own[at + 2]
    low, high = min(start, end), max(start, end)
    if place == (0 if unit > 0.0 else CELLS - 1):  # which has all rewards that are farther outside
        low = -math.inf
    if place == (CELLS - 1 if unit > 0.0 else 0):
        high = math.inf
    found = count * influence(start + unit * offset) - 0.5 * bend(low, high) * spread * unit * unit
    return max(found, count * influence(low)) if high == math.inf else found


@kernel
def total_influence(own, unit, first):
    """The same for all rewards of an arm."""
    total = 0.0
    for place in range(CELLS):
        if own[SUMS * place] > 0.0:
            total += cell_influence(own, place, unit, first)
    return total


@kernel
def rejects_too_low(own, count, level, mean, side):
    """Whether a mean is too low (side 1) or too high (side -1) by the mixture over nodes; in units of s, from the first
    reward."""
    best = int(0.5 * math.log2(max(count / (2.0 * level), 1.0)) + 0.5)
    evidence = -math.inf
    for place in range(max(best - 1, 0), min(best + 2, NODES)):
        rate = math.ldexp(1.0, -place)
        weight = 1.0 / (2.0 * (place + 3.0))  # which together are less than 1
        term = math.log(weight) - count * math.log1p(0.5 * rate * rate)
        term += total_influence(own, side * rate, -side * rate * mean)
        larger, smaller = max(evidence, term), min(evidence, term)
        evidence = larger + math.log1p(math.exp(smaller - larger))
        if evidence >= level + SLACK:
            return True
    return False


@kernel
def end_of_mean(own, count, level, start, known, side):
    """The innermost mean found that is rejected as too low, or with side -1 as too high; `known` if none is.

    From a known end inwards, mostly by a single look; before there is one, from the average outwards first.
    """
    end, step = known, math.sqrt(level / count)
    finest = step / RESOLUTION
    if math.isinf(known):
        end, found = start, False
        for _ in range(MOST_STEPS):
            found = rejects_too_low(own, count, level, end, side)
            if found:
                break
            step *= 2.0
            end -= side * step
        if not found:
            return known
    step = finest
    for _ in range(MOST_STEPS):
        if not rejects_too_low(own, count, level, end + side * step, side):
            break
        end += side * step
        step *= 2.0
    for _ in range(MOST_STEPS):
        if step <= finest:
            break
        step *= 0.5
        if rejects_too_low(own, count, level, end + side * step, side):
            end += side * step
    return end


@kernel
def remember(row, past, problem, value):
    """Add a reward to its cell, behind what the risk remembers."""
    own = past[len(past) - COLUMNS :]
    distance = 0.0 if row.pulls == 0 else (value - row.shift) / problem.sigma_max
    place = math.floor(FINENESS * math.asinh(0.5 * distance)) + CELLS // 2
    at = SUMS * min(max(place, 0), CELLS - 1)
    offset = distance - float(STARTS[at // SUMS])
    own[at] += 1.0
    own[at + 1] += offset
    own[at + 2] += offset * offset


@kernel
def box(row, past, search, problem):
    """The interval of the mean; nothing is known of the risk."""
    own, count, unit = past[len(past) - COLUMNS :], float(row.pulls), problem.sigma_max
    start = (row.average - row.shift) / unit
    low = end_of_mean(own, count, row.level, start, (row.mean_low - row.shift) / unit, 1.0)
    high = end_of_mean(own, count, row.level, start, (row.mean_high - row.shift) / unit, -1.0)
    narrow_mean_alone(row, search, row.shift + unit * low, row.shift + unit * high)
