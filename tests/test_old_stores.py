"""A store that an older version wrote: it opens, its open pulls can be answered, it goes on and gives the same answer.

`data/studies-0001.db` was written by the program before its specifications had a version of their own: one study that
is done, one half-way under a budget with CVaR and five open pulls of the worker ada, one with Gaussian costs and a
failure.
`data/studies-0001.json` has what that program answered. Never write it anew.

`data/studies-0006.db` was written by the last program with format 3 of specifications. Its three studies ended by rules
that were found wrong: `control` returned an arm with the mean of the control, as better; `rows` has trials that share
rows, which were observed; `times` counted runs that timed out as the timeout.
"""

from __future__ import annotations

import json
import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ramgape
from ramgape import Study
from ramgape.search.inference import infer
from ramgape.search.result import updated
from ramgape.storage import upgrade, versions
from ramgape.storage.versions import NEWEST, newest_version
from ramgape.studies import report
from ramgape.studies.checking import check_store
from tests.keyed import observe_once

DATA = Path(__file__).parent / "data"


def near(middle: float, width: float) -> Callable[[int], float]:
    return lambda seed: middle + width * (random.Random(seed).random() - 0.5)


def normal(mean: float, deviation: float) -> Callable[[int], float]:
    return lambda seed: random.Random(seed).gauss(mean, deviation)


REWARDS: dict[str, dict[str, Callable[[int], float]]] = {
    "half-way": {
        "steady": near(0.55, 0.1),
        "bold": near(0.65, 0.7),
        "weak": near(0.3, 0.4),
        "wild": near(0.5, 1.0),
    },
    "costs": {"near": normal(10.0, 1.0), "far": normal(14.0, 0.5), "slow": normal(20.0, 3.0)},
}


@pytest.fixture
def old(tmp_path: Path) -> str:
    """A copy of the old store, brought up to date."""
    shutil.copy(DATA / "studies-0001.db", tmp_path / "old.db")
    url = f"sqlite:///{tmp_path / 'old.db'}"
    with pytest.raises(ramgape.StorageError, match=r"version 0001, made by an older ramgape.*storage upgrade"):
        Study.load("done", url)
    assert upgrade(url).before == "0001"
    return url


@pytest.fixture
def known() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((DATA / "studies-0001.json").read_text())
    return found


def go_on(study: Study, rewards: dict[str, Callable[[int], float]]) -> None:
    while pulls := study.ask():
        study.tell_many([(pull.id, rewards[pull.arm](pull.seed)) for pull in pulls])


def check_answer(study: Study, known: dict[str, Any]) -> None:
    result = study.result()
    assert study.done
    assert (list(result.front), result.stopped) == (known["front"], known["stopped"])


def test_what_was_done_stays_as_it_was(old: str, known: dict[str, Any]) -> None:
    with Study.load("done", old) as study:
        check_answer(study, known["done"])
        assert study.ask() == []
        found = {arm.name: (arm.pulls, arm.mean, arm.risk) for arm in study.result().arms}
        assert found == {name: pytest.approx(tuple(values)) for name, values in known["done"]["arms"].items()}
        assert study.result().samples == known["done"]["samples"]


def test_open_pulls_are_answered_by_their_old_names(old: str, known: dict[str, Any]) -> None:
    opened, rewards = known["half-way"]["open"], REWARDS["half-way"]
    with Study.load("half-way", old) as study:
        assert study.report().pending == 5
        again = study.ask(5, worker="ada")
        assert [pull._asdict() for pull in again] == [{**pull, "item": None} for pull in opened]
        for pull in opened:
            assert study.tell(pull["id"], rewards[pull["arm"]](pull["seed"]))
            assert study.tell(pull["id"], rewards[pull["arm"]](pull["seed"]))  # after a lost reply
        with pytest.raises(ramgape.ChangedAnswer):
            study.tell(opened[0]["id"], 0.125)
        go_on(study, rewards)
        check_answer(study, known["half-way"])
        assert study.result().samples == 400


def test_costs_with_a_failure_go_on(old: str, known: dict[str, Any]) -> None:
    with Study.load("costs", old) as study:
        assert study.report().failures[-1].pull == known["costs"]["failed"]["id"]
        assert study.report().failures[-1].reason == "the line was cut"
        go_on(study, REWARDS["costs"])
        check_answer(study, known["costs"])
        assert study.report().failed == 1


REFUTED = {
    "control": (
        "data",
        "returned arms that may be worse than the control by up to epsilon. By the present rules not all",
    ),
    "rows": ("confidence", "did not say that arms must be independent of each other. If trials that were reported or"),
    "times": (
        "confidence",
        "counted a trial that timed out as a cost of 0.6. If it costs more, A may be no right answer",
    ),
}


@pytest.fixture
def refuted(tmp_path: Path) -> str:
    """A copy of the store with studies that ended by rules that were found wrong."""
    shutil.copy(DATA / "studies-0006.db", tmp_path / "refuted.db")
    url = f"sqlite:///{tmp_path / 'refuted.db'}"
    upgrade(url)
    return url


