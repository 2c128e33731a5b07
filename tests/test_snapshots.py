"""Snapshots of a study's search: whoever opens it with one goes on to the bit as whoever learns everything anew."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ramgape
from ramgape import Study
from ramgape.errors import StorageUnavailable
from ramgape.search import engine
from ramgape.storage.records import SnapshotRow
from ramgape.storage.store import SqlStore
from ramgape.studies import session
from ramgape.studies.checking import check_store

ARMS = ["steady", "wild", "poor", "odd"]
SHAPES = {"steady": (40.0, 40.0), "wild": (0.4, 0.2), "poor": (1.0, 3.0), "odd": (2.0, 1.5)}
CONFIDENCE: dict[str, Any] = {"reward_range": (0, 1), "epsilon": 0.06, "max_trials": 150}
BUDGET: dict[str, Any] = {"reward_range": (0, 1), "budget": 150}
KINDS: dict[str, dict[str, Any]] = {
    "default": CONFIDENCE,
    "round robin": {**CONFIDENCE, "policy": "round-robin"},
    "a pair a round": {**CONFIDENCE, "policy": "ra-lucb", "bound": "paper"},
    "evidence": {**CONFIDENCE, "policy": "evidence", "bound": "pairwise", "rho": 0.01},
    "elimination": {**BUDGET, "policy": "ege-sr"},
    "evidence under a budget": BUDGET,
    "a tail": {**CONFIDENCE, "risk": "cvar:0.25"},
    "in order": {**CONFIDENCE, "in_order": True},
    "smallest doubt": {**BUDGET, "policy": "ramgape", "returned": "smallest-doubt"},
    "gaussian": {"noise": "gaussian", "epsilon": 0.3, "max_trials": 150},
}


@pytest.fixture
def url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A store whose studies are written down often."""
    monkeypatch.setattr(session, "SNAPSHOT_EVERY", 20)
    return f"sqlite:///{tmp_path / 'studies.db'}"


def reward_of(pull: ramgape.Pull) -> float:
    return float(np.random.default_rng(pull.seed).beta(*SHAPES[pull.arm]))


def play(study: Study, most: int) -> None:
    """Ask for three at a time, and tell the last one first; one pull stays under way."""
    while not study.done and study.report(expect=False).told < most:
        pulls = study.ask(3)
        study.tell_many([(pull, reward_of(pull)) for pull in reversed(pulls[:2] or pulls)])
        for pull in pulls[2:]:
            if study.report(expect=False).told % 2:
                study.give_back(pull)
            else:
                study.tell(pull, reward_of(pull))


def anew(url: str, patch: pytest.MonkeyPatch) -> Study:
    """The study, learnt from all its observations."""
    study = Study.load("long", url)
    patch.setattr(study.backend.session.store, "read_snapshot", lambda study_id: None)
    return study


def tables(study: Study) -> list[bytes]:
    with study.backend.session.reading as (ledger, _):
        return [table.tobytes() for table in ledger.engine.state]


def snapshot_at(study: Study) -> int:
    """How many observations were not read when it was opened."""
    _ = study.done
    return study.backend.session._snapshot_at


