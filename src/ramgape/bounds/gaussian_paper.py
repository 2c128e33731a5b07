"""The paper's appendix: Gaussian rewards whose standard deviation is at most sigma_max.

With L = ln(4 K T^2 / delta): the mean within sigma_max sqrt(2 L / T), the variance within
8 sigma_max^2 max(sqrt(L / T), L / T) + 2 sigma_max^2 L / T, the mean-variance from both. The radii differ, which is
why a bound gives a box. Like the paper's other bound it is neither clipped nor intersected. Rounding to a stated step r
moves the average by at most h = r/2, and the variance by at most 2 h d + h^2, with d the plug-in deviation: see
bounds/gaussian.py.
"""

from __future__ import annotations

import math

from ramgape.core.box import set_box
from ramgape.core.kernel import inlined


@inlined
def moments_box(row, past, search, problem):
    """The box of one arm."""
    sigma = problem.sigma_max
    share = (row.level + 2.0 * math.log(row.pulls)) / row.pulls
    half = 0.5 * problem.resolution
    mean_width = sigma * math.sqrt(2.0 * share) + half
    variance_width = sigma * sigma * (8.0 * max(math.sqrt(share), share) + 2.0 * share)
    variance_width += half * (2.0 * math.sqrt(row.variance) + half)
    set_box(row, mean_width, problem.alpha * (variance_width + problem.rho * mean_width))
