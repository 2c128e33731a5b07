"""Observations in files: CSV with a header, or one JSON object a line. What was written is read back without loss."""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

from ramgape.errors import InvalidReward, InvalidSpec, known_name, shorten
from ramgape.inputs import as_text, open_file, read_number
from ramgape.studies.report import read_time, write_time

FORMS = ("csv", "jsonl")


class Row(NamedTuple):
    """An observation, as people read it."""

    arm: str
    reward: float
    failed: bool = False  # a failure that counts as the worst reward
    worker: str | None = None
    told_at: float | None = None
    pull: str | None = None


def write_rows(path: str | os.PathLike[str] | IO[str], form: str, rows: Iterable[Row]) -> int:
    """Write rows into a file, or to a stream; returns how many."""
    known_name(form, FORMS, "format")
    count = 0
    with opened(path, "w") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        if form == "csv":
            writer.writerow(Row._fields)
        for row in rows:
            if form == "csv":
                writer.writerow(_cells(row))
            else:
                stream.write(json.dumps(_plain(row), ensure_ascii=False) + "\n")
            count += 1
    return count


def _plain(row: Row) -> dict[str, Any]:
    described = row._asdict()
    described["told_at"] = None if row.told_at is None else write_time(row.told_at)
    return described


def _cells(row: Row) -> list[str]:
    plain = _plain(row)
    plain["reward"], plain["failed"] = repr(row.reward), "1" if row.failed else "0"
    return ["" if value is None else str(value) for value in plain.values()]


def read_rows(
    path: str | os.PathLike[str] | IO[str], form: str, arm_column: str = "arm", reward_column: str = "reward"
) -> Iterator[tuple[str, Row]]:
    """Rows of a file, each with its place; only the arm and the reward must be there. Rewards are not judged here."""
    known_name(form, FORMS, "format")
    name = name_of(path)
    with opened(path, "r") as stream:
        found = _read_csv(stream, name, arm_column, reward_column) if form == "csv" else read_objects(stream, name)
        for line, cells in found:
            place = f"{name}, line {line}"
            for column in (arm_column, reward_column):
                if column not in cells:
                    raise InvalidSpec(f"{place} must have {column!r}, got {shorten(list(cells))}")
            yield place, _row(place, cells, arm_column, reward_column)


def _row(place: str, cells: dict[str, Any], arm_column: str, reward_column: str) -> Row:
    reward = cells[reward_column]
    if isinstance(reward, str):
        try:
            reward = read_number(reward)
        except ValueError:
            raise InvalidReward(f"{place}: {reward_column} must be a number, got {shorten(reward)}") from None
    moment = cells.get("told_at") or None
    try:
        told_at = None if moment is None else read_time(moment)
    except (TypeError, ValueError):
        raise InvalidSpec(f"{place}: told_at must be a time such as {write_time(0.0)}, got {shorten(moment)}") from None
    failed = cells.get("failed") in (True, 1, "1", "true", "True")
    arm = cells[arm_column]
    return Row(
        arm if isinstance(arm, str) else str(arm),
        reward,
        failed,
        cells.get("worker") or None,
        told_at,
        cells.get("pull") or None,
    )


def _read_csv(stream: IO[str], name: str, *columns: str) -> Iterator[tuple[int, dict[str, Any]]]:
    reader = csv.reader(stream, strict=True)
    try:
        header = next(reader, None)
        if header is None:
            raise InvalidSpec(f"{name} must begin with a header, got an empty file")
        for column in columns:
            known_name(column, header, f"a column of {name}")
        for cells in reader:
            if not cells:
                continue
            if len(cells) != len(header):
                raise InvalidSpec(
                    f"{name}, line {reader.line_num} must have {len(header)} cells, got {len(cells)}: {shorten(cells)}"
                )
            yield reader.line_num, dict(zip(header, cells, strict=True))
    except csv.Error as error:
        raise InvalidSpec(f"{name}, line {reader.line_num} must be CSV ({error})") from None


def read_objects(stream: IO[str], name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """The JSON objects of a stream, one a line, each with the number of its line."""
    for number, line in enumerate(stream, start=1):
        if not line.strip():
            continue
        try:
            found = json.loads(line)
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise InvalidSpec(f"{name}, line {number} must be a JSON object, got {shorten(line)}")
        yield number, found


@contextmanager
def opened(path: str | os.PathLike[str] | IO[str], mode: str) -> Iterator[IO[str]]:
    """A file as text, UTF-8; what cannot be read as such is a clear error."""
    try:
        if isinstance(path, (str, os.PathLike)) and mode == "r":
            with open_file(path) as binary:
                yield as_text(binary, str(path))
        elif isinstance(path, (str, os.PathLike)):
            with Path(path).open(mode, encoding="utf-8", newline="") as stream:
                yield stream
        else:
            yield path
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise InvalidSpec(f"{name_of(path)} must be text in UTF-8, got byte {byte:#04x}") from None


def name_of(path: str | os.PathLike[str] | IO[str]) -> str:
    """What errors call a file; a stream without a name of its own is taken for standard input."""
    if isinstance(path, (str, os.PathLike)):
        return str(path)
    name = getattr(path, "name", None)
    return str(name) if isinstance(name, (str, os.PathLike)) and name else "standard input"
