"""The numbers by which arms are compared on the page of several outcomes: objectives, then constraints."""

from __future__ import annotations

import math
from typing import Any

from ramgape.common.formatting import Digits
from ramgape.search.result import NOWHERE, Result

NOTHING = (math.nan, *NOWHERE)
Values = dict[str, tuple[float, float, float]]  # by the names of arms: the estimate, and the ends of its interval


def numbers_of(result: Result) -> list[tuple[dict[str, Any], Digits, Values]]:
    """Each number: what it is, how it is written, and its values; none for searches about a reward.

    Intervals of objectives are confidence regions, which hold for all arms at once.
    """
    if not result.details.said:
        return []
    found, regions = [], result.intervals("all")
    for each in result.objectives:
        known = {arm.name: arm.objectives.get(each.text) for arm in result.arms}
        values = {
            name: NOTHING if number is None else (number.estimate, *regions[name][each.text])
            for name, number in known.items()
        }
        better = "higher" if each.direction == "maximize" else "lower"
        found.append(_described(values, text=each.text, label=each.text, better=better))
    for limit in result.constraints:
        kept = {arm.name: arm.constraints.get(limit.text) for arm in result.arms}
        values = {name: NOTHING if at is None else (at.estimate, at.low, at.high) for name, at in kept.items()}
        better, sign = ("lower", "<=") if "<=" in limit.text else ("higher", ">=")
        label, _, end = limit.text.rpartition(f" {sign} ")
        found.append(_described(values, text=None, label=label, better=better, limit=limit.text, at=_number(end)))
    return found


def _described(values: Values, **what: Any) -> tuple[dict[str, Any], Digits, Values]:
    digits = Digits.of([each[0] for each in values.values()], [each[1:] for each in values.values()])
    written = [digits.places, digits.scientific]
    return {"limit": None, "at": None, "possible": [None, None], **what, "digits": written}, digits, values


def _number(text: str) -> float | None:
    """The number of a limit; None for one that depends on the control."""
    try:
        return float(text)
    except ValueError:
        return None
