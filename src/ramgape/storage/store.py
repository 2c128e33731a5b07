"""Studies in a SQL database: what is asked of a store, in terms of rows.

`protocol` says when each of its methods is called.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ramgape.errors import StorageUnavailable, deleted_meanwhile
from ramgape.storage.checksums import FIXED, open_rows, with_checksum
from ramgape.storage.database import WALL_CLOCK, Columns, Database
from ramgape.storage.records import (
    KEPT,
    AnswerRow,
    BatchRow,
    Changes,
    FailureRow,
    Moment,
    ObservationRow,
    PullRow,
    RequestRow,
    SnapshotRow,
    StudyRow,
)

ENDED = 1e-9  # a lease of another time: it ran out, and was not given back


class SqlStore:
    """A database with studies; made by `open_store`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._statements = database.statements
        self._last: tuple[Sequence[Any], Any] = (), None  # the row of a study as the database has it, and its record

    @property
    def url(self) -> str:
        """Where it is, without a password."""
        return self._database.url.shown

    def close(self) -> None:
        """Close the connection."""
        self._database.close()

    def interrupt(self) -> None:
        """Have whoever waits for a lock wait no longer; to be called from any thread."""
        self._database.interrupt()

    def integrity(self) -> list[str]:
        """What is wrong with the database itself, in words."""
        return self._database.integrity()

    def create_study(self, name: str, key: str, specification: str, created_at: float) -> StudyRow | None:
        """A new study, or None if the name is taken."""
        database = self._database
        values = StudyRow(0, name, key, specification, created_at)[1:]
        try:
            database.begin(write=True)
            try:
                database.run(database.ready(), self._statements.insert_study, (*values, 0))
            except database.failures as error:
                if database.is_duplicate(error):
                    return None
                database.complain(error)
            # The checksum covers the id, which the database has chosen.
            found = database.execute(self._statements.find_study, (name,)).fetchone()
            row = StudyRow._make(found[:-1])
            database.execute(self._statements.update_study, (*with_checksum(row)[FIXED:], row.id))
            database.commit()
            return row
        finally:
            database.rollback()

    def find_study(self, name: str) -> StudyRow | None:
        """The study of that name, if there is one."""
        rows = self._database.fetch(self._statements.find_study, (name,))
        return open_rows(StudyRow, rows, self.url)[0] if rows else None

    def list_studies(self) -> list[tuple[StudyRow, int]]:
        """All studies by name, each with the number of its pulls under way."""
        rows = self._database.fetch(self._statements.list_studies)
        studies = open_rows(StudyRow, (row[:-1] for row in rows), self.url)
        # Sorted here: databases have their own ideas of the alphabet.
        return sorted(zip(studies, (row[-1] for row in rows), strict=True), key=lambda pair: pair[0].name)

    def study_names(self) -> list[str]:
        """The names of all studies, in order, whatever else of them can be read."""
        return sorted(str(row[0]) for row in self._database.fetch(self._statements.names))

    def count_pending(self, study_id: int) -> int:
        """How many pulls of a study are under way."""
        return int(self._database.fetch(self._statements.count_pending, (study_id,))[0][0])

    def delete_study(self, name: str) -> bool:
        """Delete a study with everything that belongs to it; whether there was one."""
        database = self._database
        try:
            database.begin(write=True)
            deleted = database.execute(self._statements.delete_study, (name,)).rowcount
            database.commit()
        finally:
            database.rollback()
        return bool(deleted)

    def begin(self, study_id: int, write: bool) -> tuple[StudyRow, Moment]:
        """Begin a transaction: the study as it is, and the present moment.

        With `write`, nobody else can change the study until commit or rollback.
        """
        try:
            row, now = self._database.begin_on(study_id, write)
            if row is None:
                raise deleted_meanwhile(self.url)
            if self._last[0] != row:
                self._last = row, open_rows(StudyRow, [row], self.url)[0]
        except BaseException:
            self._database.rollback()
            raise
        return self._last[1], now

    def commit(self) -> None:
        """Make the changes last."""
        self._database.commit()

    def rollback(self) -> None:
        """Forget the changes; does no harm when there is nothing to forget."""
        self._database.rollback()

    def read_observations(self, study_id: int, start: int, stop: int | None = None) -> Columns:
        """Arms and rewards of the observations from one place to before another, in order."""
        return self._database.read_columns(study_id, start, stop)

    def read_pulls(self, study_id: int, now: Moment, since: int | None = None) -> list[PullRow]:
        """The open pulls by number, or in any order those of them that have changed since a revision."""
        if since is None:
            rows = self._database.fetch(self._statements.pulls, (study_id,))
        else:
            rows = self._database.fetch(self._statements.changed_pulls, (study_id, since))
        pulls = open_rows(PullRow, (row[:-1] for row in rows), self.url)
        return [self._by_our_clock(pull, row[-1], now) for pull, row in zip(pulls, rows, strict=True)]

    def _by_our_clock(self, pull: PullRow, clock: str, now: Moment) -> PullRow:
        """A pull with its lease by our clock, from the one that it was given by."""
        if clock == self._database.clock or not ENDED < pull.lease_until < math.inf:
            return pull
        if clock == WALL_CLOCK:  # of an older version
            return pull._replace(lease_until=pull.lease_until - now.time + now.clock)
        return pull._replace(lease_until=ENDED)  # the machine was started anew, and whoever had it is gone

    def read_answered(self, study_id: int, start: int) -> list[int]:
        """The numbers of the pulls that are answered by observations from a place on."""
        return [row[0] for row in self._database.fetch(self._statements.answered, (study_id, start))]

    def read_batches(self, study_id: int, start: int) -> list[BatchRow]:
        """The batches that begin at a place or later."""
        return open_rows(BatchRow, self._database.fetch(self._statements.batches, (study_id, start)), self.url)

    def read_answer(self, study_id: int, number: int) -> AnswerRow | None:
        """The answer to a pull, if there is one."""
        rows = self._database.fetch(self._statements.answer, (study_id, number))
        return open_rows(ObservationRow, rows, self.url)[0].answer() if rows else None

    def read_rows(self, study_id: int, start: int, stop: int) -> list[ObservationRow]:
        """The observations from one place to before another, in order."""
        rows = self._database.fetch(self._statements.observations, (study_id, start, stop))
        return open_rows(ObservationRow, rows, self.url)

    def read_failures(self, study_id: int) -> list[FailureRow]:
        """The failed attempts by pull and attempt."""
        return open_rows(FailureRow, self._database.fetch(self._statements.failures, (study_id,)), self.url)

    def read_snapshot(self, study_id: int) -> SnapshotRow | None:
        """What the first observations of a study have led to, as it was last written down."""
        rows = self._database.fetch(self._statements.snapshot, (study_id,))
        return open_rows(SnapshotRow, rows, self.url)[0] if rows else None

    def save_snapshot(self, study_id: int, snapshot: SnapshotRow) -> None:
        """Write a snapshot in place of the last one, in a transaction of its own."""
        database, values = self._database, (study_id, *with_checksum(snapshot))  # computed before others have to wait
        try:
            database.begin(write=True)
            database.execute(self._statements.delete_snapshot, (study_id,))
            database.execute(self._statements.insert_snapshot, values)
            database.commit()
        finally:
            database.rollback()

    def read_request(self, study_id: int, key: str) -> RequestRow | None:
        """The request of that key, if it is kept."""
        rows = self._database.fetch(self._statements.request, (study_id, key))
        return open_rows(RequestRow, rows, self.url)[0] if rows else None

    def read_requests(self, study_id: int) -> list[RequestRow]:
        """All that are kept, the oldest first."""
        return open_rows(RequestRow, self._database.fetch(self._statements.requests, (study_id,)), self.url)

    def add_observations(self, study_id: int, rows: list[ObservationRow], place: int) -> None:
        """Write observations, the first of which gets this place; `write`, with their counters, follows."""
        placed = [(study_id, at, *with_checksum(seen)) for at, seen in enumerate(rows, place)]
        self._database.execute_many(self._statements.insert_observation, placed)

    def write(self, row: StudyRow, changes: Changes, place: int) -> None:
        """Write the counters of a study and what changed in it; the first new observation gets this place."""
        self._last = with_checksum(row), row
        with self._database.batch():
            updated = self._database.execute(self._statements.update_study, (*self._last[0][FIXED:], row.id))
            if changes.specification is not None:
                self._database.execute(self._statements.update_specification, (changes.specification, row.id))
            touched, expected = self._write_changes(row, changes, place)
        if updated.rowcount != 1:
            raise deleted_meanwhile(self.url)
        if sum(each.rowcount for each in touched) != expected:
            raise StorageUnavailable(f"{self.url} has other pulls under way: was it restored from a copy? try again")

    def _write_changes(self, row: StudyRow, changes: Changes, place: int) -> tuple[list[Any], int]:
        """What came of the changes to pulls that should be there, and how many of them there were."""
        database, statements, study = self._database, self._statements, row.id
        own = database.clock, row.revision
        touched = []
        answered = {pull.number: (study, pull.number, pull.token) for pull in changes.answered_pulls}
        if answered:
            touched += database.execute_many(statements.delete_pull, list(answered.values()))
        if changes.observations:
            self.add_observations(study, changes.observations, place)
        changed = [
            (*with_checksum(pull)[1:], *own, study, pull.number, pull.token)
            for pull in changes.changed_pulls
            if pull.number not in answered
        ]
        if changed:
            touched += database.execute_many(statements.update_pull, changed)
        if changes.new_pulls:
            pulls = [(study, *with_checksum(pull), *own) for pull in changes.new_pulls]
            database.execute_many(statements.insert_pull, pulls)
        others: tuple[tuple[str, Sequence[tuple[Any, ...]]], ...] = (
            (statements.insert_failure, changes.failures),
            (statements.insert_batch, changes.batches),
            (statements.insert_request, changes.requests),
        )
        for statement, rows in others:
            if rows:
                database.execute_many(statement, [(study, *with_checksum(row)) for row in rows])
        if changes.requests:
            database.execute(statements.forget_requests, (study, changes.requests[-1].made_at - KEPT))
        return touched, len(answered) + len(changed)
