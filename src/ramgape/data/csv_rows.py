"""Logged rewards from a CSV file, in small parts, so that a file of any size fits into memory.

No value is guessed and none dropped: what is no reward is an error that names file, line and column.
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
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from operator import itemgetter
from pathlib import Path
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING, NamedTuple, NoReturn, cast

from ramgape.common.files import as_text, open_file, read_number
from ramgape.data.columns import (
    FLAG_WORDS,
    LIKE_OTHERS,
    RewardTexts,
    choose_columns,
    find_column,
    is_flag,
    kind_of_texts,
)
from ramgape.errors import InvalidData, located, require, shorten

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ramgape.data.accumulator import Accumulator
    from ramgape.data.analysis import Reading
    from ramgape.data.batch import Batch

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


class Layout(NamedTuple):
    """The columns of a file. Of a wide one every column but `item` and `block` is an arm; of another one,
    `CsvRows` finds the arm and the reward if they are None."""

    arm: str | None
    reward: str | None
    item: str | None = None
    block: str | None = None
    wide: bool = False


class CsvRows:
    """The rows of an open file, for the columns that matter.

    Args:
        source: The file.
        layout: Its columns.
        delimiter: The letter between two columns.
        missing: Texts that stand for a missing reward.

    Attributes:
        count: The number of rows read.
        words: What errors call an arm and a reward.
        reward: The column with the rewards; None of a wide table.
    """

    def __init__(self, source: Source, layout: Layout, delimiter: str, missing: Sequence[str] = ()) -> None:
        named = [column for column in layout[:4] if column is not None]
        twice = next((column for column in named if named.count(column) > 1), None)
        require(twice is None, "the columns for arms, rewards, items and blocks", "different ones", twice)
        self.count = 0
        self.layout = layout
        self._source = source
        self._reader = csv.reader(source.text, delimiter=delimiter, strict=True)
        self._columns: defaultdict[str, RewardTexts] = defaultdict(RewardTexts)  # of the arms, in a wide table
        self._any_flags = False
        self._peeked: tuple[int, list[list[str]]] | None = None
        self._header = header = self._read_header(delimiter)
        self._width = len(header)
        self._item = None if layout.item is None else self._find(layout.item, "item column")
        self._block = None if layout.block is None else self._find(layout.block, "block column")
        self._arm = self._reward = -1
        self._arms: list[int] = []  # the columns of the arms, in a wide table
        self.words, self.reward = ("the name of an arm", "the reward"), None
        if layout.wide:
            self._arms = [column for column in range(len(header)) if column not in (self._item, self._block)]
            for column in self._arms:
                self._find(header[column], "the name of an arm")
            return
        arm, self.reward = layout[:2] if None not in layout[:2] else self._choose(layout, missing)
        self._arm, self._reward = self._find(arm, "arm column"), self._find(self.reward, "reward column")
        self.words = f"column {arm!r}", f"column {self.reward!r}"

    def _read_header(self, delimiter: str) -> list[str]:
        """The names of at least two columns."""
        with self._complaining():
            header = next(filter(None, self._reader), None)
        if header is None:
            allowed = "a CSV file whose first line names its columns"
            raise InvalidData(place=self._source.name, allowed=allowed, given="an empty file")
        if len(header) == 1:
            others = (name for letter, name in OTHER_DELIMITERS.items() if letter in header[0] and letter != delimiter)
            hint = next((f"; did you mean --delimiter {name}?" for name in others), "")
            allowed = f"the names of at least two columns with {delimiter!r} between them"
            place, given = f"{self._source.name}, line 1", f"only {shorten(header[0])}"
            raise InvalidData(place=place, allowed=allowed, given=given, hint=hint)
        return header

    def _choose(self, layout: Layout, missing: Sequence[str]) -> tuple[str, str]:
        """The columns of arms and rewards, by the header and by the first rows."""
        self._peeked = self._read_part()
        rows = [row for row in self._peeked[1] if len(row) == self._width]
        kinds = [
            (name, kind_of_texts([row[place] for row in rows], missing))
            for place, name in enumerate(self._header)
            if place not in (self._item, self._block)
        ]
        remark = "; --wide reads a table with a column an arm"
        return choose_columns(layout.arm, layout.reward, kinds, self._source.name, remark)

    def _find(self, column: str | None, what: str) -> int:
        """The place of a column."""
        return find_column(str(column), self._header, what, self._source.name)

    def _read_part(self) -> tuple[int, list[list[str]]]:
        """The next rows, and the line of the first."""
        first = self._reader.line_num + 1
        with self._complaining():
            return first, list(islice(self._reader, CHUNK))

    def read_into(self, reading: Reading) -> Iterator[None]:
        """Hand everything over, part by part; between two parts it yields."""
        while True:
            first, part = self._peeked or self._read_part()
            self._peeked = None
            if not part:
                return
            self._add_rows(reading, part, first)
            yield

    def _add_rows(self, reading: Reading, part: list[list[str]], first: int) -> None:
        """Count the rows of one part, the first of which stands in line `first`."""
        from ramgape.data.batch import Batch

        rows = part if set(map(len, part)) == {self._width} else self._whole_rows(part, first)
        items = None
        if self._item is not None:
            items = list(map(itemgetter(self._item), rows))
        elif self._arms:
            items = [str(number) for number in range(self.count + 1, self.count + 1 + len(rows))]
        self.count += len(rows)
        blocks = None if self._block is None else list(map(itemgetter(self._block), rows))
        if self._arms:
            cells = [(self._header[column], row[column]) for row in rows for column in self._arms]
            items = [item for item in items or () for _ in self._arms]
            blocks = None if blocks is None else [block for block in blocks for _ in self._arms]
        else:
            cells = [(row[self._arm], row[self._reward]) for row in rows]
        width = max(len(self._arms), 1)

        def place(position: int) -> str:
            column = f", column {self._header[self._arms[position % width]]!r}" if self._arms else ""
            return self._place(part, rows[position // width], first) + column

        names, texts = [name for name, _ in cells], [text for _, text in cells]
        reading.take(Batch(names, texts, place, items, blocks), self._read_rewards)

    def _read_rewards(self, accumulator: Accumulator, batch: Batch) -> NDArray[np.float64]:
        """The rewards as numbers; whether they are possible ones is for the accumulator to say."""
        import numpy as np

        texts = cast(Sequence[str], batch.values)
        rewards = None if self._any_flags else self._read_numbers(batch, texts)
        if rewards is None:
            found = [self._column(batch, position).read(text) for position, text in enumerate(texts)]
            self._any_flags = any(column.flags for column in self._columns.values())
            if None in found:
                self._refuse(accumulator, batch, found.index(None))
            rewards = np.array(found, np.float64)
        if np.isnan(rewards).any():
            self._refuse(accumulator, batch, int(np.isnan(rewards).argmax()))
        return rewards

    def _read_numbers(self, batch: Batch, texts: Sequence[str]) -> NDArray[np.float64] | None:
        """The rewards if all are numbers, as nearly always; faster than one by one."""
        import numpy as np

        joined = "".join(texts)
        plain = "_" not in joined and joined.isascii()  # as nearly always; then `read_number` would do the same
        try:
            rewards = np.fromiter(map(float if plain else read_number, texts), np.float64, len(texts))
        except ValueError:
            return None
        for name in set(batch.names):
            self._columns[name if self._arms else ""].flags = False
        return rewards

    def _column(self, batch: Batch, position: int) -> RewardTexts:
        """What is known of the column in which a reward stands."""
        return self._columns[batch.names[position] if self._arms else ""]

    def _refuse(self, accumulator: Accumulator, batch: Batch, position: int) -> NoReturn:
        """Complain of a text that is no reward: perhaps it stands for what is missing, or its column is no arm."""
        text, place = str(batch.values[position]), batch.place(position)
        flags = self._column(batch, position).flags
        digits = any(letter.isdigit() for letter in text)
        hint = remark = ""
        if not text.strip():
            empty = (
                "every arm has a score on every item"
                if accumulator.gapless
                else "--skip-empty leaves out rows without one"
            )
            hint = f" ({empty})"
        elif is_flag(text) or (flags and digits):
            hint = LIKE_OTHERS
        elif len(text) <= LONGEST_MARK and not digits and not accumulator.gapless:
            remark = f"; --na {text.strip()} leaves out such rows, and counts them: are they missing by chance?"
        elif self._arms:
            remark = f"; --exclude {shlex.quote(batch.names[position])} leaves out a column that is no arm"
        reward = read_number(text) if _is_number(text) and not flags else text
        accumulator.refuse_reward(reward, batch.names[position], place, hint, remark, FLAG_WORDS if flags else "")

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
