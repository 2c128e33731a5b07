"""The file of a SQLite store: whether it is there, whether it can be one, and how it is made."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path

from ramgape.errors import StorageError
from ramgape.storage.urls import StoreUrl

PRIVATE = 0o600  # studies are nobody else's business, unless their owner says so
LONGEST_PATH = 500  # bytes; SQLite takes 504, or a few thousand, depending on how it was built


def store_exists(url: StoreUrl) -> bool:
    """Whether there is such a file. What can never be a store is an error: SQLite would wait for a pipe for ever."""
    assert url.path is not None
    try:
        mode = url.path.stat().st_mode
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise StorageError(f"there can be no store at {url.shown}: {error.strerror or error}") from None
    if stat.S_ISDIR(mode):
        raise StorageError(f"there can be no store at {url.shown}: that is a folder")
    if not stat.S_ISREG(mode):
        raise StorageError(f"there can be no store at {url.shown}: that is a pipe or a device, and no file")
    return True


def make_private(url: StoreUrl) -> None:
    """Make the file, empty, before SQLite does, which would let everybody read it.

    What SQLite makes beside it later has the same permissions. If another process is faster, the file is that one's.
    """
    assert url.path is not None
    path = Path(os.path.realpath(url.path))
    if not path.parent.is_dir():
        raise StorageError(f"there can be no store at {url.shown}: no such folder")
    if len(os.fsencode(path)) > LONGEST_PATH:
        allowed = f"a path of at most {LONGEST_PATH} bytes"
        raise StorageError(what="the file of a store", verb="have", allowed=allowed, given=url.shown)
    try:
        Path(f"{path}-journal").exists()  # SQLite's own, whose name may be too long where this one's is not
        with suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE))
    except OSError as error:
        raise StorageError(f"there can be no store at {url.shown}: {error.strerror or error}") from None
