"""Trials of models with several outcomes: accuracy, cost and latency."""

from __future__ import annotations

from typing import Any

import numpy as np

MODELS = {
    "small": (0.80, 0.02, 1.0),
    "medium": (0.95, 0.10, 1.5),
    "large": (0.98, 0.40, 2.6),
    "tiny": (0.40, 0.01, 0.5),
}
ASKED: dict[str, Any] = {
    "outcomes": {"accuracy": (0, 1), "cost": (0, 0.5), "latency": (0, 10)},
    "objectives": ["maximize mean(accuracy)", "minimize mean(cost)"],
    "constraints": ["quantile(latency, 0.9) <= 2"],
    "epsilon": {"accuracy": 0.2, "cost": 0.05, "latency": 0.5},
}


def ask(model: str, rng: np.random.Generator) -> dict[str, float]:
    accuracy, cost, latency = MODELS[model]
    luck = rng.normal()
    return {
        "accuracy": float(rng.random() < accuracy),
        "cost": float(np.clip(cost * (1.0 + 0.1 * luck), 0.0, 0.5)),
        "latency": float(np.clip(latency * (1.0 + 0.1 * luck), 0.0, 10.0)),
        "unasked": float(luck),
    }
