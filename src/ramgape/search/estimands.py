"""What some bounds ask of a search: that it is about means alone, or about averages over rounds of all arms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ramgape import registry
from ramgape.bounds import BOUNDS, OWN_BOUNDS, Bound, the_bound

if TYPE_CHECKING:
    from ramgape.search.spec import Spec


def check_estimand(asked: dict[str, Any]) -> dict[str, Any]:
    """Whether what is asked can be told by the bound; and what it asks of the order of trials."""
    bound = asked["bound"]
    if not isinstance(bound, Bound):
        own = [name for name in OWN_BOUNDS if name == asked["policy"]]
        registry.find("bound", bound, ["auto", *BOUNDS, *own])
    if bound == "auto" or asked["goal"] not in the_bound(bound).goals:
        return {}
    return the_bound(bound).terms.ask(asked)


def estimand_of(bound: str | Bound) -> str:
    """What means and risks are of, where that is not a distribution that stays the same; else empty."""
    return the_bound(bound).terms.estimand


def counts_in_order(spec: Spec) -> bool:
    """Whether an arm's answers must count in the order of its trials, whichever comes first.

    Two arms are compared on the same items. And an average over rounds is over the first of them: if quick answers
    counted before slow ones, and rewards had to do with how long they take, it would be over a choice of rounds.
    """
    return spec.items is not None or the_bound(spec.bound).terms.in_rounds
