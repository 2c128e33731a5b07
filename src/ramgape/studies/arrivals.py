"""Arms that come and go.

A study that expects N arms and begins with K shares 0.9 delta among these K, and keeps 0.1 delta for the N - K that may
come later, in equal parts: w = 0.9 / K and 0.1 / (N - K) of delta, which sum to 1. An arm may be added, or retired,
because of what was seen. Proof: the j-th arm that ever joins has the weight w_j, fixed before the first reward. Given
all that is known when it joins, its rewards are yet to be drawn, so its box ever fails with probability at most
w_j delta, whatever led to its joining. Over all arms that ever join this sums to delta at most. While all boxes hold,
everything that they say of the arms then present is true: who is present does not matter to it. What a retired arm had
of delta is not given back.

This is about boxes, one for each arm by itself. Comparisons of pairs take all arms to be there from the start
(docs/theory/comparisons.md, section 10), so such a study has boxes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, cast

from ramgape.bounds import the_bound, usual_bound
from ramgape.common.checks import SMALLEST, check_number, is_text, whole
from ramgape.errors import InvalidSpec, known_name, require, shorten
from ramgape.options import Options
from ramgape.search.spec import Spec, make_spec

if TYPE_CHECKING:
    from ramgape.studies.specification import StudySpec

FIRST_SHARE = 0.9  # of delta, for the arms that a study begins with


@dataclass(frozen=True, slots=True)
class ArmChange:
    """An arm that came, or went.

    Attributes:
        arm: Its name.
        kind: "added" or "retired".
        told: Observations that there were.
        changed_at: When.
    """

    arm: str
    kind: Literal["added", "retired"]
    told: int
    changed_at: str


@dataclass(frozen=True, slots=True)
class RetiredArm:
    """What is recorded of an arm that takes part no longer.

    Attributes:
        name: Of the arm.
        retired_at: When it went.
        pulls: How often it was pulled, with answers that came since while the study went on.
        mean, std: Of its rewards; NaN without any.
    """

    name: str
    retired_at: str
    pulls: int
    mean: float
    std: float


def with_reserve(arms: Any, asked: dict[str, Any], search: Spec, expected: Any) -> tuple[Spec, int]:
    """The search of a study that expects more arms: one by boxes. Its number of arms, checked."""
    least = len(search.names) + 1
    allowed = f"a whole number of at least {least}: the {least - 1} arms there are, and those that may come later"
    expected = whole(expected, "expected_arms", allowed, least)
    allowed = "absent under a budget, which has no delta to share"
    require(search.goal == "confidence", "expected_arms", allowed, expected)
    require(
        search.items is None, "expected_arms", "absent with items, whose bounds take all arms to be there", expected
    )
    if the_bound(search.bound).compares_pairs:
        allowed = "one with intervals for each arm where arms may come later: comparisons of pairs take all to be there"
        require(asked["bound"] == "auto", "bound", allowed, asked["bound"])
        boxes = usual_bound(search.assumption, search.risk.made_of, search.goal, pairs=False)
        search = make_spec(arms, **cast(Options, asked | {"bound": boxes}))
    return search, expected


def present(spec: StudySpec) -> Spec:
    """What is searched among the arms that are there, each with its own part of delta."""
    search = spec.search
    if spec.expected_arms is None:
        return search
    begun = first_count(spec)
    parts = [FIRST_SHARE / begun] * begun
    parts += [(1.0 - FIRST_SHARE) / (spec.expected_arms - begun)] * (len(search.names) - begun)
    kept = [place for place, name in enumerate(search.names) if name not in spec.retired]
    price = search.price
    return replace(
        search,
        names=tuple(search.names[place] for place in kept),
        price=tuple(price[place] for place in kept) if isinstance(price, tuple) else price,
        shares=tuple(parts[place] for place in kept),
        expected_arms=spec.expected_arms,
    )


def first_count(spec: StudySpec) -> int:
    """How many arms a study began with."""
    return len(spec.search.names) - sum(change.kind == "added" for change in spec.arm_changes)


def with_arm(spec: StudySpec, name: Any, price: Any, told: int, moment: str) -> StudySpec:
    """The specification with one more arm."""
    search = spec.search
    require(isinstance(name, str) and bool(name) and is_text(name), "an arm", "a name that is text", name)
    allowed = "a name that no arm of the study has, or had: none is used twice"
    require(name not in search.names, "an arm", allowed, name)
    if spec.expected_arms is None:
        allowed = (
            "kept for arms that come later when the study is created (expected_arms): there is nothing left for one"
        )
        raise InvalidSpec(what="a share of delta", allowed=allowed)
    allowed = f"one of {spec.expected_arms} at most, which delta is shared among (expected_arms); all of them have come"
    require(len(search.names) < spec.expected_arms, "an arm", allowed, name)
    prices = search.price
    if isinstance(prices, tuple):
        what = f"the price of {shorten(name)}"
        price = check_number(price, what, "a finite number above 0", lambda value: value >= SMALLEST)
        prices = (*prices, price)
    else:
        require(price is None, "price", "absent for a study whose prices are not stated", price)
    added = replace(search, names=(*search.names, name), price=prices)
    return replace(spec, search=added, arm_changes=(*spec.arm_changes, ArmChange(name, "added", told, moment)))


def without_arm(spec: StudySpec, name: Any, told: int, moment: str) -> StudySpec:
    """The specification with one arm less among those that take part."""
    require(name not in spec.retired, "an arm", "retired once", name)
    known_name(name, spec.present.names, "an arm to retire")
    if spec.expected_arms is None:
        allowed = "created with expected_arms, for arms that come or go: its proofs are about all arms at once"
        raise InvalidSpec(what="a study", allowed=allowed)
    control = getattr(spec.search.question, "control", None)
    require(
        name != control, "an arm to retire", f"another one than the control of question {spec.search.question}", name
    )
    left = replace(spec, arm_changes=(*spec.arm_changes, ArmChange(name, "retired", told, moment)))
    require(len(left.present.names) >= 2, "the arms that are left", "two at least", list(left.present.names))
    left.present.question.check(left.present.possible)
    return left
