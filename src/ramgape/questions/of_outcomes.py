"""Questions about arms with several objectives and limits: which claims an answer needs, and how surely.

A question is asked of a table of columns (core/claims.py) and of proofs. It names the answer that estimates suggest,
the claim of it that they support least, and which arms' places are not proved yet. Every level is one of
docs/theory/outcomes.md, where the proofs are. What has been verified once, by itself and at its own level, stays
so; nothing is ever multiplied or added over objectives of one trial.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from ramgape.core.claims import (
    HOPELESS,
    Floats,
    Mask,
    Seen,
    best_levels,
    certainty,
    doubts,
    front_of,
    keeps_limits,
    pareto_levels,
    safe_log,
    thinned,
    weight,
    wrong_covers,
)

MORE = 1.06  # a claim that was looked at in vain is looked at again when it promises so much more
EASIER = 4.0  # an arm outside is returned if it is so many times easier to prove that it may be
CONFIDENT = 2.0  # standard errors by which the best arm may be better than it looks, as a reference


class Proofs(Protocol):
    """What decides claims: the lanes of a search (search/outcome_engine.py). Values are in units of the columns."""

    def ahead(self, arm: int, other: int, column: int, margin: float, level: float, factor: float = 1.0) -> bool:
        """Whether it is proved at this level that the arm's value is more than factor times the other's less margin."""

    def beyond(self, arm: int, column: int, value: float, side: float, level: float) -> bool:
        """Whether it is proved at this level that an arm is above a value (side 1), or below it (-1)."""


class NextStep(NamedTuple):
    """What a question wants at one moment.

    Attributes:
        answer: The arms that would be returned.
        unproved: The arms whose place in it is not proved.
        one, other: The arms of the claim that is to be served; `other` is -1 for a claim about one arm.
        column: In which column.
    """

    answer: Mask
    unproved: Mask
    one: int
    other: int
    column: int


class Claims:
    """Claims in some columns, and the largest level at which each was verified.

    Args:
        shape: Of the arms that a claim is about.
        columns: The columns.
        weak: For which of them a tie will do: those that are known.
    """

    def __init__(self, shape: tuple[int, ...], columns: list[int], weak: Mask | None) -> None:
        self.columns, self.weak = columns, np.zeros(len(columns), bool) if weak is None else weak
        self.proved = np.full((*shape, len(columns)), -np.inf)
        self.looked = np.zeros_like(self.proved)  # what a claim promised when it was last looked at in vain

    def _promises(self, seen: Seen, lead: Floats, errors: Floats, sure: Floats, level: Any) -> Floats:
        """How nearly each claim is proved; infinite for what is.

        Args:
            seen: What is known.
            lead: By how much each is true by the estimates, with the squared error of that.
            errors: These errors.
            sure: By how much each is true by the boxes at least.
            level: What each needs; a number, or an array that fits.
        """
        known = seen.known[self.columns]
        if seen.by_budget:
            held = np.where(np.where(self.weak, lead >= 0.0, lead > 0.0), np.inf, 0.0)
            return np.asarray(np.where(known, held, weight(lead, errors)))
        certain = np.where(self.weak, sure >= 0.0, sure > 0.0)
        with np.errstate(invalid="ignore"):
            found = certainty(lead, errors) / (2.0 * np.maximum(level, 1e-9))
        found = np.where(known, 0.0, found)  # what is known is decided by the numbers alone
        return np.asarray(np.where(certain | (self.proved >= level), np.inf, found))

    def _verify(self, claim: tuple[int, ...], level: float, promise: float, prove: Callable[[], bool]) -> bool:
        """Ask for the proof of a claim that promises so much, and remember it."""
        if self.proved[claim] >= level:
            return True
        if promise < HOPELESS or promise < MORE * self.looked[claim]:
            return False
        self.looked[claim] = promise
        if not prove():
            return False
        self.proved[claim] = level
        return True


class Pairs(Claims):
    """Claims that arms are ahead of others in some columns.

    Args:
        count: K.
        columns, weak: As for `Claims`.
        margins: An arm may be so far behind, for each of the columns.
        factors: What the other arm's value is multiplied by.
    """

    def __init__(
        self, count: int, columns: list[int], margins: Floats, weak: Mask | None = None, factors: Floats | None = None
    ) -> None:
        super().__init__((count, count), columns, weak)
        self.margins = np.asarray(margins, float)
        self.factors = np.ones(len(columns)) if factors is None else factors

    def promise(self, seen: Seen, level: Any) -> Floats:
        """float[i, j, column]: how nearly each claim is proved; infinite for what is."""
        value, error = seen.estimate[:, self.columns], seen.error[:, self.columns]
        lead = value[:, None] - self.factors * value[None] + self.margins
        errors = error[:, None] + self.factors * self.factors * error[None]
        with np.errstate(invalid="ignore"):
            sure = seen.low[:, self.columns][:, None] - self.factors * seen.high[:, self.columns][None] + self.margins
        found = self._promises(seen, lead, errors, sure, level)
        found[np.arange(len(found)), np.arange(len(found))] = np.inf
        return found

    def verify(self, proofs: Proofs, one: int, other: int, place: int, level: float, promise: float) -> bool:
        """Whether a claim is proved, which is looked for if it promises enough."""
        margin, factor, column = float(self.margins[place]), float(self.factors[place]), self.columns[place]
        return self._verify(
            (one, other, place), level, promise, lambda: proofs.ahead(one, other, column, margin, level, factor)
        )


class Singles(Claims):
    """Claims that arms are above values (side 1), or below them (-1), in some columns.

    Args:
        count: K.
        columns, weak: As for `Claims`; the value itself will do.
        values: The values, one for each of the columns.
        side: Of the values.
    """

    def __init__(self, count: int, columns: list[int], values: Floats, side: float, weak: Mask | None = None) -> None:
        super().__init__((count,), columns, weak)
        self.values, self.side = np.asarray(values, float), side

    def promise(self, seen: Seen, level: float) -> Floats:
        """float[i, column]: how nearly each claim is proved; infinite for what is."""
        if not self.columns:
            return np.zeros((len(seen.pulls), 0))
        lead = self.side * (seen.estimate[:, self.columns] - self.values)
        sure = self.side * ((seen.low if self.side > 0.0 else seen.high)[:, self.columns] - self.values)
        return self._promises(seen, lead, seen.error[:, self.columns], sure, level)

    def verify(self, proofs: Proofs, arm: int, place: int, level: float, promise: float) -> bool:
        """Whether a claim is proved, which is looked for if it promises enough."""
        column, value = self.columns[place], float(self.values[place])
        return self._verify((arm, place), level, promise, lambda: proofs.beyond(arm, column, value, self.side, level))


@dataclass
class Asked(ABC):
    """A question, asked of so many arms in such columns.

    Attributes:
        count: K.
        objectives: How many of the columns are objectives; the others are limits.
        epsilon: The tolerances of all columns.
        known: Which of them are not measured.
        left: Of delta, what boxes leave for comparisons.
        shared: Arms share items or rows: every claim has a stream of its own, and |S| may not stand for N_i.
    """

    count: int
    objectives: int
    epsilon: Floats
    known: Mask
    left: float
    shared: bool = False

    def __post_init__(self) -> None:
        self.prepare()

    @abstractmethod
    def prepare(self) -> None:
        """Make the claims and their levels."""

    @property
    def remembered(self) -> list[Floats]:
        """What was proved, and what was looked at in vain: arrays to be read, or written when a search goes on."""
        return [table for claims in self._claims() for table in (claims.proved, claims.looked)]

    def _claims(self) -> Iterator[Claims]:
        for value in vars(self).values():
            for each in value if isinstance(value, list) else [value]:
                if isinstance(each, Claims):
                    yield each

    @abstractmethod
    def plan(self, seen: Seen) -> NextStep:
        """The answer, and what it needs most."""

    @abstractmethod
    def verify(self, seen: Seen, proofs: Proofs, *, anew: bool = False) -> None:
        """Look for proofs of the claims that the present answer needs; with `anew` forget those that were found."""

    @abstractmethod
    def answer_of(self, seen: Seen) -> Mask:
        """The answer that the estimates suggest."""

    @abstractmethod
    def is_right(self, answer: Mask, values: Floats) -> bool:
        """Whether what is claimed of an answer is true of values, where these are known.

        Args:
            answer: Any set of arms.
            values: float[K, columns], in units of the columns.
        """

    def feasible(self, values: Floats) -> tuple[Mask, Mask]:
        """F, the arms that keep all limits by their tolerances, and A1, those that break one by its tolerance."""
        slack, tolerance = values[:, self.objectives :], self.epsilon[self.objectives :]
        broken = np.where(tolerance > 0.0, slack <= -tolerance, slack < 0.0).any(axis=1)
        return np.asarray((slack >= tolerance).all(axis=1)), np.asarray(broken)

    @property
    def at_one_moment(self) -> bool:
        """Whether all claims must hold at the moment of the stop, since a level depends on the answer itself."""
        return False

    def doubts(self, seen: Seen, answer: Mask) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
        """V_i of the paper, of this answer: see core/claims.py."""
        return doubts(seen, answer)

    @property
    def limits(self) -> list[int]:
        """The columns that are limits."""
        return list(range(self.objectives, len(self.epsilon)))

    @property
    def _weak_limits(self) -> Mask:
        """An arm that is known to be exactly on a limit without a tolerance keeps it."""
        return np.asarray(self.known[self.objectives :] & (self.epsilon[self.objectives :] == 0.0))


def least(promise: Floats) -> int:
    """Where the least promise is; the first of them."""
    return int(promise.argmin())


@dataclass
class ParetoOf(Asked):
    """The arms that no arm which keeps all limits beats in all objectives."""

    thin: bool = field(default=True, kw_only=True)

    def prepare(self) -> None:
        d, limits = self.objectives, int((~self.known[self.objectives :]).sum())
        measured = int((~self.known[:d]).sum())
        self.levels = pareto_levels(self.count, measured, limits, self.left)
        columns, margins = list(range(d)), self.epsilon[:d]
        self.aheads = Pairs(self.count, columns, margins)
        self.covers = Pairs(self.count, columns, margins, weak=self.known[:d])
        tolerance = self.epsilon[d:]
        self.safe = Singles(self.count, self.limits, -tolerance, 1.0, self._weak_limits)
        self.unsafe = Singles(self.count, self.limits, tolerance, -1.0)
        self.counts = np.full(self.count, max(self.count - 1, 1))
        self.exact = not (self.epsilon > 0.0).any()

    @property
    def at_one_moment(self) -> bool:
        return self.exact and not self.limits and not self.shared

    def answer_of(self, seen: Seen) -> Mask:
        """The front of the arms that keep all limits, by the estimates, as thin as it may be."""
        possible = keeps_limits(seen)
        front = front_of(seen, possible)
        return thinned(seen, front) if self.thin else front

    def is_right(self, answer: Mask, values: Floats) -> bool:
        d, epsilon = self.objectives, self.epsilon[: self.objectives]
        keeps, breaks = self.feasible(values)
        lead = values[:, None, :d] - values[None, :, :d]  # [j, i]: of j over i
        known = self.known[:d]
        beats = np.where(epsilon > 0.0, lead >= epsilon, lead > 0.0).all(axis=2) & keeps[:, None]
        covers = np.where(known, lead >= -epsilon, lead > -epsilon).all(axis=2) & answer[:, None]
        wrong_in = answer & (breaks | beats.any(axis=0))
        return not bool((wrong_in | (~answer & keeps & ~covers.any(axis=0))).any())

    def promises(self, seen: Seen, answer: Mask) -> tuple[Floats, Floats, Floats, Floats, Floats]:
        """Of withstanding [i, j], of covering [j, i], of keeping all limits [i], of breaking one [j], outside [i]."""
        levels = self.levels
        ahead = self.aheads.promise(seen, levels.withstand)
        number = np.minimum(self.counts, max(int(answer.sum()), 1)) if self.at_one_moment else self.counts
        self.cover_level = levels.cover + np.log(number)  # float[i]
        cover = self.covers.promise(seen, self.cover_level[None, :, None])
        safe = self.safe.promise(seen, levels.safe).min(axis=1, initial=np.inf)
        broken = self.unsafe.promise(seen, levels.withstand).max(axis=1, initial=0.0)
        outside = self.unsafe.promise(seen, levels.unsafe).max(axis=1, initial=0.0)
        withstand = np.maximum(ahead.max(axis=2), broken[:, None].T)
        np.fill_diagonal(withstand, np.inf)
        covered = cover.min(axis=2)
        np.fill_diagonal(covered, 0.0)
        return withstand, np.where(answer[:, None], covered, 0.0), safe, broken, outside

    def plan(self, seen: Seen) -> NextStep:
        if not seen.by_budget:
            self.counts = np.full(self.count, self.count - 1) if self.shared else wrong_covers(seen)
        answer = self.answer_of(seen)
        withstand, covered, safe, broken, outside = self.promises(seen, answer)
        if (self.epsilon[: self.objectives] > 0.0).any() and not seen.by_budget:
            answer = self.with_easier(seen, answer, withstand, covered, safe)
            withstand, covered, safe, broken, outside = self.promises(seen, answer)
        inside = np.minimum(withstand.min(axis=1), safe)
        out = np.maximum(covered.max(axis=0), outside)
        support = np.where(answer, inside, out)
        arm = least(support)
        unproved = support < np.inf
        return NextStep(answer, unproved, *self._claim(seen, arm, answer, withstand, covered, safe, broken, outside))

    def with_easier(self, seen: Seen, answer: Mask, withstand: Floats, covered: Floats, safe: Floats) -> Mask:
        """The answer with arms that are beaten by so little that they need not be left out, where that is easier.

        Without limits that are in doubt: two arms that are nearly alike need not be told apart.
        """
        cover = covered.max(axis=0)
        inside = np.minimum(withstand.min(axis=1), safe)
        near = ~answer & keeps_limits(seen) & (cover < np.inf) & (inside > 0.0) & (inside >= EASIER * cover)
        if not near.any():
            return answer
        # One that ties in a fixed column was left out on purpose: a cover is at hand.
        near &= ~(self.thin & front_of(seen, keeps_limits(seen)))
        return np.asarray(answer | near)

    def _claim(
        self,
        seen: Seen,
        arm: int,
        answer: Mask,
        withstand: Floats,
        covered: Floats,
        safe: Floats,
        broken: Floats,
        outside: Floats,
    ) -> tuple[int, int, int]:
        """The claim to serve for an arm: of alternatives the one that promises to be proved first."""
        levels = self.levels
        if answer[arm]:
            other = least(withstand[arm])
            if self.limits and safe[arm] <= withstand[arm, other]:
                return arm, -1, self.limits[least(self.safe.promise(seen, levels.safe)[arm])]
            ahead = self.aheads.promise(seen, levels.withstand)[arm, other]
            if ahead.max() >= broken[other]:
                return arm, other, int(ahead.argmax())
            return other, -1, self.limits[int(self.unsafe.promise(seen, levels.withstand)[other].argmax())]
        cover = int(covered[:, arm].argmax())
        if outside[arm] >= covered[cover, arm] and self.limits:
            return arm, -1, self.limits[int(self.unsafe.promise(seen, levels.unsafe)[arm].argmax())]
        if not answer[cover]:  # no arm of the answer is ahead of it
            return arm, -1, 0
        promise = self.covers.promise(seen, self.cover_level[None, :, None])[cover, arm]
        return cover, arm, least(promise)

    def verify(self, seen: Seen, proofs: Proofs, *, anew: bool = False) -> None:
        if anew:
            for claims in self._claims():
                claims.proved[:], claims.looked[:] = -np.inf, 0.0
        plan = self.plan(seen)
        answer, levels = plan.answer, self.levels
        ahead = self.aheads.promise(seen, levels.withstand)
        cover = self.covers.promise(seen, self.cover_level[None, :, None])
        broken = self.unsafe.promise(seen, levels.withstand)
        for arm in np.flatnonzero(answer).tolist():
            verify_row(self.safe, proofs, arm, self.safe.promise(seen, levels.safe)[arm], levels.safe, every=True)
            for other in range(self.count):
                if other == arm or max(ahead[arm, other].max(), broken[other].max(initial=0.0)) == np.inf:
                    continue
                promise = ahead[arm, other]
                for place in np.argsort(-promise).tolist():
                    if self.aheads.verify(proofs, arm, other, place, levels.withstand, promise[place]):
                        break
                if self.aheads.proved[arm, other].max() < levels.withstand and broken.shape[1]:
                    verify_row(self.unsafe, proofs, other, broken[other], levels.withstand, every=False)
                    broken = self.unsafe.promise(seen, levels.withstand)
        for arm in np.flatnonzero(~answer).tolist():
            if verify_row(
                self.unsafe, proofs, arm, self.unsafe.promise(seen, levels.unsafe)[arm], levels.unsafe, every=False
            ):
                continue
            level = float(self.cover_level[arm])
            for other in sorted(np.flatnonzero(answer).tolist(), key=lambda each: -cover[each, arm].min()):
                promise = cover[other, arm]
                if promise.min() < HOPELESS:
                    break
                if all(
                    promise[place] == np.inf or self.covers.verify(proofs, other, arm, place, level, promise[place])
                    for place in np.argsort(promise).tolist()
                ):
                    break


def verify_row(claims: Singles, proofs: Proofs, arm: int, promise: Floats, level: float, *, every: bool) -> bool:
    """Look for proofs of an arm's single claims: of all of them, or of one."""
    found = every
    for place in np.argsort(-promise).tolist():
        if promise[place] == np.inf:
            one = True
        else:
            one = claims.verify(proofs, arm, place, level, promise[place])
        if one and not every:
            return True
        found = found and one
    return found


