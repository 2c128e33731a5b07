"""Stores: where studies live, so that they outlast a program and several programs can work on one.

A store keeps rows (`records`) and knows nothing of what they mean; `protocol` has what is asked of one. Ours are SQL
databases, SQLite or PostgreSQL, and memory; others are registered by the scheme of their URLs.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from ramgape.errors import StorageError
from ramgape.storage.protocol import Store
from ramgape.storage.urls import StoreUrl, parse_url, store_exists

if TYPE_CHECKING:
    from ramgape.storage.store import SqlStore
    from ramgape.storage.versions import Upgrade

__all__ = ["Store", "open_store", "upgrade"]


def open_store(storage: str | Store, *, create: bool) -> Store:
    """The store that is meant.

    Args:
        storage: Its URL, or the store itself, which is then given back.
        create: Whether one is made if there is none.

    Raises:
        StorageError: There is none, or it is of another version, or it cannot be reached.
    """
    if not isinstance(storage, str) and isinstance(storage, Store):
        return storage
    url = parse_url(storage)
    if url.opener is None:
        return _open_sql_store(url, create)
    store = url.opener(storage, create=create)
    if not isinstance(store, Store):
        raise StorageError(what=f"what opens {url.shown}", allowed="a store", given=type(store).__name__, verb="give")
    return store


def _open_sql_store(url: StoreUrl, create: bool) -> SqlStore:
    store = connect(url)
    from ramgape.storage.versions import check_version, create_tables

    try:
        missing = create and url.path is not None and not store_exists(url)
        if missing or not check_version(store):
            if not create:
                raise StorageError(f"{url.shown} has no store of ramgape")
            create_tables(store)
    except BaseException:
        store.close()
        raise
    return store


def upgrade(url: str) -> Upgrade:
    """Bring the store at a URL to the version that this program needs; says from which version to which."""
    from ramgape.storage.versions import upgrade_tables

    with closing(connect(parse_url(url))) as store:
        return upgrade_tables(store)


def connect(url: StoreUrl) -> SqlStore:
    """The store at a URL, which is not opened yet."""
    if url.opener is not None:
        raise StorageError(what="the store", allowed="on SQLite or PostgreSQL for this", given=url.shown)
    if url.path is not None:
        from ramgape.storage.sqlite import SqliteStore

        return SqliteStore(url)
    from ramgape.storage.postgres import PostgresStore

    return PostgresStore(url)
