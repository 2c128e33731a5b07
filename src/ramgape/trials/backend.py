"""What makes calls, wherever that is: it says how many at once, begins them, hands over those that ended, and cancels.

A call is a future, which ends in one of three ways: with what the call gave, in an error of its own, or lost, a
`WorkerLost`: the machine that made it has died, perhaps not because of the call.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any

Function = Callable[..., Any]


class Inbox:
    """What other threads bring. It stays until it has been seen to, also where an interrupt ends the waiting for it.

    An interrupt often comes during a wait, perhaps in the very moment in which a result arrives.
    """

    def __init__(self) -> None:
        self._things: deque[Future[Any] | Callable[[], object]] = deque()  # what has ended, and what to do
        self._bell: SimpleQueue[None] = SimpleQueue()  # rung after each of them

    def put(self, thing: Future[Any] | Callable[[], object]) -> None:
        self._things.append(thing)
        self._bell.put(None)

    def wait(self, seconds: float) -> None:
        """Until there is something, for so many seconds at most."""
        with suppress(Empty):
            if not self._things and seconds > 0.0:
                self._bell.get(timeout=seconds)
            while True:
                self._bell.get_nowait()

    def __iter__(self) -> Iterator[Future[Any] | Callable[[], object]]:
        """What is there, each until the next is asked for."""
        while self._things:
            yield self._things[0]
            self._things.popleft()


class TrialEngine(ABC):
    """Makes calls. Callers begin no more of them than there are slots, and close it.

    Attributes:
        cancels: Whether a call that has begun is ended when it is cancelled.
    """

    cancels = False

    def __init__(self) -> None:
        self._inbox = Inbox()

    @abstractmethod
    def slots(self) -> int:
        """How many calls may be under way at this moment; none where it waits for machines."""

    @property
    def waiting(self) -> str:
        """What it waits for, in words; nothing where all is well."""
        return ""

    def start(self, function: Function, /, *arguments: Any, name: str = "", alone: bool = False) -> Future[Any]:
        """Begin a call.

        Args:
            function, arguments: What is called.
            name: Shown in the cluster's dashboard.
            alone: Whether no other call of ours may be made by the same process meanwhile, where that can be.
        """
        future = self._begin(function, arguments, name, alone)
        future.add_done_callback(self._inbox.put)
        return future

    @abstractmethod
    def _begin(self, function: Function, arguments: tuple[Any, ...], name: str, alone: bool) -> Future[Any]: ...

    def wait(self, seconds: float) -> list[Future[Any]]:
        """The calls that have ended since the last time, cancelled ones too; until there is one, or something else has
        changed, for so many seconds at most."""
        self._inbox.wait(seconds)
        found: list[Future[Any]] = []
        for came in self._inbox:
            if isinstance(came, Future):
                found.append(came)
            else:
                came()
        return found

    def is_held(self, call: Future[Any]) -> bool:
        """Whether a call is known not to have begun, for want of a machine: no time that it may take has begun."""
        return False

    def cancel(self, calls: Iterable[Future[Any]]) -> None:
        """Cancel these calls; those that have not begun never will."""
        for call in calls:
            call.cancel()

    def abandon(self, call: Future[Any]) -> None:
        """A call took too long; its slot is free if it can be."""
        self.cancel([call])

    def close(self) -> None:  # noqa: B027 - nothing to do, unless it says so
        """Leave nothing behind."""
