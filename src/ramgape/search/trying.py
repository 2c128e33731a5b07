"""The trials of a search: a user's function is called for the arms that the engine asks for, and told what comes out.

One plain call after the other is a short loop, which every search begins with that has no more to it. With several
calls under way, calls that must be awaited, and limits it is the loop over `Calls`. Then the next arm is decided as if
those under way were back and had shown nothing new.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ramgape.common.checks import is_awaitable
from ramgape.engines.choice import engine_of
from ramgape.engines.executors import is_async
from ramgape.errors import InvalidReward, Retry, require
from ramgape.search.calls import Calls, Limits, error_of
from ramgape.search.engine import Engine
from ramgape.search.estimands import counts_in_order
from ramgape.search.outcome import Outcome

REWARDS, PAUSES = 2, 3  # what the seeds of calls are for: none serves twice


class Call(NamedTuple):
    """One call of the user's function.

    Attributes:
        arm: Which arm is pulled, by its number.
        turn: Which of that arm's pulls it is: 0, 1, 2, ...
        attempt: How often it was tried before.
    """

    arm: int
    turn: int
    attempt: int = 0


class Turns:
    """Answers that come in any order, and those that may be learnt by that.

    In order, an arm's answers are held back until those to its earlier pulls are in.
    """

    def __init__(self, in_order: bool, learnt: Sequence[int]) -> None:
        self._next = list(learnt) if in_order else None  # by arm: whose turn it is to be learnt
        self._held: dict[tuple[int, int], Outcome] = {}

    def learnable(self, call: Call, outcome: Outcome) -> Iterator[Outcome]:
        """What may be learnt of the call's arm now that its reward is in, in its order."""
        if self._next is None:
            yield outcome
            return
        self._held[call.arm, call.turn] = outcome
        while (place := (call.arm, self._next[call.arm])) in self._held:
            self._next[call.arm] += 1
            yield self._held.pop(place)


@dataclass(frozen=True, slots=True)
class Manner:
    """How a search makes its trials: how many at once, within which limits, and whether an arm's count in order."""

    workers: int
    limits: Limits
    in_order: bool


class Trying:
    """A search whose trials are calls of a function.

    Args:
        engine: The search.
        pull: The user's function, of an arm, of an item if there are any, and perhaps of a generator; what it gives may
            have to be awaited.
        arms: What it is given for each of them.
        seed: Where the randomness comes from.
        manner: How its trials are made.
        heard: Called after every reward that was learnt; something true ends the search.
    """

    def __init__(
        self,
        engine: Engine,
        pull: Callable[..., Any],
        arms: Sequence[Any],
        seed: int | None,
        manner: Manner,
        heard: Callable[[], object] | None,
    ) -> None:
        self.engine, self.pull, self.arms, self.manner, self.heard = engine, pull, arms, manner, heard
        self.entropy: Any = np.random.SeedSequence(seed).entropy
        self.items = engine.spec.items
        after = 1 if self.items is None else 2
        check_takes(pull, after)
        self.generator = np.random.default_rng(seed) if wants_generator(pull, after) else None
        # One generator serves all calls, one after the other, unless they may overlap.
        self.overlaps = manner.workers > 1 or manner.limits.timeout is not None

    def to_the_end(self) -> None:
        """Make trials until the search is over, or an error or an interrupt ends it."""
        left = None
        if self.manner.workers == 1 and self.manner.limits.is_plain and not is_async(self.pull):
            left = self._one_by_one()
            if left is None:
                return
        limits = self.manner.limits
        make = self._await if is_async(self.pull) else self._make
        with engine_of(make, self.manner.workers, timeout=limits.timeout) as engine:
            calls: Calls[Call] = Calls(engine, partial(engine.start, make), limits)
            pulls = self.engine.arms["pulls"].tolist()
            if left is not None:
                arm, more = left
                self.engine.reserve(arm)
                calls.adopt(Call(arm, pulls[arm]), engine.start(more))
            self._several(calls, Turns(self.manner.in_order or counts_in_order(self.engine.spec), pulls))

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
            outcome = engine.check_outcome(reward)
            engine.tell(arm, outcome.reward, outcome.price)
            if heard is not None and heard():
                engine.finish("callback")
        return None

    def _several(self, calls: Calls[Call], turns: Turns) -> None:
        engine = self.engine
        asked = engine.arms["pulls"] + engine.pending  # of each arm: how many pulls
        try:
            while not engine.stopped:
                while calls.room and not (calls.busy and engine.is_enough()):
                    arm = engine.ask()
                    if arm is None:
                        break
                    engine.reserve(arm)
                    calls.start(Call(arm, int(asked[arm])))
                    asked[arm] += 1
                for call, error in self._learn(turns, calls.wait()):
                    calls.start(*self._again(call, error))
            calls.let_end()
        except KeyboardInterrupt:
            calls.cancel()
            self._learn(turns, calls.ended())
            raise

    def _learn(self, turns: Turns, ended: Sequence[tuple[Call, Future[Any]]]) -> list[tuple[Call, BaseException]]:
        """Take in what came out; tells which calls have failed, and why."""
        failed: list[tuple[Call, BaseException]] = []
        for call, future in ended:
            error = error_of(future)
            if error is None:
                try:
                    outcome = self.engine.check_outcome(future.result())
                except InvalidReward as invalid:
                    error = invalid
                else:
                    self._tell(call.arm, turns.learnable(call, outcome))
            if error is not None:
                failed.append((call, error))
        return failed

    def _again(self, call: Call, error: BaseException) -> tuple[Call, float]:
        """The next attempt at a call that has failed, and after how many seconds; or the error, if there is none."""
        pause = self.manner.limits.pause_after(error, call.attempt, self.entropy, PAUSES, call.arm, call.turn)
        if pause is None:
            raise error
        return call._replace(attempt=call.attempt + 1), pause

    def _tell(self, arm: int, outcomes: Iterator[Outcome]) -> None:
        for outcome in outcomes:
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
        if self.overlaps:  # the same rewards for the same pull of an arm, whoever is faster
            generator = np.random.default_rng(np.random.SeedSequence(self.entropy, spawn_key=(REWARDS, *call)))
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
