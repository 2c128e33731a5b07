"""What comparisons of two arms prove at any moment, and how strongly: tolerances, differences and p-values.

Every statement below is made of the claims of core/comparisons.py: "arm i is ahead of arm j by more than x in an
objective", verified when the evidence for it reaches e^level. L_ij(level) is the largest x that is verified. With
d' the part of delta that comparisons have:

    tolerance of an answer   best, top m: ln((K - m) m / d'); Pareto: the levels for all tolerances at once;
                             better than a control: those of core/control_pairs.py, of which none depends on it
    at most x behind         ln((K - m) m / d'), jointly with the answer: a best arm j has mu_i - mu_j >= L_ij
    leader less arm          ln(2 / 0.05), each by itself
    p                        by itself; the set of arms with p > delta contains the best arm at all times

The last two are about one statement each. They take boxes of a small share of delta, where the evidence needs boxes,
and pay for those. Evidence at all times survives that the leader was chosen by the same data. Classical tests do not:
after one look a difference has the level ln(N / 0.05) of all N one-sided statements that the data may pick from.

A bisection costs ten checks, a check of one number only one. So a maximum over arms is found by checking the present
maximum against each arm; only an arm that fails it is bisected.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramgape.bounds import BOUNDS, Bound, the_bound, usual_bound
from ramgape.core.comparisons import BY_ALL, IN_MEAN
from ramgape.core.control_pairs import FOR_ENDS
from ramgape.core.pareto import Floats, Mask
from ramgape.core.rare import note_extremes
from ramgape.core.rows import Rows
from ramgape.core.table import Table, note_boxes
from ramgape.questions import BetterThan, Pareto
from ramgape.questions.best import Best
from ramgape.search.engine import Engine
from ramgape.search.spec import Spec

EACH = 0.05  # the chance that an interval which is shown by itself misses
SINGLE = 0.005  # delta of the boxes behind statements that are made one by one
BOXES_FIRST = 0.6  # of Gaussian rewards: pairs need boxes of variances, and tell nothing before some 25 trials
DOUBLINGS, STEPS = 8, 7  # of a bracket, and halvings of it: an end is found to a hundredth of its distance
MANY = 50  # where there are more arms, only pairs with an arm of the answer are compared
FEW = 12  # where there are more, the most that an arm may be behind is found by way of the leader
STRONGEST = 14.0  # ln of the largest evidence that a p-value tells apart
RIVALS = 3  # the arms that tell most against an arm being best


def box_bound(spec: Spec) -> str | Bound:
    """The bound whose boxes are shown for single arms."""
    if spec.delta is not None and not the_bound(spec.bound).compares_pairs:
        return spec.bound
    return usual_bound(spec.assumption, spec.risk.made_of, "confidence", pairs=False)


def with_bound(engine: Engine, bound: str | Bound, delta: float) -> Engine:
    """The same statistics with the boxes of another bound or another delta, for statements of their own."""
    asked = replace(engine.spec, bound=bound, delta=delta)
    made = Engine.from_statistics(
        asked, engine.state, another_bound=the_bound(bound) is not the_bound(engine.spec.bound)
    )
    made.make_boxes()
    return made


def rare_level(engine: Engine) -> float:
    """ln of one over the chance that an event stays unseen, by which claims are guarded; 0 where none are."""
    return float(engine.problem["rare_level"][0])


def guarded(arms: Table, level: float) -> Table:
    """The arms, with boxes that allow for events as large as any arm has shown and as frequent as may be unseen."""
    seen = arms["pulls"] > 0
    if level == 0.0 or not seen.any():
        return arms
    arms = arms.copy()
    chance, average = -np.expm1(-level / arms["pulls"][seen]), arms["average"][seen]
    for end, far, side in (("mean_low", "lowest", -1.0), ("mean_high", "highest", 1.0)):
        distance = max(float((side * (arms[far][seen] - average)).max()), 0.0)
        wide = side * np.maximum(side * arms[end][seen], side * average + chance * distance)
        arms[end][seen] = np.where(np.isfinite(arms[end][seen]), wide, arms[end][seen])
    note_boxes(arms)
    return arms


def with_boxes(arms: Table, known: Mask, unknown: Mask) -> Table:
    """The arms, with boxes of one point for those that are known, and without boxes for those that were set aside.

    The boxes of the latter are inverted in a search, so that no rule waits for them. They prove nothing.
    """
    arms = arms.copy()
    for low, high, middle in (("mean_low", "mean_high", "average"), ("risk_low", "risk_high", "risk")):
        arms[low][unknown], arms[high][unknown] = -math.inf, math.inf
        arms[low][known] = arms[high][known] = arms[middle][known]
    note_boxes(arms)
    return arms


def largest_lead(ahead: Callable[[float], bool], seen: float, known: float, error: float, level: float) -> float:
    """The largest lead that is verified; -inf where none is.

    Args:
        ahead: Whether a lead is verified at the level.
        seen: The lead by the estimates.
        known: A lead that boxes verify.
        error: The standard error of the lead, where the search begins.
        level: What evidence must reach.
    """
    if math.isnan(seen) or not known < seen:
        return known
    width = min(max(1.3 * error * math.sqrt(2.0 * max(level, 1.0)), 1e-12 * abs(seen), 1e-300), seen - known)
    unknown = seen
    for _ in range(DOUBLINGS if math.isfinite(width) else 0):
        if seen - width <= known:
            break
        if ahead(seen - width):
            known = seen - width
            break
        unknown, width = seen - width, 2.0 * width
    if not math.isfinite(known):
        return known
    for _ in range(STEPS):
        middle = 0.5 * (known + unknown)
        if ahead(middle):
            known = middle
        else:
            unknown = middle
    return known


class Pairs:
    """Comparisons of two arms on the engine's scale, more being better in every objective.

    Args:
        engine: The statistics, with a bound that compares pairs; its boxes count as known.
        unseen: How likely an event may be to have gone unseen, where that is not the engine's delta.
    """

    def __init__(self, engine: Engine, unseen: float | None = None) -> None:
        kernels = the_bound(engine.spec.bound).kernels
        risk_ahead = getattr(kernels, "risk_ahead", None) or engine.spec.risk.ahead_by(kernels)
        self._kernels = kernels.mean_ahead, risk_ahead
        state = engine.state
        level = rare_level(engine)
        level = -math.log(unseen) if unseen is not None and level > 0.0 else level
        arms = guarded(with_boxes(state.arms, engine.asked_all, engine.set_aside), level)
        self._rows = Rows.of(state._replace(arms=arms))
        self._problem = self._rows.problems[0]
        note_extremes(self._rows.arms)
        self._problem.rare_level = level
        self.count = len(arms)
        self.estimates = np.column_stack((arms["average"], -arms["risk"]))
        spreads = np.column_stack((arms["variance"], arms["risk_spread"]))
        with np.errstate(divide="ignore", invalid="ignore"):
            self._errors = np.nan_to_num(spreads / arms["pulls"][:, None], nan=np.inf)
        # d' over K, as the engine's own levels have it
        self.cover_level = float(self._problem.cover_level)
        self.withstand_levels = tuple(map(float, self._problem.pair_levels))

    def ahead(self, one: int, other: int, objective: int, lead: float, level: float) -> bool:
        """Whether it is verified that an arm is ahead of another by more than `lead`."""
        arms, memory = self._rows.arms, self._rows.memory
        if arms[one].cut > 0:
            return False  # its true rewards may be far lower than those that were cut off
        call = self._kernels[objective]
        if call is None or not math.isfinite(level):
            return self._boxes(one, other, objective) > lead
        return bool(call(arms[one], memory[one], arms[other], memory[other], -lead, self._problem, BY_ALL, level))

    def _boxes(self, one: int, other: int, objective: int) -> float:
        row, rival = self._rows.arms[one], self._rows.arms[other]
        return float(row.mean_low - rival.mean_high if objective == 0 else rival.risk_low - row.risk_high)

    def lead(self, one: int, other: int, objective: int) -> float:
        """By how much an arm is ahead of another by the estimates."""
        return float(self.estimates[one, objective] - self.estimates[other, objective])

    def lower(self, one: int, other: int, objective: int, level: float) -> float:
        """L: the largest lead that is verified; -inf where none is."""
        seen, known = self.lead(one, other, objective), self._boxes(one, other, objective)
        error = math.sqrt(self._errors[one, objective] + self._errors[other, objective])
        return largest_lead(lambda lead: self.ahead(one, other, objective, lead, level), seen, known, error, level)

    def evidence(self, claim: Callable[[float], bool], steps: int = 11) -> float:
        """ln of the evidence for a claim, rounded down: `claim` says whether it reaches a level."""
        low, high = 0.0, STRONGEST
        if not claim(low):
            return 0.0
        if claim(high):
            return high
        for _ in range(steps):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if claim(middle) else (low, middle)
        return low

    def most_behind(self, one: int, others: Iterable[int], objective: int, level: float) -> float:
        """The most that an arm may be behind the others: the maximum of -L over them, and 0."""
        most = 0.0
        for other in sorted(others, key=lambda arm: -self.estimates[arm, objective]):
            if other != one and not self.ahead(one, other, objective, -most, level):
                most = max(most, -self.lower(one, other, objective, level))
                if most == math.inf:
                    break
        return most


class Strength(NamedTuple):
    """What pairs tell of an answer, on the engine's scale; NaN or infinite where they tell nothing.

    Attributes:
        tolerances: float[K]: the smallest tolerance that is proved of each arm's place.
        rivals: int[K]: the arm behind it; of an arm outside the one that stands for it; -1 where there is none.
        most: float[K]: by how much the arm may be behind the best, at most, jointly.
    """

    tolerances: Floats
    rivals: NDArray[np.int64]
    most: Floats


def answer_strength(engine: Engine, answer: Mask) -> Strength | None:
    """What pairs prove of an answer at any tolerance, jointly with what the search claims; None where they do not say.

    Args:
        engine: The statistics, with a bound that compares pairs at the delta of the claim.
        answer: The arms that are in it.
    """
    question = engine.spec.question
    if not the_bound(engine.spec.bound).compares_pairs or not question.compares_pairs:
        return None
    pairs = Pairs(engine)
    if isinstance(question, BetterThan):
        return _of_control(pairs, answer, engine)
    if not answer.any():
        return None
    if isinstance(question, Best):
        return _of_best(pairs, answer)
    if isinstance(question, Pareto):
        return _of_pareto(pairs, answer, engine)
    return None


def _of_control(pairs: Pairs, answer: Mask, engine: Engine) -> Strength:
    """Of the arms better than a control: inside by how much they may be worse, outside by how much better."""
    question = engine.question
    assert isinstance(question, BetterThan)
    count, place, margin, both = pairs.count, question.place, question.margin, question.about_risk
    level = pairs.cover_level + math.log(1.0 - 1.0 / count) - math.log(1.0 - FOR_ENDS)
    in_mean, in_risk = (level - math.log(IN_MEAN), level - math.log(1.0 - IN_MEAN)) if both else (level, math.inf)
    tolerances = np.full(count, math.inf if answer[place] else -math.inf)
    for arm in range(count):
        if arm != place and answer[arm]:
            tolerances[arm] = margin - pairs.lower(arm, place, 0, level)
            if both:
                tolerances[arm] = max(tolerances[arm], -pairs.lower(arm, place, 1, level))
        elif arm != place:
            tolerances[arm] = -margin - pairs.lower(place, arm, 0, in_mean)
            if both:
                tolerances[arm] = min(tolerances[arm], -pairs.lower(place, arm, 1, in_risk))
    return Strength(tolerances, np.full(count, place), np.full(count, math.nan))


def _of_best(pairs: Pairs, answer: Mask) -> Strength | None:
    """Of the arms of highest mean."""
    count, wanted = pairs.count, int(answer.sum())
    if wanted == count:
        return None
    level = pairs.cover_level + math.log((count - wanted) * wanted / count)
    inside, outside = np.flatnonzero(answer).tolist(), np.flatnonzero(~answer).tolist()
    tolerances, rivals, most = np.zeros(count), np.full(count, -1), np.zeros(count)
    for arm in inside:
        tolerances[arm] = pairs.most_behind(arm, outside, 0, level)
        rivals[arm] = max(outside, key=lambda other: pairs.estimates[other, 0])
    for arm in outside:
        rivals[arm] = min(inside, key=lambda each: pairs.estimates[each, 0])
        for each in inside:
            if tolerances[arm] < math.inf and not pairs.ahead(each, arm, 0, -tolerances[arm], level):
                tolerances[arm] = max(tolerances[arm], -pairs.lower(each, arm, 0, level))
    leader = max(inside, key=lambda arm: pairs.estimates[arm, 0])
    if wanted == 1:
        for arm in range(count):
            if arm == leader:
                most[arm] = tolerances[arm]
            elif count <= FEW:
                most[arm] = pairs.most_behind(arm, (each for each in range(count) if each != arm), 0, level)
            else:
                most[arm] = max(0.0, tolerances[leader]) + max(0.0, -pairs.lower(arm, leader, 0, level))
    else:
        most[:] = np.nan
    return Strength(tolerances, rivals, most)


def _of_pareto(pairs: Pairs, answer: Mask, engine: Engine) -> Strength:
    """Of the Pareto set: inside no arm beats it by t in all objectives, outside one of the answer is within t."""
    count = pairs.count
    inside, outside = np.flatnonzero(answer).tolist(), np.flatnonzero(~answer).tolist()
    levels, cover = pairs.withstand_levels, pairs.cover_level + math.log(max(count - 1, 1))
    tolerances, rivals = np.full(count, math.inf), np.full(count, -1)
    objectives = range(pairs.estimates.shape[1])
    for arm in inside:
        most = -math.inf
        for other in sorted(range(count), key=lambda each: pairs.lead(arm, each, 0)):
            if other == arm:
                continue
            if most > -math.inf and any(pairs.ahead(arm, other, j, -most, levels[j]) for j in objectives):
                continue
            found = math.inf
            for j in objectives:  # the least of these: an objective that is no better needs one check only
                if found == math.inf or pairs.ahead(arm, other, j, -found, levels[j]):
                    found = min(found, -pairs.lower(arm, other, j, levels[j]))
            if found > most:
                most, rivals[arm] = found, other
            if most == math.inf:
                break
        tolerances[arm] = most
    # At epsilon 0 the search counts wrong covers by the size of its answer: then no other tolerance may be claimed.
    if not bool(engine.problem["any_epsilon"][0]):
        return Strength(tolerances, rivals, np.full(count, math.nan))
    for arm in outside:
        least = math.inf
        order = sorted(inside, key=lambda each: -min(pairs.lead(each, arm, j) for j in objectives))
        for other in order:
            if least < math.inf and not all(pairs.ahead(other, arm, j, -least, cover) for j in objectives):
                continue
            found = -math.inf
            for j in objectives:
                if found == -math.inf or (found < math.inf and not pairs.ahead(other, arm, j, -found, cover)):
                    found = max(found, -pairs.lower(other, arm, j, cover))
            if found < least:
                least, rivals[arm] = found, other
        tolerances[arm] = least
    return Strength(tolerances, rivals, np.full(count, math.nan))


class Single(NamedTuple):
    """What is said of each arm by itself, on the engine's scale.

    Attributes:
        low, high: float[K, J]: where its own number is, each by itself.
        references: int[K]: the arm that it is compared with, or -1.
        behind_low, behind_high: float[K, J]: by how much it is behind that arm, each by itself.
        p: float[K]: against "this is a best arm", or of a place in the answer against its being wrong; NaN for none.
        least_p: The smallest that means anything.
    """

    low: Floats
    high: Floats
    references: NDArray[np.int64]
    behind_low: Floats
    behind_high: Floats
    p: Floats
    least_p: float


def single_statements(engine: Engine, answer: Mask, references: NDArray[np.int64]) -> Single:
    """Intervals of arms, their differences to another arm, and p-values: each statement by itself, at all times.

    Args:
        engine: The search.
        answer: The arms that are in the answer.
        references: The arm that each is compared with, or -1.
    """
    count, spec = len(answer), engine.spec
    low, high = own_intervals(engine, EACH)
    behind_low, behind_high = np.full((count, 2), -math.inf), np.full((count, 2), math.inf)
    p, least = np.full(count, math.nan), 0.0
    bound = the_bound(_comparing(spec))
    by_boxes = np.ones(2)  # by objective: the part of the chance of a miss that two intervals have; pairs have the rest
    if bound.compares_pairs and engine.ready:
        pairs = Pairs(with_bound(engine, bound, SINGLE), EACH)
        least = SINGLE * bound.spent
        p = np.minimum(_p_values(pairs, spec, answer, references) + least, 1.0)
        # Evidence about risks of rewards in a range takes long: there two intervals will do.
        compared = range(2 if spec.question.about_risk and not spec.rewards.ranged else 1)
        by_boxes[: len(compared)] = BOXES_FIRST if spec.assumption == "gaussian" else 0.0
        picks = 2.0
        if bound.once:
            picks = 2.0 * (count - 1) if isinstance(spec.question, BetterThan) else float(count * (count - 1))
            picks *= len(compared)
        for j in compared:
            level = math.log(picks / ((1.0 - by_boxes[j]) * EACH - least))
            for arm, other in enumerate(references.tolist()):
                if other >= 0 and (count <= MANY or answer[arm] or answer[other]):
                    behind_low[arm, j] = pairs.lower(other, arm, j, level)
                    behind_high[arm, j] = -pairs.lower(arm, other, j, level)
    own = np.flatnonzero(references >= 0)
    for j in np.flatnonzero(by_boxes).tolist() if len(own) else ():
        half_low, half_high = own_intervals(engine, 0.5 * by_boxes[j] * EACH)
        others = references[own]
        behind_low[own, j] = np.maximum(behind_low[own, j], half_low[others, j] - half_high[own, j])
        behind_high[own, j] = np.minimum(behind_high[own, j], half_high[others, j] - half_low[own, j])
    return Single(low, high, references, behind_low, behind_high, p, least)


def _comparing(spec: Spec) -> str | Bound:
    """A bound that compares two arms, whatever the question is; that of the search where none does."""
    if the_bound(spec.bound).compares_pairs and spec.delta is not None:
        return spec.bound
    if (
        spec.shared
        or the_bound(spec.bound).terms.in_rounds
        or spec.assumption not in ("unknown", "bounded", "gaussian", "items")
    ):
        return spec.bound
    seeds = spec.shares_seeds
    bound = usual_bound(spec.assumption, spec.risk.made_of, "confidence", pairs=True, seeds=seeds, collects=False)
    return bound if BOUNDS[bound].suits(spec.assumption, spec.risk.made_of) else spec.bound


def own_intervals(engine: Engine, delta: float) -> tuple[Floats, Floats]:
    """Where each arm's own numbers are, each arm by itself, at all times: float[K, J], more being better."""
    spec, count = engine.spec, len(engine.arms)
    bound = box_bound(spec)
    asked = replace(spec, bound=bound, delta=delta)
    made = Engine.from_statistics(asked, engine.state, another_bound=the_bound(bound) is not the_bound(spec.bound))
    level = the_bound(bound).level(1.0, delta, about_risk=spec.question.about_risk)
    for row in made.rows.arms:
        row.level = level
    made.make_boxes()
    arms = made.arms
    low, high = (
        np.column_stack((arms["mean_low"], -arms["risk_high"])),
        np.column_stack((arms["mean_high"], -arms["risk_low"])),
    )
    nothing = low > high
    low[nothing], high[nothing] = -math.inf, math.inf
    known = engine.asked_all
    low[known] = high[known] = np.column_stack((arms["average"], -arms["risk"]))[known]
    assert len(low) == count
    return low, high


