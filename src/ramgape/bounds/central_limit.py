"""Rewards of any kind, approximately: what the central limit theorem says of averages, at all times at once.

An estimate e of which a pull changes the n-th part of some w has, nearly, a normal error of variance V / n, with V the
variance of w. For normal errors a mixture of likelihood ratios holds at all times at once: (e - truth)^2 <= V B(n) but
for a chance of alpha, with B(n) = (n + c) / n^2 (ln((n + c) / c) + 2 ln(1/alpha)), or of t-tests where V is estimated,
as for Gaussian rewards. Both at alpha = delta / (2 K): nothing depends on the unit of rewards, and c is a number.

What makes such intervals miss is that V is estimated from the same pulls: where w is skewed, a low estimate comes with
a low V, just when V should be large. To first order V grows with e by S, the third central moment of w over its
variance. So the truth at a distance d above the estimate is judged by the spread that belongs there,

    d^2 <= B(n) (V + S d),

which for a Bernoulli reward, whose variance is V + S d - d^2, is the interval of Wilson but a little wider, and for an
exponential one knows how the variance grows with the mean. For the mean w is the reward, and S from its sums; where S
shortens an end, that is left as it is without. For a risk V is `row.risk_spread` and S is `row.risk_skew`, as far as
the risk tells. These are themselves poorly known after a few pulls, and too small where tails are heavy: so V and S are
averaged with what some pseudo-pulls would have shown, in the unit that the arm's own deviation gives, S is taken larger
above (`MARGIN`) and smaller below (`LESS`), and nothing is said before the first looks, nor while S^2 > n V: then a few
pulls tell all there is of the risk. The constants were chosen by simulation; what came of it stands in
docs/theory/rewards-of-any-kind.md: ten families are missed about as often as stated, from the 20th pull on.

Boxes are not intersected over time: a new one knows the spread better, and may well be wider.

While all rewards of an arm are equal nothing is known of how they vary, and nothing is claimed. After `MOST_EQUAL` of
them the arm is set aside: its box is turned inside out, so that no comparison waits for it any longer; a search that
ends then has ended because of it. Until then it is what comes first, since no pull of another arm helps.
"""

from __future__ import annotations

import math
from typing import Any

from ramgape.bounds.gaussian import squared_radius
from ramgape.core.box import is_due, is_set_aside, set_aside
from ramgape.core.kernel import inlined, kernel, open_kernel
from ramgape.core.statistics import third_moment

PRIOR = 15.0  # c: intervals are at their best after some ten times as many pulls
SPREAD_PULLS, SKEW_PULLS = 30.0, 60.0  # pseudo-pulls, which show a spread of one unit squared, a skew of four units
USUAL_SKEW = 4.0
MARGIN, LESS = 1.5, 0.5
MOST_EQUAL = 1_000


def constants(record: Any, arm_count: int, delta: float) -> None:
    """For how many pulls intervals are at their best."""
    record["mean_scales"] = record["risk_scales"] = PRIOR


@inlined
def due(row):
    """Now and then, when an arm is to be set aside, and while it is: a reward that differs takes it back at once."""
    return is_due(row) or row.pulls == MOST_EQUAL or is_set_aside(row)


@inlined
def reach(ratio, spread, skew):
    """The greatest d with d^2 <= ratio (spread + skew d)."""
    part = ratio * skew
    return 0.5 * (part + math.sqrt(part * part + 4.0 * ratio * spread))


@inlined
def mixture_ratio(count, level, prior):
    """B(n): the normal mixture's squared half width for values of variance 1."""
    return (count + prior) / (count * count) * (math.log((count + prior) / prior) + 2.0 * level)


@inlined
def risk_ends(row, problem):
    """How far the risk may be below its estimate, and above."""
    count = float(row.pulls)
    ratio = mixture_ratio(count, row.level, problem.risk_scales[0])
    if problem.risk_power == 0.0:  # a chance, of which w is 0 or 1: its spread says all
        skew = problem.alpha - 2.0 * row.risk
        return reach(ratio, row.risk_spread, -skew), reach(ratio, row.risk_spread, skew)
    unit = problem.alpha * row.variance ** (0.5 * problem.risk_power)
    spread = (count * row.risk_spread + SPREAD_PULLS * unit * unit) / (count + SPREAD_PULLS)
    skew = row.risk_skew
    if skew == 0.0:  # the risk does not tell
        return reach(ratio, spread, 0.0), reach(ratio, spread, USUAL_SKEW * math.sqrt(spread))
    if skew * skew > count * spread:
        return math.inf, math.inf
    above = MARGIN * (count * max(skew, 0.0) + SKEW_PULLS * USUAL_SKEW * unit) / (count + SKEW_PULLS)
    below = min(LESS * skew * count / (count + SPREAD_PULLS), math.sqrt(spread)) if skew > 0.0 else skew
    return reach(ratio, spread, -below), reach(ratio, spread, above)


@inlined
def least_of_cut(row, count, level):
    """The highest mean of an arm, all of whose `count` rewards were cut off, but for a chance of e^-level.

    Such rewards are costs, 0 or less here, cut off at the average. The product of them, each over the mean, is a
    supermartingale, and has come to (average / mean)^n.
    """
    return row.average * math.exp(-level / count)


@kernel
def box(row, past, search, problem):
    """Nothing is said of an arm before its first looks, nor while its rewards are all equal."""
    row.mean_low, row.mean_high, row.risk_low, row.risk_high = -math.inf, math.inf, -math.inf, math.inf
    if not row.variance > 0.0:
        if row.cut > 0:
            if row.pulls >= problem.first_looks[0]:
                row.mean_high = least_of_cut(row, float(row.pulls), row.level)
        elif row.pulls >= MOST_EQUAL:
            set_aside(row)
        return
    if row.pulls >= problem.first_looks[0]:
        ratio = squared_radius(float(row.pulls), 1.0, row.level, problem.mean_scales[0])
        if ratio < math.inf:
            skew = third_moment(row) / row.variance
            row.mean_low = row.average - reach(ratio, row.variance, max(-skew, 0.0))
            row.mean_high = row.average + reach(ratio, row.variance, max(skew, 0.0))
    if row.pulls >= problem.first_looks[1]:
        below, above = risk_ends(row, problem)
        row.risk_low, row.risk_high = row.risk - below, row.risk + above


@inlined
def is_unknown(row):
    """Whether nothing is said yet of an arm's mean, or of its risk; of a cut-off arm no more may ever be said."""
    if row.cut > 0:
        return False
    return row.mean_high - row.mean_low == math.inf or row.risk_high - row.risk_low == math.inf


@open_kernel
def unknown_first(decide, arms, memory, search, problem):
    """Of the two arms behind the largest doubt, one of which nothing is known yet; otherwise what a policy says."""
    leader = search.leader
    rival = arms[leader].rival
    if is_unknown(arms[leader]):
        return leader
    if rival >= 0 and is_unknown(arms[rival]):
        return rival
    return decide(arms, memory, search, problem)
