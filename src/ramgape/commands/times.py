"""What was measured of commands: every run, what sums it up, and how much faster one is than another."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ramgape.common.special import inverse_incomplete_beta
from ramgape.search.outcome import OURS

if TYPE_CHECKING:
    from ramgape.studies.files import ImportedRow
    from ramgape.studies.report import Report
    from ramgape.studies.study import Study
    from ramgape.views.explanation import Explanation

LEVEL = 0.95  # of the intervals for ratios


@dataclass(frozen=True, slots=True)
class Times:
    """All runs of one command, in their order.

    Attributes:
        name: Of the command.
        times: Seconds of each.
        exit_codes: Of each, above 128 for signals; None where it is not known, as for a run that was ended.
        users, systems: Seconds of processor time, of the runs for which that is known.
        failed: Runs that count as the timeout: they took longer or, in a study file, ended with an error.
    """

    name: str
    times: tuple[float, ...]
    exit_codes: tuple[int | None, ...]
    users: tuple[float, ...]
    systems: tuple[float, ...]
    failed: int

    @property
    def mean(self) -> float:
        """Of the times; NaN for none."""
        return statistics.fmean(self.times) if self.times else math.nan

    @property
    def std(self) -> float:
        """With one less than their number in the denominator; NaN for fewer than two."""
        return statistics.stdev(self.times) if len(self.times) > 1 else math.nan

    @property
    def user(self) -> float:
        """The mean of the processor time spent in programs."""
        return statistics.fmean(self.users) if self.users else math.nan

    @property
    def system(self) -> float:
        """The mean of the processor time spent in the system on their behalf."""
        return statistics.fmean(self.systems) if self.systems else math.nan


@dataclass(frozen=True, slots=True)
class Timing:
    """What was measured of commands, and what follows from it.

    Attributes:
        report: How the study of them is going.
        times: Of each command, the fastest first; that is the answer where one is asked for.
        timeout: Seconds after which a run was ended, if there was a limit.
        shell: Seconds that the shell takes to start, which are a part of every time; None without one.
        typed: The commands were typed, and stand in no file.
    """

    report: Report
    times: tuple[Times, ...]
    timeout: float | None = None
    shell: float | None = None
    typed: bool = True

    @property
    def fastest(self) -> Times:
        """The command that the others are compared with."""
        return self.times[0]

    def ratio(self, slower: Times) -> tuple[float, float]:
        """How many times as long a command takes as the fastest, and half an approximate interval for that."""
        return time_ratio(slower, self.fastest)

    def explanation(self, ascii_only: bool = False) -> Explanation:
        """All that is said of it, for whoever shows it."""
        from ramgape.views.timing import explain_timing

        return explain_timing(self, ascii_only)


def measure(study: Study, report: Report, timeout: float | None, shell: float | None, typed: bool) -> Timing:
    """All that a study of commands has measured."""
    kept = collect_times([arm.name for arm in report.result.arms], study._observations())
    best = report.result.front if report.result.task == "best-mean" else ()
    ordered = sorted(kept, key=lambda each: (each.name not in best, math.isnan(each.mean), each.mean))
    return Timing(report, tuple(ordered), timeout, shell, typed)


def collect_times(names: Sequence[str], rows: Iterable[ImportedRow]) -> tuple[Times, ...]:
    """The runs of each command, out of the observations of a study."""
    kept: dict[str, list[ImportedRow]] = {name: [] for name in names}
    for row in rows:
        kept.get(row.arm, []).append(row)
    return tuple(_times_of(name, runs) for name, runs in kept.items())


def _times_of(name: str, runs: Sequence[ImportedRow]) -> Times:
    notes = [json.loads(run.info or "{}").get(OURS, {}) for run in runs]
    return Times(
        name,
        tuple(run.reward for run in runs),
        tuple(note.get("exit_code") for note in notes),
        tuple(note["user"] for note in notes if note.get("user") is not None),
        tuple(note["system"] for note in notes if note.get("system") is not None),
        sum(run.failed for run in runs),
    )


def time_ratio(slower: Times, faster: Times) -> tuple[float, float]:
    """How many times as long the one takes as the other, and half an approximate interval for that.

    The interval is that of Welch for a mean, carried over to a quotient: approximate, since times are not normal, and
    since the number of runs was decided on the way.
    """
    value = slower.mean / faster.mean if faster.mean > 0.0 else math.nan
    parts = [
        (each.std / each.mean) ** 2 / len(each.times) if each.mean > 0.0 else math.nan for each in (slower, faster)
    ]
    if not math.isfinite(value + sum(parts)):
        return value, math.nan
    if sum(parts) == 0.0:
        return value, 0.0
    freedom = sum(parts) ** 2 / sum(
        part**2 / (len(each.times) - 1) for part, each in zip(parts, (slower, faster), strict=True)
    )
    return value, value * student_quantile(freedom) * math.sqrt(sum(parts))


def student_quantile(freedom: float, level: float = LEVEL) -> float:
    """The t for which a Student variable lies between -t and t with this probability.

    >>> round(student_quantile(9.0), 3), round(student_quantile(1e6), 3)
    (2.262, 1.96)
    """
    below, above = inverse_incomplete_beta(0.5 * freedom, 0.5, 1.0 - level)
    return math.sqrt(freedom * above / below)
