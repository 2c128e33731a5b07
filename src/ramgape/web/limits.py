"""How much is too much: the settings of a server, and what counts.

Every limit is a field of `Settings` and an option of `ramgape serve`, of the same name.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any

from ramgape.common.checks import as_float
from ramgape.errors import require
from ramgape.web.errors import TooMany

MEGABYTE = 1_000_000
MOST_COUNTED = 10_000  # addresses and tokens that are remembered at once

Clock = Callable[[], float]


def setting(default: float, least: float, text: str, unit: str) -> Any:
    """A field of `Settings`: its default, the least that can be meant, and what it says."""
    return field(default=default, metadata={"least": least, "text": text, "unit": unit})


@dataclass(frozen=True)
class Settings:
    """The limits of a server; each field says its meaning in its metadata, for the command as well."""

    max_body: float = setting(8.0, 0.001, "Largest body of a request.", "MB")
    max_import: float = setting(200.0, 0.001, "Largest file that can be imported.", "MB")
    body_timeout: float = setting(30.0, 0.01, "A body must have arrived within so long.", "SECONDS")
    import_timeout: float = setting(600.0, 0.01, "A file to import must have arrived within so long.", "SECONDS")
    header_timeout: float = setting(10.0, 0.01, "A request must have begun and its headers arrived within.", "SECONDS")
    keep_alive: float = setting(75.0, 0.0, "A connection without a request is closed after.", "SECONDS")
    max_requests: float = setting(2000.0, 1.0, "Requests a second, of one token or address.", "COUNT")
    max_streams: float = setting(256.0, 0.0, "Event streams (pages that are open) at once.", "COUNT")
    max_connections: float = setting(2000.0, 1.0, "Connections at once; more are answered 503.", "COUNT")
    max_logins: float = setting(10.0, 1.0, "Logins that fail, a minute and address.", "COUNT")
    login_minutes: float = setting(10.0, 0.01, "How long a login link is good, for one login.", "MINUTES")
    session_hours: float = setting(168.0, 0.01, "How long a browser stays logged in.", "HOURS")
    grace: float = setting(10.0, 0.0, "When stopped, it finishes what is under way, for at most.", "SECONDS")

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
    """So many a second for each key, and as many at once as fit into one second."""

    def __init__(self, rate: float, clock: Clock = time.monotonic) -> None:
        self.rate, self._clock = rate, clock
        self._levels: dict[str, tuple[float, float]] = {}

    def take(self, key: str) -> None:
        """Count one; an error that says when to come again if that is one too many."""
        now = self._clock()
        level, then = self._levels.get(key, (self.rate, now))
        level = min(self.rate, level + (now - then) * self.rate)
        if level < 1.0:
            self._levels[key] = (level, now)
            message = f"more than {self.rate:g} requests a second: come again a little later"
            raise TooMany(message, retry_after=(1.0 - level) / self.rate)
        self._levels[key] = (level - 1.0, now)
        if len(self._levels) > MOST_COUNTED:  # whoever was not here for a second has a full bucket, as the others have
            self._levels = {key: pair for key, pair in self._levels.items() if now - pair[1] < 1.0}


class Failures:
    """How often something failed in the last minute, by address; too often, and it is not even tried."""

    def __init__(self, most: float, clock: Clock = time.monotonic) -> None:
        self._most, self._clock = most, clock
        self._moments: dict[str, list[float]] = {}

    def check(self, key: str) -> None:
        """An error after too many failures, until the first of them is a minute ago."""
        now = self._clock()
        recent = [moment for moment in self._moments.get(key, ()) if now - moment < 60.0]
        if len(recent) >= self._most:
            message = f"{len(recent)} logins have failed within a minute: come again a little later"
            raise TooMany(message, retry_after=60.0 - (now - recent[0]))
        if recent:
            self._moments[key] = recent
        else:
            self._moments.pop(key, None)

    def note(self, key: str) -> None:
        """One more."""
        if len(self._moments) >= MOST_COUNTED:  # an attack from everywhere: the oldest go
            del self._moments[next(iter(self._moments))]
        self._moments.setdefault(key, []).append(self._clock())
