"""Truths, claims and levels of docs/theory/comparisons.md, written out from the page and nothing in the package.

A truth is one number per arm and objective, of which only the order and the tolerance matter. A claim (objective, i, j,
epsilon) says that i is ahead of j, or less than epsilon behind it. The process behind a claim is that of its objective
and its two arms, whatever epsilon is. Levels are for d' = 1: a supermartingale that begins at 1 must reach 1 / d'.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from typing import NamedTuple

MEAN, RISK = 0, 1
B = Fraction(7, 10)  # of an arm's weight, for its mean against its dominator; the rest for its risk
SHARES = B, 1 - B

Process = tuple[int, int, int]
Weights = dict[Process, Fraction]


class Demand(NamedTuple):
    """A false claim that must be verified: its process must reach the level, at the end or at any time before."""

    process: Process
    level: Fraction
    remembered: bool = True


Alternative = list[Demand]  # all of them; true claims, which may be verified at no cost, are left out
Requirement = list[Alternative]  # one of them


class Truth:
    """What is true of a few arms: more of means[i] is better, and less of risks[i]."""

    def __init__(self, means: tuple[int, ...], risks: tuple[int, ...], epsilon: int) -> None:
        self.means, self.risks, self.epsilon = means, risks, epsilon
        self.arms = range(len(means))
        self.front = {i for i in self.arms if not any(self.dominates(j, i) for j in self.arms)}  # D
        far = (i for i in self.arms if any(self.far_ahead(j, i) for j in self.arms))
        self.beaten = set(far) if epsilon else set(self.arms) - self.front  # X

    def __repr__(self) -> str:
        return f"Truth({self.means}, {self.risks}, {self.epsilon})"

    def holds(self, objective: int, i: int, j: int, epsilon: int) -> bool:
        """Whether a claim is true."""
        if objective == MEAN:
            return self.means[i] > self.means[j] - epsilon
        return self.risks[i] < self.risks[j] + epsilon

    def covers(self, j: int, i: int, epsilon: int) -> bool:
        return j != i and self.holds(MEAN, j, i, epsilon) and self.holds(RISK, j, i, epsilon)

    def dominates(self, j: int, i: int) -> bool:
        return self.covers(j, i, 0)

    def far_ahead(self, j: int, i: int) -> bool:
        """j is at least epsilon ahead of i in both objectives: i does not withstand j."""
        return not self.holds(MEAN, i, j, self.epsilon) and not self.holds(RISK, i, j, self.epsilon) and j != i

    def beaters(self, i: int) -> list[int]:
        """The arms against which i has no true claim with this tolerance, strictly if it is 0."""
        return [j for j in self.arms if (self.far_ahead(j, i) if self.epsilon else self.dominates(j, i))]

    def strangers(self, i: int) -> list[int]:
        """The arms whose cover of i would be a mistake, and which are not beaten themselves: n_i of them."""
        return [j for j in self.arms if j != i and j not in self.beaten and not self.covers(j, i, self.epsilon)]

    def is_right(self, answer: set[int]) -> bool:
        outside = set(self.arms) - answer
        covered = all(any(self.covers(j, i, self.epsilon) for j in answer) for i in outside)
        return covered and not answer & self.beaten

    def false_process(self, j: int, i: int, epsilon: int, pick: Pick) -> Process:
        """Of the two claims of "j covers i", of which one at least is false, the process of a false one."""
        false = [objective for objective in (MEAN, RISK) if not self.holds(objective, j, i, epsilon)]
        return pick(false), j, i


Pick = Callable[[list[int]], int]  # which of several to take, where the proof leaves it open
PICKS: tuple[Pick, Pick] = (lambda several: several[0], lambda several: several[-1])


def patterns(count: int, epsilon: int) -> tuple[list[tuple[int, ...]], list[tuple[int, ...]]]:
    """Values of one objective for some arms, one for each way in which claims can be true: sorted ones, and all."""
    gaps = range(epsilon + 2)
    distinct: dict[tuple[bool, ...], tuple[int, ...]] = {}
    for steps in itertools.product(gaps, repeat=count - 1):
        values = (0, *itertools.accumulate(steps))
        signs = (values[i] > values[j] - e for i in range(count) for j in range(count) for e in (0, epsilon, -epsilon))
        distinct.setdefault(tuple(signs), values)
    ordered = list(distinct.values())
    return ordered, sorted({shuffled for values in ordered for shuffled in itertools.permutations(values)})


def truths(count: int, epsilon: int, step: int = 1) -> Iterator[Truth]:
    """All truths there can be about some arms, but for their names; or every so manieth of them."""
    every = itertools.product(*patterns(count, epsilon))
    return (Truth(means, risks, epsilon) for means, risks in itertools.islice(every, 0, None, step))


def answers(truth: Truth) -> Iterator[set[int]]:
    """All that may be returned; nothing at all covers nobody."""
    for size in range(1, len(truth.arms) + 1):
        yield from map(set, itertools.combinations(truth.arms, size))


def add(weights: Weights, process: Process, weight: Fraction) -> None:
    weights[process] = weights.get(process, Fraction(0)) + weight


def against(weights: Weights, i: int, dominator: int, weight: Fraction) -> None:
    """The A-term of an arm: its claims to be ahead of an arm that dominates it."""
    for objective in (MEAN, RISK):
        add(weights, (objective, i, dominator), weight * SHARES[objective])


def level_weights(truth: Truth, shares: list[Fraction], pick: Pick) -> Weights:
    """The supermartingale E at this truth, as the weight of each process; an arm's share of 1 is `shares[arm]`."""
    weights: Weights = {}
    for i in truth.beaten:
        against(weights, i, pick(truth.beaters(i)), shares[i])
    for i in truth.front:
        others = truth.strangers(i)
        for j in others:
            add(weights, truth.false_process(j, i, truth.epsilon, pick), shares[i] / len(others))
    return weights


