"""Several outcomes over HTTP: a remote study does what a local one does, and bad bodies are refused in one line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ramgape
from ramgape.errors import RamgapeError
from tests.models import ASKED, MODELS, ask
from tests.servers import open_server


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with open_server(f"sqlite:///{tmp_path_factory.mktemp('server')}/all.db") as address:
        yield address


def create(name: str, address: str, **more: Any) -> ramgape.Study:
    return ramgape.Study.create(name, list(MODELS), storage=address, seed=1, **{**ASKED, **more})


def test_a_remote_study_is_a_local_one(address: str, tmp_path: Path) -> None:
    study = create("one", address)
    result = study.run(ask)
    local = ramgape.Study.create("one", list(MODELS), seed=1, **ASKED)
    assert study.spec.search == local.spec.search
    same = local.run(ask)
    assert (result.answer, result.trials, result.guarantee) == (same.answer, same.trials, same.guarantee)
    columns = ["arm", "accuracy", "cost", "latency", "unasked"]
    assert study.trials_frame()[columns].equals(local.trials_frame()[columns])
    study.export_trials(tmp_path / "remote.csv")
    local.export_trials(tmp_path / "local.csv")
    first = [(tmp_path / f"{name}.csv").read_text().splitlines()[0] for name in ("remote", "local")]
    assert first[0] == first[1]
    again = create("again", address, epsilon=None, budget=result.trials)
    assert again.import_trials(tmp_path / "remote.csv") == result.trials
    assert again.done


def test_answers_and_what_is_refused(address: str) -> None:
    study = create("two", address, objectives=[ramgape.Objective("mean(accuracy)", "max"), "-cost"])
    first, second = study.ask(2)
    told = {"accuracy": 1.0, "cost": 0.01, "latency": np.float64(0.5)}
    assert study.tell(first, told).accepted
    assert study.tell(first, told).accepted
    for bad in ({"accuracy": 1.0}, {**told, "cost": 9.0}, {**told, "accuracy": float("nan")}, 0.5):
        with pytest.raises(RamgapeError) as caught:
            study.tell(second, bad)  # type: ignore[arg-type]
        assert "\n" not in str(caught.value)
    study.observe("tiny", told, info={"note": "by hand"})
    assert study.report().told == 2
    with pytest.raises(RamgapeError, match="epsilon"):
        create("three", address, epsilon={"accuracy": 0.1})


def test_the_plain_interface(address: str) -> None:
    import json
    import urllib.error
    import urllib.request

    create("four", address)

    def post(path: str, body: Any) -> Any:
        asked = urllib.request.Request(
            f"{address}/api/v1{path}", json.dumps(body).encode(), {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(asked) as answer:
            return json.load(answer)

    with urllib.request.urlopen(f"{address}/api/v1/studies?name=four") as answer:
        number = json.load(answer)["studies"][0]["id"]
    pull = post(f"/studies/{number}/ask", {"count": 1})["pulls"][0]
    given = {"pull": pull["id"], "outcomes": {"accuracy": 1, "cost": 0.1, "latency": 1.5}}
    assert post(f"/studies/{number}/tell", {"answers": [given]})["accepted"] == [True]
    for bad in ({**given, "reward": 0.5}, {"pull": pull["id"], "outcomes": {"accuracy": "many"}}):
        with pytest.raises(urllib.error.HTTPError) as caught:
            post(f"/studies/{number}/tell", {"answers": [bad]})
        assert caught.value.code in (400, 422)
        caught.value.close()
    for page in ("", "/picture", "/history", "/observations", "/progress"):
        with urllib.request.urlopen(f"{address}/api/v1/studies/{number}{page}") as answer:
            assert json.load(answer)
