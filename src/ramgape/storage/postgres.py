"""PostgreSQL: a server that many machines share, through psycopg 3."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ramgape.errors import MissingExtra
from ramgape.storage.database import Columns, Database
from ramgape.storage.records import Moment
from ramgape.storage.urls import StoreUrl, scrub

try:
    import psycopg
except ImportError:
    raise MissingExtra('psycopg must be installed for PostgreSQL: pip install "ramgape[postgres]"') from None

CREATION = 0x72616D67617065  # "ramgape": the lock of whoever creates or upgrades the tables
CONNECTING = 15  # seconds for a server to answer, unless the URL says otherwise

# Both columns as one value each, in network order: a row at a time would take several times as long.
READ_COLUMNS = (
    "SELECT string_agg(int4send(arm), ''::bytea ORDER BY place), "
    "string_agg(float8send(reward), ''::bytea ORDER BY place) "
    "FROM ramgape_observations WHERE study_id = %s AND place >= %s AND place < %s"
)
END = 2**63 - 1  # no place is that large

SENTENCES = {  # by SQLSTATE, or its first two characters
    "55P03": "{where} is locked by another process, and was for {patience:g} s: try again, or add ?timeout=SECONDS",
    "25006": "{where} is read-only: it can be read, but nothing can be written to it",
    "25P03": "{where} ended a transaction that stood still for too long; try again",
    "42501": "{where} does not permit this: {error}",
    "3D": "{where} does not exist: {error}",
    "28": "{where} does not let us in: {error}",
    "53": "{where} is short of space, memory or connections: {error}",
    "08": "the connection to {where} broke: {error}",
    "57": "the connection to {where} was closed by the server: {error}",
}


class PostgresDatabase(Database):
    """A connection to a server."""

    kind = "postgresql"
    driver = "postgresql+psycopg"
    failures = (psycopg.Error, UnicodeEncodeError)

    def __init__(self, url: StoreUrl) -> None:
        super().__init__(url)
        # The time is taken after the row is locked, hence the inner query.
        inner = self.statements.study
        self._study = {
            write: "SELECT study.*, extract(epoch FROM clock_timestamp())::float8 FROM "
            f"({inner}{' FOR UPDATE' if write else ''}) AS study"
            for write in (False, True)
        }

    def connect(self, create: bool = False) -> psycopg.Connection[Any]:
        options = {} if "connect_timeout=" in self.url.address else {"connect_timeout": CONNECTING}
        connection = psycopg.connect(self.url.address, autocommit=True, **options)  # type: ignore[arg-type]
        milliseconds = max(1, round(1000 * self.url.patience))  # 0 would mean for ever
        # The second is for a client that went to sleep with the lock in its hands.
        settings = f"SET lock_timeout = {milliseconds}; SET idle_in_transaction_session_timeout = {10 * milliseconds}"
        try:
            connection.execute(settings)
        except BaseException:
            connection.close()
            raise
        return connection

    def run(
        self, connection: psycopg.Connection[Any], statement: str, parameters: Sequence[Any] = ()
    ) -> psycopg.Cursor[Any]:
        return connection.execute(statement.encode(), parameters or None)

    def ready(self) -> Any:
        if self._connection is not None and self._connection.closed:
            self._connection = None
        return super().ready()

    @contextmanager
    def batch(self) -> Iterator[None]:
        try:
            with self.ready().pipeline():
                yield
        except psycopg.Error as error:
            self.complain(error)

    def begin(self, write: bool) -> None:
        self._begin(write)

    def begin_on(self, study_id: int, write: bool) -> tuple[Sequence[Any] | None, Moment]:
        row = self._begin(write, self._study[write], (study_id,)).fetchone()
        return (None, Moment(0.0, 0.0)) if row is None else (row[:-1], Moment(row[-1], row[-1]))

    def _begin(self, write: bool, *query: Any) -> Any:
        """Begin a transaction, with its first query in the same message to the server."""
        # A snapshot for readers; a writer sees what others committed before it got the lock.
        statement = "BEGIN" if write else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        connection = self.enter()
        try:
            return self._try_to_begin(connection, statement, *query)
        except psycopg.Error as error:
            if not connection.closed:
                self.complain(error)
        # The server hung up while we were idle. Nothing has been done yet, so we may call again.
        self._inside = False
        connection = self.enter()
        try:
            return self._try_to_begin(connection, statement, *query)
        except psycopg.Error as error:
            self.complain(error)

    def _try_to_begin(self, connection: psycopg.Connection[Any], statement: str, *query: Any) -> Any:
        with connection.pipeline():
            begun = self.run(connection, statement)
            return self.run(connection, *query) if query else begun

    def begin_alone(self, connection: psycopg.Connection[Any]) -> None:
        self.run(connection, "BEGIN")
        self.run(connection, f"SELECT pg_advisory_xact_lock({CREATION})")

    def has_table(self, connection: psycopg.Connection[Any], name: str) -> bool:
        row = self.run(connection, "SELECT to_regclass(%s)", (name,)).fetchone()
        return row is not None and row[0] is not None

    def is_missing_table(self, error: Exception) -> bool:
        return isinstance(error, psycopg.errors.UndefinedTable)

    def is_duplicate(self, error: Exception) -> bool:
        return isinstance(error, psycopg.errors.UniqueViolation)

    def in_transaction(self, connection: psycopg.Connection[Any]) -> bool:
        return not connection.closed and connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE

    def explain(self, error: Exception) -> str:
        where = self.url.shown
        if isinstance(error, psycopg.ProgrammingError) and error.sqlstate is None:
            return (
                f"{where} cannot be understood: special characters in a name or password are written as %40 and so on"
            )
        state = getattr(error, "sqlstate", None) or ""
        sentence = SENTENCES.get(state) or SENTENCES.get(state[:2])
        if sentence is None:
            out_of_reach = isinstance(error, psycopg.OperationalError) and not state
            sentence = "{where} cannot be reached: {error}" if out_of_reach else "{where} refused this: {error}"
        said = scrub(str(error), self.url.secrets)
        return sentence.format(where=where, patience=self.url.patience, error=said)

    def read_columns(self, study_id: int, start: int, stop: int | None) -> Columns:
        try:
            cursor = self.ready().cursor(binary=True)
            row = cursor.execute(READ_COLUMNS, (study_id, start, END if stop is None else stop)).fetchone()
        except psycopg.Error as error:
            self.complain(error)
        arms, rewards = (column or b"" for column in row)
        return np.frombuffer(arms, ">i4").astype(np.int64), np.frombuffer(rewards, ">f8").astype(np.float64)
