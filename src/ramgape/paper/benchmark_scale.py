"""How much the benchmark runs, and on which instances: none of them chosen by how any method does on it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ramgape.options import PAPER_RISK
from ramgape.paper.methods import LINE_UPS, LineUp, Method
from ramgape.problems.instances import load_instance
from ramgape.problems.random_instances import COUNT, FAMILIES

EPSILONS = (0.05, 0.02, 0.01, 0.0)

FAMOUS = ("paper:10", "paper:46")  # those of the paper's Experiment 2
PATTERNS = (1, *range(5, 51, 5))  # the first, and every fifth
GAUSSIAN_PATTERNS = (10, 46, 1, 20, 30, 40)
RANDOM = {"random-beta": 8, "random-bernoulli": 6, "random-gaussian": 6}  # the first few of each family

# Nothing was tuned on these, and numbers of them are what is published.
HELD_OUT = tuple(f"{family}:{number}" for family in FAMILIES for number in range(101, 121))
GROUPS = ("known", "held-out")

RANGED = ("random-beta", "random-bernoulli")  # families whose rewards have a range

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
class TaskScale:
    """Where searches for one arm are compared with those for the Pareto set, and with their rivals under a budget."""

    instances: Sequence[str] = ()
    epsilons: Sequence[float] = (0.01, 0.02)
    runs: int = 0
    plain_runs: int = 0  # with Hoeffding's bounds, which take long and hardly differ from run to run
    cap: int = 20_000_000
    averaged: Sequence[str] = ()  # under a budget
    budget_runs: Mapping[int, int] = field(default_factory=dict)
    exact_cap: int = 2_000_000  # where VA-LUCB is compared, which may go on for ever


@dataclass(frozen=True, slots=True)
class BenchmarkScale:
    """Which instances with how many runs, and where a run is given up, or not begun: if the reference is too long.

    The paper's method, and others of which only the bound or only the rule is the default's, run on known instances
    with the paper's risk; the two that matter run everywhere.
    """

    name: str
    instances: Mapping[str, int]  # runs of the default and its rival
    epsilons: Sequence[float]
    cap: int
    longest: float  # of the references for which anything is run
    other_runs: int
    paper_runs: int  # its stopping times hardly differ from run to run
    paper_cap: int
    budget: BudgetScale = BudgetScale()  # of the part without stopping; nothing unless it is given
    risk: str = PAPER_RISK
    tasks: TaskScale = TaskScale()

    def runs(self, instance: str, method: Method) -> int:
        """How many of a method on an instance."""
        line_up = self.line_up(instance)
        if method in line_up.contest:
            return self.instances[instance]
        return self.paper_runs if method == line_up.paper else self.other_runs

    def methods(self, instance: str) -> tuple[Method, ...]:
        """The methods that are run on an instance."""
        line_up = self.line_up(instance)
        return line_up.methods if self.risk == PAPER_RISK and group_of(instance) == GROUPS[0] else line_up.contest

    @staticmethod
    def line_up(instance: str) -> LineUp:
        """The methods for the rewards of an instance."""
        return LINE_UPS[load_instance(instance).noise]


def group_of(instance: str) -> str:
    """Whether something may have been tuned on an instance.

    >>> group_of("paper:exp3"), group_of("random-beta:20"), group_of("random-beta:101")
    ('known', 'known', 'held-out')
    """
    family, number = instance.split(":")
    return GROUPS[family in FAMILIES and int(number) > COUNT]


def known_instances() -> list[str]:
    """Those on which methods have always been compared."""
    patterns = [name for number in PATTERNS if (name := f"paper:{number}") not in FAMOUS]
    gaussian = [f"paper-gaussian:{number}" for number in GAUSSIAN_PATTERNS]
    random = [f"{family}:{number}" for family, count in RANDOM.items() for number in range(1, count + 1)]
    return [*FAMOUS, *patterns, *gaussian, *random]


FULL = BenchmarkScale(
    "full",
    {**dict.fromkeys([*known_instances(), *HELD_OUT], 60), **dict.fromkeys(FAMOUS, 100)},
    EPSILONS,
    cap=4_000_000,
    longest=50_000.0,
    other_runs=20,
    paper_runs=1,
    paper_cap=50_000_000,
    budget=BudgetScale(
        HELD_OUT,
        # Long runs cost most of the time, and of them fewer must do.
        {500: 100, 2_000: 100, 10_000: 80, 40_000: 60},
        UNDER_BUDGET,
        {500: 200, 2_000: 200, 10_000: 100, 40_000: 100},
    ),
    tasks=TaskScale(
        (*FAMOUS, *(f"{family}:{number}" for family in RANGED for number in range(101, 107))),
        runs=40,
        plain_runs=5,
        averaged=tuple(f"{family}:{number}" for family in RANGED for number in range(101, 121)),
        budget_runs={500: 100, 2_000: 100, 10_000: 40},
    ),
)

QUICK = BenchmarkScale(
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
        {500: 10, 2_000: 10, 10_000: 5, 40_000: 2},
        UNDER_BUDGET,
        {500: 10, 2_000: 10, 10_000: 5, 40_000: 2},
    ),
    tasks=TaskScale(
        (*FAMOUS, "random-beta:101", "random-bernoulli:101"),
        runs=5,
        plain_runs=2,
        averaged=tuple(f"{family}:{number}" for family in RANGED for number in (101, 102, 107)),
        budget_runs={500: 10, 2_000: 10},
    ),
)
