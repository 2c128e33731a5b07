"""What is asked of a search: the base of all tasks, which says what each must give."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramgape.core.pareto import Floats, Mask

if TYPE_CHECKING:  # a task is made long before anything is compiled
    from ramgape.core.kernel import Kernel
    from ramgape.core.table import State

Places = NDArray[np.int64]


class Boxes(NamedTuple):
    """Intervals of all arms, on the engine's scale: rewards in [0, 1], more mean and less risk being better.

    Attributes:
        mean_low, mean_high, risk_low, risk_high: Their ends, one number for each arm.
    """

    mean_low: Floats
    mean_high: Floats
    risk_low: Floats
    risk_high: Floats


class Wanted(NamedTuple):
    """What a sentence about an answer speaks of, in the user's units.

    Attributes:
        returned: The names of the returned arms.
        epsilon: The tolerance in mean and scaled risk, or in the mean alone where `risk_epsilon` has that in risk; both
            are to be rounded up.
        risk: What the risk is called.
    """

    returned: Sequence[str]
    epsilon: float
    risk_epsilon: float | None
    risk: str


class Task(ABC):
    """A question about arms with a mean and a risk, whose answer is a set of arms: perhaps of one, perhaps empty.

    A subclass is a frozen dataclass, whose fields are its parameters in the user's units; `scaled` brings them to the
    scale of the means and risks that the methods below are handed. Two ideas carry all tasks:

    - the present answer: the arms whose `in_front` is 1 in the table;
    - the doubt V_i about each arm's place in it or outside it, with the rival behind it. If all boxes hold, then
      V_i < epsilon for every arm proves the answer up to epsilon, and V_i < 0 proves it exactly. A rule such as
      `ramgape` pulls the arm of largest doubt, or its rival; a rival that is the arm itself means "pull me".

    Both are kept by the kernel that `compare` returns, pull by pull. Everything else here is plain NumPy, called once
    for a result, on arrays of all arms; answers are boolean masks.

    Attributes:
        name: By which it is asked for.
        policies: The policies of ours that serve it; None if all do.
        compares_pairs: Whether a bound that compares two arms directly may stop it.
        about_risk: Whether it asks for risks at all; a task about means alone can do with rewards of which only these
            can be known.
    """

    name: ClassVar[str]
    policies: ClassVar[tuple[str, ...] | None] = ("ramgape", "ra-lucb", "round-robin")
    compares_pairs: ClassVar[bool] = False
    about_risk: ClassVar[bool] = True

    def scaled(self, mean: Callable[[float], float], risk: Callable[[float], float]) -> Task:
        """The same task on another scale; one whose parameters are no means and no risks is its own.

        Args:
            mean: Takes a mean in the user's units to the other scale, where more is better.
            risk: Likewise for a risk, as results report it.
        """
        return self

    def write(self, problem: Any) -> None:
        """Write what the kernel of `compare` needs to know, on the engine's scale.

        Args:
            problem: The record that it sees; there is room in its `task_parameters`.
        """
        del problem

    # ------------------------------------------------------------------------------- while it runs

    @abstractmethod
    def compare(self) -> Kernel:
        """The kernel that keeps the answer, the doubts and the leader, after one arm has changed.

        Its arguments are those of a rule's `compare` (core/rule.py). It must set `ready` in the search once every arm
        has its initial pulls and then keep, in the arms, `in_front`, `doubt` and `rival`, and in the search `leader`
        and `doubt` (`follow` in core/doubt.py writes these two). A doubt may be an upper bound while its `exact` is 0,
        but not that of the leader.
        """

    def stop(self) -> Kernel:
        """The kernel that says whether it is enough, where neither policy nor bound has one: V(t) < epsilon."""
        from ramgape.core.stopping import confident

        return confident

    def complete(self, state: State) -> None:
        """Make every doubt exact in the table, where `compare` leaves upper bounds.

        Args:
            state: Of the search.
        """
        del state

    def answer(self, state: State) -> Mask:
        """The arms that would be returned now: the present answer, or as the specification and the policy have it.

        Args:
            state: Of the search.
        """
        from ramgape.core.answer import mark_answer

        arms, *_, search, problem = state
        mask = np.zeros(len(arms), dtype=bool)
        mark_answer(arms, search, problem, mask)
        return mask

    # --------------------------------------------------------------------------- what is proved

    @abstractmethod
    def tolerances(self, answer: Mask, boxes: Boxes) -> tuple[Floats, Places]:
        """What boxes prove of any answer: for each arm the smallest tolerance for its place, and the arm behind it.

        On the present answer this is V_i, or less where the proof needs less than the rule looks at.

        Args:
            answer: The arms that are in it.
            boxes: Where the means and risks of all arms are.
        """

    def reasons(self, answer: Mask, means: Floats, risks: Floats, rivals: Places) -> Places:
        """For each arm outside an answer, by the estimates: the arm to name as the reason why, or -1 for none.

        Args:
            answer: The arms that are in it.
            means, risks: The estimates.
            rivals: Those of `tolerances`, or -1 where nothing is proved.
        """
        return rivals

    @abstractmethod
    def claim(self, wanted: Wanted) -> str:
        """The sentence that the tolerance proves, to follow "With probability at least 0.95, for ...: ".

        Args:
            wanted: What it speaks of.
        """

    # ------------------------------------------------------------------------------------ the truth

    @abstractmethod
    def true_answer(self, means: Floats, risks: Floats) -> Mask:
        """The right answer.

        Args:
            means, risks: The truth.
        """

    def gaps(self, means: Floats, risks: Floats) -> Floats:
        """By how much each arm's place is clear: the regret of having it wrong.

        Args:
            means, risks: The truth.
        """
        return -self.tolerances(self.true_answer(means, risks), Boxes(means, means, risks, risks))[0]

    def is_right(self, answer: Mask, means: Floats, risks: Floats, epsilon: float) -> bool:
        """Whether an answer is right up to epsilon: what `claim` says.

        Args:
            answer: The arms that are in it.
            means, risks: The truth.
            epsilon: The tolerance; 0 asks for exactness.
        """
        return bool((self.tolerances(answer, Boxes(means, means, risks, risks))[0] <= epsilon).all())

    def right_answers(self, means: Floats, risks: Floats, epsilon: float) -> list[Mask]:
        """All answers that are right up to epsilon, the true one first; that alone if there are too many to look at.

        A lower bound on the samples takes the easiest of them. Which alternatives make an answer wrong is known to the
        solver (`ALTERNATIVES` in planning/lower_bound.py), by the task's name.

        Args:
            means, risks: The truth.
            epsilon: The tolerance.
        """
        return [self.true_answer(means, risks)]

    def is_only_answer(self, means: Floats, risks: Floats, epsilon: float) -> bool:
        """Whether nothing but the true answer is right up to epsilon; False where that is not known.

        Args:
            means, risks: The truth.
            epsilon: The tolerance.
        """
        return False

    def __str__(self) -> str:
        """As it is written in a command or a file: NAME, or NAME:KEY=VALUE,..."""
        parameters = list(inspect.signature(type(self)).parameters)
        values = [f"{name}={getattr(self, name)}" for name in parameters]
        return ":".join([self.name, *([",".join(values)] if values else [])])
