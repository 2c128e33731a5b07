"""Studies whose trials are made on a Ray cluster; they need Ray, which `make test-long` installs."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ramgape import FailingArm, Study, Trials, replicate
from ramgape.trials.on_ray import RayEngine
from tests.cluster_trials import ARMS, Coin, Deadly, broken, coin

OPTIONS: dict[str, Any] = {"reward_range": (0, 1), "budget": 60, "seed": 1, "task": "best"}

pytestmark = [pytest.mark.long, pytest.mark.filterwarnings("default")]


@pytest.fixture(scope="module")
def ray() -> Iterator[Any]:
    """Ray on this machine, with four places."""
    import ray as found

    found.init(num_cpus=4, include_dashboard=False, logging_level="error", log_to_driver=False)
    yield found
    found.shutdown()


def test_a_worker_that_dies_in_mid_trial(ray: Any, tmp_path: Path) -> None:
    undisturbed = Study.create("calm", ARMS, **OPTIONS).run(coin, workers=ray)
    study = Study.create("killed", ARMS, failure="worst", **OPTIONS)
    result = study.run(Deadly(None, tmp_path), workers="ray")
    report = study.report()
    assert (tmp_path / "killed").exists()
    assert (report.told, report.failed, report.lost, report.pending) == (60, 0, 1, 0)
    assert result.front == undisturbed.front == ("good",)


def test_an_arm_that_always_kills_its_worker(ray: Any, tmp_path: Path) -> None:
    """Ray gives every trial a process of its own, so that it takes nobody with it."""
    study = Study.create("deadly", ARMS, retries=1, policy="round-robin", **OPTIONS)
    with pytest.raises(FailingArm, match=r"arm 'poor' has failed 2 times .*WorkerLost: WorkerCrashedError"):
        study.run(Deadly("poor", tmp_path), workers=ray)
    report = study.report()
    assert report.arms_failed["good"] == report.arms_failed["fair"] == 0 < report.arms_failed["poor"]
    worst = Study.create("worst", ARMS, retries=1, failure="worst", **{**OPTIONS, "budget": 20})
    result = worst.run(Deadly("poor", tmp_path), workers=ray)
    assert worst.report().arms_failed == {"good": 0, "fair": 0, "poor": result.arm("poor").pulls}
    assert worst.report().lost == worst.report().failed


def test_ends(ray: Any) -> None:
    """By a callback, by a timeout, by an error of a trial, after which nothing runs."""
    study = Study.create("ended", ARMS, **OPTIONS)
    result = study.run(Coin(0.1), workers=ray, callback=lambda progress: progress.samples >= 6)
    assert (result.stopped, study.report().failed, study.report().lost) == ("callback", 0, 0)
    slow = Study.create("slow", ARMS, failure="worst", **{**OPTIONS, "budget": 6})
    slow.run(Coin(300.0), workers=ray, trials=Trials(timeout=3))
    assert slow.report().reasons[0][1] == "TimeoutError: a trial took more than 3 s; it was cancelled"
    failing = Study.create("failing", ARMS, retries=0, **OPTIONS)
    with pytest.raises(FailingArm, match="LookupError: no good here"):
        failing.run(broken, workers=ray)


def test_slots(ray: Any) -> None:
    for resources, slots, waiting in [
        ({}, 4, ""),
        ({"CPU": 2.0}, 2, ""),
        ({"GPU": 1.0}, 1, "the Ray cluster has no room for CPU=1, GPU=1 yet"),
    ]:
        engine = RayEngine(ray, None, resources)
        assert (engine.slots(), engine.waiting) == (slots, waiting)
        engine.close()


def test_replications(ray: Any) -> None:
    """The same runs as in this process."""
    search: dict[str, Any] = {"instance": "paper:46", "epsilon": 0.06, "runs": 40, "progress": False}
    here, there = replicate(**search), replicate(executor=ray, **search)
    for column in ("seed", "samples", "regret", "pulls"):
        assert np.array_equal(here.runs.table[column], there.runs.table[column])
