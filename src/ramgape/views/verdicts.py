"""What is said of one arm in a table: its verdict, how sure that is, and why; of an undecided one what is missing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from ramgape.common.formatting import round_up, short_names
from ramgape.views.content import SYMBOLS, is_turned, risk_heading

if TYPE_CHECKING:
    from ramgape.search.result import ArmReport, ControlVerdict, Result, Verdict

SHORTEST = 8  # columns that a name in a reason has at least
MARK_OF: dict[ControlVerdict, Verdict] = {
    "better": "in",
    "not better": "out",
    "not worse": "undecided",
    "open": "undecided",
}


def verdict_words(result: Result, arm: ArmReport, symbols: bool) -> str:
    """The verdict in a word."""
    if arm.name == result.control:
        return "control"
    against = control_verdict(result, arm)
    if against is not None:
        return f"{SYMBOLS[MARK_OF[against]]} {against}" if symbols else against
    return f"{SYMBOLS[arm.verdict]} {arm.verdict}" if symbols else arm.verdict


def control_verdict(result: Result, arm: ArmReport) -> ControlVerdict | None:
    """What is proved of an arm against the control; None for the control itself, and where there is none."""
    return next((row.verdict for row in result.differences if row.name == arm.name), None)


def sure_words(result: Result, arm: ArmReport) -> str:
    """How sure the verdict is; of an undecided arm, on which side it stands until then."""
    if arm.name == result.control:
        return ""
    if control_verdict(result, arm) in ("not worse", "open"):
        return "seems better" if arm.name in result.answer else ""
    if arm.verdict == "undecided":
        begun = result.answer or result.empty_answer != "nothing yet"
        return "in so far" if arm.name in result.answer else "out so far" if begun else ""
    approximate = result.rigour == "approximate"
    if arm.certificate == "none":
        return "not sure" if approximate else "not proved"
    if arm.certificate != "within-epsilon":
        return "approximate" if approximate else "proved"
    goal = result.goal
    # A share, or one tolerance for each objective, is told above the table.
    number = "epsilon" if goal.epsilon is None or goal.risk_epsilon is not None else round_up(goal.epsilon)
    return f"{'approx.' if approximate else 'within'} {number}"


class Reason(NamedTuple):
    """Words around the name of another arm, if there is one."""

    before: str = ""
    name: str | None = None
    after: str = ""


def names_and_reasons(
    result: Result, arms: Sequence[ArmReport], limit: int, together: bool
) -> tuple[list[str], list[str]]:
    """The names of arms, and why each has its verdict or what is missing for one; names are cut to `limit` columns.

    Those in reasons are cut to less, if names and reasons are `together` in a column.
    """
    found = [_reason(result, arm) for arm in arms]
    # The same names in the same order: where they get numbers, these are the same in both.
    known = dict.fromkeys([*(arm.name for arm in arms), *(each.name for each in found if each.name is not None)])
    words = max((len(each.before) + len(each.after) for each in found if each.name is not None), default=0)
    names, others = short_names(known, limit), short_names(known, max(limit - words * together, SHORTEST))
    reasons = [f"{before}{'' if name is None else others[name]}{after}" for before, name, after in found]
    return [names[arm.name] for arm in arms], reasons


def _reason(result: Result, arm: ArmReport) -> Reason:
    """Why an arm has its verdict."""
    if arm.name == result.control:
        return Reason()
    returned, limited = arm.name in result.answer, has_limit(result)
    against = control_verdict(result, arm)
    if arm.verdict == "undecided" or against in ("not worse", "open"):
        return _missing(result, arm, returned)
    if result.task == "pareto":
        return Reason() if returned or arm.dominated_by is None else _beaten(result, arm, result.arm(arm.dominated_by))
    rival = arm.rival if returned else arm.rival or arm.dominated_by
    if rival is None:
        return Reason(("keeps" if returned else "misses") + " the limit" if limited else "")
    if result.control is not None and not returned:
        epsilon = result.goal.epsilon if arm.certificate == "within-epsilon" else None
        return Reason("not ahead of ", rival, f" by {round_up(epsilon)}" if epsilon else "")
    return Reason("ahead of " if returned else "behind ", rival)


def has_limit(result: Result) -> bool:
    """Whether the task has a ceiling or a floor."""
    return ":max-risk=" in result.task or ":min-mean=" in result.task


def _beaten(result: Result, arm: ArmReport, by: ArmReport) -> Reason:
    """By whom; one that is as good up to the tolerance is no better."""
    side = -1.0 if result.direction == "minimize" else 1.0
    return Reason(
        "beaten by " if side * by.mean >= side * arm.mean and by.risk <= arm.risk else "no better than ", by.name
    )


def _missing(result: Result, arm: ArmReport, returned: bool) -> Reason:
    """What is not known yet: the question that more trials are to answer."""
    rival, epsilon = arm.rival, result.goal.epsilon or 0.0
    if not arm.trials:
        return Reason("no trials yet")
    if not math.isfinite(arm.doubt) or (rival is None and not has_limit(result)):
        return Reason("all rewards are equal" if arm.trials > 1 and arm.variance == 0.0 else "too few trials")
    near = arm.doubt < epsilon or (epsilon == 0.0 and arm.doubt < 0.0)
    if near and result.control is None:  # what is left to prove is said beside others
        return Reason("waits for ", rival) if rival is not None else Reason("waits for others")
    if (
        has_limit(result) and not returned
    ):  # it would have to keep the limit and be better: what the estimates leave open
        rival = arm.dominated_by
    if rival is None:
        return Reason("misses the limit?" if returned else "keeps the limit?")
    if result.task == "pareto":
        return Reason("beaten by ", rival, "?") if returned else _may_beat(result, arm, result.arm(rival))
    return (
        Reason("is ", rival, " better?") if returned and result.control is None else Reason("better than ", rival, "?")
    )


def _may_beat(result: Result, arm: ArmReport, other: ArmReport) -> Reason:
    """In which objective an arm outside may still be better than the one that is to stand for it."""
    in_mean, goal = result.goal.epsilon or 0.0, result.goal
    in_risk = in_mean if goal.risk_epsilon is None else goal.risk_epsilon
    ahead = arm.mean_interval[1] - other.mean_interval[0]
    if result.direction == "minimize":
        ahead = other.mean_interval[1] - arm.mean_interval[0]
    safer = other.risk_interval[1] - arm.risk_interval[0]
    if ahead >= in_mean and safer >= in_risk:
        return Reason("beats ", other.name, "?")
    label = risk_heading(result.risk, result.alpha, result.risk_label)
    risk = label if len(label) <= len("scaled risk") and not is_turned(result.arms) else "risk"
    return Reason("beats ", other.name, f" in {'mean' if ahead >= in_mean else risk}?")
