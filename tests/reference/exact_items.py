"""What is true of a test set whose scores are written in decimal digits: from the definitions, in fractions.

Nothing here knows the package. A standard deviation is compared by its square. Only where a number is neither a
fraction nor the root of one (entropic risks, scores with a standard deviation in them) it has 60 digits, of which 40
are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cache
from typing import Any, NamedTuple

Scores = Sequence[tuple[Fraction, ...]]  # of each arm, more being better


class Truth(NamedTuple):
    """The right answer, and the arms outside it that would be as right."""

    answer: list[bool]
    tied: list[bool]


def mean_of(scores: Sequence[Fraction]) -> Fraction:
    return sum(scores, Fraction(0)) / len(scores)


def variance_of(scores: Sequence[Fraction]) -> Fraction:
    mean = mean_of(scores)
    return mean_of([(score - mean) ** 2 for score in scores])


def digits(number: Fraction) -> Decimal:
    return Decimal(number.numerator) / Decimal(number.denominator)


def root_of(number: Fraction) -> Fraction:
    """In 40 digits."""
    with localcontext(Context(prec=60)):
        return Fraction(round(digits(number).sqrt(), 40))


def entropic_of(scores: Sequence[Fraction], gamma: Fraction) -> Fraction:
    with localcontext(Context(prec=60)):
        total = sum((digits(-gamma * score).exp() for score in sorted(scores)), Decimal(0))
        found = (total / len(scores)).ln() / digits(gamma)
        return Fraction(round(found, 40))


@cache
def risk_of(scores: tuple[Fraction, ...], risk: str, sign: int = 1) -> tuple[Fraction, Callable[[Fraction], Fraction]]:
    """A number that is in the order of the risk, and how a ceiling becomes one to compare it with."""
    name, _, text = risk.partition(":")
    parameter = Fraction(text) if text else Fraction(0)
    if name == "std":
        return variance_of(scores), lambda ceiling: ceiling * abs(ceiling)
    if name == "entropic":
        return entropic_of(scores, parameter), lambda ceiling: ceiling
    if name == "semivariance":
        found = mean_of([max(sign * parameter - score, Fraction(0)) ** 2 for score in scores])
    elif name == "shortfall":
        found = mean_of([Fraction(score < sign * parameter) for score in scores])
    else:  # variance, mean-variance
        found = variance_of(scores) - parameter * mean_of(scores)
    return found, lambda ceiling: ceiling


def weighed(scores: tuple[Fraction, ...], risk: str, sign: int, weight: Fraction) -> Fraction:
    """mean - weight risk."""
    mean, (found, _) = mean_of(scores), risk_of(scores, risk, sign)
    if risk != "std":
        return mean - weight * found
    with localcontext(Context(prec=60)):
        return Fraction(round(digits(mean) - digits(weight) * digits(found).sqrt(), 40))


def truth(scores: Scores, task: str, risk: str, sign: int = 1, **limits: Any) -> Truth:
    """Of a question by name, with its limits as fractions. Costs, sign -1, and limits of their means are negated."""
    means, risks = [mean_of(row) for row in scores], [risk_of(row, risk, sign)[0] for row in scores]
    count, inside = len(scores), [True] * len(scores)
    if task == "pareto":
        beaten = [
            any(means[other] > means[arm] and risks[other] < risks[arm] for other in range(count))
            for arm in range(count)
        ]
        return Truth([not each for each in beaten], [False] * count)
    if task == "better-than":
        needed, both = means[0] + limits["margin"], limits["both"]
        ahead = [means[arm] > needed and (not both or risks[arm] < risks[0]) for arm in range(count)]
        return Truth([arm > 0 and each for arm, each in enumerate(ahead)], [False] * count)
    values = means if task in ("best", "top") else [-each for each in risks]
    if task == "best-score":
        values = [weighed(row, risk, sign, limits["weight"]) for row in scores]
    if "ceiling" in limits:
        inside = [
            found <= compared(limits["ceiling"]) for found, compared in (risk_of(row, risk, sign) for row in scores)
        ]
    if "floor" in limits:
        inside = [mean >= limits["floor"] for mean in means]
    order = sorted((arm for arm in range(count) if inside[arm]), key=lambda arm: (-values[arm], arm))
    chosen = order[: limits.get("m", 1)]
    tied = [inside[arm] and arm not in chosen and values[arm] == values[chosen[-1]] for arm in range(count)]
    return Truth([arm in chosen for arm in range(count)], tied)
