"""Which of two arms to try where bets are exact: the one whose trials prove the comparison faster at its worst point.

Let one arm be ahead of another by d more than is needed. That is proved when for every x from 0 to d it is proved that
the first is not worse than it looks by x, or the second not better by d - x. Each trial of an arm brings so many nats
against such an error: its rate. The sum over both arms is least at some x. There the arm with the higher rate is tried,
since the rates are the gradient of the evidence at its least point.

Errors have a direction. Rewards that have not been seen yet may move a mean either way, but can only make a risk
larger. So it takes many trials to prove that a risk is below a value, and few to prove that it is above one.

Any choice that depends on the past alone is valid, so no guarantee depends on rates.
"""

from __future__ import annotations

import math

from ramgape.core.kernel import inlined, kernel
from ramgape.core.prices import for_the_money

POINTS = 24
SATURATION = 0.5  # of what is learned per trial about a risk being above a value, where differences are large
IN_TURN = 0.4  # of all trials, for one arm and the other: rates by estimates may be wrong for long
LEAST_GAP = 1e-4


@inlined
def variance_gap(row, problem, gap):
    """By how much the variance is off if the risk is."""
    gap /= problem.alpha
    if problem.risk_root:
        deviation = max(row.risk / problem.alpha, 0.0)
        if gap < -deviation:
            gap = -deviation
        return gap * (2.0 * deviation + gap)
    return gap


@inlined
def rate_of_mean(row, side, gap):
    """Nats of a trial against a mean being so much lower (side 1) or higher (-1) than it looks."""
    reach = row.average if side > 0.0 else 1.0 - row.average
    return gap * gap / (2.0 * row.pulls * row.error[0] + max(reach, 0.0) * gap)


@inlined
def rate_of_risk(row, problem, side, gap):
    """Nats of a trial against a risk being so much lower (side 1) or higher (-1) than it looks."""
    error = row.pulls * row.error[1]
    if side < 0.0:
        reach = max(row.average, 1.0 - row.average)
        more = max(variance_gap(row, problem, gap), 1e-12)
        return gap * gap / (2.0 * error + gap * gap * reach * reach / more)
    least = max(row.variance + variance_gap(row, problem, -gap), 4e-4 * row.variance + 1e-12)
    ratio = max(row.variance / least - 1.0, 0.0)
    found = SATURATION * (ratio - math.log1p(ratio))
    return min(found, gap * gap / (2.0 * error)) if error > 0.0 else found


@kernel
def faster(arms, search, problem, one, two, objective, chance):
    """Which of two arms to try for the claim that the one is ahead of the other in an objective."""
    if chance < IN_TURN:
        return one if chance < 0.5 * IN_TURN else two
    row, rival = arms[one], arms[two]
    gap = max(row.estimate[objective] - rival.estimate[objective] + search.epsilon, LEAST_GAP)
    least, own, others = math.inf, 1.0, 0.0
    for point in range(POINTS + 1):
        part = gap * point / POINTS
        if objective == 0:
            first, second = rate_of_mean(row, 1.0, part), rate_of_mean(rival, -1.0, gap - part)
        else:
            first = rate_of_risk(row, problem, -1.0, part)
            second = rate_of_risk(rival, problem, 1.0, gap - part)
        total = row.pulls * first + rival.pulls * second
        if total < least:
            least, own, others = total, first, second
    return one if for_the_money(own, row, rival) >= for_the_money(others, rival, row) else two
