"""What a guarantee assumes of the rewards, in words, and what the data say against it."""

from __future__ import annotations

from typing import NamedTuple

from ramgape.spec import Spec


class Objection(NamedTuple):
    """Something in the data that the assumption does not explain: in a few words, and as a warning."""

    brief: str
    warning: str


def assumption_of(spec: Spec, bound: str) -> str:
    """All that a bound needs to be true of the rewards."""
    if spec.reward_range is not None:
        low, high = spec.reward_range
        return f"independent draws from one distribution for each arm, in [{low:g}, {high:g}]"
    known = f", with standard deviation at most {spec.sigma_max:g}" if bound == "gaussian-paper" else ""
    return f"independent draws from one Gaussian distribution for each arm{known}"


def contradictions(misses: int) -> list[Objection]:
    """Intervals that cannot all be right."""
    if not misses:
        return []
    brief = f"{misses:,} {'time' if misses == 1 else 'times'} a new interval contradicted an older one"
    reason = "an event of probability below delta, or rewards that are not independent draws from one distribution"
    return [Objection(brief, f"{brief}: {reason} for each arm")]
