"""Random names of pulls, check values, batches, answers that are held back, and what a catch-up needs.

An open pull keeps the name that was handed out, which began with the key of its study.
"""

from __future__ import annotations

import secrets
from typing import Any

from alembic import op
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Double,
    ForeignKeyConstraint,
    PrimaryKeyConstraint,
    Text,
    false,
    text,
)
from sqlalchemy.types import TypeEngine

from ramgape.storage.schema import ExactDouble
from ramgape.storage.seals import next_link, seal, seal_study

revision = "0002"
down_revision = "0001"

EXACT: TypeEngine[float] = Double().with_variant(ExactDouble(), "sqlite")
CHUNK = 10_000
WALL_CLOCK = ""


def number(name: str) -> Column[Any]:
    return Column(name, BigInteger, nullable=False, server_default="0")


def upgrade() -> None:
    op.add_column("ramgape_studies", number("withdrawn"))
    op.add_column("ramgape_studies", number("chain"))
    op.add_column("ramgape_studies", number("seal"))
    op.add_column("ramgape_pulls", Column("token", Text, nullable=False, server_default=""))
    op.add_column("ramgape_pulls", Column("answer", EXACT))
    op.add_column("ramgape_pulls", Column("answered_at", EXACT))
    op.add_column("ramgape_pulls", Column("answer_failed", Boolean, nullable=False, server_default=false()))
    op.add_column("ramgape_pulls", Column("clock", Text, nullable=False, server_default=WALL_CLOCK))
    op.add_column("ramgape_pulls", number("seal"))
    op.add_column("ramgape_pulls", number("revision"))
    op.create_index("ramgape_pulls_revision", "ramgape_pulls", ["study_id", "revision"])
    op.add_column("ramgape_observations", Column("token", Text))
    op.add_column("ramgape_observations", number("chain"))
    op.add_column("ramgape_failures", Column("token", Text, nullable=False, server_default=""))
    op.create_table(
        "ramgape_batches",
        Column("study_id", BigInteger, nullable=False),
        Column("place", BigInteger, nullable=False),
        Column("size", BigInteger, nullable=False),
        PrimaryKeyConstraint("study_id", "place", name="ramgape_batches_key"),
        ForeignKeyConstraint(["study_id"], ["ramgape_studies.id"], name="ramgape_batches_study", ondelete="CASCADE"),
        sqlite_with_rowid=False,
    )
    keys: set[str] = set()
    for study, key in ask("SELECT id, key FROM ramgape_studies ORDER BY id"):
        name_pulls(study, key)
        chain_observations(study)
        seal_pulls(study)
        if key in keys:  # there were so few that two studies could have the same
            say("UPDATE ramgape_studies SET key = :key WHERE id = :study", key=secrets.token_hex(8), study=study)
        keys.add(key)
    op.create_index("ramgape_studies_random", "ramgape_studies", ["key"], unique=True)
    for row in ask(
        "SELECT id, name, key, specification, created_at, revision, asked, told, failed, stopped_at, decision, "
        "withdrawn, chain FROM ramgape_studies"
    ):
        say("UPDATE ramgape_studies SET seal = :seal WHERE id = :study", seal=seal_study(tuple(row)), study=row[0])


def ask(statement: str, **values: Any) -> list[Any]:
    return list(op.get_bind().execute(text(statement), values))


def say(statement: str, **values: Any) -> None:
    op.get_bind().execute(text(statement), values)


def name_pulls(study: int, key: str) -> None:
    for table in ("ramgape_pulls", "ramgape_failures"):
        say(f"UPDATE {table} SET token = :key WHERE study_id = :study", key=key, study=study)
    say(
        "UPDATE ramgape_observations SET token = :key WHERE study_id = :study AND number IS NOT NULL",
        key=key,
        study=study,
    )


def chain_observations(study: int) -> None:
    link = start = 0
    while rows := ask(
        "SELECT place, arm, reward FROM ramgape_observations WHERE study_id = :study AND place >= :start "
        "AND place < :stop ORDER BY place",
        study=study,
        start=start,
        stop=start + CHUNK,
    ):
        links = []
        for place, arm, reward in rows:
            link = next_link(link, arm, reward)
            links.append({"study": study, "place": place, "chain": link})
        update = "UPDATE ramgape_observations SET chain = :chain WHERE study_id = :study AND place = :place"
        op.get_bind().execute(text(update), links)
        start += CHUNK
    say("UPDATE ramgape_studies SET chain = :chain WHERE id = :study", chain=link, study=study)


def seal_pulls(study: int) -> None:
    for row in ask(
        "SELECT number, arm, attempt, worker, lease_until, failures, failed_attempt, given_up, token "
        "FROM ramgape_pulls WHERE study_id = :study",
        study=study,
    ):
        pull = (*row[:7], bool(row[7]), row[8], None, None, False)
        say(
            "UPDATE ramgape_pulls SET seal = :seal WHERE study_id = :study AND number = :number",
            seal=seal((*pull, WALL_CLOCK)),
            study=study,
            number=row[0],
        )
