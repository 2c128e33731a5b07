"""Studies under fire: workers that are killed at any moment, many at once, forks, signals, deletion.

The processes are those of study_processes.py; attack.py has the same on a larger scale. A power cut is another matter,
which no test here can make.
"""

from __future__ import annotations

import json
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ramgape
from ramgape import Study
from tests.accounting import Audit, audit_store, read_logs
from tests.postgres import new_database
from tests.stage import Play, playing
from tests.study_processes import ARMS, OPTIONS, reward_of

GOALS = list(OPTIONS)
LONG = pytest.mark.long


@pytest.fixture(scope="module")
def play() -> Iterator[Play]:
    """Plays a scene, and returns what its processes say."""
    with playing("tests.study_processes") as play:
        yield play


# --- kills -------------------------------------------------------------------------------------------------------


@pytest.mark.few(2)
@pytest.mark.parametrize("goal", GOALS)
def test_workers_are_killed(play: Play, url: str, tmp_path: Path, goal: str) -> None:
    count = 10
    folder = tmp_path / "logs"
    folder.mkdir()
    play("kills", url, goal, str(folder), count, 7)
    audit = Audit()
    audit_store(url, OPTIONS[goal], read_logs(folder.iterdir()), audit)
    assert audit.faults == []
    assert audit.acknowledged >= count  # it was worth killing them


def test_workers_are_frozen(play: Play, postgres_server: str) -> None:
    """At any moment, also between two statements; others go on before their patience ends."""
    url, count = new_database(postgres_server), 3
    assert play("freezes", url, count, 11) == ["went on"] * count


@pytest.mark.few(2)
@pytest.mark.parametrize("count", [10, pytest.param(100, marks=LONG)])
def test_whoever_creates_a_store_is_killed(play: Play, url: str, count: int) -> None:
    """Whatever is left, a store can be created there, and works."""
    assert len(play("creation", url, count, 3)) == count


@pytest.mark.few(2)
def test_whoever_creates_a_store_dies_at_any_statement(play: Play, url: str) -> None:
    """There is either no store or all of it, whoever looks; and one can be created."""
    found = Counter(play("creation_by_statements", url))
    assert found["no store"] >= 8  # five tables, the version, and what is around
    assert found["a store"] >= 1


def test_whoever_dies_in_an_operation_has_done_all_of_it_or_nothing(play: Play, url: str) -> None:
    whole = {"ask": [0, 2, 0], "tell": [1, -1, 0], "fail": [0, 0, 1], "observe": [1, 0, 0]}
    deaths: Counter[str] = Counter()
    for line in play("operations_by_statements", url):
        name, alive, before, after = json.loads(line)
        change = [new - old for new, old in zip(after, before, strict=True)]
        assert change == whole[name] if alive else change in ([0, 0, 0], whole[name]), line
        deaths[name] += not alive
    assert deaths.keys() == whole.keys()
    # Begin, the study, what it writes, commit; of which the first two may travel together.
    assert min(deaths.values()) >= (4 if url.startswith("sqlite") else 3)


def test_a_request_under_a_key_is_carried_out_once_whoever_dies_when(play: Play, url: str) -> None:
    """Its key is there if what it changed is, and not otherwise."""
    deaths: Counter[int] = Counter()
    for line in play("requests_by_statements", url):
        alive, (before, *_), (dead, *_), (after, *_), answer = json.loads(line)
        assert after == before + 1 == int(answer), line
        deaths[dead - before] += not alive
        assert dead == after or not alive, line
    assert deaths[0] >= (5 if url.startswith("sqlite") else 4)  # nothing was written yet
    assert deaths.keys() <= {0, 1}


# --- many at once ------------------------------------------------------------------------------------------------


def test_many_processes_never_hear_that_a_store_is_busy(play: Play, url: str) -> None:
    processes, rounds = (16 if url.startswith("sqlite") else 8), 15
    options = OPTIONS["budget"] | {"budget": 10_000}
    with Study.create("hammered", ARMS, storage=url, **options) as study:
        told = [int(line) for line in play("hammer", url, processes, rounds)]
        assert len(told) == processes
        report = study.report()
        # While the first answers are still to come, there may be nothing to ask.
        assert 0 < report.told == sum(told) <= processes * rounds
        assert (report.pending, report.failed) == (0, 0)


def test_many_create_a_study_with_the_same_data(play: Play, url: str) -> None:
    """Whoever is first brings the data; they count once."""
    play("create_at_once", url, 8)
    with Study.load("same", url) as study:
        assert study.report().told == 5


