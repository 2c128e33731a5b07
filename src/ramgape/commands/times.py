"""What was measured of commands: every run, what sums it up, and how much faster one is than another.

An interval for the ratio of two means is anytime-valid, and each holds by itself. Its ends are ratios r at which the
evidence that one mean is more than r times the other reaches 2 / 0.05. That is the evidence by which a search compares
two arms (bounds/central_limit_pairwise.py), with the times of one multiplied by r. So an interval holds although the
search decided when to stop, and although the fastest command is chosen by the same times (both are checked by
simulation in tests/test_timing_claims.py). It is approximate, as that evidence is. The interval of a single mean is
made in the same way, with a number in place of the other mean.
"""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from ramgape.assumptions import ASSUMPTIONS, UNKNOWN
from ramgape.search.explained import SCHEMA_VERSION, Explained, jsonable, versions
from ramgape.search.outcome import OURS

if TYPE_CHECKING:
    from ramgape.commands.baseline import Baseline
    from ramgape.studies.report import Report

ELAPSED = "mean(elapsed)"  # the objective, in JSON
LEVEL = math.log(2.0 / 0.05)  # of each end of an interval that misses 5 % of the time
FIRST_RUNS = ASSUMPTIONS[UNKNOWN].first_looks[0]  # of each command, before an interval is given
HALVINGS = 40
MODIFIED_Z, OUTLIER = 0.6745, 14.826  # as hyperfine: distance from the median over the median distance


class TimedRun(NamedTuple):
    """One run: its seconds, what else was measured (commands/trials.py), and whether it was cut off."""

    reward: float
    info: str | None = None
    failed: bool = False


@dataclass(frozen=True)
class Times:
    """All runs of one command, in their order.

    Attributes:
        name: Of the command.
        times: Seconds of each.
        exit_codes: Of each, above 128 for signals; None where it is not known, as for a run that was ended.
        users, systems: Seconds of processor time, of the runs for which that is known.
        memories: Peak bytes of memory, likewise.
        small: Of how many of these that is only an upper limit (see `peak_memory`).
        outcomes: What runs have printed, by name.
        failed: Runs that were cut off at the timeout: they took longer or, in a study file, ended with an error.
        parameters: The values of parameters in the command.
    """

    name: str
    times: tuple[float, ...]
    exit_codes: tuple[int | None, ...] = ()
    users: tuple[float, ...] = ()
    systems: tuple[float, ...] = ()
    memories: tuple[int, ...] = ()
    small: int = 0
    outcomes: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    failed: int = 0
    parameters: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def mean(self) -> float:
        """Of the times; NaN for none."""
        return statistics.fmean(self.times) if self.times else math.nan

    @cached_property
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

    @property
    def memory(self) -> float:
        """The mean of the peak memory."""
        return statistics.fmean(self.memories) if self.memories else math.nan

    @cached_property
    def outliers(self) -> tuple[int, ...]:
        """The numbers of the runs that are far from the others, as hyperfine finds them."""
        if len(self.times) < 3:
            return ()
        middle = statistics.median(self.times)
        usual = statistics.median(abs(time - middle) for time in self.times)
        if not usual > 0.0:
            return ()
        far = (MODIFIED_Z * abs(time - middle) / usual > OUTLIER for time in self.times)
        return tuple(number for number, is_far in enumerate(far) if is_far)

    @cached_property
    def mean_interval(self) -> tuple[float, float]:
        """Where the true mean is, with 95 % confidence at any time; infinite where nothing is known."""
        if len(self.times) < FIRST_RUNS:
            return 0.0, math.inf
        if self.failed == len(self.times):  # see `lowest_ratio`
            return self.mean * math.exp(-(LEVEL + math.log(2.0)) / self.failed), math.inf
        below, above = _spread(self, -1.0), _spread(self, 1.0)
        if not below[0] > 0.0:  # equal times do not tell how they vary
            return 0.0, math.inf
        reach = 2.0 * (max(self.times) - min(self.times)) + self.mean

        def evidence(distance: float, spread: tuple[float, float]) -> float:
            return _evidence(distance, len(self.times), spread)

        low, high = (_first(partial(evidence, spread=spread), reach) for spread in (below, above))
        return max(self.mean - low, 0.0), math.inf if self.failed else self.mean + high


