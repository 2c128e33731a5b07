"""Spectral risk with steps: a sum of conditional values at risk of several levels, with weights that add up to 1.

So the worst rewards count most, and by how much is stated: as a function of the share of rewards that are worse, the
weight of a reward falls in steps (Acerbi 2002, where any falling spectrum is allowed). Every falling step function is
such a sum; a smooth spectrum is not, and can only be approached by steps, of which there may be eight.

The interval is made of the intervals of the tail means (cvar.py), each at the level L + ln m where there are m of them:
then all of them hold at once but for a chance of e^-L on either side. All are read from the same cells. The spread is
that of w = the weighted sum of (z_k - X)+ / level_k: with z_j <= z_k the product of two of these has the sum
S_j + (z_k - z_j) s_j, where s_j and S_j are the sums of (z_j - x)+ and of its squares.

A single level is `cvar` in all respects, and has its kernels. For normal rewards every tail mean is so many deviations
from the mean, and so is a weighted sum of them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ramgape.assumptions import ASSUMPTIONS
from ramgape.common.checks import check_number
from ramgape.core.box import narrow_risk
from ramgape.core.kernel import Kernel, kernel
from ramgape.core.table import PROBLEM
from ramgape.errors import InvalidSpec, require, shorten
from ramgape.risks import cvar
from ramgape.risks.cells import CELLS, COLUMNS, WIDTH, remember, remember_unranged, value_at
from ramgape.risks.cvar import ENOUGH, ERROR, FOUND, LEVEL, CVaR, lowest_share, normal_risk, normal_spread, tail_ends
from ramgape.risks.measure import Learning, Measure
from ramgape.risks.table import risk_notation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ramgape.problems.distributions import Distribution

MOST_STEPS = PROBLEM["risk_levels"].shape[0]
# Behind what `cvar` writes, for each step: tail mean and quantile of the rewards, the sums of (z - x)+ and its squares;
# the lower end of the tail mean's interval, and how far the upper end is from the top.
STEPS, STEP = COLUMNS + FOUND, 6
ROUNDING, NORMALISED = 1e-9, 1e-12  # by which weights may miss 1 as they are typed, and once they have been divided


@kernel
def estimate(row, past, problem):
    """The weighted sum of tail means; how its spread grows is taken to be the sum, too, of how that of each does."""
    count = float(row.pulls)
    risk, spread, skew = 0.0, 0.0, 0.0
    for step in range(MOST_STEPS):
        weight, level = problem.risk_weights[step], problem.risk_levels[step]
        if weight == 0.0:
            break
        tail, quantile, short, squares = lowest_share(past, level, count)
        at = STEPS + STEP * step
        past[at], past[at + 1], past[at + 2], past[at + 3] = tail, quantile, short, squares
        share = weight / level
        risk += weight * value_at(past, tail)
        spread += share * share * max(squares / count - (short / count) ** 2, 0.0)
        skew += 3.0 * share * short / (level * count) if level * count >= 2.0 else math.inf
        for lower in range(step):
            before = STEPS + STEP * lower
            product = past[before + 3] + (quantile - past[before + 1]) * past[before + 2]
            covariance = product / count - (short / count) * (past[before + 2] / count)
            spread += 2.0 * share * problem.risk_weights[lower] / problem.risk_levels[lower] * covariance
    row.risk = -problem.alpha * risk
    row.risk_spread = (problem.alpha * past[WIDTH]) ** 2 * max(spread, 0.0)
    row.risk_skew = problem.alpha * past[WIDTH] * skew


@kernel
def narrow(row, past, search, problem):
    """The interval of the risk, from those of the tail means. One that has become empty stays as it was: a miss."""
    count, unit, low, high, steps = float(row.pulls), problem.alpha * past[WIDTH], 0.0, 0.0, 0
    while steps < MOST_STEPS and problem.risk_weights[steps] > 0.0:
        steps += 1
    past[ENOUGH] = row.level + math.log(steps)
    for step in range(steps):
        past[LEVEL], at = problem.risk_levels[step], STEPS + STEP * step
        spread = max(past[at + 3] / count - (past[at + 2] / count) ** 2, 0.0)
        past[ERROR] = math.sqrt(spread / count) / past[LEVEL]
        ends = tail_ends(row, past, problem, past[at], past[at + 4], CELLS - past[at + 5])
        if ends[0] > ends[1]:
            search.misses += 1
        else:
            past[at + 4], past[at + 5] = ends[0], CELLS - ends[1]
        low += problem.risk_weights[step] * past[at + 4]
        high += problem.risk_weights[step] * (CELLS - past[at + 5])
    narrow_risk(row, search, -unit * high, -unit * low)


@dataclass(frozen=True)
class Spectral(Measure):
    """A sum of conditional values at risk, each times a weight, in reward units.

    Args:
        steps: For each level, the share of the worst rewards that are averaged, its weight: a mapping, or pairs. The
            weights are positive and add up to 1; there are at most eight. In ascending order of levels afterwards.

    Examples:
        >>> Spectral({0.25: 0.7, 0.05: 0.3})
        Spectral(steps=((0.05, 0.3), (0.25, 0.7)))
        >>> str(Spectral({0.05: 0.3, 0.25: 0.7}))
        'spectral:0.05=0.3,0.25=0.7'
    """

    name = "spectral"
    normal_risk, normal_spread = staticmethod(normal_risk), staticmethod(normal_spread)
    steps: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        given: Any = self.steps
        pairs = list(given.items() if isinstance(given, Mapping) else given if isinstance(given, list | tuple) else ())
        sound = all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs)
        allowed = f"from 1 to {MOST_STEPS} levels, each with a weight, such as {{0.05: 0.3, 0.25: 0.7}}"
        require(sound and 1 <= len(pairs) <= MOST_STEPS, "the steps of risk spectral", allowed, given)
        checked = {_level(level): _weight(weight) for level, weight in pairs}
        require(len(checked) == len(pairs), "the levels of risk spectral", "different from each other", given)
        total = math.fsum(checked.values())
        require(abs(total - 1.0) <= ROUNDING, "the sum of the weights of risk spectral", "1", total)
        scale = 1.0 if abs(total - 1.0) <= NORMALISED else total
        object.__setattr__(self, "steps", tuple((level, weight / scale) for level, weight in sorted(checked.items())))

    @classmethod
    def parse(cls, text: str) -> Spectral:
        """Pairs as they are typed, LEVEL=WEIGHT,...

        Args:
            text: With the name before it.
        """
        try:
            parts = [part.split("=") for part in text.partition(":")[2].split(",")]
            pairs = tuple((float(level), float(weight)) for level, weight in parts)
        except ValueError:
            allowed = f"written {risk_notation(cls.name)}, such as spectral:0.05=0.3,0.25=0.7"
            raise InvalidSpec(what="risk", allowed=allowed, given=shorten(text)) from None
        return cls(pairs)

    @property
    def parameters(self) -> dict[str, Any]:
        return {"steps": [list(step) for step in self.steps]}

    @property
    def exact(self) -> str:
        return f"{self.name}:" + ",".join(f"{level!r}={weight!r}" for level, weight in self.steps)

    def __str__(self) -> str:
        return f"{self.name}:" + ",".join(f"{level:.12g}={weight:.12g}" for level, weight in self.steps)

    def formula(self, costs: bool) -> str:
        which = "highest" if costs else "lowest"
        parts = [f"{weight:g} mean of the {which} {100 * level:g}%" for level, weight in self.steps]
        return " + ".join(parts) + ("" if costs else ", negated")

    def label(self, costs: bool) -> str:
        levels = [f"{100 * level:g} %" for level, _ in self.steps]
        if len(levels) == 1:
            return f"average of the worst {levels[0]}"
        return f"weighted worst {levels[0]} {'and' if len(levels) == 2 else 'to'} {levels[-1]}"

    def shown(self, value: float, costs: bool = False) -> float:
        return value if costs else 0.0 - value

    def value_of(self, distribution: Distribution) -> float:
        return math.fsum(weight * CVaR(level).value_of(distribution) for level, weight in self.steps)

    def value_in(self, rewards: NDArray[np.float64]) -> float:
        return math.fsum(weight * CVaR(level).value_in(rewards) for level, weight in self.steps)

    def write(self, problem: Any) -> None:
        deviations = 0.0
        for place, (level, weight) in enumerate(self.steps):
            problem["risk_levels"][place], problem["risk_weights"][place] = level, weight
            CVaR(level).write(problem)
            deviations += weight * problem["risk_parameters"][1]
        # The level by which cells without a range are laid out is that of the smallest share on either side.
        narrowest = min((level for level, _ in self.steps), key=lambda level: min(level, 1.0 - level))
        problem["risk_parameters"] = narrowest, deviations, 0.0

    def kernels(self, assumption: str) -> Learning:
        if len(self.steps) == 1:
            return CVaR(self.steps[0][0]).kernels(assumption)
        if ASSUMPTIONS[assumption].normal:
            return super().kernels(assumption)
        found = FOUND + STEP * len(self.steps)
        if ASSUMPTIONS[assumption].ranged:
            return Learning(COLUMNS + found, remember, estimate, narrowed=found)
        return Learning(COLUMNS + found, remember_unranged, estimate)  # the first rewards are kept where nodes would be

    def narrow(self, interval: Kernel) -> Kernel:
        return cvar.narrow if len(self.steps) == 1 else narrow


def _level(value: object) -> float:
    allowed = "a number from 1e-6 to 1"
    return check_number(value, "each level of risk spectral", allowed, lambda given: 1e-6 <= given <= 1.0)


def _weight(value: object) -> float:
    return check_number(value, "each weight of risk spectral", "a positive number", lambda given: given > 0.0)
