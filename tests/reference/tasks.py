"""The tasks' answers and doubts, slowly and straight from their definitions: lists, loops and sorting, no shared code.

An arm is (mean_low, mean, mean_high, risk_low, risk, risk_high). Every function gives the answer, as a set of numbers,
and for each arm its doubt with the arms that may be behind it; None for any arm where ties leave it open.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple


class Box(NamedTuple):
    """What is known of an arm."""

    mean_low: float
    mean: float
    mean_high: float
    risk_low: float
    risk: float
    risk_high: float


class Doubt(NamedTuple):
    """V_i, and the arm behind it."""

    value: float
    rival: int


Found = tuple[set[int], list[Doubt]]
Score = Callable[[Box], tuple[float, float, float]]  # least, by the estimates, most


def mean_of(box: Box) -> tuple[float, float, float]:
    return box.mean_low, box.mean, box.mean_high


def safety_of(box: Box) -> tuple[float, float, float]:
    return -box.risk_high, -box.risk, -box.risk_low


def score_of(weight: float) -> Score:
    def score(box: Box) -> tuple[float, float, float]:
        low = box.mean_low - weight * box.risk_high
        return low, box.mean - weight * box.risk, box.mean_high - weight * box.risk_low

    return score


def top(boxes: Sequence[Box], count: int, score: Score) -> Found:
    """The arms of least B_i = (m-th highest U_j of the others) - L_i, and how far each is from being proved."""
    low, seen, high = zip(*map(score, boxes), strict=True)
    arms = range(len(boxes))
    regret = [sorted((high[j] for j in arms if j != i), reverse=True)[count - 1] - low[i] for i in arms]
    answer = set(sorted(arms, key=lambda i: (regret[i], -seen[i], i))[:count])
    strongest = min((i for i in arms if i not in answer), key=lambda i: (-high[i], -seen[i], i))
    weakest = min(answer, key=lambda i: (low[i], seen[i]))
    doubts = [
        Doubt(high[strongest] - low[i], strongest) if i in answer else Doubt(high[i] - low[weakest], weakest)
        for i in arms
    ]
    return answer, doubts


def limited(boxes: Sequence[Box], score: Score, other: Score, floor: float, epsilon: float) -> Found:
    """The best estimate among those that reach the floor, or nearly, if that is sooner proved."""
    exactly, nearly = (limited_to(boxes, score, other, floor, reached, epsilon) for reached in (floor, floor - epsilon))
    return nearly if max(nearly[1])[0] < max(exactly[1])[0] else exactly


def limited_to(boxes: Sequence[Box], score: Score, other: Score, floor: float, reached: float, epsilon: float) -> Found:
    """The best estimate among those whose estimates reach so much; who may be better and reach the floor."""
    arms = range(len(boxes))
    able = [i for i in arms if other(boxes[i])[1] >= reached]
    if not able:
        return set(), [Doubt(other(box)[2] - floor, place) for place, box in enumerate(boxes)]
    best = max(able, key=lambda i: (score(boxes[i])[1], -i))
    doubts = []
    for i in arms:
        least, seen, most = other(boxes[i])
        if i == best:
            doubts.append(Doubt(floor - least, i))
            continue
        value = min(score(boxes[i])[2] - score(boxes[best])[0], most - floor)
        distance, width = floor - seen + epsilon, most - seen
        behind = score(boxes[best])[1] - score(boxes[i])[1] + epsilon
        wide = score(boxes[i])[2] - score(boxes[i])[1] + score(boxes[best])[1] - score(boxes[best])[0]
        if distance <= 0.0:  # it seems to reach the floor: only the comparison can end the doubt
            doubts.append(Doubt(value, best))
        elif behind <= 0.0:
            doubts.append(Doubt(value, i))
        else:
            doubts.append(Doubt(value, best if behind * width > distance * wide else i))
    return {best}, doubts


def control(boxes: Sequence[Box], place: int, margin: float, both: bool, epsilon: float) -> Found:
    """Each arm against the control: better, or not better by epsilon, whichever is nearer to being proved."""
    base, answer, doubts = boxes[place], set(), []
    for i, box in enumerate(boxes):
        if i == place:
            doubts.append(Doubt(-math.inf, place))
            continue
        inside, outside = [base.mean_high + margin - box.mean_low], [box.mean_high - base.mean_low - margin]
        better = box.mean > base.mean + margin + epsilon / 2
        if both:
            inside.append(box.risk_high - base.risk_low)
            outside.append(base.risk_high - box.risk_low)
            better = better and box.risk < base.risk - epsilon / 2
        is_in = max(inside) + epsilon
        if is_in < min(outside) or (is_in == min(outside) and better):
            answer.add(i)
        doubts.append(Doubt(is_in if i in answer else min(outside), place))
    return answer, doubts
