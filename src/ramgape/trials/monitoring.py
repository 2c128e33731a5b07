"""A search that is watched: where it stands is shown by a thread of its own, and how long it will take by another.

The search itself only hands over what it is asked for, some times a second, so that watching costs it next to nothing
and changes nothing: forecasts are made with a copy, and have random numbers of their own.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import numpy as np

from ramgape.common.terminal import count_runs
from ramgape.core.comparisons import BLOCKER
from ramgape.search.engine import Engine
from ramgape.search.naming import named_answer
from ramgape.search.result import Expectation
from ramgape.trials.progress import Progress, progress_of
from ramgape.trials.progress_words import Standing
from ramgape.trials.remaining import expect_pulls
from ramgape.trials.surfaces import Frame, displayed, time_words

FORECAST_PAUSE = 2.0  # seconds between two forecasts, at least
FORECAST_COST = 20.0  # and so many times as long as the last one took
GROWTH = 1.15  # of the pulls, before another forecast is worth it
LEAST_PULLS = 2  # from whose time that of others is guessed


class Forecaster:
    """How many pulls a search will have made in the end: guessed now and then, and smoothed.

    Two guesses from different moments are one number: the geometric mean of them. What is left is that number less the
    pulls made, so that it agrees with the share that is done, and falls with every pull.
    """

    def __init__(self) -> None:
        self.over = threading.Event()
        self._total: float | None = None
        self._at_least = False
        self._made = 0  # pulls at the last forecast
        self._next = time.monotonic() + FORECAST_PAUSE
        self._thread: threading.Thread | None = None

    def consider(self, engine: Engine) -> None:
        """Begin another forecast if it is time for one."""
        if self._is_due(engine):
            self._made = engine.samples
            guess = threading.Thread(target=self._guess, args=(engine.copy(),), name="ramgape-forecast", daemon=True)
            self._thread = guess
            guess.start()

    def _is_due(self, engine: Engine) -> bool:
        if time.monotonic() < self._next or (self._thread is not None and self._thread.is_alive()):
            return False
        # A rule from outside is the user's to call, and may take its time.
        if engine.spec.goal == "budget" or engine.is_slow or not engine.ready or engine.stopped is not None:
            return False
        return engine.samples >= min(GROWTH * self._made, self._total or 0.0)

    def _guess(self, engine: Engine) -> None:
        begun = time.monotonic()
        with suppress(Exception):  # a display is no reason to fail
            expected = expect_pulls(engine, self.over.is_set)
            if expected is not None:
                self.learn(engine.samples, expected)
        self._next = time.monotonic() + max(FORECAST_PAUSE, FORECAST_COST * (time.monotonic() - begun))

    def learn(self, samples: int, expected: Expectation) -> None:
        """Take in a guess that was made after so many pulls."""
        total = float(samples + expected.pulls)
        if self._total is not None and self._at_least == expected.at_least:
            total = max(total, self._total) if expected.at_least else math.sqrt(total * self._total)
        self._total, self._at_least = total, expected.at_least

    def expected(self, samples: int) -> Expectation | None:
        """How many more pulls after so many; None before the first guess."""
        return None if self._total is None else Expectation(max(round(self._total) - samples, 1), self._at_least)


class ProgressMonitor:
    """Knows where a search stands, for a display that asks in its own time.

    Args:
        waiting: Says what the search waits for, if it does.
    """

    def __init__(self, waiting: Callable[[], str] = str) -> None:
        self.wanted = True  # whether the search is asked where it stands
        self.remark = ""  # what there is to be said before all else
        self._waiting = waiting
        self.forecaster = Forecaster()
        self._standing: Standing | None = None
        self._timed: tuple[float, int] | None = None  # when the pace was first measured, and after how many pulls

    def observe(self, engine: Engine) -> None:
        """Note the state of a search, if a display wants it. Call it after every reward."""
        if self.wanted:
            self.wanted = False
            self._look(engine)

    def note(self, progress: Progress, budget: bool) -> None:
        """The same of a search that is elsewhere: how far it is, and no more."""
        self.wanted = False
        left = Expectation(progress.limit - progress.samples) if budget and progress.spend is None else None
        self._standing = Standing(progress, budget, None, (), left, self._pace(progress.samples))

    def _look(self, engine: Engine) -> None:
        progress, budget, names = progress_of(engine), engine.spec.goal == "budget", engine.spec.names
        answer: tuple[str, ...] | None = None
        pair: tuple[str, ...] = ()
        if engine.ready:
            answer = tuple(name for name, inside in zip(names, named_answer(engine), strict=True) if inside)
            pair = () if budget else tuple(names[arm] for arm in open_pair(engine))
        self.forecaster.consider(engine)
        expected = expect_pulls(engine) if budget else self.forecaster.expected(progress.samples)
        self._standing = Standing(progress, budget, answer, pair, expected, self._pace(progress.samples))

    def _pace(self, samples: int) -> float | None:
        """Seconds that a pull takes, without the first ones, for which much is compiled."""
        if self._standing is None:
            return None
        now = time.monotonic()
        self._timed = begun, made = self._timed or (now, samples)
        return (now - begun) / (samples - made) if samples - made >= LEAST_PULLS else None

    def frame(self, seconds: float) -> Frame | None:
        """What is known, for a display; and the search is asked anew."""
        shown = None if self._standing is None else self._standing.frame(seconds)
        self.wanted = True
        remark = self.remark or self._waiting()
        if remark:
            shown = Frame(None, f"waiting for {time_words(seconds)}") if shown is None else shown
            return shown._replace(second=remark)
        return shown


class monitored(displayed):  # noqa: N801 - read as the verb of a `with`
    """Show the progress of a search; gives its monitor, or None without a display.

    Args:
        progress: As for `displayed`.
        waiting: As for `ProgressMonitor`.
    """

    def __init__(self, progress: bool | None, waiting: Callable[[], str] = str) -> None:
        self._watcher = ProgressMonitor(waiting)
        super().__init__(progress, self._watcher.frame)

    def __enter__(self) -> ProgressMonitor | None:  # type: ignore[override]
        return self._watcher if super().__enter__() else None

    def __exit__(self, *_: object) -> None:
        self._watcher.forecaster.over.set()
        super().__exit__()


@contextmanager
def runs_monitored(
    progress: bool | None, runs: int, waiting: Callable[[], str] = str
) -> Iterator[Callable[[int], object]]:
    """A display of how many searches are finished; gives what to call with the number.

    Args:
        progress: As everywhere.
        runs: How many there are to be.
        waiting: Says for what, if anything, nothing happens.
    """
    finished = [0]

    def frame(seconds: float) -> Frame:
        (count,) = finished
        left = f", {time_words(seconds / count * (runs - count))} left" if count else ""
        why = f"; {waiting()}" if waiting() else ""
        return Frame(count / runs, f"{count_runs(count, runs)} in {time_words(seconds)}{left}{why}")

    with displayed(progress, frame):
        yield lambda count: finished.__setitem__(0, count)


def open_pair(engine: Engine) -> tuple[int, ...]:
    """Of what keeps a search from its end: an arm, and the one that it is compared with if that is another."""
    if engine.unproved is None:
        arm = int(engine.search["leader"][0])
        other = int(engine.arms["rival"][arm])
    else:
        blockers, snapshot = engine.arms["blocker"], int(engine.problem["snapshot"][0])
        later = engine.memory[:, snapshot + BLOCKER] if snapshot >= 0 and engine.search["designations"][0] else blockers
        fewest = min(blockers, later, key=lambda column: np.count_nonzero(column >= 0))
        waiting = np.flatnonzero(fewest >= 0)
        if not len(waiting):
            return ()
        arm, other = int(waiting[0]), int(fewest[waiting[0]])
    return (arm,) if other in (arm, -1) else (arm, other)
