"""Requests to end, from a terminal, a batch system or an orchestrator."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ramgape.cli.streams import INTERRUPTED

SIGNALLED = 128  # exit codes above it stand for signals


@contextmanager
def ending_gently() -> Iterator[list[int]]:
    """Take a request to end for a Ctrl-C, so that no command goes on without us; yields the signals that came."""
    came: list[int] = []
    if threading.current_thread() is not threading.main_thread():
        yield came
        return

    def interrupt(number: int, frame: object) -> None:
        came.append(number)
        if callable(signal.getsignal(signal.SIGINT)):
            signal.raise_signal(signal.SIGINT)  # which may be deferred
        else:  # in the background of a script interrupts are ignored, requests to end are not
            raise KeyboardInterrupt

    requests = [signal.Signals[name] for name in ("SIGTERM", "SIGHUP") if name in signal.Signals.__members__]
    usual = {number: signal.getsignal(number) for number in requests}
    changed = [number for number in requests if usual[number] is signal.SIG_DFL]
    for number in changed:
        signal.signal(number, interrupt)
    try:
        yield came
    finally:
        for number in changed:
            signal.signal(number, usual[number])


def interrupted_by(signals: Sequence[int]) -> int:
    """The exit code of a command that was interrupted by these signals, or by Ctrl-C."""
    return SIGNALLED + signals[0] if signals else INTERRUPTED
