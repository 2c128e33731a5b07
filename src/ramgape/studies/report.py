"""How a study is going: its result, and what belongs to no result: pulls under way, failures, late answers."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cached_property
from operator import attrgetter
from typing import Any

from ramgape.bounds import the_bound
from ramgape.common.formatting import list_names, plural
from ramgape.errors import FailingArm, shorten
from ramgape.questions import BetterThan
from ramgape.search.explained import Answered, Portable, jsonable, restore, versions
from ramgape.search.inference import infer
from ramgape.search.outcome import OURS
from ramgape.search.quality import TrialQuality
from ramgape.search.result import Certified, Expectation, Goal, Result, Stopped, updated
from ramgape.storage.records import FailureRow, ObservationRow, StudyRow
from ramgape.studies.arrivals import RetiredArm
from ramgape.studies.exchange import write_pull_id
from ramgape.studies.specification import ASKING_ORDER, StudySpec, read_outline
from ramgape.studies.state import StudyState
from ramgape.trials.progress import Progress, progress_of
from ramgape.trials.remaining import expect_pulls

COUNTS = ("told", "pending", "failed", "given_up", "late", "held", "lost", "done")  # of a state, in a report
LAST_FAILURES = 5
LAST_ANSWERS = 100  # of which a report says what was told with them
EARLIEST, LATEST = -62_135_596_800.0, 253_402_300_799.0  # the years 1 to 9999, which a date can have


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed trial.

    Attributes:
        pull, arm, worker: Which it was, of which arm, and who made it.
        reason: Why it failed, as far as that was said.
        failed_at: When.
    """

    pull: str
    arm: str
    worker: str | None
    reason: str
    failed_at: str


@dataclass(frozen=True, slots=True)
class Certificate:
    """What was certified when a study ended. It is stored with the study, so a later version shows the same.

    Attributes:
        version: The version of ramgape that made it.
        made_at: When.
        answer: The certified answer.
        certified: The claim, in the words of that version.
    """

    version: str
    made_at: str
    answer: tuple[str, ...]
    certified: Certified

    @classmethod
    def of(cls, result: Result, time: float) -> Certificate | None:
        """What a result proves; None where that is nothing."""
        if result.certified is None:
            return None
        return cls(present_version(), write_time(time), result.answer, result.certified)

    def shown_in(self, result: Result) -> Result:
        """A result that the present version has inferred, with this certificate in place of its own."""
        if self.version == present_version():
            return result
        if self.answer != result.answer:
            differs = (
                f"ramgape {self.version} certified another answer: {list_names(self.answer) or 'none'}. This version "
                "infers what you see from the same trials"
            )
            return updated(result, warnings=(*result.warnings, differs))
        return updated(result, certified=self.certified, guarantee=self.certified.guarantee)


def present_version() -> str:
    """The version of ramgape that runs."""
    return versions()["ramgape"] or "of an unknown version"


