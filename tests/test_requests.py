"""Requests that are made again under their key change nothing twice, whoever makes them and whatever happened."""

from __future__ import annotations

import itertools
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import ramgape
from ramgape import Study
from ramgape.storage import Store, memory, open_store
from ramgape.storage import sqlite as sqlite_module
from ramgape.storage.backup import back_up
from ramgape.storage.memory import MemoryStore
from ramgape.storage.records import KEPT, Moment, RequestRow
from ramgape.studies.arrivals import with_arm, without_arm
from ramgape.studies.checking import check_store
from ramgape.studies.entries import Results, Told, Trial
from ramgape.studies.exchange import read_pull_id
from ramgape.studies.extending import extended
from ramgape.studies.session import StudySession
from ramgape.studies.state import StudyState
from ramgape.testing import check_store as try_store
from tests.keyed import requested

Operation = Callable[[StudySession, StudyState, Moment], str]


def ask(_: StudySession, state: StudyState, now: Moment) -> str:
    return " ".join(pull.token for pull in state.ask(2, None, 60.0, frozenset(), now))


def observe(_: StudySession, state: StudyState, now: Moment) -> str:
    state.observe([Trial(0, 0.5)], now)
    return f"{state.told} told"


def bring_many(session: StudySession, state: StudyState, now: Moment) -> str:
    """As an import does it, which writes on the way."""
    state.open_batch(6)
    for _ in range(2):
        state.add([Trial(arm, 0.25) for arm in range(3)], now)
        session.flush()
    state.close_batch()
    return f"{state.told} told"


def extend(session: StudySession, state: StudyState, now: Moment) -> str:
    asked = {"epsilon": state.spec.search.epsilon / 2, "budget": None, "spend": None}  # type: ignore[operator]
    return str(session.change(extended(state.spec, asked, state.told, state.done, now.time)).done)


def add_arm(session: StudySession, state: StudyState, now: Moment) -> str:
    name = f"arm {len(state.spec.search.names)}"
    return str(session.change(with_arm(state.spec, name, None, state.told, "now")).told)


def retire(session: StudySession, state: StudyState, now: Moment) -> str:
    name = state.spec.present.names[-1]
    return str(session.change(without_arm(state.spec, name, state.told, "now")).told)


OPERATIONS: dict[str, Operation] = {
    "ask": ask,
    "observe": observe,
    "import": bring_many,
    "extend": extend,
    "add_arm": add_arm,
    "retire": retire,
}


