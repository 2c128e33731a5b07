"""Engines that tests drive: calls end when a test says so, or when a virtual time has come."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from ramgape.trials.backend import TrialEngine


class FakeEngine(TrialEngine):
    """Calls are futures that the called function gives itself."""

    def __init__(self, slots: int) -> None:
        super().__init__()
        self.places = slots
        self.begun: list[tuple[str, bool]] = []  # names, and whether they are to be alone

    def slots(self) -> int:
        return self.places

    def _begin(self, function: Callable[..., Any], arguments: tuple[Any, ...], name: str, alone: bool) -> Future[Any]:
        self.begun.append((name, alone))
        future: Future[Any] = function(*arguments)
        return future


class VirtualEngine(TrialEngine):
    """Calls are made at once, and end when their time has come: a virtual time, that passes while somebody waits.

    Args:
        slots: How many calls at once.
        seconds: How long a call takes, from its reward and its arguments.
    """

    def __init__(self, slots: int, seconds: Callable[..., float]) -> None:
        super().__init__()
        self.places, self.seconds = slots, seconds
        self.now, self.made = 0.0, 0
        self._ends: list[tuple[float, int, Future[Any], Any]] = []

    def slots(self) -> int:
        return self.places

    def _begin(self, function: Callable[..., Any], arguments: tuple[Any, ...], name: str, alone: bool) -> Future[Any]:
        future: Future[Any] = Future()
        self.made += 1
        reward = function(*arguments)
        heapq.heappush(self._ends, (self.now + self.seconds(reward, *arguments), self.made, future, reward))
        return future

    def wait(self, seconds: float) -> list[Future[Any]]:
        while seconds > 0.0 and self._ends:
            self.now, _, future, reward = heapq.heappop(self._ends)
            if not future.cancelled():
                future.set_result(reward)
                break
        return super().wait(0.0)
