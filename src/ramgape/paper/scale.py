"""What the reports run: methods, problems, runs and seeds, for the full reports and for quick versions of them.

No problem was chosen by how any method does on it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ramgape.paper import paper
from ramgape.problems.instances import load_instance
from ramgape.problems.random_instances import COUNT, FAMILIES
from ramgape.risks.table import PAPER_RISK


class Method(NamedTuple):
    """A bound, which says what is proved, and a sampling rule, by their names."""

    bound: str
    policy: str

    @property
    def name(self) -> str:
        return f"{self.bound} + {self.policy}"


class LineUp(NamedTuple):
    """The methods for one kind of rewards; the default is compared with the rival."""

    rewards: str
    paper: Method
    others: tuple[Method, ...]
    rival: Method
    default: Method

    @property
    def methods(self) -> tuple[Method, ...]:
        return (self.paper, *self.others, self.rival, self.default)

    @property
    def contest(self) -> tuple[Method, ...]:
        """The two methods that run on every problem."""
        return (self.rival, self.default)


# By the assumption on a problem's rewards.
LINE_UPS = {
    "bounded": LineUp(
        rewards="rewards in a range",
        paper=Method("paper", "ramgape"),
        others=(Method("empirical-bernstein-stitched", "ramgape"), Method("pairwise", "ramgape")),
        rival=Method("empirical-bernstein", "ramgape"),
        default=Method("pairwise", "evidence"),
    ),
    "gaussian": LineUp(
        rewards="Gaussian rewards",
        paper=Method("gaussian-paper", "ramgape"),
        others=(),
        rival=Method("gaussian", "ramgape"),
        default=Method("gaussian-pairwise", "evidence"),
    ),
}


# `ramgape reproduce`


@dataclass(frozen=True, slots=True)
class Scale:
    """Which patterns, how many trials, how many values."""

    name: str
    patterns: Mapping[float, Sequence[int]]  # of Experiment 1, by epsilon
    tight_patterns: Mapping[float, Sequence[int]]
    totals: Mapping[int, Sequence[str]]  # of Experiment 2: policies by pattern
    gaussian_patterns: Sequence[int]
    trials: int  # of each policy in Experiments 3 and 4
    comparison_trials: int  # of the three best rules
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


# `ramgape benchmark`

EPSILONS = (0.05, 0.02, 0.01, 0.0)

FAMOUS = ("paper:10", "paper:46")  # the patterns of the paper's Experiment 2
PATTERNS = (1, *range(5, 51, 5))  # the first, and every fifth
GAUSSIAN_PATTERNS = (10, 46, 1, 20, 30, 40)
RANDOM = {"random-beta": 8, "random-bernoulli": 6, "random-gaussian": 6}  # the first few of each family
RANGED = ("random-beta", "random-bernoulli")  # families whose rewards have a range
UNDER_BUDGET = ("paper:exp3", "paper:exp4")  # the problems of the paper's Experiments 3 and 4

# Nothing was tuned on these; published numbers are theirs.
HELD_OUT = tuple(f"{family}:{number}" for family in FAMILIES for number in range(101, 121))
GROUPS = ("known", "held-out")


@dataclass(frozen=True, slots=True)
class BudgetScale:
    """Which problems under which budgets, and the runs of every rule by the budget.

    A problem that stands alone needs more runs for a narrow interval than each of many that are averaged.
    """

    averaged: Sequence[str] = ()
    runs: Mapping[int, int] = field(default_factory=dict)
    alone: Sequence[str] = ()
    runs_alone: Mapping[int, int] = field(default_factory=dict)

    @property
    def instances(self) -> dict[str, Mapping[int, int]]:
        """The runs by budget, for each problem."""
        return {**dict.fromkeys(self.averaged, self.runs), **dict.fromkeys(self.alone, self.runs_alone)}

    @property
    def budgets(self) -> tuple[int, ...]:
        """All budgets, from small to large."""
        return tuple(sorted({*self.runs, *self.runs_alone}))


@dataclass(frozen=True, slots=True)
class QuestionScale:
    """Where searches for one arm are compared with searches for the Pareto set, and with rivals under a budget."""

    instances: Sequence[str] = ()
    epsilons: Sequence[float] = (0.01, 0.02)
    runs: int = 0
    plain_runs: int = 0  # with Hoeffding's bounds, which take long and hardly differ from run to run
    cap: int = 20_000_000
    averaged: Sequence[str] = ()  # under a budget
    budget_runs: Mapping[int, int] = field(default_factory=dict)
    exact_cap: int = 2_000_000  # in the comparison with VA-LUCB, which may never stop


@dataclass(frozen=True, slots=True)
class BenchmarkScale:
    """Which problems with how many runs, and when a run is given up, or not begun: if the reference is too long.

    On known problems with the paper's risk all methods run, elsewhere only the default and its rival.
    """

    name: str
    instances: Mapping[str, int]  # runs of the default and its rival
    epsilons: Sequence[float]
    cap: int
    longest: float  # the largest reference at which anything runs
    other_runs: int
    paper_runs: int  # its stopping times hardly differ from run to run
    paper_cap: int
    budget: BudgetScale = BudgetScale()
    risk: str = PAPER_RISK
    tasks: QuestionScale = QuestionScale()

    def runs(self, instance: str, method: Method) -> int:
        """The number of runs of a method on a problem."""
        line_up = self.line_up(instance)
        if method in line_up.contest:
            return self.instances[instance]
        return self.paper_runs if method == line_up.paper else self.other_runs

    def methods(self, instance: str) -> tuple[Method, ...]:
        """The methods that run on a problem."""
        line_up = self.line_up(instance)
        return line_up.methods if self.risk == PAPER_RISK and group_of(instance) == GROUPS[0] else line_up.contest

    @staticmethod
    def line_up(instance: str) -> LineUp:
        """The methods for the rewards of a problem."""
        return LINE_UPS[load_instance(instance).noise]


def group_of(instance: str) -> str:
    """Whether something may have been tuned on a problem.

    >>> group_of("paper:exp3"), group_of("random-beta:20"), group_of("random-beta:101")
    ('known', 'known', 'held-out')
    """
    family, number = instance.split(":")
    return GROUPS[family in FAMILIES and int(number) > COUNT]


KNOWN = (
    *FAMOUS,
    *(name for number in PATTERNS if (name := f"paper:{number}") not in FAMOUS),
    *(f"paper-gaussian:{number}" for number in GAUSSIAN_PATTERNS),
    *(f"{family}:{number}" for family, count in RANDOM.items() for number in range(1, count + 1)),
)

FULL_BENCHMARK = BenchmarkScale(
    "full",
    {**dict.fromkeys([*KNOWN, *HELD_OUT], 60), **dict.fromkeys(FAMOUS, 100)},
    EPSILONS,
    cap=4_000_000,
    longest=50_000.0,
    other_runs=20,
    paper_runs=1,
    paper_cap=50_000_000,
    budget=BudgetScale(
        HELD_OUT,
        {500: 100, 2_000: 100, 10_000: 80, 40_000: 60},  # long runs take most of the time
        UNDER_BUDGET,
        {500: 200, 2_000: 200, 10_000: 100, 40_000: 100},
    ),
    tasks=QuestionScale(
        (*FAMOUS, *(f"{family}:{number}" for family in RANGED for number in range(101, 107))),
        runs=40,
        plain_runs=5,
        averaged=tuple(f"{family}:{number}" for family in RANGED for number in range(101, 121)),
        budget_runs={500: 100, 2_000: 100, 10_000: 40},
    ),
)

QUICK_RUNS = {500: 10, 2_000: 10, 10_000: 5, 40_000: 2}
QUICK_BENCHMARK = BenchmarkScale(
    "quick",
    dict.fromkeys((*FAMOUS, "paper-gaussian:10", "random-beta:108", "random-bernoulli:107", "random-gaussian:102"), 5),
    EPSILONS,
    cap=200_000,
    longest=20_000.0,
    other_runs=3,
    paper_runs=1,
    paper_cap=10_000_000,
    budget=BudgetScale(
        [f"{family}:{number}" for family in FAMILIES for number in (101, 102, 107)],
        QUICK_RUNS,
        UNDER_BUDGET,
        QUICK_RUNS,
    ),
    tasks=QuestionScale(
        (*FAMOUS, "random-beta:101", "random-bernoulli:101"),
        runs=5,
        plain_runs=2,
        averaged=tuple(f"{family}:{number}" for family in RANGED for number in (101, 102, 107)),
        budget_runs={500: 10, 2_000: 10},
    ),
)
