"""What a policy from outside sees of a search, in the user's units."""

from __future__ import annotations

import operator
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ramgape.core.pareto import Floats, Mask
from ramgape.core.table import State
from ramgape.errors import require
from ramgape.search.spec import Spec
from ramgape.search.units import user_rewards, user_risks

Number = TypeVar("Number", bound=np.generic)


class PolicyState:
    """Where a search stands when its policy is asked for the next arm: arrays of one number per arm, read-only.

    Every arm has its initial pulls by then. Pulls that are under way count as if they were back and had shown nothing
    new. Means are rewards, or costs where those are minimised; risks have the factor alpha. What an attribute holds is
    computed when it is read, and holds for this decision only.

    Attributes:
        pulls: How often each arm was pulled.
        mean, risk: The estimates.
        mean_low, mean_high, risk_low, risk_high: The intervals.
        in_answer: Whether the arm would be returned now.
        doubt: V_i, by how much each arm's place in the answer, or outside it, is in doubt, in units of the mean.
        rival: The number of the arm behind that doubt; -1 where there is none.
        leader: The number of the arm with the largest doubt; -1 before arms are compared.
        samples: Pulls so far, of all arms.
        epsilon: The tolerance that is asked for; None under a budget without one.
        names: The arms' names, in the order of their numbers.

    Examples:
        A policy that pulls the arm whose mean is least known:

        >>> import ramgape
        >>> def widest(state):
        ...     return (state.mean_high - state.mean_low).argmax()
        >>> ramgape.simulate("paper:46", policy=widest, budget=100, seed=1).policy
        'widest'
    """

    __slots__ = ("_spec", "_state")

    def __init__(self, spec: Spec, state: State) -> None:
        self._spec, self._state = spec, state

    @property
    def names(self) -> tuple[str, ...]:
        return self._spec.names

    @property
    def epsilon(self) -> float | None:
        return self._spec.epsilon

    @property
    def samples(self) -> int:
        return int(self._state.search["samples"][0])

    @property
    def leader(self) -> int:
        return int(self._state.search["leader"][0])

    @property
    def pulls(self) -> NDArray[np.int64]:
        return self._column("pulls")

    @property
    def mean(self) -> Floats:
        return self._rewards("average")

    @property
    def mean_low(self) -> Floats:
        return self._rewards("mean_low" if self._spec.direction == "maximize" else "mean_high")

    @property
    def mean_high(self) -> Floats:
        return self._rewards("mean_high" if self._spec.direction == "maximize" else "mean_low")

    @property
    def risk(self) -> Floats:
        return self._risks("risk")

    @property
    def risk_low(self) -> Floats:
        return self._risks("risk_low")

    @property
    def risk_high(self) -> Floats:
        return self._risks("risk_high")

    @property
    def in_answer(self) -> Mask:
        return _frozen(self._spec.question.answer(self._state))

    @property
    def doubt(self) -> Floats:
        self._spec.question.complete(self._state)
        return _frozen(self._state.arms["doubt"] * self._spec.span)

    @property
    def rival(self) -> NDArray[np.int64]:
        self._spec.question.complete(self._state)
        return self._column("rival")

    def _column(self, name: str) -> NDArray[Any]:
        return _frozen(self._state.arms[name].copy())

    def _rewards(self, column: str) -> Floats:
        return _frozen(user_rewards(self._spec, self._state.arms[column]))

    def _risks(self, column: str) -> Floats:
        return _frozen(user_risks(self._spec, self._state.arms[column]))


def _frozen(values: NDArray[Number]) -> NDArray[Number]:
    values.flags.writeable = False
    return values


def ask_policy(spec: Spec, *tables: Any) -> int:
    """The decision of a policy from outside, if it is an arm's number."""
    assert spec.decide is not None
    arm = spec.decide(PolicyState(spec, State(*tables)))
    try:
        number = operator.index(arm)
    except TypeError:
        number = -1
    last = len(spec.names) - 1
    require(0 <= number <= last, f"what policy {spec.policy} returns", f"an arm's number, from 0 to {last}", arm)
    return number
