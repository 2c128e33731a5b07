"""How many attempts went with the machine that made them.

All rows of studies are sealed anew with none, but not before their old seals are found unbroken.
"""

from __future__ import annotations

import zlib

from alembic import op
from sqlalchemy import BigInteger, Column, text

from ramgape.errors import DamagedStore

revision = "0006"
down_revision = "0005"

STUDY = (
    "id, name, key, specification, created_at, revision, asked, told, failed, stopped_at, decision, withdrawn, chain, "
    "batches"
)


def upgrade() -> None:
    op.add_column("ramgape_studies", Column("lost", BigInteger, nullable=False, server_default="0"))
    bind = op.get_bind()
    for before, *values in list(bind.execute(text(f"SELECT seal, {STUDY} FROM ramgape_studies"))):
        fixed = seal(tuple(values[:5]))
        if seal((fixed, *values[5:])) != before:
            what = f"row {values[0]} of studies is not what was written"
            raise DamagedStore(f"the store is damaged: {what}; restore a copy, and upgrade that")
        update = text("UPDATE ramgape_studies SET seal = :seal WHERE id = :id")
        bind.execute(update, {"seal": seal((fixed, *values[5:], 0)), "id": values[0]})


def seal(values: tuple[object, ...]) -> int:
    """As in this version, whatever later ones do."""
    return zlib.crc32(repr(values).encode(errors="surrogatepass"))
