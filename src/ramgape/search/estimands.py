"""What some bounds ask of a search: that it is about means alone, or about averages over rounds of all arms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ramgape import registry
from ramgape.bounds import BOUNDS, OWN_BOUNDS, Bound, the_bound
from ramgape.errors import require
from ramgape.options import DEFAULT_DRIFT

if TYPE_CHECKING:
    from ramgape.search.spec import Spec

ROUNDS = "each arm's average over the rounds so far"
IN_TURN = "round-robin"


def check_estimand(asked: dict[str, Any]) -> dict[str, Any]:
    """Whether what is asked can be told by the bound; and what it asks of the order of pulls."""
    bound = asked["bound"]
    if not isinstance(bound, Bound):
        own = [name for name in OWN_BOUNDS if name == asked["policy"]]
        registry.find("bound", bound, ["auto", *BOUNDS, *own])
    if bound == "auto" or asked["goal"] not in the_bound(bound).goals:
        return {}
    chosen = the_bound(bound)
    allowed = (
        f"about means alone with bound {bound}, which tells nothing of risks: best, top:2 or "
        "better-than:control=NAME; for others bound heavy, with a stated kurtosis"
    )
    require(not (chosen.means_only and asked["question"].about_risk), "question", allowed, str(asked["question"]))
    if not chosen.in_rounds:
        return {}
    allowed = f"auto or {IN_TURN} with bound {bound}, whose averages are over rounds of all arms, in random order"
    require(asked["policy"] in ("auto", IN_TURN), "policy", allowed, asked["policy"])
    allowed = f"absent or 'off' with bound {bound}, which lets rewards change and depend on each other"
    require(asked["drift"] in (None, "off", DEFAULT_DRIFT), "drift", allowed, asked["drift"])
    return {"policy": IN_TURN, "interleave": True, "drift": None}


def estimand_of(bound: str | Bound) -> str:
    """What means and risks are of, where that is not a distribution that stays the same; else empty."""
    return ROUNDS if the_bound(bound).in_rounds else ""


def counts_in_order(spec: Spec) -> bool:
    """Whether an arm's answers must count in the order of its pulls, whichever comes first.

    Two arms are compared on the same items. And an average over rounds is over the first of them: if quick answers
    counted before slow ones, and rewards had to do with how long they take, it would be over a choice of rounds.
    """
    return spec.items is not None or the_bound(spec.bound).in_rounds