@dataclass(frozen=True, repr=False)
class Timing(Explained):
    """What was measured of commands, and what follows from it.

    Attributes:
        times: Of each command, the fastest first; that is the answer where one is asked for.
        report: How the study of them is going; None for a single command.
        timeout: Seconds after which a run was ended, if there was a limit.
        shell: Seconds that the shell takes to start, which were subtracted from every time; None without one.
        typed: The commands were typed, and stand in no file.
        reference: The command that others are compared with; None: the fastest.
        baseline: Earlier runs that they are compared with.
        tolerance: The difference that does not matter, as a part of the mean; in a study the goal has it in seconds.
        ended: Why it ended, where the report does not say so.
        seconds: What it took in all.
        noise: What was detected that disturbs measurements, with a remedy.
        unit: Of the times that are shown: "microsecond", "millisecond" or "second"; None: what fits.
        sort: "auto", "command" or "mean-time".
        told: "quiet", "usual" or "verbose".
    """

    times: tuple[Times, ...]
    report: Report | None = None
    timeout: float | None = None
    shell: float | None = None
    typed: bool = True
    reference: str | None = None
    baseline: Baseline | None = None
    tolerance: float | None = None
    ended: str = ""
    seconds: float = math.nan
    noise: str = ""
    unit: str | None = None
    sort: str = "auto"
    told: str = "usual"

    @property
    def fastest(self) -> Times:
        """The first command, which the others are compared with unless there is a reference."""
        return self.times[0]

    @property
    def compared(self) -> Times:
        """The command that the others are compared with."""
        return next((each for each in self.times if each.name == self.reference), self.times[0])

    @property
    def typed_order(self) -> tuple[Times, ...]:
        """The commands in the order in which they were given."""
        if self.report is None:
            return self.times
        order = {arm.name: place for place, arm in enumerate(self.report.result.arms)}
        return tuple(sorted(self.times, key=lambda each: order[each.name]))

    def sorted(self, usual: str) -> tuple[Times, ...]:
        """The commands in the order in which they are shown; `usual` is meant by "auto"."""
        return self.typed_order if (usual if self.sort == "auto" else self.sort) == "command" else self.times

    def ratio(self, other: Times) -> float:
        """How many times as long a command takes as the one it is compared with, by the means."""
        return other.mean / self.compared.mean if self.compared.mean > 0.0 else math.nan

    def ratio_interval(self, other: Times) -> tuple[float, float]:
        """Where that ratio is, with 95 % confidence for each by itself."""
        return times_interval(other, self.compared)

    @property
    def asked(self) -> dict[str, str]:
        """What was asked for, in words, for a page."""
        found = {"Commands": ", ".join(each.name for each in self.typed_order), "Timeout": "none"}
        if self.timeout is not None:
            found["Timeout"] = f"{self.timeout:g} s"
        if self.tolerance is not None:
            found["Tolerance"] = f"{100.0 * self.tolerance:g}% of the mean"
        if self.reference is not None:
            found["Compared with"] = self.reference
        if self.report is not None:
            result = self.report.result
            found["Confidence"] = f"{100.0 * (1.0 - (result.goal.delta or 0.05)):g}%"
            found["Seed"] = "none" if result.seed is None else str(result.seed)
        return found

    def _rows(self) -> Iterable[Mapping[str, Any]]:
        for each in self.typed_order:
            for number, seconds in enumerate(each.times):
                yield {"command": each.name, "run": number + 1, "seconds": seconds, **each.parameters}

    def to_dict(self) -> dict[str, Any]:
        """The report; each command has what was counted of its runs, and its ratio to the one it is compared with."""
        known = {each.name: each for each in self.times}
        told = replace(self, told="verbose")._explanation()
        described = self._alone() if self.report is None else of_elapsed(self.report.to_dict())
        described |= {"sentence": told.headlines[0], "warnings": told.warnings, "unit": "s"}
        if described["certified"] is not None:
            described["certified"]["guarantee"] = dict(told.facts).get("Guarantee", told.headlines[0])
        for arm in described["arms"]:
            each = known[arm["name"]]
            same = each is self.compared
            arm |= {
                "runs": len(each.times),
                "cut_off": each.failed,
                "nonzero_exits": each.nonzero_exits,
                "outliers": list(each.outliers),
                "parameters": dict(each.parameters),
                "times_as_long": 1.0 if same else self.ratio(each),
                "times_as_long_interval": None if same else self.ratio_interval(each),
            }
        if self.baseline is not None:
            described["baseline"] = self.baseline.to_dict(self)
        found: dict[str, Any] = jsonable(described)
        return found

    def _alone(self) -> dict[str, Any]:
        """What a result has in JSON, of a single command."""
        each, known = self.fastest, self.ended == "enough"
        low, high = each.mean_interval
        se = each.std / math.sqrt(len(each.times)) if each.times else math.nan
        wide = max(each.mean - low, high - each.mean)
        asked = (self.tolerance or math.nan) * each.mean
        assumptions = ["independent runs from one distribution"]
        certified = {
            "tolerance": {ELAPSED: wide},
            "factor": wide / asked,
            "confidence": 0.95,
            "kind": "asymptotic",
            "assumptions": assumptions,
        }
        mean = {"estimate": each.mean, "se": se, "low": low, "high": high, "behind": None, "at_most_behind": None}
        return {
            "schema_version": SCHEMA_VERSION,
            "sentence": "",
            "status": "certified" if known else "undecided",
            "answer": [each.name],
            "question": "mean",
            "certified": certified if math.isfinite(wide) else None,
            "trials": len(each.times),
            "objectives": [{"text": ELAPSED, "direction": "minimize", "epsilon": asked, "unit": "s"}],
            "constraints": [],
            "arms": [{"name": each.name, "trials": len(each.times), "objectives": {ELAPSED: mean}, "constraints": {}}],
            "warnings": [],
            "versions": versions(),
        }


