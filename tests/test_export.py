"""Observations in files: whole or not at all, whoever reads them, and while others write."""

from __future__ import annotations

import io
import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ramgape import InvalidReward, InvalidSpec, StorageError, Study
from ramgape.errors import InvalidData
from ramgape.studies import session
from ramgape.studies.entries import Trial

ROWS = 40


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path}/studies.db"


@pytest.fixture
def study(url: str) -> Iterator[Study]:
    data = [("AB"[at % 2], at / ROWS) for at in range(ROWS)]
    with Study.create("models", ["A", "B"], storage=url, reward_range=(0, 1), budget=10_000, data=data) as made:
        yield made


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_a_time_that_no_date_can_have_is_exported_all_the_same(study: Study, tmp_path: Path, form: str) -> None:
    times = (-62_135_647_200.0, 253_402_300_800.0, 1e300, -1e300, float("inf"))
    with study.backend.session.writing as (ledger, now):
        for seconds in times:
            ledger.observe([Trial(0, 0.5, told_at=seconds)], now)
    first, second = tmp_path / f"first.{form}", tmp_path / f"second.{form}"
    assert getattr(study, f"export_{form}")(first) == ROWS + len(times)
    copy = Study.create("copy", study.arms, reward_range=(0, 1), budget=10_000)
    assert getattr(copy, f"import_{form}")(first) == ROWS + len(times)
    getattr(copy, f"export_{form}")(second)
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_what_else_was_told_comes_back(study: Study, tmp_path: Path, form: str) -> None:
    """Items, prices and remarks have columns of their own, where there are any."""
    first, second = tmp_path / f"first.{form}", tmp_path / f"second.{form}"
    getattr(study, f"export_{form}")(first)
    assert "price" not in first.read_text()
    with study.backend.session.writing as (ledger, now):  # whatever the study is: it is recorded
        ledger.observe([Trial(0, 0.5, price=0.1, info='{"model": "\\u00fc"}')], now)
        ledger.observe([Trial(1, 0.25, price=0.0)], now)
    getattr(study, f"export_{form}")(first)
    assert "item" not in first.read_text()
    with study.backend.session.writing as (ledger, now):
        ledger.observe([Trial(1, 0.75, item=3)], now)
    assert getattr(study, f"export_{form}")(first) == ROWS + 3
    copy = Study.create("copy", study.arms, reward_range=(0, 1), budget=10_000, price="told")
    getattr(copy, f"import_{form}")(first)
    getattr(copy, f"export_{form}")(second)
    assert first.read_bytes() == second.read_bytes()
    with copy.backend.session.reading as (ledger, _):
        rows = copy.backend.session.store.read_rows(copy.backend.session.row.id, ROWS - 1, ROWS + 3)
    assert [row.item for row in rows] == [None, None, None, 3]
    assert [row.price for row in rows] == [None, 0.1, 0.0, None]


@pytest.mark.parametrize(
    ("column", "cell", "words"),
    [
        ("item", "-1", "item must be a whole number of at least 0, got '-1'"),
        ("item", "1.5", "item must be a whole number of at least 0, got '1.5'"),
        ("price", "cheap", "price must be a number from 0 to .*, got 'cheap'"),
        ("price", "-0.5", "price must be a number from 0 to .*, got -0.5"),
        ("price", "inf", "price must be a number from 0 to .*, got inf"),
        ("info", "[1]", r"info must be a mapping of what JSON has .*, got \[1\]"),
        ("info", "gpt", "info must be a mapping of what JSON has .*, got 'gpt'"),
    ],
)
def test_details_that_are_none(study: Study, column: str, cell: str, words: str) -> None:
    with pytest.raises((InvalidSpec, InvalidReward), match=f"standard input, line 2: {words}"):
        study.import_csv(io.StringIO(f"arm,reward,{column}\nA,0.5,{cell}\n"))
    assert study.import_csv(io.StringIO(f"arm,{column}\nA,0.5\n"), reward_column=column) == 1  # it means that, then


def test_a_file_stays_as_it_is_until_the_new_one_is_whole(study: Study, tmp_path: Path) -> None:
    file = tmp_path / "rows.csv"
    file.write_text("old\n")
    file.chmod(0o640)
    before = set(tmp_path.iterdir())
    seen: list[str] = []

    def interrupted() -> Iterator[object]:
        for count, row in enumerate(rows()):
            if count == ROWS // 2:
                seen.append(file.read_text())
                raise KeyboardInterrupt
            yield row

    rows = study.backend.observations
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(study.backend, "observations", interrupted)
        with pytest.raises(KeyboardInterrupt):
            study.export_csv(file)
    assert (seen, file.read_text(), set(tmp_path.iterdir())) == (["old\n"], "old\n", before)
    assert study.export_csv(file) == ROWS
    assert len(file.read_text().splitlines()) == ROWS + 1
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert set(tmp_path.iterdir()) == before


