"""The trials of a search: call the user's function for the arms that the engine asks for, and report the rewards.

Plain calls, one after the other, are a short loop. Several calls at a time, awaited calls and limits need a loop over
`PendingCalls`. It decides the next arm as if the calls in progress had ended and shown nothing new, and counts results
in the order of asking (trials/asking.py).
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ramgape.common.checks import is_awaitable
from ramgape.errors import InvalidReward, Retry, require
from ramgape.search.engine import Engine
from ramgape.search.estimands import counts_in_order
from ramgape.search.outcome import Outcome
from ramgape.search.quality import TrialQuality, with_names
from ramgape.trials.asking import AskingOrder
from ramgape.trials.calls import Limits, PendingCalls, error_of
from ramgape.trials.choice import engine_of
from ramgape.trials.executors import is_async

REWARDS, PAUSES = 2, 3  # what the seeds of calls are for: none serves twice


class Call(NamedTuple):
    """One call of the user's function.

    Attributes:
        arm: Which arm is pulled, by its number.
        turn: Which of that arm's pulls it is: 0, 1, 2, ...
        attempt: How often it was tried before.
        number: Which of all calls it is, in the order of asking.
    """

    arm: int
    turn: int
    attempt: int = 0
    number: int = 0


class Turns:
    """Results that come in any order, and those that may be learned by that.

    Args:
        in_order: Whether a result waits until all calls that were asked for earlier have ended.
        stays: Whether a call that is tried again keeps its place: where an arm's results must be learned in the order
            of its items, or of rounds. Otherwise it is passed over, and counts as asked for anew.
    """

    def __init__(self, in_order: bool, stays: bool = False) -> None:
        self._order = AskingOrder() if in_order else None
        self._stays = stays
        self._results: dict[int, tuple[int, Outcome]] = {}  # by number: those that wait
        self.asked = 0
        self.overtaken = False  # a result was learned before that of a call that was asked for earlier
        self._open: dict[int, None] = {}  # numbers of calls in progress, the first one first

    def ask(self, arm: int, turn: int) -> Call:
        """The next call."""
        call = Call(arm, turn, number=self.asked)
        self.asked += 1
        self._open[call.number] = None
        if self._order is not None:
            self._order.enter(call.number)
        return call

    @property
    def held(self) -> int:
        """How many results wait for those of earlier calls."""
        return len(self._results)

    def learnable(self, call: Call, outcome: Outcome) -> Iterator[tuple[int, Outcome]]:
        """What may be learned now that the result of a call is in: arms and outcomes, in their order."""
        self.overtaken |= self._order is None and next(iter(self._open)) != call.number
        del self._open[call.number]
        if self._order is None:
            yield call.arm, outcome
            return
        self._results[call.number] = call.arm, outcome
        self._order.leave(call.number)
        self._order.enter(call.number, held=True)
        yield from self._ready(self._order)

    def again(self, call: Call) -> Iterator[tuple[int, Outcome]]:
        """What may be learned now that a call has failed and is to be tried again."""
        if self._order is None or self._stays:
            return
        self._order.leave(call.number)
        self._order.move(call.number, self.asked)
        self._order.enter(call.number)
        yield from self._ready(self._order)

    def _ready(self, order: AskingOrder) -> Iterator[tuple[int, Outcome]]:
        for number in order.ready():
            order.leave(number, held=True)
            order.close(number)
            yield self._results.pop(number)


@dataclass(frozen=True, slots=True)
class TrialSettings:
    """How a search makes its trials: how many at once, within which limits, and whether they count in order."""

    workers: int
    limits: Limits
    in_order: bool


class TrialLoop:
    """A search whose trials are calls of a function.

    Args:
        engine: The search.
        pull: The user's function, of an arm, of an item if there are any, and perhaps of a generator; what it gives may
            have to be awaited.
        arms: What it is given for each of them.
        seed: Where the randomness comes from.
        settings: How its trials are made.
        heard: Called after every reward that was learnt; something true ends the search.
    """

    def __init__(
        self,
        engine: Engine,
        pull: Callable[..., Any],
        arms: Sequence[Any],
        seed: int | None,
        settings: TrialSettings,
        heard: Callable[[], object] | None = None,
    ) -> None:
        self.engine, self.pull, self.arms, self.settings, self.heard = engine, pull, arms, settings, heard
        self.entropy: Any = np.random.SeedSequence(seed).entropy
        self.items = engine.spec.items
        after = 1 if self.items is None else 2
        check_takes(pull, after)
        self.generator = np.random.default_rng(seed) if wants_generator(pull, after) else None
        # One generator serves all calls, one after the other, unless they may overlap.
        self.overlaps = settings.workers > 1 or settings.limits.timeout is not None
        strict = counts_in_order(engine.spec)
        self.turns = Turns(settings.in_order or strict, stays=strict)
        self.failures: Counter[int] = Counter()  # by arm: calls that have failed and were tried again
        self.timeouts: Counter[int] = Counter()

    @property
    def quality(self) -> TrialQuality:
        """The calls that others replaced."""
        names = self.engine.spec.names
        failures, timeouts = (with_names(counts, names) for counts in (self.failures, self.timeouts))
        return TrialQuality(failures, timeouts, overtaken=self.turns.overtaken)

    def to_the_end(self) -> None:
        """Make trials until the search is over, or an error or an interrupt ends it."""
        left = None
        if self.settings.workers == 1 and self.settings.limits.is_plain and not is_async(self.pull):
            left = self._one_by_one()
            if left is None:
                return
        limits = self.settings.limits
        make = self._await if is_async(self.pull) else self._make
        with engine_of(make, self.settings.workers, timeout=limits.timeout) as engine:
            calls: PendingCalls[Call] = PendingCalls(engine, partial(engine.start, make), limits)
            if left is not None:
                arm, more = left
                self.engine.reserve(arm)
                calls.adopt(self.turns.ask(arm, int(self.engine.arms["pulls"][arm])), engine.start(more))
            self._several(calls)

    def _one_by_one(self) -> tuple[int, Callable[[], Any]] | None:
        """Plain calls to the end; or to the first that asks for more than that, which the other loop goes on with."""
        engine, pull, arms, heard = self.engine, self.pull, self.arms, self.heard
        extra = () if self.generator is None else (self.generator,)
        while (arm := engine.ask()) is not None:
            try:
                reward = pull(arms[arm], *self._item(arm), *extra)
            except Retry as retry:
                return arm, _raising(retry)
            if type(reward) is not float and is_awaitable(reward):
                return arm, lambda reward=reward: reward
            outcome = engine.check_outcome(reward, arm)
            engine.tell(arm, outcome.reward, outcome.price)
            if heard is not None and heard():
                engine.finish("callback")
        return None

    def _several(self, calls: PendingCalls[Call]) -> None:
        engine = self.engine
        asked = engine.arms["pulls"] + engine.pending  # of each arm: how many pulls
        try:
            while not engine.stopped:
                while calls.free and not (calls.busy and engine.is_enough()):
                    arm = engine.ask()
                    if arm is None:
                        break
                    engine.reserve(arm)
                    calls.start(self.turns.ask(arm, int(asked[arm])))
                    asked[arm] += 1
                for call, error in self._learn(calls.wait()):
                    calls.start(*self._again(call, error))
            calls.let_end()
        except KeyboardInterrupt:
            calls.cancel()
            self._learn(calls.ended())
            raise

    def _learn(self, ended: Sequence[tuple[Call, Future[Any]]]) -> list[tuple[Call, BaseException]]:
        """Take in what came out; tells which calls have failed, and why."""
        failed: list[tuple[Call, BaseException]] = []
        for call, future in ended:
            error = error_of(future)
            if error is None:
                try:
                    outcome = self.engine.check_outcome(future.result(), call.arm)
                except InvalidReward as invalid:
                    error = invalid
                else:
                    self._tell(self.turns.learnable(call, outcome))
            if error is not None:
                failed.append((call, error))
        return failed

    def _again(self, call: Call, error: BaseException) -> tuple[Call, float]:
        """The next attempt at a call that has failed, and after how many seconds; or the error, if there is none."""
        pause = self.settings.limits.pause_after(error, call.attempt, self.entropy, PAUSES, call.arm, call.turn)
        if pause is None:
            raise error
        (self.timeouts if isinstance(error, TimeoutError) else self.failures)[call.arm] += 1
        self._tell(self.turns.again(call))
        return call._replace(attempt=call.attempt + 1), pause

    def _tell(self, outcomes: Iterator[tuple[int, Outcome]]) -> None:
        for arm, outcome in outcomes:
            if self.engine.stopped:
                return
            self.engine.release(arm)
            self.engine.tell(arm, outcome.reward, outcome.price)
            if self.heard is not None and self.heard():
                self.engine.finish("callback")

    def _make(self, call: Call) -> Any:
        """Make a call, wherever that is done."""
        given = (self.arms[call.arm], *self._item(call.arm, call.turn))
        if self.generator is None:
            return self.pull(*given)
        generator = self.generator
        if self.overlaps:  # the same rewards for the same trial of an arm, in any order
            key = (REWARDS, call.arm, call.turn, call.attempt)
            generator = np.random.default_rng(np.random.SeedSequence(self.entropy, spawn_key=key))
        return self.pull(*given, generator)

    def _item(self, arm: int, turn: int | None = None) -> tuple[Any, ...]:
        """The item of an arm's pull, of the next one unless it is said which."""
        return () if self.items is None else (self.items.values[self.engine.item_of(arm, turn)],)

    async def _await(self, call: Call) -> Any:
        return await self._make(call)


def _raising(error: Exception) -> Callable[[], Any]:
    def fail() -> Any:
        raise error

    return fail


def check_takes(pull: Callable[..., Any], count: int) -> None:
    """Complain about a function that cannot be called with an arm and an item, before it is."""
    try:
        inspect.signature(pull).bind(*range(count))
    except TypeError:
        with_rng = wants_generator(pull, count)
        require(with_rng or count == 1, "pull", "a function of an arm and an item, with items", pull)
    except ValueError:  # some builtins have no signature
        return


def wants_generator(pull: Callable[..., Any], after: int = 1) -> bool:
    """Whether `pull` takes a generator after the arm, or after arm and item: a further positional parameter that is
    required or called rng."""
    try:
        parameters = list(inspect.signature(pull).parameters.values())
    except (TypeError, ValueError):  # some builtins have no signature
        return False
    positional = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD)]
    if len(positional) <= after:
        return False
    return positional[after].default is positional[after].empty or positional[after].name == "rng"
