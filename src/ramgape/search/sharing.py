"""Arms that share rows or blocks: a day, a game, a seed; there their rewards may depend on each other in any way.

A product of evidence about two arms needs arms that are independent of each other. Intervals of single arms do not:
each is about one arm's own rewards, and a union over the arms holds whatever their dependence. So a search whose arms
share blocks goes by intervals. Two conditions are left, and only the first can be seen in the data:

1. An arm has one trial a block at most: two trials of one block may depend on each other.
2. No arm skips a block because of the rewards in it: what is left of its trials would be a selection.
"""

from __future__ import annotations

from typing import Any, NoReturn

from ramgape.assumptions import UNKNOWN
from ramgape.bounds import the_bound
from ramgape.errors import InvalidData, require, shorten


def check_sharing(asked: dict[str, Any]) -> dict[str, Any]:
    """Whether arms share blocks, and so whether evidence about two arms may be multiplied."""
    shared = asked["shared"]
    require(shared is None or isinstance(shared, bool), "shared", "true or false", shared)
    require(not shared or asked["items"] is None, "shared", "absent with items, which all arms share anyway", shared)
    if shared and asked["bound"] != "auto":
        allowed = (
            "one with intervals for each arm where arms share blocks: comparisons of two arms need independent arms"
        )
        require(not the_bound(asked["bound"]).compares_pairs, "bound", allowed, asked["bound"])
    # On shared seeds nothing pairs risks: what intervals of all of delta say of those is more.
    in_risk = asked["seeds"] is not None and asked["assumption"] == UNKNOWN and asked["question"].about_risk
    return {"shared": bool(shared), "pairs": asked["question"].compares_pairs and not (shared or in_risk)}


def refuse_block(arm: str, block: str) -> NoReturn:
    """Complain of a block without a name, or with two trials of one arm."""
    require(block != "", "the block", "a name that is not empty", block, InvalidData)
    raise InvalidData(
        f"block {shorten(block)} has two trials of arm {shorten(arm)}, which may depend on each other",
        hint=": give their mean as one trial, or name smaller blocks",
    )
