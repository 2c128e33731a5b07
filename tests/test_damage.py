"""Damaged databases: a clear error or a study that can be read, never an exception of somebody else, never a crash."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from ramgape import StorageError, Study
from tests.stores import damage, use, whole_store

TABLES = [f"ramgape_{name}" for name in ("studies", "pulls", "observations", "failures", "batches", "requests")]
VALUES = ("abc", "", 0, -1, 2**63 - 1, -(2**63), 1.5, -1e308, float("inf"), b"\xff\xfe", "[1]", "{}", "[99, 99]")
FIELDS = ("abc", 0, -1, 10**30, 1e308, float("nan"), None, True, [], [1, 2], ["a", "a"], {"name": "cvar", "level": 5})


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return whole_store(tmp_path_factory.mktemp("whole"))


def use_copies(whole: bytes, tmp_path: Path, seeds: range) -> None:
    for seed in seeds:
        file = tmp_path / f"{seed}.db"
        file.write_bytes(damage(whole, seed))
        use(file)
        for left in tmp_path.iterdir():
            left.unlink()


def test_the_whole_store_is_never_refused(whole: bytes, tmp_path: Path) -> None:
    (tmp_path / "copy.db").write_bytes(whole)
    assert use(tmp_path / "copy.db") == 0


def test_damaged_copies(whole: bytes, tmp_path: Path) -> None:
    use_copies(whole, tmp_path, range(40))


@pytest.mark.long
def test_many_damaged_copies(whole: bytes, tmp_path: Path) -> None:
    use_copies(whole, tmp_path, range(40, 540))


def changed_cells(whole: bytes, tmp_path: Path) -> Iterator[Path]:
    """Copies with one value in one column of the first row of one table."""
    file = tmp_path / "cells.db"
    file.write_bytes(whole)
    with closing(sqlite3.connect(file)) as connection:
        columns = {table: [row[1] for row in connection.execute(f"pragma table_info({table})")] for table in TABLES}
    for table, names in columns.items():
        for column in names:
            for value in VALUES:
                file.write_bytes(whole)
                first = f"{names[1]} = (select min({names[1]}) from {table} where {names[0]} = 1) and {names[0]} = 1"
                with closing(sqlite3.connect(file)) as connection, suppress(sqlite3.IntegrityError), connection:
                    connection.execute(f"update {table} set {column} = ? where {first}", (value,))
                yield file


@pytest.mark.long
def test_cells_with_anything_inside(whole: bytes, tmp_path: Path) -> None:
    for file in changed_cells(whole, tmp_path):
        use(file)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("update ramgape_observations set arm = 7 where place = 5", "observations of study 'open' are not what was"),
        ("update ramgape_observations set reward = 1.5 where place = 5", "observations of study 'open' are not"),
        ("update ramgape_observations set reward = 'x' where place = 5", "neither an arm nor a reward"),
        (
            "delete from ramgape_observations where study_id = 1 and place = 5",
            "observations of study 'open' are not what",
        ),
        ("update ramgape_pulls set arm = 3 where number = 22", "a PullRow is not what was written"),
        ("update ramgape_pulls set lease_until = 'x' where number = 22", "a PullRow is not what was written"),
        ("update ramgape_studies set decision = '[1' where id = 1", "a StudyRow is not what was written"),
        ("update ramgape_studies set told = -1 where id = 1", "a StudyRow is not what was written"),
        ("update ramgape_studies set told = 'x' where id = 1", "a StudyRow is not what was written"),
        ("update ramgape_failures set arm = 3", "a FailureRow is not what was written"),
        ("delete from ramgape_failures", "there are 0 of 1 failures"),
    ],
)
def test_damage_is_named(whole: bytes, tmp_path: Path, change: str, words: str) -> None:
    file = tmp_path / "studies.db"
    file.write_bytes(whole)
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute(change)
    with pytest.raises(StorageError, match=f"is damaged: .*{words}"):
        Study.load("open", f"sqlite:///{file}").report()
