"""Pieces of work that can be done apart, in any order and in any process.

A job is the name of one of the functions below and its arguments, all of them plain data. Its outcome, plain data as
well, is a function of these alone: that is why results do not depend on the number of processes, and why a job that
is on disk never has to be computed again.
"""

from __future__ import annotations

import functools
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ramgape.core.pareto import is_epsilon_pareto
from ramgape.errors import RamgapeWarning
from ramgape.paper.statistics import middle_half_mean
from ramgape.problems.instances import load_instance
from ramgape.search.engine import Engine
from ramgape.search.explained import jsonable
from ramgape.search.inference import infer
from ramgape.search.simulator import compiled_at_once
from ramgape.simulation.lower_bound import lower_bound
from ramgape.simulation.runs import REASONS
from ramgape.simulation.simulation import play, simulated_spec, watch
from ramgape.simulation.sweep import run_batch
from ramgape.simulation.truth import TrueArms

Outcome = dict[str, Any]
STAGES = 4  # a run under a budget is looked at in so many equal parts


@dataclass(frozen=True)
class Job:
    """One piece of work; `cost` is a guess at its pulls, for the order of work and the time left."""

    kind: str
    arguments: dict[str, Any]
    cost: float = field(default=1.0, compare=False)


def search(instance: str, seed: int, **options: Any) -> Outcome:
    """One search to its end: samples, answer, every arm, and how the answer compares with the truth."""
    known = load_instance(instance)
    engine = Engine(simulated_spec(known, **options))
    for _ in play(engine, known, seed):
        pass
    answer, true = engine.answer(), TrueArms(known, engine.spec)
    truth = true.assess(answer, engine.spec.epsilon)
    found = infer(engine, seed=seed, truth=truth)
    kept = ("name", "verdict", "mean", "risk", "mean_interval", "risk_interval", "risk_shown", "risk_shown_interval")
    arms = [{"pulls": arm.trials, **{name: getattr(arm, name) for name in kept}} for arm in found.arms]
    plain: Outcome = jsonable({"seed": seed, "samples": found.trials, "front": found.answer, "arms": arms})
    right = is_epsilon_pareto(answer, true.means, true.risks, engine.spec.epsilon or 0.0)
    return {**plain, "truth": jsonable(asdict(truth)), "section_2": right}


def trials(instance: str | dict[str, Any], seed: int, trials: int, **options: Any) -> Outcome:
    """Many searches; of each, how it ended."""
    known = load_instance(instance)
    spec = simulated_spec(known, **options)
    runs, _ = run_batch(known, spec, range(seed, seed + trials))
    return {
        "exploration": spec.exploration,
        "stopped": [REASONS[reason] for reason in runs["stopped"]],
        **{name: runs[name].tolist() for name in ("samples", "regret", "exact", "eps_correct")},
    }


@functools.cache
def least_samples(instance: str, epsilon: float, delta: float, risk: str) -> Outcome:
    """How few samples could suffice if the arms were Gaussian. Remembered, because several races ask for the same."""
    return lower_bound(instance, epsilon=epsilon, delta=delta, risk=risk).to_dict()


def race(
    instance: str, seed: int, trials: int, epsilon: float, delta: float, risk: str, longest: float, **options: Any
) -> Outcome:
    """Many searches until they stop; none at all where no number of samples suffices, or the reference is too long.

    With a tolerance some number always suffices, and not too large a one.
    """
    if epsilon == 0.0:
        least = least_samples(instance, epsilon, delta, risk)["samples"]
        if least is None or least > longest:
            return {"samples": [], "stopped": [], "exact": [], "eps_correct": []}
    return KINDS["trials"](instance, seed, trials, epsilon=epsilon, delta=delta, risk=risk, **options)


def regret_traces(instance: str, seed: int, trials: int, **options: Any) -> Outcome:
    """Many searches under a budget, watched pull by pull: regret over time, and where the pulls went.

    `middle_half`, `mean` and `wrong` have a number for each pull: over the trials, the mean of the middle half of the
    regrets, the mean of all, and the share of wrong sets. They start at None, before every arm has been tried twice.
    """
    known = load_instance(instance)
    spec = simulated_spec(known, **options)
    in_front = TrueArms(known, spec).front
    regrets, shares = [], []
    for number in range(seed, seed + trials):
        traces = [trace.copy() for trace in watch(Engine(spec), known, number)]
        trace = np.concatenate(traces)
        regrets.append(trace["regret"])
        stages = np.array_split(in_front[trace["arm"]], STAGES)
        shares.append([float(stage.mean()) for stage in stages])
    table = np.array(regrets)
    started = int(np.isnan(table[0]).sum())
    later = table[:, started:]
    return {
        "exploration": spec.exploration,
        "pareto_arms": int(in_front.sum()),
        "arms": len(in_front),
        "started": started,
        "middle_half": [None] * started + middle_half_mean(later).tolist(),
        "mean": [None] * started + later.mean(axis=0).tolist(),
        "wrong": [None] * started + (later > 0.0).mean(axis=0).tolist(),
        "final": table[:, -1].tolist(),
        "pareto_share": [float(np.mean(stages)) for stages in shares],
        "pareto_share_by_stage": shares,
    }


def good_event(instance: str, seed: int, trials: int, **options: Any) -> Outcome:
    """Many searches, watched: was the truth inside every box after every pull, and was the answer right?"""
    known = load_instance(instance)
    spec = simulated_spec(known, **options)
    good, right = [], []
    for number in range(seed, seed + trials):
        engine = Engine(spec)
        missed = sum(int(trace["missed"].sum()) for trace in watch(engine, known, number))
        good.append(missed == 0)
        right.append(TrueArms(known, spec).assess(engine.answer(), spec.epsilon).eps_correct)
    return {"good": good, "right": right}


KINDS: dict[str, Callable[..., Outcome]] = {
    "search": search,
    "trials": trials,
    "least_samples": least_samples,
    "race": race,
    "regret_traces": regret_traces,
    "good_event": good_event,
}


def run_job(job: Job, compile_first: bool = False) -> Outcome:
    """Do the work; `seconds` of the outcome is how long it took.

    Args:
        job: The work.
        compile_first: Whether there is so much of it that simulations are compiled before their first trial.
    """
    begun = time.perf_counter()
    with warnings.catch_warnings(), compiled_at_once(compile_first):
        # The report speaks of vacuous tolerances in its own words.
        warnings.simplefilter("ignore", RamgapeWarning)
        outcome = KINDS[job.kind](**job.arguments)
    return {**outcome, "seconds": time.perf_counter() - begun}
