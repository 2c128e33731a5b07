"""The tables of a storage: a record in `records` says what its columns are, and a `SqlTable` says the rest.

CREATE TABLE, ALTER TABLE (`migrations`) and all other statements (`store`) are made from these descriptions, so
a column is written once. To add one:

1. Add a field with a default behind the other fields of the record.
2. Name it in `added` of its table, with the next version.
3. Raise `NEWEST` in `versions`. If the default is not what old rows should have, add a step to `migrations.STEPS`.

Columns are never renamed or removed, and fields never change their order: the checksums of old rows depend on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from ramgape.storage.records import BatchRow, FailureRow, ObservationRow, PullRow, RequestRow, SnapshotRow, StudyRow

SEALED = 2  # the version that added the columns behind those of the record


class Extra(NamedTuple):
    """The columns that belong to no record."""

    study_id: int
    place: int  # of an observation, from 0
    seal: int = 0  # checksum of the record
    clock: str = ""  # the clock that the lease of a pull is measured by
    revision: int = 0  # of the study, in which a pull was last changed


class SqlTable(NamedTuple):
    """One table."""

    name: str
    row: type[NamedTuple]  # the record
    key: tuple[str, ...]
    added: Mapping[str, int] = {}  # by field: the version that added it and the fields behind it
    since: int = 1  # the version that made the table
    before: tuple[str, ...] = ("study_id",)  # columns before those of the record
    behind: tuple[str, ...] = ("seal",)
    unique: tuple[str, ...] = ()  # columns of a unique constraint; the last one gives it its name
    clustered: bool = True  # rows are stored in the order of the key

    def fields(self, version: int) -> tuple[str, ...]:
        """The fields of the record that a version has; none if it does not have the table."""
        found, since = [], self.since
        for name in self.row._fields:
            since = self.added.get(name, since)
            if since <= version:
                found.append(name)
        return tuple(found)

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns, in the order in which statements name them."""
        return (*self.before, *self.row._fields, *self.behind)


STUDIES = SqlTable(
    "studies",
    StudyRow,
    ("id",),
    {"withdrawn": 2, "lost": 6, "outcomes": 7},
    before=(),
    unique=("name",),
    clustered=False,
)
PULLS = SqlTable(
    "pulls",
    PullRow,
    ("study_id", "number"),
    {"token": 2, "item": 4, "answer_outcomes": 7},
    behind=("seal", "clock", "revision"),
)
OBSERVATIONS = SqlTable(
    "observations",
    ObservationRow,
    ("study_id", "place"),
    {"token": 2, "item": 4, "outcomes": 7},
    before=("study_id", "place"),
    unique=("study_id", "number"),
)
FAILURES = SqlTable("failures", FailureRow, ("study_id", "number", "attempt"), {"token": 2})
BATCHES = SqlTable("batches", BatchRow, ("study_id", "place"), since=2)
SNAPSHOTS = SqlTable("snapshots", SnapshotRow, ("study_id",), since=3, clustered=False)
REQUESTS = SqlTable("requests", RequestRow, ("study_id", "key"), since=5)
TABLES = (STUDIES, PULLS, OBSERVATIONS, FAILURES, BATCHES, SNAPSHOTS, REQUESTS)  # what others refer to comes first


def quoted(names: tuple[str, ...]) -> str:
    """Names of columns, for a statement."""
    return ", ".join(f'"{name}"' for name in names)


def marks(names: tuple[str, ...]) -> str:
    """As many parameters, for a statement."""
    return ", ".join("?" * len(names))


def assigned(names: tuple[str, ...]) -> str:
    """Columns with a parameter each, for an UPDATE."""
    return ", ".join(f'"{name}" = ?' for name in names)


def insert_into(table: SqlTable, first: int = 0) -> str:
    """The statement that inserts a row, without its first columns."""
    names = table.columns[first:]
    return f"INSERT INTO ramgape_{table.name} ({quoted(names)}) VALUES ({marks(names)})"


def select_from(table: SqlTable) -> str:
    """The query for the record and its checksum; of a pull also the clock."""
    return f"SELECT {quoted((*table.row._fields, *table.behind[:2]))} FROM ramgape_{table.name}"
