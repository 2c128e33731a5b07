"""The bounds of VA-LUCB: sqrt(ln(2 N t^4 / delta) / (2 T)) about the average and about the unbiased sample variance.

For rewards in [0, 1], with N arms, after T pulls of one of them in round t, as published (Hou, Tan and Zhong 2023, and
their program, https://github.com/Y-Hou/VA-BAI, where `theta` is this radius for both). They hold: an average is wrong
by more with probability at most delta / (N t^4), by Hoeffding's inequality, and so is the variance by McDiarmid's,
since one of T rewards moves the unbiased variance by at most 1 / T. A round pulls an arm once at most, so T <= t; over
all arms, T <= t and t >= N >= 2 these chances add up to no more than 2 delta (2^-3 + 3^-3 + ...) < 0.41 delta.

The level of an arm is ln(2 N / delta). Rounds are counted by policy va-lucb, to which these bounds belong.
"""

from __future__ import annotations

import math

from ramgape.core.kernel import inlined


@inlined
def box(row, past, search, problem):
    """The box of one arm in the present round; neither clipped nor intersected."""
    count = float(row.pulls)
    radius = math.sqrt((row.level + 4.0 * math.log(max(float(search.phase), count))) / (2.0 * count))
    variance = row.variance * count / (count - 1.0)
    row.mean_low, row.mean_high = row.average - radius, row.average + radius
    row.risk_low, row.risk_high = problem.alpha * (variance - radius), problem.alpha * (variance + radius)
