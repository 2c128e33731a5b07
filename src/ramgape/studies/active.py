"""The search among the arms that take part in a study, where some have been retired.

A retired arm keeps its number in the storage. The search among the others numbers its rows without it: every box is a
function of its own arm's rewards, so the search knows what one without that arm would know. A study without retired
arms uses its engine directly.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from ramgape.errors import BudgetSpent
from ramgape.search.engine import Engine
from ramgape.studies.arrivals import RetiredArm
from ramgape.studies.entries import Trial
from ramgape.studies.specification import StudySpec


class ActiveArms:
    """An engine that is asked and told of arms by their numbers in the storage; it records rewards of retired arms."""

    def __init__(self, spec: StudySpec, engine: Engine) -> None:
        self._engine = engine
        self._price = spec.search.price
        stays = np.array([name not in spec.retired for name in spec.search.names])
        self._rows = np.where(stays, np.cumsum(stays) - 1, -1)  # of arms in the search; -1 for retired ones
        self._arms = np.flatnonzero(stays)  # of its rows
        self.gone: dict[int, list[float]] = {}  # of retired arms: the first reward; count, sum and squares about it

    def ask(self) -> int | None:
        """Return the arm to try next, as `Engine.ask`."""
        row = self._engine.ask()
        return None if row is None else int(self._arms[row])

    def item_of(self, arm: int) -> int:
        """Return the place of the item that the next trial of an arm takes."""
        return self._engine.item_of(int(self._rows[arm]))

    def reserve(self, arm: int) -> None:
        """Note that a trial is in progress."""
        if self._rows[arm] >= 0:
            self._engine.reserve(int(self._rows[arm]))

    def release(self, arm: int) -> None:
        """Note that a trial is no longer in progress."""
        if self._rows[arm] >= 0:
            self._engine.release(int(self._rows[arm]))

    def price_of(self, arm: int) -> float:
        """Return the price of a trial as far as it is known; a retired arm is not tried."""
        return self._engine.price_of(int(self._rows[arm])) if self._rows[arm] >= 0 else 0.0

    def tell(self, arm: int, reward: float, price: float | None) -> None:
        """Learn one reward and its price."""
        if self._rows[arm] >= 0:
            self._engine.tell(int(self._rows[arm]), reward, price)
        else:
            self._record(arm, reward)
            self.pay(np.array([arm]), np.array([math.nan if price is None else price]))

    def learn_many(self, arms: NDArray[np.int64], rewards: NDArray[np.float64], *, may_stop: bool) -> int:
        """Learn rewards in their order; return how many came before the end."""
        places = np.flatnonzero(self._rows[arms] >= 0)
        used = self._engine.learn_many(self._rows[arms[places]], rewards[places], may_stop=may_stop)
        last = len(arms) if used == len(places) else int(places[used - 1]) + 1 if used else 0
        self._record_all(arms[:last], rewards[:last])
        return last

    def add_up(self, arms: NDArray[np.int64], rewards: NDArray[np.float64]) -> None:
        """Learn rewards whose order means nothing."""
        there = self._rows[arms] >= 0
        self._engine.add_up(self._rows[arms[there]], rewards[there])
        self._record_all(arms, rewards)

    def pay(self, arms: NDArray[np.int64], prices: NDArray[np.float64]) -> None:
        """Note what trials have cost."""
        there = self._rows[arms] >= 0
        self._engine.pay(self._rows[arms[there]], prices[there])
        if not isinstance(self._price, tuple):
            self._engine.elsewhere += float(np.nansum(prices[~there]))

    def _record_all(self, arms: NDArray[np.int64], rewards: NDArray[np.float64]) -> None:
        for place in np.flatnonzero(self._rows[arms] < 0).tolist():
            self._record(int(arms[place]), float(rewards[place]))

    def _record(self, arm: int, reward: float) -> None:
        """Add up an observation of a retired arm."""
        sums = self.gone.setdefault(arm, [reward, 0.0, 0.0, 0.0])
        sums[1] += 1.0
        sums[2] += reward - sums[0]
        sums[3] += (reward - sums[0]) ** 2
        if isinstance(self._price, tuple):
            self._engine.elsewhere += self._price[arm]


def retired_arms(spec: StudySpec, gone: dict[int, list[float]]) -> Iterator[RetiredArm]:
    """What is recorded of the arms that were retired."""
    for change in spec.arm_changes:
        if change.kind == "retired":
            first, count, total, squares = gone.get(spec.search.names.index(change.arm), [math.nan, 0.0, 0.0, 0.0])
            mean, variance = (total / count, squares / count) if count else (math.nan, math.nan)
            spread = math.sqrt(max(variance - mean * mean, 0.0)) if count else math.nan
            yield RetiredArm(change.arm, change.changed_at, int(count), first + mean, spread)


def require_money(active: Engine | ActiveArms, left: float, spend: float | None, trials: Sequence[Trial]) -> None:
    """Refuse trials that cost more than is left to spend."""
    if left < math.inf:
        cost = math.fsum(active.price_of(trial.arm) if trial.price is None else trial.price for trial in trials)
        _require_affordable(cost, left, spend)


def require_first_money(spec: StudySpec, trials: Sequence[Trial]) -> None:
    """Refuse trials that a new study begins with and cannot pay for."""
    search = spec.search
    stated = search.price if isinstance(search.price, tuple) else None
    if search.spend is not None:
        cost = math.fsum(trial.price or 0.0 if stated is None else stated[trial.arm] for trial in trials)
        _require_affordable(cost, search.spend, search.spend)


def _require_affordable(cost: float, left: float, spend: float | None) -> None:
    if cost > left:
        raise BudgetSpent(f"of the money, {spend:g} in all, {max(left, 0.0):.6g} are left", given=f"{cost:.6g}")
