"""The road for simulated trials: whole runs in the compiled loop."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Unpack, cast

import numpy as np

from ramgape.common.checks import check_seed
from ramgape.core.table import TRACE, Table, new_table
from ramgape.errors import RamgapeWarning, require
from ramgape.options import DEFAULT_EPSILON, SIMULATE, Options, flatten, options_for, shows_options
from ramgape.problems.environments import Instance
from ramgape.problems.instances import Source, load_problem
from ramgape.problems.vector_problems import VectorProblem
from ramgape.search.engine import COMPILED_AT_A_TIME, Engine
from ramgape.search.inference import goal_of, infer
from ramgape.search.naming import named_answer
from ramgape.search.result import Result, updated
from ramgape.search.spec import Spec, make_spec
from ramgape.simulation.curves import Checkpoint
from ramgape.simulation.runs import Ending, is_wrong
from ramgape.simulation.truth import TrueArms
from ramgape.simulation.vectors import simulate_vectors
from ramgape.trials.history import SELDOM, Recorder
from ramgape.trials.monitoring import monitored
from ramgape.trials.progress import Callback, check_callback, progress_of

NOTED = 250_000  # trials up to which a search is made in parts for those who take notes of it


@shows_options(SIMULATE)
def simulate(
    instance: Source,
    *,
    seed: int = 0,
    callback: Callback | None = None,
    **options: Unpack[Options],
) -> Result:
    """One simulated search of an instance whose truth is known; the result carries it as `truth`.

    Args:
        instance: A name such as "paper:46", an instance file, its contents, an `Instance`, or a `VectorProblem` whose
            trials have several outcomes.
        {options}
        seed: Of all that is random in it.
        callback: Called now and then with a `Progress`; a true return value ends the search.

    Examples:
        >>> import ramgape
        >>> result = ramgape.simulate("paper:46", epsilon=0.05, seed=3)
        >>> result.answer, result.truth.regret
        (('1', '2', '3'), 0.007087498274638535)
    """
    known = load_problem(instance)
    if isinstance(known, VectorProblem):
        return simulate_vectors(known, options_for(options, SIMULATE), check_seed(seed))
    spec = simulated_spec(known, **options)
    seed = check_seed(seed)
    check_callback(callback)
    warn(spec)
    engine = Engine(spec, seed)
    recorder = Recorder(engine, SELDOM)
    try:
        with monitored(options.get("progress")) as monitor:
            for _ in play(engine, known, seed, recorder=recorder):
                if monitor is not None:
                    monitor.observe(engine)
                if callback is not None and callback(progress_of(engine)):
                    engine.finish("callback")
    except KeyboardInterrupt:
        engine.finish("interrupted")
    truth = TrueArms(known, spec).assess(named_answer(engine), engine.spec.epsilon)
    return updated(infer(engine, seed=seed, truth=truth), history=recorder.points())


def simulated_options(options: Options, door: str) -> Options:
    """The options of a simulated search, flat; what it cannot take, or what the instance knows, is refused."""
    flat = flatten(options, door)
    for what in ("assumption", "reward_range", "items"):
        given = flat.pop(what, None)
        require(given is None, what, "absent: the instance knows its own", given)
    drift = flat.pop("drift", None)
    require(drift in (None, "off"), "drift", "absent: simulated rewards are what they are said to be", drift)
    return cast(Options, options_for(flat, door))


def simulated_spec(instance: Instance, **options: Unpack[Options]) -> Spec:
    """The specification of a search on an instance, which knows its own noise."""
    options = simulated_options(options, SIMULATE)
    if all(options.get(name) is None for name in ("epsilon", "budget", "spend")):
        options["epsilon"] = DEFAULT_EPSILON
    if options.get("sigma_max") is None:
        options["sigma_max"] = instance.sigma_max
    options["assumption"], options["reward_range"] = instance.noise, instance.reward_range
    options["items"] = None if instance.items is None else range(instance.items)
    if options.get("risk") is None and options.get("rho") is None:
        options["risk"] = instance.risk
    spec = make_spec(instance.names, **options)
    for place, arm in enumerate(instance.arms if spec.cv is not None else ()):
        least = float(arm.distribution.quantile(np.array([0.0]))[0])
        require(least >= 0.0, f"arms[{place}].distribution", "never negative, as cv states", arm.distribution)
    return replace(spec, drift=None)


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
        left = int(min(engine.trials_at_once(sampler), point - engine.samples))
        while left > 0 and engine.stopped is None:
            count = left
            if recorder is not None and engine.samples < NOTED:
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
    trace = new_table(min(COMPILED_AT_A_TIME, engine.spec.limit), TRACE)
    while engine.stopped is None:
        part = trace[: engine.trials_at_once(sampler)]
        made = part[: engine.advance(sampler, generator, len(part), truth, part)]
        made["regret"] *= engine.spec.span
        yield made


def run_once(instance: Instance, spec: Spec, seed: int, true: TrueArms, points: Sequence[int] = ()) -> Ending:
    """One run, in brief, and its answers after some numbers of pulls."""
    engine, seconds, looks, goal = Engine(spec, seed), 0.0, [], goal_of(spec)
    answer, truth = named_answer(engine), None
    for part in play(engine, instance, seed, points):
        seconds += part
        if engine.ready and points:
            answer, before = named_answer(engine), answer
            if truth is None or (answer != before).any():
                truth = true.assess(answer, engine.spec.epsilon)
            looks.append(Checkpoint(engine.samples, truth.regret, is_wrong(goal, truth)))
    answer = named_answer(engine)
    truth = true.assess(answer, engine.spec.epsilon)
    stopped, pulls = str(engine.stopped), engine.arms["pulls"]
    return Ending(engine.samples, stopped, answer, pulls, truth, seconds, engine.spent, looks)


def warn(spec: Spec) -> None:
    """Tell the caller of `simulate` or `replicate` what the specification warns of."""
    for warning in spec.warnings:
        warnings.warn(warning, RamgapeWarning, stacklevel=3)