def _p_values(pairs: Pairs, spec: Spec, answer: Mask, references: NDArray[np.int64]) -> Floats:
    """p of each arm: of "it is a best arm", of its place in the Pareto set, of its verdict against a control."""
    question, count = spec.question, pairs.count
    found = np.full(count, math.nan)
    if not np.isfinite(pairs.estimates).all():
        return found
    if isinstance(question, Best) and question.compares_pairs and int(answer.sum()) == 1:
        order = np.argsort(-pairs.estimates[:, 0], kind="stable").tolist()
        for arm in range(count):
            rivals = [each for each in order if each != arm][: RIVALS if count <= FEW else 1]
            total = 0.0
            for other in rivals:

                def beaten(level: float, a: int = other, b: int = arm) -> bool:
                    return pairs.ahead(a, b, 0, 0.0, level)

                found_one = math.exp(pairs.evidence(beaten)) if pairs.lead(other, arm, 0) > 0.0 else 0.0
                # Where arms share items each comparison has a time of its own, and classical tests know no average.
                averages = spec.items is None and not the_bound(spec.bound).once
                total = total + found_one if averages else max(total, found_one)
            # The average over all other arms; those that were left out only make it larger.
            found[arm] = min(1.0, (count - 1) / total) if total > 0.0 else 1.0
    elif isinstance(question, BetterThan):
        control = question.among(spec.names).place
        span = spec.span
        for arm in range(count):
            if arm != control:
                margin = question.margin / span if answer[arm] else -question.margin / span
                first, second = (arm, control) if answer[arm] else (control, arm)
                objectives = (0, 1) if question.about_risk and answer[arm] else (0,)

                def claim(
                    level: float, a: int = first, b: int = second, x: float = margin, js: Any = objectives
                ) -> bool:
                    return all(pairs.ahead(a, b, j, x if j == 0 else 0.0, level) for j in js)

                found[arm] = min(1.0, (count - 1) * math.exp(-pairs.evidence(claim)))
    elif isinstance(question, Pareto):
        shift = [level - pairs.cover_level for level in pairs.withstand_levels]  # ln(1 / b)
        for arm in range(count):
            if answer[arm]:
                worst = 0.0
                for other in sorted(range(count), key=lambda each: pairs.lead(arm, each, 0) - pairs.lead(each, arm, 1)):
                    if other == arm:
                        continue

                    def holds(level: float, a: int = arm, b: int = other) -> bool:
                        return any(pairs.ahead(a, b, j, 0.0, level + shift[j]) for j in (0, 1))

                    if worst > 0.0 and holds(-math.log(worst)):
                        continue
                    worst = max(worst, math.exp(-pairs.evidence(holds)))
                    if worst >= 1.0 / count:
                        break
                found[arm] = min(1.0, count * worst)
            else:
                other = int(references[arm])
                if other < 0:
                    continue

                def beats(level: float, a: int = other, b: int = arm) -> bool:
                    return all(pairs.ahead(a, b, j, 0.0, level) for j in (0, 1))

                found[arm] = min(1.0, count * (count - 1) * math.exp(-pairs.evidence(beats)))
    return found


