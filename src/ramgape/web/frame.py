"""What a page shows of a study before anything is known of its observations: what was asked, in words.

From the specification alone, so that the page of a study with a million observations stands while these are read.
"""

from __future__ import annotations

import json
from typing import Any

from ramgape.errors import printable
from ramgape.search.explained import jsonable
from ramgape.search.inference import infer
from ramgape.search.result import Result
from ramgape.search.single_outcome import make_engine
from ramgape.search.spec import Spec
from ramgape.storage.records import StudyRow
from ramgape.studies.report import write_time
from ramgape.studies.specification import StudySpec
from ramgape.views.content import facts, risk_axis, shows_plane
from ramgape.views.report import settings
from ramgape.views.study import goal_of
from ramgape.web.snapshot import COLUMNS

UNKNOWN = ("Arms", "Seed")  # what a study has of its own
NEVER_NEGATIVE = ("std", "variance", "semivariance", "shortfall")


def make_frame(row: StudyRow, spec: StudySpec) -> dict[str, Any]:
    """The facts of a study that do not change with its observations.

    Args:
        row: Of the study in its store.
        spec: What it is to do.
    """
    search = spec.present
    asked = infer(make_engine(search, None, keep=False), "open")
    costs = search.direction == "minimize"
    said = dict(facts(asked))
    described: dict[str, Any] = jsonable(
        {
            "id": row.id,
            "name": row.name,
            "created_at": write_time(row.created_at),
            "columns": list(COLUMNS),
            "arms": list(search.names),
            "retired": list(spec.retired),
            "control": asked.control,
            "goal": {"kind": search.goal, "words": goal_of(asked)},
            "epsilon": search.epsilon,
            "delta": search.delta,
            "rigour": asked.rigour,
            "task": asked.task,
            "answer_name": asked.answer_name,
            "drawn": "panels" if asked.details.said else "plane" if shows_plane(asked) else "rows",
            "sought": said["Question"],
            "method": said["Method"],
            "direction": search.direction,
            "about_risk": asked.about_risk,
            "mean": {
                "label": "mean cost" if costs else "mean reward",
                "better": "lower" if costs else "higher",
                "possible": list(search.reward_range or (None, None)),
            },
            "risk": {
                "label": "" if asked.details.said else printable(risk_words(asked)),
                "better": "higher" if shows_turned_risk(search) else "lower",
                "possible": [0.0 if asked.risk.startswith(NEVER_NEGATIVE) else None, None],
                "turned": shows_turned_risk(search),
            },
            "has_prices": search.price is not None,
            "settings": [list(pair) for pair in settings(asked) if pair[0] not in UNKNOWN]
            + [list(pair) for pair in of_trials(spec)],
            "specification": json.loads(row.specification),
        }
    )
    return described


def shows_turned_risk(search: Spec) -> bool:
    """Whether people are shown risks with the other sign, more being better."""
    return search.risk.shown(1.0, search.direction == "minimize") < 0.0


def risk_words(asked: Result) -> str:
    """What people call the risk, at an axis; the mean-variance by its formula."""
    axis = risk_axis(asked)
    if axis is not None:
        return axis[0].lower() + axis[1:]
    return f"risk {asked.risk_formula}" if asked.alpha in (None, 1.0) else f"scaled risk, {asked.risk_formula}"


def of_trials(spec: StudySpec) -> list[tuple[str, str]]:
    """What becomes of trials, in words."""
    told = [("Failures", f"tried again up to {spec.retries} times, then given up")]
    if spec.failure == "worst":
        told = [("Failures", f"count as the worst reward, {spec.worst_reward:g}")]
    if spec.failure == "censored":
        told = [("Failures", f"count as {spec.worst_reward:g} or more")]
    if spec.expired == "fail":
        told.append(("Leases", "who does not answer in time has failed"))
    order = "results count in the order of asking" if spec.in_order else "results count as they come in"
    told.append(("Order", order))
    if spec.expected_arms is not None:
        told.append(("Arms to come", f"up to {spec.expected_arms:,} in all"))
    return told