@pytest.mark.parametrize("name", REFUTED)
def test_a_study_that_ended_by_a_wrong_rule_says_so(name: str, refuted: str) -> None:
    stopped, words = REFUTED[name]
    with Study.load(name, refuted) as study:
        result = study.result()
        assert (study.done, result.stopped) == (True, stopped)
        (warning,) = (
            each for each in result.warnings if each.startswith("Certified by ramgape 0.2.0 or older, which ")
        )
        assert words in warning
        assert warning in study.report().result.warnings


def test_what_a_wrong_rule_ended_can_go_on(refuted: str) -> None:
    generator = random.Random(1)
    with Study.load("control", refuted) as study:
        study.extend(epsilon=0.39)
        while pulls := study.ask():
            study.tell_many([(pull, float(generator.random() < {"B": 0.9}.get(pull.arm, 0.5))) for pull in pulls])
        result = study.result()
        assert (result.stopped, result.front, result.warnings) == ("confidence", ("B",), ())


def test_the_old_store_in_and_out(old: str, tmp_path: Path) -> None:
    """Also after the upgrade the same names are exported, and all check values are right."""
    with Study.load("costs", old) as study:
        study.export_jsonl(tmp_path / "rows.jsonl")
        rows = [json.loads(line) for line in (tmp_path / "rows.jsonl").read_text().splitlines()]
        assert len(rows) == study.report().told
        assert len({row["pull"].partition("-")[0] for row in rows}) == 1


def test_requests_are_kept_after_an_upgrade(tmp_path: Path, old: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store of the version before has no place for them, nor for what was lost; all else in it stays as it was."""
    with Study.load("half-way", old) as study:
        told, shown = study.report().told, study.report().to_dict()
    shutil.copy(DATA / "studies-0001.db", tmp_path / "before.db")
    url = f"sqlite:///{tmp_path / 'before.db'}"
    monkeypatch.setattr(versions, "NEWEST", 4)
    assert upgrade(url).after == "0004"
    monkeypatch.setattr(versions, "NEWEST", NEWEST)
    with pytest.raises(
        ramgape.StorageError, match=f"version 0004, made by an older ramgape.* needs {newest_version()}"
    ):
        Study.load("half-way", url)
    assert upgrade(url) == ("0004", newest_version())
    with Study.load("half-way", url) as study:
        assert study.report().to_dict() == shown
        assert [observe_once(study, "a key") for _ in range(2)] == [str(told + 1)] * 2
        study.exchange(lost=study.ask(1, worker="ada"), count=0)
    with Study.load("half-way", url) as study:
        assert study.report().lost == 1
    assert check_store(url).sound


CERTAIN: dict[str, Any] = {"reward_range": (0, 1), "epsilon": 0.5, "seed": 1}


def test_a_certificate_is_shown_as_stored_with_the_version_that_made_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever a later version would say of the same trials; another goal needs another certificate."""
    url = f"sqlite:///{tmp_path / 'studies.db'}"

    def infer_as_then(*arguments: Any) -> ramgape.Result:
        result = infer(*arguments)
        words = None if result.certified is None else replace(result.certified, guarantee="As it was said then.")
        return updated(result, certified=words, guarantee="As it was said then.")

    with monkeypatch.context() as then:
        then.setattr(report, "infer", infer_as_then)
        then.setattr(report, "present_version", lambda: "0.9.9")
        with Study.create("coins", ["bad", "good"], storage=url, **CERTAIN) as study:
            assert study.report().certificate is None
            go_on(study, {"bad": near(0.2, 0.1), "good": near(0.8, 0.1)})
            made = study.report().certificate
    assert made is not None
    assert (made.version, made.certified.guarantee) == ("0.9.9", "As it was said then.")
    with Study.load("coins", url) as study:
        study.observe("bad", 0.9)  # late: it is no part of what was certified
        shown = study.report()
        assert shown.certificate == made
        assert shown.result.certified == made.certified
        assert "As it was said then." in study.result().explain()
        assert f"Certified: by ramgape 0.9.9, {made.made_at[:10]}" in " ".join(str(shown).split())
        again = ramgape.Report.from_dict(shown.to_dict())
        assert (again.certificate, again.result.certified) == (made, made.certified)
        assert study.extend(epsilon=0.05)
        assert study.report().certificate is None
        go_on(study, {"bad": near(0.2, 0.1), "good": near(0.8, 0.1)})
        certificate = study.report().certificate
        assert certificate is not None
        assert certificate.version == report.present_version()
        assert certificate.certified.tolerance["mean(reward)"] <= 0.05


def test_an_answer_that_differs_from_a_certificate_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = f"sqlite:///{tmp_path / 'studies.db'}"
    with monkeypatch.context() as then:
        then.setattr(report, "infer", lambda *arguments: replace(infer(*arguments), answer=("bad",)))
        then.setattr(report, "present_version", lambda: "0.9.9")
        with Study.create("coins", ["bad", "good"], storage=url, **CERTAIN) as study:
            go_on(study, {"bad": near(0.2, 0.1), "good": near(0.8, 0.1)})
    with Study.load("coins", url) as study:
        (warning,) = [each for each in study.result().warnings if "0.9.9" in each]
        assert warning.startswith("ramgape 0.9.9 certified another answer: bad.")