def of_elapsed(described: dict[str, Any]) -> dict[str, Any]:
    """What a study has in JSON, with the name of its only outcome and the unit of times.

    >>> described = {"objectives": [{"text": "mean(reward)", "unit": None}], "arms": [], "certified": None}
    >>> of_elapsed(described)["objectives"]
    [{'text': 'mean(elapsed)', 'unit': 's'}]
    """

    def renamed(numbers: Mapping[str, Any]) -> dict[str, Any]:
        return {text.replace("(reward)", "(elapsed)"): number for text, number in numbers.items()}

    objectives = [{**each, "text": each["text"].replace("(reward)", "(elapsed)")} for each in described["objectives"]]
    for each in objectives:
        each["unit"] = "s" if "(elapsed)" in each["text"] else each["unit"]
    arms = [{**arm, "objectives": renamed(arm["objectives"])} for arm in described["arms"]]
    certified = described["certified"]
    if certified is not None:
        certified = {**certified, "tolerance": renamed(certified["tolerance"])}
    return {**described, "objectives": objectives, "arms": arms, "certified": certified}


def measure(
    rows: Iterable[Any], names: Sequence[str], parameters: Mapping[str, Mapping[str, str]]
) -> tuple[Times, ...]:
    """The runs of each command, out of the observations of a study."""
    kept: dict[str, list[Any]] = {name: [] for name in names}
    for row in rows:
        kept.get(row.arm, []).append(row)
    return tuple(times_of(name, runs, parameters.get(name, {})) for name, runs in kept.items())


