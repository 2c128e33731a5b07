"""Stores: where studies live, so that they outlast a program and several programs can work on one.

A store keeps rows (records.py) in a SQL database, SQLite or PostgreSQL, and knows nothing of what they mean.
SQLAlchemy and Alembic are imported only when one is created or upgraded.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ramgape.errors import StorageError
from ramgape.storage.places import store_exists
from ramgape.storage.urls import parse_url

if TYPE_CHECKING:
    from ramgape.storage.database import Database
    from ramgape.storage.store import SqlStore
    from ramgape.storage.versions import Upgrade


def open_store(url: str, *, create: bool, folder: Path | None = None) -> SqlStore:
    """The store at a URL; with `create`, one is made if there is none. `folder` has other migrations than ours."""
    database = _connect(url)
    from ramgape.storage.store import SqlStore
    from ramgape.storage.versions import MIGRATIONS, check_version, create_tables

    try:
        missing = create and database.url.path is not None and not store_exists(database.url)
        if missing or not check_version(database, folder or MIGRATIONS):
            if not create:
                raise StorageError(f"{database.url.shown} has no store of ramgape")
            # Anew afterwards: SQLite may go on thinking that there are no tables while others hold a lock.
            database.close()
            create_tables(database, folder or MIGRATIONS)
    except BaseException:
        database.close()
        raise
    return SqlStore(database)


def upgrade(url: str, *, folder: Path | None = None) -> Upgrade:
    """Bring the store at a URL to the version that this program needs; says from which version to which."""
    database = _connect(url)
    from ramgape.storage.versions import MIGRATIONS, upgrade_tables

    try:
        return upgrade_tables(database, folder or MIGRATIONS)
    finally:
        database.close()


def _connect(url: str) -> Database:
    parsed = parse_url(url)
    if parsed.path is not None:
        from ramgape.storage.sqlite import SqliteDatabase

        return SqliteDatabase(parsed)
    from ramgape.storage.postgres import PostgresDatabase

    return PostgresDatabase(parsed)
