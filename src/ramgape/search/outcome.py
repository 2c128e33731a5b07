"""What a trial gives: its reward, and perhaps what it has cost and what else is to be remembered of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ramgape.common.checks import LARGEST, as_float
from ramgape.errors import InvalidReward, require

TOLD_PRICES = "told"  # of prices that come with the answers


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came out of a trial, where that is more than a reward: a function that makes trials may return it.

    Attributes:
        reward: The reward.
        price: What the trial has cost, where prices are told.
        info: Whatever else is to be kept with the answer, by a study: a mapping that JSON can hold.

    Examples:
        >>> import ramgape
        >>> def pull(arm, rng):
        ...     tokens = 100 if arm == "short" else 1000
        ...     return ramgape.Outcome(float(rng.random() < 0.5), price=1e-5 * tokens)
        >>> options = {"reward_range": (0, 1), "task": "best-mean", "spend": 1.0, "seed": 1}
        >>> round(ramgape.identify(pull, ["short", "long"], **options).spent, 3)
        1.0
    """

    reward: float
    price: float | None = None
    info: Mapping[str, Any] | None = None


def outcome_of(given: Any) -> Outcome:
    """What a trial gave, be it a reward alone."""
    return given if isinstance(given, Outcome) else Outcome(given)


def check_price(price: object, stated: object) -> float | None:
    """What a trial has cost, if that was said: nothing is a price, too. `stated` is what a search knows of prices."""
    if price is None:
        return None
    if stated != TOLD_PRICES:
        known = "they are stated" if stated is not None else "there are none: price='told' has them told"
        raise InvalidReward(what="price", allowed=f"absent where prices are not told ({known})", given=repr(price))
    paid = as_float(price)
    require(0.0 <= paid <= LARGEST, "price", f"a number from 0 to {LARGEST:g}", price, InvalidReward)
    return paid + 0.0
