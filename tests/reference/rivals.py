"""The published rivals in plain Python, straight from their papers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np

Points = list[tuple[float, float]]  # mean and risk of each arm


def m(points: Points, i: int, j: int) -> float:
    """By how much j beats i in both objectives."""
    return min(points[j][0] - points[i][0], points[i][1] - points[j][1])


def M(points: Points, i: int, j: int) -> float:  # noqa: N802, as in the papers
    return -m(points, i, j)


def gaps_among(points: Points, active: list[int]) -> tuple[dict[int, float], set[int]]:
    """D of every active arm, and the empirical Pareto set S of the active arms."""
    star = {i: max(m(points, i, j) for j in active if j != i) for i in active}
    front = {i for i in active if all(m(points, i, j) <= 0.0 for j in active if j != i)}
    gap = {}
    for i in active:
        if i in front:
            gap[i] = min(min(M(points, i, j), max(M(points, j, i), 0.0) + max(star[j], 0.0)) for j in active if j != i)
        else:
            gap[i] = star[i]
    return gap, front


def by_clearness(gap: dict[int, float], front: set[int]) -> list[int]:
    """Largest D first; of equals those outside S first, then the first."""
    return sorted(gap, key=lambda i: (-gap[i], i in front, i))


def successive_rejects(arm_count: int, budget: int) -> Iterator[tuple[int, int]]:
    """The pulls that every active arm has at the end of a phase, and how many arms are settled then."""
    total = Fraction(1, 2) + sum(Fraction(1, i) for i in range(2, arm_count + 1))
    for r in range(1, arm_count):
        yield math.ceil((budget - arm_count) / (total * (arm_count + 1 - r))), 1


def sequential_halving(arm_count: int, budget: int) -> Iterator[tuple[int, int]]:
    phases = math.ceil(math.log2(arm_count))
    active, pulls = arm_count, 0
    for _ in range(phases):
        pulls += math.floor(Fraction(budget, active * phases))
        yield pulls, active // 2
        active -= active // 2
    assert active == 1


SCHEDULES = {"ege-sr": successive_rejects, "ege-sh": sequential_halving}


def eliminate(policy: str, draw: Callable[[int], float], arm_count: int, budget: int, rho: float) -> set[int]:
    """A whole run by the definition: two pulls each, the phases while there are pulls, then what is left over."""
    alpha = 1.0 / (3.0 + rho)
    rewards: list[list[float]] = [[] for _ in range(arm_count)]
    left = budget

    def pull(arm: int) -> None:
        nonlocal left
        rewards[arm].append(draw(arm))
        left -= 1

    for arm in list(range(arm_count)) * 2:
        pull(arm)
    circle = itertools.cycle(range(arm_count))
    active, accepted = list(range(arm_count)), set()
    for target, settled in SCHEDULES[policy](arm_count, budget):
        while left and any(len(rewards[arm]) < target for arm in active):
            arm = next(circle)
            if arm in active and len(rewards[arm]) < target:
                pull(arm)
        points = [(float(np.mean(x)), alpha * float(np.var(x) - rho * np.mean(x))) for x in rewards]
        gap, front = gaps_among(points, active)
        for arm in by_clearness(gap, front)[:settled]:
            active.remove(arm)
            accepted |= {arm} & front
    while left:
        pull(min(range(arm_count), key=lambda arm: len(rewards[arm])))
    return accepted | set(active)


class Eliminator:
    """PSI-Unif-Elim with points and radii, as published: after a round, who stays and who is accepted."""

    def __init__(self, arm_count: int, epsilon: float) -> None:
        self.epsilon = epsilon
        self.active = list(range(arm_count))
        self.accepted: set[int] = set()

    def look(self, points: Points, radius: list[float]) -> None:
        def b(i: int, j: int) -> float:
            return radius[i] + radius[j]

        epsilon = self.epsilon
        a1 = [i for i in self.active if all(m(points, i, j) <= b(i, j) for j in self.active if j != i)]
        p1 = [i for i in a1 if all(M(points, i, j) + epsilon >= b(i, j) for j in a1 if j != i)]
        p2 = [j for j in p1 if not any(M(points, i, j) + epsilon <= b(i, j) for i in a1 if i not in p1)]
        self.accepted |= set(p2)
        self.active = [i for i in a1 if i not in p2]


class Explorer(NamedTuple):
    """APE with points and radii, as published."""

    points: Points
    radius: list[float]
    pulls: list[int]
    epsilon: float

    def b(self, i: int, j: int) -> float:
        return self.radius[i] + self.radius[j]

    def others(self, i: int) -> list[int]:
        return [j for j in range(len(self.points)) if j != i]

    def h(self, i: int) -> float:
        return min(M(self.points, i, j) + self.epsilon - self.b(i, j) for j in self.others(i))

    def g(self, i: int) -> float:
        return max(m(self.points, i, j) - self.b(i, j) for j in self.others(i))

    @property
    def front(self) -> list[int]:
        return [i for i in range(len(self.points)) if all(m(self.points, i, j) <= 0 for j in self.others(i))]

    def stops(self) -> bool:
        arms = range(len(self.points))
        return all(self.h(i) >= 0 if i in self.front else max(self.g(i), self.h(i)) >= 0 for i in arms)

    def answer(self) -> set[int]:
        arms = range(len(self.points))
        outside = {i for i in arms if not any(m(self.points, i, j) > self.b(i, j) for j in self.others(i))}
        return set(self.front) | outside

    def decide(self) -> int:
        candidates = [i for i in range(len(self.points)) if self.h(i) <= 0]
        leader = max(candidates, key=lambda i: min(M(self.points, i, j) + self.b(i, j) for j in self.others(i)))
        rival = min(self.others(leader), key=lambda j: M(self.points, leader, j) - self.b(leader, j))
        return rival if self.pulls[rival] < self.pulls[leader] else leader


class VaLucb:
    """VA-LUCB by its description: the arms to pull in each round, and at last the answer, from all rewards kept.

    Bounds of mean and unbiased variance are sqrt(ln(2 N t^4 / delta) / (2 T)) wide; those of an arm that is infeasible
    stay as they are.
    """

    def __init__(self, rewards: list[list[float]], ceiling: float, delta: float) -> None:
        self.rewards, self.ceiling, self.delta = rewards, ceiling, delta
        self.time = len(rewards) - 1
        self.mean: dict[int, tuple[float, float]] = {}
        self.variance: dict[int, tuple[float, float]] = {}
        self.possible = set(range(len(rewards)))
        self.sums = [(0, 0.0, 0.0)] * len(rewards)

    def moments(self, i: int) -> tuple[float, float]:
        """Average and unbiased variance of all rewards of an arm, which are only ever added to."""
        count, total, squares = self.sums[i]
        for value in self.rewards[i][count:]:
            count, total, squares = count + 1, total + value, squares + value * value
        self.sums[i] = count, total, squares
        return total / count, (squares - total * total / count) / (count - 1)

    def round(self) -> tuple[list[int], list[int] | None]:
        """Whom to pull; and the answer, if it is decided."""
        self.time += 1
        for i in self.possible:
            own = self.rewards[i]
            radius = math.sqrt(math.log(2 * len(self.rewards) * self.time**4 / self.delta) / (2 * len(own)))
            average, variance = self.moments(i)
            self.mean[i] = average - radius, average + radius
            self.variance[i] = variance - radius, variance + radius
        self.possible = {i for i in self.possible if self.variance[i][0] <= self.ceiling}
        feasible = [i for i in sorted(self.possible) if self.variance[i][1] <= self.ceiling]
        if feasible:
            best = max(feasible, key=lambda i: self.moments(i)[0])
            if not any(self.mean[i][1] >= self.mean[best][0] for i in self.possible - {best}):
                return [], [best]
        elif not self.possible:
            return [], []
        guess = max(sorted(self.possible), key=lambda i: self.moments(i)[0])
        others = sorted(self.possible - {guess})
        challenger = max(others, key=lambda i: self.mean[i][1]) if others else None
        if challenger is None or self.mean[challenger][1] < self.mean[guess][0]:
            return [guess], None
        return [guess, challenger], None
