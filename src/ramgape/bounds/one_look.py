"""Classical tests for a finished experiment that is looked at once: Welch's t.

The evidence that an arm is ahead of another is ln(1 / p), p being one-sided. Claims need the same evidence as elsewhere
(core/comparisons.py, core/highest_pairs.py, core/control_pairs.py), by a union over the false claims that the proofs
name: for the best arm that is Bonferroni over the K - 1 comparisons with it, and against a control likewise. All of
delta is for comparisons. None of this holds if the number of trials had to do with the rewards, or for a second look.

Searches never use these: only `analyze(..., stopping="fixed")` does, in plain Python.
"""

from __future__ import annotations

import math
from typing import Any

from ramgape.core import comparisons
from ramgape.core.kernel import kernel
from ramgape.core.rare import survives_unseen
from ramgape.statistics.special import incomplete_beta

LEAST_CHANCE = 1e-300


def constants(record: Any, arm_count: int, delta: float) -> None:
    """The levels of comparisons, which have all of delta."""
    comparisons.set_levels(record, arm_count, delta, 0.0)
    record["any_epsilon"] = 1


@kernel
def box(row, past, search, problem):
    """No interval of a single arm proves anything."""
    row.mean_low, row.mean_high, row.risk_low, row.risk_high = -math.inf, math.inf, -math.inf, math.inf


def log_odds(lead: float, errors: tuple[float, ...], freedoms: tuple[float, ...]) -> float:
    """ln(1 / p) of a lead, one-sided, by Welch's t.

    Args:
        lead: The estimated lead over the hypothesis.
        errors: The squared standard errors of its parts.
        freedoms: The degrees of freedom of each.
    """
    error = sum(errors)
    if not lead > 0.0 or not error > 0.0:
        return 0.0
    freedom = error * error / sum(each * each / count for each, count in zip(errors, freedoms, strict=True))
    square = lead * lead / error
    share, rest = freedom / (freedom + square), square / (freedom + square)
    return -math.log(max(0.5 * incomplete_beta(0.5 * freedom, 0.5, share, rest)[0], LEAST_CHANCE))


@kernel
def mean_ahead(row, past, rival, rival_past, epsilon, problem, since, level):
    """Whether an arm's mean is more than the rival's less epsilon."""
    if min(row.pulls, rival.pulls) < problem.first_looks[0] or not survives_unseen(row, rival, problem, epsilon):
        return False
    freedoms = row.pulls - 1.0, rival.pulls - 1.0
    errors = row.variance / freedoms[0], rival.variance / freedoms[1]
    return log_odds(row.average - rival.average + epsilon, errors, freedoms) >= level


@kernel
def risk_ahead(row, past, rival, rival_past, epsilon, problem, since, level):
    """Whether an arm's risk is less than the rival's plus epsilon."""
    if min(row.pulls, rival.pulls) < problem.first_looks[1]:
        return False
    freedoms = row.pulls - 1.0, rival.pulls - 1.0
    errors = row.risk_spread / freedoms[0], rival.risk_spread / freedoms[1]
    return log_odds(rival.risk - row.risk + epsilon, errors, freedoms) >= level
