"""Entropic value at risk: the least of (ln E exp(-g X) - ln level) / g over all g > 0 (Ahmadi-Javid 2012).

It is the worst mean of the rewards under all distributions whose relative entropy to the true one is at most
ln(1 / level): at least `cvar` of that level, and at most minus the worst reward. The least is at the g where the
entropy of the tilted distribution, g L'(g) - L(g) with L(g) = ln E exp(-g X), is ln(1 / level). For rewards in [0, 1]
that entropy is at most g^2 / 8 and at most g, so that g is not below the larger of sqrt(8 ln(1 / level)) and
ln(1 / level); and it is infinite, the risk being minus the worst reward, if that has a probability of `level` or more.

An arm remembers the sums of W = exp(-g x), of W^2 and of x W at 48 nodes g, in equal ratios up to 300.

From above. If the risk is at least c, then E W >= m = level exp(g c) for EVERY g. So y = m - W has no positive mean and
is at least -(1 - m), and the mean of the mixtures of mixture.py over the nodes is a test supermartingale. Their
scales must go with the size of W, which may be tiny: they are fixed in each of 64 bands of c. A search goes through the
bands from above and enters one only if the lower end of the one before was rejected with the scales of that. So if a c
below the truth is ever rejected, one is with the scales of the band of the truth, which has a chance of e^-L.

From below. If the risk is at most c, then E W <= m for ONE g, which is a fixed one though nobody knows it: c is
rejected if there is evidence enough at every g. With z = W / m - 1, which has no positive mean there and is at least
-1, the scales are fixed numbers; and moving c up, away from the truth, makes every 1 + l z smaller, so that a search
over c is allowed. Half of the stake is on z at g itself. Between two nodes ln of the sum of W, which is convex in g, is
at least its tangents at both, and ln of the sum of W^2, convex as well, at most its chord. The other half is spread
evenly on the nodes h <= g: by Jensen's inequality E exp(-h X) <= (level exp(g c))^(h / g), most for the largest g of a
cell. They serve where g is so large that sums of W hang on single rewards, and beyond the last node, where only
exp(h c) is left of it. A node that suffices in one cell suffices in all cells between them.

What it costs: at g the mean of W hangs on rewards near the worst possible one, and nobody who has seen n rewards can
exclude bad ones of probability 1 / n. So intervals are about twice as wide as the central limit theorem would have them
if rewards come near the worst end of the range, and ten to thirty times if they do not. That is in the question and not
in the bound; `cvar` does not ask it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ramgape.assumptions import ASSUMPTIONS
from ramgape.core.box import narrow_risk
from ramgape.core.kernel import Kernel, fixed, inlined, kernel
from ramgape.risks.cvar import normal_risk, normal_spread
from ramgape.risks.measure import Learning, Measure
from ramgape.statistics.inversion import SAFETY, innermost
from ramgape.statistics.mixture import log_evidence

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from ramgape.problems.distributions import Distribution

NODES = 48
MOST_GAMMA = 300.0  # the squares of exp(-gamma) are floats still
GAMMA, SUM, SQUARES, PRODUCTS, WORST = 0, NODES, 2 * NODES, 3 * NODES, 4 * NODES  # of the memory
COLUMNS = WORST + 1
BAND, HINT = COLUMNS, COLUMNS + 1  # in which the search from above stands; a node that sufficed before, plus 1
FOUND = 2
PARTS = 4  # of the way from one node to the next that are looked at by themselves
TOO_LITTLE = 8.0  # evidence that is so far below what rejects need not be added up
BANDS = 64
SCALES = (30.0, 1000.0)  # of mixtures, for W / m: sums of squares that they are made for
GOLDEN, SECTIONS = 0.5 * (math.sqrt(5.0) - 1.0), 80
FARTHEST = 1e8  # times one over the range: no g of a sample is looked for beyond


@kernel
def remember(row, past, problem, value):
    """Add a reward to the sums at every node."""
    if row.pulls == 0:
        first, gamma = problem.risk_parameters[2], problem.risk_parameters[2]
        ratio = (MOST_GAMMA / first) ** (1.0 / (NODES - 1))
        for node in range(NODES):
            past[GAMMA + node] = min(gamma, MOST_GAMMA)
            gamma *= ratio
        past[WORST] = value
    past[WORST] = min(past[WORST], value)
    for node in range(NODES):
        weight = math.exp(-past[GAMMA + node] * value)
        past[SUM + node] += weight
        past[SQUARES + node] += weight * weight
        past[PRODUCTS + node] += value * weight


@inlined
def entropy_at(past, count, node):
    """Of the tilted rewards, relative to the rewards; it grows with the node."""
    total = past[SUM + node]
    return -past[GAMMA + node] * past[PRODUCTS + node] / total - math.log(total / count)


@inlined
def cubic_between(past, count, node, part):
    """g, and ln of the average of W there: a part of the way from a node to the next, by a cubic."""
    left, right = past[GAMMA + node], past[GAMMA + node + 1]
    one, two = math.log(past[SUM + node] / count), math.log(past[SUM + node + 1] / count)
    first = -past[PRODUCTS + node] / past[SUM + node] * (right - left)
    second = -past[PRODUCTS + node + 1] / past[SUM + node + 1] * (right - left)
    rest = 1.0 - part
    value = one + (two - one) * part * part * (3.0 - 2.0 * part) + part * rest * (first * rest - second * part)
    return left + part * (right - left), value


@inlined
def relative_squares(past, count, node):
    """The average of W^2 in units of the squared average of W."""
    return past[SQUARES + node] * count / (past[SUM + node] * past[SUM + node])


@kernel
def estimate(row, past, problem):
    """The risk of the rewards themselves, and the variance of W over (g E W)^2, both at the g of the least."""
    distance, count = problem.risk_parameters[0], float(row.pulls)
    low, high = 0, NODES - 1
    if entropy_at(past, count, high) <= distance:
        gamma, logarithm = past[GAMMA + high], math.log(past[SUM + high] / count)
        squares = relative_squares(past, count, high)
    else:
        while high - low > 1:
            middle = (low + high) // 2
            if entropy_at(past, count, middle) <= distance:
                low = middle
            else:
                high = middle
        lower, upper = entropy_at(past, count, low), entropy_at(past, count, high)
        part = min(max((distance - lower) / max(upper - lower, 1e-300), 0.0), 1.0)
        gamma, logarithm = cubic_between(past, count, low, part)
        squares = (1.0 - part) * relative_squares(past, count, low) + part * relative_squares(past, count, high)
    risk = min((logarithm + distance) / gamma, -past[WORST])
    row.risk = problem.alpha * max(risk, -row.average)
    row.risk_spread = (problem.alpha / gamma) ** 2 * max(squares - 1.0, 0.0)


@inlined
def evidence_if_any(total, squares, reach, scales, level):
    """That a mean is above 0, from sums; nothing where it cannot be much: e - ln(1 + e) <= e^2 / 2."""
    if total * total < 2.0 * (level - TOO_LITTLE) * (squares + scales[0]):
        return -math.inf
    return log_evidence(total, squares, squares, reach, scales)


@kernel
def is_too_high(row, past, problem, risk):
    """Whether the risk is below this, by the evidence at the nodes together, with the scales of the band."""
    distance, count = problem.risk_parameters[0], float(row.pulls)
    most, parts = -math.inf, 0.0
    for node in range(NODES):
        gamma, seen = past[GAMMA + node], past[SUM + node]
        mean = math.exp(gamma * risk - distance)
        total = count * mean - seen
        if total > 0.0:
            squares = max(count * mean * mean - 2.0 * mean * seen + past[SQUARES + node], total * total / count)
            size = math.exp(-gamma * (past[BAND] + 0.5) / BANDS - distance) ** 2
            scales = SCALES[0] * size, SCALES[1] * size
            term = evidence_if_any(total, squares * SAFETY, 1.0 - mean, scales, row.level)
            if term > most:
                parts = 1.0 + parts * math.exp(most - term)
                most = term
            elif term > -math.inf:
                parts += math.exp(term - most)
    return parts > 0.0 and most + math.log(parts / NODES) >= row.level


@inlined
def relative_evidence(count, log_total, log_squares, level):
    """That W / m has a mean above 1, where at least the one and at most the other are known of its sums."""
    seen = math.exp(log_total)
    total = seen - count
    if total <= 0.0:
        return -math.inf
    squares = max(math.exp(log_squares) - 2.0 * seen + count, total * total / count) * SAFETY
    return evidence_if_any(total, squares, 1.0, SCALES, level)


@inlined
def evidence_at(past, count, distance, risk, node, largest, level):
    """At a node, of what Jensen's inequality says there of any g up to the largest."""
    gamma = past[GAMMA + node]
    shift = distance * gamma / largest - gamma * risk
    squares = math.log(past[SQUARES + node]) + 2.0 * shift
    return relative_evidence(count, math.log(past[SUM + node]) + shift, squares, level)


