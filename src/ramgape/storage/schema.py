"""The tables of a store: the columns of the rows in records.py, and what was added to them later behind the rest.

Every row has a seal, a check value; and that of a pull the store's own remarks: the clock that its lease is measured
by, and the revision in which it was last changed.

The migrations make these tables in a database; a test compares the two. One that adds a column to a record must seal
its rows anew.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    false,
)
from sqlalchemy.types import TypeEngine, UserDefinedType

PREFIX = "ramgape_"


class ExactDouble(UserDefinedType[float]):
    """A float to the last bit in SQLite, whose own DOUBLE makes 0.0 of -0.0.

    A type with BLOB in its name has no affinity there: what is stored is what was given.
    """

    cache_ok = True

    def get_col_spec(self, **_: Any) -> str:
        return "DOUBLE_BLOB"


Exact: TypeEngine[float] = Double().with_variant(ExactDouble(), "sqlite")
Identity = BigInteger().with_variant(Integer(), "sqlite")  # only an INTEGER numbers itself in SQLite

METADATA = MetaData()

STUDIES = Table(
    "ramgape_studies",
    METADATA,
    Column("id", Identity, nullable=False),
    Column("name", Text, nullable=False),
    Column("key", Text, nullable=False),
    Column("specification", Text, nullable=False),
    Column("created_at", Exact, nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("asked", BigInteger, nullable=False),
    Column("told", BigInteger, nullable=False),
    Column("failed", BigInteger, nullable=False),
    Column("stopped_at", BigInteger),
    Column("decision", Text, nullable=False),
    Column("withdrawn", BigInteger, nullable=False, server_default="0"),
    Column("chain", BigInteger, nullable=False, server_default="0"),
    Column("batches", BigInteger, nullable=False, server_default="0"),
    Column("seal", BigInteger, nullable=False, server_default="0"),
    Column("lost", BigInteger, nullable=False, server_default="0"),
    PrimaryKeyConstraint("id", name="ramgape_studies_key"),
    UniqueConstraint("name", name="ramgape_studies_name"),
    Index("ramgape_studies_random", "key", unique=True),
    sqlite_autoincrement=True,  # the number of a deleted study never comes back, so nobody writes to a stranger
)


def _of_study(table: str) -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["study_id"], ["ramgape_studies.id"], name=f"{table}_study", ondelete="CASCADE")


PULLS = Table(
    "ramgape_pulls",
    METADATA,
    Column("study_id", BigInteger, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("arm", Integer, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("worker", Text),
    Column("lease_until", Exact, nullable=False),
    Column("failures", Integer, nullable=False),
    Column("failed_attempt", Integer, nullable=False),
    Column("given_up", Boolean, nullable=False),
    Column("token", Text, nullable=False, server_default=""),
    Column("answer", Exact),
    Column("answered_at", Exact),
    Column("answer_failed", Boolean, nullable=False, server_default=false()),
    Column("answer_attempt", Integer, nullable=False, server_default="0"),
    Column("seal", BigInteger, nullable=False, server_default="0"),
    Column("clock", Text, nullable=False, server_default=""),
    Column("revision", BigInteger, nullable=False, server_default="0"),
    Column("item", BigInteger),
    Column("answer_price", Exact),
    Column("answer_info", Text),
    PrimaryKeyConstraint("study_id", "number", name="ramgape_pulls_key"),
    Index("ramgape_pulls_revision", "study_id", "revision"),
    _of_study("ramgape_pulls"),
    sqlite_with_rowid=False,
)

OBSERVATIONS = Table(
    "ramgape_observations",
    METADATA,
    Column("study_id", BigInteger, nullable=False),
    Column("place", BigInteger, nullable=False),
    Column("number", BigInteger),
    Column("attempt", Integer, nullable=False),
    Column("arm", Integer, nullable=False),
    Column("reward", Exact, nullable=False),
    Column("failed", Boolean, nullable=False),
    Column("worker", Text),
    Column("told_at", Exact, nullable=False),
    Column("origin", Text),
    Column("token", Text),
    Column("chain", BigInteger, nullable=False, server_default="0"),
    Column("seal", BigInteger, nullable=False, server_default="0"),
    Column("item", BigInteger),
    Column("price", Exact),
    Column("info", Text),
    PrimaryKeyConstraint("study_id", "place", name="ramgape_observations_key"),
    UniqueConstraint("study_id", "number", name="ramgape_observations_number"),
    _of_study("ramgape_observations"),
    sqlite_with_rowid=False,  # rows lie in the order in which they are read
)

FAILURES = Table(
    "ramgape_failures",
    METADATA,
    Column("study_id", BigInteger, nullable=False),
    Column("number", BigInteger, nullable=False),
    Column("attempt", Integer, nullable=False),
    Column("arm", Integer, nullable=False),
    Column("worker", Text),
    Column("reason", Text, nullable=False),
    Column("failed_at", Exact, nullable=False),
    Column("token", Text, nullable=False, server_default=""),
    Column("seal", BigInteger, nullable=False, server_default="0"),
    PrimaryKeyConstraint("study_id", "number", "attempt", name="ramgape_failures_key"),
    _of_study("ramgape_failures"),
    sqlite_with_rowid=False,
)

BATCHES = Table(
    "ramgape_batches",
    METADATA,
    Column("study_id", BigInteger, nullable=False),
    Column("place", BigInteger, nullable=False),
    Column("size", BigInteger, nullable=False),
    Column("seal", BigInteger, nullable=False, server_default="0"),
    PrimaryKeyConstraint("study_id", "place", name="ramgape_batches_key"),
    _of_study("ramgape_batches"),
    sqlite_with_rowid=False,
)

SNAPSHOTS = Table(
    "ramgape_snapshots",
    METADATA,
    Column("study_id", BigInteger, nullable=False),
    Column("told", BigInteger, nullable=False),
    Column("chain", BigInteger, nullable=False),
    Column("batches", BigInteger, nullable=False),
    Column("stopped_at", BigInteger),
    Column("stamp", Text, nullable=False),
    Column("state", LargeBinary, nullable=False),
    Column("seal", BigInteger, nullable=False),
    PrimaryKeyConstraint("study_id", name="ramgape_snapshots_key"),
    _of_study("ramgape_snapshots"),
)

REQUESTS = Table(
    "ramgape_requests",
    METADATA,
    Column("study_id", BigInteger, nullable=False),
    Column("key", Text, nullable=False),
    Column("digest", Text, nullable=False),
    Column("answer", Text, nullable=False),
    Column("made_at", Exact, nullable=False),
    Column("seal", BigInteger, nullable=False),
    PrimaryKeyConstraint("study_id", "key", name="ramgape_requests_key"),
    Index("ramgape_requests_made", "study_id", "made_at"),
    _of_study("ramgape_requests"),
    sqlite_with_rowid=False,
)
