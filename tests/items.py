"""Test sets for tests: recorded answers of real models, and made ones.

`python -m tests.items` prints what part of all evaluations searches on them take, over 50 random orders.
"""

from __future__ import annotations

import csv
import math
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramgape import Instance, replicate
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


def shares(scores: Floats, runs: int, **options: Any) -> tuple[float, float, int]:
    """Of all evaluations, how many were made on average and at most; and how many answers were wrong."""
    found = replicate(scored(scores), runs=runs, epsilon=0.02, **options)
    made = [run.samples / scores.size for run in found.runs]
    return float(np.mean(made)), max(made), found.errors


def main() -> None:
    """The table of docs/theory/test-sets.md."""
    sets = {"digits, 300": digits(300)[2], "digits, 1,000": digits()[2], "made, 3,000": correlated(3000, 0.9, 1)}
    for name, scores in sets.items():
        ceiling = "0.45" if name.startswith("made") else "0.22"
        for task in ("best", f"best:max-risk={ceiling}", "pareto"):
            mean, largest, wrong = shares(scores, 50, task=task)
            sys.stdout.write(f"{name}: {task}: {mean:.3f} on average, {largest:.3f} at most, {wrong} wrong\n")


if __name__ == "__main__":
    main()
