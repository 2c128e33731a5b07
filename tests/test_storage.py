"""Stores: the same promises on SQLite and on a real PostgreSQL, and what can go wrong with either."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

import ramgape
from ramgape import registry
from ramgape.errors import DamagedStore, MissingExtra, StorageError
from ramgape.storage import connect, open_store, upgrade
from ramgape.storage import sqlite as sqlite_module
from ramgape.storage.backup import back_up
from ramgape.storage.memory import MemoryStore
from ramgape.storage.records import Changes, FailureRow, Moment, ObservationRow, StudyRow
from ramgape.storage.store import SqlStore
from ramgape.storage.urls import PATIENCE, has_password, parse_url, shown
from ramgape.storage.versions import VERSION_TABLE
from ramgape.testing import check_store
from tests.storage_processes import play

NOW = Moment(0.0, 0.0)
FLOATS = (5e-324, -5e-324, 1.7976931348623157e308, -0.0, 0.0, 0.1, 1 / 3, -1e-17, 1.0, 2.0**53)
NAMES = ("it's", 'a "quoted" name', "🎲 würfel", "a/b\\c", "%s ?1 :x --;", "x" * 200, "Ω" * 200, " ", "line\nbreak")


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a store could be, on either database; nothing is there yet."""
    return f"sqlite:///{tmp_path}/store.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")


@pytest.fixture
def opening() -> Iterator[Callable[..., SqlStore]]:
    """Opens stores, and closes them in the end."""
    opened = []

    def opening(url: str, create: bool = True) -> SqlStore:
        opened.append(open_store(url, create=create))
        return opened[-1]

    yield opening
    for each in opened:
        each.rollback()
        each.close()


@pytest.fixture
def store(url: str, opening: Callable[..., SqlStore]) -> SqlStore:
    return opening(url)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


def new_study(store: SqlStore, name: str = "a study") -> StudyRow:
    row = store.create_study(name, f"key of {name}", '{"arms": 3}', 1234.5)
    assert row is not None
    return row


def observe(store: SqlStore, study: int, *rewards: float) -> None:
    row, now = store.begin(study, write=True)
    seen = [
        ObservationRow(row.told + at, 1, at % 3, reward, False, None, now.time) for at, reward in enumerate(rewards)
    ]
    store.write(
        row._replace(revision=row.revision + 1, told=row.told + len(seen)), Changes(observations=seen), row.told
    )
    store.commit()


def rewards_in(store: SqlStore, study: int, *places: int) -> list[float]:
    return store.read_observations(study, *(places or (0,)))[1].tolist()


# Where a store is


def test_urls_taken_apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert parse_url("sqlite:///here.db").path == tmp_path / "here.db"
    assert parse_url("sqlite:////far/away.db").path == Path("/far/away.db")
    assert parse_url("sqlite:///here.db").patience == PATIENCE
    assert parse_url("sqlite:///here.db?timeout=2.5").patience == 2.5
    assert parse_url("postgres://me@host/base?timeout=3&sslmode=require").address == (
        "postgresql://me@host/base?sslmode=require"
    )
    for scheme in ("postgres", "postgresql", "postgresql+psycopg"):
        assert parse_url(f"{scheme}://me@host/base").address == "postgresql://me@host/base"


@pytest.mark.parametrize(
    "wrong",
    [
        "sqlite://",
        "sqlite:///",
        "sqlite:///:memory:",
        "sqlite://file.db",
        "sqlite:///file.db?mode=memory",
        "sqlite:///file.db?timeout=soon",
        "sqlite:///file.db?timeout=-1",
        "sqlite:///file.db?timeout=nan",
        "file.db",
        "",
        "mysql://me:secret@host/base",
        "postgresql+psycopg2://me:secret@host/base",
        "postgresql://me:sec%ret@host/base",
    ],
)
def test_wrong_urls_are_refused(wrong: str) -> None:
    with pytest.raises(StorageError) as caught:
        open_store(wrong, create=True)
    assert "secret" not in str(caught.value)
    assert "sec%ret" not in str(caught.value)


