"""Tables of logged rewards: data frames of any make, and dictionaries of lists. Nothing of pandas is imported.

A table is long, a row a trial, if you name the columns with the arms and the rewards, or if its columns show which
these are; otherwise it is wide, a column an arm. Columns of numbers are handed over as they are, all rows at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramgape.common.formatting import plural
from ramgape.data.batch import Batch, as_number
from ramgape.data.columns import NUMERIC, PEEK, TEXT, choose_columns
from ramgape.data.missing import is_missing
from ramgape.errors import InvalidData, known_name, located, require

NUMBERS = "biuf"  # kinds of NumPy's types


class Columns(NamedTuple):
    """Which columns of a long table have what; all are None of a wide one, but perhaps the items or the blocks."""

    arm: Any = None
    reward: Any = None
    item: Any = None
    block: Any = None
    cluster: Any = None

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


def complete_columns(table: LoggedTable | None, columns: Columns) -> Columns:
    """The columns of a long table, of which perhaps some are not given.

    A table is wide if neither column is given, none is called `arm` and `reward`, and its columns do not show which
    is which.
    """
    given = columns[:2]
    if table is None or None not in given:
        return columns
    kinds = [(label, kind_of(table, label)) for label in table.labels if label not in columns[2:]]
    found = [kind for _, kind in kinds]
    texts = [label for label, kind in kinds if kind == TEXT]
    usual = {"arm", "reward"} <= {label for label, _ in kinds if isinstance(label, str)}
    if given == (None, None) and not usual and (found.count(TEXT), found.count(NUMERIC)) != (1, 1):
        # The only column of text in a table with a column an arm names the items, if no name comes twice.
        is_item = len(texts) == 1 and columns.item is None and None not in found and len(found) > 2
        is_item = is_item and len(set(first := list(islice(table.column(texts[0]), PEEK)))) == len(first)
        return columns._replace(item=texts[0]) if is_item else columns
    return Columns(*choose_columns(*given, kinds, "the table"), *columns[2:])


def kind_of(table: LoggedTable, label: Any) -> str | None:
    """Whether a column is of text or numbers, by its first rows; None for another kind, or if it is not known."""
    column: Any = table.column(label) if table.labels.count(label) == 1 else None
    if isinstance(column, str | bytes) or not hasattr(column, "__len__") or not hasattr(column, "__iter__"):
        return None
    if isinstance(column, np.ndarray) and column.dtype.kind in NUMBERS:
        return NUMERIC
    values = [value for value in islice(column, PEEK) if not is_missing(value)]
    if values and all(isinstance(value, str) for value in values):
        return TEXT
    numbers = all(not isinstance(value, np.ndarray) and as_number(value) is not None for value in values)
    return NUMERIC if values and numbers else None


def check_columns(table: LoggedTable | None, columns: Columns) -> None:
    """Complain of columns that are not there, or cannot be meant together."""
    if table is None:
        given = [column for column in columns if column is not None]
        require(not given, "arm_column, reward_column, item_column and the like", "absent where rows are tuples", given)
        return
    long = columns.arm is not None
    twice = [label for label in table.labels if table.labels.count(label) > 1]
    named = dict(
        zip(("arm_column", "reward_column", "item_column", "block_column", "cluster_column"), columns, strict=True)
    )
    for what, column in named.items():
        if column is not None and column not in table.labels:
            known_name(column, map(str, table.labels), what)
        require(column is None or column not in twice, what, "the label of one column, not of several", column)
    asked = [column for column in columns if column is not None]
    require(len(set(asked)) == len(asked), "the columns for arms, rewards, items and blocks", "different ones", asked)
    names = [str(label) for label in table.labels]
    twice = [name for name in names if names.count(name) > 1]
    require(long or not twice, "the labels of columns", "all different, since each is an arm", twice, InvalidData)


def arms_of(table: LoggedTable, columns: Columns) -> list[str]:
    """The arms of a wide table; those of a long one are not known yet."""
    return [] if columns.arm is not None else [str(label) for label in arm_labels(table, columns)]


def arm_labels(table: LoggedTable, columns: Columns) -> list[Any]:
    """The columns of a wide table that are arms."""
    return [label for label in table.labels if label not in columns[2:]]


def batches(table: LoggedTable, columns: Columns, numbered: bool, keeps: Callable[[str], bool]) -> Iterator[Batch]:
    """The rows of a table whose columns have been checked; of a wide one, those columns are read that are kept.

    Args:
        table: The data.
        columns: What is where.
        numbered: Whether rows of a wide table have names: that of their item, or their number.
        keeps: Whether an arm is kept.
    """
    if columns.arm is not None:
        yield _long(table, columns)
        return
    items = None if columns.item is None else _texts(table.column(columns.item), "the item")
    blocks = None if columns.block is None else _texts(table.column(columns.block), f"column {columns.block!r}")
    clusters = None if columns.cluster is None else _texts(table.column(columns.cluster), f"column {columns.cluster!r}")
    for label in arm_labels(table, columns):
        name, values = str(label), table.column(label)
        count = len(values) if hasattr(values, "__len__") else 0
        read = _values(values, f"column {name!r}") if keeps(name) else [None] * count
        known = items if items is not None else [str(row) for row in range(1, len(read) + 1)]
        require(not numbered or len(known) == len(read), f"column {name!r}", "as long as the items", len(read))
        whole = blocks is None or len(blocks) == len(read)
        require(whole, f"column {name!r}", "as long as the blocks", len(read), InvalidData)
        yield Batch(
            [name] * len(read), read, _placing(f", column {name!r}"), known if numbered else None, blocks, clusters
        )


def _long(table: LoggedTable, columns: Columns) -> Batch:
    """All rows of a long table."""
    words = f"column {columns.reward!r}"
    names, values = (
        _texts(table.column(columns.arm), f"column {columns.arm!r}"),
        _values(table.column(columns.reward), words),
    )
    items = None if columns.item is None else _texts(table.column(columns.item), f"column {columns.item!r}")
    blocks = None if columns.block is None else _texts(table.column(columns.block), f"column {columns.block!r}")
    clusters = None if columns.cluster is None else _texts(table.column(columns.cluster), f"column {columns.cluster!r}")
    if clusters is not None and items is None:
        items = [str(row) for row in range(1, len(names) + 1)]
    lengths = {len(names), len(values), *(len(each) for each in (items, blocks, clusters) if each is not None)}
    require(len(lengths) == 1, "the columns of the table", "of one length", sorted(lengths), InvalidData)
    return Batch(names, values, _placing(), items, blocks, clusters)


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
