"""The order in which results count when several trials are in progress: the order of asking, over all arms.

Why this order. Trial n is for arm a_n, takes the time D_n and gives the reward X_n; D_n and X_n may depend on each
other in any way. Let F_n be everything about trials 1 to n: arms, times and rewards. Trial n is asked for at a moment,
and for an arm, that follow from earlier trials alone: a worker is free because of the times of earlier trials, and the
arm is chosen from results learned by then, all of earlier trials. So a_n is known given F_(n-1), and X_n is a new draw
from the distribution of arm a_n. If results are learned in the order 1, 2, 3, ..., what has been learned after n
results is a function of F_n. Every betting factor or confidence bound that multiplies or adds one term per reward then
has, at each step, the expectation that its proof needs, for one arm and for products over arms. Its proof holds at all
times at once, so it holds wherever the search stops. If results were learned as they come in, the n-th learned reward
would be the fastest of those in progress. Given that, it is no draw from the distribution of its arm: where bad
results are slow, the first ones learned are good ones. To keep the order within each arm is not enough: which arm's
results are ahead would still follow from rewards that are not learned yet, and products over two arms need both.

A trial that fails, is released, or whose lease expires is passed over, and its next attempt counts as asked for at that
moment. That moment follows from trials that were asked for earlier and from the failure itself, so the argument stands
if failing has nothing to do with the reward. Results say so where it matters (search/quality.py).
"""

from __future__ import annotations

import math
from bisect import bisect_left, insort

Place = tuple[int, float, int]  # trials asked for before, moves before, the trial's number


class AskingOrder:
    """Trials by their numbers: which are in progress, and which have results that wait for earlier trials."""

    def __init__(self) -> None:
        self._open: list[Place] = []
        self._held: list[Place] = []
        self.moved: dict[int, tuple[int, int]] = {}  # trials whose place is not that of their number
        self._last = (-1, -1)  # the last place that a trial was moved to

    @property
    def held(self) -> int:
        """How many results wait."""
        return len(self._held)

    @property
    def first(self) -> int | None:
        """The trial in progress that the results of later trials wait for; None if none waits."""
        return self._open[0][2] if self._open and self._held and self._open[0] < self._held[0] else None

    def restore(self, places: dict[int, tuple[int, int]]) -> None:
        """Take over the places of trials that another process has moved."""
        self.moved = places
        self._last = max(places.values(), default=(-1, -1))

    def _place(self, number: int) -> Place:
        asked, move = self.moved.get(number, (number, math.inf))
        return asked, move, number

    def enter(self, number: int, *, held: bool = False) -> None:
        """Note a trial that is in progress, or one whose result waits."""
        insort(self._held if held else self._open, self._place(number))

    def leave(self, number: int, *, held: bool = False) -> None:
        """Forget such a trial."""
        places = self._held if held else self._open
        del places[bisect_left(places, self._place(number))]

    def move(self, number: int, asked: int) -> None:
        """Give a trial that is not noted at present the place behind all that were asked for before now.

        Args:
            number: The trial.
            asked: How many trials were asked for so far: the number of the next one.
        """
        self._last = asked, self._last[1] + 1 if self._last[0] == asked else 0
        self.moved[number] = self._last

    def close(self, number: int) -> None:
        """Forget the place of a trial that counts."""
        self.moved.pop(number, None)

    def is_next(self, number: int) -> bool:
        """Whether no trial in progress has a place before this one."""
        return not self._open or self._open[0] >= self._place(number)

    def ready(self, everything: bool = False) -> list[int]:
        """The trials whose results need not wait any longer, in their order."""
        end = len(self._held) if everything or not self._open else bisect_left(self._held, self._open[0])
        return [number for *_, number in self._held[:end]]
