"""Columns of tables and files: found by name, or by what stands in them; and rewards as texts."""

from __future__ import annotations

import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from ramgape.common.files import read_number
from ramgape.common.formatting import list_names
from ramgape.data.batch import Batch, Place
from ramgape.errors import InvalidData, InvalidSpec, RamgapeWarning, UnknownName, known_name, require

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ramgape.data.accumulator import Accumulator

PEEK = 512  # rows that show what kind of column it is
MOST_COLUMNS = 30  # in an error
TEXT, NUMERIC = "text", "numeric"
ROLES = (("arms", "arm", TEXT), ("rewards", "reward", NUMERIC))  # the usual names of columns, and their kinds
MISSING = frozenset(("", "na", "n/a", "nan", "null", "none", "-", ".", "?"))  # usual texts for what is missing
NAMELESS = re.compile(r"\s*|Unnamed: \d+")  # the header of an index that was written along, also as pandas reads it

FLAGS = dict.fromkeys(("true", "t", "yes", "pass", "passed", "correct", "c", "success"), 1.0)
FLAGS |= dict.fromkeys(("false", "f", "no", "fail", "failed", "incorrect", "i", "failure"), 0.0)
FLAG_WORDS = "true or false (or t, f, yes, no, pass, fail, C, I)"
LIKE_OTHERS = ", like the rewards before it"


# ------------------------------------------------------------------------------------------- tables


class Layout(NamedTuple):
    """What the columns of a table mean, as far as it is given or found.

    Attributes:
        arm, reward, item, block, cluster: The labels of the columns with these; None where there is none.
        wide: Whether every other column is an arm.
        outcomes: The outcomes of a trial, in place of a reward: columns, of a wide table such as `arm:outcome`.
    """

    arm: Any = None
    reward: Any = None
    item: Any = None
    block: Any = None
    cluster: Any = None
    wide: bool = False
    outcomes: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, str]:
        """What errors call an arm and a reward."""
        if self.arm is None or self.outcomes:
            return "the name of an arm" if self.wide else "the arm", "the reward"
        return f"column {self.arm!r}", f"column {self.reward!r}"


class Part(NamedTuple):
    """Some rows of a table.

    Attributes:
        length: How many a column has, by its place.
        column: Their values in it.
        texts: The same as names; what is missing is none.
        place: What errors call the place of a row.
    """

    length: Callable[[int], int]
    column: Callable[[int], Sequence[Any] | NDArray[np.float64]]
    texts: Callable[[int], list[str]]
    place: Place


class Table(ABC):
    """Rows under labels, of a file or in memory.

    Attributes:
        name: What errors call it.
        labels: Those of its columns.
        in_memory: Whether Python has it; then it may be wide though nothing says so.
    """

    name: str
    labels: list[Any]
    in_memory = False

    @abstractmethod
    def kinds(self, missing: Sequence[str] = ()) -> list[str | None]:
        """Whether each column is of text or numbers, by its first rows; None for neither.

        Args:
            missing: Texts that stand for a missing number.
        """

    @abstractmethod
    def first(self, place: int) -> list[Any]:
        """The first values of a column, those that are not missing."""

    @abstractmethod
    def parts(self) -> Iterator[Part]:
        """All rows."""

    @abstractmethod
    def reader(self, columns: Columns) -> Callable[[Accumulator, Batch], NDArray[np.float64]]:
        """What makes numbers of rewards, or complains."""


class Columns(NamedTuple):
    """Where a table has what.

    Attributes:
        layout: The columns by their labels, those that were found among them.
        arm: The place of the column with the arms; None of a wide table.
        about: The places of those with items, blocks and clusters.
        rewards: The places of the reward, or of the outcomes, by arm; under None if a column has the arms.
    """

    layout: Layout
    arm: int | None
    about: tuple[int | None, int | None, int | None]
    rewards: dict[str | None, tuple[int, ...]]

    def batches(self, part: Part, before: int | None, keeps: Callable[[str], bool]) -> Iterator[Batch]:
        """The rewards of some rows, those of a row one after the other.

        Args:
            part: The rows.
            before: How many rows there were before; None if rows that are about no item need no number.
            keeps: Whether an arm is kept; rewards of others are not looked at.
        """
        values = {arm: _values(part, places) for arm, places in self.rewards.items() if arm is None or keeps(arm)}
        about = [None if place is None else part.texts(place) for place in self.about]
        names = None if self.arm is None else part.texts(self.arm)
        lengths = sorted({len(each) for each in (*values.values(), *about, names) if each is not None})
        uneven = len(lengths) > 1
        whole = not uneven or not (names or any(about))
        require(whole, "the columns of the table", "of one length", lengths, InvalidData)
        if names is not None:
            yield Batch(names, values[None], part.place, *_numbered(about, before, len(names)))
            return
        for arm in self.rewards:
            if arm not in values:
                count = part.length(self.rewards[arm][0])
                yield Batch([str(arm)] * count, [None] * count, part.place)
        for together in [[arm] for arm in values] if uneven else [list(values)] if values else []:
            yield self._in_rows(part, {str(arm): values[arm] for arm in together}, about, before)

    def _in_rows(
        self, part: Part, values: dict[str, Any], about: Sequence[list[str] | None], before: int | None
    ) -> Batch:
        """The rewards of several arms in the same rows."""
        arms, count = list(values), len(next(iter(values.values())))

        def place(position: int) -> str:
            arm = arms[position % len(arms)]
            return (
                f"{part.place(position // len(arms))}, column{f's {arm}:...' if self.layout.outcomes else f' {arm!r}'}"
            )

        shared = _numbered(about, before, count)
        if len(arms) > 1:
            shared = [None if each is None else [text for text in each for _ in arms] for each in shared]
        return Batch(arms * count, _interleaved(list(values.values())), place, *shared)


