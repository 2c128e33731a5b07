"""From a specification to what the kernels take: the rule, the problem, an empty table; and rewards added up."""

from __future__ import annotations

import math
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramgape.bounds import BOUNDS, bound_module
from ramgape.common.interrupts import interrupts_deferred
from ramgape.core import rule as rules
from ramgape.core import stopping
from ramgape.core.loop import replay
from ramgape.core.rule import Rule
from ramgape.core.table import (
    BUDGET_BOX,
    CONFIDENCE_BOX,
    NO_BOX,
    PROBLEM,
    Table,
    empty_search,
    empty_table,
    new_table,
)
from ramgape.policies import is_compiled, policy_module, round_robin
from ramgape.risks import risk_module
from ramgape.risks.table import RISKS
from ramgape.search.spec import Spec

NEVER = 2**62  # nothing is compared before every arm has so many pulls


def make_rule(spec: Spec) -> Rule:
    """The functions that a specification names, compiled."""
    bound, policy = bound_module(spec.bound), policy_module(spec.policy, spec.goal) if spec.decide is None else None
    kernels = kernels_of(spec, spec.bound)
    stop = stopping.never
    if spec.goal == "confidence":
        own = [getattr(module, "stop", None) for module in (policy, bound)]
        stop = next(filter(None, own), spec.task.stop())
    compare = getattr(policy, "compare", None) or spec.task.compare()
    # A plain function is called by the engine; the compiled loop never asks it, whatever stands in its place.
    decide: Any = spec.decide if is_compiled(spec.decide) else getattr(policy, "decide", round_robin.decide)
    return Rule(kernels.learn, compare, decide, stop).compiled()


def kernels_of(spec: Spec, bound: str) -> ModuleType:
    """Where `learn` and `estimate` stand: with the bound for the moments, with the risk for any other."""
    own = RISKS[spec.risk.name].own_kernels
    return risk_module(spec.risk.name) if own else bound_module(bound)


def make_problem(spec: Spec, bound: str, delta: float | None) -> Table:
    """What the kernels need to know, on the engine's scale: rewards in [0, 1], more being better.

    With R the length of the reward range, rho and epsilon are divided by R and alpha is multiplied by it (and by the
    worth of a unit of risk in units of the mean, where there is a tolerance for each); then the
    scaled risk in the user's units is R times the engine's, but for a constant.
    """
    span = spec.span
    problem = new_table(1, PROBLEM)
    record: Any = problem[0]
    low, high = spec.reward_range or (0.0, 0.0)
    record["initial_pulls"] = spec.initial_pulls
    record["origin"], record["span"] = (low, span) if spec.direction == "maximize" else (high, -span)
    record["alpha"] = spec.unit_scale
    record["gaussian"] = spec.noise == "gaussian"
    record["box"] = {"none": NO_BOX, "budget": BUDGET_BOX}.get(bound, CONFIDENCE_BOX)
    spec.unit_risk.write(record)
    record["epsilon"] = (spec.epsilon or 0.0) / span
    record["level"] = record["risk_factor"] = math.nan
    record["budget"] = math.inf if spec.budget is None else spec.budget
    record["exploration"] = math.nan if spec.exploration is None else spec.exploration
    record["sigma_max"] = math.nan if spec.sigma_max is None else spec.sigma_max
    record["resolution"] = spec.resolution or 0.0
    bounded = spec.noise == "bounded"
    record["reference_mean"] = 0.0 if bounded else math.nan
    least, most = spec.risk_range
    record["reference_risk"] = spec.unit_scale * spec.unit_risk.worst() if bounded else math.nan
    record["keep_smallest"] = spec.returned == "smallest-doubt"
    bound_module(bound).constants(record, len(spec.names), delta)
    if RISKS[spec.risk.name].own_kernels:
        # As wide for the risk as for the mean, in units of what is possible.
        record["risk_factor"] = most - least if bounded else record["alpha"]
    return problem


class Adder:
    """Adds rewards up, arm by arm, in any table of arms: no boxes are made meanwhile, and nothing is compared.

    What comes of it depends on the order of the rewards only by rounding.
    """

    def __init__(self, spec: Spec) -> None:
        # One bound keeps sums of its own beside those that all have in common.
        learner = spec.bound if spec.bound == "empirical-bernstein-stitched" else "none"
        rule = make_rule(spec)._replace(learn=kernels_of(spec, learner).learn).compiled()
        self._functions = (rule.learn, rule.compare, rule.stop)
        self._problem = make_problem(spec, "none", None)
        self._problem["initial_pulls"] = NEVER

    def add(self, table: Table, arms: NDArray[np.int64], rewards: NDArray[np.float64]) -> None:
        """Add rewards to the arms of a table."""
        rules.compile_for(replay, rules.REPLAY)
        with interrupts_deferred():
            replay(*self._functions, table, empty_search(), self._problem, arms, rewards, False)


def make_table(spec: Spec, bound: str) -> Table:
    """A table of arms not yet pulled; boxes that are intersected over time start at what is possible."""
    arms = empty_table(len(spec.names))
    if BOUNDS[bound].narrows and spec.noise == "bounded":
        arms["mean_low"], arms["mean_high"] = 0.0, 1.0
        arms["risk_low"], arms["risk_high"] = spec.risk_range
    return arms
