"""What was written is what is read: a changed row is a clear error, never another result."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

import ramgape
from ramgape import Study

CHANGES = {
    "a reward": "UPDATE ramgape_observations SET reward = 0.75 WHERE place = 3",
    "an arm": "UPDATE ramgape_observations SET arm = 1 - arm WHERE place = 5",
    "the last observation": "DELETE FROM ramgape_observations WHERE place = 39",
    "one in between": "DELETE FROM ramgape_observations WHERE place = 7",
    "two that changed places": "UPDATE ramgape_observations SET place = CASE place WHEN 38 THEN 139 ELSE 38 END "
    "WHERE place IN (38, 39)",
    "a counter": "UPDATE ramgape_studies SET told = 39",
    "the end": "UPDATE ramgape_studies SET stopped_at = 12",
    "the specification": "UPDATE ramgape_studies SET specification = replace(specification, '0.05', '0.06')",
    "the arm of an open pull": "UPDATE ramgape_pulls SET arm = 1 - arm",
    "a lease": "UPDATE ramgape_pulls SET lease_until = 1",
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_is_noticed(change: str, tmp_path: Path) -> None:
    path = tmp_path / "studies.db"
    url = f"sqlite:///{path}"
    study = Study.create("sealed", ["a", "b"], storage=url, reward_range=(0, 1), epsilon=0.05, policy="round-robin")
    for number in range(40):
        study.observe("ab"[number % 2], number / 40)
    study.ask(3)
    study.close()
    assert Study.load("sealed", url).result().samples == 40
    with sqlite3.connect(path) as connection:
        connection.execute(CHANGES[change])
    connection.close()
    with pytest.raises(ramgape.StorageError, match=r"is damaged: .* not what was written.*restore a copy"):
        Study.load("sealed", url).result()


def test_a_change_is_noticed_by_who_is_at_work(tmp_path: Path) -> None:
    """What others have added since is checked like all the rest."""
    path = tmp_path / "studies.db"
    url = f"sqlite:///{path}"
    study = Study.create("sealed", ["a", "b"], storage=url, reward_range=(0, 1), epsilon=0.05)
    other = Study.load("sealed", url)
    other.observe("a", 0.5)
    study.observe("a", 0.5)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE ramgape_observations SET reward = 0.25 WHERE place = 1")
    connection.close()
    with pytest.raises(ramgape.StorageError, match="is damaged"):
        other.result()
    assert study.result().samples == 2  # it knows better than the file


@pytest.mark.parametrize("change", ["a counter", "the end", "the specification"])
def test_a_changed_study_is_noticed_by_who_wrote_it(change: str, tmp_path: Path) -> None:
    """Its row is opened again whenever it is another than the one that was written, revision or not."""
    path = tmp_path / "studies.db"
    study = Study.create("sealed", ["a", "b"], storage=f"sqlite:///{path}", reward_range=(0, 1), epsilon=0.05)
    study.observe("a", 0.5)
    assert study.result().samples == 1
    with sqlite3.connect(path) as connection:
        connection.execute(CHANGES[change])
    connection.close()
    with pytest.raises(ramgape.StorageError, match="is damaged"):
        study.observe("a", 0.5)
