"""SQLite: one file, durable, shared by the processes of one machine.

Waiting is done here and not in SQLite, whose sleeps grow to a tenth of a second: with several processes the file would
stand idle most of the time.
"""

from __future__ import annotations

import random
import sqlite3
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar, NoReturn

import numpy as np

from ramgape.errors import DamagedStore, StorageError
from ramgape.storage.checksums import damaged
from ramgape.storage.records import Moment
from ramgape.storage.store import SINCE, STUDY_BY_ID, WALL_CLOCK, Columns, SqlStore
from ramgape.storage.urls import StoreUrl, make_private, store_exists

# Before, a write-ahead log could lose transactions when two processes reset it at once.
WAL_IS_SAFE = sqlite3.sqlite_version_info >= (3, 51, 3)
REWARDS = np.dtype([("arm", np.int64), ("reward", np.float64)])
COMMITTING = 0.0001  # seconds, between two tries to commit: all others wait for it, and those who read are soon done
SLEEPS = (0.0002, 0.005)  # seconds, between two tries for a lock

BUSY, DAMAGED, NO_DATABASE, MOVED = 5, 11, 26, 1032
PASSING = (BUSY, 6, 13)  # of the error codes below
MOST_PROBLEMS = 10  # of a file that are told
UNREADABLE = (OverflowError, MemoryError, UnicodeDecodeError)  # what a damaged file may lead to, beside SQLite's errors
SENTENCES = {  # by the error codes of SQLite
    BUSY: "{where} is locked by another process, and was for {patience:g} s: try again, or add ?timeout=SECONDS",
    6: "{where} is locked by this very process, and was for {patience:g} s",
    MOVED: "{where} was deleted or replaced while it was in use, so that nothing can be stored there any more: open it "
    "anew, and tell again what was not acknowledged",
    8: "{where} is read-only: it can be read, but nothing can be written to it",
    10: "{where} cannot be read or written: is the disk full, or gone? (SQLite says: {error})",
    DAMAGED: "{where} is damaged: restore a copy of it (SQLite says: {error})",
    13: "the disk of {where} is full: make room and try again, nothing that was stored is lost",
    14: "{where} cannot be opened: is there a permission for the file and its folder?",
    NO_DATABASE: "{where} is not a SQLite database: choose another file",
}


def boot_clock() -> str:
    """The name of a monotonic clock: the machine's own since it was started, on Linux.

    The time of day may be an hour ahead for one program and a day back for the next, and a lease with it. Elsewhere it
    serves all the same.
    """
    try:
        time.clock_gettime(time.CLOCK_BOOTTIME)
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    except (AttributeError, OSError, ValueError):
        return WALL_CLOCK


BOOT = boot_clock()


def present() -> Moment:
    """The present moment; tests replace it."""
    now = time.time()
    return Moment(now, time.clock_gettime(time.CLOCK_BOOTTIME) if BOOT else now)


