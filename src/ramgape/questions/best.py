"""The arm, or the arms, of highest score; perhaps only among those that reach a floor in the other objective.

What V < epsilon proves, while all boxes hold. [L, U] is where a score may be, V_j the most and W_a the least that the
other score may be, f its floor.

- m arms of highest score. For i inside and j outside s_j - s_i <= U_j - L_i < epsilon. If i is not among the m best,
  then some j outside is, so that s_i is less than epsilon below the m-th best score.
- With a floor, a inside: its other score is at least W_a > f - epsilon. For every other arm j, s_j < s_a + epsilon, or
  its other score is below f + epsilon: no arm that reaches f + epsilon is epsilon or more better than a.
- With a floor, nobody inside: V_j < f + epsilon for every arm j, so none reaches f + epsilon.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ramgape.common.exact import exact_ranks
from ramgape.core.pareto import Floats, Mask
from ramgape.questions.question import Boxes, Places, Question
from ramgape.questions.score import MEAN, Score

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from ramgape.common.exact import Exact
    from ramgape.core.comparisons import ByPairs
    from ramgape.core.kernel import Kernel


class Best(Question):
    """What the tasks have in common whose answer is the best arm, or the best arms, by one score."""

    weighs: ClassVar[bool] = True

    @property
    def named_policies(self) -> tuple[str, ...]:
        """Those that are known for means, and for means under a ceiling."""
        if self.floor is not None and self.score == MEAN:
            return ("va-lucb",)
        known = self.floor is None and not self.about_risk
        return ("successive-rejects", "sequential-halving", "ugape", "lucb") if known else ()

    @property
    @abstractmethod
    def score(self) -> Score:
        """By which arms are compared."""

    @property
    def floor(self) -> float | None:
        """What the other score of an arm must reach, of one arm."""
        return None

    @property
    def count(self) -> int:
        """How many arms are returned."""
        return 1

    @property
    def about_risk(self) -> bool:
        return self.score.risk_weight > 0.0 or self.floor is not None

    def compare(self) -> Kernel:
        """UGapE's answer and doubts; with a floor those of core/limited.py."""
        if self.floor is None:
            from ramgape.core.highest import compare_highest

            return compare_highest
        from ramgape.core.limited import compare_limited

        return compare_limited

    @property
    def compares_pairs(self) -> bool:
        """Where it is about means alone: for the least risk boxes take no more pulls, and sometimes far fewer."""
        return self.floor is None and self.score == MEAN

    def by_pairs(self, mean_ahead: Kernel, risk_ahead: Kernel) -> ByPairs:
        """Every arm of the answer against every other."""
        from ramgape.core.highest_pairs import highest_by_pairs

        return highest_by_pairs(mean_ahead)

    def weigh(self) -> tuple[Kernel, Kernel]:
        from ramgape.core import task_costs

        if self.floor is None:
            return task_costs.weigh_highest, task_costs.pull_for_highest
        return task_costs.weigh_limited, task_costs.pull_for_limited

    def write(self, problem: Any) -> None:
        last = float(self.count) if self.floor is None else self.floor
        problem["task_parameters"][:3] = *self.score, last

    def guess(self, answer: Mask, decided: Mask, means: Floats, risks: Floats) -> Mask:
        """The best by the estimates, of those that reach the floor by them: the present answer is a minimax choice."""
        return self.true_answer(means, risks)

    def tolerances(self, answer: Mask, boxes: Boxes) -> tuple[Floats, Places]:
        """V_i of any answer, even of one that the kernel would not give."""
        lows, highs = self.score.lows(boxes), self.score.highs(boxes)
        own = np.arange(len(answer))
        if self.floor is None:
            if not answer.any() or answer.all():
                return np.full(len(answer), math.inf), own
            weakest = int(np.where(answer, lows, math.inf).argmin())
            strongest = int(np.where(answer, -math.inf, highs).argmax())
            found = np.where(answer, highs[strongest] - lows, highs - lows[weakest])
            return found, np.where(answer, strongest, weakest)
        other_lows, other_highs = self.score.other.lows(boxes), self.score.other.highs(boxes)
        misses = other_highs - self.floor
        if not answer.any():
            return misses, own
        best = int(np.where(answer, lows, math.inf).argmin())
        ahead = highs - lows[best]
        found = np.where(answer, self.floor - other_lows, np.minimum(misses, ahead))
        return found, np.where(answer | (misses < ahead), own, best)

    def settled(self, answer: Mask, tolerances: Floats, rivals: Places, epsilon: float) -> Mask:
        """With a floor, to be behind the answer tells only where that reaches it; and it is the best if no other is."""
        below = tolerances < epsilon
        if self.floor is None or not answer.any():
            return below
        by_itself = rivals == np.arange(len(answer))
        return np.asarray(np.where(answer, below.all(), below & (by_itself | below[answer].all())))

    def reasons(self, answer: Mask, means: Floats, risks: Floats, rivals: Places) -> Places:
        """The returned arm that is nearest; nobody for an arm that misses the floor."""
        own = np.arange(len(answer))
        if not answer.any():
            return np.full(len(answer), -1)
        values = self.score.of(means, risks)
        found = np.full(len(answer), int(np.where(answer, values, math.inf).argmin()))
        return found if self.floor is None else np.where(self._reaches(means, risks), found, own)

    def _reaches(self, means: Floats, risks: Floats) -> Mask:
        """Which arms reach the floor, if there is one."""
        if self.floor is None:
            return np.ones(len(means), dtype=bool)
        return np.asarray(self.score.other.of(means, risks) >= self.floor)

    def true_answer(self, means: Floats, risks: Floats) -> Mask:
        """The best arms of those that reach the floor; the first of equals."""
        reach = self._reaches(means, risks)
        order = np.argsort(np.where(reach, -self.score.of(means, risks), math.inf), kind="stable")
        return np.isin(np.arange(len(means)), order[: self.count]) & reach

    def is_true(self, answer: Mask, means: Floats, risks: Floats) -> bool:
        """Whether it is the right answer, or differs from that by equals alone."""
        values, right = self.score.of(means, risks), self.true_answer(means, risks)
        if answer.sum() != right.sum() or not self._reaches(means, risks)[answer].all():
            return False
        return bool((np.sort(values[answer]) == np.sort(values[right])).all())

    def ordered(self, means: Sequence[Fraction], risks: Sequence[Exact]) -> tuple[Question, Floats, Floats]:
        """Of a task without a limit."""
        return self, exact_ranks(means), exact_ranks(risks)

    def right_answers(self, means: Floats, risks: Floats, epsilon: float) -> list[Mask]:
        """Where one arm is asked for, without a floor: every arm that is less than epsilon behind the best one."""
        right = self.true_answer(means, risks)
        if not self._is_single:
            return [right]
        values = self.score.of(means, risks)
        near = np.flatnonzero((values > values.max() - epsilon) & ~right)
        return [right, *(np.arange(len(values)) == place for place in near)]

    def is_only_answer(self, means: Floats, risks: Floats, epsilon: float) -> bool:
        """Whether all other arms are epsilon or more behind; not known of several arms, or with a floor."""
        return self._is_single and len(self.right_answers(means, risks, epsilon)) == 1

    @property
    def _is_single(self) -> bool:
        return self.floor is None and self.count == 1