def times_of(name: str, runs: Sequence[Any], parameters: Mapping[str, str]) -> Times:
    """The runs of a command, each a `TimedRun` or a row of a study."""
    notes = [json.loads(run.info or "{}").get(OURS, {}) for run in runs]

    def known(key: str) -> tuple[Any, ...]:
        return tuple(note[key] for note in notes if note.get(key) is not None)

    said = [note.get("outcomes", {}) for note in notes]
    outcomes = {
        key: tuple(one[key] for one in said if key in one) for key in dict.fromkeys(key for one in said for key in one)
    }
    return Times(
        name,
        tuple(note.get("elapsed", run.reward) for note, run in zip(notes, runs, strict=True)),
        tuple(note.get("exit_code") for note in notes),
        known("user"),
        known("system"),
        known("memory"),
        len(known("small")),
        outcomes,
        sum(run.failed for run in runs),
        parameters,
    )


def fastest_first(times: Iterable[Times], best: Sequence[str] = ()) -> tuple[Times, ...]:
    """The commands by their means, those of the answer before others."""
    return tuple(sorted(times, key=lambda each: (each.name not in best, math.isnan(each.mean), each.mean)))


def times_interval(slower: Times, faster: Times) -> tuple[float, float]:
    """Where the ratio of two means is; an end of which nothing is known is 0 or infinite."""
    inverse = lowest_ratio(faster, slower)
    return lowest_ratio(slower, faster), 1.0 / inverse if inverse > 0.0 else math.inf


def lowest_ratio(slower: Times, faster: Times) -> float:
    """The largest r for which the evidence that one mean is more than r times the other reaches the level; 0 if none.

    The true times of runs that were cut off may be far longer. So a mean that has some is known from below only.
    """
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
        return _difference_evidence(
            value - ratio * faster.mean, len(slower.times), (spread, growth), len(faster.times), rival
        )

    known, unknown = 0.0, value / faster.mean
    for _ in range(HALVINGS):
        middle = 0.5 * (known + unknown)
        known, unknown = (middle, unknown) if evidence(middle) >= level else (known, middle)
    return known


def _difference_evidence(
    difference: float, count: float, spread: tuple[float, float], rival_count: float, rival: tuple[float, float]
) -> float:
    from ramgape.bounds.central_limit_pairwise import difference_evidence

    return float(difference_evidence(difference, float(count), *spread, float(rival_count), *rival, 0.5))


def _evidence(difference: float, count: int, spread: tuple[float, float]) -> float:
    """ln of the evidence that a mean is so far from a number; as `difference_evidence` has it for two."""
    from ramgape.bounds.central_limit_pairwise import SCALES, WEIGHTS, spread_at

    own = spread_at(*spread, 0.5, difference) / count
    if not own > 0.0 or not difference > 0.0:
        return -math.inf
    total = 0.0
    for scale, weight in zip(SCALES, WEIGHTS, strict=True):
        half = min(0.5 * difference * difference / (own * (1.0 + scale / count)), 700.0)
        total += weight * math.exp(half) * math.erfc(-math.sqrt(half)) * math.sqrt(scale / (count + scale))
    return math.log(total)


def _first(evidence: Callable[[float], float], reach: float) -> float:
    """The least distance from which on the evidence reaches the level; infinite if none up to `reach` does."""
    if not evidence(reach) >= LEVEL:
        return math.inf
    known, unknown = reach, 0.0
    for _ in range(HALVINGS):
        middle = 0.5 * (known + unknown)
        known, unknown = (middle, unknown) if evidence(middle) >= LEVEL else (known, middle)
    return known


def _spread(each: Times, side: float) -> tuple[float, float]:
    """The variance of times, and how it grows with the distance of a mean above (side 1) or below (side -1) theirs."""
    mean = each.mean
    if min(each.times) == max(each.times):  # whatever rounding makes of their mean
        return 0.0, 0.0
    off = [time - mean for time in each.times]
    variance = statistics.fmean(value * value for value in off)
    return variance, max(side * statistics.fmean(value**3 for value in off) / variance, 0.0)
