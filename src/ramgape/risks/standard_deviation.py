"""The standard deviation: in reward units, with the Pareto set of the variance.

Its interval is the root of that of the variance, whatever bound has made that. Near 0 it is dear, by nature: for
rewards in [0, 1] a jump that comes once in 2,500 pulls makes a standard deviation of 0.02, and nothing shows sooner
that there is none.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ramgape.assumptions import ASSUMPTIONS
from ramgape.common.exact import Exact, moments
from ramgape.risks.measure import Learning, Measure

if TYPE_CHECKING:
    from collections.abc import Sequence
    from decimal import Decimal

    import numpy as np
    from numpy.typing import NDArray

    from ramgape.core.kernel import Kernel
    from ramgape.problems.distributions import Distribution


@dataclass(frozen=True)
class StandardDeviation(Measure):
    """The standard deviation, in reward units."""

    name = "std"
    possible = (0.0, math.inf)

    def formula(self, costs: bool) -> str:
        return "standard deviation"

    def kernels(self, assumption: str) -> Learning:
        from ramgape.risks import powers, root

        if ASSUMPTIONS[assumption].skewed:
            return Learning(powers.COLUMNS, powers.remember, powers.estimate_root)
        return Learning(0, root.nothing, root.estimate)

    def narrow(self, interval: Kernel) -> Kernel:
        from ramgape.risks import moments, root

        return root.fixed(root.narrow, moments.fixed(moments.narrow, interval))

    def box_by(self, moments_box: Kernel) -> Kernel:
        from ramgape.risks import root

        return root.fixed(root.narrow, moments_box)

    def ahead_by(self, kernels: Any) -> Kernel:
        from ramgape.risks import root

        return kernels.moments_ahead(root.variance_at)  # type: ignore[no-any-return]

    @property
    def normal_risk(self) -> Kernel:
        from ramgape.risks import root

        return root.normal_risk

    @property
    def normal_spread(self) -> Kernel:
        from ramgape.risks import root

        return root.normal_spread

    def offset(self, origin: float) -> float:
        return 0.0

    def unit_range(self) -> tuple[float, float]:
        return 0.0, 0.5

    def value_of(self, distribution: Distribution) -> float:
        return math.sqrt(distribution.variance)

    def value_in(self, rewards: NDArray[np.float64]) -> float:
        return float(rewards.std())

    def exact_in(self, pairs: Sequence[tuple[Decimal, int]]) -> Exact:
        return Exact(Fraction(0), moments(pairs)[1])

    def write(self, problem: Any) -> None:
        """Of the variance, by which it is known."""
        problem["rho"] = 0.0
        problem["risk_root"] = 1
