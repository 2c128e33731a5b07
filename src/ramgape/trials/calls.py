"""Several calls under way: no more than there are slots, no faster than a rate, none for longer than a timeout.

The rate is kept by a plain interval: between the beginnings of two calls, of one that is tried again too, lies at least
its inverse. So no stretch of time has more of them than it allows, and there are no bursts after a rest.

What has ended is handed over in the order in which it began, so that as little as possible depends on who was faster.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from ramgape.common.checks import check_number, whole
from ramgape.errors import Retry, known_name, require
from ramgape.trials.backend import TrialEngine

SECONDS = {"s": 1.0, "min": 60.0, "h": 3600.0}  # in which a rate may be stated
LONGEST_WAIT = 1.0  # seconds at once
LONGEST_TIMEOUT = 4_000_000.0  # seconds, 46 days: more than some systems can wait for at once
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 60.0  # seconds before a call is tried again, the first time and ever
DOUBLINGS = 10  # more than there are between the two

Asked = TypeVar("Asked")


@dataclass(frozen=True, slots=True)
class Limits:
    """How calls may be made.

    Attributes:
        interval: Seconds between the beginnings of two of them.
        timeout: Seconds after which one is no longer waited for; None: never.
        retry_on: The exceptions after which it is tried again, beside `Retry`.
        retries: How often.
    """

    interval: float = 0.0
    timeout: float | None = None
    retry_on: tuple[type[Exception], ...] = ()
    retries: int = 0

    @property
    def is_plain(self) -> bool:
        """Whether one call after the other may be made as it comes."""
        return not (self.interval or self.timeout is not None or self.retry_on)

    def pause_after(self, error: BaseException, tries: int, *seed: int) -> float | None:
        """Seconds until a call is tried again that has failed, after so many tries before; None: it is not.

        What the error says, or growing pauses, by a random factor from one half to 1, so that calls which failed
        together do not come back together.

        >>> limits = Limits(retry_on=(OSError,), retries=2)
        >>> [limits.pause_after(OSError(), tries, 7) for tries in range(3)]
        [0.8..., 1.7..., None]
        """
        if tries >= self.retries or not isinstance(error, (Retry, *self.retry_on)):
            return None
        if isinstance(error, Retry) and error.after is not None:
            return error.after
        longest = min(FIRST_PAUSE * 2.0 ** min(tries, DOUBLINGS), LONGEST_PAUSE)
        return longest * (0.5 + 0.5 * np.random.default_rng([*seed, tries]).random())


def make_limits(asked: Mapping[str, Any], retries: int) -> Limits:
    """The limits among the options of a door, checked."""
    timeout, retry_on = asked["timeout"], asked["retry_on"]
    timeout = None if timeout is None else check_timeout(timeout)
    kinds = retry_on if isinstance(retry_on, tuple | list) else () if retry_on is None else (retry_on,)
    usable = all(isinstance(kind, type) and issubclass(kind, Exception) for kind in kinds)
    require(usable, "retry_on", "an exception, or several in a tuple: (TimeoutError, ConnectionError)", retry_on)
    retries = whole(retries, "retries", "a whole number of at least 0", 0)
    return Limits(interval_of(asked["rate"]), timeout, tuple(kinds), retries)


def check_timeout(timeout: object) -> float:
    """Seconds that a trial may take."""
    allowed = f"a number of seconds above 0, at most {LONGEST_TIMEOUT:,.0f}"
    return check_number(timeout, "timeout", allowed, lambda seconds: 0.0 < seconds <= LONGEST_TIMEOUT)


def interval_of(rate: object) -> float:
    """Seconds between two beginnings, from a rate: "60/min", or a number per second; 0 where there is none.

    >>> interval_of("60/min"), interval_of("5 / s"), interval_of("1000/h"), interval_of(4)
    (1.0, 0.2, 3.6, 0.25)
    """
    if rate is None:
        return 0.0
    allowed = 'a number above 0 per second, or text such as "60/min", "5/s" or "1000/h"'
    number, unit = rate, "s"
    if isinstance(rate, str):
        text, _, unit = (part.strip() for part in rate.partition("/"))
        known_name(unit, SECONDS, f"the unit of rate {rate!r}")
        try:
            number = float(text)
        except ValueError:
            require(False, "rate", allowed, rate)
    return SECONDS[unit] / check_number(number, "rate", allowed, lambda value: value > 0.0)


class Clock:
    """What time it is, and waiting for a call or for a while."""

    def now(self) -> float:
        """Seconds since some moment."""
        return time.monotonic()

    def wait(self, engine: TrialEngine, busy: bool, seconds: float | None) -> list[Future[Any]]:
        """Until a call has ended, so many seconds have passed, or it is time to look for an interrupt.

        One that comes in the moment before a wait is heard of when that is over, on some systems any one.

        Args:
            engine: What makes the calls.
            busy: Whether there are any.
            seconds: For how long at most.
        """
        return engine.wait(LONGEST_WAIT if seconds is None else min(seconds, LONGEST_WAIT))


class Begun(NamedTuple):
    """A call in progress: its number in the order of beginning, and its deadline."""

    asked: Any
    number: int
    deadline: float


class Delayed(NamedTuple):
    """A call that must not begin before its time."""

    due: float
    asked: Any


ASKED = attrgetter("asked")


class PendingCalls(Generic[Asked]):
    """Calls in progress, by what was asked for.

    Args:
        engine: What makes them.
        begin: Begins one there.
        limits: How they may be made.
    """

    def __init__(self, engine: TrialEngine, begin: Callable[[Asked], Future[Any]], limits: Limits) -> None:
        self._engine, self._begin, self._limits = engine, begin, limits
        self._begun: dict[Future[Any], Begun] = {}  # in the order of their deadlines
        self._delayed: list[Delayed] = []
        self._clock = Clock()
        self._next = -np.inf  # nothing begins before
        self._count = 0

    @property
    def in_progress(self) -> list[Asked]:
        """What was asked for and is not handed over yet."""
        return [*map(ASKED, list(self._begun.values())), *map(ASKED, list(self._delayed))]

    @property
    def now(self) -> float:
        """What time it is, for `wait`."""
        return self._clock.now()

    @property
    def busy(self) -> bool:
        """Whether any call is in progress."""
        return bool(self._begun or self._delayed)

    @property
    def free(self) -> int:
        """How many more calls may begin now. Hand over those that have ended first."""
        free = self._engine.slots() - len(self._delayed) - len(self._begun)
        if self._limits.interval:
            free = min(free, int(self._clock.now() >= self._next))
        return max(free, 0)

    def start(self, asked: Asked, pause: float = 0.0) -> None:
        """Begin a call, perhaps after a pause in seconds."""
        if pause:
            self._delayed.append(Delayed(self._clock.now() + pause, asked))
            return
        self._next = self._clock.now() + self._limits.interval
        self.adopt(asked, self._begin(asked))

    def adopt(self, asked: Asked, call: Future[Any]) -> None:
        """Take over a call that has begun."""
        self._count += 1
        self._begun[call] = Begun(asked, self._count, self._deadline())

    def _deadline(self) -> float:
        timeout = self._limits.timeout
        return np.inf if timeout is None else self._clock.now() + timeout

    def wait(self, until: float = np.inf) -> list[tuple[Asked, Future[Any]]]:
        """Wait until a call has ended; those that have, in the order of their beginnings.

        Returns none if the next call may begin, if the moment `until` has come, or if no call is in progress and none
        may begin soon.
        """
        full = not self.free
        while True:
            self._wake()
            ended = self.ended()
            if ended or not (self.busy or full) or (full and self.free) or self._clock.now() >= until:
                return ended
            moment = min(self._next_moment(full), until)
            seconds = None if moment == np.inf else max(moment - self._clock.now(), 0.0)
            ended = self._hand_over(self._clock.wait(self._engine, bool(self._begun), seconds))
            if ended or not (self.busy or (full and self._engine.slots())):
                return ended

    def _wake(self) -> None:
        """Begin delayed calls as the rate allows, the earliest first."""
        for each in sorted(self._delayed, key=lambda delayed: delayed.due):
            if self._clock.now() >= max(each.due, self._next):
                self._delayed.remove(each)
                self.start(each.asked)

    def _next_moment(self, full: bool) -> float:
        """When something is to be done even if no call ends before."""
        moments = [max(each.due, self._next) for each in self._delayed]
        if self._begun:
            moments.append(next(iter(self._begun.values())).deadline)
        if full and len(self._begun) + len(self._delayed) < self._engine.slots():
            moments.append(self._next)
        return min(moments, default=np.inf)

    def ended(self) -> list[tuple[Asked, Future[Any]]]:
        """The calls that have ended or taken too long, without waiting."""
        return self._hand_over(self._engine.wait(0.0))

    def _hand_over(self, calls: Iterable[Future[Any]]) -> list[tuple[Asked, Future[Any]]]:
        found = [(self._begun.pop(call), call) for call in calls if call in self._begun]
        found += self._too_late()
        return [(begun.asked, call) for begun, call in sorted(found, key=lambda each: each[0].number)]

    def _too_late(self) -> Iterator[tuple[Begun, Future[Any]]]:
        """The calls that have taken too long, and no longer count as such; others of them only begin now."""
        if self._limits.timeout is None:
            return
        now = self._clock.now()
        for call, begun in list(self._begun.items()):
            if begun.deadline > now:
                return
            del self._begun[call]
            if self._engine.is_held(call):
                self._begun[call] = begun._replace(deadline=self._deadline())
                continue
            self._engine.abandon(call)
            became = "it was cancelled"
            if not self._engine.cancels:
                became = "nothing can end what runs in a thread, so it may go on: only the waiting has an end"
            late: Future[Any] = Future()
            late.set_exception(TimeoutError(f"a trial took more than {self._limits.timeout:g} s; {became}"))
            yield begun, late

    def drop_delayed(self) -> None:
        """Drop the calls that have not begun."""
        self._delayed.clear()

    def cancel(self) -> None:
        """Cancel all calls."""
        self.drop_delayed()
        self._engine.cancel(list(self._begun))

    def let_end(self) -> None:
        """Cancel what can be, and wait for the rest: what has begun in a thread goes on to its end."""
        self.cancel()
        while self._begun:
            self.wait()


def error_of(future: Future[Any]) -> BaseException | None:
    """The error in which a call has ended, if it has."""
    return CancelledError("a call was cancelled") if future.cancelled() else future.exception()
