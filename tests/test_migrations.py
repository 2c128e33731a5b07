"""Tables and rows of every version are those that Alembic made, on both databases, and all of them can be upgraded.

`data/alembic-*.sql` has the tables as Alembic made them; `ROWS` has what its migrations made of the rows in
`data/studies-0001.db`. Never change either.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from ramgape.errors import DamagedStore, StorageError
from ramgape.storage import connect, migrations, open_store, upgrade, versions
from ramgape.storage.store import SqlStore
from ramgape.storage.tables import TABLES, SqlTable, quoted
from ramgape.storage.urls import parse_url
from ramgape.storage.versions import NEWEST, VERSION_TABLE, create_tables
from ramgape.studies.checking import check_store
from tests.storage_processes import play

DATA = Path(__file__).parent / "data"
ALEMBIC = range(1, 7)  # the versions that it has made
NEXT = NEWEST + 1

# A digest of the rows of each table, by the version that changed them; the other tables have none.
ROWS = {
    "studies": {1: 511847503, 2: 948499823, 6: 3737151741},
    "pulls": {1: 4002227782, 2: 2537261944, 4: 2595841701},
    "observations": {1: 2145465072, 2: 884001784, 4: 2537097948},
    "failures": {1: 4125848368, 2: 4215918174},
}

Place = Callable[[], str]


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Place:
    """Where a storage could be, on either database, a new one with every call."""
    if request.param == "sqlite":
        names = (tmp_path / f"{number}.db" for number in range(100))
        return lambda: f"sqlite:///{next(names)}"
    from tests.postgres import new_database

    server = request.getfixturevalue("postgres_server")
    return lambda: new_database(server)


@pytest.fixture
def newest(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Makes another version the newest."""
    return lambda version: monkeypatch.setattr(versions, "NEWEST", version)


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """Adds a version behind the newest, with these steps."""

    def later(*steps: str) -> None:
        monkeypatch.setattr(migrations, "STEPS", {**migrations.STEPS, NEXT: steps})
        monkeypatch.setattr(versions, "NEWEST", NEXT)

    return later


def made_by_alembic(url: str, version: int) -> SqlStore:
    """A storage without rows."""
    database = connect(parse_url(url))
    text = (DATA / f"alembic-{url.partition(':')[0]}.sql").read_text()
    made = re.split(r"^-- version \d+$", text, flags=re.MULTILINE)[1 : version + 1]
    database.begin_alone(create=True)
    for statement in "".join(made).split(";\n"):
        if statement.strip():
            database.execute(statement)
    database.commit()
    database.close()
    return database


def made_by_us(url: str) -> SqlStore:
    database = connect(parse_url(url))
    create_tables(database)
    return database


def catalog(database: SqlStore) -> set[Any]:
    """Columns, constraints and indexes. Defaults are left out: every INSERT names all columns."""
    if database.place.path is None:
        return {
            *database.fetch(
                "SELECT table_name, ordinal_position, column_name, data_type, is_nullable, column_name = 'id' AND "
                "column_default LIKE 'nextval%' FROM information_schema.columns WHERE table_schema = current_schema()"
            ),
            *database.fetch(
                "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint "
                "WHERE connamespace = current_schema()::regnamespace"
            ),
            *database.fetch(
                "SELECT tablename, indexname, replace(indexdef, schemaname || '.', '') FROM pg_indexes "
                "WHERE schemaname = current_schema()"
            ),
        }
    found: set[Any] = set()
    for table, sql in database.fetch("SELECT name, sql FROM sqlite_master WHERE type = 'table'"):
        found.add((table, *(word in sql for word in ("WITHOUT ROWID", "AUTOINCREMENT"))))
        found |= {(table, *row[:4], row[5]) for row in database.fetch(f"PRAGMA table_info({table})")}
        found |= {(table, "refers", *row) for row in database.fetch(f"PRAGMA foreign_key_list({table})")}
        for _, name, *kind in database.fetch(f"PRAGMA index_list({table})"):
            columns = [row[2] for row in database.fetch(f"PRAGMA index_info({name})")]
            found.add((table, name if kind[1] == "c" else "", *kind, *columns))
    return found