def ratio_interval(engine: Engine, arm: int, control: int) -> tuple[float, float]:
    """Where the ratio of an arm's mean to a control's is, at all times, by itself; both means must be above 0.

    The evidence that mean_i > r mean_j is that of a comparison with arm j's rewards times r. So r is bisected, in the
    user's units: of costs the ratio of costs.
    """
    spec = engine.spec
    bound = _comparing(spec)
    if not the_bound(bound).compares_pairs or spec.reward_range is not None:
        return 0.0, math.inf
    made = with_bound(engine, bound, SINGLE)
    mean_ahead, level = the_bound(bound).kernels.mean_ahead, math.log(2.0 / EACH)
    rows = Rows.of(made.state)
    note_extremes(rows.arms)
    rows.problems[0].rare_level = min(rows.problems[0].rare_level, -math.log(EACH))
    problem, sign = rows.problems[0], 1.0 if spec.direction == "maximize" else -1.0
    row, other = rows.arms[arm], rows.arms[control]
    top, base = sign * row.average, sign * other.average
    if not (base > 0.0 and top > 0.0):
        return 0.0, math.inf

    def ahead(ratio: float, up: bool) -> bool:
        # The ratio is above r (up) if arm > r control: in the engine's units costs are negated, which turns it round.
        scaled = _times(other, ratio)
        pair = (row, scaled) if up == (sign > 0.0) else (scaled, row)
        return bool(mean_ahead(pair[0], rows.memory[arm], pair[1], rows.memory[control], 0.0, problem, BY_ALL, level))

    seen = top / base
    ends = []
    for up in (True, False):
        known, unknown = (0.0 if up else math.inf), seen
        factor = 1.05
        for _ in range(30):
            trial = seen / factor if up else seen * factor
            if ahead(trial, up):
                known = trial
                break
            unknown, factor = trial, factor * factor if factor < 1e3 else factor * 10.0
        if 0.0 < known < math.inf:
            for _ in range(12):
                middle = math.sqrt(known * unknown)
                known, unknown = (middle, unknown) if ahead(middle, up) else (known, middle)
        ends.append(known)
    return ends[0], ends[1]


