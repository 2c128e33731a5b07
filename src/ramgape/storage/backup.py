"""A copy of a whole store, of one moment, while others go on working with it.

The copy is a SQLite file, whatever the store is: to go back to it, use it as a store. It appears when it is whole and
was found to be sound.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ramgape.common.whole_files import is_stream, replacing
from ramgape.errors import StorageError, require
from ramgape.storage import connect
from ramgape.storage.checksums import damaged
from ramgape.storage.sqlite import SqliteStore
from ramgape.storage.tables import TABLES, marks, quoted
from ramgape.storage.urls import PATIENCE, PRIVATE, StoreUrl, parse_url
from ramgape.storage.versions import check_version, create_tables

if TYPE_CHECKING:
    from ramgape.storage.store import SqlStore

CHUNK = 5_000  # rows that are in memory at a time
BESIDE = ("-journal", "-wal", "-shm")  # what SQLite may leave next to a file


def back_up(url: str, file: str, *, force: bool = False) -> int:
    """Copy the store at a URL into a file; returns how many bytes that has. An old file is replaced only by `force`."""
    path = Path(file)
    with closing(connect(parse_url(url))) as store:
        with _explained(store, path):
            _check_target(store, path, force)
        with _explained(store, path), replacing(path, PRIVATE) as part:
            try:
                copy = SqliteStore(StoreUrl(f"the copy {str(path)!r}", part, "", PATIENCE, ()))
                if isinstance(store, SqliteStore):
                    _copy_pages(store, part)
                else:
                    _copy_rows(store, copy)
                problems = copy.integrity()
                copy.close()
            finally:
                for ending in BESIDE:
                    Path(f"{part}{ending}").unlink(missing_ok=True)
            if problems:
                damaged(store.url, f"no copy was made ({problems[0]})")
            return part.stat().st_size


def _check_target(store: SqlStore, path: Path, force: bool) -> None:
    if not check_version(store, any_version=store.place.path is not None):
        raise StorageError(f"{store.url} has no store of ramgape")
    if is_stream(path) or path.is_dir():
        require(False, "a copy", "a file", str(path), StorageError)
    if not path.exists():
        return
    if store.place.path is not None and path.samefile(store.place.path):
        require(False, "a copy", "another file than the store", str(path), StorageError)
    if not force:
        require(False, "a copy", "a new file, or replace an old one by --force", str(path), StorageError)
    for ending in BESIDE:
        other = Path(f"{path}{ending}")
        if other.exists() and other.stat().st_size:
            allowed = f"replace a database that is in use ({other.name})"
            raise StorageError(what="a copy", verb="not", allowed=allowed, given=repr(str(path)))


def _copy_pages(store: SqliteStore, part: Path) -> None:
    """SQLite's own copy. The lock comes first, and by our own patience: the copy would wait for it for ever."""
    store.begin_transaction(write=False)
    try:
        store.fetch("SELECT count(*) FROM sqlite_master")
        with closing(sqlite3.connect(part)) as copy:
            store.ready().backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # of a store with a write-ahead log, none is needed
    finally:
        store.rollback()


def _copy_rows(store: SqlStore, copy: SqliteStore) -> None:
    """All rows of our tables, as they were at one moment."""
    create_tables(copy)
    store.begin_transaction(write=False)
    try:
        copy.begin_transaction(write=True)
        for table in TABLES:
            names, name = quoted(table.columns), f"ramgape_{table.name}"
            for rows in _pages(store, f"SELECT {names} FROM {name}"):
                copy.execute_many(f"INSERT INTO {name} ({names}) VALUES ({marks(table.columns)})", rows)
        copy.commit()
    finally:
        copy.rollback()
        store.rollback()


def _pages(store: SqlStore, query: str) -> Iterator[list[tuple[Any, ...]]]:
    """The rows of a query on a server, a few thousand at a time."""
    with store.ready().cursor(name="ramgape_backup") as cursor:
        cursor.execute(query)
        while rows := cursor.fetchmany(CHUNK):
            yield rows


@contextmanager
def _explained(store: SqlStore, path: Path) -> Iterator[None]:
    """What goes wrong, on either side, in our own words."""
    try:
        yield
    except OSError as error:
        raise StorageError(f"{str(path)!r} cannot be written: {error.strerror or error}") from None
    except sqlite3.Error as error:
        raise StorageError(f"{store.url} cannot be copied to {str(path)!r} (SQLite says: {error})") from None
    except store.failures as error:
        store.complain(error)
