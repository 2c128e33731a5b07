"""The road for simulated trials: whole runs in the compiled loop, one or many."""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np

from ramgape.common.checks import check_seed, whole
from ramgape.common.extras import load_extra
from ramgape.common.proportions import clopper_pearson
from ramgape.core.table import TRACE, Table, new_table
from ramgape.errors import RamgapeWarning, require
from ramgape.options import DEFAULT_EPSILON, SIMULATE, Options, flatten, shows_options
from ramgape.problems.environments import Instance
from ramgape.problems.instances import load_instance
from ramgape.search.curves import Checkpoint, CurvePoint, check_checkpoints, make_curves
from ramgape.search.engine import Engine
from ramgape.search.explained import Explained, jsonable
from ramgape.search.history import SELDOM, Recorder
from ramgape.search.inference import goal_of, infer, rigour_of, risk_label
from ramgape.search.progress import Callback, check_callback, progress_of
from ramgape.search.result import ArmTruth, Goal, Result, Truth
from ramgape.search.spec import Spec, make_spec
from ramgape.search.truth import TrueArms
from ramgape.search.watching import runs_watched, watched

if TYPE_CHECKING:
    from pandas import DataFrame

    from ramgape.views.explanation import Explanation
    from ramgape.views.plots.plot import Plot

CHUNK = 250_000  # pulls between two looks at the clock, the keyboard and the callback

Source = Instance | Mapping[str, Any] | str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class Run:
    """One simulated search, next to the truth.

    Attributes:
        seed: Of all that is random in it.
        samples: Pulls made; `pulls` are those of each arm.
        front: The answer.
        stopped: Why it ended.
        regret, exact, eps_correct: As in `Truth`.
        seconds: The time inside the compiled loop.
        spent: What all pulls have cost, where there are prices.
    """

    seed: int
    samples: int
    front: tuple[str, ...]
    stopped: str
    pulls: dict[str, int]
    regret: float
    exact: bool
    eps_correct: bool
    seconds: float
    spent: float | None = None

    @property
    def answer(self) -> tuple[str, ...]:
        """The same as `front`."""
        return self.front

    @property
    def decided(self) -> bool:
        """Whether it came to an answer."""
        return self.stopped not in ("cap", "constant", "exhausted")


