"""What watches the rewards of a search: the table of `statistics/drift.py`, and the alarms in it."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from copy import copy
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from ramgape.core.rows import load, store
from ramgape.core.table import Table
from ramgape.search.quality import Alarm, AlarmKind
from ramgape.statistics.drift import BETS, check_many, empty_drift_table

AT_ONCE = 64  # rewards that wait: reading and writing the table costs as much as watching ten

assert get_args(AlarmKind) == BETS


class DriftCheck:
    """Watches the rewards of every arm, in the order in which they come.

    Args:
        level: The accepted probability of any false alarm.
        arm_count: The arms, which share it.
    """

    def __init__(self, level: float, arm_count: int) -> None:
        self._level = level
        self._table = empty_drift_table(arm_count)
        self._arms, self._rewards = array("q"), array("d")

    @property
    def threshold(self) -> float:
        """The evidence that is an alarm."""
        return len(self._table) / self._level

    @property
    def table(self) -> Table:
        """What has been seen of each arm, up to the last reward."""
        self._catch_up()
        return self._table

    def add(self, arm: int, reward: float) -> None:
        """Watch one reward."""
        self._arms.append(arm)
        self._rewards.append(reward)
        if len(self._arms) >= AT_ONCE:
            self._catch_up()

    def add_many(self, arms: NDArray[np.int64], rewards: NDArray[np.float64]) -> None:
        """Watch many, in their order."""
        self._catch_up()
        self._judge(arms, rewards)

    def _catch_up(self) -> None:
        """Watch what waits."""
        if self._arms:
            arms, rewards = np.frombuffer(self._arms, np.int64), np.frombuffer(self._rewards)
            self._arms, self._rewards = array("q"), array("d")
            self._judge(arms, rewards)

    def _judge(self, arms: NDArray[np.int64], rewards: NDArray[np.float64]) -> None:
        seen, places = np.unique(arms, return_inverse=True)
        part = self._table[seen]
        rows = load(part)
        check_many(rows, places.tolist(), rewards.tolist(), self.threshold)
        store(rows, part)
        self._table[seen] = part

    def grow(self, arm_count: int) -> None:
        """There are more arms than one knew of, and a level for each is smaller.

        Where the evidence had been enough for fewer arms and is no longer, the alarm is withdrawn until it is again.
        Where it still is, the reward at which it was reached is not known: the last one counts.
        """
        more = arm_count - len(self._table)
        if more > 0:
            known, self._table = self.table, empty_drift_table(arm_count)
            self._table[: len(known)] = known
            there = (self._table["alarm"] > 0) & (self._table["evidence"] >= self.threshold)
            self._table["alarm"] = np.where(there, self._table["seen"], 0)

    def keep(self, arms: Sequence[int]) -> None:
        """Forget all arms but these, whose numbers are then their places here. Alarms stay as they are."""
        self._table = self.table[list(arms)]

    def copy(self) -> DriftCheck:
        """The same, to go on with elsewhere."""
        other = copy(self)
        other._table = self.table.copy()
        other._arms, other._rewards = array("q"), array("d")
        return other

    def alarms(self, names: Sequence[str]) -> tuple[Alarm, ...]:
        """The arms for which there is one."""
        kinds: tuple[AlarmKind, ...] = get_args(AlarmKind)
        found = np.flatnonzero(self.table["alarm"])
        return tuple(
            Alarm(names[arm], kinds[row["kind"]], float(row["evidence"]), int(row["alarm"]))
            for arm, row in zip(found.tolist(), self.table[found], strict=True)
        )
