"""Rows of files as texts, whatever the file: CSV, JSON lines, or the records of a log.

All readers have a header, hand over rows as lists of cells, some at a time, and know where a row stands.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from typing import Any

from ramgape.common.files import LONGEST_LINE
from ramgape.data.columns import PEEK, is_number
from ramgape.data.source import Source, text_of
from ramgape.errors import InvalidData, require, shorten

CHUNK = 512  # rows that are looked at together; of more of them Python would ask, in vain, whether they are garbage
LONGEST_OBJECT = 2**24  # bytes of a line of JSON, which may have a whole conversation inside
BREAK = re.compile("\r\n|\r|\n")
DELIMITERS = {",": "','", ";": "';'", "\t": "tab", "|": "'|'"}
QUOTED = re.compile(r'"(?:[^"]|"")*"')
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+(?:[eE][+-]?\d+)?\s*")
THOUSANDS = re.compile(
    r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*"
)  # a text that means one number with a decimal comma, and another without


class TextRows:
    """Rows of cells.

    Attributes:
        name: What errors call the file.
        header: The names of its columns.
    """

    name: str
    header: list[str]

    def part(self) -> tuple[int, list[list[str]]]:
        """The next rows, at most `CHUNK`, and the line of the first."""
        raise NotImplementedError

    def place(self, part: Sequence[Sequence[str]], wanted: Sequence[str], first: int) -> str:
        """Where a row of a part stands, the first of which stands in line `first`."""
        line = first + next(place for place, row in enumerate(part) if row is wanted)
        return f"{self.name}, line {line}"


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
        letter = delimiter or find_delimiter(head)
        self.delimiter = letter
        self._reader = csv.reader(text, delimiter=letter, strict=True)
        self._text = text
        with self._complaining():
            self.header = next(filter(None, self._reader), [])
        if not self.header:
            allowed = "a CSV file whose first line names its columns"
            raise InvalidData(place=self.name, allowed=allowed, given="an empty file")
        if len(self.header) == 1:
            others = (name for other, name in DELIMITERS.items() if other in self.header[0] and other != letter)
            hint = next((f"; did you mean --delimiter {name}?" for name in others), "")
            allowed = f"the names of at least two columns with {letter!r} between them"
            given = f"only {shorten(self.header[0])}"
            raise InvalidData(place=f"{self.name}, line 1", allowed=allowed, given=given, hint=hint)
        self.decimal = decimal or find_decimal(head, letter)

    def part(self) -> tuple[int, list[list[str]]]:
        first = self._reader.line_num + 1
        with self._complaining():
            rows = list(islice(self._reader, CHUNK))
        if self.decimal == ",":
            rows = [[cell.replace(",", ".") if DECIMAL_COMMA.fullmatch(cell) else cell for cell in row] for row in rows]
        return first, rows

    def place(self, part: Sequence[Sequence[str]], wanted: Sequence[str], first: int) -> str:
        """File and line of a row; names may have line breaks inside."""
        line = first
        for row in part:
            if row is wanted:
                break
            line += 1 + sum(len(BREAK.findall(cell)) for cell in row)
        return f"{self.name}, line {line}"

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
        self.header = list(dict.fromkeys(key for _, row in first for key in row))
        require(bool(first), name, "objects with the keys of columns", "an empty file", InvalidData)
        allowed = "objects with at least two keys, for arms and rewards"
        require(len(self.header) >= 2, name, allowed, self.header, InvalidData)
        self._objects = chain(first, rest)
        self._lines: list[int] = []

    def part(self) -> tuple[int, list[list[str]]]:
        found = list(islice(self._objects, CHUNK))
        self._lines = [number for number, _ in found]
        rows = [[as_cell(row.get(column)) for column in self.header] for _, row in found]
        return (self._lines or [0])[0], rows

    def place(self, part: Sequence[Sequence[str]], wanted: Sequence[str], first: int) -> str:
        line = self._lines[next(place for place, row in enumerate(part) if row is wanted)]
        return f"{self.name}, {self._noun} {line}"


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
        self.name, self.header = name, list(header)
        self._rows = [[as_cell(value) for value in row] for row in rows]
        self._places, self._next = places, 0

    def part(self) -> tuple[int, list[list[str]]]:
        first = self._next
        rows = self._rows[first : first + CHUNK]
        self._next += len(rows)
        return first, rows

    def place(self, part: Sequence[Sequence[str]], wanted: Sequence[str], first: int) -> str:
        return self._places[first + next(place for place, row in enumerate(part) if row is wanted)]