@dataclass
class BestOf(Asked):
    """The best arm in one objective that keeps all limits; or none, if no arm keeps them."""

    def prepare(self) -> None:
        limits = int((~self.known[1:]).sum())
        self.levels = best_levels(self.count, limits, self.left)
        tolerance = self.epsilon[1:]
        self.aheads = Pairs(self.count, [0], self.epsilon[:1])
        self.safe = Singles(self.count, self.limits, -tolerance, 1.0, self._weak_limits)
        self.unsafe = Singles(self.count, self.limits, tolerance, -1.0)

    def answer_of(self, seen: Seen) -> Mask:
        """The best of the arms that keep all limits, by the estimates."""
        possible, answer = keeps_limits(seen), np.zeros(self.count, bool)
        if possible.any():
            answer[int(np.where(possible, seen.estimate[:, 0], -np.inf).argmax())] = True
        return answer

    def is_right(self, answer: Mask, values: Floats) -> bool:
        keeps, breaks = self.feasible(values)
        if not answer.any():
            return not bool(keeps.any())
        best = int(answer.argmax())
        lead = values[:, 0] - values[best, 0]
        better = lead >= self.epsilon[0] if self.epsilon[0] > 0.0 else lead > 0.0
        better[best] = False
        return answer.sum() == 1 and not bool(breaks[best] or (better & keeps).any())

    def plan(self, seen: Seen) -> NextStep:
        answer, levels = self.answer_of(seen), self.levels
        unsafe = self.unsafe.promise(seen, levels.unsafe)
        broken = unsafe.max(axis=1, initial=0.0)
        if not answer.any():
            arm = least(broken)
            return NextStep(answer, broken < np.inf, arm, -1, self.limits[int(unsafe[arm].argmax())])
        best = int(answer.argmax())
        ahead = self.aheads.promise(seen, levels.withstand)[best, :, 0]
        safe = self.safe.promise(seen, levels.safe)[best]
        support = np.maximum(ahead, broken)
        support[best] = safe.min(initial=np.inf)
        arm = least(support)
        unproved = support < np.inf
        if arm == best:
            return NextStep(answer, unproved, best, -1, self.limits[least(safe)] if len(safe) else 0)
        if ahead[arm] >= broken[arm]:
            return NextStep(answer, unproved, best, arm, 0)
        return NextStep(answer, unproved, arm, -1, self.limits[int(unsafe[arm].argmax())])

    def verify(self, seen: Seen, proofs: Proofs, *, anew: bool = False) -> None:
        answer, levels = self.answer_of(seen), self.levels
        unsafe = self.unsafe.promise(seen, levels.unsafe)
        best = int(answer.argmax()) if answer.any() else -1
        if best >= 0:
            verify_row(self.safe, proofs, best, self.safe.promise(seen, levels.safe)[best], levels.safe, every=True)
        ahead = self.aheads.promise(seen, levels.withstand)
        for arm in range(self.count):
            if arm == best:
                continue
            promise = ahead[best, arm, 0] if best >= 0 else 0.0
            if promise == np.inf or self.aheads.verify(proofs, best, arm, 0, levels.withstand, promise):
                continue
            verify_row(self.unsafe, proofs, arm, unsafe[arm], levels.unsafe, every=False)

    def doubts(self, seen: Seen, answer: Mask) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
        """V_i by the boxes: of the best arm by its limits, of the others by whether they may be better."""
        own = np.arange(self.count)
        tolerance = self.epsilon[1:]
        broken = (seen.high[:, 1:] - tolerance).min(axis=1, initial=np.inf)
        if not answer.any():
            return broken, own, own
        best = int(answer.argmax())
        lead = seen.high[:, 0] - seen.low[best, 0] - self.epsilon[0]
        found = np.minimum(lead, broken)
        weak = self._weak_limits & (seen.low[best, 1:] == 0.0)
        found[best] = np.where(weak, -np.inf, -tolerance - seen.low[best, 1:]).max(initial=-np.inf)
        rivals = np.full(self.count, best)
        return found, rivals, own


