"""The Pareto set: the arms that no other arm beats in both mean and risk."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ramgape.common.exact import exact_ranks
from ramgape.core import pareto
from ramgape.core.pareto import Floats, Mask, advantage, is_epsilon_cover, pareto_front
from ramgape.questions.question import Boxes, Places, Question
from ramgape.questions.wording import Wanted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from ramgape.common.exact import Exact
    from ramgape.core.comparisons import ByPairs
    from ramgape.core.kernel import Kernel
    from ramgape.core.table import State

FREE_ARMS, ANSWERS = 12, 64  # with more arms that may be in or out, or more right answers, only one is looked at


@dataclass(frozen=True, slots=True)
class Pareto(Question):
    """All arms that are worth considering: none of them is beaten in both mean and risk.

    V_i is that of the paper, core/doubt.py; what is right up to epsilon is `is_epsilon_cover`.
    """

    name: ClassVar[str] = "pareto"
    written: ClassVar[str] = "pareto"
    meaning: ClassVar[str] = "the arms that no other arm beats in both mean and risk"
    policies: ClassVar[tuple[str, ...] | None] = None
    designates: ClassVar[bool] = True

    @property
    def called(self) -> str:
        return "Pareto set"

    def compare(self) -> Kernel:
        """The paper's V_i, V, m_t and p_t."""
        from ramgape.core.doubt import compare

        return compare

    @property
    def compares_pairs(self) -> bool:
        return True

    def by_pairs(self, mean_ahead: Kernel, risk_ahead: Kernel) -> ByPairs:
        """As core/comparisons.py has it."""
        from ramgape.core.comparisons import ahead_in, pareto_by_pairs
        from ramgape.core.kernel import fixed

        return pareto_by_pairs(fixed(ahead_in, mean_ahead, risk_ahead))

    def exact_by_pairs(self, answer: Mask, proofs: Places) -> Mask:
        """That an arm is in is proved exactly by the same supermartingale; that one is out, by the boxes alone."""
        from ramgape.core.comparisons import INSIDE_PROVED

        return np.asarray(answer & (proofs == INSIDE_PROVED))

    def complete(self, state: State) -> None:
        """Compute the rows of which only a bound is known."""
        from ramgape.core.doubt import compute_row
        from ramgape.core.rows import load, store

        arms, *_, search, _ = state
        open_arms = np.flatnonzero(arms["exact"] == 0)
        if len(open_arms):
            rows, records = load(arms), load(search)
            for arm in open_arms.tolist():
                compute_row(rows, records[0], arm)
            store(rows, arms)
            store(records, search)

    def tolerances(self, answer: Mask, boxes: Boxes) -> tuple[Floats, Places]:
        """V_i, except that an arm outside may be covered by any returned arm."""
        return pareto.proved_tolerances(answer, *boxes)

    def reasons(self, answer: Mask, means: Floats, risks: Floats, rivals: Places) -> Places:
        """The returned arm that dominates an arm most clearly; the surest cover, if any, where none does."""
        lead = advantage(means, risks)
        lead[:, ~answer] = -math.inf
        return np.where((lead.max(axis=1) > 0.0) | (rivals < 0), lead.argmax(axis=1), rivals)

    def claim(self, wanted: Wanted) -> str:
        """No returned arm is beaten, and every excluded one is covered."""
        if wanted.epsilon == 0.0:
            return "this is exactly the Pareto set."
        from ramgape.common.formatting import round_up

        tolerance, risk = round_up(wanted.epsilon), wanted.risk
        if wanted.risk_epsilon is not None:
            other = round_up(wanted.risk_epsilon)
            return (
                f"no returned arm is beaten by {tolerance} or more in mean and at the same time by {other} or more in "
                f"{risk}, and every excluded arm has a returned one that is less than {tolerance} behind it in mean "
                f"and less than {other} behind it in {risk}."
            )
        return (
            f"no returned arm is beaten by {tolerance} or more in both mean and {risk}, and every excluded arm has a "
            f"returned one that is less than {tolerance} behind it in each."
        )

    def true_answer(self, means: Floats, risks: Floats) -> Mask:
        """The arms that no arm strictly dominates."""
        return pareto_front(means, risks)

    def ordered(self, means: Sequence[Fraction], risks: Sequence[Exact]) -> tuple[Question, Floats, Floats]:
        return self, exact_ranks(means), exact_ranks(risks)

    def gaps(self, means: Floats, risks: Floats) -> Floats:
        """Eq. (1) of the paper."""
        return pareto.gaps(means, risks)

    def regret(self, answer: Mask, means: Floats, risks: Floats) -> float:
        """The paper's simple regret."""
        return pareto.simple_regret(answer, means, risks)

    def is_right(self, answer: Mask, means: Floats, risks: Floats, epsilon: float) -> bool:
        """Whether no returned arm is beaten by epsilon in both objectives, and every other one is covered."""
        return is_epsilon_cover(answer, means, risks, epsilon)

    def right_answers(self, means: Floats, risks: Floats, epsilon: float) -> list[Mask]:
        """All right answers, the Pareto set being the first; that one alone if there are too many.

        >>> means, risks = np.array([0.5, 0.49, 0.1]), np.array([0.1, 0.1, 0.2])
        >>> [answer.tolist() for answer in Pareto().right_answers(means, risks, 0.05)]
        [[True, True, False], [False, True, False], [True, False, False]]
        """
        front = pareto_front(means, risks)
        must = needed(means, risks, epsilon)
        free = np.flatnonzero(returnable(means, risks, epsilon) & ~must)
        answers = [front]
        if len(free) > FREE_ARMS:
            return [front]
        for choice in itertools.product((False, True), repeat=len(free)):
            answer = must.copy()
            answer[free] = choice
            if (answer != front).any() and is_epsilon_cover(answer, means, risks, epsilon):
                answers.append(answer)
        return answers if len(answers) <= ANSWERS else [front]

    def is_only_answer(self, means: Floats, risks: Floats, epsilon: float) -> bool:
        """Whether nothing but the Pareto set is right.

        So it is if no other arm may be returned, each being beaten by epsilon, and none of its own may be left out, not
        being covered by another. (An arm beaten by one that is left out is covered by that one's cover.)
        """
        return bool((returnable(means, risks, epsilon) == needed(means, risks, epsilon)).all())


def returnable(means: Floats, risks: Floats, epsilon: float) -> Mask:
    """The arms that an answer may have: those that no arm beats by epsilon."""
    if epsilon == 0.0:
        return pareto_front(means, risks)
    return np.asarray(~(advantage(means, risks) >= epsilon).any(axis=1))


def needed(means: Floats, risks: Floats, epsilon: float) -> Mask:
    """The arms that every answer must have: those that no other returnable arm covers."""
    allowed = returnable(means, risks, epsilon)
    covers = (advantage(means, risks) > -epsilon) & allowed[None, :]
    np.fill_diagonal(covers, False)
    return np.asarray(allowed & ~covers.any(axis=1))
