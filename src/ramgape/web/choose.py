"""A single arm to choose, by `Result.choose`: what is known of it, and how it compares with another."""

from __future__ import annotations

import math
from typing import Any

from ramgape.common.formatting import Digits, confidence
from ramgape.errors import NoAnswer, known_name, require
from ramgape.search.inference import level_of_intervals
from ramgape.search.outcome_spec import OutcomeSpec
from ramgape.search.result import ArmReport, Result
from ramgape.search.spec import Spec
from ramgape.views.sentence import name_list, one_name
from ramgape.views.table import difference_of, heading_of
from ramgape.web.snapshot import compared_with

Difference = tuple[float, tuple[float, float]]


def choose(
    result: Result,
    spec: Spec,
    *,
    by: str | None = None,
    max_risk: float | None = None,
    rho: float | None = None,
    baseline: str | None = None,
) -> dict[str, Any]:
    """An arm of the answer, with what is known of it, ready for JSON.

    Args:
        result: What is known of all arms.
        spec: What was asked of them.
        by, max_risk, rho: As for `Result.choose`. Default: the arm that is best in the first objective.
        baseline: An arm to compare it with.

    Raises:
        NoAnswer: No arm is such an answer.
    """
    if baseline is not None:
        known_name(baseline, [arm.name for arm in result.arms], "baseline")
    require(bool(result.answer), "the answer", "one with at least one arm, to choose from", result.answer, NoAnswer)
    wanted = result.objectives[0].text if (by, max_risk, rho) == (None, None, None) else by
    arm = result.arm(result.choose(wanted, max_risk=max_risk, rho=rho))
    proof = result.guarantee
    if len(result.answer) > 1:
        names = name_list(list(result.answer))
        proof = f"The guarantee covers the answer, {names}. The choice among them rests on the estimates."
    also = " The study is not done: this may change." * (not result.goal_reached and result.stopped == "open")
    compared = None if baseline in (None, arm.name) else result.arm(str(baseline))
    return {
        "arm": arm.name,
        "sentence": f"{one_name(arm.name)}: {numbers_in_words(result, arm)}{also}",
        "proof": proof,
        "beside": None if compared is None else beside_baseline(result, spec, arm, compared),
    }


def numbers_in_words(result: Result, arm: ArmReport) -> str:
    """What an arm measured, with standard errors, in words."""
    parts = []
    for place, number in enumerate(arm.objectives.values()):
        error = f" ± {number.se:.2g}" if math.isfinite(number.se) else ""
        digits = Digits.of([number.estimate], [(0.0, 10.0 * number.se)] if number.se > 0.0 else [])
        parts.append(f"{heading_of(result, place)} {digits.text(number.estimate)}{error}")
    text = ", ".join(parts)
    return f"{text[:1].upper()}{text[1:]}."


def beside_baseline(result: Result, spec: Spec, arm: ArmReport, other: ArmReport) -> str:
    """How an arm compares with another: by their difference where that is known, else by the regions of both."""
    regions = result.intervals("all")
    direct, by_regions, words = [], [], []
    for place, objective in enumerate(result.objectives):
        direct.append(_direct(result, arm, other, place))
        (low, high), (from_, to) = (regions[each.name][objective.text] for each in (arm, other))
        value = arm.objectives[objective.text].estimate - other.objectives[objective.text].estimate
        by_regions.append((value, (low - to, high - from_)))
    known = [each for each in direct if each is not None]
    shown = known if len(known) == len(direct) else by_regions
    for place, (objective, each) in enumerate(zip(result.objectives, shown, strict=True)):
        words.append(side_words(heading_of(result, place), *each, better_low=objective.direction == "minimize"))
    level = spec.confidence_delta if isinstance(spec, OutcomeSpec) else level_of_intervals(spec)
    how = "approximately " if result.rigour == "approximate" else ""
    together = f"all intervals hold together {how}with probability {confidence(level)}"
    rest = "95% intervals, each by itself" if shown is known else together
    return f"Compared with {one_name(other.name)}, {one_name(arm.name)} has {', and '.join(words)} ({rest})."


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
