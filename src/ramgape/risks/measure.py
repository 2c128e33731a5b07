"""What every risk measure is: a value with a name, at most one parameter, and a few answers about itself.

A measure is about rewards, more being better; for costs it is applied to their negatives (`mirrored`). With rewards
x = origin + span y and y in [0, 1], which is what the engine sees,

    risk of x = span^power (risk of y, by the measure `on_unit`) + offset(origin)
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, ClassVar

from ramgape.common.checks import check_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ramgape.problems.distributions import Distribution


@dataclasses.dataclass(frozen=True)
class Measure:
    """A risk measure; the less the better."""

    name: ClassVar[str]
    power: ClassVar[int] = 1  # of the unit of rewards

    @property
    def parameters(self) -> dict[str, float]:
        """By name."""
        return dataclasses.asdict(self)

    def __str__(self) -> str:
        """As it is written in a command.

        >>> import ramgape
        >>> str(ramgape.CVaR(level=0.1)), str(ramgape.Variance())
        ('cvar:0.1', 'variance')
        """
        return ":".join([self.name, *(f"{value:.12g}" for value in self.parameters.values())])

    def formula(self, costs: bool) -> str:
        """In words."""
        raise NotImplementedError

    def check_range(self, low: float, high: float, costs: bool) -> None:
        """Complain if it says nothing about rewards, or costs, in such a range."""

    def mirrored(self) -> Measure:
        """The measure for the negatives of rewards that is this one for the rewards."""
        return self

    def on_unit(self, origin: float, span: float) -> Measure:
        """The same for (x - origin) / span."""
        return self

    def offset(self, origin: float) -> float:
        """What the origin adds."""
        return -origin

    def usual_scale(self, span: float) -> float:
        """The factor that makes it comparable with the mean by one tolerance."""
        return 1.0

    def unit_range(self) -> tuple[float, float]:
        """The smallest and largest value for rewards in [0, 1]."""
        return -1.0, 0.0

    def worst(self) -> float:
        """What counts as the worst value for rewards in [0, 1], where volumes are measured from there."""
        return self.unit_range()[1]

    def value_of(self, distribution: Distribution) -> float:
        """The truth about a distribution of rewards."""
        raise NotImplementedError

    def value_in(self, rewards: NDArray[np.float64]) -> float:
        """The same of rewards as they are, each as likely as any other; of risks that are more than two moments."""
        raise NotImplementedError

    def write(self, problem: Any) -> None:
        """Into the problem: what kernels need, on the engine's scale. Nothing, mostly."""

    def _check(self, name: str, allowed: str, low: float, high: float = math.inf) -> None:
        """Make a parameter a float, if it is a finite number between two."""
        value = getattr(self, name)
        checked = check_number(value, f"the {name} of risk {self.name}", allowed, lambda given: low <= given <= high)
        object.__setattr__(self, name, checked)
