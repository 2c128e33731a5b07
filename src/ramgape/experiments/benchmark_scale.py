"""How much the benchmark runs, and on which instances: none of them chosen by how any method does on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

EPSILONS = (0.05, 0.02, 0.01, 0.0)

FAMOUS = ("paper:10", "paper:46")  # those of the paper's Experiment 2
PATTERNS = (1, *range(5, 51, 5))  # the first, and every fifth
GAUSSIAN_PATTERNS = (10, 46, 1, 20, 30, 40)
RANDOM = {"random-beta": 8, "random-bernoulli": 6, "random-gaussian": 6}  # the first few of each family


@dataclass(frozen=True, slots=True)
class Scale:
    """Which instances with how many runs of each method, and where a run is given up."""

    name: str
    instances: Mapping[str, int]  # runs of each method but the paper's
    epsilons: Sequence[float]
    cap: int
    paper_runs: int  # its stopping times hardly differ from run to run
    paper_cap: int


def instances() -> dict[str, int]:
    """The whole field."""
    patterns = [name for number in PATTERNS if (name := f"paper:{number}") not in FAMOUS]
    gaussian = [f"paper-gaussian:{number}" for number in GAUSSIAN_PATTERNS]
    random = [f"{family}:{number}" for family, count in RANDOM.items() for number in range(1, count + 1)]
    return {**dict.fromkeys(FAMOUS, 100), **dict.fromkeys([*patterns, *gaussian, *random], 20)}


FULL = Scale("full", instances(), EPSILONS, cap=4_000_000, paper_runs=1, paper_cap=50_000_000)

QUICK = Scale(
    "quick",
    dict.fromkeys((*FAMOUS, "paper-gaussian:10", "random-beta:1", "random-bernoulli:4", "random-gaussian:5"), 5),
    EPSILONS,
    cap=200_000,
    paper_runs=1,
    paper_cap=10_000_000,
)
