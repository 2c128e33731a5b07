"""How many trials an arm needs before anything can be said of it, and whether a search may make so many."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from ramgape.assumptions import HEAVY, UNKNOWN
from ramgape.bounds import the_bound
from ramgape.common.formatting import round_up
from ramgape.options import DEFAULT_DELTA, DEFAULT_MAX_TRIALS

if TYPE_CHECKING:
    from ramgape.search.spec import Spec

EVENLY = "round-robin"
MOST_DOUBLINGS = 60


def with_reach(spec: Spec, *, auto: bool) -> Spec:
    """Say so where too few trials are allowed for a first statement about every arm; a cap is then shared out evenly.

    A rule that goes by intervals would spend such a cap on the first arms while those are infinite, and name others by
    two trials each. Rules for a budget go by estimates, which needs no such help.

    Args:
        spec: What is asked.
        auto: Whether the policy is the default one, which may be another.
    """
    if spec.limit >= DEFAULT_MAX_TRIALS:  # the default
        return spec
    needed, count = trials_needed(spec), len(spec.names)
    if needed * count <= spec.limit:
        return spec
    even = auto and spec.goal == "confidence"
    warning = (
        f"each arm needs about {float(round_up(float(needed), 2)):,.0f} trials before anything can be said of it; "
        f"{spec.limit:,} are too few for {count:,} arms{', and are shared out evenly' if even else ''}"
    )
    return replace(spec, warnings=(*spec.warnings, warning), policy=EVENLY if even else spec.policy)


def trials_needed(spec: Spec) -> int:
    """Of an arm, before its interval is finite; rewards in a range have one from the start, Gaussian ones very soon.

    A budget for rewards of which nothing is declared asks for a best guess and no statement: it needs none.
    """
    if spec.assumption == UNKNOWN and spec.goal == "confidence":
        return max(spec.first_looks) if spec.question.about_risk else spec.first_looks[0]
    if spec.assumption == HEAVY and (spec.goal == "budget" or str(spec.bound) == HEAVY):
        delta = DEFAULT_DELTA if spec.delta is None else spec.delta
        return _for_heavy(spec, the_bound(HEAVY).level(len(spec.names), delta, about_risk=spec.question.about_risk))
    return 0


def _for_heavy(spec: Spec, level: float) -> int:
    """By what is stated of the tails alone: no reward makes the interval finite sooner (bounds/heavy.py)."""
    from ramgape.bounds import heavy

    events = 3.0 if spec.kurtosis is not None else 1.0 if spec.sigma_max is not None else 0.0
    level += math.log((events + (0.0 if spec.cv is None else 2.0)) * (1.0 + 1.0 / heavy.CRUDE))

    def speaks(number: int) -> bool:
        count, found = float(number), False
        if spec.kurtosis is not None:
            ratio = heavy.least_ratio(count, spec.kurtosis, level)
            found = ratio > 0.0 and heavy.threshold(count, ratio, level) < 1.0
        if spec.sigma_max is not None:
            found = found or heavy.known_distance(count, 1.0, 1.0, level) < math.inf
        found = found and heavy.threshold(count, count * heavy.CRUDE * math.exp(level), level) < 1.0
        return found or (spec.cv is not None and heavy.least_ratio(count, 1.0 + spec.cv**2, level) > 0.0)

    low, high = 1, 2
    for _ in range(MOST_DOUBLINGS):
        if speaks(high):
            break
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if speaks(middle) else (middle, high)
    return high
