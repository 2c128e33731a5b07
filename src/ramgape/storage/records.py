"""What is kept of a study, as plain rows; stores write and read them, and know nothing of what they mean.

Arms are numbers here, in the order of the specification. Times are seconds since 1970; but leases are measured by a
monotonic clock of the store's own.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, NamedTuple

KEPT = 86_400.0  # seconds, for which a request is known at least
# Types of columns, where `int` alone does not say it: 32 bits are enough; the database chooses the number.
Small = Annotated[int, "Small"]
Identity = Annotated[int, "Identity"]


class Moment(NamedTuple):
    """When a transaction takes place."""

    time: float  # seconds since 1970, for people
    clock: float  # seconds, for leases


class StudyRow(NamedTuple):
    """A study: what never changes, then the counters that every change renews."""

    id: Identity  # in this store
    name: str
    key: str  # random, and that of no other study in the store
    specification: str  # JSON; only a study that is to go on for more gets another one
    created_at: float
    revision: int = 0  # how often anything was written
    asked: int = 0  # pulls ever handed out, so the number of the next one
    told: int = 0  # observations, so the place of the next one
    failed: int = 0  # failed attempts
    stopped_at: int | None = None  # observations at which the goal was reached
    decision: str = ""  # JSON: where the sampling rule and the order of results stand, beyond what observations tell
    withdrawn: int = 0  # trials that were handed out in vain, and taken back
    chain: int = 0  # the check value of all observations, which is that of the last one
    batches: int = 0  # how many there are
    lost: int = 0  # attempts that went with the machine that made them
    outcomes: str = ""  # JSON: the names of all outcomes that trials have given, in the order of their first trials


class PullRow(NamedTuple):
    """A pull that was handed out and has no answer yet."""

    number: int  # in this study, from 0
    arm: Small
    attempt: Small  # from 1; one more each time another worker gets it
    worker: str | None
    lease_until: float  # from then on it is available again; infinite for never
    failures: Small  # attempts that failed
    failed_attempt: Small  # the last one that did, or 0
    given_up: bool  # it failed too often
    token: str = ""  # random: the part of its name that cannot be guessed and occurs once
    answer: float | None = None  # told, but held back until earlier pulls are answered
    answered_at: float | None = None
    answer_failed: bool = False  # the answer is a failure that counts as the worst reward
    answer_attempt: Small = 0  # the one that it came from, perhaps not the last
    item: int | None = None  # what the trial is to be about, by its place in the study's list of items
    answer_price: float | None = None  # told with an answer that is held back
    answer_info: str | None = None
    answer_outcomes: bytes | None = None


class ObservationRow(NamedTuple):
    """An answer."""

    number: int | None  # of the pull that it answers; None for a trial made elsewhere
    attempt: Small  # 0 for a trial made elsewhere
    arm: Small
    reward: float
    failed: bool  # a failure that counts as the worst reward
    worker: str | None
    told_at: float
    origin: str | None = None  # for imported ones: the pull that it answered there
    token: str | None = None  # of the pull that it answers
    chain: int = 0  # the check value of all observations up to this one
    item: int | None = None  # what the trial was about, by its place in the study's list of items
    price: float | None = None  # what it has cost, if that was told
    info: str | None = None  # JSON: whatever else was told
    outcomes: bytes | None = None  # of a trial with several: packed in the order of their names; see `pack_outcomes`

    def answer(self) -> AnswerRow:
        """What it says of the pull that it answers."""
        return AnswerRow(self.attempt, self.reward, self.failed, self.token or "", self.price, self.info, self.outcomes)


class FailureRow(NamedTuple):
    """An attempt that failed."""

    number: int
    attempt: Small
    arm: Small
    worker: str | None
    reason: str
    failed_at: float
    token: str = ""


class BatchRow(NamedTuple):
    """Observations that came together and are looked at once, at their end: their order means nothing."""

    place: int  # of the first
    size: int


class SnapshotRow(NamedTuple):
    """What the first observations of a study have led to."""

    told: int  # how many they are
    chain: int  # the check value of the last of them
    batches: int  # how many of these are among them
    stopped_at: int | None  # as in the study's row, at that time
    stamp: str  # whose state it is: the code and the specification that can go on with it
    state: bytes


class RequestRow(NamedTuple):
    """A request that changed a study, under a key that the client has chosen: a repetition changes nothing."""

    key: str
    digest: str  # of what was asked for, so that the same key is not taken for another request
    answer: str
    made_at: float


class AnswerRow(NamedTuple):
    """What is known of a pull that has been answered."""

    attempt: int
    reward: float
    failed: bool
    token: str
    price: float | None = None
    info: str | None = None
    outcomes: bytes | None = None


@dataclass(slots=True)
class Changes:
    """What one transaction adds to a study. A pull that is changed and then answered is answered."""

    new_pulls: list[PullRow] = field(default_factory=list)
    changed_pulls: list[PullRow] = field(default_factory=list)
    answered_pulls: list[PullRow] = field(default_factory=list)  # or withdrawn: they are no longer open
    observations: list[ObservationRow] = field(default_factory=list)  # in order; the first has place `told` of before
    failures: list[FailureRow] = field(default_factory=list)
    batches: list[BatchRow] = field(default_factory=list)
    specification: str | None = None  # the new one, of a study that is to go on for more
    requests: list[RequestRow] = field(default_factory=list)  # by which the rest was asked for

    def any(self) -> bool:
        """Whether there is anything to write."""
        written = self.observations or self.new_pulls or self.changed_pulls or self.answered_pulls or self.failures
        return bool(written or self.specification or self.requests)

    def count(self) -> int:
        """How many there are, without requests; more whenever anything is noted."""
        pulls = len(self.new_pulls) + len(self.changed_pulls) + len(self.answered_pulls)
        return pulls + len(self.observations) + len(self.failures) + len(self.batches) + bool(self.specification)

    def settle(self) -> None:
        """Of a pull that was made in this transaction leave only what became of it: a store has no row to change yet.

        Another operation in the same transaction may have changed it: the same worker asks again, or leaves.
        """
        first = self.new_pulls[0].number  # the others have higher numbers
        later = {pull.number: pull for pull in self.changed_pulls if pull.number >= first}
        gone = {pull.number for pull in self.answered_pulls if pull.number >= first}
        if later or gone:
            self.new_pulls = [later.get(pull.number, pull) for pull in self.new_pulls if pull.number not in gone]
            self.changed_pulls = [pull for pull in self.changed_pulls if pull.number < first]
            self.answered_pulls = [pull for pull in self.answered_pulls if pull.number < first]


def pack_outcomes(outcomes: Mapping[str, float], names: list[str]) -> bytes:
    """Pack the outcomes of a trial as doubles in the order of their names; new names are added to the list.

    An outcome that the trial lacks is NaN, or left out at the end. No outcome is NaN, so nothing is lost.

    >>> names = ["accuracy", "cost"]
    >>> unpack_outcomes(pack_outcomes({"cost": 0.5, "latency": 2.0}, names), names), names
    ({'cost': 0.5, 'latency': 2.0}, ['accuracy', 'cost', 'latency'])
    """
    names += [name for name in outcomes if name not in names]
    last = max((place for place, name in enumerate(names) if name in outcomes), default=-1)
    return struct.pack(f"<{last + 1}d", *[outcomes.get(name, math.nan) for name in names[: last + 1]])


def unpack_outcomes(packed: bytes, names: Sequence[str]) -> dict[str, float]:
    """Return the outcomes of a trial by name, without those that it lacks."""
    values = struct.unpack(f"<{len(packed) // 8}d", packed)
    return {name: value for name, value in zip(names, values, strict=False) if value == value}
