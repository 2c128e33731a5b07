"""Where pieces of work are made that depend on nothing but their arguments: on an executor, or on a cluster.

Such a piece may be made twice, so that one whose machine has died is simply made again elsewhere.
"""

from __future__ import annotations

import os
import sys
import time
import warnings
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError, Executor
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

from ramgape.errors import InvalidSpec, RamgapeWarning, TrialError, require
from ramgape.search.explained import load_extra

AHEAD = 2  # pieces for each place: the next one is there when one is done
PATIENCE = 10.0  # seconds between two looks at how large the cluster is, and before its absence is spoken of
RETRIES = 3  # how often a piece is made again whose machines die

ALLOWED = 'None, a concurrent.futures.Executor, a dask.distributed.Client, "tcp://SCHEDULER:8786" or "dask"'


class Work(NamedTuple):
    """A call to be made somewhere."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]


class Lost(Exception):
    """What made a call is gone, and the call with it."""


class Pool(ABC):
    """A place where calls are made, several at once."""

    is_local = True  # whether what is written there is found here

    def __init__(self) -> None:
        self._done: SimpleQueue[Any] = SimpleQueue()

    @abstractmethod
    def slots(self) -> int:
        """How many calls are made at once, at the moment; 0 if nobody is there to make one."""

    @abstractmethod
    def submit(self, work: Work) -> Any:
        """Have a call made; what it returns is a future, of which `add_done_callback` is asked."""

    @abstractmethod
    def result(self, future: Any) -> Any:
        """What a call gave, or its error, or `Lost`."""

    @abstractmethod
    def cancel(self, futures: list[Any]) -> None:
        """Nobody waits for these calls any longer."""

    def start(self, work: Work) -> Any:
        """Have a call made, whose end `wait` will notice."""
        future = self.submit(work)
        future.add_done_callback(self._done.put)
        return future

    def wait(self, seconds: float) -> Any:
        """A call that has ended, or None if none does for so long."""
        try:
            return self._done.get(timeout=seconds)
        except Empty:
            return None


class ExecutorPool(Pool):
    """Any executor."""

    def __init__(self, executor: Executor) -> None:
        super().__init__()
        self._executor = executor

    def slots(self) -> int:
        return getattr(self._executor, "_max_workers", None) or os.cpu_count() or 1

    def submit(self, work: Work) -> Any:
        try:
            return self._executor.submit(work.function, *work.arguments)
        except BrokenExecutor as error:
            raise _broken(error) from error

    def result(self, future: Any) -> Any:
        try:
            return future.result()
        except BrokenExecutor as error:
            raise _broken(error) from error

    def cancel(self, futures: list[Any]) -> None:
        for future in futures:
            future.cancel()


def _broken(error: BaseException) -> TrialError:
    return TrialError(f"a process of the executor has died, and with it the executor: {error}")


class DaskPool(Pool):
    """The workers of a Dask cluster, however many there are at the moment."""

    is_local = False

    def __init__(self, client: Any) -> None:
        super().__init__()
        self._client = client
        self._slots, self._asked = 0, -float("inf")

    def slots(self) -> int:
        if not self._slots or time.monotonic() > self._asked + PATIENCE:
            self._slots, self._asked = sum(self._client.nthreads().values()), time.monotonic()
        return self._slots

    def submit(self, work: Work) -> Any:
        return self._client.submit(work.function, *work.arguments, pure=False)

    def result(self, future: Any) -> Any:
        from distributed.client import FutureCancelledError
        from distributed.scheduler import KilledWorker

        try:
            return future.result()
        except (KilledWorker, FutureCancelledError, CancelledError) as error:
            raise Lost(str(error) or type(error).__name__) from error

    def cancel(self, futures: list[Any]) -> None:
        self._client.cancel(futures, force=True)


@contextmanager
def pool_of(executor: Any) -> Iterator[Pool | None]:
    """Where calls are made; None for right here. What was only named is closed in the end."""
    if executor is None or isinstance(executor, Pool):
        yield executor
        return
    if isinstance(executor, str):
        with _dask_client(executor) as client:
            yield DaskPool(client)
        return
    check_executor(executor)
    if (client := _client_of(executor)) is not None:
        yield DaskPool(client)
    else:
        yield ExecutorPool(executor)


def check_executor(executor: object) -> None:
    """Complain before the first run rather than in the middle of one."""
    if isinstance(executor, str):
        require(executor == "dask" or "://" in executor, "executor", ALLOWED, executor)
    else:
        speaks = executor is None or isinstance(executor, Pool) or callable(getattr(executor, "submit", None))
        require(speaks, "executor", ALLOWED, executor)


def _client_of(executor: Any) -> Any:
    """The client of Dask that something is, or that an executor of Dask's has; whoever has one has imported Dask."""
    dask = sys.modules.get("distributed")
    if dask is None:
        return None
    client = getattr(executor, "_client", executor)
    return client if isinstance(client, dask.Client) else None


@contextmanager
def _dask_client(address: str) -> Iterator[Any]:
    """A client of the scheduler at an address, or of a cluster on this machine."""
    check_executor(address)
    distributed = load_extra("distributed", "dask")
    given: dict[str, Any] = {"threads_per_worker": 1} if address == "dask" else {"address": address}
    try:
        client = distributed.Client(**given)
    except (OSError, ValueError) as error:
        raise InvalidSpec(what=address, allowed="a scheduler that answers", hint=f" ({error})") from None
    with client:
        yield client


def ended(pool: Pool, take: Callable[[], Work | None]) -> Iterator[tuple[Work, Any]]:
    """Calls with what they gave, as they end.

    Args:
        pool: Where they are made.
        take: Gives the next one whenever there is room for it; None if there is none at the moment. What comes of a
            call may make it give more.

    Raises:
        TrialError: The machines that made a call have died again and again.
    """
    under_way: dict[Any, tuple[Work, int]] = {}
    again: deque[tuple[Work | None, int]] = deque()
    told = False
    try:
        while True:
            while len(under_way) < AHEAD * max(pool.slots(), 1):
                work, losses = again.popleft() if again else (take(), 0)
                if work is None:
                    break
                under_way[pool.start(work)] = work, losses
            if not under_way:
                return
            future = pool.wait(PATIENCE)
            if future is None:
                if not pool.slots() and not told:
                    warnings.warn("the cluster has no worker yet; waiting for one", RamgapeWarning, stacklevel=2)
                    told = True
                continue
            work, losses = under_way.pop(future)
            try:
                result = pool.result(future)
            except Lost as lost:
                if losses == RETRIES:
                    raise TrialError(
                        f"{losses + 1} workers of the cluster have died at the same work: {lost}"
                    ) from lost
                again.append((work, losses + 1))
            else:
                yield work, result
    finally:
        pool.cancel(list(under_way))
