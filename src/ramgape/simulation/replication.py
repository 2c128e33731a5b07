"""Many simulated searches of one instance, and what they say together."""

from __future__ import annotations

import math
import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal, Self, Unpack

import numpy as np

from ramgape.common.checks import check_seed, whole
from ramgape.common.extras import load_extra
from ramgape.core.pareto import Mask
from ramgape.options import SIMULATE, Options, shows_options
from ramgape.problems.instances import Source, load_instance
from ramgape.search.explained import Explained, jsonable, restore
from ramgape.search.inference import goal_of, rigour_of, risk_label
from ramgape.search.result import ArmTruth, Goal
from ramgape.simulation.curves import CurvePoint, check_checkpoints, make_curves
from ramgape.simulation.runs import UNDECIDED, Run, Runs, is_wrong
from ramgape.simulation.simulation import simulated_spec, warn
from ramgape.simulation.sweep import Sweep
from ramgape.simulation.truth import TrueArms
from ramgape.statistics.proportions import clopper_pearson
from ramgape.trials.monitoring import runs_monitored
from ramgape.trials.pieces import Makers, check_executor, engine_for
from ramgape.trials.progress import check_callback

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True, slots=True, repr=False)
class Replication(Explained):
    """Many simulated searches of one instance.

    It prints itself as a summary, and goes on as plain data and as a data frame with one row per run.

    Attributes:
        instance: Its name.
        policy, bound, goal, risk, rho, alpha, exploration: As in `Result`.
        true_front: The right answer.
        runs: Each of them, in the order of their seeds; `runs.table` has them as columns of NumPy's.
        seconds: The time that all of it took.
        warnings: What was probably not meant.
        task: What was looked for.
        arms: What is true of each arm, in the user's units.
        risk_label, rigour: As in `Result`.
        curves: Regret and share of wrong answers over the number of pulls, at the `checkpoints`.
    """

    instance: str
    policy: str
    bound: str
    goal: Goal
    risk: str
    rho: float | None
    alpha: float | None
    exploration: float | None
    true_front: tuple[str, ...]
    runs: Runs
    seconds: float
    warnings: tuple[str, ...] = ()
    task: str = "pareto"
    arms: tuple[ArmTruth, ...] = ()
    risk_label: str = ""
    rigour: Literal["proved", "approximate"] = "proved"
    curves: tuple[CurvePoint, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "runs", Runs.of(self.runs))

    @property
    def mean_samples(self) -> float:
        """Average number of pulls."""
        return int(self.runs.table["samples"].sum()) / len(self.runs)

    @property
    def mean_samples_stderr(self) -> float | None:
        """Standard error of that average; None for a single run."""
        if len(self.runs) < 2:
            return None
        return float(np.std(self.runs.table["samples"], ddof=1)) / math.sqrt(len(self.runs))

    @property
    def ended(self) -> Runs:
        """The runs that came to an answer: they neither hit the cap nor waited for an arm with equal rewards."""
        return self.runs.where(self._has_ended)

    @property
    def _has_ended(self) -> Mask:
        """Which of the runs those are."""
        cut_short = ("spend",) if self.goal.kind == "confidence" else ()
        return ~self.runs.stopped_by(*UNDECIDED, *cut_short)

    @property
    def ended_count(self) -> int:
        """How many runs came to an answer."""
        return int(self._has_ended.sum())

    @property
    def _wrong(self) -> Mask:
        """Which of the runs have a wrong answer, whether they ended or not."""
        judged = "eps_correct" if self.goal.tolerant else "exact"
        return ~np.asarray(self.runs.table[judged])

    @property
    def errors(self) -> int:
        """Ended runs with a wrong answer: not epsilon-correct, or not exact where epsilon is 0 or absent."""
        return int((self._wrong & self._has_ended).sum())

    @property
    def error_rate(self) -> float | None:
        """Share of ended runs with a wrong answer; None if every run hit the cap."""
        return self.errors / self.ended_count if self.ended_count else None

    @property
    def error_interval(self) -> tuple[float, float] | None:
        """Exact 95 % confidence interval for the error probability."""
        return clopper_pearson(self.errors, self.ended_count) if self.ended_count else None

    @property
    def undecided_rate(self) -> float:
        """Share of runs that hit the cap."""
        return 1.0 - self.ended_count / len(self.runs)

    @property
    def ns_per_pull(self) -> float:
        """Time inside the compiled loops for one pull."""
        table = self.runs.table
        return 1e9 * float(table["seconds"].sum(dtype=float)) / int(table["samples"].sum())

    def _rows(self) -> list[dict[str, Any]]:
        """One for each run."""
        return [{**asdict(run), "answer": run.answer, "wrong": is_wrong(self.goal, run)} for run in self.runs]

    def curves_frame(self) -> DataFrame:
        """The `curves` as a pandas data frame, one row for each number of pulls.

        Raises:
            MissingExtra: pandas is not installed.
        """
        frame: DataFrame = load_extra("pandas", "frame").DataFrame([asdict(point) for point in self.curves])
        return frame

    def to_dict(self, runs: bool = True) -> dict[str, Any]:
        """Everything, ready for JSON.

        Args:
            runs: Whether each run is told; there may be many, and without them it is a summary.
        """
        derived = (
            "mean_samples",
            "mean_samples_stderr",
            "error_rate",
            "error_interval",
            "undecided_rate",
            "ns_per_pull",
        )
        described = {**Explained.to_dict(self), **{name: jsonable(getattr(self, name)) for name in derived}}
        if not runs:
            return {key: value for key, value in described.items() if key != "runs"}
        described["runs"] = [jsonable({**asdict(run), "answer": run.answer}) for run in self.runs]
        return described

    @classmethod
    def _from(cls, description: Mapping[str, Any]) -> Self:
        if "runs" not in description:
            return restore(cls, description)
        runs = Runs.of(restore(Run, run) for run in description["runs"])
        return restore(cls, {**description, "runs": runs})