@dataclass(frozen=True, slots=True, repr=False)
class Replication(Explained):
    """Many simulated searches of one instance.

    It prints itself as a summary, and goes on as plain data and as a data frame with one row per run.

    Attributes:
        instance: Its name.
        policy, bound, goal, risk, rho, alpha, exploration: As in `Result`.
        true_front: The right answer.
        runs: Each of them, in the order of their seeds.
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
    runs: tuple[Run, ...]
    seconds: float
    warnings: tuple[str, ...] = ()
    task: str = "pareto"
    arms: tuple[ArmTruth, ...] = ()
    risk_label: str = ""
    rigour: Literal["proved", "approximate"] = "proved"
    curves: tuple[CurvePoint, ...] = ()

    @property
    def mean_samples(self) -> float:
        """Average number of pulls."""
        return math.fsum(run.samples for run in self.runs) / len(self.runs)

    @property
    def mean_samples_stderr(self) -> float | None:
        """Standard error of that average; None for a single run."""
        if len(self.runs) < 2:
            return None
        return float(np.std([run.samples for run in self.runs], ddof=1)) / math.sqrt(len(self.runs))

    @property
    def ended(self) -> tuple[Run, ...]:
        """The runs that came to an answer: they neither hit the cap nor waited for an arm with equal rewards."""
        cut_short = "spend" if self.goal.kind == "confidence" else None
        return tuple(run for run in self.runs if run.decided and run.stopped != cut_short)

    @property
    def errors(self) -> int:
        """Ended runs with a wrong answer: not epsilon-correct, or not exact where epsilon is 0 or absent."""
        return sum(is_wrong(self.goal, run) for run in self.ended)

    @property
    def error_rate(self) -> float | None:
        """Share of ended runs with a wrong answer; None if every run hit the cap."""
        return self.errors / len(self.ended) if self.ended else None

    @property
    def error_interval(self) -> tuple[float, float] | None:
        """Exact 95 % confidence interval for the error probability."""
        return clopper_pearson(self.errors, len(self.ended)) if self.ended else None

    @property
    def undecided_rate(self) -> float:
        """Share of runs that hit the cap."""
        return 1.0 - len(self.ended) / len(self.runs)

    @property
    def ns_per_pull(self) -> float:
        """Time inside the compiled loops for one pull."""
        return 1e9 * math.fsum(run.seconds for run in self.runs) / sum(run.samples for run in self.runs)

    def explanation(self, ascii_only: bool = False) -> Explanation:
        """All that is said of it, for whoever shows it."""
        from ramgape.views.replication import explain_replication

        return explain_replication(self, ascii_only)

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

    def plot(self) -> Plot:
        """How long the runs took, or after a budget their regret, and how often they were wrong; and the `curves`."""
        load_extra("matplotlib", "plot")
        from ramgape.views.plots import style
        from ramgape.views.plots.plot import Plot
        from ramgape.views.plots.runs import draw_curve, draw_errors, draw_runs
        from ramgape.views.replication import headline

        with style.applied():
            figure, count = style.new_figure(title=headline(self)), len(self.runs)
            if self.curves:
                figure.set_size_inches(figure.get_figwidth(), 1.7 * figure.get_figheight())
            grid = figure.add_gridspec(3 if self.curves else 1, 2, width_ratios=(4, 1))
            axes = figure.add_subplot(grid[0, 0])
            if self.goal.kind == "budget":
                draw_runs(axes, [run.regret for run in self.runs], count, "Simple regret")
            else:
                draw_runs(axes, [run.samples for run in self.ended], count, "Pulls until it was done")
            draw_errors(figure.add_subplot(grid[0, 1]), self.error_rate, self.error_interval, self.goal.delta)
            if self.curves:
                regret = figure.add_subplot(grid[1, :])
                draw_curve(regret, self.curves, "regret")
                draw_curve(figure.add_subplot(grid[2, :], sharex=regret), self.curves, "error_rate", self.goal.delta)
        return Plot(axes)

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
        for run in described["runs"]:
            run["answer"] = run["front"]
        return described if runs else {key: value for key, value in described.items() if key != "runs"}


@shows_options(SIMULATE)
def simulate(
    instance: Source, *, seed: int = 0, callback: Callback | None = None, **options: Unpack[Options]
) -> Result:
    """One simulated search of an instance whose truth is known; the result carries it as `truth`.

    Args:
        instance: A name such as "paper:46", an instance file, its contents, or an `Instance`.
        {options}
        seed: Of all that is random in it.
        callback: Called now and then with a `Progress`; a true return value ends the search.

    Examples:
        >>> import ramgape
        >>> result = ramgape.simulate("paper:46", epsilon=0.05, seed=3)
        >>> result.front, result.truth.regret
        (('1', '2', '3'), 0.007087498274638535)
    """
    known = load_instance(instance)
    spec = simulated_spec(known, **options)
    seed = check_seed(seed)
    check_callback(callback)
    warn(spec)
    engine = Engine(spec, seed)
    recorder = Recorder(engine, SELDOM)
    try:
        with watched(options.get("progress")) as watcher:
            for _ in play(engine, known, seed, recorder=recorder):
                if watcher is not None:
                    watcher.heed(engine)
                if callback is not None and callback(progress_of(engine)):
                    engine.finish("callback")
    except KeyboardInterrupt:
        engine.finish("interrupted")
    truth = TrueArms(known, spec).assess(engine.answer(), engine.spec.epsilon)
    return replace(infer(engine, seed=seed, truth=truth), history=recorder.points())


@shows_options(SIMULATE)
def replicate(
    instance: Source,
    *,
    runs: int,
    seed: int = 0,
    executor: Executor | None = None,
    callback: Callable[[int], object] | None = None,
    checkpoints: int | Iterable[int] | None = None,
    **options: Unpack[Options],
) -> Replication:
    """Many independent simulated searches; run r has seed `seed + r`.

    Args:
        instance: As for `simulate`.
        {options}
        runs: How many.
        seed: Of the first run.
        executor: Anything that speaks `concurrent.futures.Executor`; the results do not depend on it.
        callback: Called with the number of finished runs.
        checkpoints: Numbers of pulls at which each run's answer is compared with the truth, or how many of them, evenly
            spaced on a logarithmic scale; from them come the `curves`. The runs do not depend on them.

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
    true = TrueArms(known, spec)
    points, count = check_checkpoints(checkpoints, spec)
    finished: list[tuple[Run, list[Checkpoint]]] = []
    with runs_watched(options.get("progress"), runs) as show:
        for batch in _batches(known, spec, true, range(seed, seed + runs), executor, points):
            finished.extend(batch)
            show(len(finished))
            if callback is not None:
                callback(len(finished))
    finished.sort(key=lambda run: run[0].seed)
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
        runs=tuple(run for run, _ in finished),
        seconds=time.perf_counter() - begun,
        warnings=spec.warnings,
        task=str(spec.task),
        arms=true.arms,
        risk_label=risk_label(spec),
        rigour=rigour_of(spec),
        curves=tuple(make_curves([(looks, run.samples) for run, looks in finished], points, count)) if points else (),
    )


