"""Result tables of experiments, and the tables and CSV files that a report shows them in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, TypeVar


class Row(SimpleNamespace):
    """A row of a result table. Its columns are attributes; `vars(row)` is what JSON and CSV files get."""


Record = TypeVar("Record")
Line = TypeVar("Line", bound=Row)


def select(rows: Sequence[Line], **wanted: Any) -> list[Line]:
    """The rows whose columns have the wanted values, in their order.

    >>> select([Row(rule="a", n=1), Row(rule="b", n=1)], rule="b")
    [Row(rule='b', n=1)]
    """
    return [row for row in rows if all(getattr(row, column) == value for column, value in wanted.items())]


def distinct(rows: Sequence[Row], column: str) -> list[Any]:
    """The values of a column, each once, in their order."""
    return list(dict.fromkeys(getattr(row, column) for row in rows))


def records(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows as plain data."""
    return [vars(row) for row in rows]


@dataclass(frozen=True, slots=True)
class DataFile:
    """Raw data: a CSV file with a line for each record; the columns are the keys of the first one."""

    name: str
    records: Sequence[Mapping[str, Any]]

    @property
    def lines(self) -> list[dict[str, Any]]:
        """The records, each with its intervals as two columns at the end."""
        return [flat(record) for record in self.records]


def flat(record: Mapping[str, Any]) -> dict[str, Any]:
    """The same with an interval as two columns at the end.

    >>> flat({"regret_interval": (0.1, 0.2), "interval": None, "runs": 3})
    {'runs': 3, 'regret_low': 0.1, 'regret_high': 0.2, 'ratio_low': None, 'ratio_high': None}
    """
    found = {name: value for name, value in record.items() if not name.endswith("interval")}
    for name, ends in record.items():
        if name.endswith("interval"):
            start = name.removesuffix("interval") or "ratio_"
            found[f"{start}low"], found[f"{start}high"] = ends or (None, None)
    return found


@dataclass(frozen=True, slots=True)
class Grid:
    """A table of the report. Cells are text; the lines after the first one are small print."""

    title: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    note: str = ""
    folded: bool = False  # hidden until the reader opens it

    @property
    def words(self) -> list[bool]:
        """Whether each column has words, aligned to the left, rather than numbers."""
        return [any(row[place][:1].isalpha() for row in self.rows) for place in range(len(self.header))]


Columns = Sequence[tuple[str, Callable[[Record], str]]]


def table(title: str, rows: Sequence[Record], columns: Columns[Record], note: str = "", folded: bool = False) -> Grid:
    """A table from records; each column is a heading and a function from a record to the text of a cell."""
    cells = [[cell(row) for _, cell in columns] for row in rows]
    return Grid(title, tuple(heading for heading, _ in columns), cells, note, folded)


def side_by_side(
    headings: Sequence[str], cell: Callable[[Any], str], items: Callable[[Any], Sequence[Any]] = lambda record: record
) -> Columns[Any]:
    """Columns that show the first, the second, ... of the items that a record consists of."""

    def column(place: int) -> Callable[[Any], str]:
        return lambda record: cell(items(record)[place])

    return [(heading, column(place)) for place, heading in enumerate(headings)]