def rows_of(database: SqlStore, table: SqlTable, version: int) -> list[tuple[Any, ...]]:
    """All rows of a table, with the columns that the version has; none if it does not have the table."""
    if not table.fields(version):
        return []
    names = columns_of(table, version)
    hints = get_type_hints(table.row)
    found = database.fetch(f"SELECT {quoted(names)} FROM ramgape_{table.name}")
    # SQLite has numbers in place of truth values.
    return sorted(
        tuple(bool(x) if hints.get(name) is bool else x for name, x in zip(names, row, strict=True)) for row in found
    )


def columns_of(table: SqlTable, version: int) -> tuple[str, ...]:
    return (*table.before, *table.fields(version), *(table.behind if version > 1 else ()))


def digest(file: Path, table: str) -> int:
    connection = sqlite3.connect(file)
    rows = sorted(map(repr, connection.execute(f"SELECT * FROM ramgape_{table}")))
    connection.close()
    return zlib.crc32("\n".join(rows).encode())


def test_tables_are_those_of_alembic(place: Place, newest: Callable[[int], None]) -> None:
    for version in ALEMBIC:
        newest(version)
        theirs, ours = made_by_alembic(place(), version), made_by_us(place())
        assert catalog(ours) == catalog(theirs)
        assert ours.fetch(f"SELECT * FROM {VERSION_TABLE}") == theirs.fetch(f"SELECT * FROM {VERSION_TABLE}")
        ours.close()
        theirs.close()


def test_rows_are_those_of_alembic(tmp_path: Path, newest: Callable[[int], None]) -> None:
    file = tmp_path / "old.db"
    shutil.copy(DATA / "studies-0001.db", file)
    for version in ALEMBIC:
        newest(version)
        assert upgrade(f"sqlite:///{file}") == (f"{max(version - 1, 1):04}", f"{version:04}")
        for table, digests in ROWS.items():
            assert digest(file, table) == digests[max(each for each in digests if each <= version)]