class SqliteStore(SqlStore):
    """Studies in a file."""

    types: ClassVar = {
        "Identity": "INTEGER PRIMARY KEY AUTOINCREMENT",  # the id of a deleted study never comes back
        "Small": "INTEGER",
        "int": "BIGINT",
        "float": "DOUBLE_BLOB",  # any name with BLOB: SQLite's own DOUBLE would make 0.0 of -0.0
        "bool": "BOOLEAN",
        "str": "TEXT",
        "bytes": "BLOB",
    }
    clustered = " WITHOUT ROWID"
    failures = (sqlite3.Error, UnicodeEncodeError, *UNREADABLE)
    clock = BOOT

    def __init__(self, url: StoreUrl) -> None:
        super().__init__(url)
        assert url.path is not None
        self.path = url.path
        self._writes = False  # the connection is set up for writing
        self._identity: tuple[int, int] | None = None  # of the file that was opened first
        self._sleeper = random.Random()  # its own, so that no seed of the user is disturbed
        self._hurried = False  # waiting was interrupted

    def interrupt(self) -> None:
        self._hurried = True

    def connect(self, create: bool = False) -> sqlite3.Connection:
        if not store_exists(self.place):
            if not create:
                raise StorageError(f"there is no store at {self.url}: no such file")
            make_private(self.place)
        if not create:
            self._check_identity()
        connection = sqlite3.connect(
            f"{self.path.as_uri()}?mode=rw",
            uri=True,
            timeout=0,
            isolation_level=None,  # transactions are begun and ended by hand
            check_same_thread=False,
        )
        self._writes = False
        self._sleeper.seed()  # in a child, other sleeps than the parent's
        try:
            self.run(connection, "PRAGMA foreign_keys = ON")
            # Durable: at FULL also a journal that is truncated is synchronised.
            self.run(connection, "PRAGMA synchronous = FULL")
        except BaseException:
            connection.close()
            raise
        return connection

    def run(self, connection: sqlite3.Connection, statement: str, parameters: Sequence[Any] = ()) -> sqlite3.Cursor:
        try:
            return connection.execute(statement, parameters)
        except sqlite3.OperationalError as error:
            if not _is_busy(error):
                raise
        return self._wait(connection, statement, parameters)

    def begin_transaction(self, write: bool) -> None:
        connection = self.enter()
        try:
            self._check_identity()
            if write and not self._writes:
                self.prepare_writing(connection)
                self._writes = True
            self.execute("BEGIN IMMEDIATE" if write else "BEGIN")
        except BaseException:
            self.rollback()
            raise

    def commit(self) -> None:
        super().commit()
        # Afterwards, so that nothing is acknowledged that went into a deleted file.
        self._check_identity()

    def _check_identity(self) -> None:
        """Notice that the file is not the one that was opened. SQLite does not: with a write-ahead log it writes on."""
        try:
            status = self.path.stat()
            identity = (status.st_dev, status.st_ino)
        except OSError:
            identity = None
        if self._identity is None:
            self._identity = identity
        elif identity != self._identity:
            raise StorageError(SENTENCES[MOVED].format(where=self.url))

    def begin_on(self, study_id: int, write: bool) -> tuple[Sequence[Any] | None, Moment]:
        self.begin_transaction(write)
        rows = self.fetch(STUDY_BY_ID, (study_id,))
        return (rows[0] if rows else None), present()

    def begin_alone(self, create: bool) -> None:
        self.close()  # a connection may go on thinking that there are no tables while others hold a lock
        self.prepare_writing(self.enter(create))
        self.execute("BEGIN IMMEDIATE")

    def prepare_writing(self, connection: sqlite3.Connection) -> None:
        """Choose the journal. Not when opening: a store that is only read is not written to."""
        try:
            if WAL_IS_SAFE:
                self.run(connection, "PRAGMA journal_mode = WAL")
            else:
                # Ends write-ahead logging if no other process has the file open; otherwise it stays, as it must.
                connection.execute("PRAGMA journal_mode = TRUNCATE")
        except sqlite3.OperationalError as error:
            if not _is_busy(error):
                self.complain(error)

    def has_table(self, name: str) -> bool:
        return bool(self.fetch("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?", (name,)))

    def in_transaction(self, connection: sqlite3.Connection) -> bool:
        return connection.in_transaction

    def complain(self, error: Exception) -> NoReturn:
        if _code(error) in (DAMAGED, NO_DATABASE):
            raise DamagedStore(self.explain(error)) from None
        super().complain(error)

    def integrity(self) -> list[str]:
        try:
            found = [str(row[0]) for row in self.fetch(f"PRAGMA integrity_check({MOST_PROBLEMS})")]
            loose = self.fetch("PRAGMA foreign_key_check")
        except DamagedStore as error:  # too much so for these, even
            return [str(error)]
        return (found if found != ["ok"] else []) + [f"a row of {row[0]} belongs to no study" for row in loose[:1]]

    def explain(self, error: Exception) -> str:
        code = getattr(error, "sqlite_errorcode", 0)
        sentence = SENTENCES.get(code) or SENTENCES.get(_code(error), "{where} refused this: {error}")
        return sentence.format(where=self.url, patience=self.place.patience, error=error)

    def may_pass(self, error: Exception) -> bool:
        return getattr(error, "sqlite_errorcode", 0) & 0xFF in PASSING

    def read_observations(self, study_id: int, start: int, stop: int | None = None) -> Columns:
        until, *last = ("",) if stop is None else (" AND place < ?", stop)
        query = f"SELECT arm, reward FROM ramgape_observations {SINCE}{until} ORDER BY place"
        cursor = self.execute(query, (study_id, start, *last))
        # Row by row: a million tuples at a time would take longer, and memory besides.
        try:
            rows = np.fromiter(cursor, REWARDS)
        except self.failures as error:
            self.complain(error)
        except (TypeError, ValueError):
            damaged(self.url, "among observations is what is neither an arm nor a reward")
        return np.ascontiguousarray(rows["arm"]), np.ascontiguousarray(rows["reward"])

    def _wait(self, connection: sqlite3.Connection, statement: str, parameters: Sequence[Any]) -> sqlite3.Cursor:
        """Try until the others are done. Random sleeps, so that no process is always behind the same other."""
        end = time.monotonic() + self.place.patience
        while True:
            late = self._hurried or time.monotonic() >= end
            if not late:
                time.sleep(COMMITTING if statement == "COMMIT" else self._sleeper.uniform(*SLEEPS))
            try:
                return connection.execute(statement, parameters)
            except sqlite3.OperationalError as error:
                if late or not _is_busy(error):
                    raise


def _code(error: Exception) -> int:
    """SQLite's number for what happened; 0 where there is none."""
    return DAMAGED if isinstance(error, UNREADABLE) else getattr(error, "sqlite_errorcode", 0) & 0xFF


def _is_busy(error: sqlite3.Error) -> bool:
    return _code(error) == BUSY
