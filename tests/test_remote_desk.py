"""Studies on a server: what is there is what would be here, and what goes wrong is said in the same words."""

from __future__ import annotations

import io
import json
import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ramgape
from ramgape import CVaR, Items, MeanVariance, Outcome, RamgapeError, Search, Study
from ramgape.storage import open_store, upgrade
from ramgape.studies.exchange import PATTERN
from ramgape.studies.remote import RemoteBackend
from ramgape.studies.report import write_time
from ramgape.trials.monitoring import ProgressMonitor
from ramgape.trials.progress import Progress
from tests.fake_server import Asked, Says, fake_server
from tests.servers import open_server

ARMS = ["a", "b", "c"]
RANGED: dict[str, Any] = {"reward_range": (0, 1), "seed": 5}
STUDIES: dict[str, dict[str, Any]] = {
    "numbers of NumPy": {
        "reward_range": np.array([0, 2]),
        "epsilon": np.float32(0.25),
        "delta": np.float64(0.1),
        "max_trials": np.int64(10_000),
        "seed": np.int32(7),
    },
    "whole numbers as floats": {**RANGED, "budget": 60.0, "retries": 2.0},
    "two tolerances": {**RANGED, "epsilon": (0.1, 0.05)},
    "a share": {"noise": "any", "epsilon": "5%"},
    "a risk with many digits": {**RANGED, "epsilon": 0.1, "risk": CVaR(level=0.12345678901234567)},
    "a risk as text": {**RANGED, "epsilon": 0.1, "risk": "cvar:0.1"},
    "a mean-variance": {**RANGED, "epsilon": 0.1, "risk": MeanVariance(1 / 3)},
    "a task": {**RANGED, "epsilon": 0.1, "task": ramgape.BetterThan(control="b")},
    "items": {"reward_range": (0, 1), "epsilon": 0.1, "items": ["x", 1.0, {"q": [1, None]}]},
    "items of a larger world": {**RANGED, "epsilon": 0.1, "items": Items([1, 2, 3], population=False)},
    "items, often": {**RANGED, "epsilon": 0.1, "items": Items(["x", "y"], repeats=4)},
    "for experts": {**RANGED, "epsilon": 0.1, "search": Search(policy="ramgape", bound="hoeffding", initial_trials=5)},
    "prices": {**RANGED, "price": {"a": 1, "b": 2.5, "c": np.float64(3)}, "spend": 100, "task": "best"},
    "failures": {**RANGED, "budget": 30, "failure": "worst", "expired": "fail", "in_order": True},
    "no alarm": {**RANGED, "budget": 30, "alarm": "off"},
    "arms to come": {**RANGED, "epsilon": 0.2, "expected_arms": 5},
}


@pytest.mark.parametrize("options", STUDIES.values(), ids=STUDIES)
def test_the_same_specification(server_url: str, options: dict[str, Any]) -> None:
    with Study.create("models", ARMS, storage=server_url, **options) as there:
        assert isinstance(there.backend, RemoteBackend)
        assert there.spec == Study.create("models", ARMS, **options).spec
        with Study.load("models", server_url) as again:
            assert again.spec == there.spec
        Study.create("models", ARMS, storage=server_url, exist_ok=True, **options).close()


