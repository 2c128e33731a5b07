"""That more was asked of a study than it was created for."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Extension:
    """A moment from which a study was to go on for more.

    Attributes:
        told: Observations that there were.
        done: Whether what had been asked for until then was reached.
        extended_at: When.
        epsilon, risk_epsilon, epsilon_share, budget, spend: What had been asked for until then, as in `Goal`.
        exploration: The constant of a fixed-budget width until then, where there is one.
    """

    told: int
    done: bool
    extended_at: str
    epsilon: float | None = None
    risk_epsilon: float | None = None
    epsilon_share: float | None = None
    budget: int | None = None
    exploration: float | None = None
    spend: float | None = None
