"""Means of consecutive rows in place of the rows, for rewards that have to do with the ones before them.

If what lies a block apart is nearly independent, such means are, though rows are not; `drift.py` watches whether
they are. A mean of rewards in a range is in that range. Its expectation is that of a row, its risk is its own.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


class Blocks:
    """Rows of each arm, in their order, until there are enough of them for a mean.

    Args:
        size: How many rows make one.
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._waiting: dict[int, NDArray[np.float64]] = {}

    @property
    def incomplete(self) -> int:
        """Rows that are part of no mean yet."""
        return sum(map(len, self._waiting.values()))

    def keep(self, arms: Sequence[int]) -> None:
        """Forget all arms but these, whose numbers are then their places here."""
        self._waiting = {number: self._waiting[arm] for number, arm in enumerate(arms) if arm in self._waiting}

    def means(
        self, arms: NDArray[np.int64], rewards: NDArray[np.float64]
    ) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """The means that further rows complete: those of an arm in their order, one arm after the other."""
        order = np.argsort(arms, kind="stable")
        chosen, starts = np.unique(arms[order], return_index=True)
        owners, means = [arms[:0]], [rewards[:0]]
        for arm, places in zip(chosen.tolist(), np.split(order, starts)[1:], strict=True):
            rows = np.concatenate([self._waiting.get(arm, rewards[:0]), rewards[places]])
            count = len(rows) // self._size
            self._waiting[arm] = rows[count * self._size :]
            blocks = rows[: count * self._size].reshape(count, self._size)
            if count:
                # About the first row, so that a large offset costs no digits, and never beyond the rows themselves.
                inexact = blocks[:, 0] + (blocks - blocks[:, :1]).mean(axis=1)
                means.append(np.clip(inexact, blocks.min(axis=1), blocks.max(axis=1)))
                owners.append(np.full(count, arm))
        return np.concatenate(owners), np.concatenate(means)
