"""What the paper prints: its settings and numbers, with the place where each stands."""

from __future__ import annotations

import math

DELTA, EPSILON, RHO = 0.05, 0.1, 0.01
APPENDIX_EPSILON = 0.05
ARMS = 10
PATTERNS = tuple(range(1, 51))
HORIZON, TRIALS = 10_000, 50

OWN, RA_LUCB = "ramgape", "ra-lucb"  # its own rule, and the one that is most like it
CONFIDENCE_POLICIES = ("ramgape", "ra-lucb", "de-round-robin", "round-robin")
BUDGET_POLICIES = ("ramgape", "ra-lucb", "round-robin", "lie-round-robin", "xi-lcb", "hvi-pareto", "egp")

# Captions of the two figures of Experiment 2. The text has the two pattern numbers the other way round.
TOTALS = {
    46: {"ramgape": 9_697_292, "ra-lucb": 9_728_010, "de-round-robin": 15_283_296, "round-robin": 43_548_822},
    10: {"ramgape": 28_261_200, "ra-lucb": 28_486_332, "de-round-robin": 30_041_447, "round-robin": 46_905_293},
}
EXPERIMENTS = {46: "2.1", 10: "2.2"}  # by the totals

MEANS, VARIANCES = (0.4, 0.6), (0.01, 0.2)  # the ranges that the arms are said to come from


def radius(pulls: int, arms: int = ARMS, delta: float = DELTA) -> float:
    """The width of the fixed-confidence intervals after so many pulls of an arm."""
    return math.sqrt(4.0 / pulls * math.log(8.0 * arms * math.log2(pulls) ** 2 / delta))


def closed_form_cap(epsilon: float, arms: int = ARMS, delta: float = DELTA) -> int:
    """The most pulls of an arm by the closed form in the proof of the fixed-confidence theorem.

    >>> closed_form_cap(0.1)
    17866
    """
    return int(16.0 / epsilon**2 * math.log(32.0 * arms * math.log2(1.0 / epsilon) ** 2 / delta) + 2.0)


def correct_cap(epsilon: float, arms: int = ARMS, delta: float = DELTA) -> int:
    """The most pulls of an arm that the proof really gives: the smallest T with 2 beta(T) < epsilon.

    >>> correct_cap(0.1)
    20320
    """
    low, high = 4, 4  # from 4 pulls on the radius falls
    while 2.0 * radius(high, arms, delta) >= epsilon:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if 2.0 * radius(middle, arms, delta) >= epsilon else (low, middle)
    return high


def theorem_one_bound(budget: int, arms: int, epsilon: float) -> float:
    """Theorem 1's bound on the chance of a regret of epsilon or more, at its own a; above 1 it says nothing."""
    exploration = (budget - 2 * arms) * epsilon**2 / (16.0 * arms)
    return 4.0 * arms * budget * math.exp(-2.0 * exploration)


def largest_regret(rho: float = RHO) -> float:
    """No set of arms with rewards in [0, 1] has a larger simple regret, for it is at most the range of the scaled risk.

    Between two arms one of which is worse in both objectives, or each in one, some distance is one in risk.

    >>> round(largest_regret(), 4)
    0.0847
    """
    return (1.0 + rho) ** 2 / (4.0 * (3.0 + rho))
