"""A store that lasts as long as the process: what a study without storage uses."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from ramgape.storage.records import Changes, FailureRow, ObservationRow, PullRow, StudyRow

present = time.time  # tests have their own


class MemoryStore:
    """One study in memory."""

    url = "memory"

    def __init__(self, row: StudyRow) -> None:
        self.row = row
        self._pulls: dict[int, PullRow] = {}
        self._observations: list[ObservationRow] = []
        self._places: dict[int, int] = {}  # of the answer to a pull
        self._failures: list[FailureRow] = []

    def begin(self, study_id: int, write: bool) -> tuple[StudyRow, float]:
        """The study and the time."""
        return self.row, present()

    def read_observations(
        self, study_id: int, start: int, stop: int | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Arms and rewards, in order."""
        rows = self._observations[start:stop]
        return np.array([row.arm for row in rows], np.int64), np.array([row.reward for row in rows], np.float64)

    def read_pulls(self, study_id: int) -> list[PullRow]:
        """The open ones."""
        return list(self._pulls.values())

    def read_answer(self, study_id: int, number: int) -> tuple[int, float] | None:
        """Attempt and reward of the answer to a pull."""
        place = self._places.get(number)
        return None if place is None else (self._observations[place].attempt, self._observations[place].reward)

    def read_rows(self, study_id: int, start: int, stop: int) -> list[ObservationRow]:
        """Whole observations, in order."""
        return self._observations[start:stop]

    def read_failures(self, study_id: int) -> list[FailureRow]:
        """All, in order."""
        return list(self._failures)

    def write(self, row: StudyRow, changes: Changes, place: int) -> None:
        """Keep what has changed. The row comes last: until then, after an interrupt, nothing has happened."""
        for pull in (*changes.new_pulls, *changes.changed_pulls):
            self._pulls[pull.number] = pull
        for number in changes.answered_pulls:
            self._pulls.pop(number, None)
        if changes.observations:
            for number, observation in enumerate(changes.observations, start=place):
                if observation.number is not None:
                    self._places[observation.number] = number
            self._observations[place:] = changes.observations
        if changes.failures:
            self._failures += changes.failures
        self.row = row

    def commit(self) -> None:
        """Nothing to do: it is all there."""

    def rollback(self) -> None:
        """Nothing to do: nothing was written."""

    def close(self) -> None:
        """Nothing to do."""