@dataclass
class TopOf(Asked):
    """The m best arms in one objective.

    If a wrong arm is returned, some arm that is not among the m truly best was verified to be ahead of one that is,
    although it is not: m (K - m) pairs, of which one false claim each counts.
    """

    wanted: int = field(default=1, kw_only=True)

    def prepare(self) -> None:
        self.level = math.log(self.wanted * (self.count - self.wanted)) - safe_log(self.left)
        self.aheads = Pairs(self.count, [0], self.epsilon[:1])

    def answer_of(self, seen: Seen) -> Mask:
        """The m best by the estimates; of equals the first."""
        answer = np.zeros(self.count, bool)
        answer[np.argsort(-seen.estimate[:, 0], kind="stable")[: self.wanted]] = True
        return answer

    def is_right(self, answer: Mask, values: Floats) -> bool:
        lead = values[~answer, 0].max(initial=-np.inf) - values[answer, 0].min(initial=np.inf)
        wrong = lead >= self.epsilon[0] if self.epsilon[0] > 0.0 else lead > 0.0
        return int(answer.sum()) == self.wanted and not bool(wrong)

    def plan(self, seen: Seen) -> NextStep:
        answer = self.answer_of(seen)
        promise = np.where(answer[:, None] & ~answer[None], self.aheads.promise(seen, self.level)[:, :, 0], np.inf)
        unproved = np.minimum(promise.min(axis=0), promise.min(axis=1)) < np.inf
        one, other = divmod(least(promise), self.count)
        return NextStep(answer, unproved, one, other, 0)

    def verify(self, seen: Seen, proofs: Proofs, *, anew: bool = False) -> None:
        answer = self.answer_of(seen)
        promise = self.aheads.promise(seen, self.level)[:, :, 0]
        for one in np.flatnonzero(answer).tolist():
            for other in np.flatnonzero(~answer).tolist():
                if promise[one, other] < np.inf:
                    self.aheads.verify(proofs, one, other, 0, self.level, promise[one, other])

    def doubts(self, seen: Seen, answer: Mask) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
        danger = seen.high[:, None, 0] - seen.low[None, :, 0] - self.epsilon[0]  # [j, i]: of j over i
        inside = np.where(answer[None] & ~answer[:, None], danger, -np.inf)
        return (
            np.maximum(inside.max(axis=0), inside.max(axis=1)),
            np.where(answer, inside.argmax(axis=0), inside.argmax(axis=1)),
            np.arange(self.count),
        )


