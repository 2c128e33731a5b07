"""Simulated trials with several outcomes: a distribution for each, and a Gaussian copula between those of a trial.

As a file, or as a dictionary:

    {"name": "models", "outcomes": {"accuracy": [0, 1], "latency": "unknown"}, "correlation": -0.3, "arms": [
      {"name": "small", "outcomes": {"accuracy": {"distribution": "bernoulli", "p": 0.8},
                                     "latency": {"distribution": "lognormal", "mu": 0, "sigma": 0.2}}},
      {"name": "large", "outcomes": {"accuracy": {"distribution": "bernoulli", "p": 0.9},
                                     "latency": {"distribution": "lognormal", "mu": 1, "sigma": 0.2}}}]}

`correlation` is that of the normal variables behind any two outcomes of a trial, or a matrix in their order.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramgape.errors import InvalidInstance, require
from ramgape.problems.distribution import Distribution
from ramgape.problems.environments import Instance
from ramgape.problems.instance_files import check_given, check_keys, distribution_from_dict, inside, instance_from_dict

AT_ONCE = 64  # trials of an arm that are drawn together

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class VectorProblem:
    """Arms whose trials have several outcomes.

    Args:
        arms: For each arm the distribution of every outcome, by name.
        outcomes: What is assumed of each outcome, as for `identify`.
        correlation: Between any two outcomes of a trial, or a matrix.
        name: Of the problem.

    Examples:
        >>> from ramgape.problems.distributions import Bernoulli, Uniform
        >>> problem = VectorProblem({"A": {"hit": Bernoulli(0.5), "cost": Uniform(0, 1)}}, {"hit": (0, 1)}, 0.5)
        >>> sorted(next(problem.trials(0, np.random.default_rng(1))))
        ['cost', 'hit']
    """

    arms: Mapping[str, Mapping[str, Distribution]]
    outcomes: Mapping[str, Any]
    correlation: Any = 0.0
    name: str = "problem"

    def __post_init__(self) -> None:
        require(bool(self.arms), "arms", "at least one", self.arms, InvalidInstance)
        first = list(next(iter(self.arms.values())))
        for arm, found in self.arms.items():
            require(list(found) == first, f"the outcomes of arm {arm}", ", ".join(first), list(found), InvalidInstance)
            for name, distribution in found.items():
                what = f"outcome {name} of arm {arm}"
                require(isinstance(distribution, Distribution), what, "a distribution", distribution, InvalidInstance)
        self._mixing  # noqa: B018 - complains of a correlation that cannot be

    @property
    def measured(self) -> tuple[str, ...]:
        """The outcomes of a trial."""
        return tuple(next(iter(self.arms.values())))

    @cached_property
    def _mixing(self) -> Floats:
        """What turns independent normal variables into correlated ones."""
        count = len(self.measured)
        given = np.asarray(self.correlation, float)
        matrix = np.full((count, count), float(given)) if given.ndim == 0 else given.copy()
        allowed = "a number, or a matrix with a row for each outcome, of which all are possible together"
        require(matrix.shape == (count, count), "correlation", allowed, self.correlation, InvalidInstance)
        np.fill_diagonal(matrix, 1.0)
        values, vectors = np.linalg.eigh(matrix)
        usable = np.allclose(matrix, matrix.T) and values.min() > -1e-9
        require(bool(usable), "correlation", allowed, self.correlation, InvalidInstance)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))

    def draw(self, arm: int, generator: np.random.Generator, count: int) -> dict[str, list[float]]:
        """Outcomes of so many trials of an arm, by name.

        Args:
            arm: Its number.
            generator: What is drawn from.
            count: How many.
        """
        normal = generator.standard_normal((count, len(self.measured))) @ self._mixing.T
        found = list(self.arms.values())[arm]
        return {
            name: found[name].quantile(_shares(normal[:, place])).tolist() for place, name in enumerate(self.measured)
        }

    def trials(self, arm: int, generator: np.random.Generator) -> Iterator[dict[str, float]]:
        """One trial of an arm after the other; they come from a generator of its own, which this one seeds."""
        own = np.random.default_rng(generator.integers(2**63))
        while True:
            drawn = self.draw(arm, own, AT_ONCE)
            for values in zip(*drawn.values(), strict=True):
                yield dict(zip(drawn, values, strict=True))


def _shares(normal: Floats) -> Floats:
    """The share of outcomes below each normal value, within (0, 1)."""
    shares = [0.5 * math.erfc(-value / math.sqrt(2.0)) for value in normal.tolist()]
    return np.asarray(np.clip(np.array(shares), 1e-300, 1.0 - 2.0**-53))


def problem_from_dict(description: Any, name: str = "instance") -> Instance | VectorProblem:
    """The problem that a dictionary in the form of a file describes, of one reward or of several outcomes.

    Args:
        description: The dictionary.
        name: Of an instance that states none.
    """
    arms = description.get("arms") if isinstance(description, Mapping) else None
    if not isinstance(arms, list) or not any(isinstance(arm, Mapping) and "outcomes" in arm for arm in arms):
        return instance_from_dict(description, name)
    check_keys(description, ("name", "outcomes", "correlation", "arms"))
    found: dict[str, dict[str, Distribution]] = {}
    for number, arm in enumerate(arms):
        what = f"arms[{number}]"
        require(isinstance(arm, Mapping), what, "an object with a name and outcomes", arm, InvalidInstance)
        with inside(owner=f"{what}."):
            check_given(arm, ("name", "outcomes"))
            check_keys(arm, ("name", "outcomes"))
        found[str(arm["name"])] = {
            str(name): distribution_from_dict(each, f"{what}.outcomes.{name}") for name, each in arm["outcomes"].items()
        }
    given = description.get("outcomes", {})
    assumed = {name: tuple(each) if isinstance(each, list) else each for name, each in given.items()}
    return VectorProblem(found, assumed, description.get("correlation", 0.0), str(description.get("name", "problem")))
