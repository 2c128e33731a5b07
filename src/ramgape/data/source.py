"""Files of logged trials, opened as bytes: unpacked, bounded in size, and named by their content.

A packed file is unpacked as it is read, and nothing of it is written to disk. What unpacks to far more than it is
(a zip bomb), a line without end and a path in an archive that leads elsewhere can do no harm: sizes are counted, and
members of an archive are only read.
"""

from __future__ import annotations

import bz2
import glob
import gzip
import io
import lzma
import os
import shutil
import stat
import struct
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, Any, NamedTuple, cast

from ramgape.common.files import BoundedLines, as_text, open_file
from ramgape.errors import InvalidData, MissingExtra, require, shorten

STANDARD_INPUT = "-"
IN_MEMORY = 2**24  # bytes of standard input; the rest goes to a temporary file
PEEK = 2**16  # bytes that show what a file is
LARGEST_DOCUMENT = 2**28  # bytes of a file that must be read as a whole
FREE_SIZE, LARGEST_RATIO = 2**26, 250  # a packed file may unpack to the first, or to so many times its own size
UNPACKING = (
    EOFError,
    zlib.error,
    lzma.LZMAError,
    gzip.BadGzipFile,
    zipfile.BadZipFile,
)  # what goes wrong while unpacking
ZSTANDARD = 93  # the method of a zip member that Python knows from 3.14 on

GZIP, XZ, BZIP2, ZIP, ZSTD = b"\x1f\x8b", b"\xfd7zXZ\x00", b"BZh", b"PK\x03\x04", b"\x28\xb5\x2f\xfd"
PARQUET, FEATHER = b"PAR1", b"ARROW1"
NO_TABLES = {  # how files begin that are no tables, and what they are
    b"SQLite format 3": "an SQLite database (ramgape study show reads a study: --storage sqlite:///FILE)",
    b"%PDF": "a PDF document",
    b"\x89PNG": "a PNG picture",
    b"\xff\xd8\xff": "a JPEG picture",
    b"GIF8": "a GIF picture",
    b"\x7fELF": "a program",
    b"\x80\x04\x95": "a Python pickle, which may run code when it is opened; write the table as CSV or Parquet",
    b"\x80\x05\x95": "a Python pickle, which may run code when it is opened; write the table as CSV or Parquet",
    b"\x93NUMPY": "a NumPy array; pass it to ramgape.analyze in Python as a dictionary of columns",
    b"\x89HDF": "an HDF5 file; write the table as CSV or Parquet",
    b"\xd0\xcf\x11\xe0": "an old Excel file (.xls); save it as .xlsx or CSV",
    b"PK\x05\x06": "an empty zip archive",
    ZIP: "a zip archive inside of a packed file; unpack it first",
    GZIP: "packed twice; unpack it first",
    b"7z\xbc\xaf": "a 7z archive; unpack it first",
    b"Rar!": "a RAR archive; unpack it first",
}


Content = tuple[io.BufferedReader, zipfile.ZipFile | None]


class Source(NamedTuple):
    """An open file.

    Attributes:
        text: Its text, in UTF-8.
        name: What errors call it.
        size: Its size in bytes, as it is on disk; None of a pipe.
        position: How many of these are read.
        content: All of it as bytes, unpacked, of which `peek` shows the beginning.
        path: Where it is; None of standard input.
        archive: The zip archive that it is, of an inspect log and an Excel file.
    """

    text: IO[str]
    name: str
    size: int | None
    position: Callable[[], int]
    content: io.BufferedReader
    path: Path | None = None
    archive: zipfile.ZipFile | None = None

    def peek(self) -> bytes:
        """The beginning of the content, which stays there to be read."""
        return self.content.peek(PEEK)[:PEEK]

    def document(self) -> bytes:
        """All of the content, of a file that must be read as a whole."""
        content = self.content.read(LARGEST_DOCUMENT + 1)
        allowed = f"at most {LARGEST_DOCUMENT:,} bytes long, since it must be read as a whole"
        if len(content) > LARGEST_DOCUMENT:
            raise InvalidData(what=self.name, allowed=allowed, given="a longer file")
        return content


