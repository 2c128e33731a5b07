"""Rewards by size: what risks about a tail remember of an arm, and how they read it.

An arm's row of the memory has 1,024 cells, each with number, sum and sum of squares of the rewards in it, and the same
for blocks of 16 cells, so that nobody walks them all. Everything in the row is in units of a cell's width, from where
the first cell begins: a reward x is at (x - shift) / width - first, and the sums of a cell are of distances from where
it begins. For rewards in [0, 1] the cells are parts of that range. A row takes 26 kilobytes.

Of rewards without a range the first 64 are kept, in order of size, and set the cells: with a width that is a power of
two, four times as far as all of them are but two on either side. Then a reward outside may double the width: neighbours
are put together, which loses nothing but where in a cell a reward was. Far outliers would so leave all others in a
single cell, and it does not matter where they are: sums are exact however far from its cell a reward is. So two of
them, or an eighth of the tail that the risk is about, are counted in an outermost cell before one more doubles the
width, once. Neither units nor an offset matter, but for cells that begin elsewhere; the same rewards in the same order
always leave the same.
"""

from __future__ import annotations

import math

from ramgape.core.kernel import inlined, kernel
from ramgape.statistics.small import insert

CELLS, BLOCK = 1024, 16
BLOCKS = CELLS // BLOCK
SUMS = 3  # of a cell or block: number, sum, squares
SHIFT, WIDTH, FIRST = range(3)
CELL = 3  # where the sums of the cells stand, and behind them those of the blocks
BLOCK_SUMS = CELL + SUMS * CELLS
COLUMNS = BLOCK_SUMS + SUMS * BLOCKS
KEPT, MOST_KEPT = COLUMNS, 64  # behind them, without a range, the first rewards
UNRANGED_COLUMNS = COLUMNS + MOST_KEPT
ROOT_THREE = math.sqrt(3.0)
OUTERMOST, AT_LEAST = 0.125, 2  # the part of the tail that may be counted in an outermost cell, and at least so many
LEAST_WIDTH = 1e-300


@inlined
def add_to(past, at, offset):
    """Add a reward to the sums of a cell or a block."""
    past[at] += 1.0
    past[at + 1] += offset
    past[at + 2] += offset * offset


@inlined
def add_reward(past, place, position):
    """Add a reward to its cell, and to its block."""
    add_to(past, CELL + SUMS * place, position - place)
    block = place // BLOCK
    add_to(past, BLOCK_SUMS + SUMS * block, position - block * BLOCK)


@inlined
def with_those(past, at, start, sums):
    """Number, sum and squares of positions, with those of one more cell or block, which begins at `start`."""
    count, total, squares = past[at], past[at + 1], past[at + 2]
    return sums[0] + count, sums[1] + count * start + total, sums[2] + start * (count * start + 2.0 * total) + squares


