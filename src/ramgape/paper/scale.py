"""How much is run: the paper's whole programme, or a small part of it that tells whether everything works."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ramgape.paper import paper


@dataclass(frozen=True, slots=True)
class Scale:
    """Which patterns, how many trials, how many values."""

    name: str
    patterns: Mapping[float, Sequence[int]]  # of Experiment 1, by epsilon
    tight_patterns: Mapping[float, Sequence[int]]
    totals: Mapping[int, Sequence[str]]  # Experiment 2: which policies run on which pattern
    gaussian_patterns: Sequence[int]
    trials: int  # of each policy in Experiments 3 and 4
    comparison_trials: int  # of the three best rules, to know them apart
    sweep_trials: int
    explorations: Sequence[float]  # values of the constant a
    event_trials: int  # for the good event
    theorem_budgets: Mapping[int, int]  # for Theorem 1: trials by budget


FULL = Scale(
    name="full",
    patterns={paper.EPSILON: paper.PATTERNS, paper.APPENDIX_EPSILON: paper.PATTERNS},
    # Pulls grow up to fourfold when epsilon is halved; at 0 two of the patterns are those of Experiment 2.
    tight_patterns={0.02: tuple(range(1, 21)), 0.01: tuple(range(1, 11)), 0.0: (1, 10, 46)},
    totals=dict.fromkeys(paper.TOTALS, paper.CONFIDENCE_POLICIES),
    gaussian_patterns=paper.PATTERNS,
    trials=paper.TRIALS,
    comparison_trials=500,
    sweep_trials=60,
    explorations=tuple(10.0 ** (half / 2.0) for half in range(-8, 3)),
    event_trials=50,
    theorem_budgets={
        **dict.fromkeys((10, 30, 100, 300, 1_000, 3_000, 10_000), 400),
        **dict.fromkeys((30_000, 100_000), 60),
        **dict.fromkeys((140_000, 160_000, 180_000), 40),
    },
)

QUICK = Scale(
    name="quick",
    patterns={paper.EPSILON: (1, 2, 3, 10, 46), paper.APPENDIX_EPSILON: (10, 46)},
    tight_patterns={0.02: (46,)},
    totals={46: ("ramgape", "ra-lucb"), 10: ("ramgape",)},
    gaussian_patterns=(1, 2, 3, 10, 46),
    trials=8,
    comparison_trials=20,
    sweep_trials=5,
    explorations=tuple(10.0**power for power in range(-4, 2)),
    event_trials=3,
    theorem_budgets={**dict.fromkeys((10, 100, 1_000, 10_000), 40), 140_000: 4},
)