@inlined
def higher_line(one, rise, two, fall, width, place):
    """The higher of two tangents of ln of the sum of W / m, at a distance from the first node."""
    return max(one + rise * place, two - fall * (width - place))


@kernel
def evidence_between(past, count, distance, risk, left, level):
    """At any g between a node and the next, on W at that g itself: the least of that in a few parts of the way."""
    right, width = left + 1, past[GAMMA + left + 1] - past[GAMMA + left]
    one = math.log(past[SUM + left]) - past[GAMMA + left] * risk + distance
    two = math.log(past[SUM + right]) - past[GAMMA + right] * risk + distance
    rise = -past[PRODUCTS + left] / past[SUM + left] - risk
    fall = -past[PRODUCTS + right] / past[SUM + right] - risk
    crossing = (two - one - fall * width) / (rise - fall) if rise < fall else 0.0
    squares = math.log(past[SQUARES + left]) - 2.0 * past[GAMMA + left] * risk + 2.0 * distance
    slope = math.log(past[SQUARES + right]) - 2.0 * past[GAMMA + right] * risk + 2.0 * distance - squares
    least = math.inf
    for part in range(PARTS):
        start, end = width * part / PARTS, width * (part + 1) / PARTS
        total = min(
            higher_line(one, rise, two, fall, width, start),
            higher_line(one, rise, two, fall, width, end),
            higher_line(one, rise, two, fall, width, min(max(crossing, start), end)),
        )
        most = squares + max(slope * part, slope * (part + 1)) / PARTS
        least = min(least, relative_evidence(count, total, most, level))
        if least == -math.inf:
            break
    return least


