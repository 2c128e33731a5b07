"""Random names of pulls, check values, batches, answers that are held back, and what a catch-up needs.

An open pull keeps the name that was handed out, which began with the key of its study.
"""

from __future__ import annotations

import secrets
import struct
import zlib
from typing import Any

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
    false,
    text,
)
from sqlalchemy.types import TypeEngine

from ramgape.storage.schema import ExactDouble

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
    op.add_column("ramgape_studies", number("batches"))
    op.add_column("ramgape_studies", number("seal"))
    op.add_column("ramgape_pulls", Column("token", Text, nullable=False, server_default=""))
    op.add_column("ramgape_pulls", Column("answer", EXACT))
    op.add_column("ramgape_pulls", Column("answered_at", EXACT))
    op.add_column("ramgape_pulls", Column("answer_failed", Boolean, nullable=False, server_default=false()))
    op.add_column("ramgape_pulls", Column("answer_attempt", Integer, nullable=False, server_default="0"))
    op.add_column("ramgape_pulls", number("seal"))
    op.add_column("ramgape_pulls", Column("clock", Text, nullable=False, server_default=WALL_CLOCK))
    op.add_column("ramgape_pulls", number("revision"))
    op.create_index("ramgape_pulls_revision", "ramgape_pulls", ["study_id", "revision"])
    op.add_column("ramgape_observations", Column("token", Text))
    op.add_column("ramgape_observations", number("chain"))
    op.add_column("ramgape_observations", number("seal"))
    op.add_column("ramgape_failures", Column("token", Text, nullable=False, server_default=""))
    op.add_column("ramgape_failures", number("seal"))
    op.create_table(
        "ramgape_batches",
        Column("study_id", BigInteger, nullable=False),
        Column("place", BigInteger, nullable=False),
        Column("size", BigInteger, nullable=False),
        number("seal"),
        PrimaryKeyConstraint("study_id", "place", name="ramgape_batches_key"),
        ForeignKeyConstraint(["study_id"], ["ramgape_studies.id"], name="ramgape_batches_study", ondelete="CASCADE"),
        sqlite_with_rowid=False,
    )
    keys: set[str] = set()
    for study, key in ask("SELECT id, key FROM ramgape_studies ORDER BY id"):
        seal_observations(study, key)
        seal_pulls(study, key)
        seal_failures(study, key)
        count_withdrawn(study)
        if key in keys:  # there were so few that two studies could have the same
            say("UPDATE ramgape_studies SET key = :key WHERE id = :study", key=secrets.token_hex(8), study=study)
        keys.add(key)
    op.create_index("ramgape_studies_random", "ramgape_studies", ["key"], unique=True)
    for row in ask(
        "SELECT id, name, key, specification, created_at, revision, asked, told, failed, stopped_at, decision, "
        "withdrawn, chain, batches FROM ramgape_studies"
    ):
        sealed = seal((seal(tuple(row[:5])), *row[5:]))
        say("UPDATE ramgape_studies SET seal = :seal WHERE id = :study", seal=sealed, study=row[0])


def seal(values: tuple[Any, ...]) -> int:
    """As in this version, whatever later ones do."""
    return zlib.crc32(repr(values).encode(errors="surrogatepass"))


def ask(statement: str, **values: Any) -> list[Any]:
    return list(op.get_bind().execute(text(statement), values))


def say(statement: str, **values: Any) -> None:
    op.get_bind().execute(text(statement), values)


def seal_observations(study: int, key: str) -> None:
    link = start = 0
    while rows := ask(
        "SELECT place, number, attempt, arm, reward, failed, worker, told_at, origin FROM ramgape_observations "
        "WHERE study_id = :study AND place >= :start AND place < :stop ORDER BY place",
        study=study,
        start=start,
        stop=start + CHUNK,
    ):
        sealed = []
        for place, number, attempt, arm, reward, failed, *rest in rows:
            link = zlib.crc32(struct.pack("<qd", arm, reward), link)
            token = None if number is None else key
            record = (number, attempt, arm, reward, bool(failed), *rest, token, link)
            sealed.append({"study": study, "place": place, "token": token, "chain": link, "seal": seal(record)})
        update = (
            "UPDATE ramgape_observations SET token = :token, chain = :chain, seal = :seal "
            "WHERE study_id = :study AND place = :place"
        )
        op.get_bind().execute(text(update), sealed)
        start += CHUNK
    say("UPDATE ramgape_studies SET chain = :chain WHERE id = :study", chain=link, study=study)


def seal_pulls(study: int, key: str) -> None:
    for *values, given_up in ask(
        "SELECT number, arm, attempt, worker, lease_until, failures, failed_attempt, given_up FROM ramgape_pulls "
        "WHERE study_id = :study",
        study=study,
    ):
        say(
            "UPDATE ramgape_pulls SET token = :token, seal = :seal WHERE study_id = :study AND number = :number",
            token=key,
            seal=seal((*values, bool(given_up), key, None, None, False, 0)),
            study=study,
            number=values[0],
        )


def count_withdrawn(study: int) -> None:
    """Pulls that are neither open nor answered: nobody had counted them."""
    say(
        "UPDATE ramgape_studies SET withdrawn = asked "
        "- (SELECT count(*) FROM ramgape_pulls WHERE study_id = :study) "
        "- (SELECT count(number) FROM ramgape_observations WHERE study_id = :study) WHERE id = :study",
        study=study,
    )


def seal_failures(study: int, key: str) -> None:
    for row in ask(
        "SELECT number, attempt, arm, worker, reason, failed_at FROM ramgape_failures WHERE study_id = :study",
        study=study,
    ):
        say(
            "UPDATE ramgape_failures SET token = :token, seal = :seal "
            "WHERE study_id = :study AND number = :number AND attempt = :attempt",
            token=key,
            seal=seal((*row, key)),
            study=study,
            number=row[0],
            attempt=row[1],
        )
