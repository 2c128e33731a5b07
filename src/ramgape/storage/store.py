"""Studies in a SQL database: one connection, and what a study asks of a store (`protocol` says when).

The connection opens when it is needed, again after a fork or a break, and waits for others. One thread uses it at a
time. What SQLite and PostgreSQL do differently is in the two subclasses. Statements mark parameters with question
marks and name columns in the order of `tables`.
"""

from __future__ import annotations

import math
import os
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from operator import attrgetter
from typing import Any, ClassVar, NoReturn

import numpy as np
import numpy.typing as npt

from ramgape.errors import StorageError, StorageUnavailable, deleted_meanwhile
from ramgape.storage import records
from ramgape.storage.checksums import FIXED, open_rows, with_checksum
from ramgape.storage.tables import (
    BATCHES,
    FAILURES,
    OBSERVATIONS,
    PULLS,
    REQUESTS,
    SNAPSHOTS,
    STUDIES,
    SqlTable,
    assigned,
    insert_into,
    quoted,
    select_from,
)
from ramgape.storage.urls import StoreUrl

WALL_CLOCK = ""  # the name of the clock that tells people the time
ENDED = 1e-9  # a lease of another time: it ran out, and was not given back
Columns = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]  # arms and rewards

# Statements that every change uses, and parts of others. With the token of a pull: a store that was restored may have
# another pull of that number.
STUDY_BY_ID = f"{select_from(STUDIES)} WHERE id = ?"
UPDATE_STUDY = f"UPDATE ramgape_studies SET {assigned(STUDIES.columns[FIXED:])} WHERE id = ?"
THIS_PULL = "WHERE study_id = ? AND number = ? AND token = ?"
UPDATE_PULL = f"UPDATE ramgape_pulls SET {assigned(PULLS.columns[2:])} {THIS_PULL}"
INSERT_PULL, INSERT_OBSERVATION = insert_into(PULLS), insert_into(OBSERVATIONS)
PENDING = "SELECT count(*) FROM ramgape_pulls WHERE NOT given_up AND answer IS NULL AND study_id ="
OF_STUDY = "WHERE study_id = ?"
ROWCOUNT = attrgetter("rowcount")
SINCE = f"{OF_STUDY} AND place >= ?"


