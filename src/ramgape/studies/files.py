"""Observations in files: CSV with a header, or one JSON object a line. What was written is read back without loss."""

from __future__ import annotations

import csv
import json
import math
import os
import pickle
import tempfile
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from itertools import chain, islice
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple

from ramgape.common.checks import check_many, check_text, whole
from ramgape.common.files import check_path, name_of, opened, read_number, read_objects
from ramgape.common.whole_files import is_stream, replacing
from ramgape.data.columns import (
    FLAG_WORDS,
    LIKE_OTHERS,
    NAMELESS,
    NUMERIC,
    PEEK,
    RewardTexts,
    choose_columns,
    find_column,
    is_flag,
    kind_of_texts,
)
from ramgape.data.text_rows import TextRows
from ramgape.errors import InvalidReward, InvalidSpec, known_name, located, require, shorten
from ramgape.search.outcome import Outcome, of_arm, told_price
from ramgape.studies.blocks import with_block
from ramgape.studies.entries import Trial, checked_outcome
from ramgape.studies.exchange import pair_of, write_info
from ramgape.studies.report import read_time, write_time
from ramgape.studies.specification import StudySpec

IN_MEMORY = 8 * 2**20  # bytes of an import buffer; what is larger goes into a temporary file
FORMS = ("csv", "jsonl")
OPTIONAL = ("told_at", "failed", "worker", "pull", "item", "price", "info")
DETAILS = ("item", "price", "info", "outcomes")  # columns that are left out where no row has anything there
NO_DETAILS = (None,) * len(DETAILS)
LATER = ("reward", "seed", "reason")  # which tables of trials have besides
OUTCOMES = "outcomes"
PREFIX = f"{OUTCOMES}."  # of the column of an outcome whose name is that of another column
FAILED = {"0": False, "0.0": False, "false": False, "1": True, "1.0": True, "true": True}


class ImportedRow(NamedTuple):
    """An observation, as people read it."""

    arm: str
    reward: float
    failed: bool = False  # a failure that counts as the worst reward
    worker: str | None = None
    told_at: float | None = None
    pull: str | None = None
    item: int | None = None  # by its place in the study's list
    price: float | None = None
    info: str | None = None  # JSON
    outcomes: Mapping[str, float] | None = None  # where a trial has several; the reward is one of them


def write_rows(
    path: str | os.PathLike[str] | IO[str], form: str, make_rows: Callable[[], Iterable[ImportedRow]]
) -> int:
    """Write rows into a file, or to a stream; returns how many. They are made twice where a header must come first."""
    known_name(form, FORMS, "format")
    count = 0
    with written(path) as stream:
        if form == "jsonl":
            for row in make_rows():
                stream.write(f"{write_object(row)}\n")
                count += 1
            return count
        columns, there = _columns(make_rows())
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(columns)
        for row in islice(make_rows(), there):
            writer.writerow(_cells(row, columns))
            count += 1
    return count


def write_object(row: ImportedRow) -> str:
    """A row as a JSON object, on one line."""
    return json.dumps(_plain(row), ensure_ascii=False)


def _columns(rows: Iterable[ImportedRow]) -> tuple[list[str], int]:
    """The columns of a file, and the number of its rows: more of them may come before it is written."""
    used, there, outcomes = set(ImportedRow._fields) - set(DETAILS), 0, dict[str, None]()
    for row in rows:
        there += 1
        if row[-len(DETAILS) :] != NO_DETAILS:
            used.update(name for name in DETAILS if getattr(row, name) is not None)
            outcomes.update(dict.fromkeys(row.outcomes or ()))
    used -= {OUTCOMES, *(["reward"] if outcomes else [])}
    columns = [name for name in ImportedRow._fields if name in used]
    return [*columns[:1], *map(outcome_column, outcomes), *columns[1:]], there


def outcome_column(name: str) -> str:
    """The column of an outcome: its name, unless that means something else.

    >>> outcome_column("accuracy"), outcome_column("price")
    ('accuracy', 'outcomes.price')
    """
    return f"{PREFIX}{name}" if name in (*ImportedRow._fields, *LATER) or name.startswith(PREFIX) else name


def _plain(row: ImportedRow) -> dict[str, Any]:
    described = {name: value for name, value in row._asdict().items() if value is not None or name not in DETAILS}
    described["told_at"] = None if row.told_at is None else write_time(row.told_at)
    if row.info is not None:
        described["info"] = json.loads(row.info)
    if row.outcomes is not None:
        del described["reward"]
    return described


def _cells(row: ImportedRow, columns: Iterable[str]) -> list[str]:
    plain = _plain(row)
    plain["reward"], plain["failed"] = repr(row.reward), "1" if row.failed else "0"
    plain["info"] = row.info
    plain |= {outcome_column(name): repr(value) for name, value in (row.outcomes or {}).items()}
    return ["" if plain.get(name) is None else str(plain[name]) for name in columns]


