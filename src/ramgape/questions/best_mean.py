"""The best mean, perhaps only among the arms whose risk is not above a ceiling."""

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
from ramgape.questions.score import MEAN, Score
from ramgape.questions.wording import Wanted


@dataclass(frozen=True, slots=True)
class BestMean(Best):
    """The arm with the highest mean; with a ceiling, among those whose risk is at most that.

    Args:
        max_risk: The most risk that is acceptable, in the units of the risk, as results report it (`ArmReport.risk`);
            None if any is.

    Examples:
        >>> str(BestMean()), str(BestMean(max_risk=0.02))
        ('best-mean', 'best-mean:max-risk=0.02')
    """

    name: ClassVar[str] = "best-mean"
    written: ClassVar[str] = "best-mean[:max-risk=NUMBER]"
    meaning: ClassVar[str] = "the arm with the highest mean, perhaps only of those with a risk of at most so much"
    max_risk: float | None = None

    def __post_init__(self) -> None:
        self._check("max_risk")

    @property
    def score(self) -> Score:
        return MEAN

    @property
    def floor(self) -> float | None:
        return None if self.max_risk is None else -self.max_risk

    @property
    def called(self) -> str:
        return "best arm"

    @property
    def nobody(self) -> str:
        return "no arm is feasible"

    def scaled(self, mean: Rescaling, risk: Rescaling) -> BestMean:
        return self if self.max_risk is None else BestMean(risk(self.max_risk))

    def ordered(self, means: Sequence[Fraction], risks: Sequence[Exact]) -> tuple[Question, Floats, Floats]:
        """With the place of the ceiling among the risks."""
        if self.max_risk is None:
            return Best.ordered(self, means, risks)
        *places, ceiling = exact_ranks([*risks, Exact(exactly(self.max_risk))]).tolist()
        return BestMean(ceiling), exact_ranks(means), np.array(places)

    def check(self, possible: Possible) -> tuple[str, ...]:
        if self.max_risk is None:
            return ()
        (least, most), ceiling = possible.risks, self.max_risk
        allowed = f"at least {least:g}, the least risk that is possible"
        warnings = check_limit("max_risk", ceiling, ceiling >= least, ceiling < most, allowed)
        if possible.risk_epsilon and ceiling - possible.risk_epsilon < least <= ceiling < most:
            warnings += (
                f"the tolerance in risk, {possible.risk_epsilon:g}, is as large as the ceiling: nothing will be proved "
                "of other arms; a pair epsilon=(mean, risk) has one for each",
            )
        return warnings

    def sought(self, wanted: Wanted) -> str:
        which = "" if self.max_risk is None else f" of those whose {wanted.risk} is {wanted.no_riskier(self.max_risk)}"
        return f"the arm with the {wanted.best} mean{which}"

    def lines(self, wanted: Wanted, estimates: Mapping[str, tuple[float, float]]) -> tuple[PlaneLine, ...]:
        if self.max_risk is None:
            return ()
        word = "floor" if wanted.turned else "ceiling"
        return (PlaneLine(0.0, -1.0, -self.max_risk, f"{word}: {wanted.risk} {wanted.no_riskier(self.max_risk)}"),)

    def claim(self, wanted: Wanted) -> str:
        """Without a ceiling that no arm is better by epsilon; with one the three parts of questions/best.py."""
        better = f"a mean {wanted.mean_tolerance} or more {wanted.better} that of {wanted.names}"
        if self.max_risk is None:
            return f"{self._exactly(wanted)}." if wanted.epsilon == 0.0 else f"no arm has {better}."
        risk, strict = wanted.risk, wanted.no_riskier(self.max_risk, -1)
        if not wanted.returned:
            return f"no arm has {wanted.a_risk} of {strict}."
        if wanted.epsilon == 0.0:
            return f"{self._exactly(wanted)}."
        return (
            f"the {risk} of {wanted.names} is {wanted.less_risky(self.max_risk, 1)}, and no arm whose {risk} is "
            f"{strict} has {better}."
        )

    def _exactly(self, wanted: Wanted) -> str:
        return f"{wanted.names} is {self.sought(wanted)}"