def test_what_stands_in_the_way(study: Study, tmp_path: Path) -> None:
    folder, link, real = tmp_path / "folder", tmp_path / "link.csv", tmp_path / "folder" / "real.csv"
    folder.mkdir()
    link.symlink_to(real)
    assert study.export_csv(link) == ROWS  # a link that leads nowhere yet, and then to a file
    assert study.export_csv(link) == ROWS
    assert link.is_symlink()
    assert len(real.read_text().splitlines()) == ROWS + 1
    assert list(folder.iterdir()) == [real]
    with pytest.raises(IsADirectoryError):
        study.export_csv(folder)
    with pytest.raises(FileNotFoundError):
        study.export_csv(tmp_path / "nowhere" / "rows.csv")
    with pytest.raises(OSError, match="too long"):
        study.export_csv(tmp_path / ("x" * 300))
    assert study.export_csv(tmp_path / ("x" * 255)) == ROWS


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with a name are those of POSIX")
def test_devices_and_pipes_are_written_to_as_they_are(study: Study, tmp_path: Path) -> None:
    assert study.export_csv(os.devnull) == ROWS
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    read: list[str] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    assert study.export_csv(pipe) == ROWS
    reader.join(120)
    assert len(read[0].splitlines()) == ROWS + 1
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_whoever_takes_observations_slowly_holds_nobody_up(
    study: Study, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session, "PAGE", 7)
    rows = (seen.row for seen in study.backend.observations())
    first = next(rows)
    with Study.load("models", f"{url}?timeout=0.2") as other:  # a reader in a transaction would hold up the commit
        other.observe("A", 1.0)
        study.observe("B", 1.0)
        assert [first, *rows] == [seen.row for seen in other.backend.observations()][:ROWS]  # at its begin
        assert other.report().told == ROWS + 2


def test_an_older_state_that_was_restored_is_read_anew(study: Study, tmp_path: Path) -> None:
    file = tmp_path / "studies.db"
    before = file.read_bytes()
    for _ in range(3):
        study.observe("A", 1.0)
    file.write_bytes(before)
    assert study.report().told == study.result().samples == ROWS
    assert len(list(study.backend.observations())) == ROWS


@pytest.mark.parametrize("spoiled", [lambda rows: rows[:-1], lambda rows: [rows[1], rows[0], *rows[2:]]])
def test_rows_that_a_damaged_file_leaves_out_are_missed(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spoiled: Callable[[list[Any]], list[Any]]
) -> None:
    """An index may be damaged, and rows that are there and whole not be found by it."""
    study.export_csv(tmp_path / "all.csv")
    before = (tmp_path / "all.csv").read_text()
    study.observe("A", 0.25)
    read_rows = study.backend.session.store.read_rows
    monkeypatch.setattr(study.backend.session.store, "read_rows", lambda *arguments: spoiled(read_rows(*arguments)))
    with pytest.raises(StorageError, match=r"is damaged: .* observation"):
        study.export_csv(tmp_path / "all.csv")
    assert (tmp_path / "all.csv").read_text() == before


def test_a_pipe_that_nobody_reads_stops_no_writer(study: Study, url: str) -> None:
    study.import_csv(io.StringIO("arm,reward\n" + "A,0.5\n" * 9_000))
    command = [sys.executable, "-m", "ramgape", "study", "export", "models", "-", "--storage", url]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as exporting:
        assert exporting.stdout is not None
        assert exporting.stdout.read(9) == b"arm,rewar"  # it is at it, and will soon have filled the pipe
        with Study.load("models", f"{url}?timeout=60") as other:
            for _ in range(20):
                other.observe("A", 1.0)
        rest = exporting.stdout.read()
    assert exporting.returncode == 0
    assert rest.count(b"\n") == ROWS + 9_000 + 1


@pytest.mark.parametrize("form", ["csv", "jsonl"])
def test_no_trial_is_imported_twice(tmp_path: Path, form: str) -> None:
    """The same evidence would count twice, and the certificate would claim too much."""
    file = tmp_path / f"trials.{form}"
    study = Study.create("one", ["A", "B"], reward_range=(0, 1), budget=100)
    (first, *rest) = study.ask(3)
    study.fail(first, "again")
    study.tell_many([(pull, 0.5) for pull in (*rest, *study.ask(1))])  # one at its second attempt
    assert study.export_trials(file) == 3
    copy = Study.create("two", ["A", "B"], reward_range=(0, 1), budget=100)
    assert copy.import_trials(file) == 3
    for where in (study, copy):
        with pytest.raises(InvalidData, match=r"trial \w+-\d+(\.2)? must be new to the study"):
            where.import_trials(file)
        assert where.report().told == 3
    lines = file.read_text().splitlines()
    twice = io.StringIO("\n".join([*lines, lines[-1]]))
    other = Study.create("three", ["A", "B"], reward_range=(0, 1), budget=100)
    with pytest.raises(InvalidData, match=r"trial \w+-\d+ must be in the file once, got 'twice'"):
        other.import_trials(twice, form)
    assert other.report().told == 0
    plain = "arm,reward,pull\nA,0.5,x\nA,0.5,x\n"  # names of another tool may come again
    assert [other.import_trials(io.StringIO(plain), "csv") for _ in range(2)] == [2, 2]
