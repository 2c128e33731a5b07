"""A server that is killed between a commit and its answers loses nothing, and nothing that is repeated counts twice.

The processes are those of server_processes.py.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ramgape import Study, list_studies
from ramgape.studies.checking import check_store
from ramgape.studies.state import AVAILABLE
from tests.accounting import Audit, audit_store, read_logs
from tests.stage import Play, playing
from tests.study_processes import OPTIONS

LONG = pytest.mark.long


@pytest.fixture(scope="module")
def play() -> Iterator[Play]:
    """Plays a scene, and returns what its processes say."""
    with playing("tests.server_processes") as play:
        yield play


def left_behind(url: str) -> list[str]:
    """Pulls that are out, though everybody has answered all that they heard of: an ask that was carried out twice.

    But whoever has a name and asks again, after the goal was reached meanwhile, gets nothing more: not even its own.
    """
    found = []
    for summary in list_studies(url):
        with Study.load(summary.name, url) as study, study.backend.session.reading as (ledger, _):
            out = [pull for pull in ledger.open.values() if pull.lease_until > AVAILABLE]
            out = [pull for pull in out if pull.answer is None and not pull.given_up]
            found += [f"{summary.name}: {pull}" for pull in out if pull.worker is None or not ledger.done]
    return found


@pytest.mark.parametrize(
    ("goal", "count"),
    [("budget", 8), pytest.param("budget", 100, marks=LONG), pytest.param("confidence", 100, marks=LONG)],
)
def test_the_server_is_killed_while_eight_clients_work(
    play: Play, url: str, tmp_path: Path, goal: str, count: int, record_property: Callable[[str, object], None]
) -> None:
    folder = tmp_path / "logs"
    folder.mkdir()
    began = time.monotonic()
    said = play("lives", url, goal, str(folder), count, 5, longest=120.0 + 10.0 * count)
    assert len(said) == count
    assert left_behind(url) == []
    audit = Audit()
    audit_store(url, OPTIONS[goal], read_logs(folder.iterdir()), audit)
    found = (count, audit.acknowledged, len(audit.lost), len(audit.doubled), len(audit.wrong), 0)
    record_property("attack", ("server", url.partition(":")[0], *found, time.monotonic() - began))
    assert audit.faults == []
    assert check_store(url).sound
    assert audit.acknowledged >= count  # it was worth killing it


@pytest.mark.few(2)
@pytest.mark.parametrize("moment", ["after", *(pytest.param(each, marks=LONG) for each in ("before", "soon after"))])
def test_every_request_may_be_repeated(play: Play, url: str, moment: str) -> None:
    """Each meets a server that dies at the commit, and is answered by the next one as by the first."""
    assert dict(map(json.loads, play("requests", url, moment))) == {
        "create": "requests",
        "ask": 2,
        "ask as ada": 4,
        "tell": True,
        "fail": True,
        "give back": True,
        "leave": 1,
        "retry": 1,
        "observe": True,
        "import": 3,
        "extend": True,
        "add an arm": [True, "steady", "wild", "poor", "new"],
        "retire": [True, "steady", "wild", "new"],
    }
    with Study.load("requests", url) as study:
        report = study.report()
        assert report.told == 5 + 1 + 1 + 3
        assert report.failed == 1
        assert [change.arm for change in study.spec.arm_changes] == ["new", "poor"]
        with study.backend.session.reading as (ledger, _):
            assert (ledger.asked, ledger.batches) == (4, 2)
            assert len(ledger.spec.search.extensions) == 1
    assert check_store(url).sound
