"""Which arms are better than the one there is: a control.

With d = mean_i - mean_0 - margin, of an arm i and the control 0, an arm has one of four verdicts:

    better        it is proved that d > 0
    not better    it is proved that d < epsilon
    not worse     it is proved that d > -epsilon, and neither of the above
    open          none of these is proved

Where the risk counts, better and not worse hold in both objectives; not better means that an arm is not ahead by
epsilon in both. A search ends when every arm is better or not better; the answer is the arms that are better. For
epsilon > 0 one of the two is always true, so that a search always ends; at epsilon 0 not for d = 0.

While all boxes hold, d is between L_i - U_0 - margin and U_i - L_0 - margin: `tolerances` has -d and d at their most.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ramgape.common.exact import exact_ranks, exactly
from ramgape.common.formatting import cut
from ramgape.common.parsing import escape
from ramgape.common.plane import PlaneLine
from ramgape.core.pareto import Floats, Mask
from ramgape.errors import known_name, printable, require
from ramgape.questions.question import Boxes, Places, Possible, Question, Rescaling, as_written
from ramgape.questions.wording import Wanted

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from fractions import Fraction

    from ramgape.common.exact import Exact
    from ramgape.core.comparisons import ByPairs
    from ramgape.core.kernel import Kernel

OBJECTIVES = ("mean", "both")
NAME_WIDTH = 24  # in a legend


@dataclass(frozen=True, slots=True)
class BetterThan(Question):
    """The arms that are better than a control.

    Args:
        control: Its name; it is one of the arms.
        margin: By how much more than that of the control the mean must be, in its units; less than 0 for arms that
            may be worse by so much. Of costs, by how much less.
        objective: "mean", or "both" where an arm must have less risk than the control as well.
        place: Not to be given: the control's number, once the arms are known (`among`).

    Examples:
        >>> str(BetterThan("A")), str(BetterThan("A", margin=0.01, objective="both"))
        ('better-than:control=A', 'better-than:control=A,margin=0.01,objective=both')
    """

    name: ClassVar[str] = "better-than"
    written: ClassVar[str] = "better-than:control=ARM[,margin=NUMBER,objective=mean|both]"
    meaning: ClassVar[str] = "the arms that are better than a control in mean, perhaps by a margin, or in mean and risk"
    weighs: ClassVar[bool] = True
    control: str
    margin: float = 0.0
    objective: str = "mean"
    place: int = field(default=-1, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        control: object = self.control
        named = isinstance(control, str) and bool(control)
        require(named, "control of question better-than", "the name of an arm", control)
        self._check("margin")
        known_name(self.objective, OBJECTIVES, "objective of question better-than")

    @property
    def about_risk(self) -> bool:
        return self.objective == "both"

    @property
    def called(self) -> str:
        return f"arms better than {self._control}"

    @property
    def nobody(self) -> str:
        return f"no arm is better than {self._control}"

    @property
    def _control(self) -> str:
        return cut(printable(self.control), 80)

    def scaled(self, mean: Rescaling, risk: Rescaling) -> BetterThan:
        return replace(self, margin=mean.difference(self.margin))

    def among(self, names: Sequence[str]) -> BetterThan:
        question = replace(self)
        object.__setattr__(question, "place", list(names).index(self.control))
        return question

    def check(self, possible: Possible) -> tuple[str, ...]:
        known_name(self.control, possible.names, "control of question better-than")
        least, most = possible.means
        if self.margin > most - least:
            return (f"margin {self.margin:g} exceeds the whole possible range of the mean: no arm can be better",)
        return ()

    def some_arms(self) -> Sequence[str]:
        return self.control, f"another than {self.control}"

    # ------------------------------------------------------------------------------- while it runs

    def compare(self) -> Kernel:
        """Every arm against the control."""
        from ramgape.core.control import compare_control

        return compare_control

    @property
    def compares_pairs(self) -> bool:
        return True

    def by_pairs(self, mean_ahead: Kernel, risk_ahead: Kernel) -> ByPairs:
        """Every arm against the control."""
        from ramgape.core.control_pairs import control_by_pairs

        return control_by_pairs(mean_ahead, risk_ahead if self.about_risk else None)

    def weigh(self) -> tuple[Kernel, Kernel]:
        from ramgape.core import task_costs

        return task_costs.weigh_control, task_costs.pull_for_control

    def write(self, problem: Any) -> None:
        problem["task_parameters"][:3] = self.place, self.margin, self.about_risk

    def guess(self, answer: Mask, decided: Mask, means: Floats, risks: Floats) -> Mask:
        """The arms ahead by their estimates; one that is proved to be better, or not better, keeps that verdict."""
        return np.where(decided, answer, self.true_answer(means, risks))

    # --------------------------------------------------------------------------- what is proved

    def tolerances(self, answer: Mask, boxes: Boxes) -> tuple[Floats, Places]:
        """By how much an arm inside may be behind the control and the margin, or one outside ahead of them."""
        place = self.place
        inside = boxes.mean_high[place] + self.margin - boxes.mean_low
        outside = boxes.mean_high - boxes.mean_low[place] - self.margin
        if self.about_risk:
            inside = np.maximum(inside, boxes.risk_high - boxes.risk_low[place])
            outside = np.minimum(outside, boxes.risk_high[place] - boxes.risk_low)
        found = np.where(answer, inside, outside)
        found[place] = math.inf if answer[place] else -math.inf
        return found, np.full(len(answer), place)

    def settled(self, answer: Mask, tolerances: Floats, rivals: Places, epsilon: float) -> Mask:
        """An arm inside is proved to be better without a tolerance, or not at all."""
        return np.asarray(tolerances < np.where(answer, 0.0, epsilon))

    def reasons(self, answer: Mask, means: Floats, risks: Floats, rivals: Places) -> Places:
        """The control."""
        return np.full(len(answer), self.place)

    def sought(self, wanted: Wanted) -> str:
        risk = f" and {wanted._replace(epsilon=0.0, risk_epsilon=None).risk_beyond(self._control)}"
        return f"the arms with {wanted.mean_beyond(self._control, self.margin)}{risk if self.about_risk else ''}"

    def claim(self, wanted: Wanted) -> str:
        """Of the returned arms what is proved of them, and of the others."""
        if wanted.epsilon == 0.0:
            question = self.sought(wanted)
            return f"these are {question}." if wanted.returned else f"no arm is one of {question}."
        allowed = wanted._replace(epsilon=0.0, risk_epsilon=None) if wanted.proved else wanted
        inside = f"every returned arm has {allowed.mean_beyond(self._control, self.margin, -1)}"
        outside = f"no {'other ' if wanted.returned else ''}arm has {wanted.mean_ahead(self._control, self.margin)}"
        if self.about_risk:
            inside += f" and {allowed.risk_beyond(self._control)}"
            outside += f" and {wanted.risk_ahead(self._control)}"
        return f"{inside}, and {outside}." if wanted.returned else f"{outside}."

    def lines(self, wanted: Wanted, estimates: Mapping[str, tuple[float, float]]) -> tuple[PlaneLine, ...]:
        """Through the control, a margin ahead of it."""
        (mean, risk), side = estimates[self.control], -1.0 if wanted.costs else 1.0
        if not (math.isfinite(mean) and math.isfinite(risk)):
            return ()
        name = cut(self._control, NAME_WIDTH)
        ahead = PlaneLine(side, 0.0, side * mean + self.margin, f"mean of {name}{wanted.moved(self.margin)}")
        return (ahead, PlaneLine(0.0, -1.0, -risk, f"{wanted.risk} of {name}")) if self.about_risk else (ahead,)

    # ------------------------------------------------------------------------------------ the truth

    def true_answer(self, means: Floats, risks: Floats) -> Mask:
        """The arms that are ahead of the control by more than the margin, and in risk where that counts."""
        better = means > means[self.place] + self.margin
        better &= risks < risks[self.place] if self.about_risk else True
        better[self.place] = False
        return np.asarray(better)

    def ordered(self, means: Sequence[Fraction], risks: Sequence[Exact]) -> tuple[Question, Floats, Floats]:
        """With what must be exceeded, in place of the margin."""
        *places, needed = exact_ranks([*means, means[self.place] + exactly(self.margin)]).tolist()
        question = replace(self, margin=needed - places[self.place])
        object.__setattr__(question, "place", self.place)
        return question, np.array(places), exact_ranks(risks)

    def is_right(self, answer: Mask, means: Floats, risks: Floats, epsilon: float) -> bool:
        """Whether every returned arm is better than the control, and no other by epsilon."""
        found, rivals = self.tolerances(answer, Boxes(means, means, risks, risks))
        if epsilon > 0.0:
            return bool(self.settled(answer, found, rivals, epsilon).all())
        return self.is_true(answer, means, risks)

    def __str__(self) -> str:
        """Only what is not usual; what has a meaning in such a text is escaped in a name."""
        parts = [f"control={escape(self.control)}"]
        parts += [f"margin={as_written(self.margin)}"] if self.margin else []
        parts += [f"objective={self.objective}"] if self.objective != "mean" else []
        return f"{self.name}:{','.join(parts)}"
