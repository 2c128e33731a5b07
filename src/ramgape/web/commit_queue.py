"""One thread for all that changes a study: whatever waits goes into one transaction, and is answered when that is done.

A transaction takes about as long for twenty answers as for one, since it waits for the disk. So many workers do not
wait for each other's transactions in a queue, but share them.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from ramgape.errors import StorageUnavailable
from ramgape.studies.local import LocalBackend

MOST = 512  # operations in a transaction

Operation = Callable[[], Any]


class PendingOperation(NamedTuple):
    """An operation, and who waits for what it gives."""

    operation: Operation
    loop: asyncio.AbstractEventLoop
    future: asyncio.Future[Any]
    since: float


class CommittedBatch(NamedTuple):
    """What was done in a transaction, and how long that took, in seconds."""

    operations: int
    queued: float  # the first of them, until it began
    seconds: float  # all of them, to the end
    locked_out: float  # of these, until the store was free


class CommitQueue:
    """Makes the changes of one study, in the order in which they come.

    Args:
        backend: Where the study is.
        after: Called after every transaction, in its thread.
    """

    def __init__(self, backend: LocalBackend, after: Callable[[CommittedBatch], None]) -> None:
        self.backend = backend
        self._after = after
        self._queue: SimpleQueue[PendingOperation | None] = SimpleQueue()
        self._closed = self._hurried = False
        self._entrance = threading.Lock()  # nothing enters after the end
        self._thread = threading.Thread(target=self._work, name=f"ramgape-commits-{backend.name}", daemon=True)
        self._thread.start()

    def submit(self, operation: Operation) -> asyncio.Future[Any]:
        """Have an operation made; to be called, and its outcome awaited, on an event loop."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        with self._entrance:
            if self._closed:
                future.set_exception(StorageUnavailable("the server is about to stop"))
            else:
                self._queue.put(PendingOperation(operation, loop, future, time.monotonic()))
        return future

    def hurry(self) -> None:
        """Make nothing more of what waits: the server stops, and those who asked were told to ask again."""
        self._hurried = True
        self.backend.session.interrupt()

    def close(self) -> None:
        """Finish what waits, and go."""
        with self._entrance:
            if not self._closed:
                self._closed = True
                self._queue.put(None)
        self._thread.join()

    def _work(self) -> None:
        going = True
        while going:
            batch = [self._queue.get()]
            try:
                while len(batch) < MOST:
                    batch.append(self._queue.get_nowait())
            except Empty:
                pass
            going = None not in batch
            waiting = [each for each in batch if each is not None]
            if waiting and not self._hurried:
                self._make(waiting)

    def _make(self, waiting: list[PendingOperation]) -> None:
        began = time.monotonic()
        outcomes = self.backend.together([each.operation for each in waiting])
        loop = waiting[0].loop
        if not loop.is_closed():
            loop.call_soon_threadsafe(answer_all, waiting, outcomes)
        now = time.monotonic()
        self._after(CommittedBatch(len(waiting), began - waiting[0].since, now - began, self.backend.session.waited))


def answer_all(waiting: list[PendingOperation], outcomes: list[Any]) -> None:
    """Tell all who waited what came out, on their event loop."""
    for each, outcome in zip(waiting, outcomes, strict=True):
        if each.future.done():  # the client has gone
            continue
        if isinstance(outcome, Exception):
            each.future.set_exception(outcome)
        else:
            each.future.set_result(outcome)
