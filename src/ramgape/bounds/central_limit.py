"""Rewards of any kind, approximately: what the central limit theorem says of averages, at all times at once."""

from __future__ import annotations

import math
from typing import Any

from ramgape.bounds.gaussian import squared_radius
from ramgape.core.box import is_due, narrow_box
from ramgape.core.kernel import kernel

PRIOR = 30.0
due = is_due


def constants(record: Any, arm_count: int, delta: float) -> None:
    """For how many pulls intervals are at their best."""
    record["mean_scales"] = record["risk_scales"] = PRIOR


@kernel
def box(row, past, search, problem):
    """Nothing is said of an arm before its first looks, nor while its rewards are all equal."""
    mean_low, mean_high, risk_low, risk_high = -math.inf, math.inf, -math.inf, math.inf
    count = float(row.pulls)
    if row.variance > 0.0 and row.pulls >= problem.first_looks[0]:
        radius = math.sqrt(squared_radius(count, row.variance, row.level, problem.mean_scales[0]))
        mean_low, mean_high = row.average - radius, row.average + radius
    if row.risk_spread > 0.0 and row.pulls >= problem.first_looks[1]:
        radius = math.sqrt(squared_radius(count, row.risk_spread, row.level, problem.risk_scales[0]))
        risk_low, risk_high = row.risk - radius, row.risk + radius
    narrow_box(row, search, mean_low, mean_high, risk_low, risk_high)
