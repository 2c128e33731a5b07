"""What every search does with a reward, whatever the risk and the bound: the kernels that both have in common.

A risk remembers something of a reward (`remember`) and makes an estimate of it (`estimate`); a bound, or risk and bound
together, make a box (`box`). Here they are put together, by `fixed`, when a search is assembled:

    remember(row, past, problem, value)    before the reward counts, while `row` is as it was; `past` is its memory
    estimate(row, past, problem)           writes row.risk, and row.risk_spread, the variance behind it for one pull
    box     (row, past, search, problem)   writes the box of an arm with at least two pulls
    note    (row)                          writes the arm's objectives, as comparisons see them, from what is known
    interval(problem, count, average, variance, level, low, high)
                                           ends for the mean of values in [0, 1], each wrong at any time at all with
                                           probability e^-level; low and high are known already
"""

from __future__ import annotations

import math

from ramgape.core.box import forget_ends_of_cut, narrow_box
from ramgape.core.kernel import inlined, kernel, open_kernel
from ramgape.core.statistics import FEWEST_PULLS, observe


@inlined
def nothing(row, past, problem, value):
    """Remember nothing."""


@inlined
def no_box(row, past, search, problem):
    """Leave the box as it is."""


@inlined
def always(row):
    """A box is made with every pull."""
    return True


@inlined
def note_mean_and_risk(row):
    """The objectives of an arm with one outcome: its mean, and its risk, of which less is better."""
    estimate, spread, low, high = row.estimate, row.spread, row.low, row.high
    estimate[0], estimate[1] = row.average, -row.risk
    spread[0], spread[1] = row.variance, row.risk_spread
    low[0], low[1] = row.mean_low, -row.risk_high
    high[0], high[1] = row.mean_high, -row.risk_low


@kernel
def note_all(arms):
    """The objectives of all arms."""
    for arm in range(len(arms)):
        note_mean_and_risk(arms[arm])


@open_kernel
def learn(remember, remember_more, estimate, due, box, note, arms, memory, search, problem, arm, reward):
    """Add a reward to an arm; renew its risk, and its box if enough has changed."""
    row, past = arms[arm], memory[arm]
    value = (reward - problem.origin) / problem.span
    remember(row, past, problem, value)
    remember_more(row, past, problem, value)
    row.cut += value <= problem.cutoff
    observe(row, search, value)
    estimate(row, past, problem)
    if row.pulls >= FEWEST_PULLS and due(row):
        box(row, past, search, problem)
    forget_ends_of_cut(row)
    note(row)


@open_kernel
def learn_score(learn, arms, memory, search, problem, arm, reward):
    """Add the score on an arm's next item. It is kept as it came: two arms are compared item by item, and a complete
    test set is judged by exact arithmetic."""
    memory[arm][problem.first_item + arms[arm].pulls] = reward
    learn(arms, memory, search, problem, arm, reward)


@open_kernel
def look(estimate, box, note, arms, memory, searches, problems):
    """Renew the risk and the box of every arm that may have one, from what its rewards have left."""
    for arm in range(len(arms)):
        if arms[arm].pulls >= FEWEST_PULLS:
            estimate(arms[arm], memory[arm], problems[0])
            box(arms[arm], memory[arm], searches[0], problems[0])
            forget_ends_of_cut(arms[arm])
            note(arms[arm])


@open_kernel
def narrow_mean(interval, row, search, problem):
    """The interval of the mean."""
    ends = interval(problem, row.pulls, row.average, row.variance, row.level, row.mean_low, row.mean_high)
    narrow_box(row, search, ends[0], ends[1], row.risk_low, row.risk_high)


@open_kernel
def box_of_means(interval, narrow, row, past, search, problem):
    """Mean first: the interval of the risk may depend on the means that are left."""
    narrow_mean(interval, row, search, problem)
    narrow(row, past, search, problem)


@open_kernel
def box_of_normal(moment_intervals, risk, row, past, search, problem):
    """The box of Gaussian rewards: their risk is the less the larger the mean, and mostly the more the larger the
    variance; where it falls with that instead, the other end counts."""
    mean_low, mean_high, variance_low, variance_high = moment_intervals(row, problem)
    risk_low, risk_high = risk(problem, mean_high, variance_low), risk(problem, mean_low, variance_high)
    if mean_high < math.inf:  # else nothing is known of the mean, and the end is as low as it can be
        risk_low = min(risk_low, risk(problem, mean_high, variance_high))
    risk_high = max(risk_high, risk(problem, mean_low, variance_low))
    narrow_box(row, search, mean_low, mean_high, risk_low, risk_high)
