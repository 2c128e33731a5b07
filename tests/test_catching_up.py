"""Catching up with others costs what they changed, not what is open; counted in rows, not in seconds."""

from __future__ import annotations

from typing import Any

import pytest

import ramgape
from ramgape import Study
from ramgape.storage.store import SqlStore
from ramgape.studies.exchange import MOST_AT_ONCE


@pytest.fixture
def rows_read(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many pulls were read, each time."""
    found: list[int] = []
    read_pulls = SqlStore.read_pulls

    def counted(store: SqlStore, *arguments: Any) -> Any:
        rows = read_pulls(store, *arguments)
        found.append(len(rows))
        return rows

    monkeypatch.setattr(SqlStore, "read_pulls", counted)
    return found


def test_only_what_changed_is_read(url: str, rows_read: list[int]) -> None:
    one = Study.create("busy", ["a", "b"], storage=url, reward_range=(0, 1), budget=5000, seed=1)
    other = Study.load("busy", url)
    waiting = one.ask(1000, worker="crowd", lease=None)
    other.tell(other.ask()[0], 0.5)
    rows_read.clear()
    for number in range(20):
        for study in (one, other):
            (pull,) = study.ask()
            study.tell(pull, 0.5)
        if number == 10:
            one.give_back(waiting[0])
            one.tell(one.ask()[0], 0.5)
    assert max(rows_read) <= 6
    one.close()
    books = []
    for study in (other, Study.load("busy", url)):
        with study.backend.session.reading as (ledger, _):
            books.append((ledger.open, ledger.engine.pending, ledger._open.by_worker, ledger.told, ledger.chain))
    assert books[0] == books[1]


def test_nobody_asks_for_too_many(url: str) -> None:
    study = Study.create("many", ["a", "b"], storage=url, reward_range=(0, 1), epsilon=0.05)
    with pytest.raises(
        ramgape.InvalidSpec, match=f"count must be a whole number from 1 to 100,000, got {MOST_AT_ONCE + 1}"
    ):
        study.ask(MOST_AT_ONCE + 1)
