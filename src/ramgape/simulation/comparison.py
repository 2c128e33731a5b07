"""Policies beside each other on the same instances: pulls, regret and wrong answers, with what chance may have done."""

from __future__ import annotations

import importlib
import math
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Unpack

from ramgape.errors import InvalidSpec, require
from ramgape.options import Options
from ramgape.problems.instances import Source, load_instance
from ramgape.search.explained import Explained
from ramgape.search.result import Goal
from ramgape.simulation.replication import Replication, replicate
from ramgape.statistics.proportions import clopper_pearson, ratio_interval
from ramgape.trials.pieces import Makers


@dataclass(frozen=True, slots=True)
class Competitor:
    """One policy on one instance.

    Attributes:
        instance, policy, bound: Which, and by which bound it stopped.
        runs, ended: Searches, and those that came to an answer.
        samples, samples_stderr: Pulls on average; where some runs did not end, more would have been needed.
        regret, regret_stderr: The mean simple regret.
        wrong: Ended runs with a wrong answer.
        error_rate, error_interval: Their share, and its exact 95 % interval; None if no run has ended.
        ratio, ratio_interval: Pulls divided by those of the reference, under a budget the regret; an approximate 95 %
            interval. None for the reference itself, and where there is nothing to divide by.
    """

    instance: str
    policy: str
    bound: str
    runs: int
    ended: int
    samples: float
    samples_stderr: float | None
    regret: float
    regret_stderr: float | None
    wrong: int
    error_rate: float | None
    error_interval: tuple[float, float] | None
    ratio: float | None
    ratio_interval: tuple[float, float] | None


@dataclass(frozen=True, slots=True, repr=False)
class PolicyComparison(Explained):
    """Policies beside each other; it prints itself, draws itself and goes on as plain data.

    Attributes:
        goal: What was asked for.
        reference: The policy that the others are divided by.
        rows: One for each instance and policy.
        seconds: The time that all of it took.
    """

    goal: Goal
    reference: str
    rows: tuple[Competitor, ...]
    seconds: float

    def _rows(self) -> list[dict[str, Any]]:
        return [asdict(row) for row in self.rows]


def compare_policies(
    policies: Sequence[str | Callable[..., Any]],
    instances: Sequence[Source],
    *,
    runs: int = 100,
    seed: int = 0,
    executor: Makers = None,
    callback: Callable[[int], object] | None = None,
    **options: Unpack[Options],
) -> PolicyComparison:
    """Let policies search the same instances, with the same seeds.

    Args:
        policies: Names, or rules themselves; the first is the reference.
        instances: As for `simulate`.
        runs, seed, executor: As for `replicate`, for each policy on each instance.
        callback: Called with the number of finished runs of all.
        **options: As for `replicate`.
    """
    require(len(policies) > 0, "policies", "at least one", policies)
    require(len(instances) > 0, "instances", "at least one", instances)
    # Some rules need a tolerance under a budget and have a usual one; that is no reason to judge them by it.
    tolerant = options.get("epsilon") is not None or (options.get("budget") is None and options.get("spend") is None)
    begun, rows, finished = time.perf_counter(), [], 0
    goal: Goal | None = None
    names: list[str] = []
    for instance in map(load_instance, instances):
        reference: Replication | None = None
        for policy in policies:
            base = finished

            def hear(count: int, base: int = base) -> None:
                if callback is not None:
                    callback(base + count)

            options["policy"] = policy
            found = replicate(instance, runs=runs, seed=seed, executor=executor, callback=hear, **options)
            rows.append(_competitor(found, reference, tolerant))
            reference, finished, goal = reference or found, finished + runs, goal or found.goal
            names.append(found.policy)
    assert goal is not None
    return PolicyComparison(goal, names[0], tuple(rows), time.perf_counter() - begun)


def _competitor(found: Replication, reference: Replication | None, tolerant: bool) -> Competitor:
    wrong, ended = found.errors, len(found.ended)
    if not tolerant:
        wrong = sum(not run.exact for run in found.ended)
    budget = found.goal.kind == "budget"
    ratio = interval = None
    if reference is not None:
        (own, own_error), (other, other_error) = (_measure(each, budget) for each in (found, reference))
        if own > 0.0 and other > 0.0:
            ratio = own / other
            interval = ratio_interval(ratio, (own_error or 0.0) / own, (other_error or 0.0) / other)
    regret, regret_stderr = _measure(found, True)
    return Competitor(
        instance=found.instance,
        policy=found.policy,
        bound=found.bound,
        runs=len(found.runs),
        ended=ended,
        samples=found.mean_samples,
        samples_stderr=found.mean_samples_stderr,
        regret=regret,
        regret_stderr=regret_stderr,
        wrong=wrong,
        error_rate=wrong / ended if ended else None,
        error_interval=clopper_pearson(wrong, ended) if ended else None,
        ratio=ratio,
        ratio_interval=interval,
    )


def _measure(found: Replication, regret: bool) -> tuple[float, float | None]:
    """What policies are compared by, and its standard error."""
    if not regret:
        return found.mean_samples, found.mean_samples_stderr
    values = found.runs.table["regret"].tolist()
    mean = math.fsum(values) / len(values)
    if len(values) < 2:
        return mean, None
    variance = math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)
    return mean, math.sqrt(variance / len(values))


def load_policy(text: str) -> str | Callable[..., Any]:
    """A policy by its name, or from a module, "package.module:function"; modules beside the caller are found as well.

    Raises:
        InvalidSpec: There is no such module, or nothing of that name in it.

    Examples:
        >>> load_policy("ramgape")
        'ramgape'
        >>> load_policy("ramgape.nowhere:rule")
        Traceback (most recent call last):
        ramgape.errors.InvalidSpec: policy must be a name, or MODULE:FUNCTION that can be imported, got ...
    """
    module, _, name = text.partition(":")
    if not name:
        return text
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return _attribute(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        allowed = "a name, or MODULE:FUNCTION that can be imported"
        raise InvalidSpec(what="policy", allowed=allowed, given=repr(text), hint=f" ({error})") from None


def _attribute(module: Any, name: str) -> Callable[..., Any]:
    parts: Iterator[str] = iter(name.split("."))
    found = module
    for part in parts:
        found = getattr(found, part)
    require(callable(found), "policy", "a function of a state, or a compiled `decide`", found)
    return found  # type: ignore[no-any-return]
