"""Tables as rows of plain Python objects, which interpreted kernels read and write twenty times faster than records.

A row has the columns of its table as attributes; a column of several numbers is a list. Rows of the memory are views of
the array, so what kernels write there is in the array at once; other tables are written back by `store`.
"""

from __future__ import annotations

import functools
import struct
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramgape.core.kernel import Kernel
from ramgape.core.table import Memory, State, Table

Row = Any


class RowLayout(NamedTuple):
    """How rows of one kind of table are made.

    Attributes:
        row: Their class.
        packing: How the numbers of a row lie in memory.
        values: Reads all columns of a row.
        widths: How many numbers a column has, of those that have several.
    """

    row: type[Any]
    packing: struct.Struct
    values: Any
    widths: dict[str, int]


@functools.cache
def layout_of(columns: np.dtype[np.void]) -> RowLayout:
    """The layout of tables with these columns, all of them numbers of eight bytes."""
    code, names, widths = "", columns.names or (), {}
    for name in names:
        kind, count = columns[name], 1
        if kind.subdtype:
            kind, (count,) = kind.subdtype
            widths[name] = count
        code += f"{count}{'q' if kind.kind == 'i' else 'd'}"
    packing = struct.Struct("@" + code)
    assert packing.size == columns.itemsize
    return RowLayout(_row_class(names, widths), packing, attrgetter(*names), widths)


def _row_class(names: tuple[str, ...], widths: dict[str, int]) -> type[Any]:
    """A class of rows with a `copy` that is written out: it runs for every arm wherever a rule looks ahead."""
    source = ["def copy(self):", " new = make(row)"]
    source += [f" new.{name} = self.{name}{'.copy()' if name in widths else ''}" for name in names]
    made: dict[str, Any] = {"make": object.__new__}
    exec("\n".join([*source, " return new"]), made)
    row: type[Any] = type("Row", (), {"__slots__": names, "copy": made["copy"]})
    made["row"] = row
    return row


def load(table: Table) -> list[Row]:
    """The rows of a table."""
    layout = layout_of(table.dtype)
    rows = []
    for numbers in layout.packing.iter_unpack(np.ascontiguousarray(table).tobytes()):
        row, rest = layout.row(), iter(numbers)
        for name in layout.row.__slots__:
            count = layout.widths.get(name)
            setattr(row, name, next(rest) if count is None else [next(rest) for _ in range(count)])
        rows.append(row)
    return rows


def store(rows: list[Row], table: Table) -> None:
    """Write rows into a table. A fraction in a column of whole numbers is an error: compiled code would cut it off."""
    layout = layout_of(table.dtype)
    buffer, size = table.reshape(-1).view(np.uint8).data, table.itemsize
    for place, row in enumerate(rows):
        numbers = layout.values(row)
        if layout.widths:
            numbers = [part for each in numbers for part in (each if each.__class__ is list else (each,))]
        layout.packing.pack_into(buffer, place * size, *numbers)


def memory_rows(memory: Memory) -> list[Any]:
    """The rows of the memory, as views of it."""
    width = memory.shape[1]
    if not width:
        return [()] * len(memory)
    whole = memoryview(memory.reshape(-1))  # type: ignore[arg-type]
    return [whole[start : start + width] for start in range(0, memory.size, width)]


class Rows(NamedTuple):
    """A state as interpreted kernels take it: see `State`."""

    arms: list[Row]
    memory: list[Any]
    searches: list[Row]
    problems: list[Row]

    @classmethod
    def of(cls, state: State) -> Rows:
        """The rows of a state."""
        return cls(load(state.arms), memory_rows(state.memory), load(state.search), load(state.problem))

    @property
    def records(self) -> tuple[Any, ...]:
        """The same with the two records as such."""
        return self.arms, self.memory, self.searches[0], self.problems[0]

    def copy(self, memory: Memory) -> Rows:
        """The same, to look ahead in; `memory` is the array behind these rows. Nothing writes into the problem."""
        arms, searches = [row.copy() for row in self.arms], [row.copy() for row in self.searches]
        return Rows(arms, memory_rows(memory.copy()), searches, self.problems)

    def write(self, state: State) -> None:
        """Write the rows into the state that they came from."""
        store(self.arms, state.arms)
        store(self.searches, state.search)


def on_tables(function: Kernel) -> Kernel:
    """A kernel for callers that have tables: they become rows and are written back, but for the problem."""

    def call(*given: Any) -> Any:
        taken = [_as_rows(each) for each in given]
        result = function(*taken)
        for rows, table in zip(taken, given, strict=True):
            if _is_table(table) and "initial_pulls" not in table.dtype.names:
                store(rows, table)
        return result

    return call


def _is_table(given: object) -> bool:
    return isinstance(given, np.ndarray) and given.dtype.names is not None


def _as_rows(given: Any) -> Any:
    if _is_table(given):
        return load(given)
    return memory_rows(given) if isinstance(given, np.ndarray) and given.ndim == 2 else given


def one_row(row: NDArray[np.void] | np.void) -> Row:
    """One record of a table as a row, to be read."""
    return load(np.atleast_1d(row))[0]
