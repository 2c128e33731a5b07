"""What sentences about an answer speak of, and how they say it: costs are better below, some risks are shown turned."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from ramgape.common.formatting import list_names, round_up


def sum_text(value: float, tolerance: float = 0.0) -> str:
    """A number as the user wrote it, with a tolerance added, which is rounded away from 0.

    >>> sum_text(0.1, 0.2), sum_text(0.02, -0.005), sum_text(1.0), sum_text(1e-9)
    ('0.3', '0.015', '1', '1E-9')
    """
    total = Decimal(repr(value))
    total += Decimal(round_up(abs(tolerance))).copy_sign(Decimal(tolerance)) if tolerance else 0
    total = total.normalize()
    return f"{total:f}" if total == 0 or -6 <= total.adjusted() <= 15 else f"{total}"


class Wanted(NamedTuple):
    """What a sentence about an answer speaks of, in the user's units.

    Attributes:
        returned: The names of the returned arms.
        epsilon: The tolerance in mean and scaled risk, or in the mean alone where `risk_epsilon` has that in risk; both
            are to be rounded up.
        risk: What the risk is called.
        costs: Whether less mean is better.
        turned: Whether people are shown the risk with the other sign, more being better.
        proved: Whether every returned arm is proved to be in the right answer without a tolerance.
    """

    returned: Sequence[str]
    epsilon: float
    risk_epsilon: float | None
    risk: str
    costs: bool = False
    turned: bool = False
    proved: bool = False

    @property
    def names(self) -> str:
        """The returned arms."""
        return list_names(self.returned)

    @property
    def _own_epsilon(self) -> float:
        """That in risk."""
        return self.epsilon if self.risk_epsilon is None else self.risk_epsilon

    @property
    def mean_tolerance(self) -> str:
        """In digits that never say too much."""
        return round_up(self.epsilon)

    @property
    def risk_tolerance(self) -> str:
        """The same in risk."""
        return round_up(self._own_epsilon)

    # ------------------------------------------------------------------------------------- the mean

    @property
    def best(self) -> str:
        """Of means."""
        return "lowest" if self.costs else "highest"

    @property
    def better(self) -> str:
        """Where better means are."""
        return "below" if self.costs else "above"

    def good_enough(self, mean: float, strictness: int = 0) -> str:
        """At least a mean.

        Args:
            mean: In the user's units.
            strictness: 1 for one that is better by the tolerance, -1 for one that is worse by it.
        """
        side = -1 if self.costs else 1
        return f"at {'most' if self.costs else 'least'} {sum_text(mean, side * strictness * self.epsilon)}"

    def beyond(self, mean: float, strictness: int) -> str:
        """Better than a mean.

        Args:
            mean, strictness: As for `good_enough`.
        """
        side = -1 if self.costs else 1
        return f"{self.better} {sum_text(mean, side * strictness * self.epsilon)}"

    def mean_beyond(self, other: str, margin: float, strictness: int = 0) -> str:
        """A mean that is better than that of another arm and a margin.

        Args:
            other: The other arm.
            margin: In the user's units, of which more is asking for more.
            strictness: As for `good_enough`.
        """
        return f"a mean {self.better} that of {other}{self.moved(margin, strictness)}"

    def mean_ahead(self, other: str, margin: float) -> str:
        """A mean that is better than that of another arm by margin and tolerance at least.

        Args:
            other, margin: As for `mean_beyond`.
        """
        total = sum_text(margin, self.epsilon)
        if not total.startswith("-") and Decimal(total):
            return f"a mean {total} or more {self.better} that of {other}"
        return f"a mean at {'most' if self.costs else 'least'} that of {other}{self.moved(margin, 1)}"

    def moved(self, margin: float, strictness: int = 0) -> str:
        """What is added to another arm's mean: a margin, or that and the tolerance.

        Args:
            margin: In the user's units, of which more is asking for more.
            strictness: As for `good_enough`.
        """
        side = -1 if self.costs else 1
        total = Decimal(sum_text(margin, strictness * self.epsilon)) * side
        return f" {'minus' if total < 0 else 'plus'} {abs(total)}" if total else ""

    # ------------------------------------------------------------------------------------- the risk

    @property
    def a_risk(self) -> str:
        """The risk with its article."""
        return f"{'an' if self.risk[:1].lower() in 'aeiou' else 'a'} {self.risk}"

    @property
    def safest(self) -> str:
        """Of risks as they are shown."""
        return "highest" if self.turned else "lowest"

    @property
    def safer(self) -> str:
        """Where better risks are."""
        return "above" if self.turned else "below"

    def no_riskier(self, risk: float, strictness: int = 0) -> str:
        """At most a risk, as people are shown it.

        Args:
            risk: As results report it.
            strictness: 1 for one that is more by the tolerance, -1 for one that is less by it.
        """
        return f"at {'least' if self.turned else 'most'} {self._shown(risk, strictness)}"

    def less_risky(self, risk: float, strictness: int) -> str:
        """Less than a risk.

        Args:
            risk, strictness: As for `no_riskier`.
        """
        return f"{self.safer} {self._shown(risk, strictness)}"

    def _shown(self, risk: float, strictness: int) -> str:
        side = -1 if self.turned else 1
        return sum_text(0.0 + side * risk, side * strictness * self._own_epsilon)

    def risk_beyond(self, other: str) -> str:
        """A risk that is less than that of another arm and the tolerance.

        Args:
            other: The other arm.
        """
        moved = "minus" if self.turned else "plus"
        added = f" {moved} {self.risk_tolerance}" if self._own_epsilon else ""
        return f"{self.a_risk} {self.safer} that of {other}{added}"

    def risk_ahead(self, other: str) -> str:
        """A risk that is less than that of another arm by the tolerance at least.

        Args:
            other: The other arm.
        """
        return f"{self.a_risk} {self.risk_tolerance} or more {self.safer} that of {other}"