def _values(part: Part, places: tuple[int, ...]) -> Any:
    """The rewards of an arm, or the outcomes of its trials."""
    columns = [part.column(place) for place in places]
    return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))


def _numbered(about: Sequence[list[str] | None], before: int | None, count: int) -> Sequence[list[str] | None]:
    """Items, blocks and clusters; rows that are about no item have a number in place of one."""
    if before is None or about[0] is not None:
        return about
    return [[str(row) for row in range(before + 1, before + 1 + count)], *about[1:]]


def _interleaved(columns: list[Any]) -> Any:
    """The values of several columns row by row."""
    if len(columns) == 1:
        return columns[0]
    if all(hasattr(column, "dtype") for column in columns):
        import numpy as np

        return np.column_stack(columns).ravel()
    return [value for row in zip(*columns, strict=True) for value in row]


def find_columns(table: Table, layout: Layout, missing: Sequence[str] = ()) -> Columns:
    """Where a table has what, as it is given, as columns are usually named, or as they show by themselves.

    Args:
        table: The table.
        layout: What is given.
        missing: Texts that stand for a missing number.
    """
    roles = ("arm", "reward", "item", "block", "cluster")
    called = {role: f"{role}_column" if table.in_memory else f"{role} column" for role in roles}
    given = {role: label for role, label in zip(roles, layout, strict=False) if label is not None}
    for role, label in given.items():
        find_column(label, table.labels, called[role], table.name)
    twice = [label for label in given.values() if list(given.values()).count(label) > 1]
    require(not twice, "the columns for arms, rewards, items, blocks and clusters", "different ones", twice[:1])
    about, asked = layout[2:5], layout.outcomes
    kinds = [
        (label, kind)
        for label, kind in zip(table.labels, table.kinds(missing), strict=True)
        if label not in about and label not in asked
    ]
    named = [(label, kind) for label, kind in kinds if label in given.values() or not NAMELESS.fullmatch(str(label))]
    pairs: dict[int, tuple[str, str, str]] = {}
    if asked:
        require(layout.reward is None, "reward_column", "absent with objectives: they name the columns", layout.reward)
        pairs = {place: str(label).rpartition(":") for place, label in enumerate(table.labels)}
        pairs = {place: pair for place, pair in pairs.items() if pair[1] and pair[2] in asked}
        wide = bool(pairs) and (layout.wide or not any(label in table.labels for label in asked))
    else:
        wide = layout.wide or (table.in_memory and not {"arm", "reward"} & given.keys() and _is_wide(named))
    if wide:
        layout = _with_items(table, layout, kinds)
    else:
        remark = "" if asked else "; --wide reads a table with a column an arm"
        reward = asked[0] if asked else layout.reward
        arm, reward = choose_columns(layout.arm, reward, named, table.name, "" if table.in_memory else remark)
        layout = layout._replace(arm=arm, reward=None if asked else reward)
    layout = layout._replace(wide=wide)
    rewards: dict[str | None, tuple[int, ...]] = {}
    if wide and asked:
        for arm in dict.fromkeys(arm for arm, _, _ in pairs.values()):
            by_outcome = {outcome: place for place, (name, _, outcome) in pairs.items() if name == arm}
            lacking = [outcome for outcome in asked if outcome not in by_outcome]
            require(not lacking, f"arm {arm!r}", "one with a column for every outcome", lacking, InvalidData)
            rewards[arm] = tuple(by_outcome[outcome] for outcome in asked)
    elif wide:
        require(layout[:2] == (None, None), "arm_column and reward_column", "absent in a wide table", layout[:2])
        labels = [label for label, _ in named if label != layout.item]
        rewards = {
            str(label): (find_column(label, table.labels, "the name of an arm", table.name),) for label in labels
        }
        require(len(rewards) == len(labels), "the labels of columns", "all different, since each is an arm", labels)
    else:
        rewards[None] = tuple(_find_reward(table, label, called, asked) for label in asked or [layout.reward])
    arm_place = None if wide else find_column(layout.arm, table.labels, called["arm"], table.name)
    item, block, cluster = (None if label is None else table.labels.index(label) for label in layout[2:5])
    return Columns(layout, arm_place, (item, block, cluster), rewards)


