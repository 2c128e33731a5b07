"""The compiled loop over rounds: choose an arm, draw a reward, learn from it, ask whether that is enough.

Ask and tell take the same steps with the same functions, one call at a time, in `ramgape.engine`.
"""

from __future__ import annotations

from ramgape.core.kernel import kernel
from ramgape.core.statistics import least_pulled


@kernel
def advance(draw, learn, compare, decide, stop, arms, searches, problems, parameters, values, generator, count):
    """Simulate up to `count` pulls; fewer if the stopping rule speaks. Returns how many were made."""
    search, problem = searches[0], problems[0]
    for pull in range(count):
        arm = decide(arms, search, problem) if search.ready else least_pulled(arms)
        reward = draw(parameters, values, arm, generator)
        learn(arms, search, problem, arm, reward)
        compare(arms, search, problem, arm)
        if search.ready and stop(arms, search, problem):
            search.stopped = 1
            return pull + 1
    return count
