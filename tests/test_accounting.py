"""Whether the accounts of the attack (accounting.py) show what is missing, doubled or wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ramgape import Study
from tests.accounting import Audit, Entry, audit_store
from tests.study_processes import ARMS, ELSEWHERE, OPTIONS, reward_of

REWARD = 0.123456789
NAME = f"{ELSEWHERE}poor-{REWARD!r}"


@pytest.fixture
def url(tmp_path: Path) -> str:
    return f"sqlite:///{tmp_path / 'studies.db'}"


@pytest.fixture
def log(url: str) -> list[Entry]:
    """What those were told who worked on a study."""
    with Study.create("a study", ARMS, storage=url, **OPTIONS["budget"]) as study:
        pulls = study.ask(10, lease=0.001)
        study.tell_many([(pull, reward_of(pull)) for pull in pulls[:8]])
        study.observe("poor", REWARD)
        told = [Entry(study.name, "told", pull.id, pull.arm, reward_of(pull), True) for pull in pulls[:8]]
        told.append(Entry(study.name, "told", f"{pulls[9].id}.7", pulls[9].arm, 0.5, False))
        return [*told, *(Entry(study.name, what, NAME, "poor", REWARD, True) for what in ("meant", "observed"))]


def counts(url: str, log: list[Entry], goal: str = "budget") -> tuple[int, int, int, int]:
    audit = Audit()
    audit_store(url, OPTIONS[goal], log, audit)
    return audit.acknowledged, len(audit.lost), len(audit.doubled), len(audit.wrong)


def test_all_is_well(url: str, log: list[Entry]) -> None:
    assert counts(url, log) == (9, 0, 0, 0)


CHANGES: dict[str, tuple[Callable[[list[Entry]], list[Entry]], tuple[int, int, int, int]]] = {
    "lost": (lambda log: [*log, log[0]._replace(name="0" * 20 + "-99")], (10, 1, 0, 0)),
    "another reward": (lambda log: [log[0]._replace(reward=0.5), *log[1:]], (9, 0, 0, 1)),
    "another arm": (lambda log: [log[0]._replace(arm="nobody"), *log[1:]], (9, 0, 0, 1)),
    "refused, and there": (lambda log: [log[0]._replace(accepted=False), *log[1:]], (8, 0, 0, 1)),
    "there, and never meant": (lambda log: [entry for entry in log if entry.name != NAME], (8, 0, 0, 1)),
    "a failure that is not there": (lambda log: [*log, log[0]._replace(what="failed")], (9, 0, 0, 1)),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_does_not_agree_is_found(url: str, log: list[Entry], change: str) -> None:
    edit, found = CHANGES[change]
    assert counts(url, edit(log)) == found


def test_what_is_there_twice_is_found(url: str, log: list[Entry]) -> None:
    with Study.load("a study", url) as study:
        study.observe("poor", REWARD)
    assert counts(url, log) == (9, 0, 1, 0)


def test_a_reward_that_is_not_that_of_its_attempt_is_found(url: str, log: list[Entry]) -> None:
    with Study.load("a study", url) as study:
        study.tell(study.ask()[0], 0.987)
    assert counts(url, log) == (9, 0, 0, 1)


@pytest.mark.long
def test_another_result_is_found(url: str, log: list[Entry]) -> None:
    assert counts(url, log, "confidence")[3] == 1
