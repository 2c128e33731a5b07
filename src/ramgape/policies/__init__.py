"""The sampling rules by name. A rule is a module with a kernel, `decide`; `POLICIES` is the only list.

One that keeps other books than the doubts of core/doubt.py brings its own `compare`, and one that has its own way to
stop brings `stop`.

Most rules run under any goal. The paper runs `ramgape`, `ra-lucb` and `round-robin` under both, `de-round-robin` under
fixed confidence only, and the others under a fixed budget only; a rule that was not made for stopping may never stop.
The last four are rivals from elsewhere. Each serves one goal only, and has its own mind about the answer.
"""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import NamedTuple

from ramgape.errors import InvalidSpec, known_name

BOTH = ("confidence", "budget")


class Policy(NamedTuple):
    """What a sampling rule does, and with which goals the paper runs it."""

    module: str
    paper_goals: tuple[str, ...]
    meaning: str
    goals: tuple[str, ...] = BOTH  # under which it can run at all
    budget_module: str | None = None  # where a rule has another form under a budget
    boxless: bool = False  # under a budget it looks at no box
    own_answer: bool = False  # the answer is what it has accepted, by a proof of its own where it stops by itself


POLICIES: dict[str, Policy] = {
    "ramgape": Policy("ramgape", BOTH, "of the two arms behind the largest doubt, the one pulled less"),
    "evidence": Policy(
        "evidence", (), "the arms of the comparison that the data support least", BOTH, "evidence_budget", True
    ),
    "ra-lucb": Policy("ra_lucb", BOTH, "both arms behind the largest doubt"),
    "round-robin": Policy("round_robin", BOTH, "every arm in turn"),
    "de-round-robin": Policy("de_round_robin", ("confidence",), "in turn, but for dominated arms that are settled"),
    "lie-round-robin": Policy("lie_round_robin", ("budget",), "in turn, but for the arm with the smallest doubt"),
    "xi-lcb": Policy("xi_lcb", ("budget",), "the arm whose risk might be the lowest"),
    "hvi-pareto": Policy("hvi_pareto", ("budget",), "the weakest of the front and the strongest outside it"),
    "egp": Policy("egp", ("budget",), "the arm least clearly inside or outside the front"),
    "ege-sr": Policy(
        "ege_sr",
        (),
        "all open arms; after each phase the clearest one is settled",
        ("budget",),
        boxless=True,
        own_answer=True,
    ),
    "ege-sh": Policy(
        "ege_sh",
        (),
        "all open arms; after each phase the clearer half is settled",
        ("budget",),
        boxless=True,
        own_answer=True,
    ),
    "psi-unif-elim": Policy(
        "psi_unif_elim", (), "in turn, but for arms that are settled", ("confidence",), own_answer=True
    ),
    "ape": Policy(
        "ape", (), "the arm farthest from being dominated, or what may beat it", ("confidence",), own_answer=True
    ),
}


# What `auto` stands for, by goal.
AUTOMATIC = {"confidence": "ramgape", "budget": "evidence"}


def resolve_policy(name: str, goal: str) -> str:
    """The rule meant by a name, or an error that lists the rules which can run under the goal.

    >>> resolve_policy("auto", "confidence")
    'ramgape'
    """
    known_name(name, ["auto", *POLICIES], "policy")
    if name == "auto":
        return AUTOMATIC[goal]
    if goal not in POLICIES[name].goals:
        choices = ", ".join(["auto", *(known for known, policy in POLICIES.items() if goal in policy.goals)])
        allowed = f"one that can run for a fixed {goal} ({choices})"
        hint = f", which is for a fixed {' or '.join(POLICIES[name].goals)} only"
        raise InvalidSpec(what="policy", allowed=allowed, given=repr(name), hint=hint)
    return name


def policy_module(name: str, goal: str) -> ModuleType:
    """The module that implements a rule under a goal."""
    policy = POLICIES[name]
    module = policy.budget_module if goal == "budget" and policy.budget_module else policy.module
    return importlib.import_module(f"ramgape.policies.{module}")