@pytest.fixture(params=["memory", "sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str | Store:
    """A place for a store that can be opened twice, in memory as well."""
    if request.param == "memory":
        return MemoryStore()
    return f"sqlite:///{tmp_path}/studies.db" if request.param == "sqlite" else request.getfixturevalue("postgres_url")


def new_study(place: str | Store | None, name: str = "keys") -> Study:
    arms = ["a", "b", "c", "d"]
    study = Study.create(name, arms, storage=place, reward_range=(0, 1), epsilon=0.1, expected_arms=9)
    study.observe("a", 0.5)
    return study


def make(study: Study, operation: Operation, key: str = "a key", digest: str = "digest") -> str:
    return requested(study, key, digest, operation)


def all_of(study: Study) -> tuple[Any, ...]:
    """All that may change, of a study opened anew."""
    with Study.load(study.name, study.backend.storage) as again, again.backend.session.reading as (state, _):
        store, row = again.backend.session.store, again.backend.session.row
        counters = (state.version, row.specification, state.batches, sorted(state.open))
        return (*counters, store.read_rows(row.id, 0, 99), store.read_requests(row.id))  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", OPERATIONS)
def test_made_again_by_another_session_nothing_changes(place: str | Store, name: str) -> None:
    study, operation = new_study(place), OPERATIONS[name]
    other = Study.load("keys", place)
    before = all_of(study)
    answer = make(study, operation)
    after = all_of(study)
    assert after != before
    assert make(other, operation) == make(study, operation) == answer
    assert all_of(study) == after
    make(other, operation, "another key")
    assert all_of(study) != after
    study.close()
    other.close()


def test_the_same_key_for_something_else(place: str | Store) -> None:
    study = new_study(place)
    make(study, observe)
    after = all_of(study)
    words = "the key of a request must be a new one: this one is that of another request, .* got 'a key'"
    with pytest.raises(ramgape.KeyReused, match=words):
        make(study, observe, digest="another")
    assert all_of(study) == after
    assert issubclass(ramgape.KeyReused, ramgape.RamgapeError)
    with new_study(place, "beside it") as beside:  # where the key is new
        assert make(beside, observe, digest="another") == "2 told"
    assert make(study, observe) == "2 told"


def test_what_ended_in_an_error_may_be_tried_again(place: str | Store) -> None:
    study = new_study(place)
    before = all_of(study)

    def fail(session: StudySession, state: StudyState, now: Moment) -> str:
        observe(session, state, now)
        raise RuntimeError("the trial was not what it seemed")

    def refuse(session: StudySession, state: StudyState, now: Moment) -> str:
        return str(session.change(without_arm(state.spec, "nobody", 1, "now")))

    for operation, error in ((fail, RuntimeError), (refuse, ramgape.UnknownName)):
        with pytest.raises(error):
            make(study, operation)
        assert all_of(study) == before
    assert make(study, observe, digest="of what works") == "2 told"


def test_what_has_changed_nothing_is_not_kept(place: str | Store) -> None:
    study = new_study(place)
    before, answers = all_of(study), itertools.count()
    for number in range(2):
        assert make(study, lambda *_: str(next(answers))) == str(number)
    assert all_of(study) == before


def test_several_in_one_transaction(place: str | Store) -> None:
    """Also the same one twice."""
    study = new_study(place)
    backend = study.backend
    with backend._sharing() as (state, now):

        def once(key: str, operation: Operation) -> str:
            return backend.once(key, "digest", lambda: operation(backend.session, state, now))  # type: ignore[no-any-return]

        assert once("first", observe) == once("first", observe) == "2 told"
        assert once("second", observe) == "3 told"
        assert once("nothing", lambda *_: "nothing") == "nothing"
    assert [each.key for each in all_of(study)[-1]] == ["first", "second"]
    assert len(all_of(study)[-2]) == 3
    assert make(study, observe, "second") == "3 told"


def test_another_specification_loses_nothing_of_what_came_before_it(place: str | Store) -> None:
    """Those who share a transaction are each served by themselves where they cannot share it."""
    study = new_study(place)
    backend = study.backend
    operations: list[Callable[[], object]] = [
        lambda: backend.once("first", "", lambda: str(study.observe("a", 0.5).accepted)),
        lambda: backend.once("second", "", lambda: str(study.add_arm("e"))),
        lambda: backend.once("third", "", lambda: str(study.observe("e", 0.5).accepted)),
    ]
    assert backend.together([*operations, *operations]) == ["True"] * 6
    assert study.report().told == 3
    assert study.arms == ("a", "b", "c", "d", "e")
    assert [each.key for each in all_of(study)[-1]] == ["first", "second", "third"]


def test_the_same_answer_twice_in_one_transaction(place: str | Store) -> None:
    """The second one is known, though no store has the first yet."""
    study = new_study(place)
    pulls = [read_pull_id(pull.id) for pull in study.ask(2)]
    with study.backend.session.writing as (state, now):
        for _ in range(2):
            told = [Told(pulls[0], 0.5, None, None)]
            assert state.take_in(Results(told), now, study.backend.session.find_answer) == [True]
        assert state.take_in(Results([], [(pulls[0], "late")], pulls), now, study.backend.session.find_answer) == [
            False,
            False,
            True,
        ]
    assert study.report().told == 2


def test_rolled_back_it_never_was(place: str | Store) -> None:
    study = new_study(place)
    before = all_of(study)

    def interrupted() -> None:
        with study.backend._sharing() as (state, now):
            study.backend.once("a key", "digest", lambda: observe(study.backend.session, state, now))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    assert all_of(study) == before
    assert make(study, observe) == "2 told"


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_day_later_it_is_forgotten(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place: str | Store = MemoryStore() if kind == "memory" else f"sqlite:///{tmp_path}/studies.db"
    moment = Moment(1e9, 1.0)
    for module in (memory, sqlite_module):
        monkeypatch.setattr(module, "present", lambda: moment)
    study = new_study(place)
    make(study, observe)
    moment = Moment(1e9 + KEPT, 1.0)
    make(study, observe, "at the end of the day")
    assert make(study, observe) == "2 told"
    moment = Moment(1e9 + KEPT + 1.0, 1.0)
    make(study, observe, "the next day")
    assert [each.key for each in all_of(study)[-1]] == ["at the end of the day", "the next day"]
    assert make(study, observe) == "5 told"


def test_deleted_with_the_study(place: str | Store) -> None:
    study = new_study(place)
    make(study, observe)
    row, store = study.backend.session.row, study.backend.session.store
    ramgape.delete_study("keys", place)
    assert store.read_requests(row.id) == []  # type: ignore[attr-defined]
    with new_study(place) as again:
        assert make(again, observe, digest="another") == "2 told"


def test_a_copy_has_them(url: str, tmp_path: Path) -> None:
    with new_study(url) as study:
        answer = make(study, observe)
        kept = all_of(study)[-1]
    back_up(url, str(tmp_path / "copy.db"))
    copy = f"sqlite:///{tmp_path}/copy.db"
    assert check_store(copy).sound
    with Study.load("keys", copy) as study:
        assert all_of(study)[-1] == kept
        assert make(study, observe) == answer
        assert study.report().told == 2


@pytest.mark.parametrize("change", ["answer = 'another'", "digest = 'another'", "made_at = 3", "\"key\" = 'a Key'"])
def test_damage_is_noticed(url: str, change: str) -> None:
    with new_study(url) as study:
        make(study, observe)
        study.backend.session.store.execute(f"UPDATE ramgape_requests SET {change}")  # type: ignore[attr-defined]
    found = check_store(url)
    assert not found.sound
    assert "a RequestRow is not what was written" in found.studies[0].problems[0]
    with Study.load("keys", url) as study:
        assert study.report().told == 2  # the study itself is as it was
        if "Key" not in change:
            with pytest.raises(ramgape.DamagedStore, match="a RequestRow is not what was written"):
                make(study, observe)
        assert study.report().told == 2


def test_loose_rows_are_noticed(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/studies.db"
    with new_study(url) as study:
        make(study, observe)
    with closing(sqlite3.connect(tmp_path / "studies.db")) as connection, connection:
        connection.execute("UPDATE ramgape_requests SET study_id = 7")
    assert check_store(url).problems == ("a row of ramgape_requests belongs to no study",)


class Older:
    """A store from outside that was written before requests had keys."""

    def __init__(self) -> None:
        self._store = MemoryStore()

    def __getattr__(self, name: str) -> Any:
        if name in ("read_request", "read_requests"):
            raise AttributeError(name)
        return getattr(self._store, name)


def test_a_store_that_keeps_none_serves_all_the_same() -> None:
    """It is a store; what is made again there counts again."""
    store: Any = Older()
    assert open_store(store, create=False) is store
    try_store(lambda: store)
    store = Older()
    study = new_study(store)
    assert [make(study, observe), make(study, observe)] == ["2 told", "3 told"]
    assert check_store(store).sound


class Forgetful(MemoryStore):
    """Says that it keeps requests."""

    def __init__(self, fault: str) -> None:
        super().__init__()
        self.fault = fault

    def read_request(self, study_id: int, key: str) -> RequestRow | None:
        if self.fault == "none":
            return None
        studies = self._studies if self.fault == "of all studies" else [study_id]
        found = (super(Forgetful, self).read_request(study, key) for study in studies)
        return next(filter(None, found), None)

    def read_requests(self, study_id: int) -> list[RequestRow]:
        found = super().read_requests(study_id)
        return found[-1:] if self.fault == "the last only" else found


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("none", r"read_request\('a key'\) after a commit of a request must be RequestRow"),
        ("of all studies", r"read_request\('a key'\) after a request of another study must be None"),
        ("the last only", r"read_requests\(\) after a commit of a request within a day must be \[RequestRow"),
    ],
)
def test_a_store_that_forgets_requests_is_noticed(fault: str, words: str) -> None:
    store = Forgetful(fault)
    with pytest.raises(AssertionError, match=words):
        try_store(lambda: store)
