"""A store that lasts as long as the process: what a study without storage uses."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from ramgape.storage.records import (
    AnswerRow,
    BatchRow,
    Changes,
    FailureRow,
    Moment,
    ObservationRow,
    PullRow,
    StudyRow,
)


def present() -> Moment:
    """The present moment; tests have their own."""
    return Moment(time.time(), time.monotonic())


class MemoryStore:
    """One study in memory."""

    url = "memory"

    def __init__(self, row: StudyRow) -> None:
        self.row = row
        self._pulls: dict[int, PullRow] = {}
        self._observations: list[ObservationRow] = []
        self._places: dict[int, int] = {}  # of the answer to a pull
        self._failures: list[FailureRow] = []
        self._batches: list[BatchRow] = []

    def begin(self, study_id: int, write: bool) -> tuple[StudyRow, Moment]:
        """The study and the time."""
        return self.row, present()

    def read_observations(
        self, study_id: int, start: int, stop: int | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Arms and rewards, in order."""
        rows = self._observations[start:stop]
        return np.array([row.arm for row in rows], np.int64), np.array([row.reward for row in rows], np.float64)

    def read_pulls(self, study_id: int, now: Moment, since: int | None = None) -> list[PullRow]:
        """The open ones."""
        return list(self._pulls.values())

    def read_answered(self, study_id: int, start: int) -> list[int]:
        """The numbers of the pulls that are answered by observations from a place on."""
        return [row.number for row in self._observations[start:] if row.number is not None]

    def read_batches(self, study_id: int, start: int) -> list[BatchRow]:
        """The batches that begin at a place or later."""
        return [batch for batch in self._batches if batch.place >= start]

    def read_answer(self, study_id: int, number: int) -> AnswerRow | None:
        """The answer to a pull."""
        place = self._places.get(number)
        return None if place is None else self._observations[place].answer()

    def read_rows(self, study_id: int, start: int, stop: int) -> list[ObservationRow]:
        """Whole observations, in order."""
        return self._observations[start:stop]

    def read_failures(self, study_id: int) -> list[FailureRow]:
        """All, in order."""
        return list(self._failures)

    def add_observations(self, study_id: int, rows: list[ObservationRow], place: int) -> None:
        """Keep observations, the first of which has this place. What is there already was never committed."""
        for number, observation in enumerate(rows, start=place):
            if observation.number is not None:
                self._places[observation.number] = number
        self._observations[place:] = rows

    def write(self, row: StudyRow, changes: Changes, place: int) -> None:
        """Keep what has changed. The row comes last: until then, after an interrupt, nothing has happened."""
        for pull in (*changes.new_pulls, *changes.changed_pulls):
            self._pulls[pull.number] = pull
        for pull in changes.answered_pulls:
            self._pulls.pop(pull.number, None)
        if changes.observations:
            self.add_observations(row.id, changes.observations, place)
        if changes.failures:
            self._failures += changes.failures
        if changes.batches:
            self._batches += changes.batches
        self.row = row

    def commit(self) -> None:
        """Nothing to do: it is all there."""

    def rollback(self) -> None:
        """Forget what was added to a study whose row was not written: an interrupt may have come in between."""
        told = self.row.told
        if len(self._observations) > told:
            del self._observations[told:]
            self._places = {number: place for number, place in self._places.items() if place < told}
        del self._failures[self.row.failed :]
        del self._batches[self.row.batches :]

    def close(self) -> None:
        """Nothing to do."""
