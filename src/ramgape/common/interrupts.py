"""Ctrl-C while something must not be left half done.

A reward is learnt whole or not at all. And handing compiled functions over to a compiled loop runs some Python inside
the compiler's own C code, which drops an exception that a signal handler raises there. So an interrupt waits until the
block is over.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Deliver an interrupt only at the end of the block; only the main thread ever hears of one."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    usual = signal.getsignal(signal.SIGINT)
    if not callable(usual):  # ignored, or not Python's business
        yield
        return
    came = False

    def note(number: int, frame: object) -> None:
        nonlocal came
        came = True

    signal.signal(signal.SIGINT, note)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
        if came:
            signal.raise_signal(signal.SIGINT)