@pytest.mark.parametrize(
    ("given", "visible"),
    [
        ("postgresql://me:secret@host:5432/base", "postgresql://me:***@host:5432/base"),
        ("postgresql://me:s@cr:t@host/base", "postgresql://me:***@host/base"),
        ("postgresql://me:s/cr?t@host/base", "postgresql://me:***@host/base"),
        ("postgresql://host/base?user=me&password=secret", "postgresql://host/base?user=me&password=***"),
        ("postgresql://host/base?PassWord=secret&x=1", "postgresql://host/base?PassWord=***&x=1"),
    ],
)
def test_passwords_are_hidden(given: str, visible: str) -> None:
    assert shown(given) == visible
    assert has_password(given)


@pytest.mark.parametrize(
    "given", ["sqlite:///a.db", "postgresql://me@host:5432/base", "postgresql://host:1/b?user=a@b"]
)
def test_what_has_no_password_is_shown_whole(given: str) -> None:
    assert shown(given) == given
    assert not has_password(given)


def test_no_error_tells_a_password() -> None:
    for address in ("me:geheim@127.0.0.1:1/base", "127.0.0.1:1/base?password=geheim", "me:geheim@127.0.0.1:x/base"):
        with pytest.raises(StorageError) as caught:
            open_store(f"postgresql://{address}", create=True)
        assert "geheim" not in str(caught.value)
        assert "***" in str(caught.value)
        assert caught.value.__suppress_context__


def test_without_psycopg_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "ramgape.storage.postgres", raising=False)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(MissingExtra, match=r'pip install "ramgape\[postgres\]"'):
        open_store("postgresql://host/base", create=True)


