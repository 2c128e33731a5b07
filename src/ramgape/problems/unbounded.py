"""Distributions with long tails, each with its truths.

    StudentT(df)                symmetric; the fewer degrees of freedom, the heavier both tails
    LogNormal(mu, sigma)        exp(mu + sigma N), where N is a standard normal
    Exponential()
    Gamma(shape)
    Lomax(shape)                Pareto's second kind, "pareto" in files: P(Z > z) = (1 + z)^-shape for z >= 0

Every one is location + scale Z, where Z is the standard form above; a negative scale turns it round, so that the long
tail is that of losses. Pareto's first kind, with least value s, has location = scale = s. A distribution without a
variance is refused: every search is about the spread of rewards, too.

All truths come from the moments of Z below a point, and above it: P(Z <= z), E(Z; Z <= z) and E(Z^2; Z <= z).
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ramgape.common.checks import LARGEST, SMALLEST, as_float
from ramgape.errors import InvalidInstance, InvalidSpec, require
from ramgape.problems.distribution import Distribution, Floats
from ramgape.problems.parameters import (
    checked_gamma,
    checked_level,
    checked_shares,
    checked_target,
    parameter,
)
from ramgape.statistics import special

Moments = tuple[float, float, float, float]  # mean, variance, skewness, kurtosis
Partial = tuple[float, float, float]  # the share, the mean and the mean square of what lies on one side of a point

MOST_SHAPE = 1e6  # of a Gamma distribution; a normal one is as good beyond


class Shifted(Distribution):
    """location + scale Z: a subclass says what Z is."""

    location: float
    scale: float

    def _standard_moments(self) -> Moments:
        """What is known of Z."""
        raise NotImplementedError

    def _standard_quantile(self, share: float, above: bool) -> float:
        """Where Z has such a share, between 0 and 1, below it, or above it."""
        raise NotImplementedError

    def _below(self, place: float) -> Partial:
        """The moments of Z up to a place."""
        raise NotImplementedError

    def _above(self, place: float) -> Partial:
        """The moments of Z beyond a place."""
        raise NotImplementedError

    def _log_mean_exp(self, order: float) -> float | None:
        """ln E exp(order Z), or None where that is infinite."""
        raise NotImplementedError

    def _settle_scale(self) -> None:
        scale = as_float(self.scale)
        usable = SMALLEST <= abs(scale) <= LARGEST
        allowed = f"a number from {SMALLEST:g} to {LARGEST:g} in size, negative for a long tail of losses"
        require(usable, "scale", allowed, self.scale, error=InvalidInstance)
        self._settle(location=parameter("location", self.location), scale=scale)
        sound = math.isfinite(self.mean) and math.isfinite(self.variance)
        require(sound, "mean and variance", "numbers", (self.mean, self.variance), error=InvalidInstance)

    @property
    def mean(self) -> float:
        return self.location + self.scale * self._standard_moments()[0]

    @property
    def variance(self) -> float:
        return self.scale * self.scale * self._standard_moments()[1]

    @property
    def skewness(self) -> float:
        return math.copysign(1.0, self.scale) * self._standard_moments()[2]

    @property
    def kurtosis(self) -> float:
        return self._standard_moments()[3]

    @property
    def support(self) -> None:
        return None

    def quantile(self, shares: Floats) -> Floats:
        low, high = self._standard_ends()
        turned = self.scale < 0.0
        ends = {0.0: high, 1.0: low} if turned else {0.0: low, 1.0: high}
        listed = checked_shares(shares).tolist()
        places = [ends[share] if share in ends else self._standard_quantile(share, turned) for share in listed]
        return self.location + self.scale * np.array(places)

    def _standard_ends(self) -> tuple[float, float]:
        return 0.0, math.inf

    def _cumulative(self, value: float) -> float:
        place = (value - self.location) / self.scale
        return self._above(place)[0] if self.scale < 0.0 else self._below(place)[0]

    def mirrored(self) -> Distribution:
        return dataclasses.replace(self, location=0.0 - self.location, scale=0.0 - self.scale)  # type: ignore[type-var]

    def semivariance(self, target: float) -> float:
        place = (checked_target(target) - self.location) / self.scale
        share, first, second = self._above(place) if self.scale < 0.0 else self._below(place)
        return self.scale * self.scale * max(place * place * share - 2.0 * place * first + second, 0.0)

    def tail_mean(self, level: float) -> float:
        """The tail up to the quantile; what the rounded quantile leaves out, or has too much, lies there."""
        level, turned = checked_level(level), self.scale < 0.0
        if level == 1.0:
            return self.mean
        place = self._standard_quantile(level, turned)
        share, first, _ = self._above(place) if turned else self._below(place)
        return self.location + self.scale * (first + place * (level - share)) / level

    def log_laplace(self, gamma: float) -> float:
        gamma = checked_gamma(gamma)
        found = self._log_mean_exp(-gamma * self.scale)
        if found is None:
            allowed = "small enough for E exp(-gamma X) to be a number, neither infinite nor next to nothing"
            raise InvalidSpec(what=f"gamma, for rewards from {self},", allowed=allowed, given=f"{gamma:g}")
        return -gamma * self.location + found

    def _integrated(self, order: float) -> float | None:
        """ln E exp(order Z) for Z >= 0 with a tail heavier than exponential."""
        if order > 0.0:
            return None
        less = self.expectation(lambda rewards: np.expm1(order * (rewards - self.location) / self.scale))
        if less > -0.5:
            return math.log1p(less)
        whole = self.expectation(lambda rewards: np.exp(order * (rewards - self.location) / self.scale))
        return math.log(whole) if whole > 0.0 else None  # of which nothing is left beside 1, or beside 0


@dataclass(frozen=True)
class StudentT(Shifted):
    """Student's t.

    Args:
        df: Degrees of freedom, above 2. The kurtosis is 3 + 6 / (df - 4), infinite up to 4.
        location, scale: The rewards are location + scale T; the standard deviation is scale sqrt(df / (df - 2)).

    Examples:
        >>> StudentT(5).variance, StudentT(5).kurtosis
        (1.6666666666666667, 9.0)
    """

    kind = "student-t"
    df: float
    location: float = 0.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        df = _with_variance("df", self.df)
        self._settle(df=df)
        self._settle_scale()

    def _standard_moments(self) -> Moments:
        df = self.df
        return 0.0, df / (df - 2.0), 0.0 if df > 3.0 else math.nan, 3.0 + 6.0 / (df - 4.0) if df > 4.0 else math.inf

    def _standard_ends(self) -> tuple[float, float]:
        return -math.inf, math.inf

    def _standard_quantile(self, share: float, above: bool) -> float:
        # T^2 / (df + T^2) follows a Beta distribution, and each side of T has half of it
        side = 1.0 if (share > 0.5) != above else -1.0
        rest = 2.0 * min(share, 1.0 - share)
        if rest == 1.0:
            return 0.0
        x, y = special.inverse_incomplete_beta(0.5 * self.df, 0.5, rest)
        return side * math.sqrt(self.df * (y / x)) if x > 0.0 else side * math.inf

    def _below(self, place: float) -> Partial:
        share, first, second = self._above(-place)
        return share, -first, second

    def _above(self, place: float) -> Partial:
        df, square = self.df, place * place
        if math.isinf(square):
            return (0.0, 0.0, 0.0) if place > 0.0 else (1.0, 0.0, df / (df - 2.0))
        x, y = df / (df + square), square / (df + square)
        share = 0.5 * special.incomplete_beta(0.5 * df, 0.5, x, y)[0]
        second = 0.5 * df / (df - 2.0) * special.incomplete_beta(0.5 * df - 1.0, 1.5, x, y)[0]
        # the derivative of (1 + z^2 / df)^((1 - df) / 2) is the density times z, but for a factor
        height = math.exp(math.lgamma(0.5 * df + 0.5) - math.lgamma(0.5 * df)) / math.sqrt(math.pi * df)
        first = height * df / (df - 1.0) * x ** (0.5 * (df - 1.0))
        return (share, first, second) if place >= 0.0 else (1.0 - share, first, df / (df - 2.0) - second)

    def _log_mean_exp(self, order: float) -> None:
        return None


@dataclass(frozen=True)
class LogNormal(Shifted):
    """The exponential of a normal variable.

    Args:
        mu, sigma: Mean and standard deviation of the logarithm.
        location, scale: The rewards are location + scale Z.

    Examples:
        >>> round(LogNormal(0, 0.5).kurtosis, 1)
        8.9
    """

    kind = "lognormal"
    mu: float
    sigma: float
    location: float = 0.0
    scale: float = 1.0

    def __post_init__(self) -> None:
        self._settle(mu=parameter("mu", self.mu, -100.0, 100.0), sigma=parameter("sigma", self.sigma, 1e-6, 10.0))
        self._settle_scale()

    def _standard_moments(self) -> Moments:
        square = self.sigma * self.sigma
        mean, spread, factor = math.exp(self.mu + 0.5 * square), math.expm1(square), math.exp(square)
        skewness = (factor + 2.0) * math.sqrt(spread)
        return mean, mean * mean * spread, skewness, factor**4 + 2.0 * factor**3 + 3.0 * factor**2 - 3.0

    def _standard_quantile(self, share: float, above: bool) -> float:
        place = special.normal_quantile(share)
        return math.exp(self.mu + self.sigma * (-place if above else place))

    def _distance(self, place: float) -> float:
        return (math.log(place) - self.mu) / self.sigma if place > 0.0 else -math.inf

    def _below(self, place: float) -> Partial:
        return self._moments(lambda moved: special.normal_share(self._distance(place) - moved))

    def _above(self, place: float) -> Partial:
        return self._moments(lambda moved: special.normal_share(moved - self._distance(place)))

    def _moments(self, share: Callable[[float], float]) -> Partial:
        """E(Z^k; ...) = E Z^k times the share for a logarithm that is higher by k sigma^2."""
        square = self.sigma * self.sigma
        first = math.exp(self.mu + 0.5 * square) * share(self.sigma)
        return share(0.0), first, math.exp(2.0 * (self.mu + square)) * share(2.0 * self.sigma)

    def _log_mean_exp(self, order: float) -> float | None:
        return self._integrated(order)


class Gammas(Shifted):
    """What Gamma and Exponential have in common."""

    shape: float

    def _standard_moments(self) -> Moments:
        return self.shape, self.shape, 2.0 / math.sqrt(self.shape), 3.0 + 6.0 / self.shape

    def _standard_quantile(self, share: float, above: bool) -> float:
        return special.gamma_quantile(self.shape, share, above)

    def _below(self, place: float) -> Partial:
        return self._moments(place, 0)

    def _above(self, place: float) -> Partial:
        return self._moments(place, 1)

    def _moments(self, place: float, side: int) -> Partial:
        """E(Z; ...) is the mean times the share for a shape that is larger by 1, and so on."""
        shape = self.shape
        shares = [special.incomplete_gamma(shape + more, place)[side] for more in range(3)]
        return shares[0], shape * shares[1], shape * (shape + 1.0) * shares[2]

    def _log_mean_exp(self, order: float) -> float | None:
        return -self.shape * math.log1p(-order) if order < 1.0 else None


@dataclass(frozen=True)
class Exponential(Gammas):
    """The exponential distribution.

    Args:
        scale, location: The rewards are location + scale Z, where Z has mean 1 and variance 1.

    Examples:
        >>> Exponential(2).mean, Exponential(2).variance, Exponential(2).kurtosis
        (2.0, 4.0, 9.0)
    """

    kind = "exponential"
    shape = 1.0
    scale: float = 1.0
    location: float = 0.0

    def __post_init__(self) -> None:
        self._settle_scale()


@dataclass(frozen=True)
class Gamma(Gammas):
    """The Gamma distribution.

    Args:
        shape: Mean and variance of the standard form.
        scale, location: The rewards are location + scale Z.

    Examples:
        >>> Gamma(3, 2).mean, Gamma(3, 2).variance, Gamma(3, 2).kurtosis
        (6.0, 12.0, 5.0)
    """

    kind = "gamma"
    shape: float
    scale: float = 1.0
    location: float = 0.0

    def __post_init__(self) -> None:
        self._settle(shape=parameter("shape", self.shape, 1e-3, MOST_SHAPE))
        self._settle_scale()


@dataclass(frozen=True)
class Lomax(Shifted):
    """Pareto's second kind, named after Lomax as well: P(Z > z) = (1 + z)^-shape.

    Args:
        shape: Above 2. The kurtosis is infinite up to 4.
        scale, location: The rewards are location + scale Z; Pareto's first kind, of least value s, has both equal to s.

    Examples:
        >>> Lomax(5).mean, round(Lomax(5).kurtosis, 1)
        (0.25, 73.8)
    """

    kind = "pareto"
    shape: float
    scale: float = 1.0
    location: float = 0.0

    def __post_init__(self) -> None:
        self._settle(shape=_with_variance("shape", self.shape))
        self._settle_scale()

    def _standard_moments(self) -> Moments:
        a = self.shape
        variance = a / ((a - 1.0) * (a - 1.0) * (a - 2.0))
        skewness = 2.0 * (1.0 + a) / (a - 3.0) * math.sqrt((a - 2.0) / a) if a > 3.0 else math.inf
        kurtosis = math.inf
        if a > 4.0:
            kurtosis = 3.0 * (a - 2.0) * (3.0 * a * a + a + 2.0) / (a * (a - 3.0) * (a - 4.0))
        return 1.0 / (a - 1.0), variance, skewness, kurtosis

    def _standard_quantile(self, share: float, above: bool) -> float:
        return math.expm1((-math.log(share) if above else -math.log1p(-share)) / self.shape)

    def _below(self, place: float) -> Partial:
        mean, variance, *_ = self._standard_moments()
        share, first, second = self._above(place)
        return 1.0 - share, mean - first, variance + mean * mean - second

    def _above(self, place: float) -> Partial:
        a, start = self.shape, 1.0 + max(place, 0.0)
        share = start**-a
        # of 1 + Z first
        first, second = share * start * a / (a - 1.0), share * start * start * a / (a - 2.0)
        return share, first - share, second - 2.0 * first + share

    def _log_mean_exp(self, order: float) -> float | None:
        return self._integrated(order)


def _with_variance(name: str, value: object) -> float:
    """A shape that leaves a variance."""
    shape = as_float(value)
    allowed = f"a number above 2, at most {LARGEST:g}: up to 2 there is no variance, and up to 1 no mean"
    require(2.0 < shape <= LARGEST, name, allowed, value, error=InvalidInstance)
    return shape
