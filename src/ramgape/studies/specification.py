"""What a study is to do: a search, and what becomes of failed trials; as text and back, without loss."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from typing import Any, Literal

from ramgape.checks import check_seed, whole
from ramgape.errors import StorageError, known_name, require, shorten
from ramgape.result import Goal
from ramgape.risks import measure_from_dict, measure_to_dict
from ramgape.spec import Spec

DEFAULT_RETRIES = 3
FAILURES = ("retry", "worst")

OUTLINE = ("goal", "epsilon", "delta", "budget", "risk_epsilon")

FORMAT = 1  # of the text: raised when a key changes its meaning or goes


@dataclass(frozen=True, slots=True)
class StudySpec:
    """A study, fully decided.

    search     the arms, the goal, the risk, and how to search
    failure    "retry" a failed trial, or count it as the "worst" reward
    retries    how often a trial is tried again before it is given up
    seed       what the seeds of the trials come from; None: from the key of the study, which is random
    """

    search: Spec
    failure: Literal["retry", "worst"]
    retries: int
    seed: int | None = None

    @property
    def worst_reward(self) -> float:
        """What a failure counts as, where it counts."""
        assert self.search.reward_range is not None
        return self.search.reward_range[0 if self.search.direction == "maximize" else 1]

    def to_text(self) -> str:
        """As JSON."""
        search = {field.name: getattr(self.search, field.name) for field in fields(self.search)}
        search["risk"] = measure_to_dict(self.search.risk)
        own = {"failure": self.failure, "retries": self.retries, "seed": self.seed}
        return json.dumps({"format": FORMAT, **own, "search": search})

    @staticmethod
    def from_text(text: str) -> StudySpec:
        """From JSON."""
        try:
            stored = json.loads(text)
            require(stored["format"] == FORMAT, "a stored specification", f"of format {FORMAT}", stored["format"])
            search = dict(stored["search"])
            search["risk"] = measure_from_dict(search["risk"])
            for name in ("names", "reward_range", "warnings"):
                search[name] = None if search[name] is None else tuple(search[name])
            return StudySpec(Spec(**search), stored["failure"], stored["retries"], stored["seed"])
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise StorageError(f"a stored specification cannot be read ({error}), got {shorten(text)}") from error

    def differences(self, other: StudySpec) -> list[str]:
        """In words: where another specification is not the same as this stored one."""
        found = []
        for name, mine in _flat(self).items():
            given = _flat(other)[name]
            if mine != given:
                found.append(f"{name} is {_worded(mine)} in the store, {_worded(given)} here")
        return found


def read_outline(text: str) -> tuple[tuple[str, ...], Goal]:
    """The arms and the goal in a stored specification: all that a list of studies shows, at a fraction of the cost."""
    try:
        search = json.loads(text)["search"]
        arms, goal = tuple(search["names"]), Goal(*(search[name] for name in OUTLINE))
        numbers = (goal.epsilon, goal.delta, goal.budget, goal.risk_epsilon)
        usable = goal.kind in ("confidence", "budget") and all(isinstance(arm, str) for arm in arms)
        require(usable and all(isinstance(each, float | int | None) for each in numbers), "it", "arms and a goal", text)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise StorageError(f"a stored specification cannot be read ({error}), got {shorten(text)}") from error
    return arms, goal


def make_study_spec(search: Spec, failure: object, retries: object, seed: object) -> StudySpec:
    """Check what a study adds to a search."""
    known_name(failure, FAILURES, "failure")
    if failure == "worst":
        allowed = "'retry' for rewards without a range, which have no worst one"
        require(search.reward_range is not None, "failure", allowed, failure)
    retries = whole(retries, "retries", "a whole number of at least 0", 0)
    return StudySpec(search, failure, retries, None if seed is None else check_seed(seed))  # type: ignore[arg-type]


def _flat(spec: StudySpec) -> dict[str, Any]:
    search = {field.name: getattr(spec.search, field.name) for field in fields(spec.search)}
    search.pop("warnings")  # follow from the rest
    search["arms"] = search.pop("names")
    return {**search, "failure": spec.failure, "retries": spec.retries, "seed": spec.seed}


def _worded(value: Any) -> str:
    return str(value) if hasattr(value, "formula") else shorten(list(value) if isinstance(value, tuple) else value)
