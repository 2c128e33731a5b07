"""Evidence: pull for the comparison that the data support least.

What the answer needs is that every arm of the front withstands every other arm, in mean or in risk, and that every
arm outside is covered by one of the front, in mean and in risk. Each such comparison has an evidence: the squared
difference, with epsilon in its favour, over the variance of its estimate. The arms of the one with the least are
pulled in proportion to what each contributes to that variance.

Rewards in a range may be rare and large, and an arm that has shown none yet seems to be known exactly, which no bound
believes: as if one more pull, of so many, might have brought something else, a part of 1 / T^2 is added to a variance.
"""

from __future__ import annotations

from ramgape.core.doubt import dominates, shortfall, threat
from ramgape.core.kernel import inlined, kernel
from ramgape.core.statistics import squared_error

UNSEEN = 0.5  # that part, of the squared range of rewards
GOLDEN = 0.6180339887498949  # multiples of it, without their whole parts, are spread evenly: a choice without dice


@inlined
def strength(difference, variance):
    """The evidence for a difference."""
    return difference * difference / variance if difference > 0.0 else 0.0


@kernel
def decide(arms, memory, search, problem):
    """One of the two arms of the comparison with the least evidence."""
    epsilon, count = search.epsilon, len(arms)
    mean_average = risk_average = 1e-12
    for arm in range(count):
        row = arms[arm]
        mean_average += row.variance / count
        risk_average += row.risk_spread / count
    for arm in range(count):
        row = arms[arm]
        unseen = UNSEEN / (row.pulls * row.pulls) if problem.bounded else 0.0
        row.mean_error = squared_error(row, row.variance, mean_average) + unseen
        row.risk_error = squared_error(row, row.risk_spread, risk_average) + problem.alpha * problem.alpha * unseen
    least, one, two, by_mean = -1.0, search.leader, arms[search.leader].rival, True
    for arm in range(count):
        row = arms[arm]
        if row.blocker == -1:
            continue
        if row.in_front:
            for other in range(count):
                rival = arms[other]
                if other == arm or threat(rival, row) < epsilon or (row.blocker >= 0 and other != row.blocker):
                    continue
                in_mean = strength(row.average - rival.average + epsilon, row.mean_error + rival.mean_error)
                in_risk = strength(rival.risk - row.risk + epsilon, row.risk_error + rival.risk_error)
                evidence = max(in_mean, in_risk)
                if least < 0.0 or evidence < least:
                    least, one, two, by_mean = evidence, arm, other, in_mean >= in_risk
        else:
            best, cover, cover_by_mean = -1.0, arm, True
            for place in range(search.front_size):
                other = arms[place].front
                rival = arms[other]
                if dominates(rival, row):
                    if shortfall(rival, row) < epsilon:
                        best = -1.0
                        break
                    in_mean = strength(rival.average - row.average + epsilon, row.mean_error + rival.mean_error)
                    in_risk = strength(row.risk - rival.risk + epsilon, row.risk_error + rival.risk_error)
                    evidence = min(in_mean, in_risk)
                    if evidence > best:
                        best, cover, cover_by_mean = evidence, other, in_mean <= in_risk
            if best >= 0.0 and (least < 0.0 or best < least):
                least, one, two, by_mean = best, arm, cover, cover_by_mean
    if by_mean:
        own, others = arms[one].mean_error, arms[two].mean_error
    else:
        own, others = arms[one].risk_error, arms[two].risk_error
    chance = (search.samples * GOLDEN) % 1.0
    return one if chance * (own + others) < own else two
