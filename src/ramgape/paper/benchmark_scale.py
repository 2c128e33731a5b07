"""How much the benchmark runs, and on which instances: none of them chosen by how any method does on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ramgape.problems.random_instances import FAMILIES, random_names

EPSILONS = (0.05, 0.02, 0.01, 0.0)

FAMOUS = ("paper:10", "paper:46")  # those of the paper's Experiment 2
PATTERNS = (1, *range(5, 51, 5))  # the first, and every fifth
GAUSSIAN_PATTERNS = (10, 46, 1, 20, 30, 40)
RANDOM = {"random-beta": 8, "random-bernoulli": 6, "random-gaussian": 6}  # the first few of each family

UNDER_BUDGET = ("paper:exp3", "paper:exp4")  # those of the paper's Experiments 3 and 4


@dataclass(frozen=True, slots=True)
class BudgetScale:
    """Which instances under which budgets; the runs of every rule by the budget.

    On one instance alone more runs are needed for a narrow interval than on each of many that are averaged.
    """

    averaged: Sequence[str] = ()
    runs: Mapping[int, int] = field(default_factory=dict)
    alone: Sequence[str] = ()
    runs_alone: Mapping[int, int] = field(default_factory=dict)

    @property
    def instances(self) -> dict[str, Mapping[int, int]]:
        """Of each instance the runs by budget."""
        return {**dict.fromkeys(self.averaged, self.runs), **dict.fromkeys(self.alone, self.runs_alone)}

    @property
    def budgets(self) -> tuple[int, ...]:
        """All that occur, from small to large."""
        return tuple(sorted({*self.runs, *self.runs_alone}))


@dataclass(frozen=True, slots=True)
class BenchmarkScale:
    """Which instances with how many runs of each method, and where a run is given up."""

    name: str
    instances: Mapping[str, int]  # runs of each method but the paper's
    epsilons: Sequence[float]
    cap: int
    paper_runs: int  # its stopping times hardly differ from run to run
    paper_cap: int
    budget: BudgetScale = BudgetScale()  # of the part without stopping; nothing unless it is given


def instances() -> dict[str, int]:
    """The whole field."""
    patterns = [name for number in PATTERNS if (name := f"paper:{number}") not in FAMOUS]
    gaussian = [f"paper-gaussian:{number}" for number in GAUSSIAN_PATTERNS]
    random = [f"{family}:{number}" for family, count in RANDOM.items() for number in range(1, count + 1)]
    return {**dict.fromkeys(FAMOUS, 100), **dict.fromkeys([*patterns, *gaussian, *random], 20)}


FULL = BenchmarkScale(
    "full",
    instances(),
    EPSILONS,
    cap=4_000_000,
    paper_runs=1,
    paper_cap=50_000_000,
    budget=BudgetScale(
        random_names(),
        # Long runs cost most of the time, and of them fewer must do.
        {500: 100, 2_000: 100, 10_000: 80, 40_000: 40},
        UNDER_BUDGET,
        {500: 200, 2_000: 200, 10_000: 100, 40_000: 100},
    ),
)

QUICK = BenchmarkScale(
    "quick",
    dict.fromkeys((*FAMOUS, "paper-gaussian:10", "random-beta:1", "random-bernoulli:4", "random-gaussian:5"), 5),
    EPSILONS,
    cap=200_000,
    paper_runs=1,
    paper_cap=10_000_000,
    budget=BudgetScale(
        [f"{family}:{number}" for family in FAMILIES for number in (1, 2, 3)],
        {500: 10, 2_000: 10, 10_000: 5, 40_000: 2},
        UNDER_BUDGET,
        {500: 10, 2_000: 10, 10_000: 5, 40_000: 2},
    ),
)
