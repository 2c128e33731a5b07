"""How a study came to where it is: a few hundred moments of its past, kept also without subscribers.

Moments are noted after commits, evenly in the number of observations: when there are too many, every other one goes,
and from then on they are noted half as often. What was before the study was opened here is learnt again, apart from all
who work on it, from a connection of its own.
"""

from __future__ import annotations

import threading
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramgape.search.engine import Engine
from ramgape.studies.session import StudySession
from ramgape.studies.state import StudyState
from ramgape.web.snapshot import short

MOST = 800  # moments
SHOWN = 8  # arms whose shares are told apart
GAPS = 4  # times the usual distance of two moments: then something was missed
SMALLEST = 50  # observations that are missed, to be worth learning everything again


class Past(NamedTuple):
    """What was known at one moment.

    Attributes:
        samples: Observations.
        doubt, unproved: As in `HistoryPoint`.
        pulls, spent: Of each arm.
    """

    samples: int
    doubt: float
    unproved: int | None
    pulls: NDArray[np.int64]
    spent: NDArray[np.float64] | None


def moment_of(engine: Engine) -> Past:
    """The present one."""
    return Past(engine.samples, engine.doubt, engine.unproved, engine.arms["pulls"].copy(), engine.spending)


class History:
    """The moments of one study; threads may note, read and recall at the same time."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._moments: list[Past] = []
        self._step = 1  # observations between two moments
        self._arms: tuple[str, ...] = ()
        self.recalled = False  # whether what was before has been looked for
        self._recalled_to = 0  # observations: what is missing before that, as within a batch, is not to be had

    def is_due(self, engine: Engine) -> bool:
        """Whether to note where a search is.

        Args:
            engine: The search.
        """
        last = self._moments[-1].samples if self._moments and self._arms == engine.spec.names else -1
        return engine.ready and not 0 <= engine.samples - last < (1 if engine.stopped else self._step)

    def note(self, engine: Engine) -> None:
        """Note the present moment, if that is due. It only looks.

        Args:
            engine: Of the study, which must not change meanwhile.
        """
        if not self.is_due(engine):
            return
        with self._lock:
            last = self._moments[-1].samples if self._moments else 0
            if self._arms != engine.spec.names or last > engine.samples:  # other arms, or a store that was restored
                self._arms, self._moments, self.recalled, self._recalled_to = engine.spec.names, [], False, 0
            self._moments.append(moment_of(engine))
            self._thin()

    @property
    def has_gaps(self) -> bool:
        """Whether other processes wrote much between two moments."""
        with self._lock:
            told = [moment.samples for moment in self._moments if moment.samples >= self._recalled_to]
        far = max(GAPS * self._step, SMALLEST)
        return not self.recalled or any(after - before > far for before, after in pairwise(told))

    @property
    def least(self) -> float | None:
        """The least doubt so far."""
        with self._lock:
            known = [moment.doubt for moment in self._moments if np.isfinite(moment.doubt)]
        return min(known, default=None)

    def recall(self, session: StudySession) -> None:
        """Learn all observations again, and note what was missed. It takes long, so it runs in the background.

        Args:
            session: The same study, opened for this alone: with a connection of its own.
        """
        past = remembered_moments(session)
        with self._lock:
            names = session.spec.present.names
            end = past[-1].samples if past else 0
            later = [each for each in self._moments if self._arms == names and each.samples > end]
            self._arms, self._moments, self.recalled, self._recalled_to = names, [*past, *later], True, end
            self._step = max(self._step, end // MOST + 1)
            self._thin()

    def _thin(self) -> None:
        while len(self._moments) > MOST:
            self._moments = [*self._moments[:-1:2], self._moments[-1]]
            self._step *= 2

    def to_dict(self, points: int) -> dict[str, Any]:
        """At most so many moments, in columns; of the arms those with the most trials, and all others together.

        Args:
            points: How many.
        """
        with self._lock:
            moments, names, complete = list(self._moments), self._arms, self.recalled
        if len(moments) > points:
            places = np.unique(np.linspace(0, len(moments) - 1, points).round().astype(int))
            moments = [moments[place] for place in places]
        largest = np.argsort(-moments[-1].pulls, kind="stable")[:SHOWN].tolist() if moments else []
        paid = bool(moments) and moments[-1].spent is not None
        return {
            "complete": complete,
            "told": [moment.samples for moment in moments],
            "doubt": [short(moment.doubt, 5) for moment in moments],
            "unproved": [moment.unproved for moment in moments],
            "arms": [names[arm] for arm in largest],
            "pulls": [shares_of(moment.pulls, largest) for moment in moments],
            "spent": [shares_of(moment.spent, largest) for moment in moments] if paid else None,
        }


def shares_of(amounts: NDArray[Any] | None, largest: list[int]) -> list[float | int] | None:
    """The amounts of some arms, and of all others together, in few digits."""
    if amounts is None:
        return None
    some = [amount.item() for amount in amounts[largest]]
    rest = amounts.sum().item() - sum(some)
    return [short(each, 6) or 0.0 if isinstance(each, float) else each for each in (*some, rest)]


def remembered_moments(session: StudySession) -> list[Past]:
    """The moments of all observations before the end, evenly spaced; those that came as one batch are one step."""
    row, _ = session.store.begin(session.row.id, write=False)
    try:
        seen, batches = session._read(row, 0), session.store.read_batches(row.id, 0)
    finally:
        session.store.rollback()
    state = StudyState(session.spec, row)
    engine, past = state.engine, list[Past]()
    count = len(seen.arms) if row.stopped_at is None else row.stopped_at
    step, start = max(count // (MOST // 2), 1), 0
    for place, size in [*((batch.place, batch.size) for batch in batches if batch.place < count), (count, 0)]:
        for first in range(start, place, step):
            state.learn_many(seen.part(first, min(first + step, place)), may_stop=False)
            if engine.ready:
                past.append(moment_of(engine))
        start = place + size
        if size:
            state.add_up(seen.part(place, start))
            engine.look(may_stop=False)
            if engine.ready:
                past.append(moment_of(engine))
    return past