@dataclass(frozen=True, slots=True, repr=False)
class Report(Answered):
    """How a study is going; it prints itself, draws itself and goes on as plain data, as a `Result` does.

    Attributes:
        name, created_at: Of the study.
        result: What is known by now; `done` says whether that is final.
        told: Observations recorded; `late` of them came after the end and are no part of the result.
        pending: Pulls handed out and not yet answered.
        held: Results that wait for those of earlier trials.
        failed: Failed attempts; given_up are the pulls that failed too often.
        lost: Attempts that went with the machine that made them, and count for nothing.
        waits_for: The id, arm and worker of a trial that the held results wait for, and that may have been forgotten:
            it has no lease, or no worker has it.
        doubt: The returned set is right up to this tolerance; infinite while there is nothing to go by.
        arms_pending, arms_failed: By arm.
        failures: The last ones; `reasons` are those of all failures: arm, reason and how often, the latest first.
        progress: How far the search is: pulls made, the limit on them, the doubt that is left.
        retired: What is recorded of arms that take part no longer; they are no part of the result.
        info: What was told with the last hundred answers: each key, its values, and how often they came.
        certificate: What was certified when the study ended, with the version that did; None where nothing was.
    """

    name: str
    created_at: str
    result: Result
    told: int
    pending: int
    failed: int
    given_up: int
    late: int
    held: int
    done: bool
    arms_pending: dict[str, int]
    arms_failed: dict[str, int]
    failures: tuple[Failure, ...]
    reasons: tuple[tuple[str, str, int], ...]
    progress: Progress
    retired: tuple[RetiredArm, ...] = ()
    info: dict[str, dict[str, int]] = field(default_factory=dict)
    lost: int = 0
    waits_for: tuple[str, str, str | None] | None = None
    certificate: Certificate | None = None

    @property
    def _found(self) -> Result:
        return self.result

    def _rows(self) -> list[dict[str, Any]]:
        """Those of the result, and what is under way and has failed of each arm."""
        pending, failed = self.arms_pending, self.arms_failed
        return [{**row, "pending": pending[row["name"]], "failed": failed[row["name"]]} for row in self.result._rows()]

    @property
    def doubt(self) -> float:
        """The largest of any arm."""
        return max(arm.doubt for arm in self.result.arms)

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON: what the study is at, then the whole result."""
        described: dict[str, Any] = jsonable(asdict(replace(self, result=None)))  # type: ignore[arg-type]
        del described["result"]
        first = {key: described.pop(key) for key in ("name", "told", "pending", "failed", "done")}
        return first | {"study": described | {"doubt": jsonable(self.doubt)}} | self.result.to_dict()

    @classmethod
    def _from(cls, description: Mapping[str, Any]) -> Report:
        if description.get("schema_version", 1) != 1:
            return restore(cls, {**description, **description["study"], "result": description})
        by_arm = {
            f"arms_{key}": {arm["name"]: arm[key] for arm in description["arms"]} for key in ("pending", "failed")
        }
        return restore(cls, {**description, **by_arm, "result": description, "failures": description["last_failures"]})


@dataclass(frozen=True, slots=True)
class StudySummary(Portable):
    """A study in a list.

    Attributes:
        name, created_at, arms, goal: What it is.
        told, pending, failed: Observations, pulls under way, failed attempts.
        done: Whether the goal is reached.
    """

    name: str
    created_at: str
    arms: tuple[str, ...]
    goal: Goal
    told: int
    pending: int
    failed: int
    done: bool


class Inference:
    """What a study has observed at one moment: inferred from a copy of its search, while the study itself goes on."""

    def __init__(self, state: StudyState, quality: TrialQuality) -> None:
        self._version = state.version
        self._done = state.done
        self._spec = state.spec
        self._certificate = None if state.certificate is None else restore(Certificate, state.certificate)
        self._quality = quality
        # Pulls that are closed have been answered, so what was told beyond them was observed or imported.
        self._observed = state.told > state.asked - len(state.open)
        self.engine = state.engine.copy()
        self._results: dict[Stopped, Result] = {}

    def is_of(self, state: StudyState) -> bool:
        """Whether nothing has changed since."""
        return state.version == self._version

    @cached_property
    def expected(self) -> Expectation | None:
        """How many more pulls it may take, by simulation."""
        return expect_pulls(self.engine)

    def result(self, ended: Stopped, expect: bool) -> Result:
        """What has been found; unless it is done, `ended` is the reason given."""
        if ended not in self._results:
            found = infer(self.engine, None if self._done else ended, None, None, self._quality)
            found = replace(found, warnings=(*found.warnings, *self._refuted(found)))
            self._results[ended] = found if self._certificate is None else self._certificate.shown_in(found)
        return updated(self._results[ended], expected=self.expected) if expect else self._results[ended]

    def _refuted(self, found: Result) -> list[str]:
        was_proved = self._done and self.engine.stopped == "confidence"
        return refuted(self._spec, found, was_proved=was_proved, observed=self._observed)


def refuted(spec: StudySpec, result: Result, *, was_proved: bool, observed: bool) -> list[str]:
    """What must be said of a study that was certified by rules of an earlier version which were found wrong.

    Args:
        spec: The study.
        result: What is found by the present rules.
        was_proved: Whether the study ended because its answer was proved, by the rules of then.
        observed: Whether some of its trials were made elsewhere, and reported or imported.
    """
    if spec.first_format >= ASKING_ORDER:
        return []
    search, began = spec.search, "Certified by ramgape 0.2.0 or older"
    if was_proved and not result.goal_reached:
        wrong = "by a rule that has changed"
        if isinstance(search.question, BetterThan):
            wrong = "which returned arms that may be worse than the control by up to epsilon"
        return [
            f"{began}, {wrong}. By the present rules not all of it is proved. To go on, extend the study by a slightly "
            "smaller epsilon"
        ]
    if not (result.goal_reached and result.is_informative):
        return []
    found = []
    if result.quality.overtaken:
        found.append(
            f"{began}, which counted results as they came in: slow bad results could bias it. Check it with a new study"
        )
    if search.items is not None and search.items.population:
        found.append(
            f"{began}, which could judge equal averages, and averages at a threshold, by a rounding error. What you "
            "see is computed anew: where it differs from what was printed then, go by this"
        )
    if observed and the_bound(search.bound).compares_pairs and search.items is None:
        found.append(
            f"{began}, which did not say that arms must be independent of each other. If trials that were reported or "
            "imported share rows or blocks, import them into a new study with shared=True"
        )
    timeouts = result.quality.timeouts
    cut = [name for name in result.answer if name in timeouts]
    if cut and spec.failure == "worst" and search.direction == "minimize":
        found.append(
            f"{began}, which counted a trial that timed out as a cost of {spec.worst_reward:g}. If it costs more, "
            f"{list_names(cut)} may be no right answer. Check it with a new study, and failure='censored'"
        )
    return found


def count_info(rows: Iterable[ObservationRow]) -> dict[str, dict[str, int]]:
    """Each key of what was told with some answers, its values, and how often they came, the most frequent first."""
    found: dict[str, Counter[str]] = {}
    for row in rows:
        for key, value in json.loads(row.info or "{}").items():
            if key == OURS:
                continue
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            found.setdefault(key, Counter())[text] += 1
    return {key: dict(values.most_common()) for key, values in found.items()}


def draft_report(
    row: StudyRow, state: StudyState, failures: Iterable[FailureRow], last_rows: Iterable[ObservationRow]
) -> dict[str, Any]:
    """All that a report has but the result, from a state that is up to date."""
    names, retired = state.spec.search.names, set(state.spec.retired)
    failures = sorted(failures, key=attrgetter("failed_at"))
    reasons = Counter((names[each.arm], each.reason) for each in reversed(failures))
    failed: Counter[int] = Counter(failure.arm for failure in failures)
    pending = Counter(pull.arm for pull in state.open.values() if not pull.given_up and pull.answer is None)
    last = tuple(
        Failure(
            write_pull_id(each.token, each.number, each.attempt),
            names[each.arm],
            each.worker,
            each.reason,
            write_time(each.failed_at),
        )
        for each in failures[-LAST_FAILURES:]
    )
    return {
        "name": row.name,
        "created_at": write_time(row.created_at),
        **{name: getattr(state, name) for name in COUNTS},
        "arms_pending": {name: pending[place] for place, name in enumerate(names) if name not in retired},
        "arms_failed": {name: failed[place] for place, name in enumerate(names) if name not in retired},
        "failures": last,
        "reasons": tuple((arm, reason, times) for (arm, reason), times in reasons.items()),
        "progress": progress_of(state.engine),
        "retired": state.retired_arms,
        "info": count_info(last_rows),
        "waits_for": state.waits_for,
        "certificate": None if state.certificate is None else restore(Certificate, state.certificate),
    }


def summarize(row: StudyRow, pending: int) -> StudySummary:
    """From the row of a study alone."""
    arms, goal = read_outline(row.specification)
    counts = (row.told, pending, row.failed, row.stopped_at is not None)
    return StudySummary(row.name, write_time(row.created_at), arms, goal, *counts)


def write_time(seconds: float) -> str:
    """A moment, in universal time, to the microsecond; one that no date can have as the nearest that one can.

    >>> write_time(0.25)
    '1970-01-01T00:00:00.250000+00:00'
    """
    return datetime.fromtimestamp(max(EARLIEST, min(LATEST, seconds)), UTC).isoformat(timespec="microseconds")


def read_time(text: str) -> float:
    """What `write_time` wrote; an error for what it never would."""
    moment = datetime.fromisoformat(text)
    seconds = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    if not EARLIEST <= seconds <= LATEST:
        raise ValueError(text)
    return seconds


def failing_arm(arm: str, failures: Sequence[FailureRow], retries: int) -> FailingArm:
    """Why nothing more is asked of an arm, after these failures of its trials."""
    said = " ".join(failures[-1].reason.split()) if failures else ""  # of many lines, perhaps
    reason = f"; the last time: {said}" if said else ""
    return FailingArm(
        f"arm {shorten(arm)} has failed {plural(retries + 1, 'time')} in a row at the same pull, the limit "
        f"(retries={retries}); mend it and `retry`, or let failures count as the worst reward{reason}"
    )
