"""Files that appear whole: readers find the old file or the new one, never a part."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

STREAMS = ("/dev/", "/proc/")  # what is there may be a file, but another process has it open already


@contextmanager
def replacing(path: str | os.PathLike[str], mode: int = 0o666) -> Iterator[Path]:
    """A new, empty file beside another; at the end it takes the other's place, and after an error it is gone.

    A link stays one: what it points at is replaced. A file that is there keeps its permissions; those of a new one are
    `mode`, as far as the process's mask allows.
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    there = target.exists()
    if there and not os.access(target, os.W_OK):  # to put another in its place would need no permission
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    part = target.with_name(f".ramgape-{secrets.token_hex(8)}.part")  # short, however long the other's name is
    os.close(os.open(part, os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
    try:
        if there:
            part.chmod(stat.S_IMODE(target.stat().st_mode))
        yield part
        _synchronise(part)
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise
    with suppress(OSError):  # not every system can
        _synchronise(target.parent)


def is_stream(path: str | os.PathLike[str]) -> bool:
    """Whether a path leads to what can be written to but not replaced: a pipe, a device, an open file of a process."""
    if str(Path(path).absolute()).startswith(STREAMS):
        return True
    try:
        mode = Path(path).stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _synchronise(path: Path) -> None:
    """Make sure that it is on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
