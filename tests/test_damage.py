"""Damaged databases: a clear error or a study that can be read, never an exception of somebody else, never a crash."""

from __future__ import annotations

import io
import random
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

import ramgape
from ramgape import RamgapeError, StorageError, Study
from ramgape.storage import upgrade
from ramgape.storage.backup import back_up
from ramgape.studies.checking import check_store

TABLES = ("ramgape_studies", "ramgape_pulls", "ramgape_observations", "ramgape_failures", "ramgape_batches")
VALUES = ("abc", "", 0, -1, 2**63 - 1, -(2**63), 1.5, -1e308, float("inf"), b"\xff\xfe", "[1]", "{}", "[99, 99]")
FIELDS = ("abc", 0, -1, 10**30, 1e308, float("nan"), None, True, [], [1, 2], ["a", "a"], {"name": "cvar", "level": 5})


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    return whole_store(tmp_path_factory.mktemp("whole"))


def whole_store(folder: Path) -> bytes:
    """The bytes of a store with a study under way and one that is done."""
    file = folder / "studies.db"
    data = [("abc"[at % 3], (at * 7 % 11) / 11) for at in range(300)]
    options: dict[str, Any] = {"storage": f"sqlite:///{file}", "reward_range": (0, 1)}
    open_one: dict[str, Any] = {"budget": 900, "failure": "worst", "data": data}
    with Study.create("open", ["a", "b", "c"], **open_one, **options) as study:
        for pull in study.ask(20, worker="me"):
            study.tell(pull, 0.25)
        study.fail(study.ask(8, worker="you")[0], "broken")
    with Study.create("done", ["x", "y"], budget=60, **options) as study:
        while not study.done:
            study.tell_many([(pull, 0.9 if pull.arm == "x" else 0.1) for pull in study.ask(20)])
    return file.read_bytes()


def use(file: Path) -> int:
    """Do everything that can be done with the two studies; how often that was refused. Any other error comes out."""
    url, refused = f"sqlite:///{file}?timeout=1", 0

    def attempt(what: Callable[[], Any]) -> Any:
        nonlocal refused
        try:
            return what()
        except StorageError:
            refused += 1
        except RamgapeError:  # the budget is spent, say
            pass

    attempt(lambda: ramgape.list_studies(url))
    attempt(lambda: check_store(url))
    attempt(lambda: upgrade(url))
    attempt(lambda: Study.create("new", ["a", "b"], storage=url, reward_range=(0, 1), budget=9).close())
    attempt(lambda: back_up(url, f"{file}.copy"))
    for name in ("open", "done"):
        study: Study | None = attempt(lambda name=name: Study.load(name, url))  # type: ignore[misc]
        if study is None:
            continue
        with study:
            attempt(lambda study=study: str(study.report()))  # type: ignore[misc]
            attempt(lambda study=study: study.export_csv(io.StringIO()))  # type: ignore[misc]
            for pull in attempt(lambda study=study: study.ask(2)) or []:  # type: ignore[misc]
                attempt(lambda study=study, pull=pull: study.tell(pull, 0.5))  # type: ignore[misc]
            attempt(lambda study=study: study.observe(study.arms[0], 0.5))  # type: ignore[misc]
    return refused


def damage(content: bytes, seed: int) -> bytes:
    """Flip bits, overwrite a part, or cut the end off."""
    generator, changed = random.Random(seed), bytearray(content)
    if seed % 3 == 0:
        for _ in range(generator.choice((1, 3, 20))):
            changed[generator.randrange(len(changed))] ^= 1 << generator.randrange(8)
    elif seed % 3 == 1:
        start, length = generator.randrange(len(changed)), generator.choice((1, 8, 64, 512))
        changed[start : start + length] = generator.randbytes(min(length, len(changed) - start))
    else:
        del changed[generator.randrange(len(changed)) :]
    return bytes(changed)


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
