"""PostgreSQL: a server that many machines share, through psycopg 3.

Nothing waits for ever, and no study is locked for ever. With p the patience of the URL (`?timeout=`, a minute):

    p                  waiting for a lock                        then the server ends the statement
    p / 2, at least 5  standing still in a transaction           then the server ends the connection, and with it the
                                                                 lock: whoever waits for that has the other half of p
    p + 30             a statement                               then the server ends it
    5 more             an answer of any kind                     then we hang up
    30                 what was sent is not even acknowledged    then either side hangs up

What the URL says itself about any of these goes before. The second needs care: the server's clock runs only after a
message that it has answered as a whole, and stands still again after a request to flush, such as psycopg sends at the
end of every pipeline. So whatever belongs together travels as one message of the simple protocol instead, with the
parameters written into it: as quick, and a client that stops in the middle has sent all of it or nothing.
"""

from __future__ import annotations

import math
import time
import warnings
from collections import Counter
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any, ClassVar

import numpy as np

from ramgape.errors import MissingExtra, RamgapeWarning
from ramgape.storage.records import Moment
from ramgape.storage.store import STUDY_BY_ID, Columns, SqlStore
from ramgape.storage.urls import StoreUrl, scrub

try:
    import psycopg
    from psycopg.conninfo import conninfo_to_dict
    from psycopg.types.numeric import FloatDumper
except ImportError:
    allowed = 'installed for PostgreSQL: pip install "ramgape[postgres]"'
    raise MissingExtra(what="psycopg", allowed=allowed) from None

CREATION = 0x72616D67617065  # "ramgape": the lock for creating or upgrading the tables

# Seconds; see above.
SHORTEST_STANDSTILL = 5.0
WORKING = 30.0
GRACE = 5.0
SILENCE = 30.0
MIGRATING, PONDERING = 3600.0, 600.0  # for a statement of a migration, and between two of them

NETWORK = {  # of libpq, unless the URL says otherwise
    "connect_timeout": 15,
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 4,
    "tcp_user_timeout": round(1000 * SILENCE),
}
# In one message. What stands in the URL has the source `client`. A server that also waits for its standbys may do so.
SETTINGS = """
SELECT set_config(name, ours.value, false) FROM (VALUES {}) AS ours (name, value) JOIN pg_settings USING (name)
WHERE source <> 'client' AND (name <> 'synchronous_commit' OR setting = 'off');
SELECT current_setting('fsync'), setting::float8 FROM pg_settings WHERE name = 'statement_timeout'
"""

LARGEST_MESSAGE = 1_000_000  # characters, more or less
PREPARED_FROM = 5  # uses of a statement on a connection: from then on the server keeps its plan

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
    "57014": "{where} ended a statement that took too long: {error}",
    "57": "the connection to {where} was closed by the server: {error}",
}
# Broken connections, deadlocks, too little of everything, shutdowns and cancellations; locks and standing still.
PASSING = ("08", "40", "53", "57", "55P03", "25P03")


class Connection(psycopg.Connection[Any]):
    """A connection that does not wait for ever: only a clock can tell a silent network from a slow one."""

    patience = math.inf  # seconds for an answer

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self._uses: Counter[str] = Counter()
        self._calls: dict[str, str] = {}  # of statements that are prepared

    def bound(self, statement: str, parameters: Sequence[Any]) -> str:
        """A statement with its parameters written into it, as part of a message; a call of it if it is used often."""
        call = self._calls.get(statement)
        if call is None:
            self._uses[statement] += 1
            call = self._prepare(statement) if self._uses[statement] == PREPARED_FROM else statement.replace("?", "%s")
        return psycopg.ClientCursor(self).mogrify(call, parameters)

    def _prepare(self, statement: str) -> str:
        """Have the server keep a statement, by a message of its own: within another one it might be forgotten."""
        name, *parts = f"ramgape_{len(self._calls)}", *statement.split("?")
        numbered = "".join(f"{part}${place}" for place, part in enumerate(parts[:-1], start=1))
        self.execute(f"PREPARE {name} AS {numbered}{parts[-1]}".encode())
        call = f"EXECUTE {name} ({', '.join(['%s'] * (len(parts) - 1))})"
        self._calls[statement] = call
        return call

    def wait(self, gen: Generator[Any, Any, Any], *arguments: Any, **named: Any) -> Any:
        """Carry out the steps of an operation; the one place where psycopg waits."""
        try:
            return super().wait(in_time(gen, self.patience), *arguments, **named)
        except NothingHeard:
            self.close()  # an answer that comes now would be taken for that to the next question
            raise


