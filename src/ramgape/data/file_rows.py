"""Logged rewards from the rows of a file, in small parts, so that a file of any size fits into memory.

No value is guessed and none dropped: what is no reward is an error that names file, line and column.
"""

from __future__ import annotations

import shlex
from collections import defaultdict
from collections.abc import Iterator, Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple, NoReturn, cast

from ramgape.common.files import read_number
from ramgape.data.columns import (
    FLAG_WORDS,
    LIKE_OTHERS,
    TEXT,
    RewardTexts,
    choose_columns,
    find_column,
    is_flag,
    is_number,
    kind_of_texts,
)
from ramgape.data.text_rows import TextRows
from ramgape.errors import InvalidData, located, require

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ramgape.data.accumulator import Accumulator
    from ramgape.data.batch import Batch
    from ramgape.data.reading import Reading

LONGEST_MARK = 10  # letters of a text that may stand for a missing value


class FileOptions(NamedTuple):
    """How a file is written, where that is not found by itself, and what its rows mean.

    Attributes:
        delimiter, decimal, encoding: Of a CSV file; None for what its first lines show.
        shuffle: The seed of the order in which items are taken; None for that of the file.
    """

    delimiter: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    shuffle: int | None = None


class Layout(NamedTuple):
    """The columns of a file. Of a wide one every column but `item`, `block` and `cluster` is an arm; of another one,
    `FileRows` finds the arm and the reward if they are None."""

    arm: str | None = None
    reward: str | None = None
    item: str | None = None
    block: str | None = None
    cluster: str | None = None
    wide: bool = False

    @property
    def named(self) -> list[str]:
        """The columns that are named."""
        return [column for column in self[:5] if column is not None]


class FileRows:
    """The rows of an open file, for the columns that matter.

    Args:
        reader: The rows as texts.
        layout: Their columns.
        missing: Texts that stand for a missing reward.
        before: How many rows were read from other files before.

    Attributes:
        count: The number of rows read, those before among them.
        layout: The columns, those that were found among them.
        words: What errors call an arm and a reward.
        binary: Whether the first rows have but words for true and false, or 0 and 1, for rewards; and whether they are
            words.
    """

    def __init__(self, reader: TextRows, layout: Layout, missing: Sequence[str] = (), before: int = 0) -> None:
        named = layout.named
        twice = next((column for column in named if named.count(column) > 1), None)
        require(twice is None, "the columns for arms, rewards, items, blocks and clusters", "different ones", twice)
        self.count = before
        self._reader = reader
        self._columns: defaultdict[str, RewardTexts] = defaultdict(RewardTexts)  # of the arms, in a wide table
        self._any_flags = False
        self._header = header = reader.header
        self._width = len(header)
        self._peeked: tuple[int, list[list[str]]] | None = reader.part()
        for column, what in zip(layout[2:5], ("item", "block", "cluster"), strict=True):
            if column is not None:
                self._find(column, f"{what} column")
        rows = [row for row in self._peeked[1] if len(row) == self._width]
        kinds = {
            name: kind_of_texts([row[place] for row in rows], missing)
            for place, name in enumerate(header)
            if name not in layout[2:5]
        }
        if layout.wide and layout.item is None:
            texts = [name for name, kind in kinds.items() if kind == TEXT]
            if len(texts) == 1 and len(kinds) > 2:
                layout = layout._replace(item=texts[0])
        self._arm = self._reward = -1
        self._arms: list[int] = []  # the columns of the arms, in a wide table
        self.words = "the name of an arm", "the reward"
        if layout.wide:
            self._arms = [place for place, name in enumerate(header) if name not in layout[2:5]]
            for place in self._arms:
                self._find(header[place], "the name of an arm")
        else:
            if None in layout[:2]:
                remark = "; --wide reads a table with a column an arm"
                found = choose_columns(*layout[:2], list(kinds.items()), reader.name, remark)
                layout = layout._replace(arm=found[0], reward=found[1])
            self._arm, self._reward = self._find(layout.arm, "arm column"), self._find(layout.reward, "reward column")
            self.words = f"column {layout.arm!r}", f"column {layout.reward!r}"
        self._item, self._block, self._cluster = (
            None if column is None else header.index(column) for column in layout[2:5]
        )
        self.layout = layout
        cells = {row[place].strip().lower() for row in rows for place in (self._arms or [self._reward])} - {""}
        words = bool(cells) and all(map(is_flag, cells))
        self.binary = (
            words or (bool(cells) and all(is_number(cell) and float(cell) in (0.0, 1.0) for cell in cells)),
            words,
        )

    def _find(self, column: str | None, what: str) -> int:
        """The place of a column."""
        return find_column(str(column), self._header, what, self._reader.name)

    def read_into(self, reading: Reading) -> Iterator[None]:
        """Hand everything over, part by part; between two parts it yields."""
        while True:
            first, part = self._peeked or self._reader.part()
            self._peeked = None
            if not part:
                return
            self._add_rows(reading, part, first)
            yield

    def _add_rows(self, reading: Reading, part: list[list[str]], first: int) -> None:
        """Count the rows of one part, the first of which stands in line `first`."""
        from ramgape.data.batch import Batch

        rows = part if set(map(len, part)) == {self._width} else self._whole_rows(part, first)
        width = max(len(self._arms), 1)

        def texts_of(column: int | None) -> list[str] | None:
            """The cells of a column, each as often as its row has arms."""
            if column is None:
                return None
            cells = list(map(itemgetter(column), rows))
            return [cell for cell in cells for _ in range(width)] if self._arms else cells

        items, blocks, clusters = texts_of(self._item), texts_of(self._block), texts_of(self._cluster)
        if items is None and (self._arms or clusters is not None):
            numbers = range(self.count + 1, self.count + 1 + len(rows))
            items = [str(number) for number in numbers for _ in range(width)]
        self.count += len(rows)
        if self._arms:
            cells = [(self._header[column], row[column]) for row in rows for column in self._arms]
        else:
            cells = [(row[self._arm], row[self._reward]) for row in rows]

        def place(position: int) -> str:
            column = f", column {self._header[self._arms[position % width]]!r}" if self._arms else ""
            return self._reader.place(part, rows[position // width], first) + column

        names, texts = [name for name, _ in cells], [text for _, text in cells]
        reading.take(Batch(names, texts, place, items, blocks, clusters), self._read_rewards)

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
            hint = " (--skip-empty leaves out rows without one)"
        elif is_flag(text) or (flags and digits):
            hint = LIKE_OTHERS
        elif len(text) <= LONGEST_MARK and not digits:
            remark = f"; --na {text.strip()} leaves out such rows, and counts them: are they missing by chance?"
        elif self._arms:
            remark = f"; --exclude {shlex.quote(batch.names[position])} leaves out a column that is no arm"
        reward = read_number(text) if is_number(text) and not flags else text
        accumulator.refuse_reward(reward, batch.names[position], place, hint, remark, FLAG_WORDS if flags else "")

    def _whole_rows(self, part: Sequence[list[str]], first: int) -> list[list[str]]:
        """The rows without empty lines, which are none; all must be as wide as the header."""
        rows = [row for row in part if row]
        for row in rows:
            if len(row) != self._width:
                with located(self._reader.place(part, row, first)):
                    allowed = f"{self._width} cells, as many as the header has"
                    require(False, "the row", allowed, row, InvalidData)
        return rows
