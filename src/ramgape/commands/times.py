"""What was measured of commands: every run, what sums it up, and how much faster one is than another.

An interval for the ratio of two means is anytime-valid, and each holds by itself. Its ends are ratios r at which the
evidence that one mean is more than r times the other reaches 2 / 0.05. That is the evidence by which a search compares
two arms (bounds/central_limit_pairwise.py), with the times of one multiplied by r. So an interval holds although the
search decided when to stop, and although the fastest command is chosen by the same times (both are checked by
simulation in tests/test_timing_claims.py). It is approximate, as that evidence is.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ramgape.assumptions import ANY, ASSUMPTIONS
from ramgape.commands.counted_runs import exits_words
from ramgape.search.explained import jsonable
from ramgape.search.outcome import OURS

if TYPE_CHECKING:
    from ramgape.studies.files import ImportedRow
    from ramgape.studies.report import Report
    from ramgape.studies.study import Study

LEVEL = math.log(2.0 / 0.05)  # of each end of an interval that misses 5 % of the time
FIRST_RUNS = ASSUMPTIONS[ANY].first_looks[0]  # of each command, before an interval is given
HALVINGS = 40


@dataclass(frozen=True, slots=True)
class Times:
    """All runs of one command, in their order.

    Attributes:
        name: Of the command.
        times: Seconds of each.
        exit_codes: Of each, above 128 for signals; None where it is not known, as for a run that was ended.
        users, systems: Seconds of processor time, of the runs for which that is known.
        failed: Runs that were cut off at the timeout: they took longer or, in a study file, ended with an error.
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
    def nonzero_exits(self) -> int:
        """Runs that ended with an exit code other than 0, or by a signal of their own."""
        return sum(code not in (0, None) for code in self.exit_codes)

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

    def ratio(self, slower: Times) -> float:
        """How many times as long a command takes as the fastest, by the means."""
        return slower.mean / self.fastest.mean if self.fastest.mean > 0.0 else math.nan

    def ratio_interval(self, slower: Times) -> tuple[float, float]:
        """Where that ratio is, with 95 % confidence for each by itself."""
        return times_interval(slower, self.fastest)

    def to_json(self) -> str:
        """The report as JSON; each command has what was counted of its runs, and its ratio to the fastest."""
        described, known = self.report.to_dict(), {each.name: each for each in self.times}
        for arm in described["arms"]:
            each = known[arm["name"]]
            same = each is self.fastest
            arm |= {
                "cut_off": each.failed,
                "nonzero_exits": each.nonzero_exits,
                "times_as_long": jsonable(1.0 if same else self.ratio(each)),
                "times_as_long_interval": None if same else jsonable(self.ratio_interval(each)),
            }
        return json.dumps(described, indent=2, allow_nan=False)


def measure(study: Study, report: Report, timeout: float | None, shell: float | None, typed: bool) -> Timing:
    """All that a study of commands has measured."""
    kept = collect_times([arm.name for arm in report.result.arms], study._observations())
    best = report.result.front if report.result.task == "best-mean" else ()
    ordered = sorted(kept, key=lambda each: (each.name not in best, math.isnan(each.mean), each.mean))
    notes = (*report.result.notes, *filter(None, [exits_words(kept)]))
    report = replace(report, result=replace(report.result, notes=notes))
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


def times_interval(slower: Times, faster: Times) -> tuple[float, float]:
    """Where the ratio of two means is; an end of which nothing is known is 0 or infinite."""
    inverse = lowest_ratio(faster, slower)
    return lowest_ratio(slower, faster), 1.0 / inverse if inverse > 0.0 else math.inf


def lowest_ratio(slower: Times, faster: Times) -> float:
    """The largest r for which the evidence that one mean is more than r times the other reaches the level; 0 if none.

    The true times of runs that were cut off may be far longer. So a mean that has some is known from below only.
    """
    from ramgape.bounds.central_limit_pairwise import difference_evidence

    level, value = LEVEL, slower.mean
    if min(len(slower.times), len(faster.times)) < FIRST_RUNS or faster.failed or not faster.mean > 0.0:
        return 0.0
    (spread, growth), (rival_spread, rival_growth) = _spread(slower, -1.0), _spread(faster, 1.0)
    if slower.failed == len(slower.times):  # see `ahead_of_cut` in bounds/central_limit_pairwise.py
        level += math.log(2.0)
        value *= math.exp(-level / len(slower.times))
    elif not spread > 0.0:
        return 0.0
    if not rival_spread > 0.0:
        return 0.0

    def evidence(ratio: float) -> float:
        rival = ratio * ratio * rival_spread, ratio * rival_growth
        difference = value - ratio * faster.mean
        counts = float(len(slower.times)), float(len(faster.times))
        return float(difference_evidence(difference, counts[0], spread, growth, counts[1], *rival, 0.5))

    known, unknown = 0.0, value / faster.mean
    for _ in range(HALVINGS):
        middle = 0.5 * (known + unknown)
        known, unknown = (middle, unknown) if evidence(middle) >= level else (known, middle)
    return known


def _spread(each: Times, side: float) -> tuple[float, float]:
    """The variance of times, and how it grows with the distance of a mean above (side 1) or below (side -1) theirs."""
    mean = each.mean
    off = [time - mean for time in each.times]
    variance = statistics.fmean(value * value for value in off)
    if not variance > 0.0:
        return 0.0, 0.0
    return variance, max(side * statistics.fmean(value**3 for value in off) / variance, 0.0)
