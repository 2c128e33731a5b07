"""Several calls under way: no more than there are slots, no faster than a rate, none for longer than a timeout.

The rate is kept by a plain interval: between the beginnings of two calls, of one that is tried again too, lies at least
its inverse. So no stretch of time has more of them than it allows, and there are no bursts after a rest.

What has ended is handed over in the order in which it began, so that as little as possible depends on who was faster.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import FIRST_COMPLETED, CancelledError, Future, wait
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from ramgape.common.checks import check_number, whole
from ramgape.errors import Retry, known_name, require

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

    def wait(self, calls: Collection[Future[Any]], seconds: float | None) -> None:
        """Until one of the calls has ended, so many seconds have passed, or it is time to look for an interrupt.

        One that comes in the moment before a wait is heard of when that is over, on some systems any one.
        """
        seconds = LONGEST_WAIT if seconds is None else min(seconds, LONGEST_WAIT)
        if calls:
            wait(calls, seconds, FIRST_COMPLETED)
        else:
            time.sleep(seconds)


class Begun(NamedTuple):
    """A call that has begun, and until when it is waited for."""

    asked: Any
    deadline: float | None


class Resting(NamedTuple):
    """A call that is not to begin before its time."""

    due: float
    asked: Any


class Calls(Generic[Asked]):
    """Calls under way, each known by what was asked for.

    Args:
        submit: Begins one.
        slots: How many at once.
        limits: How they may be made.
        cancels: Whether one that has begun is ended when its future is cancelled.
    """

    def __init__(
        self, submit: Callable[[Asked], Future[Any]], slots: int, limits: Limits, *, cancels: bool = False
    ) -> None:
        self._submit, self._slots, self._limits, self._cancels = submit, slots, limits, cancels
        self._begun: dict[Future[Any], Begun] = {}  # in the order of their beginnings
        self._resting: list[Resting] = []
        self._clock = Clock()
        self._next = -np.inf  # nothing begins before

    @property
    def under_way(self) -> list[Asked]:
        """What was asked for and has not been handed over yet."""
        return [*(each.asked for each in list(self._begun.values())), *(each.asked for each in list(self._resting))]

    @property
    def room(self) -> int:
        """How many more may begin at this moment. What has ended is to be handed over first."""
        free = self._slots - len(self._resting) - len(self._begun)
        if self._limits.interval:
            free = min(free, int(self._clock.now() >= self._next))
        return max(free, 0)

    def start(self, asked: Asked, pause: float = 0.0) -> None:
        """Begin a call, or have it rest for so many seconds first."""
        if pause:
            self._resting.append(Resting(self._clock.now() + pause, asked))
            return
        self._next = self._clock.now() + self._limits.interval
        self.adopt(asked, self._submit(asked))

    def adopt(self, asked: Asked, call: Future[Any]) -> None:
        """Take over a call that has begun."""
        timeout = self._limits.timeout
        self._begun[call] = Begun(asked, None if timeout is None else self._clock.now() + timeout)

    def wait(self) -> list[tuple[Asked, Future[Any]]]:
        """Wait until a call has ended; those that have, in the order of their beginnings.

        None have where there was no room and there is now: the next one is due. Where there was some, whoever waits
        wants no more of it.
        """
        full = not self.room
        while True:
            self._wake()
            ended = self.ended()
            if ended or not (self._begun or self._resting or full) or (full and self.room):
                return ended
            moment, now = self._next_moment(full), self._clock.now()
            self._clock.wait(self._begun, None if moment is None else max(moment - now, 0.0))

    def _wake(self) -> None:
        """Begin what has rested, as the rate allows; who was to be first is."""
        for each in sorted(self._resting, key=lambda resting: resting.due):
            if self._clock.now() >= max(each.due, self._next):
                self._resting.remove(each)
                self.start(each.asked)

    def _next_moment(self, full: bool) -> float | None:
        """When something is to be done even if no call ends before."""
        moments = [each.deadline for each in self._begun.values() if each.deadline is not None]
        moments += [max(each.due, self._next) for each in self._resting]
        if full and len(self._begun) + len(self._resting) < self._slots:
            moments.append(self._next)
        return min(moments, default=None)

    def ended(self) -> list[tuple[Asked, Future[Any]]]:
        """The calls that have ended or taken too long, without waiting."""
        found: list[tuple[Asked, Future[Any]]] = []
        for future, (asked, deadline) in list(self._begun.items()):
            if future.done():
                found.append((asked, future))
            elif deadline is not None and self._clock.now() >= deadline:
                future.cancel()
                found.append((asked, self._too_late()))
            else:
                continue
            del self._begun[future]
        return found

    def _too_late(self) -> Future[Any]:
        became = "it was cancelled"
        if not self._cancels:
            became = "nothing can end what runs in a thread, so it may go on: only the waiting has an end"
        late: Future[Any] = Future()
        late.set_exception(TimeoutError(f"a trial took more than {self._limits.timeout:g} s; {became}"))
        return late

    def cancel(self) -> None:
        """Nobody waits any longer for what is under way."""
        self._resting.clear()
        for future in self._begun:
            future.cancel()

    def let_end(self) -> None:
        """Cancel what can be, and wait for the rest: what has begun in a thread goes on to its end."""
        self.cancel()
        while self._begun:
            self.wait()


def error_of(future: Future[Any]) -> BaseException | None:
    """The error in which a call has ended, if it has."""
    return CancelledError("a call was cancelled") if future.cancelled() else future.exception()
