"""The bounds by name, and the one table of which bound serves which noise, risk and goal.

A bound is a few kernels (see core/learning.py), in a module of this package or brought by an object from outside:

    interval          (problem, count, average, variance, level, low, high)   the mean of values in [0, 1]
    moment_intervals  (row, problem)                                          mean and variance of Gaussian rewards
    moments_box       (row, past, search, problem)                            the box of a mean-variance
    box               (row, past, search, problem)                            a box, whatever the risk

One of them is enough. Besides there may be `constants(record, arm_count, delta)`, which writes into the problem what
they need; `due(row)`, for boxes that are not made with every pull; `remember(row, past, problem, value)`, if the bound
keeps sums of its own; `mean_ahead`, and perhaps `risk_ahead`, if it compares two arms in another way than by their
boxes (core/comparisons.py); `unknown_first`, an open kernel around `decide`, if arms of which nothing is known come
before others.
`BOUNDS` is the only list; a module is loaded, and its kernels compiled, when it is first used.
"""

from __future__ import annotations

import importlib
import math
import sys
from dataclasses import dataclass
from typing import Any

from ramgape import registry
from ramgape.assumptions import ASSUMPTIONS, UNKNOWN
from ramgape.bounds.guarantee import (
    APPROXIMATE,
    ASYMPTOTIC,
    KNOWN_DEVIATION,
    NEARLY,
    OF_ITEMS,
    OF_MEANS,
    OF_ROUNDS,
    PLAIN,
    PROVED,
    Guarantee,
    Rigour,
    Terms,
)
from ramgape.errors import require
from ramgape.risks.table import MEAN, MEANS, MOMENTS, NORMAL, RISKS, ROOT, UNRANGED

CONFIDENCE, BUDGET = ("confidence",), ("budget",)
BOUNDED, GAUSSIAN, EVERY = ("bounded",), ("gaussian",), tuple(ASSUMPTIONS)
# Of risks, as far as a noise has use for them.
KINDS = {
    UNKNOWN: (UNRANGED,),
    "bounded": (MOMENTS, ROOT, MEAN, MEANS),
    "gaussian": (MOMENTS, ROOT, NORMAL),
    "heavy": (MOMENTS, ROOT),
    "items": (MOMENTS, ROOT, MEAN),
}
__all__ = ["BOUNDS", "Bound", "Guarantee", "Terms", "resolve_bound", "the_bound", "usual_bound"]


@dataclass(frozen=True)
class Bound:
    """What a bound is for, and where its kernels are.

    Args:
        name: As it is given in a search.
        source: The module that implements it, by name within this package, or anything that has its kernels.
        assumptions: The assumptions on rewards under which it is valid, by name.
        serves: What the risks that it serves are made of (risks/table.py).
        meaning: In a line.
        goals: "confidence" if its boxes prove something, "budget" if they steer only.
        narrows: Boxes start at what is possible and are intersected over time.
        sides: How many chances of e^-level an arm takes: of the mean and of the risk, from above and from below.
        mean_sides: How many of them the interval of the mean takes, which is all that some tasks need; unless stated,
            all.
        spent: The part of delta that the boxes take.
        columns: How much memory it needs for itself, behind that of the risk.
        collects: It remembers of each reward what the statistics of other bounds do not have: it tells only of a
            search of its own.
        compares_pairs: It compares two arms in another way than by their boxes, and brings `mean_ahead` and perhaps
            `risk_ahead` (core/comparisons.py).
        paired: It compares arms on seeds that they share, and needs such.
        once: What it tells holds for one look at trials whose number was fixed beforehand.
        designates: It may prove an answer that was fixed beforehand, by the rewards since then, where epsilon is 0.
        explores: Its width has a constant of exploration, by the names and the function that it brings.
        boxless: It makes no boxes.
        terms: What it assumes, and what its statements are about: what its guarantees are made of.
    """

    name: str
    source: Any
    assumptions: tuple[str, ...]
    serves: tuple[str, ...]
    meaning: str
    goals: tuple[str, ...] = CONFIDENCE
    narrows: bool = True
    sides: float = 4.0
    mean_sides: float | None = None
    spent: float = 1.0
    columns: int = 0
    collects: bool = False
    compares_pairs: bool = False
    paired: bool = False
    once: bool = False
    designates: bool = False
    explores: bool = False
    boxless: bool = False
    terms: Terms = PLAIN

    def __str__(self) -> str:
        return self.name

    def guarantee(self, spec: Any, level: float) -> Guarantee:
        """What a search may claim by this bound.

        Args:
            spec: Of the search.
            level: The accepted probability that a claim is wrong.
        """
        return Guarantee(level, self.terms.kind, self.terms.assume(spec, self), self.terms.estimand)

    @property
    def rigour(self) -> Rigour:
        """Whether its boxes hold with the probability that they state, or only nearly so."""
        return APPROXIMATE if self.terms.kind == ASYMPTOTIC else PROVED

    @property
    def kernels(self) -> Any:
        """What has its kernels as attributes."""
        if isinstance(self.source, str):
            return importlib.import_module(f"ramgape.bounds.{self.source}")
        return self.source

    @property
    def risks(self) -> tuple[str, ...]:
        """The risks of the table that it serves with some rewards."""
        return tuple(
            name
            for name, risk in RISKS.items()
            if any(self.suits(assumption, risk.made_of) for assumption in self.assumptions)
        )

    def suits(self, assumption: str, made_of: tuple[str, ...]) -> bool:
        """Whether it serves such rewards and such a risk.

        Args:
            assumption: By name (assumptions.py).
            made_of: What the risk is made of (risks/table.py).
        """
        return assumption in self.assumptions and not {*self.serves}.isdisjoint(
            kind for kind in KINDS[assumption] if kind in made_of
        )

    def level(self, share: float, delta: float, *, about_risk: bool = True) -> float:
        """The level of an arm.

        Args:
            share: The arm has one part in so many of delta; with K arms all alike, that is K.
            delta: The accepted probability of a wrong answer.
            about_risk: Whether the risk's interval is needed as well; what is proved of means alone has all of delta.
        """
        sides, chance = self.sides_for(about_risk) * share, self.spent * delta
        if chance < sys.float_info.min:  # it may have become 0
            return math.log(sides) - math.log(self.spent) - math.log(delta)
        return math.log(sides / chance)

    def sides_for(self, about_risk: bool) -> float:
        """How many chances of e^-level an arm takes for what is proved.

        Args:
            about_risk: Whether the risk's interval is needed.
        """
        return self.sides if about_risk or self.mean_sides is None else self.mean_sides


