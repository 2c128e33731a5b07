"""Rewards as they came, arm by arm, for the few searches whose sums do not tell all that is to be shown."""

from __future__ import annotations

from array import array
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class Sample:
    """The rewards of each arm: eight bytes each.

    A risk by a model is a function of mean and variance. What the rewards themselves say about a tail is in no sum of
    fixed size, since the share of them that counts grows with their number.
    """

    def __init__(self) -> None:
        self._rewards: defaultdict[int, array[float]] = defaultdict(lambda: array("d"))

    def add(self, arm: int, reward: float) -> None:
        """Keep one reward."""
        self._rewards[arm].append(reward)

    def add_many(self, arms: NDArray[np.int64], rewards: NDArray[np.float64]) -> None:
        """Keep many."""
        order = np.argsort(arms, kind="stable")
        chosen, starts = np.unique(arms[order], return_index=True)
        for arm, places in zip(chosen.tolist(), np.split(order, starts)[1:], strict=True):
            self._rewards[arm].frombytes(rewards[places].tobytes())

    def keep(self, arms: Sequence[int]) -> None:
        """Forget all arms but these, whose numbers are then their places here."""
        kept = {number: self._rewards[arm] for number, arm in enumerate(arms)}
        self._rewards = defaultdict(lambda: array("d"), kept)

    def of(self, arm: int) -> NDArray[np.float64]:
        """The rewards of an arm."""
        return np.array(self._rewards[arm])
