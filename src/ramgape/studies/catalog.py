"""The studies in a store: listed, found, deleted."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from contextlib import contextmanager

from ramgape.common.checks import check_text
from ramgape.errors import UnknownStudy, shorten
from ramgape.storage import Store, open_store
from ramgape.studies.report import StudySummary, summarize


def list_studies(storage: str | Store) -> list[StudySummary]:
    """The studies in a store, by name.

    Args:
        storage: As for `Study.create`.

    Raises:
        StorageError: There is no store, or it cannot be used.
    """
    with opened_store(storage) as store:
        return [summarize(row, pending) for row, pending in store.list_studies()]


def find_summary(name: str, storage: str | Store) -> StudySummary | None:
    """One study as in the list, which may be long; None if there is none of that name."""
    with opened_store(storage) as store:
        row = store.find_study(name)
        return None if row is None else summarize(row, store.count_pending(row.id))


def delete_study(name: str, storage: str | Store) -> None:
    """Delete a study with all its observations, for good.

    Args:
        name: Its name.
        storage: As for `Study.create`.

    Raises:
        UnknownStudy: The store has no such study.
        StorageError: There is no store, or it cannot be used.
    """
    check_text(name, "name")
    with opened_store(storage) as store:
        if not store.delete_study(name):
            raise unknown_study(store, name)


@contextmanager
def opened_store(storage: str | Store) -> Iterator[Store]:
    """A store that exists, for a moment."""
    store = open_store(storage, create=False)
    try:
        yield store
    finally:
        store.close()


def unknown_study(store: Store, name: str) -> UnknownStudy:
    """What to say of a name that is not there."""
    names = store.study_names()
    near = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    there = ", ".join(map(shorten, names[:8])) + (", ..." if len(names) > 8 else "") if names else "there is none"
    return UnknownStudy(f"study must be one of those in {store.url} ({there}), got {shorten(name)}{hint}")
