"""Tolerances of several objectives and constraints: whose is which.

`epsilon={"accuracy": 0.02, "cost": 0.001}` names outcomes, or objectives and constraints by their text: "mean(cost)",
"minimize mean(cost)", "quantile(latency, 0.95) <= 2". The tolerance of an outcome is in its unit. It serves every
statistic in that unit, such as means and quantiles, of the outcome itself, but no variance, share or expression.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping, Sequence
from typing import Any

from ramgape.common.checks import check_number
from ramgape.errors import InvalidSpec, RamgapeError, shorten, suggestion
from ramgape.search.objectives import Objective, Wish, make_constraints, make_objectives
from ramgape.search.statistic import Statistic


def tolerances_of(epsilon: Any, wishes: Sequence[Wish]) -> tuple[float, ...]:
    """The tolerance of every objective and constraint, each in its own unit.

    Args:
        epsilon: A mapping; a single number where one outcome is involved.
        wishes: Objectives and constraints.

    Raises:
        InvalidSpec: One is absent of an objective, or names nothing; a constraint without one has 0.
    """
    if not isinstance(epsilon, Mapping):
        return _alone(epsilon, wishes)
    by_text = {_meant(key, wishes): _number(key, value) for key, value in epsilon.items()}
    return tuple(_tolerance(wish, by_text) for wish in wishes)


def _alone(epsilon: Any, wishes: Sequence[Wish]) -> tuple[float, ...]:
    if not isinstance(epsilon, str | bool) and epsilon == 0:  # which is nothing in every unit
        return (0.0,) * len(wishes)
    names = list(dict.fromkeys(name for wish in wishes for name in wish.statistic.of.outcomes))
    units = {(wish.statistic.power, str(wish.statistic.of)) for wish in wishes}
    if len(names) > 1 or len(units) > 1:
        example = {wish.statistic.text: ... for wish in wishes if isinstance(wish, Objective)}
        allowed = f"a number for each outcome or objective, {example}".replace("Ellipsis", "...")
        raise InvalidSpec(what="epsilon", allowed=allowed, given=shorten(epsilon))
    return (_number("epsilon", epsilon),) * len(wishes)


def _number(key: object, value: Any) -> float:
    what = "epsilon" if key == "epsilon" else f"epsilon of {key}"
    if isinstance(value, str):
        raise InvalidSpec(
            what=what,
            allowed="a number: shares in per cent are not available with several outcomes",
            given=shorten(value),
        )
    return check_number(value, what, "a finite number of at least 0", lambda number: 0.0 <= number < math.inf)


def _meant(key: object, wishes: Sequence[Wish]) -> str:
    """The outcome, or the text of the objective or constraint, that a key names."""
    names = {name for wish in wishes for name in wish.statistic.of.outcomes}
    texts = {wish.text for wish in wishes} | {wish.statistic.text for wish in wishes}
    if isinstance(key, str):
        if key in names:
            return key
        for read in (Statistic.parse, make_objectives, make_constraints):
            with contextlib.suppress(RamgapeError):
                found = read(key)
                text = found.text if isinstance(found, Statistic) else ", ".join(each.text for each in found)
                if text in texts:
                    return text
    there = [*sorted(names), *sorted(texts)]
    hint = suggestion(str(key), there)
    allowed = f"for what is asked about ({', '.join(there)})"
    raise InvalidSpec(what="epsilon", allowed=allowed, given=shorten(key), hint=hint)


def _tolerance(wish: Wish, by_text: Mapping[str, float]) -> float:
    statistic = wish.statistic
    for text in (wish.text, statistic.text):
        if text in by_text:
            return by_text[text]
    alone = statistic.of.alone
    if alone is not None and alone in by_text and statistic.power == 1:
        return by_text[alone]
    if not isinstance(wish, Objective):
        return 0.0
    why = f": {{{statistic.text!r}: ...}}" if alone not in by_text else f" ({alone} is in another unit)"
    raise InvalidSpec(what="epsilon", allowed=f"given for {statistic.text!r}, too{why}", given=shorten(dict(by_text)))
