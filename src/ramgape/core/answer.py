"""Who is returned: the one place that says so, for results, for studies and for the regret in a trace."""

from __future__ import annotations

import math

from ramgape.core.kernel import inlined, kernel
from ramgape.core.table import PROVED

LEAST_SHARE = 0.1  # of the variance between arms that is always taken for a difference between them


@inlined
def is_returned(arms, arm, search, problem, centre):
    """Whether an arm is in the answer: the present one (`in_front`), or that of the round of smallest doubt.

    A stop by proof is about the answer that it found: then no other one is returned; nor while every doubt was
    infinite, and no round was better than the others. A rule that eliminates arms has its own mind about those that
    it has accepted or dismissed. `centre` is `shrinkage` of all arms, for rules that return the front of shrunken
    estimates. Before every arm has its initial pulls nothing is returned.
    """
    row = arms[arm]
    if row.accepted != 0:
        return row.accepted == 1
    if problem.keep_smallest and search.stopped != PROVED and math.isfinite(search.smallest_doubt):
        return row.kept == 1
    if problem.shrinks and search.ready:
        return in_shrunken_front(arms, arm, centre)
    return row.in_front == 1


@kernel
def shrinkage(arms, search, problem):
    """Average of all arms, and variance between them, in mean and in risk: towards what, and how far, to shrink.

    Of two arms with the same estimate the one pulled less is more likely to owe it to luck. With t^2 the variance of
    the true values among the arms, the best guess of one whose estimate has the squared error e is the part
    t^2 / (t^2 + e) of the way from the average of all to it (James and Stein, 1961; Efron and Morris, 1973). What the
    estimates scatter more than by their errors is taken for t^2, and at least a tenth of what they scatter. It is
    infinite, and nothing is shrunk, where that is nothing or beyond all floats.
    """
    if not (problem.shrinks and search.ready):
        return 0.0, math.inf, 0.0, math.inf
    count = len(arms)
    mean = risk = mean_error = risk_error = 0.0
    for arm in range(count):
        mean += arms[arm].average / count
        risk += arms[arm].risk / count
        mean_error += arms[arm].error[0] / count
        risk_error += arms[arm].error[1] / count
    mean_scatter = risk_scatter = 0.0
    for arm in range(count):
        mean_scatter += (arms[arm].average - mean) * (arms[arm].average - mean) / (count - 1.0)
        risk_scatter += (arms[arm].risk - risk) * (arms[arm].risk - risk) / (count - 1.0)
    return mean, variance_between(mean_scatter, mean_error), risk, variance_between(risk_scatter, risk_error)


@inlined
def variance_between(scatter, error):
    """The variance between arms, from that of their estimates and the average squared error of these."""
    found = max(scatter - error, LEAST_SHARE * scatter)
    return found if 0.0 < found < math.inf else math.inf


@inlined
def shrunken(estimate, error, centre, spread):
    """An estimate, drawn towards the centre."""
    return estimate if spread == math.inf else centre + spread / (spread + error) * (estimate - centre)


@kernel
def in_shrunken_front(arms, arm, centre):
    """Whether no other arm dominates an arm by shrunken estimates."""
    mean, mean_spread, risk, risk_spread = centre
    own_mean = shrunken(arms[arm].average, arms[arm].error[0], mean, mean_spread)
    own_risk = shrunken(arms[arm].risk, arms[arm].error[1], risk, risk_spread)
    for other in range(len(arms)):
        row = arms[other]
        ahead = shrunken(row.average, row.error[0], mean, mean_spread) > own_mean
        if ahead and shrunken(row.risk, row.error[1], risk, risk_spread) < own_risk:
            return False
    return True


@kernel
def mark_answer(arms, searches, problems, mask):
    """Write down of every arm whether it is returned."""
    search, problem = searches[0], problems[0]
    centre = shrinkage(arms, search, problem)
    for arm in range(len(arms)):
        mask[arm] = is_returned(arms, arm, search, problem, centre)
