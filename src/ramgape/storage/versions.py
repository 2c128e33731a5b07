"""The version of a store's tables: read when it is opened, written when it is created or upgraded.

Versions are numbered 0001, 0002, ...; `migrations` makes each out of the one before. Alembic made the tables once, and
programs of that time read the version from its table: so it is still written there.
"""

from __future__ import annotations

from typing import NamedTuple

from ramgape.errors import StorageError, shorten
from ramgape.storage.checksums import damaged
from ramgape.storage.store import SqlStore

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


def check_version(store: SqlStore, any_version: bool = False) -> bool:
    """Whether the database has a store; an error if that is of another version than ours, unless any will do."""
    version = _read_version(store)
    return version is not None and (any_version or _is_ours(store, version))


def create_tables(store: SqlStore) -> None:
    """Make a store in a database that has none; if others try the same at once, one of them does it."""
    _migrate(store, create=True)


def upgrade_tables(store: SqlStore) -> Upgrade:
    """Bring a store of an older version to ours."""
    return _migrate(store, create=False)


def _is_ours(store: SqlStore, version: str, upgrading: bool = False) -> bool:
    where, ours = store.url, newest_version()
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


def _migrate(store: SqlStore, create: bool) -> Upgrade:
    from ramgape.storage.migrations import migrate

    ours = newest_version()
    try:
        store.begin_alone(create)
        before = _read_version(store)
        if before is None and not create:
            raise StorageError(f"{store.url} has no store of ramgape")
        if before is None:
            store.execute(MAKE_VERSION)
            migrate(store, 0, NEWEST)
            store.execute(f"INSERT INTO {VERSION_TABLE} VALUES ('{ours}')")
        elif not _is_ours(store, before, upgrading=not create):
            if before not in [f"{each:04}" for each in range(1, NEWEST)]:
                damaged(store.url, f"it has version {before}, which there never was")
            migrate(store, int(before), NEWEST)
            store.execute(f"UPDATE {VERSION_TABLE} SET version_num = '{ours}'")
        store.commit()
    finally:
        store.rollback()
        store.close()  # the connection has the time limits of a migration
    return Upgrade(before or "", ours)


def _read_version(store: SqlStore) -> str | None:
    """What stands in the table of the version, if there is one. It comes with its row, so without one it is damaged."""
    if not store.has_table(VERSION_TABLE):
        return None
    rows = store.fetch(f"SELECT version_num FROM {VERSION_TABLE}")
    if len(rows) != 1 or not isinstance(rows[0][0], str):
        damaged(store.url, f"{VERSION_TABLE} must have one row with a version, got {shorten(rows)}")
    return str(rows[0][0])
