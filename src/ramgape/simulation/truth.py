"""The truth of a simulated problem, as a specification sees it: computed once, for results, traces and plans."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ramgape.core.pareto import Floats, Mask
from ramgape.core.table import TRUTH, Table, new_table
from ramgape.problems.distributions import Scores
from ramgape.problems.environments import Instance
from ramgape.search.items_exact import Known, know
from ramgape.search.result import ArmTruth, Truth
from ramgape.search.spec import Spec


class TrueArms:
    """What is true of an instance's arms, in units of the user's mean, more mean and less risk being better.

    Costs are negated, and risks have the factor with which they are compared with means, so that one tolerance serves
    both.
    """

    def __init__(self, instance: Instance, spec: Spec) -> None:
        self.spec, self._question, self._instance = spec, spec.oriented_question, instance
        self._raw_risks = instance.risks_by(spec.oriented_risk, spec.direction)
        self.means: Floats = instance.means if spec.direction == "maximize" else -instance.means
        self.risks: Floats = spec.risk_scale * self._raw_risks

    @cached_property
    def _known(self) -> Known:
        """What decides: of a test set without rounding."""
        if self.spec.items is None:
            return Known(self._question, self.means, self.risks)
        listed = [arm.distribution for arm in self._instance.arms]
        return know(self.spec, np.array([each.values for each in listed if isinstance(each, Scores)]))

    @cached_property
    def front(self) -> Mask:
        """The right answer."""
        return self._known.answer

    @cached_property
    def gaps(self) -> Floats:
        """By how much each arm's place in the right answer, or outside it, is clear."""
        return self._question.gaps(self.means, self.risks)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the right answer."""
        return tuple(name for name, inside in zip(self.spec.names, self.front, strict=True) if inside)

    @property
    def arms(self) -> tuple[ArmTruth, ...]:
        """Each arm as people are told of it, in the user's units."""
        spec, costs = self.spec, self.spec.direction == "minimize"
        means, deviations = self._instance.means.tolist(), np.sqrt(self._instance.variances).tolist()
        risks = (spec.risk_factor * self._raw_risks).tolist()
        return tuple(
            ArmTruth(name, mean, std, risk, spec.risk.shown(risk, costs))
            for name, mean, std, risk in zip(spec.names, means, deviations, risks, strict=True)
        )

    def assess(self, answer: Mask, epsilon: float | None) -> Truth:
        """How an answer compares with the truth, and whether it is right up to epsilon."""
        exact = self._known.is_true(answer)
        return Truth(
            front=self.names,
            regret=0.0 if exact else self._question.regret(answer, self.means, self.risks),
            exact=exact,
            eps_correct=exact or self._question.is_right(answer, self.means, self.risks, epsilon or 0.0),
        )

    def table(self) -> Table:
        """The truth on the engine's scale, beside which a simulation is watched."""
        spec = self.spec
        truth = new_table(len(spec.names), TRUTH)
        truth["mean"] = (self.means - spec.origin) / spec.span
        raw = self._raw_risks - spec.oriented_risk.offset(spec.origin)
        truth["risk"] = spec.risk_scale * raw / spec.span
        truth["gap"], truth["in_front"] = self.gaps / spec.span, self.front
        return truth