def read_rows(
    path: str | os.PathLike[str] | IO[str] | TextRows,
    form: str,
    arm_column: str | None = None,
    reward_column: str | None = None,
    block_column: str | None = None,
    *,
    outcomes: Container[str] | None = None,
) -> Iterator[tuple[str, ImportedRow]]:
    """Rows of a file, each with its place; arm and reward must be there, and a block if its column is named.

    Rewards are not judged here.

    Args:
        path, form: The file, or its rows.
        arm_column, reward_column, block_column: Where these are; None to find them.
        outcomes: The outcomes that are asked about, where trials have several: these columns are read in place of a
            reward, and all others that hold numbers.
    """
    known_name(form, FORMS, "format")
    header: list[str] = []
    with ExitStack() as stack:
        if isinstance(path, TextRows):
            name, found = path.name, _read_table(path, header)
        else:
            stream, name = stack.enter_context(opened(path)), name_of(path)
            lines = _read_csv(stream, name, header) if form == "csv" else read_objects(stream, name)
            found = ((f"{name}, line {line}", cells) for line, cells in lines)
        numeric: list[str] = []
        first = list(islice(found, PEEK))  # of a CSV file, now the header is known
        if arm_column is None or reward_column is None or outcomes is not None:
            labels = header or list(dict.fromkeys(key for _, cells in first for key in cells))
            kinds = [(label, kind_of_texts(cells.get(label) for _, cells in first)) for label in labels]
            taken = {*OPTIONAL, block_column}
            usable = [each for each in kinds if each[0] not in taken and not NAMELESS.fullmatch(each[0])]
            numeric = [label for label, kind in usable if kind == NUMERIC]
            if outcomes is not None:
                usable = [(label, kind) for label, kind in usable if kind != NUMERIC] + [(OUTCOMES, NUMERIC)]
                reward_column = OUTCOMES
            if usable or header:
                arm_column, reward_column = choose_columns(arm_column, reward_column, usable, name)
        needed = (arm_column, reward_column, *(() if block_column is None else (block_column,)))
        if outcomes is not None:
            needed = (arm_column, *needed[2:])
        for column in needed if header else ():
            find_column(str(column), header, "a column", name)
        texts = RewardTexts()
        for place, cells in chain(first, found):
            with located(place):
                for column in needed:
                    if column not in cells:
                        raise InvalidSpec(verb="have", allowed=repr(column), given=shorten(list(cells)))
                reward, named = math.nan, None
                if outcomes is None:
                    reward = _reward(cells, texts, arm_column, reward_column)
                else:
                    named = _outcomes(cells, {*needed, *OPTIONAL, *LATER}, numeric, outcomes)
                yield place, _row(cells, reward, arm_column, reward_column, block_column)._replace(outcomes=named)


def _outcomes(
    cells: dict[str, Any], others: Container[str], numeric: Container[str], asked: Container[str]
) -> dict[str, float]:
    """The outcomes of a trial: of a JSON object, or of columns, of which empty cells are absent outcomes."""
    if isinstance(cells.get(OUTCOMES), dict):
        return dict(cells[OUTCOMES])
    found = {}
    for label, value in cells.items():
        name = label.removeprefix(PREFIX)
        if label in others or not (label in numeric or name in asked):
            continue
        if isinstance(value, str):
            text = value.strip()
            value = RewardTexts().read(text) if text else None
            require(value is not None or not text, f"outcome {name}", "a number", text, InvalidReward)
        if value is not None:
            found[name] = value
    return found


def _reward(cells: dict[str, Any], texts: RewardTexts, arm_column: Any, reward_column: Any) -> Any:
    reward = cells[reward_column]
    if isinstance(reward, str):
        given, reward = reward, texts.read(reward)
        if reward is None:
            allowed = FLAG_WORDS if texts.flags else "a number"
            mixed = LIKE_OTHERS if texts.flags or is_flag(given) else ""
            about = of_arm(cells[arm_column])
            raise InvalidReward(what=reward_column, allowed=allowed + mixed, given=shorten(given), hint=about)
    return reward


def _row(
    cells: dict[str, Any], reward: Any, arm_column: Any, reward_column: Any, block_column: str | None
) -> ImportedRow:
    taken = (arm_column, reward_column, block_column)
    moment, failed, worker, pull, item, price, info = (
        None if name in taken else _given(cells, name) for name in OPTIONAL
    )
    try:
        told_at = None if moment is None else read_time(moment)
    except (TypeError, ValueError):
        allowed = f"a time from the year 1 to 9999, such as {write_time(0.0)}"
        raise InvalidSpec(what="told_at", allowed=allowed, given=shorten(moment)) from None
    arm = cells[arm_column]
    usable = isinstance(arm, str | int | float) and not isinstance(arm, bool)
    require(usable, arm_column, "the name of an arm", arm)
    counts = FAILED.get(str(failed or 0).lower()) if isinstance(failed, str | int | float | None) else None
    require(counts is not None, "failed", "0 or 1, or false or true", failed)
    for name, text in (("worker", worker), ("pull", pull)):
        if text is not None:
            check_text(text, name)
    block = None if block_column is None else _given(cells, block_column)
    require(block_column is None or block is not None, f"the block ({block_column})", "given in every row", block)
    details = (_item(item), _price(price), _info(info, block))
    return ImportedRow(str(arm), reward, bool(counts), worker, told_at, pull, *details)