@kernel
def sufficient_node(past, count, distance, risk, end, own, level):
    """A node below `end` that rejects the cell there by itself; `end` if all and its own evidence do so together."""
    largest = past[GAMMA + end] if end < NODES else math.inf
    alone, hint = level + math.log(2.0 * end), int(past[HINT]) - 1
    if 0 <= hint < end and evidence_at(past, count, distance, risk, hint, largest, level) >= alone:
        return hint
    most, parts = own + math.log(end), 1.0 if own > -math.inf else 0.0
    for node in range(end):
        term = evidence_at(past, count, distance, risk, node, largest, level)
        if term >= alone:
            past[HINT] = node + 1.0
            return node
        if term > most:
            parts = 1.0 + parts * math.exp(most - term)
            most = term
        elif term > -math.inf:
            parts += math.exp(term - most)
    return end if parts > 0.0 and most + math.log(parts) >= alone else -1


@kernel
def is_too_low(row, past, problem, risk):
    """Whether the risk is above this: no g is left that would allow it."""
    distance, count = problem.risk_parameters[0], float(row.pulls)
    end = NODES  # of the cells that are left: beyond the last node is one, too
    while end > 0:
        own = -math.inf
        if end < NODES:
            if past[GAMMA + end] * (1.0 + risk) < distance:
                return True  # no rewards in [0, 1] have so small a mean of W, here and for any smaller g
            own = evidence_between(past, count, distance, risk, end - 1, row.level)
        found = end
        if own < row.level + math.log(2.0):
            found = sufficient_node(past, count, distance, risk, end, own, row.level)
            if found < 0:
                return False
        end = found if found < end else end - 1
    return True


