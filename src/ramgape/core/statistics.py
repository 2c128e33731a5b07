"""The running statistics of one arm."""

from __future__ import annotations

from ramgape.core.kernel import inlined, kernel

FEWEST_PULLS = 2  # no variance, and hence no box, before the second pull
PSEUDO_PULLS = 2.0  # the weight of the other arms' variances in an arm's own


@inlined
def observe(arms, search, problem, arm, reward):
    """Add one reward to an arm: its sums, mean and plug-in variance. Returns the arm's row.

    The sums are taken about the arm's first reward and keep what rounding loses (Neumaier's summation), so that
    neither a large offset nor 10^8 rewards spoil the variance.
    """
    row = arms[arm]
    value = (reward - problem.origin) / problem.span
    if row.pulls == 0:
        row.shift = value
    elif value == row.last or value == row.shift:  # exactly: draws from a density never are
        row.repeats += 1
    row.last = value
    row.pulls += 1
    search.samples += 1

    value -= row.shift
    total = row.total + value
    large, small = (row.total, value) if abs(row.total) >= abs(value) else (value, row.total)
    row.total_carry += (large - total) + small
    row.total = total

    square = value * value
    row.cubes += square * value
    row.fourths += square * square
    squares = row.squares + square
    large, small = (row.squares, square) if row.squares >= square else (square, row.squares)
    row.squares_carry += (large - squares) + small
    row.squares = squares

    average = (total + row.total_carry) / row.pulls
    variance = (squares + row.squares_carry) / row.pulls - average * average
    row.average = row.shift + average
    row.variance = variance if variance > 0.0 else 0.0
    return row


@inlined
def squared_error(row, variance, average):
    """Of an estimate: its variance, drawn towards the average of all arms while pulls are few."""
    pulls = row.pulls
    return (pulls * variance + PSEUDO_PULLS * average) / ((pulls + PSEUDO_PULLS) * pulls)


@kernel
def least_pulled(arms):
    """The arm with the fewest pulls; the first of them."""
    least = 0
    for arm in range(len(arms)):
        if arms[arm].pulls < arms[least].pulls:
            least = arm
    return least