def _item(given: Any) -> int | None:
    if isinstance(given, str) and given.isdecimal() and given.isascii():
        given = int(given)
    return None if given is None else whole(given, "item", "a whole number of at least 0", 0)


def _price(given: Any) -> float | None:
    """Whether the study has such prices is not for the file to know."""
    if isinstance(given, str):
        with suppress(ValueError):
            given = read_number(given)
    return None if given is None else told_price(given)


def _info(given: Any, block: object) -> str | None:
    if isinstance(given, str):
        with suppress(ValueError, RecursionError):
            given = json.loads(given)
    return write_info(with_block(given, block))


def _given(cells: dict[str, Any], name: str) -> Any:
    """What stands under a name; None where nothing does."""
    value = cells.get(name)
    return None if value == "" else value


def _read_table(table: TextRows, header: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The rows of a table, each with its place; the names of its columns go into `header`."""
    header += table.labels
    for column in OPTIONAL:
        if column in header:
            find_column(column, header, "a column", table.name)
    for rows, place in table.rows():
        for position, row in enumerate(rows):
            yield place(position), dict(zip(table.labels, row, strict=True))


def _read_csv(stream: IO[str], name: str, header: list[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """The rows of a file, each with its line; the names of its columns go into `header` before the first."""
    reader = csv.reader(stream, strict=True)
    try:
        names = next(reader, None)
        if not names:
            raise InvalidSpec(place=name, verb="begin", allowed="with a header", given="an empty file")
        header += names
        for column in OPTIONAL:
            if column in header:
                find_column(column, header, "a column", name)
        for cells in reader:
            if not cells:
                continue
            if len(cells) != len(header):
                place, found = f"{name}, line {reader.line_num}", f"{len(cells)}: {shorten(cells)}"
                raise InvalidSpec(place=place, verb="have", allowed=f"{len(header)} cells", given=found)
            yield reader.line_num, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise InvalidSpec(place=f"{name}, line {reader.line_num}", allowed=f"CSV ({error})") from None


@contextmanager
def written(path: str | os.PathLike[str] | IO[str]) -> Iterator[IO[str]]:
    """A file for text in UTF-8, which appears when it is whole. What is a stream already is written to as it is."""
    check_path(path, "write")
    if not isinstance(path, (str, os.PathLike)):
        yield path
    elif is_stream(path):
        with Path(path).open("w", encoding="utf-8", newline="") as stream:
            yield stream
    else:
        with replacing(path) as part, part.open("w", encoding="utf-8", newline="") as stream:
            yield stream


class ImportBuffer:
    """Trials on their way into a study, on disk if they are many, until all of them are checked."""

    def __init__(self) -> None:
        self._file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 - closed at the end of its own context
        self.count = 0

    def add(self, trials: list[Trial]) -> None:
        """Put a chunk behind the others."""
        pickle.dump([tuple(trial) for trial in trials], self._file, pickle.HIGHEST_PROTOCOL)
        self.count += len(trials)

    def __iter__(self) -> Iterator[list[Trial]]:
        self._file.seek(0)
        read = 0
        while read < self.count:
            chunk = [Trial._make(values) for values in pickle.load(self._file)]
            read += len(chunk)
            yield chunk

    def __enter__(self) -> ImportBuffer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()


def trials_of(data: Iterable[object], spec: StudySpec) -> Iterator[Trial]:
    """Trials made already, from pairs or mappings."""
    check_many(data, "data", "pairs (arm, reward), or mappings with these keys")
    places = {name: place for place, name in enumerate(spec.search.names)}
    for number, each in enumerate(data):
        with located(f"data[{number}]"):
            mapped = isinstance(each, Mapping) and "arm" in each and "reward" in each
            pair = (each["arm"], each["reward"]) if mapped else each  # type: ignore[index]
            arm, reward = pair_of(pair, "a row of data", "(arm, reward) or a mapping with these keys")
            known_name(str(arm), places, "arm")
            if mapped:
                price, info, block = (each.get(name) for name in ("price", "info", "block"))  # type: ignore[attr-defined]
                reward = Outcome(reward, price, info, block)
            reward, price, info, outcomes = checked_outcome(spec.search, reward, str(arm))
            yield Trial(places[str(arm)], reward, price=price, info=info, outcomes=outcomes)