@pytest.mark.parametrize(("version", "chunk"), [*((version, migrations.CHUNK) for version in ALEMBIC), (1, 100)])
def test_storages_made_by_alembic_are_upgraded(
    version: int,
    chunk: int,
    place: Place,
    tmp_path: Path,
    newest: Callable[[int], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(migrations, "CHUNK", chunk)
    shutil.copy(DATA / "studies-0001.db", tmp_path / "old.db")
    old = f"sqlite:///{tmp_path}/old.db"
    newest(version)
    upgrade(old)
    url = place()
    source, database = connect(parse_url(old)), made_by_alembic(url, version)
    database.begin_transaction(write=True)
    for table in TABLES:
        for row in rows_of(source, table, version):
            names = columns_of(table, version)
            marks = ", ".join(["?"] * len(names))
            database.execute(f"INSERT INTO ramgape_{table.name} ({quoted(names)}) VALUES ({marks})", row)
    database.commit()
    newest(NEWEST)
    assert upgrade(url) == (f"{version:04}", f"{NEWEST:04}")
    upgrade(old)
    for table in TABLES:
        assert rows_of(database, table, NEWEST) == rows_of(source, table, NEWEST)
    fresh = made_by_us(place())
    assert catalog(database) == catalog(fresh)
    checked = check_store(url)
    assert checked.sound
    assert len(checked.studies) == 3
    for each in (source, database, fresh):
        each.close()


def test_keys_that_studies_share_are_separated(place: Place) -> None:
    url = place()
    database = made_by_alembic(url, 1)
    for number, name in enumerate("abc", start=1):
        values = f"{number}, '{name}', 'same', '{{}}', 1.5, 0, 0, 0, 0, NULL, ''"
        database.execute(f"INSERT INTO ramgape_studies VALUES ({values})")
    upgrade(url)
    store = open_store(url, create=False)
    keys = [row.key for row, _ in store.list_studies()]  # which looks at the seals as well
    assert keys[0] == "same"
    assert len(set(keys)) == 3
    store.close()
    database.close()


@pytest.mark.parametrize(
    ("version", "table", "change"),
    [(3, "observations", "reward = 0.125"), (3, "pulls", "attempt = 7"), (5, "studies", "asked = 7")],
)
def test_damage_is_not_sealed_by_an_upgrade(
    version: int, table: str, change: str, tmp_path: Path, newest: Callable[[int], None]
) -> None:
    """Rows are sealed anew only if their old seals are unbroken."""
    shutil.copy(DATA / "studies-0001.db", tmp_path / "old.db")
    url = f"sqlite:///{tmp_path}/old.db"
    newest(version)
    upgrade(url)
    with sqlite3.connect(tmp_path / "old.db") as connection:
        connection.execute(f"UPDATE ramgape_{table} SET {change}")
    connection.close()
    newest(NEWEST)
    with pytest.raises(DamagedStore, match=f"is damaged: row .* of {table} is not what was written; restore a copy"):
        upgrade(url)
    newest(version)
    assert upgrade(url) == (f"{version:04}", f"{version:04}")


def test_versions_are_checked_and_upgraded(place: Place, later: Callable[..., None]) -> None:
    url = place()
    open_store(url, create=True).close()
    ours, next_one = f"{NEWEST:04}", f"{NEXT:04}"
    assert upgrade(url) == (ours, ours)
    later("ALTER TABLE ramgape_studies ADD COLUMN remark TEXT")
    for create in (False, True):
        with pytest.raises(StorageError, match=rf"version {ours}.* needs {next_one}.*`ramgape storage upgrade`"):
            open_store(url, create=create)
    assert upgrade(url) == (ours, next_one)
    assert upgrade(url) == (next_one, next_one)
    open_store(url, create=False).close()


def test_a_newer_storage_is_refused(place: Place, newest: Callable[[int], None]) -> None:
    url = place()
    newest(NEXT)
    open_store(url, create=True).close()
    newest(NEWEST)
    for attempt in (lambda: open_store(url, create=True), lambda: upgrade(url)):
        with pytest.raises(StorageError, match=rf"version {NEXT:04}, .*newer.* knows {NEWEST:04}"):
            attempt()


def test_a_failed_migration_changes_nothing(
    place: Place, later: Callable[..., None], newest: Callable[[int], None]
) -> None:
    url = place()
    store = open_store(url, create=True)
    row = store.create_study("a study", "its key", "{}", 1234.5)
    store.close()
    database = connect(parse_url(url))
    before = catalog(database)
    later("CREATE TABLE ramgape_more (x INTEGER)", "UPDATE ramgape_studies SET seal = 0", "nonsense")
    with pytest.raises(StorageError, match="refused"):
        upgrade(url)
    newest(NEWEST)
    assert upgrade(url) == (f"{NEWEST:04}", f"{NEWEST:04}")
    assert catalog(database) == before
    assert store.find_study("a study") == row
    store.close()
    database.close()


def test_many_upgrade_at_once(place: Place) -> None:
    url = place()
    made_by_alembic(url, 1).close()
    assert sorted(play("upgrade_at_once", url)) == [f"0001 {NEWEST:04}"] + [f"{NEWEST:04} {NEWEST:04}"] * 7


def test_an_upgrade_that_is_killed_changes_nothing(place: Place) -> None:
    url = place()
    before = made_by_alembic(url, 1)
    *killed, last = play("upgrade_killed", url)
    assert len(killed) > 40  # statements
    assert set(killed) == {"0001"}
    assert last == f"{NEWEST:04}"
    fresh = made_by_us(place())
    assert catalog(before) == catalog(fresh)
    before.close()
    fresh.close()