def test_whoever_opens_the_store_sees_the_same(tmp_path: Path) -> None:
    """Report, result, observations, failures, files: over HTTP and from the file itself."""
    file = f"sqlite:///{tmp_path / 'studies.db'}"
    data = [{"arm": "a", "reward": 0.25, "price": 2.0}, {"arm": "b", "reward": 0.5, "price": 1.5}]
    options: dict[str, Any] = {**RANGED, "price": "told", "spend": 500, "task": "best", "retries": 1}
    with open_server(file) as url, Study.create("models", ARMS, storage=url, data=data, **options) as there:
        for number, pull in enumerate(there.ask(40, "one")):
            if number % 10 == 3:
                there.fail(pull, f"because of {number}")
            elif number % 10 != 7:
                there.tell(pull, (number % 4) / 4, price=1.0 + number % 3, info={"n": number, "tags": ["x", None]})
        there.observe("c", 0.75, price=0.5, info={"by": "hand"})
        answers = there.observe_many([("a", Outcome(0.5, 1.0)), ("b", Outcome(0.25, 1.0, {"k": 1}))])
        assert [(each.accepted, each.done) for each in answers] == [(True, False)] * 2
        count = there.import_csv(io.StringIO("arm,reward,price,worker\na,0.5,1,me\nb,0.75,2,you\n"))
        assert count == 2
        with Study.load("models", file) as here:
            assert there.report(expect=False) == here.report(expect=False)
            assert there.result("interrupted", expect=False) == here.result("interrupted", expect=False)
            # As text: what is not a number is equal to nothing.
            assert repr(there.report(history=True).result.history) == repr(here.report(history=True).result.history)
            assert there.report().to_dict() == here.report().to_dict()
            assert observed(there) == observed(here)
            assert failed(there) == failed(here)
            assert there.backend.progress() == here.report(expect=False).progress
            for form in ("csv", "jsonl"):
                written = [io.StringIO(), io.StringIO()]
                for study, stream in zip((there, here), written, strict=True):
                    getattr(study, f"export_{form}")(stream)
                assert written[0].getvalue() == written[1].getvalue() != ""
            frames = [study.trials_frame(failures=True) for study in (there, here)]
            assert len(frames[0]) == len(frames[1])
            assert frames[0].drop(columns="told_at").equals(frames[1].drop(columns="told_at"))
            assert str(there.result(expect=False)) == str(here.result(expect=False))
        assert [each.to_dict() for each in ramgape.list_studies(url)] == [
            each.to_dict() for each in ramgape.list_studies(file)
        ]


def observed(study: Study) -> list[Any]:
    """All observations; their times to the microsecond, as they are written."""
    rows = list(study.backend.observations())
    return [each._replace(row=each.row._replace(told_at=write_time(each.row.told_at or 0.0))) for each in rows]  # type: ignore[arg-type]


def failed(study: Study) -> list[Any]:
    """All failures, likewise."""
    return [each._replace(failed_at=write_time(each.failed_at)) for each in study.backend.failures()]  # type: ignore[arg-type]


