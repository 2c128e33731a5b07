"""All that a store says to its database, written once for both kinds and compiled once for each.

Parameters are given in order: those of a row as it is, after the study, or before it where a row is changed.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from sqlalchemy import BindParameter, Table, bindparam, delete, func, insert, select, update
from sqlalchemy.dialects import sqlite
from sqlalchemy.dialects.postgresql import psycopg
from sqlalchemy.engine import Dialect

from ramgape.storage.schema import BATCHES, FAILURES, OBSERVATIONS, PULLS, SNAPSHOTS, STUDIES

COUNTERS = ("revision", "asked", "told", "failed", "stopped_at", "decision", "withdrawn", "chain", "batches", "seal")
PULL_CHANGES = tuple(column.name for column in PULLS.columns if column.name not in ("study_id", "number"))


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


def _columns(table: Table, *without: str) -> list[Any]:
    return [column for column in table.columns if column.name not in without]


def _insert(table: Table, *without: str) -> Any:
    return insert(table).values({column: bindparam(column.name) for column in _columns(table, *without)})


_STUDY: BindParameter[int] = bindparam("of_study")
_NUMBER: BindParameter[int] = bindparam("of_number")
_PENDING = select(func.count()).select_from(PULLS).where(~PULLS.c.given_up, PULLS.c.answer.is_(None))
_OPEN = _PENDING.where(PULLS.c.study_id == STUDIES.c.id).correlate(STUDIES).scalar_subquery()
# With its token: a store that was restored may have another pull of that number.
_THIS_PULL = (PULLS.c.study_id == _STUDY, PULLS.c.number == _NUMBER, PULLS.c.token == bindparam("of_token"))
_PULLS = select(*_columns(PULLS, "study_id", "revision")).where(PULLS.c.study_id == _STUDY)
_REWARDS = (
    select(OBSERVATIONS.c.arm, OBSERVATIONS.c.reward)
    .where(OBSERVATIONS.c.study_id == _STUDY, OBSERVATIONS.c.place >= bindparam("start"))
    .order_by(OBSERVATIONS.c.place)
)

_CORE: dict[str, Any] = {
    "insert_study": _insert(STUDIES, "id"),
    "find_study": select(STUDIES).where(STUDIES.c.name == bindparam("name")),
    "study": select(STUDIES).where(STUDIES.c.id == _STUDY),
    "list_studies": select(STUDIES, _OPEN),
    "names": select(STUDIES.c.name),
    "count_pending": _PENDING.where(PULLS.c.study_id == _STUDY),
    "delete_study": delete(STUDIES).where(STUDIES.c.name == bindparam("name")),
    "update_study": update(STUDIES).where(STUDIES.c.id == _STUDY).values({name: bindparam(name) for name in COUNTERS}),
    "pulls": _PULLS.order_by(PULLS.c.number),
    # In no order: for the sake of one SQLite would read all of them.
    "changed_pulls": _PULLS.where(PULLS.c.revision > bindparam("revision")),
    "insert_pull": _insert(PULLS),
    "update_pull": update(PULLS).where(*_THIS_PULL).values({name: bindparam(name) for name in PULL_CHANGES}),
    "delete_pull": delete(PULLS).where(*_THIS_PULL),
    "answered": select(OBSERVATIONS.c.number).where(
        OBSERVATIONS.c.study_id == _STUDY,
        OBSERVATIONS.c.place >= bindparam("start"),
        OBSERVATIONS.c.number.is_not(None),
    ),
    "rewards": _REWARDS,
    "rewards_between": _REWARDS.where(OBSERVATIONS.c.place < bindparam("stop")),
    "answer": select(*_columns(OBSERVATIONS, "study_id", "place")).where(
        OBSERVATIONS.c.study_id == _STUDY, OBSERVATIONS.c.number == _NUMBER
    ),
    "observations": select(*_columns(OBSERVATIONS, "study_id", "place"))
    .where(OBSERVATIONS.c.study_id == _STUDY, OBSERVATIONS.c.place >= bindparam("start"))
    .where(OBSERVATIONS.c.place < bindparam("stop"))
    .order_by(OBSERVATIONS.c.place),
    "insert_observation": _insert(OBSERVATIONS),
    "failures": select(*_columns(FAILURES, "study_id"))
    .where(FAILURES.c.study_id == _STUDY)
    .order_by(FAILURES.c.number, FAILURES.c.attempt),
    "insert_failure": _insert(FAILURES),
    "batches": select(*_columns(BATCHES, "study_id"))
    .where(BATCHES.c.study_id == _STUDY, BATCHES.c.place >= bindparam("start"))
    .order_by(BATCHES.c.place),
    "insert_batch": _insert(BATCHES),
    "snapshot": select(*_columns(SNAPSHOTS, "study_id")).where(SNAPSHOTS.c.study_id == _STUDY),
    "delete_snapshot": delete(SNAPSHOTS).where(SNAPSHOTS.c.study_id == _STUDY),
    "insert_snapshot": _insert(SNAPSHOTS),
}

# In which order a statement takes its parameters, where that is not the order of its table.
_ORDERS = {
    "update_study": (*COUNTERS, "of_study"),
    "update_pull": (*PULL_CHANGES, "of_study", "of_number", "of_token"),
    "delete_pull": ("of_study", "of_number", "of_token"),
    "rewards_between": ("of_study", "start", "stop"),
    "observations": ("of_study", "start", "stop"),
}


@cache
def compiled_for(kind: str) -> Statements:
    """The statements for "sqlite" or "postgresql"."""
    dialect: Dialect = sqlite.dialect() if kind == "sqlite" else psycopg.dialect(paramstyle="format")  # type: ignore[no-untyped-call]
    texts = {}
    for name, statement in _CORE.items():
        compiled = statement.compile(dialect=dialect)
        wanted = _ORDERS.get(name)
        assert wanted is None or tuple(compiled.positiontup) == wanted, (name, compiled.positiontup)
        texts[name] = str(compiled)
    return Statements(**texts)
