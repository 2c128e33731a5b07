"""How a search went: what was known at a few points on its way, noted while it goes on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ramgape.core.pareto import Floats
from ramgape.search.history_point import HistoryPoint
from ramgape.search.units import user_rewards

if TYPE_CHECKING:
    from ramgape.search.engine import Engine

MOST_ARMS = 200  # of more arms only what is known of all together is noted
OFTEN, SELDOM = 16, 10  # points from one number of pulls to about three times as many
COLUMNS = ("pulls", "average", "mean_low", "mean_high")


class Recorder:
    """Notes points of a search, the farther apart the more pulls there are: a few hundred at most, and cheaply.

    It only looks. Nothing is decided by it.
    """

    def __init__(self, engine: Engine, often: int = OFTEN) -> None:
        self.engine, self._often = engine, often
        self._due = 0
        self._noted: list[tuple[int, float, int | None, Floats]] = []

    def note(self) -> None:
        """Note where the search is, if that is due and every arm has its first pulls."""
        if self.engine.samples >= self._due and self.engine.ready:
            self._take()

    @property
    def pulls_until_next(self) -> int:
        """After how many trials a point may be due, for callers that make many at once."""
        return max(self._due - self.engine.samples, 1) if self.engine.ready else len(self.engine.spec.names)

    def points(self) -> tuple[HistoryPoint, ...]:
        """All of them, in the user's units; the last is the present one."""
        engine = self.engine
        if engine.ready and (not self._noted or self._noted[-1][0] < engine.samples):
            self._take()
        if not self._noted:
            return ()
        shown: Any = zip(*(map(tuple, column.tolist()) for column in self._shown()), strict=True)
        return tuple(
            HistoryPoint(samples, doubt, unproved, *columns)
            for (samples, doubt, unproved, _), columns in zip(self._noted, shown, strict=True)
        )

    def _take(self) -> None:
        engine, samples = self.engine, self.engine.samples
        self._due = samples + max(1, samples // self._often)
        few = len(engine.spec.names) <= MOST_ARMS
        columns = np.array([engine.arms[name] for name in COLUMNS]) if few else np.empty((len(COLUMNS), 0))
        self._noted.append((samples, engine.doubt, engine.unproved, columns))

    def _shown(self) -> tuple[NDArray[Any], ...]:
        """Pulls, means and intervals, a row for each point; the widths of a fixed budget are no intervals."""
        spec = self.engine.spec
        pulls, means, low, high = np.array([columns for *_, columns in self._noted]).swapaxes(0, 1)
        unknown = (low > high) | (spec.goal == "budget")
        ends = [user_rewards(spec, end) for end in ((high, low) if spec.direction == "minimize" else (low, high))]
        return pulls.astype(int), user_rewards(spec, means), *(np.where(unknown, np.nan, end) for end in ends)
