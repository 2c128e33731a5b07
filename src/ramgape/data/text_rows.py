"""Rows of files as texts, whatever the file: CSV, JSON lines, or the records of a log.

All readers have a header, hand over rows as lists of cells, some at a time, and know where a row stands. No value is
guessed and none dropped: what is no reward is an error that names file, line and column.
"""

from __future__ import annotations

import csv
import json
import re
import shlex
from abc import abstractmethod
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import chain, islice
from operator import itemgetter
from typing import Any, NoReturn, cast

import numpy as np
from numpy.typing import NDArray

from ramgape.common.files import LONGEST_LINE, read_number
from ramgape.data.accumulator import Accumulator
from ramgape.data.batch import Batch, Place
from ramgape.data.columns import (
    FLAG_WORDS,
    LIKE_OTHERS,
    PEEK,
    Columns,
    Layout,
    Part,
    RewardTexts,
    Table,
    is_flag,
    is_number,
    kind_of_texts,
)
from ramgape.data.source import Source, text_of
from ramgape.errors import InvalidData, located, require, shorten

CHUNK = 512  # rows that are looked at together; of more of them Python would ask, in vain, whether they are garbage
LONGEST_MARK = 10  # letters of a text that may stand for a missing value
LONGEST_OBJECT = 2**24  # bytes of a line of JSON, which may have a whole conversation inside
BREAK = re.compile("\r\n|\r|\n")
DELIMITERS = {",": "','", ";": "';'", "\t": "tab", "|": "'|'"}
SEPARATOR = re.compile('"?sep=(.)"?', re.IGNORECASE)  # a first line by which Excel knows the letter between columns
QUOTED = re.compile(r'"(?:[^"]|"")*"')
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+(?:[eE][+-]?\d+)?\s*")
THOUSANDS = re.compile(
    r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*"
)  # a text that means one number with a decimal comma, and another without


Rows = tuple[list[list[str]], Place]


class TextRows(Table):
    """Rows of cells. A subclass says how they are read, and where one stands."""

    labels: list[str]

    @abstractmethod
    def _read(self) -> Rows:
        """The next rows, at most `CHUNK`, none at the end; and where each stands."""

    _peeked: Rows | None = None

    def _peek(self) -> list[list[str]]:
        """The first rows, as far as they are whole; they stay there to be read."""
        self._peeked = self._peeked or self._read()
        return [row for row in self._peeked[0] if len(row) == len(self.labels)]

    def rows(self) -> Iterator[Rows]:
        """All rows without empty lines, some at a time; all must be as wide as the header."""
        width = len(self.labels)
        while True:
            part, place = self._peeked or self._read()
            self._peeked = None
            if not part:
                return
            if set(map(len, part)) != {width}:
                for position, row in enumerate(part):
                    if len(row) not in (0, width):
                        with located(place(position)):
                            require(False, "the row", f"{width} cells, as many as the header has", row, InvalidData)
                whole = [position for position, row in enumerate(part) if row]
                part, place = [part[position] for position in whole], partial(_moved, place, whole)
            yield part, place

    def parts(self) -> Iterator[Part]:
        for rows, place in self.rows():

            def length(column: int, rows: Any = rows) -> int:
                return len(rows)

            def cells(column: int, rows: Any = rows) -> list[str]:
                return list(map(itemgetter(column), rows))

            yield Part(length, cells, cells, place)

    def kinds(self, missing: Sequence[str] = ()) -> list[str | None]:
        rows = self._peek()
        return [kind_of_texts([row[place] for row in rows], missing) for place in range(len(self.labels))]

    def first(self, place: int) -> list[str]:
        return [row[place] for row in self._peek() if row[place].strip()]

    def reader(self, columns: Columns) -> Callable[[Accumulator, Batch], NDArray[np.float64]]:
        return TextRewards(columns.layout).read


def _moved(place: Place, positions: Sequence[int], position: int) -> str:
    """Where a row stands that is one of some."""
    return place(positions[position])


