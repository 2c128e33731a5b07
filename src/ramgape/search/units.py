"""From the engine's scale to the user's units: rewards and scaled risks, of one arm or of all at once."""

from __future__ import annotations

from typing import Any

import numpy as np

from ramgape.search.spec import Spec


def user_rewards(spec: Spec, values: Any) -> Any:
    """Rewards on the user's scale; one that is possible does not leave the range by a rounding error."""
    low, high = spec.reward_range or (0.0, 0.0)
    rewards = high - spec.span * values if spec.direction == "minimize" else low + spec.span * values
    if spec.reward_range is None:
        return rewards
    return np.where((values >= 0.0) & (values <= 1.0), np.clip(rewards, low, high), rewards)


def user_risks(spec: Spec, values: Any) -> Any:
    """Scaled risks in the user's units."""
    return values * (spec.span / spec.risk_weight) + spec.risk_factor * spec.oriented_risk.offset(spec.origin)