def test_threads_share_a_study(url: str) -> None:
    with Study.create("shared", ARMS, storage=url, **OPTIONS["budget"]) as study:
        numbers: list[str] = []
        errors: list[BaseException] = []

        def work(worker: str | None) -> None:
            try:
                while not study.done:
                    for pull in study.ask(2, worker):
                        if study.tell(pull, reward_of(pull)):
                            numbers.append(pull.id)
                    study.close()  # whoever needs it opens it again
            except BaseException as error:  # noqa: BLE001 - seen below
                errors.append(error)

        threads = [threading.Thread(target=work, args=(name,)) for name in (None, None, "same", "same")]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        assert len(set(numbers)) == study.report().told == study.spec.search.limit


def test_deleted_while_others_work(url: str) -> None:
    """Everyone hears of it, nobody writes to the study that takes its name, and nothing is left of it."""
    study, other = (Study.create("gone", ARMS, storage=url, exist_ok=True, **OPTIONS["budget"]) for _ in range(2))
    (pull,) = study.ask()
    study.observe("poor", 0.5)
    ramgape.delete_study("gone", url)
    with Study.create("gone", ARMS, storage=url, **OPTIONS["budget"]) as new:
        for attempt in (
            lambda: study.tell(pull, 0.5),
            lambda: study.fail(pull),
            lambda: study.observe("poor", 0.5),
            lambda: study.renew([pull]),
            study.report,
            other.ask,
        ):
            with pytest.raises(ramgape.UnknownStudy, match="deleted meanwhile"):
                attempt()
        with pytest.raises(ramgape.UnknownPull):
            new.tell(pull, 0.5)
        report = new.report()
        assert (report.told, report.pending) == (0, 0)
    study.close()
    other.close()


# --- forks and signals -------------------------------------------------------------------------------------------


def test_a_study_serves_both_sides_of_a_fork(play: Play, url: str) -> None:
    rounds = 10
    with Study.create("forked", ARMS, storage=url, **OPTIONS["budget"]) as study:
        said = play("fork", url, rounds)
        assert said == ["True"] * (3 * rounds + 1)
        report = study.report()
        assert (report.told, report.pending) == (3 * rounds + 1, 0)


def test_a_fork_beside_threads_at_work(play: Play, url: str) -> None:
    """The child gets neither a lock that nobody will release nor half of a transaction."""
    options = OPTIONS["budget"] | {"budget": 10_000}
    with Study.create("forked", ARMS, storage=url, **options) as study:
        said = play("fork_beside_threads", url, 20)
        assert set(said) == {"True"}
        report = study.report()
        assert (report.told, report.pending) == (len(said), 0)


def test_a_fork_beside_a_long_operation(play: Play, url: str) -> None:
    with Study.create("forked", ARMS, storage=url, **OPTIONS["budget"]) as study:
        said = play("fork_beside_a_long_operation", url)
        assert len(said) == 2
        assert all("forked in the middle of a transaction" in line for line in said)
        assert study.report().told == 1


@pytest.mark.parametrize("what", ["use", "close"])
def test_a_signal_handler_in_the_middle_of_an_operation(url: str, what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may not begin another one; the one under way is carried out, whole."""
    with Study.create("interrupted", ARMS, storage=url, **OPTIONS["budget"]) as study:
        (pull,) = study.ask()
        heard: list[str] = []

        def handle(number: int, frame: object) -> None:
            if what == "close":
                study.close()
                return
            with pytest.raises(ramgape.StorageError, match="signal handler") as caught:
                study.give_back(pull)
            heard.append(str(caught.value))

        write = study.backend.session.store.write

        def interrupted(*arguments: Any) -> None:
            signal.raise_signal(signal.SIGUSR1)
            write(*arguments)

        usual = signal.signal(signal.SIGUSR1, handle)
        try:
            with monkeypatch.context() as patch:
                patch.setattr(study.backend.session.store, "write", interrupted)
                assert study.tell(pull, 0.5).accepted
        finally:
            signal.signal(signal.SIGUSR1, usual)
        assert len(heard) == (what == "use")
        assert study.report().told == 1
        with Study.load("interrupted", url) as again:
            assert again.report().told == 1


def test_an_import_that_fails_late_leaves_nothing(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if it has taken in a part already."""
    monkeypatch.setattr("ramgape.studies.study.IMPORTED_AT_ONCE", 2)
    path = tmp_path / "data.csv"
    path.write_text("arm,reward\n" + "poor,0.5\n" * 5 + "poor,7\n")
    for storage in (url, None):
        with Study.create("imported", ARMS, storage=storage, **OPTIONS["budget"]) as study:
            with pytest.raises(ramgape.InvalidReward, match="line 7"):
                study.import_csv(path)
            assert study.report().told == 0
            study.observe("wild", 0.25)
            assert study.report().told == 1
            assert [arm.pulls for arm in study.result().arms] == [0, 1, 0]