class NothingHeard(psycopg.OperationalError):
    """Nothing has come for too long."""


def in_time(steps: Generator[Any, Any, Any], patience: float) -> Generator[Any, Any, Any]:
    """The same steps. They hear of it now and then when nothing has happened, and may then have waited long enough."""
    end = time.monotonic() + patience
    try:
        wanted = next(steps)
        while True:
            ready = yield wanted
            if not ready and time.monotonic() >= end:
                raise NothingHeard(f"no answer came for {patience:g} s")
            wanted = steps.send(ready)
    except StopIteration as over:
        return over.value


class QuotedFloat(FloatDumper):
    """A number in the text of a statement that keeps every bit: without quotes it would be a decimal, without -0.0."""

    def quote(self, obj: float) -> bytes:
        return b"'%b'" % bytes(self.dump(obj) or b"")


class Reply:
    """Of a statement that travels with others."""

    rowcount = -1


class PostgresStore(SqlStore):
    """Studies on a server."""

    types: ClassVar = {
        "Identity": "BIGSERIAL CONSTRAINT ramgape_studies_key PRIMARY KEY",
        "Small": "INTEGER",
        "int": "BIGINT",
        "float": "DOUBLE PRECISION",
        "bool": "BOOLEAN",
        "str": "TEXT",
        "bytes": "BYTEA",
    }
    clustered = ""
    failures = (psycopg.Error, UnicodeEncodeError)

    def __init__(self, url: StoreUrl) -> None:
        super().__init__(url)
        # The time is taken after the row is locked, hence the inner query.
        self._study = {
            write: "SELECT study.*, extract(epoch FROM clock_timestamp())::float8 FROM "
            f"({STUDY_BY_ID}{' FOR UPDATE' if write else ''}) AS study"
            for write in (False, True)
        }
        self._message: list[tuple[str, Reply]] | None = None  # what travels together
        self._length = 0
        self._warned = False

    def interrupt(self) -> None:
        connection = self._connection
        if connection is not None:
            with suppress(psycopg.Error):
                connection.cancel_safe(timeout=GRACE)

    def connect(self, create: bool = False) -> Connection:
        said = conninfo_to_dict(self.place.address)
        network: dict[str, Any] = {name: value for name, value in NETWORK.items() if name not in said}
        # Psycopg prepares nothing by itself: after a rollback it has the server forget all statements, ours as well.
        connection = Connection.connect(self.place.address, autocommit=True, prepare_threshold=None, **network)
        connection.adapters.register_dumper(float, QuotedFloat)
        try:
            self._settle(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _settle(self, connection: Connection) -> None:
        """What was promised above, and that a commit is on the disk when it returns."""
        patience = self.place.patience
        seconds = {
            "lock_timeout": max(patience, 0.001),  # 0 would mean for ever
            "idle_in_transaction_session_timeout": max(patience / 2.0, SHORTEST_STANDSTILL),
            "statement_timeout": patience + WORKING,
            "tcp_user_timeout": SILENCE,
        }
        ours = [f"('{name}', '{round(1000 * value)}')" for name, value in seconds.items()]
        connection.patience = patience + WORKING + GRACE
        cursor = connection.execute(SETTINGS.format(", ".join([*ours, "('synchronous_commit', 'on')"])).encode())
        cursor.nextset()
        fsync, limit = cursor.fetchone() or ("on", 0.0)
        connection.patience = limit / 1000.0 + GRACE if limit else math.inf
        if fsync == "off" and not self._warned:
            self._warned = True
            warnings.warn(
                f"fsync is off at {self.url}: a crash of that machine loses what was told, and may damage all "
                "of the database",
                RamgapeWarning,
                stacklevel=2,
            )

    def run(self, connection: Connection, statement: str, parameters: Sequence[Any] = ()) -> psycopg.Cursor[Any]:
        return connection.execute(connection.bound(statement, parameters) if parameters else statement)

    def ready(self, create: bool = False) -> Any:
        if self._connection is not None and self._connection.closed:
            self._connection = None
        return super().ready(create)

    @contextmanager
    def batch(self) -> Iterator[None]:
        if self._message is not None:
            yield
            return
        self._message = []
        try:
            yield
            self._send()
        finally:
            self._message, self._length = None, 0

    def execute(self, statement: str, parameters: Sequence[Any] = ()) -> Any:
        if self._message is None:
            return super().execute(statement, parameters)
        outcome = Reply()
        try:
            bound = self.ready().bound(statement, parameters)
        except self.failures as error:
            self.complain(error)
        self._message.append((bound, outcome))
        self._length += len(bound)
        if self._length > LARGEST_MESSAGE:
            self._send()
        return outcome

    def execute_many(self, statement: str, rows: list[tuple[Any, ...]]) -> list[Any]:
        with self.batch():
            return [self.execute(statement, row) for row in rows]

    def _send(self) -> None:
        """One message to the server, and what comes of it."""
        message, self._message, self._length = self._message, None, 0
        try:
            if not message:
                return
            cursor = self.execute("; ".join(statement for statement, _ in message))
            for _, outcome in message:
                outcome.rowcount = cursor.rowcount
                cursor.nextset()
        finally:
            self._message = []

    def begin_transaction(self, write: bool) -> None:
        self._begin(write)

    def begin_on(self, study_id: int, write: bool) -> tuple[Sequence[Any] | None, Moment]:
        cursor = self._begin(write, self._study[write], (study_id,))
        cursor.nextset()
        row = cursor.fetchone()
        return (None, Moment(0.0, 0.0)) if row is None else (row[:-1], Moment(row[-1], row[-1]))

    def _begin(self, write: bool, *query: Any) -> Any:
        """Begin a transaction, with its first query in the same message to the server."""
        # A snapshot for readers; a writer sees what others committed before it got the lock.
        begin = "BEGIN" if write else "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
        connection = self.enter()
        try:
            return self._try_to_begin(connection, begin, *query)
        except psycopg.Error as error:
            if not connection.closed or isinstance(error, NothingHeard):  # that was waited for long enough
                self.complain(error)
        # The server hung up while we were idle. Nothing has been done yet, so we may call again.
        self._inside = False
        connection = self.enter()
        try:
            return self._try_to_begin(connection, begin, *query)
        except psycopg.Error as error:
            self.complain(error)

    def _try_to_begin(self, connection: Connection, begin: str, *query: Any) -> Any:
        return self.run(connection, f"{begin}; {connection.bound(*query)}" if query else begin)

    def begin_alone(self, create: bool) -> None:
        self.close()
        self.enter(create).patience = MIGRATING + GRACE
        self.execute(
            f"BEGIN; SET LOCAL statement_timeout = '{MIGRATING:g}s'; "
            f"SET LOCAL idle_in_transaction_session_timeout = '{PONDERING:g}s'"
        )
        self.execute(f"SELECT pg_advisory_xact_lock({CREATION})")

    def has_table(self, name: str) -> bool:
        return self.fetch("SELECT to_regclass(?)", (name,)) != [(None,)]

    def in_transaction(self, connection: psycopg.Connection[Any]) -> bool:
        return not connection.closed and connection.info.transaction_status != psycopg.pq.TransactionStatus.IDLE

    def explain(self, error: Exception) -> str:
        where = self.url
        if isinstance(error, psycopg.ProgrammingError) and error.sqlstate is None:
            return (
                f"{where} cannot be understood: special characters in a name or password are written as %40 and so on"
            )
        state = _state(error)
        sentence = SENTENCES.get(state) or SENTENCES.get(state[:2])
        if sentence is None:
            refused = "{where} refused this: {error}"
            sentence = "{where} cannot be reached: {error}" if _is_out_of_reach(error) else refused
        said = scrub(str(error), self.place.secrets)
        return sentence.format(where=where, patience=self.place.patience, error=said)

    def may_pass(self, error: Exception) -> bool:
        return _is_out_of_reach(error) or _state(error).startswith(PASSING)

    def read_observations(self, study_id: int, start: int, stop: int | None = None) -> Columns:
        try:
            cursor = self.ready().cursor(binary=True)
            row = cursor.execute(READ_COLUMNS, (study_id, start, END if stop is None else stop)).fetchone()
        except psycopg.Error as error:
            self.complain(error)
        arms, rewards = (column or b"" for column in row)
        return np.frombuffer(arms, ">i4").astype(np.int64), np.frombuffer(rewards, ">f8").astype(np.float64)


def _state(error: Exception) -> str:
    """The SQLSTATE, if the server has said one."""
    return getattr(error, "sqlstate", None) or ""


def _is_out_of_reach(error: Exception) -> bool:
    return isinstance(error, psycopg.OperationalError) and not _state(error)
