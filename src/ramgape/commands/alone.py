"""One command alone: run until its mean is known well enough.

There is nothing to choose, so no search: runs go on until the interval of the mean is as narrow as was asked for, or a
comparison with a baseline is decided. The interval is anytime-valid, so that it may decide when to stop.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from ramgape.commands.times import FIRST_RUNS, TimedRun, Times, times_of
from ramgape.commands.trials import CommandTrials
from ramgape.errors import FailedTrial
from ramgape.search.outcome import outcome_of

USUAL_TIME = 3.0  # seconds of runs of a command, if they are at least `FIRST_RUNS`: as hyperfine has it
PATIENCE = 1.1  # the interval is computed when there are so many times as many runs


@dataclass(frozen=True, slots=True)
class Limits:
    """When runs end.

    Attributes:
        least: Runs of each command before anything else may end them.
        most: Runs of each command, on average over all of them; None: those of hyperfine (see `usual_runs`).
        seconds: By the clock, from the first run on.
    """

    least: int = FIRST_RUNS
    most: float | None = None
    seconds: float = math.inf
    begun: float = field(default_factory=time.monotonic)

    def ended(self, times: dict[str, list[float]]) -> str:
        """What has ended the runs of these commands: "" for nothing."""
        if time.monotonic() - self.begun >= self.seconds:
            return "time"
        if any(len(runs) < self.least for runs in times.values()):
            return ""
        most = self.most
        made = sum(map(len, times.values()))
        allowed = sum(map(usual_runs, times.values())) if most is None else most * len(times)
        return "runs" if made >= allowed else ""


def usual_runs(times: list[float]) -> float:
    """How many runs hyperfine would make of a command: 3 seconds of them, and at least 10.

    >>> usual_runs([0.5]), usual_runs([0.01])
    (10.0, 300.0)
    """
    mean = sum(times) / len(times)
    return max(float(FIRST_RUNS), USUAL_TIME / mean if mean > 0.0 else math.inf)


def time_alone(
    trials: CommandTrials,
    name: str,
    seed: int,
    limits: Limits,
    enough: Callable[[Times], bool],
    heard: Callable[[list[float]], object],
) -> tuple[list[TimedRun], str]:
    """The runs of a command, and what ended them: "enough", "time", "runs" or "interrupted"."""
    runs: list[TimedRun] = []
    seconds: list[float] = []
    check = float(limits.least)
    while True:
        try:
            runs.append(_run(trials, name, seed + len(runs)))
        except KeyboardInterrupt:
            return runs, "interrupted"
        seconds.append(runs[-1].reward)
        heard(seconds)
        if ended := limits.ended({name: seconds}):
            return runs, ended
        if len(runs) >= check:
            if enough(times_of(name, runs, {})):
                return runs, "enough"
            check = max(len(runs) + 1.0, PATIENCE * len(runs))


def _run(trials: CommandTrials, name: str, seed: int) -> TimedRun:
    try:
        outcome = outcome_of(trials(name, seed))
    except FailedTrial:
        if trials.timeout is None:
            raise
        return TimedRun(trials.timeout, None, failed=True)
    return TimedRun(outcome.reward, json.dumps(outcome.info))
