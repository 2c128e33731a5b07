"""One connection to a database: opened when it is needed, again after a fork or a break, and patient with others.

The caller uses it from one thread at a time. What SQLite and PostgreSQL do differently is in the two subclasses.
"""

from __future__ import annotations

import os
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from typing import Any, ClassVar, NoReturn

import numpy as np
import numpy.typing as npt

from ramgape.errors import StorageError, StorageUnavailable
from ramgape.storage.records import Moment
from ramgape.storage.statements import Statements, statements_for
from ramgape.storage.urls import StoreUrl

WALL_CLOCK = ""  # the name of the clock that tells people the time
Columns = tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]  # arms and rewards


class Database(ABC):
    """A connection that says what went wrong in the words of this project."""

    mark: str  # of a parameter in a statement
    types: ClassVar[Mapping[str, str]]  # of columns, by the types in records
    clustered: str  # behind CREATE TABLE, for rows in the order of their key
    failures: tuple[type[Exception], ...]  # what the driver raises; texts with half a character included
    clock: str = WALL_CLOCK  # which one leases are measured by

    def __init__(self, url: StoreUrl) -> None:
        self.url = url
        self.statements: Statements = statements_for(self.mark)
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
    def begin(self, write: bool) -> None:
        """Begin a transaction: one that sees one moment, or one that may write."""

    @abstractmethod
    def begin_on(self, study_id: int, write: bool) -> tuple[Sequence[Any] | None, Moment]:
        """Begin a transaction; the row of a study and the present moment."""

    @abstractmethod
    def begin_alone(self, create: bool) -> None:
        """Begin, on a new connection, a transaction during which nobody else can create or upgrade the store."""

    @abstractmethod
    def has_table(self, name: str) -> bool:
        """Whether there is a table."""

    @abstractmethod
    def is_missing_table(self, error: Exception) -> bool:
        """Whether the driver complains about a table that does not exist."""

    @abstractmethod
    def is_duplicate(self, error: Exception) -> bool:
        """Whether the driver complains that a key exists already."""

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
        """Have whoever waits for a lock wait no longer; to be called from any thread."""

    @abstractmethod
    def read_columns(self, study_id: int, start: int, stop: int | None) -> Columns:
        """Arms and rewards."""

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
        """Make everything since begin last."""
        self.execute("COMMIT")
        self._inside = False

    def rollback(self) -> None:
        """Forget everything since begin; after an error, too, and when there is nothing to forget."""
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
                f"the process was forked in the middle of a transaction on {self.url.shown}: open the store anew"
            )
        if self._inside:
            raise StorageUnavailable(
                f"the connection to {self.url.shown} broke in the middle of a transaction; try again"
            )
        try:
            self._connection = self.connect(create)
        except self.failures as error:
            self.complain(error)
        self._owner = os.getpid()
        return self._connection

    def complain(self, error: Exception) -> NoReturn:
        """Raise what the driver said as an error of this project; without a trace of what could contain a password."""
        if isinstance(error, UnicodeEncodeError):
            what = f"a text for {self.url.shown}"
            raise StorageError(what=what, allowed="valid Unicode", given="half a character") from None
        kind = StorageUnavailable if self.may_pass(error) else StorageError
        raise kind(self.explain(error)) from None

    def prepare_for_fork(self) -> None:
        """Close an idle connection: neither kind survives in two processes. The parent opens another when needed."""
        with self._gate:
            if self._owner == os.getpid() and not self._inside:
                self._disconnect()

    def renew_after_fork(self) -> None:
        """The child's own lock, whoever held the parent's."""
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


_OPEN: weakref.WeakSet[Database] = weakref.WeakSet()
_ABANDONED: list[Any] = []  # kept, so that nothing closes them


def _before_fork() -> None:
    for database in list(_OPEN):
        database.prepare_for_fork()


def _after_fork() -> None:
    for database in list(_OPEN):
        database.renew_after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_child=_after_fork)
