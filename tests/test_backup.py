"""Copies of a store: whole, of one moment, private, and as good as the store itself."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import ramgape
from ramgape import DamagedStore, StorageError, Study
from ramgape.cli import app
from ramgape.storage.backup import back_up
from ramgape.studies.checking import check_store


@pytest.fixture
def url(url: str) -> str:
    """A store with a study under way, and one that has not begun."""
    with Study.create("models", ["a", "b"], storage=url, reward_range=(0, 1), budget=5000, failure="worst") as study:
        study.tell_many([(pull, 0.1 + 0.8 / 3) for pull in study.ask(30, worker="ä")])
        study.fail(study.ask(5, worker="me")[0], "it's broken")
        study.ask(2, lease=None)
    Study.create("later", ["x", "y"], storage=url, noise="gaussian", epsilon=0.5, seed=2**40).close()
    return url


def told_of(study: Study) -> dict[str, Any]:
    return study.report().to_dict()


def test_a_copy_is_as_good_as_the_store(url: str, tmp_path: Path) -> None:
    file = tmp_path / "copies" / "copy.db"
    file.parent.mkdir()
    assert back_up(url, str(file)) == file.stat().st_size
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert list(file.parent.iterdir()) == [file]  # no journal, no unfinished file
    copy = f"sqlite:///{file}"
    assert check_store(copy).sound
    assert ramgape.list_studies(copy) == ramgape.list_studies(url)
    with Study.load("models", url) as study, Study.load("models", copy) as again:
        assert told_of(study) == told_of(again)
        first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
        study.export_jsonl(first)
        again.export_jsonl(second)
        assert first.read_bytes() == second.read_bytes()
        (pull,) = study.ask(1, worker="me")[:1]
        assert again.tell(pull, 0.5)  # pulls that were under way can be answered in either
        assert again.ask(3)
        assert study.report().told == again.report().told - 1


def test_a_copy_is_of_one_moment(url: str, tmp_path: Path) -> None:
    """Somebody writes all the time; every copy has as many observations as its counter says, and is sound."""
    ended = threading.Event()

    def write() -> None:
        with Study.load("models", url) as study:
            while not ended.is_set():
                study.observe("a", 0.5)

    writer = threading.Thread(target=write)
    writer.start()
    try:
        for number in range(4):
            file = tmp_path / f"copy{number}.db"
            back_up(url, str(file))
            assert check_store(f"sqlite:///{file}").sound
    finally:
        ended.set()
        writer.join()


def test_what_a_copy_must_not_replace(tmp_path: Path, url: str) -> None:
    file = tmp_path / "copy.db"
    back_up(url, str(file))
    before = file.read_bytes()
    with pytest.raises(StorageError, match="must be a new file, or replace an old one by --force"):
        back_up(url, str(file))
    Study.load("models", url).observe("a", 0.5)
    back_up(url, str(file), force=True)
    assert file.read_bytes() != before
    for target, words in ((tmp_path, "must be a file"), (Path(os.devnull), "must be a file")):
        with pytest.raises(StorageError, match=words):
            back_up(url, str(target), force=True)
    with pytest.raises(StorageError, match="cannot be written: No such file or directory"):
        back_up(url, str(tmp_path / "nowhere" / "copy.db"))
    if url.startswith("sqlite"):
        with pytest.raises(StorageError, match="must be another file than the store"):
            back_up(url, str(tmp_path / "studies.db"), force=True)
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.execute("UPDATE ramgape_studies SET revision = revision + 1")
        with pytest.raises(StorageError, match="in use"):
            back_up(url, str(file), force=True)


def test_no_copy_of_a_damaged_store_and_none_of_no_store(tmp_path: Path) -> None:
    file, copy = tmp_path / "studies.db", tmp_path / "copy.db"
    with Study.create("models", ["a", "b"], storage=f"sqlite:///{file}", reward_range=(0, 1), budget=5000) as study:
        study.import_csv(_csv(tmp_path, 3000))
    content = bytearray(file.read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 600] = bytes(600)
    file.write_bytes(content)
    with pytest.raises(DamagedStore, match="no copy was made"):
        back_up(f"sqlite:///{file}", str(copy))
    assert not copy.exists()
    assert not list(tmp_path.glob(".ramgape*"))
    with closing(sqlite3.connect(tmp_path / "other.db")) as connection:
        connection.execute("CREATE TABLE other (x)")
    with pytest.raises(StorageError, match="has no store of ramgape"):
        back_up(f"sqlite:///{tmp_path}/other.db", str(copy))


def _csv(tmp_path: Path, count: int) -> Path:
    rows = tmp_path / "rows.csv"
    rows.write_text("arm,reward\n" + "a,0.5\nb,0.25\n" * (count // 2))
    return rows


def run(url: str, *arguments: str) -> tuple[int, str]:
    env = {"RAMGAPE_STORAGE": url, "NO_COLOR": "1", "COLUMNS": "200"}
    result = CliRunner().invoke(app, ["storage", *arguments], env=env)
    return result.exit_code, result.stdout or result.stderr


def test_from_the_shell(url: str, tmp_path: Path) -> None:
    file = tmp_path / "copy.db"
    code, said = run(url, "backup", str(file), "--json")
    assert (code, json.loads(said)["bytes"]) == (0, file.stat().st_size)
    code, said = run(url, "backup", str(file))
    assert (code, "--force" in said) == (2, True)
    code, said = run(url, "backup", str(file), "--force")
    assert (code, f"copied to {file}" in said) == (0, True)
    code, said = run(url, "check")
    assert code == 0
    assert said.splitlines()[1:] == ["study later (0 told): sound", "study models (31 told): sound"]
    assert said.splitlines()[0].endswith(": sound")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("DELETE FROM ramgape_observations WHERE place = 7", "observation 7 does not belong behind the one before"),
        (
            "DELETE FROM ramgape_observations WHERE place = 30",
            "is another than the one that was told last, after 30",
        ),
        ("UPDATE ramgape_observations SET place = 99 WHERE place = 30", "there are 1 observations more than the 31"),
        ("UPDATE ramgape_observations SET arm = 2 WHERE place = 7", "an ObservationRow is not what was written"),
        ("UPDATE ramgape_observations SET reward = -0.5 WHERE place = 7", "an ObservationRow is not what was written"),
        ("UPDATE ramgape_observations SET number = 33 WHERE place = 7", "an ObservationRow is not what was written"),
        ("UPDATE ramgape_pulls SET attempt = 0 WHERE number = 33", "a PullRow is not what was written"),
        ("DELETE FROM ramgape_pulls WHERE number = 33", "pulls 31 are answered"),
        ("DELETE FROM ramgape_failures", "there are 0 of 1 failures"),
        ("UPDATE ramgape_studies SET told = 32 WHERE name = 'models'", "a StudyRow is not what was written"),
        ("UPDATE ramgape_studies SET specification = '{}' WHERE name = 'models'", "a StudyRow is not what was written"),
    ],
)
def test_a_check_names_study_and_damage(url: str, change: str, words: str) -> None:
    change_store(url, change)
    code, said = run(url, "check", "--json")
    found = json.loads(said)
    assert (code, found["sound"], found["problems"]) == (1, False, [])
    by_name = {study["name"]: study["problems"] for study in found["studies"]}
    assert by_name["later"] == []
    assert any(words in problem for problem in by_name["models"])
    code, said = run(url, "check")
    assert (code, len(said.splitlines()), words in said) == (1, 3, True)


def change_store(url: str, change: str) -> None:
    if url.startswith("sqlite"):
        with closing(sqlite3.connect(url.removeprefix("sqlite:///"))) as connection, connection:
            assert connection.execute(change).rowcount
    else:
        import psycopg

        with psycopg.connect(url) as server:
            assert server.execute(change.encode()).rowcount


@pytest.mark.parametrize("spoil", [lambda content: b"no database" * 1000, lambda content: content[: len(content) // 2]])
def test_a_check_of_what_can_hardly_be_opened(tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
    file = tmp_path / "studies.db"
    Study.create("models", ["a", "b"], storage=f"sqlite:///{file}", reward_range=(0, 1), budget=50).close()
    file.write_bytes(spoil(file.read_bytes()))
    code, said = run(f"sqlite:///{file}", "check", "--json")
    assert (code, json.loads(said)["sound"]) == (1, False)


def test_a_check_finds_rows_that_belong_to_no_study(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/studies.db"
    with Study.create("models", ["a", "b"], storage=url, reward_range=(0, 1), budget=50) as study:
        study.observe("a", 0.5)
    change_store(url, "DELETE FROM ramgape_studies")  # nobody has told SQLite to mind what belongs to it
    found = check_store(url)
    assert (found.problems, found.studies) == (("a row of ramgape_observations belongs to no study",), ())
