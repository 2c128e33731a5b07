"""What a bound promises of a search, as one object: `Guarantee`; and what each bound brings to it, its `Terms`.

Everything that shows or stores a guarantee takes it from here, and nothing else asks a bound what it assumes. A bound
with an assumption of another kind brings terms of its own, in its own file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from ramgape.assumptions import DEFAULT_DRIFT, HEAVY
from ramgape.common.formatting import confidence
from ramgape.errors import require

Kind = Literal["finite-sample", "asymptotic"]
FINITE_SAMPLE: Kind = "finite-sample"
ASYMPTOTIC: Kind = "asymptotic"

Rigour = Literal["proved", "approximate"]  # the same in the words of results
PROVED: Rigour = "proved"
APPROXIMATE: Rigour = "approximate"

IN_TURN = "round-robin"
SHARED = ", where arms may depend on each other within a block, and no arm skips a block because of its rewards"


@dataclass(frozen=True)
class Guarantee:
    """What a search may claim.

    Attributes:
        level: The probability that any claim of the search is wrong, at most that or, if asymptotic, about that.
        kind: "finite-sample" if the level holds as it stands, "asymptotic" if only nearly so, the more trials the
            better.
        assumptions: What it assumes of the rewards, in words.
        estimand: What means and risks are of, where that is not one distribution for each arm; empty otherwise.
        because: What makes it asymptotic, where only a part of what is measured does.
    """

    level: float
    kind: Kind
    assumptions: str
    estimand: str = ""
    because: str = ""

    def sentence(self, claim: str, conditions: Sequence[str] = (), remarks: Sequence[str] = ()) -> str:
        """A claim with its probability and all that it assumes.

        Args:
            claim: What is claimed, up to the full stop.
            conditions: What else must be so.
            remarks: Sentences behind the claim.
        """
        nearly = f"Approximately, {f'because of {self.because}, ' if self.because else ''}with probability"
        how = "With probability at least" if self.kind == FINITE_SAMPLE else nearly
        assumed = ", and ".join([self.assumptions, *(f"if {condition}" for condition in conditions)])
        return " ".join([f"{how} {confidence(self.level)}, for {assumed}: {claim}", *remarks])


# ----------------------------------------------------------------------- what is assumed, in words


def draws(spec: Any, bound: Any) -> str:
    """Independent draws from one distribution for each arm, with what is stated of it."""
    together = SHARED if spec.shared else ", with arms independent of each other" if bound.compares_pairs else ""
    if spec.shares_seeds:
        return "seeds (blocks) that are independent draws, shared by all arms, which may depend on each other there"
    if spec.reward_range is not None:
        low, high = spec.reward_range
        return f"independent draws from one distribution for each arm, in [{low:g}, {high:g}]{together}"
    known = f", with standard deviation at most {spec.sigma_max:g}" if bound.terms.stated else _stated(spec)
    rounded = "" if spec.resolution is None else f", rounded to {spec.resolution:g}"
    law = "Gaussian distribution" if spec.rewards.normal else "distribution"
    return f"independent draws from one {law} for each arm{known}{rounded}{together}"


def _stated(spec: Any) -> str:
    """What is stated of heavy tails."""
    if spec.assumption != HEAVY:
        return ""
    parts = (
        ("kurtosis is at most {:g}", spec.kurtosis),
        ("standard deviation is at most {:g}", spec.sigma_max),
        ("standard deviation is at most {:g} times its mean", spec.cv),
    )
    words = " and whose ".join(text.format(value) for text, value in parts if value is not None)
    return f"{'' if spec.cv is None else ', never negative'}, whose {words}"


def any_rewards(spec: Any, bound: Any) -> str:
    """Nothing but a range."""
    low, high = spec.reward_range
    estimand = bound.terms.estimand
    return f"any rewards in [{low:g}, {high:g}], however they drift or depend on each other, about {estimand}"


def items_in_random_order(spec: Any, bound: Any) -> str:
    """Scores on the items of a test set."""
    low, high = spec.reward_range or (0.0, 1.0)
    scores = f"scores in [{low:g}, {high:g}]"
    if not spec.items.population:
        return f"items that are independent draws from a larger world, the same for all arms, with {scores}"
    values = "means and risks" if spec.question.about_risk else "means"
    return f"{values} over {shown_items(spec)}, asked in random order, with {scores}"


def shown_items(spec: Any) -> str:
    """What means are taken over.

    >>> from ramgape.search.spec import make_spec
    >>> shown_items(make_spec(["A", "B"], items=range(300), reward_range=(0, 1), epsilon=0.1))
    'these 300 items'
    """
    trials = "" if spec.items.repeats == 1 else f"{spec.items.repeats:,} trials of each of "
    return f"{trials}these {len(spec.items.values):,} items"


# ---------------------------------------------------------------------- what is asked of a search


def anything(asked: dict[str, Any]) -> dict[str, Any]:
    """Nothing is asked of a search, and nothing settled."""
    return {}


def means_alone(asked: dict[str, Any]) -> dict[str, Any]:
    """A question about means."""
    allowed = (
        f"about means alone with bound {asked['bound']}, which tells nothing of risks: best, top:2 or "
        "better-than:control=NAME; for others bound heavy, with a stated kurtosis"
    )
    require(not asked["question"].about_risk, "question", allowed, str(asked["question"]))
    return {}


def rounds_of_all_arms(asked: dict[str, Any]) -> dict[str, Any]:
    """Trials in rounds of all arms, in random order, of rewards that may change."""
    bound = asked["bound"]
    allowed = f"auto or {IN_TURN} with bound {bound}, whose averages are over rounds of all arms, in random order"
    require(asked["policy"] in ("auto", IN_TURN), "policy", allowed, asked["policy"])
    allowed = f"absent or 'off' with bound {bound}, which lets rewards change and depend on each other"
    require(asked["drift"] in (None, "off", DEFAULT_DRIFT), "drift", allowed, asked["drift"])
    return {"policy": IN_TURN, "interleave": True, "drift": None}


@dataclass(frozen=True)
class Terms:
    """On what terms a bound holds: all that its guarantee is made of.

    Attributes:
        kind: As in `Guarantee`.
        assume: From a specification and the bound: what is assumed of the rewards, in words.
        estimand: As in `Guarantee`.
        stated: Options that must be stated, each with what it is.
        ask: From the options of a search: those that it settles; raises `InvalidSpec` where the bound cannot serve it.
        means_only: It tells nothing of risks, and serves questions about means alone.
        in_rounds: It tells of averages over the rounds so far, in which every arm is tried once.
    """

    kind: Kind = FINITE_SAMPLE
    assume: Callable[[Any, Any], str] = draws
    estimand: str = ""
    stated: tuple[tuple[str, str], ...] = ()
    ask: Callable[[dict[str, Any]], dict[str, Any]] = anything
    means_only: bool = False
    in_rounds: bool = False


PLAIN = Terms()
NEARLY = Terms(kind=ASYMPTOTIC)
OF_ITEMS = Terms(assume=items_in_random_order)
KNOWN_DEVIATION = Terms(stated=(("sigma_max", "the largest standard deviation an arm may have"),))
OF_MEANS = Terms(stated=KNOWN_DEVIATION.stated, ask=means_alone, means_only=True)
OF_ROUNDS = Terms(
    assume=any_rewards,
    estimand="each arm's average over the rounds so far",
    ask=rounds_of_all_arms,
    in_rounds=True,
)
