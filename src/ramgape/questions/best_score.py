"""The best score: the mean less what its risk costs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import ClassVar

from ramgape.common.exact import Exact, exact_ranks, exactly
from ramgape.common.formatting import cut
from ramgape.common.plane import PlaneLine
from ramgape.core.pareto import Floats
from ramgape.questions.best import Best
from ramgape.questions.question import Question, Rescaling
from ramgape.questions.score import Score
from ramgape.questions.wording import Wanted

NAME_WIDTH = 24  # in a legend


@dataclass(frozen=True, slots=True)
class BestScore(Best):
    """The arm with the highest mean - weight risk; of costs, with the lowest mean + weight risk.

    Args:
        weight: What a unit of risk, as results report it, is worth in units of the mean; at least 0.

    Examples:
        >>> str(BestScore(weight=1.5))
        'best-score:weight=1.5'
    """

    name: ClassVar[str] = "best-score"
    written: ClassVar[str] = "best-score:weight=NUMBER"
    meaning: ClassVar[str] = "the arm with the highest mean - weight risk"
    weight: float

    def __post_init__(self) -> None:
        self._check("weight", least=0.0)

    @property
    def score(self) -> Score:
        return Score(1.0, self.weight)

    @property
    def called(self) -> str:
        return "best arm"

    def scaled(self, mean: Rescaling, risk: Rescaling) -> BestScore:
        return replace(self, weight=self.weight * mean.difference(1.0) / risk.difference(1.0))

    def ordered(self, means: Sequence[Fraction], risks: Sequence[Exact]) -> tuple[Question, Floats, Floats]:
        """The score in place of the mean."""
        costs = [risk.times(exactly(-self.weight)) for risk in risks]
        scores = [Exact(mean + cost.part, cost.square) for mean, cost in zip(means, costs, strict=True)]
        return BestScore(weight=0.0), exact_ranks(scores), exact_ranks(risks)

    def sought(self, wanted: Wanted) -> str:
        return f"the arm with the {wanted.best} {self._formula(wanted)}"

    def _formula(self, wanted: Wanted) -> str:
        return f"mean {'-' if wanted.costs == wanted.turned else '+'} {self.weight:.12g} {wanted.risk}"

    def lines(self, wanted: Wanted, estimates: Mapping[str, tuple[float, float]]) -> tuple[PlaneLine, ...]:
        """Where the score is that of the returned arm: what lies beyond would be better."""
        side = -1.0 if wanted.costs else 1.0
        words = f"as good as {cut(wanted.names, NAME_WIDTH)}: the same {self._formula(wanted)}"
        points = [estimates[name] for name in wanted.returned]
        return tuple(
            PlaneLine(side, -self.weight, side * mean - self.weight * risk, words, limit=False)
            for mean, risk in points
            if math.isfinite(mean) and math.isfinite(risk)
        )

    def claim(self, wanted: Wanted) -> str:
        """That no arm has a score that is better by epsilon, which is in units of the mean."""
        if wanted.epsilon == 0.0:
            return f"{wanted.names} is {self.sought(wanted)}."
        return (
            f"no arm has a score {wanted.mean_tolerance} or more {wanted.better} that of {wanted.names}, the score "
            f"being {self._formula(wanted)}."
        )