def is_wrong(goal: Goal, judged: Run | Truth) -> bool:
    """Whether an answer is wrong: not right up to epsilon, or not exact where epsilon is 0 or absent."""
    return not (judged.eps_correct if goal.epsilon or goal.epsilon_share else judged.exact)


def check_executor(executor: object) -> None:
    """Complain before the first run rather than in the middle of one."""
    speaks = executor is None or callable(getattr(executor, "submit", None))
    require(speaks, "executor", "None, or what speaks concurrent.futures.Executor", executor)


def simulated_spec(instance: Instance, **options: Unpack[Options]) -> Spec:
    """The specification of a search on an instance, which knows its own noise."""
    if all(options.get(name) is None for name in ("epsilon", "budget", "spend")):
        options["epsilon"] = DEFAULT_EPSILON
    if options.get("sigma_max") is None:
        options["sigma_max"] = instance.sigma_max
    for what in ("noise", "reward_range"):
        require(options.get(what) is None, what, "absent: the instance knows its own", options.get(what))
    options["noise"], options["reward_range"] = instance.noise, instance.reward_range
    require(options.get("items") is None, "items", "absent: the instance knows its own", options.get("items"))
    options["items"] = None if instance.items is None else range(instance.items)
    if options.get("risk") is None and options.get("rho") is None:
        options["risk"] = instance.risk
    spec = make_spec(instance.names, **options)
    for place, arm in enumerate(instance.arms if spec.cv is not None else ()):
        least = float(arm.distribution.quantile(np.array([0.0]))[0])
        require(least >= 0.0, f"arms[{place}].distribution", "never negative, as cv states", arm.distribution)
    asked = flatten(options).get("alarm")
    require(asked in (None, "off"), "alarm", "absent: simulated rewards are what they are said to be", asked)
    return replace(spec, alarm=None)


