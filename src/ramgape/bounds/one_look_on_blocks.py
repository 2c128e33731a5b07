"""The classical test of two arms on blocks that they share, for one look: Student's t of the differences in mean."""

from __future__ import annotations

from ramgape.bounds import one_look
from ramgape.bounds.central_limit_paired import differences
from ramgape.bounds.one_look import log_odds
from ramgape.core.kernel import kernel
from ramgape.core.rare import survives_unseen

constants, box = one_look.constants, one_look.box


@kernel
def mean_ahead(row, past, rival, rival_past, epsilon, problem, since, level):
    """Whether an arm's mean is more than the rival's less epsilon."""
    count = min(row.pulls - row.under_way, rival.pulls - rival.under_way)
    if count < problem.first_looks[0] or not survives_unseen(row, rival, problem, epsilon):
        return False
    average, variance, _ = differences(past, rival_past, int(problem.first_item), count, problem.span)
    return log_odds(average + epsilon, (variance / (count - 1.0),), (count - 1.0,)) >= level


@kernel
def risk_ahead(row, past, rival, rival_past, epsilon, problem, since, level):
    """Of risks differences tell nothing."""
    return False
