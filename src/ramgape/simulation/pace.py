"""How much of a plan can be simulated in plain Python: as many searches of each goal as fit into a minute.

With the compiler the work is bounded by numbers of trials, so that a plan is the same on every machine. Without it a
trial takes a thousand times as long, and the clock decides how many runs are made. Each run is still what its seed
makes it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from ramgape.search.simulator import has_compiler
from ramgape.search.spec import Spec
from ramgape.simulation.forecast import PullForecast, Quality
from ramgape.simulation.replication import Replication

SECONDS = 40.0  # for all simulations of a plan: what a run takes too long, and the rest of a plan, come on top
LONGEST = 8.0  # seconds of one run
HOPELESS = 2  # runs of a goal that all gave up: others would, too
FASTER = 'pip install "ramgape[fast]"'

Goal = TypeVar("Goal")
Make = Callable[[int, int], Replication]  # runs of one goal: from which one on, and how many


class Pace:
    """Counts the seconds from now on, and shares them out among goals; the chosen one gets as much as all others."""

    def __init__(self) -> None:
        self._until = time.perf_counter() + SECONDS

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return max(self._until - time.perf_counter(), 0.0)

    @property
    def is_half_over(self) -> bool:
        """Whether what is left is for more runs of goals that have some."""
        return self.left < SECONDS / 2

    def shares(self, goals: Sequence[Goal], chosen: Goal) -> Iterator[tuple[Goal, float]]:
        """Each of these goals, and the seconds it gets: what others have left over is part of them."""
        parts = [len(goals) if goal == chosen else 1 for goal in goals]
        for place, goal in enumerate(goals):
            yield goal, self.left * parts[place] / sum(parts[place:])


def is_limited() -> bool:
    """Whether the clock decides how many runs are made."""
    return not has_compiler()


def within_time(seconds: float, most: int, make: Make, found: Replication | None = None) -> Replication:
    """As many runs of a goal as these seconds allow, one at least, beside those that were made before."""
    begun, before = time.perf_counter(), 0 if found is None else len(found.runs)
    each = 0.0 if found is None else found.seconds / before
    if found is None:
        found = make(0, 1)
    while (made := len(found.runs)) < most and (found.ended_count or made < HOPELESS):
        taken = time.perf_counter() - begun
        each = taken / (made - before) if made > before else each
        affordable = (seconds - taken) / max(each, 1e-6)
        if affordable < 1.0:
            break
        wanted = math.ceil(affordable / 2.0) if found.ended_count else HOPELESS - made
        more = make(made, min(wanted, most - made))
        found = replace(found, runs=found.runs + more.runs, seconds=found.seconds + more.seconds)
    return found


def pilot_pulls(spec: Spec) -> int:
    """Trials by which the time of a trial is measured: some beyond those with which every search begins."""
    return spec.initial_trials * len(spec.names) + 200


def longest_run(per_pull: float, most: int) -> int:
    """After how many trials a run gives up: 1, 2 or 5 times a power of 10, so that it depends little on the machine.

    >>> longest_run(0.001, 1_000_000), longest_run(0.0015, 1_000_000), longest_run(0.001, 300)
    (5000, 5000, 300)
    """
    affordable = LONGEST / per_pull
    scale = 10.0 ** math.floor(math.log10(affordable))
    return min(most, int(max(factor * scale for factor in (1, 2, 5) if factor * scale <= affordable)))


def precision_words(chosen: PullForecast | Quality, wanted: int, max_trials: int) -> str:
    """What a plan without the compiler could not do, and how well the answer is known all the same."""
    made = f"{chosen.runs:,} of {wanted:,} searches of the chosen goal"
    if isinstance(chosen, Quality):
        error, known = (
            chosen.regret_stderr,
            f"; the regret is known up to {1.96 * (chosen.regret_stderr or 0.0):.2g} (95%)",
        )
    elif chosen.mean is None:
        error, known = 1.0, f"; searches gave up after {max_trials:,} trials"
    else:
        error, known = (
            chosen.stderr,
            f"; the mean is known up to {1.96 * (chosen.stderr or 0.0) / chosen.mean:.0%} (95%)",
        )
    if not error:  # of one run, or of runs that all came out alike
        known = "; one search does not say how much others differ" if chosen.runs < 2 else ""
    return f"without Numba a plan simulates for {SECONDS:g} seconds: {made}{known}; {FASTER} makes more"