def _nearest_in_turn(seen: Seen, promise: Floats, arm: int) -> int:
    """In place of an arm every other time the one that is nearest to its verdict, where each has one by itself.

    An arm exactly at what it is compared with would take all trials, and hardly any is needed to tell about the others.
    How many trials all verdicts take does not depend on the order.

    Args:
        seen: What is known.
        promise: How nearly each arm's verdict is proved; infinite for what is.
        arm: The one to try otherwise.
    """
    waiting = np.where(promise < np.inf, promise, -np.inf)
    return arm if seen.by_budget or not int(seen.pulls.sum()) % 2 or waiting.max() < 0.0 else int(waiting.argmax())


@dataclass
class AboveOf(Asked):
    """Which arms are above a value, in one column whose value is the distance from it; each arm by itself.

    At any truth at most one of an arm's two verdicts is wrong, so each needs ln(K/d'), one side only. Trials go where
    root T (|average - c| + epsilon) is least (APT, Locatelli, Gutzeit, Carpentier 2016). For a confidence, every second
    trial goes to the arm that is nearest to its verdict; see `_nearest_in_turn`.
    """

    def prepare(self) -> None:
        self.level = math.log(self.count) - safe_log(self.left)
        self.above = Singles(self.count, [0], -self.epsilon[:1], 1.0)
        self.below = Singles(self.count, [0], self.epsilon[:1], -1.0)

    def verdicts(self) -> NDArray[np.int64]:
        """1 for arms that are proved to be above, -1 for those that are proved not to be, 0 while neither is."""
        above, below = (claims.proved[:, 0] >= self.level for claims in (self.above, self.below))
        return np.where(above, 1, np.where(below, -1, 0))

    def answer_of(self, seen: Seen) -> Mask:
        """Proved verdicts, and where there are none the estimates."""
        verdicts = self.verdicts()
        return np.asarray(np.where(verdicts == 0, seen.estimate[:, 0] >= 0.0, verdicts > 0))

    def is_right(self, answer: Mask, values: Floats) -> bool:
        value, epsilon = values[:, 0], float(self.epsilon[0])
        wrong_in = value <= -epsilon
        wrong_out = value >= epsilon if epsilon > 0.0 else value > 0.0
        return not bool(np.where(answer, wrong_in, wrong_out).any())

    def plan(self, seen: Seen) -> NextStep:
        undecided = self.verdicts() == 0
        index = np.sqrt(seen.pulls) * (np.abs(seen.estimate[:, 0]) + self.epsilon[0])
        waiting = undecided if undecided.any() and not seen.by_budget else np.ones(self.count, bool)
        arm = least(np.where(waiting, index, np.inf))
        if not seen.by_budget:
            promise = np.maximum(*(each.promise(seen, self.level)[:, 0] for each in (self.above, self.below)))
            arm = _nearest_in_turn(seen, np.where(undecided, promise, np.inf), arm)
        return NextStep(self.answer_of(seen), undecided, arm, -1, 0)

    def verify(self, seen: Seen, proofs: Proofs, *, anew: bool = False) -> None:
        above, below = self.above.promise(seen, self.level), self.below.promise(seen, self.level)
        for arm in np.flatnonzero(self.verdicts() == 0).tolist():
            # The likelier verdict first, so that of two that hold that one is named.
            sides = [(self.above, above), (self.below, below)]
            for claims, promise in sides if seen.estimate[arm, 0] >= 0.0 else reversed(sides):
                if claims.verify(proofs, arm, 0, self.level, promise[arm, 0]):
                    break

    def doubts(self, seen: Seen, answer: Mask) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
        own = np.arange(self.count)
        return np.where(answer, -seen.low[:, 0], seen.high[:, 0]) - self.epsilon[0], own, own


