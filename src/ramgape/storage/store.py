"""Studies in a SQL database: what is asked of a store, in terms of rows.

A change of a study is one transaction:

    row, now = store.begin(study_id, write=True)   nobody else can change this study now
    store.read_observations(study_id, known)       what others added since
    store.write(row._replace(...), changes, place)
    store.commit()                                 or rollback(), always one of the two

The caller makes sure that one thread uses a store at a time.
"""

from __future__ import annotations

from typing import NamedTuple

from ramgape.errors import UnknownStudy
from ramgape.storage.database import Columns, Database
from ramgape.storage.records import Changes, FailureRow, ObservationRow, PullRow, StudyRow
from ramgape.storage.rows import make_rows


class Answer(NamedTuple):
    """What was answered, and by which attempt."""

    attempt: int
    reward: float


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
                database.run(database.ready(), self._statements.insert_study, values)
            except database.failures as error:
                if database.is_duplicate(error):
                    return None
                database.complain(error)
            row = self.find_study(name)
            database.commit()
            return row
        finally:
            database.rollback()

    def find_study(self, name: str) -> StudyRow | None:
        """The study of that name, if there is one."""
        rows = self._database.fetch(self._statements.find_study, (name,))
        return make_rows(StudyRow, rows, self.url)[0] if rows else None

    def list_studies(self) -> list[tuple[StudyRow, int]]:
        """All studies by name, each with the number of its open pulls that are not given up."""
        rows = self._database.fetch(self._statements.list_studies)
        studies = make_rows(StudyRow, (row[:-1] for row in rows), self.url)
        # Sorted here: databases have their own ideas of the alphabet.
        return sorted(zip(studies, (row[-1] for row in rows), strict=True), key=lambda pair: pair[0].name)

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

    def begin(self, study_id: int, write: bool) -> tuple[StudyRow, float]:
        """Begin a transaction: the study as it is, and the present time.

        With `write`, nobody else can change the study until commit or rollback.
        """
        try:
            row, now = self._database.begin_on(study_id, write)
            if row is None:
                raise UnknownStudy(f"the study must still be in {self.url}, got one that was deleted meanwhile")
            (study,) = make_rows(StudyRow, [row], self.url)
        except BaseException:
            self._database.rollback()
            raise
        return study, now

    def commit(self) -> None:
        """Make the changes last."""
        self._database.commit()

    def rollback(self) -> None:
        """Forget the changes; does no harm when there is nothing to forget."""
        self._database.rollback()

    def read_observations(self, study_id: int, start: int, stop: int | None = None) -> Columns:
        """Arms and rewards of the observations from one place to before another, in order."""
        return self._database.read_columns(study_id, start, stop)

    def read_pulls(self, study_id: int) -> list[PullRow]:
        """The open pulls by number."""
        return make_rows(PullRow, self._database.fetch(self._statements.pulls, (study_id,)), self.url)

    def read_answer(self, study_id: int, number: int) -> tuple[int, float] | None:
        """Attempt and reward of the observation that answers a pull, if there is one."""
        rows = self._database.fetch(self._statements.answer, (study_id, number))
        return make_rows(Answer, rows, self.url)[0] if rows else None

    def read_rows(self, study_id: int, start: int, stop: int) -> list[ObservationRow]:
        """The observations from one place to before another, in order."""
        rows = self._database.fetch(self._statements.observations, (study_id, start, stop))
        return make_rows(ObservationRow, rows, self.url)

    def read_failures(self, study_id: int) -> list[FailureRow]:
        """The failed attempts by pull and attempt."""
        return make_rows(FailureRow, self._database.fetch(self._statements.failures, (study_id,)), self.url)

    def write(self, row: StudyRow, changes: Changes, place: int) -> None:
        """Write the counters of a study and what changed in it; the first new observation gets this place."""
        with self._database.batch():
            updated = self._database.execute(self._statements.update_study, (*row[5:], row.id))
            self._write_changes(row.id, changes, place)
        if updated.rowcount != 1:
            raise UnknownStudy(f"the study must still be in {self.url}, got one that was deleted meanwhile")

    def _write_changes(self, study: int, changes: Changes, place: int) -> None:
        database, statements = self._database, self._statements
        if changes.answered_pulls:
            database.execute_many(statements.delete_pull, [(study, number) for number in changes.answered_pulls])
        if changes.observations:
            places = enumerate(changes.observations, place)
            database.execute_many(statements.insert_observation, [(study, at, *seen) for at, seen in places])
        if changes.changed_pulls:
            changed = [(*pull[1:], study, pull.number) for pull in changes.changed_pulls]
            database.execute_many(statements.update_pull, changed)
        if changes.new_pulls:
            database.execute_many(statements.insert_pull, [(study, *pull) for pull in changes.new_pulls])
        if changes.failures:
            database.execute_many(statements.insert_failure, [(study, *failure) for failure in changes.failures])
