"""Mixtures: each reward comes from one of several distributions, chosen by chance."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ramgape.errors import InvalidInstance, require
from ramgape.problems.distribution import HALVINGS, Distribution, Floats
from ramgape.problems.parameters import (
    checked_gamma,
    checked_level,
    checked_shares,
    checked_target,
    parameter,
)


@dataclass(frozen=True)
class Mixture(Distribution):
    """A reward from one of several distributions. A mixture among them is taken apart.

    Args:
        weights: How likely each of them is; together 1.
        parts: The distributions.

    Examples:
        >>> from ramgape import Gaussian
        >>> rare = Mixture((0.99, 0.01), (Gaussian(1, 1), Gaussian(-9, 1)))
        >>> round(rare.mean, 12), round(rare.variance, 12), round(rare.kurtosis, 1)
        (0.9, 1.99, 26.5)
    """

    kind = "mixture"
    weights: tuple[float, ...]
    parts: tuple[Distribution, ...]

    def __post_init__(self) -> None:
        for name in ("weights", "parts"):
            given: Any = getattr(self, name)
            listed = isinstance(given, Iterable) and not isinstance(given, (str, bytes, dict))
            require(listed, name, "a list", given, error=InvalidInstance)
        weights = [parameter(f"weights[{place}]", weight, 0.0, 1.0) for place, weight in enumerate(self.weights)]
        parts = list(self.parts)
        require(len(parts) >= 1, "parts", "at least one distribution", parts, error=InvalidInstance)
        for place, part in enumerate(parts):
            require(isinstance(part, Distribution), f"parts[{place}]", "a Distribution", part, error=InvalidInstance)
        fitting = len(weights) == len(parts) and math.isclose(math.fsum(weights), 1.0, abs_tol=1e-9)
        allowed = f"numbers that add up to 1, one for each of the {len(parts)} parts"
        require(fitting, "weights", allowed, self.weights, error=InvalidInstance)
        total = math.fsum(weights)
        flat: list[tuple[float, Distribution]] = []
        for weight, part in zip(weights, parts, strict=True):
            inner = zip(part.weights, part.parts, strict=True) if isinstance(part, Mixture) else ((1.0, part),)
            flat += [(weight / total * share, each) for share, each in inner if weight * share > 0.0]
        self._settle(weights=tuple(weight for weight, _ in flat), parts=tuple(part for _, part in flat))

    def _average(self, answer: Callable[[Distribution], float]) -> float:
        """Of what is said of each part."""
        return math.fsum(weight * answer(part) for weight, part in zip(self.weights, self.parts, strict=True))

    @property
    def mean(self) -> float:
        return self._average(lambda part: part.mean)

    @property
    def variance(self) -> float:
        mean = self.mean
        return self._average(lambda part: part.variance + (part.mean - mean) ** 2)

    @property
    def kurtosis(self) -> float:
        """From the parts' own."""
        mean = self.mean

        def fourth(part: Distribution) -> float:
            own, distance, spread = part.kurtosis * part.variance**2, part.mean - mean, part.variance
            if math.isinf(own):
                return own
            third = part.skewness * spread**1.5 if distance else 0.0
            return own + 4.0 * distance * third + 6.0 * distance**2 * spread + distance**4

        return self._average(fourth) / self.variance**2 if self.variance > 0.0 else 1.0

    @property
    def support(self) -> tuple[float, float] | None:
        ends = [part.support for part in self.parts]
        known = [each for each in ends if each is not None]
        return (min(low for low, _ in known), max(high for _, high in known)) if len(known) == len(ends) else None

    def _cumulative(self, value: float) -> float:
        return min(self._average(lambda part: part._cumulative(value)), 1.0)

    def quantile(self, shares: Floats) -> Floats:
        return np.array([self._quantile(share) for share in checked_shares(shares).tolist()])

    def _quantile(self, share: float) -> float:
        """Between those of the parts, by halving."""
        ends = [float(part.quantile(np.array([share]))[0]) for part in self.parts]
        low, high = min(ends), max(ends)
        if share == 1.0:
            return high
        if self._cumulative(low) >= share:
            return low
        for _ in range(2 * HALVINGS):
            middle = 0.5 * (low + high)
            if not low < middle < high:
                break
            low, high = (middle, high) if self._cumulative(middle) < share else (low, middle)
        return high

    def expectation(self, function: Callable[[Floats], Floats]) -> float:
        return self._average(lambda part: part.expectation(function))

    def draw(self, generator: np.random.Generator) -> float:
        """One reward: of the part that a first number chooses."""
        share = generator.random()
        place = sum(share >= up_to for up_to in itertools.accumulate(self.weights[:-1]))
        return self.parts[place].draw(generator)

    def mirrored(self) -> Mixture:
        return Mixture(self.weights, tuple(part.mirrored() for part in self.parts))

    def semivariance(self, target: float) -> float:
        target = checked_target(target)
        return self._average(lambda part: part.semivariance(target))

    def log_laplace(self, gamma: float) -> float:
        gamma = checked_gamma(gamma)
        logarithms = [part.log_laplace(gamma) for part in self.parts]
        most = max(logarithms)
        pairs = zip(self.weights, logarithms, strict=True)
        return most + math.log(math.fsum(weight * math.exp(each - most) for weight, each in pairs))

    def tail_mean(self, level: float) -> float:
        """z - E(z - X)+ / level, which is greatest at the quantile z: a small error there changes nothing."""
        level = checked_level(level)
        if level == 1.0:
            return self.mean
        place = self._quantile(level)

        def missing(part: Distribution) -> float:
            share = part._cumulative(place)
            return share * (place - part.tail_mean(share)) if share > 0.0 else 0.0

        return place - self._average(missing) / level

    def to_dict(self) -> dict[str, Any]:
        parts = [part.to_dict() for part in self.parts]
        return {"distribution": self.kind, "weights": list(self.weights), "parts": parts}
