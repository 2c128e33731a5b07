"""The item that a pull is about, what it has cost, and what else was told with an answer.

All rows of observations and open pulls are sealed anew, with nothing in these columns; but not before their old seals
are found unbroken, or damage would be sealed with them.
"""

from __future__ import annotations

import zlib
from typing import Any

from alembic import op
from sqlalchemy import BigInteger, Column, Double, Text, text
from sqlalchemy.types import TypeEngine

from ramgape.errors import DamagedStore
from ramgape.storage.schema import ExactDouble

revision = "0004"
down_revision = "0003"

EXACT: TypeEngine[float] = Double().with_variant(ExactDouble(), "sqlite")
CHUNK = 10_000
OBSERVATION = "number, attempt, arm, reward, failed, worker, told_at, origin, token, chain"
PULL = (
    "number, arm, attempt, worker, lease_until, failures, failed_attempt, given_up, token, answer, answered_at, "
    "answer_failed, answer_attempt"
)
NOTHING = (None, None, None)


def upgrade() -> None:
    op.add_column("ramgape_pulls", Column("item", BigInteger))
    op.add_column("ramgape_pulls", Column("answer_price", EXACT))
    op.add_column("ramgape_pulls", Column("answer_info", Text))
    op.add_column("ramgape_observations", Column("item", BigInteger))
    op.add_column("ramgape_observations", Column("price", EXACT))
    op.add_column("ramgape_observations", Column("info", Text))
    for (study,) in ask("SELECT id FROM ramgape_studies ORDER BY id"):
        start = 0
        while reseal("observations", "place", OBSERVATION, (4,), study, start):
            start += CHUNK
        reseal("pulls", "number", PULL, (7, 11), study)


def reseal(table: str, key: str, columns: str, switches: tuple[int, ...], study: int, start: int | None = None) -> int:
    """Seal the rows of a study in a table, or those of a chunk; how many they are. Switches are numbers in SQLite."""
    part = "" if start is None else f" AND {key} >= {start} AND {key} < {start + CHUNK}"
    rows = ask(f"SELECT {key}, seal, {columns} FROM ramgape_{table} WHERE study_id = :study{part}", study=study)
    sealed = []
    for place, before, *values in rows:
        for switch in switches:
            values[switch] = bool(values[switch])
        if seal(tuple(values)) != before:
            what = f"row {place} of {table} is not what was written"
            raise DamagedStore(f"the store is damaged: {what}; restore a copy, and upgrade that")
        sealed.append({"study": study, "place": place, "seal": seal((*values, *NOTHING))})
    if sealed:
        update = f"UPDATE ramgape_{table} SET seal = :seal WHERE study_id = :study AND {key} = :place"
        op.get_bind().execute(text(update), sealed)
    return len(sealed)


def seal(values: tuple[Any, ...]) -> int:
    """As in this version, whatever later ones do."""
    return zlib.crc32(repr(values).encode(errors="surrogatepass"))


def ask(statement: str, **values: Any) -> list[Any]:
    return list(op.get_bind().execute(text(statement), values))
