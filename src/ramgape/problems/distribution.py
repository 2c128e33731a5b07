"""What every distribution of rewards knows: from its quantiles, unless it knows better.

Beside `mean`, `variance`, `std`, `skewness`, `kurtosis` and `support` (None without bounds) each of them has

    mirrored()               the distribution of -X: costs are rewards, mirrored
    semivariance(target)     E((target - X)+^2), what falls short of the target
    log_laplace(gamma)       ln E exp(-gamma X), from which the entropic risk follows
    tail_mean(level)         the mean of the worst (lowest) share `level` of outcomes

    quantile(shares)         the value below which a share of outcomes lies
    cumulative(value)        the share of outcomes up to a value
    expectation(function)    E function(X)

and all but `quantile` follow from that one by numerical integration: a distribution from outside is a subclass of
`Distribution` with a `quantile`.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ramgape.errors import InvalidInstance, require
from ramgape.problems.parameters import checked_gamma, checked_level, checked_shares, checked_target, checked_value
from ramgape.statistics.integration import integrate

Floats = NDArray[np.float64]

HALVINGS = 64  # of an interval: then nothing is left between two floats


class Distribution(ABC):
    """What rewards follow. From outside: a frozen dataclass with a `quantile`, and with whatever it knows better.

    Its rewards are drawn in Python, which takes some 10 microseconds each instead of a tenth of one.

    Examples:
        >>> @dataclass(frozen=True)
        ... class Triangular(Distribution):
        ...     def quantile(self, shares):
        ...         return np.sqrt(shares)
        >>> round(Triangular().mean, 6), round(Triangular().tail_mean(0.25), 6)
        (0.666667, 0.333333)
    """

    kind: ClassVar[str] = ""  # its name in instance files, for those that can be written down

    @abstractmethod
    def quantile(self, shares: Floats) -> Floats:
        """The values below which shares of outcomes lie.

        Args:
            shares: An array of numbers from 0 to 1.
        """

    def draw(self, generator: np.random.Generator) -> float:
        """One reward.

        Args:
            generator: A `numpy.random.Generator`.
        """
        usable = isinstance(generator, np.random.Generator)
        require(usable, "generator", "a numpy.random.Generator", generator)
        return float(self.quantile(np.array([generator.random()]))[0])

    def expectation(self, function: Callable[[Floats], Floats]) -> float:
        """E function(X).

        Args:
            function: Takes an array of outcomes and returns as many numbers.
        """
        require(callable(function), "function", "a function of an array", function)
        return integrate(lambda shares: function(self.quantile(shares)), 0.0, 1.0)

    @functools.cached_property
    def mean(self) -> float:
        """E X."""
        return self.expectation(lambda outcomes: outcomes)

    @functools.cached_property
    def variance(self) -> float:
        """E (X - mean)^2."""
        mean = self.mean
        return self.expectation(lambda outcomes: np.square(outcomes - mean))

    @property
    def std(self) -> float:
        """The standard deviation."""
        return math.sqrt(self.variance)

    @property
    def skewness(self) -> float:
        """E (X - mean)^3 / std^3; of a constant 0."""
        mean, variance = self.mean, self.variance
        if variance == 0.0:
            return 0.0
        return float(self.expectation(lambda outcomes: (outcomes - mean) ** 3) / variance**1.5)

    @property
    def kurtosis(self) -> float:
        """E (X - mean)^4 / variance^2, which is 3 for a normal distribution; infinite where there is no such mean.

        Of a constant it is 1, the least there is.
        """
        mean = self.mean
        if self.variance == 0.0:
            return 1.0
        return self.expectation(lambda outcomes: np.square(np.square(outcomes - mean))) / self.variance**2

    def cumulative(self, value: float) -> float:
        """P(X <= value).

        Args:
            value: A reward.
        """
        return self._cumulative(checked_value(value))

    def _cumulative(self, value: float) -> float:
        below, above = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = 0.5 * (below + above)
            if self.quantile(np.array([middle]))[0] <= value:
                below = middle
            else:
                above = middle
        return 1.0 if below > 1.0 - 2.0**-52 else below

    @property
    def support(self) -> tuple[float, float] | None:
        """The least and the greatest reward; None without bounds."""
        low, high = self.quantile(np.array([0.0, 1.0])).tolist()
        return (low, high) if math.isfinite(high - low) else None

    def mirrored(self) -> Distribution:
        """The distribution of -X."""
        return Mirrored(self)

    def semivariance(self, target: float) -> float:
        """E((target - X)+^2).

        Args:
            target: What outcomes may fall short of.
        """
        target = checked_target(target)
        return self.expectation(lambda outcomes: np.square(np.maximum(target - outcomes, 0.0)))

    def log_laplace(self, gamma: float) -> float:
        """ln E exp(-gamma X), taken about the worst reward so that nothing overflows where there is one.

        Args:
            gamma: How much more bad outcomes count; above 0.
        """
        gamma = checked_gamma(gamma)
        low = self.mean if self.support is None else self.support[0]
        return -gamma * low + math.log(self.expectation(lambda outcomes: np.exp(-gamma * (outcomes - low))))

    def tail_mean(self, level: float) -> float:
        """The mean of the lowest outcomes.

        Args:
            level: The share of all outcomes that they are; above 0, at most 1.
        """
        level = checked_level(level)
        return integrate(self.quantile, 0.0, level) / level

    def _settle(self, **values: object) -> None:
        """Store the checked values: the one moment at which a frozen distribution may change."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def to_dict(self) -> dict[str, Any]:
        """The form in instance files; what has its default value is left out.

        >>> from ramgape import Beta
        >>> Beta(2, 3).to_dict()
        {'distribution': 'beta', 'a': 2.0, 'b': 3.0}
        """
        require(bool(self.kind), "distribution", "one that files know", self, error=InvalidInstance)
        described: dict[str, Any] = {"distribution": self.kind}
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if value != field.default:
                described[field.name] = list(value) if isinstance(value, tuple) else value
        return described


@dataclass(frozen=True)
class Mirrored(Distribution):
    """The distribution of -X."""

    original: Distribution

    def quantile(self, shares: Floats) -> Floats:
        return -self.original.quantile(1.0 - checked_shares(shares))

    @property
    def skewness(self) -> float:
        return -self.original.skewness

    @property
    def kurtosis(self) -> float:
        return self.original.kurtosis

    # From the original: close to 1 floats tell fewer shares apart than close to 0.

    def expectation(self, function: Callable[[Floats], Floats]) -> float:
        return self.original.expectation(lambda outcomes: function(-outcomes))

    def tail_mean(self, level: float) -> float:
        level, original = checked_level(level), self.original
        rest = (1.0 - level) * original.tail_mean(1.0 - level) if level < 1.0 else 0.0
        return -(original.mean - rest) / level
