"""Workers as a batch system starts them: processes of `ramgape study work` that come and are killed at random."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from ramgape import Study
from tests.accounting import Audit, audit_study
from tests.cli_support import NO_SIGNALS, environment
from tests.study_processes import ARMS, SHAPES

# The reward of a pull as `reward_of` has it, and a line that it was made: by a program that knows nothing of us.
TRIAL = f"""\
import random, sys, time
arm, seed, pull = sys.argv[1:]
time.sleep(0.02)
with open("made.txt", "a") as made:
    made.write(pull + "\\n")
print(random.Random(int(seed)).betavariate(*{SHAPES}[arm]))
"""
OPTIONS: dict[str, Any] = {"reward_range": (0, 1), "seed": 4}
LONG = 300.0  # seconds that nobody waits for

pytestmark = NO_SIGNALS


class Crew:
    """So many workers, each of which is replaced when it has ended."""

    def __init__(self, size: int, url: str, folder: Path) -> None:
        self.folder = folder
        self.command = [sys.executable, "-m", "ramgape", "study", "work", "batch", "--lease", "1.5", "--json"]
        self.command += ["--", sys.executable, "-I", "-S", "trial.py", "{arm}", "{seed}", "{pull}"]
        self.environment = environment(RAMGAPE_STORAGE=url)
        self.ends: list[int] = []
        self.workers = [self.start() for _ in range(size)]

    def start(self) -> subprocess.Popen[bytes]:
        quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        return subprocess.Popen(self.command, cwd=self.folder, env=self.environment, **quiet)

    def kill_one(self, dice: random.Random, number: signal.Signals, *, replace: bool) -> None:
        """As a batch system does: with a word before, or without."""
        worker = self.workers.pop(dice.randrange(len(self.workers)))
        worker.send_signal(number)
        self.ends.append(worker.wait(LONG))
        if replace:
            self.workers.append(self.start())

    def finish(self) -> None:
        """Those that are left end by themselves when the study is done."""
        self.ends += [worker.wait(LONG) for worker in self.workers]


def test_workers_are_started_and_killed(tmp_path: Path) -> None:
    check_crew(3, 2, 40, f"sqlite:///{tmp_path / 'studies.db'}", tmp_path)


@pytest.mark.long
def test_ten_workers_are_started_and_killed(url: str, tmp_path: Path) -> None:
    check_crew(10, 40, 1500, url, tmp_path)


def check_crew(size: int, kills: int, budget: int, url: str, tmp_path: Path) -> None:
    """The accounts are right: every reward is that of its pull, none counts twice, and nothing has failed."""
    dice = random.Random(size)
    options = {**OPTIONS, "budget": budget}
    (tmp_path / "trial.py").write_text(TRIAL)
    with Study.create("batch", ARMS, storage=url, **options) as study:
        crew = Crew(size, url, tmp_path)
        made = tmp_path / "made.txt"
        for number in range(1, kills + 1):
            while not study.done and (
                not made.exists() or made.read_text().count("\n") < number * budget // (2 * kills)
            ):
                time.sleep(0.02)
            time.sleep(dice.uniform(0.0, 0.05))
            crew.kill_one(dice, (signal.SIGKILL, signal.SIGTERM)[number % 2], replace=number < kills)
        crew.finish()
        assert set(crew.ends) <= {0, -signal.SIGKILL, 128 + signal.SIGTERM, -signal.SIGTERM}
        assert crew.ends.count(0) >= size - 1
        report = study.report(expect=False)
        assert (report.done, report.told, report.failed, report.given_up) == (True, budget, 0, 0)
        audit = Audit()
        audit_study(study, options, [], audit)
        assert audit.faults == []
        told = {seen.row.pull for seen in study.backend.observations()}
        lines = made.read_text().splitlines()
        assert told <= set(lines)
        assert len(lines) >= budget
