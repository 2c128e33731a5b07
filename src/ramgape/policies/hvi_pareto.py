"""HVI-Pareto: pull the weakest arm of the front and the strongest outside it, by hypervolume.

An arm's hypervolume is the rectangle between its estimates and a reference point: the worst mean and risk that bounded
rewards allow. Unbounded rewards have no worst point; there it is the worst of the present estimates.
"""

from __future__ import annotations

from ramgape.core.kernel import kernel
from ramgape.core.turns import queue_second, take_second


@kernel
def decide(arms, memory, search, problem):
    """The weakest arm of the front, and next the strongest outside it if there is one."""
    if search.queued >= 0:
        return take_second(search)
    count = len(arms)
    worst_mean, worst_risk = problem.reference_mean, problem.reference_risk
    if worst_mean != worst_mean:
        worst_mean, worst_risk = arms[0].average, arms[0].risk
        for arm in range(1, count):
            worst_mean = min(worst_mean, arms[arm].average)
            worst_risk = max(worst_risk, arms[arm].risk)
    weakest = strongest = -1
    least = most = 0.0
    for arm in range(count):
        volume = (arms[arm].average - worst_mean) * (worst_risk - arms[arm].risk)
        if arms[arm].in_front:
            if weakest < 0 or volume < least:
                weakest, least = arm, volume
        elif strongest < 0 or volume > most:
            strongest, most = arm, volume
    return queue_second(search, weakest, strongest)
