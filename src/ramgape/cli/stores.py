"""Where studies are kept: `--storage`, or RAMGAPE_STORAGE, or a file in the current directory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ramgape.errors import StorageError
from ramgape.remote.address import is_remote
from ramgape.storage.urls import has_password, parse_url, shown, store_exists

if TYPE_CHECKING:
    from ramgape.studies.study import Study

VARIABLE = "RAMGAPE_STORAGE"
DEFAULT_STORAGE = "sqlite:///ramgape.db"


def storage_url(given: str | None, fallback: str | None = None) -> str:
    """The store that is meant: the option, then the environment, then the fallback, then the usual one.

    One with a password is refused on the command line, which everybody on the machine can read.
    """
    if given is not None and has_password(given):
        if is_remote(given):
            parse_url(given)  # which has its own words for that
        allowed = (
            "given without a password, which others could read in the list of processes: set "
            f"{VARIABLE} instead, or put the password where PostgreSQL looks for it (PGPASSWORD, ~/.pgpass)"
        )
        raise StorageError(what="storage", allowed=allowed, hint=f"; got {shown(given)!r}")
    url = given or os.environ.get(VARIABLE) or fallback or DEFAULT_STORAGE
    parse_url(url)
    return url


def existing_storage(given: str | None) -> str:
    """The URL of a store that is there already; for a file that is missing, how to make one."""
    url = storage_url(given)
    parsed = parse_url(url)
    if parsed.path is not None and not store_exists(parsed):
        raise StorageError(f"there is no store at {shown(url)}: no such file; ramgape study create makes one")
    return url


@contextmanager
def opened_study(name: str, storage: str | None) -> Iterator[Study]:
    """A study that exists."""
    url = existing_storage(storage)
    from ramgape.studies.study import Study

    with Study.load(name, url) as study:
        yield study
