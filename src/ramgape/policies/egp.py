"""EGP: pull the arm that is least clearly inside or outside the front, allowing for its width."""

from __future__ import annotations

import numpy as np

from ramgape.core.kernel import inlined, kernel


@kernel
def decide(arms, memory, search, problem):
    """The arm with the largest (width - empirical gap)."""
    chosen = -1
    largest = 0.0
    for arm in range(len(arms)):
        index = half_width(arms, arm) - empirical_gap(arms, arm)
        if chosen < 0 or index > largest:
            chosen, largest = arm, index
    return chosen


@inlined
def half_width(arms, arm):
    """The paper has one width for both objectives; of two, the larger."""
    in_mean = 0.5 * (arms[arm].mean_high - arms[arm].mean_low)
    in_risk = 0.5 * (arms[arm].risk_high - arms[arm].risk_low)
    return max(in_mean, in_risk)


@inlined
def empirical_gap(arms, arm):
    """In the front, the most by which the arm beats another in both objectives; outside, the least by which another
    beats it in one."""
    mean, risk = arms[arm].average, arms[arm].risk
    if arms[arm].in_front:
        gap = -np.inf
        for other in range(len(arms)):
            if other != arm:
                gap = max(gap, min(mean - arms[other].average, arms[other].risk - risk))
    else:
        gap = np.inf
        for other in range(len(arms)):
            if other != arm:
                gap = min(gap, max(arms[other].average - mean, risk - arms[other].risk))
    return gap
