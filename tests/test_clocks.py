"""Leases do not go by the time of day, which may be wrong, and differ from one program to the next."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from ramgape import Study
from ramgape.storage import sqlite

HOUR, DAY = 3600.0, 86_400.0


@pytest.fixture
def study(tmp_path: Path) -> Study:
    url = f"sqlite:///{tmp_path / 'studies.db'}"
    return Study.create("leased", ["a", "b"], storage=url, reward_range=(0, 1), budget=50, seed=1)


def reopened(study: Study) -> Study:
    assert study.backend.storage is not None
    return Study.load(study.name, study.backend.storage)


@pytest.mark.parametrize("shift", [HOUR, DAY, -HOUR, -DAY])
def test_a_clock_that_is_wrong_neither_takes_nor_blocks_a_lease(
    study: Study, monkeypatch: pytest.MonkeyPatch, shift: float
) -> None:
    (pull,) = study.ask(lease=60)
    right = time.time
    monkeypatch.setattr(time, "time", lambda: right() + shift)
    other = reopened(study)
    assert pull.id not in {each.id.partition(".")[0] for each in other.ask(4, lease=1e-9)}  # ours is alive
    monkeypatch.setattr(time, "time", right)
    ended = reopened(study).ask(4)
    assert len(ended) == 4
    assert all(each.id.endswith(".2") for each in ended)  # and those of the wrong clock have ended all the same


def test_after_a_reboot_leases_have_ended(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for those that have no end. The clock begins anew, so its numbers mean nothing any longer."""
    (leased,) = study.ask(lease=DAY)
    (forever,) = study.ask(lease=None)
    study.close()
    monkeypatch.setattr(sqlite.SqliteStore, "clock", "another boot")
    (again,) = reopened(study).ask()
    assert again.id == f"{leased.id}.2"
    assert reopened(study).tell(forever, 0.5)


def test_where_there_is_no_such_clock_the_time_of_day_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(time, "CLOCK_BOOTTIME", raising=False)
    assert sqlite.boot_clock() == ""
    monkeypatch.setattr(sqlite, "BOOT", "")
    now = sqlite.present()
    assert now.time == now.clock