def play(
    engine: Engine, instance: Instance, seed: int, points: Sequence[int] = (), recorder: Recorder | None = None
) -> Iterator[float]:
    """Simulate to the end, chunk by chunk; yields the seconds that each took inside the compiled loop.

    No chunk goes beyond the next one of the points, numbers of pulls in their order. Where somebody takes notes, the
    first chunk is made in parts. Later ones are not: an interrupt ends a search between two, and that must not depend
    on the notes.
    """
    generator = np.random.default_rng(seed)
    sampler = instance.sampler()
    engine.prepare(sampler)
    while engine.stopped is None:
        begun = time.perf_counter()
        point = next((each for each in points if each > engine.samples), math.inf)
        left = int(min(CHUNK, point - engine.samples))
        while left > 0 and engine.stopped is None:
            count = left
            if recorder is not None and engine.samples < CHUNK:
                count = min(left, recorder.pulls_until_next)
            left -= engine.advance(sampler, generator, count)
            if recorder is not None:
                recorder.note()
        yield time.perf_counter() - begun


def watch(engine: Engine, instance: Instance, seed: int, truth: Table | None = None) -> Iterator[Table]:
    """Simulate to the end, chunk by chunk; yields what each pull did (`TRACE`), in an array that is used again.

    Regrets are in the user's units. The pulls and the rewards are those that `play` would see. Whoever watches many
    searches of one instance may give its truth, `TrueArms(instance, spec).table()`, which takes a while for some.
    """
    generator = np.random.default_rng(seed)
    sampler = instance.sampler()
    truth = TrueArms(instance, engine.spec).table() if truth is None else truth
    trace = new_table(min(CHUNK, engine.spec.limit), TRACE)
    while engine.stopped is None:
        made = trace[: engine.advance(sampler, generator, len(trace), truth, trace)]
        made["regret"] *= engine.spec.span
        yield made


def run_once(
    instance: Instance, spec: Spec, seed: int, true: TrueArms, points: Sequence[int] = ()
) -> tuple[Run, list[Checkpoint]]:
    """One run, in brief, and its answers after some numbers of pulls."""
    engine, seconds, looks, goal = Engine(spec, seed), 0.0, [], goal_of(spec)
    answer, truth = engine.answer(), None
    for part in play(engine, instance, seed, points):
        seconds += part
        if engine.ready and points:
            answer, before = engine.answer(), answer
            if truth is None or (answer != before).any():
                truth = true.assess(answer, engine.spec.epsilon)
            looks.append(Checkpoint(engine.samples, truth.regret, is_wrong(goal, truth)))
    answer = engine.answer()
    truth = true.assess(answer, engine.spec.epsilon)
    run = Run(
        seed=seed,
        samples=engine.samples,
        front=tuple(name for name, inside in zip(spec.names, answer, strict=True) if inside),
        stopped=str(engine.stopped),
        pulls=dict(zip(spec.names, engine.arms["pulls"].tolist(), strict=True)),
        regret=truth.regret,
        exact=truth.exact,
        eps_correct=truth.eps_correct,
        seconds=seconds,
        spent=engine.spent,
    )
    return run, looks


def run_batch(
    instance: Instance, spec: Spec, seeds: Iterable[int], points: Sequence[int] = ()
) -> list[tuple[Run, list[Checkpoint]]]:
    """Several runs, one after the other."""
    true = TrueArms(instance, spec)
    return [run_once(instance, spec, seed, true, points) for seed in seeds]


def _batches(
    instance: Instance, spec: Spec, true: TrueArms, seeds: range, executor: Executor | None, points: Sequence[int]
) -> Iterator[list[tuple[Run, list[Checkpoint]]]]:
    """The runs in batches, as they are finished; few enough that handing them out costs little."""
    if executor is None:
        for seed in seeds:
            yield [run_once(instance, spec, seed, true, points)]
        return
    size = math.ceil(len(seeds) / 64)
    futures = [
        executor.submit(run_batch, instance, spec, seeds[start : start + size], points)
        for start in range(0, len(seeds), size)
    ]
    try:
        for future in as_completed(futures):
            yield future.result()
    finally:
        for future in futures:
            future.cancel()


def warn(spec: Spec) -> None:
    """Tell the caller of `simulate` or `replicate` what the specification warns of."""
    for warning in spec.warnings:
        warnings.warn(warning, RamgapeWarning, stacklevel=3)
