"""Tables of logged rewards: data frames of any make, and dictionaries of lists. Nothing of pandas is imported.

A table is long, a row a trial, if it is said which columns have the arms and the rewards; otherwise it is wide, a
column an arm. Columns of numbers are handed over as they are, all rows at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramgape.common.formatting import plural
from ramgape.errors import InvalidData, known_name, located, require
from ramgape.search.batch import Batch
from ramgape.search.missing import is_missing

NUMBERS = "biuf"  # kinds of NumPy's types


class Columns(NamedTuple):
    """Which columns of a long table have what; all are None of a wide one, but perhaps the items."""

    arm: Any = None
    reward: Any = None
    item: Any = None

    @property
    def words(self) -> tuple[str, str] | None:
        """What errors call an arm and a reward; None for what they usually do."""
        return None if self.arm is None else (f"column {self.arm!r}", f"column {self.reward!r}")


class LoggedTable(NamedTuple):
    """The columns of a table, by their labels."""

    labels: list[Any]
    column: Callable[[Any], Any]


def as_table(data: Any) -> LoggedTable | None:
    """A data frame or a dictionary as a table; None for anything else."""
    if isinstance(data, Mapping):
        return LoggedTable(list(data), data.__getitem__)
    labels = getattr(data, "column_names", getattr(data, "columns", None))
    if labels is None or isinstance(data, type) or not hasattr(data, "__getitem__"):
        return None
    return LoggedTable(list(labels), data.__getitem__)


def check_columns(table: LoggedTable | None, columns: Columns) -> None:
    """Complain of columns that are not there, or cannot be meant together."""
    if table is None:
        given = [column for column in columns if column is not None]
        require(not given, "arm_column, reward_column and item_column", "absent where rows are tuples", given)
        return
    long = columns.arm is not None
    for name, column, other in (("arm", columns.reward, columns.arm), ("reward", columns.arm, columns.reward)):
        allowed = "given, since the other column is: without both of them every column is an arm"
        require(other is not None or column is None, f"{name}_column", allowed, other)
    twice = [label for label in table.labels if table.labels.count(label) > 1]
    named = dict(zip(("arm_column", "reward_column", "item_column"), columns, strict=True))
    for what, column in named.items():
        if column is not None and column not in table.labels:
            known_name(column, map(str, table.labels), what)
        require(column is None or column not in twice, what, "the label of one column, not of several", column)
    asked = [column for column in columns if column is not None]
    require(len(set(asked)) == len(asked), "the columns for arms, rewards and items", "different ones", asked)
    names = [str(label) for label in table.labels]
    twice = [name for name in names if names.count(name) > 1]
    require(long or not twice, "the labels of columns", "all different, since each is an arm", twice, InvalidData)


def arms_of(table: LoggedTable, columns: Columns) -> list[str]:
    """The arms of a wide table; of a long one nobody knows them yet."""
    return [] if columns.arm is not None else [str(label) for label in table.labels if label != columns.item]


def batches(table: LoggedTable, columns: Columns, about_items: bool, keeps: Callable[[str], bool]) -> Iterator[Batch]:
    """The rows of a table whose columns have been checked; of a wide one, those columns are read that are kept."""
    if columns.arm is not None:
        yield _long(table, columns)
        return
    items = None if columns.item is None else _texts(table.column(columns.item), "the item")
    for label in table.labels:
        if label == columns.item:
            continue
        name, values = str(label), table.column(label)
        count = len(values) if hasattr(values, "__len__") else 0
        read = _values(values, f"column {name!r}") if keeps(name) else [None] * count
        known = items if items is not None else [str(row) for row in range(1, len(read) + 1)]
        require(not about_items or len(known) == len(read), f"column {name!r}", "as long as the items", len(read))
        yield Batch([name] * len(read), read, _placing(f", column {name!r}"), known if about_items else None)


def _long(table: LoggedTable, columns: Columns) -> Batch:
    """All rows of a long table."""
    words = f"column {columns.reward!r}"
    names, values = (
        _texts(table.column(columns.arm), f"column {columns.arm!r}"),
        _values(table.column(columns.reward), words),
    )
    items = None if columns.item is None else _texts(table.column(columns.item), f"column {columns.item!r}")
    lengths = {len(names), len(values), *(() if items is None else (len(items),))}
    require(len(lengths) == 1, "the columns of the table", "of one length", sorted(lengths), InvalidData)
    return Batch(names, values, _placing(), items)


def _placing(column: str = "") -> Callable[[int], str]:
    return lambda position: f"row {position + 1}{column}"


def _values(column: Any, what: str) -> list[Any] | NDArray[np.float64]:
    """What stands for the rewards: an array of numbers wherever the column is one, otherwise the things themselves."""
    many = not isinstance(column, str | bytes) and hasattr(column, "__iter__")
    require(many, what, "a list of rewards", column, InvalidData)
    if isinstance(column, np.ma.MaskedArray):
        column = column.tolist(None)
    things = list(column) if not hasattr(column, "__array__") else column
    try:
        array = np.asarray(things)
    except (TypeError, ValueError):  # of different lengths, say
        array = np.empty(0, object)
    kind = f"{plural(array.ndim, 'dimension')} of {array.dtype}"
    require(array.ndim == 1 and array.dtype.kind not in "mM", what, "numbers in one dimension", kind, InvalidData)
    if array.dtype.kind in NUMBERS and len(array) == len(things):
        return array.astype(np.float64)
    return array.tolist() if array.dtype == object and len(array) == len(things) else list(things)


class _Naming(dict[Any, str | None]):
    """Names of things, each of which is asked only once."""

    def __missing__(self, thing: Any) -> str | None:
        self[thing] = name = None if is_missing(thing) else str(thing)
        return name


def _texts(column: Any, what: str) -> list[str]:
    """The names in a column; what is missing has none."""
    things = column.tolist() if hasattr(column, "tolist") else list(column)
    naming = _Naming()
    alike = len(set(map(type, things))) == 1  # 1 and True would be one thing
    try:
        names = [naming[thing] if alike else naming.__missing__(thing) for thing in things]
    except TypeError:  # things that no dictionary takes
        names = [str(thing) for thing in things]
    if None in names:
        place = names.index(None)
        with located(f"row {place + 1}"):
            require(False, what, "a name", things[place], InvalidData)
    return names  # type: ignore[return-value]
