"""What the observations of a study have led to, now and then, so that opening it does not take all of them."""

from __future__ import annotations

from alembic import op
from sqlalchemy import BigInteger, Column, ForeignKeyConstraint, LargeBinary, PrimaryKeyConstraint, Text

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    op.create_table(
        "ramgape_snapshots",
        Column("study_id", BigInteger, nullable=False),
        Column("told", BigInteger, nullable=False),
        Column("chain", BigInteger, nullable=False),
        Column("batches", BigInteger, nullable=False),
        Column("stopped_at", BigInteger),
        Column("stamp", Text, nullable=False),
        Column("state", LargeBinary, nullable=False),
        Column("seal", BigInteger, nullable=False),
        PrimaryKeyConstraint("study_id", name="ramgape_snapshots_key"),
        ForeignKeyConstraint(["study_id"], ["ramgape_studies.id"], name="ramgape_snapshots_study", ondelete="CASCADE"),
    )