@pytest.mark.few(2)
@pytest.mark.parametrize("kind", KINDS)
def test_a_snapshot_goes_on_to_the_bit(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    with Study.create("long", ARMS, storage=url, seed=3, **KINDS[kind]) as study:
        play(study, 47)
        (tmp_path / "rows.csv").write_text("arm,reward\n" + "".join(f"{arm},0.5\n" for arm in ARMS * 3))
        study.import_csv(tmp_path / "rows.csv")
        study.observe("odd", 0.25)
    shutil.copy(tmp_path / "studies.db", tmp_path / "copy.db")
    quick, slow = Study.load("long", url), anew(f"sqlite:///{tmp_path / 'copy.db'}", monkeypatch)
    assert (snapshot_at(quick) >= 40, snapshot_at(slow)) == (True, 0)
    assert tables(quick) == tables(slow)
    for most in (70, 10**6):
        play(quick, most)
        play(slow, most)
        assert tables(quick) == tables(slow)
        assert quick.result().to_json() == slow.result().to_json()
    assert quick.done
    late = Study.load("long", url)
    assert late.report().to_json() == quick.report().to_json()
    assert snapshot_at(late) > 0


@pytest.fixture
def saved(url: str) -> str:
    """A store with a study and its snapshot."""
    with Study.create("long", ARMS, storage=url, seed=3, **CONFIDENCE) as study:
        play(study, 50)
    assert snapshot_at(Study.load("long", url)) > 0
    return url


def change(url: str, statement: str, *values: Any) -> None:
    with sqlite3.connect(url.removeprefix("sqlite:///")) as connection:
        connection.execute(statement, values)


def test_only_what_came_since_is_read(saved: str, monkeypatch: pytest.MonkeyPatch) -> None:
    starts: list[int] = []
    read = SqlStore.read_observations
    monkeypatch.setattr(
        SqlStore, "read_observations", lambda store, *how: (starts.append(how[1]), read(store, *how))[1]
    )
    study = Study.load("long", saved)
    assert study.report().told >= 50
    assert all(start >= 40 for start in starts)


@pytest.mark.parametrize("spoiled", ["stamp", "state", "chain", "too far"])
def test_a_snapshot_that_cannot_be_relied_on_is_left_alone(saved: str, spoiled: str) -> None:
    before = Study.load("long", saved).report().to_json()
    store = Study.load("long", saved).backend.session.store
    found = store.read_snapshot(1)
    assert found is not None
    if spoiled == "state":
        change(saved, "UPDATE ramgape_snapshots SET state = ?", found.state[:-1])
    else:
        other = {
            "stamp": {"stamp": "of another format"},
            "chain": {"chain": found.chain ^ 1},
            "too far": {"told": 10**6},
        }
        store.save_snapshot(1, found._replace(**other[spoiled]))
    study = Study.load("long", saved)
    assert study.report().to_json() == before
    assert snapshot_at(study) == 0
    assert check_store(saved).sound == (spoiled != "state")


LOADED = """
import sys
from ramgape import Study
from ramgape.studies import session
session.SNAPSHOT_EVERY = 20
study = Study.load("long", sys.argv[1])
told = study.report().told
print(study.backend.session._snapshot_at, told)
"""


def test_other_sources_take_a_snapshot_up(saved: str, tmp_path: Path) -> None:
    """A new version of the program must not have to learn a long study anew."""
    study = Study.load("long", saved)
    expected = f"{snapshot_at(study)} {study.report().told}"
    source = tmp_path / "source"
    package = Path(ramgape.__file__).parent
    shutil.copytree(package, source / "ramgape", ignore=shutil.ignore_patterns("__pycache__", "static"))
    for file in ("core/doubt.py", "core/table.py", "search/engine.py"):
        with (source / "ramgape" / file).open("a", encoding="utf-8") as changed:
            changed.write("\nANOTHER = 1\n")
    command = [sys.executable, "-c", LOADED, saved]
    ran = subprocess.run(command, env={**os.environ, "PYTHONPATH": str(source)}, capture_output=True, text=True)
    assert ran.stdout.strip() == expected, ran.stderr


def test_another_format_does_not(saved: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = Study.load("long", saved).report().to_json()
    monkeypatch.setattr(engine, "STATE_FORMAT", engine.STATE_FORMAT + 1)
    study = Study.load("long", saved)
    assert study.report().to_json() == before
    assert snapshot_at(study) == 0


def test_damage_after_a_snapshot_is_noticed_and_before_it_changes_nothing(saved: str) -> None:
    before = Study.load("long", saved).report().to_json()
    told = snapshot_at(Study.load("long", saved))
    change(saved, "UPDATE ramgape_observations SET reward = 0.125 WHERE place = 3")
    study = Study.load("long", saved)
    assert study.report().to_json() == before
    with pytest.raises(ramgape.StorageError, match="is damaged"):
        study.export_csv("rows.csv")
    assert not check_store(saved).sound
    study.observe("odd", 0.25)
    change(saved, "UPDATE ramgape_observations SET reward = 0.125 WHERE place = ?", told)
    with pytest.raises(ramgape.StorageError, match="is damaged"):
        Study.load("long", saved).report()


def test_no_tell_fails_for_want_of_a_snapshot(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    tries: list[SnapshotRow] = []

    def full(store: SqlStore, study_id: int, snapshot: SnapshotRow) -> None:
        tries.append(snapshot)
        raise StorageUnavailable("the disk is full")

    monkeypatch.setattr(SqlStore, "save_snapshot", full)
    with Study.create("long", ARMS, storage=url, **CONFIDENCE) as study:
        play(study, 50)
        told = study.report().told
    assert [snapshot.told // 40 for snapshot in tries] == [1]
    assert snapshot_at(Study.load("long", url)) == 0
    assert Study.load("long", url).report().told == told


def test_rewards_that_are_kept_are_in_no_snapshot(url: str) -> None:
    """A risk by a model is shown beside that of the rewards themselves, which are no sums."""
    with Study.create("long", ARMS, storage=url, noise="gaussian", epsilon=0.1, risk="cvar:0.1") as study:
        play(study, 60)
        shown = study.result(expect=False).to_json()
    again = Study.load("long", url)
    assert again.result(expect=False).to_json() == shown
    assert snapshot_at(again) == 0


def test_an_older_state_that_was_restored(saved: str, tmp_path: Path) -> None:
    file = tmp_path / "studies.db"
    shutil.copy(file, tmp_path / "copy.db")
    with Study.load("long", saved) as study:
        play(study, 100)
        told = study.report(expect=False).told
    with sqlite3.connect(tmp_path / "copy.db") as copy, sqlite3.connect(file) as store:
        copy.backup(store)
    study = Study.load("long", saved)
    assert study.report().told < told
    play(study, 200)
    assert Study.load("long", saved).report().to_json() == study.report().to_json()


def test_in_memory_after_an_error(url: str) -> None:
    """What an error has undone is learnt again, from the snapshot on."""
    assert url
    study = Study.create("long", ARMS, seed=3, **CONFIDENCE)
    play(study, 50)
    before = tables(study)
    (pull,) = study.ask()
    with pytest.raises(ramgape.UnknownPull):
        study.exchange([(pull, 0.5)], failed=[(f"{'0' * 20}-0", "")])
    study.give_back(pull)
    assert snapshot_at(study) >= 40
    with study.backend.session.reading as (ledger, _):
        assert ledger.engine.arms.tobytes() == before[0]


def test_on_a_server(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(session, "SNAPSHOT_EVERY", 20)
    url = postgres_url
    with Study.create("long", ARMS, storage=url, seed=3, **CONFIDENCE) as study:
        play(study, 50)
        before = tables(study)
    quick, slow = Study.load("long", url), anew(url, monkeypatch)
    assert (snapshot_at(quick) >= 40, snapshot_at(slow)) == (True, 0)
    assert tables(quick) == tables(slow) == before
    assert check_store(url).sound
