"""Calls on the spot, in threads, or on an event loop; each is an executor, and one engine serves them all.

What a function gives may have to be awaited, also where that is not known before. That is done on an event loop in a
thread of its own: the caller may have a loop running, as a notebook has, which cannot be entered a second time.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, InvalidStateError
from contextlib import suppress
from functools import partial
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from ramgape.common.checks import is_awaitable
from ramgape.trials.backend import Function, TrialEngine
from ramgape.trials.one_trial import awaited

if TYPE_CHECKING:
    import asyncio  # which takes a while to import, and most programs need it not

GRACE = 1.0  # seconds for what was cancelled, to clean up after itself


def is_async(function: object) -> bool:
    """Whether a function is known to give what must be awaited; so may others that only show it when they are called.

    >>> async def ask(model): ...
    >>> is_async(ask), is_async(partial(ask, "small")), is_async(lambda model: ask(model))
    (True, True, False)
    """
    while isinstance(function, partial):
        function = function.func
    called = getattr(type(function), "__call__", None)  # noqa: B004 - it is not asked whether it can be called
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)


class Loop(Executor):
    """Awaits any number of calls at once, on an event loop in a thread of its own."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._running: Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = Future()

    def submit(self, function: Function, /, *arguments: Any, **named: Any) -> Future[Any]:
        """A call on the loop. To cancel it there, cancel the future."""
        import asyncio

        future: Future[Any] = Future()

        async def make() -> None:
            """Whatever comes out goes into the future: an interrupt, say, would end the loop, and all other calls."""
            outcome: Callable[[], object]
            try:
                result = function(*arguments, **named)
                outcome = partial(future.set_result, await result if is_awaitable(result) else result)
            except asyncio.CancelledError:
                outcome = future.cancel
            except BaseException as error:  # noqa: BLE001 - the caller of `result` gets it
                outcome = partial(future.set_exception, error)
            with suppress(InvalidStateError):  # it was abandoned
                outcome()

        with self._lock:
            if self._thread is None:
                self._thread = threading.Thread(target=self._serve, name="ramgape-loop", daemon=True)
                self._thread.start()
        loop, _ = self._running.result()
        task = asyncio.run_coroutine_threadsafe(make(), loop)
        task.add_done_callback(lambda ended: future.cancel())  # of one that never began
        future.add_done_callback(lambda ended: ended.cancelled() and task.cancel())
        return future

    def _serve(self) -> None:
        import asyncio

        async def last() -> None:
            over = asyncio.Event()
            self._running.set_result((asyncio.get_running_loop(), over))
            await over.wait()

        asyncio.run(last())

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """Cancel what is under way, and give it a moment; a call that blocks the loop or ignores that is left alone."""
        with self._lock:
            thread, self._thread = self._thread, None
        if thread is not None:
            loop, over = self._running.result()
            if thread.is_alive():
                loop.call_soon_threadsafe(over.set)
            thread.join(GRACE)
            self._running = Future()


class Here(Executor):
    """Makes every call at once, where it is submitted."""

    def __init__(self) -> None:
        self._loop = Loop()  # begins when it is needed

    def submit(self, function: Function, /, *arguments: Any, **named: Any) -> Future[Any]:
        """The finished call; an interrupt is none, and goes on its way."""
        future: Future[Any] = Future()
        try:
            future.set_result(self._settled(function(*arguments, **named)))
        except Exception as error:  # noqa: BLE001 - the caller of `result` gets it
            future.set_exception(error)
        return future

    def _settled(self, result: Any) -> Any:
        """What a function gave, or what that comes to when it is awaited."""
        return self._loop.submit(lambda: result).result() if is_awaitable(result) else result

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """Leave no loop behind."""
        self._loop.shutdown()


class Threads(Here):
    """Makes every call in a thread, as many as it takes: one that never ends keeps no other waiting.

    Nor does it keep the program from ending: the threads are daemons.
    """

    def __init__(self) -> None:
        super().__init__()
        self._work: SimpleQueue[tuple[Future[Any], Function] | None] = SimpleQueue()
        self._idle = threading.Semaphore(0)
        self._threads = 0

    def submit(self, function: Function, /, *arguments: Any, **named: Any) -> Future[Any]:
        """A call in a thread that has nothing to do, or in a new one."""
        future: Future[Any] = Future()
        self._work.put((future, partial(function, *arguments, **named)))
        if not self._idle.acquire(blocking=False):
            self._threads += 1
            threading.Thread(target=self._serve, name=f"ramgape-{self._threads}", daemon=True).start()
        return future

    def _serve(self) -> None:
        while (work := self._work.get()) is not None:
            future, function = work
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(self._settled(function()))
                except BaseException as error:  # noqa: BLE001 - likewise; in a thread an interrupt has nowhere to go
                    future.set_exception(error)
            del work, future, function  # or what came out lived on until the next call
            self._idle.release()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = True) -> None:
        """Let every thread end with its present call, without waiting."""
        super().shutdown()
        for _ in range(self._threads):
            self._work.put(None)


class ExecutorEngine(TrialEngine):
    """An executor, and how many calls it makes at once. What is not its own is left as it is."""

    def __init__(self, executor: Executor, slots: int, *, own: bool) -> None:
        super().__init__()
        self._executor, self._slots, self._own = executor, slots, own
        self.cancels = isinstance(executor, Loop)

    def slots(self) -> int:
        return self._slots

    def _begin(self, function: Function, arguments: tuple[Any, ...], name: str, alone: bool) -> Future[Any]:
        if not self._own:  # it would not await anything
            function, arguments = awaited, (function, *arguments)
        return self._executor.submit(function, *arguments)

    def close(self) -> None:
        if self._own:
            self._executor.shutdown(wait=False, cancel_futures=True)


def engine_here(make: Function, count: int, timeout: float | None) -> ExecutorEngine:
    """So many calls of a function at once in this process.

    Args:
        make: The function, which may be async.
        count: How many.
        timeout: Whether anybody will stop waiting for a call: then it cannot be made on the spot.
    """
    executor: Executor
    if is_async(make):
        executor = Loop()
    else:
        executor = Here() if count == 1 and timeout is None else Threads()
    return ExecutorEngine(executor, count, own=True)