class SqlStore(ABC):
    """A database with studies; `open_store` opens one. Errors of the driver become errors of this project."""

    types: ClassVar[Mapping[str, str]]  # of columns, by the types in records
    clustered: str  # behind CREATE TABLE, for rows in the order of their key
    failures: tuple[type[Exception], ...]  # what the driver raises; texts with half a character included
    clock: str = WALL_CLOCK  # which one leases are measured by

    def __init__(self, url: StoreUrl) -> None:
        self.place, self.url = url, url.shown
        self._last: tuple[Sequence[Any], Any] = (), None  # the row of a study as the database has it, and its record
        self._connection: Any = None
        self._owner = 0  # the process that opened the connection
        self._inside = False  # between begin and commit or rollback
        self._torn = False  # a fork came in between, and this is the child
        self._gate = threading.Lock()
        _OPEN.add(self)

    @abstractmethod
    def connect(self, create: bool = False) -> Any:
        """A new connection of the driver, which commits by itself unless a transaction was begun."""

    @abstractmethod
    def run(self, connection: Any, statement: str, parameters: Sequence[Any] = ()) -> Any:
        """A cursor; raises what the driver raises."""

    @abstractmethod
    def begin_transaction(self, write: bool) -> None:
        """Begin a transaction: one that sees one moment, or one that may write."""

    @abstractmethod
    def begin_on(self, study_id: int, write: bool) -> tuple[Sequence[Any] | None, records.Moment]:
        """Begin a transaction; the row of a study and the present moment."""

    @abstractmethod
    def begin_alone(self, create: bool) -> None:
        """Begin, on a new connection, a transaction that keeps others from creating or upgrading the store."""

    @abstractmethod
    def has_table(self, name: str) -> bool:
        """Whether there is a table."""

    @abstractmethod
    def in_transaction(self, connection: Any) -> bool:
        """Whether the database itself considers a transaction open."""

    @abstractmethod
    def explain(self, error: Exception) -> str:
        """A short sentence about an error of the driver: what, and what to do."""

    @abstractmethod
    def may_pass(self, error: Exception) -> bool:
        """Whether to try again makes sense."""

    @abstractmethod
    def interrupt(self) -> None:
        """Interrupt a wait for a lock; from any thread."""

    @abstractmethod
    def read_observations(self, study_id: int, start: int, stop: int | None = None) -> Columns:
        """Arms and rewards of the observations from one place to before another, in order."""

    def integrity(self) -> list[str]:
        """What is wrong with the database itself, in words. A server sees to that on its own."""
        return []

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> Any:
        """A cursor with what the statement gives."""
        connection = self._connection
        if connection is None or self._owner != os.getpid():  # `ready` checks the same, at the cost of a call
            connection = self.ready()
        try:
            return self.run(connection, statement, parameters)
        except self.failures as error:
            self.complain(error)

    def fetch(self, statement: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """All rows of a query; a damaged database may give some and fail at the next."""
        cursor = self.execute(statement, parameters)
        try:
            found: list[Any] = cursor.fetchall()
        except self.failures as error:
            self.complain(error)
        return found

    def execute_many(self, statement: str, rows: list[tuple[Any, ...]]) -> list[Any]:
        """Execute a statement for every row. What it gives knows how many rows were touched, at the end of a batch."""
        if len(rows) == 1:
            return [self.execute(statement, rows[0])]
        try:
            return [self.ready().cursor().executemany(statement, rows)]
        except self.failures as error:
            self.complain(error)

    def batch(self) -> AbstractContextManager[None]:
        """Statements whose results are not looked at before the end, so that they may travel together."""
        return nullcontext()

    def commit(self) -> None:
        """Make the changes last."""
        self.execute("COMMIT")
        self._inside = False

    def rollback(self) -> None:
        """Forget the changes; does no harm after an error, or when there is nothing to forget."""
        if self._connection is not None and self._owner != os.getpid():
            self._abandon()
            return
        connection = self._connection
        try:
            if connection is not None and self.in_transaction(connection):
                self.run(connection, "ROLLBACK")
        except self.failures:
            self._disconnect()  # which rolls back as well
        self._inside = False

    def close(self) -> None:
        """Close the connection; it opens again when it is needed."""
        if self._connection is not None and self._owner != os.getpid():
            self._abandon()
        self._disconnect()

    def enter(self, create: bool = False) -> Any:
        """The connection, for a transaction that begins now."""
        with self._gate:
            connection = self.ready(create)
            self._inside = True
            return connection

    def ready(self, create: bool = False) -> Any:
        """The connection; a new one in a new process. With `create`, make the file if it is missing."""
        if self._owner == os.getpid() and self._connection is not None:
            return self._connection
        if self._connection is not None:
            self._abandon()
        if self._torn:
            raise StorageError(
                f"the process was forked in the middle of a transaction on {self.url}: open the store anew"
            )
        if self._inside:
            raise StorageUnavailable(f"the connection to {self.url} broke in the middle of a transaction; try again")
        try:
            self._connection = self.connect(create)
        except self.failures as error:
            self.complain(error)
        self._owner = os.getpid()
        return self._connection

    def complain(self, error: Exception) -> NoReturn:
        """Raise what the driver said as an error of this project; without a trace of what could contain a password."""
        if isinstance(error, UnicodeEncodeError):
            what = f"a text for {self.url}"
            raise StorageError(what=what, allowed="valid Unicode", given="half a character") from None
        kind = StorageUnavailable if self.may_pass(error) else StorageError
        raise kind(self.explain(error)) from None

    def prepare_for_fork(self) -> None:
        """Close an idle connection: neither kind survives in two processes. The parent opens another when needed."""
        with self._gate:
            if self._owner == os.getpid() and not self._inside:
                self._disconnect()

    def renew_after_fork(self) -> None:
        """A new lock for the child process."""
        self._gate = threading.Lock()

    def _disconnect(self) -> None:
        connection, self._connection, self._inside = self._connection, None, False
        if connection is not None:
            with suppress(*self.failures):  # it is gone, one way or another
                connection.close()

    def _abandon(self) -> None:
        """Leave the parent's connection to the parent: closing it here would end its transaction or drop its locks."""
        _ABANDONED.append(self._connection)
        self._torn = self._torn or self._inside
        self._connection, self._inside = None, False

    # --- studies -----------------------------------------------------------------------------------------------------

    def create_study(self, name: str, key: str, specification: str, created_at: float) -> records.StudyRow | None:
        """A new study, or None if its name or its key is taken."""
        values = records.StudyRow(0, name, key, specification, created_at)[1:]
        with self._writing():
            insert = f"{insert_into(STUDIES, first=1)} ON CONFLICT DO NOTHING"  # the database chooses the id
            if not self.execute(insert, (*values, 0)).rowcount:
                return None
            # The checksum covers the id.
            row = records.StudyRow._make(self.fetch(f"{select_from(STUDIES)} WHERE name = ?", (name,))[0][:-1])
            self.execute(UPDATE_STUDY, (*with_checksum(row)[FIXED:], row.id))
        return row

    @contextmanager
    def _writing(self) -> Iterator[None]:
        """A transaction of its own."""
        try:
            self.begin_transaction(write=True)
            yield
            self.commit()
        finally:
            self.rollback()

    def _read(self, table: SqlTable, where: str, *parameters: Any) -> list[Any]:
        """The records of a table."""
        return open_rows(table.row, self.fetch(f"{select_from(table)} {where}", parameters), self.url)

    def find_study(self, name: str) -> records.StudyRow | None:
        """The study of that name, if there is one."""
        return next(iter(self._read(STUDIES, "WHERE name = ?", name)), None)

    def list_studies(self) -> list[tuple[records.StudyRow, int]]:
        """All studies by name, each with the number of its pulls under way."""
        columns = quoted(STUDIES.columns)
        rows = self.fetch(f"SELECT {columns}, ({PENDING} ramgape_studies.id) FROM ramgape_studies")
        studies = open_rows(records.StudyRow, (row[:-1] for row in rows), self.url)
        # Sorted here: databases have their own ideas of the alphabet.
        return sorted(zip(studies, (row[-1] for row in rows), strict=True), key=lambda pair: pair[0].name)

    def study_names(self) -> list[str]:
        """The names of all studies, in order, whatever else of them can be read."""
        return sorted(str(row[0]) for row in self.fetch("SELECT name FROM ramgape_studies"))

    def count_pending(self, study_id: int) -> int:
        """How many pulls of a study are under way."""
        return int(self.fetch(f"{PENDING} ?", (study_id,))[0][0])

    def delete_study(self, name: str) -> bool:
        """Delete a study with everything that belongs to it; whether there was one."""
        with self._writing():
            return bool(self.execute("DELETE FROM ramgape_studies WHERE name = ?", (name,)).rowcount)

    def begin(self, study_id: int, write: bool) -> tuple[records.StudyRow, records.Moment]:
        """Begin a transaction: the study as it is, and the present moment.

        With `write`, the study is locked for others until commit or rollback.
        """
        try:
            row, now = self.begin_on(study_id, write)
            if row is None:
                raise deleted_meanwhile(self.url)
            if self._last[0] != row:
                self._last = row, open_rows(records.StudyRow, [row], self.url)[0]
        except BaseException:
            self.rollback()
            raise
        return self._last[1], now

    def read_pulls(self, study_id: int, now: records.Moment, since: int | None = None) -> list[records.PullRow]:
        """The open pulls by number, or in any order those of them that have changed since a revision."""
        query = f"{select_from(PULLS)} {OF_STUDY}"
        if since is None:
            rows = self.fetch(f"{query} ORDER BY number", (study_id,))
        else:  # in no order: for the sake of one SQLite would read all of them
            rows = self.fetch(f"{query} AND revision > ?", (study_id, since))
        pulls = open_rows(records.PullRow, (row[:-1] for row in rows), self.url)
        return [self._by_our_clock(pull, row[-1], now) for pull, row in zip(pulls, rows, strict=True)]

    def _by_our_clock(self, pull: records.PullRow, clock: str, now: records.Moment) -> records.PullRow:
        """A pull with its lease by our clock, from the one that it was given by."""
        if clock == self.clock or not ENDED < pull.lease_until < math.inf:
            return pull
        if clock == WALL_CLOCK:  # of an older version
            return pull._replace(lease_until=pull.lease_until - now.time + now.clock)
        return pull._replace(lease_until=ENDED)  # the machine was restarted, so that its worker is gone

    def read_answered(self, study_id: int, start: int) -> list[int]:
        """The numbers of the pulls that are answered by observations from a place on."""
        query = f"SELECT number FROM ramgape_observations {SINCE} AND number IS NOT NULL ORDER BY place"
        return [row[0] for row in self.fetch(query, (study_id, start))]

    def read_batches(self, study_id: int, start: int) -> list[records.BatchRow]:
        """The batches that begin at a place or later."""
        return self._read(BATCHES, f"{SINCE} ORDER BY place", study_id, start)

    def read_answer(self, study_id: int, number: int) -> records.AnswerRow | None:
        """The answer to a pull, if there is one."""
        rows = self._read(OBSERVATIONS, f"{OF_STUDY} AND number = ?", study_id, number)
        return rows[0].answer() if rows else None

    def read_rows(self, study_id: int, start: int, stop: int) -> list[records.ObservationRow]:
        """The observations from one place to before another, in order."""
        return self._read(OBSERVATIONS, f"{SINCE} AND place < ? ORDER BY place", study_id, start, stop)

    def read_failures(self, study_id: int) -> list[records.FailureRow]:
        """The failed attempts by pull and attempt."""
        return self._read(FAILURES, f"{OF_STUDY} ORDER BY number, attempt", study_id)

    def read_snapshot(self, study_id: int) -> records.SnapshotRow | None:
        """What the first observations of a study have led to, as it was last written down."""
        return next(iter(self._read(SNAPSHOTS, OF_STUDY, study_id)), None)

    def save_snapshot(self, study_id: int, snapshot: records.SnapshotRow) -> None:
        """Write a snapshot in place of the last one, in a transaction of its own."""
        values = (study_id, *with_checksum(snapshot))  # computed before others have to wait
        with self._writing():
            self.execute(f"DELETE FROM ramgape_snapshots {OF_STUDY}", (study_id,))
            self.execute(insert_into(SNAPSHOTS), values)

    def read_request(self, study_id: int, key: str) -> records.RequestRow | None:
        """The request of that key, if it is kept."""
        return next(iter(self._read(REQUESTS, f'{OF_STUDY} AND "key" = ?', study_id, key)), None)

    def read_requests(self, study_id: int) -> list[records.RequestRow]:
        """All that are kept, the oldest first."""
        return self._read(REQUESTS, f"{OF_STUDY} ORDER BY made_at", study_id)

    def add_observations(self, study_id: int, rows: list[records.ObservationRow], place: int) -> None:
        """Write observations, the first of which gets this place; `write`, with their counters, follows."""
        placed = [(study_id, at, *with_checksum(seen)) for at, seen in enumerate(rows, place)]
        self.execute_many(INSERT_OBSERVATION, placed)

    def write(self, row: records.StudyRow, changes: records.Changes, place: int) -> None:
        """Write the counters of a study and what changed in it; the first new observation gets this place."""
        self._last = with_checksum(row), row
        with self.batch():
            updated = self.execute(UPDATE_STUDY, (*self._last[0][FIXED:], row.id))
            if changes.specification is not None:
                self.execute(
                    "UPDATE ramgape_studies SET specification = ? WHERE id = ?", (changes.specification, row.id)
                )
            touched, expected = self._write_changes(row, changes, place)
        if updated.rowcount != 1:
            raise deleted_meanwhile(self.url)
        if sum(map(ROWCOUNT, touched)) != expected:
            raise StorageUnavailable(f"{self.url} has other trials in progress: was it restored from a copy? try again")

    def _write_changes(self, row: records.StudyRow, changes: records.Changes, place: int) -> tuple[list[Any], int]:
        """What came of the changes to pulls that should be there, and how many of them there were."""
        study, own, touched = row.id, (self.clock, row.revision), []
        answered = {pull.number: (study, pull.number, pull.token) for pull in changes.answered_pulls}
        if answered:
            touched += self.execute_many(f"DELETE FROM ramgape_pulls {THIS_PULL}", list(answered.values()))
        if changes.observations:
            self.add_observations(study, changes.observations, place)
        changed = [
            (*with_checksum(pull)[1:], *own, study, pull.number, pull.token)
            for pull in changes.changed_pulls
            if pull.number not in answered
        ]
        if changed:
            touched += self.execute_many(UPDATE_PULL, changed)
        if changes.new_pulls:
            self.execute_many(INSERT_PULL, [(study, *with_checksum(pull), *own) for pull in changes.new_pulls])
        for table, rows in ((FAILURES, changes.failures), (BATCHES, changes.batches), (REQUESTS, changes.requests)):
            if rows:
                self.execute_many(insert_into(table), [(study, *with_checksum(row)) for row in rows])
        if changes.requests:
            forget = f"DELETE FROM ramgape_requests {OF_STUDY} AND made_at < ?"
            self.execute(forget, (study, changes.requests[-1].made_at - records.KEPT))
        return touched, len(answered) + len(changed)


_OPEN: weakref.WeakSet[SqlStore] = weakref.WeakSet()
_ABANDONED: list[Any] = []  # kept, so that nothing closes them


def _before_fork() -> None:
    for store in list(_OPEN):
        store.prepare_for_fork()


def _after_fork() -> None:
    for store in list(_OPEN):
        store.renew_after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_after_fork)
