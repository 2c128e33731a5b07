"""Tables in memory: data frames of any make, and dictionaries of lists. Nothing of pandas is imported.

Columns of numbers are handed over as they are, all rows at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramgape.common.formatting import plural
from ramgape.data.accumulator import Accumulator
from ramgape.data.batch import Batch, as_number
from ramgape.data.columns import NUMERIC, PEEK, TEXT, Columns, Part, Table
from ramgape.data.missing import is_missing
from ramgape.errors import InvalidData, InvalidReward, located, require

NUMBERS = "biuf"  # kinds of NumPy's types


class MemoryTable(Table):
    """The columns of a table, by their labels."""

    name, in_memory = "the table", True

    def __init__(self, labels: list[Any], column: Callable[[Any], Any]) -> None:
        self.labels, self._column = labels, column

    def kinds(self, missing: Sequence[str] = ()) -> list[str | None]:
        return [self._kind(label) for label in self.labels]

    def _kind(self, label: Any) -> str | None:
        column: Any = self._column(label) if self.labels.count(label) == 1 else None
        if isinstance(column, str | bytes) or not hasattr(column, "__len__") or not hasattr(column, "__iter__"):
            return None
        if isinstance(column, np.ndarray) and column.dtype.kind in NUMBERS:
            return NUMERIC
        values = [value for value in islice(column, PEEK) if not is_missing(value)]
        if values and all(isinstance(value, str) for value in values):
            return TEXT
        numbers = all(not isinstance(value, np.ndarray) and as_number(value) is not None for value in values)
        return NUMERIC if values and numbers else None

    def first(self, place: int) -> list[Any]:
        column = self._column(self.labels[place])
        return [value for value in column if not is_missing(value)] if hasattr(column, "__iter__") else []

    def dictionaries(self) -> list[dict[str, Any]]:
        """All rows, each as what its columns have; None for what is missing."""
        columns = [[None if is_missing(value) else value for value in self._column(label)] for label in self.labels]
        return [dict(zip(map(str, self.labels), row, strict=True)) for row in zip(*columns, strict=True)]

    def parts(self) -> Iterator[Part]:
        def length(place: int) -> int:
            column = self._column(self.labels[place])
            return len(column) if hasattr(column, "__len__") else 0

        def values(place: int) -> Any:
            return _values(self._column(self.labels[place]), f"column {self.labels[place]!r}")

        def texts(place: int) -> list[str]:
            return _texts(self._column(self.labels[place]), f"column {self.labels[place]!r}")

        yield Part(length, values, texts, lambda row: f"row {row + 1}")

    def reader(self, columns: Columns) -> Callable[[Accumulator, Batch], NDArray[np.float64]]:
        return _explained if columns.layout.wide else as_rewards


def as_table(data: Any) -> MemoryTable | None:
    """A data frame or a dictionary as a table; None for anything else."""
    if isinstance(data, Mapping):
        return MemoryTable(list(data), data.__getitem__)
    labels = getattr(data, "column_names", getattr(data, "columns", None))
    if labels is None or isinstance(data, type) or not hasattr(data, "__getitem__"):
        return None
    return MemoryTable(list(labels), data.__getitem__)


def as_rewards(accumulator: Accumulator, batch: Batch) -> NDArray[np.float64]:
    """The rewards as floats, of any type that is a number; texts are none."""
    values = batch.values
    if isinstance(values, np.ndarray):
        return values
    found = [value if type(value) is float else as_number(value) for value in values]
    if None in found:
        place = found.index(None)
        accumulator.refuse_reward(values[place], batch.names[place], batch.place(place))
    return np.array(found, np.float64)


def _explained(accumulator: Accumulator, batch: Batch) -> NDArray[np.float64]:
    """The same of a wide table; an error says what a text among the numbers probably means."""
    try:
        return as_rewards(accumulator, batch)
    except InvalidReward as error:
        if error.given.startswith(("'", '"')):
            error.hint += (
                "; exclude leaves out a column that is no arm; of a table with a row a trial, arm_column and "
                "reward_column say what is where"
            )
        raise


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
