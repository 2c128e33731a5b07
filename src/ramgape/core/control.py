"""The arms that are better than a control: each is compared with that one alone.

With [L_i, U_i] where the mean of an arm may be and 0 for the control, an arm is in the answer where that is nearer to
being proved: it is in doubt by U_0 + margin - L_i inside, and by U_i - L_0 - margin outside. Where it must be better in
risk as well, an arm inside is in doubt by the greater of the two objectives' doubts, an arm outside by the smaller.
Both arms take part in every term, so that pulls of the two make all of them fall. The control itself is never in doubt.

    task_parameters    the control's number; the margin, of the mean; 1 if the risk counts as well
"""

from __future__ import annotations

import math

from ramgape.core.doubt import follow, has_begun
from ramgape.core.kernel import inlined, kernel
from ramgape.core.scores import highest_score, lowest_score, seen_score


@inlined
def seems_better(row, control, margin, both):
    """By the estimates."""
    ahead = seen_score(row, 1.0, 0.0) > seen_score(control, 1.0, 0.0) + margin
    return ahead and (not both or seen_score(row, 0.0, 1.0) > seen_score(control, 0.0, 1.0))


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
        row.in_front = inside < outside or (inside == outside and seems_better(row, control, margin, both))
        row.doubt = inside if row.in_front else outside
        if (
            leader < 0
            or row.doubt > arms[leader].doubt
            or (row.doubt == arms[leader].doubt and row.average > arms[leader].average)
        ):
            leader = arm
    follow(arms, search, problem, leader, arms[leader].doubt)
