"""No intervals at all while searching: for rules that look at the estimates and their errors only."""

from __future__ import annotations

from typing import Any

from ramgape.core.box import estimate_mean_variance
from ramgape.core.kernel import inlined, kernel
from ramgape.core.statistics import FEWEST_PULLS, observe


def constants(record: Any, arm_count: int, delta: float | None) -> None:
    """Nothing."""


@inlined
def estimate(row, search, problem):
    """The risk of one arm from its statistics."""
    estimate_mean_variance(row, problem)


@kernel
def learn(arms, search, problem, arm, reward):
    """Add a reward to an arm, then renew its risk."""
    row = observe(arms, search, problem, arm, reward)
    if row.pulls >= FEWEST_PULLS:
        estimate(row, search, problem)