_MEANINGS = """
empirical-bernstein mixtures that adapt to each arm's variance; 70 to 3,500 times fewer pulls than the paper's
bets compares two arms at once by exact bets on a histogram; with policy evidence six tenths of the trials of pairwise
pairwise compares two arms at once instead of by their boxes; with policy evidence six tenths of the pulls
empirical-bernstein-stitched the same idea in closed form; a quarter wider
running rewards that drift or depend on each other: averages over the rounds so far; all arms in turn
gaussian Gaussian rewards of unknown variance; no sigma_max is needed
gaussian-pairwise two arms compared at once instead of by their boxes; with policy evidence seven tenths of the pulls
heavy heavy tails: needs a stated kurtosis; sigma_max or cv alone tell only about means
catoni heavy tails, means only: Catoni's estimator (Wang and Ramdas 2023); needs sigma_max and more memory
truncated-mean heavy tails, means only: without far rewards (Bubeck et al. 2013); needs sigma_max; half as wide again
central-limit rewards of any kind, approximately: by the central limit theorem, at all times at once
central-limit-pairwise the same, two arms compared at once: by the variance of their difference
central-limit-paired the same, on seeds that all arms share: by the variance of the differences
items a test set, without replacement: exact when all items are in
items-pairwise the same, two arms compared by their differences on the same items
paper the paper's Hoeffding-Azuma radius; neither clipped nor intersected
hoeffding the same proof with the constants it allows; at least 4 times fewer pulls
gaussian-paper the paper's appendix: Gaussian rewards with a known sigma_max
budget the paper's sqrt(a/T) for a fixed budget; steers, proves only what Theorem 1 does
none no intervals while searching, for policies that need none: evidence, and those that eliminate
va-lucb those of VA-LUCB for mean and variance, by a union over rounds and pulls
"""
MEANINGS = {name: meaning.strip() for name, _, meaning in (row.partition(" ") for row in _MEANINGS.strip().split("\n"))}


def _bounds(*rows: tuple[str, tuple[str, ...], tuple[str, ...], dict[str, Any]]) -> dict[str, Bound]:
    """Bounds by name. A row has the name, the assumptions, what risks are made of, and what differs from the defaults.

    The module has the name of the bound, unless the row says otherwise.
    """
    return {
        name: Bound(name, more.get("source", name.replace("-", "_")), assumptions, serves, MEANINGS[name], **rest)
        for name, assumptions, serves, more in rows
        for rest in [{key: value for key, value in more.items() if key != "source"}]
    }


BY_MOMENTS, BY_MEAN, BY_MEANS = (MOMENTS, ROOT), (MOMENTS, ROOT, MEAN), (MOMENTS, ROOT, MEANS)
ALL_RISKS = (*BY_MEANS, NORMAL, UNRANGED)
HEAVY_TAILS, TEST_SETS, ANYTHING = ("heavy",), ("items",), (UNKNOWN,)
PAIRS: dict[str, Any] = {"compares_pairs": True}
APPROXIMATELY: dict[str, Any] = {"sides": 2.0, "narrows": False, "terms": NEARLY}
ITEMS: dict[str, Any] = {"mean_sides": 2.0, "terms": OF_ITEMS}

