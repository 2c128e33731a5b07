"""The first tables: studies, open pulls, observations, failures."""

from __future__ import annotations

from alembic import op
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKeyConstraint,
    Integer,
    PrimaryKeyConstraint,
    Text,
    UniqueConstraint,
)
from sqlalchemy.types import TypeEngine

from ramgape.storage.schema import ExactDouble

revision = "0001"
down_revision = None

EXACT: TypeEngine[float] = Double().with_variant(ExactDouble(), "sqlite")
IDENTITY = BigInteger().with_variant(Integer(), "sqlite")


def of_study(table: str) -> ForeignKeyConstraint:
    return ForeignKeyConstraint(["study_id"], ["ramgape_studies.id"], name=f"{table}_study", ondelete="CASCADE")


def upgrade() -> None:
    op.create_table(
        "ramgape_studies",
        Column("id", IDENTITY, nullable=False),
        Column("name", Text, nullable=False),
        Column("key", Text, nullable=False),
        Column("specification", Text, nullable=False),
        Column("created_at", EXACT, nullable=False),
        Column("revision", BigInteger, nullable=False),
        Column("asked", BigInteger, nullable=False),
        Column("told", BigInteger, nullable=False),
        Column("failed", BigInteger, nullable=False),
        Column("stopped_at", BigInteger),
        Column("decision", Text, nullable=False),
        PrimaryKeyConstraint("id", name="ramgape_studies_key"),
        UniqueConstraint("name", name="ramgape_studies_name"),
        sqlite_autoincrement=True,
    )
    op.create_table(
        "ramgape_pulls",
        Column("study_id", BigInteger, nullable=False),
        Column("number", BigInteger, nullable=False),
        Column("arm", Integer, nullable=False),
        Column("attempt", Integer, nullable=False),
        Column("worker", Text),
        Column("lease_until", EXACT, nullable=False),
        Column("failures", Integer, nullable=False),
        Column("failed_attempt", Integer, nullable=False),
        Column("given_up", Boolean, nullable=False),
        PrimaryKeyConstraint("study_id", "number", name="ramgape_pulls_key"),
        of_study("ramgape_pulls"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "ramgape_observations",
        Column("study_id", BigInteger, nullable=False),
        Column("place", BigInteger, nullable=False),
        Column("number", BigInteger),
        Column("attempt", Integer, nullable=False),
        Column("arm", Integer, nullable=False),
        Column("reward", EXACT, nullable=False),
        Column("failed", Boolean, nullable=False),
        Column("worker", Text),
        Column("told_at", EXACT, nullable=False),
        Column("origin", Text),
        PrimaryKeyConstraint("study_id", "place", name="ramgape_observations_key"),
        UniqueConstraint("study_id", "number", name="ramgape_observations_number"),
        of_study("ramgape_observations"),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "ramgape_failures",
        Column("study_id", BigInteger, nullable=False),
        Column("number", BigInteger, nullable=False),
        Column("attempt", Integer, nullable=False),
        Column("arm", Integer, nullable=False),
        Column("worker", Text),
        Column("reason", Text, nullable=False),
        Column("failed_at", EXACT, nullable=False),
        PrimaryKeyConstraint("study_id", "number", "attempt", name="ramgape_failures_key"),
        of_study("ramgape_failures"),
        sqlite_with_rowid=False,
    )
