"""The version of a store's tables: read when it is opened, written when it is created or upgraded.

Versions are numbered 0001, 0002, ...; `migrations` makes each out of the one before. Alembic made the tables once, and
programs of that time read the version from its table: so it is still written there.
"""

from __future__ import annotations

from typing import NamedTuple

from ramgape.errors import StorageError, shorten
from ramgape.storage.checksums import damaged
from ramgape.storage.database import Database

NEWEST = 7  # the version that this program makes and reads
VERSION_TABLE = "ramgape_version"
MAKE_VERSION = (
    f"CREATE TABLE {VERSION_TABLE} (version_num VARCHAR(32) NOT NULL, "
    f"CONSTRAINT {VERSION_TABLE}_pkc PRIMARY KEY (version_num))"
)


class Upgrade(NamedTuple):
    """From which version to which a store was brought; the same if there was nothing to do."""

    before: str
    after: str


def newest_version() -> str:
    """The version that this program makes and reads, as it is stored."""
    return f"{NEWEST:04}"


def check_version(database: Database, any_version: bool = False) -> bool:
    """Whether the database has a store; an error if that is of another version than ours, unless any will do."""
    try:
        version = _read_version(database)
    except database.failures as error:
        if database.is_missing_table(error):
            return False
        database.complain(error)
    return any_version or _is_ours(database, version)


def create_tables(database: Database) -> None:
    """Make a store in a database that has none; if others try the same at once, one of them does it."""
    _migrate(database, create=True)


def upgrade_tables(database: Database) -> Upgrade:
    """Bring a store of an older version to ours."""
    return _migrate(database, create=False)


def _is_ours(database: Database, version: str, upgrading: bool = False) -> bool:
    where, ours = database.url.shown, newest_version()
    if version > ours:
        raise StorageError(
            f"{where} has version {version}, made by a newer ramgape, and this one knows {ours}: upgrade ramgape"
        )
    if version < ours and not upgrading:
        raise StorageError(
            f"{where} has version {version}, made by an older ramgape, and this one needs {ours}: "
            "run `ramgape storage upgrade`, when no program of the older one uses the store"
        )
    return version == ours


def _migrate(database: Database, create: bool) -> Upgrade:
    from ramgape.storage.migrations import migrate

    ours = newest_version()
    try:
        database.begin_alone(create)
        before = _read_version(database) if database.has_table(VERSION_TABLE) else None
        if before is None and not create:
            raise StorageError(f"{database.url.shown} has no store of ramgape")
        if before is None:
            database.execute(MAKE_VERSION)
            migrate(database, 0, NEWEST)
            database.execute(f"INSERT INTO {VERSION_TABLE} VALUES ('{ours}')")
        elif not _is_ours(database, before, upgrading=not create):
            if before not in [f"{each:04}" for each in range(1, NEWEST)]:
                damaged(database.url.shown, f"it has version {before}, which there never was")
            migrate(database, int(before), NEWEST)
            database.execute(f"UPDATE {VERSION_TABLE} SET version_num = '{ours}'")
        database.commit()
    except database.failures as error:
        database.complain(error)
    finally:
        database.rollback()
        database.close()  # the connection has the time limits of a migration
    return Upgrade(before or "", ours)


def _read_version(database: Database) -> str:
    """What stands in the table of the version. It comes with its row, so without one it is damaged."""
    rows = database.run(database.ready(), f"SELECT version_num FROM {VERSION_TABLE}").fetchall()
    if len(rows) != 1 or not isinstance(rows[0][0], str):
        damaged(database.url.shown, f"{VERSION_TABLE} must have one row with a version, got {shorten(rows)}")
    return str(rows[0][0])