def test_rows_come_page_by_page(server_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ramgape.studies.remote.ROWS_AT_ONCE", 7)
    with Study.create("models", ARMS, storage=server_url, budget=60, **RANGED) as study:
        pulls = study.ask(33)
        for pull in pulls[:16]:
            study.fail(pull, pull.id)
        study.tell_many([(pull, 0.5) for pull in pulls[16:]])
        assert [seen.row.pull for seen in study.backend.observations()] == [pull.id for pull in pulls[16:]]
        assert [each.reason for each in study.backend.failures()] == [pull.id for pull in pulls[:16]]


def calls() -> list[Callable[[Study], object]]:
    """What is refused."""

    def pull(study: Study) -> ramgape.Pull:
        return study.ask(1, "me")[0]

    return [
        lambda study: study.ask(0),
        lambda study: study.ask("many"),  # type: ignore[arg-type]
        lambda study: study.ask(1, "", 5),
        lambda study: study.ask(1, "me", -1),
        lambda study: study.tell("nonsense", 0.5),
        lambda study: study.tell(f"{'0' * 20}-1", 0.5),
        lambda study: study.tell(pull(study), 1.5),
        lambda study: study.tell(pull(study), math.nan),
        lambda study: study.tell(pull(study), 0.5, price=1.0),
        lambda study: study.tell(pull(study), 0.5, info={"x": {1, 2}}),
        lambda study: study.tell_many([(pull(study), 0.5), (pull(study), "x")]),
        lambda study: [study.tell(each, reward) for each in study.ask(1, "me") for reward in (0.5, 0.25)],
        lambda study: study.fail(pull(study), 7),  # type: ignore[arg-type]
        lambda study: study.renew(["x"]),
        lambda study: study.leave(""),
        lambda study: study.observe("d", 0.5),
        lambda study: study.observe("a", 2.0),
        lambda study: study.observe_many([("a", 0.5), ("z", 0.5)]),
        lambda study: study.import_csv(io.StringIO("arm,reward\na,0.5\nb,7\n")),
        lambda study: study.import_csv(io.StringIO("arm,reward\n" + "a,0.5\n" * 100)),
        lambda study: study.extend(),
        lambda study: study.extend(budget=3),
        lambda study: study.extend(budget="more"),  # type: ignore[arg-type]
        lambda study: study.extend(epsilon=0.1),
        lambda study: study.add_arm("d"),
        lambda study: study.retire("a"),
        lambda study: study.result("never"),  # type: ignore[arg-type]
        lambda study: [study.observe("a", 0.5) for _ in range(100)],
    ]


@pytest.mark.parametrize("number", range(len(calls())))
def test_the_same_errors(server_url: str, number: int) -> None:
    """Of the same class, with the same parts and words, here and there; but for the names of pulls."""
    caught: list[RamgapeError] = []
    for storage in (None, server_url):
        with (
            Study.create("models", ARMS, storage=storage, budget=30, **RANGED) as study,
            pytest.raises(RamgapeError) as error,
        ):
            calls()[number](study)
        caught.append(error.value)
    here, there = caught
    assert type(here) is type(there)

    def parts(error: RamgapeError) -> list[str]:
        texts = [str(error), error.place, error.what, error.allowed, error.given, error.hint, error.verb]
        return [PATTERN.sub("PULL", text) for text in texts]

    assert parts(here) == parts(there)


def test_the_token_goes_nowhere_else() -> None:
    """It is shown to the server, and is in no pickle and no text of the study."""
    text = Study.create("models", ARMS, budget=6, **RANGED).spec.to_text()

    def script(asked: Asked) -> Says:
        if "specification" in asked.path:
            return Says({"revision": 1, "specification": json.loads(text)})
        return Says({"studies": [{"id": 7, "name": "models"}], "next": None})

    with fake_server(script) as fake, Study.load("models", fake.url, token="rg_secret") as study:
        assert {asked.headers["Authorization"] for asked in fake.asked} == {"Bearer rg_secret"}
        assert b"rg_secret" not in pickle.dumps(study)
        assert "rg_secret" not in repr(study) + repr(vars(study)) + repr(vars(study.backend))
        assert repr(study) == f"<Study 'models' in {fake.url}>"


def test_a_server_that_is_gone(tmp_path: Path) -> None:
    with open_server(f"sqlite:///{tmp_path / 'studies.db'}") as url:
        study = Study.create("models", ARMS, storage=f"{url}?timeout=0.2", budget=6, **RANGED)
        (pull,) = study.ask()
    for call in (
        lambda: study.tell(pull, 0.5),
        study.report,
        lambda: study.done,
        lambda: list(study.backend.observations()),
    ):
        with pytest.raises(ramgape.StorageUnavailable, match=f"the server at {url} cannot be used now"):
            call()
    study.close()


def test_what_only_a_store_can_do(server_url: str) -> None:
    for operation in (lambda: upgrade(server_url), lambda: open_store(server_url, create=True)):
        with pytest.raises(
            ramgape.StorageError, match=r"the store must be on SQLite or PostgreSQL for this, got '?http:"
        ):
            operation()


def test_a_run_that_is_watched(server_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """How far it is comes from the server."""
    seen: list[Progress] = []
    noted: list[tuple[int, bool]] = []
    note = ProgressMonitor.note
    monkeypatch.setattr(
        ProgressMonitor, "note", lambda self, at, budget: (noted.append((at.samples, budget)), note(self, at, budget))
    )
    with Study.create("models", ARMS, storage=server_url, budget=12, **RANGED) as study:
        result = study.run(lambda arm: 0.5, progress=True, callback=seen.append)
    assert result.samples == 12
    assert [each.samples for each in seen] == list(range(1, 13))
    assert noted[0] == (0, True)


def test_a_watcher_of_what_is_elsewhere() -> None:
    monitor = ProgressMonitor()
    assert monitor.frame(0.0) is None
    monitor.note(Progress(30, 10**7, 0.25, 0.1, 3), budget=False)
    assert not monitor.wanted
    frame = monitor.frame(5.0)
    assert frame is not None
    assert monitor.wanted
    assert "30 pulls in 5 s" in str(frame)
    monitor.note(Progress(30, 120, 0.25, None, 3), budget=True)
    assert "30 of 120 pulls" in str(monitor.frame(6.0))
