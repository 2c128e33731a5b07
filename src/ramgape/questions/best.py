"""The arm, or the arms, of highest score; perhaps only among those that reach a floor in the other objective.

What V < epsilon proves, while all boxes hold. [L, U] is where a score may be, V_j the most and W_a the least that the
other score may be, f its floor.

- m arms of highest score. For i inside and j outside s_j - s_i <= U_j - L_i < epsilon. If i is not among the m best,
  then some j outside is, so that s_i is less than epsilon below the m-th best score.
- With a floor, a inside: its other score is at least W_a > f - epsilon. For every other arm j, s_j < s_a + epsilon, or
  its other score is below f + epsilon: no arm that reaches f + epsilon is epsilon or more better than a.
- With a floor, no arm inside: V_j < f + epsilon for every arm j, so none reaches f + epsilon.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ramgape.common.checks import whole
from ramgape.common.exact import Exact, exact_ranks, exactly
from ramgape.common.formatting import cut
from ramgape.common.plane import PlaneLine
from ramgape.core.pareto import Floats, Mask
from ramgape.errors import require
from ramgape.questions.question import Boxes, Places, Possible, Question, Rescaling, check_limit
from ramgape.questions.wording import Wanted

if TYPE_CHECKING:
    from ramgape.core.comparisons import ByPairs
    from ramgape.core.kernel import Kernel

NAME_WIDTH = 24  # in a legend


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
        return found if self.floor is None else np.where(self.reaches(means, risks), found, own)

    def reaches(self, means: Floats, risks: Floats) -> Mask:
        """Which arms reach the floor, if there is one: bool[K].

        Args:
            means, risks: Of the arms, on the scale of the question, float[K].
        """
        if self.floor is None:
            return np.ones(len(means), dtype=bool)
        return np.asarray(self.score.other.of(means, risks) >= self.floor)

    def true_answer(self, means: Floats, risks: Floats) -> Mask:
        """The best arms of those that reach the floor; the first of equals."""
        reach = self.reaches(means, risks)
        order = np.argsort(np.where(reach, -self.score.of(means, risks), math.inf), kind="stable")
        return np.isin(np.arange(len(means)), order[: self.count]) & reach

    def is_true(self, answer: Mask, means: Floats, risks: Floats) -> bool:
        """Whether it is the right answer, or differs from that by equals alone."""
        values, right = self.score.of(means, risks), self.true_answer(means, risks)
        if answer.sum() != right.sum() or not self.reaches(means, risks)[answer].all():
            return False
        return bool((np.sort(values[answer]) == np.sort(values[right])).all())

    def ordered(self, means: Sequence[Fraction], risks: Sequence[Exact]) -> tuple[Question, Floats, Floats]:
        """Of a task without a limit."""
        return self, exact_ranks(means), exact_ranks(risks)

    def right_answers(self, means: Floats, risks: Floats, epsilon: float) -> list[Mask]:
        """Where one arm is asked for: every arm, and with a floor no arm, if that is right up to epsilon."""
        right = self.true_answer(means, risks)
        if self.count > 1:
            return [right]
        each: list[Mask] = list(np.eye(len(means), dtype=bool))
        if self.floor is not None:
            each.append(np.zeros(len(means), dtype=bool))
        others = (one for one in each if (one != right).any())
        return [right, *(one for one in others if self.is_right(one, means, risks, epsilon))]

    def is_only_answer(self, means: Floats, risks: Floats, epsilon: float) -> bool:
        """Whether no other arm will do; not known of several arms."""
        return self.count == 1 and len(self.right_answers(means, risks, epsilon)) == 1


class _OneObjective(Best):
    """The best arm in one objective; with a limit on the other, among the arms that keep it."""

    @property
    def nobody(self) -> str:
        return "no arm is feasible"

    def claim(self, wanted: Wanted) -> str:
        """Without a limit that no arm is better by epsilon; with one the three parts at the top of this file."""
        ahead, limited, a_limited, strict, kept = self._claimed(wanted)
        if self.floor is not None and not wanted.returned:
            return f"no arm has {a_limited} of {strict}."
        if wanted.epsilon == 0.0:
            return f"{wanted.names} is {self.sought(wanted)}."
        if self.floor is None:
            return f"no arm has {ahead}."
        return f"the {limited} of {wanted.names} is {kept}, and no arm whose {limited} is {strict} has {ahead}."

    @abstractmethod
    def _claimed(self, wanted: Wanted) -> tuple[str, str, str, str, str]:
        """To be ahead by epsilon; then the limited objective, it with an article, its limit made stricter, and kept."""


@dataclass(frozen=True, slots=True)
class BestMean(_OneObjective):
    """The arm with the highest mean; with a ceiling, among those whose risk is at most that.

    Args:
        max_risk: The most risk that is acceptable, in the units of the risk, as results report it (`ArmReport.risk`);
            None if any is.

    Examples:
        >>> str(BestMean()), str(BestMean(max_risk=0.02))
        ('best', 'best:max-risk=0.02')
    """

    name: ClassVar[str] = "best"
    written: ClassVar[str] = "best[:max-risk=NUMBER]"
    meaning: ClassVar[str] = "the arm with the highest mean, perhaps only of those with a risk of at most so much"
    called: ClassVar[str] = "best arm"
    score: ClassVar[Score] = MEAN
    max_risk: float | None = None

    def __post_init__(self) -> None:
        self._check("max_risk")

    @property
    def floor(self) -> float | None:
        return None if self.max_risk is None else -self.max_risk

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

    def _claimed(self, wanted: Wanted) -> tuple[str, str, str, str, str]:
        ahead, most = (
            f"a mean {wanted.mean_tolerance} or more {wanted.better} that of {wanted.names}",
            self.max_risk or 0.0,
        )
        return ahead, wanted.risk, wanted.a_risk, wanted.no_riskier(most, -1), wanted.less_risky(most, 1)


@dataclass(frozen=True, slots=True)
class LeastRisk(_OneObjective):
    """The arm with the least risk; with a floor, among those whose mean is at least that.

    Args:
        min_mean: The mean that an arm must have at least, in the units of rewards; of costs, which are minimized, the
            most that it may be. None if any will do.

    Examples:
        >>> str(LeastRisk(min_mean=0.6))
        'least-risk:min-mean=0.6'
    """

    name: ClassVar[str] = "least-risk"
    written: ClassVar[str] = "least-risk[:min-mean=NUMBER]"
    meaning: ClassVar[str] = "the arm with the least risk, perhaps only of those with a mean of at least so much"
    called: ClassVar[str] = "safest arm"
    score: ClassVar[Score] = SAFETY
    min_mean: float | None = None

    def __post_init__(self) -> None:
        self._check("min_mean")

    @property
    def floor(self) -> float | None:
        return self.min_mean

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

    def _claimed(self, wanted: Wanted) -> tuple[str, str, str, str, str]:
        ahead, least = (
            f"{wanted.a_risk} {wanted.risk_tolerance} or more {wanted.safer} that of {wanted.names}",
            self.min_mean or 0.0,
        )
        return ahead, "mean", "a mean", wanted.good_enough(least, 1), wanted.beyond(least, -1)


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
    called: ClassVar[str] = "best arm"
    weight: float

    def __post_init__(self) -> None:
        self._check("weight", least=0.0)

    @property
    def score(self) -> Score:
        return Score(1.0, self.weight)

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


@dataclass(frozen=True, slots=True)
class Top(Best):
    """The m arms with the highest means.

    Args:
        m: How many: at least 1, and fewer than there are arms.

    Examples:
        >>> str(Top(3))
        'top:3'
    """

    name: ClassVar[str] = "top"
    written: ClassVar[str] = "top:M"
    meaning: ClassVar[str] = "the m arms with the highest means"
    m: int

    def __post_init__(self) -> None:
        allowed = "a whole number of at least 1, and less than the number of arms"
        object.__setattr__(self, "m", whole(self.m, "m of question top", allowed, 1))

    @property
    def score(self) -> Score:
        return MEAN

    @property
    def count(self) -> int:
        return self.m

    @property
    def called(self) -> str:
        return f"top {self.m:,}"

    def check(self, possible: Possible) -> tuple[str, ...]:
        allowed = f"less than the number of arms, {len(possible.names):,}: all of them are no choice"
        require(self.m < len(possible.names), "m of question top", allowed, self.m)
        return ()

    def some_arms(self) -> Sequence[str]:
        return [str(arm) for arm in range(self.m + 1)]

    def sought(self, wanted: Wanted) -> str:
        return (
            f"the {self.m:,} arms with the {wanted.best} means"
            if self.m > 1
            else f"the arm with the {wanted.best} mean"
        )

    def claim(self, wanted: Wanted) -> str:
        """That no arm outside is better by epsilon than one inside: less than epsilon is lost to the m-th best."""
        if wanted.epsilon == 0.0:
            return f"these are {self.sought(wanted)}." if self.m > 1 else f"{wanted.names} is {self.sought(wanted)}."
        whose = "that of any returned one" if self.m > 1 else f"that of {wanted.names}"
        return f"no other arm has a mean {wanted.mean_tolerance} or more {wanted.better} {whose}."

    def __str__(self) -> str:
        return f"{self.name}:{self.m}"