lowest_risk, highest_risk = fixed(innermost, is_too_low), fixed(innermost, is_too_high)


@kernel
def narrow(row, past, search, problem):
    """The interval of the risk."""
    unit = problem.alpha
    low, high, estimated = row.risk_low / unit, row.risk_high / unit, row.risk / unit
    if estimated > low:
        low = lowest_risk(row, past, problem, estimated, low)
    while estimated < high:
        past[BAND] = math.floor(-high * BANDS)
        bottom = -(past[BAND] + 1.0) / BANDS
        if bottom <= estimated or not is_too_high(row, past, problem, bottom):
            high = highest_risk(row, past, problem, max(estimated, bottom), high)
            break
        high = bottom
    narrow_risk(row, search, unit * max(low, -row.mean_high), unit * high)


def least_over(function: Callable[[float], float], low: float, high: float) -> float:
    """The least value of a function that falls and then rises, between two, by golden sections of the logarithm."""
    left, right = math.log(low), math.log(high)
    inner = [right - GOLDEN * (right - left), left + GOLDEN * (right - left)]
    values = [function(math.exp(each)) for each in inner]
    for _ in range(SECTIONS):
        if values[0] <= values[1]:
            right, inner[1], values[1] = inner[1], inner[0], values[0]
            inner[0] = right - GOLDEN * (right - left)
            values[0] = function(math.exp(inner[0]))
        else:
            left, inner[0], values[0] = inner[0], inner[1], values[1]
            inner[1] = left + GOLDEN * (right - left)
            values[1] = function(math.exp(inner[1]))
    return min(values)


@dataclass(frozen=True)
class EVaR(Measure):
    """The least of (ln E exp(-g X) - ln level) / g over all g > 0, in reward units.

    Args:
        level: For one near 1 it is minus the mean, for a small one it goes towards the worst case.
    """

    name = "evar"
    dear = (
        "an entropic value at risk hangs on rewards that are too rare to be seen: unless rewards come near the worst "
        "end of the range its intervals are ten to thirty times as wide as those of its estimate; cvar asks for less"
    )
    normal_risk, normal_spread = staticmethod(normal_risk), staticmethod(normal_spread)
    level: float = 0.1

    def __post_init__(self) -> None:
        self._check("level", "a number from 1e-6 to 0.999", 1e-6, 0.999)

    @property
    def distance(self) -> float:
        """Which relative entropy is allowed."""
        return -math.log(self.level)

    def formula(self, costs: bool) -> str:
        return f"least (ln E exp({'' if costs else '-'}g X) - ln {self.level:g}) / g over g > 0"

    def label(self, costs: bool) -> str:
        return f"entropic value at risk ({100 * self.level:g} %)"

    def value_of(self, distribution: Distribution) -> float:
        if distribution.support is None:  # the normal distribution
            return super().value_of(distribution)
        return self._least(*distribution.support, distribution.log_laplace)

    def value_in(self, rewards: NDArray[np.float64]) -> float:
        low = float(rewards.min())

        def log_laplace(gamma: float) -> float:
            return float(np.log(np.exp(-gamma * (rewards - low)).mean())) - gamma * low

        return self._least(low, float(rewards.max()), log_laplace)

    def _least(self, low: float, high: float, log_laplace: Callable[[float], float]) -> float:
        if low == high:
            return -low
        first, span = first_gamma(self.distance), high - low
        found = least_over(lambda g: (log_laplace(g) + self.distance) / g, first / span, FARTHEST / span)
        return min(found, -low)

    def write(self, problem: Any) -> None:
        distance = self.distance
        problem["risk_parameters"] = distance, math.sqrt(2.0 * distance), first_gamma(distance)

    def kernels(self, assumption: str) -> Learning:
        if ASSUMPTIONS[assumption].normal:
            return super().kernels(assumption)
        return Learning(COLUMNS + FOUND, remember, estimate, narrowed=FOUND)

    def narrow(self, interval: Kernel) -> Kernel:
        return narrow


def first_gamma(distance: float) -> float:
    """For rewards in [0, 1] no smaller g has the least."""
    return max(math.sqrt(8.0 * distance), distance)
