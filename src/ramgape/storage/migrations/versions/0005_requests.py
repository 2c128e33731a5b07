"""The requests that changed a study, by their keys, so that one which is made again changes nothing twice."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, Double, ForeignKeyConstraint, PrimaryKeyConstraint, Text
from sqlalchemy.types import TypeEngine

from ramgape.storage.schema import ExactDouble

revision = "0005"
down_revision = "0004"

EXACT: TypeEngine[float] = Double().with_variant(ExactDouble(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "ramgape_requests",
        Column("study_id", BigInteger, nullable=False),
        Column("key", Text, nullable=False),
        Column("digest", Text, nullable=False),
        Column("answer", Text, nullable=False),
        Column("made_at", EXACT, nullable=False),
        Column("seal", BigInteger, nullable=False),
        PrimaryKeyConstraint("study_id", "key", name="ramgape_requests_key"),
        ForeignKeyConstraint(["study_id"], ["ramgape_studies.id"], name="ramgape_requests_study", ondelete="CASCADE"),
        sqlite_with_rowid=False,
    )
    op.create_index("ramgape_requests_made", "ramgape_requests", ["study_id", "made_at"])