class TextRewards:
    """The rewards of a file, which are numbers or, in a whole column, words such as true and false."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        self._columns: defaultdict[str, RewardTexts] = defaultdict(RewardTexts)  # of the arms, in a wide table
        self._any_flags = False

    def read(self, accumulator: Accumulator, batch: Batch) -> NDArray[np.float64]:
        """The rewards as numbers; whether they are possible ones is for the accumulator to say."""
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
        joined = "".join(texts)
        plain = "_" not in joined and joined.isascii()  # as nearly always; then `read_number` would do the same
        try:
            rewards = np.fromiter(map(float if plain else read_number, texts), np.float64, len(texts))
        except ValueError:
            return None
        for name in set(batch.names) if self._layout.wide else {""}:
            self._columns[name].flags = False
        return rewards

    def _column(self, batch: Batch, position: int) -> RewardTexts:
        """What is known of the column in which a reward stands."""
        return self._columns[batch.names[position] if self._layout.wide else ""]

    def _refuse(self, accumulator: Accumulator, batch: Batch, position: int) -> NoReturn:
        """Complain of a text that is no reward: perhaps it stands for what is missing, or its column is no arm."""
        text, place = str(batch.values[position]), batch.place(position)
        flags = self._column(batch, position).flags
        digits = any(letter.isdigit() for letter in text)
        hint = remark = ""
        if not text.strip():
            hint = " (--skip-empty leaves out rows without one)"
        elif text == self._layout.reward:
            remark = "; the header a second time? Pass several files as they are, one after the other"
        elif is_flag(text) or (flags and digits):
            hint = LIKE_OTHERS
        elif len(text) <= LONGEST_MARK and not digits:
            remark = f"; --na {text.strip()} leaves out such rows, and counts them: are they missing by chance?"
        elif self._layout.wide:
            remark = f"; --exclude {shlex.quote(batch.names[position])} leaves out a column that is no arm"
        reward = read_number(text) if is_number(text) and not flags else text
        accumulator.refuse_reward(reward, batch.names[position], place, hint, remark, FLAG_WORDS if flags else "")


class CsvReader(TextRows):
    """The rows of a CSV file.

    Args:
        source: The file.
        delimiter: The letter between two columns; found by the first lines if None.
        decimal: What stands in numbers before their decimals: "." or ","; found by the first lines if None.
        encoding: Of the text; UTF-8 if None, or UTF-16 if the file says so itself.
    """

    def __init__(
        self, source: Source, delimiter: str | None = None, decimal: str | None = None, encoding: str | None = None
    ) -> None:
        self.name, self._encoding = source.name, encoding
        text = text_of(source, encoding, LONGEST_LINE)
        head = _first_lines(source, text.encoding)
        stated = SEPARATOR.fullmatch(head[0]) if head else None
        if stated is not None:
            head = head[1:]
        letter = delimiter or (stated[1] if stated is not None else find_delimiter(head))
        self.delimiter = letter
        self._reader = csv.reader(text, delimiter=letter, strict=True)
        self._text = text
        with self._complaining():
            if stated is not None:
                next(self._reader)
            self.labels = next(filter(None, self._reader), [])
        if not self.labels:
            allowed = "a CSV file whose first line names its columns"
            raise InvalidData(place=self.name, allowed=allowed, given="an empty file")
        if len(self.labels) == 1:
            others = (name for other, name in DELIMITERS.items() if other in self.labels[0] and other != letter)
            hint = next((f"; did you mean --delimiter {name}?" for name in others), "")
            allowed = f"the names of at least two columns with {letter!r} between them"
            given = f"only {shorten(self.labels[0])}"
            raise InvalidData(place=f"{self.name}, line 1", allowed=allowed, given=given, hint=hint)
        self.decimal = decimal or find_decimal(head, letter)

    def _read(self) -> Rows:
        first = self._reader.line_num + 1
        with self._complaining():
            rows = list(islice(self._reader, CHUNK))
        if self.decimal == ",":
            rows = [[cell.replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else cell for cell in row] for row in rows]

        def place(position: int) -> str:
            """File and line; names may have line breaks inside."""
            before = sum(1 + sum(len(BREAK.findall(cell)) for cell in row) for row in rows[:position])
            return f"{self.name}, line {first + before}"

        return rows, place

    @contextmanager
    def _complaining(self) -> Iterator[None]:
        """What is no text, or no CSV, as an error with its place."""
        try:
            yield
        except UnicodeError as error:
            if not isinstance(error, UnicodeDecodeError):
                raise InvalidData(
                    place=self._after(), allowed=f"text in {self._encoding}", hint=f" ({error})"
                ) from None
            byte = error.object[error.start]
            hint = "" if self._encoding else "; --encoding names another one, such as cp1252 or latin-1"
            allowed = f"{self._encoding or 'UTF-8'} text"
            raise InvalidData(place=self._after(), allowed=allowed, given=f"byte 0x{byte:02x}", hint=hint) from None
        except csv.Error as error:
            place = f"{self.name}, line {self._reader.line_num}"
            hint = f", got: {error} (is a quotation mark missing?)"
            raise InvalidData(place=place, allowed="CSV", hint=hint) from None

    def _after(self) -> str:
        line = self._reader.line_num
        return f"{self.name}, after line {line:,}," if line else self.name


def _first_lines(source: Source, encoding: str) -> list[str]:
    """Some whole lines, as far as the beginning of the file has them."""
    text = source.peek().decode(encoding, "replace")
    lines = text.splitlines()
    return [
        line
        for line in (lines[:-1] if len(lines) > 1 and not text.endswith(("\n", "\r")) else lines)[:50]
        if line.strip()
    ]


def find_delimiter(lines: Sequence[str]) -> str:
    """The letter between two columns: of those in the first line the one that all lines have as often; else a comma."""
    counts = {letter: [QUOTED.sub("", line).count(letter) for line in lines] for letter in DELIMITERS}
    there = [letter for letter, found in counts.items() if found and found[0]]
    alike = [letter for letter in there if len(set(counts[letter])) == 1]
    if len(there) == 1:
        return there[0]
    return "," if "," in alike or not alike else alike[0]


def find_decimal(lines: Sequence[str], delimiter: str) -> str:
    """A comma if numbers are written with one, and some of them can mean nothing else."""
    if delimiter == ",":
        return "."
    cells = [cell for line in lines[1:] for cell in line.split(delimiter)]
    commas = [cell for cell in cells if DECIMAL_COMMA.fullmatch(cell)]
    points = any("." in cell and is_number(cell) for cell in cells)
    return "," if not points and any(not THOUSANDS.fullmatch(cell) for cell in commas) else "."


def check_delimiter(delimiter: str | None) -> str | None:
    """One letter; a tab may be written out, because it is hard to type."""
    letter = "\t" if delimiter in ("tab", "\\t") else delimiter
    usable = letter is None or (len(letter) == 1 and letter not in '"\r\n')
    require(usable, "delimiter", "one letter such as ; or |, or tab", delimiter)
    return letter


def check_decimal(decimal: str | None) -> str | None:
    """A point or a comma."""
    require(decimal in (None, ".", ","), "decimal", "a point or a comma", decimal)
    return decimal


# -------------------------------------------------------------------------------------------- JSON


class JsonReader(TextRows):
    """JSON objects as rows, one a line or all in an array; objects inside of them become columns such as score.value.

    Args:
        name: What errors call the file.
        objects: The objects, each with its place: the number of a line, or in the array.
    """

    def __init__(self, name: str, objects: Iterable[tuple[int, Mapping[str, Any]]], noun: str = "line") -> None:
        self.name, self._noun = name, noun
        rest = ((number, spread(each)) for number, each in objects)
        first = list(islice(rest, PEEK))
        self.labels = list(dict.fromkeys(key for _, row in first for key in row))
        if not first:
            raise InvalidData(what=name, allowed="objects with the keys of columns", given="none")
        allowed = "objects with at least two keys, for arms and rewards"
        require(len(self.labels) >= 2, name, allowed, self.labels, InvalidData)
        self._objects = chain(first, rest)

    def _read(self) -> Rows:
        found = list(islice(self._objects, CHUNK))
        rows = [[as_cell(row.get(column)) for column in self.labels] for _, row in found]
        return rows, lambda position: f"{self.name}, {self._noun} {found[position][0]}"


def read_lines(source: Source, first: str, rest: Iterable[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON objects of lines, the first of which has been read already."""
    for number, line in enumerate(chain([first], rest), start=1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            cut = "; is the file cut?" if not line.endswith("\n") and number > 1 else ""
            place, given = f"{source.name}, line {number}", shorten(line.strip())
            raise InvalidData(place=place, allowed="a JSON object", given=given, hint=cut)
        yield number, found


def spread(found: Mapping[str, Any], prefix: str = "", depth: int = 3) -> dict[str, Any]:
    """The values of an object, those of objects inside under names with a point."""
    row: dict[str, Any] = {}
    for key, value in found.items():
        if isinstance(value, Mapping) and depth:
            row.update(spread(value, f"{prefix}{key}.", depth - 1))
        else:
            row[f"{prefix}{key}"] = value
    return row


def as_cell(value: Any) -> str:
    """A value as the text that a file of text would have for it; nothing for what is missing."""
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, int | float) else json.dumps(value)


class RecordRows(TextRows):
    """Rows that are in memory, each with its place."""

    def __init__(self, name: str, header: Sequence[str], rows: Sequence[Sequence[Any]], places: Sequence[str]) -> None:
        self.name, self.labels = name, list(header)
        self._rows = [[as_cell(value) for value in row] for row in rows]
        self._places, self._next = places, 0

    def _read(self) -> Rows:
        first = self._next
        self._next += CHUNK
        return self._rows[first : self._next], lambda position: self._places[first + position]

    def only(self, columns: Sequence[int]) -> RecordRows:
        """Some of the columns."""
        rows = [[row[column] for column in columns] for row in self._rows]
        return RecordRows(self.name, [self.labels[column] for column in columns], rows, self._places)
