"""Studies in a SQL database: what is asked of a store, in terms of rows.

A change of a study is one transaction:

    row, now = store.begin(study_id, write=True)   nobody else can change this study now
    store.read_observations(study_id, known)       what others added since
    store.read_pulls(study_id, now, revision)      what others changed since
    store.write(row._replace(...), changes, place)
    store.commit()                                 or rollback(), always one of the two

The caller makes sure that one thread uses a store at a time.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

from ramgape.errors import StorageError, UnknownStudy, shorten
from ramgape.storage.database import WALL_CLOCK, Columns, Database
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
from ramgape.storage.seals import seal, seal_study

ENDED = 0.0  # a lease of another time
CHUNK = 5_000  # observations that are in memory at a time


class SqlStore:
    """A database with studies; made by `open_store`."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._statements = database.statements

    @property
    def url(self) -> str:
        """Where it is, without a password."""
        return self._database.url.shown

    def close(self) -> None:
        """Close the connection."""
        self._database.close()

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
            # The id, which the database has chosen, is sealed with the rest.
            found = database.execute(self._statements.find_study, (name,)).fetchone()
            row = StudyRow._make(found[:-1])
            database.execute(self._statements.update_study, (*row[5:], seal_study(row), row.id))
            database.commit()
            return row
        finally:
            database.rollback()

    def find_study(self, name: str) -> StudyRow | None:
        """The study of that name, if there is one."""
        row = self._database.execute(self._statements.find_study, (name,)).fetchone()
        return None if row is None else self._study(row)

    def _study(self, row: Sequence[Any]) -> StudyRow:
        """A study whose seal is unbroken."""
        found = StudyRow._make(row[:-1])
        if seal_study(found) != row[-1]:
            self._refuse(f"the row of study {shorten(found.name)}")
        return found

    def _refuse(self, what: str) -> NoReturn:
        raise StorageError(
            f"{self.url} is damaged: {what} is not what was written; restore a copy of it, "
            "`ramgape storage check` tells what else is wrong"
        )

    def list_studies(self) -> list[tuple[StudyRow, int]]:
        """All studies by name, each with the number of its pulls under way."""
        rows = self._database.execute(self._statements.list_studies).fetchall()
        # Sorted here: databases have their own ideas of the alphabet.
        return sorted(((self._study(row[:-1]), row[-1]) for row in rows), key=lambda pair: pair[0].name)

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
                raise UnknownStudy(f"the study must still be in {self.url}, got one that was deleted meanwhile")
            return self._study(row), now
        except BaseException:
            self._database.rollback()
            raise

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
            rows = self._database.execute(self._statements.pulls, (study_id,))
        else:
            rows = self._database.execute(self._statements.changed_pulls, (study_id, since))
        return [self._pull(row, now) for row in rows]

    def _pull(self, row: Sequence[Any], now: Moment) -> PullRow:
        """A pull whose seal is unbroken, with its lease by our clock."""
        *values, clock, sealed = row
        found = PullRow._make(values)
        found = found._replace(given_up=bool(found.given_up), answer_failed=bool(found.answer_failed))
        if seal((*found, clock)) != sealed:
            self._refuse(f"the row of pull {found.number}")
        ours = self._database.clock
        if clock == ours or found.lease_until == math.inf:
            return found
        if clock == WALL_CLOCK:  # of an older version
            return found._replace(lease_until=found.lease_until - now.time + now.clock)
        return found._replace(lease_until=ENDED)  # the machine was started anew, and whoever had it is gone

    def read_answered(self, study_id: int, start: int) -> list[int]:
        """The numbers of the pulls that are answered by observations from a place on."""
        return [row[0] for row in self._database.execute(self._statements.answered, (study_id, start))]

    def read_batches(self, study_id: int, start: int) -> list[BatchRow]:
        """The batches that begin at a place or later."""
        return [BatchRow._make(row) for row in self._database.execute(self._statements.batches, (study_id, start))]

    def read_answer(self, study_id: int, number: int) -> AnswerRow | None:
        """The answer to a pull, if there is one."""
        row: Any = self._database.execute(self._statements.answer, (study_id, number)).fetchone()
        return None if row is None else AnswerRow(row[0], row[1], bool(row[2]), row[3])

    def iterate_observations(self, study_id: int) -> Iterator[ObservationRow]:
        """All observations in order, a few thousand at a time in memory."""
        start = 0
        while True:
            rows = self._database.execute(self._statements.observations, (study_id, start, start + CHUNK)).fetchall()
            for row in rows:
                yield ObservationRow._make((*row[:4], bool(row[4]), *row[5:]))
            if len(rows) < CHUNK:
                return
            start += CHUNK

    def read_failures(self, study_id: int) -> list[FailureRow]:
        """The failed attempts by pull and attempt."""
        return [FailureRow._make(row) for row in self._database.execute(self._statements.failures, (study_id,))]

    def add_observations(self, study_id: int, rows: list[ObservationRow], place: int) -> None:
        """Write observations, the first of which gets this place; `write`, with their counters, follows."""
        placed = [(study_id, at, *seen) for at, seen in enumerate(rows, place)]
        self._database.execute_many(self._statements.insert_observation, placed)

    def write(self, row: StudyRow, changes: Changes, place: int) -> None:
        """Write the counters of a study and what changed in it; the first new observation gets this place."""
        with self._database.batch():
            updated = self._database.execute(self._statements.update_study, (*row[5:], seal_study(row), row.id))
            self._write_changes(row, changes, place)
        if updated.rowcount != 1:
            raise UnknownStudy(f"the study must still be in {self.url}, got one that was deleted meanwhile")

    def _write_changes(self, row: StudyRow, changes: Changes, place: int) -> None:
        database, statements, study = self._database, self._statements, row.id
        if changes.answered_pulls:
            database.execute_many(statements.delete_pull, [(study, number) for number in changes.answered_pulls])
        if changes.observations:
            self.add_observations(study, changes.observations, place)
        if changes.changed_pulls:
            changed = [(*self._sealed(pull, row)[1:], study, pull.number) for pull in changes.changed_pulls]
            database.execute_many(statements.update_pull, changed)
        if changes.new_pulls:
            new = [(study, *self._sealed(pull, row)) for pull in changes.new_pulls]
            database.execute_many(statements.insert_pull, new)
        if changes.failures:
            database.execute_many(statements.insert_failure, [(study, *failure) for failure in changes.failures])
        if changes.batches:
            database.execute_many(statements.insert_batch, [(study, *batch) for batch in changes.batches])

    def _sealed(self, pull: PullRow, row: StudyRow) -> tuple[Any, ...]:
        clock = self._database.clock
        return *pull, clock, seal((*pull, clock)), row.revision
