"""What the pulls of a search have cost, and what is left to spend."""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from ramgape.core.prices import affordable, money_left
from ramgape.core.rows import Rows
from ramgape.core.table import Table
from ramgape.search.outcome import TOLD_PRICES
from ramgape.search.spec import Spec


class Spending:
    """The part of a search that is about money."""

    elsewhere: float  # money that was spent on arms which take part no longer
    _ahead: Rows | None
    _rows: Rows
    _pending: list[int]
    _under_way: int

    order: NDArray[np.int64] | None  # of the items, if there are any

    @property
    @abstractmethod
    def spec(self) -> Spec:
        """What is asked."""

    @property
    @abstractmethod
    def arms(self) -> Table:
        """What is known of each arm."""

    @property
    @abstractmethod
    def rows(self) -> Rows:
        """The state as kernels take it, to be changed."""

    @abstractmethod
    def _has_items(self, arm: int) -> bool:
        """Whether there are items that an arm has not been asked."""

    def pay(self, arms: NDArray[np.int64], prices: NDArray[np.float64]) -> None:
        """What pulls have cost, NaN where it is not known; the mean of the reported prices then counts.

        That of an arm of which nothing was told is the mean of all others.
        """
        rows = self.rows.arms
        for arm, price in zip(arms.tolist(), prices.tolist(), strict=True):
            if not math.isnan(price):  # one after the other, so that the same prices give the same bits
                rows[arm].paid += price
                rows[arm].told += 1
        paid, told = (np.array([getattr(row, name) for row in rows]) for name in ("paid", "told"))
        if told.any():
            means = np.where(told > 0, paid / np.maximum(told, 1), paid.sum() / told.sum())
            for row, mean in zip(rows, means.tolist(), strict=True):
                row.price = mean
        self._ahead = None

    @property
    def _reserved(self) -> float:
        """What the pulls under way will cost, at their arms' present prices, and what is spent already elsewhere."""
        if not self._under_way:
            return self.elsewhere
        prices = np.array([row.price for row in self._rows.arms])
        return self.elsewhere + float(prices @ np.asarray(self._pending))

    @property
    def money(self) -> float:
        """What may still be spent beside the pulls under way; infinite where there is no limit."""
        if self.spec.spend is None:
            return math.inf
        return float(money_left(self._rows.arms, self._rows.problems)) - self._reserved

    def price_of(self, arm: int) -> float:
        """What a pull of an arm costs, as far as is known."""
        return float(self._rows.arms[arm].price)

    @property
    def spending(self) -> NDArray[np.float64] | None:
        """What each arm has cost; None without prices, or before the first is reported."""
        if self.spec.price is None or (self.spec.price == TOLD_PRICES and not self.arms["told"].any()):
            return None
        return np.asarray(self.arms["paid"] + (self.arms["pulls"] - self.arms["told"]) * self.arms["price"])

    @property
    def spent(self) -> float | None:
        """What all pulls have cost, where there are prices, those of retired arms as well."""
        return None if self.spending is None else math.fsum([*self.spending, self.elsewhere])

    def _affordable(self, arm: int) -> int | None:
        """The arm itself, if there is money for a pull of it, or one that comes in its place; None if there is none."""
        arm = int(affordable(self._rows.arms, self._rows.problems, arm, self._reserved))
        if arm < 0 or self.order is None or self._has_items(arm):
            return arm if arm >= 0 else None
        possible = [each for each in range(len(self.arms)) if self._has_items(each)]
        possible = [each for each in possible if self.price_of(each) <= self.money]
        return min(possible, key=lambda each: self._rows.arms[each].pulls, default=None)

    def _can_buy(self, reserved: float) -> bool:
        """Whether there is money for any pull that may be made."""
        if self.spec.spend is None:
            return True
        if self.order is None:
            return bool(affordable(self._rows.arms, self._rows.problems, 0, reserved) >= 0)
        left = float(money_left(self._rows.arms, self._rows.problems)) - reserved
        return bool(((self.arms["price"] <= left) & (self.arms["pulls"] < len(self.order))).any())
