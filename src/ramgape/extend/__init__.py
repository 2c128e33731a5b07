"""All that a part of your own needs: what each kind must have, what it may read, and a check for each.

A part is passed as an object, or given a name by `register`, or stated by an installed package as an entry point.

    kind        what it is                                  group of entry points    check
    policy      a `Policy`, or a kernel `decide`            ramgape.policies         check_policy
    risk        a subclass of `Measure`                     ramgape.risks            check_risk
    bound       a `Bound` with an object of `BoundKernels`  ramgape.bounds           check_bound
    question    a subclass of `Question`                    ramgape.questions        check_question
    store       whatever satisfies `Store`                  ramgape.stores           check_store
    reader      a `Format`                                  ramgape.readers          check_reader

A kernel is a plain function of numbers and rows, decorated with `kernel`, that simulations may compile: no allocation,
no exceptions, no strings. `ArmRow`, `SearchRow` and `ProblemRow` have the fields that it may read, on the engine's
scale: rewards in [0, 1] where they have a range, more being better.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from ramgape.search.policy_state import PolicyState


class Policy(Protocol):
    """A sampling rule: which arm is tried next. It remembers nothing: asked twice about a state it says the same."""

    def __call__(self, state: PolicyState) -> int:
        """The number of an arm.

        Args:
            state: What is known of all arms, in the user's units. Every arm has its initial trials by then.
        """


class ArmRow(Protocol):
    """What is known of one arm: a row of the table that kernels are handed.

    Attributes:
        pulls: Its trials.
        average, variance, risk: The estimates.
        mean_low, mean_high, risk_low, risk_high: Its box, where bounds put the mean and the risk.
        level: For bounds: ln of one over the chance that each end of the box may take with this arm.
        estimate, low, high: float[J], the same for each objective, with more being better in all of them.
        in_front: For questions, which write it: 1 if the arm is in the present answer.
        doubt: Likewise: by how much the arm's place is in doubt. Below epsilon for all arms, the answer is proved.
        rival: Likewise: the arm behind that doubt. The arm itself means that a trial of it helps most.
        exact: Likewise: 0 while `doubt` is only an upper bound. The leader's must be exact.
    """

    pulls: int
    average: float
    variance: float
    risk: float
    mean_low: float
    mean_high: float
    risk_low: float
    risk_high: float
    level: float
    estimate: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    in_front: int
    doubt: float
    rival: int
    exact: int


class SearchRow(Protocol):
    """What belongs to no arm.

    Attributes:
        samples: Trials of all arms.
        ready: 1 once every arm has its initial trials; a question sets it, and nothing is decided before.
        leader: The arm of largest doubt; `follow` writes it, with `doubt`, its doubt.
        epsilon: The tolerance.
    """

    samples: int
    ready: int
    leader: int
    doubt: float
    epsilon: float


class ProblemRow(Protocol):
    """What the user wants. Kernels never write it.

    Attributes:
        initial_pulls: Trials of each arm before anything is compared.
        alpha: The factor with which a risk is compared with means: kernels of risks return risks times it.
        budget: All trials there are; infinite without a budget.
        risk_parameters, task_parameters: What `Measure.write` and `Question.write` have put there.
    """

    initial_pulls: int
    alpha: float
    budget: float
    risk_parameters: Sequence[float]
    task_parameters: Sequence[float]


class BoundKernels(Protocol):
    """The kernels of a bound. One is enough, and `interval` serves every risk that is made of means."""

    def interval(
        self, problem: ProblemRow, count: float, average: float, variance: float, level: float, low: float, high: float
    ) -> tuple[float, float]:
        """Where the mean of values in [0, 1] is. Each end is wrong with probability e^-level, at any time at all.

        Args:
            problem: What the user wants.
            count, average, variance: Of the values so far.
            level: How sure each end must be.
            low, high: What is known already.
        """


# Where each name lives; loaded on first use.
_HOMES = {
    "bounds": ("Bound", "Guarantee", "Terms"),
    "core.doubt": ("follow",),
    "core.kernel": ("kernel",),
    "data.formats": ("Format", "Record"),
    "data.source": ("Source",),
    "extend.checks": ("check_bound", "check_policy", "check_question", "check_reader", "check_risk"),
    "extend.stores": ("check_store",),
    "questions": ("Boxes", "Possible", "Question", "Rescaling", "Wanted"),
    "registry": ("register",),
    "risks.measure": ("Learning", "Measure"),
    "search.policy_state": ("PolicyState",),
    "storage.protocol": ("KeepsRequests", "Store"),
}
__all__ = [
    *("ArmRow", "BoundKernels", "Policy", "ProblemRow", "SearchRow"),
    *(name for names in _HOMES.values() for name in names),
]


def __getattr__(name: str) -> Any:
    for module, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"ramgape.{module}"), name)
    raise AttributeError(f"module 'ramgape.extend' has no attribute {name!r}")
