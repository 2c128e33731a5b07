"""The running statistics of one arm."""

from __future__ import annotations

import numpy as np

from ramgape.core.kernel import inlined, kernel

FEWEST_PULLS = 2  # no variance, and hence no box, before the second pull
PSEUDO_PULLS = 2.0  # the weight of the other arms' variances in an arm's own
LEAST_ERROR = 1e-300  # of a squared error that others are divided by: nothing in any unit of rewards


@inlined
def add(total, carry, value):
    """A running sum with one more value, and what rounding has lost from it so far, exactly (Knuth's two-sum)."""
    grown = total + value
    taken = grown - total
    return grown, carry + ((total - (grown - taken)) + (value - taken))


@inlined
def observe(row, search, value):
    """Add one reward, on the engine's scale, to an arm: its sums, mean and plug-in variance.

    The sums are taken about the arm's first reward and keep what rounding loses, so that neither a large offset nor
    10^8 rewards spoil the variance, or the spread of a squared reward, of which fourth powers leave little over.
    """
    if row.pulls == 0:
        row.shift = value
        row.lowest = row.highest = value + 0.0  # never -0, which compilers may order in another way
    elif value == row.last or value == row.shift:  # exactly: draws from a density never are
        row.repeats += 1
    row.last = value
    if value < row.lowest:
        row.lowest = value + 0.0
    if value > row.highest:
        row.highest = value + 0.0
    row.pulls += 1
    search.samples += 1

    value -= row.shift
    square = value * value
    row.total, row.total_carry = add(row.total, row.total_carry, value)
    row.squares, row.squares_carry = add(row.squares, row.squares_carry, square)
    row.cubes, row.cubes_carry = add(row.cubes, row.cubes_carry, square * value)
    row.fourths, row.fourths_carry = add(row.fourths, row.fourths_carry, square * square)
    summarize(row)


@inlined
def summarize(row):
    """The mean and the plug-in variance of an arm, from its sums."""
    average = (row.total + row.total_carry) / row.pulls
    variance = (row.squares + row.squares_carry) / row.pulls - average * average
    row.average = row.shift + average
    row.variance = variance if variance > 0.0 else 0.0


def observe_many(row, values):
    """Add rewards, on the engine's scale, to an arm at once: float[n], n >= 1. To the bit what `observe` does."""
    if row.pulls == 0:
        row.shift = row.last = float(values[0])
        row.lowest = row.highest = row.shift + 0.0
        row.repeats -= 1  # the first reward repeats nothing
    before = np.concatenate(([row.last], values[:-1]))
    row.repeats += int(np.count_nonzero((values == before) | (values == row.shift)))
    row.last = float(values[-1])
    row.lowest = min(row.lowest, float(values.min()) + 0.0)
    row.highest = max(row.highest, float(values.max()) + 0.0)
    row.pulls += len(values)
    with np.errstate(over="ignore", invalid="ignore"):  # fourth powers of huge rewards are infinite, as in `observe`
        moved = values - row.shift
        squares = moved * moved
        row.total, row.total_carry = add_many(row.total, row.total_carry, moved)
        row.squares, row.squares_carry = add_many(row.squares, row.squares_carry, squares)
        row.cubes, row.cubes_carry = add_many(row.cubes, row.cubes_carry, squares * moved)
        row.fourths, row.fourths_carry = add_many(row.fourths, row.fourths_carry, squares * squares)
    summarize(row)


def add_many(total, carry, values):
    """`add` for one value after the other: NumPy accumulates in that order."""
    sums = np.add.accumulate(np.concatenate(([total], values)))
    before, grown = sums[:-1], sums[1:]
    taken = grown - before
    lost = (before - (grown - taken)) + (values - taken)
    return float(sums[-1]), float(np.add.accumulate(np.concatenate(([carry], lost)))[-1])


@inlined
def all_sums(row):
    """Count, and sums of the first four powers of (reward - the arm's first reward)."""
    return (
        float(row.pulls),
        row.total + row.total_carry,
        row.squares + row.squares_carry,
        row.cubes + row.cubes_carry,
        row.fourths + row.fourths_carry,
    )


@inlined
def squared_distance(sums, shift, centre, rho, risk):
    """The sum of (Z - risk)^2, where Z = (X - centre)^2 - rho X, from power sums about `shift`."""
    count, total, squares, cubes, fourths = sums
    mean = centre - shift
    slope = 2.0 * mean + rho
    rest = mean * mean - rho * shift - risk
    return (
        fourths
        - 2.0 * slope * cubes
        + (slope * slope + 2.0 * rest) * squares
        - 2.0 * slope * rest * total
        + count * rest * rest
    )


@inlined
def fourth_moment(row):
    """The average of (X - average)^4, from power sums about the arm's first reward; rounding may leave it below 0."""
    count = row.pulls
    mean = (row.total + row.total_carry) / count
    squares, cubes = (row.squares + row.squares_carry) / count, (row.cubes + row.cubes_carry) / count
    fourths = (row.fourths + row.fourths_carry) / count
    return fourths - 4.0 * mean * cubes + mean * mean * (6.0 * squares - 3.0 * mean * mean)


@inlined
def third_moment(row):
    """The average of (X - average)^3, likewise."""
    count = row.pulls
    mean = (row.total + row.total_carry) / count
    squares, cubes = (row.squares + row.squares_carry) / count, (row.cubes + row.cubes_carry) / count
    return cubes - mean * (3.0 * squares - 2.0 * mean * mean)


@inlined
def squared_error(row, variance, average, weight=PSEUDO_PULLS):
    """Of an estimate: its variance, drawn towards the average of all arms while pulls are few."""
    pulls = row.pulls
    return (pulls * variance + weight * average) / ((pulls + weight) * pulls)


@kernel
def least_pulled(arms):
    """The arm with the fewest pulls; the first of them."""
    least = 0
    for arm in range(len(arms)):
        if arms[arm].pulls < arms[least].pulls:
            least = arm
    return least
