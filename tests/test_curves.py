"""Curves of many runs: they say what each run would have answered, whatever the task, and change nothing."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure

import ramgape
from ramgape import Arm, Beta, InvalidSpec, Replication, Run, replicate
from ramgape.search.engine import Engine
from ramgape.search.naming import named_answer
from ramgape.simulation.runs import Runs
from ramgape.simulation.simulation import simulated_spec
from ramgape.simulation.truth import TrueArms
from ramgape.statistics.proportions import clopper_pearson
from tests.cli_support import call, call_json, complaint

POINTS = [15, 40, 200, 900]
SMALL = ramgape.Instance(
    "small",
    (Arm("a", Beta(4.0, 2.0)), Arm("b", Beta(0.6, 0.4)), Arm("c", Beta(9.0, 6.0)), Arm("d", Beta(1.0, 3.0))),
    reward_range=(0.0, 1.0),
    noise="bounded",
)
QUESTIONS = ["pareto", "best", "best:max-risk=0.3", "better-than:control=c", "least-risk:min-mean=0.4"]


def without_time(runs: Runs) -> list[Run]:
    return [replace(run, seconds=0.0) for run in runs]


@pytest.mark.parametrize("task", QUESTIONS)
def test_a_point_is_what_searches_of_that_length_answer(task: str) -> None:
    """By ask and tell, with the task's own regret: by gaps, as in a trace, it is another one for ceilings."""
    options: dict[str, Any] = {"budget": 900, "task": task, "risk": "std", "policy": "round-robin"}
    found = replicate(SMALL, runs=4, seed=3, checkpoints=POINTS, **options)
    spec = simulated_spec(SMALL, **options)
    true = TrueArms(SMALL, spec)
    regrets: dict[int, list[float]] = {pulls: [] for pulls in POINTS}
    for seed in range(3, 7):
        engine, generator = Engine(spec, seed), np.random.default_rng(seed)
        while (arm := engine.ask()) is not None:
            engine.tell(arm, SMALL.draw(arm, generator))
            if engine.samples in regrets:
                regrets[engine.samples].append(true.assess(named_answer(engine), engine.spec.epsilon).regret)
    assert [point.pulls for point in found.curves] == POINTS
    for point in found.curves:
        assert point.regret == pytest.approx(np.mean(regrets[point.pulls]), abs=1e-12)
        assert point.regret_stderr == pytest.approx(np.std(regrets[point.pulls], ddof=1) / 2.0, abs=1e-12)
    assert found.curves[-1].regret == pytest.approx(np.mean([run.regret for run in found.runs]))


@pytest.mark.parametrize("options", [{"budget": 700}, {"epsilon": 0.08}, {"epsilon": 0.08, "interleave": True}])
def test_they_change_nothing_and_end_with_the_answers(options: dict[str, Any]) -> None:
    plain, watched = (replicate("paper:46", runs=6, checkpoints=each, **options) for each in (None, 8))
    assert without_time(watched.runs) == without_time(plain.runs)
    assert plain.curves == ()
    first, last = watched.curves[0], watched.curves[-1]
    assert 2 <= len(watched.curves) <= 8
    assert (last.runs, last.ended, last.wrong) == (6, 6, watched.errors)
    assert last.pulls >= max(run.samples for run in watched.runs)
    assert last.error_interval == watched.error_interval == clopper_pearson(watched.errors, 6)
    assert first.ended == 0


def test_before_the_first_answers_nothing_is_said() -> None:
    found = replicate("paper:46", runs=3, budget=100, checkpoints=[5, 50, 1000])
    assert [(point.runs, point.ended) for point in found.curves] == [(0, 0), (3, 0), (3, 3)]
    assert math.isnan(found.curves[0].regret)
    assert "after 5 pulls no answer yet" in " ".join(str(found).split())
    again = Replication.from_dict(json.loads(found.to_json()))
    assert again.curves[1:] == found.curves[1:]
    assert found.to_dict()["curves"][0]["regret"] is None


@pytest.mark.parametrize("given", [0, 1, True, 2.5, "20", [], [0, 5], [5, 5], [5, 2], [1.5], 0.1])
def test_checkpoints_that_are_none(given: Any) -> None:
    with pytest.raises(InvalidSpec, match="checkpoints must be a whole number of at least 2, or whole numbers"):
        replicate("paper:46", runs=2, budget=100, checkpoints=given)


def test_processes_give_the_same_curves() -> None:
    class AtOnce:
        def submit(self, function: Any, *arguments: Any) -> Any:
            from concurrent.futures import Future

            future: Future[Any] = Future()
            future.set_result(function(*arguments))
            return future

    options: dict[str, Any] = {"runs": 5, "budget": 300, "checkpoints": [50, 300]}
    assert replicate("paper:46", executor=AtOnce(), **options).curves == replicate("paper:46", **options).curves  # type: ignore[arg-type]


def test_frames_and_pictures() -> None:
    found = replicate("paper:46", runs=5, epsilon=0.08, checkpoints=6)
    frame = found.curves_frame()
    assert frame["pulls"].tolist() == [point.pulls for point in found.curves]
    assert found.to_frame()["wrong"].tolist() == [not run.eps_correct for run in found.runs]
    drawn: Any = found.plot()
    assert isinstance(drawn.figure, Figure)
    labels = [axes.get_ylabel() for axes in drawn.figure.axes]
    assert labels[0] == "Runs at or below"
    assert labels[2] == "Mean regret (2 standard errors)"
    assert labels[1] == labels[3] == "Wrong answers (95 % interval)"
    (line,) = drawn.figure.axes[2].lines
    assert list(line.get_ydata()) == [point.regret for point in found.curves]
    assert len(replace(found, curves=()).plot().figure.axes) == 2


def test_the_command(tmp_path: Path) -> None:
    command = ("simulate", "paper:46", "--budget", "300", "--runs", "4", "--checkpoints")
    printed = call_json(*command, "5", "--json")["curves"]
    assert [point["pulls"] for point in printed] == np.geomspace(20, 300, 5).round().astype(int).tolist()
    assert printed[-1]["ended"] == 4
    assert [point["pulls"] for point in call_json(*command, "50,1e2", "--json")["curves"]] == [50, 100]
    assert "Curves" in call(*command, "50,100").stdout
    assert "checkpoints must be" in complaint(*command, "0")
