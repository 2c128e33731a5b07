"""How much is too much: the settings of a server, and what counts.

Every limit is a field of `Settings` and an option of `ramgape serve`, of the same name.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from contextlib import asynccontextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from functools import partial
from heapq import nsmallest
from typing import Any, TypeVar

from ramgape.common.checks import as_float
from ramgape.errors import require
from ramgape.web.errors import TooMany

MEGABYTE = 1_000_000
MOST_COUNTED = 10_000  # addresses and tokens that are remembered at once
LOOKS_EACH = 2  # requests of one token or address that look at something at once
SHARE, BURST = 0.1, 2.0  # of a processor, for one token or address while others work; seconds before that counts
AT_WORK = 1.0  # seconds after a request for which its token counts as at work

Clock = Callable[[], float]
Given = TypeVar("Given")


def setting(default: Any, text: str, unit: str | None = None, **more: Any) -> Any:
    """A field that is an option of `ramgape serve`: its default, its help, and the word for its value.

    Args:
        default, text, unit: Of the option.
        **more: `least`, the least value that can be meant; `flag`, the name of the option if the field has another.
    """
    return field(default=default, metadata={"text": text, "unit": unit, **more})


def limit(default: float, least: float, text: str, unit: str) -> Any:
    """A field of `Settings`."""
    return setting(default, text, unit, least=least)


@dataclass(frozen=True)
class Settings:
    """The limits of a server; each field says its meaning in its metadata, for the command as well."""

    max_body: float = limit(8.0, 0.001, "Largest body of a request.", "MB")
    max_import: float = limit(200.0, 0.001, "Largest file that can be imported.", "MB")
    body_timeout: float = limit(30.0, 0.01, "A body must have arrived within so long.", "SECONDS")
    import_timeout: float = limit(600.0, 0.01, "A file to import must have arrived within so long.", "SECONDS")
    header_timeout: float = limit(5.0, 0.01, "A request must have begun and its headers arrived within.", "SECONDS")
    keep_alive: float = limit(75.0, 0.0, "A connection without a request is closed after.", "SECONDS")
    max_requests: float = limit(2000.0, 1.0, "Requests a second, of one token or address.", "COUNT")
    max_streams: float = limit(256.0, 0.0, "Event streams at once; one token may have a quarter.", "COUNT")
    max_connections: float = limit(2000.0, 1.0, "Connections at once; one token may have a quarter.", "COUNT")
    max_logins: float = limit(10.0, 1.0, "Logins that fail, a minute and address.", "COUNT")
    login_minutes: float = limit(10.0, 0.01, "How long a login link is good, for one login.", "MINUTES")
    session_hours: float = limit(168.0, 0.01, "How long a browser stays logged in.", "HOURS")
    grace: float = limit(10.0, 0.0, "When stopped, finish requests in progress within this time.", "SECONDS")

    def __post_init__(self) -> None:
        for each in fields(self):
            value, least = as_float(getattr(self, each.name)), each.metadata["least"]
            require(
                math.isfinite(value) and least <= value <= 1e9,
                each.name.replace("_", "-"),
                f"a number of at least {least:g}",
                getattr(self, each.name),
            )


class Bucket:
    """A token bucket for each key.

    Args:
        rate: How many a second.
        clock: Another clock, for tests.
        burst: How many at once. Default: as many as in one second.
        what: What it counts, for errors.
    """

    def __init__(
        self,
        rate: float,
        clock: Clock = time.monotonic,
        burst: float | None = None,
        what: str = "more than {rate:g} requests a second",
    ) -> None:
        self.rate, self._clock, self._burst, self._what = rate, clock, rate if burst is None else burst, what
        self._levels: dict[str, tuple[float, float]] = {}

    def take(self, key: str) -> None:
        """Count one; an error that says when to come again if that is one too many."""
        self.check(key)
        self.add(key, -1.0)

    def check(self, key: str) -> None:
        """Raise an error if one more would be one too many."""
        if self.is_empty(key):
            message = f"{self._what.format(rate=self.rate, burst=self._burst)}: come again a little later"
            raise TooMany(message, retry_after=(1.0 - self._level(key)) / self.rate)

    def is_empty(self, key: str) -> bool:
        """Whether one more would be one too many."""
        return self._level(key) < 1.0

    def add(self, key: str, amount: float) -> None:
        """Count some less, or more."""
        now = self._clock()
        self._levels[key] = (self._level(key) + amount, now)
        if len(self._levels) > MOST_COUNTED:  # a new key has a full bucket, so the fullest are forgotten
            self._levels = dict(nsmallest(MOST_COUNTED // 2, self._levels.items(), key=lambda item: item[1]))

    def _level(self, key: str) -> float:
        now = self._clock()
        level, then = self._levels.get(key, (self._burst, now))
        return min(self._burst, level + (now - then) * self.rate)


class Account:
    """Seconds of processor time that a request has taken, in the event loop and in other threads."""

    seconds = 0.0


ACCOUNT: ContextVar[Account | None] = ContextVar("ACCOUNT", default=None)  # of the request that is served


def charged(work: Callable[[], Given]) -> Given:
    """Do something in a thread, on the account of the request that asked for it."""
    began = time.thread_time()
    try:
        return work()
    finally:
        account = ACCOUNT.get()
        if account is not None:
            account.seconds += time.thread_time() - began


class Charged:
    """Await a coroutine, and add the processor time of its own steps to an account."""

    def __init__(self, work: Coroutine[Any, Any, None], account: Account) -> None:
        self._work, self._account = work, account

    def __await__(self) -> Generator[Any, Any, None]:
        step: Callable[[], Any] = partial(self._work.send, None)
        while True:
            began = time.thread_time()
            try:
                waits_for = step()
            except StopIteration:
                return
            finally:
                self._account.seconds += time.thread_time() - began
            try:
                step = partial(self._work.send, (yield waits_for))
            except BaseException as error:  # noqa: BLE001 - a cancellation, say, which the coroutine is to know of
                step = partial(self._work.throw, error)


class Shares:
    """Processor time by token or address. One that has used up its share waits, but only while others are at work."""

    def __init__(self, clock: Clock = time.monotonic) -> None:
        self._clock = clock
        self._levels: dict[str, tuple[float, float]] = {}
        self._turns: dict[str, tuple[asyncio.Semaphore, int]] = {}  # and who has it or waits for it
        self._last, self._other = ("", -math.inf), ("", -math.inf)  # who asked last, and who before them

    def note(self, key: str) -> None:
        """Note a request of a token."""
        if key != self._last[0]:
            self._other = self._last
        self._last = key, self._clock()

    def charge(self, key: str, seconds: float) -> None:
        """Note processor time that was used."""
        self._levels[key] = self._level(key) - seconds, self._clock()
        if len(self._levels) > MOST_COUNTED:
            self._levels = {each: pair for each, pair in self._levels.items() if each in self._turns}

    @asynccontextmanager
    async def turn(self, key: str, gone: Callable[[], bool] = lambda: False) -> AsyncIterator[None]:
        """Wait until it is this one's turn.

        Args:
            key: Whose turn.
            gone: Whether the client has closed its connection. Then the wait ends at once, so others can begin.
        """
        turns, waiting = self._turns.get(key) or (asyncio.Semaphore(LOOKS_EACH), 0)
        self._turns[key] = turns, waiting + 1
        try:
            async with turns:
                while (debt := -self._level(key)) > 0.0 and self._clock() - self._others(key) < AT_WORK and not gone():
                    await asyncio.sleep(min(debt / SHARE, AT_WORK))
                yield
        finally:
            turns, waiting = self._turns[key]
            self._turns[key] = turns, waiting - 1
            if waiting == 1:
                del self._turns[key]

    def _level(self, key: str) -> float:
        level, then = self._levels.get(key, (BURST, 0.0))
        return min(BURST, level + SHARE * (self._clock() - then))

    def _others(self, key: str) -> float:
        return self._last[1] if self._last[0] != key else self._other[1]
