"""Before any trial: what a search will take, and what a budget will buy, if the arms are as guessed.

The guessed arms are an instance. Searches of it are simulated (`replicate`) for the goal that was asked for and for
others around it, and set beside what any method would take at least (`lower_bound`).

How long that takes is bounded by numbers of pulls, never by a clock, so that a plan is the same on every machine; only
without the compiler does the clock decide (`pace`). A run gives up after `max_trials`; a few runs come first, and tell
how many more the work allows. A goal is not simulated where that is proved to be in vain, or was in vain for an easier
one.
"""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, Unpack, cast

import numpy as np

from ramgape.bounds import the_bound
from ramgape.common.checks import check_many, check_seed, whole
from ramgape.errors import InvalidInstance, MissingExtra, RamgapeWarning, require
from ramgape.options import PLAN, PLANNED_RUNS, PLANNED_TRIALS, Options, shows_options
from ramgape.problems.environments import Instance
from ramgape.problems.instances import Source, load_instance
from ramgape.risks.table import MOMENTS, ROOT
from ramgape.search.inference import goal_of, rigour_of, risk_label
from ramgape.search.spec import Spec, parse_share
from ramgape.simulation.alternatives import is_known
from ramgape.simulation.forecast import ArmForecast, Plan, PullForecast, Quality, Skipped
from ramgape.simulation.lower_bound import LowerBound, in_numbers, lower_bound, relative_entropy
from ramgape.simulation.pace import (
    FASTER,
    SECONDS,
    Pace,
    is_limited,
    longest_run,
    pilot_pulls,
    precision_words,
    within_time,
)
from ramgape.simulation.replication import Replication, replicate
from ramgape.simulation.runs import Run, Runs
from ramgape.simulation.simulation import simulated_options, simulated_spec
from ramgape.simulation.truth import TrueArms
from ramgape.statistics.proportions import clopper_pearson
from ramgape.trials.backend import TrialEngine
from ramgape.trials.pieces import Makers, check_executor, engine_for
from ramgape.trials.progress import check_callback

DEFAULT_PART = 0.05  # of the reward range, for epsilon: a tenth would ask for nothing
FACTORS = (2.0, 1.0, 0.5, 0.25)  # between the chosen epsilon and those around it; 0 comes last
DELTAS = (0.1, 0.05, 0.01)
BUDGET_FACTORS = (0.25, 0.5, 1.0, 2.0, 4.0)

FIRST_RUNS = 5  # of a goal; if all of them reach the cap, few of the others would not
FEWEST_RUNS = 10  # however much work that is
CHOSEN_WORK = 10  # times max_trials: what all runs of the chosen goal may take together
OTHER_WORK = 2  # and those of any other goal

# Takes what is done, what there is to do (in the same unit) and what is going on, in words.
PlanCallback = Callable[[float, float, str], object]

Target = tuple[float, float]  # epsilon, delta


