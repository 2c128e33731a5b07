"""The arms that take part in a study: their search, by the numbers that stored rows have; and a record of the others.

A retired arm keeps its number in the store. The search among the others has numbers of its own, and has never heard of
it: every box is a function of its own arm's rewards, so what is left is what a search without that arm would know.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ramgape.errors import BudgetSpent
from ramgape.search.engine import Engine
from ramgape.studies.arrivals import RetiredArm
from ramgape.studies.entries import Seen, Trial
from ramgape.studies.specification import StudySpec


class Field:
    """The search of a study, asked and told of arms by their numbers in the store."""

    def __init__(self, spec: StudySpec, engine: Engine) -> None:
        self.engine = engine
        self._spec = spec
        self._rows: NDArray[np.int64] | None = None  # of arms in the search, -1 for those that went
        self._arms: NDArray[np.int64] | None = None  # of its rows
        if spec.retired:
            stays = np.array([name not in spec.retired for name in spec.search.names])
            self._rows, self._arms = np.where(stays, np.cumsum(stays) - 1, -1), np.flatnonzero(stays)
        self._gone: dict[int, list[float]] = {}  # of retired arms: the first reward; count, sum and squares about it

    def row_of(self, arm: int) -> int:
        """The number of an arm in the search; -1 if it is retired."""
        return arm if self._rows is None else int(self._rows[arm])

    def ask(self) -> int | None:
        """The arm to pull next, as `Engine.ask`."""
        row = self.engine.ask()
        return row if row is None or self._arms is None else int(self._arms[row])

    def item_of(self, arm: int) -> int:
        """Which item the next pull of an arm takes, by its place in the list."""
        return self.engine.item_of(self.row_of(arm))

    def reserve(self, arm: int) -> None:
        """A pull is under way."""
        if (row := self.row_of(arm)) >= 0:
            self.engine.reserve(row)

    def release(self, arm: int) -> None:
        """A pull is under way no longer."""
        if (row := self.row_of(arm)) >= 0:
            self.engine.release(row)

    def price_of(self, arm: int) -> float:
        """What a pull of an arm costs, as far as is known; of one that is retired none is made."""
        row = self.row_of(arm)
        return self.engine.price_of(row) if row >= 0 else 0.0

    def tell(self, arm: int, reward: float, price: float | None) -> None:
        """Learn one reward, and what it has cost."""
        row = self.row_of(arm)
        if row >= 0:
            self.engine.tell(row, reward, price)
        else:
            self._record(arm, reward, math.nan if price is None else price)

    def learn_many(self, seen: Seen, *, heed: bool) -> int:
        """Learn observations in their order, with what they have cost; returns how many came before the end."""
        here, places = self._here(seen)
        used = self.engine.learn_many(here.arms, here.rewards, heed=heed)
        self._pay(here.part(0, used))
        if places is None:
            return used
        last = len(seen.arms) if used == len(places) else int(places[used - 1]) + 1 if used else 0
        self._record_all(seen.part(0, last))
        return last

    def add_up(self, seen: Seen) -> None:
        """Learn observations whose order means nothing, with what they have cost."""
        here, places = self._here(seen)
        self.engine.add_up(here.arms, here.rewards)
        self._pay(here)
        if places is not None:
            self._record_all(seen)

    def _here(self, seen: Seen) -> tuple[Seen, NDArray[np.int64] | None]:
        """Observations of the arms that take part, by their numbers in the search, and their places among all."""
        if self._rows is None:
            return seen, None
        rows = self._rows[seen.arms]
        places = np.flatnonzero(rows >= 0)
        prices = None if seen.prices is None else seen.prices[places]
        return Seen(rows[places], seen.rewards[places], prices), places

    def _pay(self, seen: Seen) -> None:
        if seen.prices is not None:
            self.engine.pay(seen.arms, seen.prices)

    def _record_all(self, seen: Seen) -> None:
        assert self._rows is not None
        for place in np.flatnonzero(self._rows[seen.arms] < 0).tolist():
            price = math.nan if seen.prices is None else float(seen.prices[place])
            self._record(int(seen.arms[place]), float(seen.rewards[place]), price)

    def _record(self, arm: int, reward: float, price: float) -> None:
        """An observation of a retired arm."""
        sums = self._gone.setdefault(arm, [reward, 0.0, 0.0, 0.0])
        sums[1] += 1.0
        sums[2] += reward - sums[0]
        sums[3] += (reward - sums[0]) ** 2
        stated = self._spec.search.price
        cost = stated[arm] if isinstance(stated, tuple) else price
        self.engine.elsewhere += 0.0 if math.isnan(cost) else cost

    def retired(self) -> tuple[RetiredArm, ...]:
        """What is recorded of the arms that went."""
        found = []
        for change in self._spec.arm_changes:
            if change.kind == "retired":
                arm = self._spec.search.names.index(change.arm)
                first, count, total, squares = self._gone.get(arm, [math.nan, 0.0, 0.0, 0.0])
                mean, variance = (total / count, squares / count) if count else (math.nan, math.nan)
                spread = math.sqrt(max(variance - mean * mean, 0.0)) if count else math.nan
                found.append(RetiredArm(change.arm, change.changed_at, int(count), first + mean, spread))
        return tuple(found)


def require_money(field: Field, trials: Sequence[Trial]) -> None:
    """Complain about trials that cost more than there is left to spend."""
    left = field.engine.money
    if left == math.inf:
        return
    cost = math.fsum(field.price_of(trial.arm) if trial.price is None else trial.price for trial in trials)
    if cost > left:
        spend = field.engine.spec.spend
        raise BudgetSpent(f"of the money, {spend:g} in all, {max(left, 0.0):.6g} are left", given=f"{cost:.6g}")


def require_first_money(spec: StudySpec, trials: Sequence[Trial]) -> None:
    """The same before there is a study: of trials that it is to begin with."""
    search = spec.search
    stated = search.price if isinstance(search.price, tuple) else None
    cost = math.fsum(trial.price or 0.0 if stated is None else stated[trial.arm] for trial in trials)
    if search.spend is not None and cost > search.spend:
        raise BudgetSpent(f"of the money, {search.spend:g} in all, {search.spend:g} are left", given=f"{cost:.6g}")