BOUNDS = _bounds(
    ("empirical-bernstein", BOUNDED, BY_MEANS, {"mean_sides": 2.0}),
    ("bets", BOUNDED, BY_MEAN, PAIRS | {"spent": 0.05, "designates": True, "columns": 257, "collects": True}),
    ("pairwise", BOUNDED, BY_MEAN, PAIRS | {"spent": 0.05, "designates": True}),
    ("empirical-bernstein-stitched", BOUNDED, BY_MOMENTS, {"source": "stitched", "mean_sides": 2.0, "columns": 2}),
    ("running", BOUNDED, BY_MOMENTS, {"mean_sides": 2.0, "columns": 2, "narrows": False, "terms": OF_ROUNDS}),
    ("gaussian", GAUSSIAN, (NORMAL,), {"sides": 2.0, "mean_sides": 1.0}),
    ("gaussian-pairwise", GAUSSIAN, BY_MOMENTS, PAIRS | {"sides": 2.0, "spent": 0.2}),
    ("heavy", HEAVY_TAILS, BY_MOMENTS, {"sides": 1.0}),  # it counts its events itself: they depend on what is stated
    ("catoni", HEAVY_TAILS, BY_MOMENTS, {"sides": 2.0, "columns": 3072, "terms": OF_MEANS}),
    ("truncated-mean", HEAVY_TAILS, BY_MOMENTS, {"sides": 2.0, "columns": 48, "terms": OF_MEANS}),
    ("central-limit", ANYTHING, (UNRANGED,), APPROXIMATELY | {"mean_sides": 1.0}),
    ("central-limit-pairwise", ANYTHING, (UNRANGED,), APPROXIMATELY | PAIRS | {"spent": 0.05, "designates": True}),
    ("central-limit-paired", ANYTHING, (UNRANGED,), APPROXIMATELY | PAIRS | {"spent": 0.05, "paired": True}),
    ("items", TEST_SETS, BY_MEAN, {"mean_sides": 2.0, "terms": OF_ITEMS}),
    (
        "items-pairwise",
        TEST_SETS,
        BY_MEAN,
        PAIRS | {"source": "items", "mean_sides": 2.0, "spent": 0.2, "terms": OF_ITEMS},
    ),
    ("paper", BOUNDED, BY_MOMENTS, {"sides": 8.0, "mean_sides": 4.0, "narrows": False}),
    ("hoeffding", BOUNDED, BY_MEANS, {"sides": 8.0, "mean_sides": 4.0}),
    ("gaussian-paper", GAUSSIAN, BY_MOMENTS, {"mean_sides": 2.0, "narrows": False, "terms": KNOWN_DEVIATION}),
    ("budget", EVERY, ALL_RISKS, {"goals": BUDGET, "narrows": False, "explores": True}),
    ("none", EVERY, ALL_RISKS, {"goals": BUDGET, "boxless": True}),
)

# Bounds that belong to the policy of the same name, which counts what they need, and serve no other one. The level of
# va-lucb is ln(2 K / delta), to which rounds are added.
OWN_BOUNDS = _bounds(("va-lucb", BOUNDED, (MOMENTS,), {"sides": 2.0, "narrows": False}))

# Classical tests for `analyze(..., stopping="fixed")`: no search may use them, which looks again and again. Their
# intervals tell nothing, and take nothing of delta.
_ONCE = APPROXIMATELY | PAIRS | {"meaning": "classical tests of two arms, for one look", "spent": 1e-12, "once": True}
WELCH = Bound("welch", "one_look", ANYTHING, (UNRANGED,), **_ONCE)
PAIRED_T = Bound("paired-t", "one_look_on_blocks", ANYTHING, (UNRANGED,), paired=True, **_ONCE)
ONE_LOOK = {bound.name: bound for bound in (WELCH, PAIRED_T)}

# What `auto` stands for: the first that serves. Comparisons of two arms take the fewest pulls, but not every risk, task
# and policy goes by them; intervals then say themselves what was proved.
CONFIDENT = {
    UNKNOWN: ("central-limit-pairwise", "central-limit"),
    "bounded": ("bets", "pairwise", "empirical-bernstein"),
    "gaussian": ("gaussian-pairwise", "gaussian"),
    "heavy": ("heavy",),
    "items": ("items-pairwise", "items"),
}
USUAL = {
    **{(assumption, "confidence"): bounds for assumption, bounds in CONFIDENT.items()},
    **{(assumption, "budget"): ("budget",) for assumption in CONFIDENT},
}
ON_SEEDS = ("central-limit-paired", "central-limit")  # rewards of any kind, where arms share seeds
BOXLESS = "none"  # the same for policies that look at no box


