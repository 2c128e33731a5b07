"""No answer is ever credited to another pull than the one it is about, whatever becomes of the store."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest

import ramgape
from ramgape import Study
from ramgape.studies import local as studies
from ramgape.studies.exchange import TOKEN_BYTES, read_pull_id
from tests.stores import copy_database

ARMS = ["a", "b", "c"]


def test_every_pull_has_eighty_random_bits_of_its_own() -> None:
    study = Study.create("many", ARMS, reward_range=(0, 1), budget=2000, seed=1)
    tokens = {read_pull_id(pull.id).token for pull in study.ask(1000)}
    assert len(tokens) == 1000
    assert {len(token) for token in tokens} == {2 * TOKEN_BYTES}
    assert 8 * TOKEN_BYTES >= 80


def test_after_a_restore_old_names_are_refused(tmp_path: Path) -> None:
    """The copy knows neither the answers nor the pulls since; it hands out the same numbers, for other arms."""
    path, url = tmp_path / "studies.db", f"sqlite:///{tmp_path / 'studies.db'}"
    study = Study.create("restored", ARMS, storage=url, reward_range=(0, 1), budget=500, seed=1)
    study.tell_many([(pull, 0.5) for pull in study.ask(20)])
    study.close()
    shutil.copy(path, tmp_path / "copy.db")
    study = Study.load("restored", url)
    lost = study.ask(60)
    study.tell_many([(pull, 0.25) for pull in lost[:30]])
    study.close()
    shutil.copy(tmp_path / "copy.db", path)
    for journal in tmp_path.glob("studies.db-*"):
        journal.unlink()
    study = Study.load("restored", url)
    anew = study.ask(60)
    study.tell_many([(pull, 0.75) for pull in anew[:30]])
    for pull in lost:
        with pytest.raises(ramgape.UnknownPull, match="before its store was restored from a copy"):
            study.tell(pull, 0.25)
        with pytest.raises(ramgape.UnknownPull):
            study.fail(pull)
    assert study.renew(lost) == [False] * 60
    assert study.report().told == 50


def test_two_studies_never_share_a_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"sqlite:///{tmp_path / 'studies.db'}"
    keys = iter(["00" * 8, "00" * 8, "00" * 8, "11" * 8])
    monkeypatch.setattr(studies, "new_key", lambda: next(keys))
    made = [Study.create(name, ARMS, storage=url, reward_range=(0, 1), epsilon=0.05) for name in ("one", "other")]
    assert [study.backend.session.row.key for study in made] == ["00" * 8, "11" * 8]


def test_names_are_plain_text(tmp_path: Path) -> None:
    """What is a kind of text would be another one when it is read again."""
    url = f"sqlite:///{tmp_path / 'studies.db'}"
    study = Study.create(np.str_("plain"), ARMS, storage=url, reward_range=(0, 1), budget=500)
    (pull,) = study.ask(worker=np.str_("node"))
    assert Study.load("plain", url).ask(worker="node") == [pull]
    assert study.leave(np.str_("node")) == 1


def test_a_store_is_set_back_under_somebody_who_has_it_open(tmp_path: Path) -> None:
    """Memory then knows what the store does not, though all counters may agree: no pull of others is touched for it."""
    path, url = tmp_path / "studies.db", f"sqlite:///{tmp_path / 'studies.db'}"
    witness = Study.create("restored", ARMS, storage=url, reward_range=(0, 1), budget=500, seed=1, in_order=False)
    (under_way,) = witness.ask(lease=None)
    for told in (0, 1, 3):
        copy_database(path, tmp_path / "copy.db")
        lost = witness.ask(4, "me", lease=None)
        witness.tell_many([(pull, 0.25) for pull in lost[:told]])
        copy_database(tmp_path / "copy.db", path)
        other = Study.load("restored", url)
        for _ in range(1 + bool(told)):  # as many changes as were lost
            anew = other.ask(4, "you", lease=None)
        for pull in lost:
            for verb in (witness.fail, witness.give_back, lambda pull: witness.tell(pull, 0.25)):
                with pytest.raises((ramgape.UnknownPull, ramgape.StorageUnavailable), match="restored from a copy"):
                    verb(pull)
        assert len(other.ask(4, "you", lease=None)) == 4
        assert all(other.tell_many([(pull, 0.75) for pull in anew]))
        assert len(witness.ask(2)) == 2
    assert witness.tell(under_way, 0.5)
    assert Study.load("restored", url).report().told == witness.report().told == 13
