"""The distributions that rewards can follow, each with its true mean and variance.

    Beta(a, b)               on [0, 1], or on [low, high]
    Bernoulli(p)             high with probability p, otherwise low; 1 and 0 unless stated
    Uniform(low, high)
    Data(values)             recorded rewards, drawn again with replacement
    Gaussian(mean, variance) the only one without bounds

Here stands what is known exactly; how a reward is drawn stands in `environments`.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import math
import numbers
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

from ramgape.errors import InvalidInstance, require

# No number may be larger, and no shape or variance smaller: the truth needs squares, cubes and quotients of
# these numbers, and inside these limits none of them overflows or becomes "not a number".
LARGEST = 1e100
SMALLEST = 1e-100


def number(what: str, value: Any, lowest: float = -LARGEST, highest: float = LARGEST) -> float:
    """The value as a float, provided that it is a number (a bool is none) from lowest to highest."""
    converted = math.nan
    if not isinstance(value, bool) and isinstance(value, numbers.Real):
        with contextlib.suppress(OverflowError):  # an integer beyond all floats
            converted = float(value)
    sound = lowest <= converted <= highest  # false for NaN
    require(sound, what, f"a number from {lowest:g} to {highest:g}", value, error=InvalidInstance)
    return converted


def interval(low: Any, high: Any) -> tuple[float, float]:
    """Both ends as floats, provided that they are in order."""
    low, high = number("low", low), number("high", high)
    require(low < high, "low", f"less than high, which is {high:g}", low, error=InvalidInstance)
    return low, high


def at_share(share: float, low: float, high: float) -> float:
    """The point that lies `share` of the way from low to high; rounding does not carry it past high."""
    return min(low + (high - low) * share, high)


class Described:
    """What all distributions share: they are values, and can be written down."""

    kind: ClassVar[str]

    def _settle(self, **values: object) -> None:
        """Store the checked values: the one moment at which a frozen distribution may change."""
        for name, value in values.items():
            object.__setattr__(self, name, value)

    def to_dict(self) -> dict[str, Any]:
        """The form in instance files; what has its default value is left out.

        >>> Beta(2, 3).to_dict()
        {'distribution': 'beta', 'a': 2.0, 'b': 3.0}
        """
        described: dict[str, Any] = {"distribution": self.kind}
        for field in dataclasses.fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if value != field.default:
                described[field.name] = list(value) if isinstance(value, tuple) else value
        return described


@dataclass(frozen=True)
class Beta(Described):
    """The Beta distribution with shapes a and b, stretched from [0, 1] to [low, high].

    >>> Beta(2, 3).mean, Beta(2, 3).variance
    (0.4, 0.04)
    """

    kind = "beta"
    a: float
    b: float
    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        a, b = number("a", self.a, SMALLEST), number("b", self.b, SMALLEST)
        low, high = interval(self.low, self.high)
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
    def support(self) -> tuple[float, float]:
        return self.low, self.high


@dataclass(frozen=True)
class Bernoulli(Described):
    """`high` with probability p, otherwise `low`.

    >>> Bernoulli(0.25, low=0, high=4).mean
    1.0
    """

    kind = "bernoulli"
    p: float
    low: float = 0.0
    high: float = 1.0

    def __post_init__(self) -> None:
        p = number("p", self.p, 0.0, 1.0)
        low, high = interval(self.low, self.high)
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


@dataclass(frozen=True)
class Uniform(Described):
    """Every reward from low to high is as likely as any other.

    >>> Uniform(0, 6).variance
    3.0
    """

    kind = "uniform"
    low: float
    high: float

    def __post_init__(self) -> None:
        low, high = interval(self.low, self.high)
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


@dataclass(frozen=True)
class Data(Described):
    """Recorded rewards: a draw returns one of them, each as likely as any other.

    The truth is that of the recorded values themselves; the variance is divided by their number.

    >>> Data((1, 2, 3, 6)).mean, Data((1, 2, 3, 6)).variance
    (3.0, 3.5)
    """

    kind = "data"
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        given: Any = self.values
        listed = isinstance(given, Iterable) and not isinstance(given, (str, bytes, dict))
        require(listed, "values", "a list of numbers", given, error=InvalidInstance)
        values = tuple(number(f"values[{place}]", value) for place, value in enumerate(given))
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


@dataclass(frozen=True)
class Gaussian(Described):
    """The normal distribution.

    >>> Gaussian(0.5, 0.04).support is None
    True
    """

    kind = "gaussian"
    mean: float
    variance: float

    def __post_init__(self) -> None:
        self._settle(mean=number("mean", self.mean), variance=number("variance", self.variance, SMALLEST))

    @property
    def support(self) -> None:
        return None


Distribution = Beta | Bernoulli | Uniform | Data | Gaussian

DISTRIBUTIONS: dict[str, type[Distribution]] = {
    "beta": Beta,
    "bernoulli": Bernoulli,
    "uniform": Uniform,
    "data": Data,
    "gaussian": Gaussian,
}
