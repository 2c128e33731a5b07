"""What every risk measure is: a value with a name, a few parameters, some answers about itself, and its kernels.

A measure is about rewards, more being better; for costs it is applied to their negatives (`mirrored`). With rewards
x = origin + span y and y in [0, 1], which is what the engine sees,

    risk of x = span^power (risk of y, by the measure `on_unit`) + offset(origin)

Most risks are a function of the mean of a transformed reward: such a one brings two kernels, as static methods,

    transform(problem, value)            a reward y in [0, 1], made a part in [0, 1]
    untransform(problem, part)           problem.alpha times the risk that belongs to a mean of these; monotone

and, if it is to serve Gaussian rewards as well, what their risk is in closed form,

    normal_risk(problem, mean, variance) the same: not more for a larger mean; for any one mean, with the variance it
                                         either never falls or never rises

and, if it is to serve rewards without a range,

    unclipped(problem, value)            any reward, made something of which the risk is problem.alpha times the mean

`slope` and `normal_spread` are derivatives of these, where they are known exactly. What the kernels need of the
measure's parameters stands in problem.risk_parameters, where `write` puts it. A risk of another kind has its own
`kernels` and `narrow`.
"""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from ramgape.assumptions import ASSUMPTIONS
from ramgape.common.checks import check_number
from ramgape.common.parsing import notation, parse_numbers
from ramgape.errors import require
from ramgape.risks.table import MEAN, MEANS, NORMAL, RISKS, UNRANGED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from decimal import Decimal

    from numpy.typing import NDArray

    from ramgape.common.exact import Exact
    from ramgape.core.kernel import Kernel
    from ramgape.problems.distributions import Distribution

    Floats = NDArray[np.float64]


class Learning(NamedTuple):
    """What a risk makes of rewards: columns of the memory, and the kernels (core/learning.py) that fill and read it.

    In the last `narrowed` of the columns `narrow` keeps what a bound has found so far: another bound must not go by it.
    """

    columns: int
    remember: Kernel
    estimate: Kernel
    narrowed: int = 0


