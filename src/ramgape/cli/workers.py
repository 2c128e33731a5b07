"""Processes that share the runs."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager

MOST = 1_000  # processes that anybody can mean
MOST_ON_WINDOWS = 61  # a limit of the system call that waits for them


def available_cores() -> int:
    """The cores that this process may use, which may be fewer than the machine has."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@contextmanager
def workers(jobs: int, runs: int | None = None) -> Iterator[Executor | None]:
    """An executor with `jobs` processes (0: one for each core), or None where one process does it all.

    No more than there are runs, where their number is known.
    """
    count = min(jobs or available_cores(), runs or MOST)
    if sys.platform == "win32":
        count = min(count, MOST_ON_WINDOWS)
    if count == 1:
        yield None
        return
    # Spawned, not forked: compiled code and its threads do not survive a fork everywhere.
    executor = ProcessPoolExecutor(count, multiprocessing.get_context("spawn"), begin_work)
    try:
        start(executor, count)
        yield executor
    except BaseException:
        executor.shutdown(wait=False, cancel_futures=True)
        for worker in multiprocessing.active_children():
            worker.terminate()
        raise
    executor.shutdown()


def start(executor: Executor, count: int) -> None:
    """Start the processes while interrupts are ignored, which they inherit: Ctrl-C is for their parent alone."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        for _ in range(count):
            executor.submit(os.getpid)
    finally:
        signal.signal(signal.SIGINT, before)


def begin_work() -> None:
    """The first thing a worker does: ignore interrupts, for systems where nothing is inherited, and mind its parent."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=end_with_parent, daemon=True).start()


def end_with_parent() -> None:
    """A worker whose parent was killed would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