@shows_options(PLAN)
def plan(
    instance: Source,
    *,
    epsilons: Iterable[float] | None = None,
    deltas: Iterable[float] | None = None,
    budgets: Iterable[int] | None = None,
    runs: int = PLANNED_RUNS,
    seed: int = 0,
    executor: Makers = None,
    callback: PlanCallback | None = None,
    keep: str | os.PathLike[str] | None = None,
    **options: Unpack[Options],
) -> Plan:
    """What to expect of a search before its first trial, from guessed arms.

    If the guess is wrong, the guarantee of a confidence goal holds all the same; only the number of trials changes.
    The runs of the chosen goal together take about ten times `max_trials` at most, those of any other goal twice that.

    Args:
        instance: The arms as you guess them: a name, an instance file, its contents, or an `Instance`.
        {options}
        epsilons: The tolerances to compare, the first of which stands for `epsilon`; unless given, some around that,
            and 0. Where `epsilon` is a pair (mean, risk), these are about the mean, and that about the risk changes in
            proportion.
        deltas: The accepted probabilities of a wrong answer to compare; the first stands for `delta`.
        budgets: Under a budget: the budgets to compare; the first stands for `budget`.
        runs: Simulated searches of each goal; fewer where they are long (see `max_trials`), but ten at least.
        seed: Of the first run; run r has seed + r.
        executor: As for `replicate`; the numbers do not depend on it.
        callback: Called with what is done, what there is to do, and what is going on, in words.
        keep: As for `replicate`: a folder in which finished runs are kept.

    Examples:
        >>> import ramgape
        >>> planned = ramgape.plan("paper:46", epsilon=0.05, epsilons=[], deltas=[], runs=20)
        >>> round(planned.chosen.mean, -3), planned.chosen.errors
        (2000.0, 0)
    """
    known = load_instance(instance)
    count, seed = whole(runs, "runs", "a whole number of at least 1", 1), check_seed(seed)
    check_callback(callback)
    check_executor(executor)
    options = simulated_options(options, PLAN)
    if options.get("max_trials") is None:
        options["max_trials"] = PLANNED_TRIALS
    if options.get("budget") is not None or budgets is not None:
        for what, given in (("epsilons", epsilons), ("deltas", deltas)):
            require(given is None, what, "absent under a budget", given)
    with engine_for(executor) as engine:  # one for all of the plan
        setting = Setting(known, count, seed, engine, callback, keep)
        if options.get("budget") is not None or budgets is not None:
            return _plan_budget(setting, _listed(budgets, "budgets"), options)
        return _plan_confidence(setting, _listed(epsilons, "epsilons"), _listed(deltas, "deltas"), options)


