"""What a plan says: how many trials a goal takes, or how good the answer of a budget is, if the arms are as guessed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from ramgape.search.explained import Explained, jsonable
from ramgape.search.result import Goal

# Why a goal was not simulated: its answer hangs on a tie; no method could be done before the cap, by the lower bound;
# no search was done before the cap where less was asked for; no time was left.
Skipped = Literal["tie", "lower bound", "easier goal", "time"]


@dataclass(frozen=True, slots=True)
class PullForecast:
    """The trials that one confidence goal takes.

    Attributes:
        epsilon, delta: The goal.
        runs: Simulated searches, of which `undecided` reached the cap; 0 where `skipped` says why there are none.
        mean: Average number of trials; with `stderr` and `largest` None where a run was undecided or none was made.
        quantile_10, quantile_50, quantile_90: So many trials are enough with probability 0.1, 0.5, 0.9; None where that
            is beyond the cap.
        more_than: Where there is no mean: what it is larger than, as far as that is known.
        errors: Wrong answers among the runs that came to one; `error_rate` is their share, with its exact 95 %
            `error_interval`.
        lower_bound: What a method takes on average at least, if it is right whatever rewards are declared to be; None
            without SciPy, where none is known, and where no number of trials suffices.
        ratio: The mean divided by lower_bound.
        lower_bound_exact: Whether that is a bound for the guessed arms; else it is a reference, and a mean may be below
            it.
    """

    epsilon: float
    delta: float
    runs: int
    undecided: int
    skipped: Skipped | None
    mean: float | None
    stderr: float | None
    quantile_10: int | None
    quantile_50: int | None
    quantile_90: int | None
    largest: int | None
    more_than: float | None
    errors: int
    error_rate: float | None
    error_interval: tuple[float, float] | None
    lower_bound: float | None
    ratio: float | None
    lower_bound_exact: bool | None


@dataclass(frozen=True, slots=True)
class Quality:
    """The answer that one budget buys.

    Attributes:
        budget: The pulls to spend.
        runs: Simulated searches.
        regret, regret_stderr: Average simple regret, and its standard error.
        inexact, inexact_rate, inexact_interval: Answers that are not exactly the right one; their share, with its
            exact 95 % interval.
        beyond_epsilon, beyond_epsilon_rate, beyond_epsilon_interval: The same for answers that are wrong by more than
            epsilon; None where no epsilon was asked for.
    """

    budget: int
    runs: int
    regret: float
    regret_stderr: float | None
    inexact: int
    inexact_rate: float
    inexact_interval: tuple[float, float]
    beyond_epsilon: int | None
    beyond_epsilon_rate: float | None
    beyond_epsilon_interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class ArmForecast:
    """What becomes of one arm under the chosen goal.

    Attributes:
        name: As it was given.
        in_front: Whether it is in the right answer for the guessed arms.
        returned, returned_interval: How often it was in the answer, of the runs that came to one, with its exact 95 %
            interval.
        pulls: Average number of its trials; `share` is its part of all trials.
        ideal_share: The part that an ideal method would give it.
        mean, std, risk, risk_shown: Of the guess, as in `ArmTruth`.
    """

    name: str
    in_front: bool
    returned: float | None
    returned_interval: tuple[float, float] | None
    pulls: float | None
    share: float | None
    ideal_share: float | None
    mean: float
    std: float
    risk: float
    risk_shown: float


@dataclass(frozen=True, slots=True, repr=False)
class Plan(Explained):
    """What to expect of a search, if the arms are as guessed.

    Attributes:
        instance: The name of the guessed arms; `guessed_front` is their Pareto set, or the answer to another `task`.
        goal, policy, bound, risk, rho, alpha, direction, exploration: As in `Result`.
        runs, seed: Simulated searches of each goal, and the seed of the first.
        trials: For a confidence goal: one row per epsilon and delta, from the easiest to the hardest.
        qualities: For a budget: one row per budget, from the smallest to the largest.
        chosen: The row of `goal`, what was asked for; `arms` is about the same goal.
        bound_note: Whether the chosen row has a lower bound or a reference, and of which kind, or why there is none.
        max_trials: Trials after which a simulated search gave up.
        seconds: The time that all of it took.
        warnings: What was probably not meant.
        risk_label, rigour: As in `Result`.
    """

    instance: str
    goal: Goal
    policy: str
    bound: str
    risk: str
    rho: float | None
    alpha: float | None
    direction: Literal["maximize", "minimize"]
    exploration: float | None
    max_trials: int
    runs: int
    seed: int
    guessed_front: tuple[str, ...]
    trials: tuple[PullForecast, ...]
    qualities: tuple[Quality, ...]
    arms: tuple[ArmForecast, ...]
    bound_note: str
    seconds: float
    warnings: tuple[str, ...] = ()
    risk_label: str = ""
    rigour: Literal["proved", "approximate"] = "proved"
    task: str = "pareto"

    @property
    def chosen(self) -> PullForecast | Quality:
        """The row of what was asked for."""
        asked = self.goal.epsilon, self.goal.delta
        for row in self.trials:
            if (row.epsilon, row.delta) == asked:
                return row
        return next(row for row in self.qualities if row.budget == self.goal.budget)

    def _rows(self) -> list[dict[str, Any]]:
        """One for each goal, or for each budget."""
        return [asdict(row) for row in self.trials or self.qualities]

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON, with the row that was asked for as `chosen`."""
        return {**Explained.to_dict(self), "chosen": jsonable(asdict(self.chosen))}