@dataclass
class CheapestOf(Asked):
    """The cheapest arm that is about as good as the best: column 0 is quality, column 1 cost (turned).

    Attributes:
        within: g2, what is promised of the answer, in units of column 0.
        rivals: g1, arms within which it competes with.
    """

    within: float = field(default=0.0, kw_only=True)
    rivals: float = field(default=0.0, kw_only=True)

    def prepare(self) -> None:
        base = math.log(self.count) - safe_log(self.left)
        self.level, self.bad_level = base, base + math.log(max(self.count - 1, 1))
        self.good = Pairs(self.count, [0], np.array([self.within]))
        self.dear = Pairs(self.count, [1], self.epsilon[1:2], weak=self.known[1:2])
        self.bad = Pairs(self.count, [0], np.array([-self.rivals]))

    def answer_of(self, seen: Seen) -> Mask:
        """The cheapest of the arms that are within the middle of both distances, by the estimates."""
        quality = seen.estimate[:, 0]
        near = quality >= quality.max() - 0.5 * (self.within + self.rivals)
        answer = np.zeros(self.count, bool)
        answer[int(np.where(near, seen.estimate[:, 1], -np.inf).argmax())] = True
        return answer

    def is_right(self, answer: Mask, values: Floats) -> bool:
        best, quality, cost = int(answer.argmax()), values[:, 0], values[:, 1]
        saved = cost - cost[best]
        cheaper = saved >= self.epsilon[1] if self.epsilon[1] > 0.0 else saved > 0.0
        near = quality >= quality.max() - self.rivals
        return answer.sum() == 1 and not bool(quality[best] <= quality.max() - self.within or (near & cheaper).any())

    def plan(self, seen: Seen) -> NextStep:
        answer = self.answer_of(seen)
        best = int(answer.argmax())
        good = self.good.promise(seen, self.level)[best, :, 0]
        dear = self.dear.promise(seen, self.level)[best, :, 0]
        bad = self.bad.promise(seen, self.bad_level)[:, :, 0]
        np.fill_diagonal(bad, 0.0)
        # The reference is the arm that may be the best, not the one that looks easiest: else a best arm that was
        # underestimated early is never looked at again, and an arm is compared for ever with one that is hardly ahead.
        hopeful = seen.estimate[:, 0] + CONFIDENT * np.sqrt(seen.error[:, 0])
        worse = bad.max(axis=0)
        reference = np.array(
            [int(np.where(np.arange(self.count) == arm, -np.inf, hopeful).argmax()) for arm in range(self.count)]
        )
        served = np.where(worse == np.inf, np.inf, bad[reference, np.arange(self.count)])
        other = np.maximum(dear, served)
        other[best] = good[best] = np.inf
        support = np.minimum(good, other)
        unproved = (support < np.inf) | ((np.arange(self.count) == best) & bool((support < np.inf).any()))
        arm = least(support)
        if good[arm] <= other[arm]:
            return NextStep(answer, unproved, best, arm, 0)
        if dear[arm] >= served[arm] and dear[arm] > 0.0:
            return NextStep(answer, unproved, best, arm, 1)
        return NextStep(answer, unproved, int(reference[arm]), arm, 0)

    def verify(self, seen: Seen, proofs: Proofs, *, anew: bool = False) -> None:
        best = int(self.answer_of(seen).argmax())
        good = self.good.promise(seen, self.level)[best, :, 0]
        dear = self.dear.promise(seen, self.level)[best, :, 0]
        bad = self.bad.promise(seen, self.bad_level)[:, :, 0]
        np.fill_diagonal(bad, 0.0)
        for arm in range(self.count):
            if arm == best:
                continue
            if good[arm] < np.inf:
                self.good.verify(proofs, best, arm, 0, self.level, good[arm])
            if dear[arm] == np.inf or bad[:, arm].max() == np.inf:
                continue
            if self.dear.verify(proofs, best, arm, 0, self.level, dear[arm]):
                continue
            for other in np.argsort(-bad[:, arm]).tolist():
                if self.bad.verify(proofs, other, arm, 0, self.bad_level, bad[other, arm]):
                    break

    def doubts(self, seen: Seen, answer: Mask) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
        """Of each arm how far boxes are from showing that it is no better choice than the answer."""
        best = int(answer.argmax())
        quality = seen.high[:, 0] - seen.low[best, 0] - self.within
        cost = seen.high[:, 1] - seen.low[best, 1] - self.epsilon[1] + np.where(self.known[1], -1e-300, 0.0)
        lead = seen.low[:, None, 0] - seen.high[None, :, 0]  # [j, i]
        np.fill_diagonal(lead, -np.inf)
        found = np.maximum(quality, np.minimum(cost, self.rivals - lead.max(axis=0)))
        found[best] = -np.inf
        rivals = np.full(self.count, best)
        rivals[best] = int(np.where(np.arange(self.count) == best, -np.inf, found).argmax())
        return found, rivals, np.arange(self.count)


