"""Test sets for tests: recorded answers of real models, and made ones."""

from __future__ import annotations

import csv
import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ramgape import Instance
from ramgape.problems.instances import load_instance

Floats = NDArray[np.float64]

DIGITS = Path(__file__).parent / "data" / "digits.csv"  # made by make_digits.py beside it


def digits(count: int = 1000) -> tuple[list[str], list[str], Floats]:
    """The names of the models, those of the first so many items, and the score of each model on each item."""
    with DIGITS.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    rows = rows[:count]
    return header[1:], [row[0] for row in rows], np.array([row[1:] for row in rows], float).T


def scored(scores: Floats, name: str = "made") -> Instance:
    """An instance: a row of scores for each arm."""
    arms = [
        {"name": f"arm {number}", "distribution": "scores", "values": values}
        for number, values in enumerate(scores.tolist())
    ]
    return load_instance({"name": name, "reward_range": [0, 1], "items": scores.shape[1], "arms": arms})


def correlated(count: int, common: float, seed: int, arms: int = 10) -> Floats:
    """Whether each arm was right about each item: .80, .77, .74, ... of them, more often about the same ones the more
    their hidden scores have in `common`."""
    generator = np.random.default_rng(seed)
    shared = generator.normal(size=count)
    right = np.empty((arms, count))
    for arm in range(arms):
        own = math.sqrt(common) * shared + math.sqrt(1.0 - common) * generator.normal(size=count)
        right[arm] = own > np.quantile(own, 0.2 + 0.03 * arm)
    return right
