"""A search about several outcomes per trial: lanes that learn, a table that compares, a question that decides.

It has the face of `Engine`, which asks, reserves, looks ahead and counts; here is what is different: a trial's outcomes
are learned together, each by its lane (search/lanes.py), and the table has a column for each objective and constraint,
in units of its tolerance and turned so that more is better. What decides and stops is the question
(questions/of_outcomes.py), or for the Pareto set a policy of the core, which compares arms in any number of objectives.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramgape.common.interrupts import interrupts_deferred
from ramgape.core.claims import Mask, Seen, shrunken_errors
from ramgape.core.comparisons import GOLDEN, INSIDE_PROVED, PATIENCE
from ramgape.core.doubt import compare as compare_boxes
from ramgape.core.doubt import has_begun
from ramgape.core.kernel import as_kernel
from ramgape.core.prices import for_the_money
from ramgape.core.rows import Row, Rows
from ramgape.core.rule import Rule, never
from ramgape.core.table import PROBLEM, PROVED, State, arm_columns, empty_memory, empty_search, empty_table, new_table
from ramgape.core.turns import step
from ramgape.errors import InvalidReward, require, shorten
from ramgape.policies import policy_module
from ramgape.questions.of_outcomes import Asked, NextStep
from ramgape.search.drift_check import DriftCheck
from ramgape.search.engine import Engine
from ramgape.search.lanes import MEAN, Lane
from ramgape.search.outcome import Outcome, check_price, outcome_of
from ramgape.search.outcome_spec import REWARD, Column, OutcomeSpec
from ramgape.search.quality import Alarm
from ramgape.search.result import Stopped

BY_BOXES = ("ra-lucb", "ape", "psi-unif-elim", "ege-sr", "ege-sh")  # of the Pareto set, by kernels of the core
RATIO_CELLS = 64  # of the control's values, where an arm is compared with a multiple of it


class LaneProofs:
    """Decides claims, which are in units of the columns, by what the lanes prove.

    Args:
        lanes: What was learned.
        columns: What the claims are about.
    """

    def __init__(self, lanes: list[Lane], columns: tuple[Column, ...]) -> None:
        self._lanes, self._columns = lanes, columns

    def ahead(self, arm: int, other: int, column: int, margin: float, level: float, factor: float = 1.0) -> bool:
        """Whether it is proved at this level that the arm's value is more than factor times the other's less margin."""
        about = self._columns[column]
        if about.lane < 0:
            return False  # what is known is decided by the numbers
        lane, by = self._lanes[about.lane], margin * about.unit
        if factor != 1.0:
            return self._ahead_by_ratio(lane, about, arm, other, by, level, factor)
        first, second = (arm, other) if about.sign > 0.0 else (other, arm)
        return lane.ahead(first, second, about.part, by, level)

    def beyond(self, arm: int, column: int, value: float, side: float, level: float) -> bool:
        """Whether it is proved at this level that an arm is above a value (side 1), or below it (-1)."""
        about = self._columns[column]
        if about.lane < 0:
            return False
        found = value * about.unit + about.limit
        return self._lanes[about.lane].beyond(arm, about.part, about.sign * found, about.sign * side, level)

    def _ahead_by_ratio(
        self, lane: Lane, about: Column, arm: int, other: int, margin: float, level: float, factor: float
    ) -> bool:
        """The same of a multiple of the other's value, in the outcome's own units, from which a range may be far.

        Where for every value v of the other arm the evidence that the arm is above factor v - margin and the evidence
        that the other is below v multiply to e^level, the claim is proved. Between values both are bounded on cells.
        """
        low, high = lane.interval(other, about.part, math.inf)
        own_low, own_high = lane.interval(arm, about.part, math.inf)
        if about.sign < 0.0:
            low, high, own_low, own_high = -high, -low, -own_high, -own_low
        if own_low > factor * high - margin:
            return True
        high = min(high, (own_high + margin) / factor)
        if not math.isfinite(high - low) or level == math.inf:
            return False
        return lane.apart(arm, other, about.part, (low, high), (factor, margin), about.sign, level, RATIO_CELLS)


class OutcomeEngine(Engine):
    """One search about several outcomes."""

    _asked: OutcomeSpec
    _spec: OutcomeSpec

    def __init__(self, spec: OutcomeSpec, seed: int | None = 0, *, keep: bool = True) -> None:
        """A search before its first trial.

        Args:
            spec, seed: As for `Engine`.
            keep: Whether to keep all outcomes of every trial, which a study has in its storage.
        """
        self.lanes = [Lane(each.of, each.spec) for each in spec.lanes]
        self.asked: Asked = spec.ask()
        self._keeps = keep
        self.told: list[tuple[int, dict[str, float]]] = []  # every trial's outcomes, also those not asked about
        assert spec.outcomes is not None
        self._worst = tuple(spec.outcomes.worst)
        self._missing = np.zeros((len(spec.names), len(self._worst)), np.int64)  # trials without each of these
        self._plan: NextStep | None = None
        self._planned: tuple[int, int] = (-1, -1)
        super().__init__(spec, seed)
        self.sample = None
        self.drift_check = None
        self.watches: list[DriftCheck] = []
        if spec.drift is not None:
            self.watches = [DriftCheck(spec.drift / len(self.lanes), len(spec.names)) for _ in self.lanes]

    def _first_state(self) -> State:
        spec = self._asked
        arms = empty_table(len(spec.names), arm_columns(len(spec.columns)))
        if spec.price is not None:
            arms["price"] = 0.0 if isinstance(spec.price, str) else spec.price
        for place, column in enumerate(spec.columns):
            if column.lane < 0:
                values = (np.array(column.values) - column.limit) / column.unit
                for name in ("estimate", "low", "high"):
                    arms[name][:, place] = values
                arms["spread"][:, place] = 0.0
        search, problem = empty_search(), new_table(1, PROBLEM)
        record: Any = problem[0]
        search["epsilon"] = record["epsilon"] = self.common_epsilon
        record["initial_pulls"] = spec.initial_trials
        record["first_looks"] = spec.first_looks
        record["span"] = 1.0
        record["cutoff"] = math.nan
        record["snapshot"] = -1
        record["budget"] = spec.limit if spec.goal == "budget" else math.inf
        record["spend"] = math.inf if spec.spend is None else spec.spend
        record["interleave"] = spec.interleave
        if spec.items is not None:
            record["item_count"] = len(spec.items) if spec.items.population else math.inf
        return State(arms, empty_memory(len(arms), 0), search, problem)

    @property
    def common_epsilon(self) -> float:
        """The tolerance in units of the table, where all columns have one or none has."""
        return 1.0 if any(each.epsilon for each in self._asked.columns) else 0.0

    @property
    def spec(self) -> OutcomeSpec:
        return self._asked

    def copy(self) -> OutcomeEngine:
        other = super().copy()
        assert isinstance(other, OutcomeEngine)
        other.__dict__.pop("rule", None)
        other.lanes = [lane.copy() for lane in self.lanes]
        other.asked = deepcopy(self.asked)
        other.told, other._missing = list(self.told), self._missing.copy()
        other.watches = [watch.copy() for watch in self.watches]
        other._plan = None
        return other

    @cached_property
    def proofs(self) -> LaneProofs:
        """What decides claims."""
        return LaneProofs(self.lanes, self._asked.columns)

    @cached_property
    def rule(self) -> Rule:
        spec = self._asked
        if spec.policy in BY_BOXES:
            module = policy_module(spec.policy, spec.goal)
            compare = as_kernel(getattr(module, "compare", compare_boxes))
            stop: Any = self._stop
            if spec.goal == "budget":
                stop = never
            elif hasattr(module, "stop"):
                stop = as_kernel(module.stop)
            return Rule(self._learn_none, compare, as_kernel(module.decide), stop)
        stop = never if spec.goal == "budget" else self._stop
        return Rule(self._learn_none, self._compare, self._decide_claim, stop)

    def _learn_none(self, *_: object) -> None:
        """Lanes learn; nothing is left for the rule."""

    # ------------------------------------------------------------------------------------------------------- learning

    def check_outcome(self, given: object, arm: int) -> Outcome:
        """What a trial gave: its outcomes by name, as the reward of an `Outcome`."""
        spec, outcome = self._asked, outcome_of(given)
        assert spec.outcomes is not None
        allowed = "absent outside a study, which knows the blocks of earlier trials"
        require(outcome.block is None, "block", allowed, outcome.block, InvalidReward)
        reward: Any = outcome.reward if outcome.outcomes is None else outcome.outcomes
        if spec.plain:
            reward = {REWARD: reward}
        elif isinstance(reward, tuple | list):
            names = ", ".join(repr(name) for name in spec.outcomes.measured)
            raise InvalidReward(
                what=f"a trial of arm {shorten(spec.names[arm])}",
                verb="return",
                allowed=f"a mapping by name ({names}), since positions are easily confused",
                given=shorten(given),
            )
        return Outcome(spec.outcomes.read(reward, spec.names[arm]), check_price(outcome.price, spec))

    def tell(self, arm: int, reward: Any, price: float | None = None) -> None:
        """Learn the outcomes of one trial, by name; they must have passed `check_outcome`."""
        with interrupts_deferred():
            if self._take(int(arm), reward):
                self.end()
            if price is not None:
                self.pay(np.array([arm]), np.array([price]))

    def _note_given(self, arm: int, outcomes: dict[str, float]) -> None:
        if self._keeps:
            self.told.append((arm, outcomes))
        for place, name in enumerate(self._worst):
            self._missing[arm, place] += name not in outcomes

    @property
    def missing(self) -> dict[str, dict[str, int]]:
        """How many trials of an arm lacked which outcome, which counts as the worst; by their names."""
        counts = zip(self._asked.names, self._missing.tolist(), strict=True)
        return {name: dict(zip(self._worst, row, strict=True)) for name, row in counts if any(row)}

    def end(self) -> None:
        """The stopping rule has spoken."""
        self._record.stopped = PROVED

    def _take(self, arm: int, reward: Any) -> bool:
        assert self._asked.outcomes is not None
        values = self._asked.outcomes.values(reward, arm)
        self._note_given(arm, reward)
        for place, watch in enumerate(self.watches):
            watch.add(arm, values[place])
        return self._learn(arm, values)

    def _learn(self, arm: int, reward: Any) -> bool:
        self._ahead, self._plan = None, None
        for lane, value in zip(self.lanes, reward, strict=True):
            lane.learn(arm, value)
        rows = self.rows
        search = rows.searches[0]
        search.samples += 1
        row = rows.arms[arm]
        row.pulls += 1
        self.note(row, arm)
        if not search.ready:
            has_begun(rows.arms, search, rows.problems[0])
            if search.ready and self._asked.policy in BY_BOXES:
                search.ready = 0  # the kernels want to see the beginning themselves
        self.rule.compare(*rows.records, arm)
        return bool(search.ready and self.rule.stop(*rows.records))

    def note(self, row: Row, arm: int) -> None:
        """Write what the lanes know of an arm into the table."""
        for place, column in enumerate(self._asked.columns):
            if column.lane < 0:
                continue
            lane = self.lanes[column.lane]
            value, spread, low, high = lane.column(lane.rows.arms[arm], column.part)
            if column.sign < 0.0:
                value, low, high = -value, -high, -low
            row.estimate[place] = (value - column.limit) / column.unit
            row.spread[place] = spread / (column.unit * column.unit)
            row.low[place], row.high[place] = (low - column.limit) / column.unit, (high - column.limit) / column.unit
        first = self.lanes[0].rows.arms[arm]
        row.average, row.variance, row.cut = first.average, first.variance, 0

    def learn_many(self, arms: NDArray[np.int64], rewards: Any, *, may_stop: bool = True) -> int:
        """Learn trials in their order, like as many calls of `tell`; returns how many those were.

        Args:
            arms: The arm of each.
            rewards: Their outcomes by name.
            may_stop: Whether the stopping rule is asked.
        """
        for place, (arm, outcomes) in enumerate(zip(arms.tolist(), rewards, strict=True)):
            if may_stop and (self._record.stopped or self.samples >= self._limit):
                return place
            if self._take(arm, outcomes) and may_stop:
                self.end()
        return len(arms)

    def add_up(self, arms: NDArray[np.int64], rewards: Any) -> None:
        """Learn trials whose order means nothing; they count from the next `look` on."""
        assert self._asked.outcomes is not None
        values = [self._asked.outcomes.values(each, arm) for arm, each in zip(arms.tolist(), rewards, strict=True)]
        for arm, outcomes in zip(arms.tolist(), rewards, strict=True):
            self._note_given(arm, outcomes)
        for place, lane in enumerate(self.lanes):
            column = np.array([each[place] for each in values])
            lane.add(arms, column)
            if self.watches:
                self.watches[place].add_many(arms, column)
        rows = self.rows
        for arm in arms.tolist():
            rows.arms[arm].pulls += 1
        rows.searches[0].samples += len(arms)

    def make_boxes(self) -> None:
        self._ahead, self._plan = None, None
        for lane in self.lanes:
            lane.look()
        for arm, row in enumerate(self.rows.arms):
            if row.pulls:
                self.note(row, arm)

    def look(self, *, may_stop: bool = True) -> None:
        self.make_boxes()
        rows = self.rows
        search = rows.searches[0]
        search.next_look = 0
        has_begun(rows.arms, search, rows.problems[0])
        if search.ready and self._asked.policy not in BY_BOXES and self._stop(*rows.records) and may_stop:
            self.end()

    # ------------------------------------------------------------------------------------------------------- deciding

    def seen(self, rows: Rows | None = None) -> Seen:
        """What is known of all arms, in arrays."""
        arms, spec = (self._rows if rows is None else rows).arms, self._asked
        pulls = np.array([row.pulls for row in arms])
        spread = np.array([row.spread for row in arms])
        known, estimate = self.asked.known, np.array([row.estimate for row in arms])
        low, high = np.array([row.low for row in arms]), np.array([row.high for row in arms])
        for place, column in enumerate(spec.columns):
            unseen = self.lanes[column.lane].unseen() if column.lane >= 0 and column.part == MEAN else None
            if unseen is not None:
                below, above = (np.array(each) / column.unit for each in unseen[:: 1 if column.sign > 0.0 else -1])
                low[:, place] = np.minimum(low[:, place], estimate[:, place] - below)
                high[:, place] = np.maximum(high[:, place], estimate[:, place] + above)
        return Seen(
            pulls=pulls,
            estimate=estimate,
            error=shrunken_errors(spread, pulls, known),
            low=low,
            high=high,
            epsilon=self.asked.epsilon,
            known=known,
            objectives=self.asked.objectives,
            by_budget=spec.goal == "budget",
        )

    def plan(self) -> NextStep:
        """What the question wants now."""
        if self._plan is None:
            self._plan = self.asked.plan(self.seen())
        return self._plan

    def _compare(self, arms: Any, memory: Any, search: Any, problem: Any, changed: int) -> None:
        """Nothing is kept up to date by itself: `decide` looks at the whole table."""

    def _decide_claim(self, arms: Any, memory: Any, search: Any, problem: Any) -> int:
        """The arm to try for the claim that is supported least, or as the policy has it."""
        policy = self._asked.policy
        if policy == "round-robin":
            return int(step(arms, search))
        rows = Rows(arms, memory, [search], [problem])
        seen = self.seen(rows)
        if policy == "ramgape":
            return self._by_doubt(rows, seen)
        plan = self.plan() if arms is self._rows.arms else self.asked.plan(seen)
        search.leader, arms[plan.one].rival = plan.one, plan.one if plan.other < 0 else plan.other
        if plan.other < 0:
            return plan.one
        return self._divide(rows, seen, plan)

    def _divide(self, rows: Rows, seen: Seen, plan: NextStep) -> int:
        """Which of two arms to try: by what each contributes to the error of their comparison, for its price."""
        one, other, column = plan.one, plan.other, plan.column
        arms = rows.arms
        if self._asked.items is not None and arms[one].pulls != arms[other].pulls:
            return one if arms[one].pulls < arms[other].pulls else other
        own, others = float(seen.error[one, column]), float(seen.error[other, column])
        own = for_the_money(own, arms[one], arms[other])
        others = for_the_money(others, arms[other], arms[one])
        if not own + others > 0.0:
            return one if arms[one].pulls <= arms[other].pulls else other
        chance = (rows.searches[0].samples * GOLDEN) % 1.0
        return one if chance * (own + others) < own else other

    def _by_doubt(self, rows: Rows, seen: Seen) -> int:
        """RAMGapE: of the arm of the largest doubt and its rival, the one tried less; of two ways the sooner."""
        plan = self.asked.plan(seen)
        found, rivals, limit_of = self.asked.doubts(seen, plan.answer)
        open_arms = plan.unproved if plan.unproved.any() else np.ones(len(found), bool)
        leader = int(np.where(open_arms, found, -np.inf).argmax())
        rival = int(rivals[leader])
        rows.searches[0].leader, rows.arms[leader].rival = leader, rival
        if rival == leader:
            return leader
        sooner = int(limit_of[leader])
        if self.asked.limits and self._limit_is_sooner(seen, leader, rival, sooner):
            return sooner
        return rival if rows.arms[rival].pulls < rows.arms[leader].pulls else leader

    def _limit_is_sooner(self, seen: Seen, leader: int, rival: int, arm: int) -> bool:
        """Whether a limit of an arm promises to settle a doubt before a comparison: by width over distance."""
        d = self.asked.objectives
        distance = -seen.estimate[arm, d:] + seen.epsilon[d:]
        width = seen.high[arm, d:] - seen.estimate[arm, d:]
        with np.errstate(divide="ignore", invalid="ignore"):
            by_limit = np.where(distance > 0.0, width / distance, np.inf).min(initial=np.inf)
            lead = seen.estimate[leader, :d] - seen.estimate[rival, :d] + seen.epsilon[:d]
            breadth = seen.estimate[leader, :d] - seen.low[leader, :d] + seen.high[rival, :d] - seen.estimate[rival, :d]
            ratios = np.where(lead > 0.0, breadth / lead, np.inf)
        return bool(by_limit < ratios.min(initial=np.inf))

    def _stop(self, arms: Any, memory: Any, search: Any, problem: Any) -> bool:
        """Whether all claims of the answer are proved; looked at when there are a hundredth more trials."""
        if search.samples < search.next_look:
            return False
        search.next_look = search.samples + 1 + search.samples // PATIENCE
        if arms is not self._rows.arms:  # a look ahead proves nothing
            return False
        seen = self.seen()
        self.asked.verify(seen, self.proofs)
        self._plan = self.asked.plan(seen)
        if self._plan.unproved.any():
            return False
        if self.asked.at_one_moment:
            # A level depends on the answer itself: all of it must hold now.
            self.asked.verify(seen, self.proofs, anew=True)
            self._plan = self.asked.plan(seen)
            if self._plan.unproved.any():
                return False
        for row, inside in zip(arms, self._plan.answer.tolist(), strict=True):
            row.accepted, row.blocker = 1 if inside else -1, INSIDE_PROVED
        return True

    # ---------------------------------------------------------------------------------------------- where it stands

    def answer(self) -> Mask:
        """The arms that would be returned now; none before every arm has its initial trials."""
        count = len(self._rows.arms)
        if not self.ready:
            return np.zeros(count, bool)
        accepted = np.array([row.accepted for row in self._rows.arms])
        if self._asked.policy in BY_BOXES:
            if (accepted != 0).all():
                return accepted > 0
            open_front = np.array([row.in_front == 1 and row.accepted >= 0 for row in self._rows.arms])
            return np.asarray(open_front | (accepted > 0))
        if self._record.stopped == PROVED and (accepted != 0).all():
            return accepted > 0
        return self.plan().answer

    @property
    def doubt(self) -> float:
        """The largest V_i, in multiples of the tolerances; infinite until every arm has its initial trials."""
        if not self.ready:
            return math.inf
        found = float(self.asked.doubts(self.seen(), self.answer())[0].max())
        return max(found + self.common_epsilon, 0.0)

    @property
    def unproved(self) -> int | None:
        """Of how many arms the place is still to be proved."""
        if not self.ready or self._asked.goal == "budget" or self._asked.policy in BY_BOXES:
            return None
        return int(self.plan().unproved.sum())

    @property
    def misses(self) -> int:
        return sum(lane.rows.searches[0].misses for lane in self.lanes)

    @property
    def set_aside(self) -> Mask:
        return np.array([any(lane.is_set_aside(arm) for lane in self.lanes) for arm in range(len(self._rows.arms))])

    @property
    def stopped(self) -> Stopped | None:
        if self._record.stopped and not self.is_complete:
            return self._reason
        return super().stopped

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        names = self._asked.names
        return tuple(
            Alarm(
                f"{alarm.arm} ({lane.of})" if len(self.lanes) > 1 else alarm.arm, alarm.kind, alarm.evidence, alarm.pull
            )
            for lane, watch in zip(self.lanes, self.watches, strict=False)
            for alarm in watch.alarms(names)
        )

    def state_bytes(self) -> bytes | None:
        if not all(lane.is_ours for lane in self.lanes):
            return None
        return super().state_bytes()

    @property
    def _written(self) -> tuple[NDArray[Any], ...]:
        lanes = [table for lane in self.lanes for table in lane.tables]
        missing = (self._missing,) if self._worst else ()
        return (*self.state[:-1], *lanes, *self.asked.remembered, *(watch.table for watch in self.watches), *missing)

    @contextmanager
    def _tables(self) -> Iterator[State]:
        with super()._tables() as state:
            yield state
        for lane in self.lanes:
            lane.reload()
        self._plan = None
