"""A search under way: the table, the rule, and the two ways to drive them.

`ask` and `tell` take one pull at a time from Python; `advance` simulates many in the compiled loop. Both call the same
functions in the same order, so that the same rewards give the same bits.
"""

from __future__ import annotations

import contextlib
import math
from types import ModuleType
from typing import Any

import numpy as np

from ramgape import stopping
from ramgape.bounds import BOUNDS, bound_module
from ramgape.core import rule as rules
from ramgape.core.doubt import compare
from ramgape.core.loop import advance
from ramgape.core.rule import Rule
from ramgape.core.statistics import least_pulled
from ramgape.core.table import (
    BUDGET_BOX,
    CONFIDENCE_BOX,
    NO_BOX,
    PROBLEM,
    TRACE,
    TRUTH,
    Table,
    empty_search,
    empty_table,
    new_table,
)
from ramgape.distributions import LARGEST
from ramgape.environments import Sampler
from ramgape.errors import InvalidReward, require
from ramgape.interrupts import interrupts_deferred
from ramgape.policies import policy_module
from ramgape.risk_table import RISKS
from ramgape.risks import risk_module
from ramgape.spec import Spec

UNKNOWN, UNWATCHED = new_table(0, TRUTH), new_table(0, TRACE)


def make_rule(spec: Spec) -> Rule:
    """The functions that a specification names, compiled."""
    bound, policy = bound_module(spec.bound), policy_module(spec.policy, spec.goal)
    kernels = kernels_of(spec, spec.bound)
    stops = [getattr(module, "stop", None) for module in (policy, bound)] if spec.goal == "confidence" else []
    stop = next(filter(None, stops), stopping.confident if stops else stopping.never)
    return Rule(kernels.learn, getattr(policy, "compare", compare), policy.decide, stop).compiled()


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


def make_table(spec: Spec, bound: str) -> Table:
    """A table of arms not yet pulled; boxes that are intersected over time start at what is possible."""
    arms = empty_table(len(spec.names))
    if BOUNDS[bound].narrows and spec.noise == "bounded":
        arms["mean_low"], arms["mean_high"] = 0.0, 1.0
        arms["risk_low"], arms["risk_high"] = spec.risk_range
    return arms


class Engine:
    """One search: its table of arms and what may be done next."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        self.rule = make_rule(spec)
        self.arms = make_table(spec, spec.bound)
        self.search = empty_search()
        self.problem = make_problem(spec, spec.bound, spec.delta)
        self._state = (self.arms, self.search[0], self.problem[0])

    @property
    def samples(self) -> int:
        """Pulls so far."""
        return int(self.search["samples"][0])

    @property
    def doubt(self) -> float:
        """V(t), in the user's units; infinite until every arm has its initial pulls."""
        return float(self.search["doubt"][0]) * self.spec.span

    @property
    def stopped(self) -> str | None:
        """Why the search is over, or None."""
        if self.search["stopped"][0]:
            return "confidence"
        if self.samples < self.spec.limit:
            return None
        return "cap" if self.spec.budget is None else "budget"

    def ask(self) -> int | None:
        """The arm to pull next, or None if the search is over or all its pulls are under way.

        A decision is made once: before asking again, tell the reward or `reserve` the arm.
        """
        if self.stopped or self.samples + int(self._state[1]["pending"]) >= self.spec.limit:
            return None
        if self._state[1]["ready"]:
            return int(self.rule.decide(*self._state))
        return int(least_pulled(self.arms))

    def reserve(self, arm: int) -> None:
        """A pull of an arm is under way, and the next decision should know; `tell` takes it back."""
        self.arms["pending"][arm] += 1
        self._state[1]["pending"] += 1
        self.rule.compare(*self._state, arm)

    def tell(self, arm: int, reward: float) -> None:
        """Learn one reward; it must have passed `check_reward`."""
        if self.arms["pending"][arm]:
            self.arms["pending"][arm] -= 1
            self._state[1]["pending"] -= 1
        self.rule.learn(*self._state, arm, reward)
        self.rule.compare(*self._state, arm)
        if self._state[1]["ready"] and self.rule.stop(*self._state):
            self._state[1]["stopped"] = 1

    def check_reward(self, reward: object) -> float:
        """A reward as a float, or an error: nothing that is not a reward is ever counted as one."""
        value = math.nan
        # float() would read texts and buffers, too, and take the real part of some complex numbers.
        if hasattr(type(reward), "__float__") and not isinstance(reward, str | bytes | np.complexfloating):
            with contextlib.suppress(TypeError, ValueError, OverflowError):
                value = float(reward)  # type: ignore[arg-type]
        low, high = self.spec.reward_range or (-LARGEST, LARGEST)
        if not low <= value <= high:  # also false for NaN
            size = "a finite number" if self.spec.reward_range is None else "a number"
            require(False, "reward", f"{size} from {low:g} to {high:g}", reward, InvalidReward)
        return value

    def prepare(self, sampler: Sampler) -> None:
        """Compile what `advance` needs, so that its time is that of the pulls alone."""
        rules.compile_for(sampler.draw, rules.DRAW)
        rules.compile_for(advance, rules.ADVANCE)

    def advance(
        self,
        sampler: Sampler,
        generator: np.random.Generator,
        count: int,
        truth: Table = UNKNOWN,
        trace: Table = UNWATCHED,
    ) -> int:
        """Simulate up to `count` pulls; returns how many were made. `trace` takes down what each of them did."""
        self.prepare(sampler)
        count = 0 if self.search["stopped"][0] else min(count, self.spec.limit - self.samples)
        functions = (sampler.draw, *self.rule)
        tables = (self.arms, self.search, self.problem, sampler.parameters, sampler.values)
        with interrupts_deferred():
            return int(advance(*functions, *tables, generator, count, truth, trace))
