"""What must be true of the rows of a study.

A store may be damaged, and kernels check nothing: an arm that does not exist would be written to all the same. So what
is read is looked at before it is used. Each function here says in words what is wrong, and nothing if all is well.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace

import numpy as np
from numpy.typing import NDArray

from ramgape.checks import LARGEST, MOST
from ramgape.core.table import DECISIONS
from ramgape.errors import RamgapeError, shorten
from ramgape.spec import Spec, make_spec
from ramgape.storage.records import FailureRow, ObservationRow, PullRow, StudyRow
from ramgape.storage.rows import damaged
from ramgape.studies.specification import StudySpec, make_study_spec

RESOLVED = ("names", "goal", "risk_epsilon", "warnings")  # follow from the rest, or are given otherwise
LEAST_DECISIONS = {"queued": -1}  # the others are arms


def refuse_damage(where: str, study: str, problems: Iterable[str]) -> None:
    """An error about the first problem, if there is one."""
    for problem in problems:
        damaged(where, f"of study {shorten(study)}, {problem}")


def problems_since(
    told: int,
    spec: StudySpec,
    row: StudyRow,
    pulls: Iterable[PullRow],
    arms: NDArray[np.int64],
    rewards: NDArray[np.float64],
) -> Iterator[str]:
    """What is wrong with what a ledger takes in that knows so many observations already."""
    yield from problems_of_row(row, len(spec.search.names))
    yield from problems_of_pulls(row, len(spec.search.names), pulls)
    yield from problems_of_rewards(spec, told, row.told, arms, rewards)


def problems_of_spec(spec: StudySpec) -> Iterator[str]:
    """A specification that nobody could have asked for."""
    search = spec.search
    options = {field.name: getattr(search, field.name) for field in fields(Spec) if field.name not in RESOLVED}
    if search.risk_epsilon is not None:
        options["epsilon"] = (search.epsilon, search.risk_epsilon)
    try:
        again = make_study_spec(make_spec(search.names, **options), spec.failure, spec.retries, spec.seed)
        again = replace(again, search=replace(again.search, warnings=search.warnings))
        same = again == spec and all(isinstance(warning, str) for warning in search.warnings)
    except (RamgapeError, ArithmeticError, TypeError, ValueError) as error:
        yield f"the specification cannot be meant ({error})"
        return
    if not same:
        yield "the specification contradicts itself"


def problems_of_row(row: StudyRow, arm_count: int) -> Iterator[str]:
    """Counters that cannot be, and what else stands in the row of a study."""
    if not re.fullmatch("[0-9a-f]+", row.key, re.ASCII):
        yield f"the key is {shorten(row.key)}"
    for name in ("revision", "asked", "told", "failed"):
        if not 0 <= getattr(row, name) <= MOST:
            yield f"{name} is {getattr(row, name)}"
    if row.stopped_at is not None and not 0 < row.stopped_at <= row.told:
        yield f"the end is at {row.stopped_at} of {row.told} observations"
    try:
        decision = json.loads(row.decision or "[]")
        usable = not row.decision or len(decision) == len(DECISIONS)
        for name, value in zip(DECISIONS, decision, strict=False):
            usable = usable and type(value) is int and LEAST_DECISIONS.get(name, 0) <= value < arm_count
    except (TypeError, ValueError, RecursionError):
        usable = False
    if not usable:
        yield f"where the rule stands cannot be read, {shorten(row.decision)}"


def problems_of_pulls(row: StudyRow, arm_count: int, pulls: Iterable[PullRow]) -> Iterator[str]:
    """Open pulls that nobody can have handed out."""
    for pull in pulls:
        if not (0 <= pull.number < row.asked and 0 <= pull.arm < arm_count and 1 <= pull.attempt <= MOST):
            yield f"pull {pull.number} is none that was handed out"
        elif not (0 <= pull.failures <= pull.attempt and 0 <= pull.failed_attempt <= pull.attempt):
            yield f"pull {pull.number} has failed more often than it was tried"
        elif math.isnan(pull.lease_until):
            yield f"pull {pull.number} has a lease that is no time"


def problems_of_rewards(
    spec: StudySpec, start: int, stop: int, arms: NDArray[np.int64], rewards: NDArray[np.float64]
) -> Iterator[str]:
    """What should be the arms and rewards from one place to before another."""
    if len(arms) != stop - start:
        yield f"there are {len(arms)} of the {stop - start} observations from place {start} on"
    low, high = spec.search.reward_range or (-LARGEST, LARGEST)
    wrong = (arms < 0) | (arms >= len(spec.search.names)) | ~((rewards >= low) & (rewards <= high))
    for place in np.flatnonzero(wrong):
        yield f"observation {start + place} is of arm {arms[place]} with reward {float(rewards[place])!r}"


def problems_of_observations(
    spec: StudySpec, row: StudyRow, start: int, stop: int, rows: Sequence[ObservationRow]
) -> Iterator[str]:
    """What should be all observations from one place to before another."""
    if len(rows) != stop - start:
        yield f"there are {len(rows)} of the {stop - start} observations from place {start} on"
    count = len(spec.search.names)
    low, high = spec.search.reward_range or (-LARGEST, LARGEST)
    for place, seen in enumerate(rows, start):
        if not (0 <= seen.arm < count and low <= seen.reward <= high):
            yield f"observation {place} is of arm {seen.arm} with reward {seen.reward!r}"
        elif seen.number is None and seen.attempt != 0:
            yield f"observation {place} is an attempt at no pull"
        elif seen.number is not None and not (0 <= seen.number < row.asked and 1 <= seen.attempt <= MOST):
            yield f"observation {place} answers pull {seen.number}, which is none that was handed out"


def problems_of_failures(row: StudyRow, arm_count: int, failures: Sequence[FailureRow]) -> Iterator[str]:
    """Failures that cannot be."""
    if len(failures) != row.failed:
        yield f"there are {len(failures)} of {row.failed} failures"
    for failure in failures:
        if not (0 <= failure.number < row.asked and 0 <= failure.arm < arm_count and 1 <= failure.attempt <= MOST):
            yield f"a failure is one of pull {failure.number}, which is none that was handed out"
