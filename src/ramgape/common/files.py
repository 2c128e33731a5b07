"""What comes from outside as text, read so that nothing hangs, nothing fills the memory, and no number is guessed."""

from __future__ import annotations

import errno
import io
import json
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

from ramgape.errors import InvalidData, InvalidSpec, require, shorten

LONGEST_LINE = 500_000  # bytes: what is longer is no line of observations, and would have to be held in memory
LARGEST_FILE = 64 * 2**20  # bytes of a file that is taken in as a whole
OPEN_ALREADY = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")  # where a shell puts what it reads from, `<(...)`


def read_number(text: str) -> float:
    """The number that a text in data means; a ValueError if it is none.

    Python would read 1_5 as 15, and digits of all scripts; in data these are mistakes.

    >>> read_number(" -1e-3 "), read_number("inf")
    (-0.001, inf)
    >>> read_number("1_5")
    Traceback (most recent call last):
    ValueError: not a number: '1_5'
    """
    bare = text.strip()
    if "_" in bare or not bare.isascii():
        raise ValueError(f"not a number: {text!r}")
    return float(bare)


def open_file(path: str | os.PathLike[str]) -> IO[bytes]:
    """Open a file for reading.

    An OSError for a FIFO, which may never get a writer, and for a device, which may have no end.
    """
    mode = os.stat(path).st_mode  # noqa: PTH116 - a path may be a str
    usable = stat.S_ISREG(mode) or stat.S_ISDIR(mode) or os.fspath(path).startswith(OPEN_ALREADY)
    if not usable:
        raise OSError(errno.EINVAL, "it is a FIFO or a device, not a file")
    return Path(path).open("rb")


def read_whole(path: str | os.PathLike[str], most: int = LARGEST_FILE) -> bytes:
    """All bytes of a file; an OSError, before much is read, if they are more than `most`."""
    with open_file(path) as file:
        if os.fstat(file.fileno()).st_size <= most and len(content := file.read(most + 1)) <= most:
            return content
    raise OSError(errno.EFBIG, f"it has more than {most:,} bytes")


def as_text(binary: IO[bytes], name: str) -> io.TextIOWrapper:
    """UTF-8 with bounded lines; line breaks are left as they are, since the names in a CSV file may contain them."""
    return NamedText(cast(IO[bytes], BoundedLines(binary, name)), name)


@contextmanager
def opened(path: str | os.PathLike[str] | IO[str]) -> Iterator[IO[str]]:
    """A file as text, UTF-8; what cannot be read as such is a clear error."""
    check_path(path, "read")
    try:
        if isinstance(path, (str, os.PathLike)):
            with open_file(path) as binary:
                yield as_text(binary, str(path))
        else:
            yield path
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise InvalidSpec(place=name_of(path), allowed="text in UTF-8", given=f"byte {byte:#04x}") from None


def name_of(path: str | os.PathLike[str] | IO[str]) -> str:
    """What errors call a file; a stream without a name of its own is taken for standard input."""
    if isinstance(path, (str, os.PathLike)):
        return str(path)
    name = getattr(path, "name", None)
    return str(name) if isinstance(name, (str, os.PathLike)) and name else "standard input"


class NamedText(io.TextIOWrapper):
    """Text from bytes, with the name that errors call it."""

    def __init__(self, file: Any, name: str) -> None:
        super().__init__(file, encoding="utf-8-sig", newline="")
        self._called = name

    @property
    def name(self) -> str:
        """What errors call it."""
        return self._called


def check_path(path: object, method: str) -> None:
    """A path, or a stream that can do what is asked of it."""
    if isinstance(path, str | os.PathLike):
        require("\0" not in os.fspath(path), "path", "without null characters", path)
    else:
        require(hasattr(path, method), "path", "the path of a file, or a stream of text", path)


def read_objects(stream: IO[str], name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON objects of a stream, one a line, each with the number of its line."""
    for number, line in enumerate(stream, start=1):
        if not line.strip():
            continue
        try:
            found = json.loads(line, object_pairs_hook=_object)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise InvalidSpec(place=f"{name}, line {number}", allowed="a JSON object", given=shorten(line))
        yield number, found


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object; a key may occur only once."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands there twice")
    return found


class BoundedLines(io.RawIOBase):
    """The bytes of a file, which stays the caller's to close; an error for a line that would fill the memory."""

    def __init__(self, source: IO[bytes], name: str, limit: int | None = None, before: int = 0) -> None:
        self._source, self._name, self._limit = source, name, limit or LONGEST_LINE
        self.name = getattr(source, "name", None)  # the path, for readers of the text
        self._lines, self._length = before, 0

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Some bytes, as soon as there are any."""
        found: bytes = self._source.read1(len(buffer))  # type: ignore[attr-defined]
        buffer[: len(found)] = found
        end = max(found.rfind(b"\n"), found.rfind(b"\r"))
        self._length = len(found) - end - 1 + (self._length if end < 0 else 0)
        self._lines += found.count(b"\n")
        if self._length > self._limit:
            what = f"{self._name}, line {self._lines + 1:,},"
            raise InvalidData(what=what, allowed=f"at most {self._limit:,} bytes long", given="a longer one")
        return len(found)
