"""Logged rewards from a CSV file, in small parts, so that a file of any size fits into memory.

Nothing is guessed and nothing dropped: what is no reward is an error that names file, line and column.
"""

from __future__ import annotations

import csv
import gzip
import io
import os
import re
import shlex
import shutil
import stat
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from operator import itemgetter
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING, NamedTuple, NoReturn, cast

from ramgape.common.columns import find_column
from ramgape.common.files import as_text, open_file, read_number
from ramgape.errors import InvalidData, located, require, shorten

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ramgape.search.accumulator import Accumulator
    from ramgape.search.analysis import Reading
    from ramgape.search.batch import Batch

STANDARD_INPUT = "-"
IN_MEMORY = 2**24  # bytes of standard input; the rest goes to a temporary file
CHUNK = 512  # rows that are looked at together; of more of them Python would ask, in vain, whether they are garbage
BREAK = re.compile("\r\n|\r|\n")
LONGEST_MARK = 10  # letters of a text that may stand for a missing value
OTHER_DELIMITERS = {";": "';'", "\t": "tab", "|": "'|'"}
UNPACKING = (EOFError, zlib.error, gzip.BadGzipFile)  # what goes wrong with what is packed


class Source(NamedTuple):
    """An open file: its text, what errors call it, its size in bytes if that is known, and how many are read."""

    text: IO[str]
    name: str
    size: int | None
    position: Callable[[], int]


@contextmanager
def open_source(path: str) -> Iterator[Source]:
    """Open a file, one packed by gzip if its name ends in .gz, or standard input."""
    if path == STANDARD_INPUT:
        binary = sys.stdin.buffer
        text = as_text(binary, "standard input")
        try:
            yield Source(text, "standard input", _size(binary), binary.tell)
        finally:
            text.detach()  # not ours to close
        return
    try:
        file = open_file(path)
    except OSError as error:
        reason = f": {error.strerror or error}"
        raise InvalidData(what="data", allowed="a file that can be read", given=repr(path), hint=reason) from None
    with file:
        binary = cast(IO[bytes], gzip.GzipFile(fileobj=file)) if path.lower().endswith(".gz") else file
        name = Path(path).name
        try:
            yield Source(as_text(binary, name), name, _size(file), file.tell)
        except UNPACKING as error:
            raise InvalidData(place=name, allowed="whole and packed by gzip", hint=f", got: {error}") from None


@contextmanager
def reading(file: str) -> Iterator[IO[str]]:
    """A file, or standard input, as text; complete before anything is done with it.

    A study is locked while it takes in trials, and whoever writes into a pipe may take long.
    """
    with open_source(file) as source:
        if file != STANDARD_INPUT:
            yield source.text
            return
        with SpooledTemporaryFile(IN_MEMORY) as copy:
            shutil.copyfileobj(source.text.buffer, copy)  # type: ignore[attr-defined]
            copy.seek(0)
            yield io.TextIOWrapper(cast(IO[bytes], copy), encoding="utf-8-sig", newline="")


def _size(binary: IO[bytes]) -> int | None:
    """How many bytes there are, of a real file that has some."""
    try:
        status = os.fstat(binary.fileno())
    except OSError:
        return None
    return (status.st_size or None) if stat.S_ISREG(status.st_mode) else None


def check_delimiter(delimiter: str) -> str:
    """One letter; a tab may be written out, because it is hard to type."""
    letter = "\t" if delimiter in ("tab", "\\t") else delimiter
    usable = len(letter) == 1 and letter not in '"\r\n'
    require(usable, "delimiter", "one letter such as ; or |, or tab", delimiter)
    return letter


def header_of(source: Source, delimiter: str) -> list[str]:
    """The columns of a file, for somebody who has not said which of them matter; none where that cannot be read."""
    with suppress(csv.Error, UnicodeDecodeError, *UNPACKING):
        return next(filter(None, csv.reader(source.text, delimiter=delimiter)), [])
    return []


class Layout(NamedTuple):
    """What stands where: arms and rewards in a column each; or wide, a column an arm, where both are None. Items, if
    they have names, in a column of their own."""

    arm: str | None
    reward: str | None
    item: str | None = None