class Condition(NamedTuple):
    """What an arm must meet beside a control: its value above factor times the control's plus shift.

    Attributes:
        column: Of the value.
        factor: 0 for a limit that does not name the control.
        shift: In units of the column.
    """

    column: int
    factor: float
    shift: float


@dataclass
class BetterThanOf(Asked):
    """The arms that meet all conditions beside a control; margins, guardrails, limits.

    An objective is met by more than its margin, without a tolerance: "better" means better. A guardrail is met up to
    its tolerance. An arm is out if one condition is refuted by its tolerance, so with tolerances one of both can be
    proved of every arm, and at any truth at most one of them is wrong.

    Attributes:
        control: The control's number.
        conditions: What is to be met.
    """

    control: int = field(default=0, kw_only=True)
    conditions: tuple[Condition, ...] = field(default=(), kw_only=True)

    def prepare(self) -> None:
        others = math.log(max(self.count - 1, 1)) - safe_log(self.left)
        self.level, self.out_level = others, others + math.log(len(self.conditions))
        self.meets: list[Pairs | Singles] = []
        self.misses: list[Pairs | Singles] = []
        for condition in self.conditions:
            tolerance, allowed = float(self.epsilon[condition.column]), self._allowed(condition)
            if condition.factor == 0.0:
                columns, shift = [condition.column], condition.shift
                weak = self.known[[condition.column]]
                self.meets.append(Singles(self.count, columns, np.array([shift - allowed]), 1.0, weak))
                self.misses.append(Singles(self.count, columns, np.array([shift + tolerance]), -1.0))
                continue
            columns, factors = [condition.column], np.array([condition.factor])
            # y_i > f y_0 + shift - allowed, and f y_0 > y_i - shift - epsilon: y_0 > y_i / f - (shift + epsilon) / f.
            # Of known values a tie meets a guardrail, and is no better in an objective.
            tie, known = np.array([condition.column < self.objectives]), self.known[columns]
            lead = np.array([allowed - condition.shift])
            self.meets.append(Pairs(self.count, columns, lead, weak=known & ~tie, factors=factors))
            margin = np.array([(condition.shift + tolerance) / condition.factor])
            self.misses.append(Pairs(self.count, columns, margin, weak=known & tie, factors=1.0 / factors))

    def _allowed(self, condition: Condition) -> float:
        """How far below a condition an arm may be that meets it."""
        return 0.0 if condition.column < self.objectives else float(self.epsilon[condition.column])

    def promises(self, seen: Seen) -> tuple[Floats, Floats]:
        """float[i, condition]: of meeting each condition, and of missing it.

        That one is missed is not looked for while the estimates say that it holds: near a condition both are true up to
        the tolerance.
        """
        met, missed, verified = [], [], []
        for meets, misses in zip(self.meets, self.misses, strict=True):
            one, two = meets.promise(seen, self.level), misses.promise(seen, self.out_level)
            met.append(one[:, 0] if isinstance(meets, Singles) else one[:, self.control, 0])
            missed.append(two[:, 0] if isinstance(misses, Singles) else two[self.control, :, 0])
            proved = misses.proved[:, 0] if isinstance(misses, Singles) else misses.proved[self.control, :, 0]
            verified.append(proved >= self.out_level)
        sought = np.stack(verified, axis=1) | ~self.holds(seen)
        return np.stack(met, axis=1), np.where(sought, np.stack(missed, axis=1), 0.0)

    def holds(self, seen: Seen) -> Mask:
        """bool[i, condition]: whether an arm meets each by the estimates.

        An objective must be better. A guardrail is held up to half of its tolerance, so that an arm which does not
        affect it is not left out because of chance.
        """
        leads, is_objective = self.leads(seen), np.array([each.column < self.objectives for each in self.conditions])
        slack = np.array([0.5 * self._allowed(each) if each.factor else 0.0 for each in self.conditions])
        return np.asarray(np.where(is_objective, leads > 0.0, leads >= -slack))

    def leads(self, seen: Seen) -> Floats:
        """float[i, condition]: by how much an arm meets each condition, by the estimates."""
        return self._leads(seen.estimate)

    def _leads(self, value: Floats) -> Floats:
        return np.stack(
            [value[:, c.column] - c.factor * value[self.control, c.column] - c.shift for c in self.conditions], axis=1
        )

    def is_no_worse(self, seen: Seen, proofs: Proofs, arm: int) -> bool:
        """Whether it is proved that an arm meets all conditions up to their tolerances."""
        met = self.promises(seen)[0][arm]
        for place, each in enumerate(self.conditions):
            tolerance = float(self.epsilon[each.column])
            if met[place] == np.inf:
                continue
            if tolerance == 0.0 or each.factor == 0.0:
                return False
            margin = tolerance - each.shift
            if not proofs.ahead(arm, self.control, each.column, margin, self.level, each.factor):
                return False
        return True

    def is_right(self, answer: Mask, values: Floats) -> bool:
        leads = self._leads(values)
        tolerance = np.array([self.epsilon[each.column] for each in self.conditions])
        allowed = np.array([self._allowed(each) for each in self.conditions])
        failed = (leads <= -allowed).any(axis=1)
        met = np.where(tolerance > 0.0, leads >= tolerance, leads > 0.0).all(axis=1)
        wrong = np.where(answer, failed, met)
        wrong[self.control] = answer[self.control]
        return not bool(wrong.any())

    def answer_of(self, seen: Seen) -> Mask:
        """The arms that meet all conditions by the estimates; what is proved overrides them."""
        answer: Mask = np.asarray(self.holds(seen).all(axis=1))
        if not seen.by_budget:
            met, missed = self.promises(seen)
            answer = (answer | (met == np.inf).all(axis=1)) & ~(
                (missed == np.inf).any(axis=1) & ~(met == np.inf).all(axis=1)
            )
        answer[self.control] = False
        return answer

    def plan(self, seen: Seen) -> NextStep:
        answer = self.answer_of(seen)
        met, missed = self.promises(seen)
        support = np.where(answer, met.min(axis=1), missed.max(axis=1))
        support[self.control] = np.inf
        arm = _nearest_in_turn(seen, support, least(support))
        place = least(met[arm]) if answer[arm] else int(missed[arm].argmax())
        condition = self.conditions[place]
        other = -1 if condition.factor == 0.0 else self.control
        unproved = support < np.inf
        return NextStep(answer, unproved, arm, other, condition.column)

    def verify(self, seen: Seen, proofs: Proofs, *, anew: bool = False) -> None:
        met, missed = self.promises(seen)
        for arm in range(self.count):
            if arm == self.control or (met[arm] == np.inf).all() or (missed[arm] == np.inf).any():
                continue
            for place, (meets, misses) in enumerate(zip(self.meets, self.misses, strict=True)):
                if met[arm, place] < np.inf:
                    if isinstance(meets, Singles):
                        meets.verify(proofs, arm, 0, self.level, met[arm, place])
                    else:
                        meets.verify(proofs, arm, self.control, 0, self.level, met[arm, place])
                if missed[arm, place] < np.inf:
                    if isinstance(misses, Singles):
                        misses.verify(proofs, arm, 0, self.out_level, missed[arm, place])
                    else:
                        misses.verify(proofs, self.control, arm, 0, self.out_level, missed[arm, place])

    def doubts(self, seen: Seen, answer: Mask) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
        least_lead, most_lead, tolerance = [], [], []
        for each in self.conditions:
            low, high = seen.low[:, each.column], seen.high[:, each.column]
            of_control = (each.factor * high[self.control], each.factor * low[self.control]) if each.factor else (0, 0)
            least_lead.append(low - of_control[0] - each.shift + self._allowed(each))
            most_lead.append(high - of_control[1] - each.shift)
            tolerance.append(float(self.epsilon[each.column]))
        missing = -np.stack(least_lead).min(axis=0)
        excess = (np.stack(most_lead) - np.array(tolerance)[:, None]).min(axis=0)
        found = np.where(answer, missing, excess)
        found[self.control] = -np.inf
        return found, np.full(self.count, self.control), np.arange(self.count)
