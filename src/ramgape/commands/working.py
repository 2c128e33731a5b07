"""A worker: makes trials of a study that others work on, too, with one command for all arms, until there is enough."""

from __future__ import annotations

import math
import os
import platform
import secrets
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal

import numpy as np

from ramgape.commands.placeholders import Command
from ramgape.commands.study_files import OUTCOMES, StudyFile, check_command
from ramgape.commands.trials import CANNOT_START, CommandTrials, Finished, cannot_start
from ramgape.errors import InvalidSpec
from ramgape.search.result import Stopped
from ramgape.studies.exchange import MOST_AT_ONCE, Pull
from ramgape.studies.running import Runner
from ramgape.studies.study import Study
from ramgape.trials.calls import Limits, PendingCalls
from ramgape.trials.choice import engine_of
from ramgape.trials.monitoring import monitored

Reward = Literal["output", "elapsed", "outcomes"]

LONGEST_HOST = 100  # letters


class OneCommand(dict[str, Command]):
    """The same command for every arm, also for those that come later."""

    def __init__(self, command: Command) -> None:
        super().__init__()
        self._command = command

    def __missing__(self, arm: str) -> Command:
        return self._command


class WorkerTrials(CommandTrials):
    """A worker is one of many: a command that fails is for the study to judge, unless it cannot even be started.

    Each trial knows the name of its pull.
    """

    def __init__(self, *known: Any, **more: Any) -> None:
        super().__init__(*known, **more)
        self._thread = threading.local()  # each makes a trial at a time

    def for_pull(self, pull: Pull) -> Any:
        """Make the trial of a pull."""
        self._thread.pull = pull.id
        return self(pull.arm, pull.seed, pull.item)

    def _finish(self, command: Command, words: Mapping[str, str], timeout: float | None) -> Finished:
        return super()._finish(command, {**words, "trial": self._thread.pull, "pull": self._thread.pull}, timeout)

    def _check_command(self, arm: str, finished: Finished, rng: np.random.Generator, item: object) -> None:
        if finished.code in CANNOT_START:
            raise cannot_start(f"arm {arm!r}", finished)


class Worker(Runner):
    """Works on a study until it is done, or so many trials are made, or so many seconds have passed.

    What is under way then is finished; at an interrupt it is ended, and given back.
    """

    def __init__(self, *known: Any, trials: CommandTrials, most: float, seconds: float) -> None:
        super().__init__(*known)
        self.begun = 0
        self.told = self.failures = 0  # trials that gave a reward, and trials that failed
        self._trials = trials
        self._most = most
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> int:
        """How many more trials may begin here."""
        return 0 if time.monotonic() >= self._end else int(min(self._most - self.begun, MOST_AT_ONCE))

    def to_the_end_of_work(self) -> Stopped:
        """Work; returns what ended it."""
        try:
            return self.work()
        except Exception as error:
            self.explain(error)
            raise

    def _exchange(self, count: int) -> Sequence[Pull]:
        told, failed = len(self.untold), len(self.failed)
        pulls = super()._exchange(count)
        self.told, self.failures = self.told + told, self.failures + failed
        return pulls

    def _let_go(self) -> None:
        """End what runs before others may begin the same."""
        self._trials.close()
        told = len(self.untold)
        super()._let_go()
        self.told += told


@contextmanager
def at_work(
    study: Study,
    trials: WorkerTrials,
    workers: int,
    name: str,
    lease: float,
    most: float = math.inf,
    seconds: float = math.inf,
) -> Iterator[Worker]:
    """A worker on a study, whose leases are renewed meanwhile."""
    with engine_of(trials.for_pull, workers) as engine, monitored(None) as monitor:

        def begin(pull: Pull) -> Future[Any]:
            worker.begun += 1
            return engine.start(trials.for_pull, pull)

        limits = Limits()
        calls = PendingCalls(engine, begin, limits)
        worker = Worker(study, calls, limits, name, lease, monitor, None, trials=trials, most=most, seconds=seconds)
        with worker.renewing():
            yield worker


def file_for_worker(words: list[str], study: Study, reward: Reward, timeout: float | None) -> StudyFile:
    """What a worker was told to run, in the current directory: words, or one line for the shell."""
    folder = Path.cwd()
    line: Any = words[0] if len(words) == 1 and words[0].split() != words else list(words)
    command: Command = ()
    for arm in study.arms:
        try:
            command = check_command(arm, line, folder)
        except InvalidSpec as error:
            if "{arm}" not in words[0]:
                error.what = "the command"
            raise
    given: Reward = reward if study.measured is None else OUTCOMES
    return StudyFile(None, study.name, OneCommand(command), given, timeout, folder, None, {})


def own_name() -> str:
    """A name that no other worker has: where it runs, as which part of an array, and a little chance.

    A name that were the same after a restart would bring back what was open, and give two workers of one name the same
    pulls; the first saves at most one lease.
    """
    known = os.environ.get
    array, question, job = (known(f"SLURM_{name}") for name in ("ARRAY_JOB_ID", "ARRAY_TASK_ID", "JOB_ID"))
    batch = f"slurm-{array}-{question}" if array and question else f"slurm-{job}" if job else ""
    host = (known("HOSTNAME") or platform.node() or "worker")[:LONGEST_HOST]
    name = ":".join(filter(None, (batch, host, str(os.getpid()), secrets.token_hex(3))))
    return "".join(letter if letter.isprintable() else "?" for letter in name)
