"""One at a time, among processes: a lock that ends with whoever holds it, however that ends."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PAUSE = 0.02  # seconds between two tries, where the system cannot wait


@contextmanager
def file_lock(path: Path) -> Iterator[None]:
    """Hold the lock that a file stands for; it is made if it is not there, and stays, since to remove it is a race."""
    handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        _wait_for(handle)
        yield
    finally:
        os.close(handle)  # which gives the lock back


def _wait_for(handle: int) -> None:
    if sys.platform != "win32":
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX)
    else:  # pragma: no cover
        import msvcrt

        while True:
            try:
                msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
                break
            except OSError:
                time.sleep(PAUSE)