class Setting(NamedTuple):
    """What all simulations of a plan have in common."""

    known: Instance
    runs: int
    seed: int
    executor: TrialEngine | None
    callback: PlanCallback | None
    keep: str | os.PathLike[str] | None

    def replicate(
        self, options: Options, first: int, runs: int, callback: Callable[[int], object] | None
    ) -> Replication:
        """Runs of one goal from run `first` on; of what the goal warns of, the plan tells once."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RamgapeWarning)
            where: Any = {"executor": self.executor, "callback": callback, "keep": self.keep}
            return replicate(self.known, runs=runs, seed=self.seed + first, **where, **options)

    def runs_in(
        self,
        seconds: float,
        options: Options,
        notice: Callable[[int], object],
        found: Replication | None = None,
    ) -> Replication:
        """As many runs of a goal as some seconds allow."""

        def make(first: int, runs: int) -> Replication:
            return self.replicate(options, first, runs, lambda number: notice(first + number))

        return within_time(seconds, self.runs, make, found)

    def pilot(self, options: Options) -> float:
        """Seconds that a trial takes, by one short run."""
        return max(1e-9 * self.replicate(options, 0, 1, None).ns_per_pull, 1e-7)


def _listed(values: Any, what: str) -> list[Any] | None:
    """The values of a grid; what they may be is for the specification to say."""
    if values is None:
        return None
    check_many(values, what, "a sequence of numbers")
    return list(values)


def _with(options: Options, **changes: Any) -> Options:
    return cast(Options, {**options, **changes})


# ------------------------------------------------------------------------------------ confidence


def _plan_confidence(setting: Setting, epsilons: list[Any] | None, deltas: list[Any] | None, options: Options) -> Plan:
    begun = time.perf_counter()
    known = setting.known
    if options.get("epsilon") is None:
        low, high = known.reward_range or (0.0, 1.0)
        options["epsilon"] = epsilons[0] if epsilons else DEFAULT_PART * (high - low)
    share = parse_share(options["epsilon"])
    options["epsilon"] = in_numbers(known, options["epsilon"])
    if options.get("delta") is None and deltas:
        options["delta"] = deltas[0]
    chosen = simulated_spec(known, **options)
    pace = Pace() if is_limited() else None
    if pace is not None:
        short = _with(options, max_trials=min(pilot_pulls(chosen), chosen.max_trials))
        options["max_trials"] = longest_run(setting.pilot(short), chosen.max_trials)
        chosen = simulated_spec(known, **options)
    if epsilons is None:
        epsilons = _usual_epsilons(known, chosen, options)
    specs = _targets(known, chosen, epsilons, DELTAS if deltas is None else deltas, options)
    told = _tell(specs.values())
    bounds, absent = _lower_bounds(known, chosen, {epsilon for epsilon, _ in specs})
    asked = _target(chosen)

    meter = Meter(setting, {target: _least(bounds, target) or 1.0 for target in specs})
    found: dict[Target, Replication] = {}
    skipped: dict[Target, Skipped | None] = {}

    def goal(target: Target) -> tuple[Options, Callable[[int], object]]:
        epsilon, delta = target
        notice = meter.of(target, f"epsilon {epsilon:g}, delta {delta:g}")
        return _with(options, epsilon=_tolerance(chosen, epsilon), delta=delta), notice

    for target in specs:
        skipped[target] = _skipped(target, bounds, found, chosen)
        if skipped[target] is None and pace is not None and target != asked and pace.is_half_over:
            skipped[target] = "time"
        if skipped[target] is None:
            work = (CHOSEN_WORK if target == asked else OTHER_WORK) * chosen.max_trials
            found[target] = (
                _search(setting, *goal(target), work) if pace is None else setting.runs_in(0.0, *goal(target))
            )
        meter.finish(target)
    if pace is not None:
        for target, seconds in pace.shares(list(found), asked):
            found[target] = setting.runs_in(seconds, *goal(target), found[target])
    rows = [_trials(target, found.get(target), skipped[target], bounds, chosen.max_trials) for target in specs]

    bound = bounds.get(asked[0])
    return _finish(
        setting,
        chosen,
        share,
        trials=tuple(rows),
        qualities=(),
        arms=_arms(known, chosen, found.get(asked), bound.allocation if bound is not None else {}),
        bound_note=bound.note if bound is not None else absent,
        seconds=time.perf_counter() - begun,
        warnings=told,
    )


def _target(spec: Spec) -> Target:
    assert spec.epsilon is not None
    assert spec.delta is not None
    return spec.epsilon, spec.delta


def _tolerance(chosen: Spec, epsilon: Any) -> Any:
    """A tolerance as it is asked for: where mean and risk have one each, that in risk goes with that in mean."""
    if chosen.risk_epsilon is None:
        return epsilon
    require(not isinstance(epsilon, tuple | list), "each of epsilons", "a number: the tolerance in mean", epsilon)
    return epsilon, epsilon / chosen.risk_weight


def _usual_epsilons(known: Instance, chosen: Spec, options: Options) -> list[float]:
    """Tolerances around the chosen one; around the usual one if 0 is chosen. No larger one that asks for nothing."""
    middle = chosen.epsilon or DEFAULT_PART * chosen.span
    around = [factor * middle for factor in FACTORS]

    def made(epsilon: float) -> Spec:
        return simulated_spec(known, **_with(options, epsilon=_tolerance(chosen, epsilon)))

    sensible = [epsilon for epsilon in around if {*made(epsilon).warnings} <= {*chosen.warnings}]
    return [*sensible, 0.0]


def _targets(
    known: Instance, chosen: Spec, epsilons: Iterable[Any], deltas: Iterable[Any], options: Options
) -> dict[Target, Spec]:
    """All goals, checked, from the easiest to the hardest."""
    made = [
        simulated_spec(known, **_with(options, epsilon=_tolerance(chosen, epsilon), delta=delta))
        for epsilon in [chosen.epsilon, *epsilons]
        for delta in [chosen.delta, *deltas]
    ]
    specs = {_target(spec): spec for spec in made}
    return {target: specs[target] for target in sorted(specs, reverse=True)}


def _lower_bounds(known: Instance, chosen: Spec, epsilons: Iterable[float]) -> tuple[dict[float, LowerBound], str]:
    """By epsilon, since delta is but a factor; where there are none, the reason."""
    if not is_known(chosen.question):
        return {}, f"nothing of the kind is known for question {chosen.question}, only for pareto, best and least-risk"
    if chosen.question.about_risk and {MOMENTS, ROOT}.isdisjoint(chosen.risk.made_of):
        return {}, f"nothing of the kind is known for risk {chosen.risk}, only for std, variance and mean-variance"
    asked: Any = {
        "question": chosen.question,
        "risk": chosen.risk,
        "alpha": chosen.alpha,
        "direction": chosen.direction,
    }
    try:
        return {epsilon: lower_bound(known, epsilon=_tolerance(chosen, epsilon), **asked) for epsilon in epsilons}, ""
    except (MissingExtra, InvalidInstance) as error:
        return {}, str(error)


def _least(bounds: dict[float, LowerBound], target: Target) -> float | None:
    """The lower bound, or the reference, of a goal in pulls."""
    epsilon, delta = target
    bound = bounds.get(epsilon)
    if bound is None or bound.characteristic_time is None:
        return None
    return bound.characteristic_time * relative_entropy(delta)


def _skipped(
    target: Target, bounds: dict[float, LowerBound], found: dict[Target, Replication], chosen: Spec
) -> Skipped | None:
    """Why simulating a goal would be in vain: a mere reference is no reason.

    A lower bound is none for approximate bounds, nor for those that know more than it assumes, such as sigma_max.
    """
    epsilon, delta = target
    if epsilon in bounds and bounds[epsilon].samples is None:
        return "tie"
    method = the_bound(chosen.bound)
    binding = epsilon in bounds and bounds[epsilon].exact and method.rigour == "proved" and not method.terms.stated
    if binding and (_least(bounds, target) or 0.0) > chosen.max_trials:
        return "lower bound"
    hopeless = [easier for easier, replication in found.items() if not replication.ended_count]
    return "easier goal" if any(e >= epsilon and d >= delta for e, d in hopeless) else None


def _search(setting: Setting, options: Options, notice: Callable[[int], object], work: int) -> Replication:
    """Runs of one goal: a few first, then as many more as the work allows."""
    first = setting.replicate(options, 0, min(setting.runs, FIRST_RUNS), notice)
    made = len(first.runs)
    wanted = min(setting.runs, max(FEWEST_RUNS, int(work / first.mean_samples)))
    if not first.ended_count or wanted <= made:
        return first
    rest = setting.replicate(options, made, wanted - made, lambda number: notice(made + number))
    return replace(first, runs=first.runs + rest.runs, seconds=first.seconds + rest.seconds)


def _trials(
    target: Target,
    replication: Replication | None,
    skipped: Skipped | None,
    bounds: dict[float, LowerBound],
    max_trials: int,
) -> PullForecast:
    """What the runs of a goal took; a run that reached the cap would have taken more, nobody knows how much."""
    least = _least(bounds, target)
    runs: Sequence[Run] = () if replication is None else replication.runs
    ended = 0 if replication is None else replication.ended_count
    decided = replication if replication is not None and ended == len(runs) else None
    mean = None if decided is None else decided.mean_samples
    known = {"lower bound": least, "easier goal": float(max_trials)}
    more_than = known.get(skipped) if skipped else None
    if replication is not None and decided is None:
        more_than = replication.mean_samples
    return PullForecast(
        epsilon=target[0],
        delta=target[1],
        runs=len(runs),
        undecided=len(runs) - ended,
        skipped=skipped,
        mean=mean,
        stderr=None if decided is None else decided.mean_samples_stderr,
        quantile_10=_quantile(runs, 10),
        quantile_50=_quantile(runs, 50),
        quantile_90=_quantile(runs, 90),
        largest=None if decided is None else int(decided.runs.table["samples"].max()),
        more_than=more_than,
        errors=0 if replication is None else replication.errors,
        error_rate=None if replication is None else replication.error_rate,
        error_interval=None if replication is None else replication.error_interval,
        lower_bound=least,
        ratio=mean / least if mean is not None and least else None,
        lower_bound_exact=None if least is None else bounds[target[0]].exact,
    )


def _quantile(runs: Sequence[Run], percent: int) -> int | None:
    """The pulls within which this part of the runs, or a little more, was done; None if that is beyond the cap."""
    if not runs:
        return None
    ordered = sorted(runs, key=lambda run: (not run.decided, run.samples))
    run = ordered[(percent * len(runs) + 99) // 100 - 1]  # in whole numbers: 0.1 * 70 is a little more than 7
    return run.samples if run.decided else None


# ---------------------------------------------------------------------------------------- budget


def _plan_budget(setting: Setting, budgets: list[Any] | None, options: Options) -> Plan:
    begun = time.perf_counter()
    known = setting.known
    if options.get("budget") is None:
        require(bool(budgets), "budgets", "at least one, or a budget given beside them", budgets)
        assert budgets is not None
        options["budget"] = budgets[0]
    chosen = simulated_spec(known, **options)
    assert chosen.budget is not None
    if budgets is None:
        least = chosen.initial_trials * len(chosen.names)
        budgets = [size for factor in BUDGET_FACTORS if (size := int(factor * chosen.budget)) >= least]
    specs = [simulated_spec(known, **_with(options, budget=budget)) for budget in [chosen.budget, *budgets]]
    told = _tell(specs)
    sizes = sorted({cast(int, spec.budget) for spec in specs})

    meter = Meter(setting, {size: float(size) for size in sizes})
    found: dict[int, Replication] = {}
    goals = {size: (_with(options, budget=size), meter.of(size, f"budget {size:,}")) for size in sizes}
    if is_limited():
        found = _affordable(setting, goals, chosen.budget, pilot_pulls(chosen))
    else:
        for size, goal in goals.items():
            found[size] = setting.replicate(goal[0], 0, setting.runs, goal[1])
            meter.finish(size)
    asked = None if options.get("epsilon") is None else chosen.epsilon
    return _finish(
        setting,
        chosen,
        chosen.epsilon_share,
        trials=(),
        qualities=tuple(_quality(size, found[size], asked) for size in found),
        arms=_arms(known, chosen, found[chosen.budget], {}),
        bound_note="",
        seconds=time.perf_counter() - begun,
        warnings=told,
    )


def _affordable(setting: Setting, goals: Mapping[int, Any], chosen: int, pilot: int) -> dict[int, Replication]:
    """Runs of the budgets of which one run, at least, takes no longer than there is time."""
    pace, found = Pace(), {}
    per_pull = setting.pilot(_with(goals[chosen][0], budget=min(*goals, pilot)))
    if per_pull * chosen > SECONDS:
        raise MissingExtra(what="Numba", allowed=f"installed to simulate a budget of {chosen:,}: {FASTER}")
    for size, seconds in pace.shares(list(goals), chosen):
        if size == chosen or per_pull * size <= seconds:
            found[size] = setting.runs_in(seconds, *goals[size])
    return found


def _quality(budget: int, replication: Replication, epsilon: float | None) -> Quality:
    """How good the answers of a budget were; those beyond epsilon count only if somebody asked for an epsilon."""
    runs, table = replication.runs, replication.runs.table
    regrets, inexact = table["regret"].tolist(), int((~table["exact"]).sum())
    beyond = None if epsilon is None else int((~table["eps_correct"]).sum())
    return Quality(
        budget=budget,
        runs=len(runs),
        regret=math.fsum(regrets) / len(runs),
        regret_stderr=float(np.std(regrets, ddof=1)) / math.sqrt(len(runs)) if len(runs) > 1 else None,
        inexact=inexact,
        inexact_rate=inexact / len(runs),
        inexact_interval=clopper_pearson(inexact, len(runs)),
        beyond_epsilon=beyond,
        beyond_epsilon_rate=None if beyond is None else beyond / len(runs),
        beyond_epsilon_interval=None if beyond is None else clopper_pearson(beyond, len(runs)),
    )


# ------------------------------------------------------------------------------------------ both


def _tell(specs: Iterable[Spec]) -> tuple[str, ...]:
    """Warn the caller of `plan`, once: what is said of the smallest epsilon is all the more true of the larger ones."""
    suspect = [spec for spec in specs if spec.warnings]
    told = min(suspect, key=lambda spec: spec.epsilon or 0.0).warnings if suspect else ()
    for warning in told:
        warnings.warn(warning, RamgapeWarning, stacklevel=4)
    return told


class Meter:
    """Tells how far a plan is; the weight of a part is about the work that it takes."""

    def __init__(self, setting: Setting, weights: Mapping[Any, float]) -> None:
        self.setting, self.weights = setting, weights
        self.finished = 0.0

    def of(self, part: Any, words: str) -> Callable[[int], None]:
        """What wants to know how many runs of a part are done."""

        def show(runs: int) -> None:
            if self.setting.callback is not None:
                done = self.finished + self.weights[part] * runs / self.setting.runs
                self.setting.callback(done, math.fsum(self.weights.values()), words)

        return show

    def finish(self, part: Any) -> None:
        """A part is done, perhaps with fewer runs."""
        self.finished += self.weights[part]


def _arms(
    known: Instance, chosen: Spec, replication: Replication | None, ideal: dict[str, float]
) -> tuple[ArmForecast, ...]:
    """What the runs of the chosen goal did with each arm."""
    true = TrueArms(known, chosen)
    front = true.names
    runs = Runs.of(() if replication is None else replication.runs)
    ended = Runs.of(() if replication is None else replication.ended)
    returned_by, pulls_of = ended.returned, runs.pulls
    samples = sum(pulls_of.values())
    arms = []
    for arm in true.arms:
        name = arm.name
        returned, pulls = returned_by.get(name, 0), pulls_of.get(name, 0)
        arms.append(
            ArmForecast(
                name=name,
                in_front=name in front,
                returned=returned / len(ended) if ended else None,
                returned_interval=clopper_pearson(returned, len(ended)) if ended else None,
                pulls=pulls / len(runs) if runs else None,
                share=pulls / samples if runs else None,
                ideal_share=ideal.get(name),
                mean=arm.mean,
                std=arm.std,
                risk=arm.risk,
                risk_shown=arm.risk_shown,
            )
        )
    return tuple(arms)


def _finish(setting: Setting, chosen: Spec, share: float | None, **found: Any) -> Plan:
    """The plan, with what was asked for."""
    plan = _made(setting, chosen, share, **found)
    if not is_limited() or (isinstance(plan.chosen, PullForecast) and plan.chosen.skipped == "tie"):
        return plan
    words = precision_words(plan.chosen, setting.runs, chosen.max_trials)
    warnings.warn(words, RamgapeWarning, stacklevel=4)
    return replace(plan, warnings=(*plan.warnings, words))


def _made(setting: Setting, chosen: Spec, share: float | None, **found: Any) -> Plan:
    return Plan(
        instance=setting.known.name,
        goal=replace(goal_of(chosen), epsilon_share=share),
        policy=chosen.policy,
        bound=str(chosen.bound),
        risk=str(chosen.risk),
        rho=chosen.rho,
        alpha=chosen.alpha,
        direction=chosen.direction,
        exploration=chosen.exploration,
        max_trials=chosen.max_trials,
        runs=setting.runs,
        seed=setting.seed,
        task=str(chosen.question),
        guessed_front=TrueArms(setting.known, chosen).names,
        risk_label=risk_label(chosen),
        rigour=rigour_of(chosen),
        **found,
    )
