"""What is asked of a search: the base of all tasks, which says what each must give."""

from __future__ import annotations

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramgape.common.checks import check_number
from ramgape.common.plane import PlaneLine
from ramgape.core.pareto import Floats, Mask
from ramgape.errors import require
from ramgape.questions.wording import Wanted

if TYPE_CHECKING:  # a task is made long before anything is compiled
    from fractions import Fraction

    from ramgape.common.exact import Exact
    from ramgape.core.comparisons import ByPairs
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


class Rescaling(NamedTuple):
    """A step from one scale to another, (factor value - origin) / unit: called with a value it gives that on the other.

    Attributes:
        factor: -1 where less becomes more, else 1.
        origin, unit: What becomes 0, and how much becomes 1.
    """

    factor: float
    origin: float
    unit: float

    def __call__(self, value: float) -> float:
        """A value on the other scale.

        Args:
            value: On the first one.
        """
        return (self.factor * value - self.origin) / self.unit

    def difference(self, value: float) -> float:
        """A difference on the other scale, of which more stays more.

        Args:
            value: On the first one.
        """
        return value / self.unit


class Possible(NamedTuple):
    """Of which arms a task is asked, and what is possible, in the user's units.

    Attributes:
        names: Those of the arms.
        means, risks: The least and the greatest that rewards can have; infinite where nothing is known.
        costs: Whether less mean is better.
        epsilon, risk_epsilon: The tolerances in mean and in risk; None where there is none.
    """

    names: Sequence[str]
    means: tuple[float, float]
    risks: tuple[float, float]
    costs: bool
    epsilon: float | None
    risk_epsilon: float | None


