"""How Alembic runs the migrations: on the connection that it is given, with a version table of our own.

A database may be shared with other programs that use Alembic; their tables and versions are none of our business.
"""

from __future__ import annotations

from typing import Any

from alembic import context

from ramgape.storage.schema import METADATA, PREFIX
from ramgape.storage.statements import VERSION_TABLE


def is_ours(name: str | None, kind: str, _: Any) -> bool:
    """Whether Alembic should look at it."""
    return kind != "table" or (name or "").startswith(PREFIX)


def run() -> None:
    """Run what was asked for."""
    context.configure(
        connection=context.config.attributes["connection"],
        target_metadata=METADATA,
        version_table=VERSION_TABLE,
        include_name=is_ours,
    )
    context.run_migrations()


if hasattr(context, "config"):  # executed by Alembic, not imported
    run()
