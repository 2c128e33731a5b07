"""All that a store says to its database: the same SQL for both kinds, but for how they mark parameters.

Columns stand in the order of `tables`. Parameters are given in order: those of a row as it is, after the study, or
before it where a row is changed.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from ramgape.storage.tables import (
    BATCHES,
    FAILURES,
    OBSERVATIONS,
    PULLS,
    REQUESTS,
    SNAPSHOTS,
    STUDIES,
    SqlTable,
    marks,
    quoted,
)

COUNTERS = STUDIES.columns[5:]
PULL_CHANGES = PULLS.columns[2:]


class Statements(NamedTuple):
    """The statements as text in one dialect."""

    insert_study: str  # all columns but the id, which the database chooses
    find_study: str  # name
    study: str  # id
    list_studies: str
    names: str
    count_pending: str  # study
    delete_study: str  # name
    update_study: str  # *COUNTERS, id
    update_specification: str  # specification, id
    pulls: str  # study
    changed_pulls: str  # study, revision: those changed since
    insert_pull: str  # study, *PullRow, seal, clock, revision
    update_pull: str  # *PULL_CHANGES, study, number, token
    delete_pull: str  # study, number, token
    answered: str  # study, start: the numbers of the pulls that observations from there on answer
    rewards: str  # study, start
    rewards_between: str  # study, start, stop
    answer: str  # study, number
    observations: str  # study, start, stop
    insert_observation: str  # study, place, *ObservationRow, seal
    failures: str  # study
    insert_failure: str  # study, *FailureRow, seal
    batches: str  # study, start: those that begin there or later
    insert_batch: str  # study, *BatchRow, seal
    snapshot: str  # study
    delete_snapshot: str  # study
    insert_snapshot: str  # study, *SnapshotRow, seal
    request: str  # study, key
    requests: str  # study
    insert_request: str  # study, *RequestRow, seal
    forget_requests: str  # study, time: those made before


def _insert(table: SqlTable, first: int = 0) -> str:
    names = table.columns[first:]
    return f"INSERT INTO ramgape_{table.name} ({quoted(names)}) VALUES ({marks(names)})"


def _select(table: SqlTable) -> str:
    """The record and its checksum; of a pull also the clock."""
    names = (*table.row._fields, *table.behind[:2])
    return f"SELECT {quoted(names)} FROM ramgape_{table.name}"


def _set(names: tuple[str, ...]) -> str:
    return ", ".join(f'"{name}" = ?' for name in names)


_PENDING = "SELECT count(*) FROM ramgape_pulls WHERE NOT given_up AND answer IS NULL AND study_id ="
# With its token: a store that was restored may have another pull of that number.
_THIS_PULL = "WHERE study_id = ? AND number = ? AND token = ?"
_PULLS = f"{_select(PULLS)} WHERE study_id = ?"
_REQUESTS = f"{_select(REQUESTS)} WHERE study_id = ?"
_SINCE = "WHERE study_id = ? AND place >= ?"
_BETWEEN = f"{_SINCE} AND place < ? ORDER BY place"

_STATEMENTS = Statements(
    insert_study=_insert(STUDIES, first=1),
    find_study=f"{_select(STUDIES)} WHERE name = ?",
    study=f"{_select(STUDIES)} WHERE id = ?",
    list_studies=f"SELECT {quoted(STUDIES.columns)}, ({_PENDING} ramgape_studies.id) FROM ramgape_studies",
    names="SELECT name FROM ramgape_studies",
    count_pending=f"{_PENDING} ?",
    delete_study="DELETE FROM ramgape_studies WHERE name = ?",
    update_study=f"UPDATE ramgape_studies SET {_set(COUNTERS)} WHERE id = ?",
    update_specification="UPDATE ramgape_studies SET specification = ? WHERE id = ?",
    pulls=f"{_PULLS} ORDER BY number",
    changed_pulls=f"{_PULLS} AND revision > ?",  # in no order: for the sake of one SQLite would read all of them
    insert_pull=_insert(PULLS),
    update_pull=f"UPDATE ramgape_pulls SET {_set(PULL_CHANGES)} {_THIS_PULL}",
    delete_pull=f"DELETE FROM ramgape_pulls {_THIS_PULL}",
    answered=f"SELECT number FROM ramgape_observations {_SINCE} AND number IS NOT NULL ORDER BY place",
    rewards=f"SELECT arm, reward FROM ramgape_observations {_SINCE} ORDER BY place",
    rewards_between=f"SELECT arm, reward FROM ramgape_observations {_BETWEEN}",
    answer=f"{_select(OBSERVATIONS)} WHERE study_id = ? AND number = ?",
    observations=f"{_select(OBSERVATIONS)} {_BETWEEN}",
    insert_observation=_insert(OBSERVATIONS),
    failures=f"{_select(FAILURES)} WHERE study_id = ? ORDER BY number, attempt",
    insert_failure=_insert(FAILURES),
    batches=f"{_select(BATCHES)} {_SINCE} ORDER BY place",
    insert_batch=_insert(BATCHES),
    snapshot=f"{_select(SNAPSHOTS)} WHERE study_id = ?",
    delete_snapshot="DELETE FROM ramgape_snapshots WHERE study_id = ?",
    insert_snapshot=_insert(SNAPSHOTS),
    request=f'{_REQUESTS} AND "key" = ?',
    requests=f"{_REQUESTS} ORDER BY made_at",
    insert_request=_insert(REQUESTS),
    forget_requests="DELETE FROM ramgape_requests WHERE study_id = ? AND made_at < ?",
)


@cache
def statements_for(mark: str) -> Statements:
    """The statements with another mark for a parameter than SQLite's question mark."""
    return Statements(*(statement.replace("?", mark) for statement in _STATEMENTS))