def _find_reward(table: Table, label: Any, called: dict[str, str], outcomes: Sequence[str]) -> int:
    """The place of the rewards, or of an outcome."""
    try:
        return find_column(
            label, table.labels, "the column of every outcome" if outcomes else called["reward"], table.name
        )
    except UnknownName as error:
        if outcomes:
            error.hint += f"; a table with a column an arm has columns such as 'small:{label}'"
        raise


def _is_wide(kinds: Sequence[tuple[Any, str | None]]) -> bool:
    """Whether a table has a column an arm: no usual names, and more than one column of text or of numbers."""
    found = [kind for _, kind in kinds]
    usual = {usual for _, usual, _ in ROLES} <= {label for label, _ in kinds if isinstance(label, str)}
    return not usual and (found.count(TEXT), found.count(NUMERIC)) != (1, 1)


def _with_items(table: Table, layout: Layout, kinds: Sequence[tuple[Any, str | None]]) -> Layout:
    """The columns of a wide table; the only one of text names the items, if no name comes twice."""
    texts = [label for label, kind in kinds if kind == TEXT]
    if layout.item is not None or len(texts) != 1 or len(kinds) < 3 or table.labels.count(texts[0]) > 1:
        return layout
    names = table.first(table.labels.index(texts[0]))
    return layout._replace(item=texts[0]) if len(set(names)) == len(names) else layout


# ------------------------------------------------------------------------------------------ rewards


class RewardTexts:
    """The rewards of one column as texts: numbers, or words such as true and false. The first value decides which.

    >>> column = RewardTexts()
    >>> column.read("True"), column.read(" no"), column.read("1")
    (1.0, 0.0, None)
    """

    def __init__(self) -> None:
        self.flags: bool | None = None  # whether they are words; None before the first

    def read(self, text: str) -> float | None:
        """The reward; None for what is none, or none of this column's kind."""
        reward = FLAGS.get(text.strip().lower())
        flag = reward is not None
        if not flag:
            with suppress(ValueError):
                reward = read_number(text)
        if reward is None or self.flags not in (None, flag):
            return None
        self.flags = flag
        return reward


def find_column(column: Any, header: Sequence[Any], what: str, file: str) -> int:
    """The place of a column, which must be there once: a name may occur only once."""
    if column not in header:
        known_name(column, list(map(str, header)), f"{what} of {file}")
    allowed = f"the name of one column of {file}, not of {header.count(column)}"
    require(header.count(column) == 1, what, allowed, column, InvalidData)
    return header.index(column)


def kind_of_texts(values: Iterable[Any], missing: Iterable[str] = ()) -> str | None:
    """Whether the cells of a file are text, or numbers apart from missing ones; None where all are missing.

    >>> kind_of_texts(["0.5", "", "NA"]), kind_of_texts(["A", "1"]), kind_of_texts([""])
    ('numeric', 'text', None)
    """
    marks = MISSING.union(text.strip().lower() for text in missing)
    found = {str(value).strip().lower() for value in values if value is not None} - marks
    return None if not found else NUMERIC if all(is_flag(text) or is_number(text) for text in found) else TEXT


def choose_columns(
    arm: Any, reward: Any, kinds: Sequence[tuple[Any, str | None]], file: str, remark: str = ""
) -> tuple[Any, Any]:
    """The columns with the arms and the rewards, where perhaps neither is given.

    The usual names come first, then the only column of the right kind, which a warning names.

    Args:
        arm, reward: The columns that are given.
        kinds: All columns that may be meant, each with its kind.
        file: What an error calls the table.
        remark: What else an error says.
    """
    chosen, labels, guessed = [arm, reward], [label for label, _ in kinds], []
    for place, (_, usual, _) in enumerate(ROLES):
        alike = [label for label in labels if str(label).strip().lower() == usual and label not in chosen]
        if chosen[place] is None and alike:
            chosen[place] = usual if usual in alike else alike[0]
    for place, (role, usual, wanted) in enumerate(ROLES):
        if chosen[place] is not None:
            continue
        found = [label for label, kind in kinds if kind == wanted and label not in chosen]
        if len(found) != 1:
            listed = list_names(list(map(str, found or labels)), MOST_COLUMNS)
            there = f"{len(found)} {wanted} columns ({listed})" if found else f"no {wanted} column among {listed}"
            allowed = f"the column with the {role}: {file} has no column {usual!r} for them, and {there}"
            raise InvalidSpec(what=f"{usual}_column", verb="name", allowed=allowed, hint=remark)
        if isinstance(found[0], str) and is_number(found[0]):
            given = list_names(list(map(str, labels)), MOST_COLUMNS)
            raise InvalidData(what=file, verb="begin", allowed="with a line that names its columns", given=given)
        chosen[place] = found[0]
        guessed.append(f"{role} are read from column {found[0]!r}, the only {wanted} column")
    if guessed:
        warnings.warn("; ".join(guessed), RamgapeWarning, stacklevel=4)
    return chosen[0], chosen[1]


def is_flag(text: str) -> bool:
    """Whether a text is one of the words for true and false."""
    return text.strip().lower() in FLAGS


def is_number(text: str) -> bool:
    """Whether a text is a number."""
    with suppress(ValueError):
        read_number(text)
        return True
    return False
