"""An engine that does nothing by itself: calls end when a test says so, slots are as many as it says."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from ramgape.engines.engine import TaskEngine


class FakeEngine(TaskEngine):
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
