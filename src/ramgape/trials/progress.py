"""Where a search stands, for callbacks, reports and displays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ramgape.errors import require
from ramgape.search.engine import Engine


@dataclass(frozen=True, slots=True)
class Progress:
    """Where a search stands.

    Attributes:
        samples: Pulls made.
        limit: The most that are made.
        doubt: V(t), which is to fall below epsilon, in the user's units.
        epsilon: The tolerance; None where there is none.
        arms: How many there are.
        spent, spend: What pulls have cost, and what they may cost, where there are prices.
        unproved: Of how many the evidence does not suffice yet, where arms are compared in pairs: such a search ends
            when there are none, whatever the doubt between intervals; None elsewhere.
    """

    samples: int
    limit: int
    doubt: float
    epsilon: float | None
    arms: int = 0
    unproved: int | None = None
    spent: float | None = None
    spend: float | None = None


Callback = Callable[[Progress], object]


def progress_of(engine: Engine) -> Progress:
    """Where a search stands."""
    spec = engine.spec
    spent = None if spec.price is None else engine.spent
    known = (engine.samples, spec.limit, engine.doubt, spec.epsilon, len(spec.names), engine.unproved)
    return Progress(*known, spent, spec.spend)


def check_callback(callback: object) -> None:
    """Complain before the first pull rather than after it."""
    require(callback is None or callable(callback), "callback", "a function of one argument", callback)
