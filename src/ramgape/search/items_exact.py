"""What a complete test set says, by exact arithmetic: who is ahead of whom, and which limits are kept.

Scores and limits are decimal numbers, as they were written: 0.1 is a tenth. Means are fractions, and so are the risks
but for two kinds: a standard deviation is the root of one, and is compared by its square; an entropic risk has so many
digits that two which agree in all of them are equal (risks/entropic.py). A risk from outside, of which only a float is
known, is rounded to `DIGITS` digits of what rewards can have; a limit is taken as it is.

All that an answer depends on is the order of these numbers. So the question is asked again about whole numbers in the
same order (`Question.ordered`), which floats have no trouble with. A question from outside that does not say how
is asked about the floats that are nearest to the numbers, as its limits are.
"""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import NamedTuple

import numpy as np

from ramgape.common.exact import LOSSLESS, Exact, average, exactly
from ramgape.core.pareto import Floats, Mask
from ramgape.questions import Question, Rescaling
from ramgape.search.spec import Spec

DIGITS = 12  # of what rewards can have: more are rounding


class Known(NamedTuple):
    """A question, and means and risks to answer it by; more mean and less risk are better."""

    question: Question
    means: Floats
    risks: Floats

    @property
    def answer(self) -> Mask:
        """The right one."""
        return self.question.true_answer(self.means, self.risks)

    def is_true(self, answer: Mask) -> bool:
        """Whether an answer is right; where arms are equal there may be several."""
        return self.question.is_true(answer, self.means, self.risks)

    @property
    def tied(self) -> Mask:
        """The arms outside the answer in whose place another one is as right."""
        answer = self.answer
        tied = np.zeros(len(answer), dtype=bool)
        for arm in np.flatnonzero(~answer):
            for other in np.flatnonzero(answer):
                instead = answer.copy()
                instead[[arm, other]] = True, False
                tied[arm] |= self.is_true(instead)
        return tied


def know(spec: Spec, scores: Floats) -> Known:
    """What is asked, to be answered without rounding, where all scores are known: a row for each arm, in any order."""
    return order(spec, *exact_measure(spec, scores))


def exact_measure(spec: Spec, scores: Floats) -> tuple[list[Fraction], list[Exact]]:
    """Means and risks, as results report them, but that costs are negated."""
    means, risks, measured = [], [], spec.oriented_risk
    with localcontext(LOSSLESS):
        for row in np.sort(scores if spec.direction == "maximize" else -scores, axis=1):
            values, counts = np.unique(row + 0.0, return_counts=True)
            decimals = [Decimal(repr(value)) for value in values.tolist()]
            pairs = list(zip(decimals, counts.tolist(), strict=True))
            means.append(average(pairs))
            risk = measured.exact_in(pairs) or _rounded(measured.value_in(row), spec.span**measured.power)
            risks.append(risk.times(exactly(spec.risk_factor)))
    return means, risks


def order(spec: Spec, means: list[Fraction], risks: list[Exact]) -> Known:
    """The question, about numbers in the same order."""
    sign = 1.0 if spec.direction == "maximize" else -1.0
    question = spec.question.scaled(Rescaling(sign, 0.0, 1.0), Rescaling(1.0, 0.0, 1.0)).among(spec.names)
    ordered = question.ordered(means, risks)
    if ordered is None:
        return Known(question, np.array([float(mean) for mean in means]), np.array([float(risk) for risk in risks]))
    return Known(*ordered)


def _rounded(value: float, unit: float) -> Exact:
    """A risk of which no more than a float is known."""
    return Exact(exactly(round(value / unit, DIGITS)) * exactly(unit))
