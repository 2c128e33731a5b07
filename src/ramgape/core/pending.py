"""Pulls that are under way, as decisions see them: as if they were back already and had shown nothing new.

That is written into a copy of the table only. What has been observed, and hence the stop, never depends on it.
"""

from __future__ import annotations

import math

from ramgape.core.kernel import inlined, kernel


@inlined
def drawn_in(low, high, centre, factor):
    """An interval, narrowed towards its centre; towards its nearer end if the centre lies outside.

    That of an arm that has been set aside, inside out, stays as it is.
    """
    if low > high:
        return low, high
    centre = min(max(centre, low), high)
    return centre - factor * (centre - low), centre + factor * (high - centre)


@kernel
def anticipate(arms, searches, arm, count):
    """Some more pulls of an arm: estimates stay, the box narrows like one over the root of the pulls.

    The sums grow with the pulls, because a stop by evidence has the estimates from them.
    """
    row, search = arms[arm], searches[0]
    factor = math.sqrt(row.pulls / (row.pulls + count))
    growth = count / row.pulls if row.pulls else 0.0
    row.pulls += count
    row.total, row.total_carry = row.total + growth * row.total, row.total_carry + growth * row.total_carry
    row.squares, row.squares_carry = row.squares + growth * row.squares, row.squares_carry + growth * row.squares_carry
    row.cubes, row.cubes_carry = row.cubes + growth * row.cubes, row.cubes_carry + growth * row.cubes_carry
    row.fourths, row.fourths_carry = row.fourths + growth * row.fourths, row.fourths_carry + growth * row.fourths_carry
    row.under_way += count
    search.samples += count
    row.mean_low, row.mean_high = drawn_in(row.mean_low, row.mean_high, row.average, factor)
    row.risk_low, row.risk_high = drawn_in(row.risk_low, row.risk_high, row.risk, factor)
    for objective in range(len(row.low)):
        low, high, centre = row.low[objective], row.high[objective], row.estimate[objective]
        row.low[objective], row.high[objective] = drawn_in(low, high, centre, factor)
