"""What watchers of a study see at one moment: its answer in words, its counts, and a row of numbers for each arm.

It is made of the state of the search, the counters of the state and the pulls under way. So what it costs depends on
the number of arms, and not on that of observations.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

from ramgape.common.formatting import Digits
from ramgape.errors import printable
from ramgape.search.result import ArmReport, Expectation, Result, updated
from ramgape.storage.records import Moment, PullRow
from ramgape.studies.open_pulls import AVAILABLE
from ramgape.studies.report import Inference, Report, draft_report, write_time
from ramgape.studies.session import StudySession
from ramgape.studies.state import StudyState
from ramgape.views.content import ENDINGS, SIGNS, alarm_words, certified_words, is_turned, odds
from ramgape.views.sentence import answer_sentence, choose_order, decisive_place
from ramgape.views.study import count_words, expected_words, standing, study_title
from ramgape.views.table import ONE_DIRECTION, difference_of, estimate_digits, place_words
from ramgape.web.numbers import numbers_of

# The numbers of an arm, in this order. Risks are as people are shown them.
COLUMNS = (
    "arm",
    "verdict",
    "returned",
    "sure",
    "why",
    "beaten_by",
    "pulls",
    "pending",
    "failed",
    "mean",
    "mean_low",
    "mean_high",
    "std",
    "risk",
    "risk_low",
    "risk_high",
    "se",
    "risk_se",
    "behind",
    "behind_low",
    "behind_high",
    "numbers",
    "doubt",
    "margin",
    "price",
    "spent",
)
MOST_WORKERS = 200
REASON_WIDTH = 10_000  # a page breaks lines by itself
SPARE = 2  # digits beyond those that are written, for drawing


class Snapshot(NamedTuple):
    """What one transaction tells of a study.

    Attributes:
        revision: Changes whenever anything does.
        inference: A copy of its search, to infer from while the study goes on.
        draft: What a report has beside the result, but for failures.
        workers: Who has pulls: the name or None, how many, of which arms, and when the first lease ends.
        available: Pulls that wait for a worker, since a lease ran out or they were given back.
        at: When.
    """

    revision: int
    inference: Inference
    draft: dict[str, Any]
    workers: list[list[Any]]
    available: int
    at: str


def take_snapshot(session: StudySession) -> Snapshot:
    """Look at a study, brought up to date with what others have written.

    Args:
        session: The study, with its store.
    """
    with session.reading as (state, now):
        draft = draft_report(session.row, state, (), ())
        workers, available = under_way(state, now)
        inference = Inference(state, session.quality())
        return Snapshot(state.revision, inference, draft, workers, available, write_time(now.time))


def under_way(state: StudyState, now: Moment) -> tuple[list[list[Any]], int]:
    """Who has which pulls, the longest list first; and how many are available."""
    names, held = state.spec.search.names, dict[str | None, list[PullRow]]()
    available = 0
    for pull in state.open.values():
        if pull.given_up or pull.answer is not None:
            continue
        if pull.lease_until <= max(now.clock, AVAILABLE):
            available += 1
        else:
            held.setdefault(pull.worker, []).append(pull)
    rows = []
    for worker, pulls in sorted(held.items(), key=lambda pair: (-len(pair[1]), pair[0] or ""))[:MOST_WORKERS]:
        first = min(pull.lease_until for pull in pulls) - now.clock
        arms = Counter(names[pull.arm] for pull in pulls)
        rows.append([worker, len(pulls), dict(arms.most_common(3)), round(first, 1) if math.isfinite(first) else None])
    return rows, available


def make_picture(
    look: Snapshot,
    *,
    expected: Expectation | None = None,
    least: float | None = None,
    failed: Mapping[str, int] | None = None,
) -> dict[str, Any]:
    """What is seen of a study, ready for JSON.

    Args:
        look: What was seen of it.
        expected: How many more trials a forecast says.
        least: The least doubt so far, as far as that is known.
        failed: How many trials of each arm have failed, as far as that is known.
    """
    result = updated(look.inference.result("open", expect=False), expected=expected)
    report = Report(result=result, **look.draft)
    done, words = standing(report)
    doubt = report.doubt if math.isfinite(report.doubt) else None
    known = [each for each in (least, doubt) if each is not None]
    numbers = numbers_of(result)
    digits, begun = estimate_digits(result.arms), bool(result.front) or result.empty_answer != "nothing yet"
    return {
        "revision": look.revision,
        "at": look.at,
        **{name: look.draft[name] for name in ("told", "pending", "failed", "given_up", "late", "held", "done")},
        "available": look.available,
        "state": study_state(done=report.done, given_up=report.given_up, pending=report.pending),
        "title": study_title(report),
        "sentence": printable(answer_sentence(result)),
        "guarantee": printable(result.guarantee),
        "certified": certified_words(result) if result.is_informative else None,
        "rigour": result.rigour,
        "stopped": result.stopped,
        "ended": ENDINGS[result.stopped],
        "goal_reached": result.goal_reached,
        "front": list(result.front),
        "order": [arm.name for arm in choose_order(result)],
        "compared": compared_with(result),
        "begun": begun,
        "standing": words,
        "share": None if done is None else short(done, 4),
        "trials": count_words(report),
        "doubt": None if doubt is None else short(doubt, 5),
        "least": short(min(known), 5) if known else None,
        "epsilon": report.progress.epsilon,
        "relative": bool(result.details.said),  # of several outcomes: in multiples of their tolerances
        "unproved": report.progress.unproved,
        "expected": None if expected is None else [expected.pulls, expected.at_least],
        "expected_words": None if begun and expected is None else expected_words(expected, bool(result.goal.budget)),
        "limit": report.progress.limit,
        "spent": None if result.spent is None else short(result.spent, 8),
        "spend": result.goal.spend,
        "alarm": alarm_words(result) if result.alarms else None,
        "alarms": [[each.arm, SIGNS[each.kind], odds(each.evidence), each.pull] for each in result.alarms],
        "warnings": [printable(warning) for warning in result.warnings],
        "notes": list(result.notes),
        "retired": [[each.name, each.pulls, each.retired_at] for each in report.retired],
        "lines": plane_lines(result),
        "workers": look.workers,
        "digits": {name: [each.places, each.scientific] for name, each in zip(("mean", "risk"), digits, strict=True)},
        "numbers": [described for described, _, _ in numbers],
        "rows": arm_rows(report, digits, numbers, failed),
    }


def study_state(*, done: bool, given_up: int, pending: int) -> str:
    """What a study is at: "done", "failing" where something was given up, "running", or "waiting" for a worker.

    >>> study_state(done=False, given_up=0, pending=3)
    'running'
    """
    return "done" if done else "failing" if given_up else "running" if pending else "waiting"


def compared_with(result: Result) -> str | None:
    """The arm that differences are to, where the picture shows such."""
    if result.details.control is not None or not result.answer:
        return result.details.control
    leads = result.question.partition(":")[0] in ONE_DIRECTION
    return choose_order(result)[0].name if leads else None


def plane_lines(result: Result) -> list[list[Any]]:
    """What the answer goes by, as lines in the plane of the mean and the risk as it is shown."""
    side = -1.0 if is_turned(result.arms) else 1.0
    return [
        [line.mean_weight, side * line.risk_weight, line.value, printable(line.words), line.limit]
        for line in result.lines
    ]


def arm_rows(
    report: Report, digits: Sequence[Digits], numbers: Sequence[Any], failed: Mapping[str, int] | None
) -> list[list[Any]]:
    """A row for each arm, in the order of `COLUMNS`."""
    result, returned = report.result, set(report.result.front)
    of_mean, of_risk = (partial(rounded, each) for each in digits)
    place = decisive_place(result)

    def row(arm: ArmReport) -> list[Any]:
        errors = [number.se for number in arm.objectives.values()]
        value, ends = difference_of(result, arm, place) or (math.nan, (math.nan, math.nan))
        (mean_low, mean_high), (risk_low, risk_high) = arm.mean_interval, arm.risk_shown_interval
        return [
            arm.name,
            "control" if arm.name == result.control else arm.verdict,
            arm.name in returned,
            place_words(result, arm, REASON_WIDTH),
            printable(arm.why),
            arm.beaten_by,
            arm.trials,
            report.arms_pending[arm.name],
            None if failed is None else failed.get(arm.name, 0),
            *map(of_mean, (arm.mean, mean_low, mean_high, arm.std)),
            *map(of_risk, (arm.risk_shown, risk_low, risk_high)),
            *(short(error, 2) if math.isfinite(error) else None for error in [*errors, math.nan][:2]),
            *map(of_risk if place else of_mean, (value, *ends)),
            [[rounded(places, each) for each in values[arm.name]] for _, places, values in numbers],
            short(arm.doubt, 5),
            None if arm.margin is None else short(arm.margin, 5),
            None if arm.price is None else short(arm.price, 6),
            None if arm.spent is None else short(arm.spent, 6),
        ]

    return [row(arm) for arm in result.arms]


def rounded(digits: Digits, value: float) -> float | None:
    """A number with a few digits more than are written: a page draws it, and writes it as tables do."""
    if not math.isfinite(value):
        return None
    return short(value, digits.places + SPARE + 1) if digits.scientific else round(value, digits.places + SPARE)


def short(value: float, significant: int) -> float | None:
    """A number in few digits; None where JSON has none.

    >>> short(0.0123456, 3), short(float("inf"), 3)
    (0.0123, None)
    """
    return float(f"{value:.{significant}g}") if math.isfinite(value) else None
