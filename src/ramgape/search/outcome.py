"""What a trial gives: its reward, and perhaps what it has cost and what else is to be remembered of it."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ramgape.common.checks import LARGEST, as_float, is_awaitable
from ramgape.errors import InvalidReward, require, shorten

if TYPE_CHECKING:
    from ramgape.search.spec import Spec

TOLD_PRICES = "told"  # of prices that come with the answers
OURS = "ramgape"  # in what is kept with an answer: what we measured ourselves, which is no remark of the user's


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came out of a trial, where that is more than a reward: a function that makes trials may return it.

    Attributes:
        reward: The reward.
        price: What the trial has cost, where prices are told.
        info: Whatever else is to be kept with the answer, by a study: a mapping that JSON can hold.
        block: What the trial shares with trials of other arms, in a study whose arms share blocks: a text or a whole
            number.
        outcomes: Where trials have several outcomes: these, by name, in place of a reward.

    Examples:
        >>> import ramgape
        >>> def pull(arm, rng):
        ...     tokens = 100 if arm == "short" else 1000
        ...     return ramgape.Outcome(float(rng.random() < 0.5), price=1e-5 * tokens)
        >>> options = {"reward_range": (0, 1), "question": "best", "spend": 1.0, "seed": 1}
        >>> round(ramgape.identify(pull, ["short", "long"], **options).spent, 3)
        1.0
    """

    reward: Any = None
    price: float | None = None
    info: Mapping[str, Any] | None = None
    block: str | int | None = None
    outcomes: Mapping[str, float] | None = None


def outcome_of(given: Any) -> Outcome:
    """What a trial gave, be it a reward alone."""
    return given if isinstance(given, Outcome) else Outcome(given)


def check_outcome(spec: Spec, given: object, arm: str) -> Outcome:
    """The reward and the price that a trial of an arm gave, or an error."""
    outcome = outcome_of(given)
    allowed = "absent outside a study, which knows the blocks of earlier trials"
    require(outcome.block is None, "block", allowed, outcome.block, InvalidReward)
    return Outcome(check_reward(spec, outcome.reward, arm), check_price(outcome.price, spec))


def check_price(price: object, spec: Spec) -> float | None:
    """What a trial has cost, if that was said; it must be where all trials may cost so much and no more."""
    if price is None:
        unlimited = spec.price != TOLD_PRICES or spec.spend is None
        require(unlimited, "price", "told with every answer, since spend limits their sum", price, InvalidReward)
        return None
    if spec.price != TOLD_PRICES:
        known = "they are stated" if spec.price is not None else "there are none: price='told' has them told"
        raise InvalidReward(what="price", allowed=f"absent where prices are not told ({known})", given=repr(price))
    return told_price(price)


def told_price(price: object) -> float:
    """A price that was told: nothing is one, too."""
    paid = as_float(price)
    require(0.0 <= paid <= LARGEST, "price", f"a number from 0 to {LARGEST:g}", price, InvalidReward)
    return paid + 0.0


def check_reward(spec: Spec, reward: object, arm: str | None = None) -> float:
    """A reward as a float, or an error: nothing that is not a reward is ever counted as one.

    Args:
        spec: What is searched.
        reward: What a trial gave.
        arm: The arm, which an error names.
    """
    low, high = spec.possible_rewards
    if type(reward) is float and low <= reward <= high:  # as nearly always
        return reward
    if is_awaitable(reward):
        with contextlib.suppress(Exception):
            reward.close()  # type: ignore[attr-defined] # a coroutine warns if it was never awaited
        allowed = "a number, not an awaitable: only `identify` and `Study.run` await what `pull` gives"
        raise InvalidReward(what="reward", allowed=allowed, given=shorten(reward), hint=of_arm(arm))
    if isinstance(reward, Mapping) and reward:
        names = ", ".join(str(name) for name in reward)
        allowed = f"a number, where trials give {names}: say what you want of them, objectives=['maximize mean(...)']"
        raise InvalidReward(what="reward", allowed=allowed, given=shorten(reward), hint=of_arm(arm))
    value = number_of(reward)
    if not low <= value <= high:  # also false for NaN
        size = "a finite number" if spec.reward_range is None else "a number"
        stated = "" if spec.cv is None else ", since cv states that none is negative"
        allowed = f"{size} from {low:g} to {high:g}{stated}"
        raise InvalidReward(what="reward", allowed=allowed, given=shorten(reward), hint=of_arm(arm))
    return value


def number_of(value: object) -> float:
    """A number of any type as a float; NaN for anything else."""
    # float() would read texts and buffers, too, and take the real part of some complex numbers.
    if hasattr(type(value), "__float__") and not isinstance(value, str | bytes | np.complexfloating):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            return float(value)  # type: ignore[arg-type]
    return math.nan


def of_arm(arm: object) -> str:
    """What an error about a reward says behind it; nothing where the arm is not known.

    >>> of_arm("A")
    " for arm 'A'"
    """
    return "" if arm is None else f" for arm {shorten(arm)}"