def usual_bound(
    assumption: str, made_of: tuple[str, ...], goal: str, *, pairs: bool, seeds: bool = False, collects: bool = True
) -> str:
    """The bound that `auto` stands for.

    Args:
        assumption: By name (assumptions.py).
        made_of: What the risk is made of (risks/table.py).
        goal: "confidence" or "budget".
        pairs: Whether it may go by comparisons of two arms.
        seeds: Whether arms share seeds.
        collects: Whether it may be one that remembers more of each reward than other bounds do.

    Examples:
        >>> usual_bound("bounded", RISKS["std"].made_of, "confidence", pairs=True)
        'bets'
        >>> usual_bound("bounded", RISKS["cvar"].made_of, "confidence", pairs=True)
        'empirical-bernstein'
    """
    usual = ON_SEEDS if seeds and (assumption, goal) == (UNKNOWN, "confidence") else USUAL[assumption, goal]
    able = [
        name for name in usual if (pairs or not BOUNDS[name].compares_pairs) and (collects or not BOUNDS[name].collects)
    ]
    return next((name for name in able if BOUNDS[name].suits(assumption, made_of)), able[-1])


AUTOMATIC = {
    (assumption, risk, goal): usual_bound(assumption, RISKS[risk].made_of, goal, pairs=True)
    for assumption, goal in USUAL
    for risk in RISKS
    if BOUNDS[usual_bound(assumption, RISKS[risk].made_of, goal, pairs=True)].suits(assumption, RISKS[risk].made_of)
}


def the_bound(bound: str | Bound) -> Bound:
    """The bound of this name, built in or registered, or one from outside as it is."""
    if not isinstance(bound, str):
        return bound
    if bound in OWN_BOUNDS:
        return OWN_BOUNDS[bound]
    found = registry.find("bound", bound, BOUNDS)
    require(found is None or isinstance(found, Bound), f"bound {bound!r}", "a ramgape.bounds.Bound", found)
    return BOUNDS[bound] if found is None else found


def plain_bound(bound: str | Bound) -> str | Bound:
    """A bound of the table as its name, one from outside as it is: only that can travel to another process."""
    chosen = the_bound(bound)
    return chosen.name if BOUNDS.get(chosen.name) is chosen else chosen


def resolve_bound(
    name: str | Bound,
    assumption: str,
    risk: Any,
    goal: str,
    *,
    pairs: bool = True,
    seeds: bool = False,
    collects: bool = True,
) -> str | Bound:
    """The bound meant by a name, or one from outside as it is; or an error that lists the bounds which serve.

    Args:
        name: "auto", a name, or the bound itself.
        assumption: By name (assumptions.py).
        risk: The measure.
        goal: "confidence" or "budget".
        pairs: Whether "auto" may stand for comparisons of two arms.
        seeds: Whether arms share seeds.
        collects: Whether "auto" may stand for one that remembers more of each reward than other bounds do.

    Examples:
        >>> from ramgape import MeanVariance
        >>> resolve_bound("auto", "bounded", MeanVariance(), "confidence")
        'bets'
        >>> resolve_bound("auto", "bounded", MeanVariance(), "confidence", collects=False)
        'pairwise'
    """
    if not isinstance(name, Bound):
        registry.find("bound", name, ["auto", *BOUNDS])
    if name == "auto":
        name = usual_bound(assumption, risk.made_of, goal, pairs=pairs, seeds=seeds, collects=collects)
    chosen = the_bound(name)
    if not (chosen.suits(assumption, risk.made_of) and goal in chosen.goals):
        serving = [
            known for known, bound in BOUNDS.items() if bound.suits(assumption, risk.made_of) and goal in bound.goals
        ]
        needed = "`normal_risk`" if ASSUMPTIONS[assumption].normal else "`transform` and `untransform`"
        needed = needed if ASSUMPTIONS[assumption].normal or ASSUMPTIONS[assumption].ranged else "`unclipped`"
        served = [
            risk
            for known_assumption, risk, known_goal in AUTOMATIC
            if (known_assumption, known_goal) == (assumption, goal)
        ]
        missing = f"one that {assumption} rewards have an interval for ({', '.join(served)})"
        if {MEANS, NORMAL, UNRANGED} & {*KINDS[assumption]}:
            missing += f"; one from outside needs {needed} for that"
        require(bool(serving), "risk", missing, str(risk))
        choices = ", ".join(["auto", *serving])
        allowed = f"one that serves {assumption} rewards, risk {risk.name} and a fixed {goal} ({choices})"
        require(False, "bound", allowed, str(name))
    return plain_bound(chosen)