def withstand(truth: Truth, i: int, levels: tuple[Fraction, Fraction], epsilon: int) -> Iterator[Requirement]:
    """That i is proved to withstand every other arm: by mean or by risk, each at its own level."""
    for j in truth.arms:
        if j != i and not (truth.holds(MEAN, i, j, epsilon) or truth.holds(RISK, i, j, epsilon)):
            yield [demands(truth, [(objective, i, j)], levels[objective], epsilon) for objective in (MEAN, RISK)]


def cover(truth: Truth, j: int, i: int, level: Fraction, epsilon: int, remembered: bool = True) -> Alternative:
    """That j is proved to cover i."""
    return demands(truth, [(MEAN, j, i), (RISK, j, i)], level, epsilon, remembered)


def demands(
    truth: Truth, claims: Iterable[Process], level: Fraction, epsilon: int, remembered: bool = True
) -> Alternative:
    """What must happen for claims to be verified: nothing for true ones."""
    return [Demand(claim, level, remembered) for claim in claims if not truth.holds(*claim, epsilon)]


@functools.cache
def arm_levels(share: Fraction) -> tuple[Fraction, Fraction]:
    """The A-levels of an arm with this share."""
    return 1 / (share * B), 1 / (share * (1 - B))


def least(weights: Weights, requirements: Iterable[Requirement]) -> Fraction:
    """The least that the supermartingale must have reached at some time if all requirements were met.

    Processes may be anything that is not negative. What is reached at the end counts together, what is remembered from
    other times each by itself.
    """
    open_ones = []
    for requirement in requirements:
        costly = [[each for each in demand if weights.get(each.process)] for demand in requirement]
        if all(costly):
            open_ones.append(costly)
    return min(_reached(weights, itertools.chain(*chosen)) for chosen in itertools.product(*open_ones))


def _reached(weights: Weights, chosen: Iterable[Demand]) -> Fraction:
    together: dict[Process, Fraction] = {}
    alone = Fraction(0)
    for process, level, remembered in chosen:
        if remembered:
            alone = max(alone, weights[process] * level)
        else:
            together[process] = max(together.get(process, level), level)
    return max(alone, sum((weights[process] * level for process, level in together.items()), Fraction(0)))
