"""A store that lasts as long as the process: what a study without storage uses."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ramgape.errors import StorageError, StorageUnavailable, deleted_meanwhile
from ramgape.storage import records


def present() -> records.Moment:
    """The present moment; tests have their own."""
    return tuple.__new__(records.Moment, (time.time(), time.monotonic()))  # as records.Moment(...), in half the time


@dataclass(slots=True)
class StudyRows:
    """All that is kept of one study."""

    row: records.StudyRow
    pulls: dict[int, records.PullRow] = field(default_factory=dict)
    observations: list[records.ObservationRow] = field(default_factory=list)
    places: dict[int, int] = field(default_factory=dict)  # of the answer to a pull
    failures: list[records.FailureRow] = field(default_factory=list)
    batches: list[records.BatchRow] = field(default_factory=list)
    snapshot: records.SnapshotRow | None = None
    requests: dict[str, records.RequestRow] = field(default_factory=dict)  # the oldest first


class MemoryStore:
    """Studies in memory, for one user at a time: a transaction is what lies between a write and its commit."""

    url = "memory"

    def __init__(self) -> None:
        self._studies: dict[int, StudyRows] = {}
        self._ids = itertools.count(1)
        self._begun = 0  # the study of the transaction under way
        self._written: tuple[records.StudyRow, records.Changes] | None = None  # in it

    def create_study(self, name: str, key: str, specification: str, created_at: float) -> records.StudyRow | None:
        """A new study, or None if its name or its key is taken."""
        try:
            f"{name}{key}{specification}".encode()
        except UnicodeEncodeError:
            what, given = "a text for the store", "half a character"
            raise StorageError(what=what, allowed="valid Unicode", given=given) from None
        if any(name == each.row.name or key == each.row.key for each in self._studies.values()):
            return None
        row = records.StudyRow(next(self._ids), name, key, specification, created_at)
        self._studies[row.id] = StudyRows(row)
        return row

    def find_study(self, name: str) -> records.StudyRow | None:
        """The study of that name, if there is one."""
        return next((each.row for each in self._studies.values() if each.row.name == name), None)

    def list_studies(self) -> list[tuple[records.StudyRow, int]]:
        """All studies by name, each with the number of its pulls under way."""
        rows = sorted((each.row for each in self._studies.values()), key=lambda row: row.name)
        return [(row, self.count_pending(row.id)) for row in rows]

    def study_names(self) -> list[str]:
        """The names of all studies, in order."""
        return sorted(each.row.name for each in self._studies.values())

    def count_pending(self, study_id: int) -> int:
        """How many pulls of a study are under way."""
        return sum(not pull.given_up and pull.answer is None for pull in self._rows(study_id).pulls.values())

    def delete_study(self, name: str) -> bool:
        """Delete a study; whether there was one."""
        row = self.find_study(name)
        return row is not None and self._studies.pop(row.id, None) is not None

    def begin(self, study_id: int, write: bool) -> tuple[records.StudyRow, records.Moment]:
        """The study and the time."""
        study = self._studies.get(study_id)
        if study is None:
            raise deleted_meanwhile(self.url)
        self._begun = study_id
        return study.row, present()

    def read_observations(
        self, study_id: int, start: int, stop: int | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Arms and rewards, in order."""
        rows = self._rows(study_id).observations[start:stop]
        return np.array([row.arm for row in rows], np.int64), np.array([row.reward for row in rows], np.float64)

    def read_rows(self, study_id: int, start: int, stop: int) -> list[records.ObservationRow]:
        """Whole observations, in order."""
        return self._rows(study_id).observations[start:stop]

    def read_pulls(self, study_id: int, now: records.Moment, since: int | None = None) -> list[records.PullRow]:
        """The open ones."""
        return sorted(self._rows(study_id).pulls.values())

    def read_answered(self, study_id: int, start: int) -> list[int]:
        """The numbers of the pulls that are answered by observations from a place on."""
        return [row.number for row in self._rows(study_id).observations[start:] if row.number is not None]

    def read_batches(self, study_id: int, start: int) -> list[records.BatchRow]:
        """The batches that begin at a place or later."""
        return [batch for batch in self._rows(study_id).batches if batch.place >= start]

    def read_answer(self, study_id: int, number: int) -> records.AnswerRow | None:
        """The answer to a pull."""
        study = self._rows(study_id)
        place = study.places.get(number)
        if place is None:
            return None
        row = study.observations[place]
        return row.answer()

    def read_failures(self, study_id: int) -> list[records.FailureRow]:
        """All, in order."""
        return sorted(self._rows(study_id).failures, key=lambda each: (each.number, each.attempt))

    def read_snapshot(self, study_id: int) -> records.SnapshotRow | None:
        """The last one, if there is any."""
        return self._rows(study_id).snapshot

    def save_snapshot(self, study_id: int, snapshot: records.SnapshotRow) -> None:
        """Keep it in place of the last one."""
        self._rows(study_id).snapshot = snapshot

    def read_request(self, study_id: int, key: str) -> records.RequestRow | None:
        """The request of that key, if it is kept."""
        return self._rows(study_id).requests.get(key)

    def read_requests(self, study_id: int) -> list[records.RequestRow]:
        """All that are kept."""
        return list(self._rows(study_id).requests.values())

    def add_observations(self, study_id: int, rows: list[records.ObservationRow], place: int) -> None:
        """Keep observations, the first of which has this place. What is there already was never committed."""
        study = self._studies[study_id]
        study.observations[place:] = rows
        for at, observation in enumerate(rows, start=place):
            if observation.number is not None and study.places.setdefault(observation.number, at) != at:
                what = f"pull {observation.number}"
                raise StorageError(what=what, allowed="answered once", given="another answer")

    def write(self, row: records.StudyRow, changes: records.Changes, place: int) -> None:
        """Take down what has changed."""
        pulls = self._studies[row.id].pulls
        for pull in (*changes.changed_pulls, *changes.answered_pulls):
            if pull.number not in pulls or pulls[pull.number].token != pull.token:
                raise StorageUnavailable(f"{self.url} has other trials in progress; try again")
        if changes.observations:
            self.add_observations(row.id, changes.observations, place)
        self._written = row, changes

    def commit(self) -> None:
        """Keep it. The row comes last: until then, after an interrupt, nothing has happened."""
        if self._written is None:
            return
        row, changes = self._written
        study = self._studies[row.id]
        for pull in (*changes.new_pulls, *changes.changed_pulls):
            study.pulls[pull.number] = pull
        for pull in changes.answered_pulls:
            study.pulls.pop(pull.number, None)
        study.failures += changes.failures
        study.batches += changes.batches
        made = {each.key: each for each in changes.requests}
        study.row, self._written = row, None
        study.requests.update(made)
        for each in changes.requests[-1:]:
            _forget(study.requests, each.made_at - records.KEPT)

    def rollback(self) -> None:
        """Forget what was added to a study whose row was not written: an interrupt may have come in between."""
        self._written = None
        study = self._studies.get(self._begun)
        if study is None:
            return
        told = study.row.told
        if len(study.observations) > told:
            del study.observations[told:]
            study.places = {number: place for number, place in study.places.items() if place < told}
        del study.failures[study.row.failed :]
        del study.batches[study.row.batches :]

    def integrity(self) -> list[str]:
        """Nothing is ever wrong with it."""
        return []

    def close(self) -> None:
        """Nothing to do."""

    def _rows(self, study_id: int) -> StudyRows:
        return self._studies.get(study_id) or NONE


def _forget(requests: dict[str, records.RequestRow], time: float) -> None:
    """Those made before a time, which stand first."""
    while requests and (first := next(iter(requests.values()))).made_at < time:
        del requests[first.key]


NONE = StudyRows(records.StudyRow(0, "", "", "", 0.0))  # of a study that is not there
