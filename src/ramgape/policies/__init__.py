"""The sampling rules by name. A rule is a module with a kernel, `decide`; `POLICIES` is the only list.

One that keeps other books than the doubts of core/doubt.py brings its own `compare`, and one that has its own way to
stop brings `stop`.

Most rules run under any goal. The paper runs `ramgape`, `ra-lucb` and `round-robin` under both, `de-round-robin` under
fixed confidence only, and the others under a fixed budget only; a rule that was not made for stopping may never stop.
Those from `ege-sr` on are rivals from elsewhere. Each serves one goal only, and has its own mind about the answer.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, NamedTuple

from ramgape import registry
from ramgape.core.kernel import is_kernel
from ramgape.errors import InvalidSpec, require

BOTH = ("confidence", "budget")


class Policy(NamedTuple):
    """What a sampling rule does, and with which goals the paper runs it."""

    module: str
    paper_goals: tuple[str, ...]
    meaning: str
    goals: tuple[str, ...] = BOTH  # under which it can run at all
    budget_module: str | None = None  # where a rule has another form under a budget
    boxless: bool = False  # under a budget it looks at no box
    shrinks: bool = False  # under a budget the answer is the front of shrunken estimates
    own_answer: bool = False  # the answer is what it has accepted, by a proof of its own where it stops by itself
    of_questions: bool = False  # it serves those tasks alone that name it
    bound: str = ""  # it has bounds of its own and goes by no others,
    risks: tuple[str, ...] = ()  # and serves these risks alone


# Rivals from elsewhere, each of which has its own mind about the answer.
ELIMINATES = Policy("", (), "", ("budget",), boxless=True, own_answer=True)
OF_BEST = ELIMINATES._replace(of_questions=True)
STOPS_ITSELF = Policy("", (), "", ("confidence",), own_answer=True)
SETTLES = "all open arms; after each phase the"

POLICIES: dict[str, Policy] = {
    "ramgape": Policy("ramgape", BOTH, "of the two arms behind the largest doubt, the one pulled less"),
    "evidence": Policy(
        "evidence", (), "the arms of the comparison that the data support least", BOTH, "evidence_budget", True, True
    ),
    "ra-lucb": Policy("ra_lucb", BOTH, "both arms behind the largest doubt"),
    "round-robin": Policy("round_robin", BOTH, "every arm in turn"),
    "de-round-robin": Policy("de_round_robin", ("confidence",), "in turn, but for dominated arms that are settled"),
    "lie-round-robin": Policy("lie_round_robin", ("budget",), "in turn, but for the arm with the smallest doubt"),
    "xi-lcb": Policy("xi_lcb", ("budget",), "the arm whose risk might be the lowest"),
    "hvi-pareto": Policy("hvi_pareto", ("budget",), "the weakest of the front and the strongest outside it"),
    "egp": Policy("egp", ("budget",), "the arm least clearly inside or outside the front"),
    "ege-sr": ELIMINATES._replace(module="ege_sr", meaning=f"{SETTLES} clearest one is settled"),
    "ege-sh": ELIMINATES._replace(module="ege_sh", meaning=f"{SETTLES} clearer half is settled"),
    "successive-rejects": OF_BEST._replace(
        module="successive_rejects", meaning=f"for the best mean or the m best: {SETTLES} clearest one is settled"
    ),
    "sequential-halving": OF_BEST._replace(
        module="sequential_halving", meaning=f"for the best mean or the m best: {SETTLES} clearer half is settled"
    ),
    "va-lucb": STOPS_ITSELF._replace(
        module="va_lucb",
        meaning="for the best mean under a ceiling of the variance: the best guess, and the arm that may be better",
        of_questions=True,
        bound="va-lucb",
        risks=("variance",),
    ),
    "psi-unif-elim": STOPS_ITSELF._replace(module="psi_unif_elim", meaning="in turn, but for arms that are settled"),
    "ape": STOPS_ITSELF._replace(module="ape", meaning="the arm farthest from being dominated, or what may beat it"),
}


# Other names of rules, for the tasks that name them: which rule it is, and what it is called there.
ALIASES = {
    "ugape": ("ramgape", "ramgape, which for the best mean, or the m best, is UGapE (Gabillon et al. 2012)"),
    "lucb": ("ra-lucb", "ra-lucb, which for the best mean, or the m best, is LUCB (Kalyanakrishnan et al. 2012)"),
}

# What `auto` stands for: the rule that pulls for comparisons of two arms; where boxes stop a search, that for boxes.
BY_PAIRS, BY_BOXES = "evidence", "ramgape"


# A rule from outside: a function of a `PolicyState`, or a compiled `decide`.
FROM_OUTSIDE = Policy("", (), "from outside")


def resolve_policy(
    policy: str | Callable[..., Any], goal: str, serving: Sequence[str] | None = None, *, pairs: bool = True
) -> tuple[str, Callable[..., Any] | None]:
    """The name of the rule that is meant, and what decides where the rule is not one of ours.

    Args:
        policy: "auto", a name in `POLICIES` or `ALIASES`, a registered name, or the rule itself.
        goal: Under which it is to run.
        serving: The rules that serve the task; None if all do but those of other tasks. One from outside is taken to
            serve it.
        pairs: Whether the search stops by comparisons of two arms, if by proof.

    Raises:
        UnknownName: Nothing has this name.
        InvalidSpec: The rule cannot run under the goal, or does not serve the task.

    Examples:
        >>> resolve_policy("auto", "confidence")
        ('evidence', None)
    """
    if callable(policy):
        name = str(getattr(policy, "__name__", type(policy).__name__))
        return (f"{name} (a function)" if name in ("auto", *POLICIES) else name), policy
    found = registry.find("policy", policy, ["auto", *POLICIES, *ALIASES])
    if found is not None:
        require(callable(found), f"policy {policy!r}", "a function of a state, or a compiled `decide`", found)
        return policy, found
    runs = [
        name
        for name, rule in POLICIES.items()
        if goal in rule.goals and (not rule.of_questions if serving is None else name in serving)
    ]
    if serving is not None and goal == "confidence" and not pairs:
        runs = [name for name in runs if name != BY_PAIRS]  # which goes by the front, or by what is proved of pairs
    names = ["auto", *runs, *(name for name in ALIASES if serving is not None and name in serving)]
    if policy in ALIASES and policy in names:
        policy = ALIASES[policy][0]
    if policy == "auto":
        usual = BY_PAIRS if pairs or goal == "budget" else BY_BOXES
        return (usual if usual in runs else runs[0]), None
    if policy in POLICIES and goal not in POLICIES[policy].goals:
        allowed = f"one that can run for a fixed {goal} ({', '.join(names)})"
        hint = f", which is for a fixed {' or '.join(POLICIES[policy].goals)} only"
        raise InvalidSpec(what="policy", allowed=allowed, given=repr(policy), hint=hint)
    if policy not in runs:
        named = policy in POLICIES and POLICIES[policy].of_questions
        hint = f", which is {POLICIES[policy].meaning.partition(':')[0]}" if named else ""
        allowed = f"one that serves this task ({', '.join(names)})"
        raise InvalidSpec(what="policy", allowed=allowed, given=repr(policy), hint=hint)
    return policy, None


def rule_of(name: str) -> Policy:
    """What is known of a rule by its name."""
    return POLICIES.get(name, FROM_OUTSIDE)


def is_compiled(decide: object) -> bool:
    """Whether a rule from outside is a kernel, which the compiled loop can call, and not a function of a state."""
    return is_kernel(decide)


def policy_module(name: str, goal: str) -> ModuleType:
    """The module that implements a rule under a goal."""
    policy = POLICIES[name]
    module = policy.budget_module if goal == "budget" and policy.budget_module else policy.module
    return importlib.import_module(f"ramgape.policies.{module}")