def test_imports_are_late(file: Path) -> None:
    open_store(f"sqlite:///{file}", create=True).close()
    script = f"""
import sys, ramgape.storage
assert not {{"psycopg", "numpy"}} & set(sys.modules)
ramgape.storage.open_store("sqlite:///{file}", create=False)
assert not {{"psycopg", "ramgape.storage.migrations"}} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", script], check=True, timeout=300)


# What every store does


def test_our_stores_do_what_studies_rely_on(url: str, opening: Callable[..., SqlStore]) -> None:
    check_store(lambda: opening(url))


def test_the_store_in_memory_does_what_studies_rely_on() -> None:
    store = MemoryStore()
    check_store(lambda: store)


class Forgetful(MemoryStore):
    """Fails its users in one respect."""

    def __init__(self, fault: str) -> None:
        super().__init__()
        self.fault = fault

    def rollback(self) -> None:
        if self.fault == "rollback":
            self.commit()
        super().rollback()

    def read_failures(self, study_id: int) -> list[FailureRow]:
        return [] if self.fault == "failures" else super().read_failures(study_id)

    def write(self, row: StudyRow, changes: Changes, place: int) -> None:
        if self.fault == "revision":
            row = row._replace(revision=0)
        super().write(row, changes, place)

    def create_study(self, name: str, key: str, specification: str, created_at: float) -> StudyRow | None:
        return super().create_study(name, name if self.fault == "key" else key, specification, created_at)


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("rollback", r"begin\(\) after a rollback of new trials must be StudyRow"),
        ("failures", r"read_failures\(\) after a commit of changes and results must be \[FailureRow"),
        ("revision", r"begin\(\) after a commit of new trials must be StudyRow"),
        ("key", "a new study must be StudyRow"),
    ],
)
def test_a_store_that_forgets_is_noticed(fault: str, words: str) -> None:
    store = Forgetful(fault)
    with pytest.raises(AssertionError, match=words):
        check_store(lambda: store)


def test_a_store_that_lets_everybody_write_at_once_is_noticed() -> None:
    shared = MemoryStore()

    class Handle:
        def __getattr__(self, name: str) -> Any:
            return getattr(shared, name)

    with pytest.raises(AssertionError, match="what a second writer sees before the first has committed must be"):
        check_store(Handle)  # type: ignore[arg-type]


def test_stores_from_outside_have_schemes(monkeypatch: pytest.MonkeyPatch, file: Path) -> None:
    monkeypatch.setitem(registry._registered, "store", {})
    stores: dict[str, MemoryStore] = {}
    registry.register("store", "shelf", lambda url, create: stores.setdefault(url, MemoryStore()))
    registry.register("store", "empty", lambda url, create: None)
    ramgape.Study.create("a", ["x", "y"], storage="shelf://one", reward_range=(0, 1), budget=10).close()
    assert [each.name for each in ramgape.list_studies("shelf://one")] == ["a"]
    assert ramgape.list_studies(stores["shelf://one"])[0].arms == ("x", "y")
    with ramgape.Study.load("a", stores["shelf://one"]) as study:
        study.tell(study.ask()[0], 0.5)
    assert list(stores) == ["shelf://one"]
    with pytest.raises(StorageError, match="what opens empty://x must give a store, got NoneType"):
        open_store("empty://x", create=True)
    with pytest.raises(StorageError, match=r"or shelf://\.\.\., or empty://\.\.\., got 'shelv://one'"):
        open_store("shelv://one", create=True)
    for refused in (upgrade, lambda url: back_up(url, str(file))):
        with pytest.raises(StorageError, match="must be on SQLite or PostgreSQL for this, got shelf://one"):
            refused("shelf://one")


# Studies


# Rows


def test_counts_may_be_large(store: SqlStore) -> None:
    row, large = new_study(store), 2**53
    store.begin(row.id, write=True)
    seen = [ObservationRow(large, 1, 2**31 - 1, 0.5, False, None, 1.0)]
    after = row._replace(revision=large, asked=large, told=large, failed=large, stopped_at=large)
    store.write(after, Changes(observations=seen), large)
    store.commit()
    assert store.find_study(row.name) == after
    assert store.read_observations(row.id, large - 1)[0].tolist() == [2**31 - 1]
    assert store.read_answer(row.id, large) == (1, 0.5, False, "", None, None, None)


# Transactions


def test_who_waits_too_long_is_told(url: str, opening: Callable[..., SqlStore]) -> None:
    holder = opening(url)
    hasty = opening(f"{url}{'&' if '?' in url else '?'}timeout=0.1", create=False)
    row = new_study(holder)
    holder.begin(row.id, write=True)
    with pytest.raises(StorageError, match=r"locked by another process, and was for 0\.1 s"):
        hasty.begin(row.id, write=True)
    holder.rollback()
    observe(hasty, row.id, 0.5)


def test_the_time_is_that_of_the_database(store: SqlStore, monkeypatch: pytest.MonkeyPatch) -> None:
    row = new_study(store)
    assert store.begin(row.id, write=True)[1].time == pytest.approx(time.time(), abs=60)
    store.commit()
    if store.url.startswith("sqlite"):
        monkeypatch.setattr(sqlite_module, "present", lambda: Moment(42.0, 7.0))
        assert store.begin(row.id, write=False)[1] == (42.0, 7.0)
        store.commit()


def test_a_broken_connection_is_renewed(postgres_url: str, opening: Callable[..., SqlStore]) -> None:
    store = opening(postgres_url)
    row = new_study(store)

    def hang_up() -> None:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )

    hang_up()
    observe(store, row.id, 0.5)  # while idle: nobody notices
    store.begin(row.id, write=True)
    hang_up()
    with pytest.raises(StorageError, match="connection"):
        store.write(row, Changes(), 0)
    with pytest.raises(StorageError):
        store.commit()
    store.rollback()
    observe(store, row.id, 0.75)
    assert rewards_in(store, row.id) == [0.5, 0.75]


# Several processes


def test_eight_processes_create_one_store(url: str, opening: Callable[..., SqlStore]) -> None:
    assert sorted(play("create", url)) == ["created"] + ["found"] * 7
    assert [row.name for row, _ in opening(url, create=False).list_studies()] == ["the one"]


def test_many_processes_change_one_study(store: SqlStore, url: str) -> None:
    row, processes = new_study(store, "hammered"), 16
    assert play("hammer", url, processes) == []
    after, _ = store.begin(row.id, write=False)
    assert after.revision == after.asked == processes * 12
    assert rewards_in(store, row.id) == [float(at) for at in range(after.asked - 1)]
    assert [pull.number for pull in store.read_pulls(row.id, NOW)] == [after.asked - 1]
    store.commit()


def test_a_fork_leaves_both_a_store(store: SqlStore, url: str) -> None:
    row = new_study(store, "forked")
    said = play("fork", url)
    assert len(said) == 2
    assert all("forked in the middle of a transaction" in line for line in said)
    after, _ = store.begin(row.id, write=False)
    assert after.asked == 1 + 4 * 12
    assert rewards_in(store, row.id) == [*map(float, range(after.asked - 1)), 0.5]
    store.commit()


# Versions


def test_a_database_shared_with_others(url: str, opening: Callable[..., SqlStore]) -> None:
    """The table of another program that uses Alembic is not ours."""
    database = connect(parse_url(url))
    database.begin_alone(create=True)
    database.execute("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL)")
    database.execute("INSERT INTO alembic_version VALUES ('v3.0.0.d')")
    database.commit()
    for attempt in (lambda: open_store(url, create=False), lambda: upgrade(url)):
        with pytest.raises(StorageError, match="has no store"):
            attempt()
    new_study(opening(url))
    assert [tuple(row) for row in database.fetch("SELECT * FROM alembic_version")] == [("v3.0.0.d",)]
    database.close()


# What can go wrong


def test_no_file_no_store(file: Path) -> None:
    for attempt in (lambda: open_store(f"sqlite:///{file}", create=False), lambda: upgrade(f"sqlite:///{file}")):
        with pytest.raises(StorageError, match="no such file"):
            attempt()
        assert not file.exists()
    with pytest.raises(StorageError, match="no such folder"):
        open_store(f"sqlite:///{file}/store.db", create=True)
    with pytest.raises(StorageError, match="that is a folder"):
        open_store(f"sqlite:///{file.parent}", create=True)


def test_no_database_no_store(postgres_server: str) -> None:
    with pytest.raises(StorageError, match="does not exist"):
        open_store(postgres_server.replace("/postgres?", "/nowhere?"), create=True)


def test_not_a_database(file: Path) -> None:
    file.write_text("arm,reward\n" * 1000, encoding="utf-8")
    for create in (False, True):
        with pytest.raises(StorageError, match="is not a SQLite database"):
            open_store(f"sqlite:///{file}", create=create)
    assert file.read_text(encoding="utf-8").startswith("arm,reward\n")


def test_strange_file_names(tmp_path: Path, opening: Callable[..., SqlStore]) -> None:
    for name in ("with space.db", "50%.db", "a#b.db", "ümlaut.db", "it's.db", "%20.db"):
        new_study(opening(f"sqlite:///{tmp_path}/{name}"))
        assert (tmp_path / name).stat().st_size > 0


def test_opening_for_reading_writes_nothing(file: Path, opening: Callable[..., SqlStore]) -> None:
    made = opening(f"sqlite:///{file}")
    row = new_study(made)
    made.close()
    before = file.read_bytes(), file.stat().st_mtime_ns
    for left in file.parent.glob("store.db-*"):
        left.unlink()
    reading = opening(f"sqlite:///{file}", create=False)
    assert reading.list_studies() == [(row, 0)]
    reading.begin(row.id, write=False)
    reading.commit()
    assert (file.read_bytes(), file.stat().st_mtime_ns) == before
    if not sqlite_module.WAL_IS_SAFE:
        assert list(file.parent.iterdir()) == [file]


def test_a_read_only_file_can_be_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_module, "WAL_IS_SAFE", False)  # a write-ahead log would want to write next to the file
    with tempfile.TemporaryDirectory() as name:  # not pytest's: nobody may not enter it
        folder = Path(name)
        store = open_store(f"sqlite:///{folder}/store.db", create=True)
        observe(store, new_study(store).id, 0.5)
        store.close()
        (folder / "store.db").chmod(stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH)
        folder.chmod(0o555)
        try:
            said = play("read_only", f"sqlite:///{folder}/store.db")
        finally:
            folder.chmod(0o755)
    assert said[:2] == ["a study", "1"]
    assert len(said) == 4
    assert all("is read-only" in line for line in said[2:])


def test_new_files_are_private(tmp_path: Path, opening: Callable[..., SqlStore]) -> None:
    link, file = tmp_path / "link.db", tmp_path / "folder" / "store.db"
    file.parent.mkdir()
    link.symlink_to(file)
    before = os.umask(0)
    try:
        store = opening(f"sqlite:///{link}")
        row = new_study(store)
        store.begin(row.id, write=True)
        store.write(row._replace(revision=1), Changes(), 0)
        modes = {each.name: stat.S_IMODE(each.stat().st_mode) for each in file.parent.iterdir()}
        store.commit()
    finally:
        os.umask(before)
    assert len(modes) > 1  # a journal is there as well
    assert set(modes.values()) == {0o600}


def test_a_file_that_is_there_keeps_its_permissions(file: Path, opening: Callable[..., SqlStore]) -> None:
    file.touch()
    file.chmod(0o640)
    new_study(opening(f"sqlite:///{file}"))
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with a name are those of POSIX")
def test_pipes_and_devices_are_no_stores(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.db")
    for path in (tmp_path / "pipe.db", Path("/dev/zero"), Path(os.devnull)):
        for attempt in (
            lambda path=path: open_store(f"sqlite:///{path}", create=True),
            lambda path=path: open_store(f"sqlite:///{path}", create=False),
            lambda path=path: upgrade(f"sqlite:///{path}"),
        ):
            with pytest.raises(StorageError, match="that is a pipe or a device, and no file"):
                attempt()


def test_names_that_are_too_long(tmp_path: Path) -> None:
    for create in (False, True):
        with pytest.raises(StorageError, match="File name too long"):
            open_store(f"sqlite:///{tmp_path}/{'x' * 300}", create=create)
    with pytest.raises(StorageError, match="File name too long"):  # that of the journal would be
        open_store(f"sqlite:///{tmp_path}/{'x' * 250}", create=True)
    deep = tmp_path.joinpath(*["y" * 100] * 6)
    deep.mkdir(parents=True)
    with pytest.raises(StorageError, match="must have a path of at most 500 bytes"):
        open_store(f"sqlite:///{deep}/store.db", create=True)
    assert [each for each in tmp_path.rglob("*") if each.is_file()] == []


def test_a_folder_that_lets_nobody_in() -> None:
    with tempfile.TemporaryDirectory() as name:  # not pytest's: nobody may not enter it
        inner = Path(name) / "inner"
        inner.mkdir()
        Path(name).chmod(0o755)
        inner.chmod(0o700 if os.geteuid() == 0 else 0)  # root becomes nobody; anybody else is kept out of their own
        said = play("closed", f"sqlite:///{inner}/store.db")
        inner.chmod(0o700)
    assert len(said) == 2
    assert all("there can be no store at" in line and "Permission denied" in line for line in said)


@pytest.mark.parametrize("rows", [[], ["0001", "0002"]])
def test_a_store_without_a_version_is_damaged(url: str, opening: Callable[..., SqlStore], rows: list[str]) -> None:
    store = opening(url)
    database = store
    database.execute(f"DELETE FROM {VERSION_TABLE}")
    for version in rows:
        database.execute(f"INSERT INTO {VERSION_TABLE} VALUES ('{version}')")
    store.close()
    for attempt in (
        lambda: open_store(url, create=True),
        lambda: open_store(url, create=False),
        lambda: upgrade(url),
    ):
        with pytest.raises(StorageError, match="ramgape_version must have one row with a version"):
            attempt()


def test_a_version_that_never_was(url: str, opening: Callable[..., SqlStore]) -> None:
    store = opening(url)
    store.execute(f"UPDATE {VERSION_TABLE} SET version_num = '0000'")
    store.close()
    with pytest.raises(StorageError, match="made by an older ramgape"):
        open_store(url, create=True)
    with pytest.raises(DamagedStore, match="has version 0000, which there never was"):
        upgrade(url)


def test_a_full_disk_loses_nothing(file: Path, opening: Callable[..., SqlStore]) -> None:
    store = opening(f"sqlite:///{file}")
    row = new_study(store)
    observe(store, row.id, 0.5)
    connection = store.ready()
    connection.execute(f"PRAGMA max_page_count = {connection.execute('PRAGMA page_count').fetchone()[0]}")
    with pytest.raises(StorageError, match="is full"):
        observe(store, row.id, *[0.25] * 5000)
    store.rollback()
    assert rewards_in(store, row.id) == [0.5]
    connection.execute("PRAGMA max_page_count = 1000000")
    observe(store, row.id, 0.75)
    assert rewards_in(store, row.id) == [0.5, 0.75]


@pytest.mark.skipif(os.name != "posix", reason="elsewhere a file that is open cannot be deleted")
@pytest.mark.parametrize("ahead", [False, True])  # the journal: a write-ahead log, or one to roll back
@pytest.mark.parametrize("replaced", [False, True])
@pytest.mark.parametrize("moment", ["before", "within"])
def test_a_file_that_is_taken_away(
    file: Path,
    opening: Callable[..., SqlStore],
    monkeypatch: pytest.MonkeyPatch,
    ahead: bool,
    replaced: bool,
    moment: str,
) -> None:
    """Nothing is acknowledged that goes into a file which nobody will find, and nobody is told of permissions."""
    monkeypatch.setattr(sqlite_module, "WAL_IS_SAFE", ahead)
    store = opening(f"sqlite:///{file}")
    row = new_study(store)
    observe(store, row.id, 0.5)
    other = opening(f"sqlite:///{file.with_name('other.db')}")
    new_study(other)
    other.close()

    def take_away() -> None:
        if replaced:
            file.with_name("other.db").rename(file)
        else:
            file.unlink()

    if moment == "before":
        take_away()
    else:
        write = store.write

        def taken_away_meanwhile(*arguments: Any) -> None:
            write(*arguments)
            take_away()

        monkeypatch.setattr(store, "write", taken_away_meanwhile)
    with pytest.raises(StorageError, match="was deleted or replaced while it was in use"):
        observe(store, row.id, 0.75)
    monkeypatch.undo()
    store.rollback()
    for _ in range(2):  # also by a new connection
        with pytest.raises(StorageError, match=r"was deleted or replaced|no such file"):
            observe(store, row.id, 0.75)
        store.rollback()
        store.close()
    if replaced and not ahead:  # a log that is left lying beside the file would be taken for its own
        assert rewards_in(opening(f"sqlite:///{file}", create=False), row.id) == []


@pytest.mark.skipif(os.name != "posix", reason="limits on the size of a file are those of POSIX")
def test_a_disk_that_takes_no_more(file: Path, opening: Callable[..., SqlStore]) -> None:
    store = opening(f"sqlite:///{file}")
    row = new_study(store)
    (said,) = play("full", f"sqlite:///{file}")
    assert "full" in said
    assert store.begin(row.id, write=False)[0].asked == 2
    assert rewards_in(store, row.id) == [0.0]
    store.commit()


@pytest.mark.parametrize("shared", [False, True])
def test_a_write_ahead_log_is_turned_back_if_possible(
    file: Path, opening: Callable[..., SqlStore], shared: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_module, "WAL_IS_SAFE", False)
    store = opening(f"sqlite:///{file}")
    row = new_study(store)
    store.close()
    other = sqlite3.connect(file)
    try:
        assert other.execute("PRAGMA journal_mode = WAL").fetchone() == ("wal",)
        other.execute("SELECT * FROM ramgape_studies").fetchall()
        if not shared:
            other.close()
        observe(store, row.id, 0.5)
        mode = store.ready().execute("PRAGMA journal_mode").fetchone()[0]
        assert mode == ("wal" if shared else "truncate")
        assert rewards_in(store, row.id) == [0.5]
    finally:
        store.close()
        other.close()