def _times(row: Any, factor: float) -> Any:
    """An arm whose rewards are so many times as large; its box says nothing."""
    made = row.copy()
    for power, names in enumerate(
        (("shift", "total", "total_carry", "average", "fall", "rise"), ("squares", "squares_carry", "variance")), 1
    ):
        for name in names:
            setattr(made, name, getattr(row, name) * factor**power)
    for power, names in ((3, ("cubes", "cubes_carry")), (4, ("fourths", "fourths_carry"))):
        for name in names:
            setattr(made, name, getattr(row, name) * factor**power)
    made.mean_low, made.mean_high = -math.inf, math.inf
    return made


# ------------------------------------------------------------------------------------- without a guarantee

DRAWS = 4_000
SHRINKING, LEAST_BETWEEN = 2.0, 0.15


def support(engine: Engine, answer: Mask, seed: int = 0) -> Floats | None:
    """The share of resamples in which each arm is in the answer: calibrated by shrinking, and no guarantee.

    Means are drawn towards their weighted average by the ratio of the variance between arms to their errors; their
    errors are those of few trials, by a t law. Ties count as parts.
    """
    arms, question = engine.arms, engine.spec.question
    count = len(arms)
    if count < 2 or (arms["pulls"] < 2).any():
        return None
    draw = np.random.default_rng(seed)
    pulls = arms["pulls"].astype(float)
    drawn = []
    for estimates, spreads in ((arms["average"], arms["variance"]), (-arms["risk"], arms["risk_spread"])):
        if not (np.isfinite(estimates).all() and np.isfinite(spreads).all()):
            return None
        pooled = spreads.mean()
        variances = (pulls * spreads + SHRINKING * pooled) / (pulls + SHRINKING) * pulls / (pulls - 1.0)
        errors = np.maximum(variances / pulls, 1e-300)
        between = max(float(estimates.var(ddof=1) - errors.mean()), LEAST_BETWEEN * float(errors.mean()))
        weights = between / (between + errors)
        centre = (weights * estimates).sum() / weights.sum()
        assumption = draw.standard_t(pulls + 1.0, size=(DRAWS, count))
        drawn.append(centre + weights * (estimates - centre) + assumption * np.sqrt(weights * errors))
    means, risks = drawn[0], -drawn[1]
    oriented = engine.question
    shares = np.zeros(count)
    if isinstance(question, Pareto):
        order = np.argsort(-means, axis=1, kind="stable")
        sorted_risks = np.take_along_axis(risks, order, axis=1)
        least = np.minimum.accumulate(sorted_risks, axis=1)
        first = np.ones_like(sorted_risks, dtype=bool)
        first[:, 1:] = sorted_risks[:, 1:] < least[:, :-1]
        inside = np.empty_like(first)
        np.put_along_axis(inside, order, first, axis=1)
        return np.asarray(inside.mean(axis=0))
    if isinstance(question, Best) and not question.about_risk:
        wanted = max(question.count, 1)
        last = -np.partition(-means, wanted - 1, axis=1)[:, wanted - 1 : wanted]
        return np.asarray((means >= last).mean(axis=0))
    for mean, risk in zip(means[: DRAWS // 8], risks[: DRAWS // 8], strict=True):
        shares += oriented.true_answer(mean, risk)
    return np.asarray(shares / (DRAWS // 8))
