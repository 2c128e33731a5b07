"""Searches for the Pareto set in mean and risk of one outcome: decided by the engine of a single reward.

So `objectives=["maximize mean(x)", "minimize std(x)"]` makes the same decisions as a search about a reward with that
risk, to the bit. What is reported comes from the lane, which learns the same values on the same scale.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ramgape.core.claims import Mask
from ramgape.core.table import State
from ramgape.search.engine import Engine
from ramgape.search.outcome_engine import OutcomeEngine
from ramgape.search.outcome_spec import OutcomeSpec
from ramgape.search.result import Stopped


class SingleOutcomeEngine(OutcomeEngine):
    """One search about mean and risk of an outcome.

    Args:
        spec: With `alone`, the same search as one about a reward.
        seed, keep: As for `OutcomeEngine`.
    """

    def __init__(self, spec: OutcomeSpec, seed: int | None = 0, *, keep: bool = True) -> None:
        assert spec.alone is not None
        self.inner = Engine(spec.alone, seed)
        super().__init__(spec, seed, keep=keep)

    def copy(self) -> SingleOutcomeEngine:
        other = super().copy()
        assert isinstance(other, SingleOutcomeEngine)
        other.inner = self.inner.copy()
        return other

    def _learn(self, arm: int, reward: Any) -> bool:
        super()._learn(arm, reward)
        stops = self.inner._take(arm, reward[0])
        self._record.ready = self.inner._record.ready
        return stops

    def end(self) -> None:
        super().end()
        self.inner.finish("confidence")

    def finish(self, reason: Stopped) -> None:
        super().finish(reason)
        self.inner.finish(reason)

    def may_stop(self) -> None:
        self.inner.apply_stop()
        self._follow()

    def add_up(self, arms: NDArray[np.int64], rewards: Any) -> None:
        super().add_up(arms, rewards)
        assert self._asked.outcomes is not None
        pairs = zip(arms.tolist(), rewards, strict=True)
        self.inner.add_up(arms, np.array([self._asked.outcomes.values(each, arm)[0] for arm, each in pairs]))

    def look(self, *, may_stop: bool = True) -> None:
        self.make_boxes()
        self.inner.look(may_stop=may_stop)
        self._follow()

    def _follow(self) -> None:
        """Go by what the inner search has come to."""
        self._record.ready = self.inner._record.ready
        if self.inner._record.stopped and not self._record.stopped:
            super().end()

    def ask(self) -> int | None:
        if self._record.stopped or self._record.samples + self._under_way >= self._limit:
            return None
        return self.inner.ask()

    def is_enough(self) -> bool:
        return self.inner.is_enough()

    def reserve(self, arm: int, count: int = 1) -> None:
        super().reserve(arm, count)
        self.inner.reserve(arm, count)

    def release(self, arm: int) -> None:
        super().release(arm)
        self.inner.release(arm)

    def pay(self, arms: NDArray[np.int64], prices: NDArray[np.float64]) -> None:
        super().pay(arms, prices)
        self.inner.pay(arms, prices)

    @property
    def decision(self) -> tuple[int, ...]:
        return self.inner.decision

    @decision.setter
    def decision(self, values: Iterable[int]) -> None:
        self.inner.decision = values

    def begin_rounds(self, seed: int | None) -> None:
        self.inner.begin_rounds(seed)

    def _compare(self, *_: Any) -> None:
        """The inner search compares."""

    def _stop(self, *_: Any) -> bool:
        return False

    def answer(self) -> Mask:
        return self.inner.answer()

    @property
    def unproved(self) -> int | None:
        return self.inner.unproved

    @property
    def stopped(self) -> Stopped | None:
        return self.inner.stopped if self.inner.stopped is not None else super().stopped

    @property
    def _written(self) -> tuple[NDArray[Any], ...]:
        return (*super()._written, *self.inner._written)

    @contextmanager
    def _tables(self) -> Iterator[State]:
        with self.inner._tables(), super()._tables() as state:
            yield state


def make_engine(spec: Any, seed: int | None = 0, *, keep: bool = True) -> Engine:
    """The engine of a specification, of one outcome or of several; `keep` is as for `OutcomeEngine`."""
    if not isinstance(spec, OutcomeSpec):
        return Engine(spec, seed)
    return (OutcomeEngine if spec.alone is None else SingleOutcomeEngine)(spec, seed, keep=keep)
