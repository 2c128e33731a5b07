"""A measurement, a row of the report, and two things timed in turn.

On a shared machine two moments are not alike, but two neighbouring moments nearly are. So whatever is compared takes
turns in slices of some milliseconds, a ratio is made of the sums over many such turns, and that is repeated. A row
shows the median of the repetitions, and the least and the greatest of them.

Times inside one process are processor time of this thread, which does not run while another process has the core.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

# Some systems count processor time in steps of 16 ms.
clock = time.thread_time if time.get_clock_info("thread_time").resolution <= 1e-6 else time.perf_counter


class Spread(NamedTuple):
    """The median of several repetitions, the least and the greatest."""

    value: float
    low: float
    high: float

    @staticmethod
    def of(values: Sequence[float]) -> Spread:
        return Spread(statistics.median(values), min(values), max(values))


class Row(NamedTuple):
    """One line of the report; what it compares with, if anything, and numbers that are told in JSON only."""

    group: str
    what: str
    unit: str
    spread: Spread
    target: float | None = None
    goal: float | None = None
    better: Literal["less", "more"] = "less"
    details: dict[str, Any] = {}  # noqa: RUF012 - nobody writes into it

    def reaches(self, wanted: float | None) -> bool | None:
        """Whether the median is good enough; None if nothing was asked."""
        if wanted is None:
            return None
        return self.spread.value <= wanted if self.better == "less" else self.spread.value >= wanted

    def to_dict(self) -> dict[str, Any]:
        return {
            "group": self.group,
            "what": self.what,
            "unit": self.unit,
            "better": self.better,
            "value": self.spread.value,
            "low": self.spread.low,
            "high": self.spread.high,
            "target": self.target,
            "goal": self.goal,
            "met": self.reaches(self.target),
            "goal_met": self.reaches(self.goal),
            "details": self.details,
        }


class Case(NamedTuple):
    """A measurement that is still to be made; it may take seconds and yields one or more rows."""

    name: str
    measure: Callable[[], Iterable[Row]]


class Turns(NamedTuple):
    """What two rivals needed, turn by turn, for one unit of work each: seconds."""

    first: list[float]
    second: list[float]

    def ratio(self) -> float:
        return sum(self.first) / sum(self.second)


def take_turns(turns: Iterator[tuple[float, float]]) -> Turns:
    """Collect pairs of neighbouring times."""
    pairs = list(turns)
    return Turns([first for first, _ in pairs], [second for _, second in pairs])


def seconds(function: Callable[..., Any], *arguments: Any) -> float:
    """Processor time of one call."""
    begun = clock()
    function(*arguments)
    return clock() - begun
