"""Claims about arms with several objectives and limits: how surely estimates support them, and what boxes prove.

A table of columns stands behind everything here: D objectives, then C limits. In every column more is better; the
value of a limit is the arm's slack, so that at least 0 is wanted. Each column is in units of its own scale. Arrays are

    estimate, error, low, high   float[K, D + C]   of K arms; `error` is squared, `low` and `high` are the boxes
    epsilon                      float[D + C]      the tolerances, 0 or above

The claim (i, j, d) is that arm i is ahead of arm j in column d by more than -margin; single claims say on which side of
a value an arm is. How far a claim is from being proved is its *promise*: the squared difference over twice its squared
error, in parts of the evidence that it needs. 1 is about enough; what is proved has infinitely much.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ramgape.core.statistics import LEAST_ERROR, PSEUDO_PULLS

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

HOPELESS = 0.3  # a claim that promises less is not worth an evaluation of the evidence
HALF_ROOT_TWO_PI = 1.0 / math.sqrt(2.0 * math.pi)


@dataclass
class Seen:
    """What is known of all arms at one moment.

    Attributes:
        pulls: Trials of each arm.
        estimate, error, low, high: See above; errors are drawn towards the average of all arms while trials are few.
        epsilon: The tolerances.
        known: Which columns are not measured but known beforehand.
        objectives: How many of the columns are objectives.
        by_budget: Whether claims are weighed by what a mistake would cost, in place of what is missing for a proof.
    """

    pulls: NDArray[np.int64]
    estimate: Floats
    error: Floats
    low: Floats
    high: Floats
    epsilon: Floats
    known: Mask
    objectives: int
    by_budget: bool = False

    @property
    def count(self) -> int:
        """K."""
        return len(self.pulls)

    @property
    def measured(self) -> int:
        """D_m, how many objectives are measured."""
        return int((~self.known[: self.objectives]).sum())

    @property
    def limits(self) -> int:
        """C, how many limits are about measured columns."""
        return int((~self.known[self.objectives :]).sum())


def shrunken_errors(spread: Floats, pulls: NDArray[np.int64], known: Mask) -> Floats:
    """Squared errors of estimates, drawn towards the average of all arms while trials are few.

    Args:
        spread: float[K, J], the variance behind each estimate for one trial.
        pulls: int[K].
        known: bool[J]; what is known has no error.
    """
    number = np.maximum(pulls, 1).astype(float)[:, None]
    average = spread.mean(axis=0) + LEAST_ERROR
    error = (number * spread + PSEUDO_PULLS * average) / ((number + PSEUDO_PULLS) * number)
    return np.asarray(np.where(known, 0.0, error))


def certainty(difference: Floats, error: Floats) -> Floats:
    """The squared difference over its squared error, where it is the right way round."""
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        found = np.where(difference > 0.0, difference * difference / error, 0.0)
    return np.asarray(np.where((difference > 0.0) & (error <= 0.0), np.inf, found))


def weight(difference: Floats, error: Floats) -> Floats:
    """One over the expected cost of taking a difference for positive: how little there is to be gained by trials.

    With a normal error of variance e the cost is root e (phi(z) - z Phi(-z)), z being the difference over root e.
    """
    deviation = np.sqrt(np.maximum(error, LEAST_ERROR))
    z = difference / deviation
    density = HALF_ROOT_TWO_PI * np.exp(-0.5 * np.minimum(z * z, 1400.0))
    cost = deviation * (density - z * _upper_tail(z))
    return np.asarray(1.0 / np.maximum(cost, 1e-280))


def _upper_tail(z: Floats) -> Floats:
    """P(Z > z), by the approximation of Abramowitz and Stegun 7.1.26 (error below 1e-7), which is enough to choose."""
    size = np.abs(z) / math.sqrt(2.0)
    part = 1.0 / (1.0 + 0.3275911 * size)
    series = part * (
        0.254829592 + part * (-0.284496736 + part * (1.421413741 + part * (-1.453152027 + part * 1.061405429)))
    )
    tail = 0.5 * series * np.exp(-np.minimum(size * size, 700.0))
    return np.asarray(np.where(z >= 0.0, tail, 1.0 - tail))


class Levels(NamedTuple):
    """How much evidence claims need, as logarithms (docs/theory/outcomes.md).

    Attributes:
        withstand: One claim that an arm of the answer is not beaten by another, or that the other breaks a limit.
        cover: Each claim that an arm outside is covered, but for ln N_i.
        safe: That an arm keeps a limit.
        unsafe: That an arm outside breaks one.
    """

    withstand: float
    cover: float
    safe: float
    unsafe: float


IN_LIMITS = 0.3  # a: of the weight of an arm outside, for claims that it breaks a limit


def pareto_levels(count: int, measured: int, limits: int, left: float) -> Levels:
    """The levels of the Pareto set.

    Args:
        count: K.
        measured: The measured objectives.
        limits: The limits on measured columns.
        left: Of delta, what boxes leave for comparisons.
    """
    base = math.log(count) - safe_log(left)
    part = IN_LIMITS if limits else 0.0
    return Levels(
        base + math.log(max(measured + limits, 1)),
        base - math.log(1.0 - part),
        base,
        base + math.log(limits / part) if limits else math.inf,
    )


def best_levels(count: int, limits: int, left: float) -> Levels:
    """The levels of the one best arm that keeps all limits, or of none."""
    base = math.log(count) - safe_log(left)
    return Levels(base, math.inf, base, base + math.log(max(limits, 1)))


def safe_log(value: float) -> float:
    """ln, and -infinity for what is nothing: then nothing is proved but by boxes."""
    return math.log(value) if value > 0.0 else -math.inf


# ---------------------------------------------------------------------------------------------------- what boxes prove


def beaten_by_boxes(seen: Seen) -> Mask:
    """Which arms boxes prove to be beaten by epsilon in all objectives, by an arm that keeps all limits for sure."""
    d, epsilon = seen.objectives, seen.epsilon[: seen.objectives]
    lead = seen.low[:, None, :d] - seen.high[None, :, :d]  # [k, j]: of k over j, at least
    beats: Mask = np.asarray(np.where(epsilon > 0.0, lead >= epsilon, lead > 0.0).all(axis=2))
    np.fill_diagonal(beats, False)
    keeps: Mask = np.asarray((seen.low[:, d:] >= seen.epsilon[d:]).all(axis=1))
    return np.asarray((beats & keeps[:, None]).any(axis=0))


def covered_by_boxes(seen: Seen) -> Mask:
    """[j, i]: whether boxes prove that j covers i: it is less than epsilon behind in each objective."""
    d, epsilon = seen.objectives, seen.epsilon[: seen.objectives]
    lead = seen.low[:, None, :d] - seen.high[None, :, :d] + epsilon
    return np.asarray(np.where(seen.known[:d], lead >= 0.0, lead > 0.0).all(axis=2))


def infeasible_by_boxes(seen: Seen) -> Mask:
    """Which arms boxes prove to break a limit by its tolerance; with a tolerance of 0, an arm on the limit keeps it."""
    high, tolerance = seen.high[:, seen.objectives :], seen.epsilon[seen.objectives :]
    return np.asarray(np.where(tolerance > 0.0, high <= -tolerance, high < 0.0).any(axis=1))


def wrong_covers(seen: Seen) -> NDArray[np.int64]:
    """N_i: how many arms may be a wrong cover of each arm, one at least.

    Those are left out that boxes prove to break a limit, to be beaten by an arm that keeps all limits *for sure*, or to
    cover. Leaving out an arm because one of unknown feasibility beats it would break the proof.
    """
    possible = ~(beaten_by_boxes(seen) | infeasible_by_boxes(seen))[:, None] & ~covered_by_boxes(seen)
    np.fill_diagonal(possible, False)
    return np.asarray(np.maximum(possible.sum(axis=0), 1))


def doubts(seen: Seen, answer: Mask, factor: float = 1.0) -> tuple[Floats, NDArray[np.int64], NDArray[np.int64]]:
    """V_i of an answer, by the boxes, with the arm behind each and the one to try for a limit.

    Below 0 for all arms, the answer is right up to `factor` times the tolerances.

    Args:
        seen: What is known.
        answer: Any set of arms.
        factor: What the tolerances are multiplied by.

    Returns:
        V_i; the rival, which is the arm itself where a limit is in doubt; and the arm whose limit would settle it
        sooner than the comparison with the rival, or -1.
    """
    d, count = seen.objectives, seen.count
    epsilon, tolerance = factor * seen.epsilon[:d], factor * seen.epsilon[d:]
    # A known value that ties withstands nothing and covers; of measured ones nothing is lost by a strict inequality.
    nudge = np.where(seen.known[:d], -1e-300, 0.0)
    lead = seen.high[:, None, :d] - seen.low[None, :, :d] - epsilon  # [j, i]: of j over i, at most
    threat = lead.min(axis=2)
    lack = (seen.high[None, :, :d] - seen.low[:, None, :d] - epsilon + nudge).max(axis=2)  # [j, i]: j short of i
    excess = (seen.high[:, d:] - tolerance).min(axis=1, initial=np.inf)  # below 0: breaks a limit
    missing = (-tolerance - seen.low[:, d:]).max(axis=1, initial=-np.inf)  # below 0: keeps all limits
    if seen.known[d:].any():
        on_limit = (seen.low[:, d:] == 0.0) & seen.known[d:] & (tolerance == 0.0)
        missing = np.where(on_limit, -np.inf, -tolerance - seen.low[:, d:]).max(axis=1, initial=-np.inf)
    danger = np.minimum(threat, excess[:, None])
    np.fill_diagonal(danger, -np.inf)
    rivals = danger.argmax(axis=0)
    inside = np.maximum(missing, danger.max(axis=0))
    np.fill_diagonal(lack, np.inf)
    lack = np.where(answer[:, None], lack, np.inf)
    covers = lack.argmin(axis=0)
    outside = np.minimum(excess, lack.min(axis=0))
    own = np.arange(count)
    rival = np.where(answer, np.where(missing >= danger.max(axis=0), own, rivals), covers)
    rival = np.where(~answer & ~np.isfinite(lack.min(axis=0)), own, rival)
    limit_of = np.where(answer, rivals, own)
    return np.where(answer, inside, outside), rival, limit_of


def certified_factor(seen: Seen, answer: Mask, most: float = 1e6) -> float | None:
    """The least multiple of all tolerances up to which boxes prove an answer; None where no multiple will do."""
    if not (doubts(seen, answer, most)[0] < 0.0).all():
        return None
    if (doubts(seen, answer, 0.0)[0] < 0.0).all():
        return 0.0
    low, high = 0.0, most
    for _ in range(80):
        middle = 0.5 * (low + high)
        if (doubts(seen, answer, middle)[0] < 0.0).all():
            high = middle
        else:
            low = middle
    return high


# --------------------------------------------------------------------------------------------------------- estimates


def keeps_limits(seen: Seen) -> Mask:
    """Which arms keep all limits by the estimates."""
    return np.asarray((seen.estimate[:, seen.objectives :] >= 0.0).all(axis=1))


def front_of(seen: Seen, possible: Mask) -> Mask:
    """The arms that no other of the possible ones beats by the estimates; a tie in a known column is no defence."""
    d = seen.objectives
    value, known = seen.estimate[:, :d], seen.known[:d]
    ahead: Mask = np.asarray(np.where(known, value[:, None] >= value[None], value[:, None] > value[None]).all(axis=2))
    np.fill_diagonal(ahead, False)
    beaten = (ahead & possible[:, None]).any(axis=0)
    return np.asarray(possible & ~beaten)


def thinned(seen: Seen, front: Mask) -> Mask:
    """The front without arms that tie with a kept one: at the same known or constant value, none better by much.

    An arm may be left out if a returned one covers it, which a tolerance allows. Every set is a valid answer; this
    is the one that people can use.
    """
    d, epsilon = seen.objectives, seen.epsilon[: seen.objectives]
    if not (epsilon > 0.0).any():
        return front
    value, fixed = seen.estimate[:, :d], seen.known[:d] | (seen.error[:, :d] <= 1e-200).all(axis=0)
    if not fixed.any():
        return front
    kept, unit = front.copy(), np.where(epsilon > 0.0, epsilon, 1.0)
    strict = (epsilon == 0.0) & ~seen.known[:d]  # a tie in such a column is never proved to be a cover
    for arm in sorted(np.flatnonzero(front).tolist(), key=lambda each: (value[each] / unit).sum()):
        for other in np.flatnonzero(kept).tolist():
            lead = value[other] - value[arm]
            ties = (lead == 0.0) & fixed
            covers = np.where(strict, lead > 0.0, lead >= -0.5 * epsilon).all()
            if other != arm and ties.any() and covers and (lead / unit).sum() >= 0.0:
                kept[arm] = False
                break
    return kept
