"""Lines in the plane of mean and risk: what an answer goes by, for pictures."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class PlaneLine:
    """A line in the plane of mean and risk, mean_weight mean + risk_weight risk = value, in the user's units.

    Attributes:
        mean_weight, risk_weight, value: Which line it is.
        words: What it is.
        limit: Whether no arm can be in the answer where the left side is less than the value.
    """

    mean_weight: float
    risk_weight: float
    value: float
    words: str
    limit: bool = True
