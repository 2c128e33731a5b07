"""The arms that are better than a control: each is compared with that one alone.

[L_i, U_i] is where the mean of an arm may be, and 0 is the control. An arm is "better" once U_0 + margin - L_i < 0, and
"not better" once U_i - L_0 - margin < epsilon. Its doubt is U_0 + margin - L_i + epsilon inside the answer and
U_i - L_0 - margin outside, so that below epsilon either verdict is proved; it is in the answer where that is nearer.
With a difference of d and intervals of width w the verdicts are due at w < d and w < epsilon - d. So for epsilon > 0
one of the two always comes, at w = epsilon / 2 at the latest. Where it must be better in risk as well, an arm inside
is in doubt by the greater of the two objectives' doubts, an arm outside by the smaller. Both arms take part in every
term, so that trials of the two make all of them fall. The control itself is never in doubt.

    task_parameters    the control's number; the margin, of the mean; 1 if the risk counts as well
"""

from __future__ import annotations

import math

from ramgape.core.doubt import follow, has_begun
from ramgape.core.kernel import inlined, kernel
from ramgape.core.scores import highest_score, lowest_score, seen_score


@inlined
def seems_better(row, control, margin, both, epsilon):
    """Whether estimates are nearer to "better" than to "not better", where intervals do not say."""
    ahead = seen_score(row, 1.0, 0.0) > seen_score(control, 1.0, 0.0) + margin + 0.5 * epsilon
    return ahead and (not both or seen_score(row, 0.0, 1.0) > seen_score(control, 0.0, 1.0) + 0.5 * epsilon)


@kernel
def compare_control(arms, memory, search, problem, changed):
    """Bring answer, doubts and leader up to date."""
    if not has_begun(arms, search, problem):
        return
    place, margin = int(problem.task_parameters[0]), problem.task_parameters[1]
    both = problem.task_parameters[2] > 0.0
    control, leader = arms[place], -1
    for arm in range(len(arms)):
        row = arms[arm]
        row.rival, row.exact = place, 1
        if arm == place:
            row.in_front, row.doubt = 0, -math.inf
            continue
        inside = highest_score(control, 1.0, 0.0) + margin - lowest_score(row, 1.0, 0.0)
        outside = highest_score(row, 1.0, 0.0) - lowest_score(control, 1.0, 0.0) - margin
        if both:
            inside = max(inside, highest_score(control, 0.0, 1.0) - lowest_score(row, 0.0, 1.0))
            outside = min(outside, highest_score(row, 0.0, 1.0) - lowest_score(control, 0.0, 1.0))
        inside += search.epsilon  # that an arm is better is proved without a tolerance
        row.in_front = inside < outside or (
            inside == outside and seems_better(row, control, margin, both, search.epsilon)
        )
        row.doubt = inside if row.in_front else outside
        if (
            leader < 0
            or row.doubt > arms[leader].doubt
            or (row.doubt == arms[leader].doubt and row.average > arms[leader].average)
        ):
            leader = arm
    follow(arms, search, problem, leader, arms[leader].doubt)
