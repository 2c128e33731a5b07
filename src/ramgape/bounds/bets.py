"""Two arms compared at once by exact bets: the evidence of `pairwise`, from a histogram in place of power sums.

The hypothesis "arm j's risk is at most arm i's less epsilon" is rejected when for every value s of i's risk the stakes
that i's risk is below s and that j's is above s - epsilon multiply to e^L; of means likewise. The bets are those of
statistics/wealth.py, none of which is ever lost, and which may be as large as the range of rewards allows: for what is
rare, and for large differences, they win several times as much per trial as mixtures over power sums. What holds on
cells of hypotheses is proved in docs/theory/comparisons.md.

Risks that are means of a transformed reward are compared as `pairwise` compares them, and the boxes are its boxes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ramgape.bounds.pairwise import constants as constants
from ramgape.bounds.pairwise import due as due
from ramgape.bounds.pairwise import interval as interval
from ramgape.bounds.pairwise import mean_compared, risk_compared
from ramgape.bounds.pairwise import mixtures_of_mean as mixtures_of_mean
from ramgape.bounds.pairwise import moments_box as moments_box
from ramgape.core.comparisons import sums
from ramgape.core.kernel import Kernel, fixed, inlined, interpreted_by, kernel, open_kernel
from ramgape.statistics.scan import LIKELIEST, proved_by_numpy, proved_on, unlimited
from ramgape.statistics.wealth import (
    NOTED,
    PARTS,
    STEPS,
    Above,
    Below,
    Floats,
    OnMean,
    cells_of,
    counts_of,
    excess_of,
    fill_scratch,
    forget,
    least_above,
    least_below,
    log_above,
    log_below,
    log_on_mean,
    means_of,
    shown,
)
from ramgape.statistics.wealth import remember as remember
from ramgape.statistics.wealth import remember_many as remember_many

BY_RATES = True  # which of two arms is tried: see core/rates.py
FIRST = (0.0, 0.5, -0.5, 1.0, -1.0)  # risks that are looked at first, in distances of the likeliest from the row's own


@open_kernel
def least_on_mean(cell, row, past, rival, rival_past, problem, epsilon, since, level):
    """ln of the evidence, on a cell of means, that the row's is above it and the rival's below it plus epsilon."""
    own, others = shown(row, sums(row, past, problem, since)), shown(rival, sums(rival, rival_past, problem, since))
    found = log_on_mean(own, past, problem, since, cell[1], 1.0)
    return found + log_on_mean(others, rival_past, problem, since, cell[0] + epsilon, -1.0)


def mean_proved_by_numpy(proved, ends, level, row, past, rival, rival_past, problem, epsilon, since):
    """`mean_proved` for plain Python."""
    own, others = shown(row, sums(row, past, problem, since)), shown(rival, sums(rival, rival_past, problem, since))
    above = OnMean(own, counts_of(past, problem, since, own[4]), 1.0)
    below = OnMean(others, counts_of(rival_past, problem, since, others[4]), -1.0)

    def evidence(starts: Floats, stops: Floats, *pair: Any) -> Floats:
        return above(stops) + below(starts + epsilon)

    with np.errstate(all="ignore"):
        pair = row, past, rival, rival_past, problem, epsilon, since
        return proved_by_numpy(LIKELIEST, unlimited, at_point(evidence), evidence, ends, level, *pair)


@interpreted_by(mean_proved_by_numpy)
@open_kernel
def mean_proved(proved, ends, level, row, past, rival, rival_past, problem, epsilon, since):
    """Whether the evidence reaches a level for all means between two ends."""
    forget(problem, 2 * STEPS)
    return proved(ends, level, row, past, rival, rival_past, problem, epsilon, since)


def at_point(evidence: Kernel) -> Kernel:
    """Evidence on many cells as that on one."""
    return lambda cell, *pair: float(evidence(np.array([cell[0]]), np.array([cell[1]]))[0])


mean_ahead = fixed(
    mean_compared, fixed(mean_proved, fixed(proved_on, LIKELIEST, unlimited, fixed(least_on_mean), None))
)


# ---------------------------------------------------------------------------------------------------------------- risks


@inlined
def first_risks(row, ends, part):
    """One of the risks that a comparison looks at first: where evidence is likely to be least, and to either side."""
    low, high, middle = ends
    return min(max(middle + part * abs(middle - row.risk), low), high)


@kernel
def evidence_at_averages(known, others, past, rival_past, problem, since, means, below, above):
    """No less than the evidence that one risk is below a value and another above one, by the averages alone."""
    own, rival = means
    excess = excess_of(others, rival_past, problem, since)
    found = log_above(others, rival_past, problem, since, excess, above, rival, rival, 0, 0)
    return found + log_below(known, problem, below, own, own)


@open_kernel
def least_on_risk(variance_at, cell, row, past, rival, rival_past, problem, epsilon, since, level):
    """ln of the evidence, on a cell of risks, that the row's is below it and the rival's above it less epsilon; or
    less, if that is below the level. What `risk_proved` has noted of both arms is used."""
    start, end = cell
    own, others = shown(row, sums(row, past, problem, since)), shown(rival, sums(rival, rival_past, problem, since))
    value, possible = variance_at(problem, end - epsilon), variance_at(problem, start - epsilon)
    excess = excess_of(others, rival_past, problem, since)
    above = least_above(others, rival, rival_past, problem, since, excess, value, possible, -math.inf)
    return above + least_below(own, row, problem, variance_at(problem, start), level - above)


def risk_proved_by_numpy(
    variance_at: Kernel,
    proved: Kernel,
    ends: Any,
    level: float,
    row: Any,
    past: Any,
    rival: Any,
    rival_past: Any,
    *rest: Any,
) -> bool:
    """`risk_proved` for plain Python."""
    problem, epsilon, since = rest
    own, others = shown(row, sums(row, past, problem, since)), shown(rival, sums(rival, rival_past, problem, since))
    counts, rival_counts = counts_of(past, problem, since, own[4]), counts_of(rival_past, problem, since, others[4])

    def variances(risks: Floats) -> Floats:
        return np.array([variance_at(problem, risk) for risk in risks.tolist()])

    def evidence_on(cells: Any, rival_cells: Any) -> Any:
        below = Below(own, counts, problem, cells)
        above = Above(others, rival_counts, problem, rival_cells)

        def evidence(starts: Floats, stops: Floats, *pair: Any) -> Floats:
            first, place = np.unique(starts, return_inverse=True)
            last, rival_place = np.unique(stops, return_inverse=True)
            found = above(variances(last - epsilon))[:, rival_place]
            found = np.where(above.is_impossible(variances(starts - epsilon)), np.inf, found).min(axis=0)
            return np.asarray(found + below(variances(first))[place])

        return evidence

    if not ends[1] < math.inf:
        return False
    with np.errstate(all="ignore"):
        at = [np.array([means_of(one, known)[2]]) for one, known in ((row, own), (rival, others))]
        first = np.array([first_risks(row, ends, part) for part in FIRST])
        if (evidence_on((at[0], at[0]), (at[1], at[1]))(first, first) < level).any():
            return False
        evidence = evidence_on(cells_of(row, own, PARTS), cells_of(rival, others, 0))

        pair = row, past, rival, rival_past, problem, epsilon, since
        return proved_by_numpy(LIKELIEST, unlimited, at_point(evidence), evidence, ends, level, *pair)


@interpreted_by(risk_proved_by_numpy)
@open_kernel
def risk_proved(variance_at, proved, ends, level, row, past, rival, rival_past, problem, epsilon, since):
    """Whether the evidence reaches a level for all risks between two ends. By far most looks end at averages."""
    if not ends[1] < math.inf:
        return False
    own, others = shown(row, sums(row, past, problem, since)), shown(rival, sums(rival, rival_past, problem, since))
    low, high, mean = means_of(row, own)
    means = mean, means_of(rival, others)[2]
    fill_scratch(own, past, problem, since, mean, mean)
    forget(problem, STEPS * NOTED)
    for part in FIRST:
        risk = first_risks(row, ends, part)
        below, above = variance_at(problem, risk), variance_at(problem, risk - epsilon)
        if evidence_at_averages(own, others, past, rival_past, problem, since, means, below, above) < level:
            return False
    fill_scratch(own, past, problem, since, low, high)
    return proved(ends, level, row, past, rival, rival_past, problem, epsilon, since)


def moments_ahead(variance_at: Kernel) -> Kernel:
    """The comparison of risks that are a function of a mean-variance, by its inverse."""
    proved = fixed(proved_on, LIKELIEST, unlimited, fixed(least_on_risk, variance_at), None)
    return fixed(risk_compared, fixed(risk_proved, variance_at, proved))