@shows_options(SIMULATE)
def replicate(
    instance: Source,
    *,
    runs: int,
    seed: int = 0,
    executor: Makers = None,
    callback: Callable[[int], object] | None = None,
    checkpoints: int | Iterable[int] | None = None,
    keep: str | os.PathLike[str] | None = None,
    **options: Unpack[Options],
) -> Replication:
    """Many independent simulated searches; run r has seed `seed + r`.

    Args:
        instance: As for `simulate`.
        {options}
        runs: How many.
        seed: Of the first run.
        executor: Where they are made: anything that speaks `concurrent.futures.Executor`, a `dask.distributed.Client`,
            "tcp://SCHEDULER:8786", "dask" for a cluster on this machine, the module ray or "ray". The results do not
            depend on it. Runs are handed out in tasks of some seconds; one whose worker dies is made again elsewhere.
        callback: Called with the number of finished runs.
        checkpoints: Numbers of pulls at which each run's answer is compared with the truth, or how many of them, evenly
            spaced on a logarithmic scale; from them come the `curves`. The runs do not depend on them.
        keep: A folder in which finished tasks are kept. The same call, after a crash say, then makes only what is
            missing; so does one for more runs. What was kept by other code, or for another question, is not taken.

    Examples:
        >>> import ramgape
        >>> found = ramgape.replicate("paper:46", runs=20, budget=2000, checkpoints=[200, 2000])
        >>> [(point.pulls, point.runs, round(point.regret, 3)) for point in found.curves]
        [(200, 20, 0.017), (2000, 20, 0.002)]
    """
    known = load_instance(instance)
    spec = simulated_spec(known, **options)
    warn(spec)
    runs = whole(runs, "runs", "a whole number of at least 1", 1)
    seed = check_seed(seed)
    check_callback(callback)
    check_executor(executor)
    begun = time.perf_counter()
    points, count = check_checkpoints(checkpoints, spec)
    sweep = Sweep(known, spec, range(seed, seed + runs), points, keep)
    with runs_monitored(options.get("progress"), runs, lambda: sweep.waiting) as show, engine_for(executor) as engine:
        for finished in sweep.run(engine):
            show(finished)
            if callback is not None:
                callback(finished)
    table, true = sweep.table, TrueArms(known, spec)
    curves = make_curves(table["samples"], table["look_regret"], table["look_wrong"], points, count) if points else ()
    made = Runs(spec.names, table)
    return Replication(
        instance=known.name,
        policy=spec.policy,
        bound=str(spec.bound),
        goal=goal_of(spec),
        risk=str(spec.risk),
        rho=spec.rho,
        alpha=spec.alpha,
        exploration=spec.exploration,
        true_front=true.names,
        runs=made.without_looks() if points else made,
        seconds=time.perf_counter() - begun,
        warnings=spec.warnings,
        task=str(spec.question),
        arms=true.arms,
        risk_label=risk_label(spec),
        rigour=rigour_of(spec),
        curves=tuple(curves),
    )