class Rows:
    """The rows of an open file, for the columns that matter; `count` are those read."""

    def __init__(self, source: Source, layout: Layout, delimiter: str) -> None:
        named = [column for column in layout if column is not None]
        twice = next((column for column in named if named.count(column) > 1), None)
        require(twice is None, "the columns for arms, rewards and items", "different ones", twice)
        self.count = 0
        self._source = source
        self._reader = csv.reader(source.text, delimiter=delimiter, strict=True)
        with self._complaining():
            header = next(filter(None, self._reader), None)
        if header is None:
            allowed = "a CSV file whose first line names its columns"
            raise InvalidData(place=source.name, allowed=allowed, given="an empty file")
        self._width = len(header)
        self._header = header
        item = layout.item
        self._item = None if item is None else self._find(item, header, "item column", delimiter)
        self._arm = self._reward = -1
        self._arms: list[int] = []  # the columns of the arms, in a wide table
        if layout.arm is not None and layout.reward is not None:
            self._arm = self._find(layout.arm, header, "arm column", delimiter)
            self._reward = self._find(layout.reward, header, "reward column", delimiter)
        else:
            self._arms = [column for column in range(len(header)) if column != self._item]
            for column in self._arms:
                self._find(header[column], header, "the name of an arm", delimiter)

    def _find(self, column: str, header: Sequence[str], what: str, delimiter: str) -> int:
        """The place of a column."""
        if len(header) == 1:
            others = (name for letter, name in OTHER_DELIMITERS.items() if letter in header[0] and letter != delimiter)
            hint = next((f"; did you mean --delimiter {name}?" for name in others), "")
            allowed = f"the names of at least two columns with {delimiter!r} between them"
            place, given = f"{self._source.name}, line 1", f"only {shorten(header[0])}"
            raise InvalidData(place=place, allowed=allowed, given=given, hint=hint)
        return find_column(column, header, what, self._source.name)

    def read_into(self, reading: Reading) -> Iterator[None]:
        """Hand everything over, part by part; between two parts it yields."""
        while True:
            first = self._reader.line_num + 1
            with self._complaining():
                part = list(islice(self._reader, CHUNK))
            if not part:
                return
            self._add_rows(reading, part, first)
            yield

    def _add_rows(self, reading: Reading, part: list[list[str]], first: int) -> None:
        """Count the rows of one part, the first of which stands in line `first`."""
        from ramgape.search.batch import Batch

        rows = part if set(map(len, part)) == {self._width} else self._whole_rows(part, first)
        items = None
        if self._item is not None:
            items = list(map(itemgetter(self._item), rows))
        elif self._arms:
            items = [str(number) for number in range(self.count + 1, self.count + 1 + len(rows))]
        self.count += len(rows)
        if self._arms:
            cells = [(self._header[column], row[column]) for row in rows for column in self._arms]
            items = [item for item in items or () for _ in self._arms]
        else:
            cells = [(row[self._arm], row[self._reward]) for row in rows]
        width = max(len(self._arms), 1)

        def place(position: int) -> str:
            column = f", column {self._header[self._arms[position % width]]!r}" if self._arms else ""
            return self._place(part, rows[position // width], first) + column

        reading.take(Batch([name for name, _ in cells], [text for _, text in cells], place, items), self._read_rewards)

    def _read_rewards(self, accumulator: Accumulator, batch: Batch) -> NDArray[np.float64]:
        """The rewards as numbers; whether they are possible ones is for the accumulator to say."""
        import numpy as np

        texts = cast(Sequence[str], batch.values)
        joined = "".join(texts)
        plain = "_" not in joined and joined.isascii()  # as nearly always; then `read_number` would do the same
        try:
            rewards = np.fromiter(map(float if plain else read_number, texts), np.float64, len(texts))
        except ValueError:
            self._refuse(accumulator, batch, next(place for place, text in enumerate(texts) if not _is_number(text)))
        if np.isnan(rewards).any():
            self._refuse(accumulator, batch, int(np.isnan(rewards).argmax()))
        return rewards

    def _refuse(self, accumulator: Accumulator, batch: Batch, position: int) -> NoReturn:
        """Complain of a text that is no number: perhaps it stands for what is missing, or its column is no arm."""
        text, place = str(batch.values[position]), batch.place(position)
        hint = remark = ""
        if not text.strip():
            empty = (
                "every arm has a score on every item"
                if accumulator.gapless
                else "--skip-empty leaves out rows without one"
            )
            hint = f" ({empty})"
        elif len(text) <= LONGEST_MARK and not any(letter.isdigit() for letter in text) and not accumulator.gapless:
            remark = f"; --na {text.strip()} leaves out such rows, and counts them: are they missing by chance?"
        elif self._arms:
            remark = f"; --exclude {shlex.quote(batch.names[position])} leaves out a column that is no arm"
        accumulator.refuse_reward(read_number(text) if _is_number(text) else text, place, hint, remark)

    def _whole_rows(self, part: Sequence[list[str]], first: int) -> list[list[str]]:
        """The rows without empty lines, which are none; all must be as wide as the header."""
        rows = [row for row in part if row]
        for row in rows:
            if len(row) != self._width:
                with located(self._place(part, row, first)):
                    allowed = f"{self._width} cells, as many as the header has"
                    require(False, "the row", allowed, row, InvalidData)
        return rows

    def _place(self, part: Sequence[Sequence[str]], wanted: Sequence[str], first: int) -> str:
        """File and line of a row; names may have line breaks inside."""
        line = first
        for row in part:
            if row is wanted:
                break
            line += 1 + sum(len(BREAK.findall(cell)) for cell in row)
        return f"{self._source.name}, line {line}"

    @contextmanager
    def _complaining(self) -> Iterator[None]:
        """What is no text, or no CSV, as an error with its place."""
        try:
            yield
        except UnicodeDecodeError as error:
            byte = error.object[error.start]
            raise InvalidData(place=self._after(), allowed="UTF-8 text", given=f"byte 0x{byte:02x}") from None
        except csv.Error as error:
            place = f"{self._source.name}, line {self._reader.line_num}"
            hint = f", got: {error} (is a quotation mark missing?)"
            raise InvalidData(place=place, allowed="CSV", hint=hint) from None
        except UNPACKING as error:
            raise InvalidData(place=self._after(), allowed="whole and packed by gzip", hint=f", got: {error}") from None

    def _after(self) -> str:
        line = self._reader.line_num
        return f"{self._source.name}, after line {line:,}," if line else self._source.name


def _is_number(text: str) -> bool:
    try:
        read_number(text)
    except ValueError:
        return False
    return True