class Question(ABC):
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
        written: How it is written as text; unless stated, as its parameters have it.
        meaning: In a line, for a list of all tasks.
        policies: The policies of ours that serve it; None if all do.
        designates: Whether answers may be fixed before the rewards that prove them (core/comparisons.py).
        weighs: Whether `weigh` has kernels, by which the rule `evidence` serves it under a budget.
        named_policies: Further rules, or names of rules, that are made for it: `ALIASES` and those of our policies that
            serve only the tasks that name them.
    """

    name: ClassVar[str]
    written: ClassVar[str] = ""
    meaning: ClassVar[str] = ""
    policies: ClassVar[tuple[str, ...] | None] = ("ramgape", "ra-lucb", "round-robin")
    designates: ClassVar[bool] = False
    weighs: ClassVar[bool] = False

    @property
    def named_policies(self) -> tuple[str, ...]:
        return ()

    def serving(self, goal: str) -> tuple[str, ...] | None:
        """The policies of ours that serve it under a goal; None if all do that are not made for other tasks.

        Args:
            goal: "confidence" or "budget".
        """
        if self.policies is None:
            return None
        able = self.weighs if goal == "budget" else self.compares_pairs
        return (*self.policies, *self.named_policies, *(("evidence",) if able else ()))

    @property
    def about_risk(self) -> bool:
        """Whether it asks for risks at all.

        A task about means alone needs bounds of these only, so that intervals are narrower; and it can do with rewards
        of which only means can be known.
        """
        return True

    @property
    def compares_pairs(self) -> bool:
        """Whether a bound that compares two arms directly may stop it; then `by_pairs` says how."""
        return False

    @property
    def called(self) -> str:
        """What people call the answer."""
        return "answer"

    @property
    def nobody(self) -> str:
        """What an empty answer says."""
        return "no arm"

    def check(self, possible: Possible) -> tuple[str, ...]:
        """Complain of what cannot be asked of such arms; what can be but is probably not meant is returned, in words.

        Args:
            possible: Which arms there are, and what is possible.

        Raises:
            SpecificationError: It cannot be asked.
        """
        return ()

    def some_arms(self) -> Sequence[str]:
        """Names of arms that it can be asked about, where all else is checked before the real ones are known."""
        return "one", "other"

    def scaled(self, mean: Rescaling, risk: Rescaling) -> Question:
        """The same task on another scale; one whose parameters are no means and no risks is its own.

        Args:
            mean: Takes a mean in the user's units to the other scale, where more is better.
            risk: Likewise for a risk, as results report it.
        """
        return self

    def among(self, names: Sequence[str]) -> Question:
        """The same task for arms in this order, by which the methods below know them; one without names is its own.

        Args:
            names: Those of the arms.
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
        from ramgape.core.rule import confident

        return confident

    def by_pairs(self, mean_ahead: Kernel, risk_ahead: Kernel) -> ByPairs:
        """The kernels that prove it by comparisons of two arms.

        Args:
            mean_ahead, risk_ahead: The evidence that a bound brings: see core/comparisons.py.
        """
        raise NotImplementedError

    def exact_by_pairs(self, answer: Mask, proofs: Places) -> Mask:
        """Of which arms comparisons without a tolerance prove that their place is right exactly.

        Args:
            answer: The arms that are in it.
            proofs: What they prove of each arm: see `prove` in core/comparisons.py.
        """
        from ramgape.core.comparisons import NOT_PROVED

        return np.asarray(proofs != NOT_PROVED)

    def weigh(self) -> tuple[Kernel, Kernel]:
        """Under a budget: a `compare` whose doubts are what mistakes are expected to cost, and a `decide` for these."""
        raise NotImplementedError

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
        from ramgape.core.rows import on_tables

        arms, *_, search, problem = state
        mask = np.zeros(len(arms), dtype=bool)
        on_tables(mark_answer)(arms, search, problem, mask)
        return mask

    def guess(self, answer: Mask, decided: Mask, means: Floats, risks: Floats) -> Mask:
        """The arms to name while the answer as a whole is not proved.

        Args:
            answer: The present answer, which may go by what is nearest to a proof.
            decided: The arms whose place in that answer is proved up to the tolerance.
            means, risks: The estimates.
        """
        return answer

    # --------------------------------------------------------------------------- what is proved

    @abstractmethod
    def tolerances(self, answer: Mask, boxes: Boxes) -> tuple[Floats, Places]:
        """What boxes prove of any answer: for each arm the smallest tolerance for its place, and the arm behind it.

        On the present answer this is V_i, or less where the proof needs less than the rule looks at.

        Args:
            answer: The arms that are in it.
            boxes: Where the means and risks of all arms are.
        """

    def settled(self, answer: Mask, tolerances: Floats, rivals: Places, epsilon: float) -> Mask:
        """Of which arms it is proved, up to epsilon, that they are in the right answer or out of it; exactly with 0.

        All of them are, if every tolerance is below epsilon. A single one's place may hang on more than its own.

        Args:
            answer: The arms that are in it.
            tolerances, rivals: Those of `tolerances`.
            epsilon: The tolerance.
        """
        return np.asarray(tolerances < epsilon)

    def reasons(self, answer: Mask, means: Floats, risks: Floats, rivals: Places) -> Places:
        """For each arm outside an answer, by the estimates: the arm to name as the reason why, or -1 for none.

        Args:
            answer: The arms that are in it.
            means, risks: The estimates.
            rivals: Those of `tolerances`, or -1 where nothing is proved.
        """
        return rivals

    def sought(self, wanted: Wanted) -> str:
        """What is sought, in words; nothing where mean and risk say it.

        Args:
            wanted: In which units, and what the risk is called.
        """
        return ""

    @abstractmethod
    def claim(self, wanted: Wanted) -> str:
        """The sentence that the tolerance proves, to follow "With probability at least 0.95, for ...: ".

        Args:
            wanted: What it speaks of.
        """

    def lines(self, wanted: Wanted, estimates: Mapping[str, tuple[float, float]]) -> tuple[PlaneLine, ...]:
        """What the answer goes by, as lines in a picture of the arms.

        Args:
            wanted: What was returned, in which units, and what the risk is called.
            estimates: Mean and risk of each arm, by name; NaN before its first pull.
        """
        return ()

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

    def is_true(self, answer: Mask, means: Floats, risks: Floats) -> bool:
        """Whether an answer is the right one; where arms are equal there may be several.

        Args:
            answer: The arms that are in it.
            means, risks: The truth.
        """
        return bool((answer == self.true_answer(means, risks)).all())

    def ordered(self, means: Sequence[Fraction], risks: Sequence[Exact]) -> tuple[Question, Floats, Floats] | None:
        """The same question about whole numbers in the same order as exact ones, so that `true_answer` and `is_true`
        round nothing; None where a task does not say how.

        It is asked of the task with its parameters as they were written.

        Args:
            means, risks: The truth, exactly; costs are negated.
        """
        return None

    def regret(self, answer: Mask, means: Floats, risks: Floats) -> float:
        """The least tolerance at which `claim` is true of an answer; 0 if it is so exactly.

        Args:
            answer: The arms that are in it.
            means, risks: The truth.
        """
        return max(0.0, float(self.tolerances(answer, Boxes(means, means, risks, risks))[0].max()))

    def is_right(self, answer: Mask, means: Floats, risks: Floats, epsilon: float) -> bool:
        """Whether an answer is right up to epsilon: what `claim` says.

        Args:
            answer: The arms that are in it.
            means, risks: The truth.
            epsilon: The tolerance; 0 asks for exactness.
        """
        found = self.tolerances(answer, Boxes(means, means, risks, risks))[0]
        return bool((found < epsilon).all() if epsilon > 0.0 else (found <= 0.0).all())

    def right_answers(self, means: Floats, risks: Floats, epsilon: float) -> list[Mask]:
        """All answers that are right up to epsilon, the true one first; that alone if there are too many to look at.

        A lower bound on the samples takes the easiest of them. Which alternatives make an answer wrong is known to the
        solver (`families_of` in simulation/alternatives.py).

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
        """As it is written in a command or a file: NAME, or NAME:KEY=VALUE,...; what is None is left out."""
        given = {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}
        values = [f"{name.replace('_', '-')}={as_written(value)}" for name, value in given.items() if value is not None]
        return ":".join([self.name, *([",".join(values)] if values else [])])

    def _check(self, name: str, least: float = -math.inf) -> None:
        """Make a parameter a float, if it is a finite number that is not too small; None stays None."""
        value, allowed = getattr(self, name), "a finite number"
        if value is not None or name not in self._optional():
            allowed += "" if least == -math.inf else f" of at least {least:g}"
            checked = check_number(value, f"{name} of question {self.name}", allowed, lambda given: given >= least)
            object.__setattr__(self, name, checked + 0.0)  # of two zeros the one without a sign

    @classmethod
    def _optional(cls) -> list[str]:
        """The parameters that may be None."""
        return [name for name, each in inspect.signature(cls).parameters.items() if each.default is None]


def as_written(value: object) -> str:
    """A value as it is typed: of a number all that it takes to be the same again.

    >>> as_written(2.0), as_written(0.1)
    ('2', '0.1')
    """
    return str(value).removesuffix(".0")


def check_limit(what: str, given: float, reachable: bool, binding: bool, allowed: str) -> tuple[str, ...]:
    """Complain of a limit that no arm can keep; warn of one that every arm keeps.

    Args:
        what: The limit.
        given: Its value.
        reachable: Whether an arm may keep it.
        binding: Whether an arm may miss it.
        allowed: What it must be.
    """
    require(reachable, what, allowed, given)
    return () if binding else (f"{what} {given:g} is no constraint: whatever an arm is like, it satisfies that",)
