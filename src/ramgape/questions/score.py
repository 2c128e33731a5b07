"""Scores of arms: what `core/scores.py` keeps pull by pull, for arrays of all arms."""

from __future__ import annotations

from typing import NamedTuple

from ramgape.core.pareto import Floats
from ramgape.questions.question import Boxes


class Score(NamedTuple):
    """mean_weight mean - risk_weight risk, of which more is better.

    Attributes:
        mean_weight, risk_weight: At least 0, and not both 0.
    """

    mean_weight: float
    risk_weight: float

    def of(self, means: Floats, risks: Floats) -> Floats:
        """The score of arms; what has no weight may be infinite."""
        if self.risk_weight == 0.0:
            return self.mean_weight * means
        if self.mean_weight == 0.0:
            return -self.risk_weight * risks
        return self.mean_weight * means - self.risk_weight * risks

    def lows(self, boxes: Boxes) -> Floats:
        """The least that it may be."""
        return self.of(boxes.mean_low, boxes.risk_high)

    def highs(self, boxes: Boxes) -> Floats:
        """The most that it may be."""
        return self.of(boxes.mean_high, boxes.risk_low)

    @property
    def other(self) -> Score:
        """The other objective, where this is one of the two."""
        return Score(self.risk_weight, self.mean_weight)


MEAN, SAFETY = Score(1.0, 0.0), Score(0.0, 1.0)
