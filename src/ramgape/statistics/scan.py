"""Whether evidence reaches a level for all hypotheses of an interval, each of which is a point.

For a cell, an interval of hypotheses, a kernel computes from its two ends a number that no evidence in it is below. A
cell is proved if that number reaches the level, or if both of its halves are proved; cells of 1 / `STEPS` of the whole
are not halved. Before that the scan looks at a few single points (`scouts`): one that misses the level decides at once.
Most scans end at the first of them.

The compiler takes this recursion one cell after another, left to right. Plain Python has NumPy evaluate many cells at
once, which costs hardly more than one. Logarithms of NumPy may differ from those of the C library in the last bit, so
evidence that is within `NEAR` of the level is computed again by the scalar kernel. Nothing but the outcome is kept:
therefore both forms lead to the same states, to the bit.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramgape.core.kernel import Kernel, inlined, interpreted_by, open_kernel

STEPS = 4096  # no cell is smaller than this part of the interval
MOST_CELLS = 2 * STEPS  # more than the tree has
LIKELIEST = ((1.0, 0.0),)  # where nothing is known of the evidence but where it is likely to be least
NEAR = 1e-6  # far more than what evidence loses by rounding

# NumPy looks at a cell, its halves, their quarters and eighths together, in the order of a heap: those of number n are
# 2 n + 1 and 2 n + 2. Where each begins and how long it is, in units of the first.
LEVELS = 3
NODES, INNER = 2 ** (LEVELS + 1) - 1, 2**LEVELS - 1
LENGTHS = np.repeat(0.5 ** np.arange(LEVELS + 1), 2 ** np.arange(LEVELS + 1))
BEGINNINGS = np.concatenate([np.arange(2**level) / 2**level for level in range(LEVELS + 1)])
AT_ONCE = 4  # such cells: their parts fill arrays that are still handled at the cost of a call

Floats = NDArray[np.float64]


@inlined
def unlimited(cell, row, past, rival, rival_past, problem, offset, since, level):
    """No limit to the evidence, where a cheap one is not known."""
    return math.inf


def proved_by_numpy(
    scouts: Any, most_on: Kernel, least_on: Kernel, least_on_many: Kernel | None, ends: Any, level: float, *pair: Any
) -> bool:
    """`proved_on` for plain Python."""
    low, high, _ = ends
    if least_on_many is None or not high - low < math.inf:  # an infinite interval has no parts worth a look
        return proved_on(scouts, most_on, least_on, None, ends, level, *pair)  # type: ignore[no-any-return]
    smallest = (high - low) / STEPS

    def reaches(starts: Floats, stops: Floats) -> NDArray[np.bool_]:
        """Which of the cells reach the level; a point counts as missing it only if it is known to."""
        evidence = least_on_many(starts, stops, *pair, level)
        for place in np.flatnonzero(np.abs(evidence - level) <= NEAR).tolist():
            evidence[place] = least_on((float(starts[place]), float(stops[place])), *pair, level)
        reached: NDArray[np.bool_] = evidence >= level if starts is not stops else ~(evidence < level)
        return reached

    def holds(places: Floats, width: float) -> bool:
        """Whether cells of this width are proved, by themselves or in parts."""
        first = places[:, None] + width * BEGINNINGS
        last = first + width * LENGTHS
        starts, stops = low + first * smallest, np.where(last < STEPS, low + last * smallest, high)
        proved = reaches(starts.ravel(), stops.ravel()).reshape(-1, NODES)
        for node in range(INNER):
            proved[:, 2 * node + 1] |= proved[:, node]
            proved[:, 2 * node + 2] |= proved[:, node]
        left = first[:, INNER:][~proved[:, INNER:]]
        width /= 2**LEVELS
        if len(left) and width <= 1.0:
            return False
        return all(holds(left[begin : begin + AT_ONCE], width) for begin in range(0, len(left), AT_ONCE))

    first, *others = (point_of(ends, scout) for scout in scouts)
    cell = first, first
    # So end most scans; for a single point NumPy is slower.
    if most_on(cell, *pair, level) < level or least_on(cell, *pair, level) < level:
        return False
    with np.errstate(all="ignore"):
        points = np.array(others)
        return (not others or bool(reaches(points, points).all())) and (low >= high or holds(np.zeros(1), float(STEPS)))


@inlined
def point_of(ends, scout):
    """The point that a scout stands for: so many times the likely one, less the lower end, and a part of the length."""
    low, high, middle = ends
    times, part = scout
    return min(max(low + times * (middle - low) + part * (high - low), low), high)


@interpreted_by(proved_by_numpy)
@open_kernel
def proved_on(
    scouts, most_on, least_on, least_on_many, ends, level, row, past, rival, rival_past, problem, offset, since
):
    """Whether the evidence reaches a level for all hypotheses from one to another.

    `ends` has a third between the two, where the evidence is least, roughly; `scouts` are relative to it, and the first
    is that point itself. `least_on` brings the evidence on a cell; it is told the level, below which it may look as
    closely as it pays. `least_on_many` does the same for arrays of cells, in plain Python; it may be None. `most_on`
    brings, at less cost, a number that the evidence at a point does not exceed.
    """
    low, high, _ = ends
    likeliest = point_of(ends, scouts[0])
    cell = likeliest, likeliest
    if most_on(cell, row, past, rival, rival_past, problem, offset, since, level) < level:
        return False
    for scout in scouts:
        point = point_of(ends, scout)
        if least_on((point, point), row, past, rival, rival_past, problem, offset, since, level) < level:
            return False
    if low >= high:
        return True
    smallest = (high - low) / STEPS
    place, width = 0, STEPS
    for _ in range(MOST_CELLS):
        end = low + (place + width) * smallest if place + width < STEPS else high
        cell = low + place * smallest if place else low, end  # an infinite interval has no other parts
        if least_on(cell, row, past, rival, rival_past, problem, offset, since, level) >= level:
            place += width
            if place >= STEPS:
                return True
            width = place & -place  # the longest cell that begins here and has not been halved
        elif width == 1:
            return False
        else:
            width //= 2
    return False
