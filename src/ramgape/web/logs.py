"""What a server says of itself, on stderr: a line for each request and each event, plain or as JSON.

No token, code, cookie, query, body or unknown path is ever written. A route is written as its template, a study by its
number, a token by its name.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, TextIO

from ramgape.errors import LONGEST_MESSAGE as LONGEST
from ramgape.errors import known_name, printable
from ramgape.storage.urls import shown_in

LEVELS = {"debug": 10, "info": 20, "warning": 30, "error": 40}
FORMATS = ("plain", "json")
ROUTINE = {"/healthz", "/looks", "/metrics", "/static"}  # many, and of no interest
REFUSED = {401, 403, 408, 413, 421, 429}  # which may be an attack, and are worth a look


class Log:
    """Where lines go."""

    def __init__(self, form: str = "plain", level: str = "info", stream: TextIO | None = None) -> None:
        """As `--log-format` and `--log-level` say.

        Args:
            form: One of `FORMATS`.
            level: Of `LEVELS`, the least that is written.
            stream: Where to, instead of stderr.
        """
        self._json = known_name(form, FORMATS, "log-format") == "json"
        self._least = LEVELS[known_name(level, LEVELS, "log-level")]
        self._stream = stream

    def write(self, level: str, event: str, **facts: Any) -> None:
        """One line."""
        if LEVELS[level] < self._least:
            return
        moment = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        known = {name: value for name, value in facts.items() if value is not None}
        if self._json:
            line = json.dumps({"time": moment, "level": level, "event": _shown(event), **known})
        else:
            said = [f"{name}={_quoted(value) if isinstance(value, str) else value}" for name, value in known.items()]
            line = " ".join((moment, level, _shown(event), *said))
        stream = self._stream or sys.stderr
        stream.write(f"{line}\n")
        stream.flush()

    def request(self, method: str, route: str, status: int, seconds: float, **facts: Any) -> None:
        """A request that is over."""
        if status >= 500:
            level = "error"
        elif status in REFUSED:
            level = "warning"
        else:
            level = "debug" if route in ROUTINE and status < 400 else "info"
        if LEVELS[level] >= self._least:
            self.write(
                level, "request", method=method, route=route, status=status, ms=round(1000.0 * seconds, 2), **facts
            )


@lru_cache(1024)  # the same few words stand in many lines
def _shown(text: str) -> str:
    """A text on its line, without a password of a store in it."""
    return printable(shown_in(text))


@lru_cache(1024)
def _quoted(text: str) -> str:
    """A value on its line, in quotes if it has blanks."""
    shown = _shown(text)
    return shown if shown and " " not in shown and '"' not in shown else json.dumps(shown, ensure_ascii=False)


class ToLog(logging.Handler):
    """What the machinery below says (a request that is no HTTP, a failure with its traceback), as lines of ours."""

    def __init__(self, log: Log) -> None:
        super().__init__(logging.WARNING)
        self._log = log

    def emit(self, record: logging.LogRecord) -> None:
        """One of its records."""
        level = record.levelname.lower()
        trace = logging.Formatter().formatException(record.exc_info) if record.exc_info else None
        facts = {"traceback": shown_in(trace)} if trace else {}
        self._log.write(level if level in LEVELS else "error", record.getMessage()[:LONGEST], **facts)
