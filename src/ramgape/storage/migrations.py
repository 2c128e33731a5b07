"""Make the tables of each version out of those of the version before.

A new store takes the same way from version 0, so that it has the same tables as one that was upgraded. Everything
happens in the transaction of the caller; both databases can undo CREATE TABLE and ALTER TABLE.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import NoneType
from typing import Any, NamedTuple, get_args, get_type_hints

from ramgape.errors import DamagedStore
from ramgape.storage.checksums import checksum_values, next_chain, places_of_bools
from ramgape.storage.store import SqlStore
from ramgape.storage.tables import OBSERVATIONS, SEALED, TABLES, Extra, SqlTable, marks, quoted

CHUNK = 10_000  # rows that are in memory at a time
OF_STUDY = "FOREIGN KEY (study_id) REFERENCES ramgape_studies (id) ON DELETE CASCADE"


def migrate(store: SqlStore, before: int, after: int) -> None:
    """Bring the tables from one version to another; version 0 has none."""
    for version in range(before + 1, after + 1):
        for table in TABLES:
            _make_columns(store, table, version)
        for step in STEPS.get(version, ()):
            if isinstance(step, str):
                store.execute(step)
            else:
                step(store)
        for table in TABLES:
            _renew_checksums(store, table, version)


def _make_columns(store: SqlStore, table: SqlTable, version: int) -> None:
    """Create the table, or add the columns that a version adds to it."""
    known, fields = table.fields(version - 1), table.fields(version)
    types, name = store.types, f"ramgape_{table.name}"
    if fields and not known:
        columns = [*table.before, *fields, *(table.behind if version >= SEALED else ())]
        parts = [_definition(table, column, types) for column in columns]
        if "study_id" in table.key:
            parts += [f"CONSTRAINT {name}_key PRIMARY KEY ({quoted(table.key)})", f"CONSTRAINT {name}_study {OF_STUDY}"]
        if table.unique:
            parts.append(f"CONSTRAINT {name}_{table.unique[-1]} UNIQUE ({quoted(table.unique)})")
        store.execute(f"CREATE TABLE {name} ({', '.join(parts)}){store.clustered if table.clustered else ''}")
        return
    added = [*fields[len(known) :], *(table.behind if known and version == SEALED else ())]
    for column in added:
        store.execute(f"ALTER TABLE {name} ADD COLUMN {_definition(table, column, types, with_default=True)}")


def _definition(table: SqlTable, column: str, types: Mapping[str, str], with_default: bool = False) -> str:
    """A column with its type, from the annotation of the field."""
    hint = _hints(table.row).get(column) or _hints(Extra)[column]
    kinds = [each for each in get_args(hint) if each is not NoneType] or [hint]
    kind = types[getattr(kinds[-1], "__name__", kinds[-1])]
    if NoneType in get_args(hint):
        return f'"{column}" {kind}'
    default = {**Extra._field_defaults, **table.row._field_defaults}.get(column)
    return f'"{column}" {kind} NOT NULL{f" DEFAULT {default!r}" if with_default else ""}'


@cache
def _hints(kind: type[NamedTuple]) -> dict[str, Any]:
    return get_type_hints(kind, include_extras=True)


def _renew_checksums(store: SqlStore, table: SqlTable, version: int) -> None:
    """Compute checksums with the new columns, after a check of the old ones: damage must not become valid."""
    known, fields = table.fields(version - 1), table.fields(version)
    if not known or (known == fields and version != SEALED):
        return
    bools = places_of_bools(table.row)
    for rows in _pages(store, table, ("seal", *fields)):
        renewed = []
        for row in rows:
            place, old, values = row[: len(table.key)], row[len(table.key)], list(row[len(table.key) + 1 :])
            for at in bools:
                if at < len(values):
                    values[at] = bool(values[at])
            if version > SEALED and checksum_values(table.row, tuple(values[: len(known)])) != old:
                what = f"row {place[-1]} of {table.name} is not what was written"
                raise DamagedStore(f"{store.url} is damaged: {what}; restore a copy, and upgrade that")
            renewed.append((checksum_values(table.row, tuple(values)), *place))
        _update(store, table, "seal", renewed)


def _pages(store: SqlStore, table: SqlTable, columns: tuple[str, ...]) -> Iterator[list[Any]]:
    """All rows in the order of the key, some at a time: the key, then the columns."""
    key, last = quoted(table.key), None
    query = f"SELECT {quoted((*table.key, *columns))} FROM ramgape_{table.name}"
    following = f" WHERE ({key}) > ({marks(table.key)})"
    while rows := store.fetch(f"{query}{following if last else ''} ORDER BY {key} LIMIT {CHUNK}", last or ()):
        yield rows
        last = rows[-1][: len(table.key)]


def _update(store: SqlStore, table: SqlTable, column: str, rows: list[tuple[Any, ...]]) -> None:
    """Set one column; a row has its value and the key."""
    this = " AND ".join(f'"{name}" = ?' for name in table.key)
    statement = f'UPDATE ramgape_{table.name} SET "{column}" = ? WHERE {this}'
    store.execute_many(statement, rows)


# Version 2: names of trials that cannot be guessed, and check values. An open pull keeps the name that was handed out,
# which began with the key of its study.
TOKEN = 'SET token = (SELECT "key" FROM ramgape_studies WHERE id = study_id)'
WITHDRAWN = """
UPDATE ramgape_studies SET withdrawn = asked
- (SELECT count(*) FROM ramgape_pulls WHERE study_id = id)
- (SELECT count(number) FROM ramgape_observations WHERE study_id = id)
"""
LAST_CHAIN = """
UPDATE ramgape_studies SET chain = coalesce(
    (SELECT chain FROM ramgape_observations WHERE study_id = id ORDER BY place DESC LIMIT 1), 0
)
"""


def _chain_observations(store: SqlStore) -> None:
    """Give every observation the check value of all observations of its study up to it."""
    chain, before = 0, None
    for rows in _pages(store, OBSERVATIONS, ("arm", "reward")):
        chains = []
        for study, place, arm, reward in rows:
            chain, before = next_chain(chain if study == before else 0, arm, reward), study
            chains.append((chain, study, place))
        _update(store, OBSERVATIONS, "chain", chains)


def _separate_keys(store: SqlStore) -> None:
    """Give a study another key if an earlier one has the same: keys were short."""
    seen: set[str] = set()
    for study, key in store.fetch('SELECT id, "key" FROM ramgape_studies ORDER BY id'):
        if key in seen:
            update = 'UPDATE ramgape_studies SET "key" = ? WHERE id = ?'
            store.execute(update, (secrets.token_hex(8), study))
        seen.add(key)


STEPS: Mapping[int, tuple[str | Callable[[SqlStore], None], ...]] = {  # of each version, with its columns in place
    2: (
        f"UPDATE ramgape_pulls {TOKEN}",
        f"UPDATE ramgape_failures {TOKEN}",
        f"UPDATE ramgape_observations {TOKEN} WHERE number IS NOT NULL",
        WITHDRAWN,
        _chain_observations,
        LAST_CHAIN,
        _separate_keys,
        'CREATE UNIQUE INDEX ramgape_studies_random ON ramgape_studies ("key")',
        "CREATE INDEX ramgape_pulls_revision ON ramgape_pulls (study_id, revision)",
    ),
    5: ("CREATE INDEX ramgape_requests_made ON ramgape_requests (study_id, made_at)",),
}
