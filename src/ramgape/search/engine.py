"""A search in progress: the table, the rule, and the two ways to drive them.

`ask` and `tell` take one trial at a time; `learn_many` takes in many that are there already. Both call the functions of
the rule as they are, on rows of plain Python objects. `advance` simulates many trials, and compiles the same functions
where that pays. All call them in the same order, so that the same rewards give the same bits.

Several pulls may be under way: `reserve` says so, `release` takes it back. Decisions are then made on a copy of the
table in which those pulls have narrowed the boxes; what has been observed, and the stop, do not depend on them.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from copy import copy, deepcopy
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramgape.bounds import the_bound
from ramgape.common.interrupts import interrupts_deferred
from ramgape.core.comparisons import BLOCKER, INSIDE_PROVED
from ramgape.core.loop import note_pull, replay
from ramgape.core.pareto import Mask
from ramgape.core.pending import anticipate
from ramgape.core.rounds import MODULUS, begin_round, is_round_over, place_arm, take_next
from ramgape.core.rows import Row, Rows, load
from ramgape.core.rule import Rule
from ramgape.core.statistics import least_pulled
from ramgape.core.table import (
    ARM,
    DECISIONS,
    ENDED,
    PROVED,
    ROUND,
    SEARCH,
    TRACE,
    TRUTH,
    Memory,
    State,
    Table,
    new_table,
)
from ramgape.policies import POLICIES, is_compiled
from ramgape.problems.environments import Sampler
from ramgape.questions import Question
from ramgape.search.assembly import Adder, kept_columns, make_look, make_rule, make_state
from ramgape.search.drift_check import DriftCheck
from ramgape.search.items_exact import Known, know
from ramgape.search.outcome import Outcome, check_outcome, check_reward
from ramgape.search.policy_state import ask_policy
from ramgape.search.quality import Alarm
from ramgape.search.result import Stopped
from ramgape.search.samples import Sample
from ramgape.search.simulator import simulator
from ramgape.search.spec import Spec
from ramgape.search.spending import Spending

STATE_FORMAT = 2  # of what `state_bytes` writes; a change of its meaning takes the next number
# Simulated trials between two looks at the clock, the keyboard and the callback: in plain Python, and compiled.
AT_A_TIME, COMPILED_AT_A_TIME = 256, 250_000
CROWD = 8  # of an arm's pulls for one under way: then more of them do no harm there
UNKNOWN, UNWATCHED = new_table(0, TRUTH), new_table(0, TRACE)
NO_TABLES = new_table(0, ARM), new_table(0, SEARCH)  # where nothing is decided in rounds


class Engine(Spending):
    """One search: its table of arms and what may be done next.

    `arms`, `search` and `problem` are there to be read. Only the engine and the kernels write them.
    """

    def __init__(self, spec: Spec, seed: int | None = 0) -> None:
        """A search before its first pull; the seed is that of the order in rounds, None for one by chance."""
        self._asked = self._spec = spec
        self.sample = Sample() if spec.modelled else None  # what is told; of what is simulated nothing is kept
        self._limit = spec.limit
        # Arms that may come later have their part of the accepted probability of an alarm.
        part = len(spec.names) / (spec.expected_arms or len(spec.names))
        self.drift_check = None if spec.drift is None else DriftCheck(part * spec.drift, len(spec.names))
        self._pending = [0] * len(spec.names)
        self._under_way = 0
        self.elsewhere = 0.0  # money that was spent on arms which take part no longer
        self._reason: Stopped = "confidence"  # why it stopped, once it has
        self._adder: Adder | None = None
        self.order = None if spec.items is None else spec.items.order(seed)
        self._hold(self._first_state())
        if spec.interleave:
            self.begin_rounds(seed)

    def _first_state(self) -> State:
        """The tables before the first pull."""
        return make_state(self._asked, self._asked.bound, self._asked.delta)

    def _hold(self, state: State) -> None:
        """Take tables as the state of this search."""
        self._state, self._rows = state, Rows.of(state)
        self._is_written = True  # whether the tables have what the rows have
        self._record = self._rows.searches[0]
        self._ahead: Rows | None = None  # the state when the trials in progress are back

    @property
    def rows(self) -> Rows:
        """The state as kernels take it, to be changed."""
        self._is_written = False
        return self._rows

    @property
    def state(self) -> State:
        """The state as tables, to be read."""
        if not self._is_written:
            self._rows.write(self._state)
            self._is_written = True
        return self._state

    @property
    def arms(self) -> Table:
        return self.state.arms

    @property
    def memory(self) -> Memory:
        return self._state.memory

    @property
    def search(self) -> Table:
        return self.state.search

    @property
    def problem(self) -> Table:
        return self._state.problem

    @contextmanager
    def _tables(self) -> Iterator[State]:
        """The state as tables, to be changed."""
        yield self.state
        self._rows = Rows.of(self._state)
        self._record, self._ahead = self._rows.searches[0], None

    @classmethod
    def from_statistics(
        cls,
        spec: Spec,
        statistics: State,
        sample: Sample | None = None,
        drift_check: DriftCheck | None = None,
        *,
        another_bound: bool = False,
    ) -> Engine:
        """A search whose arms have the statistics of the first arms of another state.

        They count from the next `look` on, as after `add_up`; `make_boxes` is enough where nothing is compared.

        Args:
            spec: What is asked, of as many arms as there are names.
            statistics: The state of at least as many arms, made for the same rewards and the same risk.
            sample: The rewards themselves, where they were kept.
            drift_check: Of these rewards, if there is one.
            another_bound: The state is that of a search with another bound: what that has found is no statistic.
        """
        assert not (another_bound and the_bound(spec.bound).collects)
        engine = cls(spec)
        engine.sample, engine.drift_check = sample, drift_check
        learning = spec.risk.kernels(spec.assumption)
        with engine._tables() as state:
            state.take(statistics, kept_columns(spec) - learning.narrowed if another_bound else None)
            state.search["samples"] = state.arms["pulls"].sum()
        return engine

    def copy(self) -> Engine:
        """The same search, with the pulls under way and where the rule stands; what happens to one concerns only it."""
        other = copy(self)
        other._hold(self.state.copy())
        other._pending = self._pending.copy()
        other.sample = deepcopy(self.sample)
        other.drift_check = None if self.drift_check is None else self.drift_check.copy()
        return other

    @property
    def spec(self) -> Spec:
        """What is asked. A tolerance that is a share of the smallest mean is a number once the first looks are in."""
        if self._spec.is_open and self._record.ready:
            self._spec = self._spec.settled(self._record.epsilon)
        return self._spec

    @cached_property
    def rule(self) -> Rule:
        """The compiled functions of this search; one that only has boxes made needs none."""
        return make_rule(self.spec)

    @cached_property
    def question(self) -> Question:
        """What is asked on the engine's scale, to the last bit as the kernels were told."""
        return self._asked.unit_question

    @property
    def samples(self) -> int:
        """Pulls so far."""
        return self._record.samples  # type: ignore[no-any-return]

    @property
    def doubt(self) -> float:
        """V(t), in the user's units; infinite until every arm has its initial pulls."""
        return self._record.doubt * self.spec.span  # type: ignore[no-any-return]

    @property
    def unproved(self) -> int | None:
        """Of how many arms the place is still to be proved, where arms are compared in pairs; None elsewhere."""
        if not the_bound(self._asked.bound).compares_pairs:
            return None
        left, snapshot = np.count_nonzero(self.arms["blocker"] != INSIDE_PROVED), int(self.problem["snapshot"][0])
        if snapshot >= 0 and self.search["designations"][0]:
            left = min(left, np.count_nonzero(self.memory[:, snapshot + BLOCKER] != INSIDE_PROVED))
        return int(left)

    @property
    def stopped(self) -> Stopped | None:
        """Why the search is over, or None."""
        if self.is_complete:
            return "complete"
        if self._record.stopped:
            return "constant" if self._reason == "confidence" and self.set_aside.any() else self._reason
        if self._record.samples < self._limit:
            return None if self._can_buy(self.elsewhere) else "spend"
        if self.spec.items is not None and self._record.samples == len(self._rows.arms) * len(self.spec.items):
            return "exhausted"
        return "cap" if self.spec.budget is None else "budget"

    @property
    def is_complete(self) -> bool:
        """Whether every item of a test set that is all there is has been asked of every arm."""
        items = self.spec.items
        return items is not None and items.population and self.samples == len(self._rows.arms) * len(items)

    @property
    def set_aside(self) -> Mask:
        """The arms of which nothing can be said, so that nothing waits for them: their boxes are inside out."""
        return np.asarray((self.arms["low"] > self.arms["high"]).any(axis=1))

    @property
    def ready(self) -> bool:
        """Whether every arm has its initial pulls, without which nothing is compared."""
        return bool(self._record.ready)

    @property
    def misses(self) -> int:
        """How often an interval contradicted an earlier one, or the average."""
        return self._record.misses  # type: ignore[no-any-return]

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        """The arms whose rewards speak against what every proof assumes; none where nothing is watched."""
        return () if self.drift_check is None else self.drift_check.alarms(self.spec.names)

    @property
    def lacks_trials(self) -> Mask:
        """The arms of the present answer with too few trials to have shown the rare events that are to be seen."""
        return np.asarray(self.answer() & (self.arms["pulls"] < self.problem["rare_trials"]))

    def answer(self) -> Mask:
        """The arms that would be returned now, as a mask; none before every arm has its initial pulls.

        Where all is known it is the right answer, whatever a rule has settled before.
        """
        return self.known.answer if self.is_complete else self.spec.question.answer(self.state)

    @cached_property
    def known(self) -> Known:
        """Where all is known: what decides, without rounding."""
        first = int(self.problem["first_item"][0])
        return know(self.spec, self.memory[:, first : first + len(self.spec.items or ())])

    @property
    def asked_all(self) -> Mask:
        """The arms that have been asked every item of a test set that is all there is: nothing of them is open."""
        return np.asarray((self.arms["pulls"] == self.problem["item_count"]) & (self.arms["pulls"] > 0))

    @property
    def pending(self) -> tuple[int, ...]:
        """Of each arm, the pulls that are under way."""
        return tuple(self._pending)

    @property
    def decision(self) -> tuple[Any, ...]:
        """Where the rule stands, beyond what the observations tell: what a search that goes on elsewhere must know."""
        record = self._record
        stands = tuple([getattr(record, name) for name in DECISIONS])
        if not self.spec.interleave:
            return stands
        waiting = [arm for row in self._rows.arms for arm in row.queue][: record.waiting]
        return (*stands, *(getattr(record, name) for name in ROUND), *waiting)

    @decision.setter
    def decision(self, values: Iterable[int]) -> None:
        names: tuple[str, ...] = DECISIONS
        values, rows = list(values), self.rows
        if self.spec.interleave:
            names += ROUND
            values, waiting = values[: len(names)], values[len(names) :]
            self._record.waiting = len(waiting)
            for place, arm in enumerate(waiting):
                rows.arms[place // 2].queue[place % 2] = arm
        for name, value in zip(names, values, strict=True):
            setattr(self._record, name, int(value))
        self._ahead = None

    def ask(self) -> int | None:
        """The arm to pull next, or None if the search is over or all its pulls are under way.

        A decision is made once: before asking again, tell the reward or `reserve` the arm.
        """
        if self._record.stopped or self._record.samples + self._under_way >= self._limit:
            return None
        arm = self._decide()
        if self.order is not None and not self._has_items(arm):
            arm = self._instead_of(arm)
        return arm if self.spec.spend is None else self._affordable(arm)

    def _decide(self) -> int:
        """The arm that the rule wants next."""
        if self.spec.interleave:
            return self._ask_in_rounds()
        if self._under_way:
            return self._ask_ahead()
        if self._record.ready:
            return int(self._decide_by(self.rows))
        return int(least_pulled(self._rows.arms))

    def _decide_by(self, rows: Rows) -> int:
        """The decision of the rule in a state."""
        if self.is_slow:
            state = self.state if rows is self._rows else self._as_tables(rows)
            return ask_policy(self.spec, *state)
        return self.rule.decide(*rows.records)  # type: ignore[no-any-return]

    def _as_tables(self, rows: Rows) -> State:
        """Rows of a state to look ahead in as tables, for policies from outside."""
        state = self._state.copy()
        rows.write(state)
        return state

    def _has_items(self, arm: int) -> bool:
        """Whether there are items that an arm has not been asked."""
        assert self.order is not None
        return bool(self._rows.arms[arm].pulls + self._pending[arm] < len(self.order))

    def _instead_of(self, arm: int) -> int:
        """In place of an arm that has been asked all items: the one it is compared with, or the least asked."""
        other = self._rows.arms[arm].rival
        if 0 <= other != arm and self._has_items(other):
            return other  # type: ignore[no-any-return]
        return int(np.argmin(self.arms["pulls"] + np.array(self._pending)))

    def item_of(self, arm: int, turn: int | None = None) -> int:
        """Which item an arm's pull takes, by its place in the list: the next one, or that of a turn."""
        assert self.order is not None
        assert self.spec.items is not None
        turn = self._rows.arms[arm].pulls + self._pending[arm] if turn is None else turn
        return int(self.order[turn]) % len(self.spec.items.values)

    @property
    def is_slow(self) -> bool:
        """Whether every decision is a call of a Python function, a policy from outside."""
        return self.spec.decide is not None and not is_compiled(self.spec.decide)

    def _ask_ahead(self) -> int:
        """The next arm in view of what is under way."""
        rows = self._foresee()
        arms, (search,) = rows.arms, rows.searches
        if not search.ready:
            return int(least_pulled(arms))
        arm = int(self._decide_by(rows))
        own = self.rows.searches[0]
        for name in DECISIONS:
            setattr(own, name, getattr(search, name))
        few = (
            len(arms) == 1
            or 2 * self._pending[arm] <= self._under_way
            or CROWD * self._pending[arm] <= self._rows.arms[arm].pulls
        )
        # Every other time the rule has its way even so: a pull that never comes back must not keep its arm from others.
        return arm if few or search.samples % 2 == 0 else self._spread(arms, arm)

    def _ask_in_rounds(self) -> int:
        """The next pull of the round, or the first of a new one: `next_of_round`, for calls from Python."""
        rows = self.rows
        if not self._record.waiting:
            ahead = (self._foresee() if self._under_way else rows).copy(self._state.memory)
            tables = (rows.arms, rows.searches, rows.problems, ahead.arms, ahead.searches)
            placed = 0
            while not is_round_over(*tables, placed):
                ready = ahead.searches[0].ready
                arm = self._decide_by(ahead) if ready else least_pulled(ahead.arms)
                arm = place_arm(*tables, placed, arm)
                placed += 1
                if ready:
                    self.rule.compare(*ahead.records, arm)
            begin_round(rows.arms, rows.searches, ahead.searches, placed)
            self._ahead = None  # the rule stands elsewhere now
        return int(take_next(rows.arms, rows.searches))

    def begin_rounds(self, seed: int | None) -> None:
        """Decide the next round anew and in an order by this seed, whatever is left of the present one."""
        drawn = np.random.SeedSequence(seed, spawn_key=(1,)).generate_state(1)  # another one than that of the rewards
        record = self.rows.searches[0]
        record.waiting = record.run = 0
        record.last = -1
        record.dice = 1 + int(drawn[0]) % (MODULUS - 1)

    def is_enough(self) -> bool:
        """Whether the pulls under way may be all it takes, or end a phase: then more of them had better wait."""
        if self.stopped:
            return True
        if not self._under_way or not self._record.ready:
            return False
        rows = self._foresee()
        return bool(rows.searches[0].phase != self._record.phase or self.rule.stop(*rows.records))

    def _spread(self, arms: list[Row], arm: int) -> int:
        """In place of an arm that has most of the pulls under way: the one it is compared with, or the least pulled.

        Where they are many beside those that it has had, what they will show is worth less there, the more of them
        there are; but a rule, whose boxes they hardly change, would send all workers to one arm.
        """
        rival: int = arms[arm].rival
        if rival >= 0 and rival != arm and 2 * self._pending[rival] <= self._under_way:
            return rival
        return min((other for other in range(len(arms)) if other != arm), key=lambda other: arms[other].pulls)

    def _foresee(self) -> Rows:
        """The state in which every pull under way is back and has shown nothing new."""
        if self._ahead is None:
            self._ahead = self._rows.copy(self._state.memory)
            for arm, count in enumerate(self._pending):
                if count:
                    self._expect(arm, count)
        return self._ahead

    def _expect(self, arm: int, count: int) -> None:
        assert self._ahead is not None
        anticipate(self._ahead.arms, self._ahead.searches, arm, count)
        if self._ahead.searches[0].ready:
            self.rule.compare(*self._ahead.records, arm)

    def reserve(self, arm: int, count: int = 1) -> None:
        """Pulls of an arm are under way, and the next decision should know."""
        self._pending[arm] += count
        self._under_way += count
        if self._ahead is not None:
            self._expect(arm, count)

    def release(self, arm: int) -> None:
        """A pull of an arm is no longer under way: it has come back, or never will."""
        self._pending[arm] -= 1
        self._under_way -= 1
        self._ahead = None

    def tell(self, arm: int, reward: float, price: float | None = None) -> None:
        """Learn one reward; it must have passed `check_reward`. A pull that was reserved is to be released as well.

        Its price is for a search whose prices are told.
        """
        with interrupts_deferred():  # a reward is learnt whole or not at all
            if self._take(int(arm), float(reward)):
                self._record.stopped = PROVED
            if price is not None:
                self.pay(np.array([arm]), np.array([price]))

    def _take(self, arm: int, reward: float) -> bool:
        """Take down and learn one reward; tells whether the stopping rule speaks."""
        if self.sample is not None:
            self.sample.add(arm, reward)
        if self.drift_check is not None:
            self.drift_check.add(arm, reward)
        return self._learn(arm, reward)

    def _learn(self, arm: int, reward: float) -> bool:
        """Learn one reward; tells whether the stopping rule speaks."""
        self._ahead = None
        learn, compare, _, stop = self.rule
        arms, memory, search, problem = self.rows.records
        learn(arms, memory, search, problem, arm, reward)
        compare(arms, memory, search, problem, arm)
        return bool(search.ready and stop(arms, memory, search, problem))

    def finish(self, reason: Stopped) -> None:
        """The search is over for a reason that is known from elsewhere; if it has stopped already, that reason stays.

        Args:
            reason: "confidence" says that the stopping rule has spoken, and that the present answer is what it proved.
        """
        if self.stopped is None:
            self._reason = reason
            self.rows.searches[0].stopped = PROVED if reason == "confidence" else ENDED

    def apply_stop(self) -> None:
        """Ask the stopping rule, of a search whose last rewards were learnt without asking."""
        if self._record.ready and self.rule.stop(*self.rows.records):
            self._record.stopped = PROVED

    def learn_many(self, arms: NDArray[np.int64], rewards: NDArray[np.float64], *, may_stop: bool = True) -> int:
        """Learn rewards in their order, like as many calls of `tell`, until the stop; returns how many those were.

        With `may_stop` false all are learnt: it is known that the rule did not stop at them.
        """
        self._ahead = None
        if may_stop:
            room = 0 if self._record.stopped else max(self.spec.limit - self.samples, 0)
            arms, rewards = arms[:room], rewards[:room]
        functions = (self.rule.learn, self.rule.compare, self.rule.stop)
        made: int = replay(*functions, *self.rows, arms.tolist(), rewards.tolist(), may_stop)
        self._keep(arms[:made], rewards[:made])
        return made

    def _keep(self, arms: NDArray[np.int64], rewards: NDArray[np.float64]) -> None:
        """What else goes by rewards that have been learnt, in their order."""
        if self.sample is not None:
            self.sample.add_many(arms, rewards)
        if self.drift_check is not None:
            self.drift_check.add_many(arms, rewards)

    def add_up(self, arms: NDArray[np.int64], rewards: NDArray[np.float64]) -> None:
        """Learn rewards whose order means nothing. They count from the next `look` on, which is due when all are in."""
        if self._adder is None:
            self._adder = Adder(self.spec)
        with self._tables() as state:
            self._adder.add(state, arms, rewards)
            state.search["samples"] += len(arms)
        self._keep(arms, rewards)

    def make_boxes(self) -> None:
        """Make the box of every arm from its sums; nothing is compared."""
        self._ahead = None
        make_look(self.spec, self.spec.bound)(*self.rows)

    def look(self, *, may_stop: bool = True) -> None:
        """Make the box of every arm from its sums, compare all arms, and ask the stopping rule, if it is to be heeded.

        A bound that narrows its boxes would in the course of a search have kept the best of every moment: that is as
        valid where the order of the rewards means nothing, and perhaps a little narrower.
        """
        self.make_boxes()
        records = self.rows.records
        self._record.next_look = 0
        for changed in range(len(records[0])):
            self.rule.compare(*records, changed)
        if self._record.ready and self.rule.stop(*records) and may_stop:
            self._record.stopped = PROVED

    def state_bytes(self) -> bytes | None:
        """What the observations have led to, for `restore`.

        None where rewards are kept, which are no state, and where code takes part that is not ours: nobody would notice
        that it has changed.
        """
        spec = self.spec
        if self.sample is not None or spec.policy not in POLICIES or not isinstance(spec.bound, str):
            return None
        parts = (*self.rule, type(spec.risk), type(spec.question))
        if not all(getattr(part, "py_func", part).__module__.startswith("ramgape.") for part in parts):
            return None
        return zlib.compress(b"".join(table.tobytes() for table in self._written), level=1)

    @property
    def _written(self) -> tuple[NDArray[Any], ...]:
        """The tables that rewards have led to."""
        return self.state[:-1] if self.drift_check is None else (*self.state[:-1], self.drift_check.table)

    def restore(self, state: bytes) -> None:
        """Go on from the state of an engine with the same `stamp`. What is under way stays as it is."""
        content, start = np.frombuffer(zlib.decompress(state), np.uint8), 0
        with self._tables():
            for table in self._written:
                end = start + table.nbytes
                table.reshape(-1).view(np.uint8)[:] = content[start:end]
                start = end

    @property
    def stamp(self) -> str:
        """A digest of all that gives a state its meaning: its format, the layout, and what is asked."""
        about = (
            STATE_FORMAT,
            [(table.dtype.descr, table.shape) for table in (*self._written, self.problem)],
            self._asked,
            self.problem.tobytes(),
        )
        return hashlib.sha256(repr(about).encode()).hexdigest()

    def check_reward(self, reward: object, arm: int) -> float:
        """A reward as a float, or an error."""
        return check_reward(self.spec, reward, self.spec.names[arm])

    def check_outcome(self, given: object, arm: int) -> Outcome:
        """What a trial gave, a reward or an `Outcome`; or an error."""
        return check_outcome(self.spec, given, self.spec.names[arm])

    def prepare(self, sampler: Sampler) -> None:
        """Compile what `advance` needs if that pays, so that its time is that of the trials alone."""
        if self._may_compile(sampler):
            simulator(self.rule, sampler.draw, bool(self.spec.interleave)).prepare()

    def trials_at_once(self, sampler: Sampler) -> int:
        """How many simulated trials take no longer than a display may wait for news."""
        if not self._may_compile(sampler):
            return AT_A_TIME
        is_compiled = simulator(self.rule, sampler.draw, bool(self.spec.interleave)).is_compiled
        return COMPILED_AT_A_TIME if is_compiled else AT_A_TIME

    def _may_compile(self, sampler: Sampler) -> bool:
        return not (self.is_slow or sampler.in_python or self.order is not None)

    def advance(
        self,
        sampler: Sampler,
        generator: np.random.Generator,
        count: int,
        truth: Table = UNKNOWN,
        trace: Table = UNWATCHED,
    ) -> int:
        """Simulate up to `count` pulls; returns how many were made. `trace` takes down what each of them did.

        Where the policy, or an arm, is a Python function, this is a loop of asking and telling, a hundred times slower
        or more.
        """
        count = 0 if self._record.stopped else min(count, self.spec.limit - self.samples)
        if not self._may_compile(sampler):
            return self.play(sampler, generator, count, truth, trace)
        loop = simulator(self.rule, sampler.draw, bool(self.spec.interleave))
        loop.prepare()
        made = 0
        while made < count and not loop.is_compiled:
            part = min(count - made, AT_A_TIME)
            with loop.timed(), interrupts_deferred():
                played = self.play(sampler, generator, part, truth, trace[made : made + part])
            made += played
            if played < part or self._record.stopped:
                return made
        if made == count:
            return made
        drawn = (sampler.parameters, sampler.values, generator)
        with self._tables() as state:
            ahead = (state.arms.copy(), state.search.copy()) if self.spec.interleave else NO_TABLES
            return made + loop.advance(*state, *drawn, count - made, truth, trace[made:], *ahead)

    def play(
        self,
        sampler: Sampler,
        generator: np.random.Generator,
        count: int,
        truth: Table = UNKNOWN,
        trace: Table = UNWATCHED,
    ) -> int:
        """The same in plain Python: it ends where the rule, the limit or the count has it."""
        steps, true, in_python = trace.view(np.recarray), load(truth), sampler.in_python
        for pull in range(count):
            arm = self.ask()
            if arm is None:
                return pull
            cell = arm if self.order is None else arm + len(self._rows.arms) * self.item_of(arm)
            reward = sampler.draw(sampler.parameters, sampler.values, cell, generator)
            if self._learn(arm, self.check_reward(reward, arm) if in_python else float(reward)):
                self._record.stopped = PROVED
            if pull < len(steps):
                note_pull(steps, pull, self._rows.arms, self._rows.searches, self._rows.problems, true, arm)
        return count
