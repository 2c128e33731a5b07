"""The distributions that rewards can follow, each with the true values of its mean and of all its risks.

    Beta(a, b)               on [0, 1], or on [low, high]
    Bernoulli(p)             high with probability p, otherwise low; 1 and 0 unless stated
    Uniform(low, high)
    Data(values)             recorded rewards, drawn again with replacement
    Gaussian(mean, variance) without bounds
    Drawn(draw)              whatever a function of a generator returns; its truth is estimated

What each of them knows stands in `distribution`, those with long tails in `unbounded`, mixtures in `mixtures`; `kinds`
has all by their names. How rewards are drawn in compiled loops stands in `environments`.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ramgape.common.checks import SMALLEST
from ramgape.errors import InvalidInstance, require
from ramgape.problems.distribution import Distribution as Distribution
from ramgape.problems.distribution import Floats
from ramgape.problems.parameters import (
    at_share,
    checked_gamma,
    checked_level,
    checked_shares,
    checked_target,
    mirrored_interval,
    ordered_ends,
    parameter,
)
from ramgape.statistics import special

SAMPLED = 100_000  # rewards that stand for a distribution of which nothing else is known


def about_mean(target: float, mean: float, variance: float) -> float:
    """E((target - X)^2): the semivariance of whatever cannot pass the target."""
    return (target - mean) * (target - mean) + variance


@dataclass(frozen=True)
class Beta(Distribution):
    """The Beta distribution, stretched from [0, 1] to another range if need be.

    Args:
        a, b: Its shapes.
        low, high: The range.

    Examples:
        >>> Beta(2, 3).mean, Beta(2, 3).variance
        (0.4, 0.04)
    """

    kind = "beta"
    a: float
    b: float
    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        a, b = parameter("a", self.a, SMALLEST), parameter("b", self.b, SMALLEST)
        low, high = ordered_ends(self.low, self.high)
        self._settle(a=a, b=b, low=low, high=high)

    @property
    def mean(self) -> float:
        return at_share(self.a / (self.a + self.b), self.low, self.high)

    @property
    def variance(self) -> float:
        # one quotient after the other: the product (a + b)^2 (a + b + 1) would lose small shapes
        total = self.a + self.b
        return (self.high - self.low) ** 2 * ((self.a / total) * (self.b / total) / (total + 1.0))

    @property
    def skewness(self) -> float:
        total = self.a + self.b
        return 2.0 * (self.b - self.a) / (total + 2.0) * math.sqrt((total + 1.0) / self.a / self.b)

    @property
    def kurtosis(self) -> float:
        a, b = self.a, self.b
        total = a + b
        return 3.0 + 6.0 * ((a - b) ** 2 * ((total + 1.0) / (a * b)) - total - 2.0) / ((total + 2.0) * (total + 3.0))

    @property
    def support(self) -> tuple[float, float]:
        return self.low, self.high

    def quantile(self, shares: Floats) -> Floats:
        shares = checked_shares(shares)
        inverse = functools.partial(special.inverse_incomplete_beta, self.a, self.b)
        places = [inverse(share)[0] if 0.0 < share < 1.0 else share for share in shares.tolist()]
        return self.low + (self.high - self.low) * np.array(places)

    def _cumulative(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return (
            special.incomplete_beta(self.a, self.b, share, 1.0 - share)[0] if 0.0 < share < 1.0 else float(share >= 1.0)
        )

    def mirrored(self) -> Beta:
        return Beta(self.b, self.a, *mirrored_interval(self.low, self.high))

    def semivariance(self, target: float) -> float:
        target = checked_target(target)
        if target >= self.high:
            return about_mean(target, self.mean, self.variance)
        span = self.high - self.low
        below, above = (target - self.low) / span, (self.high - target) / span
        return span * span * special.beta_shortfall(self.a, self.b, below, above)

    def log_laplace(self, gamma: float) -> float:
        # about the mean where little happens, so that no digits of a small gamma are lost; else from the worst end
        gamma = checked_gamma(gamma)
        stretched = gamma * (self.high - self.low)
        centred = special.centred_beta_log_laplace(self.a, self.b, stretched)
        if centred is not None:
            return -gamma * self.mean + centred
        return -gamma * self.low + special.beta_log_laplace(self.a, self.b, stretched)

    def tail_mean(self, level: float) -> float:
        """The tail below the quantile x: E(B; B < x) is the mean times I_x(a + 1, b), DLMF 8.17.20.

        The tail that the rounded quantile cuts off is not quite `level`: what is missing lies at the quantile.

        >>> Beta(2, 1).tail_mean(1.0)
        0.6666666666666666
        """
        level = checked_level(level)
        if level == 1.0:
            return self.mean
        a, b = self.a, self.b
        x, y = special.inverse_incomplete_beta(a, b, level)
        cut_off = special.incomplete_beta(a, b, x, y)[0]
        below = a / (a + b) * special.incomplete_beta(a + 1.0, b, x, y)[0]
        share = below / level + x * ((level - cut_off) / level)
        return min(at_share(max(share, 0.0), self.low, self.high), self.mean)


@dataclass(frozen=True)
class Bernoulli(Distribution):
    """One of two rewards.

    Args:
        p: The probability of `high`; otherwise it is `low`.

    Examples:
        >>> Bernoulli(0.25, low=0, high=4).mean
        1.0
    """

    kind = "bernoulli"
    p: float
    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        p = parameter("p", self.p, 0.0, 1.0)
        low, high = ordered_ends(self.low, self.high)
        self._settle(p=p, low=low, high=high)

    @property
    def mean(self) -> float:
        return at_share(self.p, self.low, self.high)

    @property
    def variance(self) -> float:
        return (self.high - self.low) ** 2 * (self.p * (1.0 - self.p))

    @property
    def support(self) -> tuple[float, float]:
        return self.low, self.high

    def quantile(self, shares: Floats) -> Floats:
        return np.where(checked_shares(shares) > 1.0 - self.p, self.high, self.low)

    def _cumulative(self, value: float) -> float:
        return 1.0 if value >= self.high else 1.0 - self.p if value >= self.low else 0.0

    def expectation(self, function: Callable[[Floats], Floats]) -> float:
        require(callable(function), "function", "a function of an array", function)
        lost, won = function(np.array([self.low, self.high])).tolist()
        return float((1.0 - self.p) * lost + self.p * won)

    def mirrored(self) -> Bernoulli:
        return Bernoulli(1.0 - self.p, *mirrored_interval(self.low, self.high))

    def semivariance(self, target: float) -> float:
        target = checked_target(target)
        lost, won = max(target - self.low, 0.0), max(target - self.high, 0.0)
        return (1.0 - self.p) * lost * lost + self.p * won * won

    def log_laplace(self, gamma: float) -> float:
        gamma, p = checked_gamma(gamma), self.p
        stretched = gamma * (self.high - self.low)
        if stretched <= 1.0:
            lost, won = special.expm1_minus(stretched * p), special.expm1_minus(-stretched * (1.0 - p))
            return -gamma * self.mean + math.log1p((1.0 - p) * lost + p * won)
        missed = -p * math.expm1(-stretched)
        if missed < 0.5:
            return -gamma * self.low + math.log1p(-missed)
        if stretched < 700.0:
            return -gamma * self.low + math.log((1.0 - p) + p * math.exp(-stretched))
        return -gamma * self.low + math.log(1.0 - p) if p < 1.0 else -gamma * self.high

    def tail_mean(self, level: float) -> float:
        """The worst share holds all of `low` before any of `high`.

        >>> Bernoulli(0.75).tail_mean(0.5)
        0.5
        """
        level = checked_level(level)
        # of the two orders to subtract in, the one whose 1 - ... is exact
        won = self.p - (1.0 - level) if level >= 0.5 else level - (1.0 - self.p)
        return at_share(max(won, 0.0) / level, self.low, self.high)


@dataclass(frozen=True)
class Uniform(Distribution):
    """Every reward in a range is as likely as any other.

    Args:
        low, high: The range.

    Examples:
        >>> Uniform(0, 6).variance
        3.0
    """

    kind = "uniform"
    low: float
    high: float

    def __post_init__(self) -> None:
        low, high = ordered_ends(self.low, self.high)
        self._settle(low=low, high=high)

    @property
    def mean(self) -> float:
        return at_share(0.5, self.low, self.high)

    @property
    def variance(self) -> float:
        return (self.high - self.low) ** 2 / 12.0

    @property
    def support(self) -> tuple[float, float]:
        return self.low, self.high

    def quantile(self, shares: Floats) -> Floats:
        return self.low + (self.high - self.low) * checked_shares(shares)

    def _cumulative(self, value: float) -> float:
        return min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)

    def mirrored(self) -> Uniform:
        return Uniform(*mirrored_interval(self.low, self.high))

    def semivariance(self, target: float) -> float:
        target = checked_target(target)
        if target >= self.high:
            return about_mean(target, self.mean, self.variance)
        below = max(target - self.low, 0.0)
        return below * below * (below / (self.high - self.low)) / 3.0

    def log_laplace(self, gamma: float) -> float:
        gamma = checked_gamma(gamma)
        stretched = gamma * (self.high - self.low)
        if stretched <= 2.0:  # ln(sinh(h) / h) by its series, where h is half of it
            square = stretched * stretched / 4.0
            term, excess = 1.0, 0.0
            for order in range(2, 32, 2):
                term *= square / (order * (order + 1))
                excess += term
            return -gamma * self.mean + math.log1p(excess)
        return -gamma * self.low + math.log(-math.expm1(-stretched)) - math.log(stretched)

    def tail_mean(self, level: float) -> float:
        return at_share(0.5 * checked_level(level), self.low, self.high)


@dataclass(frozen=True)
class Data(Distribution):
    """Recorded rewards: a draw returns one of them, each as likely as any other.

    The truth is that of the recorded values themselves; the variance is divided by their number.

    Args:
        values: The rewards.

    Examples:
        >>> Data((1, 2, 3, 6)).mean, Data((1, 2, 3, 6)).variance
        (3.0, 3.5)
    """

    kind = "data"
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        given: Any = self.values
        listed = isinstance(given, Iterable) and not isinstance(given, (str, bytes, dict))
        require(listed, "values", "a list of numbers", given, error=InvalidInstance)
        values = tuple(parameter(f"values[{place}]", value) for place, value in enumerate(given))
        require(len(values) > 0, "values", "at least one number", given, error=InvalidInstance)
        self._settle(values=values)

    @functools.cached_property
    def mean(self) -> float:
        # kept between the extremes, so that equal values have exactly that value as mean
        average = math.fsum(self.values) / len(self.values)
        return min(max(average, min(self.values)), max(self.values))

    @functools.cached_property
    def variance(self) -> float:
        # about the mean: E[x^2] - mean^2 would cancel; the second sum corrects for the rounded mean
        distances = [value - self.mean for value in self.values]
        count = len(distances)
        about_mean = math.fsum(distance * distance for distance in distances) / count
        return max(about_mean - (math.fsum(distances) / count) ** 2, 0.0)

    @functools.cached_property
    def support(self) -> tuple[float, float]:
        return min(self.values), max(self.values)

    def quantile(self, shares: Floats) -> Floats:
        # the least value that is enough; a share times their number is meant to be whole where it nearly is
        ranks = np.ceil(checked_shares(shares) * (len(self.values) * (1.0 - 1e-12))).astype(int)
        return np.asarray(np.sort(self.values)[np.maximum(ranks, 1) - 1])

    def _cumulative(self, value: float) -> float:
        return sum(each <= value for each in self.values) / len(self.values)

    def expectation(self, function: Callable[[Floats], Floats]) -> float:
        require(callable(function), "function", "a function of an array", function)
        return math.fsum(function(np.array(self.values)).tolist()) / len(self.values)

    def mirrored(self) -> Data:
        return Data(tuple(0.0 - value for value in self.values))

    def semivariance(self, target: float) -> float:
        target = checked_target(target)
        missing = [target - value for value in self.values if value < target]
        return math.fsum(distance * distance for distance in missing) / len(self.values)

    def log_laplace(self, gamma: float) -> float:
        gamma, count = checked_gamma(gamma), len(self.values)
        low, high = self.support
        if gamma * (high - low) <= 1.0:
            moved = [gamma * (self.mean - value) for value in self.values]
            # the first sum is what the mean lost when it was rounded
            excess = math.fsum(moved) / count + math.fsum(special.expm1_minus(move) for move in moved) / count
            return -gamma * self.mean + math.log1p(excess)
        kept = math.fsum(math.exp(-gamma * (value - low)) for value in self.values)
        return -gamma * low + math.log(kept / count)

    def tail_mean(self, level: float) -> float:
        """The worst values, the last of them in part.

        >>> Data((3, 1, 2, 6)).tail_mean(0.375)
        1.3333333333333333
        """
        level = checked_level(level)
        if level == 1.0:
            return self.mean
        low = self.support[0]
        size = level * len(self.values)
        whole = int(size)
        above = [value - low for value in sorted(self.values)[: whole + 1]]
        if whole < len(above):
            above[whole] *= size - whole
        return min(low + math.fsum(above) / size, self.mean)


@dataclass(frozen=True)
class Scores(Data):
    """The scores of an arm on the items of a test set, in the same order for all arms of an instance.

    Args:
        values: One for each item.
    """

    kind = "scores"


@dataclass(frozen=True)
class Gaussian(Distribution):
    """The normal distribution, by its mean and its variance.

    Args:
        mean, variance: Not the standard deviation.

    Examples:
        >>> Gaussian(0.5, 0.04).support is None
        True
    """

    kind = "gaussian"
    mean: float = dataclasses.field()  # in place of what follows from a quantile
    variance: float = dataclasses.field()

    def __post_init__(self) -> None:
        self._settle(mean=parameter("mean", self.mean), variance=parameter("variance", self.variance, SMALLEST))

    @property
    def skewness(self) -> float:
        return 0.0

    @property
    def kurtosis(self) -> float:
        return 3.0

    @property
    def support(self) -> None:
        return None

    def quantile(self, shares: Floats) -> Floats:
        shares, quantile = checked_shares(shares), special.normal_quantile
        ends = {0.0: -math.inf, 1.0: math.inf}
        places = np.array([ends[share] if share in ends else quantile(share) for share in shares.tolist()])
        return self.mean + math.sqrt(self.variance) * places

    def _cumulative(self, value: float) -> float:
        return special.normal_share((value - self.mean) / self.std)

    def mirrored(self) -> Gaussian:
        return Gaussian(0.0 - self.mean, self.variance)

    def semivariance(self, target: float) -> float:
        distance = (checked_target(target) - self.mean) / math.sqrt(self.variance)
        return self.variance * special.normal_shortfall(distance)

    def log_laplace(self, gamma: float) -> float:
        gamma = checked_gamma(gamma)
        return gamma * (0.5 * gamma * self.variance - self.mean)

    def tail_mean(self, level: float) -> float:
        level = checked_level(level)
        if level == 1.0:
            return self.mean
        density = special.normal_density(special.normal_quantile(level))
        return self.mean - math.sqrt(self.variance) * (density / level)


@dataclass(frozen=True)
class Drawn(Distribution):
    """Whatever a function of a NumPy generator returns: a simulator, a recording, anything.

    Nothing is known of it but what it returns, so its truth is an estimate: that of `SAMPLED` rewards, drawn once with
    a fixed seed. Whatever is compared with that truth is approximate to the same degree.

    Args:
        function: Takes a `numpy.random.Generator` and returns a reward.
    """

    function: Callable[[np.random.Generator], float]

    def draw(self, generator: np.random.Generator) -> float:
        return float(self.function(generator))

    def quantile(self, shares: Floats) -> Floats:
        return self._sample.quantile(shares)

    def expectation(self, function: Callable[[Floats], Floats]) -> float:
        return self._sample.expectation(function)

    def tail_mean(self, level: float) -> float:
        return self._sample.tail_mean(level)

    @functools.cached_property
    def _sample(self) -> Data:
        generator = np.random.default_rng(0)
        return Data(tuple(self.draw(generator) for _ in range(SAMPLED)))
