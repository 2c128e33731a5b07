"""A single arm to choose: which it is, what is proved of that choice, and how it compares with another.

The arm is chosen by the estimates. What the intervals of all arms prove of the choice is said with the tolerance up to
which they do; they hold together, whichever question is asked of them afterwards.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from ramgape.common.formatting import Digits, confidence
from ramgape.errors import NoAnswer, known_name, require
from ramgape.questions import BestMean, Boxes, Question, make_question
from ramgape.questions.best import Best
from ramgape.search.differences import difference_between
from ramgape.search.inference import level_of_intervals, wanted_of
from ramgape.search.result import ArmReport, Result
from ramgape.search.spec import Spec
from ramgape.views.sentence import name_list, one_name
from ramgape.views.table import difference_of, heading_of, shown_risks
from ramgape.web.snapshot import compared_with

Difference = tuple[float, tuple[float, float]]


def choose(
    result: Result,
    spec: Spec,
    *,
    question: str | None = None,
    max_risk: float | None = None,
    rho: float | None = None,
    baseline: str | None = None,
) -> dict[str, Any]:
    """An arm, with what is known of it, ready for JSON.

    Args:
        result: What is known of all arms.
        spec: What was asked of them.
        question: What the arm is to be the answer to; unless something else is given, the study's own question.
        max_risk: The most risk that is acceptable, as for `Result.best`; or
        rho: How much variance a unit of mean is worth, as for `Result.best`.
        baseline: An arm to compare it with.

    Raises:
        NoAnswer: No arm is such an answer.
    """
    given = f"question={question!r}, max_risk={max_risk!r}, rho={rho!r}"
    several = sum(each is not None for each in (question, max_risk, rho)) > 1
    require(not several, "choose", "given at most one of question, max_risk and rho", given)
    if baseline is not None:
        known_name(baseline, [arm.name for arm in result.arms], "baseline")
    observed = all(math.isfinite(arm.mean) and math.isfinite(arm.risk) for arm in result.arms)
    require(observed, "the arms", "observed, every one of them, to choose from", result.answer, NoAnswer)
    if rho is not None:
        names = [result.best(rho=rho)]
        sign = "+" if spec.direction == "minimize" else "-"
        words = f"{one_name(names[0])}: the least variance {sign} {rho:g} mean in the returned set"
        proof = "That rests on the estimates alone."
    else:
        asked = (
            BestMean(max_risk)
            if max_risk is not None
            else spec.question
            if question is None
            else make_question(question)
        )
        asked.check(spec.possible)  # what it warns of is no error here: a slider may be at its end
        wanted = replace(spec, question=asked)
        names = [result.best(max_risk=max_risk)] if max_risk is not None else answer_by_estimates(result, wanted)
        require(bool(names), "the question", "one that some arm answers, by the estimates", str(asked), NoAnswer)
        what = asked.sought(wanted_of(wanted)) or f"the {asked.called}"
        words = choice_words(what, names, best_first(result, names))
        own = max_risk is None and str(asked) == result.task
        proof = result.guarantee if own else proof_of(result, wanted, names)
    arm = result.arm(best_first(result, names))
    words, also = f"{words}. {numbers_of(result, arm)}", not result.goal_reached and result.stopped == "open"
    beside = None if baseline in (None, arm.name) else result.arm(str(baseline))
    return {
        "arm": arm.name,
        "arms": names,
        "mean": arm.mean,
        "mean_interval": finite(arm.mean_interval),
        "risk": arm.risk,
        "risk_interval": finite(arm.risk_interval),
        "risk_shown": arm.risk_shown,
        "sentence": f"{words}{' The study is not done: this may change.' if also else ''}",
        "proof": proof,
        "beside": None if beside is None else beside_baseline(result, arm, beside, level_of_intervals(spec)),
    }


def choice_words(what: str, names: list[str], best: str) -> str:
    """An arm, and what it is; of several the best in mean.

    >>> choice_words("the Pareto set", ["A", "B"], "B")
    'B: the best mean of A and B, the Pareto set'
    """
    if len(names) == 1:
        return f"{one_name(best)}: {what}"
    return f"{one_name(best)}: the best mean of {name_list(names)}, {what}"


def best_first(result: Result, names: list[str]) -> str:
    """Of several arms the one with the best mean."""
    side = -1.0 if result.direction == "minimize" else 1.0
    return max(names, key=lambda name: side * result.arm(name).mean)


def answer_by_estimates(result: Result, spec: Spec) -> list[str]:
    """The arms that answer a question if all are exactly as they were measured; the study's own answer to its own."""
    if str(spec.question) == result.task:
        return list(result.answer)
    estimates = on_one_scale(result, spec)
    inside = spec.oriented_question.true_answer(estimates.mean_low, estimates.risk_low)
    return [arm.name for arm, chosen in zip(result.arms, inside, strict=True) if chosen]


