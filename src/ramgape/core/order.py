"""Who dominates whom, kept up to date by keeping the arms in order of each objective.

A pull moves one arm a little. Only the arms that it meets on its way, in any order, can gain or lose a dominance;
mostly there are none. Before the first comparison all arms stand at the same point, where none dominates another, and
each is moved from there to its estimates.
"""

from __future__ import annotations

import numpy as np

from ramgape.core.kernel import inlined, kernel


@kernel
def update_dominance(arms, changed):
    """Count dominators anew after one arm has moved; tells how often an arm entered or left the front on the way.

    The arm moves in one objective after the other, so that an arm met in several is counted once in each.
    """
    row = arms[changed]
    crossings = 0
    for objective in range(len(row.estimate)):
        value = row.estimate[objective]
        if value != row.seen[objective]:
            crossings += move(arms, changed, objective, value)
    return crossings


@kernel
def move(arms, changed, objective, value):
    """Move an arm to its new place in one order and meet the arms on the way."""
    row = arms[changed]
    former = row.seen[objective]
    step = 1 if value > former else -1
    crossings = 0
    place = row.place[objective] - step
    while 0 <= place < len(arms) and arms[arms[place].order[objective]].seen[objective] == former:
        crossings += meet(arms, changed, arms[place].order[objective], objective, value)  # level with where it was
        place -= step
    place = row.place[objective] + step
    while 0 <= place < len(arms):
        index = arms[place].order[objective]
        seen = arms[index].seen[objective]
        if (value < seen) if step > 0 else (value > seen):
            break
        crossings += meet(arms, changed, index, objective, value)  # reached or passed
        arms[place - step].order[objective] = index
        arms[index].place[objective] = place - step
        place += step
    arms[place - step].order[objective] = changed
    row.place[objective] = place - step
    row.seen[objective] = value
    return crossings


@kernel
def meet(arms, changed, index, objective, value):
    """The changed arm comes level with another, passes it or leaves it behind in one objective.

    That matters only if one of the two is ahead in all other objectives; in one objective alone, both are.
    """
    row, other = arms[changed], arms[index]
    before, after, there = row.seen[objective], value, other.seen[objective]
    crossings = 0
    if (before > there) != (after > there) and is_ahead_elsewhere(row, other, objective):
        if after > there:
            other.dominators += 1
            crossings += other.dominators == 1
        else:
            other.dominators -= 1
            if other.rival == changed:
                other.doubt = np.inf
                other.exact = 0
            crossings += other.dominators == 0
    if (before < there) != (after < there) and is_ahead_elsewhere(other, row, objective):
        if after < there:
            row.dominators += 1
            crossings += row.dominators == 1
        else:
            row.dominators -= 1
            crossings += row.dominators == 0
    return crossings


@inlined
def is_ahead_elsewhere(row, other, objective):
    """Whether an arm was last seen ahead of another in all objectives but this one."""
    for each in range(len(row.estimate)):
        if each != objective and not row.seen[each] > other.seen[each]:
            return False
    return True
