"""Trials that gave no result and were replaced, counted by arm; and what a guarantee assumes because of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from ramgape.common.formatting import cut, plural
from ramgape.errors import printable

FEW_NAMES, NAME_WIDTH = 3, 40  # in a sentence
NOTABLE = 0.01  # part of all trials: fewer replaced ones, equally many for each arm, go without a word
KINDS = {"failures": "failures", "timeouts": "timeouts", "expired": "expired leases", "lost": "lost trials"}
VERBS = {"failures": "failed", "timeouts": "timed out", "expired": "lost its lease", "lost": "was lost"}
AlarmKind = Literal["level", "spread", "memory", "clusters"]


@dataclass(frozen=True, slots=True)
class Alarm:
    """An arm whose rewards are not independent draws from one distribution, by the evidence against it.

    Attributes:
        arm: Its name.
        kind: What gave it away: their "level" moved or their "spread" did; each has to do with the one before
            ("memory"); large and small deviations come in "clusters".
        evidence: How often one would have multiplied one's stake by bets that such draws lose on average: the most so
            far. Draws as assumed give c or more with probability at most 1 / c.
        pull: The arm's own pull, counted from 1, at which there was enough of it for an alarm.
    """

    arm: str
    kind: AlarmKind
    evidence: float
    pull: int


@dataclass(frozen=True, slots=True)
class TrialQuality:
    """What became of trials that gave no result, by the names of their arms; arms without any are left out.

    Attributes:
        failures: Trials that ended with an error.
        timeouts: Trials that took too long.
        expired: Trials whose lease expired before their result was reported.
        lost: Trials that ended with the machine that made them.
        counted: Whether failures and timeouts count, as the worst reward or as a cost of at least so much. If not,
            other trials replaced them.
        overtaken: Whether results were counted before those of earlier trials that were still in progress.
        missing: How many trials of an arm came without which outcome.
        drift: The arms whose rewards are not independent draws from one distribution.
        unseen: Where nothing is assumed of rewards: how probable an event may be that the trials of an arm have not
            shown, each with the confidence of the search.
    """

    failures: dict[str, int] = field(default_factory=dict)
    timeouts: dict[str, int] = field(default_factory=dict)
    expired: dict[str, int] = field(default_factory=dict)
    lost: dict[str, int] = field(default_factory=dict)
    counted: bool = False
    overtaken: bool = False
    missing: dict[str, dict[str, int]] = field(default_factory=dict)
    drift: tuple[Alarm, ...] = ()
    unseen: dict[str, float] = field(default_factory=dict)

    def replaced(self) -> dict[str, dict[str, int]]:
        """The trials that others replaced, by kind and arm."""
        kinds = ("expired", "lost") if self.counted else KINDS
        return {kind: found for kind in kinds if (found := getattr(self, kind))}

    def conditions(self, trials: Mapping[str, int]) -> list[str]:
        """What a guarantee assumes besides, each in words that follow "if".

        Args:
            trials: How many results each arm has.

        Examples:
            >>> TrialQuality(failures={"B": 32}).conditions({"A": 90, "B": 80})
            ['failures are unrelated to the reward (B failed 32 times, A never)']
            >>> TrialQuality(failures={"A": 2, "B": 2}).conditions({"A": 900, "B": 800})
            []
        """
        found = []
        replaced = self.replaced()
        by_arm = {name: sum(counts.get(name, 0) for counts in replaced.values()) for name in trials}
        total = sum(by_arm.values())
        if total and (len(set(by_arm.values())) > 1 or total > NOTABLE * sum(trials.values())):
            kinds = " and ".join(KINDS[kind] for kind in replaced)
            found.append(f"{kinds} are unrelated to the reward ({_counts(replaced, by_arm)})")
        if self.overtaken:
            found.append("the time a trial takes is unrelated to its reward (results counted as they came in)")
        return found

    def warnings(self, trials: Mapping[str, int]) -> tuple[str, ...]:
        """The same as warnings, with what helps.

        Args:
            trials: How many results each arm has.
        """
        helps = {
            True: "results of earlier trials must not be overtaken: leave in_order at its default, true",
            False: "if a failure says something about the arm, count it as the worst reward instead",
        }
        return tuple(
            f"what is said holds only if {condition}; {helps[condition.startswith('the time')]}"
            for condition in self.conditions(trials)
        )


def unseen_chances(trials: Mapping[str, int], delta: float) -> dict[str, float]:
    """How probable an event may be that an arm's trials have not shown, each with this confidence.

    >>> round(unseen_chances({"A": 10, "B": 0}, 0.05)["A"], 2)
    0.26
    """
    return {name: -math.expm1(math.log(delta) / count) for name, count in trials.items() if count}


def with_names(counts: Mapping[int, int], names: Sequence[str]) -> dict[str, int]:
    """Counts by the names of arms, in their order.

    >>> with_names({2: 5, 0: 1}, "ABC")
    {'A': 1, 'C': 5}
    """
    return {names[arm]: counts[arm] for arm in sorted(counts) if counts[arm]}


def _counts(replaced: Mapping[str, Mapping[str, int]], by_arm: Mapping[str, int]) -> str:
    """How often each arm had such trials, the most frequent first."""
    ordered = sorted((name for name in by_arm if by_arm[name]), key=lambda name: -by_arm[name])
    parts = []
    for name in ordered[:FEW_NAMES]:
        times = [f"{VERBS[kind]} {_times(counts[name])}" for kind, counts in replaced.items() if counts.get(name)]
        parts.append(f"{cut(printable(name), NAME_WIDTH)} {' and '.join(times)}")
    if len(ordered) > FEW_NAMES:
        rest = ordered[FEW_NAMES:]
        parts.append(f"{plural(len(rest), 'other arm')} {_times(sum(by_arm[name] for name in rest))} in all")
    never = [name for name in by_arm if not by_arm[name]]
    if never:
        one = cut(printable(never[0]), NAME_WIDTH)
        parts.append(f"{one if len(never) == 1 else f'{len(never):,} arms'} never")
    return ", ".join(parts)


def _times(count: int) -> str:
    """How often.

    >>> _times(1), _times(1200)
    ('once', '1,200 times')
    """
    return "once" if count == 1 else f"{count:,} times"