def on_one_scale(result: Result, spec: Spec, intervals: bool = False) -> Boxes:
    """Estimates, or intervals, of all arms, more mean being better and one tolerance serving both objectives."""
    side = -1.0 if spec.direction == "minimize" else 1.0
    means = [arm.mean_interval if intervals else (arm.mean, arm.mean) for arm in result.arms]
    risks = [arm.risk_interval if intervals else (arm.risk, arm.risk) for arm in result.arms]
    turned = np.sort(side * np.array(means), axis=1)
    scaled = spec.risk_weight * np.array(risks)
    return Boxes(turned[:, 0], turned[:, 1], scaled[:, 0], scaled[:, 1])


def proof_of(result: Result, spec: Spec, names: list[str]) -> str:
    """What the intervals prove of these arms as the answer, or that it is nothing useful."""
    question: Question = spec.oriented_question
    answer = np.array([arm.name in names for arm in result.arms])
    tolerance = float(question.tolerances(answer, on_one_scale(result, spec, intervals=True))[0].max())
    spread = max(result.spread[0], spec.risk_weight * max(result.spread[1], 0.0))
    if (
        not math.isfinite(tolerance)
        or tolerance > spread
        or is_vacuous(question, on_one_scale(result, spec), tolerance)
    ):
        return "That rests on the estimates: the intervals are still too wide to prove anything useful of it."
    claim = spec.question.claim(wanted_of(spec, names, max(tolerance, 0.0)))
    how = "Approximately, with" if result.rigour == "approximate" else "With"
    return f"{how} probability {confidence(level_of_intervals(replace(spec)))}, by the intervals: {claim}"


def is_vacuous(question: Question, estimates: Boxes, tolerance: float) -> bool:
    """Whether no arm keeps a limit by so much, by the estimates: what is said of such arms says nothing."""
    if not isinstance(question, Best) or question.floor is None or tolerance <= 0.0:
        return False
    return bool((question.score.other.of(estimates.mean_low, estimates.risk_low) < question.floor + tolerance).all())


def numbers_of(result: Result, arm: ArmReport) -> str:
    """What an arm measured, with standard errors, in words."""
    parts = []
    for place, number in enumerate(arm.objectives.values()):
        error = f" ± {number.se:.2g}" if math.isfinite(number.se) else ""
        digits = Digits.of([number.estimate], [(0.0, 10.0 * number.se)] if number.se > 0.0 else [])
        parts.append(f"{heading_of(result, place)} {digits.text(number.estimate)}{error}")
    text = ", ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."


def beside_baseline(result: Result, arm: ArmReport, other: ArmReport, level: float) -> dict[str, Any]:
    """How an arm compares with another: by their difference where that is known, else by the intervals of both."""
    direct = [_direct(result, arm, other, place) for place in range(len(result.objectives))]
    row = next((row for row in result.differences if row.name == arm.name and other.name == result.control), None)
    row = row or difference_between(arm, other)
    ((risk, risk_interval),) = shown_risks(result, [row])
    by_boxes = [(row.mean, row.mean_interval), (risk, risk_interval)][: len(direct)]
    known = [each for each in direct if each is not None]
    shown = known if len(known) == len(direct) else by_boxes
    parts = [
        side_words(heading_of(result, place), *each, better_low=result.objectives[place].direction == "minimize")
        for place, each in enumerate(shown)
    ]
    how = "approximately " if result.rigour == "approximate" else ""
    together = f"all intervals hold together {how}with probability {confidence(level)}"
    rest = "95% intervals, each by itself" if shown is known else together
    mean, mean_interval = shown[0]
    return {
        "arm": other.name,
        "mean": mean,
        "mean_interval": finite(mean_interval),
        "risk": row.risk,
        "risk_interval": finite(row.risk_interval),
        "sentence": f"Compared with {one_name(other.name)}, {one_name(arm.name)} has {', and '.join(parts)} ({rest}).",
    }


def _direct(result: Result, arm: ArmReport, other: ArmReport, place: int) -> Difference | None:
    """The difference of two arms of which one is what the other is compared with, as the table has it."""
    reference = compared_with(result)
    if reference == other.name:
        return difference_of(result, arm, place)
    found = difference_of(result, other, place) if reference == arm.name else None
    return None if found is None else (-found[0], (-found[1][1], -found[1][0]))


def side_words(what: str, value: float, interval: tuple[float, float], *, better_low: bool) -> str:
    """A difference, whether it is one for sure, and for whom.

    >>> side_words("mean", 0.2, (0.1, 0.3), better_low=False)
    'a better mean, by 0.20 (0.10 to 0.30)'
    >>> side_words("mean", 0.2, (-0.1, 0.5), better_low=False)
    'a mean that is not told apart: +0.20 (-0.10 to 0.50)'
    """
    digits = Digits.of([value], [interval])
    low, high = interval
    if low > 0.0 or high < 0.0:
        word = "better" if (high < 0.0) == better_low else "worse"
        ends = sorted((abs(low), abs(high)))
        return f"a {word} {what}, by {digits.text(abs(value))} ({' to '.join(digits.interval(*ends))})"
    sign = "+" if value > 0.0 else ""
    return f"a {what} that is not told apart: {sign}{digits.text(value)} ({' to '.join(digits.interval(low, high))})"


def finite(interval: tuple[float, float]) -> list[float | None]:
    """An interval as JSON has it."""
    return [end if math.isfinite(end) else None for end in interval]
