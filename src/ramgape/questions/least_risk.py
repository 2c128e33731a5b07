"""The least risk, perhaps only among the arms whose mean is good enough."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from ramgape.common.exact import Exact, exact_ranks, exactly
from ramgape.common.plane import PlaneLine
from ramgape.core.pareto import Floats
from ramgape.questions.best import Best
from ramgape.questions.question import Possible, Question, Rescaling, check_limit
from ramgape.questions.score import SAFETY, Score
from ramgape.questions.wording import Wanted


@dataclass(frozen=True, slots=True)
class LeastRisk(Best):
    """The arm with the least risk; with a floor, among those whose mean is at least that.

    Args:
        min_mean: The mean that an arm must have at least, in the units of rewards; of costs, which are minimised, the
            most that it may be. None if any will do.

    Examples:
        >>> str(LeastRisk(min_mean=0.6))
        'least-risk:min-mean=0.6'
    """

    name: ClassVar[str] = "least-risk"
    written: ClassVar[str] = "least-risk[:min-mean=NUMBER]"
    meaning: ClassVar[str] = "the arm with the least risk, perhaps only of those with a mean of at least so much"
    min_mean: float | None = None

    def __post_init__(self) -> None:
        self._check("min_mean")

    @property
    def score(self) -> Score:
        return SAFETY

    @property
    def floor(self) -> float | None:
        return self.min_mean

    @property
    def called(self) -> str:
        return "safest arm"

    @property
    def nobody(self) -> str:
        return "no arm is feasible"

    def scaled(self, mean: Rescaling, risk: Rescaling) -> LeastRisk:
        return self if self.min_mean is None else LeastRisk(mean(self.min_mean))

    def ordered(self, means: Sequence[Fraction], risks: Sequence[Exact]) -> tuple[Question, Floats, Floats]:
        """With the place of the floor among the means."""
        if self.min_mean is None:
            return Best.ordered(self, means, risks)
        *places, floor = exact_ranks([*means, exactly(self.min_mean)]).tolist()
        return LeastRisk(floor), np.array(places), exact_ranks(risks)

    def check(self, possible: Possible) -> tuple[str, ...]:
        if self.min_mean is None:
            return ()
        (least, most), floor = possible.means, self.min_mean
        if possible.costs:
            allowed = f"at least {least:g}, the lowest mean that is possible (of costs it is the most that is accepted)"
            return check_limit("min_mean", floor, floor >= least, floor < most, allowed)
        allowed = f"at most {most:g}, the highest mean that is possible"
        return check_limit("min_mean", floor, floor <= most, floor > least, allowed)

    def sought(self, wanted: Wanted) -> str:
        which = "" if self.min_mean is None else f" of those whose mean is {wanted.good_enough(self.min_mean)}"
        return f"the arm with the {wanted.safest} {wanted.risk}{which}"

    def lines(self, wanted: Wanted, estimates: Mapping[str, tuple[float, float]]) -> tuple[PlaneLine, ...]:
        if self.min_mean is None:
            return ()
        side, word = (-1.0, "ceiling") if wanted.costs else (1.0, "floor")
        return (PlaneLine(side, 0.0, side * self.min_mean, f"{word}: mean {wanted.good_enough(self.min_mean)}"),)

    def claim(self, wanted: Wanted) -> str:
        """Without a floor that no arm is safer by epsilon; with one the three parts of questions/best.py."""
        safer = f"{wanted.a_risk} {wanted.risk_tolerance} or more {wanted.safer} that of {wanted.names}"
        exactly = f"{wanted.names} is {self.sought(wanted)}."
        if self.min_mean is None:
            return exactly if wanted.epsilon == 0.0 else f"no arm has {safer}."
        strict = wanted.good_enough(self.min_mean, 1)
        if not wanted.returned:
            return f"no arm has a mean of {strict}."
        if wanted.epsilon == 0.0:
            return exactly
        return (
            f"the mean of {wanted.names} is {wanted.beyond(self.min_mean, -1)}, and no arm whose mean is {strict} has "
            f"{safer}."
        )