@dataclasses.dataclass(frozen=True)
class Measure:
    """A risk measure; the less the better. A subclass is a frozen dataclass, whose fields are its parameters.

    Attributes:
        name: By which it is asked for.
        power: Of the unit of rewards: 1 for a risk in reward units, 2 for one in their squares, 0 for a probability.
        possible: The least and the greatest value that it has for any rewards.
        dear: What it costs, where that is much more than one would expect of rewards in a range; said with results.
        scaled: It is shown with a factor alpha, by which one tolerance serves mean and risk alike; others as they are.
        transform, untransform, slope, normal_risk, normal_spread, unclipped: Kernels, as far as it has them; see above.
    """

    name: ClassVar[str]
    power: ClassVar[int] = 1
    possible: ClassVar[tuple[float, float]] = (-math.inf, math.inf)
    dear: ClassVar[str] = ""
    scaled: ClassVar[bool] = False
    transform: ClassVar[Any] = None
    untransform: ClassVar[Any] = None
    slope: ClassVar[Any] = None
    normal_risk: ClassVar[Any] = None
    normal_spread: ClassVar[Any] = None
    unclipped: ClassVar[Any] = None

    @property
    def parameters(self) -> dict[str, Any]:
        """By name, as JSON has them."""
        return dataclasses.asdict(self)

    @classmethod
    def parse(cls, text: str) -> Measure:
        """The measure that a text means, NAME, NAME:VALUE or NAME:KEY=VALUE,...

        Args:
            text: As it was typed, with the name of this measure.

        Raises:
            InvalidSpec: It is not written so.
        """
        parameters = [each.name for each in dataclasses.fields(cls)]
        _, values = parse_numbers(text, {cls.name: parameters}, "risk")
        needed = cls.name in RISKS and RISKS[cls.name].parameter_needed
        require(bool(values) or not needed, "risk", f"written {notation(cls.name, parameters)}", text)
        return cls(**values)

    @property
    def exact(self) -> str:
        """As `parse` reads it, to the last digit.

        >>> import ramgape
        >>> ramgape.CVaR(level=1 / 3).exact
        'cvar:level=0.3333333333333333'
        """
        parameters = ",".join(f"{key}={number!r}" for key, number in self.parameters.items())
        return f"{self.name}:{parameters}" if parameters else self.name

    def __str__(self) -> str:
        """As it is written in a command.

        >>> import ramgape
        >>> str(ramgape.CVaR(level=0.1)), str(ramgape.Variance())
        ('cvar:0.1', 'variance')
        """
        return ":".join([self.name, *(f"{value:.12g}" for value in self.parameters.values())])

    def formula(self, costs: bool) -> str:
        """In words.

        Args:
            costs: Whether it is about costs instead of rewards.
        """
        raise NotImplementedError

    def label(self, costs: bool) -> str:
        """What people call it, shortly; unless a measure knows better, its formula.

        Args:
            costs: Whether it is about costs instead of rewards.

        Examples:
            >>> import ramgape
            >>> ramgape.CVaR(level=0.1).label(costs=False)
            'average of the worst 10 %'
        """
        return self.formula(costs)

    def shown(self, value: float, costs: bool = False) -> float:
        """What people are shown under that label, where less is not always better.

        Args:
            value: Of the measure, less being better.
            costs: Whether it is about costs instead of rewards.

        Examples:
            >>> import ramgape
            >>> ramgape.CVaR(level=0.1).shown(-0.938)
            0.938
        """
        return value

    def check_range(self, low: float, high: float, costs: bool) -> None:
        """Complain if it says nothing about rewards, or costs, in such a range.

        Args:
            low, high: The range.
            costs: Whether they are costs.

        Raises:
            InvalidSpec: It does not.
        """

    def mirrored(self) -> Measure:
        """The measure for the negatives of rewards that is this one for the rewards."""
        return self

    def on_unit(self, origin: float, span: float) -> Measure:
        """The same for (x - origin) / span.

        Args:
            origin, span: What the engine takes for 0, and the length of what it takes for [0, 1].
        """
        return self

    def offset(self, origin: float) -> float:
        """What the origin adds.

        Args:
            origin: What the engine takes for 0.
        """
        return -origin

    def usual_scale(self, span: float) -> float:
        """The factor that makes it comparable with the mean by one tolerance.

        Args:
            span: The length of the reward range.
        """
        return 1.0

    def unit_range(self) -> tuple[float, float]:
        """The smallest and largest value for rewards in [0, 1]."""
        return -1.0, 0.0

    def worst(self) -> float:
        """What counts as the worst value for rewards in [0, 1], where volumes are measured from there."""
        return self.unit_range()[1]

    @property
    def made_of(self) -> tuple[str, ...]:
        """What a bound must know of it: see risks/table.py, which says it of those of ours that transform no reward."""
        if self.transform is None and self.name in RISKS:
            return RISKS[self.name].made_of
        brought = (
            (MEANS, self.transform),
            (MEAN, self.transform),
            (NORMAL, self.normal_risk),
            (UNRANGED, self.unclipped),
        )
        return tuple(kind for kind, kernel in brought if kernel is not None)

    def kernels(self, assumption: str) -> Learning:
        """What is remembered of rewards, and what is estimated from it.

        Args:
            assumption: By name (assumptions.py).
        """
        from ramgape.risks import means

        if ASSUMPTIONS[assumption].normal:
            return Learning(0, *means.learn_normal(self.normal_risk, self.normal_spread))
        if not ASSUMPTIONS[assumption].ranged:
            return Learning(means.COLUMNS, *means.learn_unclipped(self.unclipped))
        return Learning(means.COLUMNS, *means.learn_mean(self.transform, self.untransform, self.slope))

    def narrow(self, interval: Kernel) -> Kernel:
        """The kernel that narrows the risk's interval: see core/learning.py.

        Args:
            interval: A bound's, of means.
        """
        from ramgape.risks import means

        return means.narrow_by(interval, self.untransform)

    def box_by(self, moments_box: Kernel) -> Kernel:
        """The kernel that makes a box, for a risk that is made of moments.

        Args:
            moments_box: A bound's, of a mean-variance.
        """
        return moments_box

    def ahead_by(self, kernels: Any) -> Kernel:
        """The kernel that compares the risks of two arms: see core/comparisons.py.

        Args:
            kernels: A bound's, for comparisons.
        """
        from ramgape.risks import means

        return means.ahead_by(kernels, self.untransform)

    def value_of(self, distribution: Distribution) -> float:
        """The truth about a distribution; unless a measure knows better, by numerical integration.

        Args:
            distribution: Of rewards.
        """
        from ramgape.core.kernel import as_kernel

        if distribution.support is None:
            risk = as_kernel(self.normal_risk)(self._problem(0.0, 1.0), distribution.mean, distribution.variance)
            return float(risk) + self.offset(0.0)
        return self._value(*distribution.support, distribution.expectation)

    def value_in(self, rewards: Floats) -> float:
        """The same of rewards as they are.

        Args:
            rewards: Each as likely as any other.
        """
        return self._value(float(rewards.min()), float(rewards.max()), lambda function: float(function(rewards).mean()))

    def exact_in(self, pairs: Sequence[tuple[Decimal, int]]) -> Exact | None:
        """The same without rounding; None where only floats are known. See search/items_exact.py.

        Args:
            pairs: Different rewards in increasing order, as they were written, and how often each is there. The present
                context loses nothing of their sums and products.
        """
        return None

    def _value(self, low: float, high: float, expectation: Callable[[Callable[[Floats], Floats]], float]) -> float:
        """From the expectation of the transformed reward, by the kernels themselves."""
        from ramgape.core.kernel import as_kernel

        span = high - low or 1.0
        problem, transform = self._problem(low, span), as_kernel(self.transform)

        def transformed(rewards: Floats) -> Floats:
            return np.array([transform(problem, value) for value in ((rewards - low) / span).tolist()])

        part = expectation(transformed)
        return span**self.power * float(as_kernel(self.untransform)(problem, part)) + self.offset(low)

    def _problem(self, low: float, span: float) -> Any:
        """What kernels need, for rewards from `low` on, in a range of this length."""
        from ramgape.core.rows import one_row
        from ramgape.core.table import PROBLEM, new_table

        problem: Any = new_table(1, PROBLEM)[0]
        problem["alpha"] = 1.0
        self.on_unit(low, span).write(problem)
        return one_row(problem)

    def write(self, problem: Any) -> None:
        """Write what kernels need, on the engine's scale.

        Args:
            problem: The record that they see.
        """
        for place, value in enumerate(self.parameters.values()):
            problem["risk_parameters"][place] = value

    def _check(self, name: str, allowed: str, low: float, high: float = math.inf) -> None:
        """Make a parameter a float, if it is a finite number between two."""
        value = getattr(self, name)
        checked = check_number(value, f"the {name} of risk {self.name}", allowed, lambda given: low <= given <= high)
        object.__setattr__(self, name, checked)
