"""One at a time, among processes: a lock that ends with the process that holds it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PAUSE = 0.02  # seconds between two tries


@contextmanager
def file_lock(path: Path, patience: float) -> Iterator[None]:
    """Hold the lock that a file stands for; it is made if it is not there, and stays, since to remove it is a race.

    Args:
        path: The file.
        patience: Seconds after which a `TimeoutError` says that another process still holds the lock.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        end = time.monotonic() + patience
        while not _is_taken(handle):
            if time.monotonic() >= end:
                raise TimeoutError
            time.sleep(PAUSE)
        yield
    finally:
        os.close(handle)  # which gives the lock back


def _is_taken(handle: int) -> bool:
    """Take the lock, if it is free."""
    try:
        if sys.platform != "win32":
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        else:  # pragma: no cover
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
    except OSError:
        return False
    return True