def expand(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[str]:
    """The files that paths and patterns such as logs/*.eval mean, those of a pattern in the order of their names."""
    given = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found: list[str] = []
    for each in [os.fspath(path) for path in given]:
        require("\0" not in each, "a file", "named without null characters", each, InvalidData)
        if each == STANDARD_INPUT or not glob.has_magic(each) or Path(each).exists():
            found.append(each)
            continue
        matching = sorted(glob.glob(each, recursive=True))  # noqa: PTH207 - the pattern may be absolute
        require(bool(matching), "a pattern of files", "one that some file matches", each, InvalidData)
        found += matching
    require(found != [], "the files", "at least one", found, InvalidData)
    return list(dict.fromkeys(found))


@contextmanager
def open_source(path: str | os.PathLike[str]) -> Iterator[Source]:
    """Open a file, unpacked if it is packed, or standard input; what goes wrong while it is read names the file."""
    path = os.fspath(path)
    if path == STANDARD_INPUT:
        binary, name, where = cast(IO[bytes], sys.stdin.buffer), "standard input", None
    else:
        try:
            binary = open_file(path)
        except OSError as error:
            reason = f": {error.strerror or error}"
            raise InvalidData(what="data", allowed="a file that can be read", given=repr(path), hint=reason) from None
        name, where = Path(path).name, Path(path)
    position = binary.tell
    text = None
    try:
        size = _size(binary)
        content, archive = _unpacked(buffered(_Raw(binary)), binary, name, size)
        text = as_text(cast(IO[bytes], content), name)
        yield Source(text, name, size, position, content, where, archive)
    except UNPACKING as error:
        raise _broken(name, error) from None
    finally:
        if text is not None:
            text.detach()
        if where is not None:
            binary.close()


@contextmanager
def reading(file: str) -> Iterator[IO[str]]:
    """A file, or standard input, as text; complete before anything is done with it.

    A study is locked while it takes in trials, and a pipe may take long.
    """
    with open_source(file) as source:
        if file != STANDARD_INPUT:
            yield source.text
            return
        with SpooledTemporaryFile(IN_MEMORY) as copy:
            shutil.copyfileobj(source.text.buffer, copy)  # type: ignore[attr-defined]
            copy.seek(0)
            yield io.TextIOWrapper(cast(IO[bytes], copy), encoding="utf-8-sig", newline="")


def text_of(source: Source, encoding: str | None, line_limit: int) -> io.TextIOWrapper:
    """The text of a file in an encoding, with lines of at most so many bytes; UTF-16 shows by its first bytes."""
    head = source.peek()[:2]
    encoding = encoding or ("utf-16" if head in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    if encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
        encoding = "utf-8-sig"
    try:
        "".encode(encoding)
    except LookupError:
        known = "an encoding that Python knows, such as utf-8, utf-16 or cp1252"
        require(False, "encoding", known, encoding)
    bounded = cast(IO[bytes], BoundedLines(cast(IO[bytes], source.content), source.name, line_limit))
    return io.TextIOWrapper(bounded, encoding=encoding, newline="")


def refuse_content(source: Source) -> None:
    """Complain of a file that is no table, and say what it is."""
    head = source.peek()
    what = next((words for magic, words in NO_TABLES.items() if head.startswith(magic)), None)
    if what is None and head[:200].lstrip().startswith(b"<"):
        what = "a web page or XML, not the data behind it"
    if what is None and b"\0" in head[:1000] and not head.startswith((b"\xff\xfe", b"\xfe\xff")):
        what = "binary data of an unknown kind"
    if what is not None:
        raise InvalidData(what=source.name, allowed="a table or a log of trials", given=what)


def _size(binary: IO[bytes]) -> int | None:
    """How many bytes there are, of a real file that has some."""
    try:
        status = os.fstat(binary.fileno())
    except OSError:
        return None
    return (status.st_size or None) if stat.S_ISREG(status.st_mode) else None


def _broken(name: str, error: Exception) -> InvalidData:
    """What is not whole."""
    allowed = "whole: it is packed, and cannot be unpacked to its end"
    return InvalidData(what=name, allowed=allowed, hint=f" ({str(error) or type(error).__name__})")


# ------------------------------------------------------------------------------------------- unpacking


class _Raw(io.RawIOBase):
    """Bytes as they come from a stream, which stays open; of what is unpacked only so many."""

    def __init__(self, source: Any, name: str = "", limit: float = float("inf")) -> None:
        self._source, self._name, self._left, self._limit = source, name, limit, limit

    def readable(self) -> bool:
        """It is."""
        return True

    def readinto(self, buffer: Any) -> int:
        """Some bytes, as soon as there are any."""
        read = getattr(self._source, "read1", self._source.read)
        try:
            found = read(len(buffer))
        except UNPACKING as error:
            raise _broken(self._name, error) from None
        self._left -= len(found)
        if self._left < 0.0:
            allowed = (
                f"packed to no less than 1/{LARGEST_RATIO} of its size; it unpacks to more than {self._limit:,} bytes"
            )
            raise InvalidData(what=self._name, allowed=allowed)
        buffer[: len(found)] = found
        return len(found)


def buffered(raw: _Raw) -> io.BufferedReader:
    """Bytes of which the first can be looked at."""
    return cast(io.BufferedReader, io.BufferedReader(raw, PEEK))


def _limit(size: int | None) -> float:
    return float("inf") if size is None else max(FREE_SIZE, size * LARGEST_RATIO)


def _unpacked(content: io.BufferedReader, binary: IO[bytes], name: str, size: int | None) -> Content:
    """The content of a file that may be packed, by its first bytes."""
    head = content.peek(8)[:8]
    opened: Any = None
    if head.startswith(GZIP):
        opened = gzip.GzipFile(fileobj=cast(IO[bytes], content))
    elif head.startswith(XZ):
        opened = lzma.LZMAFile(cast(IO[bytes], content))  # noqa: SIM115 - closed with its source
    elif head.startswith(BZIP2) and head[3:4].isdigit():
        opened = bz2.BZ2File(cast(IO[bytes], content))
    elif head.startswith(ZSTD):
        opened = _zstandard(name).open(content, "rb")
    elif head.startswith(ZIP):
        require(binary.seekable(), name, "a file, not a pipe, since it is a zip archive", "a pipe", InvalidData)
        return _from_zip(binary, name)
    return content if opened is None else buffered(_Raw(opened, name, _limit(size))), None


def _from_zip(binary: IO[bytes], name: str) -> Content:
    """The only file of an archive; an archive that means more as a whole (an inspect log, Excel) as it is."""
    binary.seek(0)
    archive = zipfile.ZipFile(binary)
    files = [each for each in archive.infolist() if not each.is_dir() and not each.filename.startswith("__MACOSX/")]
    if {"header.json", "_journal/start.json", "xl/workbook.xml"} & {each.filename for each in files}:
        binary.seek(0)
        return buffered(_Raw(binary)), archive
    names = ", ".join(shorten(each.filename) for each in files[:5]) + ", ..." * (len(files) > 5)
    allowed = "an archive of one file, or an inspect log or an Excel file"
    require(len(files) == 1, name, f"{allowed} (it has {names or 'none'})", len(files), InvalidData)
    return buffered(_Raw(open_member(archive, files[0], name), name, _limit(files[0].compress_size))), None


def open_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> IO[bytes]:
    """A member of a zip archive, of any method that is in use; it is never written to disk."""
    require(not member.flag_bits & 1, name, "an archive without a password", member.filename, InvalidData)
    try:
        return archive.open(member)
    except NotImplementedError:
        method = member.compress_type
        require(
            method == ZSTANDARD, name, "packed by deflate, bzip2, lzma or zstandard", f"method {method}", InvalidData
        )
    except RuntimeError as error:
        raise InvalidData(what=name, allowed="an archive that can be read", hint=f" ({error})") from None
    # Python before 3.14: find the packed bytes behind the member's own header, and have them unpacked.
    file = cast(IO[bytes], archive.fp)
    file.seek(member.header_offset)
    header = file.read(30)
    if len(header) < 30 or not header.startswith(ZIP):
        raise InvalidData(what=name, allowed="a whole zip archive", given="one that is cut or damaged")
    skipped = sum(struct.unpack("<HH", header[26:30]))
    file.seek(skipped, os.SEEK_CUR)
    return cast(IO[bytes], _zstandard(name).open(io.BytesIO(file.read(member.compress_size)), "rb"))


def read_member(archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str) -> bytes:
    """All bytes of a member, if they are no more than can be meant."""
    allowed = f"at most {LARGEST_DOCUMENT:,} bytes long"
    most = min(LARGEST_DOCUMENT, int(_limit(member.compress_size)))
    with open_member(archive, member, name) as stream:
        try:
            content = stream.read(most + 1)
        except UNPACKING as error:
            raise _broken(f"{name}, {member.filename}", error) from None
        except Exception as error:  # of a package that unpacks zstandard, which has errors of its own
            if type(error).__module__.partition(".")[0] not in ("zstandard", "compression", "backports"):
                raise
            raise _broken(f"{name}, {member.filename}", error) from None
    if len(content) > most:
        raise InvalidData(what=f"{name}, {member.filename},", allowed=allowed, given="a member that unpacks to more")
    return content


def _zstandard(name: str) -> Any:
    """The module that unpacks zstandard: Python's own from 3.14 on, or a package."""
    for module in ("compression.zstd", "backports.zstd", "zstandard"):
        try:
            return __import__(module, fromlist=["open"])
        except ImportError:
            continue
    allowed = f'installed to read {name}, which is packed by zstandard: pip install "ramgape[logs]"'
    raise MissingExtra(what="zstandard", allowed=allowed)
