"""The version of a store's tables: read when it is opened, made by migrations when it is created or upgraded.

Versions are numbered, 0001, 0002, ..., and each is a file in `migrations/versions`. Alembic, which runs them, is
imported for that alone.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from ramgape.errors import StorageError, shorten
from ramgape.storage.database import Database
from ramgape.storage.rows import damaged
from ramgape.storage.statements import VERSION_TABLE

MIGRATIONS = Path(__file__).parent / "migrations"
READ_VERSION = f"SELECT version_num FROM {VERSION_TABLE}"


class Upgrade(NamedTuple):
    """From which version to which a store was brought; the same if there was nothing to do."""

    before: str
    after: str


def newest_version(folder: Path = MIGRATIONS) -> str:
    """The version that this program makes and reads."""
    return max(_versions(folder))


def check_version(database: Database, folder: Path = MIGRATIONS, any_version: bool = False) -> bool:
    """Whether the database has a store; an error if that is of another version than ours, unless any will do."""
    connection = database.ready()
    try:
        version = _read_version(database, connection)
    except database.failures as error:
        if database.is_missing_table(error):
            return False
        database.complain(error)
    return any_version or _is_ours(database, version, newest_version(folder))


def create_tables(database: Database, folder: Path = MIGRATIONS) -> None:
    """Make a store in a database that has none; if others try the same at once, one of them does it."""
    _migrate(database, folder, create=True)


def upgrade_tables(database: Database, folder: Path = MIGRATIONS) -> Upgrade:
    """Bring a store of an older version to ours."""
    return _migrate(database, folder, create=False)


def _versions(folder: Path) -> set[str]:
    return {file.name.partition("_")[0] for file in (folder / "versions").glob("[0-9]*_*.py")}


def _is_ours(database: Database, version: str, ours: str, upgrading: bool = False) -> bool:
    where = database.url.shown
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


def _migrate(database: Database, folder: Path, create: bool) -> Upgrade:
    from sqlalchemy import create_engine
    from sqlalchemy.exc import DBAPIError
    from sqlalchemy.pool import NullPool

    ours = newest_version(folder)
    # A connection of its own, because SQLAlchemy has its own ideas of when to roll back.
    engine = create_engine(f"{database.driver}://", creator=lambda: database.connect(create), poolclass=NullPool)
    try:
        with engine.connect() as connection, connection.begin():
            raw: Any = connection.connection.driver_connection
            database.begin_alone(raw)
            before = _version_in(database, raw)
            if before is None and not create:
                raise StorageError(f"{database.url.shown} has no store of ramgape")
            if before is None or not _is_ours(database, before, ours, upgrading=not create):
                if before is not None and before not in _versions(folder):
                    damaged(database.url.shown, f"it has version {before}, which there never was")
                _run_migrations(connection, folder)
            database.run(raw, "COMMIT")
    except DBAPIError as error:
        original = error.orig
        database.complain(original if isinstance(original, Exception) else error)
    except database.failures as error:
        database.complain(error)
    return Upgrade(before or "", ours)


def _version_in(database: Database, raw: Any) -> str | None:
    return _read_version(database, raw) if database.has_table(raw, VERSION_TABLE) else None


def _read_version(database: Database, raw: Any) -> str:
    """What stands in the table of the version. It comes with its row, so without one it is damaged."""
    rows = database.run(raw, READ_VERSION).fetchall()
    if len(rows) != 1 or not isinstance(rows[0][0], str):
        damaged(database.url.shown, f"{VERSION_TABLE} must have one row with a version, got {shorten(rows)}")
    return str(rows[0][0])


def _run_migrations(connection: Any, folder: Path) -> None:
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    command.upgrade(config, "head")
