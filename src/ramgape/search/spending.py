"""What the pulls of a search have cost, and what is left to spend."""

from __future__ import annotations

import math
from abc import abstractmethod

import numpy as np
from numpy.typing import NDArray

from ramgape.core.prices import money_left
from ramgape.core.table import State, Table
from ramgape.search.outcome import TOLD_PRICES
from ramgape.search.spec import Spec


class Spending:
    """The part of a search that is about money."""

    arms: Table
    problem: Table
    elsewhere: float  # money that was spent on arms which take part no longer
    _ahead: State | None
    _pending: list[int]
    _under_way: int

    @property
    @abstractmethod
    def spec(self) -> Spec:
        """What is asked."""

    def pay(self, arms: NDArray[np.int64], prices: NDArray[np.float64]) -> None:
        """What pulls have cost, NaN where nobody has said so: from then on the mean of what was told is the price.

        That of an arm of which nothing was told is the mean of all others.
        """
        known = ~np.isnan(prices)
        paid, told = self.arms["paid"], self.arms["told"]
        np.add.at(paid, arms[known], prices[known])  # one after the other, so that the same prices give the same bits
        np.add.at(told, arms[known], 1)
        if told.any():
            self.arms["price"] = np.where(told > 0, paid / np.maximum(told, 1), paid.sum() / told.sum())
        self._ahead = None

    @property
    def _reserved(self) -> float:
        """What the pulls under way will cost, at their arms' present prices, and what is spent already elsewhere."""
        return self.elsewhere + (float(self.arms["price"] @ np.asarray(self._pending)) if self._under_way else 0.0)

    @property
    def money(self) -> float:
        """What may still be spent beside the pulls under way; infinite where there is no limit."""
        if self.spec.spend is None:
            return math.inf
        return float(money_left(self.arms, self.problem)) - self._reserved

    def price_of(self, arm: int) -> float:
        """What a pull of an arm costs, as far as is known."""
        return float(self.arms["price"][arm])

    @property
    def spending(self) -> NDArray[np.float64] | None:
        """What each arm has cost; None where there are no prices, or nobody has told one yet."""
        if self.spec.price is None or (self.spec.price == TOLD_PRICES and not self.arms["told"].any()):
            return None
        return np.asarray(self.arms["paid"] + (self.arms["pulls"] - self.arms["told"]) * self.arms["price"])

    @property
    def spent(self) -> float | None:
        """What all pulls have cost, where there are prices, those of retired arms as well."""
        return None if self.spending is None else math.fsum([*self.spending, self.elsewhere])