@kernel
def sums_below(past, last, wanted):
    """The first cell, up to `last`, with which the rewards so far are as many as wanted; and the sums below it."""
    sums, start = (0.0, 0.0, 0.0), 0
    for block in range(last // BLOCK):
        at = BLOCK_SUMS + SUMS * block
        if sums[0] + past[at] >= wanted:
            break
        sums = with_those(past, at, float(start), sums)
        start += BLOCK
    for place in range(start, last):
        at = CELL + SUMS * place
        if sums[0] + past[at] >= wanted:
            return place, sums
        sums = with_those(past, at, float(place), sums)
    return last, sums


@inlined
def within(past, place, missing):
    """Of the lowest so many rewards of a cell: their mean and where they end.

    It is not known which those are: as if all of the cell were spread evenly, with the mean and the variance that they
    have, as far as that stays within the cell.
    """
    at = CELL + SUMS * place
    count = max(past[at], 1.0)
    average = past[at + 1] / count
    reach = ROOT_THREE * math.sqrt(max(past[at + 2] / count - average * average, 0.0))
    reach = max(min(reach, average, 1.0 - average), 0.0)
    part = min(missing / count, 1.0)
    return place + average - reach * (1.0 - part), place + average - reach * (1.0 - 2.0 * part)


@inlined
def value_at(past, position):
    """The reward, on the engine's scale, that is at a position."""
    return past[SHIFT] + (past[FIRST] + position) * past[WIDTH]


@inlined
def remember(row, past, problem, value):
    """Add a reward in [0, 1] to its cell."""
    past[WIDTH] = 1.0 / CELLS
    position = value * CELLS
    add_reward(past, min(int(position), CELLS - 1), position)


@kernel
def double(past, upwards):
    """Cells of twice the width, further upwards or further downwards."""
    old = past[FIRST]
    first = math.floor(0.5 * old) if upwards else math.floor(0.5 * (old + CELLS - 1)) - (CELLS - 1)
    past[FIRST] = first
    past[WIDTH] *= 2.0
    for column in range(BLOCK_SUMS, COLUMNS):
        past[column] = 0.0
    for turn in range(CELLS):
        place = turn if upwards else CELLS - 1 - turn  # so that no cell is written before it has been read
        at = CELL + SUMS * place
        count, total, squares = past[at], past[at + 1], past[at + 2]
        past[at] = past[at + 1] = past[at + 2] = 0.0
        if count > 0.0:
            both = math.floor(0.5 * (old + place))
            odd = old + place - 2.0 * both
            total, squares = 0.5 * (total + odd * count), 0.25 * (squares + odd * (2.0 * total + count))
            goal = int(both - first)
            inside = float(goal % BLOCK)
            at, block_at = CELL + SUMS * goal, BLOCK_SUMS + SUMS * (goal // BLOCK)
            past[at] += count
            past[at + 1] += total
            past[at + 2] += squares
            past[block_at] += count
            past[block_at + 1] += total + inside * count
            past[block_at + 2] += squares + inside * (2.0 * total + inside * count)


@kernel
def lay_out(past, count):
    """Put the rewards that are kept into cells, which are four times as far as all but the outermost of them are."""
    low, high = 0.0, 0.0
    for left_out in (min(AT_LEAST, (count - 1) // 4), 0):
        low, high = past[KEPT + left_out], past[KEPT + count - 1 - left_out]
        if high > low:
            break
    for column in range(CELL, COLUMNS):
        past[column] = 0.0
    past[FIRST], past[WIDTH] = -0.5 * CELLS, 0.0
    if high > low:
        past[WIDTH] = max(math.ldexp(1.0, math.frexp((high - low) / (CELLS // 4))[1]), LEAST_WIDTH)
        past[FIRST] = math.floor((low + 0.5 * (high - low) - past[SHIFT]) / past[WIDTH]) - CELLS // 2
    for place in range(count):
        distance = past[KEPT + place] - past[SHIFT]
        add_clipped(past, (distance / past[WIDTH] if distance != 0.0 else 0.0) - past[FIRST])


@inlined
def add_clipped(past, position):
    """Add a reward to the cell that is nearest to it."""
    add_reward(past, int(min(max(position, 0.0), CELLS - 1.0)), position)


@kernel
def remember_unranged(row, past, problem, value):
    """Add a reward without a range; level is the first parameter of the risk."""
    if row.pulls == 0:
        past[SHIFT] = value
    if row.pulls < MOST_KEPT:
        insert(past, KEPT, row.pulls, value)
        lay_out(past, row.pulls + 1)
        return
    distance = value - past[SHIFT]
    if past[WIDTH] == 0.0 and distance != 0.0:
        past[WIDTH] = max(math.ldexp(1.0, math.frexp(abs(distance))[1]) / (CELLS // 2), LEAST_WIDTH)
    position = (distance / past[WIDTH] if distance != 0.0 else 0.0) - past[FIRST]
    if not 0.0 <= position < CELLS:
        upwards, level = position > 0.0, problem.risk_parameters[0]
        room = max(OUTERMOST * min(level, 1.0 - level) * row.pulls, AT_LEAST)
        if past[CELL + SUMS * (CELLS - 1) if upwards else CELL] >= room:
            double(past, upwards)
            position = distance / past[WIDTH] - past[FIRST]
    add_clipped(past, position)
