"""The studies in a store: listed, found, deleted."""

from __future__ import annotations

from contextlib import closing, suppress
from typing import TYPE_CHECKING

from ramgape.common.checks import check_text
from ramgape.errors import UnknownStudy, unknown_study
from ramgape.remote.address import is_remote
from ramgape.search.explained import restore
from ramgape.storage import Store, open_store
from ramgape.studies.report import StudySummary, summarize

if TYPE_CHECKING:
    from ramgape.remote.connection import ServerConnection


def list_studies(storage: str | Store, *, token: str | None = None) -> list[StudySummary]:
    """The studies in a store, by name.

    Args:
        storage, token: As for `Study.create`.

    Raises:
        StorageError: There is no store, or it cannot be used.
    """
    if is_remote(storage):
        from ramgape.remote.studies import all_studies

        with connected(storage, token) as connection:
            rows = list(all_studies(connection))
            with connection.understanding("GET /studies"):
                return [restore(StudySummary, row) for row in rows]
    with closing(open_store(storage, create=False)) as store:
        return [summarize(row, pending) for row, pending in store.list_studies()]


def find_summary(name: str, storage: str | Store, token: str | None = None) -> StudySummary | None:
    """One study as in the list, which may be long; None if there is none of that name."""
    if is_remote(storage):
        from ramgape.remote.studies import find_study

        with connected(storage, token) as connection:
            found = find_study(connection, name)
            with connection.understanding("GET /studies"):
                return None if found is None else restore(StudySummary, found)
    with closing(open_store(storage, create=False)) as store:
        row = store.find_study(name)
        return None if row is None else summarize(row, store.count_pending(row.id))


def delete_study(name: str, storage: str | Store, *, token: str | None = None) -> None:
    """Delete a study with all its observations, for good.

    Args:
        name: Its name.
        storage, token: As for `Study.create`.

    Raises:
        UnknownStudy: The store has no such study.
        StorageError: There is no store, or it cannot be used.
    """
    check_text(name, "name")
    if is_remote(storage):
        from ramgape.remote.studies import known_study

        with connected(storage, token) as connection:
            number = known_study(connection, name)["id"]
            with suppress(UnknownStudy):  # it was deleted a moment ago, perhaps by this process
                connection.call("DELETE", f"/studies/{number}", query={"confirm": name})
        return
    with closing(open_store(storage, create=False)) as store:
        if not store.delete_study(name):
            raise unknown_study(name, store.study_names(), store.url)


def connected(url: str, token: str | None) -> closing[ServerConnection]:
    """A server, for a moment."""
    from ramgape.remote.connection import ServerConnection

    return closing(ServerConnection(url, token))
